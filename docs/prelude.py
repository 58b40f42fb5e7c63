#!/usr/bin/env python3
"""Print docs/prelude.md and docs/library.md: the functions of prelude/ and of lib/, from their comments; and the
table at the end of docs/primitives.md, from that of the compiler.

usage: docs/prelude.py [--fclc PROGRAM] [--write | --check]

What it reads in a file:

    -- Title of the section. What is to be said    the first comment; the title ends at the first full stop or colon
    -- of all its functions.

    -- ---- more ----                              a section of its own, `Title: more`; a comment
                                                   between this line and an empty one is said of
                                                   all its functions

    -- What take gives, what it wants of its       the docstring: the comment directly above `sig`
    -- arguments, and what it costs.
    -- > take 2 [5, 6, 7] ==> [5, 6]               an example: an expression and its value, written
    -- also: first, prefix                         as in test directives; rows of an array of arrays
    sig take : int -> [a] -> [a]                   are compared one by one. `also` has what others
    fun take n arr = …                             call it: words for searches, which no page shows

    -- > fst (3, true) ==> 3
    -- primitive fst                               a primitive: its meaning is that of
                                                   compiler/types/primitives.def, with a link to the
                                                   section of docs/primitives.md that says more

A function whose comment has nothing but examples shares the docstring of the function before it, and so does a
`param` or a `type` right below another one. A function that is not for use elsewhere has a docstring that begins with
`Internal:`, and is left out. Every other function, and every `val`, needs a docstring, a type and an example that has
its name; a `param` and a `type`, a docstring. A type is printed as the compiler infers it, or as it is written where
it has a `type` of the file by name. tests/suites/prelude.py runs the examples.
"""

import argparse
import glob
import itertools
import os
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

HOW = """\
For each function there are its type, what it gives, what it wants of its arguments, what it costs where that is not
plain, and examples: `e ==> v` says that `e` has the value `v`. A `param` is a constant that `-D name=value` changes.
Every function is right for every length, 0 and 1 included, unless it says otherwise.

*This page is printed by [docs/prelude.py](prelude.py) from the comments in the sources, and its examples are run as
tests: change the sources, then run `docs/prelude.py --write`.*
"""


class Page:
    """A page, and the folder that it is about; `libraries` are files that a program imports one by one."""

    def __init__(self, folder, path, libraries, title, intro):
        self.folder, self.path, self.libraries, self.title, self.intro = folder, path, libraries, title, intro


PAGES = (
    Page(
        "prelude",
        "docs/prelude.md",
        False,
        "The prelude",
        """\
What every program may use without an import, written in FCL: the files of [prelude/](../prelude), which are worth
reading. The page of the [primitives](primitives.md) has what is built in, and [library.md](library.md) what is there to
import.
""",
    ),
    Page(
        "lib",
        "docs/library.md",
        True,
        "The libraries",
        """\
What a program may use that imports it, written in FCL: the files of [lib/](../lib), a section each, which begins with
the [import](language.md#import). What needs none is in [prelude.md](prelude.md).
""",
    ),
)


PRIMITIVES = "docs/primitives.md"
TABLE = "<!-- What follows is printed by docs/prelude.py --write, from compiler/types/primitives.def. -->"


class Problem(Exception):
    """What is wrong with the sources, one line for each place."""


class Entry:
    """Functions, or params, or types, that share a docstring. A function's name comes with its signature as it is
    written."""

    def __init__(self, section, text):
        self.section, self.text, self.signatures, self.declarations, self.examples = section, text, {}, [], []
        self.primitive = None  # the name of the primitive that it is about
        self.also = []  # words that others have for it

    def names(self):
        return [*self.signatures] + [declaration.split()[1] for declaration in self.declarations]


class Example:
    def __init__(self, line, text):
        self.line = line
        self.expression, _, self.value = (part.strip() for part in text.rpartition("==>"))


