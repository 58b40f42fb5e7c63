"""What `trace` prints on stderr, on every executor: label, place and value; and nothing but that changes."""

import os
from executors import EXECUTORS, require, variables
from harness import Case

ORDER = 46
PROGRAM = r"""kernel tuples (xs : [int]) = map (fn x => trace "x, 100% \\n" (x, 1.5 * float x, x > 1)) xs
kernel chunks (xs : [i64]) =
  concat 2 (map (fn c => push <block> (map (fn x => trace "own" (x + i64 (length c))) c)) (splitUp 2 xs))
kernel host (n : int) = let k = trace "k" (n + 1) in generate k (fn i => i)
kernel numbers (x : double) =
  (trace "" (x / 3.0, 0.1f32, 65504.0f16, 3.0bf16, -1i8, 255u8, 4294967295u32, 18446744073709551615u64),
   trace "more" (-9223372036854775807i64, x > 0.0, 1.0 / x, 1e30f32, 1e-7f32, x < 0.0))
kernel once (xs : [int]) = let f x = if x > 2 then trace "large" x else x in map f xs
kernel steps (n : int) (xs : [int]) =
  power n (fn k ys => push <grid> (map (fn y => trace "y" (y + k)) ys)) (push <grid> xs)
kernel many (n : int) = map (fn i => trace "i" i) (generate n (fn i => i))
"""
# Kernel, arguments, result, and lines: on devices, and in the interpreter where these differ.
RUNS = [
    ("tuples", ["[1,2]"], "[(1,1.5,false),(2,3.0,true)]",
     [r"x, 100% \n [thread 0]: (1,1.5,false)", r"x, 100% \n [thread 1]: (2,3.0,true)"],
     [r"x, 100% \n [element 0]: (1,1.5,false)", r"x, 100% \n [element 1]: (2,3.0,true)"]),
    ("tuples", ["[]"], "[]", [], []),
    ("chunks", ["[1,2,3]"], "[3,4,4]",
     ["own [block 0, thread 0]: 3", "own [block 0, thread 1]: 4", "own [block 1, thread 0]: 4"],
     ["own [chunk 0, element 0]: 3", "own [chunk 0, element 1]: 4", "own [chunk 1, element 0]: 4"]),
    ("host", ["2"], "[0,1,2]", ["k: 3"], ["k: 3"]),
    ("once", ["[1,5,3]"], "[1,5,3]", ["large [thread 1]: 5", "large [thread 2]: 3"],
     ["large [element 1]: 5", "large [element 2]: 3"]),
    ("steps", ["2", "[7]"], "[8]", ["y [thread 0]: 7", "y [thread 0]: 8"], ["y [element 0]: 7", "y [element 0]: 8"]),
]
NUMBERS = ["more: (-9223372036854775807,true,0.5,1e30,1e-7,false)",
           ": (0.6666666666666666,0.1,65504.0,3.0,-1,255,4294967295,18446744073709551615)"]


def cases(env):
    def program():
        path = env.written("traced.fcl", PROGRAM)
        return path

    def run(executor, kernel, arguments):
        require(env, executor)
        done = env.run(env.fclc, "run", *EXECUTORS[executor][0], program(), kernel, *arguments,
                       env=variables(env, executor))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), [line for line in done.stderr.splitlines()
                                     if not line.startswith("fclc: --map=simt")]

    def traced(executor):
        for kernel, arguments, result, lines, interpreted in RUNS:
            given, printed = run(executor, kernel, arguments)
            wanted = interpreted if executor == "interp" else lines
            assert (given, sorted(printed)) == (result, sorted(wanted)), (kernel, given, printed)
        _, printed = run(executor, "numbers", ["2.0"])
        assert sorted(printed) == sorted(NUMBERS), printed

    for executor in EXECUTORS:
        yield Case(executor, lambda executor=executor: traced(executor),
                   long=executor.endswith("-optimised") or executor == "opencl-loop",
                   thorough=executor not in ("interp", "c", "cuda-simulator"))

    def too_many():
        _, printed = run("c", "many", ["500000"])
        assert len(printed) > 100000 and len(set(printed)) == len(printed), len(printed)
        assert printed[-1] == "trace: and more, which there was no room for", printed[-1]
    yield Case("more than there is room for", too_many, thorough=True)

    def in_a_program():
        folder = env.tmp()
        env.must(env.fclc, program(), "-o", os.path.join(folder, "k.c"))
        env.written("main.c",
            '#define K_IMPLEMENTATION\n#include "k.h"\nint main(void) {\n'
            "    struct fcl_options options = FCL_OPTIONS_DEFAULT;\n    options.kind = FCL_DEVICE_C;\n"
            "    struct fcl_context *context = NULL;\n    int32_t length = 0, *result = NULL;\n"
            "    if (fcl_open(&context, &options, NULL, 0) != FCL_OK ||\n"
            "        k_host(context, 1, &length, &result) != FCL_OK)\n        return 1;\n"
            "    fcl_close(context);\n    return length != 2;\n}\n", folder)
        env.must("cc", "-std=c11", "-Wall", "-Werror", "-I" + folder, "-Iruntime", os.path.join(folder, "main.c"),
                 os.path.join(env.build, "libfcl.a"), "-lm", "-ldl", "-pthread", "-o", os.path.join(folder, "main"))
        done = env.run(os.path.join(folder, "main"))
        assert (done.returncode, done.stderr) == (0, "k: 2\n"), done
    yield Case("a host program", in_a_program)

    def only_quoted():
        path = env.written("computed.fcl", "kernel k (s : [u8]) = trace s 1\n")
        done = env.run(env.fclc, "run", "--target=c", path, "k", "[65]")
        assert done.returncode == 1 and "E0107" in done.stderr, done.stderr
    yield Case("a label that is computed", only_quoted)
