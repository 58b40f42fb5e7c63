#!/usr/bin/env python3
"""Compare all executors with the interpreter on random programs.

usage: tests/fuzz/run.py [--fclc PATH] [--executors c,…] [--failing] [--options] [--sanitized] [--quick]
                         [--together N] [--only FORM] [--checks half|all|none] [--jobs N]
                         FIRST LAST   seeds, both included

With --failing kernels do wrong what there is an error for, and the executors agree on its code. With --sanitized the
code of C runs under AddressSanitizer and UBSan, whether fclc is built so (build-asan/fclc) or not; with --quick other
compilers optimise nothing, which takes them a third of the time: that looks at fclc's code, not at what they make of
it. With --options each program has options of its own: sizes of blocks and grids, --unroll, --large, values
of params. The interpreter checks always; executors check half of the files, all or none (--checks), but all with
--failing: what they do without checks is other code.
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
from harness import QUICK, Counts, Env  # noqa: E402


UNOPTIMISED = dict(QUICK, FCL_CC_OPTIONS="-O0", FCL_CACHE="0")


def sanitized_variables(env):
    """What makes C run under sanitizers, also in an fclc that is built without: their library is there first."""
    library = env.must("gcc", "-print-file-name=libasan.so").strip()
    return {"FCL_CC": "gcc -fsanitize=address,undefined", "FCL_CACHE": "0", "LD_PRELOAD": library}


def options_of(seed, text):
    """Options of fclc for a program, by which no executor's result changes alone."""
    source = random.Random(f"options {seed}")
    options = [source.choice(([], [f"--block-size={source.choice((1, 32, 33, 64, 1024))}"])),
               source.choice(([], [f"--grid-size={source.choice((1, 2, 7))}"])),
               source.choice(([], [f"--unroll={source.choice((0, 1, 3, 64))}"])),
               source.choice(([], [f"--large={source.choice((1, 3, 64))}"]))]
    for param in re.findall(r"^param (\w+)", text, re.M):
        options.append(source.choice(([], [f"-D{param}={source.choice((3, 16, 32, 33))}"])))
    return [option for some in options for option in some]


def results(env, path, lines, more=()):
    """What each line `KERNEL ARGUMENT…` gives in the interpreter, or `error: E…`, by one process for all.

    None where that ends early."""
    done = env.run(os.path.join(env.root, "build", "tests", "results"), os.path.realpath(env.fclc), "--target=interp",
                   "--limit=0", *more,
                   "run", path, "none", input="".join(line + "\n" for line in lines))
    found = done.stdout.splitlines()
    return found if done.returncode == 0 and len(found) == len(lines) else None


def expectations(env, path, arguments, codes, more=()):
    """The interpreter's results as test directives, where kernels may fail also its errors; or None and what it says
    otherwise. `codes`: of kernels that may fail. Of two codes either will do: which is met first is open."""
    calls = [f"{name} {argument}" for name, values in arguments.items() for argument in values]
    found = results(env, path, calls, more)
    if found is None:
        return None, "it does not run all of these, or the program does not check:\n" + "\n".join(calls)
    lines = []
    for call, result in zip(calls, found):
        code, either = result.removeprefix("error: "), codes.get(call.split()[0], ())
        if code == result:
            lines.append(f"-- test {call} == {result}")
        elif not either or len(either) == 2 and code not in either or not re.fullmatch("E05(0[1-7]|12)", code):
            return None, f"{call}: {code}, and not one of {either}"
        else:
            lines.append(f'-- test {call} error "{code if len(either) == 1 else "error[E05"}"')
    return lines, ""


def checks_of(seeds, checks, fails):
    """Whether executors check what they run of these seeds: a file's seeds keep that when they are run one by one."""
    return fails or checks == "all" or checks == "half" and random.Random(f"checks {seeds[0]}").randrange(2) == 0


def check_seeds(env, seeds, executors, made, checks="half", **options):
    """What is wrong with the programs of these seeds: of each its own text, or of all where together they fail and
    none does alone. They are one file, since most of what a program takes is the start of compilers."""
    options["checked"] = checks_of(seeds, checks, options.get("fails"))
    if len(seeds) > 1:
        counted = collections.Counter()
        problem = check_file(env, seeds, executors, counted, **options)
        if not problem:
            made.update(counted)
            return []
    problems = [found for found in (check_file(env, [seed], executors, made, **options) for seed in seeds) if found]
    return problems or ([problem] if len(seeds) > 1 else [])


def check_seed(env, seed, executors, checks="half", **options):
    """What is wrong with this seed's program, as text; empty when all executors agree."""
    return check_file(env, [seed], executors, collections.Counter(),
                      checked=checks_of([seed], checks, options.get("fails")), **options)


