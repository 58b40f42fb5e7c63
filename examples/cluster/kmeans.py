"""k-means by Dask, with the kernels of kmeans.fcl: `python3 kmeans.py N ROUNDS FILE [PARTS]` on two worker processes.

PARTS parts of N points each, four by default, lie in the workers, where the kernels run; the centres, 16 floats, go
to FILE, and are those of `mpirun -n PARTS kmeans N ROUNDS FILE`. A part of a worker that dies is made again by
another one."""

import functools
import os
import sys

import fcl
import numpy as np
from dask.distributed import Client

HERE = os.path.dirname(os.path.abspath(__file__))


@functools.cache
def kernels():
    """The program, loaded once in each process."""
    return fcl.load(os.path.join(HERE, "kmeans.fcl"), target="c")


def points(first, n):
    return kernels().points(first, n)


def sums(centres, part):
    return kernels().sums(centres, part)


def clusters(client, n, rounds, parts):
    """The centres after so many rounds, as arrays of x and y."""
    places = [client.submit(points, part * n, n) for part in range(parts)]
    c = np.arange(8, dtype=np.float32)
    centres = (c % 4 / 4, c // 4 / 2)
    for _ in range(rounds):
        found = client.gather([client.submit(sums, centres, place) for place in places])
        totals = tuple(sum(column) for column in zip(*found))
        centres = kernels().moved(centres, totals)
    return centres


def main(n, rounds, path, parts=4):
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        centres = clusters(client, int(n), int(rounds), int(parts))
    np.concatenate(centres).tofile(path + ".part")
    os.replace(path + ".part", path)  # there whole, or not at all


if __name__ == "__main__":
    main(*sys.argv[1:])
