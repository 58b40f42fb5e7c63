"""A slice of the random programs of tests/fuzz: the executors agree with the interpreter, also on what goes wrong; C
under sanitizers."""

import importlib.util
from executors import require
from harness import Case

ORDER = 58
SANITIZED = True
EXECUTORS = ["c", "c-unoptimised", "opencl-loop", "opencl-simt", "cuda-simulator", "cuda-unoptimised"]
# Failing 2 takes longer than all the others.
# 1 and 4 go wrong with PoCL's simt alone: see tests/fuzz/README.md.
PLAIN, WITH_OPTIONS, FAILING, SANITIZED_FAILING = (3,), (5,), (1, 4), (5,)
SANITIZED_CHECKED = range(101, 113)


def cases(env):
    spec = importlib.util.spec_from_file_location("fuzz_run", env.path("tests", "fuzz", "run.py"))
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)

    def agree(seed, executors, **more):
        for executor in executors:
            require(env, executor)
        problem = runner.check_seed(env, seed, executors, **more)
        assert not problem, problem

    if env.sanitized:
        for seed in SANITIZED_FAILING:
            yield Case(f"random program {seed} that fails",
                       lambda seed=seed: agree(seed, ["c"], fails=True, sanitized=True))
        return
    for seed in SANITIZED_CHECKED:
        yield Case(f"random program {seed} on C under sanitizers, with checks",
                   lambda seed=seed: agree(seed, ["c"], sanitized=True, checks="all"), long=True)
    for seed in PLAIN:
        yield Case(f"random program {seed}", lambda seed=seed: agree(seed, EXECUTORS))
    for seed in WITH_OPTIONS:
        yield Case(f"random program {seed} with options", lambda seed=seed: agree(seed, EXECUTORS, has_options=True))
    for seed in FAILING:
        yield Case(f"random program {seed} that fails", lambda seed=seed: agree(seed, EXECUTORS, fails=True),
                   thorough=True)
