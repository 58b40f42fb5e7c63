// Declarations that the runtime's files share: the structures behind the public handles, and the operations a backend
// provides.
#ifndef FCL_INTERNAL_H
#define FCL_INTERNAL_H

#include <stdarg.h>
#include <stdio.h>

#include "fcl.h"

// The first line of a public function that does more than give what a structure holds: the caller's locale and rounding
// are set again when the function returns.
#define FCLRT_ENTER struct fcl_entry fclrt_entry __attribute__((cleanup(fcl_leave), unused)) = fcl_enter()

// A device's memory is a host pointer (C), a cl_mem (OpenCL) or an address (CUDA).
union fclrt_memory {
    void *pointer;
    uint64_t address;
};

// All of the context's: when it is closed, once nothing uses them.
void fclrt_free_buffers(struct fcl_context *context);
// The memory of a buffer argument; if its buffer is NULL, a memory of null.
const union fclrt_memory *fclrt_memory_of(const struct fcl_arg *arg);
enum { FCLRT_FEW_ARGUMENTS = 64 };
// Where the value of each argument lies: in the caller's `few`, or for more than these in memory that is to be freed;
// NULL: there is none.
const void **fclrt_values_of(const struct fcl_arg *args, size_t count, const void **few);
// Buffers that wait in such a list go back to the pool.
void fclrt_recycle_buffers(struct fcl_context *context, struct fcl_buffer **list);
void fclrt_free_graphs(struct fcl_context *context);

enum { FCLRT_SLOTS = 32, FCLRT_SLOT_BYTES = 64 };
// Memory of the host's that the device writes: see buffers.c.
struct fclrt_slots {
    char *host; // FCLRT_SLOTS of FCLRT_SLOT_BYTES; NULL: there is none
    union fclrt_memory memory;
    bool is_used[FCLRT_SLOTS];
    uint64_t free_at[FCLRT_SLOTS]; // once context->finishes is as much
};

struct fcl_buffer {
    struct fcl_context *context;
    uint64_t bytes;    // as asked; at least one byte is allocated
    uint64_t capacity; // of its own memory: that many or more; unused where it has none
    union fclrt_memory memory;
    bool is_callers;                    // not to be freed
    char *host;                         // the same memory for the host, which is one of the context's slots; or NULL
    struct fclrt_slab *slab;            // that it is a part of; or NULL
    struct fcl_buffer *next, *previous; // in context->buffers or context->pool
};

// A graph that is being recorded, or was recorded. It owns the memory of intermediates: no other work may have this
// memory while the graph can be launched again.
struct fcl_graph {
    struct fcl_context *context;
    struct fcl_graph *next, *previous; // of the context; the one that is being recorded is not among them
    void *handle;                      // CUgraphExec
    struct fcl_buffer *buffers;        // freed while it was recorded
    uint64_t launches;
    const char *last_launched;
};

// The caller's buffers for the results of a kernel, until fcl_into_end, and those of its arguments.
struct fclrt_into {
    struct fcl_buffer *const *results, *const *arguments;
    size_t result_count, argument_count;
};

enum { FCLRT_WORKS = 8 };
struct fcl_kernel {
    struct fcl_program *program;
    struct fcl_kernel *next;
    char *name;
    void *handle;              // CUfunction, cl_kernel, or the pointer to a C function
    uint32_t max_threads;      // threads this kernel can have in a block; 0: no limit
    uint64_t own_shared;       // shared memory it declares itself, bytes
    uint64_t thread_bytes;     // memory of its own that each thread has, bytes; 0 where the driver does not tell
    uint64_t asked_shared;     // CUDA: dynamic shared memory already allowed, bytes
    int64_t arguments;         // number of parameters, -1 where the driver does not tell
    void *part;                // C: the function that does some of the blocks, or NULL
    int64_t work[FCLRT_WORKS]; // C: fclrt_team_run's, by the launch's size
};