class Source:
    """What one file says: title, imports, intros by section, and entries in the file's order."""

    def __init__(self, path, text):
        self.path, self.name = path, os.path.basename(path).removesuffix(".fcl")
        self.title, self.intros, self.imports, self.entries, self.problems = "", {}, [], [], []
        self.read(text.splitlines())

    def read(self, lines):
        section, comment, signature, entry, before = "", [], None, None, ""
        for number, line in enumerate(lines + [""], 1):
            if line.startswith("--"):
                heading = re.fullmatch(r"-- ---- (.*) ----", line)
                primitive = re.fullmatch(r"-- primitive (\S+)", line)
                if heading:
                    section, comment, entry = heading[1], [], None
                elif primitive:
                    entry = self.primitive(number, section, comment, primitive[1])
                    comment = []
                else:
                    comment.append((number, line[2:].strip()))
                continue
            if not self.title:
                self.head([text for _, text in comment])
                comment = []
            keyword, name = re.match(r"(import|sig|fun|val|param|type|)\s*([^\s:]*)", line).groups()
            if keyword == "import":
                self.imports.append(name.strip('"').removesuffix(".fcl"))
            elif keyword == "sig":
                entry = self.function(number, section, comment, line, entry)
                signature = name
            elif keyword in ("fun", "val"):
                if signature != name:
                    self.wrong(number, name, "has no type: a `sig` directly above it")
                signature = None
            elif keyword in ("param", "type"):
                if comment:
                    entry = self.entry(section, [text for _, text in comment])
                elif before != keyword:
                    self.wrong(number, name, "has no docstring")
                    entry = self.entry(section, [])
                entry.declarations.append(line.split(" --")[0])
            elif section and comment and not any(entry.section == section for entry in self.entries):
                self.intros.setdefault(section, [text for _, text in comment])
            before = keyword
            comment = []

    def head(self, comment):
        if not comment:
            self.problems.append(f"{self.path}:1: the file does not begin with a comment")
            self.title = self.name
            return
        self.title, rest = re.match(r"([^.:]*)[.:]?\s*(.*)", " ".join(comment)).groups()
        self.intros[""] = [rest[:1].upper() + rest[1:]] if rest else []

    def entry(self, section, text):
        self.entries.append(Entry(section, text))
        return self.entries[-1]

    def function(self, number, section, comment, signature, before):
        """Take in the function of this signature; `before` is the entry before it, and the result the one for the
        next."""
        signature = signature.removeprefix("sig ").split(" --")[0]
        name = signature.split()[0]
        text = [line for _, line in comment if not line.startswith(("> ", "also: "))]
        if text and text[0].startswith("Internal:"):
            return None
        examples = self.examples(number, name, comment, "`sig`")
        if not text and (not examples or before is None or before.declarations):
            self.wrong(number, name, "has no docstring")
        entry = self.entry(section, text) if text or before is None else before
        entry.signatures[name] = signature
        entry.examples += examples
        entry.also += others(comment)
        return entry

    def primitive(self, number, section, comment, name):
        """Take in a primitive; the result is the entry, which gets its text where the page is made."""
        entry = self.entry(section, [])
        entry.primitive = name
        entry.signatures[name] = f"{name} : "
        entry.examples = self.examples(number, name, comment, "line")
        entry.also = others(comment)
        return entry

    def examples(self, number, name, comment, what):
        """The examples in a comment, which is above that `what`; at least one must have the name."""
        examples = [Example(at, line[2:]) for at, line in comment if line.startswith("> ")]
        if not any(name in re.findall(r"[\w']+", example.expression) for example in examples):
            self.wrong(number, name, f"has no example: a line `-- > … {name} … ==> VALUE` above its {what}")
        for example in examples:
            if not example.expression or not example.value:
                self.wrong(example.line, name, "has an example that is not `EXPRESSION ==> VALUE`")
        return examples

    def wrong(self, number, name, what):
        self.problems.append(f"{self.path}:{number}: `{name}` {what}")


def others(comment):
    """What its lines `also: …` have."""
    return [line.removeprefix("also: ") for _, line in comment if line.startswith("also: ")]


def sources(page, root=ROOT):
    """Every file of a page's folder, each after those that it imports."""
    found, waiting = [], []
    for path in sorted(glob.glob(os.path.join(root, page.folder, "*.fcl"))):
        with open(path, encoding="utf-8") as file:
            waiting.append(Source(os.path.relpath(path, root), file.read()))
    while waiting:
        names = {source.name for source in waiting}
        ready = [source for source in waiting if not names & set(source.imports)] or waiting
        found.append(ready[0])
        waiting.remove(ready[0])
    return found


