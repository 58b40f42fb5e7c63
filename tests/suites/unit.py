"""The unit tests: every tests/unit/test_*.c is a cmocka program; each of its tests counts."""

import glob
import os
import re
from harness import Case, Counts

ORDER = 20
SANITIZED = True


def cases(env):
    for source in sorted(glob.glob(env.path("tests/unit/test_*.c"))):
        name = os.path.splitext(os.path.basename(source))[0]

        def test(name=name, extra=None):
            program = os.path.join(env.build, "tests", "unit", name)
            env.header("cmocka.h", "cmocka for the unit tests")
            assert os.path.exists(program), f"{program} is not built"
            done = env.run(program, env={
                "CMOCKA_MESSAGE_OUTPUT": "STDOUT", "FCL_PRELUDE": env.path("prelude"), **(extra or {})})
            output = done.stdout + done.stderr
            passed = len(re.findall(r"^\[\s+OK \] ", output, re.M))
            failed = len(re.findall(r"^\[ RUN\s+\] ", output, re.M)) - passed
            skipped = len(re.findall(r"^\[\s+SKIPPED \] (?!\d+ test)", output, re.M)) // 2  # listed again at the end
            failed -= skipped
            if done.returncode and not failed:
                failed = 1
            return Counts(passed, failed, skipped, output)

        on_devices = name in ("test_runtime", "test_backend", "test_library") and not env.sanitized
        # The simulator adds to what these do without.
        yield Case(name, test, long=on_devices and name != "test_library" and env.simulator() is not None)
        if on_devices:
            yield Case(name + " with the CUDA simulator", lambda test=test: test(extra=env.cudasim()))
