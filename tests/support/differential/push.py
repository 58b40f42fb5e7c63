"""Push arrays, and scans at a level."""

import functools
from .rows import (
    AFFINE,
    AT_BLOCK,
    AT_GRID,
    AWKWARD,
    LEVELS,
    QUICK,
    SMALL,
    VARIANT,
    WORD,
    after,
    at,
    by_index,
    chunks,
    digits,
    hashed,
    ints,
    joined,
    latest,
    row,
    scanned,
    unzipped,
    words,
)
from .views import matrix, some, up


def pushed(names, kernel, wanted, params="xs:[uint]", result="[uint]", group="push", **options):
    row(group, names, f"({kernel} : [{result[1:-1]}]<grid>)", params, result, wanted, **options)


def border_tiles(dim, cols, xs):
    """Tiles of dim x dim elements, where the nearest element stands in for those that are missing."""
    rows = len(xs) // cols
    return [
        [xs[min(y, rows - 1) * cols + min(x, cols - 1)] for y in range(top, top + dim) for x in range(left, left + dim)]
        for top in range(0, rows, dim)
        for left in range(0, cols, dim)
    ]


def stepped(f, xs):
    h = up(len(xs), 2)
    return [f(xs[i], xs[i + h]) if i + h < len(xs) else xs[i] for i in range(h)]


def counts_before(xs):
    """Of each 300 elements: how many of 0 … 36 there are before them."""
    seen, result = [0] * 37, []
    for part in chunks(300, xs):
        result += seen
        for x in part:
            if x < 37:
                seen[x] += 1
    return result


def ranks(xs):
    """How many equal ones are before each element; of 37 and more nothing is counted."""
    seen, result = {}, []
    for x in xs:
        result.append(seen.get(x, 0) if x < 37 else 0)
        seen[x] = seen.get(x, 0) + 1
    return result


pushed(
    "split2DGrid",
    "push <grid> (map hash (split2DGrid 5 cols (divUp cols 5) (divUp rows 5) (take (cols * rows) xs)))",
    lambda cols, rows, xs: hashed(border_tiles(5, cols, xs[: cols * rows])),
    "cols:int rows:int xs:[uint]",
    inputs=matrix,
)
pushed(
    "concat2DInto",
    "concat2DInto 8 (divUp cols 8) cols rows (mapIx (fn t part => push <block> (map (fn x => x * 3 + uint t) part)) "
    "(split2DGrid 8 cols (divUp cols 8) (divUp rows 8) (take (cols * rows) xs)))",
    lambda cols, rows, xs: [
        xs[y * cols + x] * 3 + y // 8 * up(cols, 8) + x // 8 & WORD for y in range(rows) for x in range(cols)
    ],
    "cols:int rows:int xs:[uint]",
    inputs=matrix,
)
pushed(
    "concat2DGrid",
    "concat2DGrid 8 (divUp rows 8) cols (mapIx (fn t part => push <block> (map (fn x => x * 3 + uint t) part)) "
    "(split2DGrid 8 cols (divUp cols 8) (divUp rows 8) (take (cols * rows) xs)))",
    lambda cols, rows, xs: [
        xs[min(y, rows - 1) * cols + x] * 3 + y // 8 * up(cols, 8) + x // 8 & WORD
        for y in range(up(rows, 8) * 8)
        for x in range(cols)
    ],
    "cols:int rows:int xs:[uint]",
    inputs=matrix,
)
STEP = "fn x y => x * 3 + y"
pushed("step", f"step <grid> ({STEP}) xs", lambda xs: stepped(lambda x, y: x * 3 + y & WORD, xs), **AT_GRID)
pushed("step", f"concat 150 (map (step <block> ({STEP})) (splitUp 300 xs))", **AT_BLOCK,
       wanted=lambda xs: joined(stepped(lambda x, y: x * 3 + y & WORD, part) for part in chunks(300, xs)))
pushed("red", "red <grid> (+) xs", lambda xs: [sum(xs) & WORD] if xs else [], **AT_GRID)
for level, size in (("thread", 7), ("warp", 45), ("block", 300)):
    pushed("red", f"concat 1 (map (red <{level}> (+)) (splitUp {size} xs))", **at(level),
           wanted=lambda xs, size=size: [sum(part) & WORD for part in chunks(size, xs)])
