// The runtime of FCL programs: devices, memory, programs, launches and timing over CUDA, OpenCL and
// plain C.
//
// Host code that fclc writes calls only what is declared here, and so may yours.
//
// Errors. A function that can fail returns FCL_OK (0) or another enum fcl_status and leaves a
// message, one line or more, in the context: fcl_error(context). Functions without a context write
// it to a buffer of the caller's. Nothing prints and nothing exits. After a failure every output
// parameter is NULL or zero and nothing is leaked.
//
// Units. Sizes and offsets are bytes, times are seconds, counts are elements; a field or parameter
// says so where its name does not.
//
// Ownership. A context owns its buffers, programs, kernels and timings: fcl_close releases all that
// is left, and pointers to them are dead afterwards. Strings returned belong to what they were
// asked of.
//
// Order and threads. A context does its work in the order of the calls; launches, copies and fills
// return before they are done, so their failure may be reported by a later call, at the latest by
// fcl_read or fcl_finish. One context must not be used by two threads at once; different contexts
// may be. A fork's child must not use its parent's contexts, but for those of C that no other
// thread used meanwhile; it may open its own.
//
// Environment. FCL_LIBOPENCL, FCL_LIBCUDA, FCL_LIBNVRTC, FCL_LIBHIP and FCL_LIBHIPRTC name a
// library to load instead of the usual one; FCL_CC is the C compiler (default `cc`; more words are
// its first arguments), FCL_CC_OPTIONS has further options of it, as -O1, FCL_NVRTC_OPTIONS of
// NVRTC, as -lineinfo, and FCL_HIPRTC_OPTIONS of hiprtc; FCL_CACHE=0 switches off the cache of
// built programs on disk, FCL_POOL=0 the reuse of freed buffers; with FCL_POOL=exact they are
// reused, and no buffer is larger than asked, so that tools that watch the bounds of memory see
// what leaves it. With FCL_FILL=N each byte of a new buffer, of the first 64 MiB, is N, 1 to 255, so
// that what is never written is seen: by itself that may be anything, and often is 0. FCL_THREADS
// says how many threads run C kernels; without it OMP_NUM_THREADS does, or there are as many as
// processors that the process may use when the context is opened. Where the processor has AVX-512
// and CL_CONFIG_CPU_TARGET_ARCH is not set, it becomes core-avx2 when OpenCL is loaded: Intel's
// OpenCL 2026.2 makes wrong code with AVX-512.
#ifndef FCL_H
#define FCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

// Changes when programs that were compiled with this header would no longer run.
#define FCL_RUNTIME_VERSION "1"

// The outcome of a call.
enum fcl_status {
    FCL_OK = 0,
    FCL_INVALID,          // an argument of the call makes no sense
    FCL_NO_BACKEND,       // a driver library or compiler is missing
    FCL_NO_DEVICE,        // no device of the wanted kind
    FCL_NO_MEMORY,        // the host has no memory left
    FCL_NO_DEVICE_MEMORY, // the device has no memory left
    FCL_TOO_LARGE,        // more than the device's limit: a buffer, a block or its shared memory
    FCL_BUILD_FAILED,     // the kernel source was rejected; the message holds the build log
    FCL_NO_KERNEL,        // the program has no kernel of that name
    FCL_DRIVER_FAILED,    // the driver reported an error
    FCL_CHECK_FAILED, // a check of the program: of a length, or of what --check checks; the message says where and what
    FCL_NO_ROOM,      // a result is longer than the caller's memory for it
    FCL_DEVICE_FAULT, // this process gets nothing else from the device: a kernel did what stops it (CUDA), or the
                      // process was forked from one that had used the driver (not C's, which lives on)
};

// The backends, which run kernels; the last member is their number.
enum fcl_backend { FCL_BACKEND_CUDA, FCL_BACKEND_OPENCL, FCL_BACKEND_C, FCL_BACKEND_HIP, FCL_BACKENDS };

// The kind of a device; ANY and OPENCL only select and are never a device's kind.
enum fcl_device_kind {
    FCL_DEVICE_CUDA,
    FCL_DEVICE_OPENCL_GPU,
    FCL_DEVICE_OPENCL_CPU,
    FCL_DEVICE_OPENCL_OTHER,
    FCL_DEVICE_C,
    FCL_DEVICE_ANY,    // the first that works: CUDA, OpenCL GPU, CPU, other, C
    FCL_DEVICE_OPENCL, // the first OpenCL device that works: GPU, CPU, other
    FCL_DEVICE_HIP,    // AMD's GPUs by HIP; only where it is asked for
};

