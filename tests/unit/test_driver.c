/* The driver's parts that need no program: the command line, test directives, output files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/directive.h"
#include "driver/options.h"
#include "driver/output.h"
#include "syntax/syntax.h"

static int set_up(void **state) {
    *state = arena_new();
    return 0;
}

static int tear_down(void **state) {
    arena_free(*state);
    return 0;
}

/* ---- options ---- */

enum { WORDS = 16 };

static const char *parse(struct arena *arena, struct options *options, const char *line) {
    char *words[WORDS] = {"fclc"}, *copy = arena_strndup(arena, line, strlen(line));
    int count = 1;
    for (char *word = strtok(copy, " "); word && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    const char *why = NULL;
    return options_parse(arena, count, words, options, &why) ? "" : why;
}

static void test_commands(void **state) {
    struct options o;
    assert_string_equal(parse(*state, &o, "run --target=interp x.fcl k 3 -2.5 -inf [1]"), "");
    assert_int_equal(o.command, COMMAND_RUN);
    assert_int_equal(o.operand_count, 6);
    assert_string_equal(o.operands[3], "-2.5");
    assert_string_equal(o.target, "interp");
    assert_string_equal(parse(*state, &o, "x.fcl -o x.cu -M -O2 -Dn=3 -D m=4"), "");
    assert_int_equal(o.command, COMMAND_COMPILE);
    assert_string_equal(o.output, "x.cu");
    assert_int_equal(o.optimise, 2);
    assert_int_equal(o.settings.count, 2);
    assert_string_equal(o.settings.at[1].value, "4");
    assert_string_equal(parse(*state, &o, "--dump=ir x.fcl"), "");
    assert_int_equal(o.command, COMMAND_DUMP);
    assert_string_equal(parse(*state, &o, "run -- x.fcl k --odd"), "");
    assert_string_equal(o.operands[2], "--odd");
    assert_string_equal(parse(*state, &o, "test --all-targets a.fcl b.fcl"), "");
    assert_string_equal(parse(*state, &o, "devices"), "");
    assert_string_equal(parse(*state, &o, "check --help"), "");
    assert_true(o.only_help);
    assert_string_equal(parse(*state, &o, "help run"), "");
    assert_true(o.only_help);
    assert_int_equal(o.command, COMMAND_RUN);
    assert_string_equal(parse(*state, &o, "help help"), "");
    assert_true(o.only_help && !o.lists_options);
    assert_string_equal(parse(*state, &o, "help options"), "");
    assert_true(o.lists_options);
    assert_string_equal(parse(*state, &o, "run - k [1]"), "");
    assert_string_equal(o.operands[0], "-");
}

static void test_wrong_command_lines(void **state) {
    struct options o;
    assert_string_equal(parse(*state, &o, "rum x.fcl k"), "unknown command `rum`; did you mean `run`?");
    assert_string_equal(parse(*state, &o, "run --tarjet=c x.fcl k"),
                        "unknown option `--tarjet`; did you mean `--target`?");
    assert_non_null(strstr(parse(*state, &o, "run --target=cude x.fcl k"), "did you mean `cuda`?"));
    assert_non_null(strstr(parse(*state, &o, "run --limit=-1 x.fcl k"), "from 0 to"));
    assert_non_null(strstr(parse(*state, &o, "run --limit=x x.fcl k"), "not `x`"));
    assert_non_null(strstr(parse(*state, &o, "run --block-size=0 x.fcl k"), "from 1 to 1024"));
    assert_non_null(strstr(parse(*state, &o, "check --limit=3 x.fcl"), "no option of"));
    assert_non_null(strstr(parse(*state, &o, "check --no-prelude=1 x.fcl"), "takes no value"));
    assert_non_null(strstr(parse(*state, &o, "x.fcl -o"), "needs a value"));
    assert_non_null(strstr(parse(*state, &o, "run"), "something is missing"));
    assert_non_null(strstr(parse(*state, &o, "check -D n x.fcl"), "NAME=VALUE"));
    assert_non_null(strstr(parse(*state, &o, "check -Z x.fcl"), "unknown option `-Z`"));
}

/* ---- directives ---- */

static void test_directives(void **state) {
    struct arena *arena = *state;
    const char *text = "kernel k = 1\n"
                       "-- test k == 1\n"
                       "  -- test sum [1, 2] (3, [4]) ~=1e-3 [ 5 ]  \n"
                       "-- test f 2.0 random:1000:1 ~= @x.npy\n"
                       "-- test bad [] error \"is empty\"\n"
                       "-- testing is something else\n"
                       "-- test nothing\n"
                       "-- test k ==";
    struct sources *sources = sources_new(arena);
    const struct source *source = source_add(sources, "x.fcl", text, strlen(text));
    struct diagnostics *diagnostics = diagnostics_new(arena, sources);
    const struct ast_file *file = syntax_parse(arena, symbols_new(arena), source, diagnostics);
    directives unread = {0}, found = directives_find(arena, file, &unread, diagnostics);
    assert_int_equal(found.count, 4);
    assert_int_equal(diag_error_count(diagnostics), 2);
    assert_int_equal(found.at[0].line, 2);
    assert_int_equal(found.at[0].arguments.count, 0);
    assert_string_equal(found.at[0].wanted, "1");
    assert_string_equal(found.at[1].kernel, "sum");
    assert_string_equal(found.at[1].arguments.at[0], "[1, 2]");
    assert_string_equal(found.at[1].arguments.at[1], "(3, [4])");
    assert_int_equal(found.at[1].expectation, EXPECT_CLOSE);
    assert_true(found.at[1].tolerance == 1e-3);
    assert_string_equal(found.at[1].wanted, "[ 5 ]");
    assert_true(found.at[2].tolerance == 0);
    assert_int_equal(found.at[3].expectation, EXPECT_ERROR);
    assert_string_equal(found.at[3].wanted, "is empty");
    assert_int_equal(unread.count, 2);
    assert_int_equal(unread.at[1].line, 8);
    assert_string_equal(unread.at[1].wrong, "what is wanted is missing at the end");
}

/* ---- output ---- */

static void test_output(void **state) {
    struct arena *arena = *state;
    char directory[] = "/tmp/fclc-test-XXXXXX";
    assert_non_null(mkdtemp(directory));
    const char *why = NULL, *path = arena_printf(arena, "%s/x", directory);
    assert_true(output_write(arena, path, "one", 3, &why));
    assert_int_equal(chmod(path, 0640), 0);
    assert_true(output_write(arena, path, "three", 5, &why));
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 5);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_false(output_write(arena, arena_printf(arena, "%s/no/x", directory), "x", 1, &why));
    assert_non_null(strstr(why, "cannot be written"));
    assert_true(output_write(arena, "/dev/null", "x", 1, &why));
    const struct output_file both[] = {{path, "seven", 5}, {directory, "x", 1}}; /* of which one is a folder */
    assert_false(output_write_all(arena, both, 2, &why));
    assert_non_null(strstr(why, "Is a directory"));
    char found[8] = "";
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(found, 1, sizeof found - 1, file), 5);
    fclose(file);
    assert_string_equal(found, "three");
    unlink(path);
    assert_int_equal(rmdir(directory), 0); /* nothing else was left there */
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_commands),
        TEST(test_wrong_command_lines),
        TEST(test_directives),
        TEST(test_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
