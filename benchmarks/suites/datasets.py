"""The data sets of benchmarks/suites: files PROGRAM_DATASET_in.I.npy and PROGRAM_DATASET_out.I.npy.

Those of this folder's data/ are in the repository; others are in the folder that the environment
variable FCL_CORPUS names. Only Python's own library is needed.
"""

import ast
import glob
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL = os.path.join(HERE, "data")

# How far results may be from the reference: |x - y| <= tolerance * max(1, |y|). Integers are equal.
# Sums of floats are taken in another order than the reference takes them, and exp, sin and the like
# may differ in their last bits, which some programs repeat hundreds of times.
TOLERANCE = {"f4": 1e-4, "f8": 1e-9}
# Single programs need a wider tolerance; each says why.
TOLERANCES = {
    "accelerate_fft": 1e-3,  # what a transform cancels is as exact as its largest element, 1e5
    "accelerate_pagerank": 2e-6,  # ranks are small, and the reference has six decimals of them
    "finpar_OptionPricing": 2e-3,  # the reference adds up millions of floats one after another
    "misc_bfast": 1e-3,  # in single precision: equations of coefficients from 1e2 to 1e6
    "rodinia_lud": 1e-3,  # in double precision the reference is found to be off by 3e-4
}
# These data sets take minutes in an interpreter, however few bytes they are.
LONG = {"finpar_OptionPricing-data_small", "finpar_OptionPricing-data_medium"}


def programs():
    """The names of all programs."""
    return sorted(os.path.basename(path)[:-4] for path in glob.glob(os.path.join(HERE, "*.fcl")))


def source(program):
    return os.path.join(HERE, program + ".fcl")


def header(path):
    """(the type of elements, as '<f4'; the shape) of a .npy file."""
    with open(path, "rb") as file:
        start = file.read(10)
        length = int.from_bytes(start[8:10], "little")
        described = ast.literal_eval(file.read(length).decode())
    return described["descr"], described["shape"]


class DataSet:
    """One data set; `outputs` is empty where there is no reference. Names are as `_64`."""

    def __init__(self, program, name, folder):
        self.program, self.name = program, name
        stem = os.path.join(folder, program + name)
        self.inputs = self._files(stem + "_in")
        self.outputs = self._files(stem + "_out")

    @staticmethod
    def _files(stem):
        return [f"{stem}.{i}.npy" for i in range(len(glob.glob(glob.escape(stem) + ".*.npy")))]

    def is_small(self):
        """Whether the interpreter and simulators can be asked for it."""
        return self.bytes() <= 20000 and self.program + self.name not in LONG

    def bytes(self):
        return sum(os.path.getsize(path) for path in self.inputs + self.outputs)

    def tolerance(self):
        kinds = {header(path)[0][1:] for path in self.outputs}
        return TOLERANCES.get(self.program) or max(
            (TOLERANCE.get(kind, 0) for kind in kinds), default=0
        )

    def directive(self, folder):
        """A test directive for the kernel `main`; what it needs is put into the folder."""
        wanted = os.path.join(folder, self.program + self.name + ".npy")
        stem = wanted[:-4]
        for i, path in enumerate(self.outputs):
            os.symlink(path, wanted if len(self.outputs) == 1 else f"{stem}.{i}.npy")
        within = self.tolerance()
        compare = f"~={within:g}" if within else "=="
        return " ".join(
            ["-- test main", *("@" + path for path in self.inputs), compare, "@" + wanted]
        )


def data_sets(program, folders=None):
    """The data sets of a program, by size; in data/, and where FCL_CORPUS says."""
    if folders is None:
        folders = [SMALL] + [os.environ[name] for name in ("FCL_CORPUS",) if os.environ.get(name)]
    found = {}
    for folder in folders:
        for path in glob.glob(os.path.join(glob.escape(folder), program + "[-_]*_in.0.npy")):
            name = os.path.basename(path)[len(program) : -len("_in.0.npy")]
            found.setdefault(name, DataSet(program, name, folder))
    return sorted(found.values(), key=DataSet.bytes)
