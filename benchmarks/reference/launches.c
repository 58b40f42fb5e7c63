// The side of the hand-written kernels, on any device that the runtime knows. Which of them are
// launched for a task, how often and how wide, plans_cpu.c and plans_cuda.c say; what sizes a
// kernel is right for is said in its file.
#include "plans.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const side_name = "measure";

enum { MOST_STEPS = 16, MOST_ARGS = 10 };

// One launch, or where there is no kernel, one array to be set to zeros.
struct step {
    struct fcl_kernel *kernel;
    uint64_t blocks;
    uint32_t threads;
    struct fcl_arg args[MOST_ARGS];
    size_t count;
    struct fcl_buffer *zeroed;
};

static struct {
    struct task_side task;
    struct fcl_context *context;
    struct fcl_program *program;
    struct step steps[MOST_STEPS];
    size_t step_count;
    // The host reads this after the last launch, and adds it up: a sum's parts, or numbers of results.
    struct fcl_buffer *read;
    size_t read_count;
    int32_t *words;
} side;

static void must(enum fcl_status status) {
    if (status != FCL_OK)
        die(STATUS_DEVICE, "%s: %s", fcl_status_text(status), fcl_error(side.context));
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        die(STATUS_USAGE, "%s: %s", path, strerror(errno));
    size_t capacity = 1 << 16, length = 0;
    char *text = allocate(capacity);
    for (size_t got; (got = fread(text + length, 1, capacity - length - 1, file)) > 0; length += got) {
        if (length + got == capacity - 1)
            die(STATUS_USAGE, "%s: too long", path);
    }
    fclose(file);
    text[length] = '\0';
    return text;
}

// A kernel's file, on CUDA devices with what these kernels have in common before it.
static char *read_source(const char *path, const char *references) {
    char *text = read_text(path);
    if (!references)
        return text;
    char common_path[4096];
    snprintf(common_path, sizeof common_path, "%s/device.cuh", references);
    char *common = read_text(common_path);
    size_t length = strlen(common) + strlen(text) + sizeof "\n#line 1\n";
    char *both = allocate(length);
    snprintf(both, length, "%s\n#line 1\n%s", common, text);
    free(common);
    free(text);
    return both;
}

// ---------------------------------------------------------------- the parts of a plan

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

uint64_t per_unit(uint64_t groups) { return fcl_device(side.context)->compute_units * groups; }

struct fcl_buffer *new_ints(uint64_t count) {
    struct fcl_buffer *buffer;
    must(fcl_buffer_array(side.context, count, sizeof(int32_t), &buffer));
    return buffer;
}

static struct step *add_step(void) {
    if (side.step_count == MOST_STEPS)
        die(STATUS_USAGE, "too many launches");
    return &side.steps[side.step_count++];
}

void add_zeros(struct fcl_buffer *buffer) { add_step()->zeroed = buffer; }

struct step *add_step_of(const char *kernel, uint64_t blocks, uint32_t threads) {
    struct step *step = add_step();
    must(fcl_get_kernel(side.program, kernel, &step->kernel));
    step->blocks = blocks;
    step->threads = threads;
    return step;
}

struct step *add_launch(const char *kernel, uint64_t blocks, uint32_t threads) {
    const struct options *o = side.task.options;
    for (size_t s = 0; s < side.step_count; s++)
        if (side.steps[s].kernel)
            return add_step_of(kernel, blocks, threads);
    return add_step_of(o->kernel ? o->kernel : kernel, o->blocks ? (uint64_t)o->blocks : blocks,
                       o->threads ? (uint32_t)o->threads : threads);
}

struct step *with(struct step *step, const char *kinds, ...) {
    va_list arguments;
    va_start(arguments, kinds);
    for (; *kinds; kinds++) {
        struct fcl_arg *arg = &step->args[step->count++];
        if (*kinds == 'b') {
            *arg = fcl_arg_buffer(va_arg(arguments, struct fcl_buffer *));
        } else if (*kinds == 'i') {
            int32_t value = va_arg(arguments, int32_t);
            *arg = fcl_arg_scalar(&value, sizeof value);
        } else {
            float value = (float)va_arg(arguments, double);
            *arg = fcl_arg_scalar(&value, sizeof value);
        }
    }
    va_end(arguments);
    return step;
}

void read_after(struct fcl_buffer *buffer, size_t count) {
    side.read = buffer;
    side.read_count = count;
    side.words = allocate(count * sizeof *side.words);
}

uint64_t step_blocks(const struct step *step) { return step->blocks; }

