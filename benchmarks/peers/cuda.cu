// The side of NVIDIA's libraries: CUB and Thrust for arrays, cuBLAS for matrices.
#include "bench.h"
#include "definitions.h"

#include <cstring>

#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <cuda/functional>
#include <cuda/std/functional>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reverse.h>
#include <thrust/transform.h>

extern "C" const char *const side_name = "cuda";

namespace {
struct {
    const problem *p;
    void *in[MOST_INPUTS], *out[MOST_RESULTS], *scratch;
    size_t scratch_bytes;
    int *count, *sorted[2], *unique, *sums; // all but the first: of sums by index
    cudaEvent_t start, stop;
    float milliseconds;
    cublasHandle_t blas;
    cudaDeviceProp properties;
    char driver[64];
} side;

void must(cudaError_t error) {
    if (error != cudaSuccess)
        die(STATUS_DEVICE, "%s", cudaGetErrorString(error));
}

void must(cublasStatus_t error) {
    if (error != CUBLAS_STATUS_SUCCESS)
        die(STATUS_DEVICE, "cuBLAS: %s", cublasGetStatusString(error));
}

struct positive {
    __host__ __device__ bool operator()(int x) const { return x > 0; }
};

struct saxpy {
    __host__ __device__ float operator()(float x, float y) const { return SAXPY_FACTOR * x + y; }
};

// Segmented scans are scans of pairs of a flag and a value.
struct flagged {
    int begins, value;
};

struct load_flagged {
    const unsigned char *begins;
    const int *values;
    __host__ __device__ flagged operator()(int i) const { return {begins[i], values[i]}; }
};

struct add_flagged {
    __host__ __device__ flagged operator()(flagged a, flagged b) const {
        return {a.begins | b.begins, b.begins ? b.value : a.value + b.value};
    }
};

struct store_value {
    int *out;
    struct place {
        int *at;
        __host__ __device__ void operator=(flagged x) const { *at = x.value; }
    };
    using value_type = flagged;
    using difference_type = ptrdiff_t;
    using pointer = flagged *;
    using reference = place;
    using iterator_category = std::random_access_iterator_tag;
    __host__ __device__ place operator[](ptrdiff_t i) const { return {out + i}; }
    __host__ __device__ place operator*() const { return {out}; }
    __host__ __device__ store_value operator+(ptrdiff_t i) const { return {out + i}; }
    __host__ __device__ store_value &operator+=(ptrdiff_t i) {
        out += i;
        return *this;
    }
};

struct row_start {
    int columns;
    __host__ __device__ long long operator()(long long r) const { return r * columns; }
};

// Sums by index as libraries make them: indices are sorted with their values, by as many bits as they have, and what
// is alike is then next to each other. Each of those sums goes to its place; buckets that nothing goes to are zeros.
__global__ void place(const int *__restrict__ indices, const int *__restrict__ sums, const int *__restrict__ count,
                      int *__restrict__ out) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < *count)
        out[indices[i]] = sums[i];
}

cudaError_t sum_by_index(void *scratch, size_t &bytes, const int *indices, const int *values, int *out, int n) {
    int buckets = side.p->buckets, bits = 1, *sorted = side.sorted[0], *moved = side.sorted[1];
    while (1 << bits < buckets)
        bits++;
    size_t more = bytes;
    cudaError_t error = cub::DeviceRadixSort::SortPairs(scratch, bytes, indices, sorted, values, moved, n, 0, bits);
    if (error == cudaSuccess)
        error = cub::DeviceReduce::ReduceByKey(scratch, more, sorted, side.unique, moved, side.sums, side.count,
                                               cuda::std::plus<>{}, n);
    if (error != cudaSuccess || !scratch) {
        bytes = bytes > more ? bytes : more;
        return error;
    }
    error = cudaMemsetAsync(out, 0, (size_t)buckets * sizeof *out);
    if (error == cudaSuccess)
        place<<<(buckets + 255) / 256, 256>>>(side.unique, side.sums, side.count, out);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

// CUB's functions say how much scratch memory they need when they are given none.
cudaError_t call(void *scratch, size_t &bytes) {
    const problem *p = side.p;
    int n = (int)p->size;
    const int *in = static_cast<const int *>(side.in[0]);
    int *out = static_cast<int *>(side.out[0]);
    switch (p->task->id) {
    case TASK_REDUCE: return cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
    case TASK_ROWS: {
        auto starts = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0), row_start{p->columns});
        return cub::DeviceSegmentedReduce::Sum(scratch, bytes, in, out, p->rows, starts, starts + 1);
    }
    case TASK_SCAN: return cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n);
    case TASK_SEG_SCAN: {
        auto pairs = thrust::make_transform_iterator(
            thrust::counting_iterator<int>(0),
            load_flagged{static_cast<const unsigned char *>(side.in[0]), static_cast<const int *>(side.in[1])});
        return cub::DeviceScan::InclusiveScan(scratch, bytes, pairs, store_value{out}, add_flagged{}, n);
    }
    case TASK_FILTER: return cub::DeviceSelect::If(scratch, bytes, in, out, side.count, n, positive{});
    case TASK_SORT:
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, static_cast<const unsigned *>(side.in[0]),
                                              static_cast<unsigned *>(side.out[0]), n);
    case TASK_UNIQUE: {
        size_t more = bytes;
        cudaError_t error = cub::DeviceRadixSort::SortKeys(scratch, bytes, in, side.sorted[0], n);
        if (error == cudaSuccess)
            error = cub::DeviceSelect::Unique(scratch, more, side.sorted[0], out, side.count, n);
        bytes = !scratch && more > bytes ? more : bytes;
        return error;
    }
    case TASK_SORT_FLOAT:
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, static_cast<const float *>(side.in[0]),
                                              static_cast<float *>(side.out[0]), n);
    case TASK_SORT_PAIRS:
        return cub::DeviceRadixSort::SortPairs(
            scratch, bytes, static_cast<const unsigned *>(side.in[0]), static_cast<unsigned *>(side.out[0]),
            static_cast<const int *>(side.in[1]), static_cast<int *>(side.out[1]), n);
    case TASK_HISTOGRAM:
        return cub::DeviceHistogram::HistogramEven(scratch, bytes, in, out, p->buckets + 1, 0, p->buckets, n);
    case TASK_BY_INDEX: return sum_by_index(scratch, bytes, in, static_cast<const int *>(side.in[1]), out, n);
    default: return cudaSuccess;
    }
}

