/* Host functions as graphs, on the CUDA simulator: recorded once, launched again with other
   numbers in the same buffers, with other work between. GRAPHS is built from
   tests/host/graphs.fcl. */
#define GRAPHS_IMPLEMENTATION
#include "graphs.h"

#define DEVICE FCL_DEVICE_CUDA
#include "host.h"

enum { COUNT = 9000, BUCKETS = 10, STEPS = 5 };

static uint32_t at(int32_t i, uint32_t round) { return ((uint32_t)i * 2654435761u + round * 40503u) >> 9; }

/* Have so many graphs been launched? The simulator writes a line for each; a GPU's driver does not. */
static bool were_launched(int wanted) {
    const char *path = getenv("CUDASIM_CALLS");
    FILE *calls = path ? fopen(path, "r") : NULL;
    char line[200];
    int count = 0;
    while (calls && fgets(line, sizeof line, calls))
        count += strncmp(line, "graph ", 6) == 0;
    if (calls)
        fclose(calls);
    return !path || count == wanted;
}

static void whole_numbers(struct fcl_context *context) {
    static int32_t xs[COUNT], back[COUNT];
    struct fcl_buffer *in = NULL, *sums, *counts, *steps, *first, *turned, *one, *held[20];
    struct fcl_graph *graphs[5] = {NULL};
    int32_t length = 0, buckets = 0, stepped = 0, told = 0, ones = 0, lengths[2] = {0, 0};
    CHECK(fcl_buffer_new(context, sizeof xs, &in) == FCL_OK);
    CHECK(graphs_running_graph(context, COUNT, in, &length, &sums, &graphs[0]) == FCL_OK && length == COUNT);
    CHECK(graphs_counts_graph(context, BUCKETS, COUNT, in, &buckets, &counts, &graphs[1]) == FCL_OK);
    CHECK(graphs_steps_graph(context, STEPS, COUNT, in, &stepped, &steps, &graphs[2]) == FCL_OK && stepped == COUNT);
    CHECK(graphs_ends_graph(context, COUNT, in, &told, &lengths[0], &first, &lengths[1], &turned, &graphs[3]) ==
          FCL_OK);
    CHECK(graphs_one_graph(context, COUNT, in, &ones, &one, &graphs[4]) == FCL_OK && ones == 1);
    CHECK(buckets == BUCKETS && told == COUNT && lengths[0] == 1 && lengths[1] == COUNT && were_launched(0));
    /* Memory that is freed while a graph is recorded is its own. */
    for (int i = 0; i < 20; i++)
        CHECK(fcl_buffer_new(context, i % 2 ? sizeof xs : 4, &held[i]) == FCL_OK &&
              fcl_fill(held[i], 0, 4, 9) == FCL_OK);
    for (uint32_t round = 0; round < 3; round++) {
        int32_t sum = 0, wanted[BUCKETS] = {0}, total = 0, *others;
        for (int32_t i = 0; i < COUNT; i++)
            xs[i] = (int32_t)(at(i, round) % BUCKETS);
        CHECK(fcl_write(in, 0, xs, sizeof xs) == FCL_OK);
        for (int i = 0; i < 5; i++) {
            CHECK(fcl_graph_launch(graphs[i]) == FCL_OK && were_launched((int)round * 5 + i + 1));
            /* Kernels that take memory and give it back between. */
            CHECK(graphs_running(context, COUNT, xs, &length, &others) == FCL_OK);
            free(others);
        }
        CHECK(fcl_read(sums, 0, back, sizeof back) == FCL_OK);
        for (int32_t i = 0; i < COUNT; i++) {
            wanted[xs[i]]++;
            CHECK(back[i] == (sum += xs[i]));
        }
        CHECK(fcl_read(counts, 0, back, sizeof wanted) == FCL_OK && memcmp(back, wanted, sizeof wanted) == 0);
        CHECK(fcl_read(steps, 0, back, sizeof back) == FCL_OK);
        for (int32_t i = 0; i < COUNT; i++)
            CHECK(back[i] == xs[COUNT - 1 - i] + STEPS * (STEPS - 1) / 2);
        CHECK(fcl_read(first, 0, back, 4) == FCL_OK && back[0] == xs[0]);
        CHECK(fcl_read(turned, 0, back, sizeof back) == FCL_OK && back[0] == xs[COUNT - 1]);
        CHECK(fcl_read(one, 0, &total, 4) == FCL_OK && total == sum);
    }
    for (int i = 0; i < 20; i++)
        CHECK(fcl_read(held[i], 0, back, 4) == FCL_OK && back[0] == 0x09090909);
    fcl_graph_free(graphs[1]);
    fcl_graph_free(graphs[0]);
    fcl_buffer_free(sums);
    fcl_buffer_free(counts);
    CHECK(fcl_graph_launch(graphs[2]) == FCL_OK && fcl_finish(context) == FCL_OK);
    /* The others end with the context. */
}

