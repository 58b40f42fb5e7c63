"""fclc test: which tests run, what is said of them in lines, JSON and JUnit, how long one may take, and what happens
to the others where one crashes or does not end."""

import json
import os
import re
import xml.etree.ElementTree
from harness import Case, Skip

ORDER = 39
SANITIZED = True

PROGRAM = """\
kernel next (x : int) = x + 1
kernel far (i : int) (xs : [int]) = push <grid> (map (fn x => xs ! (i + x)) xs)
kernel slow (n : int) = fst (loop (fn (_, i) => i < n) (fn (s, i) => (s * 5 ^ i, i + 1)) (0, 0))
-- test next 1 == 2
-- test next 2 == 2
-- test next "<&>" == 4
-- test next 3 == 4
"""

PROPERTIES = """\
kernel turned (xs : [float]) = push <grid> (reverse (force (push <grid> (reverse xs))))
-- test forall xs. turned xs == xs
kernel pairs (xs : [(int, u8)]) (k : bool) = if k then push <grid> xs else push <grid> (take 0 xs)
-- test forall xs. pairs xs true == xs
-- test forall xs. pairs xs false == []
kernel matrix (m : [[i16]]) = map (map (fn x => x)) m
-- test forall m. matrix m == m
kernel part (n : int) (xs : [int]) = length (take n xs)
kernel cut (n : int) (xs : [int]) = min n (length xs)
-- test forall n xs when n >= 0. part n xs == cut n xs
kernel product (xs : [int]) (ys : [int]) = foldl (+) 0 (zipWith (*) xs ys)
-- test forall xs ys when length xs == length ys. product xs ys == product ys xs
kernel at (xs : [double]) (i : int) = xs ! i
fun fits i n = i >= 0 && i < n
-- test forall xs i when fits i (length xs). at xs i ~= at xs i
-- test forall xs i when not (fits i (length xs)). at xs i error "index"
kernel picked (xs : [int]) (places : [int]) = push <grid> (gather places xs)
-- test forall xs is when all (fn i => i >= 0 && i < length xs) is && length is > 2. picked xs is == picked xs is
-- test forall r when (isfinite r) && r > 0.5. root r ~=1e-3 r
kernel root (x : float) = sqrt x * sqrt x
"""

FAILING_PROGRAM = """\
kernel cut (xs : [int]) = push <grid> (map (fn x => min x 100) xs)
kernel same (xs : [int]) = push <grid> xs
kernel order (xs : [int]) = sort xs
kernel mixed (xs : [int]) (n : int) = foldl (+) n xs
kernel half (x : float) = x / 2.0
kernel twice (xs : [i8]) (ys : [i8]) = push <grid> (zipWith (+) xs ys)
kernel rowsOf (m : [[int]]) = length m
kernel first (xs : [int]) = head xs
kernel part (n : int) (xs : [int]) = length (take n xs)
kernel cutTo (n : int) (xs : [int]) = min n (length xs)
"""
# Properties that fail, and the smallest arguments that show it.
FAILING = {
    "xs. cut xs == xs": "-- test cut [101] == [101]",
    "xs. order xs == xs": "-- test order [0,-1] == [0,-1]",
    "xs. order xs == same xs": "-- test order [0,-1] == [0,-1]",
    "x when x > 1.5 && isfinite x. half x ~= x": "-- test half 2.0 ~= 2.0",
    "x. half x ~=1e-3 x": "-- test half 1.0 ~=0.001 1.0",
    "xs ys when length xs == length ys. twice xs ys == xs": "-- test twice [0] [1] == [0]",
    "m. rowsOf m == 0": "-- test rowsOf [[]] == 0",
    "xs. first xs error \"out of range\"": "-- test first [0] error \"out of range\"",
    "n xs. part n xs == cutTo n xs": "-- test part -1 [] == -1",
    "xs. mixed xs 1 == 1": "-- test mixed [1] 1 == 1",
}
# Lines that cannot be read, and the message for each.
UNREAD = {
    "forall xs same xs == xs": "a dot behind the names of `forall` is missing",
    "forall when true. same [] == []": "`forall` has no names",
    "forall xs xs. same xs == xs": "`forall` has a name twice",
    "forall [xs]. same xs == xs": "behind `forall` come names",
    "forall xs. nosame xs == xs": "no kernel is named `nosame`; did you mean `same`?",
    "forall xs ys. same xs == xs": "no kernel is given `ys`",
    "forall xs. mixed xs xs == 1": "`xs` is of type [int] and of type int",
    "forall xs. same xs == rowsOf xs": "`xs` is of type [int] and of type [[int]]",
    "forall xs. same xs == first xs": "`same` gives [int]<grid>, and `first` int",
    "forall xs n. mixed xs n == xs": "`xs` is of type [int] and of type int",
    "forall xs. same xs xs == xs": "takes 1 argument",
    "forall xs when length xs == 7777. same xs == xs": "of 4000 random arguments 0 are as its condition says",
    "forall xs when length xs. same xs == xs": "the condition of `if` is a `bool`, but this is `int`",
    "forall xs when xs ! 0 == 0. same xs == xs": "its condition does not run for xs = []",
    "forall xs. same xs == 1": "the wanted result",
}

