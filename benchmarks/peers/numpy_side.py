#!/usr/bin/env python3
"""The side of NumPy: what its user would write, on the host.

    python3 numpy_side.py --measure PROGRAM --data DIRECTORY [--device NAME] [--size N] [--runs R] [--warm-up W]
                          [--seconds S] [--check no] TASK

As harness/main.c, whose JSON and exit status this has, too; the inputs and what is right come from the program that
measures the hand-written kernels.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError as why:
    print(why, file=sys.stderr)
    sys.exit(3)

NO_TASK, LEAST_RUNS = 4, 3


def words(text):
    blank = (text == 32) | (text == 10)
    after_blank = np.empty_like(blank)
    after_blank[0] = True
    after_blank[1:] = blank[:-1]
    return np.array([np.count_nonzero(~blank & after_blank)], dtype=np.int32)


def run_lengths(xs):
    starts = np.flatnonzero(np.concatenate(([True], xs[1:] != xs[:-1])))
    return xs[starts], np.diff(np.append(starts, len(xs))).astype(np.int32)


def product(a, b):
    side = int(round(len(a) ** 0.5))
    return (a.reshape(side, side) @ b.reshape(side, side)).ravel()


def bfs(starts, degrees, edges):
    distance, owner = np.full(len(starts), -1, dtype=np.int32), np.empty(len(starts), dtype=np.int32)
    front, far = np.array([0]), 0
    distance[0] = 0
    while len(front):
        counts, far = degrees[front], far + 1
        before = np.cumsum(counts) - counts
        found = edges[np.repeat(starts[front] - before, counts) + np.arange(counts.sum())]
        found = found[distance[found] < 0]
        numbers = np.arange(len(found), dtype=np.int32)
        distance[found], owner[found] = far, numbers
        front = found[owner[found] == numbers]
    return distance


TASKS = {
    "exp": lambda xs: np.exp(xs),
    "convolution": lambda taps, xs: np.convolve(xs, taps, "valid"),
    "words": words,
    "runLengths": run_lengths,
    "product64": product,
    "bfs": bfs,
    "sgemm512": product,
    "sgemm1024": product,
    "saxpy": lambda x, y: np.float32(2) * x + y,
    "reduce": lambda xs: np.array([np.add.reduce(xs, dtype=np.int32)]),
    "scan": lambda xs: np.cumsum(xs, dtype=np.int32),
    "filter": lambda xs: xs[xs > 0],
    "sort": np.sort,
    "sortFloat": np.sort,
}


def main(side, driver, tasks, of_matrices):
    """Measures one task of `tasks`, which get the inputs, or of those that get rows and columns before these."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--device")
    parser.add_argument("--size", default=str(1 << 24))
    parser.add_argument("--runs", type=int, default=101)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--check", default="yes")
    parser.add_argument("task")
    o = parser.parse_args()
    if o.task not in tasks and o.task not in of_matrices:
        return NO_TASK
    described = json.loads(subprocess.run([o.measure, "--write", o.data, "--size", o.size, o.task], check=True,
                                          capture_output=True, text=True).stdout)
    arrays = [np.load(path) for path in described["files"]]
    if o.task in of_matrices:
        arrays = [described["rows"], described["columns"], *arrays]
    run = tasks.get(o.task) or of_matrices[o.task]
    start = time.perf_counter()
    for i in range(o.warm_up + 1):
        if i == 0 or time.perf_counter() - start < o.seconds:
            results = run(*arrays)
    times, start = [], time.perf_counter()
    while len(times) < o.runs and (len(times) < LEAST_RUNS or time.perf_counter() - start < o.seconds):
        before = time.perf_counter()
        results = run(*arrays)
        times.append(time.perf_counter() - before)
    if o.check != "no":
        with tempfile.TemporaryDirectory() as folder:
            results = results if isinstance(results, tuple) else (results,)
            paths = [os.path.join(folder, f"r{i}.npy") for i in range(len(results))]
            for path, array in zip(paths, results):
                np.save(path, array)
            if subprocess.run([o.measure, "--verify", ",".join(paths), "--size", o.size, o.task],
                              check=False).returncode:
                return 1
    print(json.dumps({
        "task": o.task, "side": side, "target": "c", "device": "CPU", "driver": driver,
        "size": described["size"], "runs": len(times), "median_s": statistics.median(times), "min_s": min(times),
        "bytes": described["bytes"], "launches": []}))
    return 0


if __name__ == "__main__":
    sys.exit(main("numpy", f"NumPy {np.__version__}", TASKS, {}))
