"""fclc report: its text, data and pages; and that what it counts is what happens: the CUDA simulator counts the
loads, stores and barriers of runs, and the report of the same sizes says the same numbers, or `at most`, where
data decide, no fewer."""

import ast
import collections
import glob
import html.parser
import json
import os
import re
import sys
import tempfile

import browser as browser_module
from harness import Case, Skip

ORDER = 53
SANITIZED = True

EXAMPLES = "examples/{0}/{0}.fcl".format
WHOLE, MATRICES = "benchmarks/fcl/whole.fcl", "benchmarks/fcl/matrices.fcl"

# Texts that are kept: file and arguments. `tests/report/NAME.txt` is what is printed; with
# FCL_WRITE_REPORTS=1 in the environment this suite writes them.
KEPT = {
    "saxpy": [EXAMPLES("linear"), "saxpy"],
    "reverse": [EXAMPLES("reverse"), "reverseChunks", "--sizes", "n=8000", "--device", "h100"],
    "transpose": [EXAMPLES("transpose"), "transposeTiles", "--sizes", "cols=128,rows=64,n=8192", "--device=t4"],
    "total": [WHOLE, "total"],
    "rows": [WHOLE, "rowTotals", "--sizes=matrix=64x256"],
    "mandelbrot": [EXAMPLES("mandelbrot"), "--target=c"],
    "updates": ["tests/report/updates.fcl"],
    "steps": ["tests/report/steps.fcl", "--sizes=n=1000,k=3"],
}

# This part of the amounts of all kernels at the sizes of their first tests is exact; data decide the others.
EXACT = 0.94
# Kernels whose blocks differ in one thing each.
AGAIN = ("strides", "shifted", "parted", "folded", "stepped", "some", "banks", "ragged", "warps")
# Runs: file, kernel, arguments, sizes. Where data decide, only the most is said.
COUNTED = [
    ("benchmarks/fcl/copy.fcl", "copyGrid", "iota:8192", "n=8192"),
    (EXAMPLES("linear"), "saxpy", "2 iota:8191 iota:8191", "n=8191"),
    (EXAMPLES("reverse"), "reverseChunks", "iota:8000", "arr=8000"),
    (EXAMPLES("reverse"), "reverseChunks", "iota:1", "arr=1"),
    (EXAMPLES("transpose"), "transposeTiles", "128 64 iota:8192", "cols=128,rows=64,n=8192"),
    (EXAMPLES("reductions"), "sums7", "iota:4096", "n=4096"),
    (EXAMPLES("networks"), "scanSklansky", "iota:1024", "n=1024"),
    (EXAMPLES("networks"), "sortV", "random:1024:1", "n=1024"),
    (WHOLE, "rowTotals", "iota:64x256", "matrix=64x256"),
    (WHOLE, "rowTotals", "iota:512x31", "matrix=512x31"),
    (WHOLE, "total", "iota:20000", "n=20000"),
    (WHOLE, "sums", "iota:20000", "n=20000"),
    (WHOLE, "positive", "random:20000:1:-5:5", "n=20000"),
    (WHOLE, "counts", "256 random:8192:1:0:255", "buckets=256,n=8192"),
    (MATRICES, "turnedBytes", "iota:8192", "n=8192"),
    (MATRICES, "product", "64 iota:4096 iota:4096", "n=64,a=4096,b=4096"),
    (MATRICES, "edges", "64 64 iota:4096", "rows=64,columns=64,n=4096"),
    ("tests/report/steps.fcl", "steps", "3 iota:1000", "k=3,n=1000"),
    (EXAMPLES("networks"), "scanSklansky", "iota:65536", "n=65536"),
    (EXAMPLES("networks"), "sortOddEven", "random:30000:1", "n=30000"),
    (EXAMPLES("transpose"), "twice", "256 iota:65536", "rows=256,mat=65536"),
    (EXAMPLES("collectives"), "shuffled", "iota:16384", "n=16384"),
    ("examples/cluster/heat.fcl", "step", "fill:128x128:0.5", "a=128x128"),
    ("tests/report/updates.fcl", "kept", "iota:500", "n=500"),
    (WHOLE, "counts", "64 random:100003:1:0:63", "buckets=64,n=100003"),
    *(("tests/report/again.fcl", kernel, "iota:200000", "n=200000") for kernel in AGAIN),
]

