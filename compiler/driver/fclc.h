// The compiler as a library: programs from files or text to checked kernels, which run on the
// runtime's contexts or in the reference interpreter, or become text for a target.
//
// Errors. Functions that can fail return an enum fclc_status, which is the command's exit status,
// and what fclc would print in *message: a string for fclc_free, or NULL where there is nothing to
// say. Warnings are there, too, when all went well. `message` may be NULL. Nothing prints and
// nothing exits, but for what the program's own C compiler or driver says.
//
// Threads. A program and its kernels must not be used by two threads at once, nor may a context
// (see fcl.h); different programs may be. Each call that compiles, or runs in the interpreter, does
// so on a thread of its own with a large stack.
//
// Units. Lengths and extents count elements.
#ifndef FCLC_H
#define FCLC_H

#include <fcl.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

// The outcome of a call.
enum fclc_status {
    FCLC_GOOD = 0,
    FCLC_WRONG = 1,    // the program is wrong, or a check of it failed
    FCLC_USAGE = 2,    // an option or a file is
    FCLC_DEVICE = 3,   // the device or its driver failed
    FCLC_INTERNAL = 4, // the compiler is wrong, or the host's memory is used up
};

// "0.2.0"
const char *fclc_version(void);
// Releases a message or a text. NULL is fine.
void fclc_free(char *text);

// ---------------------------------------------------------------- programs

// A program that is read and checked, with the options that it was loaded with.
struct fclc_program;

// A file of a program.
struct fclc_file {
    const char *path; // names it in messages; what it imports is looked for beside it. NAME.fclir is the IR of kernels
    const char *text; // of `length` bytes, which are copied; NULL: it is read from the path
    size_t length;
};

// Reads and checks a program: the first of the files. The others, which must have texts, are found by it and by each
// other when their paths are imported. `options` are words as on the command line of `fclc run`: "--target=c",
// "-D", "chunk=512", "--check", "--block-size=64" …; and "-W", "no-unused" or "error", as on that of `fclc check`.
enum fclc_status fclc_load(struct fclc_program **program, const struct fclc_file *files, size_t file_count,
                           const char *const *options, size_t option_count, char **message);
// Its kernels must be closed before. NULL is fine.
void fclc_unload(struct fclc_program *program);
// The device that the options ask for by --target: of it a context is to be opened. *runs is false for the interpreter.
enum fcl_device_kind fclc_device_kind(const struct fclc_program *program, bool *runs);

// The device code that `fclc -o` writes, of a kernel, or with NULL of all, for "cuda", "opencl", "c" or "hip": in
// *text, for fclc_free. The program's options hold, but for its target.
enum fclc_status fclc_text(struct fclc_program *program, const char *kernel, const char *target, char **text,
                           char **message);

// The forms of a report.
enum fclc_report_form { FCLC_REPORT_TEXT, FCLC_REPORT_JSON, FCLC_REPORT_PAGE };
// Writes what `fclc report` says of a kernel, or with NULL of all, for "cuda", "opencl", "c" or
// "hip", into *text, for fclc_free. `sizes` as --sizes has them, `device` as
// --device, or NULL. Nothing is run.
enum fclc_status fclc_report(struct fclc_program *program, const char *kernel, const char *target, const char *sizes,
                             const char *device, enum fclc_report_form form, char **text, char **message);

// ---------------------------------------------------------------- what a kernel takes and gives

// The types of scalars and elements.
enum fclc_base {
    FCLC_BOOL, // a byte
    FCLC_I8,
    FCLC_I16,
    FCLC_I32,
    FCLC_I64,
    FCLC_U8,
    FCLC_U16,
    FCLC_U32,
    FCLC_U64,
    FCLC_F32,
    FCLC_F64,
    FCLC_F16,  // the 16 bits of IEEE 754's binary16, as the next are of
    FCLC_BF16, // bfloat16: the upper half of a float
};

// Arrays of tuples are FCLC_TUPLE, too: an array for each component.
enum fclc_kind { FCLC_SCALAR, FCLC_ARRAY, FCLC_TUPLE };

// The most dimensions of an array, and its most elements.
enum { FCLC_MAX_RANK = 8 };
#define FCLC_MAX_ELEMENTS ((int64_t)1 << 48)

// The type of a parameter or a result.
struct fclc_type {
    enum fclc_kind kind;
    enum fclc_base base; // SCALAR, ARRAY: of the elements
    size_t rank;  // ARRAY: dimensions. TUPLE: those of an array of tuples, whose items are arrays of one shape; or 0
    size_t count; // TUPLE
    const struct fclc_type *items; // TUPLE
    const char *const *fields;     // TUPLE that is a record: the names of its items; else NULL
};

// A parameter, or the result.
struct fclc_parameter {
    const char *name, *text; // its type as FCL writes it
    struct fclc_type type;
};

// The description of a kernel.
struct fclc_kernel_info {
    const char *name, *text; // its type as `fclc types` prints it
    const char *comment;     // the lines of comment above it, without dashes; or ""
    const char *path;
    unsigned line; // from 1
    const struct fclc_parameter *parameters;
    size_t parameter_count;
    struct fclc_parameter result; // without a name
};

// The kernels of the program's first file, in source order. The array is the program's.
const struct fclc_kernel_info *fclc_kernels(const struct fclc_program *program, size_t *count);

// ---------------------------------------------------------------- running

// A kernel that is compiled, and built in a context.
struct fclc_kernel;

// Compiles a kernel and builds it in an open context, which must outlive it; NULL: the interpreter will run it.
enum fclc_status fclc_open(struct fclc_kernel **kernel, struct fclc_program *program, const char *name,
                           struct fcl_context *context, char **message);
// Releases it; before its program and its context. NULL is fine.
void fclc_close(struct fclc_kernel *kernel);

// A scalar or an array: one for each in a type, from left to right, through all tuples.
struct fclc_value {
    union {
        int64_t integer; // of bools and integers; unsigned ones of 64 bits wrap
        double floating; // rounded to the type
    } scalar;
    const void *data;          // an array in the host's memory, dense and row-major; or, where it is not NULL,
    struct fcl_buffer *buffer; // in the device's
    int64_t shape[FCLC_MAX_RANK];
};

// Runs it. The arguments stay the caller's, and are only read. Results are in the memory of the
// context, for fcl_buffer_free; with the interpreter in the host's memory until the kernel runs
// again or is closed. A context for C has the host's memory: an array in it is not copied.
enum fclc_status fclc_run(struct fclc_kernel *kernel, const struct fclc_value *arguments, struct fclc_value *results,
                          char **message);
// The same, with places of the caller's for the results. into[i] is that of result i: `data`, which
// is written, or `buffer`, and the extents that it has room for. The result has the same extents,
// but the first may be lower; results[i] has them, and neither data nor a buffer. A place with
// neither is none, as is each of a number: that result is as fclc_run gives it. Places share no
// memory with each other; what one shares with an argument is written when that has been read.
// Kernels in C store straight into `data`, and all others into `buffer`, where fcl_into_begin says
// so; else the result is copied there. After a failure there may be anything. FCLC_USAGE: a result
// does not fit. The interpreter has no buffers.
enum fclc_status fclc_run_into(struct fclc_kernel *kernel, const struct fclc_value *arguments,
                               const struct fclc_value *into, struct fclc_value *results, char **message);
// How many values there are in the parameters together, and in the result.
void fclc_counts(const struct fclc_kernel *kernel, size_t *arguments, size_t *results);
// Bytes of an element.
size_t fclc_base_bytes(enum fclc_base base);

#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
