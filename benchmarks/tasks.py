"""FCL's side of the tasks of benchmarks/run, and which of them are measured when none are named."""

PLAIN = "benchmarks/fcl/plain.fcl"
PAPERS = "benchmarks/fcl/papers.fcl"
WHOLE, MATRICES = "benchmarks/fcl/whole.fcl", "benchmarks/fcl/matrices.fcl"
SORTING, UPDATES = "examples/sorting/sorting.fcl", "benchmarks/fcl/updates.fcl"

# FCL's side of each task: the program, its kernel, and the kernel's arguments, where @0 is the
# task's first input. The files harness/tasks.c and definitions.c say what the tasks are.
TASKS = {
    "copy": {"file": "benchmarks/fcl/copy.fcl", "kernel": "copyGrid", "arguments": "@0"},
    "saxpy": {"file": "examples/linear/linear.fcl", "kernel": "saxpy", "arguments": "2.0 @0 @1"},
    "reverse": {"file": "examples/reverse/reverse.fcl", "kernel": "reverseGrid", "arguments": "@0"},
    "transpose": {"file": "benchmarks/fcl/matrices.fcl", "kernel": "transposed", "arguments": "{columns} {rows} @0"},
    "reduce": {"file": WHOLE, "kernel": "total", "arguments": "@0"},
    "rowsWide": {"file": WHOLE, "kernel": "rowTotals", "arguments": "@0"},
    "rowsSquare": {"file": WHOLE, "kernel": "rowTotals", "arguments": "@0"},
    "rowsTall": {"file": WHOLE, "kernel": "rowTotals", "arguments": "@0"},
    "scan": {"file": WHOLE, "kernel": "sums", "arguments": "@0"},
    "segScan": {"file": WHOLE, "kernel": "segmentSums", "arguments": "@0 @1"},
    "filter": {"file": WHOLE, "kernel": "positive", "arguments": "@0"},
    "sort": {"file": WHOLE, "kernel": "sorted", "arguments": "@0"},
    "sortFloat": {"file": WHOLE, "kernel": "sortedFloats", "arguments": "@0"},
    "sortPairs": {"file": WHOLE, "kernel": "sortedPairs", "arguments": "@0 @1"},
    "histogram256": {"file": WHOLE, "kernel": "counts", "arguments": "{buckets} @0"},
    "histogram256hot": {"file": WHOLE, "kernel": "counts", "arguments": "{buckets} @0"},
    "histogram65536": {"file": WHOLE, "kernel": "counts", "arguments": "{buckets} @0"},
    "histogram65536hot": {"file": WHOLE, "kernel": "counts", "arguments": "{buckets} @0"},
    **{f"D{i}": {"file": WHOLE, "kernel": "bucketSums", "arguments": "{buckets} @0 @1"} for i in range(1, 13)},
    "matVec": {"file": MATRICES, "kernel": "timesVector", "arguments": "{rows} @0 @1"},
    **{f"sgemm{side}": {"file": MATRICES, "kernel": "product", "arguments": "{columns} @0 @1"}
       for side in (256, 384, 512, 640, 768, 1024)},
    "product64": {"file": PLAIN, "kernel": "product", "arguments": "{columns} @0 @1"},
    "exp": {"file": PLAIN, "kernel": "exps", "arguments": "@0"},
    "convolution": {"file": PLAIN, "kernel": "filtered", "arguments": "@0 @1"},
    "words": {"file": PLAIN, "kernel": "words", "arguments": "@0"},
    "runLengths": {"file": PLAIN, "kernel": "runLengths", "arguments": "@0"},
    "bfs": {"file": "benchmarks/suites/rodinia_bfs.fcl", "kernel": "main", "arguments": "@0 @1 @2"},
    **{f"sobel{side}": {"file": MATRICES, "kernel": "edges", "arguments": "{rows} {columns} @0"}
       for side in ("", 256, 512, 1024, 2048, 4096)},
    **{f"blur{taps}": {"file": MATRICES, "kernel": f"blurred{taps}", "arguments": "{rows} {columns} @0 @1 @2"}
       for taps in (3, 5, 7)},
    "csr": {"file": "examples/sparse/sparse.fcl", "kernel": "times", "arguments": "@0 @1 @2 @3"},
    "mandelbrot": {"file": "examples/mandelbrot/mandelbrot.fcl", "kernel": "picture",
                   "arguments": "{columns} {rows} -2.2 0.8 -1.5 1.5"},
    "blackScholes": {"file": "examples/finance/finance.fcl", "kernel": "options", "arguments": "0.02 0.3 @0 @1 @2"},
    "obsidianScan": {"file": "examples/sorting/sorting.fcl", "kernel": "prefixSumsInTwo", "arguments": "@0"},
    "obsidianReduce": {"file": "examples/reductions/reductions.fcl", "kernel": "sum", "arguments": "@0"},
    "obsidianSort": {"file": "examples/bigsort/bigsort.fcl", "kernel": "keys", "arguments": "@0"},
    **{f"obsidianRed{i}": {"file": PAPERS, "kernel": f"total{i}", "arguments": "@0"} for i in range(1, 8)},
    **{f"obsidianScan{name}": {"file": PAPERS, "kernel": f"sums{name}", "arguments": "@0"}
       for name in ("BySklansky", "BySklansky1", "BySklansky2", "BySklansky3", "InPlace")},
    **{f"obsidianSort{name}": {"file": PAPERS, "kernel": f"sorted{name}", "arguments": "@0"}
       for name in ("ByT", "ByV", "ByPeriods", "ByOddEven")},
    **{f"obsidianMandelbrot{zoom}": {"file": "examples/mandelbrot/mandelbrot.fcl", "kernel": "picture",
                                     "arguments": "{columns} {rows} {left} {right} {bottom} {top}"}
       for zoom in ("", 1, 2, 3)},
}

