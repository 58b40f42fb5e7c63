"""Kernels in FCL, called with NumPy's arrays.

    import fcl, numpy as np
    m = fcl.source("kernel twice (xs : [float]) = push <grid> (map ( * 2.0) xs)")
    m.twice(np.ones(3, np.float32))            # array([2., 2., 2.], dtype=float32)

A kernel takes what its type says, scalars, arrays of the elements' type and tuples of these, and gives the same. An
array of tuples is a tuple of arrays. Arguments are only read, and are not copied where the kernel can read them in
place: dense arrays, by kernels in C. Where an argument is an Array, in a device's memory, so are the results; `keep`
says otherwise. Arrays of other numbers are converted where `convert=True` says so. Other threads run meanwhile. Errors
are `fcl.Error`, with the text that fclc prints.
"""

from __future__ import annotations

import functools
import inspect
import json
import keyword
import operator
import os
from typing import Any

import numpy
import numpy.typing

from ._core import Array, Device, version as __version__
from . import _core
from ._errors import ArgumentError, Error, MissingFileError, Warning, missing_file

__all__ = ["Array", "ArgumentError", "Device", "Error", "Kernel", "MissingFileError", "Program", "Report", "Warning",
           "device", "devices", "load", "put", "source"]

# Keywords that are options of `fclc run`; every other one is a param of the program.
_FLAGS = {"approximate": "--approximate", "contract": "--contract", "no_prelude": "--no-prelude"}
# `warn` may be several.
_OPTIONS = {"target", "map", "sub_groups", "block_size", "grid_size", "warp_size", "vector_bytes", "shared_bytes",
            "unroll", "optimise", "tuning"}

# Keywords of a call, beside options and params.
_KEYWORDS = ("keep", "convert", "out", "stream", "options")

_Files = tuple[tuple[str, "str | None"], ...]  # paths and texts
_CHOICES = 32  # programs with other options or params that one keeps, of 2 to 3 MB each

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
    if isinstance(array, numpy.ma.MaskedArray):
        raise ArgumentError("put: the array has a mask, which a kernel would not see: `.filled(0)` gives an array "
                            "without one, with 0 where it masks")
    try:
        memoryview(array)  # type: ignore[arg-type]
    except (BufferError, TypeError, ValueError):
        array = numpy.asarray(array)
    return _core.put(device(target), array)


def load(path: str | bytes | os.PathLike[str], **options: Any) -> Program:
    """The program in a file. Options are those of `fclc run`, `target="c"`, `check=True`, `block_size=64` …, or
    `device=Device(…)`; with `convert=True` calls convert arrays; others are params. A param that has an option's name
    is given by params={"check": 1}."""
    return Program(((os.fsdecode(path), None),), options)


def source(text: str, name: str | None = None, files: dict[str, str] | None = None, **options: Any) -> Program:
    """The program in a string. `files` has the texts of what it imports, by their paths. A text that begins with
    `fclir` is the IR of kernels, as `fclc -o OUT.fclir` writes it."""
    name = name or ("source.fclir" if text.lstrip().startswith("fclir ") else "source.fcl")
    return Program(((name, text), *(files or {}).items()), options)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words(options: dict[str, Any]) -> tuple[tuple[str, ...], Device | None]:
    """Options and params as words of the command line, and the device, which may be given as such."""
    options = dict(options)
    options.pop("convert", None)
    chosen = options.pop("device", None)
    if chosen is not None:
        chosen = device(chosen)
        options["target"] = chosen.backend
    words = [f"-D{name}={_value(value)}" for name, value in options.pop("params", {}).items()]
    for name, value in sorted(options.items()):
        if name == "warn":
            words += [f"--warn={one}" for one in ([value] if isinstance(value, str) else value)]
        elif name == "check":
            words += [f"--check={value if isinstance(value, str) else 'all' if value else 'none'}"]
        elif name in _FLAGS:
            words += [_FLAGS[name]] if value else []
        elif name in _OPTIONS:
            words += [f"--{name.replace('_', '-')}={_value(value)}"] if value is not None else []
        else:
            words.append(f"-D{name}={_value(value)}")
    return tuple(words), chosen


