"""Programs with test directives, on every executor: tests/run, the examples, and (at small sizes) under oclgrind.

Every check has each program of tests/run on the interpreter, on C and in the CUDA simulator, and what ON_OPENCL says by
each mapping there; without a simulator, all but scalars by OpenCL's SIMT. A thorough one has small programs on the
rest, too: what the optimiser makes of a program must be right there, and what it is given must be right for that."""

import os
import platform
from executors import EXECUTORS, require, variables
from harness import Case, Skip
from programs import directives, programs

ORDER = 40
SANITIZED = True


# The others run in ptx.py.
RUNS = [executor for executor, (_, device) in EXECUTORS.items() if device != "ptx"]
# Programs that a thorough run has with checks, in the simulator; and whose tests are of what checks refuse.
CHECKED = {name + ".fcl" for name in (
    "selections_by_chunks force_up_to permute_into updates lookback_counts push_each").split()}
COLLIDES = {"scatter_collisions.fcl"}
# Programs that oclgrind 21.10 itself gets wrong: the other OpenCL runs have these.
OCLGRIND_LIMITS = {"conversions.fcl": "oclgrind rounds i64 to float by way of double"}
# Loops that look at the report of failed checks, which others write: known to the CUDA simulator.
REPORTS = {"checks_in_loops.fcl", "loops_that_repeat.fcl"}
# Only a long run has these on all programs, and a thorough one on these small ones: barriers, warps, atomics, locks,
# look-backs, steps, checks.
RARE = {"hip-simulator", "hip-64-simulator", "c-unoptimised", "c-optimised", "cuda-unoptimised", "cuda-optimised",
        "oclgrind"}
SMALL = {
    name + ".fcl"
    for name in (
        "arrays block_branches scan_by_index checks scatter_collisions shared_places_of_launch force_up_to"
        " steps_in_place level_groups levels lookback reduce_by_index_ranges own_elements own_places permute_into"
        " small_programs rank_by_index llvm_short_loops llvm_wrapped_places pocl_steps_in_chunks constant_tables"
        " warp_state warp_exchange whole_warps llvm_zeros"
    ).split()
}
# Each kernel costs OpenCL up to a quarter of a second. So others than long runs have these folders there, and by simt
# the small programs; what the SIMT mapping makes of others is run by the CUDA simulator, and what the loop mapping
# does, by C.
ON_OPENCL = {"opencl-simt": {"toolchains"}, "opencl-loop": {"toolchains"}}
# Programs of scalars that OpenCL has functions or types of its own for: these are there by loops, too.
OF_OPENCL = {name + ".fcl" for name in "maths conversions bit_functions f16 half_arrays i8 u64 double".split()}
# Examples that are compiled for C as for users.
AS_USERS = {name + ".fcl" for name in "reduce transpose nbody life images sparse".split()}
# Programs that take so long that only a long run has them: five seconds and more. Each has a smaller neighbour there.
LENGTHY = {
    "interp": {"matrix_units.fcl", "matrix_products.fcl", "matrix_batches.fcl", "matrix_integers.fcl",
               "convolutions.fcl", "attention.fcl", "sorted_parts.fcl", "stencil_borders.fcl", "random_numbers.fcl",
               "tpacf.fcl", "heavy_steps.fcl", "sorts_in_steps.fcl", "mma.fcl", "float_rules.fcl", "bigsort.fcl"},
    "cuda-simulator": {"matrix_units.fcl", "matrix_batches.fcl", "sorted_parts.fcl", "sorts_in_steps.fcl",
                       "attention.fcl", "convolutions.fcl", "transformer.fcl"},
    "oclgrind": {"reduce_by_index_ranges.fcl"},
}
# Programs that take seconds there, and show little that others do not: left to thorough runs.
SECONDS = {"cuda-simulator": {"reduce_by_index.fcl", "stencil_borders.fcl", "start_values.fcl"}}
# Programs that go round for seconds, where the sanitizers see nothing after the first rounds.
ROUNDS = {name + ".fcl" for name in (
    "any_order borders borders_of_indices comparison_sorts divided_indices early_end float_rules half_numbers"
    " heavy_steps lookback_during lookback_waiting mma neighbours radix_sorts sort_widths sorted_parts sorts_in_steps"
    " start_values top_and_repeated").split()}


