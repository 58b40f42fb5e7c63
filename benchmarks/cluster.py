#!/usr/bin/env python3
"""Weak scaling of the programs of examples/cluster: as much work for each of two processes as for one, a core each.

    make -C examples/cluster && python3 benchmarks/cluster.py [--programs examples/cluster] [--rounds N]

A process has one core and one thread: `taskset` and FCL_THREADS. What a program prints is the time of a round without
the start. Runs of one process, on either core, and of two go in turns, and of each the fastest counts. The efficiency
is the time of one process, on the slower core, by that of two.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

# The task of each process. Plates are as large as fits the caches of a core.
TASKS = {
    "histogram": ["4194304", "20"],
    "kmeans": ["1048576", "20"],
    "sort": ["4194304", "5"],
    "heat": ["512", "512", "500"],
}


def seconds(mpirun, program, words, cores):
    """Of a round, by as many processes as there are cores."""
    with tempfile.TemporaryDirectory() as folder:
        # Each of the job's processes is bound to a core of its own.
        bound = ["bash", "-c", 'cores=(%s); exec taskset -c ${cores[$OMPI_COMM_WORLD_LOCAL_RANK]} "$@"' %
                 " ".join(map(str, cores)), "-"]
        command = [mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(len(cores)), *bound,
                   os.path.abspath(program), *words,
                   os.path.join(folder, "out")]
        done = subprocess.run(command, env=dict(os.environ, FCL_THREADS="1"), stdout=subprocess.PIPE, text=True,
                              check=True)
    return float(re.search(r": ([0-9.]+) s a round", done.stdout)[1])


def measured(mpirun, program, words, rounds, cores):
    """The fastest of one process on each core alone, the slower core's, and of two processes."""
    times = {(core,): [] for core in cores} | {tuple(cores): []}
    for _ in range(rounds):
        for at in times:
            times[at].append(seconds(mpirun, program, words, at))
    return max(min(times[core,]) for core in cores), min(times[tuple(cores)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="examples/cluster", help="the folder in which they are built")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mpirun", default="mpirun")
    chosen = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("two cores are wanted")
    print("| program | one process (ms) | two processes (ms) | efficiency |\n|---|---|---|---|")
    for name, words in TASKS.items():
        one, two = measured(chosen.mpirun, os.path.join(chosen.programs, name), words, chosen.rounds, cores)
        print(f"| `{name} {' '.join(words)}` | {one * 1e3:.3g} | {two * 1e3:.3g} | {one / two:.2f} |", flush=True)


if __name__ == "__main__":
    main()