def primitives(root=ROOT):
    """{name: docstring} of the compiler's primitives: what its table says, and the section of the reference that says
    more."""
    with open(os.path.join(root, "compiler", "types", "primitives.def"), encoding="utf-8") as file:
        said = dict(re.findall(r'^[A-Z]+\(\w+, "([^"]*)", \d+, "[^"]*", "((?:[^"\\]|\\.)*)"[,)]', file.read(),
                               re.MULTILINE))
    places = {}
    for page in ("primitives.md", "language.md"):
        with open(os.path.join(root, "docs", page), encoding="utf-8") as file:
            find_places(page, file.read().split(TABLE)[0].splitlines(), places)
    return {name: meaning.replace('\\"', '"') + f" See {places[name]}." for name, meaning in said.items()
            if name in places and not meaning.startswith("Internal:")}


def find_places(page, lines, places):
    """Add a link to the section of a page for each name whose type or meaning it has."""
    anchors, heading, fence = Anchors(), None, None
    for line in lines:
        if line.startswith("```"):
            fence = line[3:].strip() if fence is None else None
        elif fence is None and line.startswith("#"):
            title = line.lstrip("#").strip()
            heading = f"[{title}]({page}#{anchors.of(title)})"
        elif fence == "types":
            places.setdefault(line.split(" : ")[0], heading)
        elif fence is None and line.startswith("| `"):  # the scalars: a table with names in the first column
            for name in re.findall(r"`([^`]*)`", line.split(" | ")[0]):
                places.setdefault(name, heading)


def primitives_page(fclc, root=ROOT):
    """docs/primitives.md with the table that it should end with: each primitive, its type and its docstring."""
    with open(os.path.join(root, PRIMITIVES), encoding="utf-8") as file:
        text = file.read().split(TABLE)[0]
    meanings = primitives(root)
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "empty.fcl")
        open(empty, "w").close()
        done = subprocess.run([fclc, "types", empty, *meanings], capture_output=True, text=True)
    if done.returncode:
        raise Problem(f"the primitives: no types\n{done.stderr}")
    text += TABLE + "\n\n| primitive | type | what it is |\n|---|---|---|\n"
    for line, meaning in zip(done.stdout.splitlines(), meanings.values(), strict=True):
        name, kind = (part.replace("|", "\\|") for part in line.split(" : ", 1))
        what = plain(meaning).replace("|", "\\|").replace("(primitives.md#", "(#")
        text += f"| `{name}` | `{kind}` | {what} |\n"
    return text


def types(fclc, page, source, root=ROOT):
    """{name: line} of the types of a file's functions."""
    written = {name: line for entry in source.entries for name, line in entry.signatures.items()}
    if not written:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(root, source.path)
        if not page.libraries:  # but visible in an empty file
            path = os.path.join(folder, "empty.fcl")
            open(path, "w").close()
        done = subprocess.run([fclc, "types", path, *written], capture_output=True, text=True)
    if done.returncode:
        raise Problem(f"{source.path}: no types\n{done.stderr}")
    inferred = {line.split(" : ")[0]: line for line in done.stdout.splitlines()}
    synonyms = {declaration.split()[1] for entry in source.entries for declaration in entry.declarations
                if declaration.startswith("type")}
    return {name: line if synonyms & set(re.findall(r"[\w']+", line.split(" : ", 1)[1])) else inferred[name]
            for name, line in written.items()}


