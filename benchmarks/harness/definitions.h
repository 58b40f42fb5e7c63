// Computes what each task's results must be from its definition, and not by running any kernel.
#ifndef FCL_BENCHMARKS_DEFINITIONS_H
#define FCL_BENCHMARKS_DEFINITIONS_H

#include "bench.h"

// The numbers that are the same for all sides, and that FCL's programs are given as arguments (benchmarks/run).
#define SAXPY_FACTOR 2.0f
#define INTEREST 0.02f
#define VOLATILITY 0.3f
enum { PICTURE_ITERATIONS = 512 };
// The part of the plane that a picture shows: examples/mandelbrot's, then Obsidian's four (Svensson 2013, figure 3.33).
struct window {
    float left, right, bottom, top;
};
extern const struct window windows[5];

void define_copy(struct problem *problem);
void define_saxpy(struct problem *problem);
void define_reverse(struct problem *problem);
void define_transpose(struct problem *problem);
void define_reduce(struct problem *problem);
void define_rows(struct problem *problem);
void define_scan(struct problem *problem);
void define_seg_scan(struct problem *problem);
void define_filter(struct problem *problem);
void define_sort(struct problem *problem);
void define_histogram(struct problem *problem);
void define_by_index(struct problem *problem);
void define_matvec(struct problem *problem);
void define_sgemm(struct problem *problem);
void define_unique(struct problem *problem);
void define_sobel(struct problem *problem);
void define_blur(struct problem *problem); // by binomial weights, `variant` of them across and down
void define_csr(struct problem *problem);
void define_mandelbrot(struct problem *problem);
void define_black_scholes(struct problem *problem);
void define_exp(struct problem *problem);
void define_convolution(struct problem *problem); // result i: the sum of taps[t] * in[i + count - 1 - t]
void define_words(struct problem *problem);       // how many letters have no letter before them
void define_run_lengths(struct problem *problem); // each run's number, and how long it is
void define_bfs(struct problem *problem);         // how many edges a node is away from node 0; -1 where no way is

#endif
