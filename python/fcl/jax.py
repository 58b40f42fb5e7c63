"""FCL's kernels as functions of JAX, by its foreign function interface.

    import fcl, fcl.jax, jax, jax.numpy as jnp
    m = fcl.source("kernel twice (xs : [float]) = push <grid> (map ( * 2.0) xs)")
    twice = fcl.jax.op(m.twice)
    jax.jit(twice)(jnp.ones(3))                # Array([2., 2., 2.], dtype=float32)

Kernels run in C, on arrays of the CPU: XLA's memory is read and written in place. A JAX with the
module `jax.ffi` is wanted.
"""

from __future__ import annotations

import ctypes
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from . import ArgumentError, Error, Kernel
from ._operators import Shapes, flat, nested, parameters, results

__all__ = ["op"]

# ---- XLA's structures, of version 0 of its C API: xla/ffi/api/c_api.h in jaxlib's headers ----

_METADATA, _INVALID_ARGUMENT, _INTERNAL = 1, 3, 13
_Pointer = ctypes.c_void_p


def _structure(name: str, *fields: tuple[str, Any]) -> Any:
    """One that begins with its size and its extensions."""
    head = [("struct_size", ctypes.c_size_t), ("extension", _Pointer)]
    return type(name, (ctypes.Structure,), {"_fields_": [*head, *fields]})


_Version = _structure("Version", ("major", ctypes.c_int), ("minor", ctypes.c_int))
_Buffer = _structure("Buffer", ("dtype", ctypes.c_int), ("data", _Pointer), ("rank", ctypes.c_int64),
                     ("dims", ctypes.POINTER(ctypes.c_int64)))
_Buffers = _structure("Buffers", ("size", ctypes.c_int64), ("types", _Pointer),
                      ("at", ctypes.POINTER(ctypes.POINTER(_Buffer))))
_ErrorArguments = _structure("ErrorArguments", ("message", ctypes.c_char_p), ("code", ctypes.c_int))
_MakeError = ctypes.CFUNCTYPE(_Pointer, ctypes.POINTER(_ErrorArguments))
_Api = _structure("Api", ("version", _Version), ("internal", _Pointer), ("make_error", _MakeError))


class _Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", ctypes.POINTER(ctypes.c_int64))]


_Attributes = _structure("Attributes", ("size", ctypes.c_int64), ("types", _Pointer), ("names", _Pointer),
                         ("at", ctypes.POINTER(ctypes.POINTER(_Scalar))))
_Frame = _structure("Frame", ("api", ctypes.POINTER(_Api)), ("context", _Pointer), ("stage", ctypes.c_int),
                    ("arguments", _Buffers), ("results", _Buffers), ("attributes", _Attributes))


class _Metadata(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("version", _Version)]


class _MetadataExtension(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", _Pointer),
                ("metadata", ctypes.POINTER(_Metadata))]


def _view(buffer: Any, dtype: numpy.dtype[Any]) -> numpy.ndarray[Any, Any]:
    """XLA's memory as an array."""
    shape = tuple(buffer.dims[i] for i in range(buffer.rank))
    count = dtype.itemsize * int(numpy.prod(shape, dtype=numpy.int64))
    if not count:
        return numpy.empty(shape, dtype)
    memory: Any = (ctypes.c_char * count).from_address(buffer.data)
    return numpy.ndarray(shape, dtype, memory)


_operators: list[_Operator] = []  # by the number that is an attribute of the call


def _handle(frame: Any) -> Any:
    frame = frame.contents
    if frame.extension:  # asks which version this is written for
        extension = ctypes.cast(frame.extension, ctypes.POINTER(_MetadataExtension)).contents
        if extension.type == _METADATA:
            extension.metadata.contents.version.major, extension.metadata.contents.version.minor = 0, 1
            return None
    try:
        _operators[frame.attributes.at[0].contents.value[0]].run(frame)
        return None
    except BaseException as error:  # none may pass through XLA
        code = _INVALID_ARGUMENT if isinstance(error, Error) else _INTERNAL
        what = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, str(error).encode() or b"an error", code)
        return frame.api.contents.make_error(ctypes.byref(what))


_handler = ctypes.CFUNCTYPE(_Pointer, ctypes.POINTER(_Frame))(_handle)  # kept, as the other side calls it


