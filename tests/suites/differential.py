"""Every function of the prelude against a plain one in Python, on every executor, at awkward lengths.

TABLE has a row for each function, type and operator; a new function of the prelude needs a row there. A row is a kernel, its
arguments by length, and what it must give. Rows of a group are one program for each executor, whose test directives are in the
order of lengths, so that the first that fails is the smallest."""

import array
import functools
import itertools
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
LONGEST = {"interp": 4097, "c": 2**21, "c-unoptimised": 65537, "opencl-loop": 2**21, "opencl-simt": 10007,
           "cuda-simulator": 4097}
# Compiling takes long, above all for OpenCL, so that a row runs where others of its kind do not show what it would.
CHEAP = ("interp", "cuda-simulator")
QUICK = CHEAP + ("c",)
USUAL = QUICK + ("opencl-simt",)
EVERY = tuple(LONGEST)
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


def joined(parts):
    return list(itertools.chain.from_iterable(parts))


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


def in_tuple(texts):
    return texts[0] if len(texts) == 1 else f"({','.join(texts)})"


def words(n, r):
    return list(array.array("I", r.randbytes(4 * n)))


def ints(n, r):
    return list(array.array("i", r.randbytes(4 * n)))


def digits(n, r):
    """Small numbers of both signs, half of them zero."""
    return [x % 41 - 20 if x & 1024 else 0 for x in words(n, r)]


FILL = {"[uint]": words, "[int]": ints, "[bool]": lambda n, r: [bool(x & 1) for x in r.randbytes(n)], "uint": lambda n, r: r.getrandbits(32), "int": lambda n, r: r.randrange(-n - 3, n + 4)}


class Row:
    """A row of the table: `names` of the functions it is for, a kernel's body, the types of its `params` and of its `result` (a word
    for each component), and `wanted`, what it gives for arguments. `inputs` makes up arguments of a length, by type where it is
    not given; a dictionary of these has a name for each. `executors`: USUAL by default. `alone`: cannot be computed by one kernel
    together with others, as it is no array of the grid."""

    def __init__(self, group, names, kernel, params, result, wanted, inputs=None, lengths=AWKWARD, executors=None, variant="",
                 alone=False):
        self.group, self.names, self.executors = group, names.split(), executors or USUAL
        self.params = [part.split(":") for part in params.split()]
        self.result = result.split()
        self.kernel, self.wanted = kernel, wanted
        self.title = " ".join(filter(None, (names, variant)))
        self.number, self.alone = len(TABLE), alone
        self.inputs = inputs if isinstance(inputs, dict) else {"": inputs or self.by_type}
        self.tests = [(length, label) for length in lengths for label in self.inputs]
        self.made, self.lock = {}, threading.Lock()

    def by_type(self, length, source):
        return [FILL[kind](length, source) for _, kind in self.params]

    def values(self, folder, length, label):
        """Arguments and result as a test directive has them; long arrays go to files in the folder, once for all executors."""
        with self.lock:
            if (length, label) not in self.made:
                given = self.inputs[label](length, random.Random(f"{self.title} {label} {length}"))
                wanted = self.wanted(*given)
                sides = []
                for side, kinds, values in (("given", [kind for _, kind in self.params], given),
                                            ("wanted", self.result, wanted if len(self.result) > 1 else [wanted])):
                    assert len(kinds) == len(values), self.title
                    sides.append([self.text(folder, f"{self.number}.{label}.{length}.{side}{i}".replace(" ", "-"), kind, value)
                                  for i, (kind, value) in enumerate(zip(kinds, values))])
                self.made[length, label] = (" ".join(sides[0]), in_tuple(sides[1]))
            return self.made[length, label]

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


# ---- functions on functions and scalars, and views ----

def view(names, kernel, wanted, params="xs:[uint]", **options):
    """A pull array of numbers."""
    row("views", names, f"push <grid> ({kernel})", params, "[uint]", wanted, **options)


def views(names, kernel, wanted, count, params="xs:[uint] ys:[uint]", **options):
    """A tuple of pull arrays."""
    parts = "abcdefgh"[:count]
    row("views", names, f"let ({', '.join(parts)}) = {kernel} in ({', '.join(f'push <grid> {part}' for part in parts)})", params,
        " ".join(["[uint]"] * count), wanted, **options)


