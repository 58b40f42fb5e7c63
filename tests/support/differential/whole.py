"""Whole arrays: reductions, selections, scans."""

import functools
import math
import struct
from .rows import (
    AFFINE,
    AWKWARD,
    LONG,
    QUICK,
    VARIANT,
    WORD,
    after,
    by_index,
    chunks,
    digits,
    latest,
    row,
    scanned,
    times,
    unzipped,
    words,
)

def whole(names, kernel, wanted, params="xs:[uint]", result="[uint]", **options):
    row("whole", names, kernel, params, result, wanted, **options)


def first_by(key):
    return lambda xs: min(range(len(xs)), key=lambda i: (key(xs[i]), i))


def float_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


NAN = 0x7fc00000


def odd_floats(n, r):
    """Bits of floats: few different ones, NaN of both signs among them, infinities, zeros, subnormal numbers."""
    return [
        [
            r.choice(
                (
                    NAN,
                    0xFFC00000,
                    0x7F800000,
                    0xFF800000,
                    0,
                    0x80000000,
                    1,
                    0x80000001,
                    0x7F7FFFFF,
                    0xFF7FFFFF,
                    0x3F800000,
                    r.getrandbits(32),
                )
            )
            for _ in range(n)
        ]
    ]


def least_float(sign):
    """The least (sign 1) or greatest (-1) number among these bits; NaN where there is none."""
    def of(bits):
        numbers = [
            (sign * math.copysign(1, float_of(b)) * 0 + sign * float_of(b), sign * math.copysign(1, float_of(b)), b)
            for b in bits
            if float_of(b) == float_of(b)
        ]
        return min(numbers)[2] if numbers else NAN
    return of


def arg_float(sign):
    """The first place of the least (sign 1) or greatest number among these bits; the first of all where there is
    none."""
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


for name, f, neutral, op in (
    ("+", "(+)", 0, lambda x, y: x + y & WORD),
    ("*", "(fn x y => (x | 1) * (y | 1))", 1, lambda x, y: (x | 1) * (y | 1) & WORD),
    ("max", "max", 0, max),
    ("xor", "(^)", 0, lambda x, y: x ^ y),
):
    whole(
        "reduce",
        f"reduce {f} {neutral} (map (| {neutral}) xs)",
        variant=f"by {name}",
        result="uint",
        **({} if name == "+" else VARIANT),
        wanted=lambda xs, op=op, neutral=neutral: functools.reduce(op, (x | neutral for x in xs), neutral),
    )
whole(
    "reduce",
    "reduce (fn (a, b, c) (p, q, r) => (a & p, b | q, min c r)) (4294967295, 0, 4294967295) (zip3 xs ys (map (~) xs))",
    lambda xs, ys: (
        functools.reduce(lambda x, y: x & y, xs, WORD),
        functools.reduce(lambda x, y: x | y, ys, 0),
        min((WORD - x for x in xs), default=WORD),
    ),
    "xs:[uint] ys:[uint]",
    "uint uint uint",
    variant="of triples",
    **VARIANT,
)
whole(
    "reduceInOrder",
    "reduceInOrder after (1, 0) (zip xs ys)",
    lambda xs, ys: functools.reduce(after, zip(xs, ys), (1, 0)),
    AFFINE["params"],
    "uint uint",
)
whole(
    "reduce",
    "reduce after (1, 0) (zip xs ys)",
    lambda xs, ys: functools.reduce(after, zip(xs, ys), (1, 0)),
    AFFINE["params"],
    "uint uint",
    variant="of maps, which do not commute",
)
whole("reduceComm", "reduceComm (+) 0 xs", lambda xs: sum(xs) & WORD, result="uint")
whole("reduce1", "reduce1 min xs", min, result="uint", lengths=LONG[1:])
whole(
    "reduce1",
    "reduce1 (fn (x, i) (y, j) => if x > y || (x == y && i < j) then (x, i) else (y, j)) (mapIx (fn i x => (x % 50,"
    " i)) xs)",
    lambda xs: min(((x % 50, i) for i, x in enumerate(xs)), key=lambda p: (-p[0], p[1])),
    result="uint int",
    lengths=AWKWARD[1:],
    variant="of pairs",
    executors=QUICK,
)
whole("reduceChunk", "(concat 1 (map (reduceChunk (+)) (splitUp 1000 xs)) : [uint]<grid>)",
      lambda xs: [sum(part) & WORD for part in chunks(1000, xs)])