# How the threads of a warp lie at what each kernel loads and stores.
PATTERNS = {
    "apart": ["coalesced", "coalesced"],
    "columnSums": ["coalesced", "coalesced"],
    "byRows": ["strided", "coalesced"],
    "tiles": ["coalesced", "coalesced", "strided", "coalesced"],
    "grouped": ["pieces", "coalesced"],
    "looked": ["coalesced", "scattered", "coalesced"],
    "same": ["coalesced", "same", "coalesced"],
}
# Programs whose tests are looked at in each check; and how many tests of a kernel are.
SHORT = [(EXAMPLES("reductions"),), (EXAMPLES("transpose"), "--block-size=128")]
TESTS = 1
UNCOUNTED = []
# Kernels in which the lanes of a warp load in different turns of a loop: their sectors are not compared. The simulator
# takes the n-th loads of all lanes for one instruction of the warp, as tests/cudasim/traffic.cc says at its top.
APART = {"pairsAgree"}
# Makers say this of devices: teraflops of floats, gigabytes in a second.
MAKERS = {"v100": (15.7, 900), "t4": (8.1, 320), "a100": (19.5, 2039), "rtx3060": (12.7, 360), "rtx4090": (82.6, 1008),
          "h100": (67, 3350), "h200": (67, 4800), "b200": (75, 8000), "mi300x": (163.4, 5300)}
# Recorded tasks that move whole arrays once: of these, estimates at 2^26 are near what was measured.
STREAMS = ("copy", "reduce", "reverse", "saxpy", "transpose")


class Page(html.parser.HTMLParser):
    """Whether tags are closed, and what refers to other files."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.elsewhere = [], collections.Counter(), []

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.elsewhere += [value for name, value in attributes if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags[tag] += 1

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> after {self.open[-3:]}"
        self.open.pop()


TILE = 20 * 256  # elements of a scan's


class Unknown(Exception):
    """Data decide what is launched."""


def directives(path):
    """(kernel, arguments) of the lines that test with a result."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            test = re.match(r"-- test (?!forall)(\w+) ?(.*?) (==|~=)", line)
            if test:
                yield test[1], test[2].split()


def extents(word):
    """Of an argument: the extents of an array, or a number; None: not known."""
    made = re.fullmatch(r"(iota|fill|random):([\dx]+)(:.*)?", word)
    if made:
        return [int(extent) for extent in made[2].split("x")]
    try:
        value = ast.literal_eval(word.replace("true", "True").replace("false", "False"))
    except (ValueError, SyntaxError):
        return None
    found = []
    while isinstance(value, list):
        found.append(len(value))
        value = value[0] if value else None
    return found or value


def sizes_of(parameters, arguments):
    """The option --sizes for these arguments; None: something is not known."""
    sizes = []
    for parameter in parameters:
        dimension, one = parameter["dimension"], extents(arguments[parameter["argument"]])
        is_known = (isinstance(one, list) and dimension < len(one)) if dimension is not None else \
            isinstance(one, (int, float))
        if not is_known:
            return None
        sizes.append(f"{parameter['name']}={one[dimension] if dimension is not None else one + 0}")
    return ["--sizes=" + ",".join(sizes)] if sizes else []


def flattened(steps):
    """All launches, in order; a branch or a loop that was not gone through turn by turn is not for these."""
    for step in steps:
        if step["kind"] == "launch":
            yield step
        elif step["kind"] == "loop":
            if not step["unrolled"]:
                raise Unknown(step["turns"])
            yield from flattened(step["steps"])
        else:
            if step["kind"] == "branch":
                raise Unknown(step["condition"])


def amounts(part):
    """Those that a part of a report says, as JSON has them."""
    if isinstance(part, dict) and "exact" in part:
        yield part
    elif isinstance(part, (dict, list)):
        for one in part.values() if isinstance(part, dict) else part:
            yield from amounts(one)


