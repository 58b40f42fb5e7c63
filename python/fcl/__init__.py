"""Kernels in FCL, called with NumPy's arrays.

    import fcl, numpy as np
    m = fcl.source("kernel twice (xs : [float]) = push <grid> (map ( * 2.0) xs)")
    m.twice(np.ones(3, np.float32))            # array([2., 2., 2.], dtype=float32)

A kernel takes what its type says, scalars, arrays of the elements' type and tuples of these, and gives the same. An
array of tuples is a tuple of arrays. Arguments are only read, and are not copied where the kernel can read them in
place: dense arrays, by kernels in C. Where an argument is an Array, in a device's memory, so are the results; `keep`
says otherwise. Other threads run meanwhile. Errors are `fcl.Error`, with the text that fclc prints.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy
import numpy.typing

from ._core import Array, Device, version as __version__
from . import _core
from ._errors import ArgumentError, Error, Warning

__all__ = ["Array", "ArgumentError", "Device", "Error", "Kernel", "Program", "Report", "Warning", "device", "devices",
           "load",
           "put", "source"]

# Keywords that are options of `fclc run`; every other one is a param of the program.
_FLAGS = {"check": "--check", "contract": "--contract", "no_prelude": "--no-prelude"}
_OPTIONS = {"target", "map", "sub_groups", "block_size", "grid_size", "warp_size", "vector_bytes", "shared_bytes",
            "unroll", "optimise", "tuning"}

_devices: dict[str, Device] = {}


def device(name: str | Device = "any") -> Device:
    """The Device of that name ("cuda", "opencl", "c", "cuda:1" …), opened once for the whole process."""
    if isinstance(name, Device):
        return name
    if name not in _devices:
        opened = Device(name)
        # "any" and "opencl" are names of a device that may be open already by its own.
        _devices[name] = _devices.setdefault(repr(opened), opened)
    return _devices[name]


def devices() -> list[dict[str, Any]]:
    """A dictionary for each device that there is."""
    return _core.devices()


def put(array: numpy.typing.ArrayLike, target: str | Device = "any") -> Array:
    """A copy of an array in the memory of a device, given by its name or as a Device."""
    return _core.put(device(target), numpy.ascontiguousarray(array))


def load(path: str | bytes | os.PathLike[str], **options: Any) -> Program:
    """The program in a file. Options are those of `fclc run`, `target="c"`, `check=True`, `block_size=64` …, or
    `device=Device(…)`; others are params. A param that has an option's name is given by params={"check": 1}."""
    return Program(((os.fsdecode(path), None),), options)


def source(text: str, name: str = "source.fcl", files: dict[str, str] | None = None, **options: Any) -> Program:
    """The program in a string. `files` has the texts of what it imports, by their paths."""
    return Program(((name, text), *(files or {}).items()), options)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words(options: dict[str, Any]) -> tuple[tuple[str, ...], Device | None]:
    """Options and params as words of the command line, and the device, which may be given as such."""
    options = dict(options)
    chosen = options.pop("device", None)
    if chosen is not None:
        chosen = device(chosen)
        options["target"] = chosen.backend
    words = [f"-D{name}={_value(value)}" for name, value in options.pop("params", {}).items()]
    for name, value in sorted(options.items()):
        if name in _FLAGS:
            words += [_FLAGS[name]] if value else []
        elif name in _OPTIONS:
            words += [f"--{name.replace('_', '-')}={_value(value)}"] if value is not None else []
        else:
            words.append(f"-D{name}={_value(value)}")
    return tuple(words), chosen


class Report(str):
    """What kernels cost: the text that `fclc report` prints. `json` has the same as a dictionary, whose members
    docs/report.md lists, `html` as a page with a drawing, which notebooks show."""

    _make: Any

    @property
    def json(self) -> dict[str, Any]:
        """What docs/report.md describes."""
        return dict(json.loads(self._make(1)))

    @property
    def html(self) -> str:
        """A page with a drawing."""
        return str(self._make(2))

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return str(self)


def _size(value: object) -> str:
    return "x".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _report(program: Program, kernel: str | None, target: str | None, device: str | None,
            sizes: dict[str, Any]) -> Report:
    text = ",".join(f"{name}={_size(value)}" for name, value in sizes.items())

    def make(form: int) -> str:
        return program._inner.report(kernel, target, text or None, device, form)
    report = Report(make(0))
    report._make = make
    return report


