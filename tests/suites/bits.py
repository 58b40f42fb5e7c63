"""The same bits: what an associative operator makes of floats is the same for every executor, block size, number of
threads and tuned value. What the interpreter gives becomes tests, which are run by the others."""

from executors import EXECUTORS, require, variables
from harness import Case, Counts

ORDER = 45

# Sizes of numbers differ by 2^20, so that each tree rounds otherwise. A number tells of an array.
HEAD = """\
import "matrix.fcl"
import "statistics.fcl"
fun hash (i : int) = let x = uint i * 2654435769u32 in x ^ (x >> 15) ^ (x << 7)
fun at (i : int) = let h = hash i in float (int (h & 0xffffu32) - 30000) / float (1 << int ((h >> 16) % 20u32))
fun some n = generate n at
fun more n = generate n (fn i => at (i + 7))
fun told xs = reduce (+) 0u64 (mapIx (fn i x => orderBits x * (2u64 * u64 i + 1u64)) xs)
fun matrix n c = generate (n / c) (fn r => generate c (fn k => at (r * c + k)))
"""

AFFINE = "(fn (a, b) (p, q) => (a * p, b * p + q))"  # does not commute
LINES = "map (fn x => (1.0 + x / 6553600.0, x))"
KERNELS = {
    "sum": "reduce (+) 0.0 (some n)",
    "sumFrom": "reduce (+) 0.1 (some n)",
    "product": "reduce (*) 1.0 (map (fn x => 1.0 + x / 6553600.0) (some n))",
    "doubles": "reduce (+) 0.0 (map (fn x => double x / 3.0) (some n))",
    "halves": "reduce (+) 0.0f16 (map (fn x => f16 (x / 100.0)) (some n))",
    "pairs": "reduce (fn (s, m) (t, k) => (s + t, max m k)) (0.0, 0.0) (zip (some n) (more n))",
    "roots": "reduce (fn x y => sqrt (x * x + y * y)) 0.0 (some n)",
    "lines": f"reduce {AFFINE} (1.0, 0.5) ({LINES} (some n))",
    "dots": "dot (some n) (more n)",
    "moment": "moments (some n)",
    "least": "(minimum (some (n + 1)), argmin (some (n + 1)), reduce (+) 0 (iota n))",
}
ROWS = {f"rows{c}": f"told (force (reduceRows (+) 0.0 (matrix n {c})))"
        for c in (1, 5, 8, 9, 33, 64, 65, 200, 1000, 1024, 1025, 5000)}