COSTS = """\
kernel copied (xs : [int]) = push <grid> (map (fn x => x + 1) xs)
-- cost copied: launches == 1, waits == 0, read == 4 * xs, written == 4 * n, sectors == 2 * ceil(n / 8)
-- cost copied: read <= 8 * xs + 1, ints == xs_length, shared == 0, turns == 0, atomics == 0, floats <= 0
kernel doubled (m : [[float]]) = map (map (fn x => x * 2.0)) m
-- cost doubled: read == 4 * m_rows * m_columns, floats <= (m_rows + 1) * m_columns
-- cost is a word of comments: this one is none.
kernel total (xs : [int]) = reduce (+) 0 xs
-- cost total: read <= 5 * xs + 4096
kernel turned (xs : [int]) = splitUpEnd 256 xs |> map (fn c => push <block> (reverse c)) |> reverse |> concat 256
-- cost turned: read == 4 * xs
"""
COSTS_TRIED = "p.fcl: of the costs 3 were tried at some sizes, and not proved for all\n"
# Costs that fail, and the message for each.
COSTS_FAILING = {
    "copied: sectors == 2 * ceil(n / 9)": "sectors is 10, and 2 * ceil(n / 9) is 8, for xs_length = 33",
    "copied: launches == 1, read <= 4 * xs - 4": "read is 0, and 4 * xs - 4 is -4, for xs_length = 0",
    "total: read == 4 * xs": "read is 4, and 4 * xs is 0, for xs_length = 0",
    "turned: read == 1024 * ceil(xs / 256)": "read is 4, and 1024 * ceil(xs / 256) is 1024, for xs_length = 1",
    "copied: reed == 8 * n": "no cost is called `reed`; did you mean `read`?",
    "copied: read == 8 * q": "`copied` has no size `q`",
    "copied: read == 8 *": "a number, a name or a bracket is wanted",
    "copied: read == 8 / 2": "`/ 2` follows a formula",
    "copied: read == ceil(xs)": "`ceil` is of a quotient",
    "copied: read = 4, read == 4 * xs": "`read = 4` is neither NAME == FORMULA nor NAME <= FORMULA",
    "copid: read == 8 * n": "no kernel is named `copid`; did you mean `copied`?",
}


