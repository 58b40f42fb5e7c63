"""`make docs`: every link of the pages leads somewhere, the search finds, and in headless Chromium the page to play
on does what the command does."""

import html
import json
import os
import re
import threading
import time
from browser import Page
from harness import Case, Skip

ORDER = 54  # the page waits 10 seconds for a program that does not end, while others run
THOROUGH = True


def cases(env):
    made, once = [], threading.Lock()

    def pages():
        """The folder of the pages."""
        for tool in ("clang", "wasm-ld", "cmark-gfm"):
            env.tool(tool)
        if not os.path.isdir("/usr/include/wasm32-wasi"):
            raise Skip("no wasi-libc")
        with once:
            if not made:
                # The page runs small programs: but in a long run its compiler is one that is quickly made.
                env.must("make", "-j2", "BUILD=" + env.build, *([] if env.long else ["WASM_OPTIMISE=-O0"]), "docs",
                         timeout=600)
                made.append(os.path.join(env.root, env.build, "docs"))
        return made[0]

    def links():
        folder, wrong, found = pages(), [], 0
        anchors = {}

        def anchors_of(path):
            if path not in anchors:
                with open(path, encoding="utf-8") as file:
                    anchors[path] = set(re.findall(r' id="([^"]*)"', file.read()))
            return anchors[path]
        for place, _, names in os.walk(folder):
            for name in names:
                if not name.endswith(".html"):
                    continue
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    text = file.read()
                for link in re.findall(r'(?:href|src)="([^"]*)"', text):
                    path, _, anchor = html.unescape(link).partition("#")
                    if re.match(r"[a-z]+:", path):
                        continue
                    found += 1
                    to = os.path.join(place, path) if path else os.path.join(place, name)
                    is_anchor = anchor and not anchor.startswith("view=")  # which is a program to play with
                    if not os.path.isfile(to) or is_anchor and anchor not in anchors_of(to):
                        wrong.append(f"{os.path.join(place, name)}: {link}")
        assert found > 1000 and not wrong, f"{found} links; these lead nowhere: {wrong}"
    yield Case("links of the pages lead somewhere", links)

    def opened(name):
        return Page(env.tool("chromium"), env.tmp(), "file://" + os.path.join(pages(), name))

    def searched():
        with opened("docs/guide.html") as page:
            page.value("(() => { const box = document.getElementById('search'); box.value = 'scatter place'; "
                       "box.oninput(); })()")
            first = page.value("document.querySelector('#found a').href")
            assert re.search(r"/docs/\w+\.html#", first), first
            with open(first.removeprefix("file://").partition("#")[0], encoding="utf-8") as file:
                assert "scatter" in file.read(), first
            assert page.value("(() => { const box = document.getElementById('search'); box.value = 'nosuchword here'; "
                              "box.oninput(); return document.getElementById('found').innerText; })()"
                              ) == "Nothing has all of this in it: nosuchword here"
            assert page.value("(() => { const box = document.getElementById('search'); box.value = ' '; "
                              "box.oninput(); return document.getElementById('found').hidden; })()")
            # The search knows others' words, and shows first what has the word most often.
            for words, place in (("matrix multiply", "docs/library.html#matmul"), ("sum", "docs/prelude.html#reduce"),
                                 ("cumulative sum", "docs/prelude.html#scan"), ("sort", "docs/prelude.html#sort"),
                                 ("print", "docs/primitives.html#trace"), ("mat mul", "docs/library.html#matmul"),
                                 ("gemm", "docs/library.html#matmul"), ("MATMUL", "docs/library.html#matmul"),
                                 ("<block", None), ("(+)", None)):
                first = page.value(f"fclSearch('{words}')[0]?.href")
                assert first == place or not place and first, f"{words}: {first}"
                name, _, anchor = first.partition("#")
                with open(os.path.join(pages(), name), encoding="utf-8") as file:
                    assert f' id="{anchor}"' in file.read(), first
            shown = page.value("(() => { const box = document.getElementById('search'); box.value = 'printf'; "
                               "box.oninput(); return document.getElementById('found').innerText; })()")
            assert shown.startswith("FCL: the primitives: trace\n\nAlso: print, printf,"), shown
            titles = page.value("fclSearch('reduceByIndex').map((one) => one.title)")
            assert titles and "reduceByIndex" in titles[0], titles
            assert not page.problems, page.problems
    yield Case("the search, in Chromium", searched)

    # ---- the page to play on, as a person uses it ----

    def settled(page):
        page.wait("['good', 'wrong'].includes(document.body.dataset.state)")

    def choose(page, view):
        page.value(f"void document.querySelector('[data-view={view}]').click()")
        settled(page)

    def write(page, field, text):
        page.value(f"(() => {{ const at = document.getElementById('{field}'); at.value = {json.dumps(text)}; "
                   f"document.body.dataset.state = "
                   "'busy'; at.dispatchEvent(new Event('input')); })()")
        settled(page)

    def shown(page):
        return page.value("document.getElementById('text').textContent")

    def messages(page):
        return page.value("document.getElementById('messages').textContent")

    PROGRAM = ('import "complex"\n\n-- Sums of chunks.\nkernel sums (xs : [int]) = splitUp 256 xs |> map (red <block> '
               '(+)) |> concat 1\n'
               "-- test sums [1,2,3] == [6]\nkernel sizes (zs : [complex float]) = push <grid> (map cabs zs)\n"
               "kernel size (z : complex float) = cabs z\nkernel tenth (x : double) = x * 0.1\n")

    def as_command(words, text):
        """What the command prints of a file that is called as the page calls its own."""
        folder = env.tmp()
        env.written("program.fcl", text, folder)
        done = env.run(env.fclc, *words, cwd=folder)
        return done.stdout, done.stderr

    def played():
        with opened("index.html") as page:
            settled(page)
            example = page.value("document.getElementById('program').value")
            assert shown(page) == as_command(["types", "program.fcl"], example)[0]
            write(page, "program", PROGRAM)
            for view, words in (("types", ["types", "program.fcl"]),
                                ("cuda", ["program.fcl", "--target=cuda", "-o", "-"]),
                                ("c", ["program.fcl", "--target=c", "-o", "-"]),
                                ("opencl", ["program.fcl", "--target=opencl", "-o", "-"])):
                choose(page, view)
                assert shown(page) == as_command(words, PROGRAM)[0] != "", f"{view}:\n{shown(page)}\n{messages(page)}"
            choose(page, "run")
            for call, said in (("sums iota:1000", "[32640,98176,163712,204972]\n"), ("sums [1, 2, 3]", "[6]\n"),
                               ("sizes [{re = 3, im = 4}]", "[5.0]\n"), ("size {re = 3, im = 4}", "5.0\n"),
                               ("tenth 3.0", "0.30000000000000004\n"), ("sums []", "[]\n")):
                write(page, "call", call)
                assert shown(page) == said, f"{call}: {shown(page)}\n{messages(page)}"
            write(page, "call", "sums")
            assert "kernel `sums` takes 1 argument (xs : [int])" in messages(page), messages(page)
            choose(page, "report")
            drawing = page.value("document.getElementById('page').srcdoc")
            assert drawing == as_command(["report", "program.fcl", "-o", "-"],
                                         PROGRAM)[0] and "<svg" in drawing, drawing
            assert page.value("document.getElementById('text').hidden")
            assert not page.problems, page.problems
    yield Case("the page to play on, in Chromium: types, code, runs and the report are the command's", played)

    def told():
        """Errors stand below the program, and lead to their places in it; what takes too long or is too deep ends."""
        with opened("index.html") as page:
            settled(page)
            wrong = "kernel k (xs : [int]) = map (fn x => x + y) xs\n"
            write(page, "program", wrong)
            assert messages(page) == as_command(["types", "program.fcl"], wrong)[1] != "", messages(page)
            page.value("void document.querySelector('#messages button').click()")
            assert page.value("document.getElementById('program').selectionStart") == wrong.index("y")
            write(
                page, "program", "fun f n = if n == 0 then 0 else 1 + f (n - 1)\nkernel k (x : int) = f 2000000 + x\n"
            )
            choose(page, "cuda")
            assert messages(page), "nothing is said of a program that is too deep"
            write(page, "program", PROGRAM)
            choose(page, "types")
            assert shown(page) == as_command(["types", "program.fcl"], PROGRAM)[0], messages(page)
            write(page, "program", "kernel k (x : int) = loop (fn y => y >= 0) (fn y => (y + 1) & 0x7FFFFFFF) x\n")
            choose(page, "run")
            write(page, "call", "k 1")
            assert messages(page) == "stopped after 10 seconds", messages(page)
            write(page, "program", PROGRAM)
            write(page, "call", "sums [1]")
            assert shown(page) == "[1]\n", messages(page)
            assert not page.problems, page.problems
    yield Case("the page to play on, in Chromium: what is wrong", told)

    ENDLESS = "kernel k (x : int) = loop (fn y => y >= 0) (fn y => (y + 1) & 0x7FFFFFFF) x\n"

    def begin_endless(page):
        """It runs, and goes on."""
        settled(page)
        write(page, "program", ENDLESS)
        choose(page, "run")
        write(page, "call", "k -1")
        assert shown(page) == "-1\n", messages(page)
        page.value("(() => { document.getElementById('call').value = 'k 1'; "
                   "document.getElementById('call').oninput(); })()")
        page.wait("document.body.dataset.state === 'busy' "
                  "&& getComputedStyle(document.getElementById('stop')).visibility === 'visible'")

    def stopped():
        """What does not end is ended by the button, and by whatever is asked for instead."""
        with opened("index.html") as page:
            begin_endless(page)
            page.value("void document.getElementById('stop').click()")
            settled(page)
            assert messages(page) == "stopped", messages(page)
            assert page.value("getComputedStyle(document.getElementById('stop')).visibility") == "hidden"
            begin_endless(page)
            begun = time.monotonic()
            write(page, "call", "k -2")
            assert shown(page) == "-2\n" and time.monotonic() - begun < 9, messages(page)
            assert not page.problems, page.problems
    yield Case("the page to play on, in Chromium: Stop", stopped)

    def edited():
        """The program has colours and numbers, which lie where its text is; no line is broken."""
        text = PROGRAM + "val wide = 1 -- " + "wide " * 200 + "\n" * 100 + "-- end 🙂"
        lines = text.count("\n") + 1
        with opened("index.html") as page:
            settled(page)
            write(page, "program", text)
            assert page.value("document.getElementById('colours').textContent") == text + "\n"
            assert page.value("document.getElementById('numbers').textContent").split() == \
                [str(line + 1) for line in range(lines)]
            found = page.value("[...document.querySelectorAll('#colours span')].map((one) => "
                               "[one.className, one.textContent])")
            for wanted in (["is-keyword", "import"], ["is-string", '"complex"'], ["is-comment", "-- Sums of chunks."],
                           ["is-defined", "sums"], ["is-integer", "256"], ["is-floating", "0.1"],
                           ["is-test", "-- test sums [1,2,3] == [6]"]):
                assert wanted in found, f"{wanted}: {found}"
            inks = page.value("['keyword', 'string', 'comment', 'defined', 'integer'].map((kind) => getComputedStyle("
                              "document.querySelector('#colours .is-' + kind)).color)")
            assert len(set(inks)) == 5, inks
            # The letters of both are as large, at every place, and lines are 20 pixels.
            for side in ("scrollWidth", "scrollHeight"):
                typed, seen = page.value(f"['program', 'colours'].map((id) => document.getElementById(id).{side})")
                assert abs(typed - seen) <= 20, f"{side}: {typed}, {seen}"
            assert typed >= lines * 20 > typed - 60, f"{lines} lines are {typed} pixels"
            page.value("document.getElementById('program').scrollTo(100, 300)")
            page.wait("document.getElementById('colours').style.transform === 'translate(-100px, -300px)' && "
                      "document.getElementById('numbers').style.transform === 'translateY(-300px)'")
            assert not page.problems, page.problems
    yield Case("the page to play on, in Chromium: colours, numbers, long lines", edited)

    def linked():
        """A link has the program, the call and the view; one that is torn is told of."""
        program = PROGRAM + "-- ¬ 🙂 + / = &#\n" * 50
        with opened("index.html") as page:
            settled(page)
            write(page, "program", program)
            choose(page, "run")
            write(page, "call", "sums [1, 2, 3, 4]")
            page.value("void document.getElementById('link').click()")
            page.wait("document.getElementById('said').textContent")
            address = page.value("location.hash")
            assert len(address) < len(program), address
            # the same page: as if the address were typed
            write(page, "program", "val a = 1\n")
            page.value("(() => { location.hash = ''; })()")
            page.value(f"(() => {{ location.hash = {json.dumps(address)}; }})()")
            page.wait(f"document.getElementById('program').value === {json.dumps(program)}")
            assert not page.problems, page.problems
        with opened("index.html" + address) as page:
            settled(page)
            assert page.value("document.getElementById('program').value") == program
            assert page.value("document.getElementById('call').value") == "sums [1, 2, 3, 4]"
            assert shown(page) == "[10]\n", messages(page)
            assert not page.problems, page.problems
        with opened("index.html" + address[:-100]) as page:
            settled(page)
            assert page.value("document.getElementById('said').textContent").startswith("no program can be read")
            assert "kernel" in page.value("document.getElementById('program').value")
            assert not page.problems, page.problems
    yield Case("the page to play on, in Chromium: links to programs", linked)

    def buttons():
        """Each program of the tour has a button, which opens it in the page to play on and runs its first test."""
        with open(env.path("docs", "tour.md"), encoding="utf-8") as file:
            programs = re.findall(r"^```fcl\n(.*?)^```$", file.read(), re.M | re.S)
        assert len(programs) == 15
        with opened("docs/tour.html") as page:
            places = page.value("[...document.querySelectorAll('a.run')].map((one) => one.href)")
            assert len(places) == 15, places
            page.value("void document.querySelector('a.run').click()")
            for number, (place, program) in enumerate(zip(places, programs)):
                if number:
                    page.value(f"(() => {{ document.body.dataset.state = 'busy'; "
                               f"location.href = {json.dumps(place)}; }})()")
                page.wait(f"document.getElementById('program')?.value === {json.dumps(program)}")
                settled(page)
                call, wanted = re.search(r"^-- test (\w.*?) (?:==|~=) (.*)", program, re.M).groups()
                assert page.value("document.getElementById('call').value") == call
                said = shown(page).splitlines()  # a line for each component of a tuple
                assert wanted in (shown(page).strip(), f"({','.join(said)})"), f"{call}: {said}\n{messages(page)}"
            assert not page.problems, page.problems
    yield Case("the page to play on, in Chromium: the buttons of the tour", buttons)

    def all_examples():
        """Each program that the page has to begin with does what the command does, in its first test."""
        with opened("index.html") as page:
            settled(page)
            choose(page, "run")
            names = page.value("Object.keys(FCL_PAGE.examples)")
            for name in names:
                page.value(f"(() => {{ const list = document.getElementById('examples'); list.value = '{name}'; "
                           f"document.body.dataset.state = "
                           "'busy'; list.onchange(); })()")
                settled(page)
                text, call = page.value("[document.getElementById('program').value, "
                                        "document.getElementById('call').value]")
                words = re.findall(r"(?:[^\s\[(]|[\[(][^\])]*(?:[\[(][^\])]*[\])][^\])]*)*[\])])+", call)
                assert call and shown(page) == as_command(["run", "--target=interp", "program.fcl", *words],
                                                          text)[0] != "", \
                    f"{name}: {call}\n{shown(page)}{messages(page)}"
            assert len(names) > 5 and not page.problems, page.problems
    yield Case("the page to play on, in Chromium: all its examples", all_examples)
