"""The unit tests: every tests/unit/test_*.c is a program; each of its tests counts."""

import glob
import os
from harness import Case, Counts

ORDER = 20
SANITIZED = True


def cases(env):
    for source in sorted(glob.glob(env.path("tests/unit/test_*.c"))):
        name = os.path.splitext(os.path.basename(source))[0]

        def test(name=name, extra=None):
            program = os.path.join(env.build, "tests", "unit", name)
            assert os.path.exists(program), f"{program} is not built"
            done = env.run(program, env={"FCL_PRELUDE": env.path("prelude"), **(extra or {})})
            output = done.stdout + done.stderr
            counts = Counts.of_last_line(output)
            assert counts and bool(done.returncode) == bool(counts.failed), f"exit status {done.returncode}\n{output}"
            return counts

        on_devices = name in ("test_runtime", "test_backend", "test_library") and not env.sanitized
        # The simulator adds to what these do without.
        yield Case(name, test, long=on_devices and name != "test_library" and env.simulator() is not None)
        if on_devices:
            yield Case(name + " with the CUDA simulator", lambda test=test: test(extra=env.cudasim()))
