"""The generated code itself: how many loops, loads, stores and barriers a program becomes, whether every compiler takes
it, and what ptxas says of it."""

import collections
import functools
import os
import passes
import re
import sys
import time
from emitted import Emitted, body, count
from harness import Case, Skip
from programs import programs

ORDER = 50


C_OPTIONS = ["-O3", "-march=native", "-fopenmp-simd", "-DFCL_OPENMP_SIMD", "-fno-math-errno", "-fno-trapping-math",
             "-ffp-contract=off", "-fno-tree-slp-vectorize", "-fno-delete-null-pointer-checks",
             "-falign-functions=64", "-falign-loops=32"]  # as runtime/cpu.c gives them


def cases(env):
    emitted = Emitted(env)
    compile_to, golden = emitted.compile_to, emitted.golden

    yield golden("what is known of a number is known of its complement: no comparison is left",
                 "kernel k (xs : [int]) = push <block> (map (fn x => let c = ~(x & 15) in if c < -16 then 1 else if c "
                 ">= 0 then 2 else c) xs)",
                 "k", choices=0)
    yield golden("a chain of maps at block is one loop, one load, one store, no barrier",
                 "kernel k (xs : [int]) = reverse xs |> map (fn x => x + 1) |> map (fn x => x * 3) |> push <block>",
                 "k",
                 barriers=0, shared=0, loads=1, stores=1)
    yield golden("the same at grid, for four elements of a thread, and for what is left",
                 "kernel k (xs : [int]) = reverse xs |> map (fn x => x + 1) |> map (fn x => x * 3) |> push <grid>", "k",
                 loops=3, unrolled=2, branches=2, barriers=0, shared=0, loads=2, stores=2)
    yield golden("four turns of a grid's thread go together, at constant distances and behind one test, so that their "
                 "loads do; what is left is asked one by one",
                 "kernel k (xs : [int]) = push <grid> (map (fn x => x * 3) xs)", "k", loops=3, unrolled=2, divisions=0,
                 branches=2)
    signed, unsigned = r"\bxs\[(?!\(unsigned\))", r"\bxs\[\(unsigned\)"
    for text, is_unsigned in (
            ("t - 7", True), ("t - 1", False), ("t + 1", False), ("t + 1000000", False),
            ("let p = t + 1000000 in if p < 0 then 0 else xs ! p", True),
            ("let p = t + 1000 in if p < 0 then 0 else xs ! p", False), ("t + m * s", False),
            ("t ^ (-2147483648)", True),
            ("int (uint t - 7)", True), ("int (i64 t - 7)", True),
            ("foldl (fn a j => a + xs ! (t - j)) 0 (iota 100)", True),
            ("max t 0 - 7", False), ("(t & 15) - 3", False), ("let p = t - 7 in if p < 0 then 0 else xs ! p", True)):
        place = text if "xs" in text else f"xs ! ({text})"
        yield golden(f"the subscript {text} is {'unsigned' if is_unsigned else 'signed'}, which NVIDIA's compilers get "
                     f"right",
                     f"kernel k (m : int) (is : [int]) (xs : [int]) = push <block> (generate 1 (fn _ => let s = is ! 1 "
                     f" t = is ! 0 in {place}))",
                     "k", patterns={signed: 0 if is_unsigned else 1, unsigned: 1 if is_unsigned else 0})
    yield golden(
        "the lanes of a warp count on in shared memory after a barrier of theirs: an exchange orders no memory",
        "kernel k (xs : [int]) = let (ranks, _) = rankByIndex 16 xs in ranks",
        "k",
        {r"atomicAdd\(&counters\w*\[": 1, r"__syncwarp\(\);\s+const int got\w* = __shfl_sync": 1},
    )
    yield golden("but not where a turn is long",
                 "kernel k (n : int) (xs : [int]) = push <grid> (map (fn x => foldl (+) x (range 0 n)) xs)",
                 "k", unrolled=0, divisions=0)
    yield golden("a thread of a histogram has eight loads under way before it updates a bucket, and one for what is "
                 "left",
                 "kernel k (xs : [int]) = histogram 256 xs", "k_0", **{"early loads": 8}, loads=9)
    yield golden("lanes that meet in global memory are one update: a vote before eight pairs, six exchanges for each",
                 "kernel k (n : int) (xs : [int]) = (reduceByIndex (+) 0 (replicate n 0) (map (fn x => (x, x)) xs) : "
                 "[int]<grid>)", "k_4",
                 **{"early loads": 8}, loads=9, shuffles=49)
    yield golden("a product of small matrices is one call of all lanes a step, and its sums stay in their registers",
                 "sig k : int -> [f16] -> [float]<grid>\n"
                 "kernel k (n : int) (xs : [f16]) = concat 128 [push <warp> (power n (fn s sums => "
                 "mma (generate 256 (fn i => xs ! (s * 256 + i))) (generate 128 (fn i => xs ! i)) sums) (push <warp> "
                 "(replicate 128 0.0)))]", "k",
                 {r"fcl_mma_f16\(": 1, r"__syncwarp": 0, r"\bxs\[": 12}, shared=0, barriers=0, private=1)

    merges = "kernel k (xs : [int]) = sortBy (fn x y => x <= y) xs"
    yield golden("sortBy: a thread sorts its seven in registers; a round is two barriers, a search and seven steps "
                 "unrolled (all twice: full tiles, the last)",
                 merges, "k_0", patterns={r"while \(": 4, r"for \(int i\d = 0; i\d < 7; ": 2,
                                          r"int local_array\d?\[7\];": 21}, barriers=8)
    yield golden("a pass of sortBy: neighbouring threads read and write memory, what a thread merges is in shared "
                 "memory",
                 merges, "k_2", patterns={r"\bresult\[": 2, r"\btile\d?\[[^;=]*\] = result\[": 1,
                                          r"\bheld\d?\[turn\] = i\d? < n \? result\[.*: 0;": 1,
                                          r"\bresult\d\[[^;=]*\] = tile\d\[": 2,
                                         r"while \(": 2}, barriers=10, shared=1)

    flat = "(generate (length xs) (fn i => xs ! (i / n * n) + i % n))"
    inner = r"i = from; i < to; \+\+i\) \{\s*result\[[^]/%]*\] = [^/%;]*\(i - start\)\);"
    yield golden("a flat index that is divided goes by rows in C, and rows of one by themselves: no division in a loop",
                 f"kernel k (n : int) (xs : [int]) = push <grid> {flat}", "fcl_block_k", {inner: 1, "%": 0},
                 extension="c", loops=3)
    yield golden("in chunks, too",
                 f"kernel k (n : int) (xs : [int]) = splitUp 256 {flat} |> map (fn c => push <block> c) |> concat 256",
                 "fcl_block_k", {inner: 2, "%": 0}, extension="c", loops=7)
    yield golden("a matrix whose rows a function has changed is gone through as one array",
                 "kernel k (m : [[int]]) = push <grid> (flatten (map (map (fn x => x * 2)) m))", "fcl_block_k",
                 {"%": 0}, extension="c", loops=1)
    yield golden("a matrix that nothing has changed is one array already",
                 "kernel k (m : [[int]]) = push <grid> (map (fn x => x * 2) (flatten m))", "fcl_block_k", {"%": 0},
                 extension="c", loops=1)

    sides = "(fn i => if i > 0 && i < length xs - 1 then xs ! (i - 1) + xs ! (i + 1) else xs ! i)"
    yield golden("what is inside of an array is a loop of its own in C, without branches, beside that of both borders",
                 f"kernel k (xs : [float]) = push <grid> (generate (length xs) {sides})", "fcl_block_k",
                 {r"i = inside; i < outside; \+\+i\) \{\s*(const \w+ \w+ = [^;?]*;\s*)*result\[i\] = [^;?]*;\s*\}": 1,
                  r"side < 2": 1, r"\?|if \(": 4}, extension="c", loops=3)
    yield golden("a clamped neighbour is just the neighbour there",
                 "kernel k (xs : [int]) = let last = length xs - 1 in "
                 "push <grid> (generate (length xs) (fn i => xs ! max 0 (i - 1) + xs ! min last (i + 1)))",
                 "fcl_block_k",
                 {r"result\[i\] = [^;]*xs\[i - 1\][^;]*xs\[i \+ 1\]": 1}, extension="c", loops=3)
    yield golden("and so it is in rows that are blocks, as pictures are written",
                 "kernel k (w : int) (h : int) (xs : [int]) = concat w (generate h (fn y => push <block> (generate w "
                 "(fn x => xs ! (y * w + max 0 (x - 1)) + xs ! (y * w + min (w - 1) (x + 1))))))", "fcl_block_k",
                 {r"i < outside; \+\+i\) \{\s*result\[(\w+) \+ i\] = [^;]*xs\[\1 \+ \(i - 1\)\][^;?]*;\s*\}": 1,
                  r"side < 2": 1}, extension="c")
    yield golden("a tile's rows are loops in C, unless they are short or a power of two",
                 "kernel k (xs : [float]) = concat 900 (generate (length xs / 900) (fn b =>\n"
                 "  let t = force (push <block> (generate 900 (fn i => xs ! (b * 900 + i) * 2.0)))\n"
                 "  in push <block> (generate 900 (fn i => t ! (i % 30 * 30 + i / 30)))))", "fcl_block_k",
                 {r"[/%] 30\b": 0, r"k < rows; \+\+k": 1}, extension="c")
    inside = r"if \(x\) \{\s*FCL_SIMD\w*\s*for \(int i = inside; i < outside; \+\+i\) \{[^?{]*\}"
    for border in ("nearest", "wrap", "(constant 1.0)"):
        yield golden(f"elements inside of a stencil over {border.strip('()')} are a loop in C that asks for no bound",
                     'import "stencil"\nkernel k (r : int) (c : int) (xs : [float]) = stencil2 ' + border +
                     " 1 1 (fn at => at (-1) 0 + at 0 (-1) + at 0 1 + at 1 1) r c xs", "fcl_block_k",
                     {inside: 1, r"side < 2": 1}, extension="c")
    yield golden("and so are those of one of 25 weights, whose sums are one expression",
                 'import "stencil"\nsig ws : [float]\nval ws = [1.0, 2.0, 3.0, 2.0, 1.0]\n'
                 "kernel k (r : int) (c : int) (xs : [float]) = "
                 "stencil2 nearest 2 2 (fn at => weighted ws (fn dy => weighted ws (at dy))) r c xs", "fcl_block_k",
                 {inside: 1}, extension="c")
    cell = ("(fn e x => if isInside (e / (ny * nx)) nz && isInside (e / nx % ny) ny && isInside (e % nx) nx "
            "then x + xs ! (e - 1) + xs ! (e + ny * nx) else x)")
    yield golden("cells inside of a box and at its borders have loops of their own in C, and a row is asked for once",
                 "fun isInside i n = i > 0 && i < n - 1\n"
                 f"kernel k (nz : int) (ny : int) (nx : int) (xs : [int]) = push <grid> (mapIx {cell} xs)",
                 "fcl_block_k",
                 {r"if \(chosen\) \{\s*FCL_SIMD\w*\s*for \(int i = inside; i < outside; \+\+i\) \{[^?{]*\}": 1},
                 extension="c")

    blank = "fun isBlank c = c == 32u8 || c == 10u8 || c == 9u8 || c == 13u8\n"
    starts = "(generate (length s) (fn i => isBlank (s ! i) && (i == 0 || not (isBlank (s ! (i - 1))))))"
    yield golden("conditions of a loop by vectors are all computed, and one value's with many constants counted",
                 f"{blank}kernel k (s : [u8]) = push <block> {starts}", "fcl_block_k",
                 {r"\|\||&&": 0, r"\) \+ \(x2 == 13\) != 0": 2}, extension="c")
    yield golden("but not in a loop that each iteration leaves at a time of its own",
                 "kernel k (n : int) (xs : [int]) = push <block> (map (fn x => loop (fn i => i < x && i * i != n) (fn "
                 "i => i + 1) 0) xs)",
                 "fcl_block_k", {r" && ": 1, r"mask\d? = mask\d? & ": 3, r"!fcl_vector_any\(mask \| mask2\)": 1},
                 extension="c")

    yield golden("lanes that count beyond an int do so by unsigned numbers",
                 "kernel k (n : int) (s : int) (xs : [int]) = "
                 "push <block> (map (fn x => loop (fn i => i * i != n + x) (fn i => i + 1) s) xs)",
                 "fcl_block_k", {r"state\d? - mask": 0, r"\(fcl_uint_vec\)\(state\d?\) \+ ": 3}, extension="c")

    yield golden("chunks of chunks are known to have the elements that are asked for: no check is left in the block",
                 "kernel k (xs : [int]) = splitUp 256 xs |> map (fn c => push <block> (map (foldl (+) 0) (splitUp 16 "
                 "c))) |> concat 16",
                 "fcl_block_k", {"fcl_failed": 0}, extension="c", options=["--check"])

    def one_block():
        path = env.written("c.fcl", "kernel k (xs : [int]) = push <grid> xs\n")
        text = open(compile_to("c", path), encoding="utf-8").read()
        assert "#pragma omp parallel for schedule(static) if (blocks > 1)\n" in text, text
    yield Case("in C a launch of one block wakes no other threads, which would be waited for", one_block)

    def mathematics(*options):
        def check():
            path = os.path.join(env.tmp(), "mathematics.fcl")
            names = ["exp", "exp2", "log", "log2", "log10", "sinh", "cosh", "tanh"]
            with open(path, "w", encoding="utf-8") as file:
                file.write("kernel k (xs : [float]) = push <grid> (map (fn x => pow x 2.5 + " +
                           " + ".join(f"{name} x" for name in names) + ") xs)\n"
                           "kernel d (xs : [double]) = push <grid> (map (fn x => exp x + log x) xs)\n")
            out, program = compile_to("c", path), os.path.join(env.tmp(), "mathematics")
            env.must(env.tool("cc"), "-std=gnu11", "-O2", "-ffp-contract=off", "-Wall", "-Werror", *options,
                     f'-DKERNELS="{out}"',
                     env.path("tests", "support", "mathematics.c"), "-o", program, "-lm")
            env.must(program, timeout=300)
        return check
    yield Case("exp, log, pow and the like in C are as exact as primitives.md says", mathematics())
    yield Case("and where multiplying and adding is one instruction", mathematics("-march=native"))

    def vector_loops():
        path = env.written("loops.fcl",
            "kernel k (xs : [float]) = push <grid> (map (fn x => exp x + log x * pow x 2.5 + tanh x) xs)\n"
            "kernel d (xs : [double]) = push <grid> (map (fn x => max (exp x) (log (min x 2.0))) xs)\n")
        done = env.run(env.tool("gcc"), "-std=gnu11", *C_OPTIONS, "-fopt-info-vec-optimized", "-c",
                       compile_to("c", path), "-o",
                       os.path.join(env.tmp(), "loops.o"))
        assert not done.returncode and done.stderr.count("loop vectorized") == 2, done.stderr
    yield Case("loops with exp, log, pow and tanh, and the greatest of doubles, go by vectors in C", vector_loops)

    def vectors_of_steps():
        """A step reads one half of an array, at places that are computed, and writes the other."""
        path = env.written("steps.fcl",
            "kernel k (xs : [int]) = (bitonicSort <block> (fn x y => x <= y) xs : [int]<block>)\n")
        text = compile_to("c", path)
        steps = [number for number, line in enumerate(open(text, encoding="utf-8"), 1) if "FCL_SIMD_EIGHT\n" in line]
        done = env.run(env.tool("clang"), "-std=gnu11", *C_OPTIONS, "-mavx2", "-Rpass=loop-vectorize", "-c", text, "-o",
                       os.path.join(env.tmp(), "steps.o"))
        found = {int(line) for line in re.findall(r":(\d+):\d+: remark: vectorized loop", done.stderr)}
        assert len(steps) >= 4 and all(number + 1 in found for number in steps[-4:]), (steps, done.stderr)
    yield Case("steps that go through an array both ways go by vectors in C by clang", vectors_of_steps)

    def instructions(kernel, source, processor="haswell"):
        """Of a block of the kernel, by GCC for a processor with AVX2, or another."""
        path, assembly = (os.path.join(env.tmp(), kernel + extension) for extension in (".fcl", ".s"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        done = env.run(env.tool("gcc"), "-std=gnu11", *C_OPTIONS, "-march=" + processor, "-S", "-o", assembly,
                       compile_to("c", path))
        if done.returncode:
            raise Skip(f"gcc does not know {processor}")
        text = open(assembly, encoding="utf-8").read()
        return re.search(rf"^fcl_block_{kernel}[.\w]*:$.*^fcl_part_{kernel}:$", text, re.M | re.S)[0]

    def registers(source, operation, count, most):
        """The loop of `product` with that many of these operations, by 32 bytes, has as many instructions at most, and
        nothing on the stack."""
        def check():
            text = instructions("product", source)
            loops = [lines.splitlines()[1:] for lines in re.split(r"(?=^\.L\w+:$)", text, flags=re.M)]
            found = [lines for lines in loops
                     if sum(operation in line and "%ymm" in line for line in lines) == count]
            assert len(found) == 1, text
            inside = found[0][:next(i for i, line in enumerate(found[0]) if re.match(r"\tj", line)) + 1]
            assert len(inside) <= most and not any("(%rsp)" in line for line in inside), inside
        return check
    yield Case("in C, sums that go eight vectors abreast stay in registers where these have 32 bytes",
               registers("kernel product (n : int) (a : [float]) (b : [float]) = push <grid> (generate (n * n) (fn e "
                         "=> foldl (fn s k => s + a ! (e / n * n + k) * b ! (k * n + e % n)) 0.0 (iota n)))\n",
                         "vmulps", 8, 26))
    yield Case("and so do a tile's of a product",
               registers('import "matrix"\nkernel product (n : int) (a : [float]) (b : [float]) = matMul n n n a b\n',
                         "vfmadd", 16, 36))

    def whole_registers():
        source = "kernel k (xs : [float]) = push <grid> (map (fn x => x * x + 1.0) xs)\n"
        assert "zmm" in instructions("k", source, "icelake-server"), "by half registers"
        assert "zmm" not in instructions("k", source, "skylake-avx512"), "at a lower clock"
    yield Case("in C by GCC loops go by vectors of 64 bytes from Ice Lake on", whole_registers)

    def neighbours():
        path = env.written("words.fcl",
            "kernel k (s : [u8]) = count id (generate (length s) (fn i => s ! i > 32 && (i == 0 || s ! (i - "
            "1) < 32)))\n")
        whole = body(open(compile_to("c", path), encoding="utf-8").read(), "fcl_block_k_0")
        loop = re.search(r"while \(state < 255\) \{(.*?)state = state \+ 1;", whole, re.S).group(1)
        assert "if (" not in loop and "max" not in loop and count(r"\bs\[", loop) == 2, loop
    yield Case("in C the element before one is loaded without a branch, and in whole tiles without a maximum",
               neighbours)

    def one_warp():
        path = env.written("warp.fcl",
            "kernel k (xs : [int]) = sklansky <warp> (+) xs\nkernel three (xs : [int]) = "
            "(concat 32 (map (fn c => push <warp> (reverse (force (push <warp> c)))) (splitUp 32 (generate "
            "96 (fn i => xs ! i)))) : [int]<grid>)\n")
        bounds = re.findall(r"__launch_bounds__\((\d+)", open(compile_to("cu", path), encoding="utf-8").read())
        assert bounds == ["32", "96"], bounds
    yield Case("of warps whose number is known a block has no more, and no shared memory for others", one_warp)

    def orders():
        path = os.path.join(env.tmp(), "order.fcl")

        def emitted(operator, combinator):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"kernel k (n : int) (xs : [int]) = {combinator} ({operator}) 0 (map (fn x => x) xs)\n")
            return open(compile_to("cu", path), encoding="utf-8").read()
        for operator in ("+", "fn a b => b + a", "fn a b => if a < b then b else a", "fn a b => a + b - a * b",
                         "fn a b => (a ^ b) & n",
                         "fn a b => let (c, d) = (a + n, b + n) in clamp c d (c * d) + clamp d c (d * c)"):
            assert emitted(operator, "reduce") == emitted(operator, "reduceComm"), operator
        for operator in ("fn a b => b", "fn a b => a - b", "fn a b => if a < n then b else a", "fn a b => a * 2 + b"):
            assert emitted(operator, "reduce") == emitted(operator, "reduceInOrder"), operator
    yield Case("reduce combines in any order where the operator can be seen to commute, and else in theirs", orders)

    def counted():
        text = open(compile_to("cu", env.path("examples", "sparse", "sparse.fcl")), encoding="utf-8").read()
        found = re.findall(r"long long at = \(long long\)\w+;\s+for \(int (\w+) = 0; \1 < \w+; \+\+\1\) {\s+"
                           r"(\w+) = \2 \+ values\[at\] \* x\[columns\[at\]\];\s+at = at \+ (\d+)ll;\s+}", text)
        assert sorted(step for _, _, step in found) == ["64", "64", "64", "8", "8", "8", "8"], text
        text = open(compile_to("cl", env.path("examples", "sparse", "sparse.fcl")), encoding="utf-8").read()
        assert "at = at +" not in text, text
    yield Case("for CUDA a thread's place in a row that it goes through by steps is counted, not computed anew",
               counted)

    def combined():
        path = env.path("tests", "run", "prelude", "one_place.fcl")
        text = open(compile_to("cu", path), encoding="utf-8").read()

        def of(kernel):
            return re.search(rf"__global__ void [^{{]*\b{kernel}\(.*?\n}}\n", text, re.S)[0]
        for kernel in ("sums", "most", "sumsAt"):
            assert of(kernel).count("__shfl_xor_sync") == 5 and "__ballot_sync" not in of(kernel), text
        assert of("counts").count("__shfl") == 0 and "atomicAdd(&buckets[1], 256)" in of("counts"), text
        assert of("inTurn").count("__shfl_xor_sync") == 5 and of("inTurn").count("__ballot_sync") == 1, text
    yield Case("a thread whose pairs are all for one place combines them before the lanes do", combined)

    def processors(source, kernel):
        path = os.path.join(env.tmp(), "loops.cl")
        env.must(env.fclc, "--check=none", "--target=opencl", "--map=loop", "--vector-bytes=64",
                 env.path("benchmarks", "fcl", source),
                 "-o", path)
        return re.search(rf"void {kernel}\(.*?\n}}\n", open(path, encoding="utf-8").read(), re.S)[0]

    def wide():
        text = processors("matrices.fcl", "product")
        found = collections.Counter(re.findall(r"\ba\[(\w+) \+ \d+l\]", text))
        assert sorted(found.values()) == [1] * 8 and all(f"const long {place} = " in text for place in found), text
    yield Case("in a product for processors each of eight rows has one place in 64 bits, from which the next element "
               "of it is counted", wide)

    def constants_outside():
        text = emitted.of_text("cl", "kernel k (arr : [int]) = concat 1 (map (reduceChunk (+)) (splitUp 4096 arr))\n",
                               ["--target=opencl", "--map=loop", "--vector-bytes=64"])
        assert re.search(r"#pragma unroll\s+for \(int (\w+) = 0; \1 < 15; .*\{\s+state = .*\barr\[\1 \* 256 \+ \w+\]",
                         text), text
    yield Case("in a processor's reduction constants stay out of the turns of an unrolled loop", constants_outside)

    yield golden("a pass of a sort in C has eight rounds one after another, so that processors guess for each load "
                 "whether it waits", "kernel k (xs : [uint]) = sort xs", "fcl_block_k_09",
                 {r"FCL_BY_EIGHT\s+for \(int i = 0; [^{]*\{[^}]*\}": 2}, extension="c")

    def placed():
        text = processors("whole.fcl", "sorted_16")
        found = re.findall(r"if \(\(uint\)(\w+) < \(uint\)keys_length\) {\s+result\d\[\1\] = ", text)
        assert len(found) == 2 and "0 <=" not in text, text
    yield Case("a processor's sort asks once whether a place is inside, and stores there", placed)

    def shared():
        text = processors("whole.fcl", "bucketSums_1")
        found = re.search(r"const int (\w+) = \(int\)\(\(long\)block_ \* (\w+) / (\w+)\);\s+"
                          r"const int \w+ = \(int\)\(\2 \* \(long\)\(block_ \+ 1\) / \3\) - \1;", text)
        assert found and not re.search(r"= [^;]*min\([^;]*block_", text), text
    yield Case("a processor's share of pairs begins where a division says, not at the lesser of two places", shared)

    def guarded():
        path = env.written("guarded.fcl",
            "kernel k (n : int) (xs : [float]) = push <grid> (mapIx (fn i x => let p = i * 3 - n in "
            "if 0 <= p && p < length xs then exp x else 0.0) xs)\n")
        text = body(open(compile_to("cl", path, "--map=loop"), encoding="utf-8").read(), "k")
        assert count(r"\(0 <= \w+\) & \(\w+ < xs_length\)", text) == 1 and count(r"\(uint\)\w+ < \(uint\)xs_length \?",
                                                                                 text) == 1, text
    yield Case("a guard of an index asks once for a thread, and of a vector's lanes as it is written", guarded)

    def looked_at():
        text = processors("whole.fcl", "counts_1")
        found = re.search(
            r"= min\((\w+), \w+\);\s+(\w+) = max\(\2, \w+\);\s+}\s+if \(\2 < (\w+) && (\w+) <= \1\) {\s+for"
            r" \(.*\{\s+const int \w+ = .*\s+"
            r"#pragma unroll\s+for \(int way = 0; way < 8; \+\+way\) {\s+const int (\w+) = way \* 512 \+ \(arr\[\w+ \+"
            r" way\] - \4\);\s+"
            r"own_buckets\[\5\] = [^;]*;\s+}\s+}\s+} else {",
            text,
        )
        assert found, text
    yield Case("a processor's histogram finds the least and greatest of 128 indices, and counts them without a "
               "comparison where both are inside", looked_at)

    yield golden("of many buckets a processor's loop has eight pairs in a round, each with one comparison, of unsigned "
                 "numbers",
                 "kernel k (n : int) (is : [int]) (xs : [int]) = "
                 "(reduceByIndex (+) 0 (replicate n 0) (zip is xs) : [int]<grid>)", "fcl_block_k_1",
                 {r"way < 8; \+\+way\) \{[^{}]*if \(\(uint32_t\)x - t\d+ < t\d+\) \{"
                  r"\s*own_buckets\[x - t\d+\] = [^;]*;": 1,
                  r" & \(|&& t\d+ <= x": 0}, extension="c")

    def laid_over():
        text = open(compile_to("cu", env.path("tests", "run", "optimiser", "laid_over.fcl"), "--skip=banks"),
                    encoding="utf-8").read()
        one, two = {"over", "running"}, {"turned", "shifted", "others", "later"}
        for name in one | two:
            found = re.search(r"int \*const tile2 = \(int \*\)(\(?shared_pool)( \+)?", body(text, name))
            assert found and (not found[2]) == (name in one), (name, found)
        found = re.search(r"unsigned char shared_pool\[(\d+)\]", body(
            open(compile_to("cu", env.path("benchmarks", "fcl", "whole.fcl")), encoding="utf-8").read(), "sums"))
        assert found and int(found[1]) < 1.2 * 20 * 256 * 4, found  # one tile, and what is known of its parts
    yield Case("an array lies over another where each element is written by who has read the one below it", laid_over)

    def waits():
        """Where the host reads what launches have found: before the last launch where it must know it, after it where
        that is a result, and else nowhere."""
        out = compile_to("cu", env.path("tests", "run", "optimiser", "kept_on_device.fcl"))
        with open(os.path.splitext(out)[0] + ".h", encoding="utf-8") as file:
            functions = re.findall(r"^enum fcl_status out_(\w+)_device\([^;{]*\) \{\n(.*?)^\}", file.read(), re.S |
                                   re.M)
        found = {}
        for name, text in functions:
            before, launch, after = text.rpartition("fcl_launch(")
            assert launch, name
            found[name] = (before.count("fcl_read("), after.count("fcl_read("))
        wanted = {
            "normed": (0, 0),
            "centred": (0, 0),
            "spread": (0, 1),
            "twice": (0, 0),
            "later": (0, 0),
            "told": (0, 1),
            "means": (0, 2),
            "normedSteps": (0, 0),
            "many": (1, 0),
            "asked": (1, 0),
            "stepped": (0, 0),
            "little": (0, 0),
            "much": (1, 0),
        }
        assert found == wanted, found
    yield Case("the host waits for a number between launches only where it must know it", waits)

    def dumps(target, mapping):
        for path in programs(env):
            done = env.run(env.fclc, "--dump=target", "--target=" + target, "--map=" + mapping, path)
            assert done.returncode == 0 and "(null)" not in done.stdout, f"{path}: {done.returncode}\n{done.stderr}"
    for target in ("c", "opencl", "cuda"):
        for mapping in ("simt", "loop"):
            yield Case(f"--dump=target shows every program, {target} {mapping}", lambda t=target,
                       m=mapping: dumps(t, m), long=(target, mapping) not in (("c", "loop"), ("cuda", "simt")))

    shown = [env.path("examples", name, f"{name}.fcl") for name in ("bigsort", "finance", "networks")]
    shown += [env.path("tests", "run", *name)
              for name in (("toolchains", "llvm_zeros.fcl"), ("optimiser", "kept_on_device.fcl"),
                           ("optimiser", "contract.fcl"), ("optimiser", "joined_launches.fcl"),
                           ("optimiser", "laid_over.fcl"), ("optimiser", "run_together.fcl"),
                           ("optimiser", "places_by_bits.fcl"), ("optimiser", "vectors_abreast.fcl"),
                           ("optimiser", "steady_places.fcl"), ("optimiser", "neighbours.fcl"))]

    def dumped():
        rows = passes.rows()
        steps = [f"--skip={row.name}" for row in rows if row.is_step]
        waiting = {row.name for row in rows} - {"no-wrap", "rereads"}  # what they mark is not shown
        waiting -= {"conditions", "share", "selections"}  # printers alone go by what these mark
        waiting -= {"ask-before", "merge-checks"}  # they want --check
        for path in shown:
            for target in ("cuda", "c"):
                @functools.cache
                def dump(stage, *options, path=path, target=target):
                    return env.must(env.fclc, "--check=none", f"--dump={stage}", f"--target={target}", *options, path)
                for is_step, begin, end in ((False, ("ir",), "ir-opt"), (True, ("target", *steps), "target")):
                    names = [row.name for row in rows if row.is_step == is_step]
                    before = [begin] + [(name,) for name in names]
                    for i, name in enumerate(names):
                        if name in waiting and dump(name) != dump(*before[i]):
                            waiting.discard(name)
                    is_all = dump(names[-1]) == dump(end)
                    assert is_all, f"{path}, {target}: after the last pass it is not what comes of all"
        halves = env.path("tests", "run", "optimiser", "halves_ahead.fcl")
        before, after = (env.must(env.fclc, "--check=none", f"--dump={name}", "--target=cuda", halves)
                         for name in ("banks", "store-pairs"))
        if after != before:
            waiting.discard("store-pairs")
        assert not waiting, f"these passes change no program: {waiting}"
    yield Case("--dump=PASS shows what each pass changes, one after another", dumped, thorough=True)

    def skipped(name):
        with open(env.path("examples", "reduce", "reduce.fcl"), encoding="utf-8") as file:
            results = re.sub(r"(?m)^-- cost .*\n", "", file.read())  # which a pass may change
        paths = [env.written("reduce.fcl", results),
                 env.path("tests", "run", "toolchains", "llvm_wrapped_places.fcl")]
        env.must(env.fclc, "test", "--check=none", "--target=c", f"--skip={name}", *paths)
    for name in passes.names():
        yield Case(f"--skip={name} changes no result", lambda name=name: skipped(name))

    def once():
        path = env.written("once.fcl", "kernel k (xs : [int]) = scan (+) 0 (map (fn x => x * 12345) xs)\n")
        text = body(open(compile_to("cu", path), encoding="utf-8").read(), "k")
        # for a whole chunk, and for the last one
        assert count("12345", text) == 2 and count(r"\bxs\[", text) == 2, text
    yield Case("a scan of a mapped array computes and reads each element once", once)

    def shares():
        """The sorts of two kernels, and of one that also sums, are the same launches; a kernel of one launch keeps
        its name."""
        path = os.path.join(env.tmp(), "shares.fcl")
        one = "kernel ups (xs : [int]) = sort xs\n"
        more = (
            "kernel twice (xs : [int]) = sort (force (sort xs))\nkernel sums (xs : [int]) = scan (+) 0 xs\n"
            "kernel same (xs : [int]) = scan (+) 0 xs\n-- test ups [2, 1] == [1, 2]\n-- test twice [2, 1] == [1, 2]\n"
        )
        found = {}
        for name, source in ("one", one), ("more", one + more):
            with open(path, "w", encoding="utf-8") as file:
                file.write(source)
            for extension in ("cu", "cl", "c"):
                text = open(compile_to(extension, path), encoding="utf-8").read()
                found[name, extension] = re.findall(r"^/\* (\w+): kernels? ([\w, ]+), iterations", text, re.M)
        for extension in ("cu", "cl", "c"):
            alone, all_ = found["one", extension], found["more", extension]
            assert [name for name, _ in alone] == [name for name, _ in all_
                                                   if not name.startswith(("twice", "s"))], found
            assert ("sums", "sums") in all_ and ("same", "same") in all_, found
            assert sum(users == "ups, twice" for _, users in all_) >= len(alone) - 1 > 1, found
        env.must(env.fclc, "test", "--check=none", "--target=c", path)
    yield Case("launches of several kernels that are alike are in the file once", shares)

    # Two chunks, a whole one and the last: each has two places where it publishes, as the tree of scans has it, and two
    # where it waits, for both words.
    yield golden("a look-back over values of more than 62 bits takes words that each have the state, and no fence",
                 "kernel k (xs : [double]) = scan (+) 0.0 xs", "k",
                 {r"__threadfence": 0, r"volatile": 0, r"\bfcl_show\(lookback\w* \+ \w+, ": 8,
                  r"= fcl_see\(lookback": 8})
    yield golden(
        "OpenCL's volatile accesses need not reach other cores, so there words are exchanged, and read by additions"
        " of 0",
        "kernel k (xs : [double]) = scan (+) 0.0 xs",
        "k",
        {r"volatile": 0, r"atom_xchg\(&lookback\w*\[": 8, r"= atom_add\(&lookback\w*\[\w+\], 0ul\)": 8},
        options=["--map=simt"],
        extension="cl",
    )
    yield golden("under --check, a warp that goes back leaves as one when there is a failure: votes wait for all lanes",
                 "kernel k (is : [int]) (xs : [int]) = scan (+) 0 (map (fn i => index xs i) is)", "k",
                 {r"stop = __shfl_sync\(0xffffffffu, fcl_see\(k_fcl_report\), 0\)": 2,
                  r"if \(!\(stop\w* == 0\)\) break;": 2,
                  r"if \(!\(?fcl_see": 0}, options=["--check"])
    locked = (
        "fun by (a, b, c) (p, q, r) = (a * p, b * p + q * a, c * p + r + b)\nsig k : [int] -> [(i64, i64, i64)] ->"
        " [(i64, i64, i64)]<grid>\nkernel k is xs = reduceByIndex by (1i64, 0i64, 0i64) (replicate 8 (1i64, 0i64,"
        " 0i64)) (zip is xs)"
    )
    yield golden("what a lock in shared memory guards is ordered for the block, what one in global memory guards for "
                 "all", locked, "k_1",
                 {r"__threadfence_block\(\)": 2 * 9, r"__threadfence\(\)": 2, r"\bvolatile bool": 0})
    yield golden("OpenCL's compilers are to leave what a lock guards in the loop that waits for it", locked, "k_1",
                 {r"volatile bool state\w* = false;": 4 + 1 + 1}, options=["--map=simt"], extension="cl")
    yield golden("a greatest element that does not change takes no compare-and-swap",
                 "sig k : [int] -> [double] -> [double]<grid>\nkernel k is xs = reduceByIndex max 0.0 (replicate 8 "
                 "0.0) (zip is xs)", "k_4",
                 {r"if \(\w+ != fcl_bits_u64\(\w+\)\) \{\s*const double seen = fcl_atomic_replace_double": 4 + 4 + 1})

    waits = 'kernel k (xs : [int]) = filter (fn x => x > 3) xs'
    yield golden("who waits for another block's word sleeps before he looks again, in each of two loops", waits, "k",
                 {r"\} else \{\s*fcl_pause\(\);|if \([^\n]*\) \{\s*fcl_pause\(\);": 2})

    # For a whole share of a thread, and for the last one: each operation rounds once.
    yield golden("sums and products of halves are instructions, of constants and of what a kernel is given, too",
                 "kernel k (a : f16) (xs : [f16]) = push <grid> (map (fn x => (x * 1.5 + x) * a - 0.5) xs)", "k",
                 {r"fcl_one_nan_f16\(fcl_sub_f16\(fcl_mul_f16\(fcl_add_f16\(x, fcl_mul_f16\(x, 0x3e00\)\), a\), "
                  r"0x3800\)\)": 2, r"\bfcl_f16_of_float\(": 0, r"\bfcl_float_of_f16\(": 0})
    yield golden("but not those with a float that is no half, nor quotients",
                 "kernel k (xs : [f16]) (ys : [float]) = push <grid> "
                 "(zipWith (fn x y => f16 (float x * 0.1) + f16 (float x + y) / 3) xs ys)", "k",
                 {r"\bfcl_f16_of_float\(": 6, r"\bfcl_float_of_f16\(": 6, r"\bfcl_add_f16\(": 2})

    # All 2^32 floats in a long check; in others 2^24, of which the last bits differ.
    def by_bits():
        path, program = os.path.join(env.tmp(), "conversions.fcl"), os.path.join(env.tmp(), "conversions")
        with open(path, "w", encoding="utf-8") as file:
            file.write("kernel narrow (xs : [float]) = push <grid> (map (fn x => bitsOfF16 (f16 x)) xs)\n"
                       "kernel wide (us : [u16]) = push <grid> (map (fn u => float (f16OfBits u)) us)\n")
        out, objects = compile_to("c", path), []
        for how, options in ("native", []), ("bits", ["-DFCL_BY_BITS"]):
            objects.append(os.path.join(env.tmp(), how + ".o"))
            names = [f"-D{part}{kernel}={part}{kernel}_{how}"
                     for kernel in ("narrow", "wide") for part in ("", "fcl_part_")]
            env.must(env.tool("clang"), "-std=gnu11", *C_OPTIONS, "-mf16c", "-Wall", "-Werror", *options, *names, "-c",
                     out, "-o", objects[-1])
        env.must(env.tool("clang"), "-O2", env.path("tests", "support", "conversions.c"), *objects, "-o", program,
                 "-lm")
        return int(env.must(program, "1" if env.long else "255", timeout=600).split()[0])
    yield Case("the instructions of a processor convert halves as their bits do", by_bits)
    yield golden("halves that only move are not converted",
                 "kernel k (xs : [f16]) = push <grid> (map (fn x => if xs ! 0 == xs ! 0 then x else 1.5) (reverse xs))",
                 "k",
                 {r"\bfcl_f16_of_float\(": 0, r"\b0x3e00\b": 2})

    def approximates():
        path = os.path.join(env.tmp(), "approximate.fcl")
        body = "push <grid> (map (fn x => exp x / sqrt x + log x * pow x y + sin x + cos x + tanh x) xs)"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"kernel exact (y : float) (xs : [float]) = {body}\n"
                       f"kernel fast (y : float) (xs : [float]) with approximate = {body}\n"
                       f"kernel doubles (y : double) (xs : [double]) with approximate = {body}\n")
        fast = {"cu": "__fdividef __expf fcl_fast_sqrt __logf __powf __sinf __cosf fcl_fast_tanh",
                "hip": "__fdividef __expf __builtin_amdgcn_sqrtf __logf __powf __sinf __cosf tanhf",
                "cl": "native_divide native_exp native_sqrt native_log native_powr native_sin native_cos tanh",
                "c": "/ fcl_exp_float sqrtf fcl_log_float fcl_pow_float sinf cosf fcl_tanh_float"}
        for extension, names in fast.items():
            text = open(compile_to(extension, path), encoding="utf-8").read()
            parts = re.split(r"/\* (exact|fast|doubles): ", text)
            kernels = dict(zip(parts[1::2], parts[2::2]))
            for name in names.split():
                assert name in kernels["fast"], (extension, name, kernels["fast"])
            swift = r"__fdividef|__expf|__logf|__powf|__sinf|__cosf|native_|fcl_fast_|amdgcn"
            assert not re.search(swift, kernels["exact"] + kernels["doubles"]), text
            text = open(compile_to(extension, path, "--approximate"), encoding="utf-8").read()
            exact = re.split(r"/\* (?:exact|fast|doubles): ", text)[1]
            assert extension == "c" or re.search(swift, exact), text
    yield Case("what is approximate are the fast functions of floats, where it is asked for", approximates)

    def says_what_bits():
        path = env.written("bits.fcl", "kernel k (xs : [f16]) = push <grid> (map bf16 xs)")
        for extension, word in ("cu", "unsigned short"), ("cl", "ushort"), ("c", "uint16_t"):
            text = open(compile_to(extension, path), encoding="utf-8").read()
            assert f"reads {word} (bits of f16)" in text and f"writes {word} (bits of bf16)" in text, text
    yield Case("the comment above a kernel says what floats its numbers of 16 bits are", says_what_bits)

    def own_sums():
        path = env.written("sums.fcl",
            "sig k : [int] -> [i64] -> [i64]<grid>\nkernel k is xs = reduceByIndex (+) 0i64 (replicate 8 "
            "0i64) (zip is xs)")
        text = open(compile_to("cu", path), encoding="utf-8").read()
        assert (
            "return (long long)atomicAdd((unsigned long long *)p, (unsigned long long)x);" in text
            and "atomicCAS" not in text
        ), text
    yield Case("sums of 64 bits with a sign are the device's own atomic", own_sums)
    yield golden("a filter asks once for each chunk, not for each element, whether it is the one that says the length",
                 "kernel k (xs : [int]) = filter (fn x => x > 0) xs", "k",
                 {r"said_length\[0\] = ": 2, r"if \(threadIdx.x == 0\) \{\s*if \(\w+\) \{\s*said_length": 2})
    yield golden("elements of less than an int have more turns together: as many bytes are under way",
                 "kernel k (xs : [u8]) = push <grid> (map (fn x => x + 1u8) (reverse xs))", "k", {r"turn < 16;": 2})
    for extension, load, store in (
            ("cu", r"fcl_copy_own<8>\(held2?, [xy]s", r"fcl_copy_own<8>\(result"),
            ("hip", r"fcl_copy_own<8>\(held2?, [xy]s", r"fcl_copy_own<8>\(result"),
            ("cl", r"FCL_LOAD_OWN\(ushort, 8, held2?, [xy]s", r"FCL_STORE_OWN\(ushort, 8, result")):
        yield golden(f"halves next to each other are loaded and stored at once, where arrays are aligned: .{extension}",
                     "kernel k (a : f16) (xs : [f16]) (ys : [f16]) =\n"
                     "  push <grid> (zipWith (fn x y => a * x + y) xs ys)",
                     "k", {load: 2, store: 1, r"fcl_is_aligned\(": 3, r"k2? < 8;": 1, r"result\[": 1},
                     extension=extension)
    yield golden("but only the elements of which each is behind the one before",
                 "kernel k (xs : [u8]) = push <grid> (zipWith (+) xs (drop 1 xs))", "k",
                 {r"fcl_copy_own": 0, r"turn < 16;": 2})
    yield golden("an array that a thread's stack has no room for is in global memory",
                 "sig each : [int] -> [int]<thread>\nfun each c = reverse (force (push <thread> c)) |> push <thread>\n"
                 "kernel k (xs : [int]) = (concat 4096 (map each (splitUp 4096 xs)) : [int]<grid>)", "k", private=0)
    yield golden("where neighbours' elements of one place lie side by side",
                 "sig each : [int] -> [int]<thread>\nfun each c = reverse (force (push <thread> c)) |> push <thread>\n"
                 "kernel k (xs : [int]) = (concat 4096 (map each (splitUp 4096 xs)) : [int]<grid>)", "k",
                 {r"local_array\[\(unsigned long long\)\w+ \* stride\] = ": 2,
                  r"= local_array\[\(unsigned long long\)\([^\]]*\) \* stride\]": 2,
                  r"local_array\[": 4})

    def capped():
        path = env.written("own.fcl",
            "sig each : [int] -> [int]<thread>\nfun each c = reverse (force (push <thread> c)) |> push "
            "<thread>\n"
            "kernel k (xs : [int]) = (concat 4096 (map each (splitUp 4096 xs)) : [int]<grid>)\n"
            "kernel plain (xs : [int]) = push <grid> (map (fn x => x + 1) xs)")
        header = open(os.path.splitext(compile_to("cu", path))[0] + ".h", encoding="utf-8").read()
        least = re.findall(r"blocks = fcl_blocks\(context, .*, 256, (\d+)\);", header)
        assert least[0] == "4294967295" and least[-1] != least[0], least
    yield Case("a launch whose threads have memory of their own has no more blocks than keep the device busy", capped)

    def shared_out():
        path = env.written("worth.fcl",
            "kernel little (xs : [int]) = push <grid> (map (fn x => x + 1) xs)\n"
            "kernel some (xs : [double]) = push <grid> (map (fn x => exp (sin x)) xs)\n"
            "kernel unknown (n : int) (xs : [double]) = push <grid> (map (fn x => foldl (fn s i => s / (x + "
            "double i)) x (iota n)) xs)\n"
            "kernel much (xs : [double]) = push <grid> (map (fn x => foldl (fn s i => s + exp (x * double "
            "i)) x (iota 9000)) xs)")
        header = open(os.path.splitext(compile_to("c", path))[0] + ".h", encoding="utf-8").read()
        little, some, unknown, much = (
            int(worth) for worth in re.findall(r"blocks = fcl_blocks\(context, .*, 0, (\d+)\);", header)
        )
        assert little == 4096 > some > unknown > much == 1, (little, some, unknown, much)
    yield Case("of iterations that do much, fewer are worth a block in C", shared_out)
    yield golden("a step at grid reads one array and writes another: neither has two halves",
                 "kernel k (n : int) (xs : [int]) = push <grid> (power n (fn i a => push <grid> (map (fn x => x * x) "
                 "a)) (push <grid> xs))", "k_1",
                 {r"= result\[i\];": 2, r"result2\[i\] = ": 2})
    yield golden("and so does a loop that moves elements within shared memory",
                 "kernel k (xs : [int]) = filter (fn x => x > 0) xs", "k", {r"held\d*\[\w+\] = tile": 2})
    yield golden("of what is left of an array a block asks for all elements at once, each behind its guard, and fills "
                 "its tile with them",
                 "kernel k (fs : [bool]) (xs : [int]) = segScan (+) 0 fs xs", "k",
                 {r"held\d*\[\w+\] = \w+ < \w+ \? \w+\[": 2, r"#pragma unroll [2-9]": 0})
    yield golden("of pairs that are sorted a thread holds the keys alone while it ranks them, as many as of keys "
                 "without values; then it loads all values together, not one behind the other's place",
                 "kernel k (ks : [uint]) (vs : [int]) = sortByKey (zip ks vs)", "k_2",
                 {r"(?s)\bunsigned local_array\[15\];.*\bfcl_see\(.*\bint local_array2\[15\];.*"
                  r"\blocal_array2\[\w+\] = \(\(volatile int \*\)vs\)\[": 1,
                  r"\blocal_array\d*\[15\];": 4, r"\[chunk \* 3840|chunk \* 3840": 2})
    reversed_tiles = ("concat 8192 (map (fn c => let s = force (push <block> (map (fn x => x * 2) c)) "
                      "in push <block> (mapIx (fn i x => x + s ! (length s - 1 - i)) s)) (splitUp 8192 xs))")
    yield golden("the last of tiles too large to be set aside by their bounds lies where whole tiles do",
                 "kernel k (xs : [int]) = " + reversed_tiles, "k", {r"shared_pool\[32768\];": 1, "fcl_shared": 0})
    for threads in (96, 384):
        items = min(15, 4096 // threads)
        yield golden(f"and keys and ranks are in registers whatever size blocks have: {threads}",
                     "kernel k (ks : [uint]) (vs : [int]) = sortByKey (zip ks vs)", "k_2",
                     {rf"\bunsigned local_array\[{items}\];": 2, rf"\bint ranks\d?\[{items}\];": 2},
                     options=[f"--block-size={threads}"])
    yield golden("but not where a place is known only when something was loaded, or what is stored lies elsewhere",
                 "kernel k (is : [int]) (xs : [int]) = scan (+) 0 (map (fn i => xs ! i) is)", "k",
                 {r"held\d*\[\w+\] = \w+ < ": 0, r"#pragma unroll 7": 1})
    yield golden("a reciprocal square root is the device's",
                 "kernel k (xs : [float]) = push <grid> (map rsqrt xs)", "k", {r"\brsqrtf\(": 2, r"sqrtf|/": 2})
    def reciprocal_roots():
        path = env.written("roots.fcl", "kernel k (xs : [float]) = push <grid> (map rsqrt xs)\n")
        text = open(compile_to("cl", path), encoding="utf-8").read()
        assert "#define rsqrt(x) (1 / sqrt(x))\n" in text.partition("__kernel")[0], text
    yield Case("and in OpenCL Intel's compiler gets one of its own, as it has two that differ", reciprocal_roots)
    for step, scalar in ((7, 1), (8, 0)):
        yield golden(f"elements {step} apart that go round are read {'one by one' if scalar else 'by vectors'} in C, "
                     f"as LLVM loses the mask of steps "
                     "that are no power of two",
                     f"kernel k (xs : [int]) = push <grid> (generate 1000 (fn i => xs ! ((i * {step}) & 15)))",
                     "fcl_block_k",
                     {"FCL_SCALAR": scalar, "FCL_SIMD": 1 - scalar}, extension="c")
    yield golden("what all lanes know is not shuffled: equal places of a histogram are one addition of their number",
                 "kernel k (xs : [int]) = histogram 65536 xs", "k_1",
                 {r"__shfl_xor_sync": 0, r"__ballot_sync": 9,
                  r"const int (\w+) = \w+ \? \w+ : 1;\s*if \([^{]*\{\s*atomicAdd\(&copies\[[^,]*\], \1\)": 8})

    yield golden("a forced array is stored once, with a barrier before it is read",
                 "kernel k (xs : [int]) = force (push <block> xs) |> reverse |> push <block>", "k",
                 barriers=1, stores=2, loads=1)

    yield golden("steps on a thread's own elements have no barriers",
                 "kernel k (n : int) (xs : [int]) = push <block> (power n (fn s a => push <block> (map (+ s) a)) (push "
                 "<block> xs))", "k", barriers=0)
    yield golden("steps on others' elements have one for each step, and one behind them",
                 "kernel k (n : int) (xs : [int]) = push <block> (power n (fn s a => push <block> (map (+ s) (reverse "
                 "a))) (push <block> xs))", "k",
                 barriers=2)

    yield golden("what a branch asks with && is known inside of it, and not asked again",
                 "kernel k (n : int) (m : int) (xs : [int]) = concat 256 (generate n (fn c => let inside = c >= 2 && c "
                 "+ 2 <= m in "
                 "if inside then push <block> (generate 256 (fn e => if c >= 2 && c + 2 <= m then c else xs ! e)) "
                 "else push <block> (generate 256 (fn e => 0 - e))))", "k", branches=1, loads=0)
    yield golden("an index into chunks of a known size is taken apart without a division",
                 "kernel k (n : int) (xs : [int]) = concat 64 (generate n (fn c => push <block> (generate 64 (fn e => "
                 "xs ! (c + e))))) "
                 "|> permute (fn i => i / 64 + n * (i % 64 / 16 + i % 16))", "k", divisions=0)

    yield golden("an array of a warp of which every lane touches its own element is in registers",
                 "kernel k (n : int) (cols : int) (xs : [float]) = (generate n (fn r => reduceWarp (+) 0.0 (generate "
                 "cols (fn i => xs ! (r * cols + i)))) |> concat 1 : [float]<grid>)", "k",
                 shared=0, barriers=0, loops=3)  # a lane sums up for two of the 64 of the order of sums
    yield golden("tiles of a stencil ask for no bound: of the branches in the kernel, one is whether what is round the "
                 "tile is inside, and one whether the tile is",
                 'import "stencil"\nkernel k (xs : [float]) = stencil nearest 1 (fn at => at (-1) + at 1) xs', "k",
                 branches=2, divisions=0, loops=2)
    yield golden("rows of 9 to 64 elements are reduced by eight lanes each: four rows a warp, three exchanges, one to "
                 "bring the sums together",
                 "kernel k (xs : [[int]]) = reduceRows (+) 0 xs", "k_2",
                 {r"\(i >> 3\)": 1, "i & 7": 2, r"at = at \+ 8ll": 2, r"i2 \* 8": 0, "fcl_div|fcl_rem": 0},
                 loops=3, shuffles=8, barriers=0, loads=2, stores=3)
    yield golden("in order, what a warp has so far is in registers from one 32 elements to the next, of which each are "
                 "combined in five exchanges",
                 "kernel k (xs : [[int]]) = reduceRows (fn (a, b) (p, q) => (a * p, b * p + q)) (1, 0) (map (map "
                 "(fn x => (x, x + 1))) xs)", "k_3", {r"int local_array\d*\[1\];": 2},
                 shared=0, barriers=0, loops=1, shuffles=12, loads=1)
    yield golden("and in two dimensions, the rows of a thread's elements are read once: 30 elements for 8 of Sobel's, "
                 "by the border, too, and 8 where there is no tile; "
                 "it is asked whether there are tiles, whether this one is inside, and for each result whether it is "
                 "stored",
                 'import "stencil"\nkernel k (r : int) (c : int) (xs : [float]) = sobel nearest r c xs', "k",
                 {r"\bxs\[": 68}, branches=19)

    threads = (
        "sig f : [int] -> [int]<grid>\nfun f xs = splitUp 4 xs |> map (fn c => let a = force (push <thread> c) in %s)"
        " |> concat 4\nkernel k (xs : [int]) = f xs"
    )
    yield golden("loops over a private array are unrolled, so that it is in registers; not for the ragged chunk",
                 threads % "push <thread> (reverse a)", "k", unrolled=2, loops=5)
    yield golden("an array that is indexed by data stays in memory", threads %
                 "push <thread> (map (fn x => a ! (x & 3)) a)", "k",
                 private=2)

    yield golden("what a block reads again and again has one barrier before it, not one in each round",
                 "kernel k (xs : [int]) = let a = force (push <block> (take 90 xs))\n"
                 "                            s = foldl (+) 0 a\n"
                 "                        in push <block> (map (fn x => x + s) (take 3 xs))", "k", barriers=1)
    yield golden("pushEach writes without a branch but whether there is an element",
                 "kernel k (xs : [int]) = pushEach <grid> (length xs / 2 * 2) (length xs / 2) "
                 "(fn i => [(2 * i, xs ! (2 * i + 1)), (2 * i + 1, xs ! (2 * i))])", "k", loops=3, stores=4, branches=2)
    yield golden("an index of any number of steps is below that number without a test",
                 "kernel k (n : int) (xs : [int]) = push <grid> (generate n (fn i => if i < n then xs ! min i (n - 1) "
                 "else 0))", "k",
                 loads=2, choices=0, branches=2)
    yield golden("scatter at block: a copy, one barrier, the pairs over it",
                 "kernel k (xs : [int]) (ps : [(int, int)]) = (scatter xs ps : [int]<block>)", "k", loops=2, barriers=1,
                 stores=2)

    def on_cpu(name, source, *options, **wanted):
        """Of the C of kernel k: how many loops, how many of them for SIMD, branches and choices."""
        def check():
            path = env.written("cpu.fcl", source)
            text = body(open(compile_to("c", path, *options), encoding="utf-8").read(), "fcl_block_k")
            got = {"loops": count(r"\bfor \(", text), "simd": count(r"\bFCL_SIMD\b", text),
                   "branches": count(r"\bif \(", text), "choices": count(r" \? ", text)}
            for key, value in wanted.items():
                assert got[key] == value, f"{key}: {got[key]}, expected {value}, in\n{text}"
        return Case(name, check)

    chunks = "kernel k (xs : [int]) = splitUp 256 xs |> map (fn c => %s) |> concat %d"
    yield on_cpu("on CPUs, loops over a whole chunk and those over the last one ask nothing",
                 chunks % ("push <block> (map ( * 2) (reverse (force (push <block> c))))", 256), loops=5, simd=4,
                 branches=1, choices=0)
    yield on_cpu("loops whose iterations share counters are not for SIMD, those that clear and copy the counters are",
                 chunks % ("(reduceByIndex (+) 0 (generate 64 (fn _ => 0)) (map (fn x => (x & 63, 1)) c) : "
                           "[int]<block>)", 64),
                 loops=7, simd=4, branches=1)
    yield on_cpu("many pairs take copies of few counters in turns, which are added up",
                 chunks % ("(reduceByIndex (+) 0 (generate 16 (fn _ => 0)) (map (fn x => (x & 15, 1)) c) : "
                           "[int]<block>)", 16),
                 loops=10, simd=4, branches=1)

    def vectors():
        path = env.written("vectors.fcl",
            'import "matrix"\nkernel k (m : int) (p : int) (n : int) (xs : [float]) (ys : [float]) = '
            'matMulFma m p n xs ys\n')
        # rows of the first matrix, vectors of the second: two of each row where there are 32 registers of 64 bytes
        for size, vectors, rows in ((64, 16, 8), (32, 4, 4)):
            text = body(open(compile_to("cl", path, "--map=loop", f"--vector-bytes={size}", "-D", "matMulUnrolled=1"),
                             encoding="utf-8").read(), "k")
            assert count(rf"\bfloat16 local_array\w*\[{vectors}\]", text) == 1, text
            inner = re.search(r"while \(state\w* < depth\) \{(.*?)\n +\}\n +state", text, re.S)
            assert inner, text
            assert count(r"FCL_VECTOR\(", inner[1]) == 1 and count(r"= fma\(", inner[1]) == rows, inner[1]
            assert count(r"vstore16|FCL_SIMD|\(uint\)|/ [^1]|%", inner[1]) == 0, inner[1]
            # the panel is copied by rows, in each of three cases, and so is the result, in two
            assert count("for \\(int row", text) == 5, text
        for size, sums in ((32, 64), (64, 256)):
            text = open(compile_to("c", path, f"--vector-bytes={size}"), encoding="utf-8").read()
            assert count(rf"fcl_float_vec local_array\w*\[{sums} / FCL_WIDTH\]", text), text
            assert not count(rf"\bfloat local_array\w*\[{sums}\]", text), text
    yield Case("the sums of a product are vectors in OpenCL's kernels for CPUs, without loads, stores or divisions",
               vectors)

    def panels():
        path = env.written("panels.fcl",
            'import "matrix"\nkernel k (m : int) (p : int) (n : int) (xs : [float]) (ys : [float]) = '
            'matMulTiled 16 16 8 (fn s x y => fma x y s) 0.0 m p n xs ys\n')
        text = body(open(compile_to("cu", path), encoding="utf-8").read(), "k")
        loop = re.search(r"\n( +)while \(state\d* < pairs\) \{(.*?)\n\1\}", text, re.S)
        assert loop, text
        # two panels in turn: each is on its way while the one before is worked on, and has a barrier of its own
        turns = loop[2].split("__syncthreads();")
        assert len(turns) == 3, loop[2]
        for before, after in zip(turns, turns[1:]):
            assert count(r"fcl_load_four\(\w+, [xy]s \+ ", before) == 2, before
            assert count(r"= fmaf\(", after) == 8, after
        # four words next to each other: a load of 16 bytes, whatever is padded
        for at in re.findall(r"= (tile\w*\[.*\]);", loop[2]):
            assert re.search(r"\(\w+ & 3\)", at) and not re.search(r">> [3-9]", at), at
            assert all(int(n) % 4 == 0 for n in re.findall(r"(?:\* |\+ )(\d+)", at)), at
    yield Case("a product loads the next panel ahead, with one barrier for each", panels)

    def ahead():
        path = env.written("ahead.fcl",
            "kernel k (n : int) (wide : int) (xs : [f16]) (ys : [float]) = (interleaveInto 1024 (fn (c, i) => c *"
            " 256 + i) (generate 4 (fn c =>\n"
            "  let row k i = (c * 32 + i / 64) * wide + k * 64\n"
            "      load k = (push <block> (generate 2048 (fn i => xs ! (row k i + i % 64))),\n"
            "                push <block> (generate 256 (fn i => ys ! (k * 512 + 2 * i))))\n"
            "      use _ (a, b) s = push <block> (generate 256 (fn i =>\n"
            "        s ! i + b ! (255 - i) * float (a ! (7 * i))))\n"
            "  in\n"
            "  push <block> (powerAhead 4 n load use (push <block> (replicate 256 0.0))))) : [float]<grid>)\n")
        text = body(open(compile_to("cu", path), encoding="utf-8").read(), "k")
        first, loop = text.split("while (")
        assert [count("fcl_end_copies<-1>", first), count("fcl_copy_aligned<8>", first)] == [2, 3], text
        # one question in a launch, whether arrays and rows begin at multiples of 16 bytes
        assert count(r"are_aligned = fcl_is_aligned\(xs\) && \(wide & 7\) == 0;", first) == 1, text
        assert count("__syncthreads", loop) == 1 and loop.index("fcl_end_copies<2>") < loop.index("__syncthreads"), text
        # rows of 64 halves by pieces of 8; every second float alone
        assert count("fcl_copy_aligned<8>", loop) == 1 and count("fcl_copy_ahead", loop) == 1, text
        # what is the same in all steps is computed before them
        assert count("= fcl_kept", first) == 2 and not count("fcl_kept", loop), text
    yield Case("what powerAhead loads is copied in stages, with one barrier a step", ahead)

    def ahead_unrolled():
        """Steps whose number is known: no more stages than steps; one step copies what it uses itself."""
        for steps, stages in ((1, 1), (2, 2)):
            path = env.written("ahead.fcl",
                "kernel k (n : int) (xs : [f16]) = (generate n (fn c =>\n"
                "  let load k = push <block> (generate 2048 (fn i => xs ! (c * 4096 + k * 2048 + i)))\n"
                "      use _ a s = push <block> (generate 256 (fn i => s ! i + float (a ! (7 * i))))\n"
                f"  in push <block> (powerAhead 4 {steps} load use (push <block> (replicate 256 0.0))))\n"
                "  |> concat 256 : [float]<grid>)\n")
            text = body(open(compile_to("cu", path), encoding="utf-8").read(), "k")
            assert count("while", text) == 0 and count("fcl_copy_aligned<8>", text) == steps, text
            assert count("fcl_end_copies<0>", text) == steps and count("fcl_end_copies", text) == steps, text
            assert count(rf"ahead\[{stages * 2048}\]", text) == 1, text
    yield Case("what powerAhead loads for few steps, whose number is known, is copied in stages", ahead_unrolled)

    def known_sizes():
        path = env.written("known.fcl",
            'import "matrix"\n' + "".join(
     f"kernel {name} (n : int) (xs : [{base}]) (ys : [{base}]) = {product} n {inner} n xs ys\n"
     for base, product in (("float", "matMul"), ("f16", "matMulFloat"))
     for name, inner in ((f"known_{base}", "1024"), (f"any_{base}", "n"))))
        text = open(compile_to("cu", path), encoding="utf-8").read()
        for kernel in ("float_0", "float_1", "f16_0", "f16_1"):
            known, other = (len(body(text, f"{which}_{kernel}").splitlines()) for which in ("known", "any"))
            assert known <= 1.1 * other, (kernel, known, other)
    yield Case("a product whose inner size is known is no longer than one of which it is not", known_sizes)

    def panels_of_halves():
        path = env.written("halves.fcl",
            'import "matrix"\nkernel k (n : int) (xs : [f16]) (ys : [f16]) = matMulFloat n n n xs ys\n')
        text = body(open(compile_to("cu", path), encoding="utf-8").read(), "k_0")
        first, loop, rest = text.split("while (")  # a panel before the loop, one in it; the one that is not whole
        loop = loop[:loop.index("\n        }\n")]
        assert [count("fcl_copy_aligned<8>", part) for part in (first, loop, rest)] == [2, 2, 0], text
        assert [count("fcl_copy_apart<8>", part) for part in (first, loop, rest)] == [2, 2, 0], text
        assert [count("fcl_end_copies<0>", loop), count("__syncthreads", loop)] == [1, 1], loop
        assert count(r"if \(are_aligned\)", loop) == 1, loop
        # lanes load rows of matrices together, behind the barrier, each once for all products of 16 columns and rows
        assert [count(f"fcl_{what}", loop) for what in ("hold_rows", "hold_columns", "mma_f16_held")] == [2, 2, 2], loop
        assert loop.index("__syncthreads") < loop.index("fcl_hold_rows") < loop.index("fcl_mma_f16_held"), loop
        # places: of both copies here and there, of rows of first matrices, and of pairs of second ones
        assert [count("= fcl_kept", part) for part in (first, loop)] == [4 + 2 + 2, 0], text
    yield Case("a product of halves copies eight at a time, and loads rows for its units", panels_of_halves)

    def calls():
        text = body(open(compile_to("cl", env.path("examples/finance/finance.fcl"), "--map=loop"),
                         encoding="utf-8").read(), "options")
        vectors, rest = text.split("FCL_SIMD")
        assert (
            count(r"\bif \(", vectors) == 0
            and count(r"FCL_VECTOR\(", vectors) == 3
            and count(r"vstore16\(", vectors) == 2
        ), text
        assert (
            count(r"select\(", vectors) == 6
            and count(r"FCL_VECTOR|float16", rest) == 0
            and count(r"\bexp\(", rest) == 3
        ), text
    yield Case("a loop with exponentials goes by vectors, branches as masks, in OpenCL's kernels for CPUs", calls)

    def strides():
        path = env.written("scan.fcl", "kernel k (xs : [int]) = scan (+) 0 xs\n")
        text = body(open(compile_to("cl", path, "--map=loop"), encoding="utf-8").read(), "k")
        asked = [count(rf"FCL_{what}\n +for \(int chunk", text) for what in ("SIMD", "SCALAR")]
        assert asked == [2, 4] and count(r"for \(int chunk", text) == 6, text
    yield Case("a loop over runs of elements asks for vectors across the runs where each is one sum alone", strides)

    # The scan of 2^24 ints takes 8.3 ms so by one thread of an AMD EPYC with -march=x86-64-v3; by runs of 32, of which
    # it made none, it took 11.6.
    def permuted():
        text = instructions("k", "kernel k (xs : [int]) = scan (+) 0 xs\n")
        assert count(r"\tvpaddd\t", text) >= 15 and count(r"\tv?perm|\tvpblend", text) > 60, text
    yield Case("and by GCC it is made such as permute what they load", permuted)
    for function, scalar in (("(+) 0.0", 6), ("max 0.0", 0)):
        yield golden(f"but it may make them of floats where each is several comparisons: {function}",
                     f"kernel k (xs : [float]) = scan {function} xs", "fcl_block_k", {"FCL_NO_VECTORS;": scalar},
                     extension="c")

    def with_long_vectors():
        text = instructions("k", "kernel k (xs : [int]) = scan (+) 0 xs\n", "skylake-avx512")
        assert count(r"\tvpaddd\t.*%[yz]mm", text) >= 15 and count(r"\tvperm[it]2d", text) >= 15, text
    yield Case("and of all by AVX-512, which permutes well", with_long_vectors)

    def fences():
        path = env.written("scatter.fcl",
            "kernel global (xs : [int]) (ps : [(int, int)]) = (scatter xs ps : [int]<block>)\n"
            "kernel shared (xs : [int]) (ps : [(int, int)]) = "
            "push <block> (reverse (force (scatter (take 9 xs) ps : [int]<block>)))\n")
        text = open(compile_to("cl", path, "--map=simt"), encoding="utf-8").read()
        fence = r"barrier\(CLK_LOCAL_MEM_FENCE \| CLK_GLOBAL_MEM_FENCE\)"
        assert count(fence, text) == 1 and count(r"barrier\(CLK_LOCAL_MEM_FENCE\)", text) == 2, text
    yield Case("scatter over global memory has a barrier for global memory, in OpenCL too", fences)

    def transpose():
        text = open(compile_to("cu", env.path("examples/transpose/transpose.fcl")), encoding="utf-8").read()
        text = body(text, "transposeTiles")
        assert count("__shared__", text) == 1, text
        # one barrier between the two phases; one more keeps a block's next tile from overtaking this one
        assert count(r"__syncthreads\(\)", text) == 2, text
        phases = re.split(r"__syncthreads\(\);", text)
        assert count(r"\bfor \(", phases[0]) == 2 and count(r"\bfor \(", phases[1]) == 1, text
        inner = phases[0][phases[0].rindex("for ("):] + phases[1]
        assert "/" not in inner and "%" not in inner, "a division in an inner loop\n" + inner
    yield Case("transposeTiled: two phases, one shared array, one barrier between them, no division in them", transpose)

    def banks():
        path = env.written("banks.fcl",
            "kernel k (xs : [int]) = push <block> (transpose 32 32 (force (push <block> (take 1024 xs))))\n"
            "kernel plain (xs : [int]) = push <block> (reverse (force (push <block> (take 1024 xs))))\n")
        text = open(compile_to("cu", path), encoding="utf-8").read()
        assert "[1055]" in body(text, "k"), text  # a word after every 32
        assert "[1024]" in body(text, "plain"), text
        text = open(compile_to("cl", path, "--map=loop"), encoding="utf-8").read()
        assert "1055" not in text, text
    yield Case("a tile read by columns is padded against bank conflicts, for GPUs only", banks)

    def maps():
        chain = " |> ".join(["xs"] + ["map (fn x => x * x + x)"] * 100 + ["push <grid>"])
        sizes, path = {}, os.path.join(env.tmp(), "chain.fcl")
        for steps in (50, 100):
            with open(path, "w", encoding="utf-8") as file:
                file.write("kernel k (xs : [int]) = " + " |> ".join(
                    ["xs"] + ["map (fn x => x * x + x)"] * steps + ["push <grid>"]) + "\n")
            started = time.monotonic()
            out = compile_to("cu", path)
            sizes[steps] = (os.path.getsize(out), time.monotonic() - started)
        del chain
        assert sizes[100][0] < 2.2 * sizes[50][0], f"code is not linear in the source: {sizes}"
        assert sizes[100][1] < 0.5, f"100 maps took {sizes[100][1]:.3f} s"  # 50 ms is the aim; machines stumble
    yield Case("100 chained maps: linear code, and quickly", maps)

    # NVIDIA's compiler takes seconds for each: a check has one in eight of tests/run by it; `ptx` has all by NVRTC.
    for number, path in enumerate(programs(env)):
        name = os.path.relpath(path, env.root)

        def with_clang(path=path):
            assert ".entry" in env.ptx(compile_to("cu", path))
        yield Case(f"{name} compiles to PTX with clang", with_clang, long=True)
        yield Case(f"{name} is right for clang's CUDA",
                   lambda path=path: env.ptx(compile_to("cu", path), "-fsyntax-only"), thorough=True)

        def with_nvcc(architecture, path=path, is_example=name.startswith("examples")):
            nvcc = env.tool("nvcc")
            out = compile_to("cu", path)
            if not is_example:
                env.must(nvcc, f"-arch={architecture}", "-Werror", "all-warnings", "-ptx", "-o",
                         os.path.join(env.tmp(), "out.ptx"), out, timeout=300)
                return
            done = env.run(nvcc, f"-arch={architecture}", "-Werror", "all-warnings", "-Xptxas", "-v", "-cubin",
                           "-o", os.path.join(env.tmp(), "out.cubin"), out, timeout=300)
            assert not done.returncode, done.stdout + done.stderr
            spills = [int(n) for n in re.findall(r"(\d+) bytes spill", done.stderr)]
            assert spills and not any(spills), done.stderr
        # A check has each example for one of the two in turn.
        for turn, architecture in enumerate(("sm_75", "sm_90")):
            is_example = name.startswith("examples")
            yield Case(f"{name} compiles with nvcc for {architecture}, no warnings" + ", no spills" * is_example,
                       lambda architecture=architecture, with_nvcc=with_nvcc: with_nvcc(architecture), thorough=True,
                       long=number % 2 != turn or not is_example and number % 8 > 1)

        def with_cc(path=path):
            cc = env.tool("cc")
            out = compile_to("c", path)
            env.must(cc, "-std=gnu11", "-O1", "-fopenmp", "-Wall", "-Werror", "-c", out, "-o",
                     os.path.join(env.tmp(), "out.o"))
        yield Case(f"{name} compiles as C, no warnings", with_cc, long=True)  # host.py has what the front end says

    # Compiled only: wave64, and wave32. No GPU of the kind has run it.
    def with_hipcc(name, architecture, *options):
        hipcc = env.tool("hipcc")
        out = compile_to("hip", env.path(*name), *options)
        done = env.run(hipcc, f"--offload-arch={architecture}", "-ffp-contract=off", "-Wall", "-Werror", "--genco",
                       out, "-o",
                       os.path.join(env.tmp(), "out.co"), timeout=300)
        if done.returncode and f"invalid target ID '{architecture}'" in done.stderr:
            raise Skip(f"this hipcc does not know {architecture}")
        assert not done.returncode, done.stdout + done.stderr

    def with_hiprtc(name, architecture, *options):
        out = compile_to("hip", env.path(*name), *options)
        done = env.run(sys.executable, env.path("tests", "support", "hiprtc.py"), out, f"--offload-arch={architecture}",
                       "-ffp-contract=off", "-Wall", "-Werror", timeout=300)
        if done.returncode == 3:
            raise Skip(done.stdout.strip())
        assert not done.returncode and int(done.stdout) > 1000, done.stdout + done.stderr
    for name in (("examples", "collectives", "collectives.fcl"), ("examples", "reduce", "reduce.fcl"),
                 ("examples", "histograms", "histograms.fcl"), ("examples", "sorting", "sorting.fcl"),
                 ("tests", "run", "scalars", "bit_functions.fcl"), ("tests", "run", "scalars", "float.fcl")):
        for architecture in ("gfx90a", "gfx1030"):
            yield Case(f"{name[-1]} compiles as HIP for {architecture}, no warnings",
                       lambda name=name, architecture=architecture: with_hipcc(name, architecture), thorough=True)
        for architecture in ("gfx90a", "gfx942"):
            yield Case(f"{name[-1]} compiles as HIP for {architecture} with warps of 64, no warnings",
                       lambda name=name, architecture=architecture: with_hipcc(name, architecture, "--warp-size=64"),
                       thorough=True)
        for architecture, options in (("gfx90a", ()), ("gfx90a", ("--warp-size=64",)), ("gfx1030", ())):
            yield Case(f"{name[-1]} is compiled by hiprtc for {architecture}{' with warps of 64' if options else ''}",
                       lambda name=name, architecture=architecture, options=options:
                       with_hiprtc(name, architecture, *options),
                       long=name[-1] not in ("collectives.fcl", "sorting.fcl"), thorough=True)
    for name in (("examples", "sorting", "sorting.fcl"),):
        def too_narrow(name=name):
            try:
                with_hipcc(name, "gfx1030", "--warp-size=64")
            except AssertionError as error:
                assert "waves of this GPU have 32 lanes" in str(error), error
            else:
                raise AssertionError("warps of 64 lanes compile for waves of 32")
        yield Case(f"{name[-1]} with warps of 64 does not compile as HIP for gfx1030", too_narrow, thorough=True)

    def no_masks():
        folder = env.tmp()
        env.must(env.fclc, env.path("examples", "reduce", "reduce.fcl"), "-M", "-o", os.path.join(folder, "out.hip"))
        assert sorted(os.listdir(folder)) == ["out.d", "out.h", "out.hip"], os.listdir(folder)
        text = open(os.path.join(folder, "out.hip"), encoding="utf-8").read()
        assert "_sync(" not in text and "FCL_SHUFFLE" in text
    yield Case("HIP has no masks of lanes, and host functions", no_masks)

    # The Obsidian papers' programs: a loop for each stage and a barrier between two, as their listings have.
    # Everything is there twice, for full chunks and for the last one; odd numbers have one barrier at the end of the
    # loop over chunks.
    def in_place(kernel, bytes, source):
        def check():
            path = env.written("place.fcl", source)
            text = open(compile_to("cu", path), encoding="utf-8").read()
            assert f"Shared memory: {bytes} bytes" in text or f"bytes: {bytes}," in text, text
        return Case(f"shared memory of {kernel}: {bytes}", check)

    # One half where a step reads its own elements, or the half that is not written; two where it reads others'.
    steps = (
        "kernel k (n : int) (xs : [int]) = push <block> (power n (fn s a => push <block> ({})) (push <block> (generate"
        " 100 (fn i => xs ! i))))"
    )
    yield in_place("own elements", 400, steps.format("map (+ s) a"))
    yield in_place("others' elements", 800, steps.format("map (+ s) (reverse a)"))
    yield in_place("a tree", "(xs_length) * 4",
                   "kernel k (xs : [int]) = push <block> (while (fn a => length a > 1) (fn a => let (x, y) = halve a "
                   "in "
                   "push <block> (zipWith (+) x y)) (push <block> xs))")

    # Pairs that read the array that they update: at places that no other thread writes, as bits show; or not, so that
    # they are stored before, in registers or two arrays.
    for name, each, pairs, barriers in (
            ("odd places from even ones", "", "generate 128 (fn t => (2 * t + 1, {0} ! (2 * t)))", 2),
            ("pairs that are compared and swapped", "Each",
             "generate 128 (fn t => let i = t >> 2 << 3 | (t & 3)  j = i | 4 in "
             "[(i, min ({0} ! i) ({0} ! j)), (j, max ({0} ! i) ({0} ! j))])", 2),
            ("even places from odd multiples", "", "generate 85 (fn t => (3 * t, {0} ! (2 * t)))", 3),
            ("pairs that two threads have", "Each", "generate 128 (fn t => let i = (t & 63) * 2 in "
             "[(i, {0} ! (i + 1)), (i + 1, {0} ! i)])", 3),
            ("each from its neighbour", "", "generate 256 (fn t => (t, {0} ! (t ^ 1)))", 3),
            ("a bit that only data say", "", "generate 128 (fn t => (2 * t + 1, {0} ! ({0} ! (2 * t) & 255)))", 3)):
        source = ("kernel k (xs : [int]) = let a = force (push <block> (generate 256 (fn i => xs ! i))) "
                  f"in push <block> (reverse (force (scatter{each} a ({pairs.format('a')}) : [int]<block>)))")
        yield golden(f"an update of a block's array by {name} has {barriers} barriers", source, "k", barriers=barriers)

    def launches(name, source, wanted):
        def check():
            text = emitted.of_text("cu", source)
            assert count("__global__", text) == wanted, f"{count('__global__', text)} launches in\n{text}"
        return Case(f"{name}: {wanted}", check)

    two = "kernel k (xs : [int]) (ys : [int]) = "
    yield launches("launches of an `append`", two + "append (push <grid> xs) (push <grid> ys)", 1)
    yield launches("of three parts",
                   two + "append (push <grid> xs) (append (push <grid> ys) (push <grid> (reverse xs)))", 1)
    yield launches("of chunks and elements",
                   two + "append (concat 64 (map (push <block>) (splitUp 64 xs))) (push <grid> ys)", 1)
    yield launches("of chunks and other chunks", two + "append (concat 64 (map (push <block>) (splitUp 64 xs))) "
                   "(concat 32 (map (push <block>) (splitUp 32 ys)))", 1)
    yield launches("of `interleave2`", two + "interleave2 (push <grid> xs) (push <grid> ys)", 1)
    yield launches("of warps and blocks", two + "append (concat 32 (map (push <warp>) (splitUp 32 xs))) "
                   "(concat 32 (map (push <block>) (splitUp 32 ys)))", 2)
    yield launches("of an update and elements, whose pairs come later",
                   two + "append (scatter xs [(0, 1)]) (push <grid> ys)", 2)
    yield launches("of two results, which are two things", two + "(push <grid> xs, push <grid> (reverse ys))", 2)
    yield golden("an `append` has a branch that whole blocks take, and four turns of each part together",
                 two + "append (push <grid> xs) (push <grid> ys)", "k",
                 {r"if \(range < scalar\) \{": 1, r"if \(count == 1024\) \{": 2, r"\? ": 0}, loops=5, unrolled=4)

    def stages(file, kernel, **wanted):
        def check():
            text = body(open(compile_to("cu", env.path("examples", *file)), encoding="utf-8").read(), kernel)
            got = {"barriers": count(r"__syncthreads\(\)", text), "warp_barriers": count(r"__syncwarp\(\)", text),
                   # but for those of loads that go ahead
                   "loops": count(r"\bfor \(", text) - count(r"\bheld\d*\[\d+\];", text)}
            for key, value in wanted.items():
                assert got[key] == value, f"{key}: {got[key]}, expected {value}, in\n{text}"
        return Case(f"stages of {kernel} in {'/'.join(file)}", check)

    networks = ("networks", "networks.fcl")
    yield stages(networks, "scanSklansky", barriers=2 * 8, loops=1 + 2 * 9)    # 9 stages of 512 elements: two a thread
    # as many elements as threads: only the loop over chunks
    yield stages(networks, "scanSklansky1", barriers=2 * 8 + 1, loops=1)
    yield stages(networks, "scanSklansky2", barriers=2 * 4 + 1, warp_barriers=2 * 4)  # 5 stages inside warps
    yield stages(networks, "scanSklansky3", barriers=2 * 4 + 1, loops=1)  # two at a time
    yield stages(networks, "sortT", barriers=2 * 44 + 1, loops=1)  # 1 + 2 + … + 9; and one for an array over another
    yield stages(networks, "sortV", barriers=2 * 44, loops=1)         # as many: mergers that are interleaved
    yield stages(networks, "sortPeriodic", barriers=2 * 80, loops=1)  # 9 × 9
    yield stages(networks, "scanInPlace", barriers=2 * 10 + 1)  # one a stage, and one behind the first store
    yield stages(networks, "sortOddEven", barriers=2 * 44, loops=1 + 2 * 45)
    reductions = ("reductions", "reductions.fcl")
    # A thread does two stages of these trees at a time where they are at its own distance, and the first warp has no
    # more barriers than its own.
    yield stages(reductions, "sums1", barriers=2 * 5 + 1, warp_barriers=2 * 4)  # neighbours, not what is half apart
    yield stages(reductions, "sums2", barriers=5, warp_barriers=4)
    yield stages(reductions, "sums3", barriers=5, warp_barriers=4)
    yield stages(reductions, "sums4", barriers=5, warp_barriers=4)    # 8 a thread, then 256
    yield stages(reductions, "sums5", barriers=5, warp_barriers=4)
    yield stages(reductions, "sums6", barriers=2 * 1 + 1, warp_barriers=2 * 3)
    yield stages(reductions, "sums7", barriers=2 * 1 + 1, warp_barriers=2 * 2)

    def null_places():
        """GCC as for AMD's processors, wherever this runs."""
        if os.uname().machine != "x86_64":
            raise Skip("no x86")
        env.must(env.fclc, "test", "--target=c", env.path("tests", "run", "toolchains", "gcc_null_places.fcl"),
                 env={"FCL_CC": env.tool("gcc"), "FCL_CC_OPTIONS": "-mtune=znver3"})
    yield Case("GCC leaves out no loop that reads an array from both sides", null_places)

    # A tree over twice the block, as a program writes it: whole chunks have a barrier, and one at the end.
    def tree():
        path = env.written("tree.fcl",
            "kernel sums (xs : [float]) = (splitUp (2 * #BlockSize) xs |> map (red <block> (+)) "
            "|> concat 1 : [float]<grid>)\n")
        text = body(open(compile_to("cu", path), encoding="utf-8").read(), "sums")
        whole = text[:text.index("} else {")]
        assert count(r"__syncthreads\(\)", whole) == 1, whole
        assert count(r"__syncwarp\(\)", whole) == 3, whole
        assert count(r"\bxs\[", whole) == 4, whole
        assert "if (threadIdx.x < 32) {" in whole, whole
    yield Case("a tree has one barrier of the block, then the first warp's, and four loads a thread", tree)
    yield stages(("mandelbrot", "mandelbrot.fcl"), "picture", barriers=0, loops=1)
