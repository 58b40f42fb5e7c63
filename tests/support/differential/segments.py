"""Segments: of no element, of one, about as long as a warp, one giant, lengths by a power law."""

import functools
from .rows import EVERY, LONG, VARIANT, WORD, after, digits, joined, latest, row, scanned, unzipped, words


def cut(kind):
    """Where segments of that kind begin in n elements: in order, from 0 on."""
    def of(n, r):
        step = {"one": lambda: n + 1, "of 1": lambda: 1, "of 31 to 33": lambda: r.randrange(31, 34),
                "random": lambda: r.choice((1, 2, 3)),
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


def segmented(names, kernel, wanted, inputs, params, result, variant="", lengths=LONG, executors=EVERY):
    """Segments of all kinds; `inputs` gives arguments from where the segments begin. Each length has some kind, one
    has all."""
    row("segments", names, kernel, params, result, wanted, variant=variant, executors=executors,
        inputs={kind: lambda n, r, kind=kind: inputs(n, r, cut(kind)(n, r)) for kind in CUTS},
        tests=[(n, CUTS[i % len(CUTS)]) for i, n in enumerate(lengths)] +
        [(n, kind) for n in (300, 4000) for kind in CUTS])


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


FLAGGED = dict(inputs=lambda n, r, starts: [flagged(starts, n)] + affine(n, r),
               params="flags:[bool] xs:[uint] ys:[uint]", result="[uint] [uint]")
OFFSETS = dict(inputs=lambda n, r, starts: [starts] + affine(n, r), params="offsets:[int] xs:[uint] ys:[uint]",
               result="[uint] [uint]")
segmented("segScan", "unzip (force (segScan after (1, 0) flags (zip xs ys)))", **FLAGGED,
          wanted=lambda flags, xs, ys: unzipped(2, joined(scanned(after, (1, 0), part)
                                                          for part in from_flags(flags, list(zip(xs, ys))))))
segmented("segScan", "segScan latest 0 flags xs", params="flags:[bool] xs:[int]", result="[int]",
          variant="of the last not zero, flags missing", **VARIANT,
          inputs=lambda n, r, starts: [flagged(starts, n)[:n - n // 3], digits(n, r)],
          wanted=lambda flags, xs: joined(scanned(latest, 0, part) for part in from_flags(flags, xs[:len(flags)])))
segmented("segReduce", "unzip (segReduce after (1, 0) flags (zip xs ys))", **FLAGGED,
          wanted=lambda flags, xs, ys: unzipped(2, folded(from_flags(flags, list(zip(xs, ys))))))
segmented("segScanAt", "unzip (force (segScanAt after (1, 0) offsets (zip xs ys)))", **OFFSETS,
          wanted=lambda offsets, xs,
          ys: unzipped(2, joined(scanned(after, (1, 0), part) for part in segments(offsets, list(zip(xs, ys))))))
segmented("segReduceAt", "unzip (force (segReduceAt after (1, 0) offsets (zip xs ys)))", **OFFSETS,
          wanted=lambda offsets, xs, ys: unzipped(2, folded(segments(offsets, list(zip(xs, ys))))))
segmented("flagsOf", "flagsOf n offsets", params="n:int offsets:[int]", result="[bool]",
          inputs=lambda n, r, starts: [n, starts[r.choice((0, 0, 1, 3)):]],
          wanted=lambda n, offsets: list(map(set(offsets).__contains__, range(n))))
segmented("reduceByKey", "let found = reduceByKey after (1, 0) (zip keys (zip xs ys)) in (map fst found, map (fst . "
                         "snd) found, map (snd . snd) found)",
          inputs=lambda n, r, starts: [in_runs(n, r, starts)] + affine(n, r), params="keys:[uint] xs:[uint] ys:[uint]",
          result="[uint] [uint] [uint]",
          wanted=lambda keys, xs, ys: unzipped(3, [(key, *functools.reduce(after, part)) for key,
                                                   part in grouped(keys, xs, ys)]))
segmented("unique runLengths", "let (keys, lengths) = unzip (runLengths xs) in (unique xs, keys, lengths)",
          inputs=lambda n, r, starts: [in_runs(n, r, starts)], params="xs:[uint]", result="[uint] [uint] [int]",
          wanted=lambda xs: ([key for key, _ in grouped(xs)], [key for key, _ in grouped(xs)],
                             [len(part) for _, part in grouped(xs)]))
segmented("segmented", "unzip (zipWith (segmented (-)) (zip flags xs) (zip (drop 1 flags) ys))",
          params="flags:[bool] xs:[uint] ys:[uint]",
          result="[bool] [uint]", inputs=FLAGGED["inputs"],
          wanted=lambda flags, xs, ys: unzipped(2, [(g or h, y if h else x - y & WORD) for g, h, x,
                                                    y in zip(flags, flags[1:], xs, ys)]))
