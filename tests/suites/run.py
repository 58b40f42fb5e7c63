"""Programs with test directives, on every executor: tests/run, the examples, and (at small sizes) under oclgrind."""

import os
from executors import EXECUTORS, require, variables
from harness import Case, Skip
from programs import directives, programs

ORDER = 40
SANITIZED = True


# The others run in ptx.py.
RUNS = [executor for executor, (_, device) in EXECUTORS.items() if device != "ptx"]
# What oclgrind 21.10 itself gets wrong: the other OpenCL runs have these.
OCLGRIND_LIMITS = {"scalar_conversions.fcl": "oclgrind rounds i64 to float by way of double"}
# Loops that look at the report of failed checks, which others write: known to the CUDA simulator.
REPORTS = {"checks_in_loops.fcl", "loops_that_repeat.fcl"}


def cases(env):
    for path in programs(env):
        name = os.path.relpath(path, env.root)
        for executor in RUNS:
            if env.sanitized and executor not in ("interp", "c"):
                continue  # the compiler is what the sanitizers watch: one code generator will do

            def run(path=path, executor=executor):
                require(env, executor)
                return directives(env, [env.fclc, "test", *EXECUTORS[executor][0], path], variables(env, executor))
            yield Case(f"{name} on {executor}", run)

        def under_oclgrind(path=path):
            oclgrind = env.tool("oclgrind")
            if os.path.basename(path) in OCLGRIND_LIMITS:
                raise Skip(OCLGRIND_LIMITS[os.path.basename(path)])
            # Unoptimised: oclgrind's clang reads ahead of conditions, which then looks like a read out of bounds.
            # It takes volatile accesses for plain ones and knows no fences, so these look like races to it. The CUDA simulator
            # does know them.
            emitted = os.path.join(env.tmp(), "out.cl")
            env.must(env.fclc, path, "--map=simt", "-o", emitted)
            is_racy = os.path.basename(path) in REPORTS or "volatile" in open(emitted, encoding="utf-8").read()
            checks = [] if is_racy else ["--data-races", "--uniform-writes"]
            return directives(env, [oclgrind, "--build-options", "-cl-opt-disable", *checks, env.fclc, "test",
                                    "--target=opencl", "--map=simt", path], {"FCL_CACHE": "0", "FCL_POOL": "0"}, silent=True)
        if not env.sanitized and "large" not in name:
            yield Case(f"{name} under oclgrind", under_oclgrind)


    for options in ([], ["--check"], ["-O0"]) if not env.sanitized else ():
        def steps(options=options):
            require(env, "opencl-simt")
            return directives(env, [env.fclc, "test", "--target=opencl", "--map=simt", *options,
                                    env.path("tests", "run", "steps_in_chunks.fcl")], {})
        yield Case(f"steps in chunks on opencl-simt {' '.join(options)}", steps)

    # Whatever vectors this machine has: what is laid out by them is right for others.
    for executor in ("c", "opencl-loop") if not env.sanitized else ("c",):
        for size in (16, 32, 64):
            def sizes(executor=executor, size=size):
                require(env, executor)
                return directives(env, [env.fclc, "test", *EXECUTORS[executor][0], f"--vector-bytes={size}",
                                        env.path("tests", "run", "lib_matrix.fcl")], variables(env, executor))
            yield Case(f"products of matrices by vectors of {size} bytes on {executor}", sizes)
