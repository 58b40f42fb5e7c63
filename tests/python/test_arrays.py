"""Arrays that stay in a device's memory, and those of others."""

import gc
import os
import resource

import numpy as np
import pytest

import fcl

TEXT = """kernel twice (xs : [float]) = push <grid> (map ( * 2.0) xs)
kernel sum (m : [[int]]) = reduce (+) 0 (map (foldl (+) 0) m)
"""


def test_results_are_where_the_arguments_are(device):
    m = fcl.source(TEXT.split("\n")[0], target=device)
    xs = np.arange(5, dtype=np.float32)
    a = fcl.put(xs, m.device)
    b = m.twice(m.twice(a))
    assert isinstance(b, fcl.Array) and b.shape == (5,) and b.dtype == np.float32 and len(b) == b.size == 5
    assert b.device is m.device and "fcl.Array of float32, shape (5,)" in repr(b)
    assert np.array_equal(b.numpy(), xs * 4) and np.array_equal(np.asarray(b), xs * 4) and np.array_equal(a.numpy(), xs)
    assert isinstance(m.twice(a, keep=False), np.ndarray) and isinstance(m.twice(xs, keep=True), fcl.Array)
    assert np.asarray(b, dtype=np.float64).dtype == np.float64
    assert fcl.put(xs[:0], m.device).numpy().shape == (0,) and m.twice(fcl.put(xs[:0], m.device)).shape == (0,)


def test_what_fits_is_checked(device):
    m = fcl.source(TEXT, target=device)
    with pytest.raises(fcl.ArgumentError, match=r"of type float32, and this array.s are float64: `.numpy\(\)` copies"):
        m.twice(fcl.put(np.zeros(3), device))
    with pytest.raises(fcl.ArgumentError, match="1 dimension"):
        m.twice(fcl.put(np.zeros((3, 3), np.float32), device))
    other = "opencl" if device == "c" else "c"
    with pytest.raises(fcl.ArgumentError, match="is on another device"):
        m.twice(fcl.put(np.zeros(3, np.float32), fcl.Device(device)))
    with pytest.raises(fcl.ArgumentError, match="is on another device"):
        fcl.source(TEXT, target="interp").twice(fcl.put(np.zeros(3, np.float32), device))
    with pytest.raises(fcl.ArgumentError, match="put: an array of 1 to 8 dimensions"):
        fcl.put(np.zeros(3, complex), other if other == "c" else device)
    with pytest.raises(fcl.ArgumentError, match="put: an array is wanted, of a type that FCL has"):
        fcl.put(np.zeros(3, "M8[s]"), other if other == "c" else device)


class Other:
    def __init__(self, **has):
        self.__dict__.update(has)


def test_memory_of_others_has_no_negative_extents_cuda():
    try:
        m = fcl.source(TEXT, target="cuda")
    except fcl.Error:
        pytest.skip("no cuda device")
    with pytest.raises(fcl.ArgumentError, match="a dimension of -1 elements"):
        m.twice(Other(__cuda_array_interface__={"shape": (-1,), "typestr": "<f4", "data": (64, False), "version": 3}))


def test_what_others_say_of_their_memory_may_be_nonsense():
    class ByDlpack(Other):
        def __dlpack__(self, **options):
            raise BufferError("no")
        def __dlpack_device__(self):
            return self.where
    m = fcl.source(TEXT, target="c")
    for other in (ByDlpack(where="ab"), ByDlpack(where=(1,)), ByDlpack(where=None), Other(__cuda_array_interface__={}),
                  Other(__cuda_array_interface__="x"),
                  Other(__cuda_array_interface__={"shape": 3, "typestr": "<f4", "data": 7})):
        with pytest.raises(fcl.ArgumentError, match="argument 1"):
            m.twice(other)
    with pytest.raises(BufferError, match="no"):  # it is another's error
        m.twice(ByDlpack(where=(1, 0)))


def test_own_devices_have_own_memory(device):
    mine = fcl.Device(device)
    m = fcl.source(TEXT.split("\n")[0], device=mine)
    assert m.device is mine and m.twice(fcl.put([1.5, 2], mine).numpy().astype(np.float32)).sum() == 7
    kept = m.twice(np.ones(4, np.float32), keep=True)
    del m, mine
    gc.collect()
    assert kept.numpy().sum() == 8  # the array keeps its device open