// An open device, memory on it, what fcl_build makes, one function of that, and launches that are repeated as a whole.
struct fcl_context;
struct fcl_buffer;
struct fcl_program;
struct fcl_kernel;
struct fcl_graph;

// ---------------------------------------------------------------- the caller's settings

// How the calling thread was set: its locale, and how it rounds numbers.
struct fcl_entry {
    bool is_changed;
    void *locale;
    uint64_t floating[8]; // where it is changed
};

// Every function here works the same whatever locale, rounding, traps or treatment of small numbers its caller has set.
// Host code that fclc writes, and may compute itself, begins with this, for that: it sets C's locale and the usual
// rounding for this thread, and gives what was set before.
struct fcl_entry fcl_enter(void);
// Sets again what was set before.
void fcl_leave(const struct fcl_entry *entry);

// ---------------------------------------------------------------- devices

// The properties of a device.
struct fcl_device_info {
    enum fcl_backend backend;
    enum fcl_device_kind kind;
    int index;                 // among the devices of its kind, from 0
    char platform[128];        // "CUDA", an OpenCL platform's name, or the C compiler
    char name[256];            // as the driver calls it
    char driver[128];          // driver version
    uint64_t memory_bytes;     // global memory in all
    uint64_t max_buffer_bytes; // largest single buffer
    uint64_t shared_bytes;     // shared (OpenCL: local) memory a block can have; 0: no limit known
    uint32_t max_threads;      // threads a block can have; 0: no limit
    uint64_t max_blocks;       // blocks a launch can have; larger launches are clamped to it
    uint32_t compute_units;    // multiprocessors, cores, or for C threads
    uint32_t warp_width;       // threads that run in lockstep; 1 on CPUs, 0 where the driver does not tell
    uint32_t vector_bytes;     // what a vector register of a CPU has; 0 elsewhere
    uint32_t capability;       // CUDA: 10 × major + minor of the compute capability; 0 elsewhere
    bool has_double;           // 64-bit floating point
    bool exact_division;       // 32-bit division and square root are correctly rounded, with the default build options
    bool has_sub_groups;       // OpenCL: threads of a block can be made groups of 32 that exchange values
    bool has_waiting_blocks;   // blocks can wait for those before them: those that have begun go on
    char problem[256];         // why kernels cannot be built for it; empty when they can
};

// The devices that fcl_devices finds.
struct fcl_device_list {
    struct fcl_device_info *devices;
    size_t count;
    char absent[FCL_BACKENDS][256]; // why a backend has no device, by enum fcl_backend; empty when it has one
};

// Lists all devices of all backends, in the order of enum fcl_device_kind. fcl_device_list_free releases the list.
enum fcl_status fcl_devices(struct fcl_device_list *list);
void fcl_device_list_free(struct fcl_device_list *list);

// "success", "no such device", …
const char *fcl_status_text(enum fcl_status status);
// "cuda", "opencl", "c", "hip"
const char *fcl_backend_name(enum fcl_backend backend);
// "cuda", "opencl-gpu", "opencl-cpu", "opencl-other", "c", "any", "opencl", "hip"
const char *fcl_device_kind_name(enum fcl_device_kind kind);
// Reads a device's name as fcl_device_kind_name writes it, optionally followed by `:INDEX`. FCL_INVALID if it is none.
enum fcl_status fcl_parse_device(const char *text, enum fcl_device_kind *kind, int *index);

// ---------------------------------------------------------------- contexts

// How a context is opened; FCL_OPTIONS_DEFAULT is what to begin with.
struct fcl_options {
    enum fcl_device_kind kind;
    int index;                   // among the devices of that kind
    bool profile;                // measure every launch, see fcl_timings
    bool no_disk_cache;          // do not keep built programs on disk (nor are PoCL's, which keeps them itself)
    bool no_pool;                // give freed buffers back to the driver at once
    const char *cache_directory; // NULL: $XDG_CACHE_HOME/fcl or ~/.cache/fcl
    // NULL, or the caller's own queue to work on, which stays the caller's and must outlive the
    // context: with kind FCL_DEVICE_OPENCL… a cl_command_queue that works in order (with profiling
    // where `profile` is set), with FCL_DEVICE_CUDA a CUstream (cudaStream_t) of the thread's
    // current CUDA context. The device is the queue's. For C it is an error.
    void *queue;
    bool only_linked; // nothing is built, all kernels come by fcl_link…: C needs no compiler then, and CUDA no NVRTC
};

