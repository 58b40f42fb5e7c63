"""Dense and sparse matrices, and stencils: the libraries matrix, sparse and stencil."""

import functools
import itertools
import math
from .rows import LONG, MILLION, WORD, doubles, hashed, joined, row, unzipped, words
from .segments import CUTS, affine, cut, folded

# ---- dense ----

# Rows and columns: empty ones, one row, one column, sizes that no tile divides and such that it does.
SHAPES = ((0, 0), (0, 5), (5, 0), (1, 1), (1, 31), (33, 1), (31, 33), (1, 257), (257, 1), (64, 32), (65, 17),
          (100, 101))
LARGE = (1025, 1023)
HUGE = (1141, MILLION // 1141)
# Rows of the first matrix of a product, its columns, and those of the second.
PRODUCTS = ((0, 0, 0), (0, 3, 2), (2, 3, 0), (2, 0, 3), (1, 1, 1), (1, 40, 1), (3, 1, 5), (31, 33, 17), (65, 17, 33),
            (64, 32, 64), (130, 70, 67))
HUGE_PRODUCT = (HUGE[0], 3, HUGE[1])
# Functions whose arrays are never long, or for which a GPU's blocks have too little memory then.
BOUNDED = {"gaussWeights", "matMulVectors"}


def shaped(names, kernel, wanted, params="height:int width:int xs:[uint]", result="[uint]", library="matrix",
           shapes=SHAPES + (LARGE,),
           inputs=lambda height, width, r: [height, width, words(height * width, r)], **options):
    """A row whose arguments have shapes in place of lengths."""
    made = {f"{height} x {width}": lambda n, r, shape=(height, width): inputs(*shape, r) for height,
            width in (*shapes, HUGE)}
    row(library, names, kernel, params, result, wanted, inputs=made, library=library,
        tests=[(height * width, label) for (height, width), label in zip(shapes, made)],
        long=[(MILLION, list(made)[-1])], **options)


def columns(height, width, xs):
    return [xs[j::width] for j in range(width)] if height else [[] for _ in range(width)]


shaped("elements", "push <grid> (elements width (rows width xs))", lambda height, width, xs: xs)
shaped("transposeTiled", "transposeTiled width height xs", lambda height, width, xs: joined(columns(height, width, xs)))
shaped("matVec", "matVec height xs vec", params="height:int xs:[uint] vec:[uint]",
       inputs=lambda height, width, r: [height, words(height * width, r), words(width, r)],
       wanted=lambda height, xs, vec: [sum(map(int.__mul__, xs[y * len(vec):], vec)) & WORD for y in range(height)])
for name, f, op in (("outerBy", "outerBy (-)", lambda x, y: x - y & WORD),
                    ("outer", "outer", lambda x, y: x * y & WORD)):
    shaped(name, f"{f} xs ys", lambda xs, ys, op=op: [op(x, y) for x in xs for y in ys], "xs:[uint] ys:[uint]",
           inputs=lambda height, width, r: [words(height, r), words(width, r)])
row("matrix", "pushTile", "(generate n (fn c => pushTile 64 (fn e => uint (c * e + 3))) |> concat 64 : [uint]<grid>)",
    "n:int", "[uint]",
    lambda n: [c * e + 3 for c in range(n) for e in range(64)], inputs=lambda n, r: [n // 64], library="matrix")
row("matrix", "dot", "dot xs (drop 3 ys)", "xs:[uint] ys:[uint]", "uint", lambda xs,
    ys: sum(map(int.__mul__, xs, ys[3:])) & WORD, library="matrix")


def product(names, kernel, kind, step, elements):
    """A product of two matrices, where an element is what `step` makes of 0 and one pair of elements after another."""
    def wanted(height, inner, width, xs, ys):
        across, down = [xs[y * inner:(y + 1) * inner] for y in range(height)], columns(inner, width, ys)
        return [functools.reduce(lambda s, pair: step(s, *pair), zip(one, other), 0 if kind == "uint" else 0.0)
                for one in across for other in down]
    made = {" x ".join(map(str, sizes)): lambda n, r,
            sizes=sizes: [*sizes, elements(sizes[0] * sizes[1], r), elements(sizes[1] * sizes[2], r)]
            for sizes in (*PRODUCTS, HUGE_PRODUCT)}
    row("matrix", names, kernel, f"height:int inner:int width:int xs:[{kind}] ys:[{kind}]", f"[{kind}]", wanted,
        inputs=made, library="matrix",
        tests=[(max(a * b, b * c, a * c), label) for (a, b, c), label in zip(PRODUCTS, made)],
        long=[(MILLION, list(made)[-1])] * (names not in BOUNDED))


for name in ("matMulBy", "matMulTiled 16 16 2", "matMulShared", "matMulVectors"):
    product(name.split()[0], f"{name} (fn s x y => s * 3 + (x ^ y)) 0 height inner width xs ys", "uint", lambda s, x,
            y: s * 3 + (x ^ y) & WORD, words)
product("matMul", "matMul height inner width xs ys", "uint", lambda s, x, y: s + x * y & WORD, words)
product("matMulFma", "matMulFma height inner width xs ys", "double", lambda s, x, y: s + x * y, doubles)
for name in ("matMulFloat", "matMulUnits 64 16"):
    product(name.split()[0], f"{name} height inner width (map f16 xs) (map f16 ys)", "float",
            lambda s, x, y: s + x * y, doubles)


def byte(x):
    return (x & 255 ^ 128) - 128


for name, seconds in (("matMulInt", "ys"), ("matMulIntBy", "(generate (length ys) (fn i => ys ! (i % max 1 inner * "
                                            "width + i / max 1 inner)))")):
    product(name, f"mapPush uint ({name} height inner width (map i8 xs) (map i8 {seconds}))", "uint",
            lambda s, x, y: s + byte(x) * byte(y) & WORD, words)

# Products one after another: how many, rows of the first matrix, its columns, and those of the second.
BATCHES = ((0, 2, 3, 2), (3, 0, 4, 5), (2, 3, 0, 4), (2, 3, 4, 0), (1, 1, 1, 1), (5, 3, 2, 7), (9, 16, 16, 16),
           (4, 20, 33, 32), (2, 33, 17, 40))
HUGE_BATCH = (MILLION // 63, 9, 3, 7)


def batched(n, height, inner, width, xs, ys):
    found = []
    for p in range(n):
        down = columns(inner, width, ys[p * inner * width:(p + 1) * inner * width])
        across = [xs[(p * height + y) * inner:(p * height + y + 1) * inner] for y in range(height)]
        found += [float(sum(map(float.__mul__, one, other))) for one in across for other in down]
    return found


made = {" x ".join(map(str, sizes)): lambda n, r, sizes=sizes: [
    *sizes, doubles(math.prod(sizes[:3]), r), doubles(sizes[0] * math.prod(sizes[2:]), r)]
    for sizes in (*BATCHES, HUGE_BATCH)}
for base in ("f16", "float"):
    row("matrix", "matMulBatched", f"matMulBatched n height inner width (map {base} xs) (map {base} ys)",
        "n:int height:int inner:int width:int xs:[float] ys:[float]", "[float]", batched, inputs=made,
        library="matrix", tests=[(n * a * c, label) for (n, a, b, c), label in zip(BATCHES, made)],
        long=[(MILLION, list(made)[-1])])

# ---- sparse: vectors one after another ----


def nested(names, kernel, wanted, inputs=lambda n, r, offsets: [offsets, words(n, r)], params="offsets:[int] xs:[uint]",
           result="[uint]"):
    """Vectors whose lengths are of all kinds, given by their offsets."""
    row("sparse", names, kernel, params, result, wanted, library="sparse",
        inputs={kind: lambda n, r, kind=kind: inputs(n, r, cut(kind)(n, r) + [n]) for kind in CUTS},
        tests=[(n, CUTS[i % len(CUTS)]) for i, n in enumerate(LONG)] + [(300, kind) for kind in CUTS])


def lengths(offsets):
    return [end - start for start, end in zip(offsets, offsets[1:])]


def vectors(offsets, xs):
    return [xs[start:end] for start, end in zip(offsets, offsets[1:])]


nested("offsetsOf", "offsetsOf lengths", lambda given: list(itertools.accumulate(given, initial=0)),
       params="lengths:[int]", result="[int]",
       inputs=lambda n, r, offsets: [lengths(offsets)])
nested("lengthsOf", "push <grid> (lengthsOf offsets)", lengths, params="offsets:[int]", result="[int]", inputs=lambda n,
       r, offsets: [offsets])
nested("segment", "push <grid> (map (fn r => hash (segment offsets xs r)) (iota (length offsets - 1)))",
       lambda offsets, xs: hashed(vectors(offsets, xs)))
nested("segmentOf", "push <grid> (map (segmentOf offsets) (iota n))", params="n:int offsets:[int]", result="[int]",
       inputs=lambda n, r, offsets: [n, offsets], wanted=lambda n,
       offsets: joined([i] * size for i, size in enumerate(lengths(offsets))))
nested("reduceThreads", "reduceThreads (fn s x => s * 3 + x) 1 offsets xs",
       lambda offsets, xs: [functools.reduce(lambda s, x: s * 3 + x & WORD, part, 1) for part in vectors(offsets, xs)])
nested("reduceWarps", "reduceWarps (^) 0 offsets xs",
       lambda offsets, xs: [functools.reduce(int.__xor__, part, 0) for part in vectors(offsets, xs)])
nested("reduceByLength", "reduceByLength (^) 0 offsets xs",
       lambda offsets, xs: [functools.reduce(int.__xor__, part, 0) for part in vectors(offsets, xs)])
nested("reduceEvenly", "unzip (force (reduceEvenly after (1, 0) offsets (zip xs ys)))",
       params="offsets:[int] xs:[uint] ys:[uint]",
       result="[uint] [uint]", inputs=lambda n, r, offsets: [offsets] + affine(n, r),
       wanted=lambda offsets, xs, ys: unzipped(2, folded(vectors(offsets, list(zip(xs, ys))))))
nested("rowSums", "rowSums offsets xs", lambda offsets, xs: [sum(part) & WORD for part in vectors(offsets, xs)])
nested("rowMaxima", "rowMaxima 5 offsets xs", lambda offsets,
       xs: [max(part, default=5) for part in vectors(offsets, xs)],
       inputs=lambda n, r, offsets: [offsets, [x | 5 for x in words(n, r)]])
nested("rowMinima", "rowMinima 4294967295 offsets xs", lambda offsets,
       xs: [min(part, default=WORD) for part in vectors(offsets, xs)])


def sparse(n, r, offsets):
    """A sparse matrix with these rows, and a vector: columns come in any order, and several times."""
    width = 1 + n // 3
    return [offsets, [r.randrange(width) for _ in range(n)], words(n, r), words(width, r)]


MATRIX = dict(params="offsets:[int] places:[int] xs:[uint] vec:[uint]", inputs=sparse)
nested("products", "push <grid> (products places xs vec)",
       lambda offsets, places, xs, vec: [x * vec[i] & WORD for i, x in zip(places, xs)], **MATRIX)
for name in ("spmvThreads", "spmvWarps", "spmvEvenly", "spmvByLength"):
    nested(name, f"{name} offsets places xs vec", **MATRIX, wanted=lambda offsets, places, xs, vec: [
        sum(x * vec[i] for i, x in part) & WORD for part in vectors(offsets, list(zip(places, xs)))])

# ---- stencils ----


def there_and_back(period, end, i):
    i %= max(1, period)
    return min(i, end - i)


# The place whose element stands at a place outside of n elements; or none.
BORDERS = {"constant 9": lambda n, i: i if 0 <= i < n else None, "nearest": lambda n, i: max(0, min(n - 1, i)),
           "wrap": lambda n, i: i % n,
           "mirror": lambda n, i: there_and_back(2 * n, 2 * n - 1, i), "reflect": lambda n,
           i: there_and_back(2 * n - 2, 2 * n - 2, i)}


def over(border, xs):
    """An access to elements over the border."""
    def at(i):
        place = BORDERS[border](len(xs), i)
        return 9 if place is None else xs[place]
    return at


def over2(border, height, width, xs):
    """The same of a matrix."""
    def at(y, x):
        places = BORDERS[border](height, y), BORDERS[border](width, x)
        return 9 if None in places else xs[places[0] * width + places[1]]
    return at


def around(f, over_border):
    """What f makes of the access round each place of an array."""
    def of(xs):
        at = over_border(xs)
        return [f(lambda d: at(i + d)) for i in range(len(xs))]
    return of


def around2(f, border):
    """The same of a matrix."""
    def of(height, width, xs):
        at = over2(border, height, width, xs)
        return [f(lambda dy, dx: at(y + dy, x + dx)) for y in range(height) for x in range(width)]
    return of


AT = "(fn at => at (-2) * 5 + at 1 - at 0 * 3 + at 2)"
AT2 = "(fn at => at (-1) 2 * 5 + at 1 (-2) - at 0 0 * 3 + at 1 1)"
for name, border in (("stencil nearest", "nearest"), ("stencilTiled wrap", "wrap")):
    row("stencil", name, f"{name.split()[0]} {border} 2 {AT} xs", "xs:[uint]", "[uint]", library="stencil",
        wanted=around(lambda at: at(-2) * 5 + at(1) - at(0) * 3 + at(2) & WORD, functools.partial(over, border)))
row("stencil", "weighted stencil constant", "stencil (constant 9) 2 (weighted [1, 10, 100, 1000, 10000]) xs",
    "xs:[uint]", "[uint]", library="stencil",
    wanted=around(lambda at: sum(10 ** (d + 2) * at(d) for d in range(-2, 3)) & WORD,
                  functools.partial(over, "constant 9")))
stencil2 = functools.partial(shaped, library="stencil", shapes=SHAPES + ((129, 67),))
for name, border in (("stencil2 constant", "constant 9"), ("stencilTiled2 mirror", "mirror"),
                     ("stencil2 reflect", "reflect")):
    stencil2(name, f"{name.split()[0]} ({border}) 1 2 {AT2} height width xs",
             around2(lambda at: at(-1, 2) * 5 + at(1, -2) - at(0, 0) * 3 + at(1, 1) & WORD, border))

AT3 = "(fn at => at (-1) 0 2 * 5 + at 1 0 (-2) - at 0 0 0 * 3 + at 1 0 1)"


def around3(border, planes, height, width, xs):
    """What AT3 makes of the access round each place of so many planes."""
    def at(z, y, x):
        place = BORDERS[border](planes, z)
        return 9 if place is None else over2(border, height, width, xs[place * height * width:][:height * width])(y, x)
    return [at(z - 1, y, x + 2) * 5 + at(z + 1, y, x - 2) - at(z, y, x) * 3 + at(z + 1, y, x + 1) & WORD
            for z in range(planes) for y in range(height) for x in range(width)]


for border in ("constant 9", "reflect"):
    shaped(f"stencil3 {border.split()[0]}", f"stencil3 ({border}) 1 0 2 {AT3} planes height width xs",
           functools.partial(around3, border), "planes:int height:int width:int xs:[uint]", library="stencil",
           shapes=((0, 0), (0, 5), (5, 0), (1, 1), (33, 1), (31, 33), (16, 68), (17, 69)),
           inputs=lambda height, width, r: [3, height, width, words(3 * height * width, r)])


def weighed(down, across, border):
    """What `separable` makes of a matrix."""
    return around2(lambda at: sum(v * w * at(dy - len(down) // 2, dx - len(across) // 2)
                                  for dy, v in enumerate(down) for dx, w in enumerate(across)) & WORD, border)


stencil2("separable", "separable reflect [1, 2, 3] [1, 5, 7, 3, 2] height width xs",
         weighed([1, 2, 3], [1, 5, 7, 3, 2], "reflect"))
stencil2("blur", "blur wrap [1, 2, 3] height width xs", weighed([1, 2, 3], [1, 2, 3], "wrap"))


def gradient(at):
    return (at(-1, 1) - at(-1, -1) + 2 * (at(0, 1) - at(0, -1)) + at(1, 1) - at(1, -1),
            at(1, -1) - at(-1, -1) + 2 * (at(1, 0) - at(-1, 0)) + at(1, 1) - at(-1, 1))


stencil2("sobelAt", "unzip (force (stencil2 nearest 1 1 sobelAt height width xs))", result="[uint] [uint]",
         wanted=lambda *given: unzipped(2, around2(lambda at: tuple(x & WORD for x in gradient(at)),
                                                   "nearest")(*given)))
stencil2("sobel", "sobel mirror height width xs", around2(lambda at: math.hypot(*gradient(at)), "mirror"),
         "height:int width:int xs:[double]",
         "[double]", near=True, inputs=lambda height, width, r: [height, width, doubles(height * width, r)])


def bell(radius):
    weights = [math.exp(-k * k / 4.5) for k in range(-radius, radius + 1)]
    return [w / sum(weights) for w in weights]


row("stencil", "gaussWeights", "push <grid> (gaussWeights 1.5 radius)", "radius:int", "[float]", bell,
    library="stencil", near=True,
    inputs=lambda n, r: [min(n, 100)], lengths=(0, 1, 2, 31, 33, 100))
