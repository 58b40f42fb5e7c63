"""fclc new: what it makes works as it is."""

import os
import virtual
from harness import Case

ORDER = 55


def cases(env):
    def made(name="first"):
        folder = env.tmp()
        said = env.must(env.fclc, "new", name, cwd=folder)
        assert f"cd {name} && make test" in said, said
        return os.path.join(folder, name)

    def works():
        folder = made()
        env.must("make", "CFLAGS=-Wall -Wextra -Werror", cwd=folder)
        assert env.must(os.path.join(folder, "first"), cwd=folder) == "2 4 6 8 \n30\n"
        assert "is up to date" in env.must("make", cwd=folder), "it is made anew though nothing has changed"
        done = env.run("make", "test", cwd=folder)
        assert done.returncode == 0 and " 0 failed" in done.stdout and "0 passed" not in done.stdout, (
            done.stdout + done.stderr
        )
        env.must("make", "clean", cwd=folder)
        assert sorted(os.listdir(folder)) == [".gitignore", "Makefile", "call.py", "first.fcl",
                                              "main.c"], os.listdir(folder)
        env.must(env.fclc, "check", "-W", "error", os.path.join(folder, "first.fcl"))
    yield Case("a new program is built, runs and passes its tests", works)

    def python():
        virtual.package(env, env.build)
        assert env.must(virtual.python(env.build), os.path.join(made(), "call.py")) == "[2. 4. 6. 8.]\n30.0\n"
    yield Case("a new program is called from Python", python, thorough=True)

    def refused():
        folder = env.tmp()
        for name, said in (("fcl", "names another file"), ("Makefile", "names another file"),
                           ("3x", "is a letter, then letters"),
                           ("a-b", "is a letter, then letters"),
                           ("", "is a letter"), ("absent/a", "the folder absent/a cannot be made: No such file")):
            done = env.run(env.fclc, "new", name, cwd=folder)
            assert done.returncode == 2 and said in done.stderr, (name, done.returncode, done.stderr)
        assert not os.listdir(folder), os.listdir(folder)
        place = made()
        env.written("first.fcl", "mine", place)
        done = env.run(env.fclc, "new", place)
        assert done.returncode == 2 and "File exists" in done.stderr, done.stderr
        with open(os.path.join(place, "first.fcl"), encoding="utf-8") as file:
            assert file.read() == "mine"
    yield Case("a name that cannot be, and a folder that is there", refused)
