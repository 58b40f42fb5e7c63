"""docs/language.md, the language reference: its programs run, its types and excerpts are what the compiler prints, its errors
are given, and it names every primitive and diagnostic. The prelude's functions are in docs/prelude.md, for which see prelude.py.

The word after the fence says what a block is:

    fcl                 a program with test directives, run on every executor of RUNS
    fcl interp          the same on the interpreter only: failures at run time that compiled code does not find
    fcl error           a program that must give the errors that its comments `-- E0221: message` state, and no others
    fcl file NAME       a file for the programs after it to import
    types               lines `name : type`, of names in the program before it in its section, the prelude and primitives
    target              an excerpt of --dump=target --target=cuda of the program before it in its section
"""

import os
import re
import shlex
from executors import EXECUTORS, require, variables
from harness import Case, Counts

ORDER = 42
RUNS = ("interp", "c", "opencl-loop", "opencl-simt", "cuda-simulator")
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


def written(found, folder):
    """The blocks, with the path of the file that each program, and each file to import, is written to."""
    for line, section, kind, body in found:
        words = kind.split()
        is_file = words[:2] == ["fcl", "file"]
        path = write(folder, words[2] if is_file else f"line{line}.fcl", body) if words[:1] == ["fcl"] else None
        yield line, section, kind, body, path


def programs(env, folder):
    """(line, path) of the programs with test directives for every executor."""
    with open(env.path("docs", "language.md"), encoding="utf-8") as file:
        found = list(written(blocks(file.read()), folder))
    return [(line, path) for line, _, kind, _, path in found if kind == "fcl"]


def rows(text, macro):
    """The fields of every row `macro(a, "b", …)` of one of the compiler's tables."""
    for line in text.splitlines():
        if line.startswith(macro + "("):
            yield [word.rstrip(",") for word in shlex.split(line[len(macro) + 1:].rstrip(") \n"), posix=True)]


def cases(env):
    def read(*path):
        return open(env.path(*path), encoding="utf-8").read()

    reference = read("docs", "language.md")
    folder = env.tmp()
    program = {}  # section to the path of its last program
    stated = set()  # names whose types are stated

    for line, section, kind, body, path in written(blocks(reference), folder):
        name = f"docs/language.md:{line}"
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
            known = program.get(section) or write(folder, f"line{line}.fcl", "")
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
        arrays, scalars = ([row[1] for row in rows(table, macro)] for macro in ("PRIM", "SCALAR"))
        assert arrays and scalars, "no primitives were read from the table"
        untyped = [name for name in arrays if name not in stated]
        assert not untyped, f"primitives whose type the reference does not state: {' '.join(untyped)}"
        missing(scalars, reference, "primitives")
    yield Case("docs/language.md names every primitive", primitives)

    def diagnostics():
        table = read("compiler", "support", "diag.def")
        codes = [row[1] for macro in ("DIAG", "WARNING") for row in rows(table, macro) if "title" not in row]
        assert codes, "no codes were read from the table"
        missing(codes, reference, "diagnostics")
        strange = set(re.findall(r"\b(?:E\d{4}|W\d{3})\b", reference)) - set(codes)
        assert not strange, f"no diagnostics: {', '.join(sorted(strange))}"
    yield Case("docs/language.md names every diagnostic", diagnostics)

    def links():
        headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", reference, flags=re.M | re.S), re.M)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        broken = [link for link in re.findall(r"\]\(#([^)]*)\)", reference) if link not in anchors]
        broken += [link for link in re.findall(r"\]\(([^#)][^)]*)\)", reference)
                   if "://" not in link and not os.path.exists(env.path("docs", link.split("#")[0]))]
        assert not broken, f"links to nowhere: {', '.join(broken)}"
    yield Case("docs/language.md: links", links)


def missing(names, reference, what):
    """Every name must stand as code: `name` alone, or as a word in a code span or block."""
    code = "\n".join(re.findall(r"```.*?```|``[^`].*?``|`[^`\n]+`", reference, re.S))
    absent = [name for name in names
              if not re.search(r"(?<![\w'#])" + re.escape(name) + r"(?![\w'])", code)]
    assert not absent, f"{what} that the reference does not name: {' '.join(absent)}"


def run(env, path, executor):
    require(env, executor)
    done = env.run(env.fclc, "test", *EXECUTORS[executor][0], path, env=variables(env, executor), timeout=300)
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
