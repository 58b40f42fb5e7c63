#!/usr/bin/env python3
"""Writes the documents as pages: all that README.md leads to, by way of other documents. index.html is the page to
play on.

cmark-gfm turns Markdown into HTML. Headings get the anchors that links name, as GitHub makes them. A link to a file
or folder that is no document leads to a page that shows it. Every page is whole without a server: data are in
scripts, as a page from a disk may read nothing else. What is written depends on the sources alone.
"""

import argparse
import base64
import gzip
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WEB = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = ("style.css", "highlight.js", "search.js", "wasi.js", "play.js")
# The programs to begin with, by what they show.
EXAMPLES = ("reduce", "reverse", "transpose", "sightline", "nbody", "fft", "mandelbrot", "life", "histograms")
NAVIGATION = (("index.html", "Play"), ("README.html", "Overview"), ("docs/tour.html", "Tour"),
              ("docs/first-steps.html", "First steps"), ("docs/guide.html", "Guide"),
              ("docs/language.html", "Language"), ("docs/primitives.html", "Primitives"),
              ("docs/prelude.html", "Prelude"),
              ("docs/library.html", "Library"), ("docs/errors.html", "Errors"), ("examples/README.html", "Examples"),
              ("docs/README.html", "All"))

# A comment `<!-- also: sum, total -->` below a heading has words by which others look for the section: it goes through
# Markdown between these marks, to the index of the search, and is not shown.
ALSO = "\ue000"
OTHER_NAMES = re.compile(f"<p>{ALSO}(.*?){ALSO}</p>\n?")

FRAME = """<!DOCTYPE html>
<html lang="en" data-root="{root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<link rel="stylesheet" href="{root}style.css">
{scripts}</head>
<body>
<header><strong><a href="{root}index.html">FCL</a></strong><nav>{navigation}</nav>
<div class="searching">
<input id="search" type="search" placeholder="Search" aria-label="Search the documents" autocomplete="off">
<ol id="found" hidden></ol>
</div></header>
<main{kind}>
{body}
</main>
{end}</body>
</html>
"""


