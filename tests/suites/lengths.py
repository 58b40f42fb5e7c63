"""Every kernel of the paper's examples at awkward lengths: all executors give what the interpreter gives. And arrays
as long as there can be, which are made up as they are read, on the executors that are fast enough. And results of more
elements than an int counts: of 50,000 x 50,000 bytes where there is room, and everywhere small ones in parts
(--large=N), as if they were large."""

import os
from executors import EXECUTORS, require, variables
from harness import Case, Skip
from programs import directives, tested

ORDER = 45
LENGTHS = [0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 65536, 1000003]
LONG_LENGTHS = {2, 31, 255, 256}  # others are like them
THOROUGH_LENGTHS = {32, 1000, 1000003}
SHORT = ("c", "opencl-loop", "opencl-simt", "cuda-simulator")  # one of each kind
SIMULATED = 1000  # the simulator takes its time: longer arrays run elsewhere, but in a long run
COMPARED = [name for name, (_, device) in EXECUTORS.items()
            if name not in ("interp", "c-unoptimised") and device != "ptx"]  # which ptx.py runs
SLOW = {"transposeTiles"}  # on the interpreter, where a matrix of a million elements has one column
KERNELS = [
    ("examples/reverse/reverse.fcl", "reverseBlock", lambda n: [f"random:{n}:1"]),
    ("examples/reverse/reverse.fcl", "reverseGrid", lambda n: [f"random:{n}:2"]),
    ("examples/reverse/reverse.fcl", "reverseChunks", lambda n: [f"random:{n}:3"]),
    ("examples/transpose/transpose.fcl", "transposeNaive", lambda n: [*shape(n), f"random:{n}:4"]),
    ("examples/transpose/transpose.fcl", "transposeTiles", lambda n: [*shape(n), f"random:{n}:5"]),
    ("examples/reduce/reduce.fcl", "sumBlocks", lambda n: [f"random:{n}:6"]),
    ("examples/reduce/reduce.fcl", "maxBlocks", lambda n: [f"random:{n}:7"]),
]
LONGEST = 2**31 - 1
LONG = """kernel ones (n : int) = reduce (+) 0 (generate n (fn i => i & 1))
kernel rotated (n : int) (by : int) =
  find (fn x => x == 5) (rotate by (generate n (fn i => if i == 1000000000 then 5 else 0)))
kernel shifted (n : int) (by : int) = count (fn x => x == 7) (shift by 7 (generate n (fn i => i & 1)))
kernel stepped (n : int) (m : int) =
  power m (fn _ p => push <grid> (map (fn x => x + 1i8) p)) (push <grid> (generate n i8)) ! 0
"""
LARGE = """kernel made (r : int) (c : int) = generate r (fn i => generate c (fn j => u8 (3 * i + j)))
kernel constant = generate 65536 (fn i => generate 65536 (fn j => u8 (i + j)))
kernel added (m : [[u8]]) = map (map (fn x => x + 1)) m
kernel maxima (m : [[u8]]) = push <grid> (map (foldl max 0) m)
kernel joined (m : [[u8]]) = concat 1 (map (reduceBlock max 0) m)
kernel flat (m : [[u8]]) = take 3 (flatten m)
"""
LARGE_C = """#define K_IMPLEMENTATION
#include "k.h"
#include <stdio.h>
#include <stdlib.h>
static int fail(struct fcl_context *context) { return puts(fcl_error(context)), fcl_close(context), 1; }
int main(int count, char **words) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    struct fcl_context *context;
    char error[1000];
    options.kind = FCL_DEVICE_C;
    if (count < 3 || fcl_open(&context, &options, error, sizeof error) != FCL_OK)
        return 2;
    int32_t rows, columns;
    struct fcl_buffer *made, *added;
    if (k_made_device(context, atoi(words[1]), atoi(words[2]), &rows, &columns, &made) != FCL_OK ||
        k_added_device(context, rows, columns, made, &rows, &columns, &added) != FCL_OK)
        return fail(context);
    fcl_buffer_free(made);
    uint8_t *row = malloc((size_t)columns + 1);
    for (int64_t i = 0; i < rows; i++) {
        if (fcl_read(added, (uint64_t)(i * columns), row, (size_t)columns) != FCL_OK)
            return fail(context);
        for (int64_t j = 0; j < columns; j++)
            if (row[j] != (uint8_t)(3 * i + j + 1))
                return printf("%d at %d, %d\\n", row[j], (int)i, (int)j), 1;
    }
    fcl_buffer_free(added);
    free(row);
    printf("%d x %d\\n", rows, columns);
    return fcl_close(context), 0;
}
"""


