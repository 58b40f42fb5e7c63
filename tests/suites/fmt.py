"""fclc fmt: programs keep their tokens and comments, and have one layout."""

import glob
import os
import random
import re
import shutil

import layout
from harness import Case

ORDER = 36
SANITIZED = True


def programs(env):
    """Every .fcl of the repository that can be parsed, by its name there."""
    folders = ("benchmarks", "examples", "lib", "prelude", "tests")
    paths = [
        path for folder in folders
        for path in glob.glob(env.path(folder, "**", "*.fcl"), recursive=True)
    ]
    return sorted(path for path in paths
                  if os.path.basename(os.path.dirname(path)) not in ("errors", "fmt"))


def without_blanks(path):
    with open(path, "rb") as file:
        return re.sub(rb"\s+", b"", file.read())


def tokens(env, path):
    """The tokens with their kinds, without their places."""
    dump = env.must(env.fclc, "--dump=tokens", path)
    return [line.split(" ", 1)[1] for line in dump.splitlines()]


def cases(env):
    everything = programs(env)
    chosen = everything[::10] if env.sanitized else everything

    def keep_and_settle():
        folder = env.tmp()
        copies = []
        for number, path in enumerate(chosen):
            copies.append(os.path.join(folder, f"{number}.fcl"))
            shutil.copy(path, copies[-1])
        env.must(env.fclc, "fmt", *copies)
        for path, copy in zip(chosen, copies):
            assert without_blanks(path) == without_blanks(copy), f"{path}: other text"
            assert tokens(env, path) == tokens(env, copy), f"{path}: other tokens"
        done = env.run(env.fclc, "fmt", "--check", *copies)
        assert (done.returncode, done.stdout) == (0, ""), f"a second time: {done.stdout}"

    yield Case("every program keeps its tokens and comments, and is laid out once and for all",
               keep_and_settle)

    def ours():
        paths = layout.other_programs(env.fclc) + [path for path, _ in layout.other_pages(env.fclc)]
        names = " ".join(os.path.relpath(path, env.root) for path in paths)
        assert not paths, f"run tests/support/layout.py --write for {names}"
        # The pages' programs are found, and one that is laid out otherwise is.
        other = [m[1] for path in layout.pages() for m in layout.BLOCK.finditer(layout.read(path))]
        assert len(other) > 100 and layout.laid_out(env.fclc, "val  a = 1\n") == "val a = 1\n", len(other)
    yield Case("our own programs have that layout", ours)

    def one_layout():
        # Indentation and blanks at the ends of lines do not matter: the layout is the same. In a
        # comment of several lines they stay.
        folder = env.tmp()
        dice = random.Random(1)
        plain, shaken = [], []
        for number, path in enumerate(chosen):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if "(*" in text.replace("(*)", ""):
                continue
            lines = [
                " " * dice.randrange(9) + line.strip() + " " * dice.randrange(3)
                for line in text.split("\n")
            ]
            for kind, content in ((plain, text), (shaken, "\n".join(lines))):
                name = os.path.join(folder, f"{'ps'[kind is shaken]}{number}.fcl")
                kind.append(name)
                with open(name, "w", encoding="utf-8") as file:
                    file.write(content)
        assert plain
        env.must(env.fclc, "fmt", *plain, *shaken)
        for a, b in zip(plain, shaken):
            with open(a, encoding="utf-8") as one, open(b, encoding="utf-8") as other:
                assert one.read() == other.read(), f"{chosen[plain.index(a)]} and {b} differ"

    yield Case("indentation is found, not kept", one_layout)

    def comments_anywhere():
        # Comments and line ends before any token: what is still a program keeps its text.
        dice = random.Random(1)
        folder = env.tmp()
        torn = []
        for number in range(20 if env.sanitized else 80):
            path = dice.choice(chosen)
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            rows = env.must(env.fclc, "--dump=tokens", path).splitlines()
            for row in reversed(rows[:500]):
                line, column = (int(part) for part in row.split(" ")[0].split(":"))
                if dice.random() < 0.05:
                    new = dice.choice(
                        ["(* c *)", "(* a\n   b *)", "(**)", "-- c\n", "\n", "\n\n\n"])
                    text = lines[line - 1]
                    lines[line - 1] = text[:column - 1] + new + text[column - 1:]
            torn.append(os.path.join(folder, f"{number}.fcl"))
            with open(torn[-1], "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
        laid_out = 0
        for path in torn:
            before = without_blanks(path)
            done = env.run(env.fclc, "fmt", path)
            assert done.returncode in (0, 1), done.stderr
            assert before == without_blanks(path), f"{path}: other text"
            laid_out += done.returncode == 0
            assert done.returncode or not env.must(env.fclc, "fmt", "--check", path)
        assert laid_out > len(torn) // 4, laid_out

    yield Case("comments anywhere stay where they are", comments_anywhere)

    def constructs():
        path = env.path("tests", "fmt", "layout.fcl")
        with open(path, encoding="utf-8") as file:
            source = file.read()
        with open(path[:-4] + ".out", encoding="utf-8") as file:
            wanted = file.read()
        done = env.run(env.fclc, "fmt", "--stdin", input=source)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert done.stdout == wanted, f"got\n{done.stdout}wanted\n{wanted}"
        again = env.run(env.fclc, "fmt", "--stdin", input=wanted)
        assert again.stdout == wanted, f"got\n{again.stdout}wanted\n{wanted}"
        windows = "\ufeff" + source.replace("\n", "\r\n")
        again = env.run(env.fclc, "fmt", "--stdin", input=windows)
        assert again.stdout.replace("\r", "") == wanted, "with a mark and \\r\\n"

    yield Case("the layout of each construct", constructs)

    def command_line():
        folder = env.tmp()
        files = {
            "good.fcl": "val a = 1\n",
            "bad.fcl": "val  a = 1\n",
            "wrong.fcl": "val a = = 1\n",
            "empty.fcl": "",
            "blank.fcl": "\n \n"
        }
        for name, text in files.items():
            env.written(name, text, folder)

        def run(*arguments, **more):
            return env.run(env.fclc, "fmt", *arguments, cwd=folder, **more)

        def content(name):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                return file.read()

        done = run("--check", "good.fcl", "bad.fcl", "empty.fcl", "blank.fcl")
        assert (done.returncode, done.stdout) == (1, "bad.fcl\nblank.fcl\n"), done.stdout
        assert content("bad.fcl") == files["bad.fcl"], "--check has changed a file"
        done = run("wrong.fcl", "bad.fcl", "blank.fcl")
        assert done.returncode == 1 and "wrong.fcl:1:9: error[" in done.stderr, done.stderr
        assert (content("wrong.fcl"), content("bad.fcl")) == (files["wrong.fcl"], "val a = 1\n")
        assert content("blank.fcl") == ""
        env.written("bad.fcl", files["bad.fcl"], folder)
        os.chmod(os.path.join(folder, "bad.fcl"), 0o640)
        os.symlink("bad.fcl", os.path.join(folder, "link.fcl"))
        assert run("link.fcl").returncode == 0 and content("bad.fcl") == "val a = 1\n"
        assert os.path.islink(os.path.join(folder, "link.fcl")), "a link stays one"
        assert os.stat(os.path.join(folder, "bad.fcl")).st_mode & 0o777 == 0o640
        done = run("--stdin", input="val  b = 2")
        assert (done.returncode, done.stdout) == (0, "val b = 2\n"), done.stdout
        done = run("--stdin", "--check", input="val  b = 2")
        assert (done.returncode, done.stdout) == (1, "<stdin>\n"), done.stdout
        assert run("--stdin", input="val b = (").returncode == 1
        assert run("--stdin", "good.fcl").returncode == 2
        assert run().returncode == 2
        assert run("absent.fcl").returncode == 2

    yield Case("fmt's options and exit status", command_line)
