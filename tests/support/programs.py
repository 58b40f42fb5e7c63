"""The programs whose test directives the suites run, and how."""

import glob
import re
from harness import Counts, Skip


def programs(env):
    return sorted(glob.glob(env.path("tests", "run", "*.fcl")) + glob.glob(env.path("examples", "*", "*.fcl")))


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