void plan_fma(uint64_t multiply_adds, uint64_t threads, uint64_t each) {
    uint64_t blocks = per_unit(8);
    struct step *step = add_launch("multiplyAdd", blocks, (uint32_t)threads);
    with(step, "bi", new_ints(blocks * threads), (int32_t)(multiply_adds / (blocks * threads * each)));
}

// ---------------------------------------------------------------- the side

// Is a kept kernel meant for the device? OpenCL for CPUs runs on GPUs, too, but is no rival there unless each
// work-item has an element of its own.
static bool is_for_device(enum task_id id) {
    return fcl_device(side.context)->kind != FCL_DEVICE_OPENCL_GPU || id == TASK_COPY || id == TASK_SAXPY ||
           id == TASK_REVERSE;
}

int side_begin(struct problem *problem, const struct options *o) {
    static const char *const endings[FCL_BACKENDS] = {"cu", "cl", "c"};
    side.task.problem = problem;
    side.task.options = o;
    struct fcl_options device = FCL_OPTIONS_DEFAULT;
    device.profile = true;
    if (o->device && fcl_parse_device(o->device, &device.kind, &device.index) != FCL_OK)
        die(STATUS_USAGE, "no kind of device `%s`", o->device);
    char error[4096], path[4096];
    if (fcl_open(&side.context, &device, error, sizeof error) != FCL_OK)
        die(STATUS_DEVICE, "%s", error);

    snprintf(path, sizeof path, "%s/%s.%s", o->references, problem->task->reference,
             endings[fcl_device(side.context)->backend]);
    FILE *there = fopen(path, "rb");
    if (there)
        fclose(there);
    if (!o->file && (!there || !is_for_device(problem->task->id)))
        return STATUS_NO_TASK;
    bool is_cuda = fcl_device(side.context)->backend == FCL_BACKEND_CUDA;
    char *source = read_source(o->file ? o->file : path, is_cuda ? o->references : NULL);
    must(fcl_build(side.context, source, NULL, &side.program));
    free(source);

    for (size_t i = 0; i < problem->inputs; i++) {
        uint64_t bytes = array_bytes(&problem->in[i]);
        must(fcl_buffer_new(side.context, bytes, &side.task.in[i]));
        must(fcl_write(side.task.in[i], 0, problem->in[i].at, bytes));
    }
    for (size_t i = 0; i < problem->results; i++) {
        uint64_t bytes = problem_most(problem, i) * element_bytes(problem->out[i].element);
        must(fcl_buffer_new(side.context, bytes, &side.task.out[i]));
        must(fcl_fill(side.task.out[i], 0, bytes, 0xee));
    }
    if (is_cuda)
        plan_for_cuda(&side.task);
    else
        plan_for_cpus(&side.task, fcl_device(side.context)->backend == FCL_BACKEND_OPENCL);
    must(fcl_finish(side.context));
    return 0;
}

void side_run(void) {
    fcl_clear_timings(side.context);
    for (size_t s = 0; s < side.step_count; s++) {
        const struct step *step = &side.steps[s];
        if (step->zeroed)
            must(fcl_fill(step->zeroed, 0, fcl_buffer_bytes(step->zeroed), 0));
        else
            must(fcl_launch(step->kernel, step->blocks, step->threads, 0, step->args, step->count));
    }
    if (!side.read) {
        must(fcl_finish(side.context));
        return;
    }
    must(fcl_read(side.read, 0, side.words, side.read_count * sizeof *side.words));
    uint32_t sum = 0;
    for (size_t i = 0; i < side.read_count; i++)
        sum += (uint32_t)side.words[i];
    side.words[0] = (int32_t)sum;
}

size_t side_launches(double seconds[MOST_LAUNCHES], const char *names[MOST_LAUNCHES]) {
    const struct fcl_timing *timings;
    size_t count;
    must(fcl_timings(side.context, &timings, &count));
    for (size_t i = 0; i < count; i++) {
        seconds[i] = timings[i].seconds;
        names[i] = timings[i].kernel;
    }
    return count;
}

void side_results(struct array *results) {
    if (side.task.problem->task->id == TASK_REDUCE) { // the sum is the host's
        results[0].count = 1;
        memcpy(results[0].at, side.words, sizeof(int32_t));
        return;
    }
    for (size_t i = 0; i < side.task.problem->results; i++) {
        if (side.task.problem->task->id == TASK_FILTER)
            results[i].count = (size_t)side.words[0];
        must(fcl_read(side.task.out[i], 0, results[i].at, array_bytes(&results[i])));
    }
}

const char *side_device(void) { return fcl_device(side.context)->name; }
const char *side_driver(void) { return fcl_device(side.context)->driver; }
const char *side_target(void) { return fcl_device_kind_name(fcl_device(side.context)->kind); }
void side_end(void) { fcl_close(side.context); }
