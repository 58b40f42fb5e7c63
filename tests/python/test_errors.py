"""Errors are exceptions with the text that fclc prints."""

import os
import subprocess

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
