"""The tour, the guide, the reference and the primitives, in docs: their programs run, their types and excerpts are
what the compiler prints, their errors are given, and together they name every primitive and diagnostic. For
docs/prelude.md see prelude.py.

The word after the fence says what a block is:

    fcl             a program with test directives, run on every executor of RUNS
    fcl interp      the same on the interpreter only: failures at run time that compiled code does not find
    fcl error       a program that must give the errors that its comments `-- E0221: message` state, and no others
    fcl file NAME   a file for the programs after it to import
    types           lines `name : type`, of names in the program before it in its section, the prelude and primitives
    target          an excerpt of --dump=target --target=cuda of the program before it in its section
"""

import os
import re
import shlex
from executors import EXECUTORS, require, variables
from harness import Case, Counts

ORDER = 42
RUNS = ("interp", "c", "opencl-loop", "opencl-simt", "cuda-simulator")
PAGES = ("guide.md", "language.md", "papers.md", "primitives.md", "tour.md")
KINDS = ("fcl", "fcl interp", "fcl error", "fcl file", "types", "target", "text", "sh", "")


def blocks(text):
    """(line, section, kind, body) of every fenced block, in order."""
    section, fence, body, found = "", None, [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if fence is None:
                fence, body = (number, line[3:].strip()), []
            else:
                found.append((fence[0], section, fence[1], "\n".join(body) + "\n"))
                fence = None
        elif fence is not None:
            body.append(line)
        elif line.startswith("#"):
            section = line
    assert fence is None, f"line {fence[0]}: the block is not closed" if fence else ""
    return found


def write(folder, name, body):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(body)
    return path


def written(env, folder):
    """(place, section, kind, body) of every block of the pages, with the path of the file that each program, and each
    file to import, is written to."""
    for page in PAGES:
        with open(env.path("docs", page), encoding="utf-8") as file:
            found = blocks(file.read())
        for line, section, kind, body in found:
            words = kind.split()
            is_file = words[:2] == ["fcl", "file"]
            name = words[2] if is_file else f"{page[:-3]}_line{line}.fcl"
            path = write(folder, name, body) if words[:1] == ["fcl"] else None
            yield f"docs/{page}:{line}", (page, section), kind, body, path


def programs(env, folder):
    """(place, path) of the programs with test directives for every executor."""
    return [(place, path) for place, _, kind, _, path in list(written(env, folder)) if kind == "fcl"]


def rows(text, macro):
    """The fields of every row `macro(a, "b", …)` of one of the compiler's tables."""
    for line in text.splitlines():
        if line.startswith(macro + "("):
            yield [word.rstrip(",") for word in shlex.split(line[len(macro) + 1:].rstrip(") \n"), posix=True)]


def cases(env):
    def read(*path):
        return open(env.path(*path), encoding="utf-8").read()

    pages = {page: read("docs", page) for page in PAGES}
    reference = "\n".join(pages.values())
    folder = env.tmp()
    program = {}  # section to the path of its last program
    stated = set()  # names whose types are stated

    for name, section, kind, body, path in list(written(env, folder)):
        if kind.startswith("fcl file "):
            continue
        if kind.startswith("fcl"):
            program[section] = path
        if kind in ("fcl", "fcl interp"):
            for executor in RUNS if kind == "fcl" else RUNS[:1]:
                yield Case(f"{name} on {executor}", lambda path=path, executor=executor: run(env, path, executor),
                           long="opencl" in executor)  # whose mappings are those of C and CUDA
        elif kind == "fcl error":
            yield Case(f"{name} errors", lambda path=path, body=body: errors(env, path, body))
        elif kind == "types":
            known = program.get(section) or write(folder, "none.fcl", "")
            stated.update(line.split(" : ")[0] for line in body.splitlines())
            yield Case(f"{name} types", lambda known=known, body=body: types(env, known, body))
        elif kind == "target":
            yield Case(f"{name} target", lambda known=program[section], body=body: excerpt(env, known, body))
        elif kind not in KINDS:
            def unknown(kind=kind):
                raise AssertionError(f"no block is called `{kind}`; there are {', '.join(KINDS)}")
            yield Case(f"{name} is a known block", unknown)

    def primitives():
        table = read("compiler", "types", "primitives.def")
        arrays = [row[1] for row in rows(table, "PRIM") if not row[4].startswith("Internal:")]
        scalars = [row[1] for macro in ("SCALAR", "FUNCTION", "MATH") for row in rows(table, macro)]
        assert arrays and scalars, "no primitives were read from the table"
        untyped = [name for name in arrays if name not in stated]
        assert not untyped, f"primitives whose type the reference does not state: {' '.join(untyped)}"
        missing(scalars, reference, "primitives")
    yield Case("the reference names every primitive", primitives)

    def diagnostics():
        table = read("compiler", "support", "diag.def")
        codes = [row[1] for macro in ("DIAG", "WARNING", "ALWAYS") for row in rows(table, macro) if "title" not in row]
        assert codes, "no codes were read from the table"
        missing(codes, reference, "diagnostics")
        strange = set(re.findall(r"\b(?:E\d{4}|W\d{3})\b", reference)) - set(codes)
        assert not strange, f"no diagnostics: {', '.join(sorted(strange))}"
    yield Case("the reference names every diagnostic", diagnostics)

    def links():
        anchors, seen, broken = {}, 0, []
        tool = env.tool("git")
        paths = [path for path in env.must(tool, "ls-files", "*.md").split() if "results" not in path]

        def anchors_of(path):
            if path not in anchors:
                text = re.sub(r"^```.*?^```$", "", read(path), flags=re.M | re.S)
                anchors[path] = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
                                 for heading in re.findall(r"^#+ (.*)$", text, re.M)]
            return anchors[path]
        for path in paths:
            text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", read(path), flags=re.M | re.S)
            for link in re.findall(r"\]\(([^)\s]*)\)", text):
                file, _, anchor = link.partition("#")
                if "://" in link or link.startswith("mailto:"):
                    continue
                seen += 1
                target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                if not os.path.exists(env.path(target)):
                    broken.append(f"{path}: {link}")
                elif anchor and target.endswith(".md") and re.sub(r"-\d+$", "", anchor) not in anchors_of(target) and \
                        anchor not in anchors_of(target):
                    broken.append(f"{path}: {link}")
        assert seen > 100 and not broken, f"links to nowhere: {', '.join(broken)}"
    yield Case("links of all pages", links)


