#!/usr/bin/env python3
"""The table that is in benchmarks/results/LOG.md: the programs of this folder beside NumPy and Numba.

    python3 -m venv D && D/bin/pip install numpy numba
    make && D/bin/python benchmarks/suites/table.py [--rounds 3] [PROGRAM…]

For each program the lines that are neither blank nor comments; the time to compile it to C; and,
of inputs that are made up by a fixed seed (`LARGE` in reference.py), the launches on C, and the
times on C, on OpenCL by loops, and of the program that one would write with NumPy and Numba.
Results are compared first. A time is the least of all runs of all rounds, in each of which all
sides take their turn: what else the machine does only adds to it. Transfers to a device and
NumPy's compilation are left out. The last line has sums, and the geometric mean of the ratios.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import datasets
import reference

ROOT = os.path.dirname(os.path.dirname(datasets.HERE))


def fclc(*words):
    done = subprocess.run(
        [os.path.join(ROOT, "build", "fclc"), *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"fclc {' '.join(words)}\n{done.stderr}")
    return done.stdout


def lines(program):
    with open(datasets.source(program), encoding="utf-8") as file:
        return sum(1 for line in file if line.strip() and not line.strip().startswith("--"))


def compile_time(program, folder):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        fclc(datasets.source(program), "-o", os.path.join(folder, "program.c"))
        times.append(time.perf_counter() - start)
    return min(times)


def arguments(program, folder):
    """Makes the inputs, once; gives them and how fclc is told of them."""
    inputs = reference.made(program, reference.LARGE[program])
    files = []
    for i, array in enumerate(inputs):
        path = os.path.join(folder, f"{program}.{i}.npy")
        np.save(path, array)
        files.append("@" + path)
    return inputs, files


def agree(program, target, files, wanted, folder):
    """How far the results are from the reference, over what is allowed; 0 where all is equal."""
    path = os.path.join(folder, "result.npy")
    fclc("run", *target, datasets.source(program), "main", *files, "-o", path)
    worst = 0.0
    for i, array in enumerate(wanted):
        got = np.load(path if len(wanted) == 1 else path[:-4] + f".{i}.npy").ravel()
        within = datasets.TOLERANCES.get(program) or datasets.TOLERANCE.get(array.dtype.str[1:], 0)
        y = array.ravel()
        if got.shape != y.shape:
            return float("inf")
        far = np.abs(got.astype(float) - y) / np.maximum(1, np.abs(y.astype(float)))
        far = far.max() if far.size else 0.0
        worst = max(worst, far / within if within else far and float("inf"))
    return worst


def numpy_time(program, inputs):
    times, until = [], time.perf_counter() + 0.5
    while not times or (time.perf_counter() < until and len(times) < 31):
        start = time.perf_counter()
        reference.results(program, inputs)
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("programs", nargs="*", metavar="PROGRAM")
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    folder = os.path.join(ROOT, "build", "suites")
    os.makedirs(folder, exist_ok=True)
    targets = {"C": ["--target=c"], "OpenCL": ["--target=opencl", "--map=loop"]}
    print(
        "| program | inputs | lines | compile (ms) | launches | C (ms) | OpenCL (ms) | NumPy (ms) "
        "| C : NumPy |\n|---|---|---|---|---|---|---|---|---|"
    )
    total_lines, total_launches, ratios, wrong = 0, 0, [], []
    for program in options.programs or datasets.programs():
        inputs, files = arguments(program, folder)
        wanted = reference.results(program, inputs)
        for name, target in targets.items():
            far = agree(program, target, files, wanted, folder)
            if far > 1:
                wrong.append(f"{program} on {name}: {far:.3g} times what is allowed")
        compiled = compile_time(program, folder)
        times, launches = {side: [] for side in (*targets, "NumPy")}, 0
        for _ in range(options.rounds):
            for name, target in targets.items():
                told = json.loads(
                    fclc(
                        "bench",
                        *target,
                        "--time=0.5",
                        "--json",
                        datasets.source(program),
                        "main",
                        *files,
                    )
                )
                times[name].append(told["min_s"])
                if name == "C":
                    launches = sum(one["launches"] for one in told["launches"])
            times["NumPy"].append(numpy_time(program, inputs))
        c, opencl, numpy = (min(times[side]) for side in (*targets, "NumPy"))
        ratio = c / numpy
        sizes = ", ".join(str(size) for size in reference.LARGE[program])
        print(
            f"| {program} | {sizes} | {lines(program)} | {1e3 * compiled:.0f} | {launches} "
            f"| {1e3 * c:.3g} | {1e3 * opencl:.3g} | {1e3 * numpy:.3g} | {ratio:.2f} |",
            flush=True,
        )
        total_lines, total_launches = total_lines + lines(program), total_launches + launches
        ratios.append(ratio)
    print(
        f"| all | | {total_lines} | | {total_launches} | | | "
        f"| {statistics.geometric_mean(ratios):.2f} |"
    )
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
