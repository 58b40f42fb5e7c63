"""The harness itself, on suites made up here: what it says while it runs and at its end, and of names that there are
not."""

import os
import re
import shutil
import subprocess
import sys
from harness import Case, Skip, pseudo_terminal

ORDER = 11
MADE_UP = """
from harness import Case, Skip, pseudo_terminal
def cases(env):
    def fails():
        raise AssertionError("what is wrong")
    def wants():
        raise Skip("no frobnicator")
    yield Case("passes", lambda: None)
    yield Case("fails", fails)
    yield Case("wants a program", wants)
    yield Case("is thorough", lambda: None, thorough=True)
    yield Case("is long", lambda: None, long=True)
"""


def cases(env):
    def prepared():
        """The harness beside two suites, of which one is thorough."""
        tests = os.path.join(env.tmp(), "tests")
        shutil.copytree(env.path("tests", "support"), os.path.join(tests, "support"))
        os.mkdir(os.path.join(tests, "suites"))
        for name, text in ("some", MADE_UP), ("slow", "THOROUGH = True\n" + MADE_UP):
            with open(os.path.join(tests, "suites", name + ".py"), "w", encoding="utf-8") as file:
                file.write(text)
        return [sys.executable, os.path.join(tests, "support", "check")]

    def degrees():
        for options, ends in (
                (["--short"], ["left out: longer cases (5), no frobnicator (1); `./bootstrap check all` has them",
                               "1 passed, 1 failed, 1 skipped"]),
                ([], ["skipped 1: slow: no frobnicator", "skipped 1: some: no frobnicator",
                      "2 cases more are for `make check-long`", "4 passed, 2 failed, 2 skipped"]),
                (["--long"], ["skipped 1: some: no frobnicator", "6 passed, 2 failed, 2 skipped"])):
            said = env.must(*prepared(), *options, status=1)
            lines = [line for line in said.splitlines() if not line.endswith(" s of processors")]
            assert lines[-len(ends):] == ends, said
            assert "FAIL some: fails\n    what is wrong\n" in said and "failed: some: fails\n" in said, said
    yield Case("a short check says in one line what it leaves out", degrees)

    def names():
        for options, says in (
                (["--case", "*nosuchcase*"], "no case is named like `*nosuchcase*`"),
                (["--case", "is long"], "no case is named like `is long`; those that match run with --long"),
                (["--short", "--case", "is thorough"], "those that match run without --short"),
                (["--suite", "sume"], "no suite `sume`, but some")):
            done = env.run(*prepared(), *options)
            assert done.returncode == 2 and says in done.stderr, done.stdout + done.stderr
    yield Case("a case or a suite that there is not is an error", names)

    def terminal():
        """One line tells how far it is, each time in place of the last, and nothing of it stays."""
        shown, program = pseudo_terminal()
        command = [*prepared(), "--short", "--jobs", "1"]
        with subprocess.Popen(command, stdout=program, stdin=subprocess.DEVNULL, env=env.variables()) as check:
            os.close(program)
            said = b""
            try:
                while part := os.read(shown, 4096):
                    said += part
            except OSError:  # the other side is closed
                pass
        os.close(shown)
        text = said.decode().replace("\r\n", "\n")
        assert check.returncode == 1 and re.search(r"^  [12] of 3 cases in 0 s, 1 failed; now ", text, re.M), text
        stays = "\n".join(line.rpartition("\r\033[K")[2] for line in text.split("\n"))
        assert " of 3 cases" not in stays and "FAIL some: fails\n" in stays, stays
        assert stays.endswith("1 passed, 1 failed, 1 skipped\n"), stays
    yield Case("a terminal shows what runs and what has failed", terminal)
