"""`fclc k.fcl -o k.py`, the notebook's magic, and what type checkers see."""

import importlib.util
import inspect
import os
import pydoc
import re
import subprocess
import sys

import numpy as np
import pytest

import fcl

BIN = os.path.dirname(sys.executable)
FCLC = os.path.join(BIN, "fclc")


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_module_of_a_program(tmp_path, monkeypatch):
    (tmp_path / "helps.fcl").write_text('-- "quoted" \\ and é\nfun add x y = x + y\n')
    (tmp_path / "kernels.fcl").write_text(
        'import "helps"\nimport "matrix"\nparam much : int = 1\n'
        '-- Adds `much`.\\\n--\n-- """More""" of it.\nkernel lambda (xs : [int]) = push <grid> (map (add much) xs)\n'
        "kernel x' (np : (int, [bool])) (m : [[double]]) = (fst np, push <grid> (snd np), length m)\n"
        "kernel int (float : int) = float + 1\n")
    run(FCLC, "kernels.fcl", "-D", "much=5", "--target=c", "-M", "-o", "made.py", cwd=tmp_path)
    assert "helps.fcl" in (tmp_path / "made.d").read_text()
    for name in ("helps.fcl", "kernels.fcl"):
        (tmp_path / name).unlink()  # the module has them
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    import made
    xs = np.arange(3, dtype=np.int32)
    assert list(made.lambda_(xs)) == [5, 6, 7] and list(made.lambda_(xs, much=1)) == [1, 2, 3]
    assert 'Adds `much`.\\' in made.lambda_.__doc__ and '"""More""" of it.' in made.lambda_.__doc__
    a, b, n = made.x_((3, np.array([True])), np.zeros((2, 2)))
    assert (a, list(b), n) == (3, [True], 2)
    assert made.int_(2) == 3
    (tmp_path / "use.py").write_text("import numpy as np\nimport made\nxs = np.zeros(3, np.int32)\n"
                                     "good: np.int32 = made.lambda_(xs)[0]\nmade.lambda_(3)\nbad: str = "
                                     "made.lambda_(xs)\n")
    mypy = subprocess.run([os.path.join(BIN, "mypy"), "--strict", "use.py"], cwd=tmp_path, capture_output=True,
                          text=True)
    errors = [line.split(":")[:2] for line in mypy.stdout.splitlines() if ": error:" in line]
    assert errors == [["use.py", "5"], ["use.py", "6"]], mypy.stdout  # only the wrong ones


def test_a_wrong_program_makes_no_module(tmp_path):
    (tmp_path / "k.fcl").write_text("kernel k (x : int) = y\n")
    done = subprocess.run([FCLC, "k.fcl", "-o", "k.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "E0201" in done.stderr and not (tmp_path / "k.py").exists()


def test_every_example_becomes_a_module(tmp_path):
    import glob
    paths = sorted(glob.glob("examples/*/*.fcl"))
    assert len(paths) > 15
    for i, path in enumerate(paths):
        run(FCLC, path, "-o", str(tmp_path / f"m{i}.py"), cwd=".")
    run(os.path.join(BIN, "mypy"), "--strict", *[f"m{i}.py" for i in range(len(paths))], cwd=tmp_path)


def test_the_package_is_typed():
    run(os.path.join(BIN, "mypy"), "--strict", "python/fcl", cwd=".")


def test_the_stubs_say_what_the_extension_has(tmp_path):
    stubtest = [sys.executable, "-m", "mypy.stubtest"]
    newer = "--ignore-disjoint-bases"  # what Python 3.14 calls a property of extensions
    has = newer in subprocess.run([*stubtest, "--help"], capture_output=True, text=True).stdout
    config = ["--mypy-config-file", os.path.abspath("pyproject.toml")]
    missing = [name for name in ("torch", "jax") if not importlib.util.find_spec(name)]
    (tmp_path / "allowed").write_text("".join(f"fcl\\.{name}\n" for name in missing))
    if missing:  # stubtest imports what it looks at
        config += ["--allowlist", "allowed"]
    run(*stubtest, *([newer] if has else []), *config, "fcl", cwd=tmp_path)


def test_the_cell_magic():
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    shell = shell_module.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "fcl")
    shell.run_cell_magic("fcl", "--target=c -D much=3", "param much : int = 1\nkernel plus (x : int) = x + much\n")
    assert shell.user_ns["plus"](4) == 7 and shell.user_ns["fcl_program"].plus is shell.user_ns["plus"]
    with pytest.raises(fcl.Error, match="<cell>:1:"):
        from fcl._magic import run_cell
        run_cell("", "kernel k = y", {})


def shown(shell, cell, capsys):
    """What a notebook shows of it."""
    capsys.readouterr()
    assert not shell.run_cell(cell).success
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)


