"""The programs of benchmarks/suites give what their suites give, on every executor.

Data sets are those of the repository and, where FCL_CORPUS names a folder, those that are there; of
these the interpreter and the simulators, which are slow, take small ones only.
"""

import sys
from executors import EXECUTORS, require, variables
from harness import Case, Counts

ORDER = 61
NAMES = ("interp", "c", "opencl-loop", "opencl-simt", "cuda-simulator", "ptx")
SLOW = ("interp", "cuda-simulator", "ptx")


def cases(env):
    sys.path.insert(0, env.path("benchmarks", "suites"))
    import datasets

    def run(program, executor, chosen):
        require(env, executor)
        folder = env.tmp()
        with open(datasets.source(program), encoding="utf-8") as file:
            text = file.read()
        path = env.written(program + ".fcl",
            text + "\n" + "\n".join(one.directive(folder) for one in chosen) + "\n", folder)
        done = env.run(
            env.fclc,
            "test",
            *EXECUTORS[executor][0],
            path,
            env=variables(env, executor),
            timeout=300,
        )
        counts = Counts.of_last_line(done.stdout + done.stderr)
        assert counts and done.returncode == 0 and counts.passed >= len(chosen), (
            done.stdout + done.stderr
        )
        return counts

    total = 0
    for place, program in enumerate(datasets.programs()):
        found = [one for one in datasets.data_sets(program) if one.outputs]
        total += len(datasets.data_sets(program, [datasets.SMALL]))
        for executor in NAMES:
            chosen = [one for one in found if executor not in SLOW or one.is_small()]
            if chosen:
                yield Case(f"{program} on {executor}", lambda p=program, e=executor, c=chosen: run(p, e, c),
                           # C has the mapping of OpenCL by loops: a third will do.
                           long=executor == "opencl-simt" or executor == "opencl-loop" and place % 3 != 0,
                           thorough=executor not in ("c", "cuda-simulator"))

    def complete():
        without = [p for p in datasets.programs() if not datasets.data_sets(p, [datasets.SMALL])]
        assert not without, f"no data set in the repository: {', '.join(without)}"

    yield Case("each program has a data set in the repository", complete)
