"""Records: dicts, structured arrays, dataclasses and tuples go in, dicts come out."""

import dataclasses

import numpy as np
import pytest

import fcl

TEXT = """type body = { pos : (float, float), mass : float }
type point = { x : int, y : double }
fun moved b = let { pos = (x, y), mass } = b in { b with pos = (x + mass, y) }
kernel moveAll (bodies : [body]) = push <grid> (map moved bodies)
kernel one (p : point) = { p with x = p.x + 1 }
kernel points (ps : [point]) (by : point) = push <grid> (map (fn p => { x = p.x + by.x, y = p.y + by.y }) ps)
"""


@dataclasses.dataclass
class Point:
    x: object
    y: object


@pytest.fixture(params=["interp", "c", "opencl"])
def m(request, device):
    return fcl.source(TEXT, target=device if request.param == "opencl" else request.param)


def test_dicts(m):
    f = np.float32
    got = m.moveAll({"pos": (np.array([1, 2], f), np.array([3, 4], f)), "mass": np.array([0.5, 1], f)})
    assert set(got) == {"pos", "mass"} and np.array_equal(got["pos"][0], [1.5, 3]) and got["mass"].dtype == f
    assert m.one({"y": 2.5, "x": 3}) == {"x": 4, "y": 2.5}


def test_structured_arrays(m):
    ps = np.array([(1, 0.5), (2, 1.5)], dtype=[("x", np.int32), ("y", np.float64)])
    for array in (ps, ps[::-1], ps[["y", "x"]]):
        got = m.points(array, {"x": 10, "y": 1.0})
        assert np.array_equal(got["x"], array["x"] + 10) and np.array_equal(got["y"], array["y"] + 1)
    assert m.one(ps[1]) == {"x": 3, "y": 1.5}


def test_objects_and_tuples(m):
    assert m.one(Point(1, 2.0)) == {"x": 2, "y": 2.0} == m.one((1, 2.0))
    got = m.points(Point(np.array([1], np.int32), np.array([2.0])), Point(1, 1.0))
    assert got["x"] == [2] and got["y"] == [3.0]


def test_errors(m):
    for wrong in ({"x": 1}, {"x": 1, "y": 1.0, "z": 2}, {"x": 1, "z": 1.0}, 3, Point(1, "two")):
        with pytest.raises((fcl.Error, TypeError)):
            m.one(wrong)
    with pytest.raises((fcl.Error, TypeError, ValueError)):
        m.points({"x": np.zeros(2, np.int32), "y": np.zeros(3)}, Point(1, 1.0))
