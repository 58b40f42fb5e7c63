"""What is said, and what still runs, where a kernel stops its device or crashes, or where a driver does not load it;
and where files are not what they should be, memory ends, or a signal comes."""

import fcntl
import os
import shutil
import signal
import struct
import subprocess
import time
from harness import Case, Skip

ORDER = 44

PROGRAM = """\
kernel good (xs : [int]) = push <grid> (map (fn x => x + 1) xs)
kernel bad (i : int) (xs : [int]) = push <grid> (map (fn x => xs ! (i + x)) xs)
-- test good [1] == [2]
-- test bad 0 [0] == [0]
-- test bad 500000000 [0] == [0]
-- test bad 0 [0] == [0]
-- test good [2,3] == [3,4]
-- test bad 510000000 [0] == [0]
-- test good [4] == [5]
"""


SUM = "kernel k (xs : [int]) = reduce (+) 0 xs\nkernel bytes (xs : [u8]) = push <grid> (reverse xs)\n" \
      "-- test k [1] == 1\n"

# Files that the command line names, or that are read beside it. PIPE is a named pipe that nobody writes or reads, with
# the ending that follows.
PIPES = ("check PIPE.fcl", "check imports.fcl", "check PIPE.fclir", "fmt PIPE.fcl", "types PIPE.fcl", "test PIPE.fcl",
         "run --target=interp sum.fcl k @PIPE.npy", "run --target=interp sum.fcl k @PIPE.csv",
         "run --target=interp sum.fcl bytes @PIPE.bin", "run --target=c --tuning=PIPE.tune sum.fcl k [1]",
         "run --target=c tuned.fcl k [1]", "tune --target=c tuned.fcl k [1]", "report --device=PIPE.json sum.fcl",
         "bench --target=c --baseline=PIPE.json sum.fcl k [1]", "--dump=tokens PIPE.fcl", "--dump=ast PIPE.fcl",
         "run --target=interp sum.fcl bytes [1u8] -o PIPE.npy", "sum.fcl -o PIPE.c", "sum.fcl -o PIPE.fclir",
         "bench --target=c --save=PIPE.json sum.fcl k [1]")


