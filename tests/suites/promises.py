"""Promises that programs break in one place, at random: --check=all finds each, as the interpreter does, and
--check=memory reads and writes nothing outside of arrays, and gives zeros where nothing was written."""

import random
import re

from executors import EXECUTORS, require, variables
from harness import Case, Counts

ORDER = 43
SANITIZED = True

PROGRAM = """
kernel gathered (bad : int) (at : int) (xs : [int]) =
  generate (length xs) (fn i => xs ! (if i == at then bad else i))
kernel moved (bad : int) (at : int) (xs : [int]) =
  permute (fn i => if i == at then bad else length xs - 1 - i) (push <grid> xs)
kernel paired (bad : int) (at : int) (xs : [int]) =
  pushEach <grid> (2 * length xs) (length xs) (fn i =>
    [(if i == at then bad else 2 * i, xs ! i), (2 * i + 1, 1)])
kernel inBlocks (bad : int) (at : int) (xs : [int]) =
  interleave 8 (fn (c, i) => if c * 8 + i == at then bad else c * 8 + (7 - i))
    (mapIx (fn _ c => let held = force (permute (fn i => 7 - i) (push <block> c)) in push <block> held)
      (splitUp 8 xs))
kernel placed (bad : int) (at : int) (xs : [int]) =
  permuteInto (length xs) (push <grid> (mapIx (fn i x => (if i == at then bad else i, x)) xs))
kernel nested (bad : int) (at : int) (xs : [int]) =
  concat 4 (mapIx (fn c chunk => permute (fn i => if c * 4 + i == at then bad else 3 - i) (push <block> chunk))
    (splitUp 4 xs))
kernel inMatrix (bad : int) (at : int) (xs : [int]) =
  let width = max 1 (length xs / 3)
      rows = length xs / width
      all = takeAll (lengthTimes rows width) xs
  in generate (rows * width) (fn e => all ! (if e == at then bad else e / width * width + e % width))
sig added : int -> int -> [int] -> [int]<grid>
kernel added (bad : int) (at : int) (xs : [int]) =
  reduceByIndex (+) 0 (replicate 16 0) (mapIx (fn i x => (i % 16, xs ! (if i == at then bad else i))) xs)
"""
# For each: what it asks of the bad place among n, and which lengths it takes.
KERNELS = {"gathered": 1, "moved": 1, "paired": 1, "inBlocks": 8, "placed": 1, "nested": 4, "inMatrix": 1, "added": 1}
LENGTHS = (1, 8, 33, 256, 1000)
FAR = (-1, -2**31, 2**31 - 1, 10**6)


def attempts(seed, count):
    """(kernel, bad place, where, length): one place is wrong, or none."""
    source = random.Random(seed)
    for name in sorted(KERNELS) * count:
        n = source.choice(LENGTHS)
        n += -n % KERNELS[name]
        at = source.choice((0, n - 1, source.randrange(n)))
        yield name, source.choice((*FAR, n, 0, n - 1, source.randrange(n))), source.choice((at, at, at, -1)), n


def said(done):
    """The code of an error, or the result. What is neither is no answer."""
    code = re.search(r"error\[(E\d{4})\]", done.stderr)
    assert done.returncode in (0, 1) and "Sanitizer" not in done.stderr and (not code or code[1][:3] == "E05"), (
        f"status {done.returncode}\n{done.stderr[:1500]}")
    assert not code or code[1] != "E0530", done.stderr[:1500]
    return code[1] if code else done.stdout.strip()


def attack(env, path, executor, extra, some):
    counts = Counts()
    for name, bad, at, n in some:
        words = [path, name, str(bad), str(at), f"iota:{n}"]

        def run(degree, options):
            return said(env.run(env.fclc, "run", "--limit=0", f"--check={degree}", *options, *words, env=extra))
        wanted = run("all", ["--target=interp"])
        found = run("all", EXECUTORS[executor][0])
        if wanted in ("E0505", "E0506") and EXECUTORS[executor][1] == "simulator":
            counts.passed += 1  # it finds that two threads write one place, which is not looked for
            continue
        memory = run("memory", EXECUTORS[executor][0])
        # A place that is written twice leaves another without: the first that is found counts.
        is_found = found == wanted or {found, wanted} == {"E0505", "E0506"}
        is_safe = memory == wanted if wanted[0] != "E" else (
            memory == wanted if wanted in ("E0501", "E0504") else memory[0] == "[" and "-" not in memory)
        counts.passed += is_found and is_safe
        counts.failed += not (is_found and is_safe)
        if not (is_found and is_safe):
            counts.output += f"{' '.join(words)}: {wanted}; with all {found}, with memory {memory[:300]}\n"
    return counts


def cases(env):
    for executor in ("c", "cuda-simulator", "opencl-simt", "opencl-loop", "ptx"):
        if env.sanitized and executor != "c":
            continue

        def run(executor=executor):
            require(env, executor)
            extra = variables(env, executor)
            if env.sanitized:
                extra = dict(extra, FCL_CC="gcc -fsanitize=address")
            path = env.written("promises.fcl", PROGRAM)
            return attack(env, path, executor, extra, attempts(1, 40 if env.long else 2))
        yield Case(f"promises that are broken in one place on {executor}", run,
                   thorough=executor not in ("c", "cuda-simulator"))

    def nothing():
        """What no place was given for is 0, whatever lay there."""
        path = env.written("promises.fcl", PROGRAM)
        got = env.must(env.fclc, "run", "--target=c", "--check=memory", path, "moved", "0", "0", "[7,8,9]",
                       env=dict(variables(env, "c"), FCL_FILL="203"))
        assert got in ("[7,8,0]\n", "[9,8,0]\n"), got
    yield Case("a place that is never written is 0", nothing)

    def unasked():
        """No check is left where all is proved, and a check ends no launch."""
        path = env.written("promises.fcl",
            "kernel k (xs : [int]) = permute (fn i => length xs - 1 - i) (push <grid> xs)\n"
            "kernel g (xs : [int]) (is : [int]) = generate (length is) (fn i => xs ! (is ! i))\n")
        made = env.must(env.fclc, "--check=memory", "--target=c", path, "-o", "-")
        first, second = (made.split(f"void fcl_block_{name}(")[1].split(f"void fcl_part_{name}(")[0] for name in "kg")
        assert "failed" not in first and "failed" in second and "fcl_failed" not in made, made
    yield Case("what is proved has no check", unasked)
