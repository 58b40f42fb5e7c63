"""The libraries that programs are linked with: what they show, and that they work from their place."""

import json
import os
import re
import subprocess
from harness import Case, Skip

ORDER = 56
LIBRARIES = {"libfcl": ("runtime/fcl.h", "FCL_1"), "libfclc": ("compiler/driver/fclc.h", "FCLC_0")}


def prototypes(header):
    """The functions that a header declares, those with a body aside, and what each takes."""
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"//[^\n]*|\\\n", "", file.read())
    text = re.sub(r"\{[^{}]*\}", " @ ", text)
    return dict(re.findall(r"\b(fclc?_\w+)\s*\(([^;@]*?)\)\s*;", text))


def declared(header):
    return set(prototypes(header))


def calls(header, first):
    """A call of each with 0 for everything; and two with what it works on, and 0 or 1 for the rest."""
    known = {"fcl_context": "context", "fcl_buffer": "buffer", "fcl_program": "program", "fcl_kernel": "kernel",
             "fclc_program": "compiled", "fclc_kernel": "opened"}
    lines = []
    for function, parameters in prototypes(header).items():
        types = [re.sub(r"\w+$", "", " ".join(one.split())).strip() for one in parameters.split(",")]
        if parameters == "void":
            lines.append(f"EMPTY({first + len(lines)}, {function})")
            continue
        for number in (None, 0, 1):
            words = []
            for kind in types:
                handle = re.fullmatch(r"(?:const )?struct (\w+) \*", kind)
                if number is not None and handle and handle.group(1) in known:
                    words.append(known[handle.group(1)])
                else:
                    words.append(f"({kind}){0 if '*' in kind else number or 0}")
            lines.append(f"CALL({first + len(lines)}, {function}, {', '.join(words)})")
    return lines


