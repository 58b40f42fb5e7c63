"""The machine code of the benchmarks' kernels on NVIDIA's GPUs is no worse than it was:
benchmarks/sass.json holds what it
was, `python3 benchmarks/sass.py --save` writes it, and nothing runs on a GPU.

`make sass` installs what this needs: NVIDIA's run-time compiler and what reads its code."""

import os
import re
import sys
from harness import Case, Skip

ORDER = 45
THOROUGH = True


def cases(env):
    sys.path.insert(0, env.path("benchmarks"))
    import sass

    bounds = sass.load_bounds()

    def tools():
        try:
            found = sass.Tools(env.build)
        except sass.Missing as missing:
            raise Skip(str(missing)) from missing
        if found.version != bounds["NVRTC"]:
            raise Skip(
                f"benchmarks/sass.json is of NVRTC {bounds['NVRTC']}, and this is {found.version}"
            )
        return found

    def kernels_of(program, architecture, *options):
        """{name: (head, code)} of the kernels of a program in FCL."""
        given, path = tools(), os.path.join(env.tmp(), "k.cu")
        env.must(env.fclc, "--check=none", *options, program, "-o", path)
        with open(path, encoding="utf-8") as file:
            return given.read(given.compile(file.read(), architecture))

    def judge(wanted, got):
        assert sorted(wanted) == sorted(
            got
        ), f"other kernels than in benchmarks/sass.json: {sorted(set(wanted) ^ set(got))}"
        wrong = [f"{name}: {text}" for name in got for text in sass.worse(wanted[name], got[name])]
        assert not wrong, (
            "\n".join(wrong) + "\nwhere that cannot be helped: python3 benchmarks/sass.py --save"
        )

    for program in sass.PROGRAMS:
        for architecture in sass.ARCHITECTURES:

            def read(program=program, architecture=architecture):
                got = sass.kernels_of(tools(), env.fclc, program, architecture)
                held = bounds["sm_" + architecture]
                judge({name: row for name, row in held.items() if row["program"] == program}, got)

            yield Case(f"{program} for sm_{architecture}", read)

    # The products of matrices at other sizes of blocks: tiles are what registers have room for.
    for threads in (32, 64, 128, 256, 512, 1024):
        for architecture in sass.ARCHITECTURES:

            def fits(threads=threads, architecture=architecture):
                got = sass.kernels_of(
                    tools(),
                    env.fclc,
                    "benchmarks/fcl/matrices.fcl",
                    architecture,
                    f"--block-size={threads}",
                )
                # a block of one warp has the sums of matrix units in shared memory
                wanted = "product|unitProduct" if threads > 32 else "product"
                products = {name: row for name, row in got.items() if re.match(wanted, name)}
                least = 85 if 64 <= threads <= 512 else 78  # of 4 × 4 results a thread, or half a panel at a time
                assert any(row["fused"] >= least for row in products.values()), products
                assert threads == 32 or any(row["products"] for row in products.values()), products
                most = 4 if threads == 32 else 0  # one warp holds more of a panel in registers than it has room for
                for name, row in products.items():
                    # a thread of 128 sums has 255 registers
                    least = 12 if row["products"] >= 128 else 25
                    assert row["spills"] <= most and row["occupancy"] >= least, (name, row)

            yield Case(f"products by blocks of {threads} for sm_{architecture}", fits)

    def step_of(body, is_fast=True):
        """The instructions of the shortest loop that copies ahead; where it is fast, without the loops in it."""
        blocks, _ = sass.blocks_of(body)
        loops = [set(range(n, i + 1)) for i, block in enumerate(blocks) for n in block.next if n <= i]

        def code_of(numbers):
            return [one.base for one in sass.instructions(blocks, sorted(numbers))]

        step = min((loop for loop in loops if "LDGSTS" in code_of(loop)), key=len)
        return code_of(step.difference(*(loop for loop in loops if is_fast and loop < step)))

    # The loop of a product by matrix units, without the loops in it for rows that do not begin at
    # multiples of 16 bytes: at most 2.4 instructions a product, and each matrix is loaded once.
    for architecture in sass.ARCHITECTURES:

        def loop_of_units(architecture=architecture):
            kernels = kernels_of("benchmarks/fcl/matrices.fcl", architecture)
            code = step_of(kernels["unitProduct_0"][1])
            assert code.count("HMMA") == 64 and len(code) <= 2.4 * 64, (len(code), code)
            assert code.count("LDSM") == 16 and code.count("BAR") == 1, code
            assert not {"LDL", "STL"} & set(code), code

        yield Case(f"the loop of a product by matrix units for sm_{architecture}", loop_of_units)

    # That of floats: 96 of them are rounded for 64 products, which takes two instructions each.
    for architecture in sass.ARCHITECTURES:

        def loop_of_floats(architecture=architecture):
            program = (
                'import "matrix"\nkernel k (n : int) (a : [float]) (b : [float]) with approximate ='
                " matMulUnits 128 128 n n n a b\n"
            )
            (_, body) = kernels_of(env.written("k.fcl", program), architecture)["k"]
            assert body.count("HMMA.1688.F32.TF32") == body.count("HMMA") == 128, body.count("HMMA")
            code = step_of(body, is_fast=False)
            assert code.count("HMMA") == 64 and len(code) <= 580, (len(code), code)
            assert code.count("BAR") == 1 and not {"LDL", "STL"} & set(code), code

        yield Case(f"the loop of a product of floats by matrix units for sm_{architecture}", loop_of_floats)

    # That of bytes is as short as that of halves: what is loaded, and how, is the same.
    for architecture in sass.ARCHITECTURES:

        def loop_of_bytes(architecture=architecture):
            program = (
                'import "matrix"\nkernel k (n : int) (a : [i8]) (b : [i8]) = matMulIntBy n n n a b\n'
            )
            body = kernels_of(env.written("k.fcl", program), architecture)["k_0"][1]
            assert body.count("IMMA.16832.S8.S8") == body.count("IMMA") == 128, body.count("IMMA")
            code = step_of(body)
            assert code.count("IMMA") == 64 and len(code) <= 2.5 * 64, (len(code), code)
            assert code.count("LDSM") == 16 and code.count("BAR") == 1, code
            assert not {"LDL", "STL"} & set(code), code

        yield Case(f"the loop of a product of bytes by matrix units for sm_{architecture}", loop_of_bytes)

    # In a panel that is not whole lanes load rows together, too. It is loaded in its step: in two stages the loop
    # takes 509 instructions, but blocks of 512 threads spill up to 9 words.
    for architecture in sass.ARCHITECTURES:

        def loop_of_rest(architecture=architecture):
            kernels = kernels_of("benchmarks/fcl/matrices.fcl", architecture)
            blocks, _ = sass.blocks_of(kernels["unitProduct_0"][1])
            loops = [range(n, i + 1) for i, block in enumerate(blocks) for n in block.next if n <= i]
            codes = [[one.base for one in sass.instructions(blocks, loop)] for loop in loops]
            rest = [code for code in codes if code.count("HMMA") == 64 and "LDGSTS" not in code]
            assert len(rest) == 1 and len(rest[0]) <= 660, [(len(code), code.count("HMMA")) for code in codes]
            loads = {"80": 64, "90": 16}[architecture]  # for 9.0 the compiler sees which it has
            assert rest[0].count("LDSM") == loads and rest[0].count("BAR") == 2, rest[0]

        yield Case(f"the panel of a product that is not whole for sm_{architecture}", loop_of_rest)

    # Products of small matrices of halves, a warp each: all is loaded by 16 bytes and by rows. The kernels by hand
    # (benchmarks/reference/batched.cu) take 91 and 228 instructions; these have a second way, for arrays that do
    # not begin at multiples of 16 bytes, and ask of each sum whether it is one.
    def small_products():
        kernels = kernels_of("benchmarks/fcl/matrices.fcl", "90")
        for name, most, *wanted in ("batched16", 180, 2, 3, 2), ("batched32", 490, 8, 12, 16):
            blocks, _ = sass.blocks_of(kernels[name][1])
            code = [one.base for block in blocks for one in block.code if one.base != "NOP"]
            assert len(code) <= most and not {"LDL", "STL"} & set(code), (name, len(code))
            got = [code.count(what) for what in ("LDGSTS", "LDSM", "HMMA")]
            assert got == wanted, (name, got)

    yield Case("products of small matrices by a warp each for sm_90", small_products)

    # The loop of a convolution by matrix units has at most 1.1 times the instructions of that of a product, without the
    # loops in it for rows that do not begin at multiples of 16 bytes and what comes before these.
    def loop_of_convolution():
        program = (
            'import "nn"\nimport "matrix"\nkernel conv (n : int) (h : int) (w : int) (xs : [f16]) (ys : [f16]) ='
            " conv2d 1 1 (n, h, w, 64) (3, 3, 256) xs ys\n"
            "kernel plain (n : int) (xs : [f16]) (ys : [f16]) = matMulFloat n 576 256 xs ys\n"
        )
        lengths = []
        for name, (_, body) in kernels_of(env.written("k.fcl", program), "90").items():
            blocks, _ = sass.blocks_of(body)
            code = [one.base for block in blocks for one in block.code]
            assert not {"LDL", "STL"} & set(code), name
            if code.count("HMMA") < 64:
                continue
            loops = [range(n, i + 1) for i, block in enumerate(blocks) for n in block.next if n <= i]
            (step,) = [loop for loop in loops if sum(i.base == "HMMA" for i in sass.instructions(blocks, loop)) == 64
                       and len(loop) < len(blocks) / 2]
            slow = {n for n in step if any(i.base == "LDG" and i.bytes == 2 for i in blocks[n].code)}
            slow |= {n for n in step if slow.issuperset(blocks[n].next)}
            lengths.append(len(sass.instructions(blocks, [n for n in step if n not in slow])))
        assert len(lengths) == 2 and max(lengths) <= 1.1 * min(lengths) and min(lengths) <= 175, lengths

    yield Case("the loop of a convolution by matrix units for sm_90", loop_of_convolution)

    # The loops of attention by matrix units over 32 keys, of 64 elements a head: those that all queries see, and the
    # others.
    def loop_of_attention():
        program = (
            'import "nn"\nkernel k (n : int) (q : [f16]) (k : [f16]) (v : [f16]) ='
            " attention f16 true 1 n 64 q k v\n"
        )
        (_, body) = kernels_of(env.written("k.fcl", program), "90")["k"]
        blocks, _ = sass.blocks_of(body)
        loops = [range(n, i + 1) for i, block in enumerate(blocks) for n in block.next if n <= i]
        codes = [[one.base for one in sass.instructions(blocks, loop)] for loop in loops]
        steps = [code for code in codes if "LDGSTS" in code and code.count("HMMA") == 32]
        lengths = sorted(len(code) for code in steps)
        assert len(steps) == 2 and lengths[0] <= 520 and lengths[1] <= 565, lengths
        for code in steps:
            assert not {"LDL", "STL", "WARPSYNC"} & set(code) and code.count("BAR") == 1, code
            assert code.count("LDSM") == 32, code

    yield Case("the loops of attention by matrix units for sm_90", loop_of_attention)

    def older():
        program = 'import "matrix"\nkernel k (n : int) (a : [f16]) (b : [f16]) = matMulFloat n n n a b\n'
        kernels = kernels_of(env.written("k.fcl", program), "75")
        for name, (_, body) in kernels.items():
            # A tile may load ten words that were left before, and a loop in it one for 200 instructions: that of a
            # narrow tile has 7 in 1,798.
            blocks, _ = sass.blocks_of(body)
            loops = [set(range(n, i + 1)) for i, block in enumerate(blocks) for n in block.next if n <= i]
            for loop in (loop for loop in loops if any(loop < other for other in loops)):
                code = [one.base for one in sass.instructions(blocks, sorted(loop))]
                assert 200 * (code.count("LDL") + code.count("STL")) <= len(code), name
            code = [one.base for block in blocks for one in block.code]
            assert code.count("LDL") <= 10 and code.count("STL") <= 8, name

    yield Case("products of halves spill next to nothing in their loops where there is no such unit", older)

    def known_sizes():
        program = (
            'import "matrix"\n'
            "kernel known (n : int) (a : [f16]) (b : [f16]) = matMulFloat n 1024 n a b\n"
            "kernel any (n : int) (a : [f16]) (b : [f16]) = matMulFloat n n n a b\n"
        )
        kernels = kernels_of(env.written("k.fcl", program), "90")
        bodies = {name: sass.blocks_of(text)[0] for name, (_, text) in kernels.items()}
        code = {name: [i.base for b in blocks for i in b.code] for name, blocks in bodies.items()}
        for n in "01":
            assert len(code["known_" + n]) <= 1.1 * len(code["any_" + n]), {k: len(c) for k, c in code.items()}
            assert "STL" not in code["known_" + n], n

    yield Case("products whose inner size is known have no more code", known_sizes)

    # Notes [halves] in map/statements.c and [narrow elements] in map/copies.c: what is done for eight elements of
    # halves, or sixteen bytes, is all in one block of code, which has a load for each array and a store.
    for architecture in sass.ARCHITECTURES:

        def narrow(architecture=architecture):
            wanted = {"scaled": (8, 1, 1), "saxpy": (8, 2, 1), "cut": (8, 1, 1), "widened": (8, 2, 2)}
            wanted["bytes"] = (16, 1, 1)
            program = (
                "kernel scaled (k : f16) (xs : [f16]) = push <grid> (map (fn x => k * x + 1) xs)\n"
                "kernel saxpy (k : f16) (xs : [f16]) (ys : [f16]) =\n"
                "  push <grid> (zipWith (fn x y => k * x + y) xs ys)\n"
                "kernel cut (xs : [f16]) = push <grid> (map (fn x => max x 0) xs)\n"
                "kernel widened (xs : [f16]) = push <grid> (map float xs)\n"
                "kernel bytes (xs : [u8]) = push <grid> (map (fn x => x * 3 + 1) xs)\n"
            )
            kernels = kernels_of(env.written("k.fcl", program), architecture)
            for name, (_, body) in kernels.items():
                elements, loads, stores = wanted[name]
                wide = [
                    [i.base for i in block.code if i.base != "NOP"]
                    for block in sass.blocks_of(body)[0]
                    if any(i.base == "STG" and i.bytes == 16 for i in block.code)
                ]
                assert len(wide) == 1, (name, wide)
                found = (wide[0].count("LDG"), wide[0].count("STG"))
                assert found == (loads, stores) and len(wide[0]) <= 7 * elements, (name, len(wide[0]), found)

        yield Case(f"at most 7 instructions an element of halves and bytes for sm_{architecture}", narrow)

    # QUIRK_CLAMPED_EQUALITIES of map/quirks: programs in which ptxas found such equalities.
    CLAMPED = re.compile(r"\bU?VIMNMX\S* U?R\d+, (?:U?P\d, |U?PT, U?P\d, )")
    for program in (
        "tests/run/toolchains/ptxas_clamped_equalities.fcl",
        "tests/run/prelude/one_level.fcl",
        "tests/run/optimiser/large_tiles.fcl",
        "tests/run/language/measured_lengths.fcl",
    ):
        for options in [], ["-O0"], ["-O2"]:

            def compares(program=program, options=options):
                kernels = kernels_of(program, "90", *options)
                found = {name for name, (_, body) in kernels.items() if CLAMPED.search(body)}
                assert kernels and not found, found

            yield Case(f"{' '.join([program, *options])}: no equality by VIMNMX", compares)

    for kernel in sass.RUNS:

        def host(kernel=kernel):
            judge(
                {kernel: bounds["host"][kernel]},
                {kernel: sass.launches(env.fclc, kernel, env.cudasim())},
            )

        yield Case(f"launches and waits of {kernel}", host)

    # That it finds what is worse: less shared memory than there is, and a kernel that is not there,
    # must be told.
    def finds():
        row = bounds["sm_90"]["sums"]
        assert not sass.worse(row, row)
        for key, better in (
            ("shared", -1),
            ("barriers", -1),
            ("occupancy", 1),
            ("in_flight", 1),
            ("shortest", -1),
        ):
            assert sass.worse({**row, key: row[key] + better}, row), key

    yield Case("what is worse is found", finds)

    # The reading itself, of code that is known: two loads and a use in a loop of eight, and one
    # that is left out.
    def reads():
        body = """
        /*0000*/                   S2R R0, SR_TID.X ;
.L_x_0:
        /*0010*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E R8, desc[UR4][R2.64+0x10] ;
        /*0030*/              @!P1 BRA `(.L_x_1) ;
        /*0040*/                   IADD3 R10, R11, R12, RZ ;
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_1:
        /*0060*/                   IADD3 R9, R7, R8, R9 ;
        /*0070*/               @P0 BRA `(.L_x_0) ;
        /*0080*/                   STG.E desc[UR4][R2.64], R9 ;
        /*0090*/                   EXIT ;
"""
        got = sass.measures({"REG": 72, "SHARED": 0}, body, "90", 256, 40000, 4)
        # 72 registers are 2304 a warp: 28 warps, three blocks; of 40000 bytes there are five. Five
        # or seven instructions
        # for the 20 bytes.
        wanted = {
            "in_flight": 20,
            "loads": "1×32 1×128",
            "barriers": 1,
            "shortest": 1.0,
            "whole": 1.4,
            "occupancy": 38,
        }
        assert {key: got[key] for key in wanted} == wanted, got

    yield Case("code is read as it is", reads)