def cases(env):
    def files():
        folder = env.tmp()
        for name, text in (("sum.fcl", SUM), ("tuned.fcl", "param p : int = 1\n" + SUM),
                           ("imports.fcl", 'import "PIPE"\n' + SUM)):
            env.written(name, text, folder)
        return folder

    def pipes():
        folder = files()
        for ending in ("fcl", "fclir", "npy", "csv", "bin", "tune", "json", "c"):
            os.mkfifo(os.path.join(folder, "PIPE." + ending))
        os.mkfifo(os.path.join(folder, "tuned.fcl.tune"))
        os.mkfifo(os.path.join(folder, "tuned.tune"))
        for command in PIPES:
            done = env.run(env.fclc, *command.split(), cwd=folder, timeout=60)
            assert done.returncode in (1, 2) and "named pipe" in done.stderr, (
                f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        prelude = os.path.join(folder, "prelude")
        shutil.copytree(env.path("prelude"), prelude)
        os.mkfifo(os.path.join(prelude, "pipe.fcl"))
        done = env.run(env.fclc, "check", "sum.fcl", cwd=folder, env={"FCL_PRELUDE": prelude}, timeout=60)
        assert done.returncode == 2 and "named pipe" in done.stderr, done.stderr
    yield Case("a named pipe where a file is wanted", pipes)

    def streams():
        """What is asked for as a stream is waited for."""
        folder, bash = files(), env.tool("bash")
        os.mkfifo(os.path.join(folder, "read.npy"))
        for script, wanted in (
                ("$FCLC run --target=interp sum.fcl bytes @<(sleep 0.3; printf ab)", "[98,97]"),
                ("(sleep 0.3; printf ab) | $FCLC run --target=interp sum.fcl bytes @/dev/stdin", "[98,97]"),
                ("(sleep 0.3; printf ab) | $FCLC run --target=interp sum.fcl bytes @/proc/self/fd/0", "[98,97]"),
                ("$FCLC run --target=interp <(sleep 0.3; cat sum.fcl) k [1,2]", "3"),
                ("(sleep 0.3; cat sum.fcl) | $FCLC run --target=interp - k [1,2]", "3"),
                ("cat read.npy > got & sleep 0.3; $FCLC run --target=interp sum.fcl bytes [1u8] -o read.npy; wait; "
                 "wc -c < got", "129"),
                ("$FCLC bench --target=c --save=/dev/fd/3 sum.fcl k [1] 3>&1 > log | grep -c median_s", "1")):
            done = env.run(bash, "-c", script, cwd=folder, env={"FCLC": env.fclc}, timeout=60)
            assert done.stdout.strip() == wanted, f"{script}\n{done.stdout}{done.stderr}"
    yield Case("a pipe where it is asked for", streams)

    def no_memory():
        """Of a prelude that is larger than the memory there is."""
        folder = files()
        prelude = os.path.join(folder, "prelude")
        shutil.copytree(env.path("prelude"), prelude)
        env.written("zzz.fcl", " " * 80_000_000, prelude)
        done = env.run("sh", "-c", 'ulimit -v 160000; exec "$@"', "sh", env.fclc, "check", "sum.fcl", cwd=folder,
                       env={"FCL_PRELUDE": prelude})
        assert done.returncode == 4 and "fclc: out of memory (" in done.stderr, f"{done.returncode}: {done.stderr}"
    yield Case("a prelude for which there is no memory", no_memory)

    def signals():
        """What ends the process while the C compiler runs leaves no files, and is what ends it."""
        folder = files()
        compiler, place = os.path.join(folder, "compiler"), os.path.join(folder, "place")
        with open(compiler, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n: > started\nsleep 20\n")
        os.chmod(compiler, 0o755)
        os.mkdir(place)
        run, test = ["run", "--target=c", "sum.fcl", "k", "[1]"], ["test", "--target=c", "sum.fcl"]
        for command, number in ((run, signal.SIGINT), (run, signal.SIGTERM), (run, signal.SIGHUP),
                                (test, signal.SIGINT), (test, signal.SIGKILL)):
            running = subprocess.Popen(
                [env.fclc, *command], cwd=folder, start_new_session=True,
                env=env.variables({"FCL_CC": compiler, "FCL_CACHE": "0", "TMPDIR": place}),
                preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in (signal.SIGINT, signal.SIGHUP)],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(300):
                if os.path.exists(os.path.join(folder, "started")) and os.listdir(place):
                    break
                time.sleep(0.1)
            assert os.listdir(place), "there is no temporary folder to remove"
            os.killpg(running.pid, number)
            assert running.wait(60) == -number, running.returncode
            for _ in range(100 if command is test else 0):  # it has a child, which hears of it
                if not os.listdir(place):
                    break
                time.sleep(0.1)
            assert not os.listdir(place), f"{number}: {os.listdir(place)}"
            os.unlink(os.path.join(folder, "started"))
    yield Case("a signal while the C compiler runs", signals)

    def ended():
        """A compiler that a signal ends is not started again: the signal may be on its way to this process, too."""
        folder = files()
        compiler = env.written("compiler", "#!/bin/sh\necho >> runs\nkill -TERM $$\n", folder)
        os.chmod(compiler, 0o755)
        done = env.run(env.fclc, "run", "--target=c", "sum.fcl", "k", "[1]", cwd=folder,
                       env={"FCL_CC": compiler, "FCL_CACHE": "0"})
        assert done.returncode == 3 and "was ended by signal 15" in done.stderr, f"{done.returncode}: {done.stderr}"
        with open(os.path.join(folder, "runs"), encoding="utf-8") as file:
            assert file.read() == "\n"
    yield Case("a signal that ends the C compiler", ended)

    def cached(folder, wanted):
        """Runs the sum with a cache there; what is said must have that, or be nothing."""
        done = env.run(env.fclc, "run", "--target=c", "sum.fcl", "k", "[1,2]", cwd=folder, timeout=60,
                       env={"XDG_CACHE_HOME": folder, "FCL_CACHE": "1"})
        assert done.returncode == 0 and done.stdout == "3\n", done.stdout + done.stderr
        assert wanted in done.stderr if wanted else not done.stderr, done.stderr
        cache = os.path.join(folder, "fcl")
        return [os.path.join(cache, name) for name in os.listdir(cache) if name.endswith(".fclbin")]

    def caches_of_others():
        folder = files()
        cache = os.path.join(folder, "fcl")
        for mode in (0o770, 0o702):
            os.makedirs(cache, exist_ok=True)
            os.chmod(cache, mode)
            assert not cached(folder, f"others may write the directory {cache}; `chmod go-w {cache}`")
        os.chmod(cache, 0o700)
        entry, = cached(folder, "")
        os.chmod(entry, 0o620)
        entry, = cached(folder, f"others may write the file {entry}")
        assert os.stat(entry).st_mode & 0o777 == 0o600, "it was not built and kept again"
        os.unlink(entry)
        os.mkfifo(entry)
        assert cached(folder, "") == [entry] and os.path.isfile(entry)
        if os.geteuid() != 0:
            raise Skip("only root can give files away")
        os.chown(entry, 12345, 12345)
        cached(folder, f"the file {entry} belongs to another user")
        assert os.stat(entry).st_uid == 0
        os.chown(cache, 12345, 12345)
        cached(folder, f"the directory {cache} belongs to another user")
    yield Case("a cache that others may write", caches_of_others)

    def lock_that_is_held():
        """As by a process that was stopped while PoCL built the program: nobody waits for ever."""
        folder = files()
        os.mkdir(os.path.join(folder, "fcl"), 0o700)
        with open(os.path.join(folder, "fcl", "building.lock"), "wb") as file:
            whole = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
            fcntl.fcntl(file, getattr(fcntl, "F_OFD_SETLK", 37), whole)
            done = env.run(env.fclc, "run", "--target=opencl", "sum.fcl", "k", "[1,2]", cwd=folder, timeout=120,
                           env={"XDG_CACHE_HOME": folder})
        if done.returncode == 3:
            raise Skip("no OpenCL device")
        assert done.returncode == 0 and done.stdout == "3\n", done.stdout + done.stderr
    yield Case("a lock that its holder keeps", lock_that_is_held)

    def program():
        path = env.written("faults.fcl", PROGRAM)
        return path

    def outcome(target, wanted, variables):
        """The lines that say why a test failed."""
        path = program()
        done = env.run(env.fclc, "test", "--check=none", f"--target={target}", path, env=variables)
        assert done.returncode == 3, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.stdout.endswith("5 passed, 2 failed, 0 skipped\n"), done.stdout
        told = [line.split(":")[1] for line in done.stdout.splitlines() if line.startswith(f"{path}:")
                and f": {target}:" in line]
        assert told == ["5", "8"], done.stdout
        assert done.stdout.count(wanted) == 2, done.stdout

    yield Case("a kernel that stops its CUDA device fails alone", lambda: outcome(
        "cuda", "(CUDA error 719); with that, fcl CUDA simulator has stopped for this process", env.cudasim()))
    yield Case("a kernel of C that crashes fails alone",
               lambda: outcome("c", "it crashes: Segmentation fault (signal 11)", None))

    def names_kernel():
        done = env.run(env.fclc, "run", "--target=cuda", "--no-check", program(), "bad", "500000000", "[0]",
                       env=env.cudasim())
        assert (
            done.returncode == 3 and "error[E0530]: kernel bad: read of 4 bytes out of bounds" in done.stderr
        ), done.stderr
        assert "hint: with `--check`" in done.stderr, done.stderr
    yield Case("a device that stops is told of with the kernel that stopped it", names_kernel)

    def refused():
        said = "ptxas error   : Entry function 'bad' uses too much shared data"
        done = env.run(env.fclc, "run", "--target=cuda", program(), "bad", "0", "[0]",
                       env=env.cudasim(CUDASIM_REFUSE=f"{said}:bad", FCL_CACHE="0"))
        assert done.returncode == 3, done.stdout + done.stderr
        assert f"a PTX JIT compilation failed (CUDA error 218)\n{said}\n" in done.stderr, done.stderr
    yield Case("what the driver's assembler says of a kernel is told", refused)
