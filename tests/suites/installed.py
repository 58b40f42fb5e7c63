"""What is installed, used as other projects use it: pkg-config, make, CMake, Meson, C++20, Rust."""

import os
import shutil
import threading
import time
import fresh as fresh_debian
from harness import Case, Skip

ORDER = 61
THOROUGH = True
SUMS = "10: 1 3 6 10\n"
IN_DEBIAN = """\
set -eu
apt-get update -qq
apt-get install -y -qq /root/fcl.deb pkgconf
echo '--- programs ---'
cd /sums
fclc run --target=c sums.fcl total '[1,2,3,4]'
mkdir made
fclc --ahead sums.fcl -o made/sums.c
cc -Imade sums.c made/sums.c $(pkg-config --cflags --libs fcl) -lm -lpthread -o made/sums
made/sums
apt-get remove -y -qq fcl >/dev/null
[ -z "$(find /usr -iname '*fclc*' -o -name 'libfcl*')" ] && echo gone
"""


def cases(env):
    root, once = [], threading.Lock()  # where it is installed, and moved to

    def prefix():
        with once:
            return root[0] if root else install()

    def install():
        if not os.path.exists(os.path.join(env.build, "libfcl.so")):
            raise Skip("no shared libraries in this tree")
        place, moved = (os.path.join(env.tmp(), name) for name in ("first", "moved"))
        env.must("make", "BUILD=" + env.build, "PREFIX=" + place, "install", timeout=600)
        os.rename(place, moved)
        root.append(moved)
        return moved

    def variables():
        return {"PKG_CONFIG_PATH": os.path.join(prefix(), "lib", "pkgconfig")}

    def example():
        """A copy of examples/host, in which files may be changed."""
        place = os.path.join(env.tmp(), "host")
        shutil.copytree(env.path("examples", "host"), place, ignore=shutil.ignore_patterns("target", "build"))
        return place

    def edit(place):
        """Changes a kernel, later than what was made of it as far as file systems can tell."""
        time.sleep(1.1)
        path = os.path.join(place, "sums.fcl")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("reduce (+) 0 xs", "10 * reduce (+) 0 xs"))

    def pkg_config():
        tool = env.tool("pkg-config")
        flags = env.must(tool, "--cflags", "--libs", "fcl", "fclc", env=variables()).split()
        assert f"-I{prefix()}/lib/pkgconfig/../../include" in flags and "-lfcl" in flags and "-lfclc" in flags, flags
        version = env.must(tool, "--modversion", "fcl", env=variables()).strip()
        assert env.must(env.fclc, "--version").startswith(f"fclc {version}\n"), version
        assert env.must(tool, "--variable=fclc", "fcl", env=variables()).strip().endswith("/bin/fclc")
    yield Case("pkg-config", pkg_config)

    def make():
        env.tool("pkg-config")
        place = example()
        folder = os.path.join(place, "make")
        env.must("make", cwd=folder, env=variables())
        assert env.must(os.path.join(folder, "sums")) == SUMS
        assert "up to date" in env.must("make", cwd=folder, env=variables())
        edit(place)
        env.must("make", cwd=folder, env=variables())
        assert env.must(os.path.join(folder, "sums")) == "100" + SUMS[2:]
    yield Case("examples/host/make, and again after a change", make)

    for generator in ("Unix Makefiles", "Ninja"):
        def cmake(generator=generator):
            tool = env.tool("cmake")
            if generator == "Ninja":
                env.tool("ninja")
            place = example()
            folder = os.path.join(place, "cmake")
            build = os.path.join(folder, "build")
            env.must(tool, "-G", generator, "-B", build, "-S", folder, "-DCMAKE_PREFIX_PATH=" + prefix())
            env.must(tool, "--build", build)
            assert env.must(os.path.join(build, "sums")) == SUMS
            again = env.must(tool, "--build", build)
            assert "Compiling" not in again and "Linking" not in again and "Building" not in again, again
            edit(place)
            env.must(tool, "--build", build)
            assert env.must(os.path.join(build, "sums")) == "100" + SUMS[2:]
        yield Case(f"examples/host/cmake by {generator}, and again after a change", cmake)

    def imported():
        """A change of what a file imports compiles it again, too; and a library of kernels has several files."""
        tool, place = env.tool("cmake"), env.tmp()
        files = {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nfind_package(FCL 0.1 REQUIRED)\n"
                              "add_executable(p main.c)\nfcl_add_kernels(p FILES a.fcl b.fcl OPTIONS --check -Dk=3)\n",
            "shared.fcl": "fun f x = x + 1\n",
            "a.fcl": 'import "shared"\nparam k : int = 1\nkernel up (x : int) = f x * k\n',
            "b.fcl": "param k : int = 1\nkernel down (x : int) = x - k\n",
            "main.c": '#include <stdio.h>\n#include "a.h"\n#include "b.h"\nint main(void) { struct fcl_options o = '
                      'FCL_OPTIONS_DEFAULT; o.kind = FCL_DEVICE_C; struct fcl_context *c; int32_t x = 0, y = 0;\n'
                      'if (fcl_open(&c, &o, NULL, 0)) return 1; a_up(c, 5, &x); b_down(c, 5, &y); fcl_close(c);\n'
                      'printf("%d %d\\n", x, y); return 0; }\n'}
        for name, text in files.items():
            env.written(name, text, place)
        build = os.path.join(place, "build")
        env.must(tool, "-B", build, "-S", place, "-DCMAKE_PREFIX_PATH=" + prefix())
        env.must(tool, "--build", build)
        assert env.must(os.path.join(build, "p")) == "18 2\n"
        time.sleep(1.1)
        env.written("shared.fcl", "fun f x = x + 2\n", place)
        said = env.must(tool, "--build", build)
        assert env.must(os.path.join(build, "p")) == "21 2\n", said
        assert "b.fcl" not in said, said
    yield Case("fcl_add_kernels: imports, options, several files", imported)

    def cmake_ahead():
        """Kernels that are compiled with the program: run where there is no compiler."""
        tool, place = env.tool("cmake"), example()
        folder = os.path.join(place, "cmake")
        build = os.path.join(folder, "build")
        for path, old, new in ((os.path.join(folder, "CMakeLists.txt"), "../sums.fcl)", "../sums.fcl AHEAD)"),
                               (os.path.join(place, "sums.c"), "options.kind =",
                                "options.only_linked = true;\n    options.kind =")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            assert old in text
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
        env.must(tool, "-B", build, "-S", folder, "-DCMAKE_PREFIX_PATH=" + prefix())
        said = env.must(tool, "--build", build, "--verbose")
        assert "-ffp-contract=off" in said and "-fno-tree-slp-vectorize" in said, said
        assert env.must(os.path.join(build, "sums"), env={"FCL_CC": "no-such-compiler"}) == SUMS
        flags = env.must(env.tool("pkg-config"), "--variable=ahead_cflags", "fcl", env=variables())
        assert "-O3 " in flags and "-ffp-contract=off" in flags, flags
        edit(place)
        env.must(tool, "--build", build)
        assert env.must(os.path.join(build, "sums")) == "100" + SUMS[2:]
    yield Case("fcl_add_kernels: AHEAD", cmake_ahead)

    def cmake_cuda():
        """nvcc makes a fatbin of the kernels, and the program is linked; no device is there to run it on."""
        tool, place = env.tool("cmake"), example()
        env.tool("nvcc")
        folder = os.path.join(place, "cmake")
        path = os.path.join(folder, "CMakeLists.txt")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("../sums.fcl)", "../sums.fcl LANGUAGE cuda AHEAD)"))
        build = os.path.join(folder, "build")
        env.must(tool, "-B", build, "-S", folder, "-DCMAKE_PREFIX_PATH=" + prefix(), "-DFCL_CUDA_ARCH=sm_90")
        env.must(tool, "--build", build, timeout=300)
        names = env.must("nm", os.path.join(build, "sums"))
        assert " sums_image\n" in names and "sums_source" not in names, names
        assert "Compiling" not in env.must(tool, "--build", build)
    yield Case("fcl_add_kernels: AHEAD for CUDA", cmake_cuda)

    def meson():
        tool = env.tool("meson")
        env.tool("ninja")
        place = example()
        folder = os.path.join(place, "meson")
        build = os.path.join(folder, "build")
        env.must(tool, "setup", build, folder, env=variables(), cwd=folder)
        env.must("ninja", "-C", build)
        assert env.must(os.path.join(build, "sums")) == SUMS
        assert "no work to do" in env.must("ninja", "-C", build)
        edit(place)
        env.must("ninja", "-C", build)
        assert env.must(os.path.join(build, "sums")) == "100" + SUMS[2:]
    yield Case("examples/host/meson, and again after a change", meson)

    def cpp():
        folder = os.path.join(example(), "cpp")
        lib = os.path.join(prefix(), "lib")
        env.must(os.path.join(prefix(), "bin", "fclc"), "../sums.fcl", "-o", "sums.c", cwd=folder)
        env.must("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I.", "-I" + os.path.join(prefix(), "include"),
                 "sums.cc", "-L" + lib, "-lfcl", "-Wl,-rpath," + lib, "-o", "sums", cwd=folder)
        assert env.must(os.path.join(folder, "sums")) == SUMS
    yield Case("examples/host/cpp", cpp)

    def rust():
        tool = env.tool("cargo")
        if not os.path.isdir("/usr/share/cargo/registry"):
            raise Skip("no crate cc: install librust-cc-dev")
        folder = os.path.join(example(), "rust")
        env.must(tool, "--offline", "--config", 'source.crates-io.replace-with="debian"', "--config",
                 'source.debian.directory="/usr/share/cargo/registry"', "build", cwd=folder,
                 env={"FCL_PREFIX": prefix()}, timeout=600)
        assert env.must(os.path.join(folder, "target", "debug", "sums")) == SUMS
    yield Case("examples/host/rust", rust)

    def packaged():
        made = env.must("make", "BUILD=" + env.build, "--no-print-directory", "deb",
                        timeout=600).strip().split("\n")[-1]
        return os.path.join(env.root, made)

    def deb():
        tool = env.tool("dpkg-deb")
        folder, package = env.tmp(), packaged()
        root = os.path.join(folder, "root")
        env.must(tool, "-x", package, root)
        fields = env.must(tool, "-f", package)
        version = env.must(env.fclc, "--version").split()[1]
        assert f"Version: {version}\n" in fields and "Package: fcl\n" in fields, fields
        entries = env.must(tool, "-c", package)
        assert not [line for line in entries.splitlines() if " root/root " not in line], "files of somebody's"
        # The program in there finds its prelude, and a program in C the library, by their own places.
        fclc = os.path.join(root, "usr", "bin", "fclc")
        said = env.must(fclc, "--version", "--verbose")
        assert f"program:    {fclc}\n" in said and f"prelude:    {root}/usr/share/fcl/prelude\n" in said, said
        assert env.must(fclc, "run", "--target=c", "examples/host/sums.fcl", "total", "[1,2,3,4]") == "10\n"
        path = {"PKG_CONFIG_PATH": os.path.join(root, "usr", "lib", "pkgconfig")}
        flags = env.must(env.tool("pkg-config"), "--cflags", "--libs", "fcl", env=path).split()
        env.must(fclc, "--ahead", "examples/host/sums.fcl", "-o", os.path.join(folder, "sums.c"))
        env.must("cc", "-I" + folder, "examples/host/sums.c", os.path.join(folder, "sums.c"), *flags, "-lm",
                 "-lpthread", "-o",
                 os.path.join(folder, "sums"))
        libraries = {"LD_LIBRARY_PATH": os.path.join(root, "usr", "lib")}
        assert env.must(os.path.join(folder, "sums"), env=libraries) == SUMS
        for page in ("man1/fclc.1", "man3/fcl.3", "man5/fcl.5"):
            assert os.path.exists(os.path.join(root, "usr", "share", "man", page + ".gz")), page
        if shutil.which("lintian"):
            root_too = ["--allow-root"] if os.geteuid() == 0 else []
            done = env.run("lintian", *root_too, package, timeout=300)
            assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr
    yield Case("make deb: lintian finds nothing, and the package, unpacked, works where it lies", deb)

    def deb_in_debian():
        """The package in a Debian with nothing in it: apt brings what it needs, a program runs, and nothing stays of
        it."""
        root = fresh_debian.make(env)
        shutil.copy(packaged(), os.path.join(root, "root", "fcl.deb"))
        os.makedirs(os.path.join(root, "sums"))
        for name in ("sums.fcl", "sums.c"):
            shutil.copy(env.path("examples", "host", name), os.path.join(root, "sums", name))
        said = fresh_debian.run(env, root, IN_DEBIAN)
        assert said.split("--- programs ---\n")[1] == "10\n" + SUMS + "gone\n", said
    yield Case("make deb, installed in a fresh Debian 12, and removed", deb_in_debian, long=True)