# Sorting numbers below 2^10 … 2^20 (Obsidian's figures 3.25 to 3.27): by counting beside a sort of the same numbers,
# and by occurrence beside a sort and what leaves one of each. `as` names the task whose inputs and peers a row has.
for bits in (10, 14, 17, 20):
    TASKS[f"sortT{bits}"] = {"file": PAPERS, "kernel": "sortedInts", "arguments": "@0"}
    TASKS[f"countingT{bits}"] = {"file": SORTING, "kernel": "countingSort", "arguments": "{buckets} @0",
                                 "as": f"sortT{bits}"}
    TASKS[f"uniqueT{bits}"] = {"file": PAPERS, "kernel": "distinctInts", "arguments": "@0"}
    TASKS[f"occurrenceT{bits}"] = {"file": SORTING, "kernel": "occurrenceSort", "arguments": "{buckets} @0",
                                   "as": f"uniqueT{bits}"}
# Hellfritsch's tables 1 and 2: histograms by an atomic addition, compare-and-swap and a lock, in global memory and in
# blocks' own. Table 3: how many copies there are in global memory, 1 being all threads' together.
for buckets in (16, 64, 256, 1024, 4096, 16384, 61440):
    TASKS[f"updates{buckets}"] = {"file": WHOLE, "kernel": "counts", "arguments": "{buckets} @0"}
    for way in ("Add", "Cas", "Lock"):
        for place in ("Global", "Shared") if buckets <= 4096 else ("Global",):
            TASKS[f"updates{way}{place}{buckets}"] = {"file": UPDATES, "kernel": f"counts{way}{place}",
                                                      "arguments": "{buckets} @0", "as": f"updates{buckets}"}
        for copies in (1, 4, 16, 64):
            TASKS[f"updates{way}By{copies}of{buckets}"] = {"file": UPDATES, "kernel": f"counts{way}By{copies}",
                                                           "arguments": "{buckets} @0", "as": f"updates{buckets}"}


def harness(task):
    """The task by the name that the programs that measure have for it."""
    return TASKS.get(task, {}).get("as", task)


# These are there for NumPy's sake, and nobody wrote them by hand; product64 is too small for
# OpenCL's product by hand.
WITHOUT_REFERENCE = ["exp", "convolution", "words", "runLengths", "product64", "bfs",
                     *(f"{way}T{bits}" for way in ("unique", "occurrence") for bits in (10, 14, 17, 20))]
QUICK = ["copy", "saxpy", "reverse", "transpose", "reduce", "scan", "filter", "sort", "histogram256", "sgemm1024"]
DEFAULT = [*QUICK[:5], "rowsSquare", "scan", "segScan", "filter", "sort", "histogram256", "histogram65536", "D5",
           "matVec",
           "sgemm1024", "sobel", "csr", "mandelbrot", "blackScholes"]


def program(described, task=None):
    """File, kernel and arguments, as fclc takes them, for a task with its inputs, as `measure --write` describes
    them; or for another that has the same inputs."""
    fcl = TASKS[task or described["task"]]
    arguments = [f"@{described['files'][int(word[1:])]}" if word[0] == "@" else word.format(**described)
                 for word in fcl["arguments"].split()]
    return [fcl["file"], fcl["kernel"], *arguments]
