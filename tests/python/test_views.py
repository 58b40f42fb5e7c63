"""Memory of the host in every form that PEP 3118 has, and what is no plain array of numbers."""

import array
import ctypes
import struct

import numpy as np
import pytest

import fcl

TEXT = """kernel same (xs : [int]) = xs
kernel table (xs : [[int]]) = xs
kernel bytes (xs : [u8]) = xs
kernel wide (xs : [i64]) = xs
kernel bools (xs : [bool]) = xs
kernel twice (xs : [float]) = push <grid> (map ( * 2.0) xs)
kernel half (xs : [f16]) = xs
kernel bits (xs : [bf16]) = xs
kernel scalars (i : int) (f : float) (b : bool) = (i, f, b)
kernel pair (ps : [(int, float)]) = (push <grid> (map fst ps), push <grid> (map snd ps))
"""


@pytest.fixture(params=["interp", "c", "opencl"])
def m(request, device):
    return fcl.source(TEXT, target=device if request.param == "opencl" else request.param)


class Buffer(ctypes.Structure):
    """Py_buffer, by which memory is shown in ways that no type of Python's has."""
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
                ("internal", ctypes.c_void_p)]


def shown(buf, shape, strides, suboffsets):
    sizes = [(ctypes.c_ssize_t * len(shape))(*what) for what in (shape, strides, suboffsets)]
    view = Buffer(ctypes.addressof(buf), None, 4 * int(np.prod(shape)), 4, 1, len(shape), b"i",
                  *(ctypes.cast(size, ctypes.POINTER(ctypes.c_ssize_t)) for size in sizes), None)
    view.keeps = sizes, buf
    ctypes.memset(ctypes.byref(view, Buffer.obj.offset), 0, ctypes.sizeof(ctypes.c_void_p))
    make = ctypes.pythonapi.PyMemoryView_FromBuffer
    make.restype = ctypes.py_object
    return make(ctypes.byref(view)), view


def test_arrays_of_ctypes(m):
    assert m.same((ctypes.c_int * 3)(1, 2, 3)).tolist() == [1, 2, 3]
    assert m.table(((ctypes.c_int * 3) * 2)((1, 2, 3), (4, 5, 6))).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert m.wide((ctypes.c_long * 2)(-1, 1)).tolist() == [-1, 1] and m.bytes((ctypes.c_uint8 * 1)(7)).tolist() == [7]
    assert m.bools((ctypes.c_bool * 2)(True, False)).tolist() == [True, False]
    assert m.same((ctypes.c_int * 0)()).tolist() == [] and m.table(((ctypes.c_int * 0) * 2)()).shape == (2, 0)
    assert m.bytes((ctypes.c_ubyte.__ctype_be__ * 2)(3, 4)).tolist() == [3, 4]  # a byte has no order

    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int)]
    for wrong in ((ctypes.c_int.__ctype_be__ * 3)(), (ctypes.c_float * 3)(), (Pair * 3)(), (ctypes.c_char * 3)(),
                  (ctypes.c_void_p * 3)(), (ctypes.c_int * 3 * 1)(), ctypes.c_int(3), ctypes.c_int * 3):
        with pytest.raises(fcl.ArgumentError, match="argument 1, `xs : \\[int\\]`, wants"):
            m.same(wrong)


def test_arrays_of_ctypes_are_put(device):
    a = fcl.put(((ctypes.c_int * 3) * 2)((1, 2, 3), (4, 5, 6)), device)
    assert a.numpy().tolist() == [[1, 2, 3], [4, 5, 6]] and a.dtype == np.int32


def test_rows_that_pointers_lead_to(m, device):
    rows = [(ctypes.c_int * 4)(*range(4 * i, 4 * i + 4)) for i in range(3)]
    pointers = (ctypes.c_void_p * 3)(*map(ctypes.addressof, rows))
    wanted = [[1, 3], [5, 7], [9, 11]]
    view, keeps = shown(pointers, (3, 2), (8, 8), (4, -1))
    assert view.suboffsets == (4, -1) and view.tolist() == wanted and m.table(view).tolist() == wanted
    assert fcl.put(view, device).numpy().tolist() == wanted
    each = (ctypes.c_void_p * 4)(*(ctypes.addressof(row) + 4 for row in (*rows, rows[0])))
    view, keeps = shown(each, (4,), (8,), (4,))
    assert view.tolist() == m.same(view).tolist() == fcl.put(view, device).numpy().tolist() == [2, 6, 10, 2]


