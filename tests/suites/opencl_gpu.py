"""OpenCL for GPUs that are not at hand, by the compilers that are: clang's for SPIR, and for AMD's
gfx90a, whose assembler says what registers a kernel has. Nothing runs here."""

import os
import re
from harness import Case
from programs import programs

ORDER = 44
LIBRARY = "/usr/lib/clc/amdgcn--amdhsa.bc"  # Debian's libclc-15: the functions of OpenCL C
# A processor of gfx90a has 512 for each lane of its waves: three waves of a kernel fit. The
# most, 145, has examples/finance, and all others have 108 or fewer.
MOST_REGISTERS = 160


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


def cases(env):
    def emitted(path):
        output = os.path.join(env.tmp(), "out.cl")
        env.must(env.fclc, path, "--map=simt", "-o", output)
        return output

    for path in programs(env) + [env.path("benchmarks", "fcl", "whole.fcl")]:
        name = os.path.relpath(path, env.root)
        for standard in "CL1.2", "CL3.0":
            def spir(path=path, standard=standard):
                clang = env.tool("clang")
                env.must(clang, "-x", "cl", f"-cl-std={standard}", "-target", "spir64", "-Wall",
                         "-Werror", "-Wno-unused-variable", "-Xclang", "-finclude-default-header",
                         "-fsyntax-only", emitted(path))
            yield Case(f"{name} is {standard}, for SPIR", spir, long="tests" in name)
        if "tests" in name:
            continue

        def amd(path=path):
            clang = env.tool("clang-15")
            env.file(LIBRARY)
            assembly = env.must(clang, "-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn--amdhsa",
                                "-mcpu=gfx90a", "-O3", "-Xclang", "-finclude-default-header",
                                "-nogpulib", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBRARY,
                                "-S", emitted(path), "-o", "-", timeout=600)
            found = kernels(assembly)
            assert found, "no kernels"
            for kernel, counts in found.items():
                spilled, used = counts["vgpr_spill_count"], counts["vgpr_count"]
                assert not spilled, f"{kernel} spills {spilled} registers"
                assert used <= MOST_REGISTERS, f"{kernel} has {used} registers"
        yield Case(f"{name} has registers enough on gfx90a", amd)