def cases(env):
    def shared(name):
        path = os.path.join(env.build, name + ".so")
        if not os.path.exists(path):
            raise Skip("no shared libraries in this tree")
        return path

    for name, (header, version) in LIBRARIES.items():
        def symbols(name=name, header=header, version=version):
            shown = env.must("nm", "-D", "--defined-only", shared(name)).split("\n")
            shown = {line.split()[2] for line in shown if line and line.split()[1] != "A"}
            names = declared(env.path(header))
            assert len(names) > 10, names
            want = {f"{symbol}@@{version}" for symbol in names}
            assert shown == want, f"missing {want - shown}, too many {shown - want}"
        yield Case(f"{name}.so shows what {header} declares, with versions", symbols)

    def position_independent():
        env.must("cc", "-shared", "-Wl,-z,text", "-Wl,--whole-archive", os.path.join(env.build, "libfcl.a"),
                 "-Wl,--no-whole-archive", "-o", os.path.join(env.tmp(), "part.so"), "-ldl", "-lm", "-lpthread")
    yield Case("libfcl.a in a shared library of someone's own", position_independent)

    def compiler(extra=None):
        env.header("cmocka.h", "cmocka for the unit tests")
        place = os.path.dirname(shared("libfclc"))
        program = os.path.join(env.tmp(), "program")
        env.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Icompiler/driver", "-Iruntime",
                 "tests/unit/test_library.c",
                 "-L" + place, "-lfclc", "-lfcl", "-lcmocka", "-Wl,-rpath," + os.path.abspath(place), "-o", program)
        done = env.run(program, cwd="/", env=extra)
        assert done.returncode == 0, done.stdout + done.stderr
    yield Case("tests/unit/test_library.c on the shared libraries", compiler)

    def nothing_given():
        place, folder, lines = os.path.dirname(shared("libfclc")), env.tmp(), []
        for header, _ in LIBRARIES.values():
            lines += calls(env.path(header), len(lines))
        env.written("calls.h", "\n".join(lines) + "\n", folder)
        program = os.path.join(folder, "null")
        env.must("cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Icompiler/driver", "-Iruntime",
                 "-I" + folder, "tests/host/null.c", "-L" + place, "-lfclc", "-lfcl",
                 "-Wl,-rpath," + os.path.abspath(place), "-o", program)
        done = env.run(program)
        assert done.returncode == 0, done.stdout + done.stderr
    yield Case("each function where it is given nothing", nothing_given)

    # device: the ending of what is emitted for it, and the environment
    STATES = {"c": ("c", dict), "opencl": ("cl", dict), "cuda": ("cu", env.cudasim)}
    for device, (extension, variables) in STATES.items():
        def same_in_any_state(device=device, extension=extension, variables=variables):
            place, folder = os.path.dirname(shared("libfclc")), env.tmp()
            program, locales = os.path.join(folder, "state"), os.path.join(folder, "locales")
            with open("tests/host/state.c", encoding="utf-8") as file:
                cases_of = set(re.findall(r"^CASE\((\w+)\)", file.read(), re.M))
            for header, _ in LIBRARIES.values():
                missing = declared(env.path(header)) - cases_of
                assert not missing, f"tests/host/state.c has no case of {', '.join(sorted(missing))}"
            os.mkdir(locales)
            env.must(env.tool("localedef"), "-i", env.file("/usr/share/i18n/locales/de_DE"), "-f", "ISO-8859-1",
                     os.path.join(locales, "de_DE"))
            env.must(env.fclc, "tests/host/state.fcl", "-o", os.path.join(folder, "state." + extension))
            env.must("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-Icompiler/driver",
                     "-Iruntime", "-I" + folder, "tests/host/state.c", "-L" + place, "-lfclc", "-lfcl", "-lm",
                     "-Wl,-rpath," + os.path.abspath(place), "-o", program)
            done = env.run(program, device, "de_DE", env=variables(LOCPATH=locales, FCL_THREADS="4"))
            if done.returncode == 77:
                raise Skip(done.stderr.strip())
            assert done.returncode == 0, done.stdout + done.stderr
        yield Case(f"each function whatever its caller's locale and rounding, on {device}", same_in_any_state)

    def that_says():
        library = os.path.join(env.tmp(), "libsays.so")
        if env.run("cc", "-shared", "-fPIC", "-Wall", "-Werror", "tests/support/opencl_says.c", "-o", library, "-ldl",
                   "-Wl,--no-as-needed", "-l:libOpenCL.so.1").returncode:
            raise Skip("no headers of OpenCL, or no library")
        return library

    def sub_groups():
        library = that_says()
        intel, khronos = "cl_intel_required_subgroup_size", "cl_khr_subgroup_shuffle cl_khr_subgroup_ballot"
        for extensions, sizes, wanted in (
                (f"cl_khr_fp64 {intel} cl_intel_subgroups", "8 16 32", True), (f"{khronos} {intel}", "32", True),
                (f"{intel} cl_intel_subgroups", "8 16", False), ("cl_intel_subgroups", "8 16 32", False),
                (f"{intel} cl_intel_subgroups_short", "32", False), (f"{intel} x_cl_intel_subgroups", "32", False),
                (f"{intel} cl_khr_subgroup_ballot", "32", False), (f"{intel}s cl_intel_subgroups", "32", False)):
            listed = json.loads(env.must(env.fclc, "devices", "--json", env={
                "FCL_LIBOPENCL": library, "SAYS_EXTENSIONS": extensions, "SAYS_SIZES": sizes}))["devices"]
            said = [device["sub_groups"] for device in listed if device["target"] == "opencl"]
            if not said:
                raise Skip("no OpenCL device")
            assert set(said) == {wanted}, f"{extensions}, {sizes}: {said}"
    yield Case("an OpenCL device has sub-groups if it lists what they need", sub_groups)

    def without_binaries():
        """Nothing is kept on disk of a driver that gives nothing to keep."""
        for variables, is_kept in (({}, True), ({"SAYS_NO_BINARIES": "1"}, False)):
            cache = env.tmp()
            done = env.run(env.fclc, "test", "--target=opencl", "tests/run/language/chained_vals.fcl", env={
                "FCL_LIBOPENCL": that_says(), "XDG_CACHE_HOME": cache, "FCL_CACHE": "1", **variables})
            if "no driver" in done.stdout + done.stderr:
                raise Skip("no OpenCL device")
            assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout + done.stderr
            kept = [name for _, _, names in os.walk(cache) for name in names if name.endswith(".fclbin")]
            assert bool(kept) == is_kept, kept
    yield Case("an OpenCL without binaries", without_binaries)

    def by_architecture():
        """What Intel's driver is told to make code for tells what is kept of it apart (QUIRK_ONES)."""
        cache, library, counts = env.tmp(), that_says(), []
        for architecture in ("core-avx2", "core-avx2", "skx"):
            done = env.run(env.fclc, "test", "--target=opencl", "tests/run/language/chained_vals.fcl", env={
                "FCL_LIBOPENCL": library, "XDG_CACHE_HOME": cache, "FCL_CACHE": "1",
                "CL_CONFIG_CPU_TARGET_ARCH": architecture})
            if "no driver" in done.stdout + done.stderr:
                raise Skip("no OpenCL device")
            counts.append(sum(name.endswith(".fclbin") for _, _, names in os.walk(cache) for name in names))
        assert counts[0] > 0 and counts == [counts[0], counts[0], 2 * counts[0]], counts
    yield Case("what an OpenCL makes for other processors is kept apart", by_architecture)

    def one_build_at_a_time():
        """PoCL ends a process that finds half a file in its cache; other programs are built meanwhile."""
        library = that_says()
        listed = json.loads(env.must(env.fclc, "devices", "--json"))["devices"]
        platforms = [device["platform"] for device in listed if device["target"] == "opencl"]
        if platforms[:1] != ["Portable Computing Language"]:
            raise Skip("no PoCL, or not the first device")
        for numbers, wanted in (((1, 1), "()()"), ((1, 2), "(())")):
            folder, running = env.tmp(), []
            for name, number in zip("ab", numbers):
                path = env.written(name + ".fcl",
                    f"kernel more (xs : [int]) = map (+ {number}) xs |> splitUp 4 |> map (push<block>) "
                    "|> concat 4\n", folder)
                running.append(subprocess.Popen(
                    [env.fclc, "run", "--target=opencl", path, "more", "iota:4"],
                    env=env.variables({"FCL_LIBOPENCL": library, "SAYS_BUILDS": os.path.join(folder, "builds"),
                                       "XDG_CACHE_HOME": folder}),
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
            said = [process.communicate()[0] for process in running]
            assert [process.returncode for process in running] == [0, 0], said
            with open(os.path.join(folder, "builds"), encoding="utf-8") as file:
                order = file.read()
            assert order == wanted, f"{numbers}: {order}"
    yield Case("one process at a time has PoCL build a program", one_build_at_a_time, alone=True)

    def without_waiting():
        """Blocks do not wait where the GPU does not promise that they go on; and they have what threads it has."""
        given, wanted = list(range(1000)), [k * (k + 1) // 2 for k in range(1000)]
        program = env.written("running.fcl", "kernel running (xs : [int]) = scan (+) 0 xs\n"
                              f"-- test running {given} == {wanted}\n")
        atomics = "cl_khr_int64_base_atomics cl_khr_fp64"
        for vendor, extensions, waits in (("Intel", atomics, True), ("QUALCOMM", atomics, False),
                                          ("Intel", "cl_khr_fp64", False)):
            says = {"FCL_LIBOPENCL": that_says(), "SAYS_VENDOR": vendor, "SAYS_EXTENSIONS": extensions,
                    "POCL_MAX_WORK_GROUP_SIZE": "64"}
            listed = json.loads(env.must(env.fclc, "devices", "--json", "--target=opencl", env=says))["devices"]
            if not listed:
                raise Skip("no OpenCL device")
            assert listed[0]["waiting_blocks"] is waits and listed[0]["kind"] == "opencl-gpu", listed
            done = env.run(env.fclc, "test", "--target=opencl", program, "tests/run/prelude/lookback.fcl", env=says)
            assert done.returncode == 0, done.stdout + done.stderr
            timed = json.loads(env.must(env.fclc, "bench", "--json", "--runs=1", "--target=opencl", program, "running",
                                        "iota:1000", env=says))
            assert (len(timed["launches"]) == 1) is waits, timed
            for one_pass in (True, False):  # IR that was written for any device
                text = os.path.join(env.tmp(), "running.fclir")
                env.must(env.fclc, "--target=opencl", "--map=simt", "--block-size=64", "-D",
                         f"onePass={str(one_pass).lower()}", program, "-o", text)
                done = env.run(env.fclc, "run", "--target=opencl", text, "running", "[1,2,3]", env=says)
                assert (done.stdout == "[1,3,6]\n") is (waits or not one_pass), done.stdout + done.stderr
                assert ("on this device none waits" in done.stderr) is (one_pass and not waits), done.stderr
    yield Case("an OpenCL device on which no block waits for another, of few threads", without_waiting)

    def runs_with_sub_groups():
        """By the mapping for GPUs, with no word on sub-groups: it has these, though the driver tells no width."""
        extensions = "cl_khr_fp64 cl_intel_required_subgroup_size cl_intel_subgroups"
        done = env.run(env.fclc, "test", "--target=opencl", "--map=simt", "tests/run/language/chained_vals.fcl", env={
            "FCL_LIBOPENCL": that_says(), "SAYS_EXTENSIONS": extensions, "SAYS_SIZES": "8 16 32"})
        if "no driver" in done.stdout + done.stderr:
            raise Skip("no OpenCL device")
        assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout + done.stderr
    yield Case("programs run on an OpenCL device with sub-groups", runs_with_sub_groups)
