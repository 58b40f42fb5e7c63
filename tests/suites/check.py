"""tests/check: programs and the types they must get; tests/errors: programs and the exact diagnostics they must give."""

import glob
import os
from harness import Case

ORDER = 35
SANITIZED = True


def cases(env):
    for path in sorted(glob.glob(env.path("tests", "check", "*.fcl"))):
        def types(path=path):
            wanted = open(path[:-4] + ".types", encoding="utf-8").read()
            got = env.must(env.fclc, "types", path)
            assert got == wanted, f"got\n{got}wanted\n{wanted}"
        yield Case(os.path.relpath(path, env.root), types)
    for path in sorted(glob.glob(env.path("tests", "errors", "*.fcl"))):
        def errors(path=path):
            wanted = open(path[:-4] + ".err", encoding="utf-8").read()
            name = os.path.basename(path)
            command = "check"
            with open(path, encoding="utf-8", errors="replace") as source:
                first = source.readline()
            if first.startswith("-- compile"):  # found only where a kernel is compiled
                out = os.path.join(env.tmp(), "out.c")
                done = env.run(env.fclc, name, "-o", out, cwd=os.path.dirname(path))
                assert not os.path.exists(out), "an output file was left behind"
            else:
                done = env.run(env.fclc, command, name, cwd=os.path.dirname(path))
            assert done.stderr == wanted, f"got\n{done.stderr}wanted\n{wanted}"
            assert done.returncode == (1 if "error[" in wanted else 0), f"exit status {done.returncode}"
            assert not done.stdout, done.stdout
        yield Case(os.path.relpath(path, env.root), errors)

    def standard_input():
        program = "kernel next (xs : [int]) = push <grid> (map (fn x => x + 1) xs)\n"
        done = env.run(env.fclc, "run", "--target=interp", "-", "next", "[1,2]", input=program)
        assert (done.returncode, done.stdout) == (0, "[2,3]\n"), done.stdout + done.stderr
        done = env.run(env.fclc, "check", "-", input=program.replace("+ 1", "+ y"))
        assert done.returncode == 1 and done.stderr.startswith("<stdin>:1:"), done.stderr
    yield Case("a program from standard input", standard_input)

    def own_param():
        program = "param work : int = 3\nkernel k (xs : [int]) = push <grid> (map (+ work) xs)\n"  # the prelude has one, too
        done = env.run(env.fclc, "run", "--target=interp", "-D", "work=100", "-", "k", "[1]", input=program)
        assert (done.returncode, done.stdout) == (0, "[101]\n"), done.stdout + done.stderr
    yield Case("-D sets the param of the file, not one of its name elsewhere", own_param)
