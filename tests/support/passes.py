#!/usr/bin/env python3
"""The list of passes of compiler/ir/passes/passes.def, and its table in docs/ARCHITECTURE.md.

`--write` writes the table anew; the figures of its rows stay as they are. With `--figures`, too, they are counted anew:
for CUDA and for C, how many of the programs of examples/ and benchmarks/fcl/ a pass changes, and how many changes it
makes in all, as `fclc --stats` says. Without options the table is printed."""
import argparse
import collections
import glob
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "ARCHITECTURE.md")
HEAD = "| pass | for | from -O | what it does | CUDA | C |\n|---|---|---|---|---|---|\n"
NONE = "0 / 0"
Row = collections.namedtuple("Row", "name machines level what is_step")
# Some machines of a kind alone have these, and which: enum pass_needs of compiler/ir/passes/passes.h.
SOME = {"FOR_FENCES": "CUDA, HIP", "FOR_ORDERED": "CUDA, HIP", "FOR_PIECES": "CUDA, HIP", "FOR_COUNTED": "CUDA"}


def machines(needs):
    kind = "loops" if "FOR_LOOPS" in needs else "threads" if "FOR_THREADS" in needs else "all"
    some = [SOME[need] for need in needs if need in SOME]
    return f"{kind} ({some[0]})" if some else kind


def rows():
    """Every pass and step, in the order in which they run."""
    with open(os.path.join(ROOT, "compiler", "ir", "passes", "passes.def"), encoding="utf-8") as file:
        text = file.read().split("*/", 1)[1]
    found = re.findall(r'^(PASS|STEP)\(\w+, "([\w-]+)", (\d), ([\w |]+),\s+"([^"]*)"', text, re.M)
    assert len(found) == len(re.findall(r"^(?:PASS|STEP)\(", text, re.M)), "a row that cannot be read"
    return [Row(name, machines(needs.split(" | ")), level, what, kind == "STEP")
            for kind, name, level, needs, what in found]


def names():
    return [row.name for row in rows()]


def figures_there():
    """{pass: its figures} of the table as it is."""
    with open(PAGE, encoding="utf-8") as file:
        return {name: (cuda, c) for name, cuda, c in re.findall(
            r"^\| `([\w-]+)` \| [^|]* \| \d \| [^|]* \| ([^|]*) \| ([^|]*) \|$", file.read(), re.M)}


def count(fclc, target):
    """{pass: its figures} for that target."""
    programs, changes = collections.Counter(), collections.Counter()
    for path in sorted(glob.glob(os.path.join(ROOT, "examples", "*", "*.fcl")) +
                       glob.glob(os.path.join(ROOT, "benchmarks", "fcl", "*.fcl"))):
        said = subprocess.run([fclc, "--stats", f"--target={target}", path], capture_output=True, text=True, check=True)
        for often, name in re.findall(r"^ *(\d+)  ([\w-]+)", said.stdout, re.M):
            programs[name] += int(often) > 0
            changes[name] += int(often)
    return {name: f"{programs[name]} / {changes[name]:,}" for name in names()}


def table(figures):
    """The table with those figures: {pass: (for CUDA, for C)}."""
    text = HEAD
    for row in rows():
        cuda, c = figures.get(row.name, (NONE, NONE))
        text += f"| `{row.name}` | {row.machines} | {row.level} | {row.what} | {cuda} | {c} |\n"
    return text


def in_page(text):
    """The table of a page."""
    begin = text.index(HEAD)
    return text[begin:text.index("\n\n", begin) + 1]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--fclc", default=os.path.join(ROOT, "build", "fclc"))
    options.add_argument("--write", action="store_true")
    options.add_argument("--figures", action="store_true")
    given = options.parse_args()
    figures = figures_there()
    if given.figures:
        cuda, c = count(given.fclc, "cuda"), count(given.fclc, "c")
        figures = {name: (cuda[name], c[name]) for name in names()}
    if not given.write:
        print(table(figures), end="")
        return
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text.replace(in_page(text), table(figures)))


if __name__ == "__main__":
    main()
