"""Sorts at a level and of whole arrays, and the functions they are made of."""

import bisect
import functools
from .push import pushed
from .rows import (
    AT_BLOCK,
    AT_GRID,
    AWKWARD,
    EVERY,
    LEVELS,
    LONG,
    LONGEST,
    QUICK,
    VARIANT,
    WORD,
    at,
    chunks,
    joined,
    row,
    unzipped,
    words,
)

# ---- arrays in all orders, of every base type ----

ORDERS = ("equal", "sorted", "reversed", "few", "random", "extreme")
BITS = {"bool": 1, "i8": 8, "i16": 16, "int": 32, "i64": 64, "u8": 8, "u16": 16, "uint": 32, "u64": 64, "float": 32,
        "double": 64}
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
        special += [x | s for s in (0, sign)
                    for x in (exponent, exponent | lowest >> 1, exponent + lowest - 1, exponent - 1, lowest)]

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


def in_orders(lengths, kind="int", fully=True):
    """Lengths in one order each, and one length in all orders."""
    in_turn = [(n, ORDERS[(i + len(kind)) % len(ORDERS)]) for i, n in enumerate(lengths)]
    return in_turn + [(300, order) for order in ORDERS if fully]


def placed(xs, key, start=0):
    """Elements in order, with the places that they come from."""
    return sorted(((x, start + i) for i, x in enumerate(xs)), key=lambda pair: key(pair[0]))


# ---- at a level ----

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
at_level("exchange", "exchange <grid> (fn x y => x <= y) (fn i => i ^ 5) xs", lambda xs: exchanged(lambda i: i ^ 5, xs),
         **AT_GRID)
at_level("exchange", "concat 300 (map (exchange <block> (fn x y => x <= y) (fn i => 299 - i)) (splitUp 300 xs))",
         lambda xs: joined(exchanged(lambda i: 299 - i, part) for part in chunks(300, xs)), **AT_BLOCK)

ASCENDING = {"int": "x <= y", "float": "orderBits x <= orderBits y"}


def compared(names, sort, kind, size=None, is_stable=False, lengths=LONG, variant="", **options):
    """A sort by comparison of a whole array, or of each chunk of a size; `before` and `xs` in it are what it sorts
    by, and what. If it is stable, it gives the places that elements come from, too."""
    stored, read, written = STORED.get(kind, (kind, "id", "id"))
    key = total(kind)
    if is_stable:
        kernel = (f"let sorted = force ({sort} : [({kind}, int)]<grid>) in (map ({written} . fst) sorted, map snd "
                  f"sorted)"
                  .format(before="fn (x, _) (y, _) => " + ASCENDING[kind], xs=f"(mapIx (fn i x => ({read} x, i)) xs)"))
    else:
        kernel = (f"map {written} (force ({sort} : [{kind}]<grid>))"
                  .format(before="fn x y => " + ASCENDING[kind], xs=f"(map {read} xs)"))

    def wanted(xs):
        each = size or max(1, len(xs))
        found = unzipped(2, joined(placed(part, key, i * each) for i, part in enumerate(chunks(each, xs))))
        return found if is_stable else found[0]
    row("sorts", names, kernel, f"xs:[{stored}]", f"[{stored}] [int]" if is_stable else f"[{stored}]", wanted,
        inputs={order: lambda n, r, order=order: [elements(kind, order)(n, r)] for order in ORDERS},
        tests=in_orders(lengths),
        variant=f"of {kind} {variant}", **options)


for name in ("bitonicSort", "oddEvenMergeSort", "mergeSort"):
    is_stable = name == "mergeSort"
    for kind in ASCENDING:
        compared(name, name + " <grid> ({before}) {xs}", kind, is_stable=is_stable,
                 **(AT_GRID if kind == "int" else dict(AT_GRID, **VARIANT)))
    for level, size in LEVELS:
        compared(name, f"concat {size} (map ({name} <{level}> ({{before}})) (splitUp {size} {{xs}}))", "int", size,
                 is_stable, **at(level))
compared("sortBy", "sortBy ({before}) {xs}", "int", is_stable=True, lengths=LONG + (1024, 2047, 2048, 2049))
compared("sortBy", "sortBy ({before}) {xs}", "float", is_stable=True, **VARIANT)
at_level("partitionPoint", "push <grid> (map (fn t => uint (partitionPoint (fn x => x < t) 0 (length xs) xs)) ts)",
         lambda xs, ts: [bisect.bisect_left(xs, t) for t in ts],
         "xs:[uint] ts:[uint]", inputs=lambda n, r: [sorted(words(n, r)), words(9, r) + [0, WORD]])


