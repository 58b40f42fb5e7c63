"""A client of a language server, for tests: sends requests, waits for answers and notifications."""

import json
import os
import pathlib
import queue
import subprocess
import threading


class Client:
    """A server's process, and what it has said."""
    def __init__(self, *command, env=None):
        self.process = subprocess.Popen(command,
                                        stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL,
                                        env=env)
        self.messages = queue.Queue()
        self.waiting = []  # notifications that nobody has asked for yet
        self.last_id = 0
        self.versions = {}
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def _read(self):
        out = self.process.stdout
        while True:
            length = None
            while True:
                line = out.readline()
                if not line:
                    self.messages.put(None)
                    return
                if not line.strip():
                    break
                name, value = line.split(b":", 1)
                if name.lower() == b"content-length":
                    length = int(value)
            self.messages.put(json.loads(out.read(length)))

    def _next(self, timeout=60):
        message = self.messages.get(timeout=timeout)
        assert message is not None, f"the server has ended: {self.process.wait()}"
        return message

    def send_bytes(self, body):
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method, **params):
        self.send({"method": method, "params": params})

    def answer(self, method, **params):
        """The whole response to a request."""
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        return self.response(self.last_id)

    def response(self, wanted):
        while True:
            message = self._next()
            if "method" in message:
                self.waiting.append(message)
            elif message.get("id") == wanted:
                return message

    def request(self, method, **params):
        """The result of a request, which must have one."""
        message = self.answer(method, **params)
        assert "error" not in message, message
        return message["result"]

    def start(self):
        return self.request("initialize", processId=os.getpid(), rootUri=None, capabilities={})

    def stop(self):
        """Ends the session as editors do; the exit status."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(timeout=60)

    # ---- documents, by their paths ----

    @staticmethod
    def uri(path):
        return pathlib.Path(path).as_uri()

    def open(self, path, text=None):
        if text is None:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        self.versions[path] = 1
        self.notify("textDocument/didOpen",
                    textDocument={
                        "uri": self.uri(path),
                        "languageId": "fcl",
                        "version": 1,
                        "text": text
                    })

    def change(self, path, text):
        self.versions[path] += 1
        self.notify("textDocument/didChange",
                    contentChanges=[{
                        "text": text
                    }],
                    textDocument={
                        "uri": self.uri(path),
                        "version": self.versions[path]
                    })

    def close(self, path):
        self.notify("textDocument/didClose", textDocument={"uri": self.uri(path)})

    def diagnostics(self, path):
        """The next that are published of the document as it is now."""
        while True:
            for message in self.waiting:
                params = message["params"]
                if (message["method"] == "textDocument/publishDiagnostics"
                        and params["uri"] == self.uri(path)
                        and params.get("version") == self.versions[path]):
                    self.waiting.remove(message)
                    return params["diagnostics"]
            message = self._next()
            if "method" in message:
                self.waiting.append(message)

    def at(self, method, path, line, character, **more):
        """The result of a request about a place: line and character count from 0."""
        return self.request("textDocument/" + method,
                            textDocument={"uri": self.uri(path)},
                            position={
                                "line": line,
                                "character": character
                            },
                            **more)
