"""fclc tune: what it tries, keeps and writes, and who reads that."""

import functools
import os
import re
import shutil
import threading
from harness import Case

ORDER = 57

# The choices of `steps` are so far apart that no other work on the machine hides it; that no collatz is 0 no compiler
# foresees.
PROGRAM = """\
param steps : int = 20000 in {4, 20000}
param extra : int = 0 in {0, 1}
param unused : int = 1 in {1, 2}
fun next n = if n % 2 == 0 then n / 2 else 3 * n + 1
fun collatz n = fst (loop (fn (n, i) => i < steps) (fn (n, i) => (next n, i + 1)) (n, 0))
kernel rising (xs : [int]) = push <grid> (map (fn x => if collatz (x + 1) == 0 then 0 else x + extra) xs)
kernel plain (xs : [int]) = push <grid> (reverse xs)
"""


def cases(env):
    env = env.optimised()  # what is timed
    once = threading.Lock()

    def folder_with(text=PROGRAM):
        folder = env.tmp()
        write(folder, "p.fcl", text)
        return folder

    def write(folder, name, text):
        env.written(name, text, folder)

    def read(folder, name="p.tune"):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()

    def fclc(folder, *arguments, status=0):
        done = env.run(env.fclc, *arguments, cwd=folder)
        assert done.returncode == status, f"{done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def line_of(folder):
        lines = [line.split("\t") for line in read(folder).splitlines() if not line.startswith("#")]
        assert len(lines) == 1 and len(lines[0]) == 6, lines
        return lines[0]

    @functools.cache
    def first_tuned():
        folder = folder_with()
        return folder, fclc(folder, "tune", "--target=c", "p.fcl", "rising", "iota:100")

    def tuned():
        """A folder with the program tuned, which takes seconds and is done once, and what was said of it."""
        with once:
            first, done = first_tuned()
        return shutil.copytree(first, os.path.join(env.tmp(), "tuned")), done

    def finds():
        folder, done = tuned()
        kind, _, kernel, program, params, note = line_of(folder)
        assert (kind, kernel, params) == ("c", "rising", "steps=4") and re.fullmatch("[0-9a-f]{16}", program), line_of(
            folder
        )
        assert "times as fast" in note and "iota:100" in note, note
        assert "steps=4" in done.stdout and "written to p.tune" in done.stdout, done.stdout
        assert re.search(r"extra=1\S* +changes the result|steps=4 extra=1 +changes the result",
                         done.stderr), done.stderr
        assert "unused" not in done.stderr, done.stderr
    yield Case("tune finds the faster value, and leaves out what changes the result or is not asked for", finds)

    def head(folder, *options):
        fclc(folder, "p.fcl", "-o", "p.c", *options)
        return "steps=4" in read(folder, "p.c").split("#include")[0]

    def shapes():
        text = PROGRAM.replace("(xs : [int]) = push <grid> (map (fn x => if collatz (x + 1)",
                               "(xs : [int]) with #BlockSize = 1000 in {1, 1000, 10} = "
                               "push <grid> (map (fn x => if collatz (x + 1)")
        text = text.replace("i < steps", "i < steps / 1000 * #BlockSize").replace("{4, 2", "{4000, 2")
        folder = folder_with(text)
        done = fclc(folder, "tune", "--target=c", "p.fcl", "rising", "iota:100")
        assert sorted(line_of(folder)[4].split()) == ["#BlockSize=1", "steps=4000"], done.stderr
        fclc(folder, "p.fcl", "-o", "p.c")
        assert "#BlockSize=1" in read(folder, "p.c").split("#include")[0]
        launch = re.compile(r"(?:exactly|up to) (\d+) threads")

        def threads(*options):
            fclc(folder, "p.fcl", "-o", "p.cu", *options)
            return launch.findall(read(folder, "p.cu"))

        assert threads() == ["1000", "256"], threads()  # tuned for another kind of device
        assert threads("--block-size=64") == ["64", "64"]
        fclc(folder, "tune", "--target=c", "--block-size=8", "--tuning=given.tune", "p.fcl", "rising",
             "iota:100")
        assert "\tsteps=4000\t" in read(folder, "given.tune")
        write(folder, "p.tune", read(folder, "p.tune").replace("#BlockSize=1", "#BlockSize=2"))
        done = fclc(folder, "run", "--target=c", "p.fcl", "rising", "[1]", status=2)
        assert "`2` is not among the choices of `#BlockSize`" in done.stderr, done.stderr
    yield Case("a kernel's choice of block sizes is tuned with its params; --block-size goes before it", shapes)

    def read_back():
        folder, _ = tuned()
        assert head(folder) and not head(folder, "--tuning=none")
        assert "tuned: steps=4" in fclc(folder, "bench", "--target=c", "p.fcl", "rising", "iota:10").stdout
        assert "tuned" not in fclc(folder, "bench", "--target=c", "p.fcl", "plain", "iota:10").stdout
        assert not fclc(folder, "run", "--target=c", "-D", "steps=20000", "p.fcl", "rising", "[1]").stderr
        dump = fclc(folder, "--dump=target", "--target=c", "p.fcl").stdout
        assert "20000" not in dump and "20000" in fclc(folder, "--dump=target", "--target=c", "-D", "steps=20000",
                                                         "p.fcl").stdout
        fclc(folder, "p.fcl", "-o", "p.cl", "-M")
        assert read(folder, "p.d").splitlines()[0].split()[-1] == "p.tune"
        assert "Tuned" not in read(folder, "p.cl")  # another kind of device
    yield Case("what tune wrote is used for that kernel and kind of device, unless -D or --tuning says otherwise",
               read_back)

    def changed():
        folder, _ = tuned()
        write(folder, "p.fcl", "-- a comment\n" + PROGRAM.replace("x + 1", "x  +  1"))
        assert head(folder), "comments and blanks do not matter"
        write(folder, "p.fcl", PROGRAM.replace("x + extra", "x - extra"))
        done = fclc(folder, "p.fcl", "-o", "p.c")
        assert "`rising` has changed since it was tuned" in done.stderr and "Tuned" not in read(
            folder, "p.c"
        ), done.stderr
        write(folder, "p.fcl", PROGRAM.replace("x + extra", "x - extra") +
              "-- test rising [1] == [1]\n-- test rising [2] == [2]\n")
        assert fclc(folder, "test", "--target=c", "-D", "steps=4", "p.fcl").stderr.count("has changed") == 1
    yield Case("tuned values of another program are not used, and that is said", changed)

    def again():
        folder, _ = tuned()
        fclc(folder, "tune", "--target=c", "--tuning=other.tune", "-D", "steps=4", "p.fcl", "rising", "iota:10")
        assert "\t-\tnothing is faster" in read(folder, "other.tune")
        kept = read(folder).replace("\trising\t", "\tzzz\t").splitlines()[-1]
        write(folder, "p.tune", read(folder) + kept + "\n")
        fclc(folder, "tune", "--target=c", "-D", "steps=4", "p.fcl", "rising", "iota:10")
        lines = read(folder).splitlines()
        assert len(lines) == 3 and "\trising\t" in lines[1] and "\t-\t" in lines[1] and lines[2] == kept, lines
    yield Case("a line is replaced, and others stay", again)

    def wrong():
        folder, _ = tuned()
        good = read(folder)
        for old, new, message in ((r"steps=4", "steps=5", "`5` is not among the choices of `steps`"),
                                  (r"steps=4", "steps=4 steps=4", "`steps` has two values"),
                                  (r"steps=4", "stops=4", "there is no param `stops`"),
                                  (r"steps=4", "steps", "`steps` is not NAME=VALUE"),
                                  (r"\tsteps=4.*", "", "6 columns with tabs between them are wanted, and here are 4")):
            write(folder, "p.tune", re.sub(old, new, good))
            done = fclc(folder, "run", "--target=c", "p.fcl", "rising", "[1]", status=2)
            assert done.stderr.startswith("fclc: p.tune:2: " + message), done.stderr
            fclc(folder, "run", "--target=c", "--tuning=none", "p.fcl", "rising", "[1]")
        done = fclc(folder, "run", "--target=c", "--tuning=absent.tune", "p.fcl", "rising", "[1]", status=2)
        assert "absent.tune" in done.stderr, done.stderr
    yield Case("what is wrong in the file is said, with its line", wrong)

    def nothing():
        folder = folder_with()
        done = fclc(folder, "tune", "--target=c", "p.fcl", "plain", "iota:10")
        assert "nothing to tune" in done.stderr and not os.path.exists(os.path.join(folder, "p.tune")), done.stderr
        fclc(folder, "tune", "--target=interp", "p.fcl", "plain", "iota:10", status=2)
        write(folder, "p.fcl", PROGRAM.replace("reverse xs", "generate unused (fn i => xs ! (i + 5))"))
        done = fclc(folder, "tune", "--target=c", "p.fcl", "plain", "iota:3", status=1)
        assert "out of range" in done.stderr, done.stderr
    yield Case("nothing to tune, no device, and a program that is wrong", nothing)

    def hidden():
        folder = folder_with(PROGRAM + "param steps : int = 7 in {7, 9}\n")
        fclc(folder, "tune", "--target=c", "p.fcl", "rising", "iota:100")
        assert line_of(folder)[4] == "-", line_of(folder)
        fclc(folder, "run", "--target=c", "p.fcl", "rising", "[1]")
    yield Case("a param that another one hides is not tuned: no line could say which is meant", hidden)

    def outside():
        folder = folder_with("param far : int = 1 in {1, 100000000}\n"
                             "kernel spread (xs : [int]) = push <grid> (mapIx (fn i x => xs ! (i / 2 * far)) xs)\n")
        done = fclc(folder, "tune", "--target=c", "p.fcl", "spread", "iota:10")
        assert re.search(r"far=100000000 +index 100000000 is out of range", done.stderr), done.stderr
        assert line_of(folder)[4] == "-", line_of(folder)
    yield Case("a choice that leads outside of an array is left out, and said so", outside)

    def spilled():
        folder = folder_with("param turns : int = 1 in {1, 2, 3}\n"  # the results are the same for small numbers
                             "kernel turned (xs : [int]) =\n"
                             "  push <grid> (map (fn x => foldl min (x / 12345) (generate turns (fn i => x / (12345 + "
                             "i)))) xs)\n")
        variables = env.cudasim(CUDASIM_LOCAL="96:12345", FCL_CACHE="0")
        done = env.run(env.fclc, "tune", "--target=cuda", "p.fcl", "turned", "iota:100", cwd=folder, env=variables)
        assert done.returncode == 0 and "registers" not in done.stderr, done.stdout + done.stderr
        variables["CUDASIM_LOCAL"] = "96:12347"
        done = env.run(env.fclc, "tune", "--target=cuda", "p.fcl", "turned", "iota:100", cwd=folder, env=variables)
        assert re.findall(r"turns=(\d) +needs 96 bytes more for each thread than there are registers",
                          done.stderr) == ["3"], done.stderr
    yield Case("a choice that spills registers is not timed, unless the best does so too", spilled)

    def no_file():
        folder = folder_with()
        done = env.run(env.fclc, "tune", "--target=c", "-D", "steps=4", "-", "rising", "iota:10", cwd=folder,
                       input=PROGRAM)
        assert done.returncode == 0 and "written" not in done.stdout and os.listdir(folder) == ["p.fcl"], (
            done.stdout + done.stderr
        )
        done = fclc(folder, "tune", "--target=c", "--tuning=absent/p.tune", "p.fcl", "rising", "iota:10", status=2)
        assert "absent/p.tune cannot be written" in done.stderr and "steps" not in done.stderr, done.stderr
    yield Case("standard input has no file of tuned values; one that cannot be written is said first", no_file)

    def other_options():
        folder = folder_with()
        fclc(folder, "tune", "--target=c", "-D", "extra=1", "--block-size=64", "p.fcl", "rising", "iota:10")
        assert line_of(folder)[4] == "steps=4", line_of(folder)
        assert "has changed" in fclc(folder, "run", "--target=c", "p.fcl", "rising", "[1]").stderr
        assert "has changed" in fclc(folder, "run", "--target=c", "-D", "extra=1", "p.fcl", "rising", "[1]").stderr
        assert head(folder, "-D", "extra=1", "--block-size=64") and not head(folder)
        done = fclc(folder, "run", "--target=c", "--tuning=", "p.fcl", "rising", "[1]", status=2)
        assert "--tuning wants the name of a file" in done.stderr, done.stderr
    yield Case("what was tuned with -D is for that -D only", other_options)
