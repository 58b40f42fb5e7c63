#!/usr/bin/env python3
"""Count the checks that are left in code with --check, or with another --degree: instructions of the optimised IR for
CUDA, of the programs of examples, benchmarks/fcl and benchmarks/suites, by kind; with --programs also by program, the
most first. What proofs leave is counted, without the pass ask-before: it asks some of these before a loop, and keeps a
copy of the loop that has them."""

import argparse
import collections
import glob
import os
import re
import subprocess

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def programs():
    patterns = ("examples/**/*.fcl", "benchmarks/fcl/*.fcl", "benchmarks/suites/*.fcl")
    found = {path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern), recursive=True)}
    return sorted(os.path.relpath(path, ROOT) for path in found)


def left_in(fclc, degree, program):
    """How many of each message."""
    command = [fclc, "--dump=ir-opt", f"--check={degree}", "--target=cuda", "--skip=ask-before",
               os.path.join(ROOT, program)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return collections.Counter(re.findall(r"^ *check .*?\((.*)\)$", text, re.MULTILINE))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fclc", default=os.path.join(ROOT, "build", "fclc"))
    parser.add_argument("--programs", action="store_true", help="also how many each program has")
    parser.add_argument("--degree", choices=("none", "memory", "all"), default="all", help="of --check")
    options = parser.parse_args()
    left = {program: left_in(options.fclc, options.degree, program) for program in programs()}
    kinds = sum(left.values(), collections.Counter())
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    print(f"{kinds.total():6} in {len(left)} programs")
    for program in sorted(left, key=lambda program: -left[program].total()) if options.programs else ():
        print(f"{left[program].total():6} {program}")


if __name__ == "__main__":
    main()