bool has_task(task_id id) {
    switch (id) {
    case TASK_COPY:
    case TASK_SAXPY:
    case TASK_REVERSE:
    case TASK_REDUCE:
    case TASK_ROWS:
    case TASK_SCAN:
    case TASK_SEG_SCAN:
    case TASK_FILTER:
    case TASK_SORT:
    case TASK_SORT_FLOAT:
    case TASK_SORT_PAIRS:
    case TASK_UNIQUE:
    case TASK_HISTOGRAM:
    case TASK_BY_INDEX:
    case TASK_MATVEC:
    case TASK_SGEMM: return true;
    default: return false;
    }
}
} // namespace

int side_begin(problem *p, const options *) {
    side.p = p;
    if (!has_task(p->task->id))
        return STATUS_NO_TASK;
    must(cudaGetDeviceProperties(&side.properties, 0));
    int version = 0;
    must(cudaDriverGetVersion(&version));
    snprintf(side.driver, sizeof side.driver, "CUDA %d, CUB %d", version, CUB_VERSION);
    for (size_t i = 0; i < p->inputs; i++) {
        must(cudaMalloc(&side.in[i], array_bytes(&p->in[i])));
        must(cudaMemcpy(side.in[i], p->in[i].at, array_bytes(&p->in[i]), cudaMemcpyHostToDevice));
    }
    for (size_t i = 0; i < p->results; i++)
        must(cudaMalloc(&side.out[i], problem_most(p, i) * element_bytes(p->out[i].element)));
    must(cudaMalloc(&side.count, sizeof *side.count));
    if (p->task->id == TASK_BY_INDEX) {
        for (int **array : {&side.sorted[0], &side.sorted[1]})
            must(cudaMalloc(array, (size_t)p->size * sizeof **array));
        for (int **array : {&side.unique, &side.sums})
            must(cudaMalloc(array, (size_t)p->buckets * sizeof **array));
    }
    if (p->task->id == TASK_UNIQUE)
        must(cudaMalloc(&side.sorted[0], (size_t)p->size * sizeof *side.sorted[0]));
    must(call(nullptr, side.scratch_bytes));
    must(cudaMalloc(&side.scratch, side.scratch_bytes + 1));
    must(cudaEventCreate(&side.start));
    must(cudaEventCreate(&side.stop));
    must(cublasCreate(&side.blas));
    return 0;
}

void side_run(void) {
    const problem *p = side.p;
    const float one = 1, zero = 0, *a = static_cast<const float *>(side.in[0]),
                *b = static_cast<const float *>(side.in[1]);
    const int *in = static_cast<const int *>(side.in[0]);
    int *out = static_cast<int *>(side.out[0]);
    float *result = static_cast<float *>(side.out[0]);
    must(cudaEventRecord(side.start));
    switch (p->task->id) {
    case TASK_COPY: must(cudaMemcpyAsync(out, in, array_bytes(&p->in[0]), cudaMemcpyDeviceToDevice)); break;
    case TASK_SAXPY: thrust::transform(thrust::cuda::par_nosync, a, a + p->size, b, result, saxpy{}); break;
    case TASK_REVERSE: thrust::reverse_copy(thrust::cuda::par_nosync, in, in + p->size, out); break;
    // Its matrices are column by column: these are the transposed of ours.
    case TASK_MATVEC:
        must(cublasSgemv(side.blas, CUBLAS_OP_T, p->columns, p->rows, &one, a, p->columns, b, 1, &zero, result, 1));
        break;
    case TASK_SGEMM:
        must(cublasSgemm(side.blas, CUBLAS_OP_N, CUBLAS_OP_N, p->columns, p->columns, p->columns, &one, b, p->columns,
                         a, p->columns, &zero, result, p->columns));
        break;
    default: must(call(side.scratch, side.scratch_bytes));
    }
    must(cudaEventRecord(side.stop));
    must(cudaEventSynchronize(side.stop));
    must(cudaEventElapsedTime(&side.milliseconds, side.start, side.stop));
}

size_t side_launches(double *seconds, const char **names) {
    seconds[0] = 1e-3 * (double)side.milliseconds;
    names[0] = side.p->task->name;
    return 1;
}

void side_results(array *results) {
    if (side.p->task->id == TASK_REDUCE)
        results[0].count = 1;
    if (side.p->task->id == TASK_FILTER || side.p->task->id == TASK_UNIQUE) {
        int kept;
        must(cudaMemcpy(&kept, side.count, sizeof kept, cudaMemcpyDeviceToHost));
        results[0].count = (size_t)kept;
    }
    for (size_t i = 0; i < side.p->results; i++)
        must(cudaMemcpy(results[i].at, side.out[i], array_bytes(&results[i]), cudaMemcpyDeviceToHost));
}

const char *side_device(void) { return side.properties.name; }
const char *side_driver(void) { return side.driver; }
const char *side_target(void) { return "cuda"; }
void side_end(void) {}
