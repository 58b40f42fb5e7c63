#!/usr/bin/env python3
"""tests/support/texts.py FCLC FOLDER: writes what every program becomes with this fclc, each way below, as files in the
folder. `diff -r` of the folders of two versions of fclc shows what a change does to generated text. Five minutes."""

import concurrent.futures
import glob
import os
import subprocess
import sys

WAYS = {
    "cuda.cu": [],
    "cuda-fast.cu": ["--approximate", "--check"],
    "cuda-ahead.cu": ["--ahead"],
    "hip.hip": [],
    "hip64.hip": ["--warp-size=64"],
    "simt.cl": ["--map=simt"],
    "warps.cl": ["--map=simt", "--sub-groups=yes", "--check"],
    "loop.cl": ["--map=loop"],
    "c.c": [],
    "c-fast.c": ["--approximate", "--check", "-O0"],
    "c-ahead.c": ["--ahead"],
}


def main(fclc, folder):
    fclc, folder = os.path.abspath(fclc), os.path.abspath(folder)
    os.chdir(os.path.join(os.path.dirname(__file__), "..", ".."))
    programs = sorted(path for start in ("examples", "benchmarks", "tests/run", "tests/fuzz")
                      for path in glob.glob(f"{start}/**/*.fcl", recursive=True))

    def write(job):
        path, (name, options) = job
        out = os.path.join(folder, path[:-len(".fcl")])
        os.makedirs(out, exist_ok=True)
        done = subprocess.run([fclc, *options, "-o", os.path.join(out, name), path], capture_output=True, text=True)
        with open(os.path.join(out, f"{name}.says"), "w", encoding="utf-8") as file:
            file.write(f"{done.stderr}{done.returncode}\n")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(write, [(path, way) for path in programs for way in WAYS.items()]))


if __name__ == "__main__":
    main(*sys.argv[1:])
