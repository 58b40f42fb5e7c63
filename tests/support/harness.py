"""What a test suite is written with: Case, Skip, Counts and Env.

A suite is a file tests/suites/NAME.py with

    def cases(env):
        yield Case("what is tested", function)

The function takes no arguments. It passes by returning, fails by raising AssertionError (or anything else),
and is skipped by raising Skip("why"). A function that runs many small tests may return Counts instead.
Optional in a suite: ORDER (suites run in its order, 50 when absent), THOROUGH = True (all of it is left to `make
check-all`) and SANITIZED = True, which asks for cases(env) to be called again with the ASan and UBSan tree
(env.sanitized is then true; yield fewer cases there).
"""

import copy
import os
import pty
import re
import shutil
import subprocess
import tempfile
import threading


class Skip(Exception):
    """Raised by a case that cannot run here; the reason is printed."""


def pseudo_terminal():
    """Both ends of a new terminal, this one and the program's; skips the case where none can be had."""
    try:
        return pty.openpty()
    except OSError:
        raise Skip("no pseudo terminals") from None


class Counts:
    """Many results at once: a case may return this instead of passing as one."""

    def __init__(self, passed=0, failed=0, skipped=0, output=""):
        self.passed, self.failed, self.skipped, self.output = passed, failed, skipped, output

    @staticmethod
    def of_last_line(text):
        """Read `N passed, N failed, N skipped` from the end of a program's output, or None."""
        found = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*$", text, re.M)
        return Counts(*(int(n) for n in found[-1]), output=text) if found else None


# Options that make C compilers take a third of their time, PoCL a quarter and the CUDA simulator half, for kernels
# that run for an instant.
QUICK = {"FCL_CC_OPTIONS": "-O0", "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable",
         "FCL_NVRTC_OPTIONS": "--device-debug", "FCL_HIPRTC_OPTIONS": "-O0"}


class Case:
    """One test. `alone` keeps others from running meanwhile, for what measures time by the clock; `thorough` leaves it
    to `make check-all`, and `long` to `make check-long`."""

    def __init__(self, name, fn, alone=False, long=False, thorough=False):
        self.name, self.fn, self.alone, self.long, self.thorough = name, fn, alone, long, thorough


spent = threading.local()  # .seconds: processor time of the programs that this thread has run


class Timed(subprocess.Popen):
    """A program whose processor time is added to `spent` when it ends."""

    def _try_wait(self, wait_flags):
        try:
            pid, status, used = os.wait4(self.pid, wait_flags)
        except ChildProcessError:
            return self.pid, 0
        if pid:
            spent.seconds = getattr(spent, "seconds", 0) + used.ru_utime + used.ru_stime
        return pid, status


