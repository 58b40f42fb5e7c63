// Calls of CUB, for their kernels' machine code alone (benchmarks/sass.py): nothing here runs. The program that is
// measured, cuda.cu, calls the same.
#include <cub/cub.cuh>
#include <cuda/std/functional>

struct positive {
    __host__ __device__ bool operator()(int x) const { return x > 0; }
};

void all(void *scratch, size_t &bytes, int n, const int *in, int *out, int *count, const unsigned *keys,
         unsigned *sorted) {
    cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
    cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n);
    cub::DeviceSelect::If(scratch, bytes, in, out, count, n, positive{});
    cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, sorted, n);
    cub::DeviceHistogram::HistogramEven(scratch, bytes, in, out, 257, 0, 256, n);
    cub::DeviceSegmentedReduce::Sum(scratch, bytes, in, out, n, in, in + 1);
}