// The first device that works, no profiling, both caches.
#define FCL_OPTIONS_DEFAULT                                                                                            \
    { FCL_DEVICE_ANY, 0, false, false, false, NULL, NULL, false }

// Opens a device. `options` NULL is FCL_OPTIONS_DEFAULT. The message of a failure, with the reasons
// of everything that was tried, goes to `error` (at most `error_bytes` with its terminator);
// `error` may be NULL.
enum fcl_status fcl_open(struct fcl_context **context, const struct fcl_options *options, char *error,
                         size_t error_bytes);
// Waits for all work, then releases the context and all it owns. NULL is fine.
void fcl_close(struct fcl_context *context);

// The device that the context is of.
const struct fcl_device_info *fcl_device(const struct fcl_context *context);
// The message of the last call that failed on this context, "" if none did; valid until the next one fails.
const char *fcl_error(const struct fcl_context *context);
// Its status, FCL_OK if none failed.
enum fcl_status fcl_error_status(const struct fcl_context *context);
// Waits until everything asked of the context is done.
enum fcl_status fcl_finish(struct fcl_context *context);
// Waits until what was asked of a queue of somebody else's is done, before memory that it writes is used here: a
// cl_command_queue or a CUstream (NULL: the default stream) of the same device. C has none: nothing is waited for.
enum fcl_status fcl_finish_queue(struct fcl_context *context, void *queue);

// From here on the context's work goes to this queue of the caller's, after all work that was asked
// of the context before. The host waits for nothing. So each call can have the queue, or stream,
// that its caller works on. It is of the kinds that fcl_options.queue takes, of this context's
// device and the driver's context; NULL is the one that the context was opened with. It must live
// until another one is used, or the context is closed. FCL_INVALID for C, which has no queues, and
// for a queue of another context. Between fcl_graph_begin and fcl_graph_end it fails.
enum fcl_status fcl_use_queue(struct fcl_context *context, void *queue);

// Where device memory comes from, in place of the driver: so that it is of a pool that others share. `queue` is the one
// in use. `allocate` gives memory as fcl_buffer_wrap takes it, of that many bytes, aligned to 256, or 0 where there is
// none. `release` gets it back when work that was asked of `queue` may still use it. Both are called in calls of this
// context, and must not call it. Nothing is kept for later buffers then: that is the pool's work.
struct fcl_allocator {
    uintptr_t (*allocate)(void *data, uint64_t bytes, void *queue);
    void (*release)(void *data, uintptr_t memory, uint64_t bytes, void *queue);
    void *data; // for both
};
// NULL: the driver again. FCL_INVALID while there are buffers, whose memory would go back to another than gave it.
enum fcl_status fcl_set_allocator(struct fcl_context *context, const struct fcl_allocator *allocator);

// ---------------------------------------------------------------- buffers

// Allocates device memory with undefined contents; 0 bytes is fine.
enum fcl_status fcl_buffer_new(struct fcl_context *context, uint64_t bytes, struct fcl_buffer **buffer);
// The same for `count` elements of `element_bytes` each: an error where the product overflows.
enum fcl_status fcl_buffer_array(struct fcl_context *context, uint64_t count, uint64_t element_bytes,
                                 struct fcl_buffer **buffer);
// The same, and all bytes are 0.
enum fcl_status fcl_buffer_zeros(struct fcl_context *context, uint64_t count, uint64_t element_bytes,
                                 struct fcl_buffer **buffer);
// One element, of at most 64 bytes, that launches store to and the host alone reads: where the device
// can write the host's memory, fcl_read only waits for it. `zeros`: all bytes are 0, else they are undefined.
enum fcl_status fcl_buffer_slot(struct fcl_context *context, uint64_t element_bytes, bool zeros,
                                struct fcl_buffer **buffer);
// Memory of the caller's as a buffer: a cl_mem, a CUdeviceptr, or for C a pointer, of at least that
// many bytes. It stays the caller's: fcl_buffer_free only forgets it. Where there are no bytes, the
// buffer is a small one of the context's, as a kernel with checks reads one element in any case.
enum fcl_status fcl_buffer_wrap(struct fcl_context *context, uintptr_t native, uint64_t bytes,
                                struct fcl_buffer **buffer);
