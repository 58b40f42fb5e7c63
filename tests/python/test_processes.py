"""Forks, finalisers, and what goes to other processes. A fork is tried in a process of its own: one that hangs is
ended by its time."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import fcl

BEGIN = """
import multiprocessing, os, sys, threading
import numpy as np
import fcl
TEXT = '''kernel twice (xs : [int]) = push <grid> (map ( * 2) xs)
kernel sum (xs : [int]) = reduce (+) 0 xs
'''
xs = np.arange(20000, dtype=np.int32)

def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


def run(text, *words, timeout=120):
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", BEGIN + text, *words],
                          capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_fork_of_a_driver_says_so(device):
    if device == "c":
        pytest.skip("C lives on")
    out = run("""
m = fcl.source(TEXT, target=sys.argv[1])
kept = m.twice(xs, keep=True)
child = os.fork()
if not child:
    tried = [lambda: m.twice(xs), lambda: m.sum(kept), kept.numpy, lambda: kept[0], lambda: kept[:2], m.device.finish,
             lambda: fcl.put(xs, m.device), lambda: fcl.source(TEXT, target=sys.argv[1]).sum(xs),
             lambda: m.with_options(block_size=64).sum(xs)]
    for one in tried:
        try:
            one()
            print("no error", flush=True)
        except fcl.Error as error:
            assert error.status == 3, error
            print("this process was forked" in str(error), flush=True)
    for name in (sys.argv[1], "any"):
        try:
            fcl.Device(name)
        except fcl.Error as error:
            print("this process was forked" in str(error), flush=True)
    assert fcl.source(TEXT, target="c").sum(xs) == xs.sum() and fcl.source(TEXT, target="interp").sum([1, 2]) == 3
    assert any(one["kind"] == "c" for one in fcl.devices()) and "sum" in m.code("c") and m.sum.report() and kept.shape
    del m, kept  # nothing of it waits for the driver
    sys.stdout.flush()
    os._exit(0)
assert ended(child) == 0
assert m.sum(kept) == 2 * xs.sum()
""", device)
    assert out.split() == ["True"] * 11, out


def test_a_fork_before_the_device_is_opened_is_fine(device):
    run("""
child = os.fork()
assert fcl.source(TEXT, target=sys.argv[1]).sum(xs) == xs.sum()
if not child:
    os._exit(0)
assert ended(child) == 0
""", device)


def test_pools_of_processes():
    out = run("""
m = fcl.source(TEXT, target="c")
m.twice(xs)
kept = m.twice(xs, keep=True)

def work(i):
    return int(m.twice(xs[:i + 1])[i]) + int(kept[i])

with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map_async(work, range(4)).get(60))
""")
    assert out == "[0, 4, 8, 12]\n"


def test_a_pool_hears_of_it(device):
    if device == "c":
        pytest.skip("C lives on")
    out = run("""
m = fcl.source(TEXT, target=sys.argv[1])
m.twice(xs)

def work(i):
    return int(m.sum(xs))

with multiprocessing.get_context("fork").Pool(1) as pool:
    try:
        pool.map_async(work, range(2)).get(60)
    except fcl.Error as error:
        print(error)
""", device)
    assert "this process was forked" in out and "spawn" in out


@pytest.mark.parametrize("target", ["c", "interp", "opencl"])
def test_forks_while_other_threads_are_in_calls(target):
    """What others hold at that time, nobody would let go in the child."""
    if target == "opencl":
        try:
            fcl.device("opencl")
        except fcl.Error:
            pytest.skip("no OpenCL device")
    run("""
import signal, time
m = fcl.source(TEXT, target=sys.argv[1])
few = xs[:200 if sys.argv[1] == "interp" else None]
m.twice(few)
stop = False

def call():
    while not stop:
        m.twice(few)

def load():
    while not stop:
        fcl.source(TEXT, target=sys.argv[1])

def fork_too():
    while not stop:
        child = os.fork()
        if not child:
            os._exit(0)
        assert ended(child) == 0

threads = [threading.Thread(target=one) for one in (call, call, load, fork_too)]
[one.start() for one in threads]
for i in range(10):
    child = os.fork()
    if not child:
        signal.alarm(60)
        other = m if sys.argv[1] != "opencl" else fcl.source(TEXT, target="c")
        assert other.twice([3]).tolist() == [6] and fcl.source(TEXT, target="interp").twice([3]).tolist() == [6]
        os._exit(0)
    assert ended(child) == 0
stop = True
[one.join() for one in threads]
""", target)


