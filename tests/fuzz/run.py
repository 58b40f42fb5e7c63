#!/usr/bin/env python3
"""Compare all executors with the interpreter on random programs.

usage: tests/fuzz/run.py [--fclc PATH] [--executors c,opencl-loop,…] [--jobs N] FIRST LAST     seeds, both included
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "support")]

from executors import EXECUTORS, variables  # noqa: E402

from generate import Generator  # noqa: E402
from harness import Counts, Env  # noqa: E402


def expectations(env, path, arguments):
    """The interpreter's results as test directives; False when it rejects the program."""
    lines = []
    for name, values in arguments.items():
        for argument in values:
            done = env.run(env.fclc, "run", "--target=interp", "--limit=0", path, name, argument)
            if done.returncode:
                return None, done.stderr
            parts = done.stdout.split()
            result = parts[0] if len(parts) == 1 else f"({','.join(parts)})"  # a tuple has a line for each component
            lines.append(f"-- test {name} {argument} == {result}")
    return lines, ""


def check_seed(env, seed, executors, more=()):
    """What is wrong with this seed's program, as text; empty when all executors agree."""
    generator = Generator(seed)
    _, text = generator.program()
    path = os.path.join(env.tmp(), f"seed{seed}.fcl")

    def write(more=""):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + more)
    write()
    lines, why = expectations(env, path, generator.arguments)
    if lines is None:
        return f"seed {seed}: the interpreter does not run it\n{why}\n{text}"
    write("\n" + "\n".join(lines) + "\n")
    for executor in executors:
        done = env.run(env.fclc, "test", *EXECUTORS[executor][0], *more, path, env=variables(env, executor), timeout=300)
        counts = Counts.of_last_line(done.stdout)
        if done.returncode or not counts or counts.passed != len(lines):
            return f"seed {seed} on {executor}: exit status {done.returncode}\n{done.stdout}{done.stderr}\n{text}"
    return ""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--fclc", default=os.path.join(ROOT, "build", "fclc"))
    options.add_argument("--executors", default="c,c-unoptimised,opencl-loop,opencl-simt,cuda-simulator")
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("first", type=int)
    options.add_argument("last", type=int)
    chosen = options.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        env = Env(ROOT, os.path.dirname(os.path.abspath(chosen.fclc)), False, scratch)
        seeds = range(chosen.first, chosen.last + 1)
        with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
            for problem in pool.map(lambda seed: check_seed(env, seed, chosen.executors.split(",")), seeds):
                failed += bool(problem)
                if problem:
                    print(problem, flush=True)
    print(f"{chosen.last - chosen.first + 1 - failed} programs agree, {failed} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
