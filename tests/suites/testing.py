"""fclc test: which tests run, what is said of them in lines, JSON and JUnit, how long one may take, and what happens
to the others where one crashes or does not end."""

import json
import os
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


def cases(env):
    def folder_with(text=PROGRAM):
        folder = env.tmp()
        with open(os.path.join(folder, "p.fcl"), "w", encoding="utf-8") as file:
            file.write(text)
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
        with open(os.path.join(folder, "cc"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec sleep 1000\n")
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
        done = test(folder, "--target=c", status=3)
        assert done.stdout.endswith("3 passed, 2 failed, 0 skipped\n"), done.stdout
        crashed = [line for line in done.stdout.splitlines() if "it crashes: " in line]
        assert [line.split(":")[1] for line in crashed] == ["5", "7"], done.stdout
    yield Case("a test that crashes fails alone", crash)