WITH_LOCK = """
import os, sys, threading, time
lock = threading.Lock()  # as that of the module logging
os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
import fcl
TEXT = '''kernel sum (xs : [int]) = reduce (+) 0 xs
kernel slow (n : int) (xs : [int]) =
  push <grid> (map (fn x => foldl (fn a k => (a * 5 + k) % 1000003) x (generate n (fn k => k))) xs)
'''
m, other = (fcl.source(TEXT, device=fcl.Device("c")) for i in range(2))
m.sum([1])
other.slow.compile()
inside = threading.Event()

def has_lock():
    with lock:
        inside.set()
        time.sleep(0.3)  # the fork has begun, and waits for the lock
        assert m.sum([1, 2]) == 3

def calls():
    inside.wait()
    time.sleep(0.2)
    other.slow(2000000000, [1])  # from when this thread has waited until after the fork

threads = [threading.Thread(target=one) for one in (has_lock, calls)]
[one.start() for one in threads]
inside.wait()
child = os.fork()
if not child:
    assert m.sum([1, 2]) == 3 and "sum" in m.code("c")
    for one in (lambda: other.sum([1]), lambda: other.code("c"), lambda: other.device.finish()):
        try:
            one()
        except fcl.Error as error:
            print("in the middle of a call" in str(error), flush=True)
    own = fcl.source(TEXT, target="c")
    assert own.sum([1]) == 1
    del other
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0 and m.sum([1]) == 1
os._exit(0)  # and not wait for the other
"""


def test_a_fork_whose_hooks_wait_for_a_thread_that_calls():
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", WITH_LOCK], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.split() == ["True"] * 3, done.stdout + done.stderr


def test_hooks_of_a_fork_may_call_kernels():
    run("""
m = fcl.source(TEXT, target="c")
m.sum([1])
os.register_at_fork(before=lambda: m.sum([1]), after_in_child=lambda: m.sum([1]), after_in_parent=lambda: m.sum([1]))
child = os.fork()
assert m.sum([1, 2]) == 3
if not child:
    os._exit(0)
assert ended(child) == 0
""")


def test_finalisers_may_call_kernels(target):
    out = run("""
import gc
m = fcl.source(TEXT, target=sys.argv[1])
other = fcl.source(TEXT, target="c", device=None)
calls = 0

class Calls:
    def __init__(self):
        self.me = self

    def __del__(self):
        global calls
        calls += 1
        assert m.sum([1, 2, 3]) == 6 and other.sum([1, 2]) == 3
        m.twice([1], keep=sys.argv[1] != "interp")

def work(count):
    for i in range(count):
        Calls()
        assert m.twice([1, 2]).tolist() == [2, 4]
        m.twice([1, 2], keep=sys.argv[1] != "interp")

gc.set_threshold(1, 1, 1)
few = 2 if sys.argv[1] in ("interp", "cuda") else 20
threads = [threading.Thread(target=work, args=(few,)) for i in range(4)]
[one.start() for one in threads]
[one.join() for one in threads]
gc.collect()
print(calls == 4 * few)
""", target)
    assert out == "True\n"


def test_warnings_may_call_kernels(target):
    out = run("""
import warnings
m = fcl.source(TEXT, target=sys.argv[1])
other = fcl.source('''kernel copies (xs : [int]) (ps : [(int, int)]) =
  let old = force (push <grid> (map ( + 1) xs))
      new = force (scatter old ps : [int]<grid>)
  in (new ! 0 - old ! 0, push <grid> new)
''', target=sys.argv[1])
warnings.showwarning = lambda *what: print(m.sum([1, 2, 3]))
warnings.simplefilter("always")
other.code("c")
other.copies([1], ([0], [1]))
""", target)
    assert set(out.split()) == {"6"}


def test_choices_of_params_do_not_pile_up():
    m = fcl.source("param c : int = 4\nkernel s (xs : [int]) = push <grid> (map (fn x => x * c) xs)", target="interp")

    def memory():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    for c in range(1, 50):
        assert m.s([1], c=c)[0] == c
    before = memory()
    for c in range(1, 150):
        assert m.s([1], c=c)[0] == c
    assert memory() - before < 60e6  # of 2.6 MB each
    first = m.with_options(c=7)
    for c in range(100, 131):
        m.with_options(c=c)
        assert m.with_options(c=7) is first  # what is used is kept
    held = m.with_options(c=9)
    for c in range(200, 250):
        m.with_options(c=c)
    assert held.s([2]).tolist() == [18]