def room(gigabytes):
    """Skips the case where there is less memory."""
    lines = open("/proc/meminfo", encoding="ascii").read().split("\n") if os.path.exists("/proc/meminfo") else []
    free = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    if not free or free[0] < gigabytes * 2**20:
        raise Skip(f"less than {gigabytes} GB of memory")


def shape(n):
    """Columns and rows of a matrix of n elements, as square as n allows."""
    columns = next((c for c in range(int(n ** 0.5), 0, -1) if n % c == 0), 0)
    return [str(columns), str(n // columns if columns else 0)]


def cases(env):
    env = env.optimised()
    for path, kernel, arguments in KERNELS:
        def compare(path=path, kernel=kernel, arguments=arguments, length=0):
            def run(executor):
                options = EXECUTORS[executor][0] + ["--limit=0"]
                return env.must(env.fclc, "run", *options, path, kernel, *arguments(length),
                                env=variables(env, executor), timeout=600)
            wanted = run("interp")
            for executor in COMPARED:
                if not env.long and (executor not in SHORT or length > SIMULATED and executor == "cuda-simulator"):
                    continue
                require(env, executor)
                assert (
                    run(executor) == wanted
                ), f"{kernel} on {executor} differs from the interpreter at length {length}"

        for length in LENGTHS:
            yield Case(f"{kernel} at length {length}", lambda length=length, compare=compare: compare(length=length),
                       long=length in LONG_LENGTHS or kernel in SLOW and length > 65536,
                       thorough=length in THOROUGH_LENGTHS)

    def longest(executor):
        require(env, executor)
        path = env.written("long.fcl", LONG)
        runs = [("ones", [n], n // 2) for n in (2**30 - 1, 2**30 + 1, LONGEST)]
        runs += [("rotated", [LONGEST, by], found) for by, found in (
            (LONGEST - 1, 1000000001), (-1, 1000000001), (1000000001, LONGEST - 1), (-(2**31), 1000000001))]
        runs += [("shifted", [LONGEST, by], filled) for by, filled in (
            (-1, 1), (1, 1), (-2000000000, 2000000000), (LONGEST, LONGEST), (-(2**31), LONGEST))]
        if not env.long:  # seconds for each: the longest, a rotation, and a shift
            runs = [runs[2], runs[6], runs[-1]]
        for kernel, arguments, wanted in runs:
            assert env.must(env.fclc, "run", *EXECUTORS[executor][0], path, kernel, *map(str, arguments),
                            timeout=600) == f"{wanted}\n", (kernel, arguments)
        steps = LONGEST if env.long else 2**30 + 1  # bytes, twice
        assert env.must(env.fclc, "run", *EXECUTORS[executor][0], path, "stepped", str(steps), "2",
                        timeout=600) == "2\n"
    for executor in ("c", "opencl-loop", "opencl-simt"):
        yield Case(f"arrays of 2^31 - 1 elements on {executor}", lambda executor=executor: longest(executor),
                   long=executor != "c", thorough=True)

    yield from large_results(env)


def large_results(env):
    def program():
        path = env.written("k.fcl", LARGE)
        return path

    for executor in COMPARED:
        for name, part in (("large_results", 2), ("large_results", 7), ("shapes", 1), ("shapes", 7)):
            def in_parts(executor=executor, name=name, part=part):
                require(env, executor)
                return directives(env, [env.fclc, "test", "--check=none", f"--large={part}", *EXECUTORS[executor][0],
                                        tested(env, name)], variables(env, executor))
            yield Case(f"results of {name} in parts of {part} on {executor}", in_parts,
                       long=executor not in SHORT or part == 7,
                       thorough=executor not in ("c", "cuda-simulator") or name == "shapes")

    def by_extents():
        path = program()
        for kernel, options, turns in (("made", [], 0), ("made", ["--large=7"], 1), ("made", ["--large"], 1),
                                       ("constant", [], 1), ("added", ["--sizes=n=50000"], 1),
                                       ("added", ["--sizes=n=46340"], 0),
                                       ("maxima", ["--large", "--sizes=n=50000"], 0)):
            said = env.must(env.fclc, "report", path, kernel, "--target=c", *options)
            assert said.count("loop of the host") == turns, (kernel, options, said)
        for value in ("0", "x", "2147483648"):
            assert env.run(env.fclc, "report", path, "made", f"--large={value}").returncode == 2, value
    yield Case("results in parts where the extents, or --large, ask for them", by_extents)

    def compiled(*options):
        folder = os.path.dirname(program())
        env.must(env.fclc, *options, os.path.join(folder, "k.fcl"), "-o", os.path.join(folder, "k.c"))
        env.written("main.c", LARGE_C, folder)
        env.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I" + folder, "-Iruntime",
                 os.path.join(folder, "main.c"), "-L" + env.build, "-lfcl", "-Wl,-rpath," + env.build, "-o",
                 os.path.join(folder, "program"))
        return os.path.join(folder, "program")

    def in_c():
        for options in ([], ["--large=7"], ["--large"]):
            built = compiled(*options)
            for rows, columns in ((0, 0), (0, 5), (5, 0), (1, 1), (13, 9), (3, 100)):
                assert env.must(built, str(rows), str(columns)) == f"{rows} x {columns}\n"
        done = env.run(compiled(), "50000", "50000")
        assert done.returncode == 1 and "50000 times 50000" in done.stdout and "--large" in done.stdout, done.stdout
    yield Case("results in parts in C", in_c)

    def many_in_c():
        room(6)
        assert env.optimised().must(compiled("--large"), "50000", "50000") == "50000 x 50000\n"
    yield Case("50,000 x 50,000 bytes in C", many_in_c, long=True, alone=True)

    RUN = [env.fclc, "run", "--target=c", "--limit=3"]

    def many():
        """The kernel is compiled again when its result turns out to be large."""
        room(8)
        wanted = "[[0,1,2 … 50000x50000 elements]]\n"
        assert env.optimised().must(*RUN, program(), "made", "50000", "50000") == wanted
    yield Case("50,000 x 50,000 bytes by fclc run", many, thorough=True, alone=True)

    def many_as_argument():
        room(8)
        path = program()
        for kernel in ("maxima", "joined"):
            wanted = "[7,7,7 … 50000 elements]\n"
            assert env.optimised().must(*RUN, path, kernel, "fill:50000x50000:7") == wanted
        done = env.optimised().run(*RUN, path, "flat", "fill:50000x50000:7")
        assert done.returncode == 1 and "error[E0508]" in done.stderr, done.stderr
    yield Case("50,000 x 50,000 bytes as an argument", many_as_argument, long=True, alone=True)

    def many_in_files():
        room(16)
        path, optimised = program(), env.optimised()
        folder = os.path.dirname(path)
        free = os.statvfs(folder)
        if free.f_bavail * free.f_frsize < 8 * 2**30:
            raise Skip("less than 8 GB on the disk")
        files = [os.path.join(folder, name) for name in ("made.npy", "added.npy")]
        optimised.must(env.fclc, "run", "--target=c", path, "made", "50000", "50000", "-o", files[0])
        optimised.must(env.fclc, "run", "--target=c", path, "added", "@" + files[0], "-o", files[1])
        for plus, name in enumerate(files):
            with open(name, "rb") as file:
                assert b"(50000, 50000)" in file.read(128)
                for row in (0, 1, 42949, 42950, 49999):
                    file.seek(-(50000 - row) * 50000, os.SEEK_END)
                    wanted = bytes((3 * row + j + plus) & 255 for j in range(50000))
                    assert file.read(50000) == wanted, (name, row)
            if plus:
                os.remove(name)
        os.remove(files[0])
    yield Case("50,000 x 50,000 bytes in .npy", many_in_files, long=True, alone=True)
