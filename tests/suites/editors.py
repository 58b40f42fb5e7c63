"""The files of editors/: each editor's own engine, or a stand-in, tells words as the lexer does."""

import glob
import json
import os
import random
import re
import shutil
import subprocess

from harness import Case, Skip
from programs import programs as tested_programs

ORDER = 40

TRICKY = """\
-- A comment, and no `(*` in it.
fun f <l> x' _y = (*) x' ( * 2) + 0x1f_fu8 - 1_0.5e-3f32 (* a (* nested (*) *) let -- in *) * 0b1i8
fun letter infix = x-- at once: let
val a = x->y |> #BlockSize - 3f64 + 1e5 - 2bf16 * 1.5f16 (* over
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


VIM = {
    "fclDeclaration": "keyword",
    "fclKeyword": "keyword",
    "fclBoolean": "keyword",
    "fclName": "name",
    "fclConstant": "config",
    "fclTypeVariable": "type-variable",
    "fclNumber": "integer",
    "fclFloat": "floating",
    "fclOperator": "symbol",
    "fclBracket": "symbol",
    "fclString": "string",
    "fclComment": "comment",
    "fclBlockComment": "comment",
    "fclProduct": "comment",
    "fclTest": "comment",
    "fclTodo": "comment"
}
EMACS = {
    "font-lock-keyword-face": "keyword",
    "font-lock-constant-face": "keyword",
    "font-lock-builtin-face": "config",
    "font-lock-type-face": "type-variable",
    "font-lock-string-face": "string",
    "font-lock-comment-face": "comment",
    "font-lock-comment-delimiter-face": "comment",
    "font-lock-doc-face": "comment"
}
TEXTMATE = {
    "keyword.declaration.fcl": "keyword",
    "keyword.control.fcl": "keyword",
    "constant.language.fcl": "keyword",
    "entity.name.function.fcl": "name",
    "variable.other.fcl": "name",
    "support.constant.fcl": "config",
    "storage.type.fcl": "type-variable",
    "constant.numeric.integer.fcl": "integer",
    "constant.numeric.float.fcl": "floating",
    "keyword.operator.fcl": "symbol",
    "string.quoted.double.fcl": "string",
    "comment.line.double-dash.fcl": "comment",
    "comment.block.fcl": "comment",
    "source.fcl": "symbol"
}


SAME = {kind: kind for kind in (*VIM.values(), "name")}


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
        tricky = env.written("tricky.fcl", TRICKY, folder)
        # An editor looks at words alone: one that is a name where it means nothing is a keyword to it.
        paths = [path for path in tested_programs(env) if not path.endswith("/words_as_names.fcl")]
        paths += sorted(glob.glob(env.path("lib", "*.fcl")))
        always = ["optimiser/contract", "optimiser/approximate", "language/any_order", "language/records",
                  "language/alternatives",
                  "language/characters_and_texts"]
        return [tricky] + [env.path("tests", "run", name + ".fcl") for name in always] + paths[::9]

    def compare(path, place, kind, got, known, plain=()):
        wanted = {one: "symbol" for one in ("level-open", "level-close", "field-point", "bar")}.get(kind, kind)
        seen = known.get(got, "plain")
        assert seen == ("plain" if wanted in plain else wanted), f"{path}:{place}: {kind} is {got}"

    def by_editor(command, known, plain=()):
        folder = env.tmp()
        asked = [(path, line, byte, kind) for path in samples()
                 for line, byte, kind in places(env, path)]
        with open(os.path.join(folder, "places"), "w", encoding="utf-8") as file:
            file.writelines(f"{path}\t{line}\t{byte}\n" for path, line, byte, _ in asked)
        out = os.path.join(folder, "out")
        done = subprocess.run(command,
                              capture_output=True,
                              text=True,
                              timeout=300,
                              check=False,
                              stdin=subprocess.DEVNULL,
                              env={
                                  **os.environ, "PLACES": os.path.join(folder, "places"),
                                  "OUT": out,
                                  "HOME": folder,
                                  "EDITOR_FILES": env.path("editors", "vim" if known is VIM else "")
                              })
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
        last = by_editor(
            [nvim, "--headless", "--clean", "-u",
             env.path("tests", "editors", "groups.lua")], VIM)
        assert last == "fcl -- %s", last

    yield Case("Vim's syntax", vim)

    def emacs():
        if not shutil.which("emacs"):
            raise Skip("Emacs is not installed (Debian: emacs-nox)")
        last = by_editor(["emacs", "--batch", "-Q", "-l",
                          env.path("tests", "editors", "faces.el")],
                         EMACS,
                         plain=("symbol", "integer", "floating", "name"))
        assert last == "fcl-mode -- ", last
        laid_out = env.must(
            "emacs", "--batch", "-Q", "-l", env.path("editors", "emacs", "fcl-mode.el"), "--eval",
            f"""(with-temp-buffer
                              (setq fcl-fclc "{env.fclc}")
                              (insert "val  a=1")
                              (fcl-format-buffer)
                              (princ (buffer-string)))""")
        assert laid_out == "val a = 1\n", laid_out

    yield Case("Emacs' mode", emacs)

    def textmate():
        with open(env.path("editors", "vscode", "syntaxes", "fcl.tmLanguage.json"),
                  encoding="utf-8") as file:
            engine = TextMate(json.load(file))
        for path in samples():
            with open(path, encoding="utf-8") as file:
                text = file.read()
            scopes, lines = engine.scopes(text), text.split("\n")
            for line, byte, kind in places(env, path):
                column = len(lines[line - 1].encode()[:byte - 1].decode())
                compare(path, f"{line}:{byte}", kind, scopes[line - 1][column], TEXTMATE)

    yield Case("the TextMate grammar, of VS Code and others", textmate)

    def playground():
        node = shutil.which("node")
        if not node:
            raise Skip("Node.js is not installed (Debian: nodejs)")
        paths = samples()
        found = json.loads(env.must(node, env.path("tests", "editors", "highlight.js"), *paths))
        for path, kinds in zip(paths, found, strict=True):
            for line, byte, kind in places(env, path):
                compare(path, f"{line}:{byte}", kind, kinds[line - 1][byte - 1], SAME)

    yield Case("the colours of the page to play on", playground)

    def extension():
        folder = env.path("editors", "vscode")
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            package = json.load(file)
        contributes = package["contributes"]
        for path in [
                package["main"], contributes["languages"][0]["configuration"],
                contributes["grammars"][0]["path"]
        ]:
            assert os.path.exists(os.path.join(folder, path)), path
        with open(os.path.join(folder, "language-configuration.json"), encoding="utf-8") as file:
            json.load(file)

    yield Case("VS Code's extension names files that are there", extension)

    # ---- tree-sitter ----

    folder = env.path("editors", "tree-sitter-fcl")

    def programs():
        found = glob.glob(env.path("**", "*.fcl"), recursive=True)
        return sorted(path for path in found
                      if not os.path.relpath(path, env.root).startswith("build"))

    def tokens_of(path):
        """(offset, kind, text) of each token: the offset in bytes."""
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line.encode()) + 1)
        for row in env.must(env.fclc, "--dump=tokens", path).splitlines():
            place, kind, *word = row.split(" ", 2)
            line, column = (int(part) for part in place.split(":"))
            yield starts[line - 1] + len(lines[line - 1][:column - 1].encode()), kind, (word
                                                                                        or [""])[0]

    def grammar_json():
        node = shutil.which("node")
        if not node:
            raise Skip("Node.js is not installed (Debian: nodejs)")
        wanted = env.must(node, env.path("tests", "support", "tree_sitter_grammar.js"),
                          os.path.join(folder, "grammar.js"))
        with open(os.path.join(folder, "src", "grammar.json"), encoding="utf-8") as file:
            assert file.read() == wanted, "src/grammar.json is not what grammar.js says"

    yield Case("tree-sitter: grammar.json is made of grammar.js", grammar_json)

    def grammar():
        build = env.tmp()
        files = [os.path.join(build, name) for name in ("parser.y", "tokens", "parser.c", "parser")]
        env.must("python3", env.path("tests", "support", "tree_sitter.py"),
                 os.path.join(folder, "src", "grammar.json"), *files[:2])
        env.must("bison", "-Werror=conflicts-sr", "-Werror=conflicts-rr", "-o", files[2], files[0])
        env.must("gcc", "-O1", "-w", "-o", files[3], files[2])
        with open(files[1], encoding="utf-8") as file:
            numbers = {
                tuple(line.rstrip("\n").split("\t")[1:]): line.split("\t")[0]
                for line in file
            }
        rules = {
            "name": "identifier",
            "type-variable": "type_variable",
            "config": "constant",
            "integer": "integer",
            "floating": "float",
            "string": "string",
            "level-open": "_level_open",
            "field-point": "_field_point",
            "bar": "_bar",
            "binding": "_binding_start"
        }

        def parses(path):
            stream, in_where = [], False
            for _, kind, text in tokens_of(path):
                if kind == "keyword":
                    in_where = text == "where" or (in_where and text not in declaring)
                is_rule = kind in rules and not (in_where and text in ("stored", "as"))
                key = ("rule", rules[kind]) if is_rule else ("text", text)
                if kind != "end":
                    stream.append(numbers.get(key, "0"))
            return env.run(files[3], input="\n".join(stream)).returncode == 0

        declaring = ("sig", "fun", "val", "kernel", "param", "type", "data", "import")
        good = 0
        for path in programs():
            if os.path.basename(os.path.dirname(path)) != "errors":
                assert parses(path), path
                good += 1
        assert good > 100, good
        # With a token less, or one twice, both say the same.
        dice = random.Random(3)
        verdicts = []
        torn = os.path.join(build, "torn.fcl")
        while len(verdicts) < 60:
            path = dice.choice(samples())
            with open(path, "rb") as file:
                text = file.read()
            offset, kind, word = dice.choice(
                [one for one in tokens_of(path) if one[1] in ("symbol", "keyword", "name")])
            end = offset + len(word.encode())
            with open(torn, "wb") as file:
                file.write(text[:offset] +
                           dice.choice([b"", text[offset:end] + b" " + text[offset:end]]) +
                           text[end:])
            errors = env.run(env.fclc, "--dump=ast", "--no-prelude", torn).stderr
            # not of what a grammar cannot say: a constraint is read as a type, until `=>` comes
            if not re.search(r"error\[E01(?!1[01])|expected a constraint", errors):
                verdicts.append((parses(torn), "error[E01" not in errors))
                assert verdicts[-1][0] == verdicts[-1][
                    1], f"{path}, {word} at {offset}: {verdicts[-1]} {errors}"
        assert len(set(verdicts)) == 2

    yield Case("tree-sitter: the grammar takes every program, and what is none not", grammar)

    def scanner():
        build = env.tmp()
        scan = os.path.join(build, "scan")
        env.must("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
                 "-I", env.path("tests", "editors"), "-o", scan,
                 env.path("tests", "editors", "scan.c"), os.path.join(folder, "src", "scanner.c"))
        binding, level, comment, point, bar = 1, 2, 4, 8, 16
        counts = {}
        for path in samples() + [env.path("tests", "fmt", "layout.fcl")] + \
                sorted(glob.glob(env.path("prelude", "*.fcl"))):
            with open(path, "rb") as file:
                text = file.read()
            asked, wanted = [], []

            def ask(offset, symbols, symbol, what):
                asked.append(f"{offset} {symbols}\n")
                wanted.append((symbol, f"{path}: {what} behind byte {offset}"))
                counts[what] = counts.get(what, 0) + 1

            behind, open_, last = 0, [], ""
            for offset, kind, word in tokens_of(path):
                gap = text[behind:offset].strip()
                if gap.startswith(b"(*"):
                    ask(behind, comment, 2, "comment")
                if kind == "binding":
                    if not gap:
                        ask(behind, binding, 0, "binding")
                    open_[-1] = "let"
                    continue
                if word in ("(", "<") and not gap:
                    ask(behind, comment, -1, "no comment")
                if word == "<" and not gap:
                    ask(behind, level, 1 if kind == "level-open" else -1, kind)
                if word == ".":
                    ask(behind, point, 3 if kind == "field-point" else -1, kind)
                if word == "|":
                    ask(behind, bar, 4 if kind == "bar" else -1, kind)
                # In the value of a binding, behind an operand: an argument, or the next binding.
                if open_ and open_[-1] == "value" and not gap and last == "operand" \
                        and (kind == "name" or word == "("):
                    ask(behind, binding, -1, "argument")
                if word in ("(", "[", "{", "fn") or kind == "level-open":
                    open_.append(word)
                elif word == "let":
                    open_.append("let")
                elif word == "=" and open_ and open_[-1] in ("let", "value"):
                    open_[-1] = "value"
                elif word == "=>" and open_ and open_[-1] == "fn" or word in (")", "]", "}") or \
                        kind == "level-close" or (word == "in" and open_ and open_[-1] == "value"):
                    open_.pop()
                is_operand = kind in ("name", "integer", "floating", "config") or word in (")", "]")
                last = "operand" if is_operand else word
                behind = offset + len(word.encode())
            got = env.must(scan, path, input="".join(asked)).splitlines()
            assert len(got) == len(asked)
            for (symbol, place), answer in zip(wanted, got):
                assert int(answer.split()[0]) == symbol, f"{place}: {answer}"
        assert min(
            counts.get(what, 0)
            for what in ("comment", "binding", "argument", "level-open", "symbol")) > 4, counts

    yield Case("tree-sitter: the scanner decides as the lexer does", scanner)
