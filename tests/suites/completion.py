"""Completion in shells, and what `fclc --version --verbose` tells."""

import os
import re
import select
import subprocess
import time
from harness import Case, pseudo_terminal
from targets import targets

ORDER = 46


def cases(env):
    def complete(*words):
        """What bash offers for the last word; as in bash, a `=` is a word of its own."""
        script = env.written("fclc.bash", env.must(env.fclc, "--completion=bash"))
        quoted = " ".join(f"'{word}'" for word in ("fclc", *words))
        return env.must(env.tool("bash"), "--norc", "-c",
                        f". {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; "
                        "_fclc; printf '%s\\n' \"${COMPREPLY[@]}\"", cwd=folder()).split()

    def folder():
        place = env.tmp()
        os.mkdir(os.path.join(place, "sub"))
        for name in ("one.fcl", "two.txt"):
            open(os.path.join(place, name), "w").close()
        return place

    def bash():
        assert complete("te") == ["test"]
        assert "run" in complete("") and "one.fcl" in complete("") and "two.txt" not in complete("")
        assert complete("run", "--tar") == ["--target="]
        assert complete("run", "--target", "=") == [*targets(), "interp"]
        assert complete("run", "--target", "=", "op") == ["opencl"]
        assert complete("run", "--target", "i") == ["interp"]
        assert complete("test", "--all") == ["--all-targets"] and not complete("run", "--all")
        assert sorted(complete("test", "")) == ["one.fcl", "sub"]
        assert "two.txt" in complete("one.fcl", "-o", "")
    yield Case("bash", bash)

    def everything():
        """All options of every command are in each script."""
        names = set(re.findall(r"--([a-z-]+)", env.must(env.fclc, "help", "options")))
        for shell, form in (("bash", " --{}[ =\']"), ("zsh", "\'--{}[=\\[]"), ("fish", " -l {} ")):
            text = env.must(env.fclc, "--completion=" + shell)
            missing = [name for name in names if not re.search(form.format(name), text)]
            assert not missing, f"{shell}: {missing}"
    yield Case("every option, for every shell", everything)

    def script(shell, name="script"):
        """The shell, and the script that it reads."""
        tool, path = env.tool(shell), os.path.join(env.tmp(), name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(env.must(env.fclc, "--completion=" + shell))
        env.must(tool, "-n", path)
        return tool, path

    def fish():
        tool, path = script("fish")
        got = env.must(tool, "-N", "-c", f"source {path}; complete -C 'fclc run --target '")
        assert {"cuda", "opencl", "c", "interp"} <= set(got.split()), got
        got = env.must(tool, "-N", "-c", f"source {path}; complete -C 'fclc te'")
        assert got.startswith("test"), got
    yield Case("fish", fish)

    def zsh():
        """On a terminal, where alone it completes; ^X lists what ^I would choose from, ^U takes the line away."""
        tool, path = script("zsh", "_fclc")
        terminal, end = pseudo_terminal()
        place = folder()
        env.written(".zshrc",
            f"fpath=({os.path.dirname(path)} $fpath)\nautoload -Uz compinit\ncompinit -u -D\nbindkey '^X' "
            f"list-choices\n"
            "unsetopt PROMPT_SP\nunset zle_bracketed_paste\nPS1='> '\n", place)
        shell = subprocess.Popen([tool, "-d", "-i"], stdin=end, stdout=end, stderr=end, cwd=place,
                                 start_new_session=True,
                                 env=env.variables({"TERM": "dumb", "ZDOTDIR": place}))
        os.close(end)

        def typed(text, until):
            os.write(terminal, text.encode())
            said, stop = "", time.monotonic() + 30
            while not re.search(until, said):
                left = max(0, stop - time.monotonic())
                assert select.select([terminal], [], [], left)[0], f"after {text!r}: {said!r}"
                said += os.read(terminal, 4096).decode(errors="replace")
            return said

        def listed(line):
            said = typed(line + "\x18", rf"\n> {line}$")
            typed("\x15true\n", r"true\s+> $")
            return set(said.split("\n", 1)[1].rsplit("\n", 1)[0].split())
        try:
            typed("", r"> $")
            assert listed("fclc run --target=") == {"cuda", "opencl", "c", "hip", "interp"}
            assert listed("fclc test ") == {"one.fcl", "sub/"}
            assert {"run", "report", "--", "one.fcl"} <= listed("fclc "), listed("fclc ")
            typed("fclc te\t--ju\tx", r"fclc te.*st .*--ju.*nit=.*x")
        finally:
            shell.kill()
            shell.wait()
            os.close(terminal)
    yield Case("zsh", zsh)

    def version():
        short = env.must(env.fclc, "--version")
        text = env.must(env.fclc, "--version", "--verbose", env={"XDG_CACHE_HOME": "/caches"}, cwd="/")
        assert text.startswith(short) and re.fullmatch(r"fclc \d+\.\d+\.\d+\n", short)
        told = dict(line.split(":", 1) for line in text.split("\n")[1:-1])
        assert os.path.samefile(told["program"].strip(), env.fclc)
        assert os.path.samefile(told["prelude"].strip(), env.path("prelude"))
        assert os.path.samefile(told["library"].strip(), env.path("lib"))
        assert told["cache"].strip() == "/caches/fcl"
    yield Case("--version --verbose", version)