def test_arrays_in_c_share_memory():
    m = fcl.source(TEXT.split("\n")[0], target="c")
    a = m.twice(np.ones(3, np.float32), keep=True)
    view, other = np.asarray(memoryview(a)), np.from_dlpack(a)
    view[0] = 7
    assert a.numpy()[0] == 7 and np.asarray(a)[0] == 7 and other[0] == 7 and np.shares_memory(view, other)
    del a
    gc.collect()
    [m.twice(np.zeros(3, np.float32)) for _ in range(10)]
    assert list(view) == [7, 2, 2] and list(other) == [7, 2, 2]


class OnlyDLPack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_in_host_memory(device):
    m = fcl.source(TEXT, target=device)
    assert m.sum(OnlyDLPack(np.arange(6, dtype=np.int32).reshape(2, 3)), keep=False) == 15
    with pytest.raises(fcl.ArgumentError, match="int64"):
        m.sum(OnlyDLPack(np.arange(6).reshape(2, 3)))


def test_opencl_has_no_address():
    try:
        a = fcl.put([1.0], "opencl")
    except fcl.Error:
        pytest.skip("no OpenCL device")
    with pytest.raises(BufferError, match="numpy\\(\\) copies"):
        a.__dlpack_device__()
    with pytest.raises(BufferError):
        memoryview(a)
    assert not hasattr(a, "__cuda_array_interface__")


class OnlyInterface:
    def __init__(self, **interface):
        self.__cuda_array_interface__ = interface


@pytest.mark.skipif("FCL_LIBCUDA" not in os.environ, reason="no CUDA device, nor its simulator")
def test_cuda_arrays_of_others():
    m = fcl.source(TEXT, target="cuda")
    a = fcl.put(np.arange(6, dtype=np.int32).reshape(2, 3), "cuda")
    interface = a.__cuda_array_interface__
    assert interface["shape"] == (2, 3) and interface["typestr"] == "<i4" and interface["version"] == 3
    assert interface["data"][0] and interface["stream"] is None
    assert m.sum(OnlyInterface(**interface)) == 15 and m.sum(OnlyDLPack(a)) == 15
    assert m.sum(OnlyInterface(**{**interface, "stream": 1})) == 15
    assert m.sum(OnlyInterface(**{**interface, "strides": (12, 4)})) == 15
    with pytest.raises(fcl.ArgumentError, match="without gaps"):
        m.sum(OnlyInterface(**{**interface, "strides": (4, 8)}))
    with pytest.raises(fcl.ArgumentError, match="float64"):
        m.sum(OnlyInterface(**{**interface, "typestr": "<f8"}))
    with pytest.raises(fcl.ArgumentError, match="makes no sense"):
        m.sum(OnlyInterface(shape=(2, 3)))
    with pytest.raises(fcl.ArgumentError, match='use target="cuda"'):
        m.sum(OnlyInterface(**interface), target="c")
    with pytest.raises(fcl.ArgumentError, match='use target="cuda"'):
        m.sum(OnlyDLPack(a), target="c")
    ones = fcl.put(np.ones(4, np.float32), "cuda")
    b = m.twice(OnlyInterface(**ones.__cuda_array_interface__))
    assert isinstance(b, fcl.Array) and b.numpy().sum() == 8 and b.__dlpack_device__() == (2, 0)
    empty = fcl.put(np.zeros((0, 3), np.int32), "cuda")
    assert m.sum(OnlyInterface(**empty.__cuda_array_interface__)) == 0