def test_forms_of_arrays(m, device):
    base = np.arange(24, dtype=np.int32).reshape(4, 6)
    read_only = base.copy()
    read_only.flags.writeable = False
    odd = np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(np.int32).reshape(4, 6)
    for what in (base, base[::-1], base[:, ::-1], base[::2, 1::3], base.T, np.asfortranarray(base), base[:0],
                 base[:, :0], read_only, odd, odd.T, np.broadcast_to(base[0], (3, 6))):
        for form in (what, memoryview(what)):
            assert m.table(form).tolist() == what.tolist()
            assert fcl._core.put(fcl.device(device), form).numpy().tolist() == what.tolist()
    assert m.same(array.array("i", [1, 2])).tolist() == [1, 2]
    assert m.bytes(b"ab").tolist() == m.bytes(bytearray(b"ab")).tolist() == [97, 98]
    assert m.bytes(memoryview(b"abcd")[::-2]).tolist() == [100, 98]
    for wrong in (np.int32(3), np.array(3, np.int32), memoryview(np.array(3, np.int32))):
        with pytest.raises(fcl.ArgumentError, match="1 dimension, and this one has 0"):
            m.same(wrong)
        with pytest.raises(fcl.ArgumentError, match="1 to 8 dimensions is wanted, .* this one has 0"):
            fcl.put(wrong, device)
    many = np.zeros((1,) * 9, np.int32)
    with pytest.raises(fcl.ArgumentError, match="1 dimension, and this one has 9"):
        m.same(many)
    with pytest.raises(fcl.ArgumentError, match="this one has 9"):
        fcl.put(many, device)
    records = np.zeros(3, [("a", "i4")])
    for wrong in (records, base[0].astype(">i4"), memoryview(struct.pack("2i", 1, 2)), np.zeros(3, "V4")):
        with pytest.raises(fcl.ArgumentError, match="wants elements of type int32"):
            m.same(wrong)


def test_masks_are_refused(m, device):
    masked = np.ma.array([1, 2, 3], np.int32, mask=[False, True, False])
    for what in (masked, np.ma.array([1], np.int32), [masked.data, masked], [1, np.ma.masked], (np.ma.masked,)):
        with pytest.raises(fcl.ArgumentError, match="has a mask.*`.filled\\(0\\)`"):
            m.same(what)
    assert m.same(masked.filled(0)).tolist() == [1, 0, 3]
    for what in ((np.ma.masked, 1.0, True), (1, np.ma.masked, True), (1, 1.0, np.ma.masked)):
        with pytest.raises(fcl.ArgumentError, match="has a mask"):
            m.scalars(*what)
    with pytest.raises(fcl.ArgumentError, match="has a mask"):
        m.pair((masked, np.ones(3, np.float32)))
    with pytest.raises(fcl.ArgumentError, match="put: the array has a mask"):
        fcl.put(masked, device)
    endless = []
    endless.append(endless)
    with pytest.raises(fcl.ArgumentError, match="cannot be made an array"):
        m.same(endless)


