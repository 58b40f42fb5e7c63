"""Functions on functions and scalars, and views."""

import math
from .rows import LONG, VARIANT, WORD, chunks, hashed, ints, row, unzipped, words


def view(names, kernel, wanted, params="xs:[uint]", **options):
    """A pull array of numbers."""
    row("views", names, f"push <grid> ({kernel})", params, "[uint]", wanted, **options)


def views(names, kernel, wanted, count, params="xs:[uint] ys:[uint]", **options):
    """A tuple of pull arrays."""
    parts = "abcdefgh"[:count]
    row(
        "views",
        names,
        f"let ({', '.join(parts)}) = {kernel} in ({', '.join(f'push <grid> {part}' for part in parts)})",
        params,
        " ".join(["[uint]"] * count),
        wanted,
        **options,
    )


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
    return [[xs[y * cols + x] for y in range(top, min(rows, top + height))
             for x in range(left, min(cols, left + width))]
            for top in range(0, rows, height) for left in range(0, cols, width)]


def columns(k, xs):
    return [xs[j::k] for j in range(k)]


views("id const flip uncurry curry",
      "(map id xs, zipWith const xs ys, zipWith (flip (-)) xs ys, map (uncurry (-)) (zip xs ys), zipWith (curry snd) "
      "xs ys)",
      lambda xs, ys: (xs, xs, [y - x & WORD for x, y in zip(xs, ys)], [x - y & WORD for x, y in zip(xs, ys)], ys), 5)
row("views", "clamp", "push <grid> (map (clamp (-7) 1000000000) xs)", "xs:[int]", "[int]",
    lambda xs: [max(-7, min(10**9, x)) for x in xs])
row("views", "divUp", "push <grid> (zipWith (fn x y => divUp x (max 1 y)) xs ys)", "xs:[int] ys:[int]", "[int]",
    lambda xs, ys: [up(max(0, x), max(1, y)) for x, y in zip(xs, ys)],
    inputs=lambda n, r: [[r.choice((x, abs(x) % 9, 2**31 - 1)) for x in ints(n, r)],
                         [r.choice((x, x % 9)) for x in ints(n, r)]])
view("fst snd map generate length", "map (fn p => snd p * 3 - fst p) (generate (length xs) (fn i => (xs ! i, uint i)))",
     lambda xs: [i * 3 - x & WORD for i, x in enumerate(xs)])
row("views", "min max abs", "push <grid> (zipWith (fn x y => min (abs x) (max y (-7))) xs ys)", "xs:[int] ys:[int]",
    "[int]",
    lambda xs, ys: [min(abs(x) if x > -2**31 else x, max(y, -7)) for x, y in zip(xs, ys)])
