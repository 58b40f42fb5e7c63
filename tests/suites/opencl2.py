"""Programs with test directives on a second OpenCL, Intel's for processors, in both mappings.

`make opencl2` installs it. What PoCL lets pass need not be right: this one has other rules for
floats, makes vectors of work-items, and has sub-groups."""

import os
from executors import EXECUTORS
from harness import Case, Skip
from programs import directives, programs

ORDER = 42


def variables(env):
    """What makes the OpenCL loader find this driver, and no other."""
    folder = env.path("build", "opencl2")
    if not os.path.exists(os.path.join(folder, "packages")):
        raise Skip("Intel's OpenCL is not installed: make opencl2")
    return {"OCL_ICD_VENDORS": os.path.join(folder, "vendors"),
            "LD_LIBRARY_PATH": os.path.join(folder, "venv", "lib")}


def cases(env):
    for path in programs(env):
        for executor in "opencl-loop", "opencl-simt":
            def run(path=path, executor=executor):
                return directives(env, [env.fclc, "test", *EXECUTORS[executor][0], path], variables(env))
            yield Case(f"{os.path.relpath(path, env.root)} on {executor}", run)
