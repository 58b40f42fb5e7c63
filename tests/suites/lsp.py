"""fclc lsp: an editor's sessions with the language server, replayed; also by Neovim."""

import glob
import json
import os
import random
import shutil
import signal
import subprocess
import time

from harness import Case, Skip
from lsp_client import Client

ORDER = 37
SANITIZED = True

PROGRAM = """\
-- The squares of all, in chunks.
sig squares : [int] -> [int]<grid>
fun squares xs =
  let square = fn x => x * x
      size = 4
  in splitUp size xs |> map (fn c => push <block> (map square c)) |> concat size

fun first ys = ys ! 0
val half = 0.5
kernel run (xs : [int]) = squares xs
"""


def place_of(text, what, occurrence=0, inside=0):
    """Line and character of a piece of a text, from 0; characters are units of UTF-16."""
    at = -1
    for _ in range(occurrence + 1):
        at = text.index(what, at + 1)
    before = text[:at + inside]
    line = before.count("\n")
    return line, len(before[before.rfind("\n") + 1:].encode("utf-16-le")) // 2


def start_end(span):
    return tuple(span["start"].values()) + tuple(span["end"].values())


def edited(text, edits):
    """The text with what an answer says to change."""
    lines = text.split("\n")

    def offset(position):
        line = lines[position["line"]].encode("utf-16-le")[:2 * position["character"]]
        return sum(len(one) + 1 for one in lines[:position["line"]]) + len(line.decode("utf-16-le"))

    for edit in sorted(edits, key=lambda one: -offset(one["range"]["start"])):
        begin, end = (offset(edit["range"][which]) for which in ("start", "end"))
        text = text[:begin] + edit["newText"] + text[end:]
    return text


