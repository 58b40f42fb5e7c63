"""What the loads and stores of CUDA kernels would cost a GPU, counted by the CUDA simulator from the addresses that a
small run touches: sectors of global memory, and turns at the banks of shared memory, beside the fewest there could
be; and what ptxas says of registers and shared memory."""

import functools
import os
import re
from harness import Case

ORDER = 52

WHOLE, MATRICES, COPY = ("benchmarks/fcl/" + name + ".fcl" for name in ("whole", "matrices", "copy"))
EXAMPLES = "examples/{0}/{0}.fcl".format
NETWORKS = EXAMPLES("networks")
BEST = 1.0

# Program, kernel and arguments: of each kind of access how often it is what it could be, to two digits; BEST where
# nothing is said. Scattered by data: what a sort and a filter write, counters. sortPeriodic's last stage writes every
# second element, as the paper has it.
KERNELS = [
    (COPY, "copyGrid", "iota:8192", {}),
    (EXAMPLES("linear"), "saxpy", "2 iota:8192 iota:8192", {}),
    (EXAMPLES("reverse"), "reverseGrid", "iota:8192", {}),
    (EXAMPLES("reverse"), "reverseChunks", "iota:8192", {}),
    (EXAMPLES("transpose"), "transposeTiles", "128 64 iota:8192", {}),
    (EXAMPLES("transpose"), "transposeNaive", "128 64 iota:8192", {"global read": 8.0}),
    (EXAMPLES("reductions"), "sums7", "iota:4096", {}),
    (NETWORKS, "scanSklansky", "iota:1024", {"global read": 1.33}),
    (NETWORKS, "sortPeriodic", "random:1024:1", {"global write": 2.0, "shared read": 1.45, "shared write": 1.45}),
    (WHOLE, "total", "iota:20000", {}),
    (WHOLE, "rowTotals", "iota:512x32", {}),
    (WHOLE, "rowTotals", "iota:64x256", {}),
    (WHOLE, "rowTotals", "iota:2x8192", {}),
    (WHOLE, "rowTotals", "iota:8192x1", {}),
    # A thread's words are next to each other, so that they go by 16 bytes (WIDE below) without conflicts; the simulator
    # sees words.
    (WHOLE, "sums", "iota:20000", {"shared read": 2.78, "shared write": 2.4}),
    (WHOLE, "segmentSums", "fill:20000:false iota:20000", {"shared read": 1.34}),
    (WHOLE, "positive", "random:20000:1:-5:5", {"global write": 1.18, "shared read": 3.12, "shared write": 1.62}),
    (
        WHOLE,
        "sorted",
        "random:8192:1",
        {"global write": 1.19, "shared read": 1.2, "shared write": 1.33, "shared atomic": 1.53},
    ),
    (
        WHOLE,
        "sortedPairs",
        "random:8192:1 iota:8192",
        {"global write": 1.21, "shared read": 1.17, "shared write": 1.49, "shared atomic": 1.53},
    ),
    (WHOLE, "counts", "256 random:8192:1:0:255", {"global atomic": 1.02, "shared atomic": 3.2}),
    (WHOLE, "bucketSums", "4096 random:8192:1:0:4095 iota:8192", {"global atomic": 7.75}),
    *((MATRICES, name, "iota:8192", {}) for name in ("turned", "turnedBytes", "turnedShorts", "turnedDoubles")),
    (MATRICES, "timesVector", "64 iota:8192 iota:128", {}),
    # A thread's columns, likewise.
    (MATRICES, "product", "64 iota:4096 iota:4096", {"global write": 4.0, "shared read": 1.5}),
    (MATRICES, "edges", "64 64 iota:4096", {"global read": 1.08}),
]

# Turns of lanes that meet at places of a block's own buckets, of 2048 requests of a warp: few buckets, more, many;
# and one that is hot.
TURNS = {
    "16 random:65536:1:0:15 iota:65536": 2048,
    "16 fill:65536:3 iota:65536": 2048,
    "256 random:65536:1:0:255 iota:65536": 2379,
    "256 fill:65536:3 iota:65536": 2048,
    "4096 random:65536:1:0:4095 iota:65536": 2267,
    "4096 fill:65536:3 iota:65536": 2048,
}

# Buckets of 4 bytes, and passes over the pairs on a device that gives a block up to 64 KiB, of which a KiB is not for
# buckets.
RANGES = "tests/run/prelude/reduce_by_index_ranges.fcl"
LARGE = [(12288, [], 1), (12289, [], 1), (16128, [], 1), (16129, [], 2), (12289, ["--shared-bytes=49152"], 2)]

