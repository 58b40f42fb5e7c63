"""The Python package: built, installed in a virtual environment and tested there with pytest; and the wheel."""

import glob
import os
import re
import shutil
from harness import Case, Counts
import virtual

ORDER = 58
THOROUGH = True
SANITIZED = True


def cases(env):
    build = os.path.join(env.root, "build") if env.sanitized else env.build  # the one without sanitizers
    python = virtual.python(build)

    def environment():
        return virtual.environment(env, build)

    def package():
        virtual.package(env, build)

    def tested(extra, *words):
        done = env.run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", *words, "tests/python",
                       env=extra, timeout=1200)
        counts = [int((re.search(rf"(\d+) {word}", done.stdout.split("\n")[-2]) or [0, 0])[1])
                  for word in ("passed", "failed", "skipped")]
        if done.returncode and not counts[1]:
            counts[1] = 1
        return Counts(*counts, output=done.stdout + done.stderr)

    def sanitized():
        """The package with sanitizers in it, before the installed one in Python's path."""
        header, place = environment(), env.tmp()
        folder = os.path.join(place, "fcl")
        shutil.copytree(env.path("python", "fcl"), folder)
        for name in ("prelude", "lib"):
            os.symlink(env.path(name), os.path.join(folder, name))
        objects = [path for part in ("compiler", "gen", "runtime", "third_party")
                   for path in glob.glob(os.path.join(env.build, "obj", part, "**", "*.o"), recursive=True)
                   if not path.endswith("driver/main.o")]
        env.must("gcc", "-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fsanitize=address,undefined",
                 "-fno-sanitize-recover=undefined", "-fvisibility=hidden", "-shared", "-I" + header,
                 "-Icompiler/driver",
                 "-Iruntime", *sorted(glob.glob(env.path("python", "core", "*.c"))), *objects,
                 "-o", os.path.join(folder, "_core.abi3.so"), "-ldl", "-lm", "-lpthread", timeout=300)
        libraries = [env.must("gcc", f"-print-file-name=lib{name}.so").strip() for name in ("asan", "ubsan")]
        return tested(env.cudasim(LD_PRELOAD=" ".join(libraries), PYTHONPATH=place),
                      "-k", "test_calls or test_errors or test_arrays or test_threads and not microseconds")

    if env.sanitized:
        yield Case("tests/python, with sanitizers", sanitized)
        return

    def installed(extra, *words):
        package()
        return tested(extra, *words)
    yield Case("tests/python, with pytest", lambda: installed(None, "-k", "not microseconds"))
    yield Case("tests/python, how long a call takes", lambda: installed(None, "-k", "microseconds"), alone=True)
    yield Case("tests/python on the CUDA simulator", lambda: installed(env.cudasim(), "-k", "cuda"))

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
        got = env.must(os.path.join(place, "bin", "fclc"), "run", "--target=c",
                       env.path("examples/reverse/reverse.fcl"),
                       "reverseGrid", "[1,2]", cwd="/", env=alone)
        assert got == "[2,1]\n", got
    yield Case("make wheel, and the wheel by itself", wheel, alone=True)
