"""fclc doc: pages about libraries are well-formed, link to what there is, have all names."""

import glob
import html.parser
import json
import os
import re

from harness import Case

ORDER = 39
SANITIZED = True

LIBRARY = """\
-- Things to double. And `more` of them, a < b & c.

import "matrix"

-- Twice a number; see `doubled` and `nothing`.
-- > twice 3 ==> 6
-- also: double, <times two>
sig twice : num a => a -> a
fun twice x = 2 * x

-- Internal: a part.
fun part x = x

-- ---- of arrays ----

-- Said of all of them.

-- > length [1, 2] ==> 2
-- primitive length

-- Two numbers.
type pair = (int, int)

-- Both added; `twice` does less.
-- > add (1, 2) ==> 3
sig add : pair -> int
fun add (a, b) = a + b

-- A pair of one number, whose type is the last word; see `length`.
-- also: doubly
-- also: twin
sig same : int -> pair
fun same x = (x, x)

-- Each doubled.
-- > doubled [1, 2] ==> [2, 4]
-- > pairs [[1], [2]] ==> [[2], [4]]
sig doubled : [int] -> [int]
fun doubled xs = map twice xs
fun pairs rows = map doubled rows

-- How many.
param count : int = 4 in {1, 4}
kernel run (xs : [int]) = doubled xs
-- test run [1] == [2]
kernel other (xs : [int]) = xs
"""


class Page(html.parser.HTMLParser):
    """A page's anchors, links and text; tags must close in their order."""

    EMPTY = {"meta", "hr"}

    def __init__(self, text):
        super().__init__()
        self.open, self.anchors, self.links, self.text = [], [], [], ""
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        if tag not in self.EMPTY:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.anchors.append(value)
            if name == "href":
                self.links.append(value)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()

    def handle_data(self, data):
        self.text += data


