"""Blocks that want more shared memory than there is: their arrays lie in global memory, the results are the same, and
fclc says so."""

import os
from executors import EXECUTORS, require, variables
from harness import Case, Counts, Skip
from programs import tested

ORDER = 43

# Arrays of blocks and of warps, of known length and not, in loops and branches, with atomics, locks and look-backs.
PROGRAMS = ("arrays", "block_branches", "shared_places_of_launch", "steps_in_place", "level_groups", "levels",
            "lookback_counts", "own_places", "permute_into", "one_level", "rank_by_index", "reduce_by_index",
            "pocl_steps_in_chunks", "warp_state", "warp_exchange")
# The other executors take long for more.
FEW = ("arrays", "block_branches", "steps_in_place", "levels", "own_places", "permute_into", "pocl_steps_in_chunks")

LARGE = """\
kernel turned (n : int) (xs : [int]) =
  (splitUp n xs |> map (fn c => push <block> (reverse (force (push <block> (map (fn x => x * 2) c)))))
                |> concat n : [int]<grid>)
-- test turned 20000 [1,2,3] == [6,4,2]
-- test turned 2 [1,2,3] == [4,2,6]
kernel thousand (xs : [int]) =
  (splitUp 1000 xs |> map (fn c => push <block> (reverse (force (push <block> (map (fn x => x * 2) c)))))
                   |> concat 1000 : [int]<grid>)
"""

HOST = """\
#define OUT_IMPLEMENTATION
#include "out.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char why[512];
    struct fcl_context *context;
    struct fcl_options options = {.kind = FCL_DEVICE_OPENCL};
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK)
        return fprintf(stderr, "%s\\n", why), 77;
    enum { N = 2500 };
    int32_t xs[N], *result, length;
    for (int i = 0; i < N; i++)
        xs[i] = i;
    if (out_thousand(context, N, xs, &length, &result) != FCL_OK)
        return fprintf(stderr, "%s\\n", fcl_error(context)), 1;
    for (int i = 0; i < N; i++) {
        int chunk = i / 1000 * 1000, end = chunk + 1000 < N ? chunk + 1000 : N;
        if (result[i] != 2 * (end - 1 - (i - chunk)))
            return fprintf(stderr, "%d at %d\\n", result[i], i), 1;
    }
    free(result);
    fcl_close(context);
    return length != N;
}
"""


def cases(env):
    def test(path, executor, *options):
        require(env, executor)
        done = env.run(env.fclc, "test", *EXECUTORS[executor][0], *options, path, env=variables(env, executor),
                       timeout=900)
        counts = Counts.of_last_line(done.stdout)
        assert counts and counts.passed + counts.failed, done.stdout + done.stderr
        return counts

    for executor, programs in (("cuda-simulator", PROGRAMS), ("cuda-unoptimised", FEW), ("opencl-simt", FEW)):
        for name in programs:
            yield Case(f"{name} with 1024 bytes of shared memory on {executor}", lambda executor=executor,
                       name=name: test(
                tested(env, name), executor, "--shared-bytes=1024"),
                thorough=name == "reduce_by_index" or executor == "cuda-unoptimised" or
                executor == "opencl-simt" and env.simulator() is not None)

    def written():
        path = env.written("large.fcl", LARGE)
        return path

    # Memory of which only the launch knows how much it is: 80,000 bytes, and the simulated device has 65,536.
    yield Case("arrays that the launch sizes", lambda: test(written(), "cuda-simulator"))

    def says_so():
        require(env, "cuda-simulator")
        for command in (["run", "--limit=1"], ["bench"]):
            done = env.run(env.fclc, *command, "--target=cuda", written(), "turned", "20000", "iota:20000",
                           env=variables(env, "cuda-simulator"))
            assert done.returncode == 0 and (command[0] == "bench" or done.stdout.startswith("[39998 …")), done.stdout
            assert done.stderr.count("warning[W011]: a block of `turned` wants 80") == 1, done.stderr
            assert "can have 65536: arrays of which only the launch knows the length" in done.stderr, done.stderr
    yield Case("what the launch finds too large is told once", says_so)

    def compiled():
        out = os.path.join(env.tmp(), "out.cu")
        done = env.run(env.fclc, written(), "-o", out)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert "scratch" not in open(out, encoding="utf-8").read()
        done = env.run(env.fclc, "--shared-bytes=2048", written(), "-o", out)
        assert done.returncode == 0 and done.stderr.count("warning[W011]") == 1, done.stderr
        assert (
            "a block of `thousand` would take 4032 bytes of shared memory, and can have 2048" in done.stderr
        ), done.stderr
        assert "1000 elements of type `int` are stored here" in done.stderr, done.stderr
        text = open(out, encoding="utf-8").read()
        assert "scratch, int, elements for each block of the launch: 1000" in text, text
        # no compiler may take it for one thread's own
        assert "int *fcl_scratch" in text and "__restrict__ fcl_scratch" not in text, text
        out = os.path.join(env.tmp(), "out.cl")
        env.must(env.fclc, "--map=simt", "--shared-bytes=2048", written(), "-o", out)
        thousand = open(out, encoding="utf-8").read().partition("kernel thousand")[2]
        assert "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);" in thousand, thousand
        assert "barrier(CLK_LOCAL_MEM_FENCE);" not in thousand, thousand
    yield Case("compiling says which arrays lie in global memory", compiled)

    def hosted():
        folder = env.tmp()
        env.must(env.fclc, "--map=simt", "--shared-bytes=2048", written(), "-o", os.path.join(folder, "out.cl"))
        source, program = os.path.join(folder, "main.c"), os.path.join(folder, "main")
        with open(source, "w", encoding="utf-8") as file:
            file.write(HOST)
        env.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + folder, "-Iruntime", source,
                 os.path.join(env.build, "libfcl.a"), "-ldl", "-lm", "-lpthread", "-o", program)
        done = env.run(program)
        if done.returncode == 77:
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, done.stdout + done.stderr
    yield Case("a host function gives each block its part of global memory", hosted)
