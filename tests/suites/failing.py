"""Programs that go wrong while they run (tests/failing): the same code and exit status on every executor, with
--check and without; C under AddressSanitizer, so that nothing is written where it does not belong. What says `compiled
error` is found by compiled code with --check alone."""

import glob
import os
import re

from executors import EXECUTORS, require, variables
from harness import Case, Counts

ORDER = 42
SANITIZED = True

DIRECTIVE = re.compile(r"^-- run (\w+) (.*?) ?(?:== (.*)|(compiled )?error (E\d{4}))$")


def directives(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    found = [DIRECTIVE.match(line) for line in lines if re.match(r"-- run \w+ .*(==|error E)", line)]
    assert found and all(found), f"{path}: a directive that cannot be read"
    return [match.groups() for match in found]


def expectation(env, result):
    """What `fclc run` prints: a generator's elements are written out."""
    count = re.fullmatch(r"iota:(\d+)", result)
    return "[" + ",".join(map(str, range(int(count[1])))) + "]" if count else result


def outcome(env, path, kernel, arguments, options, extra):
    words = re.findall(r"\[.*?\]|\S+", arguments)
    done = env.run(env.fclc, "run", "--limit=0", *options, path, kernel, *words, env=extra)
    code = re.search(r"error\[(E\d{4})\]", done.stderr)
    return done.returncode, code[1] if code else None, done.stdout.strip(), done.stderr


def cases(env):
    for path in sorted(glob.glob(env.path("tests", "failing", "*.fcl"))):
        for executor in EXECUTORS:
            if env.sanitized and executor != "c" or EXECUTORS[executor][1] == "ptx":
                continue

            def run(path=path, executor=executor):
                require(env, executor)
                extra = variables(env, executor)
                if env.sanitized:
                    extra = dict(extra, FCL_CC="gcc -fsanitize=address")
                counts = Counts()
                for kernel, arguments, result, compiled, error in directives(path):
                    if compiled and executor == "interp":
                        continue
                    # A build by OpenCL takes a quarter of a second.
                    is_slow = "opencl" in executor and not env.long
                    for check in ([],) if executor == "interp" or is_slow or compiled else ([], ["--no-check"]):
                        status, code, printed, said = outcome(
                            env, path, kernel, arguments, [*EXECUTORS[executor][0], *check], extra)
                        good = (status, code) == (1, error) if error else (
                            status == 0 and printed == expectation(env, result))
                        counts.passed += good
                        counts.failed += not good
                        if not good:
                            counts.output += (f"{kernel} {arguments} {' '.join(check)}: expected {error or result}, "
                                              f"got status "
                                              f"{status}, {code}, {printed[:200]}\n{said[:600]}\n")
                return counts
            # OpenCL's loop mapping is that of C, and HIP's is that of CUDA. `lengths` takes OpenCL a quarter of a
            # minute.
            yield Case(f"{os.path.relpath(path, env.root)} on {executor}", run,
                       long=executor.endswith(("optimised", "hip-simulator", "hip-64-simulator", "opencl-loop"))
                       or (executor, os.path.basename(path)) == ("opencl-simt", "lengths.fcl"),
                       thorough=executor == "opencl-simt" and env.simulator() is not None)
