"""What the rows of the differential tests are made of: a row is a kernel, its arguments by length, and what it must
give."""

import array
import functools
import itertools
import os
import random
import struct
import threading

# Lengths around the sizes of warps, blocks and chunks, powers of two, primes.
SMALL = (0, 1, 2, 31, 32, 33, 255, 256, 257)
AWKWARD = SMALL + (1023, 1025, 4095, 4097, 7919, 10007)
MILLION = 2**20 + 3
LONG = AWKWARD + (65535, 65537, MILLION)
# The longest array for each executor, by how fast it is; there is none in a long run.
LONGEST = {"interp": 4097, "c": 65537, "c-unoptimised": 65537, "opencl-loop": 2**21, "opencl-simt": 10007,
           "cuda-simulator": 4097}
EVERY = tuple(LONGEST)
# Compiling takes long, above all for OpenCL. So there is a row for each function that runs everywhere; others of the
# same function, of other types, operators and levels, are VARIANTs, which run where that is cheap.
QUICK = ("interp", "cuda-simulator", "c")
VARIANT = dict(executors=QUICK, lengths=AWKWARD)
# A function at several levels runs everywhere at block, and at grid where arrays may be long.
AT_BLOCK = dict(variant="at block", lengths=AWKWARD)
AT_GRID = dict(variant="at grid", executors=QUICK + ("opencl-loop",))


def at(level):
    """The options of a row of a function at one of several levels, but at grid."""
    return AT_BLOCK if level == "block" else dict(variant=f"at {level}", **VARIANT)


LEVELS = (("thread", 7), ("warp", 45), ("block", 300))  # and the chunks that are used at it
AFFINE = dict(params="xs:[uint] ys:[uint]", result="[uint] [uint]")
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


def by_index(f, start, places, values):
    found = list(start)
    for i, x in zip(places, values):
        if 0 <= i < len(found):
            found[i] = f(found[i], x)
    return found


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
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                   array.array(code, values).tobytes())


def literal(x):
    return str(x).lower() if isinstance(x, bool) else repr(x)


def in_tuple(texts):
    return texts[0] if len(texts) == 1 else f"({','.join(texts)})"


def words(n, r):
    return list(array.array("I", r.randbytes(4 * n)))


def ints(n, r):
    return list(array.array("i", r.randbytes(4 * n)))


def doubles(n, r):
    """Small whole numbers, so that sums and products are exact."""
    return [float(x % 41 - 20) for x in words(n, r)]


def digits(n, r):
    """Small numbers of both signs, half of them zero."""
    return [x % 41 - 20 if x & 1024 else 0 for x in words(n, r)]


FILL = {"[uint]": words, "[int]": ints, "[double]": doubles, "[bool]": lambda n,
        r: [bool(x & 1) for x in r.randbytes(n)],
        "uint": lambda n, r: r.getrandbits(32), "int": lambda n, r: r.randrange(-n - 3, n + 4)}


class Row:
    """A row of the table: `names` of the functions it is for, a kernel's body, the types of its `params` and of its
    `result` (a word for each component), and `wanted`, what it gives for arguments. `inputs` makes up arguments of a
    length, by type where it is not given; a dictionary of these has a name for each. `tests` are pairs of a length
    and such a name: by default every name at all `lengths`. `long` are those that only a long run has: by default, of
    a row that runs everywhere and stops at the awkward lengths, one of MILLION elements. `alone`: cannot be computed
    by one kernel together with others, as it is no array of the grid. `near`: floats need only be near what is
    wanted. `library`: what the kernel imports."""

    def __init__(self, group, names, kernel, params, result, wanted, inputs=None, lengths=LONG, tests=None, long=None,
                 executors=EVERY, variant="",
                 alone=False, near=False, library=None):
        self.group, self.names, self.executors = group, names.split(), executors
        self.params = [part.split(":") for part in params.split()]
        self.result = result.split()
        self.kernel, self.wanted = kernel, wanted
        self.title = " ".join(filter(None, (names, variant)))
        self.number, self.alone, self.near, self.library = len(TABLE), alone, near, library
        self.inputs = inputs if isinstance(inputs, dict) else {"": inputs or self.by_type}
        self.tests = tests or [(length, label) for length in lengths for label in self.inputs]
        ends_awkward = max(length for length, _ in self.tests) == AWKWARD[-1]
        self.long = long or ([(MILLION, next(iter(self.inputs)))] if executors == EVERY and ends_awkward else [])
        longest = max(LONGEST[executor] for executor in executors)
        unreached = [length for length, _ in self.tests if length > longest]
        assert not unreached, f"{self.title}: lengths {unreached} are too long for {', '.join(executors)}"
        self.made, self.lock = {}, threading.Lock()

    def by_type(self, length, source):
        return [FILL[kind](length, source) for _, kind in self.params]

    def values(self, folder, length, label):
        """Arguments and result as a test directive has them; long arrays go to files in the folder, once for all
        executors."""
        with self.lock:
            if (length, label) not in self.made:
                given = self.inputs[label](length, random.Random(f"{self.title} {label} {length}"))
                wanted = self.wanted(*given)
                sides = []
                for side, kinds, values in (("given", [kind for _, kind in self.params], given),
                                            ("wanted", self.result, wanted if len(self.result) > 1 else [wanted])):
                    assert len(kinds) == len(values), self.title
                    sides.append([self.text(folder, f"{self.number}.{label}.{length}.{side}{i}".replace(" ", "-"), kind,
                                            value)
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