class _Operator:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel._variant({"target": "c"})
        self.groups, self.results = parameters(kernel), results(kernel)
        self.given = [(_dtype(base), group.rank is None) for group in sum(self.groups, []) for base in group.bases]
        self.made = [(_dtype(base), group.rank is None) for group in self.results for base in group.bases]
        self.shapes: Shapes | None = None
        self.number = len(_operators)
        _operators.append(self)
        self.__name__ = self.__qualname__ = kernel.__name__
        self.__doc__ = kernel.__doc__

    def run(self, frame: Any) -> None:
        """XLA calls."""
        arrays = [[_view(of.at[i].contents, dtype) for i, (dtype, _) in enumerate(dtypes)]
                  for of, dtypes in ((frame.arguments, self.given), (frame.results, self.made))]
        given = (array[()] if is_number else _bits(array) for array, (_, is_number) in zip(arrays[0], self.given))
        places = (None if is_number else _bits(array) for array, (_, is_number) in zip(arrays[1], self.made))
        found = self.kernel(*[nested(of, given) for _, _, of in self.kernel._parameters],
                            out=nested(self.kernel._result[1], places))
        for part, array, (_, is_number) in zip(flat(found), arrays[1], self.made):
            if is_number:
                array[()] = part

    def __call__(self, *arguments: Any) -> Any:
        count = len(self.given)
        if len(arguments) != count:
            raise ArgumentError(f"{self.kernel.__name__}: {count} arguments are wanted, one for each part, and "
                                f"{len(arguments)} were given")
        at = iter(arguments)
        arrays = [_array(f"{self.kernel.__name__}: `{name} : {text}`", next(at), _dtype(base), group.rank)
                  for (name, text, _), groups in zip(self.kernel._parameters, self.groups)
                  for group in groups for base in group.bases]
        self.kernel.compile()
        wanted = self.wanted(arguments, arrays)
        call = jax.ffi.ffi_call("fcl", wanted[0] if len(wanted) == 1 else wanted, vmap_method="sequential")
        return call(*arrays, kernel=numpy.int64(self.number))

    def wanted(self, arguments: tuple[Any, ...], arrays: list[Any]) -> list[jax.ShapeDtypeStruct]:
        """The shapes of the results."""
        self.shapes = self.shapes or Shapes(self.kernel)
        sizes = self.shapes.sizes(tuple(given if is_number else array for given, array, (_, is_number)
                                        in zip(arguments, arrays, self.given)))
        return [jax.ShapeDtypeStruct(shape, _dtype(base))
                for base, shape in self.shapes.parts(self.results, lambda formula: self.extent(formula, sizes))]

    def extent(self, formula: Any, sizes: dict[str, Any]) -> int:
        try:
            known = self.shapes.extent(formula, sizes) if self.shapes else None
            if known is not None:
                return int(known)
        except jax.errors.ConcretizationTypeError:
            raise ArgumentError(f"{self.kernel.__name__}: a number decides a result's shape, and is traced: name it in "
                                "jax.jit's static_argnames") from None
        raise Error(f"{self.kernel.__name__}: the data decide a result's shape, and JAX wants it before it runs")


def _bits(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """As fcl.Kernel takes it: of bf16 the bits."""
    return array.view(numpy.uint16) if array.dtype == jnp.bfloat16 else array


def _dtype(base: str) -> numpy.dtype[Any]:
    dtype = numpy.dtype(jnp.bfloat16 if base == "bfloat16" else base)
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise Error(f"fcl.jax: JAX has no {base} as it is set: jax.config.update(\"jax_enable_x64\", True)")
    return dtype


def _kind(value: Any) -> str:
    """b, i or f: of a number of Python's, or of a type."""
    if isinstance(value, (bool, int, float)):
        return "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "f"
    return "f" if jnp.issubdtype(value, jnp.floating) else "i" if jnp.issubdtype(value, jnp.integer) else "b"


def _array(where: str, value: Any, dtype: numpy.dtype[Any], rank: int | None) -> Any:
    is_number = isinstance(value, (bool, int, float))
    if rank is None and (is_number or getattr(value, "weak_type", False)):  # Python's, or what JAX has traced of one
        if _kind(value if is_number else value.dtype) + _kind(dtype) in ("bb", "ii", "if", "ff"):
            return jnp.asarray(value, dtype)
        raise ArgumentError(f"{where} wants a number of type {dtype}, not {value!r}")
    if not isinstance(value, jax.Array):
        value = numpy.asarray(value)
    if value.dtype != dtype:
        raise ArgumentError(f"{where} wants elements of type {dtype}, and this array's are {value.dtype}; "
                            f"`.astype(\"{dtype}\")` converts")
    if value.ndim != (rank or 0):
        raise ArgumentError(f"{where} wants {rank or 0} dimension{'s' * (rank != 1)}, and this array has {value.ndim}")
    return jnp.asarray(value)


if not hasattr(jax, "ffi"):
    raise Error(f"fcl.jax: a JAX with the module jax.ffi is wanted, and this is {jax.__version__}")
jax.ffi.register_ffi_target("fcl", jax.ffi.pycapsule(_handler), platform="cpu")


def op(kernel: Kernel) -> Any:
    """A function of JAX, for jax.jit, jax.vmap (a call for each) and, with jax.custom_vjp, jax.grad.

    A number of the kernel's type is a number, or an array without dimensions; an array is an array; a tuple, a record,
    and an array of these are an argument for each part, in order. The result is an array, or a list of one for each
    part; numbers are arrays without dimensions. The shapes of the results are to follow from those of the arguments,
    and from numbers that are not traced. Wrong arrays, and types that JAX does not have, are `fcl.Error`s.

    Cost: arrays are not copied."""
    return _Operator(kernel)
