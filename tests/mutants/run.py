#!/usr/bin/env python3
"""Do the tests notice small faults? Makes some by rule, one at a time, and runs the suites that
touch the file until one fails.

usage: tests/mutants/run.py [--short] [--seed N] [--count N] [--only TEXT] [--again FILE] [--keep]
                            [--go-on] [--no-known] [--no-kept] [--folder DIR] [--seconds N] [--jobs N]

Each fault is built in a copy of the tree: an object file, a link. Faults that do not compile do not
count; others are drawn for them. A program is run only where what the compiler makes of it is not
what it makes without the fault. A fault whose tests all pass has survived, unless equivalent.txt
says why no test can see it; one whose tests were not all run in its time is not finished. Those of
known.txt are tried first, and all must be noticed; of the others 19 in 20. Of these the ones of
kept.txt, which were drawn once, come first, each with the case that noticed it then; `--keep` adds
to them what this run draws and notices. `--again` takes the faults of a report of before that were
not noticed, and `--only` those whose file or line has this text. `--short` runs only what `make
check` has, which is to notice 9 in 10.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import importlib.util
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "support")]

from faults import FOLDERS, LEFT_OUT, Fault, faults  # noqa: E402
from harness import Counts, Env, Skip  # noqa: E402

CASE_SECONDS = 100  # for one command: the slowest of those below takes 25
ENOUGH, ENOUGH_SHORT = 0.95, 0.9

# Options with which the compiler makes the text for an executor, and the ending of its file. Nothing is known before
# of other runs.
EMITTED = {
    "c": ([], "c"),
    "c-unoptimised": (["-O0"], "c"),
    "c-optimised": (["-O2"], "c"),
    "cuda-simulator": ([], "cu"),
    "cuda-unoptimised": (["-O0"], "cu"),
    "cuda-optimised": (["-O2"], "cu"),
    "opencl-simt": (["--map=simt"], "cl"),
    "opencl-loop": (["--map=loop"], "cl"),
}
# The interpreter runs nothing of what the stages after the types make.
EXECUTED = tuple(f"*.fcl on {executor}*" for executor in EMITTED)
# Seconds that a case takes of which nothing is known yet: the first of these that it is like.
GUESSED = (
    ("check: *", 0.1),
    ("unit: test_backend*", 30.0),  # by other compilers, too
    ("unit: *", 0.2),
    ("backend: *.fcl *", 10.0),  # by other compilers
    ("backend: *every program*", 20.0),
    ("backend: *", 0.2),
    ("excerpts: *", 0.2),
    ("run: tests/run/language/* on interp", 0.2),
    ("run: tests/run/language/* on c", 0.8),
    ("run: tests/run/language/*", 1.0),
    ("run: tests/run/scalars/*", 4.0),
    ("run: tests/*", 2.0),
    ("run: *", 10.0),
    ("*", 1.0),
)
# The suites that run for a folder, and which of their cases. The fastest come first.
UNIT = {
    "types": "test_types",
    "elaborate": "test_ir*",
    "ir": "test_ir*",
    "map": "test_map",
    "backend": "test_backend*",
    "runtime": "test_*",
}
PROGRAMS = [("run", case) for case in EXECUTED] + [
    ("backend", "*"),
    ("excerpts", "*"),
    ("failing", "* on c*"),
    ("reference", "* on c*"),
    ("prelude", "* on c"),
]
SUITES = {
    "types": [
        ("check", "*"),
        ("errors_page", "*"),
        ("run", "* on interp"),
        ("reference", "*"),
        ("limits", "types*"),
        ("limits", "2^*"),
    ],
    "elaborate": PROGRAMS + [("check", "*"), ("errors_page", "*")],
    "ir": PROGRAMS + [("check", "*"), ("way", "*"), ("ir_text", "*")],
    "map": PROGRAMS + [("shared", "*"), ("traffic", "*")],
    "backend": PROGRAMS + [("host", "*")],
    "runtime": [
        ("host", "*"),
        ("faults", "*"),
        ("libraries", "*"),
        ("shared", "*"),
        ("traffic", "the sizes*"),
        ("testing", "*"),
        ("traces", "*"),
        ("failing", "* on c*"),
        ("run", "tests/run/*/*steps* on *"),
        ("run", "tests/run/*/lookback* on *"),
        ("run", "tests/run/*/checks* on *"),
        ("run", "tests/run/*/force_up_to* on *"),
    ],
}


def limits():
    """Of each program under test: what loops, grows or writes without end is ended."""
    resource.setrlimit(resource.RLIMIT_CPU, (CASE_SECONDS, CASE_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(
        "/proc/self/oom_score_adj", "w", encoding="ascii"
    ) as file:  # the simulator's shadow of memory forbids RLIMIT_AS
        file.write("1000")


class LimitedEnv(Env):
    """Programs end after CASE_SECONDS, with what they have started."""

    cache = None  # for what is built for the present case and its like: it has room for few suites

    def set_cache(self, folder, name):
        suite, words = name.split(":")[0], name.split()
        self.cache = os.path.join(
            folder, suite, words[-1].replace("/", "-") if "on" in words else ""
        )
        os.makedirs(self.cache, exist_ok=True)

    def run(self, *command, env=None, cwd=None, timeout=600, input=None, text=True):
        variables = dict(self.variables(env))
        variables["XDG_CACHE_HOME"] = self.cache or self.scratch
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            program = subprocess.Popen(
                [str(word) for word in command],
                cwd=cwd or self.root,
                env=variables,
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
                start_new_session=True,
                preexec_fn=limits,
            )
            try:
                program.communicate(
                    input.encode() if isinstance(input, str) else input,
                    timeout=min(timeout, 5 * CASE_SECONDS),
                )
            except (subprocess.TimeoutExpired, BrokenPipeError):
                os.killpg(program.pid, signal.SIGKILL)
                program.wait()
                # On a busy machine that says nothing; what loops has been ended by limits().
                raise Skip(f"{' '.join(map(str, command))}: still running") from None
            said = []
            for file in (out, err):
                file.seek(0)
                said.append(file.read())
            if text:
                said = [part.decode(errors="replace").replace("\r\n", "\n") for part in said]
            return subprocess.CompletedProcess(command, program.returncode, *said)


class Tree:
    """A copy of the repository, built, in which one fault at a time is."""

    is_short = False  # only what `make check` has is tried

    def __init__(self, folder):
        self.folder = folder
        self.build = os.path.join(folder, "build")
        self.scratch = os.path.join(folder, "scratch")
        if not os.path.exists(self.build):  # with its times, so that nothing is built again
            os.makedirs(self.build)
            for name in os.listdir(os.path.join(ROOT, "build")):
                if re.match(r"obj|gen|tests|completion|settings|fclc|lib", name):
                    subprocess.run(
                        ["cp", "-a", os.path.join(ROOT, "build", name), self.build], check=True
                    )
        files = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout.split(b"\0")
        for name in filter(None, map(os.fsdecode, files)):
            to, source = os.path.join(folder, name), os.path.join(ROOT, name)
            if not os.path.exists(source):
                continue
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if not os.path.exists(to) or open(to, "rb").read() != open(source, "rb").read():
                is_new = not os.path.exists(to)
                shutil.copy2(source, to, follow_symlinks=False)
                if not is_new:
                    os.utime(to)
        os.makedirs(self.scratch, exist_ok=True)
        done = self.make("all", "unit-tests", "test-tools")
        if done.returncode:
            sys.exit(f"the tree without faults is not built:\n{done.stdout[-2000:]}")
        shutil.copy2(os.path.join(self.build, "fclc"), os.path.join(self.build, "fclc-clean"))

    def make(self, *targets):
        return subprocess.run(
            ["make", "-s", "-j2", *targets],
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def emitted(self, compiler, program, executor):
        """A word for all that a compiler says and writes of a program for an executor."""
        options, ending = EMITTED[executor]
        env = self.env()
        try:
            with open(os.path.join(self.folder, program), encoding="utf-8") as file:
                has_checks = re.search(r"^-- test .*\bfails\b", file.read(), re.M)
            told = hashlib.sha256()
            for checks in ([], ["--check"]) if has_checks else ([],):
                out = os.path.join(env.scratch, "out." + ending)
                done = env.run(compiler, *options, *checks, program, "-o", out)
                told.update(f"{done.returncode}{done.stdout}{done.stderr}".encode())
                for name in sorted(os.listdir(env.scratch)):
                    with open(os.path.join(env.scratch, name), "rb") as file:
                        told.update(file.read())
                    os.remove(os.path.join(env.scratch, name))
            return told.hexdigest()
        except Skip as reason:
            return str(reason)
        finally:
            shutil.rmtree(env.scratch, ignore_errors=True)

    def env(self):
        scratch = tempfile.mkdtemp(dir=self.scratch)
        return LimitedEnv(self.folder, self.build, False, scratch, quick=True, short=self.is_short)


def is_tried(env, module, case):
    is_thorough = case.thorough or getattr(module, "THOROUGH", False)
    return not case.long and not case.alone and not (env.short and is_thorough)


def cases_of(env, area):
    """(name, case) of what runs for a folder, in the order of the table."""
    wanted = [("unit", UNIT[area])] + SUITES[area]
    found, modules = {}, {}
    for suite, pattern in wanted:
        if suite not in modules:
            path = os.path.join(env.root, "tests", "suites", suite + ".py")
            spec = importlib.util.spec_from_file_location(f"suite_{suite}", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            modules[suite] = [case for case in module.cases(env) if is_tried(env, module, case)]
        for case in modules[suite]:
            if fnmatch.fnmatch(case.name, pattern):
                found.setdefault(f"{suite}: {case.name}", case)
    return found


def outcome(case):
    """Whether a case passes: True, or what it says; None where it is skipped."""
    try:
        result = case.fn()
    except Skip:
        return None
    except AssertionError as problem:
        return str(problem) or "an assertion"
    except Exception as problem:  # a suite that cannot go on with what a program says
        return repr(problem)
    if isinstance(result, Counts):
        return result.output or "failed" if result.failed else True
    return True


class Trial:
    """Faults, tried one after another; several at a time, each in a tree of its own."""

    def __init__(self, folder, jobs, seconds):
        self.folder, self.seconds = folder, seconds
        self.times_path = os.path.join(folder, "times.json")
        self.times = json.load(open(self.times_path)) if os.path.exists(self.times_path) else {}
        self.cache = os.path.join(folder, "cache")
        os.makedirs(self.cache, exist_ok=True)
        self.noticed = collections.Counter()  # how many faults a case has: those come earlier
        self.lock = threading.Lock()
        self.clean = None  # a tree without a fault
        self.sound = {}  # of a case that has failed: whether it passes where there is no fault
        self.trees = [Tree(os.path.join(folder, f"tree{n}")) for n in range(jobs)]
        with open(os.path.join(self.trees[0].build, "fclc-clean"), "rb") as file:
            clean = hashlib.sha256(file.read()).hexdigest()[:16]
        self.emitted_path = os.path.join(folder, f"emitted-{clean}.json")
        self.emitted = {}  # what the compiler without a fault makes
        if os.path.exists(self.emitted_path):
            self.emitted = json.load(open(self.emitted_path))

    def is_changed(self, tree, name):
        """Can the fault be seen by this case? Not where the compiler makes the same of its program:
        but for what it does otherwise on devices that say other things than it assumes, and then a
        fault counts as not noticed that might be."""
        found = re.match(r"run: (\S+\.fcl) on (\S+)", name)
        if not found or found[2] not in EMITTED:
            return True
        with open(os.path.join(tree.folder, found[1]), "rb") as file:
            key = f"{hashlib.sha256(file.read()).hexdigest()[:16]} {found[0]}"
        if key not in self.emitted:
            self.emitted[key] = tree.emitted("build/fclc-clean", *found.groups())
        return tree.emitted("build/fclc", *found.groups()) != self.emitted[key]

    def seconds_of(self, area, name):
        """How long a case takes, as far as is known; less where it has noticed faults before, or is a
        unit test, and more where it is for what another stage says."""
        guessed = next(seconds for like, seconds in GUESSED if fnmatch.fnmatch(name, like))
        is_far = area != "types" and name.startswith(("check: ", "errors_page: "))
        weight = 5 if is_far else 1 / 8 if name.startswith("unit: ") else 1
        return self.times.get(name, guessed) * weight / (1 + self.noticed[name])

    def is_sound(self, area, name):
        """Does the case pass without the fault?"""
        with self.lock:
            if name not in self.sound:
                self.clean = self.clean or Tree(os.path.join(self.folder, "clean"))
                env = self.clean.env()
                env.set_cache(self.cache, name)
                self.sound[name] = outcome(cases_of(env, area)[name]) is True
                shutil.rmtree(env.scratch, ignore_errors=True)
                if not self.sound[name]:
                    print(f"  not counted, as it fails without a fault: {name}", flush=True)
            return self.sound[name]

    def test(self, tree, fault):
        """(what became of it, the case that noticed or what the compiler said, seconds)."""
        started = time.monotonic()
        area = next(part for part in reversed(fault.path.split("/")) if part in SUITES)
        path = os.path.join(tree.folder, fault.path)
        object_file = os.path.join(tree.build, "obj", os.path.splitext(fault.path)[0] + ".o")
        text, times = open(path, encoding="utf-8").read(), os.stat(path)
        shutil.copy2(object_file, object_file + ".clean")
        env = None
        try:
            open(path, "w", encoding="utf-8").write(fault.applied(text))
            built = tree.make(*(["all"] if area == "runtime" else ["build/fclc"]))
            if (
                built.returncode
                or "incompatible-pointer" in built.stdout
                or "int-conversion" in built.stdout
            ):
                return "not compiled", built.stdout, time.monotonic() - started
            env = tree.env()
            # A runtime that keeps wrong things keeps them for itself.
            cache = (
                tempfile.mkdtemp(dir=tree.scratch)
                if fault.path == "runtime/cache.c"
                else self.cache
            )
            cases = cases_of(env, area)
            order = sorted(
                cases,
                key=lambda name: (
                    all(word not in name for word in fault.noticed),
                    self.seconds_of(area, name),
                ),
            )
            begun = time.monotonic()
            changed = 0  # runs of programs that the fault changes
            for name in order:
                if time.monotonic() - begun > self.seconds:
                    return "not finished", f"{self.seconds} s are over", time.monotonic() - started
                env.set_cache(cache, name)
                if area != "runtime" and not self.is_changed(tree, name):
                    continue
                changed += name.startswith("run: ") and area != "types"
                if name.startswith("unit: "):
                    tree.make(f"build/tests/unit/{name.split()[1]}")
                before = time.monotonic()
                result = outcome(cases[name])
                took = time.monotonic() - before
                if result is True:
                    self.times[name] = took
                    self.sound[name] = True
                    continue
                self.times[name] = max(took, self.times.get(name, 0.0))
                if result is not None and self.is_sound(area, name):
                    self.noticed[name] += 1
                    return "killed", name, time.monotonic() - started
            return "survived", f"{changed} runs had other code", time.monotonic() - started
        finally:
            open(path, "w", encoding="utf-8").write(text)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            os.replace(object_file + ".clean", object_file)
            os.utime(object_file)  # what is linked with it is linked again
            if env:
                shutil.rmtree(env.scratch, ignore_errors=True)

    def save(self, report):
        for path, what in (
            (self.times_path, self.times),
            (self.emitted_path, self.emitted),
            (os.path.join(self.folder, "report.json"), report),
        ):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(what, file, indent=0)


def listed(name):
    """The faults of a file beside this one, by key, each with what is said of it."""
    found = {}
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        entries = "".join(line for line in file if not line.startswith("#")).split("\n\n")
    for entry in filter(None, (entry.strip() for entry in entries)):
        path, old, new, *said = entry.split("\n")
        assert old.startswith("- ") and new.startswith("+"), entry
        found[path, old[2:], "" if new == "+ (nothing)" else new[2:]] = " ".join(said)
    return found


def equivalence(equivalent, fault):
    """Why no test can see it, or None: lines that are in a file more than once are told by the line before."""
    path, *lines = fault.key
    return equivalent.get(fault.key) or equivalent.get((f"{path} after: {fault.before}", *lines))


def places_of(path, old):
    """A file's text, and where a line of it begins and ends, its blanks aside: `FILE after: LINE` is for the one
    after that line."""
    path, _, before = path.partition(" after: ")
    if not os.path.exists(os.path.join(ROOT, path)):
        return path, "", []
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    at, places, last = 0, [], ""
    for line in text.splitlines(keepends=True):
        plain = " ".join(line.split())
        if plain == old and last.endswith(before):
            places.append((at, at + len(line.rstrip("\n"))))
        at += len(line)
        last = plain or last
    return path, text, places


def known_faults():
    """Those of known.txt, as they are in today's files."""
    for (place, old, new), said in listed("known.txt").items():
        path, text, places = places_of(place, old)
        if len(places) != 1:
            sys.exit(f"known.txt: {len(places)} lines of {path} are `{old}`")
        fault = Fault("known", path, text, *places[0], new)
        fault.noticed = re.findall(r"tests/(?:\w+/)+\w+\.fcl|test_\w+", said)
        yield fault


