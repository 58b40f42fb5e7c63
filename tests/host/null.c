// Each function that a header declares, with 0 for everything, and with what it works on but 0 or 1 for the rest: it
// says that this makes no sense, and does not crash. calls.h is written from the headers: CALL(function, its
// arguments).
#include <fclc.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fcl_context *context;
static struct fcl_buffer *buffer;
static struct fcl_program *program;
static struct fcl_kernel *kernel;
static struct fclc_program *compiled;
static struct fclc_kernel *opened;

static bool open_all(void) {
    static const char text[] = "kernel k (xs : [int]) (n : int) = (n, push <grid> (map (+ n) xs))\n";
    static const char source[] = "void k(void *const *args, long blocks) { (void)args, (void)blocks; }\n";
    const struct fclc_file file = {"k.fcl", text, strlen(text)};
    const char *option = "--target=c";
    const int found[] = {1, 2, 3};
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_C;
    return fcl_open(&context, &options, NULL, 0) == FCL_OK &&
           fcl_buffer_new(context, sizeof found, &buffer) == FCL_OK &&
           fcl_write(buffer, 0, found, sizeof found) == FCL_OK &&
           fcl_build(context, source, NULL, &program) == FCL_OK && fcl_get_kernel(program, "k", &kernel) == FCL_OK &&
           fclc_load(&compiled, &file, 1, &option, 1, NULL) == FCLC_GOOD &&
           fclc_open(&opened, compiled, "k", context, NULL) == FCLC_GOOD;
}

// In a process of its own.
static bool survives(void (*call)(void), const char *what) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        call();
        _exit(0);
    }
    bool good = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
    if (!good)
        fprintf(stderr, "%s: signal %d\n", what, WTERMSIG(status));
    return good;
}

#define CALL(number, function, ...)                                                                                    \
    static void call_##number(void) { (void)function(__VA_ARGS__); }
#define EMPTY(number, function)                                                                                        \
    static void call_##number(void) { (void)function(); }
#include "calls.h"
#undef CALL
#undef EMPTY

int main(void) {
    bool good = true;
    if (!open_all()) {
        fprintf(stderr, "%s\n", context ? fcl_error(context) : "no context");
        return 1;
    }
#define CALL(number, ...) good &= survives(call_##number, #__VA_ARGS__);
#define EMPTY(number, function) good &= survives(call_##number, #function);
#include "calls.h"
    return good ? 0 : 1;
}
