// The side of the C++ library's parallel algorithms, which libstdc++ gives to TBB's threads.
#include "bench.h"
#include "definitions.h"

#include <algorithm>
#include <cstring>
#include <execution>
#include <functional>
#include <numeric>
#include <tbb/version.h>
#include <vector>

extern const char *const side_name = "tbb";

namespace {
struct {
    const problem *p;
    std::vector<int> in, out;
    std::vector<unsigned> keys, sorted;
    std::vector<float> x, y, z;
    std::size_t kept;
    int sum;
} side;

template <class T> std::vector<T> elements(const array &a) {
    const T *at = static_cast<const T *>(a.at);
    return std::vector<T>(at, at + a.count);
}
const auto par = std::execution::par_unseq;
} // namespace

int side_begin(problem *p, const options *) {
    side.p = p;
    std::size_t n = p->in[0].count;
    switch (p->task->id) {
    case TASK_SAXPY:
        side.x = elements<float>(p->in[0]);
        side.y = elements<float>(p->in[1]);
        side.z.resize(n);
        return 0;
    case TASK_SORT_FLOAT:
        side.x = elements<float>(p->in[0]);
        side.z.resize(n);
        return 0;
    case TASK_SORT:
        side.keys = elements<unsigned>(p->in[0]);
        side.sorted.resize(n);
        return 0;
    case TASK_UNIQUE:
    case TASK_COPY:
    case TASK_REVERSE:
    case TASK_REDUCE:
    case TASK_SCAN:
    case TASK_FILTER:
        side.in = elements<int>(p->in[0]);
        side.out.resize(n);
        return 0;
    default: return STATUS_NO_TASK;
    }
}

// Sorting is in place, so that it takes a copy of its input, which is a small part of the time.
void side_run(void) {
    switch (side.p->task->id) {
    case TASK_COPY: std::copy(par, side.in.begin(), side.in.end(), side.out.begin()); break;
    case TASK_REVERSE: std::reverse_copy(par, side.in.begin(), side.in.end(), side.out.begin()); break;
    case TASK_REDUCE: side.sum = std::reduce(par, side.in.begin(), side.in.end(), 0); break;
    case TASK_SCAN: std::inclusive_scan(par, side.in.begin(), side.in.end(), side.out.begin()); break;
    case TASK_FILTER:
        side.kept = static_cast<std::size_t>(
            std::copy_if(par, side.in.begin(), side.in.end(), side.out.begin(), [](int x) { return x > 0; }) -
            side.out.begin());
        break;
    case TASK_SAXPY:
        std::transform(par, side.x.begin(), side.x.end(), side.y.begin(), side.z.begin(),
                       [](float x, float y) { return SAXPY_FACTOR * x + y; });
        break;
    case TASK_UNIQUE:
        std::copy(par, side.in.begin(), side.in.end(), side.out.begin());
        std::sort(par, side.out.begin(), side.out.end());
        side.kept = static_cast<std::size_t>(std::unique(par, side.out.begin(), side.out.end()) - side.out.begin());
        break;
    case TASK_SORT:
        std::copy(par, side.keys.begin(), side.keys.end(), side.sorted.begin());
        std::sort(par, side.sorted.begin(), side.sorted.end());
        break;
    default:
        std::copy(par, side.x.begin(), side.x.end(), side.z.begin());
        std::sort(par, side.z.begin(), side.z.end());
    }
}

size_t side_launches(double *, const char **) { return 0; }

void side_results(array *results) {
    switch (side.p->task->id) {
    case TASK_REDUCE:
        results[0].count = 1;
        std::memcpy(results[0].at, &side.sum, sizeof side.sum);
        break;
    case TASK_UNIQUE:
    case TASK_FILTER:
        results[0].count = side.kept;
        std::memcpy(results[0].at, side.out.data(), side.kept * sizeof(int));
        break;
    case TASK_SAXPY:
    case TASK_SORT_FLOAT: std::memcpy(results[0].at, side.z.data(), side.z.size() * sizeof(float)); break;
    case TASK_SORT: std::memcpy(results[0].at, side.sorted.data(), side.sorted.size() * sizeof(unsigned)); break;
    default: std::memcpy(results[0].at, side.out.data(), side.out.size() * sizeof(int));
    }
}

const char *side_device(void) { return "CPU"; }
const char *side_driver(void) { return "libstdc++, " TBB_VERSION_STRING; }
const char *side_target(void) { return "c"; }
void side_end(void) {}
