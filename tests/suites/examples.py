"""The command lines of examples/README.md and of the examples' first comments: each works, and prints what is said
beside it."""

import glob
import os
import re
from harness import Case

ORDER = 41
NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


def lines(text, before=""):
    """(command, what is said beside it) of each line that is a command."""
    return [(command.strip(), said.strip()) for command, _, said in (
        line.removeprefix(before).partition(" # ") for line in text.splitlines()
        if re.match(re.escape(before) + r"(build/fclc|cc|python3) (?!bench)", line))]


def agrees(printed, said):
    """Whether two texts are the same but for the last digits of numbers, in which devices may differ."""
    numbers = [[float(x) for x in re.findall(NUMBER, text)] for text in (printed, said)]
    return (re.sub(NUMBER, "0", printed) == re.sub(NUMBER, "0", said) and len(numbers[0]) == len(numbers[1])
            and all(abs(x - y) <= 1e-5 * max(1, abs(y)) for x, y in zip(*numbers)))


def cases(env):
    def work(commands):
        """Runs commands one after another in a folder with what is in the repository's."""
        folder = env.tmp()
        for name in ("examples", "runtime"):
            os.symlink(env.path(name), os.path.join(folder, name))
        os.symlink(env.build, os.path.join(folder, "build"))
        for command, said in commands:
            command = re.sub(r"/tmp\b", folder, command)  # another run of the tests may be at work
            printed = env.must("sh", "-c", command, cwd=folder, timeout=300).strip()
            assert not said or agrees(printed, said), f"{command}\nprints {printed}\nnot    {said}"
            if command.endswith(".pgm"):
                with open(os.path.join(folder, command.split()[-1]), "rb") as file:
                    picture = re.fullmatch(rb"P5\n(\d+) (\d+)\n255\n(.*)", file.read(), re.S)
                assert picture and len(picture[3]) == int(picture[1]) * int(picture[2]) > 0, f"{command}: no picture"
                assert len(set(picture[3])) > 1, f"{command}: a picture of one colour"

    with open(env.path("examples", "README.md"), encoding="utf-8") as file:
        listed = lines(file.read())
    yield Case("examples/README.md: commands", lambda: work(listed), thorough=True)

    def complete():
        folders = {os.path.basename(os.path.dirname(path)) for path in glob.glob(env.path("examples", "*", "*.*"))}
        shown = {folder for command, _ in listed for folder in re.findall(r"examples/(\w+)/", command)}
        silent = [command for command, said in listed if re.match("build/fclc run |cc ", command) and not said]
        assert not silent, f"nothing is said of what these print: {', '.join(silent)}"
        assert (
            folders and folders == shown
        ), f"no command: {', '.join(folders - shown)}; no folder: {', '.join(shown - folders)}"
    yield Case("examples/README.md has a command for each example", complete)

    pictures = 0
    for path in sorted(glob.glob(env.path("examples", "*", "*.fcl"))):
        with open(path, encoding="utf-8") as file:
            commands = lines(file.read(), "--   ")
        if commands:
            pictures += 1
            yield Case(f"{os.path.relpath(path, env.root)}: commands", lambda commands=commands: work(commands),
                       thorough=True)
    assert pictures, "no example has a command in its first comment"