ROWS.update({
    "rowsFrom": "told (force (reduceRows (+) 0.1 (matrix n 100)))",
    "rowsOfPairs": "told (map fst (force (reduceRows (fn (s, m) (t, k) => (s + t, m * k)) (0.0, 1.0) "
                   "(map (map (fn x => (x, 1.0 + x / 65536000.0))) (matrix n 100)))))",
    **{f"rowsOfLines{c}": f"told (map snd (force (reduceRows {AFFINE} (1.0, 0.5) (map ({LINES}) (matrix n {c})))))"
       for c in (33, 1000, 5000)},
    "fewRows": "told (force (reduceRows (+) 0.1 (generate 3 (fn r => generate n (fn k => at (r * n + k))))))",
    "times": "told (force (matVec (n / 40) (some n) (more 40)))",
})
SCANS = {
    "scans": "told (force (scan (+) 0.0 (some n)))",
    "scansFrom": "told (force (scanExclusive (+) 0.1 (some n)))",
    "scansOfDoubles": "told (map float (force (scan (+) 0.0 (map (fn x => double x / 3.0) (some n)))))",
    "scansOfHalves": "told (map float (force (scan (+) 0.0f16 (map (fn x => f16 (x / 100.0)) (some n)))))",
    "scansOfLines": f"told (map snd (force (scan {AFFINE} (1.0, 0.5) ({LINES} (some n)))))",
    "scansOfRoots": "told (force (scan (fn x y => sqrt (x * x + y * y)) 0.0 (some n)))",
    "scansOfWide": "told (map (fn (x, _, _, _) => float x) (force (scan "
                   "(fn (x, a, b, c) (y, k, l, m) => (x + y, a + k, b + l, c + m)) (0.0, 0.0, 0.0, 0.0) "
                   "(map (fn x => let d = double x / 3.0 in (d, d, d, d)) (some n)))))",
    "segments": "told (force (segScan (+) 0.1 (map (fn x => x > 2.0) (more n)) (some n)))",
    "segmentSums": "told (segReduce (+) 0.1 (map (fn x => x > 2.0) (more n)) (some n))",
    "segmentsAt": "told (force (segReduceAt (+) 0.1 (generate (divUp n 1000) (fn k => k * 1000)) (some n)))",
    "keys": "told (map snd (reduceByKey (+) 0.1 (mapIx (fn i x => (i / 300, x)) (some n))))",
    "ownTiles": "told (force (concat 10 (map (fn c => let s = lookback (+) 0.1 (foldl (+) 0.0 c) in "
                "push <block> (map (+ s) c)) (splitUp 10 (some n)))))",
}
# An operator, its start, its element of a float, and a number that tells of an element.
OPERATORS = {
    "Sums": ("(+)", "0.1", "x", "x"),
    "Products": ("(*)", "1.1", "1.0 + x / 6553600.0", "x"),
    "Roots": ("(fn x y => sqrt (x * x + y * y))", "0.1", "x", "x"),
    "Doubles": ("(+)", "0.1f64", "double x / 3.0", "x"),
    "Halves": ("(+)", "0.1f16", "f16 (x / 100.0)", "x"),
    "Lines": (AFFINE, "(1.0, 0.5)", "(1.0 + x / 6553600.0, x)", "snd x"),
    "Turns": ("(fn (a, b) (p, q) => (a * p - b * q, a * q + b * p))", "(1.0, 0.1)",
              "(1.0 + x / 6553600.0, x / 655360.0)", "fst x + snd x"),
    "Means": ("(fn (a, v) (b, w) => (a + (b - a) * (w / (v + w)), v + w))", "(0.1, 1.0)", "(x, 1.0 + abs x)", "fst x"),
}
FORMS = {
    "wideRows": "force (reduceRows {f} {z} (rows 1250 (take (n / 1250 * 1250) {xs})))",
    "rows": "force (reduceRows {f} {z} (rows 37 (take (n / 37 * 37) {xs})))",
    "segReduce": "segReduce {f} {z} (map (fn x => x > 2.0) (more n)) {xs}",
    "segReduceAt": "force (segReduceAt {f} {z} (generate (divUp n 300) (fn k => k * 300)) {xs})",
    "scan": "force (scanExclusive {f} {z} {xs})",
    "segScan": "force (segScan {f} {z} (map (fn x => x > 2.0) (more n)) {xs})",
}
MADE = {}
for operator, (f, z, made, told) in OPERATORS.items():
    MADE["reduce" + operator] = f"reduce {f} {z} (map (fn x => {made}) (some n))"
    for form, body in FORMS.items():
        parts = body.format(f=f, z=z, xs=f"(map (fn x => {made}) (some n))")
        MADE[form + operator] = f"told (map (fn x => {told}) ({parts}))"