def test_programs_and_kernels_are_pickled_and_copied(tmp_path, target, monkeypatch):
    text = "param c : int = 2\nkernel times (xs : [int]) = push <grid> (map ( * c) xs)\n"
    (tmp_path / "k.fcl").write_text('import "h"\n' + text + "kernel more (x : int) = add x 1\n")
    (tmp_path / "h.fcl").write_text("fun add x y = x + y\n")
    monkeypatch.chdir(tmp_path)
    made = [fcl.source(text, target=target, c=3), fcl.load("k.fcl", target=target, c=3),
            fcl.source('import "h"\n' + text, files={"h.fcl": "fun sub x y = x - y\n"}, target=target, c=3)]
    monkeypatch.chdir("/")  # a path is that of where it was loaded
    for m in made:
        again = pickle.loads(pickle.dumps(m))
        assert again is not m and again.times([1, 2]).tolist() == [3, 6] and list(again.kernels) == list(m.kernels)
        kernel = pickle.loads(pickle.dumps(m.times))
        assert kernel([1, 2]).tolist() == [3, 6] and kernel.type == m.times.type
        assert copy.copy(m) is copy.deepcopy(m) is m and copy.copy(m.times) is copy.deepcopy(m.times) is m.times
        assert {m.times: 1}[m.times] == 1
    many = pickle.loads(pickle.dumps([made[0].times, made[0]]))
    assert many[1].times([1]).tolist() == [3]


def test_arrays_are_pickled_and_copied(device):
    m = fcl.source("kernel twice (xs : [int]) = push <grid> (map ( * 2) xs)", target=device)
    a = m.twice(np.arange(6, dtype=np.int32), keep=True).reshape(2, 3)
    for other in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
        assert isinstance(other, fcl.Array) and other is not a and other.device is a.device
        assert other.shape == (2, 3) and other.dtype == np.int32 and other.numpy().tolist() == a.numpy().tolist()
        if device == "c":
            assert not np.shares_memory(np.asarray(memoryview(other)), np.asarray(memoryview(a)))
    assert pickle.loads(pickle.dumps(m.device)) is m.device and copy.deepcopy(m.device) is m.device
    own = fcl.source("kernel k (x : int) = x", device=fcl.Device(device))
    assert pickle.loads(pickle.dumps(own)).k(3) == 3 and copy.copy(own.device) is own.device


def test_errors_and_reports_are_pickled():
    with pytest.raises(fcl.Error) as error:
        fcl.source("kernel k (x : int) = y")
    again = pickle.loads(pickle.dumps(error.value))
    assert type(again) is fcl.Error and str(again) == str(error.value) and again.status == 1
    with pytest.raises(FileNotFoundError) as error:
        fcl.load("absent.fcl")
    again = pickle.loads(pickle.dumps(error.value))
    assert (type(again), str(again), again.filename, again.errno, again.status) == (
        fcl.MissingFileError, str(error.value), "absent.fcl", 2, 2)
    report = fcl.source("kernel k (x : int) = x", target="c").k.report()
    again = pickle.loads(pickle.dumps(report))
    assert again == report and again.json == report.json


def test_spawned_processes_get_kernels(tmp_path):
    (tmp_path / "work.py").write_text(BEGIN + """
def work(what):
    kernel, a = what
    return kernel(a).numpy().tolist()

if __name__ == "__main__":
    m = fcl.source(TEXT, target="c")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map_async(work, [(m.twice, fcl.put(np.arange(3, dtype=np.int32), "c"))]).get(100))
""")
    done = subprocess.run([sys.executable, tmp_path / "work.py"], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[[0, 2, 4]]\n", done.stdout + done.stderr


def test_threads_and_collections_do_not_wait_for_each_other(target):
    """Each of two devices, or programs, from several threads, whose garbage belongs to both."""
    text = "kernel twice (xs : [int]) = push <grid> (map ( * 2) xs)"
    programs = [fcl.source(text, target=target), fcl.source(text, target="c")]

    class Calls:
        def __init__(self, m):
            self.me, self.m = self, m

        def __del__(self):
            self.m.twice([1])

    def work(which):
        for i in range(3 if target in ("interp", "cuda") else 30):
            Calls(programs[i % 2])
            assert programs[which].twice([4]).tolist() == [8]
    before = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    threads = [threading.Thread(target=work, args=(i % 2,), daemon=True) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join(100) for thread in threads]
    gc.set_threshold(*before)
    assert not any(thread.is_alive() for thread in threads)
