"""Every kernel of the paper's examples at awkward lengths: all executors give what the interpreter gives. And arrays
as long as there can be, which are made up as they are read, on the executors that are fast enough."""

import os
from executors import EXECUTORS, require, variables
from harness import Case

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
        path = os.path.join(env.tmp(), "long.fcl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(LONG)
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