// The driver's value for a buffer, of the kinds that fcl_buffer_wrap takes.
uintptr_t fcl_buffer_native(const struct fcl_buffer *buffer);
// Work already asked for may still use it: the memory lives until that is done. NULL is fine.
void fcl_buffer_free(struct fcl_buffer *buffer);
// The bytes that the buffer was asked for with.
uint64_t fcl_buffer_bytes(const struct fcl_buffer *buffer);

// Host to device. `data` may be reused as soon as it returns.
enum fcl_status fcl_write(struct fcl_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes);
// Device to host; waits for the work before it.
enum fcl_status fcl_read(struct fcl_buffer *buffer, uint64_t offset, void *data, uint64_t bytes);
// Device to device. The ranges must not overlap. Between two contexts, of whatever devices, it is
// done when it returns, after the work before it on both: from GPU to GPU of CUDA as the driver
// does, directly where they reach each other, else by way of the host.
enum fcl_status fcl_copy(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from, uint64_t from_offset,
                         uint64_t bytes);
// Sets every byte.
enum fcl_status fcl_fill(struct fcl_buffer *buffer, uint64_t offset, uint64_t bytes, uint8_t value);
// Gives the memory of freed buffers back to the driver. It is kept for later ones: up to 64 buffers
// and an eighth of the device's memory. A buffer has up to a quarter more memory than asked, at
// most 64 MiB more, so that it serves other sizes later.
void fcl_trim(struct fcl_context *context);

// ---------------------------------------------------------------- programs and kernels

// Builds kernel source: CUDA C++, OpenCL C or C, by the context's backend. `options` are the backend compiler's,
// separated by spaces; NULL means fcl_build_options. The same source and options give the same program again, from the
// context or from disk.
enum fcl_status fcl_build(struct fcl_context *context, const char *source, const char *options,
                          struct fcl_program **program);
// The default options, chosen so that floating-point results agree between the backends (no contraction to
// multiply-add, correctly rounded division where there is a choice).
const char *fcl_build_options(const struct fcl_context *context);
// Where the last fcl_build found its program: "context", "disk" or "source".
const char *fcl_build_origin(const struct fcl_context *context);

// Removes the files of builds in C that are under way, in whatever context. It is for the handler of a signal that ends
// the process, and calls nothing that is not allowed there.
void fcl_remove_temporaries(void);
// Why the cache on disk is not used, though it was to be, or a file of it was not: others can write there what would
// be run. "" where nothing is wrong.
const char *fcl_cache_problem(const struct fcl_context *context);

// A kernel in C that was compiled with the program that uses it, as `fclc --ahead` writes them; see fcl_launch.
struct fcl_linked_kernel {
    const char *name;
    void (*run)(void *const *args, int64_t blocks);
    void (*part)(void *const *args, int64_t first, int64_t end, int64_t blocks); // or NULL
};
// These as a program: nothing is built. One without a name ends them; they must outlive the
// context, which must be for C. The same array gives the same program again.
enum fcl_status fcl_link(struct fcl_context *context, const struct fcl_linked_kernel *kernels,
                         struct fcl_program **program);
// The same for CUDA: what nvcc has made of them, as PTX, a cubin or a fatbin. It is copied. The
// same address gives the same program again.
enum fcl_status fcl_link_image(struct fcl_context *context, const void *image, struct fcl_program **program);
// How GCC and Clang are to compile kernels in C: as fcl_build does. Results depend on it. Functions and
// loops are aligned: a loop of a few instructions took up to 2.6 times as long where it lay across what a core decodes
// at once, and any other change of its program moved it there.
#define FCL_C_OPTIONS                                                                                                  \
    "-O3 -march=native -fopenmp-simd -DFCL_OPENMP_SIMD -fno-math-errno -fno-trapping-math -ffp-contract=off "          \
    "-fno-tree-slp-vectorize -fno-delete-null-pointer-checks -falign-functions=64 -falign-loops=32"

// The kernel of that name, which lives as long as its program. FCL_NO_KERNEL where there is none.
enum fcl_status fcl_get_kernel(struct fcl_program *program, const char *name, struct fcl_kernel **kernel);
// The name that it was asked for by.
const char *fcl_kernel_name(const struct fcl_kernel *kernel);
// Bytes of memory that each thread has for what its registers do not hold: its arrays, and what is
// spilled. 0 also where the driver does not tell (OpenCL, C).
uint64_t fcl_kernel_thread_bytes(const struct fcl_kernel *kernel);