def test_arrays_are_converted_where_that_is_asked_for(m):
    assert m.twice(np.array([0.1, np.inf, -np.inf]), convert=True).tolist() == [np.float32(0.1) * 2, np.inf, -np.inf]
    assert np.isnan(m.twice(np.array([np.nan]), convert=True)[0])
    assert m.twice(np.arange(3), convert=True).tolist() == [0, 2, 4]
    got = m.same(np.arange(24).reshape(4, 6)[::2, ::-3].T[0], convert=True)
    assert got.dtype == np.int32 and got.tolist() == [5, 17]
    assert m.same(np.array([2**31 - 1, -2**31]), convert=True).tolist() == [2**31 - 1, -2**31]
    assert m.same(np.zeros(0, np.uint64), convert=True).tolist() == []
    assert m.same(np.array([1, 2], ">i8"), convert=True).tolist() == [1, 2]
    assert m.same(memoryview(np.array([3, 4])), convert=True).tolist() == [3, 4]
    assert m.half(np.array([65504.0, 1e-12]), convert=True).tolist() == [65504, 0]
    ints, floats = m.pair((np.arange(2), np.array([.5, 1])), convert=True)
    assert ints.dtype == np.int32 and floats.dtype == np.float32 and floats.tolist() == [.5, 1]
    for kernel, wrong in [(m.same, np.array([2**31])), (m.same, np.array([-2**31 - 1])), (m.twice, np.array([1e300])),
                          (m.bytes, np.array([-1])), (m.half, np.array([70000.0])),
                          (m.wide, np.array([2**63], np.uint64))]:
        with pytest.raises(fcl.ArgumentError, match="argument 1, .* has elements that are out of the range") as error:
            kernel(wrong, convert=True)
        assert isinstance(error.value.__context__, OverflowError)
    for kernel, wrong in [(m.same, np.array([1.0])), (m.bools, np.array([1])), (m.twice, np.array([True])),
                          (m.twice, np.array([1j])), (m.bits, np.array([1.0])), (m.same, np.array(["1"])),
                          (m.same, np.array([1], object)), (m.same, np.zeros(1, "M8[s]"))]:
        with pytest.raises(fcl.ArgumentError, match="wants elements of type"):
            kernel(wrong, convert=True)


def test_what_converts(m):
    xs = np.array([1.5, 2.5])
    for refused in (lambda: m.twice(xs), lambda: m.twice(xs, convert=False)):
        with pytest.raises(fcl.ArgumentError, match="float64; `.astype\\(numpy.float32\\)` converts, as does "
                                                    "`convert=True`"):
            refused()
    with pytest.raises(fcl.ArgumentError, match="converts$"):
        m.same(xs)
    whole = m.with_options(convert=True)
    assert whole is m.with_options(convert=True) and whole is not m and whole.with_options(convert=False) is not whole
    assert whole.twice(xs).tolist() == [3, 5] and whole.twice(xs, block_size=64).tolist() == [3, 5]
    with pytest.raises(fcl.ArgumentError, match="float64"):
        whole.twice(xs, convert=False)
    own = fcl.source("kernel k (convert : [int]) = convert", target="interp")
    assert own.k(convert=[1]).tolist() == [1]  # a parameter of that name is a parameter


class Raises:
    """What it is asked raises an error of its own."""

    def __init__(self, error, *names):
        self.error, self.names = error, names

    def __getattr__(self, name):
        if name in self.__dict__.get("names", ()):
            raise self.error
        raise AttributeError(name)


def raising(error, name):
    def method(self, *words, **options):
        raise error
    return type("Own", (), {name: method})()


def test_errors_of_others_are_not_swallowed(m):
    class Mine(Exception):
        pass
    for name in ("__array__", "__cuda_array_interface__", "__dlpack__"):
        with pytest.raises(Mine):
            m.same(Raises(Mine(), name))
    for error in (Mine(), KeyboardInterrupt(), MemoryError(), ValueError("theirs")):
        with pytest.raises(type(error)):
            m.same(raising(error, "__array__"))
    for error in (Mine(), ZeroDivisionError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            m.scalars(raising(error, "__index__"), 1.0, True)
        with pytest.raises(type(error)):
            m.scalars(1, raising(error, "__float__"), True)
        with pytest.raises(type(error)):
            m.same([1], keep=raising(error, "__bool__"))
        with pytest.raises(type(error)):
            m.same([1], convert=raising(error, "__bool__"))
        with pytest.raises(type(error)):
            m.twice([raising(error, "__float__")])
    with pytest.raises(fcl.ArgumentError, match="wants True or False, not a value of type boolean"):
        m.scalars(1, 1.0, type("boolean", (), {})())
    with pytest.raises(fcl.ArgumentError, match="wants a whole number") as told:
        m.scalars(np.zeros(2, int), 1.0, True)
    assert isinstance(told.value.__context__, TypeError)


def test_errors_of_a_buffer(m):
    gone = memoryview(b"abc")
    gone.release()
    with pytest.raises(fcl.ArgumentError, match="wants elements of type uint8, and this memoryview") as told:
        m.bytes(gone)
    assert isinstance(told.value.__context__, ValueError)
