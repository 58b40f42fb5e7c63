#!/usr/bin/env python3
"""Compare all executors with the interpreter on random programs.

usage: tests/fuzz/run.py [--fclc PATH] [--executors c,…] [--failing] [--options] [--sanitized] [--quick]
                         [--jobs N] FIRST LAST   seeds, both included

With --failing kernels do wrong what there is an error for, and the executors agree on its code. With --sanitized the code of C runs
under AddressSanitizer: --fclc is of a tree that is built so (build-asan/fclc); with --quick it is compiled with -O1, in half the
time: that looks at fclc's code, less at what C compilers make of it. With --options each program has options of its own: sizes
of blocks and grids, --unroll, values of params.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "support")]

from executors import EXECUTORS, variables  # noqa: E402

from generate import Generator  # noqa: E402
from harness import Counts, Env  # noqa: E402


SANITIZED = {"FCL_CC": "gcc -fsanitize=address", "FCL_CACHE": "0"}
QUICK = {"FCL_CC": os.path.join(HERE, "quick-cc")}


def options_of(seed, text):
    """Options of fclc for a program, by which no executor's result changes alone."""
    source = random.Random(f"options {seed}")
    options = [source.choice(([], [f"--block-size={source.choice((1, 32, 33, 64, 1024))}"])),
               source.choice(([], [f"--grid-size={source.choice((1, 2, 7))}"])), source.choice(([], [f"--unroll={source.choice((0, 1, 3, 64))}"]))]
    for param in re.findall(r"^param (\w+)", text, re.M):
        options.append(source.choice(([], [f"-D{param}={source.choice((3, 16, 32, 33))}"])))
    return [option for some in options for option in some]


def expectations(env, path, arguments, codes, more=()):
    """The interpreter's results as test directives, where kernels may fail also its errors; or None and what it says otherwise.
    `codes`: of kernels that may fail. Of two codes either will do: which is met first is open."""
    lines = []
    for name, values in arguments.items():
        for argument in values:
            done = env.run(env.fclc, "run", "--target=interp", "--limit=0", *more, path, name, *argument.split())
            code = re.search(r"error\[(E05(?:0[1-7]|12))\]", done.stderr)
            if name in codes and done.returncode == 1 and code:
                either = set(codes[name])
                if len(either) == 2 and code[1] not in either:
                    return None, f"{name} fails with {code[1]}, and not with one of {codes[name]}\n{done.stderr}"
                lines.append(f'-- test {name} {argument} error "{code[1] if len(either) == 1 else "error[E05"}"')
                continue
            if done.returncode:
                return None, done.stderr
            parts = done.stdout.split()
            result = parts[0] if len(parts) == 1 else f"({','.join(parts)})"  # a tuple has a line for each component
            lines.append(f"-- test {name} {argument} == {result}")
    return lines, ""


def check_seed(env, seed, executors, more=(), fails=False, sanitized=False, has_options=False, made=None, quick=False):
    """What is wrong with this seed's program, as text; empty when all executors agree. What it has is counted in `made`."""
    generator = Generator(seed, fails)
    _, text = generator.program()
    more = [*more, *(options_of(seed, text) if has_options else [])]
    path = os.path.join(env.tmp(), f"seed{seed}.fcl")

    def write(text, name=path):
        with open(os.path.join(os.path.dirname(path), name), "w", encoding="utf-8") as file:
            file.write(text)
    for name, part in generator.files.items():
        write(part, name)
    if fails:  # without what is seen to be wrong before it runs, in whatever branch, and lengths that nobody can measure
        for name, part in generator.parts.items():
            write(generator.head() + part)
            if re.search(r"error\[E030[23]\]", env.run(env.fclc, "check", *more, path).stderr):
                del generator.arguments[name]
        text = generator.head() + "\n".join(generator.parts[name] for name in generator.arguments)
    write(text)
    lines, why = expectations(env, path, generator.arguments, generator.codes, more)
    if made is not None:
        made.update(generator.made)
        made["kernels"] += len(generator.arguments)
        made["runs"] += len(lines or [])
        made["runs that fail"] += sum(" error " in line for line in lines or [])
        made["programs with options"] += bool(more)
    if lines is None:
        return f"seed {seed}: the interpreter does not run it\n{why}\n{text}"
    write(text + "\n" + "\n".join(lines) + "\n")
    for executor in executors:
        extra = dict(variables(env, executor), **(SANITIZED if sanitized else QUICK if quick else {}))
        done = env.run(env.fclc, "test", *EXECUTORS[executor][0], *more, path, env=extra, timeout=300)
        counts = Counts.of_last_line(done.stdout)
        if done.returncode or not counts or counts.passed != len(lines):
            return f"seed {seed} on {executor} {' '.join(more)}: exit status {done.returncode}\n{done.stdout}{done.stderr}\n{text}"
        for line in lines:
            _, _, name, *argument = line.split(" error ")[0].split()
            if not line.endswith('error "error[E05"'):
                continue
            done = env.run(env.fclc, "run", *EXECUTORS[executor][0], *more, path, name, *argument, env=extra, timeout=300)
            code = re.search(r"error\[(E\d+)\]", done.stderr)
            if not code or code[1] not in generator.codes[name]:
                return f"seed {seed} on {executor}: {line} is none of {generator.codes[name]}\n{done.stderr}\n{text}"
    return ""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--fclc", default=os.path.join(ROOT, "build", "fclc"))
    options.add_argument("--executors", default="c,c-unoptimised,opencl-loop,opencl-simt,cuda-simulator,cuda-unoptimised")
    options.add_argument("--failing", action="store_true", help="programs that are to fail")
    options.add_argument("--options", action="store_true", help="each with options of its own")
    options.add_argument("--sanitized", action="store_true", help="C under AddressSanitizer")
    options.add_argument("--quick", action="store_true", help="C is compiled in less time, with -O1")
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("first", type=int)
    options.add_argument("last", type=int)
    chosen = options.parse_args()
    failed, made = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        env = Env(ROOT, os.path.dirname(os.path.abspath(chosen.fclc)), False, scratch)
        seeds = range(chosen.first, chosen.last + 1)
        with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
            def check(seed):
                return check_seed(env, seed, chosen.executors.split(","), (), chosen.failing, chosen.sanitized, chosen.options, made,
                                  chosen.quick)
            for problem in pool.map(check, seeds):
                failed += bool(problem)
                if problem:
                    print(problem, flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(made.items())))
    print(f"{chosen.last - chosen.first + 1 - failed} programs agree, {failed} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