for level, size in (("thread", 70), ("warp", 63), ("block", 300)):
    pushed("redLanes", f"concat 1 (map (redLanes <{level}> (+) 0) (splitUp {size} xs))", **at(level),
           wanted=lambda xs, size=size: [sum(part) & WORD for part in chunks(size, xs)])
pushed("redLanes", "redLanes <grid> max 0 xs", lambda xs: [max(xs, default=0)], **AT_GRID)
for level in ("block", "grid"):
    row(
        "push",
        "reduceByIndex",
        (
            f"push <grid> (force (reduceByIndex (+) 0 start (zip places xs) : [uint]<{level}>))"
            if level == "grid"
            else "(reduceByIndex (+) 0 start (zip places xs) : [uint]<block>)"
        ),
        "start:[uint] places:[int] xs:[uint]",
        "[uint]",
        lambda start, places, xs: by_index(lambda x, y: x + y & WORD, start, places, xs),
        variant=f"at {level}",
        alone=level == "block",
        inputs=lambda n, r: [words(min(n, 700), r), [r.randrange(-2, min(n, 700) + 2) for _ in range(n)], words(n, r)],
    )
def updated(start, pairs):
    return by_index(lambda x, y: x + y & WORD, start, [place for place, _ in pairs], [x for _, x in pairs])


def reduced_each(name, pairs, made):
    """A row of an update whose elements make several pairs: those of place and value in the list that `made` gives."""
    pushed(
        name,
        f"{name} (+) 0 start (zipWith (fn p x => {pairs}) places xs)",
        params="start:[uint] places:[int] xs:[uint]",
        wanted=lambda start, places, xs: updated(start, [pair for p, x in zip(places, xs) for pair in made(p, x)]),
        inputs=lambda n, r: [words(min(n, 700), r), [r.randrange(-2, min(n, 700) + 2) for _ in range(n)], words(n, r)],
    )


reduced_each("reduceByIndexEach", "[(p, x), (p + 1, x * 3)]", lambda p, x: [(p, x), (p + 1, x * 3 & WORD)])
reduced_each("reduceByIndexEachPush", "mapPushIx (fn k y => (p + k, y)) (push <thread> (replicate (int (x % 4)) x))",
             lambda p, x: [(p + k, x) for k in range(x % 4)])
