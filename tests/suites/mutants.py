"""tests/mutants: the rules make what they say, the lists name lines that there are, and a fault that
tests notice is noticed."""

import importlib.util
import os
import sys
from harness import Case

ORDER = 57
SAMPLE = """static bool is_small(int x, int y) { /* x < y */
    if (x < y && y != 3)
        return true;
    if (x)
        put(x, y);
    sum += min(x, y) - 1;
    less(x + y);
    return false;
}
"""
MADE = {
    ("a comparison turned", "if (x <= y && y != 3)"),
    ("a comparison turned", "if (x < y && y == 3)"),
    ("a condition dropped", "if (x < y)"),
    ("an if turned", "if (!(x))"),
    ("the other truth", "return false;"),
    ("the other truth", "return true;"),
    ("a call left out", ";"),
    ("operands swapped", "put(y, x);"),
    ("operands swapped", "sum += min(y, x) - 1;"),
    ("off by one", "sum += min(x, y);"),
    ("the other extreme", "sum += max(x, y) - 1;"),
    ("a sum turned", "less(x - y);"),
    ("an update turned", "sum -= min(x, y) - 1;"),
}


def load(env, name):
    spec = importlib.util.spec_from_file_location(
        "mutants_" + name, env.path("tests", "mutants", name + ".py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases(env):
    def rules():
        made = {
            (fault.rule, fault.new_line) for fault in load(env, "faults").faults("sample.c", SAMPLE)
        }
        assert made == MADE, f"missing: {MADE - made}, too many: {made - MADE}"

    yield Case("each rule makes its faults", rules)

    def lists():
        run = load(env, "run")
        assert list(run.known_faults())
        for path, old, _ in run.listed("equivalent.txt"):
            path, _, before = path.partition(" after: ")
            with open(env.path(path), encoding="utf-8") as file:
                lines = [" ".join(line.split()) for line in file]
            pairs = zip(["", *lines], lines)
            assert any(line == old and before in ("", first) for first, line in pairs), f"{path}: no line is `{old}`"

    yield Case("what is listed is in the sources", lists)

    def noticed():
        folder = os.path.join(env.tmp(), "mutants")
        said = env.must(
            sys.executable,
            env.path("tests", "mutants", "run.py"),
            "--folder",
            folder,
            "--count",
            "0",
            "--only",
            "join(p->arena, state, &other);",
        )
        assert (
            "killed by run: tests/run/language/block_branches.fcl" in said and "known: 1 of 1 killed" in said
        ), said

    yield Case("a barrier that is left out is noticed", noticed, long=True)  # it builds the compiler once more