MADE.update({
    "mean_": "mean (some (n + 1))",
    "variance_": "variance (some (n + 1))",
    "sampleVariance_": "sampleVariance (map double (some (n + 2)))",
    "deviation_": "deviation (some (n + 1))",
    "comoments_": "comoments (some n) (more n)",
    "covariance_": "covariance (some (n + 1)) (more (n + 1))",
    "correlation_": "correlation (map double (some (n + 2))) (map double (more (n + 2)))",
    "line_": "line (some (n + 2)) (more (n + 2))",
    "momentsOfDoubles": "moments (map double (some n))",
    "dotsOfDoubles": "dot (map double (some n)) (map double (more n))",
    "dotsOfHalves": "dot (map (fn x => f16 (x / 100.0)) (some n)) (map (fn x => f16 (x / 100.0)) (more n))",
    "products_": "told (force (matMul 20 (n / 20) 20 (some (20 * (n / 20))) (more (20 * (n / 20)))))",
    "timesDoubles": "told (force (matVec (n / 40) (map double (some n)) (map double (more 40))))",
    "keysOfProducts": "told (map snd (reduceByKey (*) 1.1 (mapIx (fn i x => (i / 70, 1.0 + x / 6553600.0)) (some n))))",
})
MADE_LENGTHS = (0, 1, 2500)
LENGTHS = (0, 1, 7, 9, 63, 65, 257, 1000, 1025, 4097, 20001)
# Several tiles of 4096 elements; of tiles of 10, as many as have numbers of three digits to the base 32.
SCAN_LENGTHS = (0, 1, 17, 4097, 13001)
LONG = (1_000_000, 2_200_001)
BLOCKS = (32, 64, 96, 128, 512, 1024)
VALUES = (("work", 4), ("work", 32), ("redWidth", 128), ("onePass", "false"))


def cases(env):
    written = {}

    def tests(group, lengths):
        """The path of a program with what the interpreter gives as tests."""
        if (id(group), lengths) not in written:
            path = env.written("bits.fcl",
                HEAD + "".join(f"kernel {name} (n : int) = {body}\n" for name, body in group.items()))
            lines = [f"-- test {name} {n} == " + env.must(env.fclc, "run", "--target=interp", "--limit=0", path, name,
                                                          str(n)) for name in group for n in lengths]
            with open(path, "a", encoding="utf-8") as file:
                file.write("".join(lines))
            written[id(group), lengths] = path, len(lines)
        return written[id(group), lengths]

    def agree(group, lengths, executor, options, extra):
        require(env, executor)
        path, wanted = tests(group, lengths)
        done = env.run(env.fclc, "test", *EXECUTORS[executor][0], *options, path, timeout=3000,
                       env=dict(variables(env, executor), **extra))
        counts = Counts.of_last_line(done.stdout)
        assert counts and counts.passed == wanted, f"{done.stdout[-6000:]}{done.stderr[-2000:]}"

    for name, group, lengths in (("whole arrays", KERNELS, LENGTHS), ("rows", ROWS, LENGTHS),
                                 ("scans", SCANS, SCAN_LENGTHS)):
        for executor in ("interp", "c", "c-unoptimised", "opencl-loop", "opencl-simt", "cuda-simulator",
                         "hip-64-simulator", "ptx"):
            ways = [((), {})] + [((f"--block-size={size}",), {}) for size in BLOCKS]
            ways += [(("-D", f"{param}={value}"), {}) for param, value in VALUES]
            ways += [((), {"FCL_THREADS": str(threads)}) for threads in (1, 2, 5)] if executor == "c" else []
            for options, extra in ways:
                # Before every change of main a few of the ways to change a launch are tried; all of them take long.
                is_usual = executor in ("c", "cuda-simulator") and ("--block-size=96" in options or
                                                                    "work=4" in options)
                said = " ".join(options) or " ".join(f"{threads} threads" for threads in extra.values()) or "as it is"
                yield Case(f"{name} on {executor}, {said}",
                           lambda group=group, lengths=lengths, executor=executor, options=options, extra=extra:
                           agree(group, lengths, executor, options, extra),
                           thorough=bool(options or extra) or executor not in ("interp", "c", "cuda-simulator"),
                           long=bool(options or extra) and not is_usual and extra.get("FCL_THREADS") != "5")
    for executor in ("c", "cuda-simulator", "opencl-simt", "opencl-loop", "ptx"):
        yield Case(f"operators and what is made of them on {executor}",
                   lambda executor=executor: agree(MADE, MADE_LENGTHS, executor, (), {}), thorough=True,
                   long=executor != "c")
    for executor in ("c", "opencl-loop", "ptx"):
        yield Case(f"long arrays on {executor}", lambda executor=executor:
                   agree({name: KERNELS[name] for name in ("sum", "sumFrom", "dots")}, LONG, executor, (), {}),
                   long=True)
