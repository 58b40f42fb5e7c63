"""Kernels called with NumPy's arrays: values, types and shapes, in and out."""

import warnings

import numpy as np
import pytest

import fcl

TYPES = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "int": np.int32, "i64": np.int64, "u8": np.uint8,
         "u16": np.uint16, "uint": np.uint32, "u64": np.uint64, "float": np.float32, "double": np.float64,
         "f16": np.float16}


def extremes(dtype):
    if dtype == np.bool_:
        return [True, False]
    info = np.finfo(dtype) if np.issubdtype(dtype, np.floating) else np.iinfo(dtype)
    return [info.min, info.max, dtype(0), dtype(1)]


@pytest.mark.parametrize("name", TYPES)
def test_every_type_there_and_back(target, name):
    dtype = TYPES[name]
    m = fcl.source(f"kernel back (xs : [{name}]) (x : {name}) = (push <grid> (reverse xs), x)", target=target)
    xs = np.array(extremes(dtype), dtype)
    for x in extremes(dtype):
        got, one = m.back(xs, x)
        assert got.dtype == dtype and np.array_equal(got, xs[::-1])
        assert type(one) is dtype and one == x


def test_bits_of_bf16(target):
    m = fcl.source("kernel twice (xs : [bf16]) (x : bf16) = (push <grid> (map ( * 2) xs), x * 2)", target=target)
    floats = np.array([1.0, -0.5, 3e38, np.inf], np.float32)
    got, one = m.twice((floats.view(np.uint32) >> 16).astype(np.uint16), 1.0 + 2.0**-9)
    assert got.dtype == np.uint16 and type(one) is np.float32 and one == 2
    assert np.array_equal((got.astype(np.uint32) << 16).view(np.float32), [2.0, -1.0, np.inf, np.inf])
    with pytest.raises(fcl.ArgumentError, match="uint16"):
        m.twice(floats, 1.0)
    assert fcl.source("kernel k (x : f16) = x", target=target).k(65519.9) == 65504


@pytest.mark.parametrize("n", [0, 1, 7, 1000, 70001])
def test_lengths(target, n):
    m = fcl.source("kernel twice (xs : [int]) = push <grid> (map ( * 2) xs)", target=target)
    xs = np.arange(n, dtype=np.int32)
    got = m.twice(xs)
    assert got.shape == (n,) and np.array_equal(got, xs * 2)


def test_matrices_and_tuples(target):
    m = fcl.source("""
kernel rowSums (m : [[double]]) = push <grid> (map (foldl (+) 0.0) m)
kernel apart (ps : [(int, (bool, float))]) (q : (int, [u8])) =
  (push <grid> ps, push <grid> (map (fn p => fst p + fst q) ps), length (snd q))
""", target=target)
    matrix = np.arange(12, dtype=float).reshape(4, 3)
    assert np.array_equal(m.rowSums(matrix), matrix.sum(1))
    assert np.array_equal(m.rowSums(matrix.T), matrix.T.sum(1))  # columns first: copied
    assert np.array_equal(m.rowSums(matrix[::2, ::-2]), matrix[::2, ::-2].sum(1))
    ints, bools, floats = np.array([1, 2], np.int32), np.array([True, False]), np.array([.5, 1.5], np.float32)
    (a, (b, c)), sums, length = m.apart((ints, (bools, floats)), (10, np.zeros(3, np.uint8)))
    assert [list(x) for x in (a, b, c, sums)] == [[1, 2], [True, False], [.5, 1.5], [11, 12]] and length == 3


def test_lists_are_converted_and_arrays_are_not():
    m = fcl.source("kernel sum (xs : [float]) = reduce (+) 0.0 xs", target="c")
    assert m.sum([1, 2, 3.5]) == 6.5 and m.sum(range(4)) == 6 and m.sum(xs=(1, 2)) == 3
    with pytest.raises(fcl.ArgumentError, match=r"sum: argument 1, `xs : \[float\]`, wants elements of type float32, "
                                                r"and this array's are int64; `.astype\(numpy.float32\)`"):
        m.sum(np.arange(3))
    with pytest.raises(fcl.ArgumentError, match="float64"):
        m.sum(np.zeros(3))
    with pytest.raises(fcl.ArgumentError, match="others"):
        m.sum(np.zeros(3, ">f4"))
    with pytest.raises(fcl.ArgumentError, match="1 dimension, and this one has 2"):
        m.sum(np.zeros((3, 3), np.float32))
    with pytest.raises(fcl.ArgumentError, match="cannot be made an array of float32"):
        m.sum(["one"])
    for none in ([None], ["1.5"], [1, [2]], [1j], [10**400]):
        with pytest.raises(fcl.ArgumentError, match="cannot be made an array of float32"):
            m.sum(none)
    with pytest.raises(fcl.ArgumentError, match="not a value of type float"):
        m.sum(1.0)