def cases(env):
    def folder_with(text=PROGRAM):
        folder = env.tmp()
        env.written("p.fcl", text, folder)
        return folder

    def test(folder, *options, status, variables=None):
        done = env.run(env.fclc, "test", *options, "p.fcl", cwd=folder, env=variables)
        assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def chosen():
        folder = folder_with()
        done = test(folder, "--target=interp", "--filter=next 3", status=0)
        assert done.stdout == "1 passed, 0 failed, 0 skipped\n", done.stdout
        done = test(folder, "--target=interp", "--filter", "3 == 4", "--verbose", status=0)
        line, counts = done.stdout.splitlines()
        assert line.startswith("p.fcl:7: interp: passed in ") and line.endswith(" s: test next 3 == 4"), line
        listed = test(folder, "--list", status=0).stdout
        assert listed.splitlines() == [f"p.fcl:{i}: {line[3:]}" for i, line in enumerate(PROGRAM.splitlines(), 1)
                                       if line.startswith("--")], listed
        assert test(folder, "--list", "--filter=== 2", status=0).stdout.count("\n") == 2
        got = json.loads(test(folder, "--list", "--json", "--filter=== 2", status=0).stdout)
        assert got == {"tests": [{"file": "p.fcl", "line": int(line.split(":")[1]), "test": line.split(": ", 1)[1]}
                                 for line in listed.splitlines() if "== 2" in line]}, got
        done = test(folder, "--list", "--junit=out.xml", status=2)
        assert "nothing for --junit to report" in done.stderr and os.listdir(folder) == ["p.fcl"], done.stderr
        done = test(folder, "--filter=nothing", status=2)
        assert "no test directive has `nothing` in it" in done.stderr, done.stderr
    yield Case("--filter, --list and --verbose", chosen)

    def data():
        folder = folder_with()
        done = test(folder, "--target=interp", "--json", status=1)
        got = json.loads(done.stdout)
        assert [got[key] for key in ("passed", "failed", "skipped")] == [2, 2, 0], got
        assert [one["line"] for one in got["tests"] if one["outcome"] == "passed"] == [4, 7], got
        first, second, third, _ = got["tests"]
        assert (first["file"], first["test"], first["target"]) == ("p.fcl", "test next 1 == 2", "interp"), first
        assert first["seconds"] >= 0 and "message" not in first and second["message"] == "3 instead of 2", second
        assert third["test"] == 'test next "<&>" == 4' and third["outcome"] == "failed", third
        with open(os.path.join(folder, "p.fcl"), "a", encoding="utf-8") as file:
            file.write("-- test next 1 is 2\n")
        got = json.loads(test(folder, "--target=interp", "--json", "--junit=out.xml", status=1).stdout)
        unread = {"file": "p.fcl", "line": 8, "test": "test next 1 is 2", "outcome": "failed", "seconds": 0.0,
                  "message": "this test directive cannot be read: "
                             "neither `==` nor `~=` nor `error` says what is wanted"}
        assert got["failed"] == 3 and got["tests"][0] == unread, got
        root = xml.etree.ElementTree.parse(os.path.join(folder, "out.xml")).getroot()
        case = root.find(".//testcase[@name='test next 1 is 2']")
        assert (case.get("file"), case.get("line")) == ("p.fcl", "8"), case.attrib
        assert case.find("failure").get("message") == unread["message"]
        with open(os.path.join(folder, "p.fcl"), "a", encoding="utf-8") as file:
            file.write("fun f x = y\n")
        got = json.loads(test(folder, "--target=interp", "--json", status=1).stdout)
        assert got["tests"] == [{"file": "p.fcl", "outcome": "failed", "seconds": 0.0,
                                 "message": "the program is wrong"}], got
    yield Case("--json has an object for each test", data)

    def junit():
        folder = folder_with()
        absent = {"FCL_LIBOPENCL": "/nonexistent", "FCL_LIBCUDA": "/nonexistent"}
        done = test(folder, "--all-targets", "--junit=out.xml", status=1, variables=absent)
        assert done.stdout.endswith("4 passed, 4 failed, 8 skipped\n"), done.stdout
        root = xml.etree.ElementTree.parse(os.path.join(folder, "out.xml")).getroot()
        counts = {suite.get("name"): [suite.get(key) for key in ("tests", "failures", "skipped")] for suite in root}
        assert counts == {"p.fcl on cuda": ["4", "0", "4"], "p.fcl on opencl": ["4", "0", "4"],
                          "p.fcl on c": ["4", "2", "0"], "p.fcl on interp": ["4", "2", "0"]}, counts
        assert [root.get(key) for key in ("tests", "failures", "skipped")] == ["16", "4", "8"], root.attrib
        wrong = root.findall(".//testcase[@name='test next \"<&>\" == 4']")
        assert len(wrong) == 4, [case.get("name") for case in root.iter("testcase")]
        failed = root.findall("testsuite[@name='p.fcl on c']/testcase[failure]")
        assert [case.get("line") for case in failed] == ["5", "6"], failed
        assert failed[0].find("failure").get("message") == "3 instead of 2"
        done = test(folder, "--target=interp", "--junit=absent/out.xml", status=2)
        assert "absent/out.xml cannot be written" in done.stderr, done.stderr
    yield Case("--junit writes a suite for each target", junit)

    def timeout():
        lines = PROGRAM.splitlines()[:3] + ["-- test next 1 == 2", "-- test slow 2000000000 == 1",
                                            "-- test next 2 == 3",
                                            "-- test slow 2000000001 == 1", "-- test slow 0 == 0"]
        folder = folder_with("\n".join(lines) + "\n")
        done = test(folder, "--target=interp", "--timeout=0.5", status=1)
        assert done.stdout.endswith("3 passed, 2 failed, 0 skipped\n"), done.stdout
        late = [line for line in done.stdout.splitlines() if "it takes longer than 0.5 s" in line]
        assert [line.split(":")[1] for line in late] == ["5", "7"], done.stdout
        for wrong in ("0", "-1", "x", "1s"):
            done = test(folder, "--timeout=" + wrong, status=2)
            assert f"not `{wrong}`" in done.stderr, done.stderr
    yield Case("a test that takes longer than --timeout allows fails alone", timeout)

    def building():
        """A compiler that never comes back: what is built together first, and then each test for itself, is given
        up, and leaves no files."""
        folder = folder_with("kernel next (x : int) = x + 1\n-- test next 1 == 2\n-- test next 2 == 3\n")
        env.written("cc", "#!/bin/sh\nexec sleep 1000\n", folder)
        os.chmod(os.path.join(folder, "cc"), 0o755)
        place = env.tmp()
        done = test(folder, "--target=c", "--timeout=0.5", status=1,
                    variables={"FCL_CC": os.path.join(folder, "cc"), "FCL_CACHE": "0", "TMPDIR": place})
        assert done.stdout.count("it takes longer than 0.5 s") == 2, done.stdout
        assert not os.listdir(place), os.listdir(place)
    yield Case("--timeout holds for the building of kernels, too", building)

    def crash():
        if env.sanitized:
            raise Skip("the sanitizer catches it")
        lines = PROGRAM.splitlines()[:3] + ["-- test next 1 == 2", "-- test far 500000000 [1] == [1]",
                                            "-- test far 0 [0] == [0]",
                                            "-- test far 500000001 [1] == [1]", "-- test next 3 == 4"]
        folder = folder_with("\n".join(lines) + "\n")
        done = test(folder, "--target=c", "--check=none", status=3)
        assert done.stdout.endswith("3 passed, 2 failed, 0 skipped\n"), done.stdout
        crashed = [line for line in done.stdout.splitlines() if "it crashes: " in line]
        assert [line.split(":")[1] for line in crashed] == ["5", "7"], done.stdout
    yield Case("a test that crashes fails alone", crash)

    def holding():
        folder = folder_with(PROPERTIES)
        for target in ("interp", "c"):
            done = test(folder, "--target=" + target, status=0)
            assert done.stdout == f"{PROPERTIES.count('-- test')} passed, 0 failed, 0 skipped\n", done.stdout
    yield Case("properties that hold", holding)

    def failing():
        """What is printed for a property that fails is a directive that fails alike, and as small as can be."""
        for line, small in FAILING.items():
            folder = folder_with(FAILING_PROGRAM + f"-- test forall {line}\n")
            done = test(folder, "--target=interp", status=1)
            printed = re.findall(r"^    (-- test .*)", done.stdout, re.M)
            assert printed == [small], f"{line}: {done.stdout}"
            folder = folder_with(FAILING_PROGRAM + small + "\n")
            alone = test(folder, "--target=interp", status=1)
            assert alone.stdout.splitlines()[0].split("interp: ")[1] in done.stdout, alone.stdout
    yield Case("properties that fail, and the arguments that show it", failing)

    def seeds():
        folder = folder_with(FAILING_PROGRAM + "-- test forall xs n. mixed xs n == 0\n")
        found = {}
        for seed in (0, 1, 2, 3, 4, 0):
            line = test(folder, "--target=interp", f"--seed={seed}", status=1).stdout
            assert found.setdefault(seed, line) == line, (found[seed], line)
        assert len(set(found.values())) > 1, found
        done = test(folder, "--seed=-1", status=2)
        assert "--seed wants a number" in done.stderr, done.stderr
    yield Case("--seed draws other arguments, the same ones each time", seeds)

    def misread():
        for line, message in UNREAD.items():
            folder = folder_with(FAILING_PROGRAM + f"-- test {line}\n")
            done = test(folder, "--target=interp", status=1)
            assert message in done.stdout + done.stderr, f"{line}: {done.stdout}{done.stderr}"
            assert done.stdout.endswith("0 passed, 1 failed, 0 skipped\n"), done.stdout
    yield Case("properties that cannot be read or say nothing", misread)

    def condition_place():
        text = (FAILING_PROGRAM + "-- test forall xs when wrongs xs > 0. cut xs == xs\n"
                "-- test forall xs. same xs == xs\n")
        done = test(folder_with(text), "--target=interp", status=1)
        row = text[:text.index("wrongs")].count("\n") + 1
        assert f"p.fcl:{row}:24: error" in done.stderr and "did you mean" not in done.stdout, done.stderr
        assert done.stdout.endswith("1 passed, 1 failed, 0 skipped\n"), done.stdout
        line = "  -- test forall n when positive n && wrong n. same n == n"
        folder = folder_with(f'import "signs"\nkernel same (n : int) = n\n{line}\n'
                             "-- test forall n when positive n. same n == n\n")
        env.written("signs.fcl", "fun positive n = n > 0\n", folder)
        done = test(folder, "--target=interp", status=1)
        assert f"p.fcl:3:{line.index('wrong') + 1}: error" in done.stderr, done.stderr
        assert done.stdout.endswith("1 passed, 1 failed, 0 skipped\n"), done.stdout
        # Lines are shown as they stand in the file, and nothing else is.
        lines = [f"-- test forall xs n when {condition}. part n xs == xs"
                 for condition in ("n > xs", "missing n", "n < < 2", "n +")]
        kernel = "kernel part (n : int) (xs : [int]) = push <grid> (take n xs)"
        text = "\n".join([lines[0], kernel, *lines[1:]]) + "\n"
        done = test(folder_with(text), "--target=interp", status=1)
        shown = [one[one.index("| ") + 2:] for one in done.stderr.splitlines() if one[:3].strip().isdigit()]
        assert shown == lines, done.stderr
    yield Case("what is wrong with a condition is told where it stands", condition_place)

    def told():
        """A call that does not come back is told, by whatever it ends."""
        text = ("kernel slow (n : int) =\n"
                "  fst (loop (fn (_, i) => i < 2000000000) (fn (s, i) => (s * 5 ^ i, i + 1)) (n, 0))\n"
                "-- test forall n. slow n == n\n")
        done = test(folder_with(text), "--target=c", "--timeout=0.5", status=1)
        assert re.search(r"it takes longer than 0.5 s, which --timeout allows, with `slow -?\d+`", done.stdout), done
    yield Case("a property's call that takes too long is told", told)

    def costs():
        absent = {"FCL_LIBOPENCL": "/nonexistent", "FCL_LIBCUDA": "/nonexistent"}
        done = test(folder_with(COSTS), "--all-targets", status=0, variables=absent)
        assert done.stdout == COSTS_TRIED + "5 passed, 0 failed, 0 skipped\n", done.stdout
        for line, message in COSTS_FAILING.items():
            done = test(folder_with(COSTS + f"-- cost {line}\n"), "--json", status=1)
            failed = [one for one in json.loads(done.stdout)["tests"] if one["outcome"] == "failed"]
            assert len(failed) == 1 and message in failed[0]["message"], (line, failed)
    yield Case("costs that hold, by proof or by trying, and others", costs, long=env.sanitized)  # half a minute there