// ---------------------------------------------------------------- launches

// The kinds of arguments of a launch.
enum fcl_arg_kind {
    FCL_ARG_BUFFER,
    FCL_ARG_SCALAR, // 1, 2, 4 or 8 bytes
    FCL_ARG_LOCAL,  // OpenCL only: `bytes` of local memory
};

// An argument of a launch, which the functions below make.
struct fcl_arg {
    enum fcl_arg_kind kind;
    bool may_be_absent; // BUFFER: may be NULL
    size_t bytes;       // of the scalar or the local memory
    union {
        struct fcl_buffer *buffer;
        uint64_t align;
        unsigned char scalar[8];
    } as;
};

// An array in device memory.
static inline struct fcl_arg fcl_arg_buffer(struct fcl_buffer *buffer) {
    struct fcl_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.kind = FCL_ARG_BUFFER;
    arg.as.buffer = buffer;
    return arg;
}

// NULL is a null pointer, for an array that this launch does not use.
static inline struct fcl_arg fcl_arg_optional(struct fcl_buffer *buffer) {
    struct fcl_arg arg = fcl_arg_buffer(buffer);
    arg.may_be_absent = true;
    return arg;
}

// A number, of which there are 1, 2, 4 or 8 bytes. It is copied.
static inline struct fcl_arg fcl_arg_scalar(const void *value, size_t bytes) {
    struct fcl_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.kind = FCL_ARG_SCALAR;
    arg.bytes = bytes;
    if (value && bytes <= sizeof arg.as.scalar)
        memcpy(arg.as.scalar, value, bytes);
    return arg;
}

// Local memory of OpenCL's blocks, for an array that they share.
static inline struct fcl_arg fcl_arg_local(size_t bytes) {
    struct fcl_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.kind = FCL_ARG_LOCAL;
    arg.bytes = bytes;
    return arg;
}

// Runs `kernel` in `blocks` blocks of `threads` threads.
//
// Zero blocks is no launch and FCL_OK. More blocks than the device takes at once are clamped:
// kernels loop over their blocks with the stride of the launch, so every launch size is right.
// `shared_bytes` is CUDA's dynamic shared memory; OpenCL gives each array as an FCL_ARG_LOCAL
// argument instead, and C has it inside the kernel: both ignore it. C also ignores `threads`.
//
// A C kernel is `void NAME(void *const *args, int64_t blocks)`: args[i] points at the scalar, or at
// a variable that holds the buffer's pointer. Where the program also has
// `void fcl_part_NAME(void *const *args, int64_t first, int64_t end, int64_t blocks)`, which does
// the blocks from `first` to `end` - 1, these are shared out among the context's threads.
enum fcl_status fcl_launch(struct fcl_kernel *kernel, uint64_t blocks, uint32_t threads, uint64_t shared_bytes,
                           const struct fcl_arg *args, size_t count);

// How many blocks to launch for `iterations` of a kernel: one for every `per_block` of them, or for
// `least` times as many where that is enough to keep the device busy. With `per_block` 0, where
// blocks take contiguous ranges (CPUs), a few for each core, but none with fewer than `least`
// iterations. Any number is right.
uint64_t fcl_blocks(const struct fcl_context *context, uint64_t iterations, uint32_t per_block, uint32_t least);

// ---------------------------------------------------------------- results in buffers of the caller's

// Between these, a `_device` function or fclc_run stores its result i in results[i], which is NULL for
// a number; both lists live until the end. A `_device_into` function is such a pair around the
// `_device` one. The device stores straight into a buffer that has room for all that the kernel may
// store, which of a filter is its input's length, and that shares no memory with the arguments.
// Where it cannot (that, a state that steps leave in one of two buffers, memory of others that does
// not begin at 16 bytes), it stores elsewhere and copies at the end. FCL_INVALID: a buffer is of
// another context, or shares memory with another result's.
enum fcl_status fcl_into_begin(struct fcl_context *context, struct fcl_buffer *const *results, size_t result_count,
                               struct fcl_buffer *const *arguments, size_t argument_count);
// Memory for result `which`, of so many elements, as fcl_buffer_array gives it where there is nothing to store into.
enum fcl_status fcl_buffer_result(struct fcl_context *context, size_t which, uint64_t count, uint64_t element_bytes,
                                  struct fcl_buffer **buffer);