def test_no_element_of_a_list_becomes_another():
    m = fcl.source("kernel a (xs : [int]) = xs\nkernel b (xs : [bool]) = xs\nkernel c (xs : [u8]) = xs\nkernel d (xs : "
                   "[i64]) = xs\n"
                   "kernel e (xs : [bf16]) = xs\nkernel f (xs : [[u64]]) = xs", target="c")
    for kernel, wrong in [(m.a, [1.5]), (m.a, ["3"]), (m.a, [None]), (m.a, [2**31]), (m.a, [-2**31 - 1]),
                          (m.b, [2, 0]), (m.b, [1]), (m.c, [-1]),
                          (m.c, [256]), (m.d, [2**63]), (m.e, [1.5]), (m.f, [[-1]])]:
        with pytest.raises(fcl.ArgumentError, match="cannot be made an array of"):
            kernel(wrong)
    for kernel, right in [(m.a, []), (m.a, [True, -2**31, 2**31 - 1]), (m.b, [True, False]), (m.b, []), (m.c, [0, 255]),
                          (m.d, [-2**63, 2**63 - 1]), (m.f, [[0, 2**64 - 1]]), (m.f, [[], []])]:
        assert kernel(right).tolist() == right


def test_arrays_of_any_strides_alignment_and_kind():
    m = fcl.source("kernel a (xs : [i64]) = xs\nkernel b (xs : [[i64]]) = xs", target="c")
    xs = np.arange(12)
    odd = np.frombuffer(b"\0" + xs.tobytes(), np.uint8)[1:].view(np.int64)
    assert not odd.flags.aligned
    fields = np.zeros(12, [("a", "i1"), ("b", "i8")])
    fields["b"] = xs
    for array in (xs, xs[::-1], xs[::-3], xs[1::2], odd, odd[::-2], fields["b"], np.broadcast_to(np.int64(7), 5),
                  xs[:0]):
        assert m.a(array).tolist() == array.tolist() == m.a(memoryview(array)).tolist()
    table = xs.reshape(3, 4)
    for array in (table, table.T, table[::-1, ::-2], np.asfortranarray(table), odd.reshape(3, 4), odd.reshape(4, 3).T,
                  np.lib.stride_tricks.sliding_window_view(xs, 3), table[:0], table[:, :0],
                  np.broadcast_to(xs, (2, 12))):
        got = m.b(array)
        assert got.shape == array.shape and got.tolist() == array.tolist()
    gone = memoryview(xs)
    gone.release()
    for array in (np.zeros(2, "m8[s]"), np.zeros(2, "M8[s]"), np.zeros(2, ">i8"), np.zeros(2, object),
                  np.zeros(2, "S8"), fields, gone):
        with pytest.raises(fcl.ArgumentError, match="wants elements of type int64"):
            m.a(array)


