"""-g: lines of the program in what is made of it. It changes nothing else, every executor takes it, the prelude's code
is where the program comes to it, and gdb stops at a line of a program that runs as C."""

import glob
import os
import re
from executors import EXECUTORS, require, variables
from harness import Case

ORDER = 47
PROGRAM = """sig tile : [int] -> [int]<block>
fun tile c =
  let held = force (push <block> (map (fn x => x * 3) c))
  in push <block> (generate (length c) (fn i =>
       held ! i
       + held ! (max 0 (i - 1))))
kernel k (xs : [int]) =
  splitUp 256 xs
  |> map tile
  |> concat 256
kernel total (xs : [int]) =
  reduce (+) 0 xs
"""


def cases(env):
    def program(name="k.fcl"):
        path = env.written(name, PROGRAM)
        return path

    def text(path, target, *options):
        return env.must(env.fclc, path, f"--target={target}", *options, "-o", "-")

    def only_lines():
        """What -g adds are directives, and nothing is made another way."""
        names = ("nbody", "reductions", "sparse", "fft", "linear")
        examples = [env.path("examples", name, f"{name}.fcl") for name in names]
        for path in (program(), *examples):
            for target in ("c", "cuda", "opencl"):
                plain, lined = text(path, target), text(path, target, "-g")
                assert "#line" not in plain
                assert re.search(r'^#line \d+ "', lined, re.M), f"no lines in {target} of {path}"
                assert re.sub(r"^#line .*\n", "", lined, flags=re.M) == plain, f"{target} of {path}"
    yield Case("it adds directives, and changes nothing else", only_lines)

    def named():
        """Each statement has its line; a loop has it behind its pragma."""
        for target, stored, added in (("c", r"local_array\[i\] = .*3u", r"result\[t \+ i\] = "),
                                      ("cuda", r"tile\w*\[i\w*\] = .*\* 3", r"result\[t.*\] = .*tile")):
            lines = text(program(), target, "-g").splitlines()
            for wanted, number in ((stored, 3), (added, 5)):
                places = [i for i, line in enumerate(lines) if re.search(wanted, line)]
                assert places, f"{target}: {wanted}"
                for place in places:
                    assert re.match(rf'#line {number}( "|$)', lines[place - 1]), "\n".join(lines[place - 1:place + 1])
            first = next(i for i, line in enumerate(lines) if line.startswith("#line "))
            for i, line in enumerate(lines[first:], first):
                assert not re.match(r"\s+for \(int i\w* = 0; ", line) or lines[i - 1].startswith("#line "), line
    yield Case("each statement has its line, a loop's head, too", named)

    def of_prelude():
        for target in ("c", "cuda", "opencl"):
            made = text(program("a \"b\".fcl"), target, "-g")
            files = set(re.findall(r'^#line \d+ "(.*)"$', made, re.M))
            assert {os.path.basename(name) for name in files} == {'a \\"b\\".fcl', "fclc"}, files
            of_total = made.partition("fcl_block_total" if target == "c" else "total_")[2] or made
            assert "#line 12" in of_total, f"{target}: `reduce` is nowhere"
    yield Case("code of the prelude is where the program comes to it", of_prelude)

    def runs(executor):
        require(env, executor)
        path = program()
        for call, wanted in (("k []", "[]"), ("k [5]", "[30]"), ("k [1,2,3]", "[6,9,15]"),
                             ("total iota:1000", "499500")):
            assert env.must(env.fclc, "run", "-g", *EXECUTORS[executor][0], path, *call.split(),
                            env=variables(env, executor)).strip() == wanted, f"{executor}: {call}"
    for executor in ("interp", "c", "opencl-loop", "opencl-simt", "cuda-simulator"):
        yield Case(f"a program runs with it on {executor}", lambda executor=executor: runs(executor),
                   long="opencl" in executor)

    def stops():
        folder = os.path.dirname(program())
        done = env.run(env.tool("gdb"), "-batch", "-nx", "-ex", "set debuginfod enabled off",
                       "-ex", "set breakpoint pending on", "-ex", "break k.fcl:5", "-ex", "run", "-ex", "list 5,5",
                       "--args", env.fclc, "run", "-g", "--target=c", program(), "k", "[1,2,3]", cwd=folder)
        # In optimised code, the first instruction of a line may be another's, too.
        assert re.search(r"hit Breakpoint 1.*fcl_block_k .*k\.fcl:\d", done.stdout, re.S), done.stdout + done.stderr
        assert re.search(r"^5\t +held ! i$", done.stdout, re.M), done.stdout + done.stderr
        plain = env.run(env.tool("gdb"), "-batch", "-nx", "-ex", "set debuginfod enabled off",
                        "-ex", "set breakpoint pending on", "-ex", "break k.fcl:5", "-ex", "run",
                        "--args", env.fclc, "run", "--target=c", program(), "k", "[1,2,3]", cwd=folder)
        assert "hit Breakpoint" not in plain.stdout and "[6,9,15]" in plain.stdout, plain.stdout + plain.stderr
    yield Case("gdb stops at a line of a program that runs as C", stops)

    def ahead():
        path = program()
        made = path[:-4] + ".c"
        env.must(env.fclc, path, "-g", "--ahead", "-o", made)
        env.must("gcc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-I" + env.path("runtime"),
                 "-I" + os.path.dirname(path), "-c", made, "-o", path[:-4] + ".o")
        said = env.must(env.tool("gdb"), "-batch", "-nx", "-ex", "info line k.fcl:5", path[:-4] + ".o")
        assert re.search(r'Line 5 of ".*k\.fcl" (starts|is) at address', said), said
    yield Case("kernels that are compiled ahead have lines, too", ahead)

    def kept():
        """The library that ran stays where a profiler has seen it, but only where it has lines."""
        for options, wanted in ((["-g"], 1), ([], 0)):
            folder = env.tmp()
            for _ in range(2):  # built, and from the cache
                env.must(env.fclc, "run", *options, "--target=c", program(), "k", "[1]", env={"TMPDIR": folder})
            found = glob.glob(os.path.join(folder, "*", "*"))
            assert len(found) == 2 * wanted and all(name.endswith(".so") for name in found), found
            for name in found:
                said = env.must(env.tool("gdb"), "-batch", "-nx", "-ex", "info line k.fcl:5", name)
                assert re.search(r'Line 5 of ".*k\.fcl" (starts|is) at address', said), said
    yield Case("what has run as C stays for profilers", kept)

    def in_ptx():
        """NVCC writes them into PTX, where Nsight finds them."""
        path = os.path.join(env.tmp(), "k.cu")
        env.must(env.fclc, program(), "-g", "-o", path)
        made = env.must(env.tool("nvcc"), "-lineinfo", "-ptx", "-o", "-", path)
        number = re.search(r'^\s*\.file\s+(\d+)\s+".*k\.fcl"', made, re.M)
        assert number, "the file is not named"
        lines = {int(line) for line in re.findall(rf"^\s*\.loc\s+{number[1]} (\d+)", made, re.M)}
        assert {3, 5, 12} <= lines <= set(range(13)), lines  # 0: of no line
    yield Case("PTX of nvcc has lines of the program", in_ptx, thorough=True)
