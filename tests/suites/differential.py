"""Every function of the prelude and of the library against a plain one in Python, on every executor, at awkward
lengths.

The table of tests/support/differential has a row for each function, type and operator; a new function needs a row
there that runs on every executor."""

import re
from differential import BOUNDED, EVERY, MILLION, TABLE
from differential.running import run
from harness import Case

ORDER = 46
SHORT = ("interp", "c", "cuda-simulator")
# Eight seconds and more, where another executor has the rows, and `run` programs of the same functions.
LONG_HERE = ("whole sorts on interp", "sorts on interp", "nn on interp", "matrix on interp", "random on interp",
             "whole sorts on cuda-simulator", "whole on cuda-simulator", "push on cuda-simulator",
             "matrix on cuda-simulator", "nn on cuda-simulator", "sorts on cuda-simulator")


def complete(env, page, rows):
    """Every function of a page of the documentation has a row on every executor, and every row is of such functions."""
    with open(env.path("docs", page), encoding="utf-8") as file:
        functions = set(re.findall(r"^(\w+) : ", file.read(), re.MULTILINE))
    assert len(functions) > 90
    tested = {executor: {name for entry in rows if executor in entry.executors for name in entry.names}
              for executor in EVERY}
    problems = [f"no row on {executor}: {', '.join(sorted(functions - names))}" for executor, names in tested.items()
                if functions - names]
    unknown = set().union(*tested.values()) - functions
    problems += [f"no function: {', '.join(sorted(unknown))}"] if unknown else []
    assert not problems, "\n".join(problems)


def reaches(rows):
    """Every function has a row that a long run computes with a million elements everywhere."""
    reached = {name for entry in rows for name in entry.names
               if entry.executors == EVERY and any(length == MILLION for length, _ in entry.tests + entry.long)}
    short = {name for entry in rows for name in entry.names} - reached - BOUNDED
    assert not short, f"short only: {', '.join(sorted(short))}"


def cases(env):
    for page, rows in (("prelude.md", [entry for entry in TABLE if not entry.library]),
                       ("library.md", [entry for entry in TABLE if entry.library])):
        yield Case(f"every function of {page} has a row on every executor", lambda page=page,
                   rows=rows: complete(env, page, rows))

    yield Case("every function has a row of a million elements", lambda: reaches(TABLE))

    groups = {}
    for entry in TABLE:
        groups.setdefault(entry.group, []).append(entry)
    for group, rows in groups.items():
        folder = env.tmp()
        for executor in [executor for executor in EVERY if any(executor in entry.executors for entry in rows)]:
            # OpenCL has the mapping of C, or that of CUDA, and unoptimised code is what the optimiser is given: `run`
            # has them always.
            yield Case(f"{group} on {executor}", lambda rows=rows, folder=folder,
                       executor=executor: run(env, rows, folder, executor),
                       long=executor not in SHORT or f"{group} on {executor}" in LONG_HERE,
                       thorough=executor == "interp")
