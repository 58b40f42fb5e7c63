"""Running rows: those with the same tests are computed together by one kernel, and a group's kernels are one program
for each executor, whose test directives are in the order of lengths, so that the first that fails is the smallest."""

import os
import re
from executors import EXECUTORS, require, variables
from harness import Counts
from .rows import LONGEST, PRELUDE, chunks, in_tuple

TOGETHER = 8  # so many rows are computed by one kernel, as each costs OpenCL half a second


class Bundle:
    """Rows with the same tests, computed by one kernel."""

    def __init__(self, rows):
        self.rows, self.tests, self.long = rows, rows[0].tests, rows[0].long
        self.name = "k" + "_".join(str(entry.number) for entry in rows)

    def source(self):
        if len(self.rows) == 1:
            return (
                f"kernel {self.name} {' '.join(f'({p} : {kind})' for p, kind in self.rows[0].params)} ="
                f" {self.rows[0].kernel}"
            )
        params, results = [], []
        for entry in self.rows:
            named = [f"{p}{entry.number}" for p, _ in entry.params]
            params += [f"({name} : {kind})" for name, (_, kind) in zip(named, entry.params)]
            results.append(f"(fn {' '.join(p for p, _ in entry.params)} => {entry.kernel}) {' '.join(named)}")
        return f"kernel {self.name} {' '.join(params)} =\n  ({', '.join(results)})".replace("\n", " ")

    def directive(self, folder, length, label):
        given, wanted = zip(*(entry.values(folder, length, label) for entry in self.rows))
        return f"-- test {self.name} {' '.join(given)} {'~=' if self.rows[0].near else '=='} {in_tuple(wanted)}"


def bundled(rows):
    """Rows with the same tests in bundles."""
    alike = {}
    for entry in rows:
        alike.setdefault((entry.number if entry.alone else (tuple(entry.tests), tuple(entry.long)), entry.near),
                         []).append(entry)
    return [Bundle(part) for entries in alike.values() for part in chunks(TOGETHER, entries)]


def run(env, rows, folder, executor):
    require(env, executor)

    def attempt(bundles, tests):
        """Run these tests, of (length, place in bundles, label): those that failed, the counts if it came to an end,
        all output."""
        libraries = sorted({entry.library for bundle in bundles for entry in bundle.rows if entry.library})
        lines = (
            [f'import "{library}"' for library in libraries]
            + PRELUDE.splitlines()
            + [bundle.source() for bundle in bundles]
        )
        # not the whole path, which is in the generated code: what is built is found again by later runs
        name = f"{executor}.fcl"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines + [bundles[i].directive(folder, length, label) for length, i, label in tests]) +
                       "\n")
        done = env.run(env.fclc, "test", *EXECUTORS[executor][0], name, cwd=folder, env=variables(env, executor),
                       timeout=3600 if env.long else 600)
        failed = [(tests[int(line) - len(lines) - 1], text) for line, text in
                  re.findall(r"^[^\n]*\.fcl:(\d+): (.*)$", done.stdout, re.M) if int(line) > len(lines)]
        return failed, Counts.of_last_line(done.stdout), done.stdout + done.stderr

    def told(test, bundle, text):
        """What is wrong: with one row, where one alone shows it, and all that went together elsewhere."""
        length, _, label = test
        for entry in bundle.rows:
            single = Bundle([entry])
            failed, counts, output = attempt([single], [(length, 0, label)])
            if not counts or counts.failed:
                bundle, text = single, failed[0][1] if failed else output
                break
        titles = " with ".join(entry.title for entry in bundle.rows)
        kinds = " ".join(kind for entry in bundle.rows for _, kind in entry.params)
        return (f"{titles}{label and ', ' + label}, types {kinds}, length {length}, {executor}: "
                f"{text}\n{bundle.source()}\n"
                f"{bundle.directive(folder, length, label)}\n")

    bundles = bundled([entry for entry in rows if executor in entry.executors])
    tests = sorted((length, i, label) for i, bundle in enumerate(bundles) for length, label in bundle.tests +
                   bundle.long * env.long
                   if env.long or length <= LONGEST[executor])
    failed, counts, output = attempt(bundles, tests)
    if not counts:  # a crash: the smallest test that does not come to an end
        for test in tests:
            _, counts, output = attempt([bundles[test[1]]], [(test[0], 0, test[2])])
            assert counts, told(test, bundles[test[1]], output)
        raise AssertionError(f"all tests together do not come to an end\n{output}")
    if counts.failed:
        (test, text), more = failed[0], failed[1:6]
        counts.output = told(test, bundles[test[1]], text) + "".join(
            f"also {bundles[i].name}{label and ', ' + label}, length {length}: {text}\n" for (length, i, label),
            text in more)
    else:
        assert counts.passed == len(tests), f"{counts.passed} of {len(tests)} ran\n{output}"
    return counts