def cases(env):
    class Session(Client):
        """A server with a folder and a document in it."""
        def __init__(self, text=PROGRAM, name="p.fcl"):
            super().__init__(env.fclc, "lsp")
            self.folder = env.tmp()
            self.text = text
            self.path = self.write(name, text)
            self.start()
            self.open(self.path)

        def write(self, name, text):
            path = env.written(name, text, self.folder)
            return path

        def ask(self, method, what, occurrence=0, inside=0, **more):
            return self.at(method, self.path, *place_of(self.text, what, occurrence, inside),
                           **more)

        def about(self, method, **more):
            return self.request("textDocument/" + method,
                                textDocument={"uri": self.uri(self.path)},
                                **more)

        def hover(self, what, occurrence=0, inside=0):
            got = self.ask("hover", what, occurrence, inside)
            return got and got["contents"]["value"]

    def session():
        with Session() as s:
            assert s.diagnostics(s.path) == []
            assert s.stop() == 0
        with Client(env.fclc, "lsp") as s:
            assert s.answer("textDocument/hover")["error"]["code"] == -32002
            s.start()
            assert s.answer("no/method")["error"]["code"] == -32601
            s.send_bytes(b"{nothing")
            assert s.response(None)["error"]["code"] == -32700
            assert s.answer("textDocument/hover",
                            textDocument={"uri": "file:///a"},
                            position={
                                "line": 0,
                                "character": 0
                            })["error"]["code"] == -32600
            s.notify("exit")
            assert s.process.wait(timeout=60) == 1, "without shutdown"
        with Client(env.fclc, "lsp") as s:
            s.start()
            s.process.stdin.close()
            assert s.process.wait(timeout=60) == 1, "the editor is gone"

    yield Case("a session begins and ends as the protocol says", session)

    def hover():
        with Session() as s:
            assert "squares : [int] -> [int]<grid>" in s.hover("squares xs", 1)
            assert "The squares of all, in chunks." in s.hover("squares xs", 1)
            assert "x : num a => a\n" in s.hover("x * x")
            assert "square : num a => a -> a\n-- here\nsquare : int -> int" in s.hover("square c")
            assert s.hover("fn c", inside=1) is None
            got = s.hover("splitUp size")
            assert "splitUp : int -> [a] -> [[a]]" in got and "prelude/pull.fcl" in got, got
            assert "-- here\nsplitUp : int -> [int] -> [[int]]" in got, got
            assert "also: chunks" not in got, got
            got = s.hover("concat size")
            assert "concat : int -> [[a]<l>] -> [a]<m>  where l < m" in got, got
            assert "kernel run : [int] -> [int]<grid>" in s.hover("run (")
            s.text = "fun sum <l> xs = force (red <l> (+) xs) ! 0\nfun of <b> xs = sum <block> xs\n"
            s.change(s.path, s.text)
            assert "Runs at ambient `block`." in s.hover("of <b>"), s.hover("of <b>")
            s.text = '(* \U0001d538 *) val a = (* \u00e4\U0001d538 *) 1 val b = a\n'
            s.change(s.path, s.text)
            assert "a : int" in s.hover("a", 3), "behind characters of two units"

    yield Case("hover: type, instance, ambient, docstring, origin", hover)

    def names():
        with Session() as s:
            got = s.ask("definition", "square c")
            assert start_end(got["range"]) == (3, 6, 3, 12), got
            got = s.ask("definition", "splitUp")
            assert got["uri"] == s.uri(env.path("prelude", "pull.fcl")), got
            with open(env.path("prelude", "pull.fcl"), encoding="utf-8") as file:
                line = file.read().split("\n")[got["range"]["start"]["line"]]
            assert line.startswith("fun splitUp "), line
            got = s.ask("references", "size =", context={"includeDeclaration": True})
            assert [start_end(one["range"])[:2] for one in got] == [(4, 6), (5, 13), (5, 76)], got
            assert len(s.ask("references", "size =", context={"includeDeclaration": False})) == 2
            assert len(s.ask("documentHighlight", "squares", 1)) == 3
            names = [one["name"] for one in s.about("documentSymbol")]
            assert names == ["squares", "first", "half", "run"], names
            other = s.write("q.fcl", 'import "p"\nkernel other (xs : [int]) = squares xs\n')
            got = s.ask("references", "squares xs", context={"includeDeclaration": True})
            assert len(got) == 4 and got[3]["uri"] == s.uri(other), got
            s.open(other)
            got = s.at("definition", other, 1, 30)
            assert got["uri"] == s.uri(s.path) and start_end(got["range"])[:2] == (2, 4), got
            got = s.at("definition", other, 0, 9)
            assert got["uri"] == s.uri(s.path), got

    yield Case("definitions, references and symbols, over files", names)

    def rename():
        with Session() as s:
            other = s.write("q.fcl", 'import "p"\nkernel other (xs : [int]) = squares xs\n')
            assert start_end(s.ask("prepareRename", "size =")) == (4, 6, 4, 10)
            assert s.ask("prepareRename", "splitUp") is None
            got = s.ask("rename", "size =", newName="side")["changes"]
            assert edited(PROGRAM, got[s.uri(s.path)]) == PROGRAM.replace("size", "side"), got
            got = s.ask("rename", "squares", 1, newName="powers")["changes"]
            assert set(got) == {s.uri(s.path), s.uri(other)}, got
            changed = edited(PROGRAM, got[s.uri(s.path)])
            assert changed.count("powers") == 3 and changed.count("squares") == 1, changed

            def refused(what, name, occurrence=0):
                line, character = place_of(PROGRAM, what, occurrence)
                return "error" in s.answer("textDocument/rename",
                                           newName=name,
                                           textDocument={"uri": s.uri(s.path)},
                                           position={
                                               "line": line,
                                               "character": character
                                           })

            assert refused("size =", "1a") and refused("size =", "let") and refused("size =", "a b")
            assert refused("splitUp", "cut"), "what the prelude defines"
            assert refused("size =", "xs"), "`xs` would be another one"
            assert refused("square =", "map"), "`map` would be another one"
            assert not refused("xs =", "zs")

    yield Case("renaming changes every use, and no meaning", rename)

    def renamed(files, where, name, *, opened=(), unsaved=None, folder=None):
        """The files after renaming, or the refusal. `where` is a file and what stands there, with its occurrence;
        `opened` are shown by the editor as they are on disk, `unsaved` as they are given."""
        file, what, occurrence = (*where, 0)[:3]
        root = env.tmp()
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            env.written(path, text, root)
        shown = {**files, **(unsaved or {})}
        with Client(env.fclc, "lsp") as s:
            more = {} if folder is None else {"workspaceFolders": [{"uri": s.uri(root), "name": "all"}]}
            s.request("initialize", processId=os.getpid(), rootUri=None, capabilities={}, **more)
            for path in dict.fromkeys((file, *opened, *(unsaved or {}))):
                s.open(os.path.join(root, path), shown[path])
            line, character = place_of(shown[file], what, occurrence)
            got = s.answer("textDocument/rename", newName=name,
                           textDocument={"uri": s.uri(os.path.join(root, file))},
                           position={"line": line, "character": character})
        if "error" in got:
            return got["error"]["message"]
        changes = got["result"]["changes"]
        assert set(changes) <= {s.uri(os.path.join(root, path)) for path in shown}, changes
        return {path: edited(text, changes.get(s.uri(os.path.join(root, path)), [])) for path, text in shown.items()}

    def rename_everywhere():
        p = ("sig twice : int -> int\nfun twice x = x + x\nkernel run (x : int) = twice x\n"
             "-- test run 1 == 2\n  -- test run 2 == 4\n-- cost run: launches == 1\n(*\n-- test run 3 == 6\n*)\n"
             "-- run is told of\n")
        q = 'import "p"\nkernel other (x : int) = twice (twice x)\n-- test other 1 == 4\n'
        files = {"p.fcl": p, "q.fcl": q}
        after = {path: text.replace("twice", "double") for path, text in files.items()}
        assert renamed(files, ("p.fcl", "twice"), "double") == after
        assert renamed(files, ("q.fcl", "twice"), "double") == after
        # Directives go with their kernel, and it with them; comments stay.
        wanted = p.replace("kernel run", "kernel all").replace("test run", "test all").replace("cost run", "cost all")
        wanted = wanted.replace("test all 3", "test run 3")
        for where in (("p.fcl", "run (x"), ("p.fcl", "run 1"), ("p.fcl", "run:")):
            assert renamed(files, where, "all") == {"p.fcl": wanted, "q.fcl": q}
        assert renamed(files, ("q.fcl", "other (x"), "o'")["q.fcl"] == q.replace("other", "o'")
        # The editor's text counts, not the file's: there, other lines use the name.
        unsaved = {"q.fcl": q.replace("twice (twice x)", "x") + "\nval four = twice 2\n"}
        assert renamed(files, ("p.fcl", "twice"), "double", unsaved=unsaved) == \
            {"p.fcl": after["p.fcl"], "q.fcl": unsaved["q.fcl"].replace("twice", "double")}
        # Folders: of the workspace all, else those of the document and of the definition.
        deep = {"a/p.fcl": p, "b/c/q.fcl": q.replace('"p"', '"../../a/p"'), "b/r.fcl": "val twice = 1\n"}
        changed = {path: text.replace("twice", "double") if path != "b/r.fcl" else text for path, text in deep.items()}
        assert renamed(deep, ("a/p.fcl", "twice"), "double", folder=True) == changed
        assert renamed(deep, ("b/c/q.fcl", "twice"), "double") == changed
        # A param, and a name that only an importing file uses.
        param = {"p.fcl": "param side : int = 8\nval s = side\n", "q.fcl": 'import "p"\nval t = side\n'}
        assert renamed(param, ("p.fcl", "side"), "width") == \
            {path: text.replace("side", "width") for path, text in param.items()}
        # Two ways to the same file, and a name that only one of them has.
        diamond = {"p.fcl": "fun f x = x + 1\n", "a.fcl": 'import "p"\nfun g x = f x\n',
                   "b.fcl": 'import "p"\nfun h x = f (f x)\n',
                   "q.fcl": 'import "a"\nimport "b"\nkernel k (x : int) = g (h x)\n-- test k 1 == 4\n'}
        assert renamed(diamond, ("a.fcl", "f x"), "next") == \
            {path: text.replace("f x", "next x").replace("f (", "next (") for path, text in diamond.items()}
        # `f` of p is not seen in q: there it is another one.
        own = {**diamond, "q.fcl": diamond["q.fcl"] + "val f = 1\n"}
        assert renamed(own, ("p.fcl", "f x"), "next")["q.fcl"] == own["q.fcl"]

        # Fields in directives: those of the type that stands there, and none that is called alike.
        text = ("type s = { x : int }\ntype r = { x : int, w : s }\n"
                "type p = { x : int, y : [int] }\ntype q = { x : p, z : int }\n"
                "kernel k (a : q) (n : int) = { a with z = n, x = { a.x with y = push <grid> a.x.y } }\n"
                "-- test k { x = {x=1,y=[1, 2]}, z = 3 } 4 == { x = {x=1,y=[1,2]}, z=4 }\n"
                "-- test k {x={x=1,y=@x.npy},z=3} 4 error \"{x=1}\"\n"
                "-- test forall n. k {x={x=1,y=iota:1000000000},z=3} n == k {x={x=1,y=fill:3:7},z=3} n\n"
                "kernel l (rs : [(int, r)]) (t : [u8]) = push <grid> (map snd rs)\n"
                "-- test l [(1, {x=1,w={x=3}})] \"{x=1}\" == []\n")
        of_p = text.replace("{ x : int, y", "{ long : int, y").replace("{x=1,y", "{long=1,y")
        assert renamed({"p.fcl": text}, ("p.fcl", "x : int, y"), "long")["p.fcl"] == of_p
        of_s = text.replace("s = { x", "s = { long").replace("w={x", "w={long")
        assert renamed({"p.fcl": text}, ("p.fcl", "x=3}"), "long")["p.fcl"] == of_s
        # Conditions of directives are programs: what they name is renamed, and what they bind is not.
        tested = {"p.fcl": "type p = { x : int }\nfun twice x = x + x\n",
                  "q.fcl": 'import "p"\nfun id y = y\nkernel run (a : p) = twice a.x\n'
                           "-- test forall twice. run twice == run twice\n"
                           "  -- test forall x when x.x > 0 && id (length [x]) == 1. run x == run x\n"
                           "-- test forall y when twice y.x > 0. run y == run y\n"}
        q = tested["q.fcl"]
        assert renamed(tested, ("p.fcl", "twice"), "double")["q.fcl"] == \
            q.replace("twice a", "double a").replace("when twice", "when double")
        assert renamed(tested, ("p.fcl", "x :"), "long")["q.fcl"] == \
            q.replace("a.x", "a.long").replace("x.x", "x.long").replace("y.x", "y.long")
        for where in ("id y", "id (length"):
            assert renamed(tested, ("q.fcl", where), "same")["q.fcl"] == q.replace("id", "same")

    yield Case("renaming changes every file, and test directives", rename_everywhere)

    def rename_refused():
        p, q = "fun twice x = x + x\n", 'import "p"\nkernel k (xs : [int]) = push <grid> (map twice (reverse xs))\n'
        files = {"p.fcl": p, "q.fcl": q}

        def refused(files, where, name, *words, **more):
            got = renamed(files, where, name, **more)
            missing = [word for word in words if word not in got]
            assert isinstance(got, str) and not missing, (where, name, got)

        # The prelude's name in a file that imports, though none in the definition's file.
        refused(files, ("p.fcl", "twice"), "reverse", "q.fcl:2:49: `reverse`", "p.fcl:1:5", "prelude/pull.fcl:")
        refused(files, ("p.fcl", "twice"), "push", "q.fcl:2:25: `push`", "p.fcl:1:5", "primitive")
        # A local name of the file that imports hides it.
        refused(files, ("p.fcl", "twice"), "xs", "q.fcl:2:42: `xs`", "q.fcl:2:11", "p.fcl:1:5")
        # A global one of that file.
        own = {**files, "q.fcl": q + "fun three x = twice x + x\nval t = three 1\n"}
        refused(own, ("p.fcl", "twice"), "three", "q.fcl:3:15: `three`", "p.fcl:1:5")
        refused(own, ("q.fcl", "three"), "twice", "q.fcl:3:15: `twice`", "p.fcl:1:5")
        # Another import of that file, which counts as it comes later; and one that would no longer.
        two = {**files, "r.fcl": "fun three x = 3 * x\n", "q.fcl": 'import "p"\nimport "r"\nval t = three (twice 1)\n'}
        refused(two, ("p.fcl", "twice"), "three", "q.fcl:3:16: `three`", "r.fcl:1:5", "p.fcl:1:5")
        refused(two, ("r.fcl", "three"), "twice", "q.fcl:3:16: `twice`", "p.fcl:1:5", "r.fcl:1:5")
        # The file that imports uses the new name alone.
        only = {**files, "r.fcl": "fun three x = 3 * x\n", "q.fcl": 'import "r"\nimport "p"\nval t = three 1\n'}
        refused(only, ("p.fcl", "twice"), "three", "q.fcl:3:9: `three`", "p.fcl:1:5", "r.fcl:1:5")
        refused({**only, "q.fcl": "val t = 1\n"}, ("p.fcl", "twice"), "three", "q.fcl:3:9",
                unsaved={"q.fcl": only["q.fcl"]})
        diamond = {"p.fcl": "fun f x = x + 1\n", "a.fcl": 'import "p"\nfun g x = f x\n',
                   "b.fcl": 'import "p"\nfun h x = f (f x)\n',
                   "q.fcl": 'import "a"\nimport "b"\nkernel k (x : int) = g (h x)\n'}
        refused(diamond, ("a.fcl", "g x"), "h", "q.fcl:3:22: `h`", "b.fcl:2:5", "a.fcl:2:5")
        # Test directives would be another kernel's, and that one would not be compiled.
        kernels = {"p.fcl": "kernel a (x : int) = x\n-- test a 1 == 1\nkernel b (x : int) = x + 1\n-- test b 1 == 2\n"}
        refused(kernels, ("p.fcl", "a (x"), "b", "p.fcl:2:9: `b`", "p.fcl:3:8", "p.fcl:1:8")
        bare = {"p.fcl": "kernel a (x : int) = x\nkernel b (x : int) = x + 1\n"}
        refused(bare, ("p.fcl", "b (x"), "a", "W010", "p.fcl:2:8")
        # Local names, in both directions.
        local = {"p.fcl": "fun f x =\n  let y = x + 1\n      g z = y + z\n  in g x\n"}
        refused(local, ("p.fcl", "y ="), "z", "p.fcl:3:13: `z`", "p.fcl:3:9", "p.fcl:2:7")
        refused(local, ("p.fcl", "z ="), "y", "p.fcl:3:13: `y`", "p.fcl:3:9")
        for name in ("1a", "let", "a b", "", "_", "+", "a-b", "\u00e4", "#BlockSize"):
            refused(local, ("p.fcl", "y ="), name, "a name is a letter")
        # Places that have no name of their own, or that keep it.
        refused(local, ("p.fcl", "let"), "a", "no name of this program")
        refused(local, ("p.fcl", "1\n"), "a", "no name of this program")
        refused({"p.fcl": "type pair = (int, int)\nfun f (p : pair) = fst p\n"}, ("p.fcl", "pair"), "two", "type")
        refused(files, ("q.fcl", "reverse"), "turned", "prelude/pull.fcl")
        refused(files, ("q.fcl", "push"), "put", "primitive")
        # A file that cannot be read or checked may use the name; others are changed.
        wrong = {**files, "q.fcl": q + "val broken = twice +\n"}
        refused(wrong, ("p.fcl", "twice"), "double", "q.fcl:3:14", "errors")
        wrong = {**files, "q.fcl": q + "val broken = doubled 1\n"}
        refused(wrong, ("p.fcl", "twice"), "doubled", "q.fcl:3:14", "errors")
        wrong = {"p.fcl": p + "val other = 1 +\nval more = 1 + true\nval two = twice 1\n", "q.fcl": q}
        assert renamed(wrong, ("q.fcl", "twice"), "double") == \
            {path: text.replace("twice", "double") for path, text in wrong.items()}
        # Fields and constructors are names as others.
        records = {"p.fcl": "type point = { x : int, y : int }\nfun f p = { p with x = p.x + 1 }\n"}
        assert renamed(records, ("p.fcl", "x ="), "across")["p.fcl"] == \
            "type point = { x : int, y : int }\nfun f p = { p with x = p.x + 1 }\n".replace("x", "across")
        # A pattern that binds the field's own name says both where one of them is another.
        both = {"p.fcl": "type p = { x : int, y : int }\nfun f (q : p) = let { x, y = z } = q in (x + z, q.x)\n"
                         "fun g { y, x } = x + y\n"}
        for what, wanted in (("x :", both["p.fcl"].replace("{ x :", "{ long :").replace("{ x, y", "{ long = x, y")
                              .replace("q.x", "q.long").replace("y, x }", "y, long = x }")),
                             ("x, y =", both["p.fcl"].replace("x, y =", "x = long, y =").replace("(x", "(long")),
                             ("x }", both["p.fcl"].replace("x }", "x = long }").replace("x + y", "long + y"))):
            assert renamed(both, ("p.fcl", what), "long")["p.fcl"] == wanted, what
        refused(both, ("p.fcl", "x, y ="), "z", "p.fcl:2:34")
        # Formulas of costs name parameters and their fields, and conditions of properties name fields.
        cost = {"p.fcl": "type body a = { pos : (a, a), mass : a, tag : int }\n"
                         "kernel f (mass : [int]) (mass_pos : [body float]) (q : ([int], body [int])) =\n"
                         "  (push <grid> (map (fn b => b.mass) mass_pos), fst q, (snd q).mass, mass)\n"
                         "-- cost f: read <= 9 * mass_pos_mass + ceil(q_1_mass_length / 2) + mass, launches==4\n"
                         "-- cost f: written <= q_0 + mass_pos_length * 2 + q_1_pos_1\n"
                         "kernel g (b : body int) = b.mass\n"
                         "-- test forall b when b.mass > 0 && b.tag > 0. g b == g b\n"}
        for what, at, wanted in (
                ("mass : a", 0, {"mass : a": "m : a", "b.mass": "b.m", "(snd q).mass": "(snd q).m",
                                 "pos_mass +": "pos_m +", "q_1_mass_l": "q_1_m_l"}),
                ("pos :", 0, {"pos : (a": "m : (a", "q_1_pos_1": "q_1_m_1"}),
                ("mass :", 1, {"(mass : [int": "(m : [int", ".mass, mass)": ".mass, m)",
                               "+ mass, l": "+ m, l"}),
                ("mass_pos :", 0, {"mass_pos": "m"}),
                ("q :", 0, {"(q :": "(m :", "fst q": "fst m", "snd q": "snd m", "q_": "m_"})):
            text = cost["p.fcl"]
            for old, new in wanted.items():
                assert old in text, old
                text = text.replace(old, new)
            got = renamed(cost, ("p.fcl", what, at), "m")
            assert got == {"p.fcl": text}, (what, got)
        data = {"p.fcl": "data option a = None | Some a\nfun get o = match o with Some x => x | None => 0\n"}
        assert renamed(data, ("p.fcl", "Some a"), "Just")["p.fcl"] == data["p.fcl"].replace("Some", "Just")
        # A type of that name is none of its uses.
        types = {"p.fcl": "type old = int\nfun f (x : old) = let old = x in old + 1\n"}
        assert renamed(types, ("p.fcl", "old = x"), "new")["p.fcl"] == \
            "type old = int\nfun f (x : old) = let new = x in new + 1\n"

    yield Case("renaming is refused with the place where a name would be another one", rename_refused)

    def typing():
        with Session() as s:

            def labels(text, at=None):
                s.change(s.path, text)
                line, character = place_of(text + "\0", "\0") if at is None else at
                got = s.at("completion", s.path, line, character)["items"]
                return {one["label"]: one for one in got}

            got = labels(PROGRAM + "kernel k (zs : [int]) = squ")
            assert "squares" in got and "[int]<grid>" in got["squares"]["detail"], got
            assert "squares of all" in got["squares"]["documentation"]["value"]
            got = labels(PROGRAM + "kernel k (zebras : [int]) = let z1 = 1 in push <grid> (z")
            assert {"zebras", "z1", "zip", "zipWith"} <= set(got), sorted(got)
            assert "reduceChunkInOrder" not in labels("val a = reduceC"), "internal"
            assert set(labels("val a = push <")) == {"thread", "warp", "block", "grid"}
            assert "#BlockSize" in labels("val a = #B") and "fn" in labels("val a = f")
            assert "matrix" in labels('import "m')
            records = "type point = { x : int, y : int }\ntype body = { mass : float }\n"
            assert set(labels(records + "fun f p = p.")) == {"x", "y", "mass"}
            whole = records + "fun f (p : point) = p.x\n"
            assert set(labels(whole, place_of(whole, "p.x", 0, 2))) == {"x", "y"}

            def help_at(text):
                s.change(s.path, text)
                return s.at("signatureHelp", s.path, *place_of(text + "\0", "\0"))

            got = help_at("fun f xs = splitUp 3 ")
            assert got["activeParameter"] == 1 and "splitUp : int" in got["signatures"][0]["label"]
            got = help_at("fun f xs = map (fn x => foldl (+) ")["signatures"][0]
            assert got["label"].startswith("foldl :"), got
            begin, end = got["parameters"][0]["label"]
            assert got["label"][begin:end] == "(a -> b -> a)", got
            assert help_at("fun f xs = push <block> ")["activeParameter"] == 1
            assert help_at("fun f xs = splitUp 3 xs ") is None
            assert help_at("fun f xs = 1 + ") is None
            got = help_at("fun own a b = (a, b + 1)\nfun f xs = own 1 ")
            assert got["signatures"][0]["label"].startswith("own : num"), got

    yield Case("completion and signatures in programs that are not whole", typing)

    def inlays_and_layout():
        with Session() as s:
            everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
            got = {
                (one["position"]["line"], one["position"]["character"]): one["label"]
                for one in s.about("inlayHint", range=everything)
            }
            assert got[place_of(PROGRAM, "square =", inside=6)] == " : num a => a -> a", got
            assert got[place_of(PROGRAM, "half", inside=4)] == " : double", got
            assert place_of(PROGRAM, "xs : [int]", inside=2) not in got
            options = {"tabSize": 2, "insertSpaces": True}
            assert s.about("formatting", options=options) == []
            rough = PROGRAM.replace("      size", " size").replace(" = ", "=")
            s.change(s.path, rough)
            assert edited(rough, s.about("formatting", options=options)) == PROGRAM
            s.change(s.path, "val a = (")
            assert s.about("formatting", options=options) is None

    yield Case("inlay hints and the layout", inlays_and_layout)

    def actions():
        with Session() as s:

            def mended(text, title):
                s.change(s.path, text)
                whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
                found = s.about("codeAction", range=whole, context={"diagnostics": []})
                for one in found:
                    if one["title"].startswith(title):
                        return edited(text, one["edit"]["changes"][s.uri(s.path)])
                raise AssertionError(f"no {title}: {json.dumps(found)}")

            assert mended("fun f x = mpa x\n", "Write `map`") == "fun f x = map x\n"
            assert mended("fun f x = zip_with x\n", "Write") == "fun f x = zipWith x\n"
            assert mended("fun f x y = x \u2264 y\n", "Write `<=`") == "fun f x y = x <= y\n"
            assert mended("-- Of f.\nfun f x = matMul 1 x\n", 'Add `import "matrix"`') == \
                'import "matrix"\n-- Of f.\nfun f x = matMul 1 x\n'
            assert mended("fun f x y = x\n", "Call it") == "fun f x _y = x\n"
            text = "fun f x = x + 1\n"
            s.change(s.path, text)
            place = {"line": 0, "character": 4}
            found = s.about("codeAction",
                            range={
                                "start": place,
                                "end": place
                            },
                            context={"diagnostics": []})
            got = edited(text, found[0]["edit"]["changes"][s.uri(s.path)])
            assert got == "sig f : num a => a -> a\n" + text, got

    yield Case("code actions do what the hints say", actions)

    def diagnostics():
        with Session() as s:
            assert s.diagnostics(s.path) == []
            s.change(s.path, "fun f x =\n  x + yy\nval b = nothing\n")
            got = s.diagnostics(s.path)
            assert [(one["code"], start_end(one["range"]))
                    for one in got] == [("E0201", (1, 6, 1, 8)), ("E0201", (2, 8, 2, 15))], got
            s.change(s.path, "fun f n = if n == 0 then 0 else f (n - 1)\n"
                     "kernel k (n : int) = f n\n")
            found = s.diagnostics(s.path) or s.diagnostics(s.path)
            assert [one["code"] for one in found] == ["E0301"], found
            s.change(s.path, 'import "wrong"\nval c = 1\n')
            wrong = s.write("wrong.fcl", "val a = 1 +\n")
            s.change(s.path, 'import "wrong"\nval c = 2\n')
            got = s.diagnostics(s.path)
            assert len(got) == 1 and "wrong.fcl:1:12: " in got[0]["message"], got
            assert start_end(got[0]["range"]) == (0, 7, 0, 14), got
            s.open(wrong, "val a = 1\n")  # not saved: what the editor shows counts
            s.change(s.path, 'import "wrong"\nval c = a\n')
            assert s.diagnostics(s.path) == []
            s.close(s.path)

    yield Case("diagnostics of what the editor shows", diagnostics)

    def like_check():
        paths = sorted(glob.glob(env.path("tests", "errors",
                                          "*.fcl")))[::12 if env.sanitized else 4]
        with Client(env.fclc, "lsp") as s:
            s.start()
            for path in paths:
                with open(path, "rb") as file:
                    text = file.read().decode("utf-8", errors="replace")
                if "-- run" in text or "-- compile" in text or "\0" in text or "\ufffd" in text:
                    continue
                done = env.run(env.fclc, "check", "--types-only", "--diagnostics=json", path)
                wanted = [(one["code"], one["line"] - 1) for one in json.loads(done.stderr)
                          if one.get("file") == path]
                s.open(path, text)
                got = [(one["code"], one["range"]["start"]["line"]) for one in s.diagnostics(path)]
                assert got[:len(wanted)] == wanted[:200], f"{path}: {got}, {wanted}"
                s.close(path)
            assert s.stop() == 0

    yield Case("diagnostics are those of fclc check", like_check)

    def broken():
        # A program as it is typed, cut anywhere, with pieces of others: every request is answered.
        dice = random.Random(7)
        with open(env.path("examples", "mandelbrot", "mandelbrot.fcl"), encoding="utf-8") as file:
            text = file.read()
        methods = ("hover", "definition", "completion", "signatureHelp", "references",
                   "documentHighlight", "prepareRename")
        with Session() as s:
            for step in range(10 if env.sanitized else 40):
                cut = dice.randrange(len(text))
                torn = text[:cut]
                if step % 2:
                    at = dice.randrange(cut + 1)
                    torn = torn[:at] + dice.choice([
                        "(", "<", "\"", "(*", "\u2264", "\0", "-", "let", "\U0001d538", "in", "fn",
                        "\t"
                    ]) + torn[at:]
                s.change(s.path, torn)
                line, character = place_of(torn + "\1", "\1")
                s.at(methods[step % len(methods)], s.path, line, max(0, character - step % 3))
            s.about("inlayHint",
                    range={
                        "start": {
                            "line": 0,
                            "character": 0
                        },
                        "end": {
                            "line": 999,
                            "character": 0
                        }
                    })
            s.about("documentSymbol")
            s.at("hover", s.path, 100000, 100000)
            deep = "val a = " + "(" * 30000 + "1" + ")" * 30000
            s.change(s.path, deep)
            s.at("hover", s.path, 0, 4)
            s.about("formatting", options={})
            assert s.stop() == 0

    yield Case("programs that are torn are answered for", broken)

    def compiler_ends():
        # The process that looks at a program is ended from outside: the session goes on.
        with Session() as s:
            s.diagnostics(s.path)
            slow = ("fun f n x = if n == 0 then x else f (n - 1) (f (n - 1) (x + 1))\n"
                    "kernel k (x : int) = f 24 x\n")
            s.change(s.path, slow)
            assert s.diagnostics(s.path) == [], "those of the types come first"
            children = f"/proc/{s.process.pid}/task"
            found = []
            deadline = time.monotonic() + 30
            while not found and time.monotonic() < deadline:
                for task in os.listdir(children):
                    with open(f"{children}/{task}/children", encoding="ascii") as file:
                        found += [int(one) for one in file.read().split()]
            if not found:
                raise Skip("/proc does not tell of children")
            os.kill(found[0], signal.SIGSEGV)
            assert "half" in json.dumps(s.hover("half") or "half")
            s.change(s.path, slow + "\n")
            assert s.diagnostics(s.path) == []
            s.change(s.path, PROGRAM)  # ends the one that is still at work
            assert s.diagnostics(s.path) == []
            assert s.stop() == 0

    if not env.sanitized:
        yield Case("a compiler that crashes ends no session", compiler_ends)

    def neovim():
        nvim = shutil.which("nvim")
        if not nvim:
            raise Skip("Neovim is not installed (Debian: neovim)")
        folder = env.tmp()
        program = env.written("p.fcl", PROGRAM.replace("map square", "mpa square"), folder)
        out = os.path.join(folder, "out")
        done = subprocess.run(
            [nvim, "--headless", "--clean", "-u",
             env.path("tests", "lsp", "session.lua"), program],
            env={
                **os.environ, "FCLC": env.fclc,
                "OUT": out,
                "HOME": folder,
                "XDG_STATE_HOME": folder
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL)
        said = done.stdout + done.stderr
        assert os.path.exists(out), said
        with open(out, encoding="utf-8") as file:
            lines = file.read().splitlines()
        assert lines == [
            "E0201 5 51", "hover squares : [int] -> [int]<grid>", "definition 5", "action mended",
            "format clean", "rename 3"
        ], f"{lines}\n{said}"

    if not env.sanitized:
        yield Case("Neovim's client", neovim)
