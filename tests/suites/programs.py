"""tests/run-all, where there is one: a runner of its own that ends with `N passed, N failed, N skipped`."""

import os
from harness import Case, Counts

ORDER = 30
SANITIZED = True


def cases(env):
    runner = env.path("tests", "run-all")
    if not os.path.exists(runner):
        return

    def run_all():
        command = [runner, "--fclc", env.fclc] + (["--reduced"] if env.sanitized else [])
        done = env.run(*command, timeout=1800)
        counts = Counts.of_last_line(done.stdout)
        assert counts, f"tests/run-all did not end with its counts\n{done.stdout}{done.stderr}"
        counts.output += done.stderr
        if done.returncode and not counts.failed:
            counts.failed = 1
        return counts

    yield Case("tests/run-all", run_all, alone=True)
