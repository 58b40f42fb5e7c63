"""The build itself: no warnings from either compiler; what is installed works from its place, and goes away again."""

import os
from harness import Case

ORDER = 60


def cases(env):
    for compiler in ("gcc", "clang"):
        def builds(compiler=compiler):
            env.tool(compiler)
            env.must("make", "-j2", "BUILD=" + env.tmp(), "CC=" + compiler, "WERROR=1", "OPTIMISE=-O1", timeout=600)
        yield Case(f"builds with {compiler}, warnings are errors", builds, alone=True)

    def installed():
        root = env.tmp()
        place = ["DESTDIR=" + root, "PREFIX=/usr"]
        build = "BUILD=" + env.tmp()
        env.must("make", "-j2", build, "OPTIMISE=-O1", *place, "install", timeout=600)
        fclc = os.path.join(root, "usr", "bin", "fclc")
        program = os.path.join(env.tmp(), "program.fcl")
        with open(program, "w", encoding="utf-8") as file:
            file.write("kernel k (xs : [int]) = push <grid> (reverse xs)\n")
        got = env.must(fclc, "run", "--target=c", program, "k", "[1,2,3]", cwd="/")
        assert got == "[3,2,1]\n", got
        for name in ("include/fcl.h", "lib/libfcl.a", "share/man/man1/fclc.1"):
            assert os.path.exists(os.path.join(root, "usr", name)), f"{name} is not installed"
        env.must("make", build, "OPTIMISE=-O1", *place, "uninstall")
        left = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        assert not left, f"uninstall left {left}"
    yield Case("make install, and uninstall", installed, alone=True)
