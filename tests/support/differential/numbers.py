"""Numbers: the libraries complex, random and statistics."""

import cmath
import functools
import itertools
import math
from .rows import AWKWARD, LONG, WORD, doubles, row, unzipped

# ---- complex numbers ----


def complexes(n, r):
    """The parts of two arrays, which are never 0, so that all functions have a value."""
    return [part for _ in range(2) for part in ([x or 0.5 for x in doubles(n, r)], doubles(n, r))]


def complex_row(name, kernel, wanted):
    """A function of complex numbers z and w."""
    row("complex", name, f"unzip (map (fn z => (creal z, cimag z)) (zipWith (fn z w => {kernel}) "
        "(zipWith complexOf xs ys) (zipWith complexOf us vs)))",
        "xs:[double] ys:[double] us:[double] vs:[double]",
        "[double] [double]", library="complex", inputs=complexes, near=True, lengths=AWKWARD, wanted=lambda xs, ys, us,
        vs: unzipped(
            2, [(complex(v).real, complex(v).imag) for v in map(wanted, map(complex, xs, ys), map(complex, us, vs))]))


complex_row("real cimag", "real (cimag z)", lambda z, w: z.imag)
complex_row("imaginary creal", "imaginary (creal z)", lambda z, w: z.real * 1j)
complex_row("polar cadd", "cadd z (polar w.re w.im)", lambda z, w: z + w.real * cmath.exp(1j * w.imag))
complex_row("cis csub", "csub z (cis w.re)", lambda z, w: z - cmath.exp(1j * w.real))
complex_row("cmul cneg", "cmul z (cneg w)", lambda z, w: -z * w)
complex_row("cscale cmulI", "cscale z.re (cmulI w)", lambda z, w: z.real * 1j * w)
complex_row("cfma", "cfma z w z", lambda z, w: z * w + z)
complex_row("csquare conj", "csquare (conj z)", lambda z, w: z.conjugate() ** 2)
complex_row("cdiv", "cdiv z w", lambda z, w: z / w)
complex_row("cabs carg complexOf", "complexOf (cabs z) (carg z)", lambda z, w: complex(abs(z), cmath.phase(z)))
complex_row("cnorm", "complexOf (cnorm z) (cnorm w)", lambda z, w: complex(abs(z) ** 2, abs(w) ** 2))
complex_row("cexp", "cexp (cscale 0.1 z)", lambda z, w: cmath.exp(z / 10))
complex_row("clog", "clog z", lambda z, w: cmath.log(z))
complex_row("csqrt", "csqrt z", lambda z, w: cmath.sqrt(z))
complex_row("cpow", "cpow z (cscale 0.1 w)", lambda z, w: z ** (w / 10))
complex_row("cpowInt", "cadd (cpowInt 5 z) (cpowInt (-3) w)", lambda z, w: z ** 5 + w ** -3)

# ---- Philox ----


@functools.lru_cache(maxsize=1 << 19)
def philox(key, counter):
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(10):
        p, q = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = q >> 32 ^ c1 ^ k0, q & WORD, p >> 32 ^ c3 ^ k1, p & WORD
        k0, k1 = k0 + 0x9E3779B9 & WORD, k1 + 0xBB67AE85 & WORD
    return c0, c1, c2, c3


def draw(key, stream, i):
    return philox(key, (i, 0, stream, 0))


def draw_below(key, stream, n, i):
    for attempt in itertools.count():
        product = philox(key, (i, attempt, stream, 1))[0] * n
        if product & WORD >= 2**32 % n:
            return product >> 32


def unit_double(x, y):
    return ((x << 21) ^ (y >> 11)) / 2**53


def normal(r, angle):
    return math.sqrt(-2 * math.log(r)) * math.cos(2 * math.pi * angle), math.sqrt(-2 * math.log(r)) * math.sin(
        2 * math.pi * angle
    )


