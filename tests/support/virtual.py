"""The virtual environment of `make venv`, in which suites have the Python package and what PyPI has."""

import os
import threading
from harness import Skip

ONE_AT_A_TIME = threading.Lock()
_packaged = set()  # builds whose package is in their environment: what uses it there is not to see it replaced


def python(build):
    """Its interpreter."""
    return os.path.join(build, "venv", "bin", "python")


def environment(env, build):
    """Makes it; skips the case where it cannot be had. Returns the folder of Python's headers."""
    interpreter = next((path for path in ("/usr/bin/python3",) if os.path.exists(path)), env.tool("python3"))
    version = env.must(interpreter, "-c", "import sys; print(sys.version_info >= (3, 11))")
    if "True" not in version:
        raise Skip("no Python 3.11 or later")
    header = env.must(interpreter, "-c", "import sysconfig; print(sysconfig.get_path('include'))").strip()
    if not os.path.exists(os.path.join(header, "Python.h")):
        raise Skip("no Python.h: install python3-dev")
    with ONE_AT_A_TIME:
        done = env.run("make", "BUILD=" + build, "PYTHON=" + interpreter, "venv", timeout=600)
    if done.returncode:
        raise Skip("no virtual environment with NumPy and pytest: " + done.stderr.strip().split("\n")[-1])
    return header


def package(env, build):
    """Puts the package `fcl` of this tree into it."""
    environment(env, build)
    with ONE_AT_A_TIME:
        if build not in _packaged:
            env.must(
                python(build),
                "-m",
                "pip",
                "install",
                "-q",
                "--no-deps",
                "--no-build-isolation",
                "--force-reinstall",
                ".",
                env={"FCL_BUILD": build},
                timeout=600,
            )
            _packaged.add(build)