row(
    "push",
    "lookback",
    "unzip (force (concat 1 (map (fn part => let z = lookback after (1, 0) (foldl after (1, 0) part) in push <block>"
    " [z]) (splitUp 300 (zip xs ys))) : [(uint, uint)]<grid>))",
    variant="of affine maps, 300 of them in a block",
    **AFFINE,
    wanted=lambda xs, ys: unzipped(2, scanned(after, (1, 0), zip(xs, ys), inclusive=False)[::300]),
)
row(
    "push",
    "lookback",
    "unzip (force (concat 1 (map (fn z => let before = lookback after (1, 0) z in push <block> [before]) (zip xs ys)) :"
    " [(uint, uint)]<grid>))",
    **AFFINE,
    wanted=lambda xs, ys: unzipped(2, scanned(after, (1, 0), zip(xs, ys), inclusive=False)),
    **{**VARIANT, "variant": "of affine maps"},
)
row(
    "push",
    "lookbackDuring",
    "unzip (force (concat 1 (map (fn part => let ((a, b), x) = lookbackDuring after (1, 0) (foldl after (1, 0) part)"
    " (fn _ => last (force (push <block> (map fst part)))) in push <block> [(a, b + x)]) (splitUp 300 (zip xs ys)))"
    " : [(uint, uint)]<grid>))",
    variant="of affine maps, and the last of 300",
    **AFFINE,
    wanted=lambda xs, ys: unzipped(2, [
        (a, b + xs[min(300 * i + 299, len(xs) - 1)] & WORD)
        for i, (a, b) in enumerate(scanned(after, (1, 0), zip(xs, ys), inclusive=False)[::300])]),
)
pushed(
    "lookbackCountsDuring",
    "concat 37 (map (fn c => let (before, first) = lookbackCountsDuring (force (reduceByIndex (+) 0 (replicate 37 0)"
    " (map (fn x => (int (x % 41), 1)) c) : [int]<block>)) (fn _ => force (push <block> (replicate 37 (head c)))) in"
    " push <block> (zipWith (fn n x => uint n + x) before first)) (splitUp 300 xs))",
    wanted=lambda xs: [n + xs[i // 37 * 300] & WORD for i, n in enumerate(counts_before([x % 41 for x in xs]))],
)
pushed(
    "lookbackCounts",
    "concat 37 (map (fn c => push <block> (map uint (lookbackCounts (force (reduceByIndex (+) 0 (replicate 37 0) "
    "(map (fn x => (int (x % 41), 1)) c) : [int]<block>))))) (splitUp 300 xs))",
    wanted=lambda xs: counts_before([x % 41 for x in xs]),
)
# rankByIndex is a primitive; rows are of functions, and this is the one that is made of it.
pushed(
    "radixPass",
    "concat 700 (map (fn c => mapPush uint (fst (rankByIndex 37 (map (fn x => int (x % 41)) c)))) (splitUp 700 xs))",
    wanted=lambda xs: joined(ranks([x % 41 for x in part]) for part in chunks(700, xs)),
    variant="ranks",
)
pushed(
    "radixPass",
    "concat 37 (map (fn c => push <block> (map uint (snd (rankByIndex 37 (map (fn x => int (x % 41)) c))))) (splitUp"
    " 700 xs))",
    wanted=lambda xs: joined([sum(x % 41 == d for x in part) for d in range(37)] for part in chunks(700, xs)),
    variant="ranks' counts",
)
pushed(
    "concatMap",
    "concatMap 3 (fn x => push <thread> [x, x * x, ~x]) xs",
    lambda xs: [y for x in xs for y in (x, x * x & WORD, WORD - x)],
)
for name in ("pushN", "load", "store"):
    pushed(
        name,
        f"{name} <grid> k (map (fn x => x * 3) xs)",
        lambda k, xs: [x * 3 & WORD for x in xs],
        "k:int xs:[uint]",
        inputs=some(),
        **AT_GRID,
    )
    pushed(name, f"concat 300 (map (fn c => {name} <block> 7 (reverse (force ({name} <block> 4 c)))) (splitUp 300 xs))",
           lambda xs: joined(part[::-1] for part in chunks(300, xs)), **AT_BLOCK)
pushed(
    "append permuteInto",
    "permuteInto (length xs + length ys) (append (push <grid> (mapIx (fn i x => (length ys + i, x)) xs)) "
    "(push <grid> (mapIx (fn i y => (length ys - 1 - i, y)) ys)))",
    lambda xs, ys: ys[::-1] + xs,
    "xs:[uint] ys:[uint]",
)


def from_right(f, xs, state):
    for x in reversed(xs):
        state = f(x, state)
    return state


pushed("scatter", "scatter (drop 3 xs) (mapIx (fn i x => (i * 2 - 5, x * 3)) xs)",
       wanted=lambda xs: by_index(lambda _, x: x, xs[3:], range(-5, 2 * len(xs), 2), [x * 3 & WORD for x in xs]))
pushed(
    "scatterEach",
    "scatterEach (drop 3 xs) (mapIx (fn i x => [(i * 2 - 5, x * 3), (i * 2 - 4, x + 1)]) xs)",
    wanted=lambda xs: by_index(
        lambda _, x: x, xs[3:], range(-5, 2 * len(xs) - 5), [y for x in xs for y in (x * 3 & WORD, x + 1 & WORD)]
    ),
)
pushed(
    "foldl scanl",
    "concat 7 (map (fn c => mapPush (+ foldl (fn h x => h * 3 + x) 5 c) (scanl (-) 9 c)) (splitUp 7 xs))",
    wanted=lambda xs: joined(
        [9 - sum(part[: i + 1]) + functools.reduce(lambda h, x: h * 3 + x, part, 5) & WORD for i in range(len(part))]
        for part in chunks(7, xs)
    ),
)
pushed(
    "foldr foldr1 scanr",
    "concat 7 (map (fn c => mapPush (+ (foldr (fn x h => h * 3 - x) 5 c + foldr1 (-) c)) (scanr (-) 9 c)) "
    "(splitUp 7 xs))",
    wanted=lambda xs: joined(
        [from_right(lambda x, h: x - h, part[i:], 9) + from_right(lambda x, h: h * 3 - x, part, 5)
         + from_right(lambda x, h: x - h, part[:-1], part[-1]) & WORD for i in range(len(part))]
        for part in chunks(7, xs)
    ),
)
pushed("interleave2", "interleave2 (push <grid> xs) (push <grid> ys)", lambda xs, ys: [
    z for pair in zip(xs, ys) for z in pair] + xs[len(ys):] + ys[len(xs):], "xs:[uint] ys:[uint]",
       inputs=lambda n, r: [words(n, r), words(r.choice((0, n // 2, n, n + 3)), r)])
pushed(
    "unpairP",
    "unpairP (push <grid> (zip xs ys))",
    lambda xs, ys: [z for pair in zip(xs, ys) for z in pair],
    "xs:[uint] ys:[uint]",
)

# ---- scans at a level ----


def chunked(everywhere):
    """The options of a row whose chunks have that size, or are variants of others."""
    return dict(lengths=AWKWARD) if everywhere else VARIANT


def in_chunks(f, width, size, *columns):
    """The rows that f gives for each chunk, as columns."""
    return unzipped(width, joined(f(part) for part in chunks(size, list(zip(*columns)))))


row(
    "scans",
    "log2Up",
    "push <grid> (map log2Up xs)",
    "xs:[int]",
    "[int]",
    lambda xs: [(max(1, x) - 1).bit_length() for x in xs],
    inputs=lambda n, r: [
        [
            r.choice((0, -5, 2**31 - 1, 1 << r.randrange(31), x >> r.randrange(32))) + r.randrange(-1, 1)
            for x in ints(n, r)
        ]
    ],
)
pushed(
    "stages",
    "stages <grid> k (fn s part => push <grid> (map (fn x => x * 3 + uint s) part)) xs",
    lambda k, xs: functools.reduce(lambda ys, s: [y * 3 + s & WORD for y in ys], range(max(0, k)), xs),
    "k:int xs:[uint]",
    inputs=lambda n, r: [r.choice((-1, 0, 1, 2, 5)), words(n, r)],
    group="scans",
)
for name in ("koggeStone", "sklansky"):
    row("scans", name, f"unzip (force ({name} <grid> after (zip xs ys)))", **AFFINE, **AT_GRID,
        wanted=lambda xs, ys: unzipped(2, scanned(after, (1, 0), zip(xs, ys))))
    for level, size in LEVELS:
        row(
            "scans",
            name,
            f"unzip (force (concat {size} (map ({name} <{level}> after) (splitUp {size} (zip xs ys))) : [(uint,"
            " uint)]<grid>))",
            **AFFINE,
            **at(level),
            wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part), 2, size, xs, ys),
        )
for size in (31, 300, 2049):
    row(
        "scans",
        "scanBlock",
        f"unzip (force (concat {size} (map (scanBlock after) (splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
        variant=f"of affine maps, {size} each",
        **AFFINE,
        **chunked(size == 300),
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part), 2, size, xs, ys),
    )
    row(
        "scans",
        "scanBlockExclusive",
        f"unzip (force (concat {size} (map (scanBlockExclusive after (1, 0)) (splitUp {size} (zip xs ys))) : [(uint,"
        " uint)]<grid>))",
        variant=f"of affine maps, {size} each",
        **AFFINE,
        **chunked(size == 300),
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part, False), 2, size, xs, ys),
    )
# A result that is not as long as the chunk ends with 9.
for level, size in LEVELS:
    pushed(
        "compact",
        f"concat {size} (map (fn c => let kept = force (compact <{level}> (fn x => x % 3 == 0) c) in "
        f"push <{level}> (mapIx (fn i _ => if i < length kept then kept ! i else 9) c)) (splitUp {size} xs))",
        lambda xs, size=size: joined(
            [x for x in part if x % 3 == 0] + [9] * sum(x % 3 > 0 for x in part) for part in chunks(size, xs)
        ),
        **at(level),
        group="scans",
    )
for size in (32, 19):
    row(
        "scans",
        "redWarp",
        f"unzip (force (concat 1 (map (redWarp after) (splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
        variant=f"of affine maps, {size} each",
        **AFFINE,
        **chunked(size == 32),
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: [functools.reduce(after, part)], 2, size, xs, ys),
    )
    row(
        "scans",
        "scanWarp",
        f"unzip (force (concat {size} (map (scanWarp after) (splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
        variant=f"of affine maps, {size} each",
        **AFFINE,
        **chunked(size == 32),
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part), 2, size, xs, ys),
    )
