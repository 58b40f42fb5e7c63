"""Layers of neural networks: the library nn."""

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
