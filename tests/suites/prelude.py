"""docs/prelude.md: it is what docs/prelude.py prints, and every example in the sources gives its value on the executors of RUNS."""

import importlib.util
import os
import re
from executors import EXECUTORS, require, variables
from harness import Case, Counts

ORDER = 43
RUNS = ("interp", "c", "opencl-simt", "cuda-simulator")

WHOLE = """\
-- Title. Intro.

-- What f gives.
-- > f 1 ==> 1
sig f : int -> int
fun f x = x
-- > g 1 ==> 2
sig g : int -> int
fun g x = x + 1
"""

# What is changed in WHOLE, into what, and the line and beginning of what is said about it.
MISTAKES = [
    ("-- Title. Intro.\n", "", "1: the file does not begin with a comment"),
    ("-- What f gives.\n", "", "4: `f` has no docstring"),
    ("-- What f gives.\n-- > f 1 ==> 1\n", "", "3: `f` has no docstring"),
    ("-- > g 1 ==> 2\n", "", "7: `g` has no docstring"),
    ("-- > f 1 ==> 1\n", "", "4: `f` has no example"),
    ("-- > f 1 ==> 1\n", "-- > 1 ==> 1\n", "5: `f` has no example"),
    ("-- > f 1 ==> 1\n", "-- > f 1\n", "4: `f` has an example that is not"),
    ("sig g : int -> int\n", "", "8: `g` has no type"),
    ("-- > f 1 ==> 1\nsig", "-- > f 1 ==> 1\n\nsig", "6: `f` has no docstring"),
]


def generator(env):
    """The module docs/prelude.py."""
    spec = importlib.util.spec_from_file_location("prelude_page", env.path("docs", "prelude.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases(env):
    page = generator(env)
    sources = page.sources(env.root)

    def same():
        with open(env.path("docs", "prelude.md"), encoding="utf-8") as file:
            written = file.read()
        printed = page.page(env.fclc, sources)
        differ = [f"{line}: {a!r} is there instead of {b!r}" for line, (a, b) in
                  enumerate(zip(written.splitlines() + [None], printed.splitlines() + [None]), 1) if a != b]
        assert written == printed, f"run docs/prelude.py --write; line {differ[0] if differ else 'ends differ'}"
    yield Case("docs/prelude.md is what docs/prelude.py prints", same)

    def links():
        known = {page.Anchors().of(line.lstrip("# ")) for line in page.page(env.fclc, sources).splitlines() if line.startswith("#")}
        with open(env.path("docs", "language.md"), encoding="utf-8") as file:
            wanted = re.findall(r"\]\(prelude\.md#([^)]*)\)", file.read())
        broken = [anchor for anchor in wanted if anchor not in known]
        assert wanted and not broken, f"links of docs/language.md to no heading of docs/prelude.md: {broken}"
    yield Case("docs/language.md links to sections of docs/prelude.md", links)

    def mistakes():
        assert not page.Source("x.fcl", WHOLE).problems, page.Source("x.fcl", WHOLE).problems
        for old, new, wanted in MISTAKES:
            assert old in WHOLE, old
            got = page.Source("x.fcl", WHOLE.replace(old, new)).problems
            assert any(problem.startswith("x.fcl:" + wanted) for problem in got), f"{old!r} to {new!r}: got {got}, not {wanted}"
    yield Case("docs/prelude.py says what is missing", mistakes)

    for source in sources:
        program = page.program(source)
        for executor in RUNS:
            yield Case(f"{source.path} examples on {executor}",
                       lambda source=source, program=program, executor=executor: run(env, source, program, executor))


def run(env, source, program, executor):
    """A kernel is named after its example's line in the source."""
    require(env, executor)
    wanted = sum(len(entry.examples) for entry in source.entries)
    assert wanted, "no examples"
    path = os.path.join(env.tmp(), "examples.fcl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    done = env.run(env.fclc, "test", *EXECUTORS[executor][0], path, env=variables(env, executor), timeout=300)
    counts = Counts.of_last_line(done.stdout)
    assert counts, f"no counts, exit status {done.returncode}\n{done.stdout}{done.stderr}{program}"
    assert counts.failed or counts.passed == wanted, f"{counts.passed} of {wanted} ran\n{done.stdout}{done.stderr}{program}"
    assert "warning[" not in done.stderr, done.stderr
    counts.output += done.stderr
    return counts
