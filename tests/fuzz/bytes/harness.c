/* Bytes as a source file through the whole compiler: lexer, parser, checker, and for what checks
   the three targets' text. A crash, an internal error or a unit that takes long is a finding.
   Built with libFuzzer (tests/fuzz/bytes/run), or by itself to replay files. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/compilation.h"
#include "tools/directive.h"
#include "driver/generate.h"
#include "host/emit.h"
#include "support/fatal.h"
#include "syntax/syntax.h"

enum { STACK = 256 * 1024 * 1024 };

struct input {
    const unsigned char *bytes;
    size_t length;
};

static void compile_as(struct compilation *c, enum backend_language language, bool loop) {
    struct generate_request request = {.arena = c->arena,
                                       .options = c->options,
                                       .program = c->program,
                                       .source = c->file->source,
                                       .language = language,
                                       .loop = loop,
                                       .diagnostics = c->diagnostics};
    struct generated generated = {0};
    if (!generate(&request, &generated))
        return;
    struct host_emit_request host = {.language = language,
                                     .programs = generated.targets.at,
                                     .count = generated.targets.count,
                                     .kernel_source = generate_text(&request, &generated, "input"),
                                     .base_name = "input",
                                     .source_name = "input",
                                     .version = FCLC_VERSION,
                                     .sources = c->sources};
    (void)host_emit(c->arena, &host);
    struct text dump;
    text_init(&dump, c->arena);
    for (size_t i = 0; i < generated.kernels.count; i++) {
        ir_print(&dump, generated.kernels.at[i]);
        backend_dump(&dump, generated.targets.at[i]);
    }
}

static void end_by_crash(void *context, const char *message) {
    (void)context;
    fprintf(stderr, "%s\n", message);
    abort();
}

/* The messages are text that is computed too. */
static void print_diagnostics(const struct compilation *c) {
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        abort();
    diag_print_text(c->diagnostics, nowhere, true, 0);
    bool is_begun = false;
    diag_print_json(c->diagnostics, nowhere, &is_begun);
    fclose(nowhere);
}

/* An internal error is reported as a diagnostic: here it ends the run. */
static void expect_no_internal_error(const struct compilation *c) {
    if (!diag_has(c->diagnostics, DIAG_INTERNAL))
        return;
    diag_print_text(c->diagnostics, stderr, false, 20);
    abort();
}

static void *compile(void *context) {
    const struct input *input = context;
    int file = memfd_create("input.fcl", 0);
    if (file < 0 || write(file, input->bytes, input->length) != (ssize_t)input->length)
        abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    /* Every other input, by its length, without the prelude: that is ten times as fast. */
    struct options options = {.no_prelude = input->length % 2 == 1,
                              .block_size = 256,
                              .warp_size = 32,
                              .grid_size = 1024,
                              .unroll = -1,
                              .optimise = (int)(input->length % 3),
                              .check = input->length % 5 == 0,
                              .stack_bytes = STACK};
    struct compilation *c = compilation_new(&options);
    fatal_set_handler(end_by_crash, NULL);
    if (compilation_check(c, path) == EXIT_GOOD && compilation_is_good(c)) {
        struct text dump;
        text_init(&dump, c->arena);
        syntax_dump_ast(&dump, c->file);
        core_dump(&dump, c->program, false);
        directives_find(c->arena, c->file, c->diagnostics);
        compile_as(c, BACKEND_CUDA, false);
        compile_as(c, BACKEND_OPENCL, input->length % 7 < 3);
        compile_as(c, BACKEND_C, true);
    }
    expect_no_internal_error(c);
    print_diagnostics(c);
    compilation_free(c);
    close(file);
    return NULL;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t length) {
    struct input input = {bytes, length};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    if (pthread_create(&thread, &attributes, compile, &input) != 0 || pthread_join(thread, NULL) != 0)
        abort();
    pthread_attr_destroy(&attributes);
    return 0;
}

#ifdef REPLAY
int main(int count, char **paths) {
    static unsigned char bytes[1 << 20];
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(paths[i], "rb");
        if (!file)
            return 1;
        size_t length = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        unsigned char *copy = malloc(length ? length : 1); /* so that reads past the end are seen */
        memcpy(copy, bytes, length);
        LLVMFuzzerTestOneInput(copy, length);
        free(copy);
    }
    printf("%d inputs\n", count - 1);
    return 0;
}
#endif
