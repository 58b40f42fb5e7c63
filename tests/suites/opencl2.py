"""Programs with test directives on a second OpenCL, Intel's for processors, in both mappings.

`make opencl2` installs it. What PoCL lets pass need not be right: this one has other rules for
floats, makes vectors of work-items, and has sub-groups."""

import os
from executors import EXECUTORS
from harness import Case, Skip
from programs import directives, programs

ORDER = 42
THOROUGH = True


def variables(env):
    """What makes the OpenCL loader find this driver, and no other."""
    folder = env.path("build", "opencl2")
    if not os.path.exists(os.path.join(folder, "packages")):
        raise Skip("Intel's OpenCL is not installed: make opencl2")
    return {"OCL_ICD_VENDORS": os.path.join(folder, "vendors"),
            "LD_LIBRARY_PATH": os.path.join(folder, "venv", "lib")}


# --sub-groups=yes is what such a device gets by itself; PoCL, which has none, runs the other way.
WAYS = {"opencl-loop": [], "opencl-simt": [], "opencl-simt by threads": ["--sub-groups=no"]}


def cases(env):
    for path in programs(env):
        for way, more in WAYS.items():
            def run(path=path, way=way, more=more):
                options = EXECUTORS[way.split()[0]][0]
                return directives(env, [env.fclc, "test", "--check=none", *options, *more, path], variables(env))
            yield Case(f"{os.path.relpath(path, env.root)} on {way}", run, long=bool(more))

    def has_sub_groups():
        devices = env.must(env.fclc, "devices", "--target=opencl", env=variables(env))
        assert "Intel(R) OpenCL" in devices and "sub-groups of 32" in devices, devices
    yield Case("the device has sub-groups", has_sub_groups)