def cases(env):
    def pages_of(*paths):
        folder = os.path.join(env.tmp(), "pages")
        done = env.run(env.fclc, "doc", *paths, "-o", folder)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done.stderr
        pages = {}
        for path in glob.glob(os.path.join(folder, "*.html")):
            with open(path, encoding="utf-8") as file:
                pages[os.path.basename(path)] = Page(file.read())
        for name, page in pages.items():
            assert len(set(page.anchors)) == len(page.anchors), f"{name}: {page.anchors}"
            for link in page.links:
                file, _, anchor = link.partition("#")
                assert file in pages and (not anchor
                                          or anchor in pages[file].anchors), f"{name}: {link}"
        return pages

    def own():
        path = env.written("lib.fcl", LIBRARY)
        pages = pages_of(path)
        assert sorted(pages) == ["index.html", "lib.html"]
        page = pages["lib.html"]
        assert page.anchors == [
            "twice", "length", "type-pair", "add", "same", "doubled", "pairs", "count", "run", "other"
        ], page.anchors
        assert page.links == ["index.html", "lib.html#doubled", "lib.html#twice", "lib.html#length"], page.links
        for wanted in ("Things to double", "a < b & c", "of arrays", "twice : num a => a -> a",
                       "add : pair -> int", "same : int -> pair", "Said of all of them.",
                       "length : [a] -> int", "type pair = (int, int)", "twice 3  ==>  6",
                       "pairs : [[int]] -> [[int]]", "param count : int = 4 in {1, 4}",
                       "run : [int] -> [int]"):
            assert wanted in page.text, f"{wanted}: {page.text}"
        assert "Internal" not in page.text and "test run" not in page.text
        assert "Things to double" in pages["index.html"].text
        # words for searches stand in the index alone
        assert "a -> a also: double, <times two>" in pages["index.html"].text, pages["index.html"].text
        assert "also:" not in page.text, page.text
        done = env.run(env.fclc, "doc", "--check", path)
        assert (done.returncode, done.stdout) == (0, f"{path}: 7 passed, 0 failed, 0 skipped\n"), \
            done.stdout + done.stderr
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                LIBRARY.replace("[[2], [4]]", "[[2], [4], [6]]").replace("3 ==> 6", "3 ==> 7"))
        done = env.run(env.fclc, "doc", "--check", path)
        assert done.returncode == 1 and "5 passed, 3 failed" in done.stdout, done.stdout
        assert env.run(env.fclc, "doc", path).returncode == 2
        with open(path, "w", encoding="utf-8") as file:
            file.write("fun f x = y\n")
        done = env.run(env.fclc, "doc", path, "-o", os.path.join(env.tmp(), "none"))
        assert done.returncode == 1 and "nothing is called `y`" in done.stderr, done.stderr

    yield Case("a library's pages and examples", own)

    def as_json():
        folder = env.tmp()
        env.written("lib.fcl", LIBRARY, folder)
        [file] = json.loads(env.must(env.fclc, "doc", "--json", "lib.fcl", cwd=folder))
        assert file["path"] == "lib.fcl" and file["text"] == ["Things to double. And `more` of them, a < b & c."], file
        assert file["sections"] == [{"name": "of arrays", "text": ["Said of all of them."]}], file["sections"]
        items = {item["name"]: item for item in file["items"]}
        assert list(items) == ["twice", "length", "pair", "add", "same", "doubled", "pairs", "count", "run", "other"]
        assert items["same"] == {
            "name": "same", "word": "fun", "head": "same : int -> pair", "section": "of arrays",
            "line": 1 + LIBRARY[:LIBRARY.index("sig same")].count("\n"), "sig": True, "also": "doubly, twin",
            "text": ["A pair of one number, whose type is the last word; see `length`."], "examples": []}, items["same"]
        assert items["length"]["word"] == "primitive" and items["length"]["examples"] == [
            {"expression": "length [1, 2]", "value": "2", "line": 18}], items["length"]
    yield Case("what a library says, as JSON", as_json)

    def one_wrong():
        folder = env.tmp()
        lines = ["-- Twice.", "-- > twice 3 ==> 6", "-- > twise 3 ==> 6", "-- > twice 4 ==> 7", "-- > twice (3 ==> 6",
                 "-- > twice 5 ==> 10", "sig twice : int -> int", "fun twice x = 2 * x"]
        env.written("lib.fcl", "\n".join(lines) + "\n", folder)
        for path in ("lib.fcl", os.path.join(folder, "lib.fcl")):
            done = env.run(env.fclc, "doc", "--check", path, cwd=folder, env={"TMPDIR": "/nowhere"})
            assert done.returncode == 1, f"{done.returncode}: {done.stderr}"
            assert done.stdout == (f"{path}:4: interp: 8 instead of 7\n    > twice 4 ==> 7\n"
                                   f"{path}: 2 passed, 3 failed, 0 skipped\n"), done.stdout
            errors = [line for line in done.stderr.splitlines() if ": error[" in line]
            assert [line.split(": error")[0] for line in errors] == [f"{path}:3:6", f"{path}:5:15"], done.stderr
            assert "nothing is called `twise` here" in errors[0], errors
        assert os.listdir(folder) == ["lib.fcl"]
    yield Case("an example that is wrong is told by its place, and hides no other", one_wrong)

    def of_one_name():
        folder = env.tmp()
        os.mkdir(os.path.join(folder, "more"))
        paths = [os.path.join(folder, name) for name in ("lib.fcl", "more/lib.fcl", "index.fcl")]
        for number, path in enumerate(paths):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"-- Number {number}.\n\nval v{number} = {number}\n")
        pages = pages_of(*paths, paths[0])
        index = pages.pop("index.html")
        assert sorted(page.anchors[0] for page in pages.values()) == ["v0", "v1", "v2"], pages
        assert sorted(link.partition("#")[0] for link in index.links) == sorted([*pages, *pages]), index.links
    yield Case("files of one name have each a page", of_one_name)

    def nothing():
        path = env.written("nothing.fcl", "-- Nothing yet.\n")
        assert "Nothing yet." in pages_of(path)["nothing.html"].text
    yield Case("the pages of a library that defines nothing", nothing)

    def ours():
        pages = pages_of(*sorted(glob.glob(env.path("lib", "*.fcl"))),
                         *sorted(glob.glob(env.path("prelude", "*.fcl"))))
        for path in glob.glob(env.path("lib", "*.fcl")) + glob.glob(env.path("prelude", "*.fcl")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            page = pages[os.path.basename(path)[:-4] + ".html"]
            for comment, name in re.findall(r"((?:^--.*\n)*)^sig (\S+)", text, re.M):
                is_internal = "-- Internal:" in comment
                assert (name in page.anchors) != is_internal, f"{path}: {name}"
            assert page.links[0] == "index.html"
            assert ('import "' in page.text) == (os.path.dirname(path).endswith("lib")), path

    yield Case("the pages of the prelude and the library", ours)
