#!/usr/bin/env python3
"""What --check=memory costs: time of the tasks of benchmarks/run with it and with --check=none, interleaved.

    python3 benchmarks/checks.py --target=c --rounds 5 reduce sobel
    python3 benchmarks/checks.py --target=opencl --size 2^22

Each figure is the shortest run of all rounds. Without names it takes the tasks that benchmarks/run takes by itself,
and those of plain programs.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
from tasks import DEFAULT, harness, program  # noqa: E402  beside this file

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PLAIN = ["product64", "exp", "convolution", "words", "runLengths", "blur3", "bfs"]
DEGREES = ("none", "memory")


def execute(command):
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", default=[*DEFAULT, *PLAIN])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--target", default="c")
    parser.add_argument("--map", choices=("loop", "simt"))
    parser.add_argument("--size", default="2^20")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    base, _, power = options.size.partition("^")
    size = str(int(base) ** int(power or 1))
    data = os.path.join(options.build, "benchmarks", "data")
    os.makedirs(data, exist_ok=True)
    subprocess.run(["sh", os.path.join(HERE, "build"), options.build], check=True)
    measure, fclc = os.path.join(options.build, "benchmarks", "measure"), os.path.join(options.build, "fclc")
    mapping = [f"--map={options.map}"] if options.map else []
    chosen = [f"--target={options.target}", f"--runs={options.runs}", *mapping]
    ratios = []
    print("| task | none, ms | memory, ms | memory : none |\n|---|---|---|---|")
    for task in options.tasks:
        described = execute([measure, "--write", data, "--size", size, harness(task)])
        best = dict.fromkeys(DEGREES, float("inf"))
        for turn in range(options.rounds):
            for degree in DEGREES if turn % 2 == 0 else DEGREES[::-1]:
                answer = execute([fclc, "bench", "--json", *chosen, f"--check={degree}", *program(described, task)])
                best[degree] = min(best[degree], 1000 * answer["min_s"])
        ratios.append(best["memory"] / best["none"])
        print(f"| {task} | {best['none']:.4g} | {best['memory']:.4g} | {ratios[-1]:.2f} |", flush=True)
    print(f"\nmedian {statistics.median(ratios):.3f}, most {max(ratios):.2f}")


if __name__ == "__main__":
    main()
