"""The corpus of the byte fuzzer, through the sanitized compiler: every input ends in a result or in errors; a check
has a third of them."""

import glob
import os
from harness import Case

ORDER = 59
SANITIZED = True


def cases(env):
    paths = sorted(glob.glob(env.path("tests", "fuzz", "corpus", "*")))
    for begin in range(0, len(paths), 100):
        def replay(some=paths[begin:begin + 100]):
            for path in some if env.long else some[::3]:
                for arguments in (["check"], ["-o", os.path.join(env.tmp(), "out.cu")]):
                    command = [env.fclc, *arguments, path] if arguments[0] == "check" else [env.fclc, path, *arguments]
                    done = env.run(*command, timeout=30)
                    assert done.returncode in (0, 1) and "error[E0000]" not in done.stderr, (
                        f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
        yield Case(f"corpus, inputs {begin + 1} to {min(begin + 100, len(paths))}", replay, long=not env.sanitized)