class Env:
    """Where things are, and how to run them."""

    def __init__(self, root, build, sanitized, scratch, long=False, quick=False, short=False):
        self.root = root
        self.build = build
        self.sanitized = sanitized
        self.scratch = scratch
        self.long = long  # also what is too slow for every run
        self.short = short  # what tells most in minutes
        self.is_quick = quick  # other compilers optimise little
        self.fclc = os.path.join(build, "fclc")

    def optimised(self):
        """The same, where other compilers optimise as they do for users: for what runs longer than it is compiled."""
        other = copy.copy(self)
        other.is_quick = False
        return other

    def path(self, *parts):
        """A path below the repository's root."""
        return os.path.join(self.root, *parts)

    def tmp(self):
        """A fresh directory that goes away after the run."""
        return tempfile.mkdtemp(dir=self.scratch)

    def written(self, name, text, folder=None):
        """The path of a file with this text, in that folder or in a fresh one."""
        path = os.path.join(folder or self.tmp(), name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def tool(self, *names):
        """The first of these programs that is installed; skips the case when none is."""
        for name in names:
            if shutil.which(name):
                return shutil.which(name)
        raise Skip("no " + " or ".join(names))

    def header(self, name, package):
        """Skips the case where this header of the system's is not there."""
        if not os.path.exists(os.path.join("/usr/include", name)):
            raise Skip("no " + package)

    def file(self, *parts):
        """A file below the root that a case needs; skips the case when it is not there."""
        path = self.path(*parts)
        if not os.path.exists(path):
            raise Skip("no " + os.path.join(*parts))
        return path

    def variables(self, extra=None):
        """The environment for a program under test; sanitizers report through their exit status."""
        variables = dict(os.environ, LC_ALL="C.UTF-8")
        # LLVM, which PoCL loads, sets a signal stack of its own, and ASan would unmap that as if it were its.
        variables.setdefault("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=0:exitcode=99:use_sigaltstack=0")
        variables.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1:exitcode=99")
        variables.setdefault("FCL_POOL", "exact")  # what leaves a buffer shall not land in memory that it has beside
        # A byte that is never written shall not happen to be the zero that was due: each such byte is 203.
        variables.setdefault("FCL_FILL", "203")
        for name, value in QUICK.items() if self.is_quick else ():
            variables.setdefault(name, value)
        variables.update(extra or {})
        return variables

    def run(self, *command, env=None, cwd=None, timeout=600, input=None, text=True):
        """Run a program to its end; never raises for its exit status. One that is not installed skips the case."""
        if os.sep not in str(command[0]):
            self.tool(command[0])
        arguments = [str(word) for word in command]
        with Timed(arguments, cwd=cwd or self.root, env=self.variables(env),
                   stdin=subprocess.DEVNULL if input is None else subprocess.PIPE, stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE, text=text, errors="replace" if text else None) as process:
            try:
                said = process.communicate(input, timeout)
            except BaseException as problem:
                process.kill()
                if isinstance(problem, subprocess.TimeoutExpired):
                    raise AssertionError(f"{' '.join(arguments)}: still running after {timeout} s") from None
                raise
        return subprocess.CompletedProcess(arguments, process.returncode, *said)

    def must(self, *command, status=0, **options):
        """Run a program that must end with this exit status, and return what it printed."""
        done = self.run(*command, **options)
        assert done.returncode == status, (
            f"{' '.join(map(str, command))}: exit status {done.returncode}, expected "
            f"{status}\n{done.stdout}{done.stderr}")
        return done.stdout

    def simulator(self):
        """The path of the CUDA simulator, or None where no C++ compiler has built it."""
        build = os.path.join(self.root, "build") if self.sanitized else self.build
        library = os.path.join(build, "tests", "libcudasim.so")
        return library if os.path.exists(library) else None

    def cudasim(self, **extra):
        """The variables that make the runtime take the CUDA simulator for the driver and NVRTC, and for HIP's."""
        library = self.simulator()
        if not library:
            raise Skip("no g++ for the CUDA simulator")
        variables = {name: library for name in ("FCL_LIBCUDA", "FCL_LIBNVRTC", "FCL_LIBHIP", "FCL_LIBHIPRTC")}
        if "CUDASIM_CALLS" in extra:
            variables["FCL_FILL"] = ""  # calls that are looked at are the program's own
        return dict(variables, **extra)

    def ptx_processor(self, **extra):
        """The variables that make the runtime take for the driver a processor of PTX, the one that FCL_PTXEMU names
        or that is built at build/ptxemu; the compiler is the toolkit's NVRTC."""
        library = os.environ.get("FCL_PTXEMU") or os.path.join(self.build, "ptxemu", "libcuda.so.1")
        if not os.path.exists(library):
            raise Skip("no processor of PTX: FCL_PTXEMU does not name its libcuda.so.1")
        return dict({"FCL_LIBCUDA": library, "FCL_NVRTC_OPTIONS": ""}, **extra)  # optimised, as for users

    def ptx(self, file, *options):
        """Compile a .cu file with Debian's clang, without a CUDA toolkit, and return the PTX; warnings are errors."""
        clang = self.tool("clang")
        if "nvptx64" not in self.must(clang, "--print-targets"):
            raise Skip("a clang without the NVPTX target")
        return self.must(
            clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib",
            "-Xclang", "-target-feature", "-Xclang", "+ptx63", "-std=c++17", "-O1", "-Wall", "-Werror",
            "-Wno-unknown-cuda-version", "-S", "-include", self.path("tests/support/cuda_shim.h"), *options, file, "-o",
            "-")
