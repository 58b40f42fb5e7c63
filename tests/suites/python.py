"""The Python package: built, installed in a virtual environment and tested there with pytest; and the wheel."""

import glob
import os
import re
from harness import Case, Counts, Skip

ORDER = 58


def cases(env):
    venv = os.path.join(env.build, "venv")
    python = os.path.join(venv, "bin", "python")
    own = {"FCL_BUILD": env.build}

    def environment():
        """The virtual environment, with the package installed; skips the case where it cannot be had."""
        interpreter = next((path for path in ("/usr/bin/python3",) if os.path.exists(path)), env.tool("python3"))
        version = env.must(interpreter, "-c", "import sys; print(sys.version_info >= (3, 11))")
        if "True" not in version:
            raise Skip("no Python 3.11 or later")
        header = env.must(interpreter, "-c", "import sysconfig; print(sysconfig.get_path('include'))").strip()
        if not os.path.exists(os.path.join(header, "Python.h")):
            raise Skip("no Python.h: install python3-dev")
        done = env.run("make", "BUILD=" + env.build, "PYTHON=" + interpreter, "venv", timeout=600)
        if done.returncode:
            raise Skip("no virtual environment with NumPy and pytest: " + done.stderr.strip().split("\n")[-1])
        env.must(python, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--force-reinstall", ".",
                 env=own, timeout=600)

    def tested(extra, *words):
        environment()
        done = env.run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", *words, "tests/python",
                       env=extra, timeout=1200)
        counts = [int((re.search(rf"(\d+) {word}", done.stdout.split("\n")[-2]) or [0, 0])[1])
                  for word in ("passed", "failed", "skipped")]
        if done.returncode and not counts[1]:
            counts[1] = 1
        return Counts(*counts, output=done.stdout + done.stderr)
    yield Case("tests/python, with pytest", lambda: tested(None), alone=True)
    yield Case("tests/python on the CUDA simulator", lambda: tested(env.cudasim(), "-k", "cuda"))

    def wheel():
        environment()
        env.must("make", "BUILD=" + env.build, "wheel", timeout=600)
        path, = glob.glob(env.path(env.build, "wheel", "*.whl"))
        assert "-cp311-abi3-manylinux_" in path, path
        place = env.tmp()
        env.must(python, "-m", "pip", "install", "-q", "--no-deps", "--target", place, path)
        alone = {"PYTHONPATH": place}
        got = env.must(python, "-c", "import fcl; print(fcl.__file__, fcl.source("
                       "'import \"matrix\"\\nkernel k (x : int) = x + 1', target='c').k(2))", cwd="/", env=alone)
        assert got.startswith(place) and got.endswith(" 3\n"), got
        got = env.must(os.path.join(place, "bin", "fclc"), "run", "--target=c", env.path("examples/reverse/reverse.fcl"),
                       "reverseGrid", "[1,2]", cwd="/", env=alone)
        assert got == "[2,1]\n", got
    yield Case("make wheel, and the wheel by itself", wheel, alone=True)
