"""A slice of the random programs of tests/fuzz: the executors agree with the interpreter."""

import importlib.util
from executors import require
from harness import Case

ORDER = 58
SEEDS = range(1, 9)
EXECUTORS = ["c", "c-unoptimised", "opencl-loop", "opencl-simt", "cuda-simulator"]


def cases(env):
    spec = importlib.util.spec_from_file_location("fuzz_run", env.path("tests", "fuzz", "run.py"))
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    for seed in SEEDS:
        def agree(seed=seed):
            for executor in EXECUTORS:
                require(env, executor)
            problem = runner.check_seed(env, seed, EXECUTORS)
            assert not problem, problem
        yield Case(f"random program {seed}", agree)
