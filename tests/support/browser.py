"""A page in headless Chromium, by the DevTools protocol over a pipe: messages are JSON, each ended by a zero byte."""

import json
import os
import select
import subprocess
import time


class Page:
    """Opens an address; use with `with`. Everything is waited for at most so many seconds."""

    def __init__(self, chromium, profile, address, seconds=120):
        to_read, self.to = os.pipe()
        self.got, to_write = os.pipe()
        self.seconds, self.number, self.rest, self.problems = seconds, 0, b"", []

        def as_chromium_wants():  # commands on descriptor 3, answers on 4
            os.dup2(to_read, 63), os.dup2(to_write, 64)
            os.dup2(63, 3), os.dup2(64, 4)
        self.process = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe",
             "--user-data-dir=" + profile, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=as_chromium_wants, close_fds=False)
        os.close(to_read), os.close(to_write)
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Runtime.enable")
        self.ask("Page.enable")
        self.ask("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    session = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to), os.close(self.got)

    def message(self, end):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.got], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self.got, 1 << 16)
            assert piece, "the browser has ended"
            self.rest += piece
        one, _, self.rest = self.rest.partition(b"\0")
        return json.loads(one)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.seconds
        while True:
            got = self.message(end)
            if got.get("method") == "Runtime.exceptionThrown":
                details = got["params"]["exceptionDetails"]
                self.problems.append(details.get("exception", {}).get("description", details["text"]))
            if got.get("id") == self.number:
                assert "error" not in got, f"{method}: {got['error']}"
                return got["result"]

    def value(self, expression):
        """What JavaScript gives; a promise is waited for."""
        got = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in got, f"{expression}: {got['exceptionDetails']}"
        return got["result"].get("value")

    def wait(self, condition):
        end = time.monotonic() + self.seconds
        while not self.value(condition):
            assert not self.problems, self.problems
            assert time.monotonic() < end, f"it never is so: {condition}\n{self.value('document.body.innerText')}"
            time.sleep(0.05)