def _key(options: dict[str, Any]) -> tuple[Any, ...]:
    return (*_words(options), bool(options.get("convert")))


def _load(files: _Files, words: tuple[str, ...]) -> _core.Program:
    path, text = files[0]
    try:
        return _core.Program(files, words)
    except Error as error:
        if error.status == 2 and text is None:
            try:
                os.stat(path)
            except FileNotFoundError:
                raise missing_file(str(error), path) from None
        raise


class _Loaded:
    """What a program and its kernels share. It knows neither of them: so all go at once, and not when Python looks for
    cycles, which big programs in few objects do not make it do."""

    def __init__(self, files: _Files, options: dict[str, Any]) -> None:
        self.files, self.options, self.key = tuple(files), options, _key(options)
        self.places = tuple((path if text is not None else os.path.abspath(path), text) for path, text in files)
        self.variants: dict[tuple[Any, ...], Program] = {}  # the one that was used last is the last
        words, chosen = _words(options)
        self._inner = _load(self.files, words)
        target = self._inner.target
        if chosen is None and target is not None:
            chosen = device(target)
        self.device = chosen
        if target is not None and chosen is not None:
            self._inner.use(chosen)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, it is its texts, or the path of its file, and its options; from these it becomes a Program."""
        return Program, (self.places, self.options)

    def variant(self, options: dict[str, Any]) -> Program | None:
        """With other options; None: these are its own."""
        merged = {**self.options, **options}
        if "target" in options:
            merged.pop("device", None)
        key = _key(merged)
        if key == self.key:
            return None
        chosen = self.variants.pop(key, None) or Program(self.files, merged)
        self.variants[key] = chosen
        for old in list(self.variants)[:-_CHOICES]:
            self.variants.pop(old, None)
        return chosen


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


def _report(program: _Loaded | Program, kernel: str | None, target: str | None, device: str | None,
            sizes: dict[str, Any]) -> Report:
    text = ",".join(f"{name}={_size(value)}" for name, value in sizes.items())
    make = functools.partial(_report_as, program, kernel, target, text or None, device)
    report = Report(make(0))
    report._make = make
    return report


def _report_as(program: _Loaded | Program, kernel: str | None, target: str | None, sizes: str | None,
               device: str | None, form: int) -> str:
    return program._inner.report(kernel, target, sizes, device, form)


def _signature(parameters: tuple[tuple[str, str, Any], ...], result: str) -> inspect.Signature:
    """FCL's types are its annotations. Names that Python does not have, as x', are for arguments by position alone,
    as are those before."""
    names: list[str] = []
    by_name = 0
    for i, (name, _, _) in enumerate(parameters):
        if not name.isidentifier() or keyword.iskeyword(name) or name in _KEYWORDS:
            by_name = i + 1
            name = "".join(c if c.isidentifier() or c.isdigit() else "_" for c in name) or "argument"
        while name in names or keyword.iskeyword(name) or name in _KEYWORDS:
            name += "_"
        names.append(name)
    kinds = inspect.Parameter
    return inspect.Signature([
        *(kinds(name, kinds.POSITIONAL_ONLY if i < by_name else kinds.POSITIONAL_OR_KEYWORD, annotation=text)
          for i, (name, (_, text, _)) in enumerate(zip(names, parameters))),
        kinds("keep", kinds.KEYWORD_ONLY, default=None, annotation="bool | None"),
        kinds("convert", kinds.KEYWORD_ONLY, default=None, annotation="bool | None"),
        kinds("out", kinds.KEYWORD_ONLY, default=None, annotation="Any"),
        kinds("stream", kinds.KEYWORD_ONLY, default=None, annotation="Any"),
        kinds("options", kinds.VAR_KEYWORD, annotation="Any")], return_annotation=result)


class Kernel(_core.Kernel):
    """A kernel: called with its arguments, in order or by name. Other keywords are options and params for this call,
    `target="c"`, `chunk=512`, which is compiled once for each choice; `keep` is whether results stay in the device's
    memory, as Arrays, and `convert` whether arrays of other numbers are converted: integers where the type holds them
    all, floats rounded. `out` is an array for the result to be stored in, or of a tuple or record a tuple or dict of
    these, with None for what is given as ever; what is given is `out` then, or, where the result is shorter, the part
    of it that has it. `stream` is the CUDA stream or OpenCL queue that this call works on."""

    type: str  # as `fclc types` prints it
    path: str  # where it is defined,
    line: int  # from 1
    __name__: str
    _parameters: tuple[tuple[str, str, Any], ...]
    _result: tuple[str, Any]
    _loaded: _Loaded
    __signature__: inspect.Signature

    def __new__(cls, loaded: _Loaded, description: tuple[Any, ...]) -> Kernel:
        """Of a Program; nobody else makes them."""
        self: Any = super().__new__(cls, loaded._inner, description[0])
        name, self.type, comment, self.path, self.line, self._parameters, self._result = description
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"{name} : {self.type}\n\n{comment}".rstrip()
        self.__signature__ = _signature(self._parameters, self._result[0])
        self._loaded = loaded
        return self  # type: ignore

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.getitem, (self._loaded, self.__name__)

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self

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
        return self._loaded._inner.text(self.__name__, target)

    def report(self, target: str | None = None, device: str | None = None, **sizes: Any) -> Report:
        """What it costs for "cuda" (as without a target), "opencl", "c" or "hip", without running it. Sizes are
        numbers by the names of parameters, or tuples of the extents of matrices; `n` is the length of all other
        arrays. With a device, "h100" and the like or a file, it has an estimate."""
        return _report(self._loaded, self.__name__, target, device, sizes)

    @property
    def _converts(self) -> bool:
        return bool(self._loaded.options.get("convert"))

    def _variant(self, options: dict[str, Any]) -> Kernel:
        try:
            variant = self._loaded.variant(options)
        except Error as error:
            has = f" ({', '.join(self.parameters)})" if self.parameters else ""
            for name in options:
                called = f"{self.__name__}: `{name}` is no parameter{has}, option or param"
                said = str(error).replace(f"fclc: -D {name}: there is no such param", called)
                if said != str(error):
                    raise ArgumentError(said) from None
            raise
        return self if variant is None else variant[self.__name__]

    def __repr__(self) -> str:
        return f"<fcl.Kernel {self.__name__} : {self.type}>"


class Program:
    """A program: its kernels are its attributes."""

    def __init__(self, files: _Files, options: dict[str, Any]) -> None:
        self._loaded = _Loaded(files, options)
        self._inner = self._loaded._inner
        self._kernels: dict[str, Kernel] = {}
        for description in self._inner.kernels:
            kernel = Kernel(self._loaded, description)
            self._kernels[kernel.__name__] = kernel
            if not hasattr(type(self), kernel.__name__):
                setattr(self, kernel.__name__, kernel)
        self.device = self._loaded.device

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

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self._loaded,)

    def __copy__(self) -> Program:
        return self

    def __deepcopy__(self, memo: Any) -> Program:
        return self

    def __getitem__(self, name: str) -> Kernel:
        return self._kernels[name]

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_") or name not in self._kernels:
            has = ", ".join(self.__dict__.get("_kernels", {}))
            raise AttributeError(f"there is no kernel `{name}`" + (f"; there are {has}" if has else ""))
        return self._kernels[name]

    def with_options(self, **options: Any) -> Program:
        """The same program with other options or params, compiled once for each choice: the last 32 of them are
        kept."""
        variant = self._loaded.variant(options)
        return self if variant is None else variant

    def __repr__(self) -> str:
        return f"<fcl.Program {self._loaded.files[0][0]}: {', '.join(self._kernels)}>"


def _itself(program: Program) -> Program:
    return program


def load_ipython_extension(shell: Any) -> None:
    """For `%load_ext fcl`: the cell magic `%%fcl`."""
    from ._magic import register
    register(shell)