def check_file(env, seeds, executors, made, fails=False, sanitized=False, has_options=False, quick=False, only=None,
               checked=True):
    """What is wrong with the programs of these seeds, as one file; empty when all executors agree. What they have is
    counted in `made`."""
    generators = [Generator(seed, fails, f"_{i}" if len(seeds) > 1 else "", only) for i, seed in enumerate(seeds)]
    text = "\n".join(generator.program()[1] for generator in generators)
    parts, arguments, codes, head = {}, {}, {}, ""
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]} together"
    more = options_of(seeds[0], text) if has_options else []
    path = os.path.join(env.tmp(), f"seed{seeds[0]}.fcl")

    def write(text, name=path):
        with open(os.path.join(os.path.dirname(path), name), "w", encoding="utf-8") as file:
            file.write(text)
    for generator in generators:
        for name, part in generator.files.items():
            write(part, name)
        head += generator.head()
        parts.update(generator.parts)
        arguments.update(generator.arguments)
        codes.update(generator.codes)
    # Without lengths that nobody can measure, and in those that fail without what is seen to be wrong, in whatever
    # branch.
    write(head + "\n".join(parts.values()))
    refused = re.compile(r"error\[E0(30[23]|50[456])\]" if fails
                         else r"error\[E0302\]: the length of the last chunk depends on data")
    levels = {"-O0" if "-O0" in EXECUTORS[executor][0] else "-O1" for executor in executors} or {"-O1"}

    def is_refused():
        return any(refused.search(env.run(env.fclc, "check", level, *more, path).stderr) for level in levels)
    for name, part in parts.items() if is_refused() else ():
        write(head + part)
        if is_refused():
            del arguments[name]
    text = head + "\n".join(parts[name] for name in arguments)
    write(text)
    lines, why = expectations(env, path, arguments, codes, more)
    for generator in generators:
        made.update(generator.made)
    made["kernels"] += len(arguments)
    made["kernels refused"] += len(parts) - len(arguments)
    made["runs"] += len(lines or [])
    made["runs that fail"] += sum(" error " in line for line in lines or [])
    made["programs with options"] += bool(more)
    made["programs without checks"] += 0 if checked else len(generators)
    if lines is None:
        return f"{which}: the interpreter does not run it\n{why}\n{text}"
    write(text + "\n" + "\n".join(lines) + "\n")
    for executor in executors:
        more_variables = sanitized_variables(env) if sanitized else UNOPTIMISED if quick else {}
        extra = dict(variables(env, executor), **more_variables)
        check = ["--check" if checked else "--check=none"]  # what is to fail is checked anyway
        try:
            done = env.run(env.fclc, "test", *EXECUTORS[executor][0], *more, *check, path, env=extra, timeout=600)
        except AssertionError as problem:  # it takes too long
            return f"{which} on {executor}: {problem}\n{text}"
        counts = Counts.of_last_line(done.stdout)
        if done.returncode or not counts or counts.passed != len(lines):
            return (
                f"{which} on {executor} {' '.join(more + check)}: exit status"
                f" {done.returncode}\n{done.stdout}{done.stderr}\n{text}"
            )
        for line in lines:
            _, _, name, *argument = line.split(" error ")[0].split()
            if not line.endswith('error "error[E05"'):
                continue
            done = env.run(env.fclc, "run", *EXECUTORS[executor][0], *more, path, name, *argument, env=extra,
                           timeout=300)
            code = re.search(r"error\[(E\d+)\]", done.stderr)
            if not code or code[1] not in codes[name]:
                return f"{which} on {executor}: {line} is none of {codes[name]}\n{done.stderr}\n{text}"
            done = env.run(env.fclc, "run", "--check=memory", *EXECUTORS[executor][0], *more, path, name, *argument,
                           env=extra, timeout=300)
            # A place that is written twice is a race, which the simulator finds: `memory` does not promise to.
            is_race = "E0505" in codes[name] and "race on" in done.stderr
            if not is_race and (done.returncode not in (0, 1) or "Sanitizer" in done.stderr):
                return f"{which} on {executor} --check=memory: {line}: {done.returncode}\n{done.stderr}\n{text}"
    return ""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--fclc", default=os.path.join(ROOT, "build", "fclc"))
    options.add_argument(
        "--executors", default="c,c-unoptimised,opencl-loop,opencl-simt,cuda-simulator,cuda-unoptimised"
    )
    options.add_argument("--failing", action="store_true", help="programs that are to fail")
    options.add_argument("--options", action="store_true", help="each with options of its own")
    options.add_argument("--sanitized", action="store_true", help="C under AddressSanitizer and UBSan")
    options.add_argument("--quick", action="store_true", help="other compilers optimise nothing")
    options.add_argument("--only", metavar="FORM",
                         help="all kernels are of that form: updated, stepped, shaped, whole, several …")
    options.add_argument("--checks", choices=("half", "all", "none"), default="half",
                         help="which files executors check, without --failing")
    options.add_argument("--together", type=int, default=5, help="so many programs are one file, but with --options")
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("first", type=int)
    options.add_argument("last", type=int)
    chosen = options.parse_args()
    if chosen.failing and chosen.only:  # not every form has a place for each fault
        options.error("--failing and --only do not go together")
    failed, made = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        env = Env(ROOT, os.path.dirname(os.path.abspath(chosen.fclc)), False, scratch)
        size = 1 if chosen.options else chosen.together
        groups = [range(first, min(first + size, chosen.last + 1))
                  for first in range(chosen.first, chosen.last + 1, size)]
        with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
            def check(seeds):
                return check_seeds(env, seeds, chosen.executors.split(","), made, checks=chosen.checks,
                                   fails=chosen.failing, sanitized=chosen.sanitized,
                                   has_options=chosen.options, quick=chosen.quick, only=chosen.only)
            for problems in pool.map(check, groups):
                failed += len(problems)
                for problem in problems:
                    print(problem, flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(made.items())))
    print(f"{chosen.last - chosen.first + 1 - failed} programs agree, {failed} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
