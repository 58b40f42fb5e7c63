"""Results in arrays of the caller's, and calls that work on a stream of the caller's."""

import ctypes
import os

import numpy as np
import pytest

import fcl

TEXT = """type body = { pos : float, mass : int }
kernel twice (xs : [float]) = push <grid> (map ( * 2.0) xs)
kernel positive (xs : [int]) = filter (fn x => x > 0) xs
kernel turned (m : [[int]]) = generate (columns m) (fn j => map (fn row => row ! j) m)
kernel bytes (xs : [u8]) = push <grid> (reverse xs)
kernel both (xs : [int]) = (push <grid> (map (fn x => x + 1) xs), reduce (+) 0 xs, (push <grid> (reverse xs), xs))
kernel bodies (xs : [float]) = push <grid> (map (fn x => { pos = x, mass = int x }) xs)
kernel moved (xs : [float]) = { x = push <grid> (map ( + 1.0) xs), n = length xs }
""".replace("kernel moved (xs : [float]) =", "type moved = { x : [float], n : int }\nkernel moved (xs : [float]) =")
FLOATS = np.arange(6, dtype=np.float32)
INTS = np.array([3, -1, 4, -1, 5, -9], np.int32)


@pytest.fixture
def m(target):
    return fcl.source(TEXT, target=target)


def test_it_is_what_is_given_back(m):
    out = np.full(6, 7, np.float32)
    assert m.twice(FLOATS, out=out) is out and np.array_equal(out, FLOATS * 2)
    assert m.twice(FLOATS, out=None) is not out
    assert m.turned(np.arange(6, dtype=np.int32).reshape(2, 3), out=(turned := np.zeros((3, 2), np.int32))) is turned
    assert np.array_equal(turned, [[0, 3], [1, 4], [2, 5]])
    room = bytearray(5)
    assert m.bytes(b"abcde", out=room) is room and room == b"edcba"
    empty = np.zeros(0, np.float32)
    assert m.twice(empty, out=empty) is empty


def test_a_shorter_result_is_a_part(m):
    out = np.full(6, 7, np.int32)
    got = m.positive(INTS, out=out)
    assert np.array_equal(got, [3, 4, 5]) and np.shares_memory(got, out)
    small = np.full(4, 7, np.int32)  # less than the kernel may store, and enough for what it does
    assert np.array_equal(m.positive(INTS, out=small), [3, 4, 5])


def test_what_does_not_fit(m):
    with pytest.raises(fcl.ArgumentError, match="positive: result 1 has 3 elements, and there is room for 2"):
        m.positive(INTS, out=np.zeros(2, np.int32))
    with pytest.raises(fcl.ArgumentError, match="has 3 x 2 elements, and there is room for 3 x 3; only the first"):
        m.turned(np.zeros((2, 3), np.int32), out=np.zeros((3, 3), np.int32))
    assert np.array_equal(m.positive(INTS), [3, 4, 5])  # and the kernel runs again


def test_parts_of_tuples_and_records(m):
    out = np.zeros(6, np.int32), None, (np.zeros(8, np.int32), None)
    more, total, (back, same) = m.both(INTS, out=out)
    assert more is out[0] and total == 1 and np.shares_memory(back, out[2][0]) and back.shape == (6,)
    assert np.array_equal(more, INTS + 1) and np.array_equal(back, INTS[::-1]) and np.array_equal(same, INTS)
    assert all(np.array_equal(*pair) for pair in zip(m.both(INTS, out=(None, None, None))[2], (back, same)))
    bodies = {"pos": np.zeros(6, np.float32), "mass": np.zeros(6, np.int32)}
    got = m.bodies(FLOATS, out=bodies)
    assert got["pos"] is bodies["pos"] and np.array_equal(bodies["pos"], FLOATS)
    assert np.array_equal(bodies["mass"], FLOATS.astype(int))


def test_memory_that_an_argument_has(m):
    """It is read before anything is stored there."""
    xs = INTS.copy()
    more, _, (back, _) = m.both(xs, out=(None, None, (xs, None)))
    assert back is xs and np.array_equal(xs, INTS[::-1]) and np.array_equal(more, INTS + 1)
    data = np.arange(12, dtype=np.uint8)
    m.bytes(data[:8], out=data[3:11])
    assert list(data) == [0, 1, 2, 7, 6, 5, 4, 3, 2, 1, 0, 11]


@pytest.mark.parametrize("out, says", [
    (np.zeros(6), "wants elements of type float32, and this array's are float64$"),
    (np.zeros((6, 1), np.float32), "wants an array of 1 dimension, and this one has 2"),
    (np.zeros(12, np.float32)[::2], "wants an array without gaps"),
    (np.zeros(48, np.uint8)[1:25].view(np.float32), "wants an array without gaps|aligned"),
    (np.broadcast_to(np.float32(0), 6), "wants an array that can be written"),
    ([0.0] * 6, "wants an array to store into, not a value of type list"),
    (3.0, "wants an array to store into, not a value of type float"),
])
def test_what_cannot_be_stored_into(out, says):
    with pytest.raises(fcl.ArgumentError, match=rf"twice: `out`, for the result `\[float\]<grid>`, .*{says}"):
        fcl.source(TEXT, target="c").twice(FLOATS, out=out)


def test_wrong_tuples():
    m = fcl.source(TEXT, target="c")
    with pytest.raises(fcl.ArgumentError, match="None in the place of a number"):
        m.both(INTS, out=(None, 3, None))
    with pytest.raises(fcl.ArgumentError, match="wants a tuple of 3 values"):
        m.both(INTS, out=np.zeros(6, np.int32))
    with pytest.raises(fcl.ArgumentError, match="wants an array for each field"):
        m.bodies(FLOATS, out=np.zeros(6, [("pos", "f4"), ("mass", "i4")]))
    one = np.zeros(6, np.int32)
    with pytest.raises(fcl.Error, match="share memory"):
        m.both(INTS, out=(one, None, (one, None)))


