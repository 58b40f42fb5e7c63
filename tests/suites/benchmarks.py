"""The benchmarks: hand-written kernels and FCL's programs give what the tasks are defined to give."""

import glob
import json
import os
import re
import sys
from harness import Case, Skip

ORDER = 60
SIZES = {"transpose": (4096,), "rowsSquare": (4096,), "matVec": (4096,), "sobel": (4096,)}  # of tasks that need a matrix


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
        program = "import importlib.machinery as m; print(len(m.SourceFileLoader('run', 'run').load_module().parse_options().goals))"
        for given, wanted in (("--goals", 11), ("--goals=copy/reference<=2", 1), ("--quick", 0)):
            goals = int(env.must(sys.executable, "-B", "-c", program, given, cwd=folder, env={"PYTHONPATH": folder}))
            assert goals == wanted, f"{given}: {goals} goals"
    yield Case("benchmarks/run judges the goals that it is asked to", judged)

    for task in tasks.TASKS:
        def right(task=task):
            has_opencl()
            measure, scratch = built(), env.tmp()
            for size in SIZES.get(task, (4096, 70001)):
                env.must(measure, "--device", "opencl", "--size", size, "--runs", 2, task)
                described = json.loads(env.must(measure, "--write", scratch, "--size", size, task))
                env.must(env.fclc, "run", "--target=opencl", "-o", os.path.join(scratch, "r.npy"), *tasks.program(described))
                results = ",".join(sorted(glob.glob(os.path.join(scratch, "r*.npy"))))
                env.must(measure, "--verify", results, "--size", size, task)
        if not re.fullmatch(r"D[0-9]+|mandelbrot|sgemm1024|obsidian\w+", task):  # too large for a test
            yield Case(f"benchmark {task}", right)