def test_a_notebook_shows_the_error_and_no_frames_of_ours(capsys):
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    shell = shell_module.InteractiveShell.instance()
    shell.run_cell("%load_ext fcl\nimport fcl, numpy as np")
    wrong = shown(shell, "%%fcl --target=c\nkernel k (x : int) = y + 1\n", capsys)
    assert wrong.startswith("fcl.Error: <cell>:1:22: error[E0201]") and ".py" not in wrong, wrong
    assert shown(shell, "%%fcl --target=nothing\nkernel k (x : int) = x\n", capsys).startswith("fcl.Error: fclc: ")
    wrong = shown(shell, "m = fcl.source('kernel k (x : int) = y')", capsys)
    assert "fcl.source(" in wrong and "E0201" in wrong and "__init__.py" not in wrong and "_core" not in wrong, wrong
    shell.run_cell("m = fcl.source('kernel k (x : int) = x', target='c')\ndef mine(x):\n    return m.k(x, chunk=3)")
    wrong = shown(shell, "mine(3)", capsys)
    assert "return m.k(x, chunk=3)" in wrong and "mine(3)" in wrong and "chunk" in wrong, wrong
    assert "__init__.py" not in wrong and "skipping" not in wrong, wrong
    wrong = shown(shell, "m.k(1.5)", capsys)
    assert "ArgumentError: k: argument 1, `x : int`, wants a whole number" in wrong and "__init__.py" not in wrong
    wrong = shown(shell, "fcl.load('absent.fcl')", capsys)
    assert "MissingFileError" in wrong and "absent.fcl: No such file" in wrong and "__init__.py" not in wrong


def test_signatures():
    m = fcl.source("kernel scale (k : float) (xs : [float]) = push <grid> (map ( * k) xs)\n"
                   "kernel odd (x : int) (x' : int) (lambda : int) (keep : int) (y : int) =\n"
                   "  x + x' + lambda + keep + y\n"
                   "kernel none = 3\n", target="c")
    assert str(inspect.signature(m.scale)) == (
        "(k: 'float', xs: '[float]', *, keep: 'bool | None' = None, convert: 'bool | None' = None, "
        "out: 'Any' = None, stream: 'Any' = None, **options: 'Any')"
        " -> '[float]<grid>'")
    bound = inspect.signature(m.scale).bind(2.0, xs=[1, 2], keep=False)
    assert m.scale(*bound.args, **bound.kwargs).tolist() == [2, 4]
    odd = inspect.signature(m.odd)
    kinds = [(name, p.kind.name) for name, p in odd.parameters.items()]
    assert kinds == [("x", "POSITIONAL_ONLY"), ("x_", "POSITIONAL_ONLY"), ("lambda_", "POSITIONAL_ONLY"),
                     ("keep_", "POSITIONAL_ONLY"), ("y", "POSITIONAL_OR_KEYWORD"), ("keep", "KEYWORD_ONLY"),
                     ("convert", "KEYWORD_ONLY"), ("out", "KEYWORD_ONLY"), ("stream", "KEYWORD_ONLY"),
                     ("options", "VAR_KEYWORD")]
    assert list(inspect.signature(m.none).parameters) == ["keep", "convert", "out", "stream", "options"]
    for public in (fcl.load, fcl.source, fcl.put, fcl.device, fcl.devices, fcl.Device, m.scale.compile, m.scale.code,
                   fcl.Array.numpy, fcl.Array.reshape, fcl.Device.finish, m.with_options, m.code, m.report):
        inspect.signature(public)
    assert "reshape(self, /, *shape)" in pydoc.render_doc(fcl.Array, renderer=pydoc.plaintext)


def test_devices():
    found = fcl.devices()
    assert found and found[-1]["kind"] == "c" and {"name", "platform", "memory_bytes"} <= set(found[-1])
    assert fcl.device("c") is fcl.device("c") and fcl.__version__


def test_reports():
    m = fcl.source("kernel twice (xs : [int]) = push <grid> (map (fn x => x * 2) xs)\n"
                   "kernel rows (m : [[int]]) = push <grid> (map length m)\n")
    report = m.twice.report(n=1000, device="t4")
    assert report.startswith("twice : [int] -> [int]<grid>") and repr(report) == str(report)
    (step,) = [step for step in report.json["kernels"][0]["steps"] if step["kind"] == "launch"]
    assert step["iterations"]["number"] == 1000 and step["estimate"]["bound"] == "launch"
    assert report.html.startswith("<!DOCTYPE html>") and report._repr_html_() == report.html
    assert "rows : " in m.report() and "rows : " not in report
    assert "launch rows: 3 iterations" in m.rows.report(m=(3, 5)) and m.report("c").json["target"] == "c"
    with pytest.raises(fcl.Error, match="nothing of `twice` is called `length`"):
        m.twice.report(length=5)


IR = """fclir 1
kernel "k" {
  takes [int]
  gives [int]<grid>
  buffer @xs "xs" input int
  buffer @out "out" output int[%n]
  extent 0.0 "n" dimension 0 = int %n
  array 0.0 "xs" = @xs
  allocate @out
  forall int %i < %n at grid/thread {
    int %x = load @xs[%i]
    store @out[%i], %x
  }
  return @out %n
}
"""


def test_ir(target):
    xs = np.array([3, 1], np.int32)
    assert np.array_equal(fcl.source(IR, target=target).k(xs), xs)
    with pytest.raises(fcl.Error, match="source.fclir:8:3: error.E0120.: .*takes. says u8"):
        fcl.source(IR.replace("takes [int]", "takes [u8]"))


def test_a_call_in_c_tells_what_its_checks_of_memory_found():
    m = fcl.source("kernel picked (xs : [int]) (places : [int]) = push <grid> (gather places xs)\n", target="c")
    with pytest.raises(fcl.Error, match="an index is out of range"):
        m.picked([1, 2, 3], [0, 7])
    assert m.picked([1, 2, 3], [0, 2]).tolist() == [1, 3]
