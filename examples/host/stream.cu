/* A CUDA program with memory and a stream of its own that runs an FCL kernel on them.

     build/fclc examples/reverse/reverse.fcl -o turn.cu
     nvcc -I. -Iruntime examples/host/stream.cu build/libfcl.a -ldl -lm -lpthread -o stream && ./stream */
#include <cstdio>
#include <vector>

#define TURN_IMPLEMENTATION
#include "turn.h"

int main() {
    const int count = 1000;
    std::vector<int> numbers(count);
    for (int i = 0; i < count; i++)
        numbers[i] = i;

    int *memory = nullptr;
    cudaStream_t stream;
    if (cudaMalloc(&memory, count * sizeof(int)) != cudaSuccess || cudaStreamCreate(&stream) != cudaSuccess) {
        fprintf(stderr, "no CUDA device\n");
        return 77;
    }
    cudaMemcpyAsync(memory, numbers.data(), count * sizeof(int), cudaMemcpyHostToDevice, stream);

    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_CUDA;
    options.queue = stream; // what follows is in order with the copy above
    struct fcl_context *context;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    struct fcl_buffer *in = NULL, *out = NULL;
    int32_t length = 0;
    if (fcl_buffer_wrap(context, (uintptr_t)memory, count * sizeof(int), &in) != FCL_OK ||
        turn_reverseGrid_device(context, count, in, &length, &out) != FCL_OK) {
        fprintf(stderr, "%s\n", fcl_error(context));
        return 1;
    }
    cudaMemcpyAsync(numbers.data(), (const void *)fcl_buffer_native(out), count * sizeof(int), cudaMemcpyDeviceToHost,
                    stream);
    cudaStreamSynchronize(stream);
    printf("%d numbers, the first is now %d\n", length, numbers[0]);
    fcl_close(context);
    cudaStreamDestroy(stream);
    cudaFree(memory);
    return numbers[0] == count - 1 ? 0 : 1;
}
