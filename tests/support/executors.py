"""The ways to run a program that the suites compare: name to (options of fclc, needs the simulator)."""

from harness import Skip

EXECUTORS = {
    "interp": (["--target=interp"], False),
    "c": (["--target=c"], False),
    "c-unoptimised": (["--target=c", "-O0"], False),
    "c-optimised": (["--target=c", "-O2"], False),
    "opencl-loop": (["--target=opencl", "--map=loop"], False),
    "opencl-simt": (["--target=opencl", "--map=simt"], False),
    "cuda-simulator": (["--target=cuda"], True),
}

_missing = {}


def variables(env, executor):
    """The environment an executor needs."""
    return env.cudasim() if EXECUTORS[executor][1] else {}


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
