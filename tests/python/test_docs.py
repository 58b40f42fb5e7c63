"""What the documentation shows is what happens."""

import doctest
import os
import re

import pytest

import fcl


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


def members(what):
    """The public ones of a class, but for those of what it extends that is not of this package."""
    parts = [part for part in what.__mro__ if part.__module__.startswith("fcl")]
    names = {name for part in parts for name in (*vars(part), *vars(part).get("__annotations__", {}))}
    return {name for name in names if not name.startswith("_")}


def test_every_public_name_is_documented():
    with open("docs/python.md", encoding="utf-8") as file:
        table = file.read().split("\n## All names\n")[1]
    rows = {name: line for line in table.splitlines() if line.startswith("| `")
            for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert set(rows) == set(fcl.__all__), set(rows) ^ set(fcl.__all__)
    for name, row in rows.items():
        what = getattr(fcl, name)
        assert what.__doc__, name
        for member in members(what) if isinstance(what, type) else ():
            assert f"`{member}`" in row, f"{name}.{member}"
            assert not hasattr(what, member) or getattr(what, member).__doc__, f"{name}.{member}"
