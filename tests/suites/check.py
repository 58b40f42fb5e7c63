"""tests/check: programs and the types they must get; tests/errors: programs and the exact diagnostics they must
give."""

import glob
import json
import os
import re
import resource
import time
from executors import require
from harness import Case

ORDER = 35
SANITIZED = True


OURS = re.compile(r"^((?:prelude|lib)/\w+\.fcl):\d+:\d+:(.*\n)(?: *\d+ \|(.*\n) +\|)?", re.M)


def masked(text):
    """Messages without the lines and columns of our own files, which change with every definition there."""
    return OURS.sub(lambda m: f"{m[1]}:LINE:COLUMN:{m[2]}" + (f"... |{m[3]}    |" if m[3] else ""), text)


def cases(env):
    for path in sorted(glob.glob(env.path("tests", "check", "*.fcl"))):
        def types(path=path):
            wanted = open(path[:-4] + ".types", encoding="utf-8").read()
            got = env.must(env.fclc, "types", path)
            assert got == wanted, f"got\n{got}wanted\n{wanted}"
        yield Case(os.path.relpath(path, env.root), types)
    for path in sorted(glob.glob(env.path("tests", "errors", "*.fcl"))):
        def errors(path=path):
            wanted = open(path[:-4] + ".err", encoding="utf-8").read()
            name = os.path.basename(path)
            command = "check"
            with open(path, encoding="utf-8", errors="replace") as source:
                first = source.readline()
            if first.startswith("-- compile"):  # found only where a kernel is compiled
                out = os.path.join(env.tmp(), "out.c")
                done = env.run(env.fclc, name, "-o", out, cwd=os.path.dirname(path))
                assert not os.path.exists(out), "an output file was left behind"
                found = env.run(env.fclc, command, name, cwd=os.path.dirname(path))
                assert (found.returncode, found.stderr) == (done.returncode, done.stderr), f"check: got\n{found.stderr}"
                assert not env.must(env.fclc, command, "--types-only", name, cwd=os.path.dirname(path))
            # found in a run; the interpreter may tell more of the calls that led there
            elif first.startswith("-- run "):
                arguments = first.removeprefix("-- run ").split()
                done = env.run(env.fclc, "run", "--target=interp", name, *arguments, cwd=os.path.dirname(path))
                is_same = done.stderr.split("\n", 1)[0] == wanted.split("\n", 1)[0]
                assert is_same, f"interp: got\n{done.stderr}wanted\n{wanted}"
                done = env.run(env.fclc, "run", "--target=c", name, *arguments, cwd=os.path.dirname(path))
            else:
                done = env.run(env.fclc, command, name, cwd=os.path.dirname(path))
            got, wanted = masked(done.stderr), masked(wanted)
            assert got == wanted, f"got\n{got}wanted\n{wanted}"
            assert done.returncode == (1 if "error[" in wanted else 0), f"exit status {done.returncode}"
            assert not done.stdout, done.stdout
        yield Case(os.path.relpath(path, env.root), errors)

    def check_of_targets():
        folder = env.tmp()
        env.written("p.fcl", "fun sum n = if n == 0 then 0 else n + sum (n - 1)\n"
                             "kernel cpu (n : int) = if #IsCpu then sum n else n\n"
                             "kernel gpu (n : int) = if #HasWarps then sum n else n\n"
                             "kernel large (xs : [int]) = (concat 60000 (map (fn c => push <block> "
                             "(reverse (force (push <block> c)))) (splitUp 60000 xs)) : [int]<grid>)\n", folder)
        def kernels(*options, status=1):
            done = env.run(env.fclc, "check", "--diagnostics=json", *options, "p.fcl", cwd=folder)
            assert done.returncode == status, done.stderr
            got = json.loads(done.stderr)
            return sorted({one["code"] for one in got}), len(got)
        assert kernels() == (["E0301", "W011"], 2), kernels()
        assert kernels("--target=c") == (["E0301"], 1)
        assert kernels("--target=opencl", status=0) == (["W011"], 1)
        assert kernels("--target=cuda") == (["E0301", "W011"], 2)
        assert kernels("--types-only", status=0) == ([], 0)
        done = env.run(env.fclc, "check", "--target=interp", "p.fcl", cwd=folder)
        assert done.returncode == 2 and "compiles nothing" in done.stderr, done.stderr
        done = env.run(env.fclc, "check", "--target=c", "--map=simt", "p.fcl", cwd=folder)
        assert done.returncode == 2 and "--map=simt is not for --target=c" in done.stderr, done.stderr
        done = env.run(env.fclc, "--dump=ir", "--target=c", "--map=simt", "p.fcl", cwd=folder)
        assert done.returncode == 2 and "--map=simt is not for --target=c" in done.stderr, done.stderr
        done = env.run(env.fclc, "check", "--target=cuda", "--warp-size=64", "p.fcl", cwd=folder)
        assert done.returncode == 2 and "--warp-size=64 is not for --target=cuda" in done.stderr, done.stderr
    yield Case("check finds what compiling for a target finds", check_of_targets)

    def wrong_number_of_threads():
        path = env.written("p.fcl", "kernel next (x : int) = x + 1\n")
        for said, status in ("2", 0), ("0", 0), ("", 0), ("two", 3), ("2x", 3), ("-1", 3):
            done = env.run(env.fclc, "run", "--target=c", path, "next", "1", env={"FCL_THREADS": said})
            assert done.returncode == status, (said, done.stderr)
            assert (f"not `{said}`" in done.stderr) == (status == 3), (said, done.stderr)
    yield Case("FCL_THREADS must be a number", wrong_number_of_threads)

    def check_is_quick():
        def milliseconds(path):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            env.must(env.fclc, "check", path)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

        # Hosts are slower from time to time, and what waits for memory more than what does not: the longest example
        # takes 1.2 to 2.1 times as long as these squares, by host.
        def milliseconds_of_squares():
            before = time.process_time()
            sum(i * i for i in range(1000000))
            return 1e3 * (time.process_time() - before)
        squares = []
        for path in sorted(glob.glob(env.path("examples", "*", "*.fcl"))):
            taken, most = [], 50  # what else the machine does only ever adds
            while len(taken) < 10 and min(taken, default=most) >= most:
                taken.append(milliseconds(path))
                if min(taken) >= 50:
                    squares.append(milliseconds_of_squares())
                    most = max(50, 3 * min(squares))
            assert min(taken) < most, f"{path}: {min(taken):.0f} ms of processor time, at most {most:.0f}"
    if not env.sanitized:
        yield Case("check takes less than 50 ms for each example, or thrice a sum of squares", check_is_quick,
                   alone=True)

    def standard_input():
        program = "kernel next (xs : [int]) = push <grid> (map (fn x => x + 1) xs)\n"
        done = env.run(env.fclc, "run", "--target=interp", "-", "next", "[1,2]", input=program)
        assert (done.returncode, done.stdout) == (0, "[2,3]\n"), done.stdout + done.stderr
        done = env.run(env.fclc, "check", "-", input=program.replace("+ 1", "+ y"))
        assert done.returncode == 1 and done.stderr.startswith("<stdin>:1:"), done.stderr
    yield Case("a program from standard input", standard_input)

    def prelude_elsewhere():
        folder = env.tmp()
        for path, words in (("/nowhere", "`/nowhere`, as FCL_PRELUDE says"), (folder, "has no file of FCL")):
            done = env.run(env.fclc, "check", "-", input="fun f x = x\n", env={**os.environ, "FCL_PRELUDE": path})
            assert done.returncode == 2 and words in done.stderr, done.stderr
    yield Case("what FCL_PRELUDE says is no prelude", prelude_elsewhere)

    def every_warning():
        """Those that every command shows, too."""
        program = ("sig reversed : [int] -> [int]<grid>\nfun reversed xs = splitUp 100000 xs |> map (fn c =>\n"
                   "  push <block> (reverse (force (push <block> c)))) |> concat 100000\n"
                   "kernel k (xs : [int]) = reversed xs\n")
        for options, status, word in (([], 0, "warning"), (["-W", "error"], 1, "error")):
            done = env.run(env.fclc, "check", *options, "-", input=program)
            assert done.returncode == status and f"{word}[W011]" in done.stderr, done.stderr
    yield Case("-W error is for all warnings", every_warning)

    def always():
        program = "kernel k (xs : [int]) = push <grid> (map (> 0) xs)\n"
        done = env.run(env.fclc, "run", "--target=interp", "-", "k", "[1]", input=program)
        assert done.returncode == 0 and "warning[W008]" in done.stderr and "silences" not in done.stderr, done.stderr
        wrong = env.run(env.fclc, "check", "-", input=program + "kernel m (x : int) = y\n")
        assert wrong.returncode == 1 and "W008" in wrong.stderr and "E0201" in wrong.stderr, wrong.stderr
        silent = env.run(env.fclc, "check", "-W", "no-section", "-", input=program)
        assert (silent.returncode, silent.stderr) == (0, ""), silent.stderr
    yield Case("some warnings every command shows, beside errors, too, and -W silences them", always)

    def unproved():
        """What is left is listed, and what a condition or an earlier check tells is not."""
        program = ("kernel k (p : int) (xs : [int]) =\n  if p >= 0 && p < length xs then xs ! p else xs ! (p + 1)\n"
                   "kernel same = permute (fn i => i ^ 1) (push <grid> (generate 64 (fn i => i)))\n")
        done = env.run(env.fclc, "check", "-", input=program)
        assert done.returncode == 0 and "W012" not in done.stderr, done.stderr
        done = env.run(env.fclc, "check", "--unproved", "-", input=program)
        assert done.returncode == 0 and done.stderr.count("[W012]") == 1 and ":2:" in done.stderr, done.stderr
        assert "index a is out of range: the array has b elements" in done.stderr, done.stderr
        assert "b is from 0 to 2147483647" in done.stderr, done.stderr
        done = env.run(env.fclc, "check", "--unproved", "--diagnostics=json", "-W", "error", "-", input=program)
        assert done.returncode == 1, done.stderr
        assert [one["code"] for one in json.loads(done.stderr)] == ["W012"], done.stderr
        # The length of what is put together is the place's that puts it together, and no chunk's.
        whole = ("kernel k (n : int) (xs : [int]) = concat 64 (map (fn c => push <block> (while\n"
                 "  (fn b => length b > 5) (fn b => push <block> (take n b)) (push <block> c))) (splitUp 64 xs))\n")
        done = env.run(env.fclc, "--diagnostics=json", "check", "--unproved", "-", input=whole)
        lengths = [one for one in json.loads(done.stderr) if "the length is negative" in one["message"]]
        assert [(one["line"], one["column"]) for one in lengths] == [(1, 35)], lengths
        result = ("kernel k (n : int) (m : int) = (rows m\n"
                  "  (force (push <grid> (generate n (fn i => i)))))\n")
        done = env.run(env.fclc, "--diagnostics=json", "check", "--unproved", "-", input=result)
        products = [one for one in json.loads(done.stderr) if "a result of" in one["message"]]
        assert [(one["file"], one["line"], one["column"]) for one in products] == [("<stdin>", 1, 33)], products
    yield Case("check --unproved lists the checks that are left", unproved)

    def proved_of_prelude():
        """Of the indices of a scan, a stencil, a product and a search nothing is left to a run; of a loop that may go
        below 0 it is."""
        product = ('import "matrix"\nkernel k (a : [[float]]) (b : [[float]]) =\n'
                   "  matMul (length a) (length b) (columns b) (flatten a) (flatten b)\n")
        programs = (("cuda", 0, "kernel k (xs : [int]) = scan (+) 0 xs\n"),
                    ("cuda", 1, 'import "stencil"\nkernel k (rows : int) (cols : int) (xs : [int]) =\n'
                     "  stencil2 nearest 1 1 (fn at => at (-1) 0 + at 1 1) rows cols xs\n"),
                    ("cuda", 1, product), ("c", 1, product),
                    ("cuda", 0, "kernel k (xs : [int]) = push <grid> (map (findSeq (> 2)) (splitUp 8 xs))\n"),
                    ("cuda", 1, "kernel k (xs : [int]) = push <grid> (generate (length xs) (fn j =>\n"
                     "  loop (fn i => i < length xs && xs ! i > 0) (fn i => i - 1) j))\n"))
        for target, most, program in programs:  # that a matrix has all its elements is asked once
            done = env.run(env.fclc, "check", "--unproved", f"--target={target}", "-", input=program)
            assert done.returncode == 0, done.stderr
            assert done.stderr.count("index a is out of range") == most, done.stderr
    yield Case("check --unproved lists no index of a scan, a stencil, a product or a search", proved_of_prelude)

    def random_ranges():
        program = "kernel k (xs : [double]) = push <grid> xs\n"
        done = env.must(env.fclc, "run", "--target=interp", "-", "k", "random:9:1:-1e308:1e308", input=program)
        numbers = json.loads(done)
        assert len(set(numbers)) == 9 and min(numbers) < -1e307 and max(numbers) > 1e307, numbers
        for argument, words in (("random:3:1:-inf:inf", "the range -inf:inf has no end"),
                                ("random:3:1:2:1", "the range 2:1 is empty"),
                                ("iota:99999999999999999999", "99999999999999999999 elements are too many")):
            done = env.run(env.fclc, "run", "--target=interp", "-", "k", argument, input=program)
            assert done.returncode == 2 and words in done.stderr, done.stderr
    yield Case("ends of what is made up", random_ranges)

    def not_ahead():
        for output, words in (("k.hip", "HIP kernels are in the header"), ("k.fclir", "is the IR"),
                              ("k.html", "is a report"), ("k.cl", "OpenCL kernels are in the header")):
            done = env.run(env.fclc, "--ahead", env.path("examples/reduce/reduce.fcl"), "-o", output, cwd=env.tmp())
            assert done.returncode == 2 and words in done.stderr, done.stderr
        done = env.run(env.fclc, "-M", "examples/reduce/reduce.fcl", "-o", "-", "--target=c")
        assert done.returncode == 2 and "name a file" in done.stderr, done.stderr
    yield Case("options that an output has no use for", not_ahead)

    def devices():
        got = json.loads(env.must(env.fclc, "devices", "--json"))
        assert [one["index"] for one in got["devices"] if one["target"] == "c"] == [0], got
        assert all({"name", "kind", "memory_bytes"} <= one.keys() for one in got["devices"]), got
        got = json.loads(env.must(env.fclc, "devices", "--json", "--target=opencl", env={"FCL_LIBOPENCL": "/absent"}))
        assert not got["devices"] and "/absent" in got["absent"]["opencl"], got
        assert env.must(env.fclc, "devices", "--target=interp").startswith("interp:  ")
        listed = env.must(env.fclc, "devices", "--target=c").splitlines()
        assert listed and all(line.startswith(("c:", " ")) for line in listed), listed
    yield Case("the devices of one target", devices)

    def told_of_device():
        program = "kernel next (x : int) = x + 1\n"
        run = [env.fclc, "run", "-", "next", "1"]
        absent = {"FCL_LIBOPENCL": "/absent1", "FCL_LIBCUDA": "/absent2"}
        for variables, words in ((absent, ["it runs on c ("]),
                                 (dict(absent, FCL_CC="/absent3"),
                                  ["it runs on the reference interpreter, which is slow;", "/absent1", "/absent2",
                                   "/absent3"])):
            done = env.run(*run, input=program, env=variables)
            assert (done.returncode, done.stdout) == (0, "2\n"), done.stdout + done.stderr
            assert all(word in done.stderr for word in words) and done.stderr.count("\n") == 1, done.stderr
            assert ("/absent" in done.stderr) == ("FCL_CC" in variables), "`fclc devices` says why others were not"
            done = env.run(*run, "--diagnostics=json", input=program, env=variables)
            got = json.loads(done.stderr)
            assert [one["severity"] for one in got] == (["warning"] if "FCL_CC" in variables else []), done.stderr
        for target in ("c", "interp"):
            done = env.run(*run, "--target=" + target, input=program)
            assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", ""), done.stdout + done.stderr
        if not env.sanitized:
            done = env.run(*run, input=program, env=env.cudasim())
            assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", ""), done.stdout + done.stderr
        folder = env.tmp()
        for name in ("a.fcl", "b.fcl"):
            env.written(name, program + "-- test next 1 == 2\n", folder)
        done = env.run(env.fclc, "test", "a.fcl", "b.fcl", cwd=folder, env=absent)
        assert done.returncode == 0 and done.stderr.count("it runs on c (") == 1, done.stderr
    yield Case("run says which device it took when that is not the first choice", told_of_device)

    def timed_on_first():
        folder = env.tmp()
        env.written("p.fcl", "param extra : int = 0 in {0, 1}\nkernel next (x : int) = x + 1 + extra\n", folder)
        absent = {"FCL_LIBOPENCL": "/absent1", "FCL_LIBCUDA": "/absent2"}
        for command, words in ((["bench", "--runs=1"], "next on "), (["tune"], "written to p.tune")):
            for variables, status in ((absent, 0), (dict(absent, FCL_CC="/absent3"), 3)):
                done = env.run(env.fclc, *command, "p.fcl", "next", "1", cwd=folder, env=variables)
                assert done.returncode == status and (status == 0 or "/absent2" in done.stderr), done.stderr
                assert ("it runs on c (" in done.stderr and words in done.stdout) == (status == 0), done.stderr
            done = env.run(env.fclc, *command, "--target=cuda", "p.fcl", "next", "1", cwd=folder, env=absent)
            assert done.returncode == 3 and "target cuda is not available" in done.stderr, done.stderr
    yield Case("bench and tune take the first device that is there", timed_on_first)

    def json_of_many():
        folder = env.tmp()
        for name, text in (("a", "fun f x = y\n"), ("b", "fun f x = x\n"), ("c", "fun f x = z + w\n")):
            env.written(name + ".fcl", text, folder)
        done = env.run(env.fclc, "check", "--diagnostics=json", "a.fcl", "b.fcl", "c.fcl", cwd=folder)
        got = json.loads(done.stderr)
        assert done.returncode == 1 and [one["file"] for one in got] == ["a.fcl", "c.fcl", "c.fcl"], done.stderr
        done = env.run(env.fclc, "check", "--diagnostics=json", "b.fcl", cwd=folder)
        assert done.returncode == 0 and json.loads(done.stderr) == [], done.stderr
    yield Case("the diagnostics of several files are one JSON array", json_of_many)

    def types_of_imports():
        folder = env.tmp()
        for name, text in (("base", "fun inc x = x + 1\nfun id x = (x, x)\n"),
                           ("top", 'import "base.fcl"\nimport "matrix"\nkernel last (x : int) = inc x\n')):
            env.written(name + ".fcl", text, folder)
        done = env.run(env.fclc, "types", "top.fcl", "inc", "id", "last", "flip", "outer", "length", "(+)", "&&",
                       cwd=folder)
        assert (done.returncode, done.stdout) == (0, (
            "inc : num a => a -> a\nid : a -> (a, a)\nlast : int -> int\nflip : (a -> b -> c) -> b -> a -> c\n"
            "outer : num a => [a] -> [a] -> [a]<grid>\nlength : [a] -> int\n"
            "(+) : num a => a -> a -> a\n&& : bool -> bool -> bool\n")), done.stdout + done.stderr
    yield Case("types finds names that are imported, as the end of the file does", types_of_imports)

    def tuples_in_files():
        folder = env.tmp()
        env.written("a.fcl",
            "kernel make (n : int) = (n, generate n (fn i => (i, (2.0, i > 0))))\n"
            "kernel use (t : (int, [(int, (double, bool))])) = let (n, xs) = t in (map fst xs, map (fn (_, "
            "(d, b)) => b) xs, n)\n"
            "-- test make 2 == @x.npy\n-- test use @x.npy == ([0, 1], [false, true], 2)\n", folder)
        interp = (env.fclc, "run", "--target=interp", "a.fcl")
        env.must(*interp, "make", "2", "-o", "x.npy", cwd=folder)
        env.must(env.fclc, "test", "--target=interp", "a.fcl", cwd=folder)
        assert env.must(*interp, "use", "(7,[(3,(1,true))])", cwd=folder) == "[3]\n[true]\n7\n"
        # An array of tuples is one structured array.
        assert sorted(os.listdir(folder)) == ["a.fcl", "x.0.npy", "x.1.npy"], os.listdir(folder)
        done = env.run(*interp, "use", "@z.npy", cwd=folder)
        assert done.returncode == 2 and "z.0.npy" in done.stderr and "has a file" in done.stderr, done.stderr
    yield Case("tuples are written to .npy files and read from them", tuples_in_files)

    def shapes_in_files():
        """What a kernel gives has its shape in the file, on each executor, and is read back."""
        folder = env.tmp()
        env.written("a.fcl", "kernel make (p : int) (r : int) (c : int) =\n"
                             "  generate p (fn k => generate r (fn i => generate c (fn j => 100 * k + 10 * i + j)))\n"
                             "kernel plane (v : [[[int]]]) = (v ! 0, map (map reverse) v)\n", folder)
        for target in ("--target=interp", "--target=c", "--target=opencl"):
            run = (env.fclc, "run", target, "a.fcl")
            for shape in ("2 2 3", "1 1 1", "0 2 3", "2 0 3", "2 3 0"):
                env.must(*run, "make", *shape.split(), "-o", "x.npy", cwd=folder)
                with open(os.path.join(folder, "x.npy"), "rb") as file:
                    data = file.read()
                assert f"'shape': ({shape.replace(' ', ', ')})".encode() in data and len(data) % 64 == (
                    4 * eval(shape.replace(" ", "*"))) % 64, data
            env.must(*run, "make", "2", "2", "3", "-o", "x.npy", cwd=folder)
            printed = env.must(*run, "plane", "@x.npy", cwd=folder)
            assert printed == ("[[0,1,2],[10,11,12]]\n"
                               "[[[2,1,0],[12,11,10]],[[102,101,100],[112,111,110]]]\n"), printed
            env.must(*run, "plane", "@x.npy", "-o", "y.npy", cwd=folder)
            with open(os.path.join(folder, "y.0.npy"), "rb") as file:
                assert b"'shape': (2, 3)" in file.read()
            done = env.run(*run, "plane", "[[1]]", cwd=folder)
            assert done.returncode == 2 and "for a value of type [int]" in done.stderr, done.stderr
    yield Case("shapes are written to .npy files and read from them", shapes_in_files)

    def narrow_choices():
        path = env.written("choices.fcl", "param scale : bf16 = 0.1 in {0.1, 0.5}\nkernel k (x : bf16) = x * scale\n")
        assert env.must(env.fclc, "run", "--target=interp", "-D", "scale=0.5", path, "k", "3") == "1.5\n"
        done = env.run(env.fclc, "run", "--target=interp", "-D", "scale=0.25", path, "k", "3")
        assert done.returncode and "not among the choices {0.1, 0.5}" in done.stderr, done.stderr
    yield Case("choices of a param are shown as they were written", narrow_choices)

    def absent_target():
        program = env.written("p.fcl", "kernel next (x : int) = x + 1\n-- test next 1 == 2\n")
        absent = {"FCL_LIBOPENCL": "/nonexistent"}
        one = env.run(env.fclc, "test", "--target=opencl", program, env=absent)
        every = env.run(env.fclc, "test", "--all-targets", program, env=absent)
        assert one.returncode == 3 and one.stdout.endswith("0 passed, 0 failed, 1 skipped\n"), one.stdout + one.stderr
        assert every.returncode == 0 and "skipped on opencl" in every.stdout, every.stdout + every.stderr
    yield Case("test on a target that is not there is no success, and of all targets it is left out", absent_target)

    def bench_of_programs():
        folder = env.tmp()
        env.written("p.fcl",
            "kernel first (xs : [int]) = xs ! 0\n"
            "kernel each (n : int) (xs : [int]) = power n (fn _ ys => push <grid> (map (fn y => y + 1) ys)) "
            "(push <grid> xs)\n", folder)
        bench = [env.fclc, "bench", "--target=c", "p.fcl"]
        done = env.run(*bench, "first", "[]", cwd=folder)
        assert done.returncode == 1 and "p.fcl:1:29: error[E0501]" in done.stderr, f"{done.returncode}: {done.stderr}"
        lines = env.must(*bench, "each", "20", "[1,2,3]", cwd=folder).splitlines()
        assert [line for line in lines if line.endswith(" ms in 20 launches")], lines
        answer = json.loads(env.must(*bench, "--json", "each", "20", "[1,2,3]", cwd=folder))
        kernels = {kernel["kernel"]: kernel["launches"] for kernel in answer["launches"]}
        assert 20 in kernels.values() and len(kernels) == len(answer["launches"]), answer
    yield Case("bench has a line for each device kernel, and says where a program is wrong", bench_of_programs)

    def baseline():
        folder = env.tmp()
        env.written("p.fcl", "kernel next (xs : [int]) = push <grid> (map (fn x => x + 1) xs)\n"
                             "kernel same (xs : [int]) = push <grid> xs\n", folder)
        bench = [env.fclc, "bench", "--target=c", "p.fcl", "next", "iota:1000"]
        answer = json.loads(env.must(*bench, "--json", "--runs=7", "--save=b.json", cwd=folder))
        with open(os.path.join(folder, "b.json"), encoding="utf-8") as file:
            saved = json.load(file)
        assert saved == answer and saved["runs"] == 7 and saved["arguments"] == "iota:1000", saved
        assert 0 < saved["min_s"] <= saved["lower_s"] <= saved["median_s"] <= saved["upper_s"], saved
        assert saved["min_s"] <= saved["mean_s"] < 1, saved

        def compared(*options, status, **members):
            with open(os.path.join(folder, "b.json"), "w", encoding="utf-8") as file:
                json.dump(dict(saved, **members), file)
            done = env.run(*bench, "--runs=7", "--baseline=b.json", *options, cwd=folder)
            assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
            return done
        done = compared(status=1, median_s=1e-9, lower_s=1e-9, upper_s=1e-9)
        assert "as long as the 0.000001 ms of b.json: slower\n" in done.stdout and not done.stderr, (
            done.stdout + done.stderr
        )
        done = compared(status=0, median_s=1e3, lower_s=1e3, upper_s=1e3)
        assert "of b.json: faster\n" in done.stdout and not done.stderr, done.stdout + done.stderr
        done = compared("--json", status=0, median_s=1, lower_s=1e-12, upper_s=1e3)
        assert json.loads(done.stdout)["baseline"]["verdict"] == "same", done.stdout
        assert " %, is within the noise, as the middle halves" in done.stderr, done.stderr
        assert "measured with device `another`, not" in compared(status=2, device="another").stderr
        assert "measured with kernel `same`, not `next`" in compared(status=2, kernel="same").stderr
        assert "measured with arguments `iota:999`, not" in compared(status=2, arguments="iota:999").stderr
        assert "is not what `fclc bench --save` writes" in compared(status=2, median_s="1").stderr
        env.written("b.json", '{\n"median_s": 1,,\n}', folder)
        done = env.run(*bench, "--baseline=b.json", cwd=folder)
        assert done.returncode == 2 and "b.json: line 2 is no JSON" in done.stderr, done.stderr
        done = env.run(*bench, "--baseline=absent.json", cwd=folder)
        assert done.returncode == 2 and "absent.json" in done.stderr, done.stderr
        done = env.run(*bench, "--runs=3", "--time=1", cwd=folder)
        assert done.returncode == 2 and "give one of them" in done.stderr, done.stderr
        for seconds, least in (("0.000001", 11), ("0.5", 102)):  # without it there are 101 at most
            runs = json.loads(env.must(*bench, "--json", "--time=" + seconds, cwd=folder))["runs"]
            assert runs == least if least == 11 else runs >= least, (seconds, runs)
    yield Case("bench compares with a baseline", baseline)

    def no_events():
        folder = env.tmp()
        env.written("p.fcl", "kernel next (xs : [int]) = push <grid> (map (fn x => x + 1) xs)\n", folder)
        bench = [env.fclc, "bench", "--target=cuda", "--json", "--runs=11", "p.fcl", "next", "iota:10"]
        answer = json.loads(env.must(*bench, cwd=folder, env=env.cudasim(CUDASIM_EVENT_MS="40")))
        assert answer["min_s"] < 0.04 <= answer["launches"][0]["median_s"], answer
    yield Case("bench times no events", no_events)

    def settings_of_files():
        folder = env.tmp()
        for name, text in (("with", "param zq : int = 3\nkernel k (x : int) = x + zq\n-- test k 1 == 2\n"),
                           ("without", "kernel k (x : int) = x\n-- test k 1 == 1\n")):
            env.written(name + ".fcl", text, folder)
        test = [env.fclc, "test", "--target=interp"]
        for files in (["with.fcl", "without.fcl"], ["without.fcl", "with.fcl"]):
            done = env.run(*test, "-D", "zq=1", *files, cwd=folder)
            assert (done.returncode, done.stdout) == (0, "2 passed, 0 failed, 0 skipped\n"), done.stdout + done.stderr
            done = env.run(*test, "-D", "zp=1", *files, cwd=folder)
            assert done.returncode == 2 and "-D zp: there is no such param" in done.stderr, done.stdout + done.stderr
    yield Case("a -D is for those of several files that have the param, and one has to", settings_of_files)

    def json_of_command_lines():
        folder = env.tmp()
        env.written("p.fcl", "kernel next (x : int) = x + 1\n", folder)
        run = ["run", "--target=interp", "p.fcl"]
        for command, wanted in (
                (["check", "nosuch.fcl", "p.fcl"], "nosuch.fcl"), (["check"], "something is missing"),
                (["check", "--bogus", "p.fcl"], "--bogus"), (["run", "p.fcl"], "kernel is missing"),
                (["chek", "p.fcl"], "`check`"), (["p.fcl"], "output"),
                (["p.fcl", "-o", "nosuch/p.c"], "nosuch/p.c"), ([*run, "nxt", "1"], "`next`"),
                ([*run, "next"], "1 argument"),
                ([*run, "next", "1.5"], "1.5"), ([*run, "next", "1", "-D", "q=1"], "-D q"),
                (["run", "--target=interp", "--map=loup", "p.fcl", "next", "1"], "`loop`"),
                (["types", "p.fcl", "nxt"], "`nxt`"), (["bench", "--target=interp", "p.fcl", "next", "1"], "interp")):
            plain = env.run(env.fclc, *command, cwd=folder)
            done = env.run(env.fclc, *command, "--diagnostics=json", cwd=folder)
            got = json.loads(done.stderr)
            assert (
                plain.returncode == done.returncode == 2
            ), f"{command}: exit status {plain.returncode}, {done.returncode}"
            assert plain.stderr.startswith("fclc: "), plain.stderr
            assert [(one["severity"], one["code"]) for one in got] == [("error", "E0525")], done.stderr
            assert wanted in got[0]["message"] and "file" not in got[0], done.stderr
            assert got[0].keys() == {"severity", "code", "title", "message", "notes", "hints"}, done.stderr
    yield Case("what is wrong with the command line is in the JSON array", json_of_command_lines)

    def own_source():
        folder = env.tmp()
        text = "kernel k (x : int) = x\n"
        for name in ("a.fcl", "a.h"):
            env.written(name, text, folder)
        for source, out in (("a.fcl", "a.fcl"), ("a.fcl", "./a.fcl"), ("a.h", "a.c")):
            done = env.run(env.fclc, source, "--target=c", "-o", out, cwd=folder)
            assert done.returncode == 2 and "would write over the source" in done.stderr, done.stderr
            with open(os.path.join(folder, source), encoding="utf-8") as file:
                assert file.read() == text
        env.written("b.inc", text, folder)
        env.written("c.fcl", 'import "b.inc"\n' + text + "-- test k 1 == 1\n", folder)
        env.written("e.d", text, folder)
        for words in (["e.d", "-o", "e.c", "-M"], ["e.d", "-o", "e.py", "-M"],
                      ["c.fcl", "--target=c", "-o", "b.inc"],
                      ["report", "a.fcl", "-o", "a.fcl"], ["report", "c.fcl", "-o", "b.inc"],
                      ["report", "a.fcl", "-o", "other.fcl"],
                      ["--dump=tokens", "a.h", "-o", "a.h"], ["--dump=ir", "c.fcl", "-o", "b.inc"],
                      ["--dump=ast", "a.fcl", "-o", "a.fcl"], ["c.fcl", "-o", "a.fcl", "--target=cuda"],
                      ["bench", "--target=c", "--runs=1", "c.fcl", "k", "1", "--save", "a.fcl"],
                      ["bench", "--target=c", "--runs=1", "c.fcl", "k", "1", "--save", "b.inc"],
                      ["tune", "--target=c", "c.fcl", "k", "1", "--tuning=other.fcl"],
                      ["run", "--target=interp", "c.fcl", "k", "1", "-o", "a.fcl"], ["doc", "c.fcl", "-o", "a.fcl"],
                      ["test", "--target=interp", "--junit", "a.fcl", "c.fcl"],
                      ["test", "--target=interp", "--junit=b.inc", "a.fcl", "c.fcl"]):
            before = {name: env.must("cat", name, cwd=folder) for name in sorted(os.listdir(folder))}
            done = env.run(env.fclc, *words, cwd=folder)
            assert done.returncode == 2 and "would write over the source" in done.stderr, f"{words}: {done.stderr}"
            after = {name: env.must("cat", name, cwd=folder) for name in sorted(os.listdir(folder))}
            assert before == after, (words, after)
        done = env.run(env.fclc, "a.fcl", "-o", "fcl.c", cwd=folder)
        assert done.returncode == 2 and "fcl.h is the runtime's header" in done.stderr, done.stderr
        assert not os.path.exists(os.path.join(folder, "fcl.c"))
    yield Case("no output is written over a source, or called as the runtime's header", own_source)

    def one_of_two():
        folder = env.tmp()
        env.written("p.fcl", "kernel k (x : int) = x\n", folder)
        for words in (["run", "--check", "--no-check", "p.fcl", "k", "1"],
                      ["run", "--no-check", "p.fcl", "k", "1", "--check"],
                      ["run", "--check=none", "p.fcl", "k", "1", "--check=all"],
                      ["test", "--check=none", "--check", "p.fcl"],
                      ["test", "--all-targets", "--target=c", "p.fcl"],
                      ["test", "--target=c", "--all-targets", "p.fcl"]):
            done = env.run(env.fclc, *words, cwd=folder)
            assert done.returncode == 2 and "give one of them" in done.stderr and not done.stdout, f"{words}: {done}"
    yield Case("of two options that contradict each other neither is taken", one_of_two)

    def how_much():
        """--check=all is --check, --check=none is --no-check, and --check=memory is what code is made with."""
        folder = env.tmp()
        env.written("p.fcl", "kernel k (i : int) (xs : [int]) = generate 1 (fn _ => xs ! i)\n", folder)
        made = {}
        for words in ([], ["--check"], ["--check=all"], ["--check=memory"], ["--check=none"], ["--no-check"]):
            made[" ".join(words)] = env.must(env.fclc, *words, "p.fcl", "-o", "-", "--target=c", cwd=folder)
        assert made["--check=all"] == made["--check"] != made["--check=none"], made
        assert made["--check=none"] == made["--no-check"], made
        assert made["--check=memory"] == made[""] not in (made["--check"], made["--no-check"]), made
        assert "--check=memory" in made["--check=memory"].splitlines()[0], made["--check=memory"]
        done = env.run(env.fclc, "run", "--target=c", "--check=all", "p.fcl", "k", "2", "[1,2]", cwd=folder)
        assert done.returncode == 1 and "out of" in done.stderr, done.stderr
        got = env.must(env.fclc, "run", "--target=c", "--check=none", "p.fcl", "k", "1", "[1,2]", cwd=folder)
        assert got == "[2]\n", got
        for value in ("memor", "", "al"):
            done = env.run(env.fclc, "run", f"--check={value}", "p.fcl", "k", "0", "[1,2]", cwd=folder)
            assert done.returncode == 2, done.stderr
            assert f"--check cannot be `{value}` (none, memory, all)" in done.stderr, done.stderr
    yield Case("how much is checked may stand behind --check", how_much)

    def read_twice():
        folder, run = env.tmp(), [env.fclc, "run", "--target=interp"]
        program = "kernel k (xs : [int]) (ys : [int]) = zipWith (+) xs ys\n"
        env.written("p.fcl", program, folder)
        env.must(*run, "p.fcl", "k", "[1]", "[2]", "-o", "x.npy", cwd=folder)
        with open(os.path.join(folder, "x.npy"), "rb") as file:
            array = file.read()
        done = env.run(*run, "p.fcl", "k", "@-", "[2]", cwd=folder, input=array, text=False)
        assert (done.returncode, done.stdout) == (0, b"[5]\n"), done.stderr
        for words, text in ((["-", "k", "@-", "[2]"], program.encode()), (["p.fcl", "k", "@-", "@-"], array)):
            done = env.run(*run, *words, cwd=folder, input=text, text=False)
            assert done.returncode == 2 and b"standard input was read before" in done.stderr, done.stderr
        done = env.run(env.fclc, "check", "-", "-", input=program)
        assert done.returncode == 2 and "-: standard input was read before" in done.stderr, done.stderr
    yield Case("standard input is read once", read_twice)

    def all_or_none():
        folder = env.tmp()
        env.written("p.fcl", "kernel k (x : int) = (x, x)\n", folder)
        os.mkdir(os.path.join(folder, "w.h"))
        os.mkdir(os.path.join(folder, "v.d"))
        os.mkdir(os.path.join(folder, "r.1.npy"))
        for words, name in (((), "w.h"), (("-M",), "v.d")):
            done = env.run(env.fclc, "p.fcl", "-o", name[0] + ".c", *words, cwd=folder)
            assert done.returncode == 2 and f"{name} cannot be written: Is a directory" in done.stderr, done.stderr
        done = env.run(env.fclc, "run", "--target=interp", "p.fcl", "k", "1", "-o", "r.npy", cwd=folder)
        assert done.returncode == 2 and "r.1.npy cannot be written: Is a directory" in done.stderr, done.stderr
        assert sorted(os.listdir(folder)) == ["p.fcl", "r.1.npy", "v.d", "w.h"], os.listdir(folder)
        os.mkdir(os.path.join(folder, "there"))
        for name in ("there/x.c", "dangling.c"):
            os.symlink(name, os.path.join(folder, "link.c"))
            for _ in range(2):
                env.must(env.fclc, "p.fcl", "-o", "link.c", cwd=folder)
                assert os.readlink(os.path.join(folder, "link.c")) == name
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                assert file.read().startswith("/* Generated by fclc ")
            os.remove(os.path.join(folder, "link.c"))
        assert sorted(os.listdir(folder)) == ["dangling.c", "link.h", "p.fcl", "r.1.npy", "there", "v.d", "w.h"]
        assert os.listdir(os.path.join(folder, "there")) == ["x.c"]
    yield Case("of an output and its header both are written or none, and a link stays", all_or_none)

    def header_of_another_target():
        folder = env.tmp()
        env.written("p.fcl", "kernel k (x : int) = x\n", folder)
        for out, wanted in (("a.cu", ""), ("a.cu", ""), ("b.c", ""),
                            ("a.cl", "fclc: a.h was for CUDA and is now for OpenCL: "
                                     "give the output of each target a name of its own\n")):
            done = env.run(env.fclc, "p.fcl", "-o", out, cwd=folder)
            assert (done.returncode, done.stderr) == (0, wanted), done.stderr
    yield Case("a header for another target is not written over without a word", header_of_another_target)

    def arguments():
        folder = env.tmp()
        program = ("kernel v (xs : [int]) = push <grid> xs\nkernel m (xs : [[int]]) = length xs\n"
                   "kernel get (i : int) (xs : [int]) = xs ! i\nkernel b (text : [u8]) = text\n"
                   "type p = { x : int, y : int }\nkernel r (n : int) (a : p) = a.x + n\n")
        env.written("p.fcl", program, folder)
        env.written("numbers", "1\n", folder)
        for given, wanted in ((["v", "[1,", "2,", "3]"], "quoted for the shell: '[1, 2, 3]'"),
                              (["get", "1", "[1,", "2]"], "quoted for the shell: '[1, 2]'"),
                              (["r", "1", "{x=1,", "y=2}"], "quoted for the shell: '{x=1, y=2}'"),
                              (["r", "1", "x=1", "y=2"], "quoted for the shell: '{x=…}'"),
                              (["r", "1", "{x=1}"], "the field `y` is missing, in a value of type p"),
                              (["r", "1", "{y = 2, x = 1}"], "the field `x` is wanted here, not `y`, in a value of"),
                              (["get", "iota:3", "[1]"], "`iota:3` makes an array, and a value of type int is wanted"),
                              (["v", "ok.csv"], "a file is given as @ok.csv"),
                              (["v", "numbers"], "a file is given as @numbers"),
                              (["b", "hello"], "quoted: '\"hello\"'"),
                              (["b", "numbers"], "a file is given as @numbers"),
                              (["v", "@numbers"], "the bytes of others are of type [u8]"),
                              (["b", "@absent"], "cannot read absent"),
                              (["v", "iota"], "iota:N, fill:N:VALUE and random:N:SEED"),
                              (["v", "range:3"], "made-up ones are"),
                              (["v", "iota:"], "a whole number, as in iota:1000"),
                              (["v", "iota:1e3"], "`1e3` is no size"),
                              (["m", "iota:4"], "ROWSxCOLUMNS, as in iota:2x3"), (["m", "iota:2,3"], "ROWSxCOLUMNS")):
            done = env.run(env.fclc, "run", "--target=interp", "p.fcl", *given, cwd=folder)
            assert done.returncode == 2 and wanted in done.stderr, f"{given}: {done.stderr}"
        assert env.must(env.fclc, "run", "--target=interp", "p.fcl", "b", "@numbers", cwd=folder) == "[49,10]\n"
        assert env.must(env.fclc, "run", "--target=interp", "p.fcl", "b", "@/dev/null", cwd=folder) == "[]\n"
    yield Case("arguments that are nearly right", arguments)

    def nothing_to_run():
        path, out = os.path.join(env.tmp(), "none.fcl"), os.path.join(env.tmp(), "none.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write("fun double x = x + x\n")
        done = env.run(env.fclc, path, "-o", out)
        assert done.returncode == 0 and "has no kernels" in done.stderr and os.path.exists(out), done.stderr
        done = env.run(env.fclc, "--target=interp", path, "-o", out)
        assert done.returncode == 2 and "interp runs programs, and compiles to no file" in done.stderr, done.stderr
    yield Case("a file without kernels, and a target that is not compiled for", nothing_to_run)

    def copies(program, wanted):
        path = env.path("tests", "run", "prelude", program)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()

        def kernel_at(number):
            return next(line for line in reversed(lines[:number]) if line.startswith("kernel ")).split()[1]
        done = env.run(env.fclc, "check", path)
        assert done.returncode == 0, done.stderr
        found = re.findall(r":(\d+):\d+: warning\[W003\]: .*, as (what|its pairs|it|the)", done.stdout + done.stderr)
        got = [(kernel_at(int(number)), why) for number, why in found]
        assert got == wanted, got
    for program, wanted in (
            ("updates.fcl", [("used", "what"), ("both_results", "what"), ("handed_on", "what"), ("sometimes", "it"),
                             ("least", "the"), ("branch_reads_later", "what"), ("branch_of_other", "it"),
                             ("branch_of_other", "it")]),
            ("updates_below_grid.fcl", [("twoOfOne", "what"), ("sameTwice", "what"), ("pairs", "the"),
                                        ("threads", "what"), ("threads", "what"), ("kept", "what"), ("chosen", "it"),
                                        ("twice", "it"),
                                        ("twice", "it"), ("many", "its pairs"), ("bytes", "it"), ("late", "it")])):
        yield Case(f"which updates copy, and why; the others do not: {program}",
                   lambda program=program, wanted=wanted: copies(program, wanted))

    def broken_directive():
        program = ("kernel k (x : int) = x\n-- test k 1 == 1\n-- test that it works\n-- test k 2 == 2\n")
        path = env.written("p.fcl", program)
        done = env.run(env.fclc, "test", "--target=interp", path)
        assert done.returncode == 1 and done.stdout == "2 passed, 1 failed, 0 skipped\n", done.stdout + done.stderr
    yield Case("a directive that cannot be read does not hide the others", broken_directive)

    def nearly_directives():
        nearly = ["--test k 1 == 1", "-- Test k 1 == 1", "-- tests k 1 == 1", "-- test: k 1 ~= 1",
                  "-- tset k 1 == 1", "val c = 1 -- test k 1 == 1"]
        others = ["-- test k 1 == 1", "(* --test k 1 == 1 *)", "-- Test k with care", "-- tests that 1 == 1 holds",
                  "-- then k 1 == 1"]
        path = os.path.join(env.tmp(), "p.fcl")

        def errors_of(lines):
            with open(path, "w", encoding="utf-8") as file:
                file.write("kernel k (x : int) = x\n" + "".join(line + "\n" for line in lines))
            done = env.run(env.fclc, "test", "--target=interp", path)
            return done, done.stderr
        done, said = errors_of(nearly + others)
        assert done.returncode == 0 and done.stdout == "1 passed, 0 failed, 0 skipped\n", done.stdout
        assert said.count("warning[E0524]") == len(nearly) and said.count("on a line of its own") == 1, said
        done, said = errors_of(["-- test k 1==1", "-- test k 1 = 1", "-- test k (1 == 1"])
        assert (
            done.returncode == 1
            and "needs blanks" in said
            and "it is written `==`" in said
            and "`(` is not closed" in said
        ), said
        done, said = errors_of([])
        assert (done.returncode, said) == (0, f"fclc: {path} has no test directives\n"), said
    yield Case("what is nearly a directive", nearly_directives)

    def threads_on_a_cpu():
        require(env, "opencl-simt")
        path = env.path("tests", "support", "probe.fcl")
        word = "fclc: --map=simt is for GPUs, and slow on a CPU"

        def said(*command, **variables):
            done = env.run(env.fclc, *command, env=variables)
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stderr.count(word)
        asked, probe = ["--target=opencl", "--map=simt"], [path, "probe", "1"]
        devices = env.run(env.fclc, "devices", "--target=opencl").stdout
        on_cpu = devices.startswith("opencl-cpu")
        tests = env.path("tests", "run", "language", "growing_steps.fcl")
        for command in (["run", *asked, *probe], ["bench", *asked, *probe], ["test", *asked, tests, tests]):
            assert said(*command) == on_cpu, command
        assert said("run", "--target=opencl", "--map=loop", *probe) == 0
        assert said("run", "--target=opencl", *probe) == 0
        assert said(*asked, path, "-o", os.path.join(env.tmp(), "out.cl")) == 0
        simulator = env.cudasim()
        assert said("run", "--target=cuda", "--map=simt", *probe, **simulator) == 0
    yield Case("--map=simt on a CPU says what to use, once", threads_on_a_cpu)

    def own_param():
        # the prelude has one, too
        program = "param work : int = 3\nkernel k (xs : [int]) = push <grid> (map (+ work) xs)\n"
        done = env.run(env.fclc, "run", "--target=interp", "-D", "work=100", "-", "k", "[1]", input=program)
        assert (done.returncode, done.stdout) == (0, "[101]\n"), done.stdout + done.stderr
    yield Case("-D sets the param of the file, not one of its name elsewhere", own_param)

    def float_params():
        program = "param f : float = 1.0\nkernel k (x : float) = (bitsOfFloat (f + x), f)\n"
        for text, shown in (("1.00000005960464477539062500001", "(1065353217,1.0000001)"),
                            ("-1.00000005960464477539062500001", "(3212836865,-1.0000001)"),
                            ("1e-40", "(71362,1e-40)"), ("-inf", "(4286578688,-inf)")):
            got = env.must(env.fclc, "run", "--target=interp", "-D", "f=" + text, "-", "k", "0", input=program)
            assert got == shown + "\n", (text, got)
        for text in ("1e50", "-1e50", "1e5x", "x"):
            done = env.run(env.fclc, "run", "--target=interp", "-D", "f=" + text, "-", "k", "0", input=program)
            assert f"`{text}` is not a value of type `float`" in done.stderr and done.returncode == 2, done.stderr
        done = env.run(env.fclc, "run", "--target=interp", "-D", "f=1i8", "-", "k", "0", input=program)
        assert "the number has no suffix here" in done.stderr, done.stderr
    yield Case("-D of a float is rounded once, and within its range", float_params)

    def dependencies():
        folder = env.tmp()
        for name, text in (("mine", "fun twice x = x + x\n"),
                           ("a", 'import "mine"\nimport "stencil"\nkernel k (x : int) = twice x\n')):
            env.written(name + ".fcl", text, folder)
        def rules(path):
            with open(os.path.join(folder, path), encoding="utf-8") as file:
                return [(line.split(":")[0], line.split(":")[1].split()) for line in file]
        env.must(env.fclc, "a.fcl", "-o", "a.cu", "-M", cwd=folder)
        (target, needs), (header, same), *others = rules("a.d")
        assert (target, header, same) == ("a.cu", "a.h", needs) and {"a.fcl", "mine.fcl"} <= set(needs), (target, needs)
        missing = [path for path in needs if not os.path.exists(os.path.join(folder, path))]
        assert not missing, f"no such files: {missing}"
        assert {os.path.basename(path) for path in needs} > {"stencil.fcl", "pull.fcl"}, needs
        assert others == [(path, []) for path in needs], "an import that goes away stops make"
        env.must(env.fclc, "-", "-o", "b.c", "-M", cwd=folder, input="kernel k (x : int) = x\n")
        assert all(os.path.isabs(path) for path in rules("b.d")[0][1]), "standard input is no file"
        env.written("a $b#.fcl", "kernel k (x : int) = x\n", folder)
        env.must(env.fclc, "a $b#.fcl", "-o", "c.c", "-M", cwd=folder)
        env.written("c.mk", "include c.d\nc.c:\n\tfalse\n", folder)
        assert env.run("make", "-q", "-f", "c.mk", "c.c", cwd=folder).returncode == 0, "out of date, or no rule"
        os.utime(os.path.join(folder, "c.c"), (1, 1))
        assert env.run("make", "-q", "-f", "c.mk", "c.c", cwd=folder).returncode == 1, "its source is not seen"
        env.written("d.h", "int mine;\n", folder)
        done = env.run(env.fclc, "a.fcl", "-o", "d.c", cwd=folder)
        assert (
            done.returncode == 2 and "d.h" in done.stderr and not os.path.exists(os.path.join(folder, "d.c"))
        ), done.stderr
    yield Case("-M names the files that were read", dependencies)

    def similar_names():
        for name, meant in (("stencl", "stencil"), ("mat", "matrix")):
            done = env.run(env.fclc, "check", "-", input=f'import "{name}"\nkernel k (x : int) = x\n')
            assert done.returncode == 1 and f"did you mean `{meant}`?" in done.stderr, done.stderr
        for words, meant in ((["compile", "k.fcl"], "fclc FILE.fcl -o OUT.cu"),
                             (["build", "k.fcl"], "fclc FILE.fcl -o OUT.cu"),
                             (["version"], "fclc --version"), (["-V"], "fclc --version")):
            done = env.run(env.fclc, *words)
            assert done.returncode == 2 and meant in done.stderr, done.stderr
        path = env.written("a.fcl", "-- test turned 1 == 1\nkernel turn (x : int) = x\n")
        done = env.run(env.fclc, "test", "--target=interp", path)
        assert done.returncode == 1 and "did you mean `turn`?" in done.stdout + done.stderr, done.stdout + done.stderr
    yield Case("a library's or a kernel's name misspelt", similar_names)

    def warnings_as_errors():
        text = ("kernel k (unused : int) (xs : [int]) =\n  let a = force (push <grid> (map (fn x => x + 1) xs))\n"
                "  in push <grid> (map (fn x => x * 2) a)\n")
        for words, status, kind in ((["-W", "error"], 1, "error"), ([], 0, "warning")):
            done = env.run(env.fclc, "check", *words, "-", input=text)
            assert done.returncode == status, done.stderr
            assert f"{kind}[W001]" in done.stderr and f"{kind}[W004]" in done.stderr, done.stderr
            folder = env.tmp()
            done = env.run(env.fclc, *words, "-", "-o", os.path.join(folder, "k.c"), input=text.replace("unused", "_"))
            assert done.returncode == status and f"{kind}[W004]" in done.stderr, done.stderr
            assert sorted(os.listdir(folder)) == ([] if status else ["k.c", "k.h"]), os.listdir(folder)
    yield Case("warnings that are errors hide no others", warnings_as_errors)

    def unused_levels():
        """A level that nothing names; `_` before it, or a sig whose result has it, says that it is meant."""
        for text, wanted in (("fun f <l> xs = map (+ 1) xs\n", [8]), ("fun f <_l> xs = map (+ 1) xs\n", []),
                             ("fun f <l, m> xs = push <l> xs\n", [11]), ("fun f <l> (xs : [int]<l>) = xs\n", []),
                             ("val f = fn <l> => 7\n", [13]), ("fun f x = let g <l> y = y + x in g <block> x\n", [18]),
                             ("sig f : <l> -> [a]<l> -> [a]<l>\nfun f <l> xs = xs\n", []),
                             ("sig f : <l> -> [a]<l> -> [a]<l>\nfun f xs = xs\n", []),
                             ("sig f : <l> -> <m> -> ([a]<l>, int) -> int\nfun f <l> <m> (_xs, n) = n\n", [12])):
            done = env.run(env.fclc, "--diagnostics=json", "check", "-", input=text)
            said = json.loads(done.stderr or "[]")
            assert done.returncode == 0 and all(d["code"] == "W001" for d in said), (text, said)
            assert [d["column"] for d in said] == wanted, (text, said)
    yield Case("a level that nothing names", unused_levels)

    def stored_for_nothing():
        """In whole chunks and in the last one, which may be shorter."""
        for chunk, wanted in (("push <block> (map (+ 1) a)", 1), ("push <block> (zipWith (+) a (reverse a))", 0),
                              ("push <block> (if length c == 32 then map (+ 1) a else reverse a)", 0)):
            text = ("kernel k (xs : [int]) = (concat 32 (map (fn c =>\n"
                    f"  let a = force (push <block> (map (fn x => x * 3) c)) in {chunk})\n"
                    "  (splitUp 32 xs)) : [int]<grid>)\n")
            done = env.run(env.fclc, "check", "-", input=text)
            assert done.returncode == 0 and done.stderr.count("W004") == wanted, (chunk, done.stderr)
        # An array that `powerAhead` loads is stored so that it is there before it is used.
        text = ("kernel k (n : int) (xs : [int]) = powerAhead 2 n (fn k => push <grid> (map (fn x => x + k) xs))\n"
                "  (fn _ a b => push <grid> (zipWith (+) a b)) (push <grid> xs)\n")
        done = env.run(env.fclc, "check", "-", input=text)
        assert done.returncode == 0 and not done.stderr, done.stderr
    yield Case("an array of chunks that is stored for nothing", stored_for_nothing)
