"""What is said, and what still runs, where a kernel stops its device or crashes, or where a driver does not load it."""

import os
from harness import Case

ORDER = 44

PROGRAM = """\
kernel good (xs : [int]) = push <grid> (map (fn x => x + 1) xs)
kernel bad (i : int) (xs : [int]) = push <grid> (map (fn x => xs ! (i + x)) xs)
-- test good [1] == [2]
-- test bad 0 [0] == [0]
-- test bad 500000000 [0] == [0]
-- test bad 0 [0] == [0]
-- test good [2,3] == [3,4]
-- test bad 510000000 [0] == [0]
-- test good [4] == [5]
"""


def cases(env):
    def program():
        path = os.path.join(env.tmp(), "faults.fcl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        return path

    def outcome(target, wanted, variables):
        """The lines that say why a test failed."""
        path = program()
        done = env.run(env.fclc, "test", f"--target={target}", path, env=variables)
        assert done.returncode == 3, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.stdout.endswith("5 passed, 2 failed, 0 skipped\n"), done.stdout
        told = [line.split(":")[1] for line in done.stdout.splitlines() if line.startswith(f"{path}:")
                and f": {target}:" in line]
        assert told == ["5", "8"], done.stdout
        assert done.stdout.count(wanted) == 2, done.stdout

    yield Case("a kernel that stops its CUDA device fails alone", lambda: outcome(
        "cuda", "(CUDA error 719); with that, fcl CUDA simulator has stopped for this process", env.cudasim()))
    yield Case("a kernel of C that crashes fails alone",
               lambda: outcome("c", "it crashes: Segmentation fault (signal 11)", None))

    def names_kernel():
        done = env.run(env.fclc, "run", "--target=cuda", "--no-check", program(), "bad", "500000000", "[0]",
                       env=env.cudasim())
        assert (
            done.returncode == 3 and "error[E0530]: kernel bad: read of 4 bytes out of bounds" in done.stderr
        ), done.stderr
        assert "hint: with `--check`" in done.stderr, done.stderr
    yield Case("a device that stops is told of with the kernel that stopped it", names_kernel)

    def refused():
        said = "ptxas error   : Entry function 'bad' uses too much shared data"
        done = env.run(env.fclc, "run", "--target=cuda", program(), "bad", "0", "[0]",
                       env=env.cudasim(CUDASIM_REFUSE=f"{said}:bad", FCL_CACHE="0"))
        assert done.returncode == 3, done.stdout + done.stderr
        assert f"a PTX JIT compilation failed (CUDA error 218)\n{said}\n" in done.stderr, done.stderr
    yield Case("what the driver's assembler says of a kernel is told", refused)
