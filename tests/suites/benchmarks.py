"""The benchmarks: hand-written kernels and FCL's programs give what the tasks are defined to give."""

import glob
import json
import os
import re
import sys
from harness import Case, Skip

ORDER = 60
THOROUGH = True
# tasks that need a matrix
MATRICES = ("transpose", "rowsSquare", "matVec", "sobel", "mandelbrot", "product64",
            *(f"sgemm{side}" for side in (256, 384, 512, 640, 768, 1024)),
            "blur3", "blur5", "blur7", *(f"sobel{side}" for side in (256, 512, 1024, 2048, 4096)))


def cases(env):
    folder = env.path("benchmarks")

    def built():
        env.must("sh", os.path.join(folder, "build"), env.build)
        return os.path.join(env.build, "benchmarks", "measure")

    def has_opencl():
        if "opencl" not in "".join(line for line in env.must(env.fclc, "devices").splitlines() if ":0" in line):
            raise Skip("no OpenCL device")

    def directives():
        for path in sorted(glob.glob(os.path.join(folder, "fcl", "*.fcl"))):
            env.must(env.fclc, "test", "--target=interp", path)
    yield Case("directives of benchmarks/fcl", directives)

    sys.path.insert(0, folder)
    import tasks

    def judged():
        program = (
            "import importlib.machinery as m; print(len(m.SourceFileLoader('run',"
            " 'run').load_module().parse_options().goals))"
        )
        for given, wanted in (("--goals", 11), ("--goals=copy/reference<=2", 1), ("--quick", 0)):
            goals = int(env.must(sys.executable, "-B", "-c", program, given, cwd=folder, env={"PYTHONPATH": folder}))
            assert goals == wanted, f"{given}: {goals} goals"
    yield Case("the table and the picture of an H200 are those of its records",
               lambda: env.must(sys.executable, os.path.join(folder, "recorded.py"), "--check"))
    yield Case("benchmarks/run judges the goals that it is asked to", judged)

    def compared():
        program, compare = "examples/reverse/reverse.fcl", env.path("benchmarks", "compare")
        said = env.must(sys.executable, compare, env.fclc, env.fclc, "--programs", program, "--targets=c")
        assert "C: 1 programs" in said and "c: 0 kernels measured" in said and "0 slower" in said, said
        # what is not optimised is larger
        other = env.written("fclc", f'#!/bin/sh\nexec "{os.path.abspath(env.fclc)}" "$@" -O0\n')
        os.chmod(other, 0o755)
        done = env.run(sys.executable, compare, env.fclc, other, "--programs", "examples/sorting/sorting.fcl",
                       "--no-times")
        assert done.returncode == 1 and "examples/sorting/sorting.fcl: " in done.stdout, done.stdout + done.stderr
    yield Case("benchmarks/compare finds what has grown, and nothing where all is the same", compared)

    for task in tasks.TASKS:
        def right(task=task):
            has_opencl()
            measure, scratch = built(), env.tmp()
            for size in (4096,) if task in MATRICES else (4096, 70001):
                if task not in tasks.WITHOUT_REFERENCE:
                    env.must(measure, "--device", "opencl", "--size", size, "--runs", 2, tasks.harness(task))
                described = json.loads(env.must(measure, "--write", scratch, "--size", size, tasks.harness(task)))
                env.must(env.fclc, "run", "--target=opencl", "-o", os.path.join(scratch, "r.npy"),
                         *tasks.program(described, task))
                results = ",".join(sorted(glob.glob(os.path.join(scratch, "r*.npy"))))
                env.must(measure, "--verify", results, "--size", size, tasks.harness(task))
        # too large for a test, or like another one
        if not re.fullmatch(r"D\d+|mandelbrot|sgemm\d+|sobel\d+|obsidian\w+|updates\w+", task):
            yield Case(f"benchmark {task}", right)

    # No GPU is needed to see whether what is written by hand for one is right: sizes that end within a vector, a
    # tile, a matrix's row.
    for task in [*tasks.TASKS, "fma"]:
        def by_hand(task=task):
            measure, sizes = built(), [(1,), (4099,), (70001,)]
            if task in MATRICES:
                sizes = (
                    [(4096,), (16384,)]
                    if task.startswith(("sgemm", "product"))
                    else [(4096,), (136, "--columns", 8), (136, "--columns", 34)]
                )
            for size, *columns in [(1 << 16,)] if task == "fma" else sizes:
                env.must(measure, "--device", "cuda", "--exactly", size, *columns, "--runs", 1, "--warm-up", 1, task,
                         env=env.cudasim(CUDASIM_SEED="1"))
        # The others are the same tasks in other sizes.
        if not re.match(r"obsidian|updates|.*T\d", task) and task not in tasks.WITHOUT_REFERENCE:
            # Three of the sums by index, whose kernels are the same.
            yield Case(f"{task} by hand with the CUDA simulator", by_hand,
                       long=task.startswith("D") and task not in ("D1", "D5", "D9"))

    def compiled():
        nvcc, source = env.tool("nvcc"), os.path.join(env.tmp(), "kernel.cu")
        common = open(os.path.join(folder, "reference", "device.cuh")).read()
        for path in sorted(glob.glob(os.path.join(folder, "reference", "*.cu"))):
            with open(source, "w") as both:
                both.write(common + open(path).read())
            least = "80" if "cp.async" in open(path).read() else "75"
            done = env.run(nvcc, "-std=c++17", "-Werror", "all-warnings", "-Xptxas", "-v", "-arch=sm_" + least,
                           "-cubin", "-o", source + "bin", source)
            assert done.returncode == 0 and not re.search(r"[1-9][0-9]* bytes spill",
                                                          done.stderr), path + "\n" + done.stderr
    yield Case("nvcc compiles the kernels written by hand, no warnings, no spills", compiled)