def two(kind, order):
    """Two arrays in order, of elements that are in this order before: of a sorted whole the one comes before the
    other."""
    def of(n, r):
        both = elements(kind, order)(n + r.choice((0, 1, n // 3, n)), r)
        return [sorted(both[:n], key=total(kind)), sorted(both[n:], key=total(kind))]
    return of


for kind in ASCENDING:
    stored, read, written = STORED.get(kind, (kind, "id", "id"))
    row("sorts", "mergeSorted",
        f"let merged = force (mergeSorted <grid> (fn (x, _) (y, _) => {ASCENDING[kind]}) (mapIx (fn i x => ({read} x, "
        f"i)) xs) "
        f"(mapIx (fn i y => ({read} y, -1 - i)) ys)) in (map ({written} . fst) merged, map snd merged)",
        f"xs:[{stored}] ys:[{stored}]", f"[{stored}] [int]", variant=f"of {kind}, stable, at grid",
        wanted=lambda xs, ys, key=total(kind): unzipped(2, sorted([(x, i) for i, x in enumerate(xs)] +
                                                                  [(y, -1 - i) for i, y in enumerate(ys)],
                                                                  key=lambda pair: key(pair[0]))),
        inputs={order: two(kind, order) for order in ORDERS}, tests=in_orders(LONG if kind == "int" else AWKWARD),
        executors=EVERY if kind == "int" else QUICK)
at_level("mergeSorted", "concat 300 (map (fn c => mergeSorted <block> (fn x y => x <= y) (take 100 c) (drop 100 c)) "
                        "(splitUp 300 xs))",
         lambda xs: joined(map(sorted, chunks(300, xs))), variant="at block", **VARIANT,
         inputs=lambda n, r: [joined(sorted(part[:100]) + sorted(part[100:]) for part in chunks(300, words(n, r)))])
row(
    "sorts",
    "mergeRuns",
    "unzip (force (mergeRuns <grid> (fn (x, _) (y, _) => x <= y) 24 (mapIx (fn i x => (x, i)) xs)))",
    variant="stable, at grid",
    **KEYED,
    wanted=lambda xs: unzipped(2, joined(stably(part) for part in chunks(48, [(x, i) for i, x in enumerate(xs)]))),
    inputs=runs_of(24),
)
at_level("mergeRuns", "concat 300 (map (mergeRuns <block> (fn x y => x <= y) 24) (splitUp 300 xs))", variant="at block",
         **VARIANT,
         wanted=lambda xs: joined(joined(map(sorted, chunks(48, part))) for part in chunks(300, xs)),
         inputs=lambda n, r: [joined(runs_of(24)(len(part), r)[0] for part in chunks(300, [0] * n))])

# ---- of whole arrays, by the order of their type ----


def sorting(kind, names, kernel, result, wanted, executors):
    """A sort of one type, of elements in all orders. `{}` is the array in the kernel, its type in the result. Where
    it runs everywhere, it does so at all lengths."""
    stored, read, _ = STORED.get(kind, (kind, None, None))
    longest = max(LONGEST[executor] for executor in executors)
    lengths = LONG if executors == EVERY else (2, 33, 257, 300, 4095, min(10007, longest))
    row("whole sorts", names, kernel.format(f"(map {read} xs)" if read else "xs"), f"xs:[{stored}]",
        result.format(stored), wanted,
        inputs={order: lambda n, r, order=order: [elements(kind, order)(n, r)] for order in ORDERS},
        variant=f"of {kind}", executors=executors,
        tests=in_orders(lengths, kind, executors == EVERY or kind in STORED))


for kind in BITS:
    order = total(kind)
    written = STORED[kind][2] if kind in STORED else None

    def places(xs, order=order):
        return sorted(range(len(xs)), key=lambda i: order(xs[i]))

    sorting(kind, "sort", f"map {written} (force (sort {{}}))" if written else "sort {}", "[{}]", lambda xs,
            order=order: sorted(xs, key=order),
            EVERY)
    if kind in ("bool", "float", "int", "u8", "i64"):
        sorting(kind, "sortDescending",
                f"map {written} (force (sortDescending {{}}))" if written else "sortDescending {}", "[{}]",
                lambda xs, order=order: sorted(xs, key=order, reverse=True), EVERY if kind == "int" else QUICK)
    if kind in ("double", "int", "u8", "i16"):
        sorting(kind, "argsort", "argsort {}", "[int]", places, EVERY if kind == "double" else QUICK)
    if kind in ("bool", "float", "int", "u8", "i64", "double"):
        first = f"map ({written} . fst) sorted" if written else "map fst sorted"
        sorting(kind, "sortByKey", f"let sorted = force (sortByKey (mapIx (fn i x => (x, i)) {{}})) in ({first}, map "
                                   f"snd sorted)",
                "[{}] [int]", lambda xs, places=places: unzipped(2, [(xs[i], i) for i in places(xs)]), EVERY if kind ==
                "float" else QUICK)
    if kind in ("float", "u8", "i64"):
        first = f"map ({written} . fst) sorted" if written else "map fst sorted"
        sorting(kind, "sortDescendingByKey",
                f"let sorted = force (sortDescendingByKey (mapIx (fn i x => (x, i)) {{}})) in ({first}, map snd "
                f"sorted)",
                "[{}] [int]",
                lambda xs, order=order: unzipped(2, [(xs[i], i) for i in sorted(
                    range(len(xs)), key=lambda i: order(xs[i]), reverse=True)]),
                EVERY if kind == "float" else QUICK)
row("whole sorts", "halfPass", f"unzip (force (halfPass (fn (x, _) => int x) {PLACES}))", **KEYED,
    wanted=lambda xs: unzipped(2, stably(keyed(xs))))
for name in ("radixPass", "bucketPass 256"):
    row("whole sorts", name.split()[0],
        f"unzip (force ({name} (fn (x, _) => int x) (mapIx (fn i x => (x % 256, i)) xs)))", **KEYED,
        wanted=lambda xs: unzipped(2, stably([(x % 256, i) for i, x in enumerate(xs)])))
row("whole sorts", "radixSort",
    "unzip (force (radixSort (fn (x, _) => u64 x << 20) (mapIx (fn i x => (x % 5000, i)) xs)))", **KEYED,
    wanted=lambda xs: unzipped(2, stably([(x % 5000, i) for i, x in enumerate(xs)])))
