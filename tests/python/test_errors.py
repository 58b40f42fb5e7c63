"""Errors are exceptions with the text that fclc prints."""

import os
import subprocess
import warnings

import numpy as np
import pytest

import fcl

FCLC = os.path.join(os.path.dirname(fcl.__file__), "bin", "fclc")  # which the package brings along


@pytest.mark.skipif(not os.path.exists(FCLC), reason="the package has no command")
def test_a_wrong_program_says_what_fclc_says(tmp_path):
    path = tmp_path / "wrong.fcl"
    path.write_text("kernel k (x : int) = y + true\nkernel l (x : int) = x +\n")
    done = subprocess.run([FCLC, "check", path], capture_output=True, text=True)
    with pytest.raises(fcl.Error) as error:
        fcl.load(path)
    assert str(error.value) == done.stderr.rstrip("\n") and error.value.status == done.returncode == 1
    path.write_text("kernel k (x : int) = y\n")
    with pytest.raises(fcl.Error, match=r"wrong.fcl:1:22: error\[E0201\]"):
        fcl.load(str(path))


def test_no_file():
    with pytest.raises(fcl.Error, match="absent.fcl") as error:
        fcl.load("absent.fcl")
    assert error.value.status == 2
    with pytest.raises(FileNotFoundError) as missing:
        fcl.load("absent.fcl")
    assert isinstance(missing.value, fcl.Error) and type(missing.value) is fcl.MissingFileError
    assert missing.value.filename == "absent.fcl" and str(missing.value) == str(error.value)
    with pytest.raises(fcl.Error, match="Is a directory") as other:
        fcl.load("/")
    assert not isinstance(other.value, FileNotFoundError)
    with pytest.raises(fcl.Error) as other:  # that is the program's fault
        fcl.source('import "absent"\nkernel k (x : int) = x')
    assert not isinstance(other.value, FileNotFoundError)


WARNED = """kernel copies (xs : [int]) (ps : [(int, int)]) =
  let old = force (push <grid> (map ( + 1) xs))
      new = force (scatter old ps : [int]<grid>)
  in (new ! 0 - old ! 0, push <grid> new)
kernel unused (x : int) (y : int) = 0
"""


def told(work):
    """Where and what Python is warned of, and in which line the work was called."""
    with warnings.catch_warnings(record=True) as all_:
        warnings.simplefilter("always")
        work()
    assert all(one.category is fcl.Warning and one.filename == __file__ for one in all_)
    return [(one.lineno - work.__code__.co_firstlineno, str(one.message)) for one in all_]


def test_warnings_are_of_the_line_that_calls(target, tmp_path):
    (tmp_path / "k.fcl").write_text(WARNED)
    made = []
    for load in (lambda: made.append(fcl.source(WARNED, target=target)),
                 lambda: fcl.load(tmp_path / "k.fcl", target=target)):
        said = told(load)
        assert [line for line, _ in said] == [0, 0]
        for (_, text), (column, name) in zip(said, [(16, "x"), (26, "y")]):
            assert f".fcl:5:{column}: warning[W001]: `{name}` is not used\n" in text and "kernel unused" in text
    m, = made
    assert len(told(lambda: m.with_options(block_size=64))) == 2
    for work in (lambda: m.copies([1], ([0], [1])), lambda: m.code("cuda")):
        said = told(work)
        if target == "interp" and said == []:
            continue  # nothing is compiled
        (line, text), = said
        assert line == 0 and text.startswith("source.fcl:3:") and "W003" in text and "note: here" in text
    assert told(lambda: m.copies([1], ([0], [1]))) == []  # it was said


def test_warnings_may_be_errors_or_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(fcl.Warning, match="W001"):
            fcl.source(WARNED, target="c")
        warnings.filterwarnings("ignore", ".*W001", fcl.Warning)
        m = fcl.source(WARNED, target="c")
        with pytest.raises(fcl.Warning, match="W003"):
            m.copies([1], ([0], [1]))
        assert m.copies([1], ([0], [5]))[0] == 3  # it is compiled, and was said
        m = fcl.source(WARNED, target="c", warn=["no-unused", "no-copy"])
        assert m.copies([1], ([0], [5]))[0] == 3
        fcl.source(WARNED, target="c", warn="no-unused")
        with pytest.raises(fcl.Error, match="W001"):
            fcl.source(WARNED, target="c", warn="error")
    with pytest.raises(fcl.Error, match="-W cannot be `nothing`"):
        fcl.source(WARNED, target="c", warn="nothing")


def test_a_check_that_fails(target):
    m = fcl.source("kernel at (xs : [int]) (i : int) = xs ! i", name="at.fcl", target=target, check=True)
    xs = np.array([5, 6], np.int32)
    for _ in range(2):
        with pytest.raises(fcl.Error, match=r"(?s)^at.fcl:1:.*index 2") as error:
            m.at(xs, 2)
        assert error.value.status == 1 and m.at(xs, 1) == 6


def test_the_device_that_is_not_there():
    with pytest.raises(fcl.Error) as error:
        fcl.Device("c:7")
    assert error.value.status == 3
    with pytest.raises(fcl.ArgumentError, match="a device is any, cuda"):
        fcl.device("gpu")


def test_imports(tmp_path):
    (tmp_path / "add.fcl").write_text("fun add x y = x + y\n")
    (tmp_path / "k.fcl").write_text('import "add"\nkernel k (x : int) = add x 1\n')
    assert fcl.load(tmp_path / "k.fcl", target="c").k(2) == 3
    m = fcl.source('import "add"\nkernel k (x : int) = add x 1\n', files={"add.fcl": "fun add x y = x - y\n"},
                   target="c")
    assert m.k(2) == 1
    with pytest.raises(fcl.Error, match="there is no file `add`"):
        fcl.source('import "add"\nkernel k (x : int) = add x 1\n')


def test_the_kernel_that_finds_no_room_in_shared_memory(device):
    """As `fclc run` does, the call falls back to global memory."""
    m = fcl.source("kernel k (n : int) (xs : [int]) =\n  splitUp n xs\n"
                   "  |> map (fn c => push <block> (reverse (force (push <block> c)))) |> concat n\n",
                   target=device, shared_bytes=1024)
    xs = np.arange(1000, dtype=np.int32)
    for n in (4, 500, 4):
        assert np.array_equal(m.k(n, xs), np.concatenate([xs[i:i + n][::-1] for i in range(0, 1000, n)]))