for name, size in (("scanThread", 7), ("scanThreadExclusive", 7), ("scanWarpExclusive", 32), ("scanWarpExclusive", 19)):
    neutral = " (1, 0)" if name.endswith("Exclusive") else ""
    row(
        "scans",
        name,
        f"unzip (force (concat {size} (map ({name} after{neutral}) (splitUp {size} (zip xs ys))) : [(uint,"
        " uint)]<grid>))",
        variant=f"of affine maps, {size} each",
        **AFFINE,
        **chunked(size != 19),
        wanted=lambda xs, ys, size=size, neutral=neutral: in_chunks(
            lambda part: scanned(after, (1, 0), part, not neutral), 2, size, xs, ys
        ),
    )
row(
    "scans",
    "exclusive",
    "unzip (force (exclusive <grid> (1, 0) (koggeStone <grid> after (zip xs ys))))",
    **AFFINE,
    **AT_GRID,
    wanted=lambda xs, ys: unzipped(2, scanned(after, (1, 0), zip(xs, ys), False)),
)
for level, size in LEVELS:
    row(
        "scans",
        "exclusive",
        f"unzip (force (concat {size} (map (fn c => exclusive <{level}> (1, 0) (sklansky <{level}> after c)) "
        f"(splitUp {size} (zip xs ys))) : [(uint, uint)]<grid>))",
        **AFFINE,
        **at(level),
        wanted=lambda xs, ys, size=size: in_chunks(lambda part: scanned(after, (1, 0), part, False), 2, size, xs, ys),
    )