// made[i], NULL for a number, is what was made for result i, and bytes[i] how much of it there is: the caller's buffer
// has that then, and made[i] is freed and NULL. FCL_NO_ROOM where the caller's is smaller. With a `status` other than
// FCL_OK, that of what made them, nothing is stored, and that is returned.
enum fcl_status fcl_into_end(struct fcl_context *context, enum fcl_status status, struct fcl_buffer **made,
                             const uint64_t *bytes);

// ---------------------------------------------------------------- graphs

// CUDA only: what is launched, copied and filled between these is not done but recorded, and then
// launched as a whole, as often as one likes, which costs the host about as much as one launch. It
// uses the same buffers and numbers each time: buffers that were there before, and those that were
// made and not freed meanwhile, must not be freed before the graph. The memory of others, which
// were freed meanwhile, is the graph's until fcl_graph_free. Calls that wait cannot be recorded:
// fcl_read, fcl_write and fcl_finish fail. A context that measures launches does not measure those
// of graphs. FCL_NO_BACKEND where there are no graphs: OpenCL, C, and drivers before CUDA 11.4.
enum fcl_status fcl_graph_begin(struct fcl_context *context);
// With a `status` other than FCL_OK, that of what was to be recorded, nothing is kept, and that is returned.
enum fcl_status fcl_graph_end(struct fcl_context *context, enum fcl_status status, struct fcl_graph **graph);
// Asks for what was recorded.
enum fcl_status fcl_graph_launch(struct fcl_graph *graph);
// Releases it, after the context's work. NULL is fine.
void fcl_graph_free(struct fcl_graph *graph);

// ---------------------------------------------------------------- checks

// For programs compiled with --check. A kernel leaves three ints for the first check that failed:
// its number, from 1, and the two numbers of its message, which has %lld for them. FCL_OK when the
// first int is 0. Waits for the work before it.
enum fcl_status fcl_check_report(struct fcl_buffer *report, const char *const *messages);
// For programs compiled with --check=memory. A kernel leaves in the buffer one int, the number of a
// check that failed, from 1; whoever next waits, by fcl_finish or fcl_read, gets FCL_CHECK_FAILED with
// that message. The context keeps the buffer; there is one for each `messages`, until fcl_unwatch or
// the context's end, and the messages stay as long. It is asked for before each launch.
enum fcl_status fcl_watch(struct fcl_context *context, const char *const *messages, struct fcl_buffer **report);
void fcl_unwatch(struct fcl_context *context, const char *const *messages);
// The same on the host: FCL_OK where the condition holds.
enum fcl_status fcl_check(struct fcl_context *context, bool condition, const char *message, int64_t a, int64_t b);
// The same with another status than FCL_CHECK_FAILED.
enum fcl_status fcl_require(struct fcl_context *context, bool condition, enum fcl_status status, const char *message,
                            int64_t a, int64_t b);
// Prints on stderr what `trace` has left in the buffer of a kernel that has run. It holds words of
// 32 bits. The first says how many the records after it want; records without room are missing, and
// fcl_trace prints that. A record is the number of its format, of `count`, and
// the words that this wants: %i, %u, %f and %b one (int, uint, float, bool), %l, %n and %d two
// (i64, u64, double), the low one first; %% is a percent sign. Waits for the work before it.
enum fcl_status fcl_trace(struct fcl_buffer *buffer, const char *const *formats, size_t count);
// Room for so many times as many elements: 0 of a number below 0, and INT64_MAX where that is too large.
int64_t fcl_room(int64_t elements, int32_t times);
// FCL_INVALID where the context is not one of that backend, for which the kernels to come are written.
enum fcl_status fcl_expect(struct fcl_context *context, enum fcl_backend backend);

// A launch that was measured.
struct fcl_timing {
    const char *kernel; // lives as long as the context
    double seconds;     // on the device, from the kernel's start to its end
};

// The launches since fcl_open or fcl_clear_timings, in order; empty unless the context profiles. Waits for them. The
// list is valid until the next call of fcl_launch, fcl_clear_timings or fcl_close.
enum fcl_status fcl_timings(struct fcl_context *context, const struct fcl_timing **timings, size_t *count);
// Forgets them.
void fcl_clear_timings(struct fcl_context *context);

#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
