"""What the documentation shows is what happens."""

import doctest
import os

import pytest


def test_python_md(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    root = os.getcwd()
    os.symlink(os.path.join(root, "examples"), tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(os.path.join(root, "docs", "python.md"), module_relative=False)
    assert result.attempted > 20 and result.failed == 0
    assert os.path.getsize("mandelbrot.png") > 5000
