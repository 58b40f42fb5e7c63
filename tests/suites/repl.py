"""fclc repl: sessions at the prompt, from a pipe and on a terminal."""

import ctypes
import fcntl
import os
import re
import select
import subprocess
import termios
import time

from harness import Case, Skip, pseudo_terminal

ORDER = 38
SANITIZED = True


class Terminal:
    """A prompt on a terminal of its own."""
    def __init__(self, *command, env):
        here, there = pseudo_terminal()
        self.end = here
        self.process = subprocess.Popen(command,
                                        stdin=there,
                                        stdout=there,
                                        stderr=there,
                                        env=env,
                                        start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(there)
        self.seen = ""

    def type(self, text):
        time.sleep(0.2)  # as people do: what comes between the prompt and the editor's own mode may get lost
        os.write(self.end, text.encode())

    def look(self, seconds):
        """Takes what comes in that time."""
        ready, _, _ = select.select([self.end], [], [], seconds)
        if ready:
            self.seen += os.read(self.end, 65536).decode(errors="replace")

    def wait_for(self, pattern, seconds=30):
        """Waits until the pattern is in what came since the last time."""
        deadline = time.monotonic() + seconds
        while not (found := re.search(pattern, self.seen, re.S)):
            ready, _, _ = select.select([self.end], [], [], deadline - time.monotonic())
            assert ready, f"waited for {pattern!r}; there is {self.seen!r}"
            self.seen += os.read(self.end, 65536).decode(errors="replace")
        self.seen = self.seen[found.end():]
        return found.group(0)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.end)