struct fcl_program {
    struct fcl_context *context;
    struct fcl_program *next;
    uint64_t hash;                          // of source and options
    char *source, *options;                 // NULL where it is linked:
    const struct fcl_linked_kernel *linked; // C; or NULL
    const void *image;                      // CUDA; or NULL
    void *handle;                           // CUmodule, cl_program, or dlopen's
    struct fcl_kernel *kernels;
};

// One launch. Until `pending` is cleared by the backend's `resolve`, the time is still in the driver's events.
struct fclrt_event {
    bool pending;
    void *start, *end; // OpenCL uses only `end`
    size_t timing;     // index in context->timings
};

struct fcl_context {
    const struct fclrt_backend *backend;
    void *state; // the backend's
    struct fcl_device_info device;
    bool profile, use_pool, only_linked;
    bool use_classes;               // allocate a little more than is asked, see buffers.c
    int fill;                       // the byte that new memory is full of, which nobody clears; 0: it is left as it is
    void *queue;                    // the caller's, or NULL: what fcl_open was given,
    void *used_queue;               // and what fcl_use_queue was given last
    struct fcl_allocator allocator; // without functions: the driver
    char *build_options;            // defaults
    char *identity;                 // everything but the source and options that a built program depends on
    char *cache_directory;          // NULL: no disk cache
    char *cache_problem;            // or NULL
    const char *build_origin;

    enum fcl_status status;
    char *message; // NULL: not even that could be allocated

    // For the message of a fault: launches that may be under way still, and the last one's kernel.
    uint64_t launches;
    const char *last_launched;
    uint64_t finishes; // how often all that was asked of a GPU was done

    struct fclrt_slots slots;
    struct fcl_program *programs;
    struct fcl_graph *graphs, *recorded; // the latter is being recorded; or NULL

    struct fclrt_into into;      // where results go: fcl_into_begin
    struct fclrt_watch *watches; // of checks: fcl_watch
    struct fcl_buffer *buffers, *pool;
    struct fclrt_slab *slab; // that zeros are cut from; or NULL
    uint64_t held_bytes;     // of all buffers with memory of their own, those in the pool included
    uint64_t pool_bytes;
    size_t pool_count;

    struct fcl_timing *timings;
    size_t timing_count, timing_capacity;
    struct fclrt_event *events;
    size_t event_count, event_capacity;
};

// A message that goes to a buffer of the caller's; `text` may be NULL.
struct fclrt_note {
    char *text;
    size_t bytes;
};

// Receives one device; returns false when there is no memory for it.
typedef bool fclrt_receiver(void *to, const struct fcl_device_info *info);

struct fclrt_backend {
    const char *line_options; // what fcl_build adds where fclrt_has_lines; NULL: nothing
    // Reports every device in the driver's order with all fields but `index`; why there is none goes to `why`.
    enum fcl_status (*list)(fclrt_receiver *receive, void *to, struct fclrt_note why);
    // Opens context->device, which `list` reported as its `ordinal`-th. Sets state, identity, build_options. On
    // failure `finish` and `close` are called all the same if state is set.
    enum fcl_status (*open)(struct fcl_context *context, size_t ordinal);
    void (*close)(struct fcl_context *context);
    enum fcl_status (*finish)(struct fcl_context *context);
    enum fcl_status (*finish_queue)(struct fcl_context *context, void *queue);
    // Work goes there from now on, after the work before. NULL: the one that the context began with.
    enum fcl_status (*use_queue)(struct fcl_context *context, void *queue);

