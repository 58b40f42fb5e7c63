"""`with contract` and `--contract`: one rounding on all targets, none by itself, and never by the interpreter."""

from executors import EXECUTORS, require, variables
from harness import Case

ORDER = 44

# The square of 1 + 2^-12 has 2^-24 that a float has no room for: what is subtracted shows whether it was rounded.
PROGRAM = """\
kernel lost (x : float) (xs : [float]) {}= push <grid> (map (fn y => y * y - x) xs)
kernel lostToo (x : double) (xs : [float]) {}= push <grid> (map (fn y => x - double y * double y) xs)
"""
X, Y, LOST = 1 + 2**-11, 1 + 2**-12, 2**-24


def cases(env):
    def run(executor, says, *options):
        require(env, executor)
        path = env.written("lost.fcl", PROGRAM.format(says, says))
        return [float(env.must(env.fclc, "run", *EXECUTORS[executor][0], *options, path, kernel, f"{x:.17g}",
                               f"[{y:.17g},{y:.17g}]",
                               env=variables(env, executor)).strip(" []\n").split(",")[1])
                for kernel, x, y in (("lost", X, Y), ("lostToo", 1.0, 1 + 2.0**-23))]

    # In a double the square of 1 + 2^-23 is exact: whether it is contracted makes no difference there.
    def rounds(executor, says, *options):
        lost, exact = run(executor, says, *options)
        contracts = executor != "interp" and (says or options)
        assert exact == 1 - (1 + 2.0**-23)**2, exact
        assert abs(lost - (LOST if contracts else 0)) < 1e-12, f"{lost} on {executor}"

    for executor in ("interp", "c", "c-unoptimised", "opencl-loop", "opencl-simt", "cuda-simulator", "cuda-unoptimised",
                     "ptx"):
        for words in (("",), ("with contract ",), ("", "--contract")):
            yield Case(f"{' '.join(filter(None, words)) or 'nothing'} on {executor}",
                       lambda executor=executor, words=words: rounds(executor, *words),
                       thorough=executor not in ("interp", "c", "cuda-simulator"))

    def cheaper():
        def operations(*options):
            text = env.must(env.fclc, "report", *options, "--sizes", "n=1024",
                            env.path("examples", "nbody", "nbody.fcl"), "simulate")
            return [int(line.split(":")[1]) for line in text.splitlines() if "operations on floats" in line
                    and line.split(":")[1].strip().isdigit()][0]

        without, contracted = operations(), operations("--contract")
        # A pair of bodies: five of eighteen operations are products that a sum takes.
        assert (without - contracted) * 18 >= without * 4.9, (without, contracted)

    yield Case("what it saves is in the report", cheaper)
