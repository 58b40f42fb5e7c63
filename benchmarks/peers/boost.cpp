// The side of Boost.Compute: its algorithms on an OpenCL device.
#include "bench.h"
#include "definitions.h"

#include <cstring>
#include <string>

#define CL_TARGET_OPENCL_VERSION 120
#include <boost/compute.hpp>
#include <boost/version.hpp>

namespace bc = boost::compute;

extern "C" const char *const side_name = "boost";

namespace {
struct {
    const problem *p;
    bc::device device;
    bc::context context;
    bc::command_queue queue;
    bc::vector<int> in, out, values;
    bc::vector<unsigned> keys, sorted;
    bc::vector<float> x, y, z;
    int sum;
    size_t kept;
    std::string name, driver;
} side;

// The kind that the runtime of FCL calls opencl-gpu, or a CPU.
bc::device find_device(const char *wanted) {
    bool is_gpu = wanted && std::strncmp(wanted, "opencl-gpu", 10) == 0;
    for (const bc::device &device : bc::system::devices())
        if (device.type() & (is_gpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU))
            return device;
    die(STATUS_DEVICE, "no such OpenCL device");
    return bc::device();
}

template <class T> bc::vector<T> on_device(const array &array) {
    const T *at = static_cast<const T *>(array.at);
    return bc::vector<T>(at, at + array.count, side.queue);
}
} // namespace

int side_begin(problem *p, const options *o) {
    side.p = p;
    switch (p->task->id) {
    case TASK_COPY:
    case TASK_REVERSE:
    case TASK_REDUCE:
    case TASK_SCAN:
    case TASK_FILTER:
    case TASK_SAXPY:
    case TASK_SORT:
    case TASK_SORT_FLOAT:
    case TASK_SORT_PAIRS: break;
    default: return STATUS_NO_TASK;
    }
    side.device = find_device(o->device);
    side.context = bc::context(side.device);
    side.queue = bc::command_queue(side.context, side.device);
    side.name = side.device.name();
    side.driver = "Boost " BOOST_LIB_VERSION ", " + side.device.driver_version();
    size_t n = p->in[0].count;
    switch (p->task->id) {
    case TASK_SAXPY:
        side.x = on_device<float>(p->in[0]);
        side.y = on_device<float>(p->in[1]);
        side.z = bc::vector<float>(n, side.context);
        break;
    case TASK_SORT_FLOAT:
        side.x = on_device<float>(p->in[0]);
        side.z = bc::vector<float>(n, side.context);
        break;
    case TASK_SORT_PAIRS:
        side.in = on_device<int>(p->in[1]);
        side.values = bc::vector<int>(n, side.context);
        // fall through
    case TASK_SORT:
        side.keys = on_device<unsigned>(p->in[0]);
        side.sorted = bc::vector<unsigned>(n, side.context);
        break;
    default: side.in = on_device<int>(p->in[0]); side.out = bc::vector<int>(n, side.context);
    }
    side.queue.finish();
    return 0;
}

// Sorting is in place, so that it takes a copy of its input, which is a small part of the time.
void side_run(void) {
    using bc::lambda::_1;
    using bc::lambda::_2;
    bc::command_queue &queue = side.queue;
    switch (side.p->task->id) {
    case TASK_COPY: bc::copy(side.in.begin(), side.in.end(), side.out.begin(), queue); break;
    case TASK_REVERSE: bc::reverse_copy(side.in.begin(), side.in.end(), side.out.begin(), queue); break;
    case TASK_REDUCE: bc::reduce(side.in.begin(), side.in.end(), &side.sum, bc::plus<int>(), queue); break;
    case TASK_SCAN: bc::inclusive_scan(side.in.begin(), side.in.end(), side.out.begin(), queue); break;
    case TASK_FILTER:
        side.kept =
            (size_t)(bc::copy_if(side.in.begin(), side.in.end(), side.out.begin(), _1 > 0, queue) - side.out.begin());
        break;
    case TASK_SAXPY:
        bc::transform(side.x.begin(), side.x.end(), side.y.begin(), side.z.begin(), SAXPY_FACTOR * _1 + _2, queue);
        break;
    case TASK_SORT:
        bc::copy(side.keys.begin(), side.keys.end(), side.sorted.begin(), queue);
        bc::sort(side.sorted.begin(), side.sorted.end(), queue);
        break;
    case TASK_SORT_FLOAT:
        bc::copy(side.x.begin(), side.x.end(), side.z.begin(), queue);
        bc::sort(side.z.begin(), side.z.end(), queue);
        break;
    case TASK_SORT_PAIRS:
        bc::copy(side.keys.begin(), side.keys.end(), side.sorted.begin(), queue);
        bc::copy(side.in.begin(), side.in.end(), side.values.begin(), queue);
        bc::sort_by_key(side.sorted.begin(), side.sorted.end(), side.values.begin(), queue);
        break;
    default: break;
    }
    queue.finish();
}

size_t side_launches(double *, const char **) { return 0; }

void side_results(array *results) {
    switch (side.p->task->id) {
    case TASK_REDUCE:
        results[0].count = 1;
        std::memcpy(results[0].at, &side.sum, sizeof side.sum);
        break;
    case TASK_FILTER:
        results[0].count = side.kept;
        bc::copy(side.out.begin(), side.out.begin() + (ptrdiff_t)side.kept, (int *)results[0].at, side.queue);
        break;
    case TASK_SAXPY:
    case TASK_SORT_FLOAT: bc::copy(side.z.begin(), side.z.end(), (float *)results[0].at, side.queue); break;
    case TASK_SORT_PAIRS:
        bc::copy(side.values.begin(), side.values.end(), (int *)results[1].at, side.queue);
        // fall through
    case TASK_SORT: bc::copy(side.sorted.begin(), side.sorted.end(), (unsigned *)results[0].at, side.queue); break;
    default: bc::copy(side.out.begin(), side.out.end(), (int *)results[0].at, side.queue);
    }
}

const char *side_device(void) { return side.name.c_str(); }
const char *side_driver(void) { return side.driver.c_str(); }
const char *side_target(void) { return "opencl"; }
void side_end(void) {}