def test_memory_of_the_device(device):
    m = fcl.source(TEXT, target=device)
    a, out = fcl.put(FLOATS, m.device), fcl.put(np.zeros(6, np.float32), m.device)
    assert m.twice(a, out=out) is out and np.array_equal(out.numpy(), FLOATS * 2)
    assert m.twice(FLOATS, out=a) is a and np.array_equal(a.numpy(), FLOATS * 2)
    assert m.twice(a, out=a) is a and np.array_equal(a.numpy(), FLOATS * 4)
    place = fcl.put(np.full(6, 7, np.int32), m.device)
    part = m.positive(fcl.put(INTS, m.device), out=place)
    assert isinstance(part, fcl.Array) and part.shape == (3,) and np.array_equal(part.numpy(), [3, 4, 5])
    assert np.array_equal(place.numpy()[:3], [3, 4, 5])
    host = np.zeros(6, np.float32)
    assert m.twice(out, out=host) is host and np.array_equal(host, FLOATS * 4)
    kept, total, _ = m.both(INTS, out=(None, None, (place, None)), keep=True)
    assert isinstance(kept, fcl.Array) and total == 1 and np.array_equal(place.numpy(), INTS[::-1])


def test_kernels_in_c_store_right_there():
    """No memory is copied: where it begins at 16 bytes, it is what the kernel stores to."""
    m = fcl.source("kernel far (xs : [int]) = push <grid> (map (fn x => if x > 3 then xs ! x else x) xs)", target="c",
                   check=True)
    out = np.full(1024, 7, np.int32)
    assert out.ctypes.data % 16 == 0
    xs = np.zeros(1024, np.int32)
    xs[-1] = 2000
    with pytest.raises(fcl.Error, match="2000"):
        m.far(xs, out=out)
    assert (out != 7).any()


class Interface:
    def __init__(self, array, **other):
        self.array, self.__cuda_array_interface__ = array, {**array.__cuda_array_interface__, **other}


def test_memory_of_others_cuda():
    try:
        m = fcl.source(TEXT, target="cuda")
    except fcl.Error:
        pytest.skip("no cuda device")
    place = fcl.put(np.zeros(6, np.float32), m.device)
    out = Interface(place)
    assert m.twice(FLOATS, out=out) is out and np.array_equal(place.numpy(), FLOATS * 2)
    with pytest.raises(fcl.ArgumentError, match="can be written"):
        m.twice(FLOATS, out=Interface(place, data=(out.__cuda_array_interface__["data"][0], True)))


@pytest.fixture
def stream():
    """One of the driver's, by its address."""
    if "FCL_LIBCUDA" not in os.environ:
        pytest.skip("no cuda simulator")
    driver, handle = ctypes.CDLL(os.environ["FCL_LIBCUDA"]), ctypes.c_void_p()
    fcl.device("cuda")
    assert driver.cuStreamCreate(ctypes.byref(handle), 1) == 0
    yield handle.value
    fcl.device("cuda").finish()
    assert driver.cuStreamDestroy_v2(handle) == 0


class Named:
    def __init__(self, **names):
        self.__dict__.update(names)


class Protocol:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


def test_streams_cuda(stream):
    m = fcl.source(TEXT, target="cuda")
    a = fcl.put(FLOATS, "cuda")
    for one in (stream, Named(cuda_stream=stream), Named(ptr=stream), Protocol(stream), 0, None):
        b = m.twice(a, stream=one)
        assert np.array_equal(m.twice(b).numpy(), FLOATS * 4)  # which is asked of the device's own
        out = Interface(fcl.put(np.zeros(6, np.float32), "cuda"), stream=stream)
        assert m.twice(Interface(a, stream=stream), out=out, stream=one) is out
        assert np.array_equal(out.array.numpy(), FLOATS * 2)
    with pytest.raises(fcl.ArgumentError, match="twice: `stream` is the address of a stream .* this is of type str"):
        m.twice(a, stream="x")


def test_the_work_is_asked_of_the_stream_cuda(stream):
    """What is recorded on the stream is not done."""
    m, driver = fcl.source(TEXT, target="cuda"), ctypes.CDLL(os.environ["FCL_LIBCUDA"])
    a, out, graph = fcl.put(FLOATS, "cuda"), fcl.put(np.zeros(6, np.float32), "cuda"), ctypes.c_void_p()
    m.twice(a, out=out, stream=stream)
    assert np.array_equal(out.numpy(), FLOATS * 2)
    assert driver.cuStreamBeginCapture_v2(ctypes.c_void_p(stream), 1) == 0
    m.twice(out, out=a, stream=stream)
    assert driver.cuStreamEndCapture(ctypes.c_void_p(stream), ctypes.byref(graph)) == 0
    assert driver.cuGraphDestroy(graph) == 0
    assert np.array_equal(a.numpy(), FLOATS)


def test_streams_of_others():
    with pytest.raises(fcl.ArgumentError, match="twice: `stream` is of a CUDA or OpenCL device, .* runs in C"):
        fcl.source(TEXT, target="c").twice(FLOATS, stream=1)
    with pytest.raises(fcl.ArgumentError, match="runs in the interpreter"):
        fcl.source(TEXT, target="interp").twice(FLOATS, stream=1)


def test_a_parameter_has_the_name_first():
    m = fcl.source("kernel named (out : int) (stream : int) = out + stream", target="c")
    assert m.named(out=1, stream=2) == 3
