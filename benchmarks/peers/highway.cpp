// The side of Highway's vqsort: quicksort by vectors, one thread.
#include "bench.h"

#include <cstring>
#include <hwy/base.h>
#include <hwy/contrib/sort/vqsort.h>
#include <vector>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

extern const char *const side_name = "highway";

namespace {
struct {
    const problem *p;
    std::vector<uint32_t> keys;
    std::vector<float> floats;
    hwy::Sorter sort;
} side;
} // namespace

int side_begin(problem *p, const options *) {
    side.p = p;
    if (p->task->id == TASK_SORT)
        side.keys.resize(p->in[0].count);
    else if (p->task->id == TASK_SORT_FLOAT)
        side.floats.resize(p->in[0].count);
    else
        return STATUS_NO_TASK;
    return 0;
}

// Sorting is in place, so that it takes a copy of its input, which is a small part of the time.
void side_run(void) {
    const array &in = side.p->in[0];
    if (side.p->task->id == TASK_SORT) {
        std::memcpy(side.keys.data(), in.at, array_bytes(&in));
        side.sort(side.keys.data(), side.keys.size(), hwy::SortAscending());
    } else {
        std::memcpy(side.floats.data(), in.at, array_bytes(&in));
        side.sort(side.floats.data(), side.floats.size(), hwy::SortAscending());
    }
}

size_t side_launches(double *, const char **) { return 0; }

void side_results(array *results) {
    const void *from = side.p->task->id == TASK_SORT ? static_cast<const void *>(side.keys.data()) : side.floats.data();
    std::memcpy(results[0].at, from, array_bytes(&results[0]));
}

const char *side_device(void) { return "CPU, one thread"; }
const char *side_driver(void) { return "Highway " TEXT(HWY_MAJOR) "." TEXT(HWY_MINOR) "." TEXT(HWY_PATCH); }
const char *side_target(void) { return "c"; }
void side_end(void) {}