def kept_faults():
    """Those of kept.txt whose line is still there."""
    for (place, old, new), case in listed("kept.txt").items():
        path, text, places = places_of(place, old)
        if len(places) == 1:
            fault = Fault("kept", path, text, *places[0], new)
            fault.noticed = [case]
            yield fault


def keep(report):
    """Adds to kept.txt what was noticed."""
    have = {(path.partition(" after: ")[0], *lines) for path, *lines in listed("kept.txt")}
    with open(os.path.join(HERE, "kept.txt"), "a", encoding="utf-8") as file:
        for entry in report:
            if entry["became"] != "killed" or entry["rule"] == "known" or tuple(entry["key"]) in have:
                continue
            path, old, new = entry["key"]
            if len(places_of(path, old)[2]) > 1:
                path += f" after: {entry['before']}"
            if len(places_of(path, old)[2]) == 1:
                file.write(f"\n{path}\n- {old}\n+ {new or '(nothing)'}\n{entry['why']}\n")


def drawn(seed):
    """Faults of all folders in turn, of each by rule, file and place at random, until there are
    none."""
    queues = []
    for folder in FOLDERS:
        source = random.Random(f"{seed} {folder}")
        by_rule = collections.defaultdict(lambda: collections.defaultdict(list))
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            path = f"{folder}/{name}"
            if name.endswith(".c") and not LEFT_OUT.search(path):
                with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                    for fault in faults(path, file.read()):
                        by_rule[fault.rule][path].append(fault)
        queues.append((source, by_rule))
    while any(by_rule for _, by_rule in queues):
        for source, by_rule in queues:
            if not by_rule:
                continue
            rule = source.choice(sorted(by_rule))
            path = source.choice(sorted(by_rule[rule]))
            yield by_rule[rule][path].pop(source.randrange(len(by_rule[rule][path])))
            if not by_rule[rule][path]:
                del by_rule[rule][path]
            if not by_rule[rule]:
                del by_rule[rule]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--short", action="store_true", help="only with what `make check` has")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=120)
    options.add_argument("--no-known", action="store_true", help="leave out those of known.txt")
    options.add_argument("--no-kept", action="store_true", help="draw all, as if kept.txt were empty")
    options.add_argument("--keep", action="store_true", help="add what is noticed to kept.txt")
    options.add_argument("--only", help="faults whose file, or line, has this text")
    options.add_argument("--again", help="a report: what survived in it")
    options.add_argument(
        "--go-on", action="store_true", help="with the folder's report, of a run that was ended"
    )
    options.add_argument(
        "--folder", default=os.path.join(ROOT, "build", "mutants"), help="where the copies are"
    )
    options.add_argument(
        "--seconds", type=int, default=300, help="for the tests of one fault, at most"
    )
    options.add_argument("--jobs", type=int, default=1)
    chosen = options.parse_args()
    equivalent = listed("equivalent.txt")
    again = None
    if chosen.again:
        with open(chosen.again, encoding="utf-8") as file:
            again = {
                (*entry["key"], entry["line"])
                for entry in json.load(file)
                if entry["became"] in ("survived", "not finished")
            }

    def is_chosen(fault):
        return (not chosen.only or chosen.only in fault.path or chosen.only in fault.old_line) and (
            again is None or (*fault.key, fault.line) in again
        )

    Tree.is_short = chosen.short
    trial = Trial(chosen.folder, chosen.jobs, chosen.seconds)
    lock = threading.Lock()
    report, before = [], {}
    report_path = os.path.join(chosen.folder, "report.json")
    if chosen.go_on and os.path.exists(report_path):
        with open(report_path, encoding="utf-8") as file:
            before = {
                tuple(entry["key"]): (entry["became"], entry["why"]) for entry in json.load(file)
            }

    def attempt(source, count):
        """What became of so many faults of these, in numbers."""
        source, total = filter(is_chosen, source), collections.Counter()

        def work(tree):
            while True:
                with lock:
                    fault = (
                        next(source, None)
                        if total["tried"] - total["not compiled"] < count
                        else None
                    )
                    if not fault:
                        return
                    total["tried"] += 1
                if fault.key in before:
                    became, why, took = *before[fault.key], 0.0
                    if became == "killed":
                        trial.noticed[why] += 1
                else:
                    became, why, took = trial.test(tree, fault)
                if became not in ("killed", "not compiled") and equivalence(equivalent, fault):
                    became, why = "equivalent", equivalence(equivalent, fault)
                with lock:
                    total[became] += 1
                    entry = {"key": fault.key, "line": fault.line, "rule": fault.rule, "before": fault.before}
                    report.append({**entry, "became": became, "why": why})
                    if became != "not compiled":
                        by = f" by {why}" if became == "killed" else f": {why}" if why else ""
                        print(f"{became}{by} ({took:.0f} s)\n{fault}", flush=True)
                    trial.save(report)

        with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
            for future in [pool.submit(work, tree) for tree in trial.trees]:
                future.result()
        return total

    known = attempt(known_faults(), 0 if chosen.no_known else sys.maxsize)
    kept = {} if chosen.no_kept else {fault.key: fault for fault in kept_faults()}
    others = (fault for fault in drawn(chosen.seed) if fault.key not in kept)
    total = attempt(itertools.chain(kept.values(), others), sys.maxsize if again else chosen.count)
    if chosen.keep:
        keep(report)
    enough = ENOUGH_SHORT if chosen.short else ENOUGH
    counted = total["killed"] + total["survived"] + total["not finished"]
    print(f"known: {known['killed']} of {known['tried']} killed")
    print(
        f"seed {chosen.seed}: {total['killed']} of {counted} killed, {total['survived']} survived, "
        f"{total['not finished']} not finished; "
        f"{total['equivalent']} equivalent, {total['not compiled']} did not compile"
    )
    return 1 if known["killed"] < known["tried"] or total["killed"] < enough * counted else 0


if __name__ == "__main__":
    sys.exit(main())
