"""More excerpts of generated code: what results do not show, and what no excerpt in backend.py has. `make mutants` has
found each: with a small fault in the compiler nothing else was noticed in its time."""

import os
import re

from emitted import Emitted, body, count
from harness import Case

ORDER = 49

# The same by a record and by tuples, and what the names of the one are in the other.
BODIES = """\
TYPE
fun pull A B = (AT, AM)
kernel k (bodies : [body]) =
  (splitUp 64 bodies
   |> map (fn c => let s = force (push <block> c) in push <block> (map (fn b => foldl pull b s) s))
   |> concat 64 : [body]<grid>)
"""
BY_RECORD = BODIES.replace("(AT, AM)", "{ pos = (x + mass * u, y + mass * v), mass = m }").replace(
    "TYPE", "type body = { pos : (float, float), mass : float }").replace(
    " A ", " { pos = (x, y), mass = m } ").replace(" B ", " { pos = (u, v), mass } ")
BY_TUPLES = BODIES.replace("AT, AM", "(x + mass * u, y + mass * v), m").replace(
    "TYPE", "type body = ((float, float), float)").replace(" A ", " ((x, y), m) ").replace(" B ", " ((u, v), mass) ")
NAMES = {"bodies_pos_0": "bodies", "bodies_pos_1": "bodies_1", "bodies_mass": "bodies_2"}

# A tile's elements behind the array's end, and something that is done to the others.
TILES = """\
fun step x = (x * 3) ^ (x >> 1)
fun four x = step (step (step (step x)))
fun many x = four (four (four (four x)))
fun lots x = many (many (many (many (many (many (many (many (many x))))))))
kernel k (xs : [int]) =
  let n = length xs
      tile c = push <block> (generate 64 (fn i => let at = c * 64 + i in if at < n then WHAT (xs ! at) else 0))
  in generate ((n + 63) / 64) tile |> interleaveInto n (fn (c, i) => c * 64 + i)
"""


