"""The CUDA simulator finds what it must find, and nothing in what is right."""

import glob
import json
import os
import re
from harness import Case

ORDER = 25
THOROUGH = True

RANGE = list(range(10000))


def bins(values):
    return [sum(1 for value in values if value % 16 == b) for b in range(16)]


def block_sums(values, blocks, block):
    """What each block of a grid-stride loop adds up."""
    return [sum(v for i, v in enumerate(values) if i // block % blocks == b) for b in range(blocks)]


def segments():
    return [sum(range(i // 8 * 8, i)) + 1000 * (7 - i % 8) for i in range(32)]


def transposed(rows, columns):
    return [y * columns + x for x in range(columns) for y in range(rows)]


# file, kernel and the rest of the command: the last buffer afterwards.
RIGHT = {
    "reduce sum_blocks 4 256 range:10000 zeros:4 int:10000": block_sums(RANGE, 4, 256),
    "reduce sum_blocks 3 32 range:0010 zeros:3 int:10": block_sums(RANGE[:10], 3, 32),
    "barriers votes 1 64 range:64 zeros:64": [130] * 64,
    "memory copy 4 64 range:200 fresh:200 int:200": RANGE[:200],
    **{f"large {name} 1 64 fresh:64": [12287 - i for i in range(64)]
       for name in ("first", "second", "third", "fourth", "fifth")},
    "memory shared_overflow 1 32 zeros:32": [1] * 32,
    "memory dynamic_overflow 1 32 --shared=128 zeros:32": [1] * 32,
    "memory dynamic_overflow 1 1024 --shared=4096 zeros:1024": [1] * 1024,
    "memory bytes 2 30 zeros:15": [
        int.from_bytes(bytes([29 - i for i in range(30)] + [30 - i for i in range(30)])[4 * w:4 * w + 4], "little")
        for w in range(15)],
    "memory transpose 3x2 16x16 --shared=1088 range:1271 fresh:1271 int:31 int:41": transposed(31, 41),
    "memory all_store 1 64 zeros:64": [5] * 64,
    "memory both_read 1 64 range:64 zeros:64": [i + (i + 1) % 64 for i in range(64)],
    "memory untaken 1 64 range:2 zeros:2 int:2": [0, 2],
    "warps shuffle_sum 2 64 range:128 zeros:4": [sum(RANGE[32 * w:32 * w + 32]) for w in range(4)],
    "warps segments 1 32 range:32 zeros:32": segments(),
    "warps exchange 1 64 range:64": [i ^ 1 for i in range(64)],
    "warps broadcast 1 32 zeros:32": [5] * 32,
    "warps ballots 1 32 zeros:32": [3 + 8 * 7] * 16 + [3] * 16,
    "atomics histogram 4 256 range:10000 zeros:16 int:10000": bins(RANGE),
    "atomics last_block 8 32 range:8 zeros:8 zeros:1 zeros:1": [28],
}

# The same, and what must be reported.
WRONG = {
    "memory both_read 1 64 -DWRITES range:64 zeros:64": (
        r"race on device memory .*\(kernel both_read, block 0\): (atomic|write) by thread \d+, (atomic|write) by "
        r"thread \d+"),
    "memory behind_load 1 64 zeros:1 zeros:2": (
        r"race on device memory .*\(kernel behind_load, block 0\): (read|write) by thread (0|32), (read|write) by "
        r"thread (0|32)"),
    "reduce sum_blocks 4 256 -DNO_BARRIER range:10000 zeros:4 int:10000": (
        r"race on shared memory at byte \d+ of part \(kernel sum_blocks, block 0\): (read|write) by thread \d+, "
        r"(read|write) by thread \d+ at reduce.cu:\d+, no barrier between"
    ),
    "barriers leaves_early 2 64 zeros:64": (
        r"divergent barrier \(kernel leaves_early, block \d\): thread \d+ waits at __syncthreads on line 7, thread \d+"
        r" has "
        r"returned"
    ),
    "barriers two_places 2 64 zeros:64": (
        r"divergent barrier \(kernel two_places, block \d\): thread \d+ waits at __syncthreads on line 1[58], thread"
        r" \d+ "
        r"waits at __syncthreads on line 1[58]"
    ),
    "barriers half_warp 1 32 zeros:32": (
        r"divergent __shfl_down_sync \(kernel half_warp, block 0\): thread \d+ waits at __shfl_down_sync on line 26"
        r" with "
        r"mask 0xffffffff, thread \d+ has returned"
    ),
    "barriers wrong_mask 1 32 zeros:32": r"thread \d+, which is lane \d+, is not in the mask 0x0000ffff",
    **{
        f"large {name}_early 1 64 zeros:64": (
            r"read of shared memory at byte \d+ of all, not written before \(kernel " + name + r"_early, block 0\)"
        )
        for name in ("first", "fifth")
    },
    "memory copy 4 64 range:200 zeros:201 int:201": (
        r"read of 4 bytes out of bounds at 0x[0-9a-f]+, at byte 800 of an "
        r"allocation of 800 bytes \(kernel copy, block 3\): by thread 8 at memory.cu:6"
    ),
    "memory wild 1 64 zeros:64": (
        r"write of 4 bytes out of bounds at 0x[0-9a-f]+, .*\(kernel wild, block 0\): by thread 3"
    ),
    "memory misaligned 1 2 zeros:64": (
        r"write of 4 bytes at 0x[0-9a-f]+, no multiple of them, .*\(kernel misaligned, block 0\): by thread [01]"
    ),
    "memory null_pointer 1 64 zeros:64 long:0": r"out of bounds at 0x\w+, a null pointer",
    "memory shared_overflow 1 33 zeros:64": (
        r"write of 4 bytes outside the shared arrays \(kernel shared_overflow, block 0\)"
        r": by thread 32 at memory.cu:\d+"
    ),
    "memory dynamic_overflow 1 33 --shared=128 zeros:64": r"at byte 128 of 128 bytes of dynamic shared memory",
    "memory uninitialised 1 64 zeros:64": r"read of shared memory at byte \d+ of tile, not written before",
    "memory all_blocks 2 64 zeros:64": (
        r"race on device memory .*: write by thread 0 of block \d, write by thread 0 of " r"block \d"
    ),
    "memory all_store 1 64 -DPLAIN zeros:64": (
        r"race on shared memory at byte 0 of word .*: write by thread " r"\d+, write by thread \d+"
    ),
    "memory neighbour 3 64 range:64": r"race on device memory .*of block \d, (read|write) by thread 0 of block \d",
    "memory same_block 1 64 range:64": (
        r"race on device memory .*by thread \d+, (read|write) by thread \d+ .*no barrier"
    ),
    "warps exchange 2 32 range:64": r"race on device memory",
    "warps exchange 1 64 -DNO_SYNCWARP range:64": r"race on shared memory at byte \d+ of tile",
    "warps across_warps 1 64 range:64": r"race on shared memory at byte \d+ of tile",
    "warps broadcast 1 32 -DNO_SYNCWARP zeros:32": r"race on shared memory at byte 0 of word",
    "atomics mixed 1 64 zeros:100": r"race on device memory .*(read|atomic) by thread \d+, (read|atomic) by thread \d+",
    "atomics last_block 8 32 -DNO_FENCE range:10 zeros:10 zeros:1 zeros:1": r"race on device memory",
    "reduce sum_blocks 1 257 range:10 zeros:1 int:10": r"error 701",
    "reduce sum_blocks 0 256 range:10 zeros:1 int:10": r"error 1:",
    "memory dynamic_overflow 1 32 --shared=65536 zeros:32": r"error 1:",
    "memory copies 1 32 zeros:32": r"error 500",
}

# With shared memory taken as written: these read what another thread has yet to write.
UNINITIALISED_ALLOWED = ("warps exchange", "warps across_warps")


def cases(env):
    def command(line):
        env.cudasim()
        file, *rest = line.split()
        return [env.path("tests/cudasim/launch"), env.path(f"tests/cudasim/selftest/{file}.cu"), *rest]

    for seed in "0", "7":
        for line, expected in RIGHT.items():
            def right(line=line, expected=expected, seed=seed):
                printed = env.must(*command(line), env={"CUDASIM_SEED": seed})
                found = json.loads(printed.splitlines()[-1] if "votes" not in line else printed.splitlines()[1])
                assert found == expected, f"got {found}\nnot {expected}"

            yield Case(f"{line} (seed {seed})", right)

        for line, expected in WRONG.items():
            def wrong(line=line, expected=expected, seed=seed):
                allowed = "0" if line.startswith(UNINITIALISED_ALLOWED) else "1"
                printed = env.must(*command(line), status=1, env={"CUDASIM_SEED": seed, "CUDASIM_UNINIT": allowed})
                assert re.search(expected, printed), f"got  {printed}\nnot  {expected}"

            yield Case(f"{line} must fail (seed {seed})", wrong)

    for variables, expected in (({}, [2, 2, 2, 2]), ({"CUDASIM_STALE": "1"}, [1, 2, 1, 2])):
        def late(variables=variables, expected=expected):
            printed = env.must(*command("atomics late_words 3 32 zeros:1 zeros:4"), env=variables)
            assert json.loads(printed.splitlines()[-1]) == expected, printed

        yield Case(f"words of another block {' '.join(variables) or 'as they are'}", late)

    def compile_error():
        path = env.tmp() + "/wrong.cu"
        with open(path, "w") as file:
            file.write("extern \"C\" __global__ void f(int *p) {\n    *p = nothing;\n}\n")
        printed = env.must(env.path("tests/cudasim/launch"), path, "f", "1", "1", "zeros:1", status=1)
        assert "wrong.cu:2" in printed and "nothing" in printed, printed

    yield Case("an error of compilation names its line", compile_error)

    for path in sorted(glob.glob(env.path("tests/cudasim/selftest/*.cu"))):
        def to_ptx(path=path):
            with open(path) as file:
                kernels = re.findall(r"__global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(", file.read())
            ptx = env.ptx(path)
            missing = [name for name in kernels if f".entry {name}(" not in ptx]
            assert kernels and not missing, f"no entry for {missing}"

        yield Case(f"{os.path.basename(path)} to PTX", to_ptx)
