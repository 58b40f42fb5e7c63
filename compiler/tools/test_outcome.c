/* The reports of tests; see test_outcome.h. */
#include "tools/test_outcome.h"

#include <string.h>

#include "support/json.h"

static const char *const outcome_names[] = {
    [TEST_PASSED] = "passed", [TEST_FAILED] = "failed", [TEST_SKIPPED] = "skipped"};

const char *directive_words(const struct directive *directive) { return directive->text + strlen("-- "); }

/* ---- JSON ---- */

static void print_json(const struct test_report *report, bool is_list) {
    struct arena *arena = report->arena;
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc), *tests = json_add_array(doc, root, "tests");
    for (size_t i = 0; i < report->results.count; i++) {
        const struct test_result *one = &report->results.at[i];
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, tests);
        json_add_text(doc, arena, object, "file", one->path);
        if (one->directive) {
            yyjson_mut_obj_add_uint(doc, object, "line", one->directive->line);
            json_add_text(doc, arena, object, "test", directive_words(one->directive));
        }
        if (one->target)
            yyjson_mut_obj_add_str(doc, object, "target", one->target);
        if (one->outcome == TEST_LISTED)
            continue;
        yyjson_mut_obj_add_str(doc, object, "outcome", outcome_names[one->outcome]);
        yyjson_mut_obj_add_real(doc, object, "seconds", one->seconds);
        if (one->why)
            json_add_text(doc, arena, object, "message", one->why);
    }
    for (int i = 0; i < RUN_OUTCOMES && !is_list; i++)
        yyjson_mut_obj_add_uint(doc, root, outcome_names[i], report->counts[i]);
    fputs(json_write_pretty(arena, root), stdout);
}

void test_report_print(const struct test_report *report, const struct options *options) {
    const size_t *counts = report->counts;
    if (options->json)
        print_json(report, options->list);
    else if (!options->list)
        printf("%s%s%zu passed, %zu failed, %zu skipped\n", report->of ? report->of : "", report->of ? ": " : "",
               counts[TEST_PASSED], counts[TEST_FAILED], counts[TEST_SKIPPED]);
}

/* ---- JUnit ---- */

/* Prints text so that it can stand between tags and in an attribute. Characters that XML can't have are
   left out. */
static void add_xml(struct text *text, const char *string) {
    for (; *string; string++)
        if (*string == '\n')
            text_add(text, "&#10;");
        else if ((unsigned char)*string >= ' ' || *string == '\t')
            text_add_escaped(text, string, 1);
}

static void add_attribute(struct text *text, const char *name, const char *value) {
    text_printf(text, " %s=\"", name);
    add_xml(text, text_as_utf8(text->arena, value));
    text_add(text, "\"");
}

static void add_case(struct text *text, const struct test_result *one) {
    text_add(text, "    <testcase");
    add_attribute(text, "classname", one->path);
    add_attribute(text, "name", one->directive ? directive_words(one->directive) : "the file");
    add_attribute(text, "file", one->path);
    if (one->directive)
        text_printf(text, " line=\"%u\"", one->directive->line);
    text_printf(text, " time=\"%.6f\"", one->seconds);
    if (one->outcome == TEST_PASSED) {
        text_add(text, "/>\n");
        return;
    }
    const char *what = one->outcome == TEST_FAILED ? "failure" : "skipped";
    text_printf(text, ">\n      <%s", what);
    add_attribute(text, "message", one->why ? one->why : "");
    text_add(text, "/>\n    </testcase>\n");
}

static bool is_of_suite(const struct test_result *a, const struct test_result *b) {
    bool is_target = a->target && b->target ? strcmp(a->target, b->target) == 0 : a->target == b->target;
    return is_target && strcmp(a->path, b->path) == 0;
}

/* The counts and the time of results from `first` up to `end`, as attributes. */
static void add_counts(struct text *text, const struct test_report *report, size_t first, size_t end) {
    size_t counts[OUTCOME_COUNT] = {0};
    double seconds = 0;
    for (size_t i = first; i < end; i++) {
        counts[report->results.at[i].outcome]++;
        seconds += report->results.at[i].seconds;
    }
    text_printf(text, " tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" time=\"%.6f\"", end - first, counts[TEST_FAILED],
                counts[TEST_SKIPPED], seconds);
}

const char *test_report_junit(const struct test_report *report) {
    struct text text;
    text_init(&text, report->arena);
    text_add(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fclc test\"");
    add_counts(&text, report, 0, report->results.count);
    text_add(&text, ">\n");
    for (size_t first = 0, end; first < report->results.count; first = end) {
        const struct test_result *one = &report->results.at[first];
        for (end = first; end < report->results.count && is_of_suite(one, &report->results.at[end]); end++)
            continue;
        text_add(&text, "  <testsuite");
        const char *target = one->target ? one->target : "no target";
        add_attribute(&text, "name", arena_printf(report->arena, "%s on %s", one->path, target));
        add_counts(&text, report, first, end);
        text_add(&text, ">\n");
        for (size_t i = first; i < end; i++)
            add_case(&text, &report->results.at[i]);
        text_add(&text, "  </testsuite>\n");
    }
    text_add(&text, "</testsuites>\n");
    return text_string(&text);
}