for name, size in (("reduceThread", 7), ("reduceWarp", 100), ("reduceBlock", 1000)):
    pushed(
        name,
        f"concat 1 (map ({name} (+) 0) (splitUp {size} xs))",
        variant=f"{size} each",
        group="scans",
        lengths=AWKWARD,
        wanted=lambda xs, size=size: [sum(part) & WORD for part in chunks(size, xs)],
    )
    row(
        "scans",
        name,
        f"{name} max 5 xs",
        "xs:[uint]",
        "[uint]",
        lambda xs: [max([5, *xs])],
        variant="of all",
        alone=True,
        executors=QUICK,
        lengths=SMALL,
    )
for lanes in (1, 8, 32):
    pushed(
        "reduceLanes",
        f"concat {32 // lanes} (map (fn c => reduceLanes {lanes} (+) 0 (splitUp 50 c)) (splitUp {50 * (32 // lanes)}"
        " xs))",
        variant=f"{lanes} a row",
        group="scans",
        lengths=AWKWARD,
        wanted=lambda xs: [sum(part) & WORD for part in chunks(50, xs)],
    )
for size in (256, 45):
    pushed(
        "redBlock",
        f"concat 1 (map (redBlock (fn x y => x + y)) (splitUp {size} xs))",
        variant=f"{size} each",
        group="scans",
        **chunked(size == 256),
        wanted=lambda xs, size=size: [sum(part) & WORD for part in chunks(size, xs)],
    )
row(
    "scans",
    "redBlock",
    "redBlock max xs",
    "xs:[uint]",
    "[uint]",
    lambda xs: [max(xs)] if xs else [],
    variant="one block",
    alone=True,
    lengths=(0, 1, 2, 31, 32, 33, 255, 256),
    executors=QUICK,
)
row(
    "scans",
    "scanBlock",
    "scanBlock latest xs",
    "xs:[int]",
    "[int]",
    lambda xs: scanned(latest, 0, xs),
    variant="of the last not zero, one block",
    alone=True,
    inputs=lambda n, r: [digits(n, r)],
    lengths=AWKWARD[:-3],
)