view("iota", "map uint (iota n)", lambda n: list(range(n)), "n:int", inputs=lambda n, r: [n])
view("replicate", "replicate n x", lambda n, x: [x] * n, "n:int x:uint", inputs=lambda n, r: [n, r.getrandbits(32)])
view("singleton", "singleton x", lambda x: [x], "x:uint")
row("views", "head last", "(head xs, last xs)", "xs:[uint]", "uint uint", lambda xs: (xs[0], xs[-1]), lengths=LONG[1:])
view("take", "take k xs", lambda k, xs: xs[:max(0, k)], "k:int xs:[uint]", inputs=at_borders(2**31 - 1))
view("takeAll", "takeAll k xs", lambda k, xs: xs[:k], "k:int xs:[uint]",
     inputs=lambda n, r: [r.choice((0, n // 2, n)), words(n, r)])
view("drop", "drop k xs", lambda k, xs: xs[max(0, k):], "k:int xs:[uint]", inputs=at_borders(2**31 - 1))
view("tail", "tail xs", lambda xs: xs[1:])
view("init", "init xs", lambda xs: xs[:-1])
views("splitAt", "splitAt k xs", lambda k, xs: (xs[:max(0, k)], xs[max(0, k):]), 2, "k:int xs:[uint]",
      inputs=at_borders(2**31 - 1))
views("halve", "halve xs", lambda xs: (xs[:up(len(xs), 2)], xs[up(len(xs), 2):]), 2, "xs:[uint]")
views("evenOdds", "evenOdds xs", lambda xs: (xs[::2], xs[1::2]), 2, "xs:[uint]")
views("evens odds", "(evens xs, odds xs)", lambda xs: (xs[::2], xs[1::2]), 2, "xs:[uint]")
view("riffle", "riffle xs", lambda xs: [xs[i // 2 + (i % 2 and up(len(xs), 2))] for i in range(len(xs))])
view("two", "two reverse xs", lambda xs: xs[:up(len(xs), 2)][::-1] + xs[up(len(xs), 2):][::-1])
def interleaved_backwards(xs):
    """The elements at even places backwards, and between them those at odd places backwards."""
    result = list(xs)
    result[::2], result[1::2] = xs[::2][::-1], xs[1::2][::-1]
    return result


view("ilv", "ilv reverse xs", interleaved_backwards)
view("binSplit", "binSplit k reverse xs",
     lambda k, xs: [x for part in chunks(max(1, len(xs) >> k), xs[:len(xs) >> k << k]) for x in part[::-1]],
     "k:int xs:[uint]", inputs=lambda n, r: [r.randrange(8), words(n, r)])
view("reverse", "reverse xs", lambda xs: xs[::-1])
views("zip unzip", "unzip (zip xs (drop 3 ys))", lambda xs, ys: unzipped(2, list(zip(xs, ys[3:]))), 2)
views("zip3 unzip3", "unzip3 (zip3 (drop 1 xs) ys (drop 2 ys))", lambda xs,
      ys: unzipped(3, list(zip(xs[1:], ys, ys[2:]))), 3)
view("zipWith", "zipWith (-) (drop 1 xs) ys", lambda xs, ys: [x - y & WORD for x, y in zip(xs[1:], ys)],
     "xs:[uint] ys:[uint]")
view("zipWith3", "zipWith3 (fn x y z => x * y - z) xs (drop 1 ys) ys",
     lambda xs, ys: [x * y - z & WORD for x, y, z in zip(xs, ys[1:], ys)], "xs:[uint] ys:[uint]")
view("mapIx", "mapIx (fn i x => x ^ uint (i * i)) xs", lambda xs: [x ^ i * i & WORD for i, x in enumerate(xs)])
view("gather", "gather places xs", lambda places, xs: [xs[i] for i in places], "places:[int] xs:[uint]",
     inputs=lambda n, r: [[r.randrange(n) for _ in range(n + n // 2)], words(n, r)])
view("appendPull", "appendPull xs (drop 3 ys)", lambda xs, ys: xs + ys[3:], "xs:[uint] ys:[uint]")
view("empty", "appendPull (appendPull empty xs) empty", lambda xs: xs)
row("views", "range", "push <grid> (range low high)", "low:int high:int", "[int]", lambda low,
    high: list(range(low, high)),
    inputs=lambda n, r: r.choice(([-n // 2, n - n // 2], [n, -n], [2**31 - 1 - n, 2**31 - 1], [-2**31, -2**31 + n])))
view("splitUp", "map hash (splitUp k xs)", lambda k, xs: hashed(chunks(k, xs)), "k:int xs:[uint]", inputs=some())
view("splitUp", "map hash (splitUp 7 xs)", lambda xs: hashed(chunks(7, xs)), variant="of a static size", **VARIANT)
view("splitUpEnd", "map hash (splitUpEnd k xs)", lambda k,
     xs: hashed([part[::-1] for part in chunks(k, xs[::-1])[::-1]]),
     "k:int xs:[uint]", inputs=some())
view("flatten", "flatten (splitUp k xs)", lambda k, xs: xs, "k:int xs:[uint]", inputs=some())
view("flatten", "flatten (cols k xs)", lambda k, xs: [xs[i * k + j] for j in range(k) for i in range(len(xs) // k)],
     "k:int xs:[uint]",
     inputs=some(), variant="of columns", **VARIANT)
view("flatten", "flatten (map (take 2) (splitUp k xs))", lambda k, xs: [x for c in chunks(k, xs) for x in c[:2]],
     "k:int xs:[uint]", inputs=some(), variant="of heads", **VARIANT)
view("coalesce", "map hash (coalesce k xs)", lambda k,
     xs: hashed([xs[i::up(len(xs), k)] for i in range(up(len(xs), k))]),
     "k:int xs:[uint]", inputs=some())
view("everyNth", "everyNth k xs", lambda k, xs: xs[::k], "k:int xs:[uint]", inputs=some())
view("transpose", "transpose cols rows xs", lambda cols, rows,
     xs: [xs[j * cols + i] for i in range(cols) for j in range(rows)],
     "cols:int rows:int xs:[uint]", inputs=matrix)
view("rotate", "rotate k xs", lambda k, xs: [xs[(i + k) % len(xs)] for i in range(len(xs))], "k:int xs:[uint]",
     inputs=at_borders(2**31 - 1))
view("shift", "shift k 9 xs", lambda k, xs: [xs[i + k] if 0 <= i + k < len(xs) else 9 for i in range(len(xs))],
     "k:int xs:[uint]",
     inputs=at_borders(2**31 - 1))
view("pair unpair", "unpair (map (fn (x, y) => (y, x)) (pair xs))",
     lambda xs: [xs[i ^ 1] for i in range(len(xs) // 2 * 2)])
view("backpermute", "backpermute (length xs / 2) (fn i => length xs - 1 - 2 * i) xs",
     lambda xs: [xs[len(xs) - 1 - 2 * i] for i in range(len(xs) // 2)])
view("pad", "pad k 5 9 xs", lambda k, xs: [9] * k + xs + [9] * 5, "k:int xs:[uint]", inputs=some(0))
view("rows", "map hash (rows k (take (length xs / k * k) xs))",
     lambda k, xs: hashed(chunks(k, xs[:len(xs) // k * k])), "k:int xs:[uint]",
     inputs=some())
view("rowsPadded", "map hash (rowsPadded k 7 xs)", lambda k, xs: hashed(chunks(k, xs + [7] * (-len(xs) % k))),
     "k:int xs:[uint]",
     inputs=some())
view("cols", "map hash (cols k xs)", lambda k, xs: hashed(columns(k, xs[:len(xs) // k * k])), "k:int xs:[uint]",
     inputs=some())
view("tile", "map hash (tile 3 k cols xs)", lambda k, cols, xs: hashed(tiles(3, k, cols, xs)),
     "k:int cols:int xs:[uint]",
     inputs=lambda n, r: [r.choice((1, 4, 16, n + 1)), max(1, math.isqrt(n) + r.randrange(3)), words(n, r)])
view("window", "map hash (window k xs)", lambda k, xs: hashed([xs[i:i + k] for i in range(len(xs) - k + 1)]),
     "k:int xs:[uint]",
     inputs=lambda n, r: [r.choice((1, 2, 9, n + 1)), words(n, r)])
