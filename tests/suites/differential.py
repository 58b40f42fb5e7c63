"""Every function of the prelude against a plain one in Python, on every executor, at awkward lengths.

TABLE has a row for each function, type and operator; a new function of the prelude needs a row there. A row is a kernel, its
arguments by length, and what it must give. Rows of a group are one program for each executor, whose test directives are in the
order of lengths, so that the first that fails is the smallest."""

import array
import functools
import math
import os
import random
import re
import struct
import threading
from executors import EXECUTORS, require, variables
from harness import Case, Counts

ORDER = 46

# Lengths around the sizes of warps, blocks and chunks, powers of two, primes.
SMALL = (0, 1, 2, 31, 32, 33, 255, 256, 257)
AWKWARD = SMALL + (1023, 1025, 4095, 4097, 7919, 10007)
LONG = AWKWARD + (65535, 65537, 2**20 + 3)
# The longest array for each executor, by how fast it is.
LONGEST = {"interp": 4097, "c": 2**21, "c-unoptimised": 65537, "opencl-loop": 2**21, "opencl-simt": 65537,
           "cuda-simulator": 4097}
INLINE = 33  # arrays up to this length are written into the directive, so that a failure shows all of it

PRELUDE = """\
-- maps x => a * x + b modulo 2^32: associative, not commutative
sig after : (uint, uint) -> (uint, uint) -> (uint, uint)
fun after (a, b) (c, d) = (a * c, b * c + d)
-- 2 x 2 matrices modulo 2^32
sig times : (uint, uint, uint, uint) -> (uint, uint, uint, uint) -> (uint, uint, uint, uint)
fun times (a, b, c, d) (e, f, g, h) = (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)
-- the last that is not zero
sig latest : int -> int -> int
fun latest x y = if y == 0 then x else y
sig hash : [uint] -> uint
fun hash part = foldl (fn h x => h * 1000003 + x) (uint (length part)) part
"""
WORD = 2**32 - 1


def after(f, g):
    return f[0] * g[0] & WORD, f[1] * g[0] + g[1] & WORD


def times(p, q):
    (a, b, c, d), (e, f, g, h) = p, q
    return a * e + b * g & WORD, a * f + b * h & WORD, c * e + d * g & WORD, c * f + d * h & WORD


def latest(x, y):
    return y or x


def scanned(f, neutral, xs, inclusive=True):
    """The scan of a list."""
    found, state = [], neutral
    for x in xs:
        before, state = state, f(state, x)
        found.append(state if inclusive else before)
    return found


def hashed(chunks):
    return [functools.reduce(lambda h, x: h * 1000003 + x & WORD, part, len(part)) for part in chunks]


def chunks(k, xs):
    return [xs[i:i + k] for i in range(0, len(xs), k)]


def unzipped(width, rows):
    """Rows to as many columns."""
    return tuple(list(column) for column in zip(*rows)) if rows else tuple([] for _ in range(width))


# ---- arguments and results ----

CODES = {"bool": ("b", "|b1"), "i8": ("b", "<i1"), "i16": ("h", "<i2"), "int": ("i", "<i4"), "i64": ("q", "<i8"),
         "u8": ("B", "<u1"), "u16": ("H", "<u2"), "uint": ("I", "<u4"), "u64": ("Q", "<u8"), "float": ("f", "<f4"),
         "double": ("d", "<f8")}


def save(path, kind, values):
    """An array as a file in NumPy's format."""
    code, described = CODES[kind]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (described, len(values))
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array(code, values).tobytes())


def literal(x):
    return str(x).lower() if isinstance(x, bool) else repr(x)


def words(n, r):
    return list(array.array("I", r.randbytes(4 * n)))


def ints(n, r):
    return list(array.array("i", r.randbytes(4 * n)))


def digits(n, r):
    """Small numbers of both signs, half of them zero."""
    return [x % 41 - 20 if x & 1024 else 0 for x in words(n, r)]


FILL = {"[uint]": words, "[int]": ints, "uint": lambda n, r: r.getrandbits(32), "int": lambda n, r: r.randrange(-n - 3, n + 4)}


