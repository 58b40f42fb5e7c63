"""The ways to run a program that the suites compare: name to (options of fclc, the device that is made up for it or
None)."""

from harness import Skip

EXECUTORS = {
    "interp": (["--target=interp"], None),
    "c": (["--target=c"], None),
    "c-unoptimised": (["--target=c", "-O0"], None),
    "c-optimised": (["--target=c", "-O2"], None),
    "opencl-loop": (["--target=opencl", "--map=loop"], None),
    "opencl-simt": (["--target=opencl", "--map=simt"], None),
    "cuda-simulator": (["--target=cuda"], "simulator"),
    "cuda-unoptimised": (["--target=cuda", "-O0"], "simulator"),
    "cuda-optimised": (["--target=cuda", "-O2"], "simulator"),
    "hip-simulator": (["--target=hip"], "simulator"),
    "hip-64-simulator": (["--target=hip", "--warp-size=64"], "simulator"),
    "ptx": (["--target=cuda"], "ptx"),
    "ptx-unoptimised": (["--target=cuda", "-O0"], "ptx"),
    "ptx-optimised": (["--target=cuda", "-O2"], "ptx"),
}

_missing = {}


def variables(env, executor):
    """The environment an executor needs."""
    device = EXECUTORS[executor][1]
    return env.cudasim() if device == "simulator" else env.ptx_processor() if device == "ptx" else {}


def require(env, executor):
    """Skip, with the reason, where the executor is not to be had here."""
    if executor not in _missing:
        options, _ = EXECUTORS[executor]
        probe = env.path("tests", "support", "probe.fcl")
        done = env.run(env.fclc, "run", *options, probe, "probe", "1", env=variables(env, executor))
        _missing[executor] = done.stderr.strip().splitlines()[0] if done.returncode == 3 or (
            done.returncode == 2 and "not available" in done.stderr) else None
    if _missing[executor]:
        raise Skip(_missing[executor])
