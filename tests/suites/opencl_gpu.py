"""OpenCL for GPUs that are not at hand, by the compilers that are: clang's for SPIR, and for AMD's
gfx90a, whose assembler says what registers a kernel has. Nothing runs here.

Warps are threads, as any device has them, or sub-groups of 32, which Intel's and AMD's GPUs have."""

import os
import re
from harness import Case
from programs import programs

ORDER = 44
THOROUGH = True
LIBRARY = "/usr/lib/clc/amdgcn--amdhsa.bc"  # Debian's libclc-15: the functions of OpenCL C
# How warps are made, what a device with them defines, and the language to compile as.
WARPS = {"threads": ("--sub-groups=no", [], "CL1.2"),
         "sub-groups": ("--sub-groups=yes", ["-Dcl_intel_required_subgroup_size"], "CL3.0")}
# A processor of gfx90a has 512 for each lane of its waves: three waves of a kernel fit. The
# most, 163, has examples/finance; but products of matrices, which keep 64 sums in a thread's
# registers, have up to 281, so that one wave fits; of halves, which the hardware makes floats of, 511,
# as clang does all conversions of a panel first: one wave fits still.
MOST_REGISTERS, MOST_OF_PRODUCTS = 170, 512
PRODUCTS = ("linear.fcl", "matrices.fcl")


def kernels(assembly):
    """What the assembler's notes say of each kernel: name to numbers."""
    found = {}
    notes = assembly[assembly.index("amdhsa.kernels:"):]
    for note in re.split(r"\n  - ", notes)[1:]:
        name = re.search(r"^    \.name: +(\S+)$", note, re.M)
        if name:
            numbers = re.findall(r"\.(\w+): +(\d+)$", note, re.M)
            found[name[1]] = {key: int(value) for key, value in numbers}
    return found


def bodies(assembly):
    """The instructions of each kernel."""
    return dict(re.findall(r"^(\w+):[^\n]*\n(.*?)^\.Lfunc_end", assembly, re.M | re.S))


def cases(env):
    def emitted(path, warps):
        output = os.path.join(env.tmp(), "out.cl")
        env.must(env.fclc, "--check=none", path, "--map=simt", WARPS[warps][0], "-o", output)
        return output

    def for_amd(path, warps):
        clang = env.tool("clang-15")
        env.file(LIBRARY)
        return env.must(clang, "-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn--amdhsa",
                        "-mcpu=gfx90a", "-O3", "-Wall", "-Werror", "-Wno-unused-variable",
                        "-Xclang", "-finclude-default-header",
                        "-nogpulib", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBRARY,
                        "-S", emitted(path, warps), "-o", "-", timeout=600)

    benchmarks = [env.path("benchmarks", "fcl", name) for name in ("whole.fcl", "matrices.fcl")]
    for path in programs(env) + benchmarks:
        name = os.path.relpath(path, env.root)
        for warps, (_, defined, standard) in WARPS.items():
            def spir(path=path, warps=warps, defined=defined, standard=standard):
                env.must(env.tool("clang"), "-x", "cl", f"-cl-std={standard}", "-target", "spir64",
                         "-Wall", "-Werror", "-Wno-unused-variable", "-Xclang", "-finclude-default-header",
                         *defined, "-fsyntax-only", emitted(path, warps))
            yield Case(f"{name} is {standard}, for SPIR, its warps {warps}", spir, long="tests" in name)
            if "tests" in name:
                continue

            def amd(path=path, warps=warps):
                found = kernels(for_amd(path, warps))
                assert found, "no kernels"
                most = MOST_OF_PRODUCTS if os.path.basename(path) in PRODUCTS else MOST_REGISTERS
                for kernel, counts in found.items():
                    spilled, used = counts["vgpr_spill_count"], counts["vgpr_count"]
                    assert not spilled, f"{kernel} spills {spilled} registers"
                    assert used <= most, f"{kernel} has {used} registers"
            yield Case(f"{name} has registers enough on gfx90a, its warps {warps}", amd,
                       long=warps != "sub-groups" or path not in benchmarks)

    def product():
        assembly = for_amd(benchmarks[1], "threads")
        counts, body = kernels(assembly)["product_0"], bodies(assembly)["product_0"]
        loops = re.findall(r"^(\.LBB\w+):.*?\n(.*?)s_cbranch_\w+ \1$", body, re.M | re.S)
        fused = max(text.count("v_fma") + 2 * text.count("v_pk_fma") for _, text in loops)
        own, shared = counts["private_segment_fixed_size"], counts["group_segment_fixed_size"]
        # Two panels, 8 deep, of 128 rows and of 128 columns; the rest is paddings.
        assert own == 0 and 0 <= shared - 2 * 8 * (128 + 128) * 4 < 512, counts
        assert fused >= 1024, f"{fused} in the main loop"
    yield Case("a product keeps its 64 sums in a thread's registers", product)
