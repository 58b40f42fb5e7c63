"""The programs whose test directives the suites run, and how."""

import glob
import os
import re
from harness import Counts, Skip


# Below tests/run by their subjects; what lies deeper is imported by them. One that lies in no
# folder yet is run, too.
PLACES = (("examples", "*", "*.fcl"), ("tests", "run", "*.fcl"), ("tests", "run", "*", "*.fcl"))


def programs(env):
    """The paths of all programs with test directives."""
    return sorted(path for place in PLACES for path in glob.glob(env.path(*place)))


def tested(env, name):
    """The path of the program of tests/run that is called this, in whichever folder."""
    found = [path for path in programs(env) if f"{os.sep}run{os.sep}" in path and os.path.basename(path) == name +
             ".fcl"]
    assert len(found) == 1, f"tests/run: {len(found)} programs are called {name}"
    return found[0]


def directives(env, command, extra, silent=False):
    done = env.run(*command, env=extra, timeout=900)  # oclgrind takes minutes where a machine does other things, too
    counts = Counts.of_last_line(done.stdout)
    unknown = re.search(r"OCLGRIND FATAL ERROR.*\n(Undefined external function: llvm\.\w+)", done.stdout + done.stderr)
    if unknown:
        raise Skip("oclgrind does not know an intrinsic of its own clang: " + unknown.group(1))
    assert counts, f"{' '.join(command)}: no counts, exit status {done.returncode}\n{done.stdout}{done.stderr}"
    assert counts.passed + counts.failed + counts.skipped, f"{command[-1]}: no test directives"
    assert not (done.returncode and not counts.failed), f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    assert not (silent and done.stderr.strip()), done.stderr
    counts.output += done.stderr
    return counts