def cases(env):
    emitted = Emitted(env)
    golden = emitted.golden

    # ---- what is known ----
    yield golden("a function that a comparison chooses is known in a branch whose condition says how that turns out",
                 """\
kernel k (xs : [int]) =
  (splitUp 4 xs |> map (fn c =>
     let a = force (push <block> c)
         f = if a ! 0 > 3 then fn b => map (+ 1) b else fn b => map (fn x => x * 2) b
         three = f (take 3 a)
     in if a ! 0 > 5 then push <block> three else push <block> (reverse three)) |> concat 3 : [int]<grid>)
""", "fcl_block_k", {r"\* 2u": 2}, extension="c")
    yield golden("rows of an array that are a result are stored as the array is: their number bounds the loop as it is",
                 "kernel k (n : int) (xs : [int]) = rows n xs", "fcl_block_k",
                 {r"\bmax|max_int": 0, r"result\[i\] = xs\[i\];": 1}, extension="c", loops=1)
    for steps in ("fst (loop (fn (i, s) => i < n) (fn (i, s) => (i + s, s)) (0, x))",
                  "let (i, _, u) = loop (fn (i, s, u) => i < n + u) (fn (i, s, u) => (i + s, s, u)) (0, x, x * x) "
                  "in i + u"):
        yield golden(f"what a loop hands on as it is stays where it is: {steps}",
                     f"kernel k (n : int) (xs : [int]) = push <block> (map (fn x => {steps}) xs)", "k",
                     {r" {12}int \w+ = ": 1, r" {16}\w+ = ": 1}, loops=1)

    def loaded_once():
        text = body(emitted.of_file("c", "examples", "sorting", "sorting.fcl"), "fcl_block_prefixSumsInTwo_0")
        assert count(r"= x \? xs\[at\] : 0;", text) == 2 and count(r"\bxs\[", text) == 4, text
    yield Case("the first element of a chunk's sums is loaded once for whole tiles and once for the last", loaded_once)

    yield golden("the second part of what is put together knows that it is: its places need no choice",
                 "kernel k (xs : [int]) (ys : [int]) = unpairP (push <block> (zip xs ys))", "k",
                 {r"\?": 0, r"result\[t\] = ": 1, r"result\[t \+ 1\] = ": 1}, loops=1)

    def records():
        for extension in ("cu", "c", "cl"):
            by_record, by_tuples = (emitted.of_text(extension, text).partition("\n")[2]
                                    for text in (BY_RECORD, BY_TUPLES))
            for name, other in NAMES.items():
                assert re.search(rf"\b{name}\b", by_record), (extension, name)
                by_record = re.sub(rf"\b{name}\b", other, by_record)
            assert by_record.split() == by_tuples.split(), extension
    yield Case("a record is what the tuple of its fields is, but for names", records)

    # ---- loops of C ----
    yield golden("tiles wholly inside of an array have a loop without guards in C", TILES.replace("WHAT", "many"),
                 "fcl_block_k", {r"if \(": 2, r"\^": 32}, extension="c", loops=3)
    yield golden("but not where it is too long to be there twice", TILES.replace("WHAT", "lots"), "fcl_block_k",
                 {r"if \(": 1}, extension="c", loops=2)

    def of_vectors(name, fold, patterns):
        return golden(name, f"kernel k (m : int) (xs : [float]) = push <grid> (generate m (fn i => {fold}))\n",
                      "fcl_block_k", patterns, extension="c")
    yield of_vectors("two sums go through a loop four vectors abreast in C, three two",
                     "foldl (fn (a, b) x => (a + x * xs ! i, b + x)) (0.0, 0.0) xs",
                     {r"i \+= 4 \* FCL_WIDTH": 1, r"fcl_float_vec \w+ = fcl_float_vec_of\(0": 10})
    yield of_vectors("and each of them has names of its own, in which there are reciprocal roots",
                     "foldl (fn (a, b, c) x => let d = x - xs ! i  r = rsqrt (d * d + 1.0) in "
                     "(a + r, b + r * d, c + r * x)) (0.0, 0.0, 0.0) xs",
                     {r"i \+= 2 \* FCL_WIDTH": 1, r"const fcl_float_vec d = ": 2, r"const fcl_float_vec d2 = ": 1,
                          "fcl_vector_rsqrt": 3, "sqrtf": 1})
    yield of_vectors("sums in a loop of loops go eight vectors abreast",
                     "foldl (fn a y => foldl (fn a x => a + x * xs ! (i + y)) a xs) 0.0 (iota m)",
                     {r"i \+= 8 \* FCL_WIDTH": 1, r"i \+= 4 \* FCL_WIDTH": 1})
    yield of_vectors("exponentials and logarithms in a loop inside are of vectors in C",
                     "foldl (fn a x => a + exp (x * xs ! i) - log x) 0.0 xs",
                     {"fcl_vector_exp": 1, "fcl_vector_log": 0})
    yield of_vectors("truth that is compared, chosen, or the same for all lanes is of vectors",
                     "foldl (fn n x => if (if x > xs ! i then x < 3.0 else m > 7) == (x > 2.0) then n + 1 else n) 0 xs",
                     {r"\? -1 : 0\)": 3, r"FCL_MASK\(fcl_vector_select\(.*\) == fcl_int_vec_of": 1})
    yield golden("the least element's place is found by vectors that stay in registers, from row to row of them",
                 "kernel k (xs : [float]) = argmin xs\n", "fcl_block_k_0",
                 {r"local_array2?\[i\d? / FCL_WIDTH\] = fcl_vector_select\(": 2, r"while \(state < 255\)": 1},
                 extension="c")
    yield golden("what does not commute is combined by four quarters of a chunk at once in C",
                 "kernel k (xs : [int]) = reduce (fn a b => if b > 7 then b else a) 0 xs\n", "fcl_block_k_0",
                 {r"= xs\[t \+ (1024|2048|3072)\];": 3, r"i < 1023;": 1}, extension="c")
    yield golden("what comes before the first row of an index that is divided may wrap on its way", """\
kernel k (n : int) (a : int) (xs : [int]) =
  let lots = (a & 1048575) * 1000
  in push <grid> (generate (length xs & 1048575) (fn i => xs ! ((i + lots) / n) + (i + lots) % n))
""", "fcl_block_k",
                 {r"first_row = is_none \? 0 : \(int\)\(\(uint32_t\)begin \+ \(uint32_t\)first\) / width": 1,
                  r"\(int\)\(\(uint32_t\)begin \+ \(uint32_t\)end - 1u\) / width": 1}, extension="c")
    yield golden("a loop is unrolled for choices by its index, not for choices by the data", """\
kernel k (xs : [int]) (ys : [int]) =
  let f x i n = if x == n then ys ! (i + n) else n
      ten x i = f x i 1 + f x i 2 + f x i 3 + f x i 4 + f x i 5 + f x i 6 + f x i 7 + f x i 8 + f x i 9 + f x i 10
  in (concat 20 (map (fn x => push <thread> (generate 20 (ten x))) xs) : [int]<grid>)
""", "fcl_block_k", {"FCL_UNROLL": 0, r"\? ys\[": 10}, extension="c", loops=2)
    for base, zero, unrolled in (("f16", "0.0f16", 0), ("float", "0.0f32", 1)):
        yield golden(
            f"sixteen numbers are added without a loop, but narrow ones with one (NARROW_UNROLLED): {base}",
            f"""\
kernel k (xs : [{base}]) =
  let sixteen i = foldl (+) {zero} (map (fn k => xs ! (i * 16 + k)) (iota 16))
  in push <grid> (generate (length xs / 16) sixteen)
""",
            "fcl_block_k",
            {r"FCL_UNROLL\n": unrolled},
            extension="c",
            loops=2,
        )

    yield golden("ranges of a loop end with whole vectors, and whole rows where they have room for one", """\
kernel k (n : int) (a : [float]) (b : [float]) =
  push <grid> (generate (n * n) (fn e =>
    foldl (fn s k => s + a ! (e / n * n + k) * b ! (k * n + e % n)) 0.0 (iota n)))
""", "fcl_block_k",
                 {r"unit = width < 16 \|\| range < width \? 16 : width;": 1,
                  r"first = \(int\)\(units \* block / blocks \* unit\);": 1}, extension="c")
    yield golden("a loop whose inner loop would go on dividing by a row's length is not split by rows", """\
kernel k (n : int) (xs : [int]) =
  reduce (+) 0 (mapIx (fn i x => if xs ! (i / n) == i % n then x else 0) xs)
""", "fcl_block_k_0", {r"\brow\b": 0, r"fcl_div_int\(": 7, r"fcl_rem_int\(": 7}, extension="c")
    yield golden("but iterations that do much are shared out one by one where a range has less than a vector", """\
kernel k (n : int) (xs : [float]) =
  let sum x s i = foldl (fn s j => s * x + float (i * j)) s (iota 1000)
  in push <grid> (map (fn x => foldl (sum x) x (iota n)) xs)
""", "fcl_block_k", {r"unit = \S+ / blocks < 16 \? 1 : 16;": 1}, extension="c")

    # 16 elements that change places with neighbours are code without a loop in GCC, of 32 it makes vectors.
    for count_, wanted in ((16, 0), (32, 1)):
        yield golden(f"vectors are asked for where GCC keeps a loop, not where its rounds are few: {count_}", f"""\
kernel k (xs : [int]) =
  let turned c = exchange <block> (<=) (fn i => i ^ 1) (force (push <block> c))
  in splitUp {count_} xs |> map turned |> concat {count_}
""", "fcl_block_k", {rf"FCL_SIMD_EIGHT\n *for \(int i = 0; i < {count_}": wanted}, extension="c")
    yield golden("the lesser by value and place is found by a branch, in loops that are unrolled",
                 "fun least (x, i) (y, j) = if x < y || (i < j && x <= y) then (x, i) else (y, j)\n"
                 "kernel k (xs : [int]) =\n"
                 "  concat 1 (map (reduceChunk least) (splitUp 4096 (mapIx (fn i x => (x, i)) xs)))",
                 "fcl_block_k",
                 {r"x < y \|\| \(\(i2 < j\) & \(x <= y\)\)": 1}, extension="c")
    yield golden("one less than a place is a place, whatever the place is known to be", """\
kernel k (n : int) (xs : [int]) =
  push <block> (power n (fn _ s => push <block> (mapIx (fn i x => if i == 0 then x else x + s ! (i - 1)) s))
                  (push <block> xs))
""", "fcl_block_k", {r"local_array\[t\d - 1\]": 2}, extension="c")
    yield golden("what other blocks have counted is read word by word on CPUs", """\
kernel k (xs : [int]) =
  splitUp 4 xs |> map (fn c => push <block> (map (+ 1) (lookbackCounts c))) |> concat 4
""", "fcl_block_k", {r"while \(": 2, r"= \(\(volatile int \*\)lookback\)\[": 2}, extension="c")

    def many_results():
        results = ", ".join(f"push <grid> (map (fn x => x + {i}) xs)" for i in range(66))
        text = emitted.of_text("c", f"kernel k (xs : [int]) = ({results})\n")
        stores = [count(r"result\d*\[i\] = ", body(text, f"fcl_block_k_{i}")) for i in range(2)]
        assert stores == [64, 2], stores
    yield Case("a loop stores 64 of a traversal's results, and another one the others", many_results)

    def scalar_blocks():
        for place, wanted in (
                (("toolchains", "gcc_places_by_truth.fcl"),
                 ["equal", "above_0", "quotient", "other", "either", "far_", "bits", "odd"]),
                (("language", "checks.fcl"), ["growsAtBlock", "growsWhile"]),
                # Here loops with others inside of them have such places.
                (("prelude", "lookback.fcl"), []), (("prelude", "radix_sorts.fcl"), [])):
            text = emitted.of_file("c", "tests", "run", *place)
            assert re.findall(r"FCL_SCALAR_BLOCK static void fcl_block_(\w+)", text) == wanted, place
    yield Case("GCC makes no vectors of places that are chosen by truth, whatever computes them", scalar_blocks)

    yield golden("in C a filter keeps elements by vectors, and its loop does what is left of a chunk",
                 "kernel k (xs : [double]) = filter (fn x => x > 0.0) xs", "fcl_block_k_3",
                 {r"for \(int i = fcl_select_8\(local_array\d*, \w+, &next, end\d*, t, local_array\d*, result2\);": 2,
                  r"local_array\d*\[512\]": 4}, extension="c")
    yield golden("a chunk's elements are counted by rows of 64 lanes",
                 "kernel k (xs : [double]) = filter (fn x => x > 0.0) xs", "fcl_block_k_0",
                 {r"local_array\d*\[256\]": 0, r"\* 64\b": 2}, extension="c")
    yield golden("a scan holds 8 KiB of elements of 8 bytes at a time in C, in parts of 8",
                 "kernel k (xs : [i64]) = scan (+) 0 xs", "fcl_block_k",
                 {r"local_array\d*\[1024\] ": 2, r"local_array\d*\[128\] ": 4}, extension="c")
    yield golden("and each of their parts, of which the last moves on",
                 "kernel k (xs : [double]) = runLengths xs", "fcl_block_k_3",
                 {r"\(void\)fcl_select_\d\(.*&\(int\)\{next\}": 2, r"= fcl_select_\d\(.*&next": 2}, extension="c")
    yield golden("a part of a sort in C goes by digits of up to 12 bits, less the least key, then by walks",
                 "kernel k (xs : [double]) = sort xs", "fcl_block_k_18",
                 {r"local_array\d*\[4096\]": 12, r"- least\) >> ": 12, "FCL_BY_EIGHT": 6, r"while \(": 2},
                 extension="c")

    # ---- loops that repeat, with --check ----
    for base, state in (("float", "(fn x => x * x != a) (fn x => (x + a / x) / 2.0) 1.0"),
                        ("float", "(fn x => x < a) (fn x => x + 1.0) 0.0"),
                        ("int", "(fn x => x < a) (fn x => x / 2) 1000"), ("int", "(fn x => x < a) (fn x => x) 0")):
        yield golden(f"with --check a loop whose state is no counter tells whether it ends: {base}, loop {state}",
                     f"kernel k (xs : [{base}]) = push <grid> (map (fn a => loop {state}) xs)", "fcl_block_k",
                     {r"if \((!\(.* != .*\)|0)\) fcl_failed\(": 1}, options=["--check"], extension="c")
    yield golden("and in rows of a result, whose lengths are asked for before",
                 "kernel k (n : int) (xs : [int]) =\n"
                 "  map (fn c => map (fn x => loop (fn i => i < n) (fn i => i + x) 0) c) (rows 2 xs)", "fcl_block_k",
                 {r"fcl_failed\(k_fcl_report, 2": 1}, options=["--check"], extension="c")
    yield golden("and in what the lengths of rows are",
                 "kernel k (n : int) (xs : [int]) =\n"
                 "  map (fn x => generate (loop (fn i => i < n) (fn i => i + i) 1) (fn i => i + x)) xs",
                 "fcl_block_k_0", {r"fcl_failed\(k_fcl_report, 1": 1}, options=["--check"], extension="c")
    yield golden("and one that counts is not asked",
                 "kernel k (xs : [int]) = push <grid> (map (fn a => loop (fn i => i < a) (fn i => i + 1) 0) xs)",
                 "fcl_block_k", {r"fcl_failed\(": 0}, options=["--check"], extension="c")

    # ---- large results: places of 64 bits where they are asked for, and divisions of 32 ----
    added, made = "kernel k (m : [[u8]]) = map (map (fn x => x + 1)) m", "kernel k (r : int) (c : int) =\n" \
        "  generate r (fn i => generate c (fn j => i + j))"
    for extension, kernel, wide in (("c", "fcl_block_k", "int64_t"), ("cu", "k", "long long")):
        yield golden(f"what is added to a large matrix is written at places of 64 bits: {extension}", added, kernel,
                     {rf"const {wide} t = scalar2 \+ \({wide}\)i;": 1 if extension == "c" else 2},
                     options=["--large"], extension=extension)
        yield golden(f"and to one that is not large at those of 32: {extension}", added, kernel,
                     {rf"{wide} t\b": 0, "scalar2": 0}, extension=extension)
        yield golden(f"a large matrix of row and column divides numbers of 32 bits: {extension}", made, kernel,
                     {rf"\({wide}\)i [/%] ": 0, r"\bi / t2\b": int(extension == "cu"),
                      r"\bresult\[\(": 2 if extension == "c" else 1},
                     options=["--large"], extension=extension)

    # ---- GPUs ----
    yield golden("a sum and its end are one launch on CUDA, whatever the host computes between them",
                 "kernel k (xs : [int]) = reduce (+) 0 xs", "k", {"atomic": 1}, barriers=6)

    yield golden("CUDA compares numbers by their bits only where one is clamped",
                 "kernel k (xs : [int]) = push <grid> (map (fn x => x * 3 == x + 8) xs)", "k",
                 {"fcl_equal": 0, " == ": 2})

    # Held in text, as no executor here shows it: only NVIDIA's compiler makes these mistakes.
    for number, condition, times in (
            ("int", "min (max x 0) n == n", 2), ("int", "n == max 0 (min n x)", 2), ("int", "min (max 0 x) n != n", 2),
            ("int", "(if x > 7 then n else if x < -7 then 0 else x) == n", 2),
            ("int", "(if x > 7 then 0 else if x < -7 then n else x) == n", 2),
            ("int", "min (max x 0) n < n", 0), ("int", "max x 0 == 0", 0), ("int", "min (max x m) n == n", 0),
            ("int", "min (max x 0) n == m", 0), ("i16", "min (max x 0) n == n", 2), ("i64", "min (max x 0) n == n", 0),
            ("uint", "min (max x 0) n == n", 0), ("float", "min (max x 0) n == n", 0)):
        yield golden(f"CUDA compares by bits what is chosen from 0 and the other number: {number}, {condition}",
                     f"kernel k (m : {number}) (n : {number}) (xs : [{number}]) =\n"
                     f"  push <grid> (map (fn x => if m != 7 && {condition} then 1 else 2) xs)\n", "k",
                     {"fcl_equal": times})

    def apart():
        text = emitted.of_file("cu", "tests", "run", "toolchains", "nvvm_chosen_loads.fcl")
        times = [count(r"fcl_apart\(starts", body(text, name)) for name in ("chosen", "three", "bytes", "truths")]
        assert times == [1, 1, 1, 1], times
        text = emitted.of_text("cu", "kernel k (n : int) (xs : [int]) = push <grid> (generate n (fn i =>\n"
                                     "  if i < length xs then xs ! i else 0))\n")
        assert not count("fcl_apart", text), text
    yield Case("CUDA keeps loads of what nobody writes apart from those of what the kernel has written", apart)

    def without_vectors():
        text = emitted.of_file("c", "tests", "run", "optimiser", "lists_in_turn.fcl")
        assert count(r"\n +FCL_SCALAR\n", body(text, "fcl_block_kept")) == 2, body(text, "fcl_block_kept")
    yield Case("loops that go through small arrays of a thread make no vectors in C", without_vectors)

    def rows_of_rows():
        text = body(emitted.of_file("c", "tests", "run", "optimiser", "borders.fcl"), "fcl_block_box")
        assert count(r"fcl_div_int\(\w+, size\)", text) == 5, text
    yield Case("a box goes by rows of rows in C: inside of its borders nothing is divided", rows_of_rows)

    def starts():
        text = body(emitted.of_file("cu", "tests", "run", "prelude", "reduce_by_index.fcl"), "apart_0")
        assert re.findall(r"result\d?\[i\] = (-?\w+);", text) == ["1000", "-1000"], text
    yield Case("copies of zeros are cleared by the host, and a kernel stores the others", starts)

    def lengths():
        text = emitted.of_text("cu", "kernel k (xs : [int]) = push <grid> (map (+ 1) xs)\n"
                                     "kernel m (xs : [[int]]) = map (map (+ 1)) xs\n")
        for of in ("xs_length", "xs_rows * xs_columns"):
            assert count(rf"\n +xs +reads int, elements: {re.escape(of)}\n", text) == 1, (of, text)
    yield Case("what stands above a kernel says how long its arrays are", lengths)

    def left_out():
        source = ("kernel k (xs : [int]) = (splitUp 64 xs |> map (fn c => push <block> (map (+ 1)\n"
                  "  (force (push <block> (map (fn x => x * 3) c))))) |> concat 64 : [int]<grid>)\n")
        loops = [count(r"\bfor \(int ", emitted.of_text("c", source, options))
                 for options in ([], ["--skip=fuse-loops"], ["--skip=banks"])]
        assert loops[0] == loops[2] < loops[1], loops
    yield Case("--skip leaves a pass out, and no other", left_out)

    def told_threads():
        text = emitted.of_file("cu", "benchmarks", "fcl", "matrices.fcl")
        told = {name: count(r"FCL_THREADS\(256\)", body(text, name))
                for name in ("product_0", "unitProduct_0", "transposed", "edges", "timesVector_0")}
        assert told == {"product_0": 1, "unitProduct_0": 1, "transposed": 1, "edges": 0, "timesVector_0": 0}, told
    yield Case("CUDA's compiler is told how many threads there are where an unrolled loop divides a place",
               told_threads)

    def pairs_of_halves():
        """What a load has brought two in a register is stored so."""
        path = "tests", "run", "optimiser", "halves_ahead.fcl"
        stores = [count(r" fcl_store_pair\(", emitted.of_file("cu", *path, options=options))
                  for options in ((), ("--skip=store-pairs",))]
        assert stores[0] >= 4 and stores[1] == 0, stores
        assert "fcl_store_pair" not in emitted.of_file("cl", *path), "OpenCL has no registers of two"
    yield Case("CUDA stores halves by pairs where registers hold them so", pairs_of_halves)

    def threads_of_blocks():
        """Blocks with buckets of their own are large, whatever else of the kernel is launched."""
        source = "kernel k (xs : [int]) KERNEL= histogram 4096 (VALUE)\n"
        heavy = "map (fn x => foldl (+) x (range 0 x)) xs"
        for extension, said, value, options, wanted in (
                ("cu", "", "xs", (), {256, 1024}), ("hip", "", "xs", (), {256, 1024}), ("cu", "", heavy, (), {256}),
                ("cu", "with #BlockSize = 128 ", "xs", (), {128}), ("cu", "", "xs", ("--block-size=256",), {256})):
            text = emitted.of_text(extension, source.replace("KERNEL", said).replace("VALUE", value), options)
            found = {int(number) for number in re.findall(r"__launch_bounds__\((\d+)", text)}
            assert found == wanted, (extension, said, value, options, found)
    yield Case("blocks with buckets of their own have 1,024 threads in CUDA, unless their number is given or pairs are "
               "long", threads_of_blocks)

    def slots():
        """What one block stores once and the host alone reads, and nothing else, is in the host's memory."""
        for source, wanted in (
                ("reduce (+) 0 xs", ["4, false"]), ("filter (fn x => x > 0) xs", ["4, true"]),
                ("(reduce (+) 0 xs, reduce max 0 (map (fn x => x * 3) xs))", ["4, false", "4, false"]),
                ("let sum = reduce (+) 0 xs in push <grid> (map (fn x => x - sum) xs)", []),
                ("any (fn x => x > 5) xs", ["1, false"]), ("scan (+) 0 xs", [])):
            path = env.written("slots.fcl", f"kernel k (xs : [int]) = {source}\n")
            out = emitted.compile_to("cu", path)
            with open(out[:-2] + "h", encoding="utf-8") as file:
                found = re.findall(r"fcl_buffer_slot\(context, (\d+, \w+)", file.read())
            assert found == wanted, (source, found)
    yield Case("lengths and sums for the host alone are stored to its memory, and nothing that launches read", slots)

    for base, name, neutral, wanted in (
            ("i64", "min", "9223372036854775807", r"FCL_ATOMIC_MIN\(&result"),
            ("i64", "max", "-9223372036854775808", r"FCL_ATOMIC_MAX\(&result"),
            ("i64", "(+)", "0", r"fcl_atomic_add_i64\(&result"), ("int", "max", "0", r"\batomicMax\(&result")):
        yield golden(f"HIP's own functions update 64 bits by min and max, CUDA's names what else: {base}, {name}",
                     f"kernel k (xs : [(int, {base})]) =\n"
                     f"  (reduceByIndex {name} ({neutral}) (replicate 3000000 0) xs : [{base}]<grid>)", "k",
                     {wanted: 17, r"FCL_ATOMIC_|fcl_atomic|atomicM": 17}, extension="hip")

    def helpers(name, definition, programs):
        """Whether a helper of HIP's is used, and defined just then."""
        for source, is_used in programs:
            text = emitted.of_text("hip", f"kernel k (xs : [int]) = {source}\n")
            defined, uses = count(definition, text), count(rf"\b{name}\(", re.sub(definition, "", text))
            assert (defined, uses > 0) == (int(is_used), is_used), text
    scan, ranks = "scan (+) 0 xs", "let (ranks, _) = rankByIndex 16 xs in ranks"
    yield Case("HIP finds the lanes that meet by ballots, and only kernels that ask have what does it", lambda: helpers(
        "FCL_MATCH", r"#define FCL_MATCH\(x, bits\) \(FCL_BALLOT", ((ranks, True), (scan, False))))
    yield Case("HIP's kernels that wait for other blocks sleep meanwhile, and others do not know how", lambda: helpers(
        "fcl_pause", r"void fcl_pause\(\) \{ __builtin_amdgcn_s_sleep",
        ((scan, True), ("push <grid> (map (fn x => x + 1) xs)", False))))

    def guarded():
        """Note [guarded places]: loads whose place no loop around them computes."""
        own = "let ys = force (push <thread> (generate 5 (fn i => x * i))) in"
        summed = "foldl (fn acc i => {0}) 0 (iota x)"
        alone, chosen = "ys ! (x % 5)", "if x > 3 then ys ! (x % 5) else 2"
        for level, taken, wanted in (
                ("grid", alone, 1), ("grid", chosen, 1), ("grid", summed.format("acc + i + " + alone), 1),
                ("grid", summed.format("ys ! ((acc + i) % 5)"), 0),
                ("grid", summed.format("if i % 3 == 0 then acc + ys ! (i % 5) else i"), 1),
                ("grid", "fst (while (fn (s, n) => n < 9) (fn (s, n) => (s + ys ! (n % 5), n + 1)) (0, x))", 0),
                ("warp", alone, 0), ("warp", chosen, 2), ("block", alone, 2)):
            each = f"map (fn x => {own} {taken})"
            chunks = f"splitUp 64 xs |> map (fn c => push <{level}> ({each} c)) |> concat 64"
            source = f"push <grid> ({each} xs)" if level == "grid" else chunks
            text = emitted.of_text("cl", f"sig k : [int] -> [int]<grid>\nkernel k (xs : [int]) = {source}\n",
                                   ["--map=simt"])
            got = count(r"\bFCL_GUARDED\(local", text)
            assert got == wanted, f"{level}, {taken}: {got}, wanted {wanted}\n{text}"
        for place, wanted in (("(i + n) % length a", 1), ("i / n", 1), ("(i + n) % 5", 0), ("length a - 1 - i", 0),
                              ("ys ! (i / n)", 0)):
            text = emitted.of_text("cl", "kernel k (xs : [int]) (ys : [int]) (n : int) =\n"
                                         "  (map (fn c => let a = force (push <block> c) in push <block>\n"
                                         f"    (generate (length a) (fn i => a ! ({place})))) (splitUp 33 xs)\n"
                                         "   |> concat 33 : [int]<grid>)\n", ["--map=loop"])
            got = count(r"\bFCL_GUARDED\(local", text)
            assert (got > 0) == wanted, f"{place}: {got}, wanted {wanted}\n{text}"
    yield Case("Intel's OpenCL is kept from loads in vain, but for those whose place a loop computes anew", guarded)

    def updated_in_place():
        """The copy that an update starts with, of arrays that take turns below grid."""
        text = env.must(env.fclc, "--dump=ir-opt", env.path("tests", "run", "prelude", "updates_below_grid.fcl"))
        copies = {found[1]: count(r" start\b", found[0])
                  for found in re.finditer(r"(?ms)^kernel (\w+).*?^  return", text)}
        named = {is_copied: {name for name in copies if (copies[name] > 0) == is_copied} for is_copied in (True, False)}
        assert named == {True: {"twoOfOne", "sameTwice", "pairs", "threads", "kept", "chosen", "twice", "many",
                                "bytes", "late"},
                         False: {"mapped", "exchanged", "both", "ring", "manyEach", "chained", "added", "turned",
                                 "inner", "points", "ofThreads"}}, copies
    yield Case("below grid an update that takes another array's place, or is made on a step's way, copies nothing",
               updated_in_place)

    def begun_together():
        """A stored array that a loop begins with, beside another one of its length."""
        path = os.path.join(env.tmp(), "begun.fcl")
        with open(path, "w", encoding="utf-8") as file:
            file.write("""\
kernel k (n : int) (steps : int) =
  let a = force (push <grid> (generate n (fn i => i * i)))
  in power steps (fn _ (b, c) => (push <grid> (map (+ 1) b), push <grid> c)) (push <grid> a, push <grid> (iota n))
""")
        text = env.must(env.fclc, "--dump=ir-opt", path)
        assert (count(r"\bload\b", text), count(r"\bstore\b", text), count(r"\bforall\b", text)) == (1, 3, 3), text
    yield Case("a stored array that a loop begins with beside another one is not copied", begun_together)

    yield golden("a shifted place is the sum that it is, times four: its constant is far from the array's begin",
                 "kernel k (xs : [int]) (is : [int]) = push <grid> (map (fn i => xs ! ((i + 5000) << 2)) is)", "k",
                 {r"xs\[\(\(unsigned\)is\[i\] \+ 5000u\) << 2\]": 2})

    def chosen_places():
        """Note [places by truth]: of places that a condition chooses, only those that differ in the loop."""
        for condition, wanted in (("n > 3", 0), ("x > 3", 1)):
            text = emitted.of_text("c", "kernel k (n : int) (xs : [int]) (ys : [int]) =\n  push <grid> (map (fn x =>"
                                        f" x + n * ys ! (if {condition} then 1 else 0)) xs)\n")
            assert count("FCL_BLOCK FCL_SCALAR_BLOCK static", text) == wanted, text
    yield Case("GCC makes no vectors where a condition chooses a place, but where that is the same for all",
               chosen_places)

    yield golden("arrays of a block that are too large for a stack together are partly elsewhere",
                 "sig k : [int] -> [int]<grid>\n"
                 "kernel k xs = splitUp 30000 xs |> map (fn c =>\n"
                 "  let a = force (push <block> (reverse c))\n"
                 "      b = force (push <block> (map (fn x => x + a ! 0) (reverse c)))\n"
                 "      d = force (push <block> (map (fn x => x + b ! 0) (reverse a)))\n"
                 "  in push <block> (generate (length c) (fn i => a ! i + b ! (i / 2) + d ! (i / 3)))) |> concat 30000",
                 "fcl_block_k", {r"int local_array\d*\[30000\]": 2}, extension="c")

    def short_rounds():
        """Short rounds are done by fours, and two vectors at a time; long ones are not."""
        for operations, wanted in ((3, 2), (12, 0)):
            step = "y"
            for factor in range(operations):
                step = f"(({step} * {factor + 3} + i) ^ y)"
            text = emitted.of_text("c", "kernel k (xs : [int]) = push <grid> (map (fn x => fst (loop (fn (y, i) =>\n"
                                        f"  i < 100 && y > 3) (fn (y, i) => ({step}, i + 1)) (x, 0))) xs)\n")
            assert count(r"turn < 4", text) == wanted, text
    yield Case("a loop that vectors leave together asks after some rounds, if these are short", short_rounds)
    def rows_alone():
        text = emitted.of_text("c", 'import "stencil"\nkernel k (r : int) (c : int) (xs : [int]) = '
                               "stencilTiled2 wrap 1 1 (fn at => at (-1) 0 + at 1 1) r c xs")
        found = count(r"for \(int row\b", text), count(r"= row \* 64 \+ column", text)
        assert found == (4, 0), (found, text)
    yield Case("a row's index that nothing asks for is not computed", rows_alone)
    yield golden("a block that waits for others stops once a check has failed",
                 "kernel k (xs : [int]) = scan (+) 0 (map (fn i => xs ! i) xs)", "fcl_block_k",
                 {r"k_fcl_report\)\[0\] == 0\)\) break;": 2}, extension="c", options=["--check"])

    def exchanges():
        """A shuffle by a distance is one of CUDA's own; by others' lanes it is by index."""
        for given, wanted in (("shuffleUp 3", "up"), ("shuffleDown 5", "down"), ("shuffleXor 6", "xor"),
                              ("shuffle (fn i => i + 5)", "down"), ("shuffle (fn _ => n + 5)", "")):
            text = emitted.of_text("cu", "sig k : [int] -> [int]<grid>\nkernel k xs =\n  let n = length xs "
                                         "in concat 32 "
                                         f"(map (fn c => {given} (push <warp> c)) (splitUp 32 xs))\n")
            named = set(re.findall(r"__shfl_?(\w*)_sync\(", text))
            assert named == {wanted}, (given, named, text)
    yield Case("shuffles by a distance are CUDA's own", exchanges)

    def sums_in_order():
        """Note [sums in order]."""
        for operator, wanted in (("(fn a x => a + x * x) 0.0", 1), ("max 0.0", 0), ("(fn a x => a - x) 0.0", 1)):
            text = emitted.of_text("cl", "kernel k (xs : [float]) = push <grid> (map (foldl "
                                         f"{operator}) (splitUp 33 xs))\n", ["--map=loop"])
            assert len(re.findall(r"(?m)^ +FCL_IN_ORDER$", text)) == wanted, text
        for element, wanted in (("int", "FCL_IN_ORDER"), ("u8", "FCL_SCALAR")):  # of narrow ones none has vectors
            text = emitted.of_text("cl", f"sig k : [{element}] -> [int]<block>\nkernel k xs = "
                                         "reduceByIndex (+) 0 [0, 0] (mapIx (fn i x => (i % 2, int x)) xs)\n",
                                   ["--map=loop"])
            assert re.search(rf"(?m)^ +{wanted}\n +for .*xs_length.*\n +buckets\[i & 1\] = ", text), text
    yield Case("Intel's OpenCL keeps the order of sums of floats, and of updates", sums_in_order)

    def handed_on():
        """Note [sums in order]: an old value as it is, from variable to variable or element to element."""
        arrays = "push <thread> (generate 3 (fn e => x + e))"
        for step, start, result, wanted in (
                ("(x + i * i, a)", "(x, 7)", "a + b", 1), ("(x + i * i, b + a)", "(x, 7)", "a + b", 0),
                ("(push <thread> (map (+ 1) a), push <thread> (reverse a))", f"({arrays}, {arrays})", "a ! 0 + b ! 1",
                 1)):
            text = emitted.of_text("cl", "kernel k (xs : [int]) (n : int) =\n  (map (fn x =>\n"
                                         f"    let (a, b) = power n (fn i (a, b) => {step}) {start}\n"
                                         f"    in push <thread> (generate 2 (fn _ => {result}))) xs |> concat 2"
                                         " : [int]<grid>)\n", ["--map=loop"])
            got = len(re.findall(r"(?m)^ +FCL_IN_ORDER$", text))
            assert got == wanted, f"{step}: {got}, wanted {wanted}\n{text}"
    yield Case("Intel's OpenCL makes no vectors of a loop that hands an old value on", handed_on)

    for level, number in (("block", "local"), ("grid", "global")):
        yield golden(f"numbers of warps are quotients of 32 bits in OpenCL, at {level}",
                     f"kernel k (xs : [int]) =\n  (map (push <warp>) (splitUp 40 (take 400 xs)) |> concat 40 : "
                     f"[int]<{level}>)\n", "k",
                     {rf"= \(uint\)get_{number}_id\(0\) / 32; \w+ < ": 1, r"_id\(0\) / 32": 1}, extension="cl",
                     options=["--map=simt", "--sub-groups=yes"])


    def lengths_of_ints():
        text = emitted.of_file("cu", "benchmarks", "suites", "rodinia_nw.fcl")
        assert "min(t8, 127 - state)" in re.sub(r"\bt\d+\b", "t8", text) and "(long long)state" not in text, text
    yield Case("a length that is known not to wrap is computed in 32 bits", lengths_of_ints)

    def tables():
        """In OpenCL: there a kernel's constants take 48 KiB at most (OPENCL_TABLE)."""
        for count_of_second, wanted in ((30, 2), (12000, 1)):
            source = ("kernel k (xs : [int]) = push <grid> (map (fn x =>\n  "
                      f"{list(range(3, 8003))} ! (x & 31) + {list(range(9, 9 + count_of_second))} ! (x & 15)) xs)\n")
            text = emitted.of_text("cl", source, ["--map=simt"])
            assert count(r"__constant int table2?\[\d+\] =", text) == wanted, (
                count_of_second, text[-3000:])
    yield Case("lists of constants are tables, as far as there is room for them", tables)

    def padded():
        """A product's tile: loads of four floats stay such, and a column's stores lie in different banks."""
        text = emitted.of_file("cu", "benchmarks", "suites", "parboil_sgemm.fcl")
        strides = set(re.findall(r"\btile\w*\[[^]]* \* (\d+)[ \]]", text))
        assert "68" in strides and "72" not in strides and "unsigned char shared_pool[8416];" in text, (strides, text)
    yield Case("a product's tiles have the padding that fits them", padded)

    # ---- the comments of kernels ----
    def described():
        for length, told in (("(n + 1) * 3", r"k: kernel k, iterations: max\(\(n \+ 1\) \* 3, 0\)"),
                             ("(((n + 1) * 3 / 2 + 5) * 7) / 3", r"k: kernel k, iterations: \(computed")):
            text = emitted.of_text("cu", "kernel k (n : int) (xs : [int]) =\n"
                                         f"  push <grid> (generate ({length}) (fn i => xs ! (i % 16)))\n")
            assert re.search(told, text), text[:2000]
    yield Case("a kernel's comment says how many iterations it has, if that is no long story", described)

    def spare_bytes():
        text = emitted.of_file("cu", "tests", "run", "language", "growing_steps.fcl")
        found = set(re.findall(r"Dynamic shared memory, bytes: (\S+)", text))
        assert "16" in found and all(word.startswith("(") or int(word) > 0 for word in found), found
    yield Case("a kernel's comment counts what its report takes of shared memory", spare_bytes)