def optimised(env, path, executor):
    """What other compilers get wrong they optimise in each run; and some examples in C."""
    folder, name = os.path.split(path)
    is_users = "examples" in path and executor == "c" and name in AS_USERS
    return env.optimised() if is_users or os.path.basename(folder) == "toolchains" else env


def is_long(env, path, executor):
    """Whether only a long run has this."""
    folder, name = os.path.split(path)
    folder = os.path.basename(folder)
    if env.sanitized:  # which takes ten times as long; the library's programs show it little that others do not
        return "examples" in path or executor == "interp" and (folder == "library" or name in ROUNDS)
    if "examples" in path and "opencl" in executor:  # examples.py runs some; all have C's mapping and CUDA's
        return True
    if name in LENGTHY.get(executor, ()):
        return True
    if executor == "opencl-loop":
        return name not in OF_OPENCL and folder not in ON_OPENCL[executor]
    if executor == "opencl-simt" and not env.simulator():
        return folder == "scalars"  # which are there by loops
    return (executor in RARE or folder not in ON_OPENCL.get(executor, {folder})) and name not in SMALL


def is_thorough(path, executor):
    """Whether `make check` leaves this out. The interpreter has what the language and its scalars mean there: what
    the other programs are to give, they say themselves."""
    folder, name = os.path.split(path)
    return (executor in RARE or name in SECONDS.get(executor, ()) or
            executor == "interp" and os.path.basename(folder) not in ("language", "scalars"))