# The limits by what ptxas says for sm_90: at most so many registers, just so many bytes of shared memory; nothing is
# spilled but at most so many bytes as a third number says. On an H200 three blocks that spill those are faster than
# two (2^24 pairs).
REGISTERS = {
    COPY: {"copyGrid": (32, 0)},
    MATRICES: {"edges": (32, 0), "product_0": (128, 16608), "product_1": (128, 8416),
               "timesVector_0": (52, 1024), "timesVector_1": (46, 0), "timesVector_2": (51, 512),
               "timesVector_3": (54, 0),
               "timesVector_4": (54, 1024)},
    WHOLE: {"sums": (40, 22624), "segmentSums": (40, 14224), "positive": (40, 43040), "total": (51, 48),
            "rowTotals_0": (32, 32), "sorted_0": (40, 4096), "sorted_1": (40, 2080), "sorted_3": (80, 25680),
            "sortedPairs_3": (80, 41040, 160), "counts_0": (40, 0)},
}
# In the PTX for sm_90: at least so many loads of 16 bytes from shared memory, at most so many narrower ones.
WIDE = {MATRICES: {"product_0": (66, 8), "product_1": (35, 12)}, WHOLE: {"sums": (25, 100)}}
# In the text, whole chunks and the last one together: barriers of a block, and exchanges of registers in a warp.
MEETINGS = {
    WHOLE: {"sums": (13, 29), "segmentSums": (13, 58), "positive": (14, 29), "total": (6, 24), "rowTotals_0": (3, 16),
            "sorted_0": (2, 0), "sorted_1": (5, 19), "sorted_3": (16, 22), "counts_0": (3, 9)},
}


# Launches of kernels that give matrices in memory, or what is made of each element: none of them divides.
SHAPES = "tests/run/language/shapes.fcl"
UNDIVIDED = {"same": 1, "records": 1, "cube": 1, "four": 1, "stored": 1, "storedPlanes": 1, "storedPairs": 1,
             "blocks": 1,
             "mappedRows": 1, "flat": 2, "flatRows": 1}
# Sorts of 19 tiles of 3840 elements.
CLEARED_ONCE = {"sorted": ["random:70001:1"], "sortedFloats": ["random:70001:1:-1:1"],
                "sortedPairs": ["random:70001:1", "iota:70001"]}
# Arrays that are made together: launches; and what reading 8192 elements of 4 bytes once takes.
TOGETHER = "tests/run/optimiser/run_together.fcl"
LAUNCHES = {"two": 1, "outs": 1, "last_one": 1, "unlike": 1, "threads": 1, "warps": 1, "joined_chunks": 1, "apart": 2,
            "updates": 4}
# Sectors: one for 8 elements, and for each chunk of 4.
READ_ONCE = {"two": 1024, "outs": 2048, "last_one": 2048, "joined_chunks": 2048}
# Square roots in the code: one for whole chunks, and one for the last.
ONCE = {"once_in_blocks": 2, "once_in_warps": 2, "once_in_threads": 2}


def traffic(text):
    """Units and the least of these by kind of access."""
    sums = {}
    for line in text.splitlines():
        if " barriers=" in line:
            continue
        found = re.search(r"(global|shared) (read|write|atomic) requests=\d+ units=(\d+) least=(\d+)", line)
        assert found, line
        units, least = sums.get(f"{found[1]} {found[2]}", (0, 0))
        sums[f"{found[1]} {found[2]}"] = units + int(found[3]), least + int(found[4])
    return sums


def turns(text):
    """Of read-modify-writes, by where the places are: how many requests, and turns of lanes that meet at a place."""
    sums = {}
    for space, requests, units in re.findall(r"(global|shared) atomic requests=(\d+) .* turns=(\d+)", text):
        if units != "0":  # a volatile load is none
            before = sums.get(space, (0, 0))
            sums[space] = before[0] + int(requests), before[1] + int(units)
    return sums


