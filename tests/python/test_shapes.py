"""Results of more than one dimension."""

import os

import numpy as np
import pytest

import fcl

TEXT = """kernel table (r : int) (c : int) = generate r (fn i => generate c (fn j => 10 * i + j))
kernel cubes (v : [[[float]]]) = (map (map (map ( * 2.0))) v, columns v, map (map (foldl (+) 0.0)) v)
kernel inRows (c : int) (xs : [int]) = rows c (force (push <grid> (map (fn x => (x, x > 1)) xs)))
kernel split (xs : [int]) = splitUp 2 xs
"""


@pytest.fixture(params=["interp", "c", "opencl"])
def m(request, device):
    return fcl.source(TEXT, target=device if request.param == "opencl" else request.param)


def test_matrices(m):
    for shape in [(2, 3), (1, 1), (0, 3), (3, 0), (0, 0), (17, 33)]:
        got = m.table(*shape)
        wanted = np.fromfunction(lambda i, j: 10 * i + j, shape, dtype=np.int32)
        assert got.shape == shape and got.dtype == np.int32 and np.array_equal(got, wanted)


def test_three_dimensions(m):
    for shape in [(2, 3, 4), (1, 1, 1), (0, 3, 4), (2, 0, 4), (2, 3, 0)]:
        v = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        doubled, columns, sums = m.cubes(v)
        assert doubled.shape == shape and np.array_equal(doubled, v * 2) and columns == shape[1]
        assert sums.shape == shape[:2] and np.allclose(sums, v.sum(axis=2))


def test_views_of_what_is_stored(m):
    numbers, flags = m.inRows(3, np.arange(6, dtype=np.int32))
    assert np.array_equal(numbers, [[0, 1, 2], [3, 4, 5]]) and flags.dtype == bool and flags.shape == (2, 3)
    assert m.inRows(9, np.arange(0, dtype=np.int32))[0].shape == (0, 9)


def test_rows_of_different_lengths(m):
    assert m.split(np.arange(4, dtype=np.int32)).shape == (2, 2)
    with pytest.raises(fcl.Error, match="rows must be equally long"):
        m.split(np.arange(5, dtype=np.int32))


def test_they_stay_on_the_device(device):
    m = fcl.source(TEXT, target=device)
    kept = m.inRows(3, np.arange(8, dtype=np.int32), keep=True)[0]
    assert isinstance(kept, fcl.Array) and kept.shape == (2, 3) and np.array_equal(kept.numpy(), [[0, 1, 2], [3, 4, 5]])
    v = fcl.put(np.ones((2, 3, 4), np.float32), m.device)
    again = m.cubes(m.cubes(v)[0])[0]
    assert again.shape == (2, 3, 4) and np.array_equal(again.numpy(), np.full((2, 3, 4), 4, np.float32))


def test_more_elements_than_an_int_counts():
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 10 * 2**30:
        pytest.skip("less than 10 GB of memory")
    m = fcl.source("""kernel made (r : int) (c : int) = generate r (fn i => generate c (fn j => u8 (3 * i + j)))
kernel added (m : [[u8]]) = map (map (fn x => x + 1)) m
kernel maxima (m : [[u8]]) = push <grid> (map (foldl max 0) m)
""", target="c")
    n = 46341
    assert np.array_equal(m.made(2, 3), [[0, 1, 2], [3, 4, 5]])
    made = m.made(n, n)
    assert made.shape == (n, n)
    for i in (0, 1, 23170, 23171, n - 1):
        assert np.array_equal(made[i], (3 * i + np.arange(n)).astype(np.uint8))
    added = m.added(made)
    assert added.shape == (n, n) and all(np.array_equal(added[i], made[i] + np.uint8(1)) for i in (0, 23171, n - 1))
    assert np.array_equal(m.maxima(made), np.full(n, 255))