def cases(env):
    # Executors come after one another: what is built for one case is there when the next needs the same.
    for executor in RUNS:
        if env.sanitized and executor not in ("interp", "c"):
            continue  # the compiler is what the sanitizers watch: one code generator will do
        for path in programs(env):
            def run(path=path, executor=executor):
                require(env, executor)
                return directives(optimised(env, path, executor),
                                  [env.fclc, "test", "--check=none", *EXECUTORS[executor][0], path],
                                  variables(env, executor))
            yield Case(f"{os.path.relpath(path, env.root)} on {executor}", run, long=is_long(env, path, executor),
                       thorough=is_thorough(path, executor))

    for path in programs(env) if not env.sanitized else ():
        name = os.path.relpath(path, env.root)

        def under_oclgrind(path=path):
            oclgrind = env.tool("oclgrind")
            if os.path.basename(path) in OCLGRIND_LIMITS:
                raise Skip(OCLGRIND_LIMITS[os.path.basename(path)])
            # Unoptimised: oclgrind's clang reads ahead of conditions, which then looks like a read out of bounds. It
            # takes volatile accesses for plain ones and knows no fences, so these look like races to it. The CUDA
            # simulator does know them.
            emitted = os.path.join(env.tmp(), "out.cl")
            env.must(env.fclc, path, "--map=simt", "-o", emitted)
            lines = open(emitted, encoding="utf-8").read().splitlines()
            is_racy = os.path.basename(path) in REPORTS or any(
                "volatile" in line and not line.startswith("#define FCL_GUARDED") for line in lines)
            checks = [] if is_racy else ["--data-races", "--uniform-writes"]
            return directives(env, [oclgrind, "--build-options", "-cl-opt-disable", *checks, env.fclc, "test",
                                    "--check=none", "--target=opencl", "--map=simt", path],
                              {"FCL_CACHE": "0", "FCL_POOL": "0"},
                              silent=True)
        if "large" not in name:
            yield Case(f"{name} under oclgrind", under_oclgrind, long=is_long(env, path, "oclgrind"),
                       thorough=True)

    for options in (["--check=none"], ["--check"], ["--check=none", "-O0"]) if not env.sanitized else ():
        def steps(options=options):
            require(env, "opencl-simt")
            return directives(env.optimised(), [env.fclc, "test", "--target=opencl", "--map=simt", *options,
                                    env.path("tests", "run", "toolchains", "pocl_steps_in_chunks.fcl")], {})
        yield Case(f"steps in chunks on opencl-simt {' '.join(options)}", steps, thorough=True)

    # Blocks that look back past others which are not ready: in the simulator they see each other's words late,
    # elsewhere the first block is slow, and there are threads for others to wait.
    for executor, more in (("cuda-simulator", {"CUDASIM_STALE": "1"}), ("c", {"FCL_THREADS": "4"}),
                           ("opencl-loop", {"POCL_MAX_PTHREAD_COUNT": "4"})) if not env.sanitized else ():
        for name in ("lookback_waiting", "lookback", "lookback_counts", "scans_and_segments", "force_up_to"):
            def waiting(executor=executor, more=more, name=name):
                require(env, executor)
                return directives(env, [env.fclc, "test", "--check=none", *EXECUTORS[executor][0],
                                        env.path("tests", "run", "prelude", name + ".fcl")],
                                  dict(variables(env, executor), **more))
            yield Case(f"tests/run/prelude/{name}.fcl on {executor} with {' '.join(more)}", waiting,
                       long=name not in ("lookback_waiting", "lookback"), thorough=executor == "opencl-loop")

    # With checks: what the prelude promises on GPUs, such as places that are written once, no other run looks at.
    for path in programs(env) if not env.sanitized else ():
        folder, name = os.path.split(path)
        if os.path.basename(folder) != "prelude" or name in COLLIDES:
            continue

        def checked(path=path):
            require(env, "cuda-simulator")
            return directives(env, [env.fclc, "test", "--check", *EXECUTORS["cuda-simulator"][0], path],
                              variables(env, "cuda-simulator"))
        yield Case(f"{os.path.relpath(path, env.root)} on cuda-simulator with --check", checked,
                   long=name not in CHECKED, thorough=True)

    # A test that wants a result runs without checks, but here it is what they refuse that matters.
    for executor in ("interp", "c", "cuda-simulator", "opencl-simt") if not env.sanitized else ():
        def measured(executor=executor):
            require(env, executor)
            return directives(env, [env.fclc, "test", "--check", *EXECUTORS[executor][0],
                                    env.path("tests", "run", "language", "negative_lengths.fcl")],
                              variables(env, executor))
        yield Case(f"tests/run/language/negative_lengths.fcl with --check by {executor}", measured,
                   thorough=executor not in ("interp", "c"), long=executor == "opencl-simt")

    def many_ranges():
        require(env, "c")
        path = env.path("tests", "run", "optimiser", "shared_ranges.fcl")
        return directives(env, [env.fclc, "test", "--check=none", "--target=c", path],
                          dict(variables(env, "c"), FCL_THREADS="64"))
    yield Case("tests/run/optimiser/shared_ranges.fcl on c with FCL_THREADS=64", many_ranges)

    # Whatever vectors this machine has: loops that go by vectors are right with shorter ones, too.
    for width, more in ((8, "-mno-avx512f"), (4, "-mno-avx"), (1, "-U__GNUC__ -D__GNUC__=8")):
        for name in ("vectors_abreast", "vector_arrays", "vector_loops", "vector_rounds", "vector_calls"):
            def narrower(more=more, name=name):
                require(env, "c")
                if platform.machine() != "x86_64":
                    raise Skip("these options are for x86-64")
                return directives(env, [env.fclc, "test", "--target=c",
                                        env.path("tests", "run", "optimiser", name + ".fcl")],
                                  {"FCL_CC_OPTIONS": more})
            yield Case(f"{name}.fcl by vectors of {width} at most", narrower,
                       long=width == 4 or name not in ("vectors_abreast", "vector_arrays") or env.sanitized)

    # Whatever vectors this machine has: what is laid out by them is right for others.
    for executor in ("c", "opencl-loop") if not env.sanitized else ("c",):
        for size in (16, 32, 64):
            def sizes(executor=executor, size=size):
                require(env, executor)
                return directives(env, [env.fclc, "test", "--check=none", *EXECUTORS[executor][0],
                                        f"--vector-bytes={size}",
                                        env.path("tests", "run", "library", "matrix_products.fcl")],
                                  variables(env, executor))
            yield Case(f"products of matrices by vectors of {size} bytes on {executor}", sizes,
                       long=env.sanitized or executor != "c")
