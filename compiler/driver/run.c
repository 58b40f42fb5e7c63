/* fclc run: compile, run, print or write the result. */
#include "driver/commands.h"
#include "driver/complaint.h"
#include "driver/executor.h"
#include "driver/output.h"

static size_t collect_components(struct arena *arena, struct host_value *value, struct host_value ***found) {
    VEC(struct host_value *) components = {0};
    VEC(struct host_value *) waiting = {0};
    vec_push(arena, &waiting, value);
    while (waiting.count) {
        struct host_value *next = waiting.at[--waiting.count];
        if (next->kind == VALUE_TUPLE)
            for (size_t i = next->tuple.count; i-- > 0;)
                vec_push(arena, &waiting, next->tuple.items[i]);
        else
            vec_push(arena, &components, next);
    }
    *found = components.at;
    return components.count;
}

static enum exit_status write_result(struct compilation *c, struct host_value *value, const char *path) {
    struct arena *arena = c->arena;
    struct host_value **components;
    size_t count = collect_components(arena, value, &components);
    struct output_file *files = ARENA_ARRAY(arena, struct output_file, count);
    for (size_t i = 0; i < count; i++) {
        struct value_bytes bytes = value_to_npy(arena, components[i]);
        files[i] = (struct output_file){value_npy_path(arena, path, count, i), bytes.at, bytes.length};
    }
    const char *why;
    return output_write_all(arena, files, count, &why) ? EXIT_GOOD : driver_complain(c->options, EXIT_USAGE, "%s", why);
}

static enum exit_status deliver(struct compilation *c, struct host_value *result) {
    if (c->options->output)
        return write_result(c, result, c->options->output);
    struct text text;
    text_init(&text, c->arena);
    value_print_lines(&text, result, c->options->limit);
    bool good = fwrite(text_string(&text), 1, text.length, stdout) == text.length && fflush(stdout) == 0;
    return good ? EXIT_GOOD
                : driver_complain(c->options, EXIT_USAGE, "the result cannot be written to standard output");
}

static enum exit_status run_kernel(struct compilation *c) {
    struct execution execution;
    enum exit_status status = execution_read(c, &execution);
    if (!execution.kernel)
        return status;
    const char *why = NULL;
    const struct executor *executor = executor_choose(c->options, c->arena, &why);
    if (!executor)
        return driver_complain(c->options, EXIT_DEVICE, "%s", why);
    executor_tell(c->options, executor, why);
    struct host_value *result = NULL;
    status = executor->run(&execution, &result);
    return status == EXIT_GOOD ? deliver(c, result) : status;
}

enum exit_status command_run(struct options *options) {
    if (options->output && !text_ends_with(options->output, ".npy"))
        return driver_complain(options, EXIT_USAGE, "-o %s: a result is written to a .npy file", options->output);
    struct compilation *c = compilation_new(options);
    return compilation_end(c, run_kernel(c));
}