class Row:
    """What a row of the table says. `params` and `result` are types, `inputs` the arguments for a length (made up by type where
    it is not given), `wanted` the result for them. `everywhere`: also on OpenCL, where compiling takes long."""

    def __init__(self, group, names, kernel, params, result, wanted, inputs=None, lengths=AWKWARD, everywhere=True, variant=""):
        self.group, self.names, self.lengths, self.everywhere = group, names.split(), lengths, everywhere
        self.params = [part.split(":") for part in params.split()]
        self.result = result.split()
        self.kernel, self.wanted, self.inputs, self.variant = kernel, wanted, inputs, variant
        self.title = " ".join(filter(None, (names, variant)))
        self.made, self.lock = {}, threading.Lock()

    def source(self, name):
        return f"kernel {name} {' '.join(f'({p} : {kind})' for p, kind in self.params)} = {self.kernel}"

    def directive(self, folder, name, length):
        """Arguments and result of a test directive; long arrays go to files in the folder, once for all executors."""
        with self.lock:
            if length not in self.made:
                source = random.Random(f"{self.title} {self.kernel} {length}")
                given = self.inputs(length, source) if self.inputs else [FILL[kind](length, source) for _, kind in self.params]
                wanted = self.wanted(*given)
                wanted = list(wanted) if len(self.result) > 1 else [wanted]
                texts = [[self.text(folder, f"{name}.{length}.{side}{i}", kind, value) for i, (kind, value) in enumerate(zip(kinds, values))]
                         for side, kinds, values in (("given", [kind for _, kind in self.params], given), ("wanted", self.result, wanted))]
                self.made[length] = f"{' '.join(texts[0])} == {texts[1][0] if len(texts[1]) == 1 else '(' + ','.join(texts[1]) + ')'}"
            return self.made[length]

    @staticmethod
    def text(folder, name, kind, value):
        if kind[0] != "[":
            return literal(value)
        if len(value) <= INLINE:
            return "[" + ",".join(map(literal, value)) + "]"
        save(os.path.join(folder, name + ".npy"), kind[1:-1], value)
        return f"@{name}.npy"


TABLE = []


def row(*args, **options):
    TABLE.append(Row(*args, **options))


def view(names, kernel, wanted, params="xs:[uint]", **options):
    """A pull array of numbers."""
    row("views", names, f"push <grid> ({kernel})", params, "[uint]", wanted, **options)


view("reverse", "reverse xs", lambda xs: xs[::-1])
view("take", "take k xs", lambda k, xs: xs[:max(0, k)], "k:int xs:[uint]")
view("drop", "drop k xs", lambda k, xs: xs[max(0, k):], "k:int xs:[uint]")

PAIRS = dict(params="xs:[uint] ys:[uint]", result="[uint] [uint]", lengths=LONG)
row("whole", "scan", "unzip (force (scan after (1, 0) (zip xs ys)))", variant="affine maps", **PAIRS,
    wanted=lambda xs, ys: unzipped(2, scanned(after, (1, 0), zip(xs, ys))))


# ---- running them ----

def cases(env):
    groups = {}
    for entry in TABLE:
        groups.setdefault(entry.group, []).append(entry)
    for group, rows in groups.items():
        folder = env.tmp()
        for executor in LONGEST:
            yield Case(f"{group} on {executor}", lambda rows=rows, folder=folder, executor=executor: run(env, rows, folder, executor))


def run(env, rows, folder, executor):
    require(env, executor)
    rows = [entry for entry in rows if entry.everywhere or not executor.startswith("opencl")]
    tests = sorted(((length, i) for i, entry in enumerate(rows) for length in entry.lengths if length <= LONGEST[executor]))
    directives = [f"-- test k{TABLE.index(rows[i])} {rows[i].directive(folder, f'k{TABLE.index(rows[i])}', length)}" for length, i in tests]

    def attempt(chosen, used):
        """Run these tests: what fclc printed, and its counts, if it came to an end."""
        lines = PRELUDE.splitlines() + [entry.source(f"k{TABLE.index(entry)}") for entry in used]
        path = os.path.join(folder, f"{executor}.fcl")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines + [directives[t] for t in chosen]) + "\n")
        done = env.run(env.fclc, "test", *EXECUTORS[executor][0], path, env=variables(env, executor), timeout=600)
        failed = [(chosen[int(line) - len(lines) - 1], text) for line, text in
                  re.findall(r"^[^\n]*\.fcl:(\d+): (.*)$", done.stdout + done.stderr, re.M) if int(line) > len(lines)]
        return failed, Counts.of_last_line(done.stdout), done.stdout + done.stderr

    def told(t, text):
        length, i = tests[t]
        return (f"{rows[i].title}, types {' '.join(kind for _, kind in rows[i].params)}, length {length}, {executor}: {text}\n"
                f"{rows[i].source('k' + str(TABLE.index(rows[i])))}\n{directives[t][:2000]}")

    failed, counts, output = attempt(range(len(tests)), rows)
    if not counts:  # a crash: the smallest test that does not come to an end
        for t in range(len(tests)):
            _, counts, output = attempt([t], [rows[tests[t][1]]])
            assert counts, told(t, output)
        raise AssertionError(f"no counts\n{output}")
    if counts.failed:
        counts.output = told(*failed[0]) if failed else output
        also = sorted({f"{rows[tests[t][1]].title} at {tests[t][0]}" for t, _ in failed[1:]})
        counts.output += f"\nalso: {', '.join(also)}" if also else ""
    else:
        assert counts.passed == len(tests), f"{counts.passed} of {len(tests)} ran\n{output}"
    return counts
