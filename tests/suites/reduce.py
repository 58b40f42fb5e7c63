"""reduceByIndex on the shapes of paper 002 of its design: from 1 to 2^20 buckets, evenly used, all pairs in one, in
two far apart, indices out of range; every way of excluding threads from each other. Python's results are the
measure."""

import array
import ast
import os
import random
import struct
from executors import EXECUTORS, require, variables
from harness import Case

ORDER = 47
PAIRS = 20_000
INT_MIN, INT_MAX = -2**31, 2**31 - 1

PROGRAM = """
fun at h f neutral keys values = (reduceByIndex f neutral (replicate h neutral) (zip keys values) : [a]<grid>)
kernel sum (h : int) (keys : [int]) (values : [int]) = at h (+) 0 keys values
kernel least (h : int) (keys : [int]) (values : [int]) = at h min 2147483647 keys values
kernel xored (h : int) (keys : [int]) (values : [int]) = at h (^) 0 keys values
kernel floatSum (h : int) (keys : [int]) (values : [int]) = at h (+) 0.0f32 keys (map float values)
kernel saturated (h : int) (keys : [int]) (values : [int]) =
  at h (fn a b => min 1000 (a + b)) 0 keys (map (fn x => x & 255) values)
sig first : (float, int) -> (float, int) -> (float, int)
fun first (x, i) (y, j) = if x < y || (x == y && i < j) then (x, i) else (y, j)
kernel argmin (h : int) (keys : [int]) (values : [int]) =
  at h first (1048576.0, 2147483647) keys (mapIx (fn i x => (float x, i)) values)
kernel apart (h : int) (keys : [int]) (values : [int]) =
  at h (fn (a, b, c, d) (p, q, r, s) => (a + p, min b q, max c r, d ^ s)) (0, 2147483647, -2147483648, 0) keys
     (map (fn x => (x, x, x, x)) values)
sig lower : (int, int, int, int) -> (int, int, int, int) -> (int, int, int, int)
fun lower (a, b, c, d) (p, q, r, s) = if a < p || (a == p && b <= q) then (a, b, c, d) else (p, q, r, s)
kernel locked (h : int) (keys : [int]) (values : [int]) =
  at h lower (2147483647, 2147483647, 2147483647, 2147483647) keys (mapIx (fn i x => (x, i, x ^ 1, x & 7)) values)
"""


def wrap(x):
    return (x + 2**31) % 2**32 - 2**31


OPERATORS = {  # neutral, value of pair i, operator
    "sum": (0, lambda x, i: x, lambda a, b: wrap(a + b)),
    "least": (INT_MAX, lambda x, i: x, min),
    "xored": (0, lambda x, i: x, lambda a, b: a ^ b),
    "floatSum": (0.0, lambda x, i: float(x), lambda a, b: a + b),
    "saturated": (0, lambda x, i: x & 255, lambda a, b: min(1000, a + b)),
    "argmin": ((1048576.0, INT_MAX), lambda x, i: (float(x), i), min),
    "apart": ((0, INT_MAX, INT_MIN, 0), lambda x, i: (x,) * 4,
              lambda a, b: (wrap(a[0] + b[0]), min(a[1], b[1]), max(a[2], b[2]), a[3] ^ b[3])),
    "locked": ((INT_MAX,) * 4, lambda x, i: (x, i, x ^ 1, x & 7), min),
}
KEYS = {
    "even": lambda h, r: r.randrange(-1, h + 1),
    "one bucket": lambda h, r: h - 1,
    "two far apart": lambda h, r: r.choice((0, h - 1)),
    "mostly outside": lambda h, r: r.choice((-1, h, INT_MIN, INT_MAX, 0)),
}
# Operator, buckets, keys: every operator where it is hardest, and the plain sum at all sizes.
SHAPES = [("sum", h, keys) for h in (1, 2, 31, 256, 12288, 12289, 65536, 2**20) for keys in KEYS] + [
    (operator, h, keys) for operator in OPERATORS if operator != "sum"
    for h, keys in ((1, "one bucket"), (16, "two far apart"), (4096, "even"))]


def save(path, numbers):
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % len(numbers)
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                   array.array("i", numbers).tobytes())


def cases(env):
    for operator, buckets, keys in SHAPES:
        # Other than long runs have on OpenCL what excludes threads in each of the ways.
        executors = ("c", "opencl-loop", "opencl-simt") if env.long else (
            "c", "opencl-simt") if operator != "sum" or keys == "even" and buckets < 2**20 else ("c",)

        def agree(operator=operator, buckets=buckets, keys=keys, executors=executors):
            source = random.Random(f"{operator} {buckets} {keys}")
            where = [KEYS[keys](buckets, source) for _ in range(PAIRS)]
            values = [source.randrange(-50, 50) for _ in range(PAIRS)]
            neutral, value, combine = OPERATORS[operator]
            wanted = [neutral] * buckets
            for i, (k, x) in enumerate(zip(where, values)):
                if 0 <= k < buckets:
                    wanted[k] = combine(wanted[k], value(x, i))
            folder = env.tmp()
            path = env.written("reduce.fcl", PROGRAM, folder)
            save(os.path.join(folder, "keys.npy"), where)
            save(os.path.join(folder, "values.npy"), values)
            for executor in executors:
                require(env, executor)
                done = env.run(env.fclc, "run", "--no-check", "--limit=0", *EXECUTORS[executor][0], path, operator,
                               str(buckets),
                               f"@{folder}/keys.npy", f"@{folder}/values.npy", env=variables(env, executor),
                               timeout=300)
                assert done.returncode == 0, done.stderr
                got = ast.literal_eval(done.stdout)
                wrong = [i for i in range(buckets) if got[i] != wanted[i]]
                assert len(got) == buckets and not wrong, (
                    f"{executor}: {len(got)} buckets, {len(wrong)} are wrong, the first: {wrong[0]} is {got[wrong[0]]} "
                    f"instead of {wanted[wrong[0]]}")
        yield Case(f"{operator}, {buckets} buckets, {keys}", agree, long=buckets == 2**20 and keys != "even",
                   thorough=buckets > 4096)