class Kernel(_core.Kernel):
    """A kernel: called with its arguments, in order or by name. Other keywords are options and params for this call,
    `target="c"`, `chunk=512`, which is compiled once for each choice; `keep` is whether results stay in the device's
    memory, as Arrays."""

    type: str  # as `fclc types` prints it
    path: str  # where it is defined,
    line: int  # from 1
    __name__: str
    _parameters: tuple[tuple[str, str, Any], ...]
    _result: tuple[str, Any]
    _program: Program

    def __new__(cls, program: Program, inner: _core.Program, description: tuple[Any, ...]) -> Kernel:
        """Of a Program; nobody else makes them."""
        self: Any = super().__new__(cls, inner, description[0])
        name, self.type, comment, self.path, self.line, self._parameters, self._result = description
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"{name} : {self.type}\n\n{comment}".rstrip()
        self._program = program
        return self  # type: ignore

    @property
    def parameters(self) -> dict[str, str]:
        """The names of the parameters, and their types as FCL writes them."""
        return {name: text for name, text, _ in self._parameters}

    @property
    def result(self) -> str:
        """The type of the result as FCL writes it."""
        return self._result[0]

    def code(self, target: str) -> str:
        """Its device code for "cuda", "opencl", "c" or "hip", as `fclc -o` writes it."""
        return self._program._inner.text(self.__name__, target)

    def report(self, target: str | None = None, device: str | None = None, **sizes: Any) -> Report:
        """What it costs for "cuda" (as without a target), "opencl", "c" or "hip", without running it. Sizes are
        numbers by the names of parameters, or tuples of the extents of matrices; `n` is the length of all other
        arrays. With a device, "h100" and the like or a file, it has an estimate."""
        return _report(self._program, self.__name__, target, device, sizes)

    def _variant(self, options: dict[str, Any]) -> Kernel:
        return self._program.with_options(**options)[self.__name__]

    def __repr__(self) -> str:
        return f"<fcl.Kernel {self.__name__} : {self.type}>"


class Program:
    """A program: its kernels are its attributes."""

    def __init__(self, files: tuple[tuple[str, str | None], ...], options: dict[str, Any]) -> None:
        self._files, self._options = tuple(files), options
        self._variants: dict[tuple[tuple[str, ...], Device | None], Program] = {}
        words, chosen = _words(options)
        self._words = words
        inner = _core.Program(self._files, words)
        if inner.target is not None:
            inner.use(chosen if chosen is not None else device(inner.target))
        self._inner = inner
        self._kernels: dict[str, Kernel] = {}
        for description in inner.kernels:
            kernel = Kernel(self, inner, description)
            self._kernels[kernel.__name__] = kernel
            if not hasattr(type(self), kernel.__name__):
                setattr(self, kernel.__name__, kernel)
        self.device = chosen if chosen is not None else device(inner.target) if inner.target is not None else None

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels by their names, in the order of the source."""
        return dict(self._kernels)

    def code(self, target: str) -> str:
        """The device code of all kernels for "cuda", "opencl", "c" or "hip", as `fclc -o` writes it."""
        return self._inner.text(None, target)

    def report(self, target: str | None = None, device: str | None = None, **sizes: Any) -> Report:
        """What all kernels cost, as Kernel.report."""
        return _report(self, None, target, device, sizes)

    def __getitem__(self, name: str) -> Kernel:
        return self._kernels[name]

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_") or name not in self._kernels:
            has = ", ".join(self.__dict__.get("_kernels", {}))
            raise AttributeError(f"there is no kernel `{name}`" + (f"; there are {has}" if has else ""))
        return self._kernels[name]

    def with_options(self, **options: Any) -> Program:
        """The same program with other options or params, compiled once for each choice."""
        merged = {**self._options, **options}
        if "target" in options:
            merged.pop("device", None)
        words, chosen = _words(merged)
        key = words, chosen
        if key == _words(self._options):
            return self
        if key not in self._variants:
            self._variants[key] = Program(self._files, merged)
        return self._variants[key]

    def __repr__(self) -> str:
        return f"<fcl.Program {self._files[0][0]}: {', '.join(self._kernels)}>"


def load_ipython_extension(shell: Any) -> None:
    """For `%load_ext fcl`: the cell magic `%%fcl`."""
    from ._magic import register
    register(shell)
