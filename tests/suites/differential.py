"""Every function of the prelude against a plain one in Python, on every executor, at awkward lengths.

The table of tests/support/differential has a row for each function, type and operator; a new function of the prelude needs a row
there that runs on every executor."""

import re
from differential import EVERY, TABLE
from differential.running import run
from harness import Case

ORDER = 46


def cases(env):
    def complete():
        with open(env.path("docs", "prelude.md"), encoding="utf-8") as file:
            functions = set(re.findall(r"^(\w+) : ", file.read(), re.MULTILINE))
        assert len(functions) > 90
        tested = {executor: {name for entry in TABLE if executor in entry.executors for name in entry.names} for executor in EVERY}
        problems = [f"no row of the table on {executor}: {', '.join(sorted(functions - names))}"
                    for executor, names in tested.items() if functions - names]
        unknown = set().union(*tested.values()) - functions
        problems += [f"no function: {', '.join(sorted(unknown))}"] if unknown else []
        assert not problems, "\n".join(problems)
    yield Case("every function of the prelude has a row on every executor", complete)

    groups = {}
    for entry in TABLE:
        groups.setdefault(entry.group, []).append(entry)
    for group, rows in groups.items():
        folder = env.tmp()
        for executor in [executor for executor in EVERY if any(executor in entry.executors for entry in rows)]:
            yield Case(f"{group} on {executor}", lambda rows=rows, folder=folder, executor=executor: run(env, rows, folder, executor))
