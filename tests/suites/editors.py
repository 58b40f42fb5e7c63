"""The files of editors/: each editor's own engine, or what stands in for it, tells words as the lexer does."""

import glob
import json
import os
import re
import shutil
import subprocess

from harness import Case, Skip

ORDER = 40

TRICKY = """\
-- A comment, and no `(*` in it.
fun f <l> x' _y = (*) x' ( * 2) + 0x1f_fu8 - 1_0.5e-3f32 (* a (* nested (*) one *) let -- in it *) * 0b1i8
fun letter infix = x-- at once: let
val a = x->y |> #BlockSize - 3f64 + 1e5 (* over
lines let 1 *) + not true mod 2 div 3
sig g : 'a -> [b]<block> -- "no string
import "a--b"
-- test f 1 == 2
"""


def places(env, path):
    """(line, byte, kind) of every token and comment, from 1; kinds as --dump=tokens has them."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found, behind = [], 0

    def add(offset, kind):
        line = text.count("\n", 0, offset)
        byte = len(lines[line][:offset - starts[line]].encode())
        found.append((line + 1, byte + 1, kind))

    def add_comments(begin, end):
        gap = text[begin:end]
        if gap.strip():
            add(begin + len(gap) - len(gap.lstrip()), "comment")
            add(begin + len(gap.rstrip()) - 1, "comment")
    for row in env.must(env.fclc, "--dump=tokens", path).splitlines():
        place, kind, *word = row.split(" ", 2)
        line, column = (int(part) for part in place.split(":"))
        offset = starts[line - 1] + column - 1
        if kind == "binding":
            continue
        if kind == "end":
            offset = len(text)
        add_comments(behind, offset)
        if kind != "end":
            if word[0] not in ("forall", "where"):  # words in types only
                add(offset, kind)
            behind = offset + len(word[0])
    return found


VIM = {"fclDeclaration": "keyword", "fclKeyword": "keyword", "fclBoolean": "keyword", "fclName": "name",
       "fclConstant": "config", "fclTypeVariable": "type-variable", "fclNumber": "integer",
       "fclFloat": "floating", "fclOperator": "symbol", "fclBracket": "symbol", "fclString": "string",
       "fclComment": "comment", "fclBlockComment": "comment", "fclProduct": "comment", "fclTest": "comment", "fclTodo": "comment"}
EMACS = {"font-lock-keyword-face": "keyword", "font-lock-constant-face": "keyword",
         "font-lock-builtin-face": "config", "font-lock-type-face": "type-variable",
         "font-lock-string-face": "string", "font-lock-comment-face": "comment",
         "font-lock-comment-delimiter-face": "comment", "font-lock-doc-face": "comment"}
TEXTMATE = {"keyword.declaration.fcl": "keyword", "keyword.control.fcl": "keyword",
            "constant.language.fcl": "keyword", "entity.name.function.fcl": "name",
            "variable.other.fcl": "name", "support.constant.fcl": "config",
            "storage.type.fcl": "type-variable", "constant.numeric.integer.fcl": "integer",
            "constant.numeric.float.fcl": "floating", "keyword.operator.fcl": "symbol",
            "string.quoted.double.fcl": "string", "comment.line.double-dash.fcl": "comment",
            "comment.block.fcl": "comment", "source.fcl": "symbol"}


class TextMate:
    """What editors do with a TextMate grammar: rules by line, the first that matches soonest."""

    def __init__(self, grammar):
        self.grammar = grammar
        self.compiled = {}

    def expression(self, text):
        if text not in self.compiled:
            self.compiled[text] = re.compile(text)
        return self.compiled[text]

    def rules(self, patterns):
        for one in patterns:
            if "include" in one:
                included = self.grammar["repository"][one["include"][1:]]
                yield from self.rules([included] if "begin" in included else included["patterns"])
            else:
                yield one

    def scopes(self, text):
        """For each line the scope of each character."""
        stack = [(self.grammar, self.grammar["scopeName"])]
        result = []
        for line in text.split("\n"):
            scopes, at = [None] * len(line), 0
            while at < len(line):
                rule, scope = stack[-1]
                best = None
                if "end" in rule:
                    found = self.expression(rule["end"]).search(line, at)
                    best = found and (found.start(), -1, found, None)
                for order, one in enumerate(self.rules(rule.get("patterns", []))):
                    found = self.expression(one.get("match") or one["begin"]).search(line, at)
                    if found and (not best or (found.start(), order) < best[:2]):
                        best = (found.start(), order, found, one)
                end = best[2].start() if best else len(line)
                scopes[at:end] = [scope] * (end - at)
                if not best:
                    break
                _, _, found, one = best
                inner = scope if one is None else one.get("name", scope)
                scopes[found.start():found.end()] = [inner] * (found.end() - found.start())
                for group, capture in (one or {}).get("captures", {}).items():
                    begin, end = found.span(int(group))
                    scopes[begin:end] = [capture["name"]] * (end - begin)
                if one is None:
                    stack.pop()
                elif "begin" in one:
                    stack.append((one, inner))
                assert found.end() > at or one is None or "begin" in one, f"{one} matches nothing"
                at = found.end()
            result.append(scopes)
        return result


def cases(env):
    def samples():
        folder = env.tmp()
        tricky = os.path.join(folder, "tricky.fcl")
        with open(tricky, "w", encoding="utf-8") as file:
            file.write(TRICKY)
        programs = sorted(glob.glob(env.path("examples", "*", "*.fcl")) + glob.glob(env.path("lib", "*.fcl")) +
                          glob.glob(env.path("tests", "run", "*.fcl")))
        return [tricky] + programs[::9]

    def compare(path, place, kind, got, known, plain=()):
        wanted = {"level-open": "symbol", "level-close": "symbol"}.get(kind, kind)
        seen = known.get(got, "plain")
        assert seen == ("plain" if wanted in plain else wanted), f"{path}:{place}: {kind} is {got}"

    def by_editor(command, known, plain=()):
        folder = env.tmp()
        asked = [(path, line, byte, kind) for path in samples() for line, byte, kind in places(env, path)]
        with open(os.path.join(folder, "places"), "w", encoding="utf-8") as file:
            file.writelines(f"{path}\t{line}\t{byte}\n" for path, line, byte, _ in asked)
        out = os.path.join(folder, "out")
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PLACES": os.path.join(folder, "places"), "OUT": out, "HOME": folder,
                                   "EDITOR_FILES": env.path("editors", "vim" if known is VIM else "")})
        assert os.path.exists(out), done.stdout + done.stderr
        with open(out, encoding="utf-8") as file:
            *groups, last = file.read().splitlines()
        assert len(groups) == len(asked) > 1000
        for (path, line, byte, kind), group in zip(asked, groups):
            compare(path, f"{line}:{byte}", kind, group, known, plain)
        return last

    def vim():
        nvim = shutil.which("nvim")
        if not nvim:
            raise Skip("Neovim is not installed (Debian: neovim)")
        last = by_editor([nvim, "--headless", "--clean", "-u", env.path("tests", "editors", "groups.lua")], VIM)
        assert last == "fcl -- %s", last
    yield Case("Vim's syntax", vim)

    def emacs():
        if not shutil.which("emacs"):
            raise Skip("Emacs is not installed (Debian: emacs-nox)")
        last = by_editor(["emacs", "--batch", "-Q", "-l", env.path("tests", "editors", "faces.el")], EMACS,
                         plain=("symbol", "integer", "floating", "name"))
        assert last == "fcl-mode -- ", last
        laid_out = env.must("emacs", "--batch", "-Q", "-l", env.path("editors", "emacs", "fcl-mode.el"),
                            "--eval", f"""(with-temp-buffer
                              (setq fcl-fclc "{env.fclc}")
                              (insert "val  a=1")
                              (fcl-format-buffer)
                              (princ (buffer-string)))""")
        assert laid_out == "val a = 1\n", laid_out
    yield Case("Emacs' mode", emacs)

    def textmate():
        with open(env.path("editors", "vscode", "syntaxes", "fcl.tmLanguage.json"), encoding="utf-8") as file:
            engine = TextMate(json.load(file))
        for path in samples():
            with open(path, encoding="utf-8") as file:
                text = file.read()
            scopes, lines = engine.scopes(text), text.split("\n")
            for line, byte, kind in places(env, path):
                column = len(lines[line - 1].encode()[:byte - 1].decode())
                compare(path, f"{line}:{byte}", kind, scopes[line - 1][column], TEXTMATE)
    yield Case("the TextMate grammar, of VS Code and others", textmate)

    def extension():
        folder = env.path("editors", "vscode")
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            package = json.load(file)
        contributes = package["contributes"]
        for path in [package["main"], contributes["languages"][0]["configuration"],
                     contributes["grammars"][0]["path"]]:
            assert os.path.exists(os.path.join(folder, path)), path
        with open(os.path.join(folder, "language-configuration.json"), encoding="utf-8") as file:
            json.load(file)
        version = env.must(env.fclc, "--version").split()[1]
        assert package["version"] == version, version
    yield Case("VS Code's extension names files that are there", extension)
