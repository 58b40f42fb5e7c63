"""docs/prelude.md and docs/library.md: they are what docs/prelude.py prints, and every example in the sources gives
its value on the executors of RUNS."""

import importlib.util
import os
import re
from executors import EXECUTORS, require, variables
from harness import Case, Counts

ORDER = 43
REFERENCE = ("guide.md", "language.md", "primitives.md")
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

-- > fst (1, 2) ==> 1
-- primitive fst
"""

# Words that others have for functions, which share a docstring.
OTHER_NAMES = """\
-- Title.

-- What is given.
-- > id 1 ==> 1
-- also: same, <itself>
sig id : a -> a
fun id x = x
-- > const 1 2 ==> 1
-- also: first
sig const : a -> b -> a
fun const x _ = x
"""

# A file without functions, and the end of a page about it.
SECTIONS = """\
-- Title: intro.

-- ---- more ----

-- Said of the
-- section.

-- Said of t.
type t = int -- not this

-- Said of both.
param p : int = 1 in {1, 2} -- nor this
param q : int = 3
"""
PRINTED = """\
## Title: more

```text
import "absent"
```

In [lib/absent.fcl](../lib/absent.fcl).

Intro.

Said of the section.

### t

```text
type t = int
```

Said of t.

### p, q

```text
param p : int = 1 in {1, 2}
param q : int = 3
```

Said of both.
"""

# A change of WHOLE, from what, into what, and the line and beginning of what is said about it.
MISTAKES = [
    ("-- Title. Intro.\n", "", "1: the file does not begin with a comment"),
    ("-- What f gives.\n", "", "4: `f` has no docstring"),
    ("-- What f gives.\n-- > f 1 ==> 1\n", "", "3: `f` has no docstring"),
    ("-- > g 1 ==> 2\n", "", "7: `g` has no docstring"),
    ("-- > f 1 ==> 1\n", "", "4: `f` has no example"),
    ("-- > f 1 ==> 1\n", "-- > 1 ==> 1\n", "5: `f` has no example"),
    ("-- > f 1 ==> 1\n", "-- > f 1\n", "5: `f` has an example that is not"),
    ("sig g : int -> int\n", "", "8: `g` has no type"),
    ("-- > g 1 ==> 2\n", "val h = 1\n", "7: `h` has no type"),
    ("-- > g 1 ==> 2\n", "type t = int\n", "7: `t` has no docstring"),
    ("-- > f 1 ==> 1\nsig", "-- > f 1 ==> 1\n\nsig", "6: `f` has no docstring"),
    ("-- > fst (1, 2) ==> 1\n", "", "11: `fst` has no example"),
]


def generator(env):
    """The module docs/prelude.py."""
    spec = importlib.util.spec_from_file_location("prelude_page", env.path("docs", "prelude.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs(env):
    """(path of the source, program of its examples) of every file of the prelude and of the library."""
    module = generator(env)
    return [(source.path, module.program(page, source)) for page in module.PAGES
            for source in module.sources(env.fclc, page, env.root)]


def cases(env):
    module = generator(env)
    def headings(text):
        anchors = module.Anchors()
        outside_code = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        return {anchors.of(line.lstrip("# ")) for line in outside_code.splitlines() if line.startswith("#")}

    def table():
        difference = module.differs(env.path(module.PRIMITIVES), module.primitives_page(env.fclc))
        assert not difference, difference
    yield Case(f"{module.PRIMITIVES} ends with what docs/prelude.py prints", table)

    for page in module.PAGES:
        sources = module.sources(env.fclc, page, env.root)

        def same(page=page, sources=sources):
            assert sources, f"nothing in {page.folder}/"
            difference = module.differs(env.path(page.path), module.text_of(page, sources))
            assert not difference, difference
        yield Case(f"{page.path} is what docs/prelude.py prints", same)

        def links(page=page, sources=sources):
            printed = module.text_of(page, sources)
            known = headings(printed)
            for name in REFERENCE:
                with open(env.path("docs", name), encoding="utf-8") as file:
                    there = file.read()
                wanted = re.findall(r"\]\(%s#([^)]*)\)" % re.escape(os.path.basename(page.path)), there)
                broken = [anchor for anchor in wanted if anchor not in known]
                assert not broken, f"links of docs/{name} to no heading of {page.path}: {broken}"
                wanted = re.findall(r"\]\(%s#([^)]*)\)" % re.escape(name), printed)
                broken = [anchor for anchor in wanted if anchor not in headings(there)]
                assert not broken, f"links of {page.path} to no heading of docs/{name}: {broken}"
        yield Case(f"the reference and {page.path} link to each other's sections", links)

        for source in sources:
            program = module.program(page, source)
            for executor in RUNS:
                yield Case(f"{source.path} examples on {executor}",
                           lambda source=source, program=program,
                           executor=executor: run(env, source, program, executor),
                           long="opencl" in executor)  # whose mapping is that of CUDA

    def read(path, text):
        """A file of that path with this text, as the pages see it."""
        folder = env.tmp()
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        env.written(path, text, folder)
        return module.read(env.fclc, [path], folder)[path]

    def mistakes():
        assert not read("x.fcl", WHOLE).problems, read("x.fcl", WHOLE).problems
        for old, new, wanted in MISTAKES:
            assert old in WHOLE, old
            got = read("x.fcl", WHOLE.replace(old, new)).problems
            assert any(problem.startswith("x.fcl:" + wanted)
                       for problem in got), f"{old!r} to {new!r}: got {got}, not {wanted}"
    yield Case("docs/prelude.py says what is missing", mistakes)

    def primitives():
        said = module.primitives()
        assert (
            len(said) > 60
            and said["fst"] == "The first of a pair. See [Functions and pairs](primitives.md#functions-and-pairs)."
        ), said
        try:
            module.text_of(module.PAGES[0], [read("x.fcl", WHOLE.replace("fst", "first"))])
        except module.Problem as problem:
            assert "no primitives of the reference: first" in str(problem), problem
        else:
            raise AssertionError("nothing is said about a primitive that there is not")
    yield Case("docs/prelude.py knows the primitives", primitives)

    def whole():
        text = module.text_of(module.PAGES[-1], [read("lib/absent.fcl", SECTIONS)])
        assert text.endswith(PRINTED), text
        text = module.text_of(module.PAGES[0], [read("x.fcl", OTHER_NAMES)])
        assert "### id, const\n\n<!-- also: same, <itself>, first -->\n\n```" in text and text.count("also:") == 1, text
    yield Case("docs/prelude.py prints sections, types and params", whole)


def run(env, source, program, executor):
    """A kernel is named after its example's line in the source."""
    require(env, executor)
    wanted = sum(len(entry.examples) for entry in source.entries)
    assert wanted, f"{source.path} has no example: no line `-- > EXPRESSION ==> VALUE` above a `sig`"
    path = env.written("examples.fcl", program)
    done = env.run(env.fclc, "test", "--check=none", *EXECUTORS[executor][0], path,
                   env=variables(env, executor), timeout=300)
    counts = Counts.of_last_line(done.stdout)
    assert counts, f"no counts, exit status {done.returncode}\n{done.stdout}{done.stderr}{program}"
    assert (
        counts.failed or counts.passed == wanted
    ), f"{counts.passed} of {wanted} ran\n{done.stdout}{done.stderr}{program}"
    assert "warning[" not in done.stderr, done.stderr
    counts.output += done.stderr
    return counts