def plain(text):
    """Text with what Markdown would take for markup escaped, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<])", r"\\\1", part) for part in parts)


def paragraphs(lines):
    """Docstring lines as paragraphs, which empty lines divide, in lines of equal width."""
    text = ""
    for paragraph in plain("\n".join(lines)).split("\n\n"):
        for line in textwrap.wrap(paragraph, 118, break_long_words=False, break_on_hyphens=False):
            # would begin a list, a quotation or a heading
            text += re.sub(r"^(\d*)([-+>#.)])(?= |$)", r"\1\\\2", line) + "\n"
        text += "\n"
    return text if lines else ""


def code(lines):
    return "```text\n" + "".join(line + "\n" for line in lines) + "```\n\n"


class Anchors:
    """The anchors that headings get."""

    def __init__(self):
        self.seen = {}

    def of(self, heading):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = self.seen[anchor] = self.seen.get(anchor, -1) + 1
        return f"{anchor}-{count}" if count else anchor


def text_of(fclc, page, found):
    """The page about these sources; a Problem where something is missing in them."""
    problems = [problem for source in found for problem in source.problems]
    if problems:
        raise Problem("\n".join(problems))
    meanings = primitives()
    unknown = [entry.primitive for source in found for entry in source.entries if entry.primitive
               and entry.primitive not in meanings]
    if unknown:
        raise Problem(f"no primitives of the reference: {' '.join(unknown)}")
    anchors, contents, body = Anchors(), "", ""
    anchors.of(page.title)
    for source in found:
        known = types(fclc, page, source)
        section = None
        for entry in source.entries:
            if entry.section != section:
                first, section = section is None, entry.section
                title = source.title + (": " + section if section else "")
                contents += f"\n- [{title}](#{anchors.of(title)}): "
                body += f"## {title}\n\n"
                if first:
                    if page.libraries:
                        body += code([f'import "{source.name}"'])
                    body += f"In [{source.path}](../{source.path}).\n\n" + paragraphs(source.intros.get("", []))
                if section:
                    body += paragraphs(source.intros.get(section, []))
            else:
                contents += ", "
            heading = ", ".join(entry.names())
            anchor = anchors.of(heading)
            contents += ", ".join(f"[{name}](#{anchor})" for name in entry.names())
            body += f"### {heading}\n\n"
            if entry.also:
                body += f"<!-- also: {', '.join(entry.also)} -->\n\n"
            body += code([known[name] for name in entry.signatures] + entry.declarations)
            body += paragraphs([meanings[entry.primitive]] if entry.primitive else entry.text)
            if entry.examples:
                body += code([f"{example.expression} ==> {example.value}" for example in entry.examples])
    return f"# {page.title}\n\n{page.intro}\n{HOW}{contents}\n\n{body.rstrip()}\n"


def elements(text):
    """The elements of an array's text."""
    depth, start, found = 0, 1, []
    for place, character in enumerate(text):
        depth += (character in "[(") - (character in "])")
        if (character == "," and depth == 1) or (depth == 0 and place > start):
            found.append(text[start:place].strip())
            start = place + 1
    return found


def program(page, source):
    """A program with a kernel and a test directive for each example of a file; a kernel is named after its line."""
    text = f'import "{source.name}"\n' if page.libraries else ""
    for example in (example for entry in source.entries for example in entry.examples):
        kernel = f"line{example.line}"
        if example.value.startswith("[["):  # no kernel gives arrays of arrays
            rows = elements(example.value)
            text += f"kernel {kernel} = let result' = {example.expression} in (length result'"
            text += "".join(f", result' ! {i}" for i in range(len(rows))) + ")\n"
            text += f"-- test {kernel} == ({len(rows)}, {', '.join(rows)})\n"
        else:
            text += f"kernel {kernel} = {example.expression}\n-- test {kernel} == {example.value}\n"
    return text


def differs(path, text):
    """Where a page's file is not that text, and what to do; None where it is."""
    found = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            found = file.read()
    for line, (there, wanted) in enumerate(itertools.zip_longest(found.splitlines(), text.splitlines()), 1):
        if there != wanted:
            return f"line {line} is {there!r} instead of {wanted!r}: run docs/prelude.py --write"
    return None if found == text else "the end of the last line differs: run docs/prelude.py --write"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--fclc", default=os.path.join(ROOT, "build", "fclc"))
    options.add_argument("--write", action="store_true", help="write the pages instead of printing them")
    options.add_argument("--check", action="store_true", help="only say which pages are not what would be printed")
    chosen = options.parse_args()
    wrong = []
    texts = [(page.path, lambda page=page: text_of(chosen.fclc, page, sources(page))) for page in PAGES]
    for name, text_now in [*texts, (PRIMITIVES, lambda: primitives_page(chosen.fclc))]:
        path = os.path.join(ROOT, name)
        try:
            text = text_now()
        except Problem as problem:
            wrong.append(str(problem))
            continue
        if chosen.write:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        elif chosen.check:
            difference = differs(path, text)
            wrong += [f"{name}: {difference}"] if difference else []
        else:
            sys.stdout.write(text)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
