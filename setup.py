"""The Python package: its inner part in C, with the whole compiler and runtime in it, and beside it the command, the
prelude and the library. `make` builds what is not Python's; FCL_BUILD is where (build)."""

import glob
import os
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

BUILD = os.environ.get("FCL_BUILD", "build")
OWN = os.path.join(BUILD, "python")  # setuptools' own folder


class BuildCompiler(build_ext):
    def run(self):
        jobs = f"-j{len(os.sched_getaffinity(0))}"
        subprocess.check_call(["make", jobs, f"BUILD={BUILD}", f"{BUILD}/fclc", f"{BUILD}/libfclc.a"])
        super().run()


class WithData(build_py):
    def run(self):
        super().run()
        package = os.path.join(self.build_lib, "fcl")
        for folder in ("prelude", "lib"):
            os.makedirs(os.path.join(package, folder), exist_ok=True)
            for path in glob.glob(f"{folder}/*.fcl"):
                shutil.copy(path, os.path.join(package, folder))
        self.run_command("build_ext")
        os.makedirs(os.path.join(package, "bin"), exist_ok=True)
        shutil.copy(os.path.join(BUILD, "fclc"), os.path.join(package, "bin"))
        subprocess.check_call(["strip", os.path.join(package, "bin", "fclc")])


os.makedirs(OWN, exist_ok=True)
setup(
    packages=["fcl"],
    package_dir={"": "python"},
    package_data={"fcl": ["py.typed", "*.pyi"]},
    ext_modules=[Extension(
        "fcl._core", sorted(glob.glob("python/core/*.c")), py_limited_api=True,
        include_dirs=["compiler/driver", "runtime"],
        depends=[os.path.join(BUILD, "libfclc.a"), "compiler/driver/fclc.h", "runtime/fcl.h", "python/core/core.h"],
        extra_compile_args=["-std=c11", "-fvisibility=hidden"],
        extra_objects=[os.path.join(BUILD, "libfclc.a")],
        extra_link_args=["-Wl,--exclude-libs,ALL", "-Wl,-s", "-ldl", "-lm", "-lpthread"])],
    cmdclass={"build_ext": BuildCompiler, "build_py": WithData},
    options={"build": {"build_base": OWN}, "egg_info": {"egg_base": OWN},
             "bdist_wheel": {"py_limited_api": "cp311"}},
)
