"""What goes wrong."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
import types
import warnings
from typing import Any

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Error(Exception):
    """A program that is wrong, a check that failed, a device that failed. Its text is what fclc prints.

    `status` is the exit status that the command would have: 1 the program is wrong, 2 an option, a file or an
    argument is, 3 the device or its driver failed, 4 the compiler is wrong.
    """

    status = 1

    def _render_traceback_(self) -> list[str]:
        """IPython asks for it: the caller's frames are shown, ours and those that lead to the cell's magic are not."""
        self.__traceback__ = _without_ours(self.__traceback__)
        shell = sys.modules["IPython"].get_ipython()
        if self.__traceback__ is None or shell is None:
            return traceback.format_exception(self)
        return list(shell.InteractiveTB.structured_traceback(type(self), self, self.__traceback__, tb_offset=0))


class ArgumentError(Error, TypeError):
    """An argument of a call that does not fit its parameter's type."""

    status = 2


class MissingFileError(Error, FileNotFoundError):
    """There is no file of a program, of that path."""

    status = 2

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return missing_file, (str(self), self.filename)


def missing_file(text: str, path: str) -> MissingFileError:
    """With what the operating system's own error has."""
    error = MissingFileError(text)
    error.errno, error.strerror, error.filename = errno.ENOENT, os.strerror(errno.ENOENT), path
    return error


class Warning(UserWarning):  # noqa: A001  (fcl.Warning, as fclc calls them)
    """A warning of the compiler's, by Python's own module `warnings`."""


for _public in (Error, ArgumentError, MissingFileError, Warning):
    _public.__module__ = "fcl"  # as they are documented, and pickled


def _is_ours(code: types.CodeType) -> bool:
    return os.path.abspath(code.co_filename).startswith(_OWN)


def _without_ours(trace: types.TracebackType | None) -> types.TracebackType | None:
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    codes = [frame.tb_frame.f_code for frame in frames]
    # IPython's own stand at the beginning, and before ours where a magic has called these.
    first = max((i + 1 for i, code in enumerate(codes) if f"{os.sep}IPython{os.sep}" in code.co_filename), default=0)
    is_magic = any(code.co_name == "run_cell_magic" for code in codes)
    kept = None
    for frame, code in reversed([] if is_magic else list(zip(frames, codes))[first:]):
        if not _is_ours(code):
            kept = types.TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def warn(message: str) -> None:
    """Warns of each thing that the compiler's message tells, at the place of the caller of this package."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_code):
        depth, frame = depth + 1, frame.f_back
    for one in re.split(r"\n(?=\S)(?!\S[^\n]*: note: )", message.strip("\n")):
        warnings.warn(one, Warning, stacklevel=depth)