def said(launches):
    """By kind, loads and stores of elements, and sectors or turns at banks: the number, and whether it is exact; None
    where it has a name in it."""
    sums = collections.defaultdict(lambda: [0, True])

    def add(kind, amount):
        if amount["number"] is None:
            sums[kind][0] = None
        if sums[kind][0] is not None:
            sums[kind][0] += amount["number"]
        sums[kind][1] &= amount["exact"]

    uses = {"load": "read", "store": "write", "atomic": "atomic"}
    for launch in launches:
        for access in launch["accesses"]:
            memory = access["memory"].split()[0]
            if memory in ("global", "shared"):
                add(f"{memory} {uses[access['use']]}", access["count"])
                add(f"units of {memory} {uses[access['use']]}", access["units"])
        add("barriers", launch["counts"]["block_barriers"])
    return sums


def cases(env):
    def report(*arguments):
        return env.must(env.fclc, "report", *arguments)

    def kept(name, arguments):
        def check():
            got = report(*arguments)
            path = env.path("tests", "report", f"{name}.txt")
            if os.environ.get("FCL_WRITE_REPORTS"):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(got)
            with open(path, encoding="utf-8") as file:
                assert file.read() == got, f"{path} is not what is printed now:\n{got}"
        return Case(f"report of {' '.join(arguments)}", check)

    for name, arguments in KEPT.items():
        yield kept(name, arguments)

    def baseline():
        """What grew is named, by formulas and by numbers, and the exit status says whether anything did."""
        twice = "force (push <grid> (map (fn x => x * 2.0) xs))"
        program = "kernel k (xs : [float]) = push <grid> (map (fn x => x + 1.0) ({}))\n{}"
        with tempfile.TemporaryDirectory() as folder:
            once, more = os.path.join(folder, "once.fcl"), os.path.join(folder, "more.fcl")
            for path, text in (once, program.format("xs", "")), (more, program.format(twice, "kernel t = 1\n")):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            for sizes in [], ["--sizes=n=1000"]:
                saved = {}
                for path in once, more:
                    saved[path] = path + ".json"
                    with open(saved[path], "w", encoding="utf-8") as file:
                        file.write(report(*sizes, "--json", path))

                def compare(before, now, *arguments, sizes=sizes, saved=saved):
                    return env.run(env.fclc, "report", *sizes, f"--baseline={saved[before]}", *arguments, now)

                same, worse, better = compare(once, once), compare(once, more), compare(more, once)
                assert (same.returncode, same.stdout) == (0, "no amount grew\n"), same
                assert (worse.returncode, better.returncode) == (1, 0), (worse, better)
                assert "k: launches: 2, and 1 before: more\n" in worse.stdout, worse.stdout
                assert "t: is new\n" in worse.stdout, worse.stdout
                read = r"k: read_bytes: (8\*xs_length|8000), and (4\*xs_length|4000) before: more"
                assert re.search(read, worse.stdout), worse.stdout
                assert "k: written_bytes: " in better.stdout and "more" not in better.stdout, better.stdout
                data = compare(once, more, "--json")
                assert data.returncode == 1 and json.loads(data.stdout)["kernels"] and "more" in data.stderr, data
            for wrong, why in (([f"--baseline={once}"], "is no JSON"), (["--baseline=/nowhere"], "/nowhere"),
                               ([f"--baseline={saved[once]}"], "other --sizes"),
                               ([*sizes, "--target=c", f"--baseline={saved[once]}"], "another --target")):
                got = env.run(env.fclc, "report", *wrong, once)
                assert got.returncode == 2 and why in got.stderr, got

    yield Case("--baseline says what grew", baseline)

    def schema():
        try:
            import jsonschema
        except ImportError:
            raise Skip("no jsonschema") from None
        with open(env.path("docs/report.schema.json"), encoding="utf-8") as file:
            wanted = json.load(file)
        check = jsonschema.Draft7Validator(wanted)
        for arguments in ([EXAMPLES("mandelbrot"), "--target=c"], [WHOLE, "positive"],
                          [WHOLE, "sorted", "--sizes=n=5000"],
                          ["tests/report/updates.fcl", "--target=opencl"], ["tests/report/steps.fcl", "--target=hip"],
                          [MATRICES, "product", "--sizes=n=10000", "--device=a100"]):
            got = json.loads(report(*arguments, "--json"))
            wrong = [f"{error.json_path}: {error.message[:200]}" for error in check.iter_errors(got)]
            assert not wrong, f"{arguments}: {wrong[:3]}"
            assert got["kernels"], arguments
        got["kernels"][0]["steps"][0]["kind"] = "dance"
        assert list(check.iter_errors(got)), "the schema takes anything"
    yield Case("reports as JSON have the members that docs/report.schema.json lists", schema, long=env.sanitized)

    def everything():
        paths = sorted(glob.glob(env.path("examples/*/*.fcl")) + glob.glob(env.path("tests/run/*/*.fcl")))
        chosen = paths[::24] if env.sanitized else paths[::5]
        for number, path in enumerate(chosen):
            options = (["--sizes=n=500", "--device=a100"], ["--target=c"], ["--target=opencl"], [])[number % 4]
            got = json.loads(report(path, "--json", *options))
            assert "file" in got, path
    yield Case("every program has a report", everything)

    def page():
        out = os.path.join(env.tmp(), "page.html")
        path = EXAMPLES("collectives")
        env.must(env.fclc, path, "-o", out)
        with open(out, encoding="utf-8") as file:
            text = file.read()
        found = Page()
        found.feed(text)
        found.close()
        assert not found.open and not found.elsewhere, (found.open, found.elsewhere)
        kernels = len(json.loads(report(path, "--json"))["kernels"])
        assert found.tags["h2"] == kernels and found.tags["svg"] > kernels + 1 and found.tags["pre"] == kernels
        assert found.tags["rect"] > kernels and "&lt;grid&gt;" in text and "<grid>" not in text
    yield Case("a page is whole and needs no other file", page)

    def shown():
        """In Chromium: nothing is wider than the window, an amount follows its slider, and a dark window is dark."""
        browser = env.tool("chromium")
        out = os.path.join(env.tmp(), "page.html")
        env.must(env.fclc, "report", EXAMPLES("linear"), "-o", out)
        with browser_module.Page(browser, env.tmp(), "file://" + out) as page:
            for width in 390, 800, 1280:
                page.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                         mobile=False)
                assert page.value("document.documentElement.scrollWidth <= innerWidth"), width
            papers = set()
            for scheme in "light", "dark":
                page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                papers.add(page.value("getComputedStyle(document.body).backgroundColor"))
            assert len(papers) == 2, papers
            # saxpy reads two arrays of 4 bytes an element.
            said = page.value("""(() => {
                const section = [...document.querySelectorAll("section")].find(
                    (one) => one.querySelector("h2").textContent === "saxpy");
                for (const slider of section.querySelectorAll("input")) { slider.value = 10; slider.oninput(); }
                return section.querySelector("table").innerText; })()""")
            assert re.search(r"bytes read of global memory\s+8,192\b", said), said
            assert not page.problems, page.problems
    yield Case("a page in Chromium: widths, colours, sliders", shown)

    def devices():
        folder = env.tmp()
        path = os.path.join(folder, "mine.json")
        device = {"name": "mine", "multiprocessors": 10, "gigahertz": 1, "gigabytes_per_second": 100, "lanes": 64,
                  "shared_bytes": 65536, "block_shared_bytes": 49152, "threads": 1024, "blocks": 16,
                  "registers": 65536, "launch_microseconds": 1}

        def write(**changed):
            with open(path, "w", encoding="utf-8") as file:
                json.dump({**device, **changed}, file)
            return env.run(env.fclc, "report", EXAMPLES("linear"), "saxpy", "--json", "--sizes=n=1000000", "--device",
                           path)
        launch = [step for step in json.loads(write().stdout)["kernels"][0]["steps"] if step["kind"] == "launch"][0]
        estimate = launch["estimate"]
        assert estimate["memory_us"] == 120 and estimate["bound"] == "memory", estimate  # 12 MB at 100 GB/s
        assert estimate["occupancy"] == 1 and estimate["blocks_together"] == 4, estimate
        for name, (teraflops, gigabytes) in MAKERS.items():
            target = "--target=hip" if name == "mi300x" else "--target=cuda"
            got = json.loads(report(EXAMPLES("linear"), "saxpy", "--json", "--sizes=n=16777216", target, "--device",
                                    name))
            estimate = next(flattened(got["kernels"][0]["steps"][1:]))["estimate"]
            assert abs(estimate["memory_us"] * gigabytes / (12 * 16777.216) - 1) < 0.001, (name, estimate)
            floats = 2 * 16.777216 / estimate["operations_us"]  # a product and a sum are one operation of a lane
            assert abs(2 * floats / teraflops - 1) < 0.02, (name, floats)
        slower = json.loads(write(gigahertz=0.001).stdout)["kernels"][0]["steps"]
        assert [step for step in slower if step["kind"] == "launch"][0]["estimate"]["bound"] == "operations"
        for changed, message in (({"lanes": 0}, "`lanes` must be a number greater than 0"),
                                 ({"threads": "x"}, "`threads`")):
            done = write(**changed)
            assert done.returncode == 2 and message in done.stderr, done.stderr
        with open(path, "w", encoding="utf-8") as file:
            file.write("{")
        for name in (path, "gtx9999", folder):
            done = env.run(env.fclc, "report", EXAMPLES("linear"), "--device", name)
            assert done.returncode == 2 and "the table has v100, t4, a100" in done.stderr, done.stderr
    yield Case("devices from a file, and what is wrong with one", devices)

    def wrong():
        for arguments, status, message in (
                (["--sizes=lngth=5"], 2, "nothing of `saxpy` is called `lngth`"),
                (["--sizes=x_lenth=5"], 2, "did you mean `x_length`?"),
                (["--sizes=n"], 2, "--sizes wants NAME=N"), (["--sizes=n=1x2x3x4x5x6x7x8x9"], 2, "--sizes wants"),
                *((["saxpy", f"--sizes={size}"], 2, f"no size of `{size.split('=')[0]}`")
                  for size in ("n=1x2", "n=-1", "n=1.5", "n=2147483648", "n=1e300", "x=2x3", "x=0x5")),
                (["matVecByThread", "--sizes=n=1x2"], 2, "no size of `n`"), 
                (["matVecByThread", "--sizes=m=5"], 2, "no size of `m`"),
                *((["matVecByThread", f"--sizes={size}"], 0, "")
                  for size in ("m=50000x50000", "m=65536x65536", "n=46341")),
                (["matVecByThread", "--sizes=m=2147483647x1"], 0, ""),
                (["matVecByThread", "--sizes=m=2147483647x0"], 0, ""),
                (["saxpy", "--sizes=x=1,a=2,x=3"], 2, "--sizes gives `x` twice"),
                (["saxpy", "--sizes=n=1", "--sizes=n=1"], 2, "--sizes gives `n` twice"),
                *(([f"--sizes=n={size}"], 2, "--sizes wants") for size in ("nan", "inf", "5x", "0b1")),
                (["--sizes="], 0, ""), (["--target=interp"], 2, "a report is for cuda"),
                (["nothing"], 2, "`nothing`"), 
                (["saxpy", "--map=loop", "--target=cuda"], 2, "--map=loop is not for --target=cuda"),
                (["saxpy", "-o", "/nowhere/page.html"], 2, "/nowhere")):
            done = env.run(env.fclc, "report", EXAMPLES("linear"), *arguments)
            assert done.returncode == status and message in done.stderr, (arguments, done.returncode, done.stderr)
        outer = "kernel outer (xs : [int]) (ys : [int]) = map (fn x => map (fn y => x * y) ys) xs\n"
        for length, has_parts in (("46340", False), ("46341", True)):
            said = env.must(env.fclc, "report", "-", "--sizes=n=" + length, input=outer)
            assert ("loop of the host, 3 turns" in said) == has_parts, said
        said = env.must(env.fclc, "report", EXAMPLES("linear"), "saxpy", "--sizes=n=2147483647,a=2.5")
        assert "; n = 2147483647, a = 2.5\n" in said, said
    yield Case("what is wrong with the command line", wrong)

    if env.sanitized:
        return

    def patterns():
        got = report("tests/report/patterns.fcl", "--json")
        found = {}
        for kernel in json.loads(got)["kernels"]:
            found[kernel["name"]] = [access["pattern"] for launch in flattened(kernel["steps"])
                                     for access in launch["accesses"] if access["memory"] in ("global", "shared")]
        assert found == PATTERNS, found
        for step in ("xs_length", "floor", "ceil("):
            said = report(WHOLE, "counts", "--sizes=buckets=256,n=67108864")
            assert step not in said, said
    yield Case("how the threads of a warp lie, and amounts of known sizes are numbers", patterns)

    def bounds(tasks):
        """No launch is faster than the estimate: tests/support/bounds.py says so of recorded tasks."""
        done = env.run(sys.executable, env.path("tests/support/bounds.py"), f"--fclc={env.fclc}", *tasks, timeout=600)
        rows = [line.split() for line in done.stdout.splitlines()[1:-1]]
        assert done.returncode == 0 and rows, done.stdout + done.stderr
        near = {row[0] for row in rows if int(row[1]) == 2 ** 26 and float(row[4]) < 1.5}
        assert near >= set(STREAMS), near
    yield Case("estimates are below what an H200 took, and near it where arrays are moved once",
               lambda: bounds(STREAMS))
    yield Case("estimates of all recorded tasks are below what an H200 took", lambda: bounds(()), long=True)

    def compare(path, kernel, arguments, sizes, *options):
        """Holds what is said of a run against what the simulator counts; how many amounts were compared."""
        launches = list(flattened(json.loads(report(path, kernel, "--json", *options, *sizes))["kernels"][0]["steps"]))
        sums = said(launches)
        about = {kind for kind, (_, is_exact) in sums.items() if not is_exact and any(
            access["units"]["text"].startswith(("about", "at most about")) for launch in launches
            for access in launch["accesses"])}
        file = os.path.join(env.tmp(), "traffic")
        env.must(env.fclc, "run", "--target=cuda", "--no-check", *options, env.path(path), kernel, *arguments,
                 env=env.cudasim(CUDASIM_TRAFFIC=file))
        got, has_wide = collections.Counter(), False
        for line in open(file, encoding="utf-8") if os.path.exists(file) else ():
            barriers = re.search(r" barriers=(\d+)", line)
            access = re.search(r"(global|shared) (read|write|atomic) .* bytes=(\d+) lanes=(\d+)", line)
            units = re.search(r" units=(\d+)", line)
            if barriers:
                got["barriers"] += int(barriers[1])
            else:
                elements = 4 if access[3] == "16" else 1  # note [copies by 16 bytes] in map/copies.c
                got[f"{access[1]} {access[2]}"] += elements * int(access[4])
                got[f"units of {access[1]} {access[2]}"] += int(units[1])
                has_wide |= elements > 1
        # A volatile access, by which blocks look back at those before, or see that they are the last, is an atomic
        # one to the simulator.
        looks_back = any(access["array"].startswith("lookback") for launch in launches
                         for access in launch["accesses"])
        for unit in "", "units of ":
            got[unit + "global read"] += got.pop(unit + "global atomic", 0)
            number, is_exact = sums.pop(unit + "global atomic", (0, True))
            read = sums[unit + "global read"]
            read[0] = None if None in (number, read[0]) else number + read[0]
            read[1] &= is_exact
        compared = 0
        for kind in sorted(set(got) | set(sums)):
            number, is_exact = sums[kind]
            if number is None or (looks_back and "global" in kind):
                continue
            filled = got["shared write"] - (sums["shared write"][0] or 0)
            # All of a tile is written where its rest is asked for at once: note [filling] in map/ahead.c.
            if kind.endswith("shared write") and 0 < filled < TILE:
                continue
            if kind.startswith("units"):
                if kernel in APART:
                    continue
                # A load of 16 bytes has other turns; a ragged end of several arrays a sector more for each.
                if options and kind.endswith("read"):
                    assert number <= got[kind] or not is_exact, f"{kernel}: {kind}: said {number}, counted {got[kind]}"
                elif not has_wide and is_exact:
                    assert abs(number - got[kind]) <= max(1, 0.01 * got[kind]), \
                        f"{kernel}: {kind}: said {number}, counted {got[kind]}"
                elif not has_wide:
                    assert number >= (0.75 if kind in about else 0.97) * got[kind], \
                        f"{kernel}: {kind}: at most {number} was said, counted {got[kind]}"
                continue
            compared += 1
            if is_exact and not (kind.startswith("global") and any(not known[1] for known in sums.values())):
                # Other blocks have other loops, in which g++ leaves a load where it stands: note [late loads].
                is_left = options and kind.endswith("read") and number < got[kind]
                assert is_left or number == got[kind], f"{kernel}: {kind}: said {number}, counted {got[kind]}"
            elif kind != "global atomic":
                assert number >= got[kind], f"{kernel}: {kind}: at most {number} was said, counted {got[kind]}"
        return compared

    def counted(path, kernel, arguments, sizes):
        def check():
            compared = compare(path, kernel, arguments.split(), ["--sizes", sizes])
            assert compared > 1, compared
        return Case(f"{path}: {kernel} {arguments}: as many loads, stores and barriers as are counted", check)

    def counted_tests(path, *options):
        """The same of each kernel of a program, at the sizes of its first tests."""
        def check():
            kernels = {kernel["name"]: kernel["parameters"] for kernel in json.loads(report(path, "--json"))["kernels"]}
            compared, tests = 0, collections.Counter()
            for kernel, arguments in directives(env.path(path)):
                sizes = sizes_of(kernels.get(kernel, ()), arguments)
                if sizes is None or tests[kernel] == TESTS:
                    continue
                tests[kernel] += 1
                try:
                    compared += compare(path, kernel, arguments, sizes, *options)
                except Unknown:
                    pass
            assert compared > 1, compared
        with_options = "".join(f" {option}" for option in options)
        return Case(f"{path}{with_options}: what its kernels' tests load and store", check,
                    long=(path, *options) not in SHORT)

    def exact():
        """All but what data decide: at the sizes of tests nothing is looked at by parts."""
        known, all_of_them, about = 0, 0, []
        for path in sorted(glob.glob("examples/*/*.fcl", root_dir=env.path(".")) +
                           glob.glob("benchmarks/fcl/*.fcl", root_dir=env.path("."))):
            kernels = {kernel["name"]: kernel["parameters"] for kernel in json.loads(report(path, "--json"))["kernels"]}
            for kernel, arguments in reversed(dict(reversed(list(directives(env.path(path))))).items()):
                sizes = sizes_of(kernels.get(kernel, ()), arguments)
                if sizes is None or kernel not in kernels:
                    continue
                for amount in amounts(json.loads(report(path, kernel, "--json", *sizes))["kernels"]):
                    all_of_them += 1
                    known += amount["exact"] and amount["number"] is not None
                    if amount["text"].startswith("about"):
                        about.append(f"{path}: {kernel}: {amount['text']}")
        assert not about, about[:5]
        assert known >= EXACT * all_of_them > 10000 * EXACT, (known, all_of_them)
    yield Case("amounts at the sizes of tests are exact, but where data decide", exact, long=True)

    for path, kernel, arguments, sizes in COUNTED:
        yield counted(path, kernel, arguments, sizes)
    for path in sorted(glob.glob("examples/*/*.fcl", root_dir=env.path("."))):
        if path not in UNCOUNTED:
            yield counted_tests(path)
            yield counted_tests(path, "--block-size=128")