def cases(env):
    def session(*lines, target=None):
        """What is printed, and the errors."""
        arguments = [f"--target={target}"] if target else []
        done = env.run(env.fclc, "repl", *arguments, input="".join(line + "\n" for line in lines))
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines(), done.stderr

    def expressions():
        got = session("1 + 2", "map (fn x => x * x) (iota 4)", "(1.5, true)",
                      "reduce (+) 0 (iota 100)", "force (push <grid> [1,2])", "map", "let a = 3",
                      "    b = 4", "in a + b", "(* over", "lines *) 5 +", "", "6")
        assert got[0] == [
            "3", "[0,1,4,9]", "(1.5,true)", "4950", "[1,2]", "it : (a -> b) -> [a] -> [b]", "7", "6"
        ], got
        assert "expected an expression" in got[1], "an empty line ends what is not complete"
        got = session("let x = 3", "x + 1", "let twice f x = f (f x)", "twice (+ x) 1", "let y = 4", "", "y",
                      "let z = 5 in z", "let w = 6", "in w", "let v = 7")
        wanted = ["x : int", "4", "twice : (a -> a) -> a -> a", "7", "y : int", "4", "5", "6", "v : int"]
        assert got == (wanted, ""), got
        got = session("nope", "1 + true", "[1,2] ! 5", "2")
        assert got[0] == ["2"] and "nothing is called `nope`" in got[1], got
        assert "E0501" in got[1], got
        assert session("fun down n = down (n + 1)", "down 0 + 1", "7")[0][-1] == "7"

    yield Case("expressions", expressions)

    def alternatives():
        defined = ("data shape = Circle float | Box (float, float) | Empty", "data option a = None | Some a",
                   "data any = Of shape | Both (shape, (bool, shape)) | Maybe (option int)",
                   "type at = { s : shape, n : int }")
        shown = ("Circle 1.5", "Box (1.0,2.0)", "Empty", "(1,Empty)", "[Circle 1.0,Empty]", "[[Empty],[Circle 2.0]]",
                 "{s=Box (1.0,2.0),n=3}", "Some (-3)", "Some (Some 2)", "Some (Circle 2.0,-1)", "Some {s=Empty,n=1}",
                 "Both (Box (1.0,2.0),(true,Circle 3.0))", "Maybe (Some (-2))", "[Of Empty,Maybe None,Of (Circle 1.0)]")
        for target in ("interp", "c"):
            got = session(*defined, *shown, "push <grid> (map (fn x => if x > 0 then Some x else None) (iota 2))",
                          target=target)
            assert got == ([*shown, "[None,Some 1]"], ""), got
        got, errors = session(*defined, "None", "kernel k (x : int) = Some x", ":cuda Some 1")
        assert got == [] and "as in `([] : [int])`" in errors and errors.count("E0240") == 2, (got, errors)

    yield Case("values of alternatives", alternatives)

    def definitions():
        got, errors = session("fun sq x = x * x", "fun twice f x =", "f (f x)",
                              "sig inc : int -> int", "fun inc x = x + 1", "twice sq 3",
                              "fun inc x = x + 2", "fun wrong = ", "", "inc 1", 'import "matrix"',
                              "matMul 1 2 1 [1,2] [3,4]", 'import "nowhere"', "val half = 0.5",
                              "half", "param n : int = 4", "n", "type pair = (int, int)",
                              "fun first (p : pair) = fst p", "first (3, 4)", ":list")
        assert got == [
            "sq : num a => a -> a", "twice : (a -> a) -> a -> a", "inc : int -> int", "81",
            "inc : num a => a -> a", "3", "[11]", "half : double", "0.5", "n : int", "4",
            "first : (int, int) -> int", "3", "fun sq x = x * x", "fun twice f x =", "f (f x)",
            "sig inc : int -> int", "fun inc x = x + 1", "fun inc x = x + 2", 'import "matrix"',
            "val half = 0.5", "param n : int = 4", "type pair = (int, int)",
            "fun first (p : pair) = fst p"
        ], got
        assert "there is no file `nowhere`" in errors, errors

    yield Case("definitions", definitions)

    def commands():
        got, errors = session(":type map (fn x => x + 1)", ":type force (push <block> [1])",
                              ":type", ":run",
                              "kernel k (xs : [int]) = push <grid> (map (fn x => x + 1) xs)",
                              ":run k [1, 2]", "k [1, 2]", "kernel k (xs : [int]) = xs", ":run k [5]", ":run j",
                              ":run on c", "1 + 1", ":run on mars", ":what", ":report k", ":quit",
                              "9")
        assert got[:7] == [
            "map (fn x => x + 1) : num a => [a] -> [a]", "force (push <block> [1]) : num a => [a]",
            "runs on interp", "k : [int] -> [int]<grid>", "[2,3]", "k : [int] -> [int]", "[5]"
        ], got
        assert got[7] == "2" and any("launch k: xs_length iterations" in line for line in got), got
        assert got[-1] != "9", "after :quit"
        for wanted in (":type wants EXPRESSION",
                       "`k` is a kernel, which no expression can use: `:run k [1, 2]` runs it",
                       "no kernel of the session is called `j`",
                       "`mars` is no target", "no command `:what`"):
            assert wanted in errors, errors
        assert session("kernel f = 2", "fun f x = x + 1", "f 3")[0][-1] == "4"
        got = session("type p = { x : int, y : int }", "kernel r (a : p) (s : [u8]) = a.x + a.y + length s",
                      ':run r { x = 1, y = 2 } "a b]"')
        assert got == (["r : p -> [u8] -> int", "7"], ""), got
        for entered in ("1 + 1", "fun f x = x", ":help", ":type 1"):
            done = env.run("sh", "-c", f"exec {env.fclc} repl >/dev/full", input=entered + "\n2 + 2\n")
            assert done.returncode == 2 and "standard output" in done.stderr, f"{done.returncode}: {done.stderr}"
        got, _ = session("kernel a (xs : [int]) = xs",
                         "kernel b (xs : [int]) = map (fn x => x + 7) xs", ":cuda b", ":help")
        text = "\n".join(got)
        assert "__global__" in text and "+ 7" in text and "a_launch" not in text, text
        for name in ("type", "run", "cuda", "report", "list", "help", "quit"):
            assert f"  :{name} " in text, text
        assert session("1 + 1", ":run", target="c")[0] == ["2", "runs on c"]

    yield Case("commands", commands)

    def terminal():
        try:
            ctypes.CDLL("libedit.so.2")
        except OSError:
            raise Skip("libedit is not installed (Debian: libedit2)") from None
        history = os.path.join(env.tmp(), "history")
        settings = {**os.environ, "TERM": "vt100", "FCL_HISTORY": history, "LC_ALL": "C.UTF-8"}

        def prompt():
            return Terminal(env.fclc, "repl", env=settings)

        shown = prompt()
        try:
            shown.wait_for("fcl> ")
            shown.type("1 + 2\n")
            shown.wait_for("3\r\n.*fcl> ")
            shown.type("fun elevenMore x =\n")
            shown.wait_for(r"\.\.\.> ")
            shown.type("x + 11\n")
            shown.wait_for("elevenMore : num a => a -> a.*fcl> ")
            shown.type("elevenM\t3\n")
            shown.wait_for("14\r\n.*fcl> ")
            shown.type("splitUpE\t2 [1,2,3] ! 0\n")
            shown.wait_for(r"nd.*\[1\]\r\n.*fcl> ")
            shown.type("loop (fn x => x > 0i64) (fn x => x + 1i64) 1i64\n")
            shown.wait_for("\\+ 1i64\\) 1i64\r\n")  # an interrupt takes away what is not read yet
            deadline = time.monotonic() + 60
            while "interrupted" not in shown.seen and time.monotonic() < deadline:
                shown.type("\x03")  # nothing is there to interrupt until the child runs
                shown.look(0.5)
            shown.wait_for("interrupted.*fcl> ")
            shown.type("\x04")
            assert shown.process.wait(timeout=30) == 0
        finally:
            shown.close()
        shown = prompt()
        try:
            shown.wait_for("fcl> ")
            shown.type("\x1b[A\x1b[A\n")  # two entries back
            shown.wait_for(r"\[1\]\r\n.*fcl> ")
        finally:
            shown.close()

    yield Case("on a terminal: editing, completion, history, interrupts", terminal)
