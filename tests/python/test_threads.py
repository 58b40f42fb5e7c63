"""Many threads, and how long a call takes."""

import gc
import threading
import time
import timeit

import numpy as np
import pytest

import fcl

SLOW = """kernel slow (n : int) (xs : [int]) =
  push <grid> (map (fn x => foldl (fn a k => (a * 5 + k) % 1000003) x (generate n (fn k => k))) xs)
"""


def test_other_threads_run_meanwhile(device):
    m = fcl.source(SLOW, target=device)
    xs = np.array([1], np.int32)
    steps = 1000
    m.slow(steps, xs)
    while True:  # until it takes long enough to tell
        start = time.perf_counter()
        m.slow(steps, xs)
        if (took := time.perf_counter() - start) > 0.3:
            break
        steps *= 4
    thread = threading.Thread(target=m.slow, args=(steps, xs))
    thread.start()
    ticks = 0
    while thread.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks > 20, f"{ticks} ticks in {took} s: the call kept Python's lock"


def test_many_threads_share_kernels(target):
    text = "kernel plus (xs : [int]) (k : int) = push <grid> (map (+ k) xs)\nkernel sum (xs : [int]) = reduce (+) 0 xs"
    programs = [fcl.source(text, target=target) for _ in range(3)]
    xs = np.arange(1000, dtype=np.int32)
    wrong = []

    def work(which):
        for k in range(15 if target in ("interp", "cuda") else 60):
            m = programs[(which + k) % 3]
            if not np.array_equal(m.plus(xs, k), xs + k) or m.sum(xs) != xs.sum():
                wrong.append((which, k))
            if target != "interp" and k % 20 == which:
                own = fcl.source(text, target=target)
                own.plus(xs, k, keep=True)
                own.cycle = own
                gc.collect()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


@pytest.mark.parametrize("text, args", [
    ("kernel k (x : int) = x + 1", (3,)),
    ("kernel k (xs : [int]) = reduce (+) 0 xs", (np.arange(8, dtype=np.int32),)),
    ("kernel k (xs : [float]) = push <grid> (map ( * 2.0) xs)", (np.ones(8, np.float32),)),
])
def test_a_call_takes_less_than_ten_microseconds(text, args):
    m = fcl.source(text, target="c")
    m.k(*args)
    assert min(timeit.repeat(lambda: m.k(*args), number=1000, repeat=20)) / 1000 < 10e-6