def test_no_number_becomes_infinite():
    m = fcl.source("kernel k (h : f16) (b : bf16) (f : float) = (h, b, f)\nkernel a (xs : [f16]) = xs", target="c")
    assert m.k(65519, 3.39e38, 3.4028235677973366e38 - 2**102) == (65504, np.float32(2.0**128 - 2.0**120),
                                                                  np.finfo(np.float32).max)
    assert m.k(np.inf, -np.inf, np.inf) == (np.inf, -np.inf, np.inf)
    for wrong, said in [((65520, 0, 0), "1, `h : f16`, is out of the range of float16"),
                        ((0, -3.4e38, 0), "2, `b : bf16`, is out of the range of bf16"),
                        ((0, 0, 3.4028235677973366e38), "3, `f : float`, is out of the range of float32")]:
        with pytest.raises(fcl.ArgumentError, match=said):
            m.k(*wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert m.a([65519, -np.inf, True]).tolist() == [65504, -np.inf, 1]
        for wrong in ([1.5, 65520.0], [10**5], [-1e300]):
            with pytest.raises(fcl.ArgumentError, match="cannot be made an array of float16"):
                m.a(wrong)


def test_scalars_are_checked():
    m = fcl.source("kernel k (a : u8) (b : bool) (c : float) (d : i64) = (a, b, c, d)", target="c")
    assert m.k(255, True, 1, -2**63) == (255, True, 1.0, -2**63)
    assert m.k(np.uint64(3), np.bool_(False), np.float64(0.1), np.int8(-1)) == (3, False, np.float32(0.1), -1)
    for wrong, said in [((256, True, 1, 0), "argument 1, `a : u8`, is out of the range of uint8"),
                        ((-1, True, 1, 0), "out of the range"), ((1.5, True, 1, 0), "wants a whole number"),
                        ((1, 1, 1, 0), "wants True or False"), ((1, True, 10**400, 0), "out of the range of float32"),
                        ((1, True, 1e39, 0), "argument 3, `c : float`, is out of the range of float32"),
                        ((1, True, "x", 0), "wants a number"),
                        ((1, True, 1, 2**63), "out of the range of int64"),
                        ((1, True, 1), "argument 4, `d : i64`, is missing"),
                        ((1, True, 1, 0, 0), "takes 4 arguments, and 5 were given")]:
        with pytest.raises(fcl.ArgumentError, match=said):
            m.k(*wrong)
    assert m.k(1, d=4, c=3, b=True) == (1, True, 3, 4)
    with pytest.raises(fcl.ArgumentError, match="`a` is given twice"):
        m.k(1, True, 1, a=2)
    with pytest.raises(fcl.ArgumentError, match="argument 2, `b : bool`, is missing"):
        m.k(1, c=3, d=4)
    for given in ({"c": 3, "e": 4}, {"b": True, "c": 3, "d": 4, "e": 4}):
        with pytest.raises(fcl.ArgumentError, match=r"k: `e` is no parameter \(a, b, c, d\), option or param$"):
            m.k(1, **given)
    with pytest.raises(fcl.ArgumentError, match="argument 2, `b : bool`, is missing"):
        m.k(1, c=3, d=4, grid_size=2)


def test_more_values_than_few(target):
    names = [f"x{i}" for i in range(20)]
    m = fcl.source("kernel many " + " ".join(f"({n} : [int])" for n in names)
                   + " = push <grid> [" + ", ".join(f"{n} ! 0" for n in names) + "]", target=target)
    assert list(m.many(*[np.array([i, 0, 0], np.int32)[::2] for i in range(20)])) == list(range(20))


def test_arguments_are_only_read(target):
    m = fcl.source("kernel same (xs : [int]) = (xs, push <grid> (map (+ 1) xs), xs)", target=target)
    xs = np.arange(5, dtype=np.int32)
    xs.setflags(write=False)
    first, second, third = m.same(xs)
    first[:] = 9
    assert list(xs) == [0, 1, 2, 3, 4] and list(third) == [0, 1, 2, 3, 4] and list(second) == [1, 2, 3, 4, 5]


def test_results_stay_when_it_runs_again(target):
    m = fcl.source("kernel plus (xs : [int]) (k : int) = push <grid> (map (+ k) xs)", target=target)
    xs = np.arange(100, dtype=np.int32)
    results = [m.plus(xs, k) for k in range(20)]
    assert all(np.array_equal(result, xs + k) for k, result in enumerate(results))


def test_what_a_kernel_says_of_itself():
    m = fcl.source("-- Adds `k`.\n-- test plus [1] 2 == [3]\nsig plus : [int] -> int -> [int]<grid>\n"
                   "kernel plus xs k = push <grid> (map (+ k) xs)\n", name="own.fcl", target="c")
    k = m.plus
    assert k.type == "[int] -> int -> [int]<grid>" and k.__name__ == "plus" and (k.path, k.line) == ("own.fcl", 4)
    assert k.parameters == {"xs": "[int]", "k": "int"} and k.result == "[int]<grid>"
    assert k.__doc__ == "plus : [int] -> int -> [int]<grid>\n\nAdds `k`."
    assert list(m.kernels) == ["plus"] and m["plus"] is k and m.device.kind == "c"
    with pytest.raises(AttributeError, match="there is no kernel `minus`; there are plus"):
        m.minus


def test_device_code():
    m = fcl.source("kernel a (xs : [int]) = push <grid> (map (+ 1) xs)\n"
                   "kernel b (xs : [int]) = push <grid> (map (+ 2) xs)\n", target="interp")
    assert "__global__" in m.code("cuda") and "__kernel" in m.code("opencl")
    assert "fcl_part_a" in m.a.code("c") and "fcl_part_b" not in m.a.code("c")
    with pytest.raises(fcl.Error, match="cuda, opencl, c or hip, by a mapping that fits, not for metal"):
        m.code("metal")


def test_options_and_params():
    m = fcl.source("param chunk : int = 4\n"
                   "kernel sums (xs : [int]) = push <grid> (map (foldl (+) 0) (splitUp chunk xs))\n", target="c")
    xs = np.ones(8, np.int32)
    assert list(m.sums(xs)) == [4, 4] and list(m.sums(xs, chunk=2)) == [2] * 4 and list(m.sums(xs, chunk=8)) == [8]
    assert list(m.sums(xs, chunk=2, target="interp")) == [2] * 4
    again = m.with_options(chunk=2)
    assert again is m.with_options(chunk=2) and again is not m and m.with_options(chunk=2).sums(xs)[0] == 2
    said = r"`chunks` is no parameter \(xs\), option or param; did you mean `chunk`"
    with pytest.raises(fcl.ArgumentError, match=said):
        m.sums(xs, chunks=2)
    with pytest.raises(fcl.Error, match="-D chunks: there is no such param"):
        m.with_options(chunks=2)
    with pytest.raises(fcl.Error, match="--target cannot be `gpu`"):
        m.sums(xs, target="gpu")
