#!/usr/bin/env python3
"""Print docs/prelude.md and docs/library.md: the functions of prelude/ and of lib/, from their comments; and the
table at the end of docs/primitives.md, from that of the compiler.

usage: docs/prelude.py [--fclc PROGRAM] [--write | --check]

What `fclc doc --json` reads in a file:

    -- Title of the section. What is to be said    the first comment; the title ends at the first full stop or colon
    -- of all its functions.

    -- ---- more ----                              a section of its own, `Title: more`; the first
                                                   comment below it that is above no definition is
                                                   said of all its functions

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
import json
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
    """Functions, or params, or types, that share a docstring. A function's name comes with its type."""

    def __init__(self, section, text):
        self.section, self.text, self.signatures, self.declarations, self.examples = section, text, {}, [], []
        self.primitive = None  # the name of the primitive that it is about
        self.also = []  # words that others have for it

    def names(self):
        return [*self.signatures] + [declaration.split()[1] for declaration in self.declarations]


class Source:
    """What one file says, as `fclc doc --json` reads it: title, intros by section, and entries in the file's order."""

    def __init__(self, path, said):
        self.path, self.name = path, os.path.basename(path).removesuffix(".fcl")
        self.entries, self.problems = [], []
        self.intros = {section["name"]: section["text"] for section in said["sections"]}
        if not said["text"]:
            self.problems.append(f"{self.path}:1: the file does not begin with a comment")
        self.title, rest = re.match(r"([^.:]*)[.:]?\s*(.*)", " ".join(said["text"])).groups()
        self.intros[""] = [rest[:1].upper() + rest[1:]] if rest else []
        before = None
        for item in said["items"]:
            if item["word"] in ("fun", "val", "primitive"):
                self.function(item)
            elif item["word"] in ("param", "type"):
                self.declaration(item, before)
            before = item

    def function(self, item):
        """Take in a function or a primitive; one with nothing but examples has the text of the entry before it."""
        text = [line for line in item["text"] if not line.startswith("> ")]
        before = self.entries[-1] if self.entries else None
        is_primitive = item["word"] == "primitive"
        if not item["sig"] and not is_primitive:
            self.wrong(item, "has no type: a `sig` directly above it")
        if not is_primitive and not text and (not item["examples"] or before is None or before.declarations):
            self.wrong(item, "has no docstring")
        if not any(item["name"] in re.findall(r"[\w']+", example["expression"]) for example in item["examples"]):
            self.wrong(item, f"has no example: a line `-- > … {item['name']} … ==> VALUE` above it")
        if len(text) < len(item["text"]):
            self.wrong(item, "has an example that is not `EXPRESSION ==> VALUE`")
        entry = self.entry(item) if text or is_primitive or before is None else before
        entry.primitive = item["name"] if is_primitive else entry.primitive
        entry.signatures[item["name"]] = item["head"]
        entry.examples += item["examples"]
        entry.also += [item["also"]] if item["also"] else []

    def declaration(self, item, before):
        """Take in a param or a type; one right below another, without a comment, has the other's."""
        if item["text"]:
            self.entry(item)
        elif before is None or before["word"] != item["word"] or before["line"] + 1 != item["line"]:
            self.wrong(item, "has no docstring")
            self.entry(item)
        self.entries[-1].declarations.append(item["head"])

    def entry(self, item):
        self.entries.append(Entry(item["section"], item["text"]))
        return self.entries[-1]

    def wrong(self, item, what):
        self.problems.append(f"{self.path}:{item['line']}: `{item['name']}` {what}")


def read(fclc, paths, root=ROOT):
    """{path: Source} of these files."""
    done = subprocess.run([fclc, "doc", "--json", *paths], capture_output=True, text=True, cwd=root)
    if done.returncode:
        raise Problem(done.stderr)
    return {said["path"]: Source(said["path"], said) for said in json.loads(done.stdout)}


def sources(fclc, page, root=ROOT):
    """Every file of a page's folder, each after those that it imports."""
    waiting = {os.path.relpath(path, root): imports_of(path)
               for path in sorted(glob.glob(os.path.join(root, page.folder, "*.fcl")))}
    known, found = read(fclc, list(waiting), root), []
    while waiting:
        names = {os.path.basename(path).removesuffix(".fcl") for path in waiting}
        ready = next((path for path in waiting if not names & waiting[path]), next(iter(waiting)))
        if known[ready].entries:  # not all of it is internal
            found.append(known[ready])
        del waiting[ready]
    return found


def imports_of(path):
    with open(path, encoding="utf-8") as file:
        return {name.removesuffix(".fcl") for name in re.findall(r'^import "(.*)"', file.read(), re.MULTILINE)}


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


def text_of(page, found):
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
            body += code([*entry.signatures.values()] + entry.declarations)
            body += paragraphs([meanings[entry.primitive]] if entry.primitive else entry.text)
            if entry.examples:
                body += code([f"{example['expression']} ==> {example['value']}" for example in entry.examples])
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
        kernel, expression, value = f"line{example['line']}", example["expression"], example["value"]
        if value.startswith("[["):  # no kernel gives arrays of arrays
            rows = elements(value)
            text += f"kernel {kernel} = let result' = {expression} in (length result'"
            text += "".join(f", result' ! {i}" for i in range(len(rows))) + ")\n"
            text += f"-- test {kernel} == ({len(rows)}, {', '.join(rows)})\n"
        else:
            text += f"kernel {kernel} = {expression}\n-- test {kernel} == {value}\n"
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
    texts = [(page.path, lambda page=page: text_of(page, sources(chosen.fclc, page))) for page in PAGES]
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