def matrix(n, r):
    """Columns and rows of a matrix that is nearly square, and at least as many elements."""
    cols = max(1, math.isqrt(n))
    return [cols, n // cols, words(n, r)]


def some(low=1):
    """A number of elements to take at once, and an array."""
    return lambda n, r: [r.choice((low, 2, 3, 7, 32, max(low, n - 1), n + 1)), words(n, r)]


def up(a, b):
    return -(-a // b)


def at_borders(k):
    """Steps from one place to another: short ones, and those that go far outside."""
    return lambda n, r: [r.choice((0, 1, -1, 5, -5, n, -n, n // 2, k, -k)), words(n, r)]


def tiles(height, width, cols, xs):
    rows = len(xs) // cols
    return [[xs[y * cols + x] for y in range(top, min(rows, top + height)) for x in range(left, min(cols, left + width))]
            for top in range(0, rows, height) for left in range(0, cols, width)]


views("id const flip uncurry curry",
      "(map id xs, zipWith const xs ys, zipWith (flip (-)) xs ys, map (uncurry (-)) (zip xs ys), zipWith (curry snd) xs ys)",
      lambda xs, ys: (xs, xs, [y - x & WORD for x, y in zip(xs, ys)], [x - y & WORD for x, y in zip(xs, ys)], ys), 5)
row("views", "clamp", "push <grid> (map (clamp (-7) 1000000000) xs)", "xs:[int]", "[int]",
    lambda xs: [max(-7, min(10**9, x)) for x in xs])
row("views", "divUp", "push <grid> (zipWith (fn x y => divUp x (max 1 y)) xs ys)", "xs:[int] ys:[int]", "[int]",
    lambda xs, ys: [up(max(0, x), max(1, y)) for x, y in zip(xs, ys)],
    inputs=lambda n, r: [[r.choice((x, abs(x) % 9, 2**31 - 1)) for x in ints(n, r)], [r.choice((x, x % 9)) for x in ints(n, r)]])
view("fst snd map generate length", "map (fn p => snd p * 3 - fst p) (generate (length xs) (fn i => (xs ! i, uint i)))",
     lambda xs: [i * 3 - x & WORD for i, x in enumerate(xs)])
row("views", "min max abs", "push <grid> (zipWith (fn x y => min (abs x) (max y (-7))) xs ys)", "xs:[int] ys:[int]", "[int]",
    lambda xs, ys: [min(abs(x) if x > -2**31 else x, max(y, -7)) for x, y in zip(xs, ys)])
view("iota", "map uint (iota n)", lambda n: list(range(n)), "n:int", inputs=lambda n, r: [n])
view("replicate", "replicate n x", lambda n, x: [x] * n, "n:int x:uint", inputs=lambda n, r: [n, r.getrandbits(32)])
view("singleton", "singleton x", lambda x: [x], "x:uint")
row("views", "head last", "(head xs, last xs)", "xs:[uint]", "uint uint", lambda xs: (xs[0], xs[-1]), lengths=AWKWARD[1:])
view("take", "take k xs", lambda k, xs: xs[:max(0, k)], "k:int xs:[uint]", inputs=at_borders(2**31 - 1))
view("drop", "drop k xs", lambda k, xs: xs[max(0, k):], "k:int xs:[uint]", inputs=at_borders(2**31 - 1))
view("tail", "tail xs", lambda xs: xs[1:])
view("init", "init xs", lambda xs: xs[:-1])
views("splitAt", "splitAt k xs", lambda k, xs: (xs[:max(0, k)], xs[max(0, k):]), 2, "k:int xs:[uint]", inputs=at_borders(2**31 - 1))
views("halve", "halve xs", lambda xs: (xs[:up(len(xs), 2)], xs[up(len(xs), 2):]), 2, "xs:[uint]")
views("evenOdds", "evenOdds xs", lambda xs: (xs[::2], xs[1::2]), 2, "xs:[uint]")
view("reverse", "reverse xs", lambda xs: xs[::-1])
views("zip unzip", "unzip (zip xs (drop 3 ys))", lambda xs, ys: unzipped(2, list(zip(xs, ys[3:]))), 2)
views("zip3 unzip3", "unzip3 (zip3 (drop 1 xs) ys (drop 2 ys))", lambda xs, ys: unzipped(3, list(zip(xs[1:], ys, ys[2:]))), 3)
view("zipWith", "zipWith (-) (drop 1 xs) ys", lambda xs, ys: [x - y & WORD for x, y in zip(xs[1:], ys)], "xs:[uint] ys:[uint]")
view("zipWith3", "zipWith3 (fn x y z => x * y - z) xs (drop 1 ys) ys",
     lambda xs, ys: [x * y - z & WORD for x, y, z in zip(xs, ys[1:], ys)], "xs:[uint] ys:[uint]")
view("mapIx", "mapIx (fn i x => x ^ uint (i * i)) xs", lambda xs: [x ^ i * i for i, x in enumerate(xs)])
view("gather", "gather places xs", lambda places, xs: [xs[i] for i in places], "places:[int] xs:[uint]",
     inputs=lambda n, r: [[r.randrange(n) for _ in range(n + n // 2)], words(n, r)])
view("appendPull", "appendPull xs (drop 3 ys)", lambda xs, ys: xs + ys[3:], "xs:[uint] ys:[uint]")
view("empty", "appendPull (appendPull empty xs) empty", lambda xs: xs)
row("views", "range", "push <grid> (range low high)", "low:int high:int", "[int]", lambda low, high: list(range(low, high)),
    inputs=lambda n, r: r.choice(([-n // 2, n - n // 2], [n, -n], [2**31 - 1 - n, 2**31 - 1], [-2**31, -2**31 + n])))
view("splitUp", "map hash (splitUp k xs)", lambda k, xs: hashed(chunks(k, xs)), "k:int xs:[uint]", inputs=some())
view("splitUp", "map hash (splitUp 7 xs)", lambda xs: hashed(chunks(7, xs)), variant="of a static size", executors=CHEAP)
view("splitUpEnd", "map hash (splitUpEnd k xs)", lambda k, xs: hashed([part[::-1] for part in chunks(k, xs[::-1])[::-1]]),
     "k:int xs:[uint]", inputs=some())
view("flatten", "flatten (splitUp k xs)", lambda k, xs: xs, "k:int xs:[uint]", inputs=some())
view("flatten", "flatten (cols k xs)", lambda k, xs: [xs[i * k + j] for j in range(k) for i in range(len(xs) // k)], "k:int xs:[uint]",
     inputs=some(), variant="of columns", executors=CHEAP)
view("coalesce", "map hash (coalesce k xs)", lambda k, xs: hashed([xs[i::up(len(xs), k)] for i in range(up(len(xs), k))]),
     "k:int xs:[uint]", inputs=some())
view("everyNth", "everyNth k xs", lambda k, xs: xs[::k], "k:int xs:[uint]", inputs=some())
view("transpose", "transpose cols rows xs", lambda cols, rows, xs: [xs[j * cols + i] for i in range(cols) for j in range(rows)],
     "cols:int rows:int xs:[uint]", inputs=matrix)
view("rotate", "rotate k xs", lambda k, xs: [xs[(i + k) % len(xs)] for i in range(len(xs))], "k:int xs:[uint]",
     inputs=at_borders(2**31 - 1))
view("shift", "shift k 9 xs", lambda k, xs: [xs[i + k] if 0 <= i + k < len(xs) else 9 for i in range(len(xs))], "k:int xs:[uint]",
     inputs=at_borders(2**31 - 1))
view("pair unpair", "unpair (map (fn (x, y) => (y, x)) (pair xs))",
     lambda xs: [xs[i ^ 1] for i in range(len(xs) // 2 * 2)])
view("backpermute", "backpermute (length xs / 2) (fn i => length xs - 1 - 2 * i) xs",
     lambda xs: [xs[len(xs) - 1 - 2 * i] for i in range(len(xs) // 2)])
view("pad", "pad k 5 9 xs", lambda k, xs: [9] * k + xs + [9] * 5, "k:int xs:[uint]", inputs=some(0))
view("rows", "map hash (rows k xs)", lambda k, xs: hashed(chunks(k, xs[:len(xs) // k * k])), "k:int xs:[uint]", inputs=some())
view("cols", "map hash (cols k xs)", lambda k, xs: hashed([xs[:len(xs) // k * k][j::k] for j in range(k)]), "k:int xs:[uint]",
     inputs=some())
view("tile", "map hash (tile 3 k cols xs)", lambda k, cols, xs: hashed(tiles(3, k, cols, xs)), "k:int cols:int xs:[uint]",
     inputs=lambda n, r: [r.choice((1, 4, 16, n + 1)), max(1, math.isqrt(n) + r.randrange(3)), words(n, r)])
view("window", "map hash (window k xs)", lambda k, xs: hashed([xs[i:i + k] for i in range(len(xs) - k + 1)]), "k:int xs:[uint]",
     inputs=lambda n, r: [r.choice((1, 2, 9, n + 1)), words(n, r)])

# ---- push arrays ----


def pushed(names, kernel, wanted, params="xs:[uint]", result="[uint]", group="push", **options):
    row(group, names, f"({kernel} : [{result[1:-1]}]<grid>)", params, result, wanted, **options)


def border_tiles(dim, cols, xs):
    """Tiles of dim x dim elements, where the nearest element stands in for those that are missing."""
    rows = len(xs) // cols
    return [[xs[min(y, rows - 1) * cols + min(x, cols - 1)] for y in range(top, top + dim) for x in range(left, left + dim)]
            for top in range(0, rows, dim) for left in range(0, cols, dim)]


def stepped(f, xs):
    h = up(len(xs), 2)
    return [f(xs[i], xs[i + h]) if i + h < len(xs) else xs[i] for i in range(h)]


def by_index(f, start, places, values):
    found = list(start)
    for i, x in zip(places, values):
        if 0 <= i < len(found):
            found[i] = f(found[i], x)
    return found


pushed("split2DGrid", "push <grid> (map hash (split2DGrid 5 cols (divUp cols 5) (divUp rows 5) (take (cols * rows) xs)))",
       lambda cols, rows, xs: hashed(border_tiles(5, cols, xs[:cols * rows])), "cols:int rows:int xs:[uint]", inputs=matrix, executors=QUICK)
pushed("concat2DGrid", "concat2DGrid 8 (divUp cols 8) cols rows (mapIx (fn t part => push <block> (map (fn x => x * 3 + uint t) part)) "
       "(split2DGrid 8 cols (divUp cols 8) (divUp rows 8) (take (cols * rows) xs)))",
       lambda cols, rows, xs: [xs[y * cols + x] * 3 + y // 8 * up(cols, 8) + x // 8 & WORD for y in range(rows) for x in range(cols)],
       "cols:int rows:int xs:[uint]", inputs=matrix)
STEP = "fn x y => x * 3 + y"
pushed("step", f"step <grid> ({STEP}) xs", lambda xs: stepped(lambda x, y: x * 3 + y & WORD, xs), variant="at grid", executors=QUICK)
pushed("step", f"concat 150 (map (step <block> ({STEP})) (splitUp 300 xs))", variant="at block",
       wanted=lambda xs: joined(stepped(lambda x, y: x * 3 + y & WORD, part) for part in chunks(300, xs)))
pushed("red", "red <grid> (+) xs", lambda xs: [sum(xs) & WORD] if xs else [], variant="at grid", executors=EVERY)
for level, size in (("thread", 7), ("warp", 45), ("block", 300)):
    pushed("red", f"concat 1 (map (red <{level}> (+)) (splitUp {size} xs))", variant=f"at {level}", executors=EVERY if level == "block" else QUICK,
           wanted=lambda xs, size=size: [sum(part) & WORD for part in chunks(size, xs)])
for level, size in (("thread", 70), ("warp", 63), ("block", 300)):
    pushed("redLanes", f"concat 1 (map (redLanes <{level}> (+) 0) (splitUp {size} xs))", variant=f"at {level}", executors=EVERY,
           wanted=lambda xs, size=size: [sum(part) & WORD for part in chunks(size, xs)])
pushed("redLanes", "redLanes <grid> max 0 xs", lambda xs: [max(xs, default=0)], variant="at grid", executors=EVERY)
for level in ("block", "grid"):
    row("push", "reduceByIndex", f"push <grid> (force (reduceByIndex (+) 0 start (zip places xs) : [uint]<{level}>))" if level == "grid" else
        "(reduceByIndex (+) 0 start (zip places xs) : [uint]<block>)", "start:[uint] places:[int] xs:[uint]", "[uint]",
        lambda start, places, xs: by_index(lambda x, y: x + y & WORD, start, places, xs), variant=f"at {level}", alone=level == "block",
        inputs=lambda n, r: [words(min(n, 700), r), [r.randrange(-2, min(n, 700) + 2) for _ in range(n)], words(n, r)], executors=EVERY)
row("push", "lookback", "unzip (force (concat 1 (map (fn z => push <block> [lookback after (1, 0) z]) (zip xs ys)) : [(uint, uint)]<grid>))",
    "xs:[uint] ys:[uint]", "[uint] [uint]", lambda xs, ys: unzipped(2, scanned(after, (1, 0), zip(xs, ys), inclusive=False)),
    variant="of affine maps", lengths=AWKWARD[:-3], executors=EVERY)
pushed("concatMap", "concatMap 3 (fn x => push <thread> [x, x * x, ~x]) xs", lambda xs: [y for x in xs for y in (x, x * x & WORD, WORD - x)])
for name in ("pushN", "load", "store"):
    pushed(name, f"{name} <grid> k (map (fn x => x * 3) xs)", lambda k, xs: [x * 3 & WORD for x in xs], "k:int xs:[uint]", inputs=some(),
           variant="at grid", executors=QUICK)
    pushed(name, f"concat 300 (map (fn c => {name} <block> 7 (reverse (force ({name} <block> 4 c)))) (splitUp 300 xs))",
           lambda xs: joined(part[::-1] for part in chunks(300, xs)), variant="at block")
pushed("append permuteInto", "permuteInto (length xs + length ys) (append (push <grid> (mapIx (fn i x => (length ys + i, x)) xs)) "
       "(push <grid> (mapIx (fn i y => (length ys - 1 - i, y)) ys)))", lambda xs, ys: ys[::-1] + xs, "xs:[uint] ys:[uint]", executors=QUICK)
pushed("scatter", "scatter (drop 3 xs) (mapIx (fn i x => (i * 2 - 5, x * 3)) xs)", executors=QUICK,
       wanted=lambda xs: by_index(lambda _, x: x, xs[3:], range(-5, 2 * len(xs), 2), [x * 3 & WORD for x in xs]))
pushed("foldl scanl", "concat 7 (map (fn c => mapPush (+ foldl (fn h x => h * 3 + x) 5 c) (scanl (-) 9 c)) (splitUp 7 xs))", executors=QUICK,
       wanted=lambda xs: joined([9 - sum(part[:i + 1]) + functools.reduce(lambda h, x: h * 3 + x, part, 5) & WORD for i in range(len(part))]
                                for part in chunks(7, xs)))
pushed("interleave2", "interleave2 (push <grid> xs) (push <grid> ys)", lambda xs, ys: [z for pair in zip(xs, ys) for z in pair],
       "xs:[uint] ys:[uint]", executors=QUICK)
pushed("unpairP", "unpairP (push <grid> (zip xs ys))", lambda xs, ys: [z for pair in zip(xs, ys) for z in pair], "xs:[uint] ys:[uint]", executors=QUICK)

# ---- scans at a level ----

LEVELS = (("thread", 7), ("warp", 45), ("block", 300))  # and the chunks that are used at it
AFFINE = dict(params="xs:[uint] ys:[uint]", result="[uint] [uint]")


def in_chunks(f, width, size, *columns):
    """The rows that f gives for each chunk, as columns."""
    return unzipped(width, joined(f(part) for part in chunks(size, list(zip(*columns)))))


row("scans", "log2Up", "push <grid> (map log2Up xs)", "xs:[int]", "[int]", lambda xs: [(max(1, x) - 1).bit_length() for x in xs],
    inputs=lambda n, r: [[r.choice((0, -5, 2**31 - 1, 1 << r.randrange(31), x >> r.randrange(32))) + r.randrange(-1, 1) for x in ints(n, r)]], executors=QUICK)
pushed("stages", "stages <grid> k (fn s part => push <grid> (map (fn x => x * 3 + uint s) part)) xs",
       lambda k, xs: functools.reduce(lambda ys, s: [y * 3 + s & WORD for y in ys], range(max(0, k)), xs), "k:int xs:[uint]",
       inputs=lambda n, r: [r.choice((-1, 0, 1, 2, 5)), words(n, r)], group="scans", executors=QUICK)
for name in ("koggeStone", "sklansky"):
    row("scans", name, f"unzip (force ({name} <grid> after (zip xs ys)))", variant="of affine maps at grid", **AFFINE,
        wanted=lambda xs, ys: unzipped(2, scanned(after, (1, 0), zip(xs, ys))), executors=QUICK)
    for level, size in LEVELS:
        row("scans", name, f"unzip (force (concat {size} (map ({name} <{level}> after) (splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
            variant=f"of affine maps at {level}", **AFFINE, executors=QUICK,
            wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part), 2, size, xs, ys))
for size in (31, 300, 2049):
    row("scans", "scanBlock", f"unzip (force (concat {size} (map (scanBlock after) (splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
        variant=f"of affine maps, {size} each", **AFFINE, executors=EVERY if size == 300 else QUICK,
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part), 2, size, xs, ys))
    row("scans", "scanBlockExclusive",
        f"unzip (force (concat {size} (map (scanBlockExclusive after (1, 0)) (splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
        variant=f"of affine maps, {size} each", **AFFINE, executors=QUICK if size == 300 else CHEAP,
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part, False), 2, size, xs, ys))
# What is not as long as the chunk ends with 9.
for level, size in LEVELS:
    pushed("compact", f"concat {size} (map (fn c => let kept = force (compact <{level}> (fn x => x % 3 == 0) c) in "
           f"push <{level}> (mapIx (fn i _ => if i < length kept then kept ! i else 9) c)) (splitUp {size} xs))",
           lambda xs, size=size: joined([x for x in part if x % 3 == 0] + [9] * sum(x % 3 > 0 for x in part) for part in chunks(size, xs)),
           variant=f"at {level}", executors=EVERY if level == "block" else QUICK, group="scans")
for size in (32, 19):
    row("scans", "redWarp", f"unzip (force (concat 1 (map (redWarp after) (splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
        variant=f"of affine maps, {size} each", **AFFINE, executors=EVERY if size == 32 else QUICK,
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: [functools.reduce(after, part)], 2, size, xs, ys))
    row("scans", "scanWarp", f"unzip (force (concat {size} (map (scanWarp after) (splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
        variant=f"of affine maps, {size} each", **AFFINE, executors=EVERY if size == 32 else QUICK,
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part), 2, size, xs, ys))
for name, size, executors in (("scanThread", 7, QUICK), ("scanThreadExclusive", 7, QUICK), ("scanWarpExclusive", 32, EVERY), ("scanWarpExclusive", 19, QUICK)):
    neutral = " (1, 0)" if name.endswith("Exclusive") else ""
    row("scans", name, f"unzip (force (concat {size} (map ({name} after{neutral}) (splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
        variant=f"of affine maps, {size} each", **AFFINE, executors=executors,
        wanted=lambda xs, ys, size=size, neutral=neutral: in_chunks(lambda part: scanned(after, (1, 0), part, not neutral), 2, size, xs, ys))
row("scans", "exclusive", "unzip (force (exclusive <grid> (1, 0) (koggeStone <grid> after (zip xs ys))))", variant="at grid", **AFFINE,
    wanted=lambda xs, ys: unzipped(2, scanned(after, (1, 0), zip(xs, ys), False)), executors=CHEAP)
for level, size in LEVELS:
    row("scans", "exclusive", f"unzip (force (concat {size} (map (fn c => exclusive <{level}> (1, 0) (sklansky <{level}> after c)) "
        f"(splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))", variant=f"at {level}", **AFFINE, executors=QUICK,
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part, False), 2, size, xs, ys))
for name, size in (("reduceThread", 7), ("reduceWarp", 100), ("reduceBlock", 1000)):
    pushed(name, f"concat 1 (map ({name} (+) 0) (splitUp {size} xs))", variant=f"{size} each", group="scans",
           executors=EVERY if name == "reduceBlock" else QUICK, wanted=lambda xs, size=size: [sum(part) & WORD for part in chunks(size, xs)])
    row("scans", name, f"{name} max 5 xs", "xs:[uint]", "[uint]", lambda xs: [max([5, *xs])], variant="of all", alone=True, executors=QUICK,
        lengths=SMALL)
for size in (256, 45):
    pushed("redBlock", f"concat 1 (map (redBlock (fn x y => x + y)) (splitUp {size} xs))", variant=f"{size} each", group="scans",
           executors=EVERY if size == 256 else QUICK, wanted=lambda xs, size=size: [sum(part) & WORD for part in chunks(size, xs)])
row("scans", "redBlock", "redBlock max xs", "xs:[uint]", "[uint]", lambda xs: [max(xs)] if xs else [], variant="one block", alone=True,
    lengths=(0, 1, 2, 31, 32, 33, 255, 256), executors=QUICK)
row("scans", "scanBlock", "scanBlock latest xs", "xs:[int]", "[int]", lambda xs: scanned(latest, 0, xs), variant="of the last not zero, one block", alone=True,
    inputs=lambda n, r: [digits(n, r)], lengths=AWKWARD[:-3])

# ---- whole arrays ----

FEWER = AWKWARD + (65537,)


def whole(names, kernel, wanted, params="xs:[uint]", result="[uint]", lengths=FEWER, **options):
    row("whole", names, kernel, params, result, wanted, lengths=lengths, **options)


def first_by(key):
    return lambda xs: min(range(len(xs)), key=lambda i: (key(xs[i]), i))


def float_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


NAN = 0x7fc00000


def odd_floats(n, r):
    """Bits of floats: few different ones, NaN of both signs among them, infinities, zeros, subnormal numbers."""
    return [[r.choice((NAN, 0xffc00000, 0x7f800000, 0xff800000, 0, 0x80000000, 1, 0x80000001, 0x7f7fffff, 0xff7fffff, 0x3f800000,
                       r.getrandbits(32))) for _ in range(n)]]


def least_float(sign):
    """The least (sign 1) or greatest (-1) number among these bits; NaN where there is none."""
    def of(bits):
        numbers = [(sign * math.copysign(1, float_of(b)) * 0 + sign * float_of(b), sign * math.copysign(1, float_of(b)), b)
                   for b in bits if float_of(b) == float_of(b)]
        return min(numbers)[2] if numbers else NAN
    return of


def arg_float(sign):
    """The first place of the least (sign 1) or greatest number among these bits; the first of all where there is none."""
    def of(bits):
        numbers = [(sign * float_of(b), i) for i, b in enumerate(bits) if float_of(b) == float_of(b)]
        return min(numbers)[1] if numbers else 0
    return of


def selection(chosen):
    """Words of which a share is below 1000 (none, one, half or all)."""
    def of(n, r):
        if chosen == "one":
            only = r.randrange(n) if n else 0
            return [[7 if i == only else x | 1024 for i, x in enumerate(words(n, r))]]
        return [[x % 1000 if chosen == "all" or (chosen == "half" and x & 1 << 20) else x | 1024 for x in words(n, r)]]
    return of


FROM_ONE = FEWER[1:]
for name, f, neutral, op in (("+", "(+)", 0, lambda x, y: x + y & WORD), ("*", "(fn x y => (x | 1) * (y | 1))", 1, lambda x, y: (x | 1) * (y | 1) & WORD),
                             ("max", "max", 0, max), ("xor", "(^)", 0, lambda x, y: x ^ y)):
    whole("reduce", f"reduce {f} {neutral} (map (| {neutral}) xs)", variant=f"by {name}", result="uint", lengths=LONG if name == "+" else FEWER, executors=EVERY if name == "+" else CHEAP,
          wanted=lambda xs, op=op, neutral=neutral: functools.reduce(op, (x | neutral for x in xs), neutral))
whole("reduce", "reduce (fn (a, b, c) (p, q, r) => (a & p, b | q, min c r)) (4294967295, 0, 4294967295) (zip3 xs ys (map (~) xs))",
      lambda xs, ys: (functools.reduce(lambda x, y: x & y, xs, WORD), functools.reduce(lambda x, y: x | y, ys, 0),
                      min((WORD - x for x in xs), default=WORD)), "xs:[uint] ys:[uint]", "uint uint uint", variant="of triples", executors=CHEAP)
whole("reduce1", "reduce1 min xs", min, result="uint", lengths=LONG[1:], executors=QUICK)
whole("reduce1", "reduce1 (fn (x, i) (y, j) => if x > y || (x == y && i < j) then (x, i) else (y, j)) (mapIx (fn i x => (x % 50, i)) xs)",
      lambda xs: min(((x % 50, i) for i, x in enumerate(xs)), key=lambda p: (-p[0], p[1])), result="uint int", lengths=FROM_ONE,
      variant="of pairs", executors=CHEAP)
whole("reduceChunk", "(concat 1 (map (reduceChunk (+)) (splitUp 1000 xs)) : [uint]<grid>)",
      lambda xs: [sum(part) & WORD for part in chunks(1000, xs)], lengths=AWKWARD, executors=QUICK)
whole("reduceRows", "reduceRows (+) 0 (rows width xs)", params="width:int xs:[uint]", lengths=FEWER,
      wanted=lambda width, xs: [sum(part) & WORD for part in chunks(width, xs[:len(xs) // width * width])],
      inputs={f"rows of {width}": lambda n, r, width=width: [width, words(n, r)] for width in (1, 64, 65, 300, 9000)}, executors=QUICK)
whole("minimum maximum", "(minimum xs, maximum xs)", lambda xs: (min(xs), max(xs)), "xs:[int]", "int int", lengths=FROM_ONE, executors=QUICK)
whole("minimum maximum", "let bits = fn x => if x == x then bitsOfFloat x else 0x7fc00000 in (bits (minimum (map floatOfBits xs)), bits (maximum (map floatOfBits xs)))",
      lambda xs: (least_float(1)(xs), least_float(-1)(xs)), result="uint uint", lengths=AWKWARD[1:], inputs=odd_floats, variant="of floats", executors=QUICK)
whole("argBy", "argBy (fn x y => x % 1000 > y % 1000) xs", first_by(lambda x: -(x % 1000)), result="int", lengths=FROM_ONE, executors=QUICK)
whole("argmin argmax", "(argmin xs, argmax xs)", lambda xs: (first_by(lambda x: x)(xs), first_by(lambda x: -x)(xs)), "xs:[int]", "int int",
      lengths=FROM_ONE, inputs=lambda n, r: [[x % 5000 - 2500 for x in words(n, r)]], executors=QUICK)
whole("argmin argmax", "(argmin (map floatOfBits xs), argmax (map floatOfBits xs))", lambda xs: (arg_float(1)(xs), arg_float(-1)(xs)),
      result="int int", lengths=AWKWARD[1:], inputs=odd_floats, variant="of floats", executors=CHEAP)
whole("find", "find (fn x => x < 1000) xs", lambda xs: next((i for i, x in enumerate(xs) if x < 1000), -1), result="int", lengths=LONG,
      inputs=lambda n, r: selection(r.choice(("none", "one", "half")))(n, r), executors=QUICK)
SHARES = {f"true of {chosen}": selection(chosen) for chosen in ("none", "one", "half", "all")}
whole("count any all", "let few = fn x => x < 1000 in (count few xs, any few xs, all few xs)", inputs=SHARES, result="int bool bool",
      wanted=lambda xs: (sum(x < 1000 for x in xs), any(x < 1000 for x in xs), all(x < 1000 for x in xs)), lengths=FEWER)
whole("filter", "filter (fn x => x < 1000) xs", lambda xs: [x for x in xs if x < 1000], inputs=SHARES, lengths=FEWER, executors=EVERY)
whole("filter", "filter (fn x => x % 3 == 0) xs", lambda xs: [x for x in xs if x % 3 == 0], lengths=(2**20 + 3,), variant="long", executors=EVERY)
whole("filter", "unzip (filter (fn (x, i) => x % 3 == 0) (mapIx (fn i x => (x, i)) xs))", variant="of pairs", executors=QUICK,
      wanted=lambda xs: unzipped(2, [(x, i) for i, x in enumerate(xs) if x % 3 == 0]), result="[uint] [int]", lengths=AWKWARD)
whole("partition", "partition (fn x => x < 1000) xs", lambda xs: ([x for x in xs if x < 1000], [x for x in xs if x >= 1000]), inputs=SHARES,
      result="[uint] [uint]", executors=QUICK)
whole("compactIx", "compactIx (fn i x => x < 1000 || i % 1000 == 999) xs", inputs=SHARES,
      wanted=lambda xs: [x for i, x in enumerate(xs) if x < 1000 or i % 1000 == 999], executors=CHEAP)
whole("compact", "(compact <grid> (fn x => x < 1000) xs : [uint]<grid>)", lambda xs: [x for x in xs if x < 1000], inputs=SHARES, variant="at grid",
      executors=CHEAP)
for f, op, executors in (("(+)", lambda x, y: x + y & WORD, QUICK), ("(fn x y => (x | 1) * (y | 1))", lambda x, y: (x | 1) * (y | 1) & WORD, CHEAP)):
    whole("permuteWith", f"(permuteWith {f} start (fn i => places ! i) xs : [uint]<grid>)", params="start:[uint] places:[int] xs:[uint]",
          wanted=lambda start, places, xs, op=op: by_index(op, start, places, xs), variant=f"by {f}", lengths=AWKWARD, executors=executors,
          inputs=lambda n, r: [words(min(n, 700), r), [r.randrange(-2, min(n, 700) + 2) for _ in range(n)], words(n, r)])
whole("scanBy", "scanBy after (1, 0) (fn x => (x, ~x)) (fn start part => mapPush fst (scanl (fn s x => after s (x, ~x)) start part)) xs",
      lambda xs: [a for a, _ in scanned(after, (1, 0), [(x, WORD - x) for x in xs])], executors=QUICK)
for name, inclusive in (("scan", True), ("scanExclusive", False)):
    whole(name, f"unzip (force ({name} after (1, 0) (zip xs ys)))", variant="of affine maps", params="xs:[uint] ys:[uint]", result="[uint] [uint]", lengths=LONG if inclusive else FEWER, executors=EVERY if inclusive else QUICK,
          wanted=lambda xs, ys, inclusive=inclusive: unzipped(2, scanned(after, (1, 0), zip(xs, ys), inclusive)))
    whole(name, f"let m = force ({name} times (1, 0, 0, 1) (zipWith (fn x y => (x, y, 1, x ^ y)) xs ys)) in "
          "(map (fn (a, b, _, _) => a ^ b) m, map (fn (_, _, c, d) => c ^ d) m)", variant="of matrices", params="xs:[uint] ys:[uint]",
          result="[uint] [uint]", lengths=AWKWARD, executors=QUICK,
          wanted=lambda xs, ys, inclusive=inclusive: unzipped(2, [(a ^ b, c ^ d) for a, b, c, d in scanned(
              times, (1, 0, 0, 1), [(x, y, 1, x ^ y) for x, y in zip(xs, ys)], inclusive)]))
    whole(name, f"{name} latest 0 xs", variant="of the last not zero", params="xs:[int]", result="[int]", inputs=lambda n, r: [digits(n, r)],
          wanted=lambda xs, inclusive=inclusive: scanned(latest, 0, xs, inclusive), lengths=FEWER, executors=QUICK)
whole("histogram", "histogram k xs", lambda k, xs: by_index(lambda x, y: x + y, [0] * k, xs, [1] * len(xs)), "k:int xs:[int]", "[int]", LONG,
      inputs=lambda n, r: [r.choice((0, 1, 7, 300, n)), [x % 512 - 100 for x in words(n, r)]], executors=EVERY)

# ---- segments ----

def cut(kind):
    """Where segments of that kind begin in n elements: in order, from 0 on."""
    def of(n, r):
        step = {"one": lambda: n + 1, "of 1": lambda: 1, "of 31 to 33": lambda: r.randrange(31, 34), "random": lambda: r.choice((1, 2, 3)),
                "empty": lambda: r.choice((0, 0, 0, 1, 40)), "giant": lambda: r.choice((1, 2, max(1, n - 5))),
                "power law": lambda: int((1 - r.random()) ** -1.5)}[kind]
        starts, at = [], 0
        while at < n:
            starts.append(at)
            at += step()
        if kind == "empty":  # at the end, too
            starts += [n] * r.choice((1, 2, 40))
        return starts
    return of


CUTS = ("one", "of 1", "of 31 to 33", "random", "empty", "giant", "power law")


def segments(starts, xs):
    return [xs[start:end] for start, end in zip(starts, starts[1:] + [len(xs)])]


def flagged(starts, n):
    """The flags of segments; that of the first element is as good as set, so it need not be."""
    begin = set(starts)
    return [i in begin and i > 0 for i in range(n)]


def from_flags(flags, xs):
    return segments([i for i, flag in enumerate(flags) if flag or not i], xs)


def segmented(names, kernel, wanted, inputs, params, result, variant="", executors=None):
    """Segments of all kinds; `inputs` gives arguments from where the segments begin. Each length has some kind, one has all."""
    row("segments", names, kernel, params, result, wanted, variant=variant, executors=executors,
        inputs={kind: lambda n, r, kind=kind: inputs(n, r, cut(kind)(n, r)) for kind in CUTS})
    TABLE[-1].tests = [(n, CUTS[i % len(CUTS)]) for i, n in enumerate(FEWER)] + [(n, kind) for n in (300, 4000) for kind in CUTS]


def affine(n, r):
    return [words(n, r), words(n, r)]


def folded(parts):
    return [functools.reduce(after, part, (1, 0)) for part in parts]


def grouped(keys, *columns):
    """The rows of each run of equal keys, with the key."""
    rows = list(zip(keys, *columns))
    starts = [i for i, key in enumerate(keys) if not i or key != keys[i - 1]]
    return [(part[0][0], [row[1:] for row in part]) for part in segments(starts, rows)]


def in_runs(n, r, starts):
    """Elements that are equal in segments, and seldom in segments that follow one another."""
    return joined([r.choice((7, 8, 9, WORD))] * len(part) for part in segments(starts, range(n)))


FLAGGED = dict(inputs=lambda n, r, starts: [flagged(starts, n)] + affine(n, r), params="flags:[bool] xs:[uint] ys:[uint]", result="[uint] [uint]")
OFFSETS = dict(inputs=lambda n, r, starts: [starts] + affine(n, r), params="offsets:[int] xs:[uint] ys:[uint]", result="[uint] [uint]")
segmented("segScan", "unzip (force (segScan after (1, 0) flags (zip xs ys)))", **FLAGGED,
          wanted=lambda flags, xs, ys: unzipped(2, joined(scanned(after, (1, 0), part) for part in from_flags(flags, list(zip(xs, ys))))), executors=CHEAP)
segmented("segScan", "segScan latest 0 flags xs", params="flags:[bool] xs:[int]", result="[int]", variant="of the last not zero, flags missing", executors=CHEAP,
          inputs=lambda n, r, starts: [flagged(starts, n)[:n - n // 3], digits(n, r)],
          wanted=lambda flags, xs: joined(scanned(latest, 0, part) for part in from_flags(flags, xs[:len(flags)])))
segmented("segReduce", "unzip (segReduce after (1, 0) flags (zip xs ys))", **FLAGGED,
          wanted=lambda flags, xs, ys: unzipped(2, folded(from_flags(flags, list(zip(xs, ys))))), executors=QUICK)
segmented("segScanAt", "unzip (force (segScanAt after (1, 0) offsets (zip xs ys)))", **OFFSETS,
          wanted=lambda offsets, xs, ys: unzipped(2, joined(scanned(after, (1, 0), part) for part in segments(offsets, list(zip(xs, ys))))), executors=QUICK)
segmented("segReduceAt", "unzip (force (segReduceAt after (1, 0) offsets (zip xs ys)))", **OFFSETS,
          wanted=lambda offsets, xs, ys: unzipped(2, folded(segments(offsets, list(zip(xs, ys))))), executors=EVERY)
segmented("flagsOf", "flagsOf n offsets", params="n:int offsets:[int]", result="[bool]",
          inputs=lambda n, r, starts: [n, starts[r.choice((0, 0, 1, 3)):]],
          wanted=lambda n, offsets: list(map(set(offsets).__contains__, range(n))), executors=QUICK)
segmented("reduceByKey", "let found = reduceByKey after (1, 0) (zip keys (zip xs ys)) in (map fst found, map (fst . snd) found, map (snd . snd) found)",
          inputs=lambda n, r, starts: [in_runs(n, r, starts)] + affine(n, r), params="keys:[uint] xs:[uint] ys:[uint]", result="[uint] [uint] [uint]",
          wanted=lambda keys, xs, ys: unzipped(3, [(key, *functools.reduce(after, part)) for key, part in grouped(keys, xs, ys)]), executors=CHEAP)
segmented("unique runLengths", "let (keys, lengths) = unzip (runLengths xs) in (unique xs, keys, lengths)",
          inputs=lambda n, r, starts: [in_runs(n, r, starts)], params="xs:[uint]", result="[uint] [uint] [int]",
          wanted=lambda xs: ([key for key, _ in grouped(xs)], [key for key, _ in grouped(xs)], [len(part) for _, part in grouped(xs)]), executors=QUICK)
segmented("segmented", "unzip (zipWith (segmented (-)) (zip flags xs) (zip (drop 1 flags) ys))", params="flags:[bool] xs:[uint] ys:[uint]",
          result="[bool] [uint]", inputs=FLAGGED["inputs"], executors=CHEAP,
          wanted=lambda flags, xs, ys: unzipped(2, [(g or h, y if h else x - y & WORD) for g, h, x, y in zip(flags, flags[1:], xs, ys)]))

# ---- sorts at a level, and the functions they are made of ----

KEYED = dict(params="xs:[uint]", result="[uint] [int]")  # pairs of a small key and a place, which shows what is stable
PLACES = "(mapIx (fn i x => (x % 16, i)) xs)"


def keyed(xs, start=0):
    return [(x % 16, start + i) for i, x in enumerate(xs)]


def stably(pairs):
    return sorted(pairs, key=lambda pair: pair[0])


def exchanged(partner, xs):
    """The lower place of two gets what comes first."""
    found = list(xs)
    for i in range(len(xs)):
          j = partner(i)
          if i < j < len(xs) and xs[j] < xs[i]:
              found[i], found[j] = xs[j], xs[i]
    return found


def runs_of(size):
    return lambda n, r: [joined(map(sorted, chunks(size, [x % 1000 for x in words(n, r)])))]


at_level = functools.partial(pushed, group="sorts")
at_level("exchange", "exchange <grid> (fn x y => x <= y) (fn i => i ^ 5) xs", lambda xs: exchanged(lambda i: i ^ 5, xs), variant="at grid", executors=QUICK)
at_level("exchange", "concat 300 (map (exchange <block> (fn x y => x <= y) (fn i => 299 - i)) (splitUp 300 xs))",
         lambda xs: joined(exchanged(lambda i: 299 - i, part) for part in chunks(300, xs)), variant="at block", executors=QUICK)
for name in ("bitonicSort", "oddEvenMergeSort"):
    at_level(name, f"{name} <grid> (fn x y => x <= y) xs", sorted, variant="at grid", executors=QUICK)
    for level, size in LEVELS:
          at_level(name, f"concat {size} (map ({name} <{level}> (fn x y => x <= y)) (splitUp {size} xs))", executors=QUICK,
                 wanted=lambda xs, size=size: joined(map(sorted, chunks(size, xs))), variant=f"at {level}",
                 inputs=lambda n, r: [[x % r.choice((10, 2**32)) for x in words(n, r)]])
row("sorts", "mergeSort", f"unzip (force (mergeSort <grid> (fn (x, _) (y, _) => x <= y) {PLACES}))", variant="stable, at grid", **KEYED,
    wanted=lambda xs: unzipped(2, stably(keyed(xs))), executors=QUICK)
for level, size in LEVELS:
    row("sorts", "mergeSort", f"unzip (force (concat {size} (map (mergeSort <{level}> (fn (x, _) (y, _) => x <= y)) (splitUp {size} {PLACES})) "
          ": [(uint, int)]<grid>))", variant=f"stable, at {level}", **KEYED, executors=USUAL if level == "block" else QUICK,
          wanted=lambda xs, size=size: unzipped(2, joined(stably(part) for part in chunks(size, keyed(xs)))))
at_level("partitionPoint", "push <grid> (map (fn t => uint (partitionPoint (fn x => x < t) 0 (length xs) xs)) ts)",
         lambda xs, ts: [sum(x < t for x in xs[:1025]) if len(xs) <= 1025 else next((i for i, x in enumerate(xs) if x >= t), len(xs)) for t in ts],
         "xs:[uint] ts:[uint]", inputs=lambda n, r: [sorted(words(n, r)), words(9, r) + [0, WORD]], executors=QUICK)
row("sorts", "mergeSorted", "unzip (force (mergeSorted <grid> (fn (x, _) (y, _) => x <= y) (mapIx (fn i x => (x, i)) xs) (mapIx (fn i y => (y, -1 - i)) ys)))",
    "xs:[uint] ys:[uint]", "[uint] [int]", variant="stable, at grid",
    wanted=lambda xs, ys: unzipped(2, stably([(x, i) for i, x in enumerate(xs)] + [(y, -1 - i) for i, y in enumerate(ys)])),
    inputs=lambda n, r: [sorted(x % 100 for x in words(n, r)), sorted(x % 100 for x in words(r.choice((0, 1, n // 3, n)), r))], executors=EVERY)
at_level("mergeSorted", "concat 300 (map (fn c => mergeSorted <block> (fn x y => x <= y) (take 100 c) (drop 100 c)) (splitUp 300 xs))",
         lambda xs: joined(map(sorted, chunks(300, xs))), variant="at block", executors=QUICK,
         inputs=lambda n, r: [joined(sorted(part[:100]) + sorted(part[100:]) for part in chunks(300, words(n, r)))])
row("sorts", "mergeRuns", "unzip (force (mergeRuns <grid> (fn (x, _) (y, _) => x <= y) 24 (mapIx (fn i x => (x, i)) xs)))", variant="stable, at grid",
    **KEYED, wanted=lambda xs: unzipped(2, joined(stably(part) for part in chunks(48, [(x, i) for i, x in enumerate(xs)]))), inputs=runs_of(24), executors=QUICK)
at_level("mergeRuns", "concat 300 (map (mergeRuns <block> (fn x y => x <= y) 24) (splitUp 300 xs))", variant="at block", executors=QUICK,
         wanted=lambda xs: joined(joined(map(sorted, chunks(48, part))) for part in chunks(300, xs)),
         inputs=lambda n, r: [joined(runs_of(24)(len(part), r)[0] for part in chunks(300, [0] * n))])

# ---- sorts of whole arrays, of every base type ----

ORDERS = ("equal", "sorted", "reversed", "few", "random", "extreme")
BITS = {"bool": 1, "i8": 8, "i16": 16, "int": 32, "i64": 64, "u8": 8, "u16": 16, "uint": 32, "u64": 64, "float": 32, "double": 64}
SIGNED = ("i8", "i16", "int", "i64")
# Floats are given and wanted as their bits.
STORED = {"float": ("uint", "floatOfBits", "bitsOfFloat"), "double": ("u64", "doubleOfBits", "bitsOfDouble")}


def total(kind):
    """The key by which elements of a type are in order; that of floats is IEEE 754's total order of their bits."""
    if kind not in STORED:
        return lambda x: x
    sign = 1 << BITS[kind] - 1
    return lambda x: x ^ (2 * sign - 1 if x & sign else sign)


def elements(kind, order):
    """Elements of a type, as they are stored, in that order."""
    bits, low = BITS[kind], -(1 << BITS[kind] - 1) if kind in SIGNED else 0
    special = [0, 1, (1 << bits) - 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits - 1) + 1]
    exponent = {"float": 0xff << 23, "double": 0x7ff << 52}.get(kind, 0)
    lowest, sign = exponent & -exponent, 1 << bits - 1
    if exponent:
        special += [x | s for s in (0, sign) for x in (exponent, exponent | lowest >> 1, exponent + lowest - 1, exponent - 1, lowest)]

    def one(r):
        x = r.choice(special) if order == "extreme" else r.getrandbits(bits)
        if kind == "bool":
            return bool(x & 1)
        if exponent and x & exponent == exponent and x & lowest - 1:
            x |= lowest >> 1  # which NaN are signalling, and what becomes of them, is the hardware's affair
        return (x & (1 << bits) - 1) + low

    def made(n, r):
        few = [one(r) for _ in range(1 if order == "equal" else 4)]
        xs = [r.choice(few) for _ in range(n)] if order in ("equal", "few") else [one(r) for _ in range(n)]
        if order in ("sorted", "reversed"):
            xs.sort(key=total(kind), reverse=order == "reversed")
        return xs
    return made


def sorting(kind, names, kernel, result, wanted, executors):
    """A sort of one type, of elements in all orders. `{}` is the array in the kernel, its type in the result."""
    stored, read, _ = STORED.get(kind, (kind, None, None))
    row("whole sorts", names, kernel.format(f"(map {read} xs)" if read else "xs"), f"xs:[{stored}]", result.format(stored), wanted,
        inputs={order: lambda n, r, order=order: [elements(kind, order)(n, r)] for order in ORDERS}, variant=f"of {kind}", executors=executors)
    # Every order at some length; of the types in FULLY and of floats all orders at one length, and the other lengths in one order each.
    lengths = AWKWARD if kind in FULLY else (2, 33, 257, 300, 4095, min(10007, max(LONGEST[executor] for executor in executors)))
    in_turn = [(n, ORDERS[(i + len(kind)) % len(ORDERS)]) for i, n in enumerate(lengths)]
    TABLE[-1].tests = in_turn + [(300, order) for order in ORDERS if kind in FULLY or kind in STORED]


FULLY = ("int", "double")  # the types for which there are all lengths
for kind in BITS:
    order = total(kind)
    written = STORED[kind][2] if kind in STORED else None
    usual = QUICK if kind in FULLY else ("interp", "c") if kind in ("bool", "u8", "i64", "u64") else CHEAP

    def places(xs, order=order):
        return sorted(range(len(xs)), key=lambda i: order(xs[i]))

    sorting(kind, "sort", f"map {written} (force (sort {{}}))" if written else "sort {}", "[{}]", lambda xs, order=order: sorted(xs, key=order),
            QUICK + ("c-unoptimised", "opencl-simt") if kind == "int" else usual)
    if kind == "double":
        sorting(kind, "argsort", "argsort {}", "[int]", places, usual)
    if kind in ("bool", "float"):
        first = f"map ({written} . fst) sorted" if written else "map fst sorted"
        sorting(kind, "sortByKey", f"let sorted = force (sortByKey (mapIx (fn i x => (x, i)) {{}})) in ({first}, map snd sorted)",
                "[{}] [int]", lambda xs, places=places: unzipped(2, [(xs[i], i) for i in places(xs)]), CHEAP)
row("whole sorts", "sortBy", f"unzip (force (sortBy (fn (x, _) (y, _) => x <= y) {PLACES}))", variant="stable", **KEYED,
    wanted=lambda xs: unzipped(2, stably(keyed(xs))), lengths=AWKWARD + (1024, 2047, 2048, 2049, 65537), executors=QUICK)
row("whole sorts", "radixPass", f"unzip (force (radixPass (fn (x, _) => int x) {PLACES}))", **KEYED, executors=CHEAP,
    wanted=lambda xs: unzipped(2, stably(keyed(xs))))
row("whole sorts", "bucketPass", f"unzip (force (bucketPass 256 (fn (x, _) => int x) {PLACES}))", **KEYED, executors=CHEAP,
    wanted=lambda xs: unzipped(2, stably(keyed(xs))))
row("whole sorts", "radixSort", "unzip (force (radixSort (fn (x, _) => u64 x << 20) (mapIx (fn i x => (x % 5000, i)) xs)))", **KEYED,
    executors=CHEAP, wanted=lambda xs: unzipped(2, stably([(x % 5000, i) for i, x in enumerate(xs)])), lengths=FEWER)
row("whole sorts", "sort", "sort xs", "xs:[int]", "[int]", sorted, variant="of int, long", lengths=(65535, 2**20 + 3), executors=("c",))

# ---- running them ----

TOGETHER = 8  # so many rows are computed by one kernel, as each costs OpenCL half a second


def cases(env):
    def complete():
        with open(env.path("docs", "prelude.md"), encoding="utf-8") as file:
            functions = set(re.findall(r"^(\w+) : ", file.read(), re.MULTILINE))
        tested = {name for entry in TABLE for name in entry.names}
        assert len(functions) > 90 and functions == tested, (
            f"no row of the table: {', '.join(sorted(functions - tested))}; no function: {', '.join(sorted(tested - functions))}")
    yield Case("every function of the prelude has a row", complete)

    groups = {}
    for entry in TABLE:
        groups.setdefault(entry.group, []).append(entry)
    for group, rows in groups.items():
        folder = env.tmp()
        for executor in [executor for executor in EVERY if any(executor in entry.executors for entry in rows)]:
            yield Case(f"{group} on {executor}", lambda rows=rows, folder=folder, executor=executor: run(env, rows, folder, executor))


class Bundle:
    """Rows with the same tests, computed by one kernel."""

    def __init__(self, rows):
        self.rows, self.tests = rows, rows[0].tests
        self.name = "k" + "_".join(str(entry.number) for entry in rows)

    def source(self):
        if len(self.rows) == 1:
            return f"kernel {self.name} {' '.join(f'({p} : {kind})' for p, kind in self.rows[0].params)} = {self.rows[0].kernel}"
        params, results = [], []
        for entry in self.rows:
            named = [f"{p}{entry.number}" for p, _ in entry.params]
            params += [f"({name} : {kind})" for name, (_, kind) in zip(named, entry.params)]
            results.append(f"(fn {' '.join(p for p, _ in entry.params)} => {entry.kernel}) {' '.join(named)}")
        return f"kernel {self.name} {' '.join(params)} =\n  ({', '.join(results)})".replace("\n", " ")

    def directive(self, folder, length, label):
        given, wanted = zip(*(entry.values(folder, length, label) for entry in self.rows))
        return f"-- test {self.name} {' '.join(given)} == {in_tuple(wanted)}"


def bundled(rows):
    """Rows with the same tests in bundles."""
    alike = {}
    for entry in rows:
        alike.setdefault(entry.number if entry.alone else tuple(entry.tests), []).append(entry)
    return [Bundle(part) for entries in alike.values() for part in chunks(TOGETHER, entries)]


def run(env, rows, folder, executor):
    require(env, executor)

    def attempt(bundles, tests):
        """Run these tests, of (length, place in bundles, label): those that failed, the counts if it came to an end, all output."""
        lines = PRELUDE.splitlines() + [bundle.source() for bundle in bundles]
        name = f"{executor}.fcl"  # not the whole path, which is in the generated code: what is built is found again by later runs
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines + [bundles[i].directive(folder, length, label) for length, i, label in tests]) + "\n")
        done = env.run(env.fclc, "test", *EXECUTORS[executor][0], name, cwd=folder, env=variables(env, executor), timeout=600)
        failed = [(tests[int(line) - len(lines) - 1], text) for line, text in
                  re.findall(r"^[^\n]*\.fcl:(\d+): (.*)$", done.stdout, re.M) if int(line) > len(lines)]
        return failed, Counts.of_last_line(done.stdout), done.stdout + done.stderr

    def told(test, bundle, text):
        """What is wrong: with one row, where one alone shows it, and all that went together elsewhere."""
        length, _, label = test
        for entry in bundle.rows:
            single = Bundle([entry])
            failed, counts, output = attempt([single], [(length, 0, label)])
            if not counts or counts.failed:
                bundle, text = single, failed[0][1] if failed else output
                break
        titles = " with ".join(entry.title for entry in bundle.rows)
        kinds = " ".join(kind for entry in bundle.rows for _, kind in entry.params)
        return (f"{titles}{label and ', ' + label}, types {kinds}, length {length}, {executor}: {text}\n{bundle.source()}\n"
                f"{bundle.directive(folder, length, label)}\n")

    bundles = bundled([entry for entry in rows if executor in entry.executors])
    tests = sorted((length, i, label) for i, bundle in enumerate(bundles) for length, label in bundle.tests if length <= LONGEST[executor])
    failed, counts, output = attempt(bundles, tests)
    if not counts:  # a crash: the smallest test that does not come to an end
        for test in tests:
            _, counts, output = attempt([bundles[test[1]]], [(test[0], 0, test[2])])
            assert counts, told(test, bundles[test[1]], output)
        raise AssertionError(f"all tests together do not come to an end\n{output}")
    if counts.failed:
        (test, text), more = failed[0], failed[1:6]
        counts.output = told(test, bundles[test[1]], text) + "".join(
            f"also {bundles[i].name}{label and ', ' + label}, length {length}: {text}\n" for (length, i, label), text in more)
    else:
        assert counts.passed == len(tests), f"{counts.passed} of {len(tests)} ran\n{output}"
    return counts
