#!/usr/bin/env python3
"""Print tests/README.md: what the folders hold, and which tests each primitive and each pass has.

usage: tests/support/test_index.py [--write]

A test of a primitive is a program that names it: of those, the ones that do so most, for their
length. A primitive that the prelude alone names is tested through the functions that name it.
A test of a pass says so in a comment, `-- Pass: tidy, sink.`, and that it changes what becomes of
the program is checked by the suite `source`.
"""

import argparse
import collections
import glob
import os
import passes
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join("tests", "README.md")
MOST = 3  # tests of a primitive that are shown
TOKEN = re.compile(r"[A-Za-z_][\w']*|[-+*/%&|^~<>=!.]+")
BEGIN = "<!-- From here on support/test_index.py writes this page. -->\n"


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def code(text):
    """A program without its comments and strings."""
    return re.sub(r'--[^\n]*|"[^"\n]*"|\(\*(?!\)).*?\*\)', " ", text, flags=re.S)


def sources():
    """{path: text} of the programs with test directives."""
    places = (("tests", "run", "*.fcl"), ("tests", "run", "*", "*.fcl"), ("examples", "*", "*.fcl"))
    paths = [path for place in places for path in sorted(glob.glob(os.path.join(ROOT, *place)))]
    return {os.path.relpath(path, ROOT): read(path) for path in paths}


def in_suites():
    """(path, programs): what suites write themselves."""
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "suites", "*.py"))):
        programs = re.findall(r'"""(kernel .*?)"""', read(path), re.S)
        if programs:
            yield os.path.relpath(path, ROOT), "\n".join(programs)


def primitives():
    """Their names, in the order of the table."""
    row = r'^(?:PRIM|SCALAR|FUNCTION|MATH)\(\w+, "([^"]*)"'
    return re.findall(row, read("compiler", "types", "primitives.def"), re.M)


def users_in_prelude():
    """{name: the functions of the prelude whose definitions have it, and the primitives that are made of it}."""
    users = collections.defaultdict(set)
    for path in sorted(glob.glob(os.path.join(ROOT, "prelude", "*.fcl"))):
        definitions = re.split(r"^(?=(?:fun|val|sig|param|type)\b)", code(read(path)), flags=re.M)
        for text in definitions:
            head = re.match(r"(?:fun|val)\s+([\w']+)", text)
            for name in set(TOKEN.findall(text)) if head else ():
                users[name].add(head[1])
    names = dict(re.findall(r'^PRIM\((\w+), "([^"]*)"', read("compiler", "types", "primitives.def"), re.M))
    plans = read("compiler", "elaborate", "plans.def")
    for function, use in re.findall(r'^PLAN\(\w+, "(\w+)", (\w+)\)', plans, re.M):
        users[function] |= {names[row] for row in re.findall(rf"^PLANNED\((\w+), {use}\)", plans, re.M)}
    return users


def tests_of_primitives():
    """(primitive, the function of the prelude that names it or None, paths): one for each."""
    tests = [(path, text) for path, text in sources().items() if path.startswith("tests")]
    counts = {path: collections.Counter(TOKEN.findall(code(text)))
              for path, text in [*tests, *in_suites()]}

    def naming(name):
        found = [path for path, count in counts.items() if count[name]]
        return sorted(found, key=lambda path: (-counts[path][name] / counts[path].total(), path))

    users = users_in_prelude()
    for name in primitives():
        through, paths, seen, waiting = None, naming(name), {name}, [name]
        while not paths and waiting:  # the functions that name it, then those that name these
            waiting = sorted({user for one in waiting for user in users[one]} - seen)
            seen |= set(waiting)
            known = ((user, naming(user)) for user in waiting if naming(user))
            through, paths = next(known, (None, []))
        yield name, through, paths


def tests_of_passes():
    """{pass: the paths of the programs that say it}."""
    found = collections.defaultdict(list)
    for path, text in sources().items():
        for line in re.findall(r"^-- Pass: (.*)\.$", text, re.M):
            for name in line.split(", "):
                found[name].append(path)
    return found


def page():
    text = read(PAGE).partition(BEGIN)[0] + BEGIN + "\n## Passes\n\n| pass | tests |\n|---|---|\n"
    tests = tests_of_passes()
    for name in passes.names():
        text += f"| `{name}` | {', '.join(link(path) for path in tests[name])} |\n"
    text += "\n## Primitives\n\n| primitive | tests |\n|---|---|\n"
    for name, through, paths in tests_of_primitives():
        shown = name.replace("|", "\\|")
        text += f"| `{shown}` | {f'by `{through}`: ' if through else ''}"
        text += ", ".join(link(path) for path in paths[:MOST]) + " |\n"
    return text


def rows_of(text):
    """The rows of the tables after the head: (name, the rest)."""
    shown = text.split("\n## Passes\n")[-1]
    return re.findall(r"^\| `([^`]*)` \| (.*) \|$", shown, re.M)


def wrong_in(text):
    """What is wrong in a page, or None: it has all rows, and the tests in them name what they are for. Others may do
    so, too."""
    wanted, there = rows_of(page()), rows_of(text)
    if BEGIN not in text or [name for name, _ in wanted] != [name for name, _ in there]:
        return "a primitive or a pass is missing, or is there no longer"
    for name, tests in there:
        plain = name.replace("\\|", "|")
        by = re.match(r"by `([^`]*)`: ", tests)
        for target in re.findall(r"\]\(([^)]*)\)", tests):
            path = os.path.normpath(os.path.join("tests", target))
            if not os.path.exists(os.path.join(ROOT, path)):
                return f"{path} is not there"
            words = TOKEN.findall(code(read(path))) if path.endswith(".fcl") else TOKEN.findall(read(path))
            if (by[1] if by else plain) not in words and not re.search(rf"^-- Pass: .*\b{re.escape(plain)}\b",
                                                                       read(path), re.M):
                return f"{path} does not name {plain}"
    return None


def link(path):
    below = path.removeprefix("tests/")
    name = os.path.splitext(os.path.basename(path))[0]
    return f"[{name}]({below if below != path else '../' + path})"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="write the page, don't print it")
    chosen = options.parse_args()
    text = page()
    if chosen.write:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
