"""The emitted host functions, compiled as C and C++ and run."""

import glob
import os
import re
import shutil
from harness import Case, Skip
from programs import programs

ORDER = 55
DEVICES = {"FCL_DEVICE_C": ("c", []), "FCL_DEVICE_OPENCL": ("cl", ["--map=loop"])}


def cases(env):
    library = os.path.join(env.build, "libfcl.a")
    links = [library, "-ldl", "-lm", "-lpthread"]

    def emitted(path, base, extension, options):
        folder = env.tmp()
        env.must(env.fclc, *options, path, "-o", os.path.join(folder, f"{base}.{extension}"))
        return folder

    def run(folder, source, *options, libraries=(), extra=None):
        program = os.path.join(folder, "program")
        env.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + folder, "-Iruntime", *options, source, *links,
                 *libraries, "-o", program)
        done = env.run(program, env=extra)
        if done.returncode == 77:
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, done.stdout + done.stderr

    def implementation(folder):
        unit = env.written("unit.cc", '#define UNIT_IMPLEMENTATION\n#include "unit.h"\n', folder)
        return unit

    def compile_header(unit, *compiler):
        env.must(*compiler, "-Wall", "-Wextra", "-Werror", "-Iruntime", "-fsyntax-only", unit)

    LANGUAGE = env.path("tests", "run", "language", "")
    for path in programs(env):
        for extension in ("c", "cl", "cu", "hip"):
            def compiles(path=path, extension=extension):
                folder = emitted(path, "unit", extension, [])
                unit = implementation(folder)
                compile_header(unit, "cc", "-std=c99", "-pedantic", "-x", "c")
                compile_header(unit, "g++", "-std=c++11", "-x", "c++")
                if extension == "c":  # where all kernels of the file are together, which no run has
                    env.must("cc", "-std=c11", "-Wall", "-Werror", "-fopenmp", "-fsyntax-only",
                             os.path.join(folder, "unit.c"))
            # The difference between targets is small: a check has all four of the examples, and C's of some others.
            yield Case(f"{os.path.relpath(path, env.root)}: header for .{extension}", compiles,
                       long="examples" not in path and (extension != "c" or not path.startswith(LANGUAGE)),
                       thorough=extension in ("cl", "hip"))

    def pedantic_clang():
        clang = env.tool("clang")
        unit = implementation(emitted("tests/run/language/small_programs.fcl", "unit", "cu", []))
        # more than ISO C promises for a string
        assert os.path.getsize(os.path.join(os.path.dirname(unit), "unit.h")) > 20000
        compile_header(unit, clang, "-std=c99", "-pedantic", "-x", "c")
    yield Case("a header for clang -pedantic", pedantic_clang)

    def defined_again():
        folder = env.tmp()
        path = env.written("twice.fcl", "kernel k (x : int) = x + 1\nkernel k (x : int) = x + 2\n", folder)
        env.must(env.fclc, path, "-o", os.path.join(folder, "out.c"))
        header = open(os.path.join(folder, "out.h"), encoding="utf-8").read()
        assert header.count("enum fcl_status out_k(") == 2, header  # a declaration and a definition
        assert env.must(env.fclc, "run", "--target=c", path, "k", "1") == "3\n"
    yield Case("a kernel that is defined again", defined_again)

    def parameters_like_functions():
        """`p_1`, a part of the tuple, begins as the functions of p.h do, and so would any `p_…`."""
        for base, program in (("p", "kernel k (p : (int, int)) = let (a, b) = p in a + b\n"),
                              ("p_p", "kernel k (p_p_a : int) (b : int) = p_p_a + b\n")):
            folder = env.tmp()
            env.written(base + ".fcl", program, folder)
            env.must(env.fclc, base + ".fcl", "-o", base + ".c", cwd=folder)
            env.written("main.c", f'#define {base.upper()}_IMPLEMENTATION\n#include "{base}.h"\n', folder)
            env.must("cc", "-std=c11", "-Wall", "-Werror", "-I" + folder, "-Iruntime", "-c", "-o",
                     os.path.join(folder, "main.o"), os.path.join(folder, "main.c"))
    yield Case("parameters that begin as functions do", parameters_like_functions)

    def macros():
        """No parameter is called like a macro of what generated text includes, or of a compiler of OpenCL."""
        folder = env.tmp()

        def macros_of(*command, **options):
            lines = env.must(*command, cwd=folder, **options).splitlines()
            return {re.split(r"[ (]", line)[1] for line in lines if line.startswith("#define ")}
        env.written("k.fcl", "kernel k (x : int) = x + 1\n", folder)
        env.must(env.fclc, "k.fcl", "-o", "k.c", cwd=folder)
        flags = ["-dM", "-E", "-DK_IMPLEMENTATION", "-I" + env.path("runtime")]
        names = macros_of("cc", "-std=c11", *flags, "k.h") | macros_of("cc", "-std=gnu11", *flags, "k.c")
        names |= macros_of("c++", "-x", "c++", *flags, "k.h") | {"K_IMPLEMENTATION"}
        if shutil.which("clang"):
            names |= macros_of("clang", "-x", "cl", "-cl-std=CL3.0", "-Xclang", "-finclude-default-header", "-dM", "-E",
                               "/dev/null")
        names = sorted(name for name in names if re.fullmatch(r"[A-Za-z]\w*", name) and name not in ("true", "false"))
        assert len(names) > 300, names
        env.written("all.fcl",
            "".join(f"kernel k{i} ({name} : int) = {name} + 1\n" for i, name in enumerate(names)), folder)
        env.must(env.fclc, "all.fcl", "-o", "all.c", cwd=folder)
        with open(os.path.join(folder, "all.h"), encoding="utf-8") as file:
            said = re.findall(r"all_k\d+\(struct fcl_context \*context, int32_t (\w+), int32_t \*result\);",
                              file.read())
        assert len(said) == len(names), (len(said), len(names))
        assert not set(said) & set(names), sorted(set(said) & set(names))
    yield Case("parameters that are called like macros", macros)

    def ahead(path, *sources):
        """Kernels that are linked: run where there is no compiler."""
        folder, base = env.tmp(), {"all": "kernels"}.get(os.path.basename(path)[:-4], os.path.basename(path)[:-4])
        env.must(env.fclc, "--ahead", *(["--check"] if base == "checks" else []), path, "-o",
                 os.path.join(folder, base + ".c"))
        program = os.path.join(folder, "program")
        header = open(env.path("runtime", "fcl.h"),
                      encoding="utf-8").read().replace("NULL, NULL, false }", "NULL, NULL, true }")
        env.written("fcl.h", header, folder)
        env.must("cc", "-std=c11", "-Wall", "-Werror", "-O1", "-I" + folder, "-DDEVICE=FCL_DEVICE_C", *sources,
                 os.path.join(folder, base + ".c"), *links, "-o", program)
        done = env.run(program, env={"FCL_CC": "no-such-compiler"})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    yield Case("--ahead: tests/host/all.c", lambda: ahead("tests/host/all.fcl", "tests/host/all.c"))
    yield Case("--ahead: tests/host/checks.c", lambda: ahead("tests/run/language/checks.fcl", "tests/host/checks.c"))

    def ahead_sums():
        assert ahead("examples/host/sums.fcl", "examples/host/sums.c") == "10: 1 3 6 10\n"
    yield Case("--ahead: examples/host/sums.c", ahead_sums)

    def ahead_cuda():
        """PTX by nvcc in the program, on the processor of PTX; there is no NVRTC."""
        nvcc, variables, folder = env.tool("nvcc"), env.ptx_processor(FCL_LIBNVRTC="/absent.so"), env.tmp()
        env.must(env.fclc, "--ahead", "examples/host/sums.fcl", "-o", os.path.join(folder, "sums.cu"))
        env.must(nvcc, "-ptx", "--fmad=false", "-arch=sm_90", "sums.cu", "-o", "sums.ptx", cwd=folder)
        with open(os.path.join(folder, "sums.ptx"), "rb") as file:
            image = ", ".join(str(byte) for byte in file.read())
        env.written("sums_image.h", f"static const unsigned char sums_image[] = {{{image}, 0}};\n", folder)
        with open(env.path("examples", "host", "sums.c"), encoding="utf-8") as file:
            text = file.read().replace("FCL_DEVICE_C;", "FCL_DEVICE_CUDA; options.only_linked = true;")
        source, program = os.path.join(folder, "sums.c"), os.path.join(folder, "program")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#define SUMS_IMPLEMENTATION\n" + text)
        env.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + folder, "-Iruntime", source, *links, "-o",
                 program)
        assert env.must(program, env=variables) == "10: 1 3 6 10\n"
        assert "FCL_LIBNVRTC" in env.run(env.fclc, "run", "--target=cuda", "examples/host/sums.fcl", "total", "[1]",
                                         env=variables).stderr  # it is not there, indeed
    yield Case("--ahead: CUDA", ahead_cuda)

    def only_ahead_for_some():
        for output in ("k.cl", "k.py"):
            done = env.run(env.fclc, "--ahead", "examples/host/sums.fcl", "-o", os.path.join(env.tmp(), output))
            assert done.returncode == 2 and "--ahead is for C and CUDA" in done.stderr, done.stderr
    yield Case("--ahead for others", only_ahead_for_some)

    for path in ("examples/linear/linear.fcl", "examples/sorting/sorting.fcl", "tests/run/language/reserved_names.fcl",
                 "tests/run/language/names_of_fields.fcl",
                 "tests/run/prelude/force_up_to.fcl", "tests/run/language/small_programs.fcl"):
        def links_ahead(path=path):
            """Two such files go into one program, whatever their names are."""
            folder = env.tmp()
            for base in ("k", "unit"):
                env.must(env.fclc, "--ahead", path, "-o", os.path.join(folder, base + ".c"))
                env.must("cc", "-std=c11", "-Wall", "-Werror", "-O0", "-Iruntime", "-c",
                         os.path.join(folder, base + ".c"),
                         "-o", os.path.join(folder, base + ".o"))
            env.must("ld", "-r", os.path.join(folder, "k.o"), os.path.join(folder, "unit.o"), "-o",
                     os.path.join(folder, "both.o"))
        yield Case(f"--ahead: {path}", links_ahead)

    for device, (extension, options) in DEVICES.items():
        def everything(device=device, extension=extension, options=options):
            folder = emitted("tests/host/all.fcl", "kernels", extension, options)
            run(folder, "tests/host/all.c", "-DDEVICE=" + device)
        yield Case(f"tests/host/all.c on {device}", everything)

        def into_buffers(device=device, extension=extension, options=options):
            folder = emitted("tests/host/all.fcl", "kernels", extension, options)
            for pool in "1", "exact", "0":
                run(folder, "tests/host/device_into.c", "-DDEVICE=" + device,
                    extra={"FCL_POOL": pool, "FCL_FILL": "90"})
        yield Case(f"tests/host/device_into.c on {device}", into_buffers)

        def names(device=device, extension=extension, options=options):
            folder = emitted("tests/host/names.fcl", "names", extension, options)
            env.must(env.fclc, *options, "tests/host/names.fcl", "-o", os.path.join(folder, f"again.{extension}"))
            run(folder, "tests/host/names.c", "-DDEVICE=" + device)
        yield Case(f"tests/host/names.c on {device}", names)

    yield Case("tests/host/device_into.c in the simulator", lambda: run(
        emitted("tests/host/all.fcl", "kernels", "cu", []), "tests/host/device_into.c", "-DDEVICE=FCL_DEVICE_CUDA",
        extra=env.cudasim(FCL_FILL="90")))

    yield Case("examples/host/opencl.c", lambda: run(
        emitted("examples/reduce/reduce.fcl", "sums", "cl", ["--map=loop"]), "examples/host/opencl.c"))
    yield Case("examples/host/plain.c", lambda: run(
        emitted("examples/reverse/reverse.fcl", "turn", "c", []), "examples/host/plain.c"))

    for device, (extension, options) in DEVICES.items():
        yield Case(f"tests/host/checks.c on {device}", lambda device=device, extension=extension, options=options: run(
            emitted("tests/run/language/checks.fcl", "checks", extension, ["--check", *options]), "tests/host/checks.c",
            "-DDEVICE=" + device))

    def two_devices(device, extension, options, count=1, extra=None):
        path = env.written("doubled.fcl", "kernel doubled (xs : [int]) = push <grid> (map ( * 2) xs)\n")
        run(emitted(path, "unit", extension, options), "tests/host/devices.c", "-DKIND=" + device, f"-DDEVICES={count}",
            extra=extra)
    for device, (extension, options) in DEVICES.items():
        yield Case(f"tests/host/devices.c: two contexts for {device}",
                   lambda device=device, extension=extension, options=options: two_devices(device, extension, options))

    def two_gpus():
        """The one way goes directly from device to device, and the simulator lets nothing reach the other one's
        memory."""
        calls = os.path.join(env.tmp(), "calls")
        two_devices("FCL_DEVICE_CUDA", "cu", [], 2, env.cudasim(CUDASIM_DEVICES="2", CUDASIM_CALLS=calls))
        with open(calls, encoding="utf-8") as file:
            asked = [line.split() for line in file]
        assert [line[1] for line in asked if line[0] == "peer"] == ["400000"], asked
        begun = [line[0] for line in asked[:[line[0] for line in asked].index("peer")]]
        assert begun[-1] == "wait", begun  # for the device that gives
        assert [line[1] for line in asked if line[0] == "read"] == ["399988", "399976"], asked
        listed = env.must(env.fclc, "devices", env=env.cudasim(CUDASIM_DEVICES="2"))
        assert "cuda:1" in listed, listed
    yield Case("tests/host/devices.c: two GPUs, in the simulator", two_gpus)
    yield Case("tests/host/devices.c: two GPUs by HIP, in the simulator", lambda: two_devices(
        "FCL_DEVICE_HIP", "hip", [], 2, env.cudasim(CUDASIM_DEVICES="2")))

    yield Case("tests/host/guest.c: the caller's allocator, on C", lambda: run(
        emitted("examples/host/sums.fcl", "sums", "c", []), "tests/host/guest.c", "-DDEVICE=FCL_DEVICE_C"))

    def guest_of_cuda():
        """Each change of streams makes the new one follow the old one."""
        variables = env.cudasim(CUDASIM_CALLS=os.path.join(env.tmp(), "calls"))
        driver = variables["FCL_LIBCUDA"]
        run(emitted("examples/host/sums.fcl", "sums", "cu", []), "tests/host/guest.c", "-DDEVICE=FCL_DEVICE_CUDA",
            "-DCUDA", libraries=[driver, "-Wl,-rpath," + os.path.dirname(driver)], extra=variables)
        with open(variables["CUDASIM_CALLS"], encoding="utf-8") as file:
            assert sum(line.startswith("follow ") for line in file) == 4
    yield Case("tests/host/guest.c: the caller's allocator and streams, in the simulator", guest_of_cuda)

    def own_queue():
        if not os.path.exists("/usr/include/CL/cl.h") or not glob.glob("/usr/lib/*/libOpenCL.so"):
            raise Skip("no OpenCL headers, or no library to link with: install ocl-icd-opencl-dev")
        run(emitted("examples/reverse/reverse.fcl", "turn", "cl", ["--map=loop"]), "tests/host/queue.c",
            "-DCL_TARGET_OPENCL_VERSION=120", libraries=["-lOpenCL"])
    yield Case("tests/host/queue.c: the caller's queue and memory", own_queue)

    def in_opencl():
        if not os.path.exists("/usr/include/CL/cl.h") or not glob.glob("/usr/lib/*/libOpenCL.so"):
            raise Skip("no OpenCL headers, or no library to link with: install ocl-icd-opencl-dev")
        run(emitted("examples/host/sums.fcl", "sums", "cl", ["--map=loop"]), "examples/host/in_opencl.c",
            libraries=["-lOpenCL"])
    yield Case("examples/host/in_opencl.c: inside an OpenCL program", in_opencl)

    def in_cuda():
        variables = env.cudasim()
        simulator = variables["FCL_LIBCUDA"]
        folder = emitted("examples/host/sums.fcl", "sums", "cu", [])
        program = os.path.join(folder, "in_cuda")
        env.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + folder, "-Iruntime", "examples/host/in_cuda.c",
                 *links,
                 simulator, "-Wl,-rpath," + os.path.dirname(simulator), "-o", program)
        said = env.must(program, env=variables)
        assert said == "1000 numbers, 4500 in all; the last of 1000 running sums is 4500\n", said
    yield Case("examples/host/in_cuda.c: inside a CUDA program, in the simulator", in_cuda)

    def pool(kept, **more):
        """What the driver is asked for: numbers of the calls in each part of tests/host/pool.c, and the bytes of each
        allocation."""
        folder = emitted("examples/host/sums.fcl", "sums", "cu", [])
        calls, program = os.path.join(folder, "calls"), os.path.join(folder, "pool")
        env.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + folder, "-Iruntime", "tests/host/pool.c",
                 *links, "-o",
                 program)
        env.must(program, env=env.cudasim(CUDASIM_CALLS=calls, FCL_POOL=kept, **more))
        parts, part = {}, None
        with open(calls, encoding="utf-8") as file:
            for line in file:
                what, amount, *how = line.rstrip("\n").split(" ", 2)
                if what == "part":
                    part = parts.setdefault(amount, {"alloc": [], "free": [], "launch": [], "how": set(), "read": []})
                elif part is not None and what == "read":
                    part["read"].append((int(amount), how[0]))
                elif part is not None and what in part:
                    part[what].append(int(amount))
                    part["how"].update(how if what in ("alloc", "free") else ())
        assert parts["again"]["launch"] and parts["shorter"]["launch"], parts
        # running sums, and the sum, which the device stores to the host's memory where there is a pool
        sums = [(400000, "pageable")] + [(4, "page-locked")] * (kept == "0")
        assert parts["again"]["read"] == sums, parts["again"]
        return parts

    def pool_of_classes():
        for asynchronous, how in ("1", "in order"), ("0", "now"):
            parts = pool("1", CUDASIM_ASYNC=asynchronous)
            assert parts["first"]["alloc"] and parts["first"]["how"] == {how}, parts["first"]
            for part in "again", "shorter":
                assert not parts[part]["alloc"] + parts[part]["free"], (part, parts[part])
            assert len(parts["many"]["alloc"]) > 190, len(parts["many"]["alloc"])
            assert len(parts["freed"]["free"]) > len(parts["many"]["alloc"]) - 64, parts["freed"]
            assert 2 < len(parts["one"]["alloc"]) < 60, len(parts["one"]["alloc"])
            assert all(bytes % 256 == 0 for bytes in parts["one"]["alloc"]), parts["one"]["alloc"]
            left = sum(len(part["alloc"]) - len(part["free"]) for part in parts.values())
            assert parts["trimmed"]["free"] and left == 0, left
    yield Case("tests/host/pool.c: buffers by classes of size", pool_of_classes)

    def pool_of_exact_sizes():
        parts = pool("exact")
        assert not parts["again"]["alloc"] and parts["shorter"]["alloc"], parts["shorter"]
        assert 100 in parts["many"]["alloc"], parts["many"]["alloc"]
    yield Case("tests/host/pool.c: buffers of the same size", pool_of_exact_sizes)

    def no_pool():
        parts = pool("0")
        assert parts["again"]["alloc"] and len(parts["again"]["alloc"]) == len(parts["again"]["free"]), parts["again"]
        made, given = ([bytes for bytes in parts[part]["alloc"] if bytes >= 400000] for part in ("made", "given"))
        assert len(made) == 1 and not given and parts["given"]["launch"], parts  # `_device_into` stores right there
    yield Case("tests/host/pool.c: no pool", no_pool)

    def graphs():
        folder = emitted("tests/host/graphs.fcl", "graphs", "cu", ["--check=none"])
        with open(os.path.join(folder, "graphs.h"), encoding="utf-8") as file:
            header = file.read()
        for name, why in (("positive", "launches find the length of a result"),
                          ("total", "the host reads a result that is a number"),
                          ("longs", "the host waits between launches")):
            assert f"/* There is no graphs_{name}_graph: {why}" in header and header.count(f"{name}_graph") == 1, name
        program = os.path.join(folder, "graphs")
        env.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + folder, "-Iruntime", "tests/host/graphs.c",
                 *links, "-o",
                 program)
        for pool in "1", "exact", "0":
            calls = os.path.join(folder, "calls" + pool)
            env.must(program, env=env.cudasim(CUDASIM_CALLS=calls, FCL_POOL=pool))
        folder = emitted("tests/host/graphs.fcl", "graphs", "cu", ["--check"])
        with open(os.path.join(folder, "graphs.h"), encoding="utf-8") as file:
            assert (
                "There is no graphs_ends_graph: the host looks after each launch whether a check has failed"
                in file.read()
            )
    yield Case("tests/host/graphs.c: host functions as CUDA graphs", graphs)

    def stream():
        nvcc = env.tool("nvcc")
        folder = emitted("examples/reverse/reverse.fcl", "turn", "cu", [])
        env.must(nvcc, "-x", "cu", "-I" + folder, "-Iruntime", "-c", "examples/host/stream.cu", "-o",
                 os.path.join(folder, "stream.o"))
        env.must(nvcc, os.path.join(folder, "stream.o"), *links, "-o", os.path.join(folder, "stream"))
        done = env.run(os.path.join(folder, "stream"))
        if done.returncode == 77:
            raise Skip("it is built, and there is no device to run it on: " + done.stderr.strip())
        assert done.returncode == 0, done.stdout + done.stderr
    yield Case("examples/host/stream.cu", stream)