def normal_pair(x, y):
    return normal(x / 2**32 + 2**-33, (y >> 8) / 2**24)


def normal_pair_double(a, b, c, d):
    return normal(1 - unit_double(a, b), unit_double(c, d))


KEY = (12345, 3)


def made(make, stream, n):
    """The first n elements of an array of what `make` makes of blocks of words."""
    @functools.lru_cache(maxsize=64)
    def block(c):
        return make(*draw(KEY, stream, c))
    k = len(make(1, 1, 1, 1))
    return [block(i // (32 * k) * 32 + i % 32)[i // 32 % k] for i in range(n)]


def randoms(names, kernel, wanted, params="xs:[uint]", result="[uint]", lengths=AWKWARD, **options):
    row("random", names, kernel, params, result, wanted, library="random", lengths=lengths, **options)


def random_array(make, of, result="[uint]", lengths=AWKWARD, **options):
    """An array of random numbers, the first half by `randomArray`, the second element by element."""
    kernel = (f"append (randomArray ({make}) (12345, 3) 7 (n / 2)) "
              f"(push <grid> (map (fn i => randomElement ({make}) (12345, 3) 7 (i + n / 2)) (iota (n - n / 2))))")
    names = " ".join(["randomArray randomElement", make.split()[0]])
    randoms(names, kernel, lambda n: made(of, 7, n), "n:int", result, lengths, inputs=lambda n, r: [n], **options)


randoms("mulHiLo", "unzip (zipWith mulHiLo xs ys)", params="xs:[uint] ys:[uint]", result="[uint] [uint]",
        wanted=lambda xs, ys: unzipped(2, [(x * y >> 32, x * y & WORD) for x, y in zip(xs, ys)]))
FOUR = "(map (fn (a, b, _, _) => a ^ b) found, map (fn (_, _, c, d) => c - d) found)"
randoms("philox", f"let found = map (fn x => philox (x, ~x) (x * x, 7, x + 1, 3)) xs in {FOUR}", result="[uint] [uint]",
        wanted=lambda xs: unzipped(
    2, [(a ^ b, c - d & WORD) for a, b, c,
        d in (philox((x, WORD - x), (x * x & WORD, 7, x + 1 & WORD, 3)) for x in xs)]))
randoms("draw seeded", f"let found = map (draw (seeded 12884914233) 7) (iota n) in {FOUR}", params="n:int",
        result="[uint] [uint]",
        inputs=lambda n, r: [n], wanted=lambda n: unzipped(2, [(a ^ b, c - d & WORD) for a, b, c,
                                                               d in (draw(KEY, 7, i) for i in range(n))]))
randoms("unitFloat", "push <grid> (map unitFloat xs)", lambda xs: [(x >> 8) / 2**24 for x in xs], result="[float]")
randoms("unitDouble between", "push <grid> (zipWith (fn x y => between (-3.0) 5.0 (unitDouble x y)) xs ys)",
        params="xs:[uint] ys:[uint]",
        result="[double]", wanted=lambda xs, ys: [8 * unit_double(x, y) - 3 for x, y in zip(xs, ys)])
randoms("below", "push <grid> (zipWith (fn x n => below (max 1 n) x) xs ys)", params="xs:[uint] ys:[uint]",
        wanted=lambda xs, ys: [x * max(1, n) >> 32 for x, n in zip(xs, ys)])
randoms("intBetween", "push <grid> (zipWith (fn x y => intBetween (min y 7) 8 x) xs ys)", params="xs:[uint] ys:[int]",
        result="[int]",
        wanted=lambda xs, ys: [min(y, 7) + (x * (8 - min(y, 7)) >> 32) for x, y in zip(xs, ys)])
randoms("drawBelow", "push <grid> (mapIx (fn i n => drawBelow (12345, 3) 5 (max 1 n) i) xs)",
        lambda xs: [draw_below(KEY, 5, max(1, n), i) for i, n in enumerate(xs)])
randoms("normalPair", "unzip (zipWith normalPair xs ys)", params="xs:[uint] ys:[uint]", result="[float] [float]",
        near=True,
        wanted=lambda xs, ys: unzipped(2, list(map(normal_pair, xs, ys))))
randoms("normalPairDouble", "unzip (zipWith (fn x y => normalPairDouble (x, y, y, x)) xs ys)",
        params="xs:[uint] ys:[uint]", near=True,
        result="[double] [double]", wanted=lambda xs,
        ys: unzipped(2, [normal_pair_double(x, y, y, x) for x, y in zip(xs, ys)]))
random_array("words", lambda *block: block, lengths=LONG)
random_array("floats", lambda *block: [(x >> 8) / 2**24 for x in block], "[float]")
random_array("doubles", lambda a, b, c, d: [unit_double(a, b), unit_double(c, d)], "[double]")
random_array("ints (-5) 6", lambda *block: [(x * 11 >> 32) - 5 for x in block], "[int]")
random_array("normals", lambda a, b, c, d: normal_pair(a, b) + normal_pair(c, d), "[float]", near=True)
random_array("normalDoubles", normal_pair_double, "[double]", near=True)

# ---- Sobol ----

# Some dimensions: the degree of the primitive polynomial, its inner coefficients, and the first odd numbers.
POLYNOMIALS = {1: (1, 0, (1,)), 3: (3, 1, (1, 3, 1)), 15: (6, 16, (1, 3, 1, 13, 27, 49))}


@functools.lru_cache(maxsize=None)
def directions(dimension):
    """The 32 direction numbers of a dimension, from odd numbers m of k + 1 bits."""
    if dimension == 0:
        return [1 << 31 - k for k in range(32)]
    degree, inner, first = POLYNOMIALS[dimension]
    m = list(first)
    for k in range(degree, 32):
        oldest = m[k - degree] << degree ^ m[k - degree]
        m.append(functools.reduce(lambda x, i: x ^ (inner >> degree - 1 - i & 1) * (m[k - i] << i), range(1, degree),
                                  oldest))
    return [x << 31 - k for k, x in enumerate(m)]


def sobol(dimension, n):
    code = n ^ n >> 1
    return functools.reduce(int.__xor__, (v for k, v in enumerate(directions(dimension)) if code >> k & 1), 0)


def numbers(names, kernel, wanted, result="[uint]", lengths=AWKWARD):
    randoms(names, kernel, wanted, "n:int", result, lengths, inputs=lambda n, r: [n])


numbers("sobolFold", "push <grid> (map (fn i => sobolFold 3 (i % 33) (fn s k v => s * 3 + (v ^ uint k)) 1) (iota n))",
        lambda n: [
    functools.reduce(lambda s, kv: s * 3 + (kv[1] ^ kv[0]) & WORD, list(enumerate(directions(3)))[:i % 33], 1)
    for i in range(n)])
numbers("sobolDirection", "push <grid> (map (fn i => sobolDirection 15 (i % 32)) (iota n))",
        lambda n: [directions(15)[i % 32] for i in range(n)])
numbers("sobol sobolDimensions", "push <grid> (map (fn i => sobol (sobolDimensions - 1) (i * i)) (iota n))",
        lambda n: [sobol(15, i * i & WORD) for i in range(n)])
numbers("sobolNext", "push <grid> (map (fn i => sobolNext 1 i (uint i)) (iota n))",
        lambda n: [sobol(1, i + 1) ^ sobol(1, i) ^ i for i in range(n)])
numbers("sobolChunk", "(concat 7 (map (fn c => sobolChunk 3 (c * 7) (min 7 (n - c * 7))) (iota (divUp n 7))) : "
                      "[uint]<grid>)",
        lambda n: [sobol(3, i) for i in range(n)])
numbers("sobolArray", "sobolArray (fn x => x + 1) 1 n", lambda n: [sobol(1, i) + 1 & WORD for i in range(n)],
        lengths=LONG)

# ---- statistics ----


def ratio(x, y):
    return x / y if y else math.nan if not x else math.copysign(math.inf, x)


def statistics(names, kernel, wanted, count, params="xs:[double]", **options):
    row("statistics", names, kernel, params, " ".join(["double"] * count), wanted, library="statistics", near=True,
        **options)


def moments(xs):
    mean = ratio(sum(xs), len(xs)) if xs else 0.0
    return len(xs), mean, sum((x - mean) ** 2 for x in xs)


def comoments(xs, ys):
    (n, x, xx), (_, y, yy) = moments(xs), moments(ys)
    return n, x, y, xx, yy, sum((a - x) * (b - y) for a, b in zip(xs, ys))


def variances(xs):
    n, _, squares = moments(xs)
    return ratio(squares, n), ratio(squares, n - 1) if n else math.nan


def related(xs, ys):
    n, x, y, xx, yy, xy = found = comoments(xs, ys)
    slope = ratio(xy, xx)
    return found + (ratio(xy, n), ratio(xy, n - 1) if n else math.nan, ratio(xy, math.sqrt(xx * yy)), slope, y -
                    slope * x)


# Together, as what one asks for of the same array is computed once.
statistics("moments variance deviation sampleVariance sampleDeviation",
           "let m = moments xs in (m.count, m.mean, m.squares, variance xs, deviation xs, sampleVariance xs, "
           "sampleDeviation xs)",
           lambda xs: moments(xs) + tuple(x for v in variances(xs) for x in (v, math.sqrt(v))), 7)
statistics("mean", "mean xs", lambda xs: ratio(sum(xs), len(xs)), 1)
TWO = "xs:[double] ys:[double]"
statistics("comoments covariance sampleCovariance correlation line",
           "let { count = n, meanX = x, meanY = y, xx, yy, xy } = comoments xs ys in "
           "let (slope, offset) = line xs ys in "
           "(n, x, y, xx, yy, xy, covariance xs ys, sampleCovariance xs ys, correlation xs ys, slope, offset)", related,
           11, TWO)
row("statistics", "minMax", "minMax 2147483647 (-2147483648) xs", "xs:[int]", "int int", library="statistics",
    wanted=lambda xs: (min(xs, default=2**31 - 1), max(xs, default=-2**31)))


def merged(names, kernel, wanted):
    """A function of single elements, or of two."""
    row("statistics", names, f"push <grid> (zipWith (fn x y => {kernel}) xs ys)", TWO, "[double]", library="statistics",
        near=True, lengths=AWKWARD,
        wanted=lambda xs, ys: list(map(wanted, xs, ys)))


merged("momentsOf mergeMoments noMoments",
       "let m = mergeMoments noMoments (mergeMoments (momentsOf x) (momentsOf y)) in "
       "m.count + 10.0 * m.mean + 100.0 * m.squares",
       lambda x, y: 2 + 5 * (x + y) + 50 * (x - y) ** 2)
merged("varianceOf sampleVarianceOf",
       "let of n = { count = n, mean = x, squares = y } in varianceOf (of 8.0) + 10.0 * sampleVarianceOf (of 5.0)",
       lambda x, y: y / 8 + y * 10 / 4)
merged("comomentsOf mergeComoments",
       "let { count = n, meanX = a, meanY = b, xx = c, yy = d, xy = e } = "
       "mergeComoments (comomentsOf (x, y)) (comomentsOf (y, 2.0 * x)) "
       "in n + 3.0 * a + 5.0 * b + 7.0 * c + 11.0 * d + 13.0 * e",
       lambda x, y: 2 + 1.5 * (x + y) + 2.5 * (y + 2 * x) + 3.5 * (x - y) ** 2 + 5.5 * (y - 2 * x) ** 2 +
       6.5 * (y - x) * (2 * x - y))