def missing(names, reference, what):
    """Every name must stand as code: `name` alone, or as a word in a code span or block."""
    code = "\n".join(re.findall(r"```.*?```|``[^`].*?``|`[^`\n]+`", reference, re.S))
    absent = [name for name in names
              if not re.search(r"(?<![\w'#])" + re.escape(name) + r"(?![\w'])", code)]
    assert not absent, f"{what} that the reference does not name: {' '.join(absent)}"


def run(env, path, executor):
    require(env, executor)
    done = env.run(env.fclc, "test", "--check=none", *EXECUTORS[executor][0], path,
                   env=variables(env, executor), timeout=300)
    counts = Counts.of_last_line(done.stdout)
    assert counts, f"no counts, exit status {done.returncode}\n{done.stdout}{done.stderr}"
    assert counts.passed + counts.failed, f"no test directives\n{done.stdout}{done.stderr}"
    assert not done.returncode or counts.failed, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    assert "warning[" not in done.stderr, done.stderr
    counts.output += done.stderr
    return counts


def errors(env, path, body):
    wanted = re.findall(r"^\s*-- (E\d{4}): (.*)$", body, re.M)
    assert wanted, "no comment `-- E0221: message` says which error is wanted"
    out = os.path.join(env.tmp(), "out.c")
    done = env.run(env.fclc, path, "-o", out)
    given = re.findall(r"error\[(E\d{4})\]: (.*)$", done.stderr, re.M)
    assert sorted(given) == sorted(wanted), f"got\n{done.stderr}wanted\n{wanted}"
    assert done.returncode == 1, f"exit status {done.returncode}"
    assert not os.path.exists(out), "an output file was left behind"


def types(env, path, body):
    names = [line.split(" : ")[0] for line in body.splitlines()]
    got = env.must(env.fclc, "types", path, *names)
    assert got == body, f"got\n{got}stated\n{body}"


def excerpt(env, path, body):
    dump = env.must(env.fclc, "--dump=target", "--target=cuda", path)
    assert body in dump, f"not what the compiler prints:\n{body}but\n{dump}"