def test_parts_of_arrays(device):
    wanted = np.arange(24, dtype=np.int32).reshape(4, 3, 2)
    a = fcl.put(wanted, device)
    for index in (0, 3, -1, -4, np.int64(2)):
        assert isinstance(a[index], fcl.Array) and a[index].numpy().tolist() == wanted[index].tolist()
        assert a[index][0][-1] == wanted[index, 0, -1] and type(a[index][0][-1]) is np.int32
    for part in (slice(None), slice(1, 3), slice(-2, None), slice(2, 1), slice(0, 99), slice(-99, 1), slice(4, 4)):
        assert a[part].shape == wanted[part].shape and a[part].numpy().tolist() == wanted[part].tolist()
    assert [row.numpy().tolist() for row in a] == wanted.tolist() and len(a) == 4
    assert list(fcl.put([1.5, 2.5], device)) == [1.5, 2.5] and 2.5 in fcl.put([1.5, 2.5], device)
    for wrong in (4, -5, 10**30):
        with pytest.raises(IndexError):
            a[wrong]
    for wrong in ((0, 0), None, ..., "a", 1.0, [0]):
        with pytest.raises(TypeError, match="whole number or a slice.*`.numpy\\(\\)`"):
            a[wrong]
    for wrong in (slice(None, None, 2), slice(None, None, -1)):
        with pytest.raises(ValueError, match="step 1"):
            a[wrong]
    with pytest.raises(TypeError):
        a[0] = 1
    with pytest.raises(IndexError):
        fcl.put(wanted[:0], device)[0]
    for dtype in (np.bool_, np.int8, np.uint64, np.float16, np.float64):
        assert type(fcl.put(np.ones(2, dtype), device)[1]) is dtype
    part = a[1:]
    del a
    gc.collect()
    assert part[0].numpy().tolist() == wanted[1].tolist()
    m = fcl.source(TEXT, target=device)
    b = fcl.put(np.arange(6, dtype=np.int32).reshape(3, 2), device)
    assert m.sum(b[1:], keep=False) == 14 and m.sum(b[:0], keep=False) == 0


def test_shapes_of_arrays(device):
    wanted = np.arange(24, dtype=np.int32)
    a = fcl.put(wanted, device)
    for shape in ((24,), (4, 6), (2, 3, 4), (4, -1), (-1,), (1, 24, 1), (np.int64(2), 12)):
        for b in (a.reshape(*shape), a.reshape(shape), a.reshape(list(shape))):
            assert b.shape == wanted.reshape(shape).shape and b.numpy().tolist() == wanted.reshape(shape).tolist()
    for wrong in ((5,), (5, -1), (-1, -1), (-2, 12), (), (1,) * 8 + (24,), (0, -1), (2**40, 2**40)):
        with pytest.raises(ValueError):
            a.reshape(wrong)
    with pytest.raises(TypeError):
        a.reshape("ab")
    empty = a[:0]
    assert empty.reshape(0, 5).shape == (0, 5) and empty.reshape(5, -1).shape == (5, 0)
    table = a.reshape(4, 6)
    if device == "c":
        np.asarray(memoryview(a))[7] = 100
        assert table[1][1] == 100  # it is the same memory
        np.asarray(memoryview(a))[7] = 7
    del a
    gc.collect()
    m = fcl.source(TEXT, target=device)
    [fcl.put(np.zeros(24, np.int32), device) for _ in range(10)]
    assert m.sum(table, keep=False) == wanted.sum() and table.reshape(3, 8)[2].numpy().tolist() == list(range(16, 24))


def test_what_dlpack_is_asked_for():
    a = fcl.put(np.arange(3, dtype=np.int32), "c")
    with pytest.raises(BufferError, match="another device"):
        a.__dlpack__(dl_device=(2, 0))
    shared, copied = (np.from_dlpack(Exports(a, copy=copy)) for copy in (False, True))
    a.__dlpack__(dl_device=(1, 0), max_version=(1, 0), copy=None, stream=None)
    np.asarray(memoryview(a))[0] = 5
    assert shared.tolist() == [5, 1, 2] and copied.tolist() == [0, 1, 2]


class Exports:
    def __init__(self, array, **options):
        self.array, self.options = array, options

    def __dlpack__(self, **ignored):
        return self.array.__dlpack__(**self.options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_memory_comes_back(device):
    if device == "cuda":
        pytest.skip("that takes the simulator minutes")
    m = fcl.source(TEXT.split("\n")[0], target=device)
    xs = np.ones(1 << 20, np.float32)
    for _ in range(10):
        m.twice(xs, keep=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(400):  # 1.6 GB in all
        m.twice(xs, keep=True)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # KiB