def text_of(fragment):
    """HTML without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", "", fragment))


def slug(title, taken):
    """The anchor of a heading, as GitHub makes it."""
    plain = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
    count = taken.get(plain, 0)
    taken[plain] = count + 1
    return f"{plain}-{count}" if count else plain


class Site:
    def __init__(self, out):
        self.out = out
        self.waiting, self.seen = ["README.md"], {"README.md"}
        self.index, self.anchors, self.links = [], {}, []

    def write(self, path, text):
        place = os.path.join(self.out, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)

    def page(self, path, title, body, kind="", scripts=(), end=""):
        root = "../" * path.count("/")
        navigation = "".join(f'<a href="{root}{to}">{name}</a>' for to, name in NAVIGATION)
        scripts = ("index.js", "search.js", "highlight.js", *scripts)
        lines = "".join(f'<script src="{root}{name}"></script>\n' for name in scripts)
        self.write(path, FRAME.format(root=root, title=html.escape(title), scripts=lines, navigation=navigation,
                                      kind=kind,
                                      body=body, end=end))

    def target(self, source, link):
        """Where a link of a source leads to in the pages."""
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", path):
            return link
        if not path:
            self.links.append((source, place_of(source), anchor))
            return link
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if os.path.isdir(os.path.join(ROOT, found)):
            readme = posixpath.join(found, "README.md")
            found = readme if os.path.exists(os.path.join(ROOT, readme)) else found + "/"
        if found not in self.seen:
            self.seen.add(found)
            self.waiting.append(found)
        self.links.append((source, place_of(found), anchor))
        to = posixpath.relpath(place_of(found), posixpath.dirname(source) or ".")
        return to + ("#" + anchor if anchor else "")

    def document(self, source):
        """A page of a document in Markdown, and its sections for the search."""
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            text = re.sub(r"<!-- also: (.*?) -->", ALSO + r"\1" + ALSO, file.read())
        text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
        body = subprocess.run(["cmark-gfm", "-e", "table", "-e", "strikethrough", "-e", "autolink"], input=text,
                              stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        taken, headings = {}, []

        def heading(match):
            title = text_of(match[2])
            headings.append((slug(title, taken), title))
            return f'<h{match[1]} id="{headings[-1][0]}">{match[2]}</h{match[1]}>'
        parts = re.split(r"(?=<h[1-6]>)", body)
        done = [re.sub(r"<h([1-6])>(.*?)</h\1>", heading, part, count=1, flags=re.S) for part in parts]
        title = headings[0][1] if headings else source
        self.anchors[place_of(source)] = {anchor for anchor, _ in headings}
        for (anchor, name), part in zip(headings, [part for part in parts if part.startswith("<h")]):
            also = ", ".join(OTHER_NAMES.findall(part))
            words = " ".join(text_of(OTHER_NAMES.sub("", part).partition("</h")[2].partition(">")[2]).split())
            self.index.append([place_of(source), anchor, title, name, words, also])
        linked = re.sub(
            r'href="([^"]*)"',
            lambda match: f'href="{html.escape(self.target(source, html.unescape(match[1])))}"',
            OTHER_NAMES.sub("", "".join(done)),
        )
        self.page(place_of(source), title, re.sub(
            r'(?<= src=")([^":]*)(?=")', lambda match: self.picture(source, html.unescape(match[1])),
            with_buttons(linked, "../" * place_of(source).count("/"))))

    def picture(self, source, link):
        """Copies a picture that a source shows to where the page finds it, by the same link."""
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        os.makedirs(os.path.dirname(os.path.join(self.out, found)), exist_ok=True)
        shutil.copy(os.path.join(ROOT, found), os.path.join(self.out, found))
        return link

    def listing(self, source):
        """A page of a folder."""
        names = sorted(name + ("/" if os.path.isdir(os.path.join(ROOT, source, name)) else "")
                       for name in tracked(source))
        items = "".join(
            f'<li><a href="{html.escape(self.target(source + "index.md", name))}">{html.escape(name)}</a></li>\n'
            for name in names
        )
        self.page(place_of(source), source, f"<h1>{html.escape(source)}</h1>\n<ul>\n{items}</ul>")

    def shown(self, source):
        """A page of a file that is no document; what is no text is there as it is."""
        with open(os.path.join(ROOT, source), "rb") as file:
            data = file.read()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            os.makedirs(os.path.dirname(os.path.join(self.out, source)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, source), os.path.join(self.out, source))
            text = ""
        kind = ' class="language-fcl"' if source.endswith(".fcl") else ""
        body = (
            f"<pre><code{kind}>{html.escape(text)}</code></pre>"
            if text
            else f'<p><a href="{posixpath.basename(source)}">The file</a></p>'
        )
        self.page(place_of(source), source, f"<h1>{html.escape(source)}</h1>\n{body}")

    def documents(self):
        while self.waiting:
            source = self.waiting.pop()
            if source.endswith("/"):
                self.listing(source)
            elif source.endswith(".md"):
                self.document(source)
            else:
                self.shown(source)
        wrong = sorted({f"{source}: {place}#{anchor}" for source, place, anchor in self.links
                        if anchor and anchor not in self.anchors.get(place, ())})
        if wrong:
            sys.exit("links to no heading:\n" + "\n".join(wrong))
        # Where sections fit alike, the search shows those of the pages first that the navigation
        # has, in its order.
        order = {page: number for number, (page, _) in enumerate(NAVIGATION)}
        self.index.sort(key=lambda section: (order.get(section[0], len(order)), section))
        self.write("index.js", "const FCL_INDEX = " +
                   json.dumps(self.index, ensure_ascii=False, separators=(",", ":")) + ";\n")

    def play(self, wasm):
        """The front page, and the compiler with its files as a script."""
        def read(*path):
            with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
                return file.read()
        files = {f"fcl/{folder}/{name}": read(folder, name) for folder in ("prelude", "lib")
                 for name in sorted(tracked(folder))}
        examples = {name: read("examples", name, next(one for one in sorted(tracked(f"examples/{name}"))
                                                      if one.endswith(".fcl")))
                    for name in EXAMPLES}
        with open(wasm, "rb") as file:
            packed = base64.b64encode(gzip.compress(file.read(), mtime=0)).decode()
        self.write("fclc.js", "const FCL_PAGE = " +
                   json.dumps({"compiler": packed, "files": files, "examples": examples},
                                                              ensure_ascii=False) + ";\n")
        with open(os.path.join(WEB, "play.html"), encoding="utf-8") as file:
            self.page("index.html", "FCL: a functional language for GPU kernels",
                      "<h1>A functional language for GPU kernels</h1>\n" + file.read(),
                      ' class="play"', ("fclc.js", "wasi.js", "play.js"), "<script>PLAY.begin();</script>\n")
        for name in SCRIPTS:
            shutil.copy(os.path.join(WEB, name), self.out)


def with_buttons(body, root):
    """Below each program that has a test there is a button that opens it in the page to play on, and runs it."""
    def button(match):
        program = html.unescape(match[1])
        imports = re.findall(r'^import "(.*?)(?:\.fcl)?"', program, re.M)
        if not re.search(r"^-- test (?!forall ).*? [=~]=", program, re.M) or not all(
                os.path.exists(os.path.join(ROOT, "lib", name + ".fcl")) for name in imports):
            return match[0]
        packer = zlib.compressobj(9, wbits=-15)
        packed = base64.urlsafe_b64encode(packer.compress(program.encode()) + packer.flush()).decode().rstrip("=")
        return f'{match[0]}\n<p><a class="run" href="{root}index.html#view=run&amp;program={packed}">Run it</a></p>'
    return re.sub(r'<pre><code class="language-fcl">(.*?)</code></pre>', button, body, flags=re.S)


def place_of(source):
    """The page of a source: documents lose their ending, and others keep it."""
    return (
        source + "index.html"
        if source.endswith("/")
        else source[:-3] + ".html" if source.endswith(".md") else source + ".html"
    )


def tracked(folder):
    """The names in a folder, but for what is hidden or built."""
    return [name for name in os.listdir(os.path.join(ROOT, folder)) if not name.startswith((".", "__"))
            and not name.endswith((".o", ".d"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wasm", required=True, help="the compiler as WebAssembly")
    parser.add_argument("--out", required=True, help="the folder for the pages, which is made anew")
    chosen = parser.parse_args()
    if not shutil.which("cmark-gfm"):
        sys.exit("there is no cmark-gfm, which turns Markdown into HTML (Debian: cmark-gfm)")
    shutil.rmtree(chosen.out, ignore_errors=True)
    site = Site(chosen.out)
    site.documents()
    site.play(chosen.wasm)


if __name__ == "__main__":
    main()
