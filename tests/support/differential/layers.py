"""Layers of neural networks: the library nn."""

import itertools
import math
from .rows import MILLION, doubles, row

# Rows and columns: empty ones, and those that go by warps, by blocks, and in two readings.
SHAPES = ((0, 0), (0, 5), (5, 0), (1, 1), (7, 31), (33, 64), (5, 65), (3, 256), (9, 257), (1, 1024), (2, 1025),
          (1, 4096), (1, 4097))


def layer(names, kernel, wanted, params="", extra=lambda cols, r: []):
    """A row of the table that takes a matrix by its rows."""
    def inputs(height, width, r):
        return [height, width, doubles(height * width, r), *extra(width, r)]
    made = {f"{height} x {width}": lambda n, r, shape=(height, width): inputs(*shape, r)
            for height, width in (*SHAPES, (MILLION // 1141, 1141))}

    def of_rows(height, width, xs, *more):
        return [y for i in range(height if width else 0) for y in wanted(xs[i * width:(i + 1) * width], *more)]
    row("nn", names, kernel, f"height:int width:int xs:[float]{params}", "[float]", of_rows, inputs=made, near=True,
        library="nn", tests=[(height * width, label) for (height, width), label in zip(SHAPES, made)],
        long=[(MILLION, list(made)[-1])])


def softmax(xs):
    es = [math.exp(x - max(xs)) for x in xs]
    return [e / sum(es) for e in es]


def layer_norm(xs, gain, bias):
    mean = sum(xs) / len(xs)
    scale = 1 / math.sqrt(sum((x - mean) ** 2 for x in xs) / len(xs) + 0.5)
    return [(x - mean) * scale * g + b for x, g, b in zip(xs, gain, bias)]


layer("softmax", "softmax height width xs", softmax)
layer("layerNorm", "layerNorm 0.5 height width gain bias xs", layer_norm, " gain:[float] bias:[float]",
      lambda cols, r: [doubles(cols, r), doubles(cols, r)])

# Heads, queries and elements of each: no heads, no elements, and ends of tiles of 16 queries and 64 keys.
HEADS = ((0, 5, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1), (2, 17, 5), (1, 64, 32), (1, 67, 33), (2, 16, 65))
MANY = (MILLION // 32 // 32, 32, 32)


def attention(is_causal, heads, n, d, q, k, v):
    scale, found = math.sqrt(d), []
    for h in range(heads if d else 0):
        rows = [[xs[(h * n + i) * d:(h * n + i + 1) * d] for i in range(n)] for xs in (q, k, v)]
        columns = list(zip(*rows[2]))
        for i, query in enumerate(rows[0]):
            weights = softmax([sum(map(float.__mul__, query, key)) / scale
                               for key in rows[1][:i + 1 if is_causal else n]])
            found += [sum(map(float.__mul__, weights, column)) for column in columns]
    return found


made = {f"{heads} x {n} x {d}": lambda size, r, shape=(heads, n, d): [
    shape[1] % 2 == 0, *shape, *([x / 8 for x in doubles(math.prod(shape), r)] for _ in range(3))]
    for heads, n, d in (*HEADS, MANY)}
row("nn", "attention", "attention float is_causal heads n d q k v",
    "is_causal:bool heads:int n:int d:int q:[float] k:[float] v:[float]", "[float]", attention, inputs=made, near=True,
    library="nn", tests=[(math.prod(shape), label) for shape, label in zip(HEADS, made)],
    long=[(MILLION, list(made)[-1])])

# Stride, padding, pictures, rows, columns, channels, rows and columns of a filter, filters: none of each, filters that
# are larger than a picture, channels that are filled up and such that are not.
CONVOLUTIONS = ((1, 1, 0, 3, 3, 2, 2, 2, 3), (1, 0, 1, 3, 3, 2, 2, 2, 0), (1, 1, 2, 3, 4, 0, 3, 2, 2),
                (1, 0, 1, 1, 1, 1, 1, 1, 1), (1, 0, 2, 3, 4, 2, 5, 5, 2), (1, 1, 2, 5, 6, 3, 3, 3, 4),
                (2, 1, 1, 7, 6, 8, 3, 1, 8), (3, 2, 1, 9, 8, 33, 3, 4, 3), (1, 0, 1, 4, 5, 16, 2, 2, 16))
HUGE_CONVOLUTION = (2, 1, 3, 577, 579, 1, 1, 2, 3)


def convolution(stride, padding, n, h, w, channels, high, wide, filters, pictures, weights):
    tall, broad = ((max(0, (size + 2 * padding - taps) // stride + 1)) for size, taps in ((h, high), (w, wide)))
    found = []
    for i, y, x in itertools.product(range(n), range(tall), range(broad)):
        sums = [0.0] * filters
        for dy, dx in itertools.product(range(high), range(wide)):
            row, col = y * stride + dy - padding, x * stride + dx - padding
            if 0 <= row < h and 0 <= col < w:
                for c in range(channels):
                    pixel, at = pictures[((i * h + row) * w + col) * channels + c], (dy * wide + dx) * channels + c
                    sums = [s + pixel * weight for s, weight in zip(sums, weights[at * filters:(at + 1) * filters])]
        found += sums
    return found


made = {" x ".join(map(str, sizes)): lambda length, r, sizes=sizes: [
    *sizes, doubles(math.prod(sizes[2:6]), r), doubles(math.prod(sizes[5:]), r)]
    for sizes in (*CONVOLUTIONS, HUGE_CONVOLUTION)}
for base in ("f16", "float"):
    row("nn", "conv2d", f"conv2d stride padding (n, h, w, channels) (high, wide, filters) (map {base} pictures)"
        f" (map {base} weights)", "stride:int padding:int n:int h:int w:int channels:int high:int wide:int filters:int"
        " pictures:[float] weights:[float]", "[float]", convolution, inputs=made, library="nn",
        tests=[(math.prod(sizes[2:6]), label) for sizes, label in zip(CONVOLUTIONS, made)],
        long=[(MILLION, list(made)[-1])])