whole(
    "reduceRows",
    "reduceRows (+) 0 (rows width xs)",
    params="width:int xs:[uint]",
    wanted=lambda width, xs: [sum(part) & WORD for part in chunks(width, xs[: len(xs) // width * width])],
    inputs={
        f"rows of {width}": lambda n, r, width=width: [width, words(n - n % width, r)]
        for width in (1, 9, 64, 65, 300, 9000)
    },
)
whole(
    "reduceRows",
    "unzip (force (reduceRows after (1, 0) (rows width (zip xs ys))))",
    params="width:int xs:[uint] ys:[uint]",
    result="[uint] [uint]",
    wanted=lambda width, xs, ys: unzipped(
        2,
        [
            functools.reduce(after, part, (1, 0))
            for part in chunks(width, list(zip(xs, ys))[: len(xs) // width * width])
        ],
    ),
    inputs={
        f"rows of {width}": lambda n, r, width=width: [width, words(n - n % width, r), words(n - n % width, r)]
        for width in (1, 8, 9, 33, 64, 65, 300, 1024, 1025, 9000)
    },
    variant="of maps, which do not commute",
)
whole(
    "minimum maximum",
    "(minimum xs, maximum xs)",
    lambda xs: (min(xs), max(xs)),
    "xs:[int]",
    "int int",
    lengths=LONG[1:],
)
whole(
    "minimum maximum",
    "let bits = fn x => if x == x then bitsOfFloat x else 0x7fc00000 in (bits (minimum (map floatOfBits xs)), bits"
    " (maximum (map floatOfBits xs)))",
    lambda xs: (least_float(1)(xs), least_float(-1)(xs)),
    result="uint uint",
    lengths=AWKWARD[1:],
    inputs=odd_floats,
    variant="of floats",
    executors=QUICK,
)
whole(
    "argBy", "argBy (fn x y => x % 1000 > y % 1000) xs", first_by(lambda x: -(x % 1000)), result="int", lengths=LONG[1:]
)
whole(
    "argmin argmax",
    "(argmin xs, argmax xs)",
    lambda xs: (first_by(lambda x: x)(xs), first_by(lambda x: -x)(xs)),
    "xs:[int]",
    "int int",
    lengths=LONG[1:],
    inputs=lambda n, r: [[x % 5000 - 2500 for x in words(n, r)]],
)
whole(
    "argmin argmax",
    "(argmin (map floatOfBits xs), argmax (map floatOfBits xs))",
    lambda xs: (arg_float(1)(xs), arg_float(-1)(xs)),
    result="int int",
    lengths=AWKWARD[1:],
    inputs=odd_floats,
    variant="of floats",
    executors=QUICK,
)
whole(
    "find",
    "find (fn x => x < 1000) xs",
    lambda xs: next((i for i, x in enumerate(xs) if x < 1000), -1),
    result="int",
    inputs=lambda n, r: selection(r.choice(("none", "one", "half")))(n, r),
)
SHARES = {f"true of {chosen}": selection(chosen) for chosen in ("none", "one", "half", "all")}
whole(
    "count any all",
    "let few = fn x => x < 1000 in (count few xs, any few xs, all few xs)",
    inputs=SHARES,
    result="int bool bool",
    wanted=lambda xs: (sum(x < 1000 for x in xs), any(x < 1000 for x in xs), all(x < 1000 for x in xs)),
)


def in_parts(result):
    return lambda xs: [result(xs[i:i + 100]) for i in range(0, len(xs), 100)]


whole(
    "findSeq anySeq allSeq",
    "let few = fn x => x < 1000\n      parts = splitUp 100 xs\n  in "
    "(map (findSeq few) parts, map (anySeq few) parts, map (allSeq few) parts)",
    inputs=SHARES,
    result="[int] [bool] [bool]",
    wanted=lambda xs: (in_parts(lambda part: next((i for i, x in enumerate(part) if x < 1000), -1))(xs),
                       in_parts(lambda part: any(x < 1000 for x in part))(xs),
                       in_parts(lambda part: all(x < 1000 for x in part))(xs)),
)
whole("topK", "topK 7 xs", lambda xs: sorted(xs, reverse=True)[:7])
whole("topKBy", "unzip (topKBy (fn (x, _) (y, _) => x < y) 99 (mapIx (fn i x => (x % 50, i)) xs))",
      lambda xs: unzipped(2, sorted((x % 50, i) for i, x in enumerate(xs))[:99]),
      result="[uint] [int]", variant="of pairs that are alike")
whole("replicateBy", "replicateBy (map (fn x => int (x % 4) - 1) xs) xs",
      lambda xs: [x for x in xs for _ in range(x % 4 - 1)])
whole("flattenRagged", "flattenRagged (map (fn x => generate (int (x % 4)) (fn j => x + uint j)) xs)",
      lambda xs: [(x + j) % 2**32 for x in xs for j in range(x % 4)])
whole("flattenRagged", "flattenRagged (splitUp 3000 xs)", lambda xs: xs, variant="of long rows", **VARIANT)
whole("filter", "filter (fn x => x < 1000) xs", lambda xs: [x for x in xs if x < 1000], inputs=SHARES)
whole("filter", "unzip (filter (fn (x, i) => x % 3 == 0) (mapIx (fn i x => (x, i)) xs))", variant="of pairs", **VARIANT,
      wanted=lambda xs: unzipped(2, [(x, i) for i, x in enumerate(xs) if x % 3 == 0]), result="[uint] [int]")
whole(
    "partition",
    "partition (fn x => x < 1000) xs",
    lambda xs: ([x for x in xs if x < 1000], [x for x in xs if x >= 1000]),
    inputs=SHARES,
    result="[uint] [uint]",
)
whole("compactIx", "compactIx (fn i x => x < 1000 || i % 1000 == 999) xs", inputs=SHARES,
      wanted=lambda xs: [x for i, x in enumerate(xs) if x < 1000 or i % 1000 == 999])
whole(
    "compact",
    "(compact <grid> (fn x => x < 1000) xs : [uint]<grid>)",
    lambda xs: [x for x in xs if x < 1000],
    inputs=SHARES,
    variant="at grid",
)
for f, op, options in (
    ("(+)", lambda x, y: x + y & WORD, {}),
    ("(fn x y => (x | 1) * (y | 1))", lambda x, y: (x | 1) * (y | 1) & WORD, VARIANT),
):
    whole(
        "permuteWith",
        f"(permuteWith {f} start (fn i => places ! i) xs : [uint]<grid>)",
        params="start:[uint] places:[int] xs:[uint]",
        wanted=lambda start, places, xs, op=op: by_index(op, start, places, xs),
        variant=f"by {f}",
        **options,
        inputs=lambda n, r: [words(min(n, 700), r), [r.randrange(-2, min(n, 700) + 2) for _ in range(n)], words(n, r)],
    )
whole(
    "scanBy",
    "scanBy after (1, 0) (fn x => (x, ~x)) (fn start part => mapPush fst (scanl (fn s x => after s (x, ~x)) start"
    " part)) xs",
    lambda xs: [a for a, _ in scanned(after, (1, 0), [(x, WORD - x) for x in xs])],
)
for name, inclusive in (("scan", True), ("scanExclusive", False)):
    whole(name, f"unzip (force ({name} after (1, 0) (zip xs ys)))", variant="of affine maps", **AFFINE,
          wanted=lambda xs, ys, inclusive=inclusive: unzipped(2, scanned(after, (1, 0), zip(xs, ys), inclusive)))
    whole(
        name,
        f"let m = force ({name} times (1, 0, 0, 1) (zipWith (fn x y => (x, y, 1, x ^ y)) xs ys)) in "
        "(map (fn (a, b, _, _) => a ^ b) m, map (fn (_, _, c, d) => c ^ d) m)",
        variant="of matrices",
        **AFFINE,
        **VARIANT,
        wanted=lambda xs, ys, inclusive=inclusive: unzipped(
            2,
            [
                (a ^ b, c ^ d)
                for a, b, c, d in scanned(times, (1, 0, 0, 1), [(x, y, 1, x ^ y) for x, y in zip(xs, ys)], inclusive)
            ],
        ),
    )
    whole(
        name,
        f"{name} latest 0 xs",
        variant="of the last not zero",
        params="xs:[int]",
        result="[int]",
        inputs=lambda n, r: [digits(n, r)],
        wanted=lambda xs, inclusive=inclusive: scanned(latest, 0, xs, inclusive),
        **VARIANT,
    )
whole(
    "histogram",
    "histogram k xs",
    lambda k, xs: by_index(lambda x, y: x + y, [0] * k, xs, [1] * len(xs)),
    "k:int xs:[int]",
    "[int]",
    inputs=lambda n, r: [r.choice((0, 1, 7, 300, n)), [x % 512 - 100 for x in words(n, r)]],
)
