#!/usr/bin/env python3
"""The report's estimates beside what was measured: no launch may be faster than its estimate.

    tests/support/bounds.py [--fclc=build/fclc] [TASK …]    prints a line for each task and size; exit status 1 where
                                                            an estimate is above a measurement

All rows of FCL in benchmarks/results/*-h200.json are taken: for each task and size the shortest time of the device, or,
where that was not noted, of the host. An estimate is the sum of those of the launches; a loop of the host whose turns
are not known counts as none, a branch as its shorter side.
"""

import argparse
import collections
import glob
import json
import math
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
from tasks import TASKS  # noqa: E402

DEVICE = "h200"
NEAR = 1.5  # how far a task that memory bounds may be from its estimate to be near it
MATRICES = "benchmarks/fcl/matrices.fcl"
# Recorded tasks that benchmarks/run has no more.
OTHERS = {"sgemm4096": {"file": MATRICES, "kernel": "product"}, "unit4096": {"file": MATRICES, "kernel": "unitProduct"}}
BY_INDEX = 20_000_000  # elements of D1 … D12
BUCKETS = dict(zip(range(1, 13), (16, 256, 4096, 65536) + 4 * (2048,) + (16, 256, 4096, 65536)))


def sizes_of(task, n):
    """The option --sizes of a task of n elements."""
    columns = 1 << math.ceil(math.log2(n) / 2) if n else 0
    rows = n // columns if n else 0
    product = re.fullmatch(r"(?:sgemm|unit|product)(\d+)", task)
    buckets = re.fullmatch(r"histogram(\d+)(?:hot)?", task)
    by_index = re.fullmatch(r"D(\d+)", task)
    if product:
        side = int(product[1])
        return f"n={side},a={side * side},b={side * side}"
    if buckets:
        return f"buckets={buckets[1]},n={n}"
    if by_index:
        return f"buckets={BUCKETS[int(by_index[1])]},n={BY_INDEX}"
    return {
        "transpose": f"columns={columns},rows={rows},n={n}", "sobel": f"columns={columns},rows={rows},n={n}",
        "rowsWide": f"matrix=1x{n}", "rowsSquare": f"matrix={rows}x{columns}", "rowsTall": f"matrix={n}x1",
        "matVec": f"rows={rows},matrix={n},vector={columns}", "convolution": f"taps=16,xs={n}",
        "csr": f"starts={n // 16 + 1},columns={n},values={n},x={n // 16}",
        "mandelbrot": "width=1024,height=1024", "obsidianMandelbrot": "width=512,height=512",
        "obsidianScan": f"n={1 << 20}",
    }.get(task, f"n={n}")


def least(steps):
    """Microseconds that the launches take at least, and those of them that memory bounds."""
    total = of_memory = 0
    for step in steps:
        one = (0, 0)
        if step["kind"] == "launch" and step["estimate"]:
            took = step["estimate"]["microseconds"]
            one = took, took if step["estimate"]["bound"] == "memory" else 0
        elif step["kind"] == "loop" and step["unrolled"]:
            one = least(step["steps"])
        elif step["kind"] == "branch":
            one = min(least(step["then"]), least(step["else"]))
        total, of_memory = total + one[0], of_memory + one[1]
    return total, of_memory


def measured():
    """{(task, size): microseconds}, the least of all rows."""
    took = collections.defaultdict(lambda: math.inf)
    for path in sorted(glob.glob(os.path.join(ROOT, "benchmarks", "results", f"*-{DEVICE}.json"))):
        with open(path, encoding="utf-8") as file:
            answers = json.load(file)["answers"]
        for answer in answers:
            if answer["side"] == "fcl":
                launches = answer.get("launches") or ()
                device = answer.get("device_s") or sum(one["launches"] * one["median_s"] for one in launches)
                key = answer["task"], answer["size"]
                took[key] = min(took[key], 1e6 * min(device or math.inf, answer["min_s"]))
    return took


def estimate(fclc, task, size):
    """(microseconds at least, whether memory bounds most of that)"""
    program = {**TASKS, **OTHERS}[task]
    made = subprocess.run([fclc, "report", os.path.join(ROOT, program["file"]), program["kernel"], "--json",
                           f"--device={DEVICE}", "--sizes=" + sizes_of(task, size)], capture_output=True, text=True)
    if made.returncode:
        raise SystemExit(f"{task}: {made.stderr}")
    total, of_memory = least(json.loads(made.stdout)["kernels"][0]["steps"])
    return total, of_memory > total / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fclc", default=os.path.join(ROOT, "build", "fclc"))
    parser.add_argument("tasks", nargs="*")
    options = parser.parse_args()
    above = near = of_memory = 0
    rows = [row for row in sorted(measured().items()) if not options.tasks or row[0][0] in options.tasks]
    print("task, elements, microseconds at least, measured, ratio")
    for (task, size), took in rows:
        at_least, is_of_memory = estimate(options.fclc, task, size)
        ratio = took / at_least if at_least else math.inf
        above += ratio < 1
        of_memory += is_of_memory
        near += is_of_memory and ratio <= NEAR
        print(f"{task} {size} {at_least:.1f} {took:.1f} {ratio:.2f}{' memory' if is_of_memory else ''}"
              f"{' ABOVE' if ratio < 1 else ''}", flush=True)
    print(f"{len(rows)} tasks and sizes, {above} estimates above what was measured; "
          f"within {NEAR} of it {near} of {of_memory} that memory bounds")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
