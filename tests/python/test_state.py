"""A program may have set another locale or rounding, or small numbers to 0: results stay the same, and so do these."""

import contextlib
import ctypes
import ctypes.util
import locale
import os
import platform
import shutil
import subprocess

import numpy as np
import pytest

import fcl

UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}.get(platform.machine())
SOURCE = """\
param by : float = 0.1
val third = (1.0 / 3.0 : float)
kernel k (xs : [float]) = push <grid> (map (fn x => x * by + third + 1.0e-40) xs)
kernel s (xs : [float]) (a : double) = (reduce (+) 0.0 xs, a * 0.1 + 1.0e-310, 1.5)
"""


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    if not shutil.which("localedef") or not os.path.exists("/usr/share/i18n/locales/de_DE"):
        pytest.skip("no localedef, or not the package locales")
    folder = tmp_path_factory.mktemp("locales")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "ISO-8859-1", folder / "de_DE"], check=True)
    return str(folder)


@contextlib.contextmanager
def settings(folder):
    """The rounding, and how C writes a half, are to be the same at the end."""
    libm, libc = (ctypes.CDLL(ctypes.util.find_library(name)) for name in "mc")
    before, modes = (ctypes.create_string_buffer(64) for _ in range(2))
    libm.fegetenv(before)

    def written():
        text = ctypes.create_string_buffer(10)
        libc.snprintf(text, 10, b"%.1f", ctypes.c_double(0.5))
        return text.value, libm.fegetround()
    os.environ["LOCPATH"] = folder
    locale.setlocale(locale.LC_ALL, "de_DE")
    try:
        libm.fesetround(UPWARD)
        if platform.machine() == "x86_64":
            libm.fegetenv(modes)
            modes[29] = bytes([modes[29][0] | 0x80])  # results that are small are 0,
            modes[28] = bytes([modes[28][0] | 0x40])  # and so are operands
            libm.fesetenv(modes)
        assert written() == (b"0,5", UPWARD)
        yield
        assert written() == (b"0,5", UPWARD)
    finally:
        libm.fesetenv(before)
        locale.setlocale(locale.LC_ALL, "C")
        del os.environ["LOCPATH"]


def everything(target, xs):
    """What the package's functions give, as text or bytes."""
    m = fcl.source(SOURCE, target=target)
    more = m.with_options(by=0.7)
    total, small, half = m.s(xs, 0.7)
    yield from (m.k(xs).tobytes(), more.k(xs).tobytes(), total.tobytes(), small.tobytes(), half.tobytes())
    yield from (m.code("c"), m.k.code("cuda"), str(m.report("cuda", xs=123457)), m.report("cuda", "a100").html)
    yield from (m.k.report("cuda").json, repr(m.k), str(m.k.parameters), m.s.result, fcl.devices())
    if target != "interp":
        array = fcl.put(xs, target)
        yield from (m.k(array).numpy().tobytes(), array.numpy().tobytes())
    with pytest.raises(fcl.Error) as error:
        fcl.source("kernel k (x : float) = x + 1.5 + true")
    yield str(error.value)


@pytest.mark.skipif(not UPWARD, reason="a processor whose roundings are not known here")
def test_results_whatever_the_caller_has_set(target, german):
    xs = np.arange(50000, dtype=np.float32) * np.float32(0.1)
    xs[::7] = np.float32(1e-41)
    usual = list(everything(target, xs))
    with settings(german):
        other = list(everything(target, xs))
    assert other == usual