    enum fcl_status (*alloc)(struct fcl_context *context, uint64_t bytes, union fclrt_memory *memory);
    void (*free)(struct fcl_context *context, union fclrt_memory memory);
    // Ranges are checked and not empty.
    enum fcl_status (*write)(struct fcl_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes);
    enum fcl_status (*read)(struct fcl_buffer *buffer, uint64_t offset, void *data, uint64_t bytes);
    enum fcl_status (*copy)(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from, uint64_t from_offset,
                            uint64_t bytes);
    // The same between two contexts of this backend; the work on `from` is done. It is done when it
    // returns. NULL: by way of the host.
    enum fcl_status (*copy_peer)(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from,
                                 uint64_t from_offset, uint64_t bytes);
    enum fcl_status (*fill)(struct fcl_buffer *buffer, uint64_t offset, uint64_t bytes, uint8_t value);

    // Sets program->handle from its source and options.
    enum fcl_status (*build)(struct fcl_program *program);
    enum fcl_status (*load)(struct fcl_program *program); // the same from its image; NULL: there are none
    void (*unload)(struct fcl_program *program);
    // Sets the kernel's handle and limits.
    enum fcl_status (*find)(struct fcl_kernel *kernel);
    void (*forget)(struct fcl_kernel *kernel);

    // Arguments are checked as far as the public structures go. With `event`, the launch is
    // measured: either *seconds is set now, or the event is left pending.
    enum fcl_status (*launch)(struct fcl_kernel *kernel, uint64_t blocks, uint32_t threads, uint64_t shared_bytes,
                              const struct fcl_arg *args, size_t count, struct fclrt_event *event, double *seconds);
    enum fcl_status (*resolve)(struct fcl_context *context, struct fclrt_event *event, double *seconds);

    // Launches, copies and fills between these are recorded; `handle` NULL: and forgotten. NULL: it has no graphs.
    enum fcl_status (*begin_graph)(struct fcl_context *context);
    enum fcl_status (*end_graph)(struct fcl_context *context, void **handle);
    enum fcl_status (*launch_graph)(struct fcl_context *context, void *handle);
    void (*free_graph)(struct fcl_context *context, void *handle); // nothing uses it
};

// Between contexts, by memory of the host: that of `from` itself where the host has it. It is done when it returns.
enum fcl_status fclrt_copy_by_host(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from,
                                   uint64_t from_offset, uint64_t bytes);

// Are there lines of another text in it, as `fclc -g` says them?
bool fclrt_has_lines(const char *source);

extern const struct fclrt_backend fclrt_cuda, fclrt_opencl, fclrt_c, fclrt_hip;

// All that was asked is done: has a check failed? (buffers.c)
enum fcl_status fclrt_look(struct fcl_context *context);
// A graph that may hold launches that report is launched.
void fclrt_watch_all(struct fcl_context *context);

// ---------------------------------------------------------------- errors (errors.c)

#if defined __GNUC__
#define FCLRT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define FCLRT_PRINTF(text, first)
#endif

// Keeps the message in the context and returns the status.
enum fcl_status fclrt_fail(struct fcl_context *context, enum fcl_status status, const char *format, ...)
    FCLRT_PRINTF(3, 4);
enum fcl_status fclrt_no_memory(struct fcl_context *context);
// Fails while the context records a graph: the host cannot wait for recorded work.
enum fcl_status fclrt_expect_no_recording(struct fcl_context *context, const char *function);

// ---------------------------------------------------------------- strings and libraries (support.c)

// A new string, NULL when there is no memory.
char *fclrt_format_list(const char *format, va_list args) FCLRT_PRINTF(1, 0);
char *fclrt_format(const char *format, ...) FCLRT_PRINTF(1, 2);
char *fclrt_copy_string(const char *text);
void fclrt_note(struct fclrt_note note, const char *format, ...) FCLRT_PRINTF(2, 3);
// Memory for the elements of an array, aligned for vectors; NULL: there is none. A large one lies
// in large pages where the system has them: what is written here and there, as by a sort, spends
// much of its time looking for pages.
void *fclrt_array(uint64_t bytes);
// The array with room for more than `count` elements, of `bytes` each; NULL: there is none, and it is as it was.
void *fclrt_grown(void *array, size_t count, size_t *capacity, size_t bytes);
// Copies what fits, trims white space around it and turns that inside to single spaces.
void fclrt_copy_name(char *to, size_t bytes, const char *from);
uint64_t fclrt_hash(uint64_t seed, const void *data, size_t bytes);
#define FCLRT_HASH_SEED UINT64_C(0xcbf29ce484222325)