def cases(env):
    env = env.optimised()
    def counted(command, file, count=traffic):
        env.must(*command, env=env.cudasim(CUDASIM_TRAFFIC=file))
        with open(file, encoding="utf-8") as lines:
            return count(lines.read())

    def known(kernel, buffers, expected, count=traffic):
        def check():
            file = os.path.join(env.tmp(), "traffic")
            got = counted([env.path("tests/cudasim/launch"), env.path("tests/cudasim/selftest/traffic.cu"), kernel, "1",
                           "32",
                           *buffers], file, count)
            assert got == expected, got
        return Case(f"what {kernel} of tests/cudasim/selftest/traffic.cu costs", check)

    yield known("strided", ["range:64", "zeros:32"],
                {"global read": (8, 4), "shared write": (32, 1), "shared read": (32, 1), "global write": (4, 4)})
    yield known("wide", ["zeros:64", "zeros:64"],  # of 8 bytes: half a warp at a time
                {"global read": (8, 8), "shared write": (2, 2), "shared read": (2, 1), "global write": (8, 8)})

    yield known("meeting", ["range:32", "zeros:16"], {"global": (2, 10)}, turns)

    for path, kernel, arguments, worse in KERNELS:
        def cost(path=path, kernel=kernel, arguments=arguments, worse=worse):
            sums = counted([env.fclc, "run", "--target=cuda", "--no-check", env.path(path), kernel, *arguments.split()],
                           os.path.join(env.tmp(), "traffic"))
            assert {"global read", "global write"} & set(sums), sums
            for kind, (units, least) in sums.items():
                ratio = round(units / least, 2)
                assert ratio == worse.get(
                    kind, BEST
                ), f"{kind}: {ratio} times the least, expected {worse.get(kind, BEST)}\n{sums}"
        yield Case(f"{kernel} {arguments}: sectors and turns at banks", cost)

    for arguments, expected in TURNS.items():
        def meet(arguments=arguments, expected=expected):
            got = counted([env.fclc, "run", "--target=cuda", "--no-check", "--grid-size=8", env.path(WHOLE),
                           "bucketSums",
                           *arguments.split()], os.path.join(env.tmp(), "traffic"), turns)
            assert got["shared"] == (2048, expected), got
        yield Case(f"bucketSums {arguments}: turns at places", meet)

    def launches_of(*command):
        file = os.path.join(env.tmp(), "calls")
        env.must(*command, env=env.cudasim(CUDASIM_CALLS=file))
        with open(file, encoding="utf-8") as lines:
            return sum(line.startswith("launch ") for line in lines)

    def classes():
        """An array that fills a size of the pool takes no more memory; one element more takes the next size."""
        for elements, wanted in ((16384, 65536), (16385, 81920)):
            file = os.path.join(env.tmp(), "calls")
            env.must(env.fclc, "run", "--target=cuda", "--no-check", env.path("benchmarks/fcl/copy.fcl"), "copyGrid",
                     f"iota:{elements}", env=env.cudasim(CUDASIM_CALLS=file, FCL_POOL="1"))
            with open(file, encoding="utf-8") as lines:
                asked = [int(line.split()[1]) for line in lines if line.startswith("alloc ")]
            assert asked == [wanted, wanted], (elements, asked)
    yield Case("the sizes of memory that the pool asks for", classes)

    for kernel, arguments in CLEARED_ONCE.items():
        def cleared(kernel=kernel, arguments=arguments):
            """Of the words by which a sort's tiles look back the host clears those of the first pass alone."""
            file = os.path.join(env.tmp(), "calls")
            env.must(env.fclc, "run", "--target=cuda", "--no-check", env.path(WHOLE), kernel, *arguments,
                     env=env.cudasim(CUDASIM_CALLS=file, FCL_POOL="0"))
            with open(file, encoding="utf-8") as lines:
                asked = [int(line.split()[1]) for line in lines if line.startswith("fill ")]
            assert sorted(asked) == [4, 4, 4, 4, 4 * 1024, 19 * 1024], asked  # tickets, counts of digits, look-back
        yield Case(f"{kernel}: what is cleared", cleared)

    def locked():
        got = counted([env.fclc, "run", "--target=cuda", "--no-check",
                       env.path("tests/run/prelude/reduce_by_index_batches.fcl"),
                       "fewLocked", "6", "iota:65536"], os.path.join(env.tmp(), "traffic"), turns)
        assert got["shared"] == (4096, 4096), got  # a lock is taken and released
    yield Case("few places with locks, one of them hot: turns", locked)

    for buckets, asked, passes in LARGE:
        def large(buckets=buckets, asked=asked, passes=passes):
            got = launches_of(env.fclc, "run", "--target=cuda", "--no-check", *asked, env.path(RANGES), "large",
                              str(buckets),
                              "iota:9001")
            assert got == 2 + passes, got  # and one that fills the places, one that reads some
        yield Case(f"{buckets} buckets {' '.join(asked)}: launches", large)

    def bodies_of(path):
        text = env.must(env.fclc, "--dump=ir-opt", "--target=cuda", env.path(path))
        return dict(re.findall(r"^kernel (\w+)\((.*?)(?=^kernel |\Z)", text, re.S | re.M))

    def launches():
        bodies = bodies_of(TOGETHER)
        got = {name: len(re.findall(r"forall .* at grid/", bodies[name])) for name in LAUNCHES}
        assert got == LAUNCHES, got
    yield Case("what is computed together is launched together", launches)

    def computed_once():
        bodies = bodies_of(TOGETHER)
        got = {name: len(re.findall(r"= sqrt\b", bodies[name])) for name in ONCE}
        assert got == ONCE, got
    yield Case("what parts of a stored tuple share is computed once", computed_once)

    def shapes():
        bodies = bodies_of(SHAPES)
        loops = {name: re.findall(r"^  forall .* at grid/.*\n((?:    .*\n)*)", bodies[name], re.M)
                 for name in UNDIVIDED}
        assert {name: len(found) for name, found in loops.items()} == UNDIVIDED, loops
        for name, found in loops.items():
            assert not re.search(r" = (div|rem) ", "".join(found)), found
    yield Case("matrices in memory are gone through as flat arrays, and their rows are results without a copy", shapes)

    for kernel, sectors in READ_ONCE.items():
        def once(kernel=kernel, sectors=sectors):
            sums = counted([env.fclc, "run", "--target=cuda", "--no-check", env.path(TOGETHER), kernel, "iota:8192"],
                           os.path.join(env.tmp(), "traffic"))
            assert sums["global read"][0] == sectors, sums
        yield Case(f"{kernel} reads its input once", once)

    def of_edges():
        """Nodes in a row, so that there are as many rounds as edges: work by node in each round would be quadratic."""
        def units(nodes):
            edges = nodes - 1
            arguments = [f"iota:{nodes}", "[" + "1," * edges + "0]", "[" + ",".join(str(i + 1) for i in range(edges)) +
                         "]"]
            sums = counted([env.fclc, "run", "--target=cuda", "--no-check",
                            env.path("benchmarks/suites/rodinia_bfs.fcl"), "main",
                            *arguments], os.path.join(env.tmp(), "traffic"))
            return sum(sums[kind][0] for kind in sums if kind.startswith("global"))
        some, more, most = units(4), units(8), units(12)
        assert most - more < 1.1 * (more - some), (some, more, most)
    yield Case("rodinia_bfs: traffic is proportional to the edges", of_edges, thorough=True)

    @functools.cache
    def ptx_of(path):
        """The file with the PTX of a program, for sm_90."""
        nvcc, folder = env.tool("nvcc"), env.tmp()
        env.must(env.fclc, env.path(path), "-o", os.path.join(folder, "k.cu"))
        env.must(nvcc, "-arch=sm_90", "-ptx", "-o", os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cu"),
                 timeout=300)
        return os.path.join(folder, "k.ptx")

    for path, kernels in REGISTERS.items():
        def registers(path=path, kernels=kernels):
            done = env.run(env.tool("nvcc"), "-arch=sm_90", "-Xptxas", "-v", "-cubin", "-o",
                           os.path.join(env.tmp(), "k.cubin"), ptx_of(path), timeout=300)
            assert not done.returncode, done.stderr
            found = {name: (int(spilled), int(used), int(shared or 0)) for name, spilled, used, shared in re.findall(
                r"entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers(?:, used \d+ barriers)?"
                r"(?:, \d+ bytes cumulative stack size)?(?:, (\d+) bytes smem)?", done.stderr, re.S)}
            for name, (most, shared, *spills) in kernels.items():
                spilled, used, has = found[name]
                assert (
                    spilled <= sum(spills) and used <= most and has == shared
                ), f"{name}: {used} registers, {has} bytes, {spilled} spilled"
        yield Case(f"{path}: registers and shared memory", registers, thorough=True)
    for path, kernels in WIDE.items():
        def wide(path=path, kernels=kernels):
            with open(ptx_of(path), encoding="utf-8") as file:
                entries = dict(re.findall(r"\.entry (\w+)\((.*?)\n}", file.read(), re.S))
            for name, (least, most) in kernels.items():
                loads = re.findall(r"\bld\.shared\.(v4\.[a-z]32|\S+)", entries[name])
                by_16 = sum(load.startswith("v4.") for load in loads)
                assert (
                    by_16 >= least and len(loads) - by_16 <= most
                ), f"{name}: {by_16} loads of 16 bytes, {len(loads) - by_16} others"
        yield Case(f"{path}: loads of 16 bytes from shared memory", wide, thorough=True)
    for path, kernels in MEETINGS.items():
        def meetings(path=path, kernels=kernels):
            out = os.path.join(env.tmp(), "k.cu")
            env.must(env.fclc, env.path(path), "-o", out)
            text = open(out, encoding="utf-8").read()
            for name, wanted in kernels.items():
                body = re.search(rf"__global__ [^\n]* {name}\(.*?\n}}\n", text, re.S)[0]
                got = body.count("__syncthreads()"), len(re.findall(r"\b__shfl\w*_sync\(", body))
                assert got == wanted, f"{name}: {got[0]} barriers and {got[1]} shuffles, expected {wanted}"
        yield Case(f"{path}: barriers and shuffles", meetings)