static void other_numbers(struct fcl_context *context) {
    static uint32_t keys[COUNT], sorted[COUNT];
    static float weights[COUNT], shares[COUNT];
    struct fcl_buffer *in = NULL, *out, *weighed = NULL, *shared;
    struct fcl_graph *sort, *norm;
    int32_t length;
    CHECK(fcl_buffer_new(context, sizeof keys, &in) == FCL_OK &&
          fcl_buffer_new(context, sizeof weights, &weighed) == FCL_OK);
    CHECK(graphs_sorted_graph(context, COUNT, in, &length, &out, &sort) == FCL_OK && length == COUNT);
    CHECK(graphs_normed_graph(context, COUNT, weighed, &length, &shared, &norm) == FCL_OK && length == COUNT);
    for (uint32_t round = 1; round < 3; round++) {
        for (int32_t i = 0; i < COUNT; i++) {
            keys[i] = at(i, round);
            weights[i] = (float)round;
        }
        CHECK(fcl_write(in, 0, keys, sizeof keys) == FCL_OK &&
              fcl_write(weighed, 0, weights, sizeof weights) == FCL_OK);
        CHECK(fcl_graph_launch(sort) == FCL_OK && fcl_graph_launch(norm) == FCL_OK);
        CHECK(fcl_read(out, 0, sorted, sizeof sorted) == FCL_OK &&
              fcl_read(shared, 0, shares, sizeof shares) == FCL_OK);
        uint32_t sum = keys[0] - sorted[0];
        for (int32_t i = 1; i < COUNT; i++) {
            CHECK(sorted[i - 1] <= sorted[i]);
            sum += keys[i] - sorted[i];
        }
        CHECK(sum == 0 && shares[0] == 1.0f / COUNT && shares[COUNT - 1] == 1.0f / COUNT);
    }
}

/* Calls that are wrong, and leave the context as it was. */
static void failures_of_graphs(struct fcl_context *context) {
    struct fcl_buffer *in = NULL, *out = NULL, *short_one = NULL;
    struct fcl_graph *graph = NULL;
    int32_t length, word = 7;
    CHECK(fcl_buffer_new(context, 4, &in) == FCL_OK && fcl_buffer_new(context, 4, &short_one) == FCL_OK);
    CHECK(fcl_graph_end(context, FCL_OK, &graph) == FCL_INVALID && !graph);
    CHECK(fcl_graph_begin(context) == FCL_OK);
    CHECK(fcl_graph_begin(context) == FCL_INVALID);
    CHECK(fcl_read(in, 0, &word, 4) == FCL_INVALID &&
          strstr(fcl_error(context), "fcl_read: not while a graph is recorded"));
    CHECK(fcl_write(in, 0, &word, 4) == FCL_INVALID && fcl_finish(context) == FCL_INVALID);
    CHECK(fcl_fill(in, 0, 4, 1) == FCL_OK && fcl_copy(short_one, 0, in, 0, 4) == FCL_OK);
    CHECK(fcl_graph_end(context, FCL_OK, &graph) == FCL_OK && graph);
    CHECK(fcl_fill(in, 0, 4, 2) == FCL_OK && fcl_fill(short_one, 0, 4, 2) == FCL_OK);
    CHECK(fcl_graph_launch(graph) == FCL_OK && fcl_read(short_one, 0, &word, 4) == FCL_OK && word == 0x01010101);
    /* A function that fails leaves nothing: what is recorded goes. */
    CHECK(graphs_running_graph(context, 2, in, &length, &out, &graph) == FCL_INVALID && !graph && !out && length == 0);
    CHECK(strstr(fcl_error(context), "xs has 4 bytes, and 8 are wanted"));
    CHECK(graphs_running_graph(context, 1, in, &length, &out, &graph) == FCL_OK && graph && length == 1);
    CHECK(fcl_graph_launch(graph) == FCL_OK && fcl_read(out, 0, &word, 4) == FCL_OK && word == 0x01010101);
    CHECK(graphs_running_graph(context, 0, in, &length, &out, &graph) == FCL_OK && graph && length == 0);
    CHECK(fcl_graph_launch(graph) == FCL_OK && fcl_finish(context) == FCL_OK);
    CHECK(fcl_graph_launch(NULL) == FCL_INVALID && fcl_graph_begin(NULL) == FCL_INVALID);
}

/* The device is lost then. A graph's launches count among those that may be to blame. */
static void fault_of_a_graph(struct fcl_context *context) {
    struct fcl_buffer *in = NULL, *out = NULL;
    struct fcl_graph *graph = NULL;
    int32_t length;
    CHECK(fcl_buffer_new(context, 4, &in) == FCL_OK && fcl_fill(in, 0, 4, 0) == FCL_OK);
    CHECK(graphs_far_graph(context, 500000000, 1, in, &length, &out, &graph) == FCL_OK);
    CHECK(fcl_finish(context) == FCL_OK);
    enum fcl_status launched = fcl_graph_launch(graph);
    CHECK((launched == FCL_OK ? fcl_finish(context) : launched) == FCL_DEVICE_FAULT);
    CHECK(strstr(fcl_error(context), "far") && !strstr(fcl_error(context), "launched before it"));
}

static void no_graphs(void) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    struct fcl_context *context;
    options.kind = FCL_DEVICE_C;
    if (fcl_open(&context, &options, NULL, 0) != FCL_OK)
        return;
    CHECK(fcl_graph_begin(context) == FCL_NO_BACKEND && strstr(fcl_error(context), "there are no graphs for c"));
    fcl_close(context);
}

int main(void) {
    struct fcl_context *context = open_device();
    whole_numbers(context);
    other_numbers(context);
    failures_of_graphs(context);
    CHECK(fcl_graph_begin(context) == FCL_OK); /* fcl_close ends it */
    fcl_close(context);
    context = open_device();
    fault_of_a_graph(context);
    fcl_close(context);
    no_graphs();
    return failures != 0;
}