// The words of a string separated by white space. `list` ends with NULL and, like the words, is
// freed by fclrt_free_words.
struct fclrt_words {
    char *text;
    char **list;
    size_t count;
};
// Splits the strings one after another into one list, leaving room for `extra` more words. NULL strings have none.
bool fclrt_split(struct fclrt_words *words, size_t extra, const char *const *strings, size_t count);
void fclrt_free_words(struct fclrt_words *words);

// A function that a driver library has: where its pointer goes in the table, and whether we can do without.
struct fclrt_symbol {
    const char *name;
    size_t offset;
    bool optional;
};

// Loads what the environment variable names; without it the functions the process already has (a library preloaded or
// linked in by the user), or else the first of `names` (NULL-terminated) that exists. Fills the table with pointers.
// The library stays mapped for the life of the process: drivers start threads and do not survive being unloaded.
// `what` says what is missing if it cannot be loaded.
bool fclrt_load(const char *variable, const char *const *names, const char *what, const struct fclrt_symbol *symbols,
                size_t count, void *table, struct fclrt_note why);

// Size and time of the library that `variable` names, for the identity of what it builds; "" without it. Freed by the
// caller, NULL when there is no memory.
char *fclrt_library_stamp(const char *variable);

// The whole of a file with a terminating 0 added, its size and what else there is to know of it (or NULL each); NULL
// when it cannot be read, or is none, as a named pipe, which nobody is waited for to write.
struct stat;
char *fclrt_read_file(const char *path, size_t *bytes, struct stat *status);
bool fclrt_write_file(const char *path, const void *data, size_t bytes);

// ---------------------------------------------------------------- threads for C kernels (threads.c)

// Processors that this process may use: those of its affinity, or what its control group gives it.
unsigned fclrt_processors(void);
// FCL_THREADS or OMP_NUM_THREADS, where they say a number, or else as many as there are processors.
unsigned fclrt_thread_count(void);

// Does the blocks from `first` to `end` - 1 of a launch of that many.
typedef void fclrt_part(void *const *args, int64_t first, int64_t end, int64_t blocks);
struct fclrt_team;
// A pool of so many threads, the caller's among them; the others begin when there is work for them. NULL: no memory.
struct fclrt_team *fclrt_team_new(unsigned threads);
void fclrt_team_free(struct fclrt_team *team);
// Runs all blocks, each once, and returns the seconds that took. `work` is what one thread needs
// for a launch like it, in nanoseconds, as far as earlier ones told (0: there was none), and learns
// from this one.
double fclrt_team_run(struct fclrt_team *team, fclrt_part *part, void *const *args, int64_t blocks, int64_t *work);

// ---------------------------------------------------------------- the cache on disk (cache.c)

// The directory to use, made if need be, or NULL for none. `wanted` NULL is the default. *problem: see
// fcl_cache_problem.
char *fclrt_cache_directory(const char *wanted, char **problem);
// The built form of the program if it is there and sound; the caller frees it.
void *fclrt_cache_load(const struct fcl_program *program, size_t *bytes);
// Keeps it. A cache that cannot be written is no error.
void fclrt_cache_store(const struct fcl_program *program, const void *data, size_t bytes);
// Drops an entry that the driver refused.
void fclrt_cache_drop(const struct fcl_program *program);
// Waits until nobody else builds this program, and keeps them waiting until the file is closed; negative: there are no
// locks. False: somebody does so for too long.
bool fclrt_cache_lock(const struct fcl_program *program, int *file);

#endif
