#!/usr/bin/env python3
"""The layout of our own programs: those of prelude, lib, examples and benchmarks, and those in the pages, in blocks
```fcl, but not where one is wrong on purpose. Prints the places of those that `fclc fmt` would lay out otherwise; with
--write they are. A block that is no program stays as it is, too.

usage: tests/support/layout.py [--fclc PROGRAM] [--write]
"""

import argparse
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("prelude", "lib", "examples", "benchmarks")
BLOCK = re.compile(r"^```fcl\b(?! wrong| error)[^\n]*\n(.*?)^```$", re.M | re.S)


def laid_out(fclc, program):
    """The program as fclc lays it out; as it is if it is none."""
    done = subprocess.run([fclc, "fmt", "--stdin"], input=program, capture_output=True, text=True, check=False)
    return program if done.returncode else done.stdout


def pages():
    found = glob.glob(os.path.join(ROOT, "docs", "*.md")) + glob.glob(os.path.join(ROOT, "examples", "**", "*.md"),
                                                                      recursive=True)
    return sorted(found) + [os.path.join(ROOT, "README.md")]


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def other_pages(fclc):
    """(path, the page as it would be) of each page with a program that is laid out otherwise."""
    for path in pages():
        text = read(path)
        new = BLOCK.sub(lambda m: m[0].replace(m[1], laid_out(fclc, m[1])) if m[1] else m[0], text)
        if new != text:
            yield path, new


def programs():
    return sorted(path for folder in FOLDERS
                  for path in glob.glob(os.path.join(ROOT, folder, "**", "*.fcl"), recursive=True))


def other_programs(fclc):
    done = subprocess.run([fclc, "fmt", "--check", *programs()], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    return done.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fclc", default=os.path.join(ROOT, "build", "fclc"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    files, texts = other_programs(options.fclc), list(other_pages(options.fclc))
    if options.write:
        if files:
            subprocess.run([options.fclc, "fmt", *files], check=True)
        for path, text in texts:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
    for path in files + [path for path, _ in texts]:
        print(os.path.relpath(path, ROOT))
    return 0 if options.write or not (files or texts) else 1


if __name__ == "__main__":
    sys.exit(main())
