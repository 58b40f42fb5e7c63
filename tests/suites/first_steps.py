"""docs/first-steps.md: what it says is typed, in its order, and what is printed compared with it.

A fenced block `sh` is typed into one shell; `LANGUAGE NAME` is a file, written where that shell is; `text` is what
the blocks of commands since the last one printed at their end. `make check-all` does it in a copy of the sources with
what is built already, a prefix and a home of its own: it leaves out apt, which needs a machine of its own. `make
check-long` does everything, apt too, in a fresh Debian 12 that debootstrap makes, where nothing is but the sources.
"""

import os
import re
import shutil
import fresh as fresh_debian
from harness import Case, Skip

ORDER = 59
THOROUGH = True
CHARACTERS_A_MINUTE, MINUTES = 200, 10
SHELL = "set -eu\n"
MARK = "--- block ---"


def blocks(text):
    """(what stands behind the fence, the text) of each fenced block, in order."""
    return re.findall(r"^```([^\n]+)\n(.*?)^```$", text, re.S | re.M)


def typed(found):
    """What a person types: commands without what is said of them, and files."""
    return "".join(re.sub(r" +# .*", "", body) if kind == "sh" else body for kind, body in found if kind != "text")


def script(found, leave_out):
    """All of it for one shell. It prints a mark before what a block of commands prints."""
    parts = [SHELL]
    for kind, body in found:
        if kind == "sh":
            lines = [line for line in body.splitlines(True) if not re.match(leave_out, line)]
            parts.append(f"echo '{MARK}'\n" + "".join(lines))
        elif kind != "text":
            name = kind.split()[1]
            parts.append(f"cat >{name} <<'END-OF-FILE'\n{body}END-OF-FILE\n")
    return "".join(parts)


def expected(found):
    """(number of the block of commands, lines that it prints last) of each block `text`."""
    number, wanted = 0, []
    for kind, body in found:
        number += kind == "sh"
        if kind == "text":
            wanted.append((number, body.splitlines()))
    return wanted


def cases(env):
    with open(env.path("docs", "first-steps.md"), encoding="utf-8") as file:
        found = blocks(file.read())

    def compare(printed):
        parts = printed.split(MARK + "\n")
        for number, lines in expected(found):
            got = parts[number].splitlines()
            left = list(lines)
            for line in got:  # commands print more, between what the page shows
                if left and line.strip() == left[0]:
                    left.pop(0)
            assert not left, f"block {number} does not print {left[0]!r}:\n{parts[number]}"

    def short():
        count = len(typed(found))
        assert 500 < count <= CHARACTERS_A_MINUTE * MINUTES, f"{count} characters are to be typed"
        kinds = {kind.split()[0] for kind, _ in found}
        assert {"sh", "fcl", "c", "python", "text"} == kinds, kinds
    yield Case("it is little enough to type", short)

    def sources(place):
        """The sources alone, with the times of their last changes."""
        os.makedirs(place)
        if env.run(env.tool("git"), "rev-parse", "--git-dir").returncode:
            raise Skip("no clone: which files are sources is not known")
        env.must("sh", "-c", "git ls-files -z --cached --others --exclude-standard --deduplicate | "
                 f"tar --null --files-from=- --ignore-failed-read -cf - | tar -xf - -C '{place}'")

    def here():
        home, place = env.tmp(), os.path.join(env.tmp(), "fcl")
        sources(place)
        shutil.copytree(env.build, os.path.join(place, "build"), symlinks=True,
                        ignore=shutil.ignore_patterns("tests", "wheel", "deb", "venv", "python", "benchmarks", "sass",
                                                      "opencl2"))
        prefix = os.path.join(home, "local")
        # The state after a new login; kernels that others have built are not there.
        variables = {"HOME": home, "PREFIX": prefix,
                     "PATH": f"{prefix}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        if env.run("python3", "-c", "import ensurepip", env=variables).returncode:
            raise Skip("no python3-venv")
        done = env.run("bash", "-s", input=script(found, "apt-get "), cwd=place, env=variables, timeout=900)
        if "No matching distribution found" in done.stderr or "Failed to establish a new connection" in done.stdout:
            raise Skip("no PyPI, which `pip install` takes setuptools and NumPy from")
        assert done.returncode == 0, done.stdout + done.stderr
        compare(done.stdout)
    yield Case("what is typed prints what the page says", here, alone=True)

    def fresh():
        """Everything, from a Debian with nothing in it."""
        root = fresh_debian.make(env)
        sources(os.path.join(root, "fcl"))
        compare(fresh_debian.run(env, root, "cd /fcl\n" + script(found, "$^")))
    yield Case("the same in a fresh Debian 12, apt and all", fresh, long=True)
