"""The build itself: no warnings from either compiler; what is installed works from its place, and goes away again; what
bootstrap does on a machine without anything."""

import os
import re
import shutil
from harness import Case

ORDER = 60


def broken_links(folder):
    """Of the documents under `folder`: those links to files that lead nowhere."""
    broken, found = [], 0
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".md"):
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", file.read())
                links = [link for link in links if "://" not in link]
                found += len(links)
                broken += [f"{name}: {link}" for link in links if not os.path.exists(os.path.join(place, link))]
    assert found > 20, f"only {found} links in {folder}"
    return broken


def cases(env):
    def builds():
        env.must("make", "BUILD=" + env.tmp(), "CC=" + env.tool("gcc"), "WERROR=1", "OPTIMISE=-O0", timeout=600)
    yield Case("builds with gcc, warnings are errors", builds, long=True)  # which `make check` has just done

    def unpacked():
        """The sources as `make dist` packs them, alone."""
        if env.run(env.tool("git"), "rev-parse", "--git-dir").returncode:
            return env.root  # these are it
        archive = env.must("make", "-s", "BUILD=" + env.tmp(), "dist").strip()
        place = env.tmp()
        env.must("tar", "-xzf", archive, "-C", place)
        name, = os.listdir(place)
        assert archive.endswith(f"/{name}.tar.gz"), archive
        return os.path.join(place, name)

    def uses_library(root, program):
        """The compiler as a library finds its prelude by its own place, whoever uses it."""
        usr = os.path.join(root, "usr")
        source, user = os.path.join(env.tmp(), "user.c"), os.path.join(env.tmp(), "user")
        with open(source, "w", encoding="utf-8") as file:
            file.write('#include <fclc.h>\nint main(int n, char **words) { struct fclc_program *p; (void)n;\n'
                       '  struct fclc_file file = {words[1], NULL, 0};\n'
                       '  return (int)fclc_load(&p, &file, 1, NULL, 0, NULL); }\n')
        env.must("cc", "-I" + os.path.join(usr, "include"), source, "-L" + os.path.join(usr, "lib"), "-lfclc", "-lfcl",
                 "-Wl,-rpath," + os.path.join(usr, "lib"), "-o", user)
        env.must(user, program, cwd="/")

    def installed():
        root = env.tmp()
        place = ["DESTDIR=" + root, "PREFIX=/usr"]
        sources = unpacked()
        build = ["BUILD=" + env.tmp(), "CC=" + env.tool("clang", "gcc"), "WERROR=1", "OPTIMISE=-O0"]
        env.must("make", "-j2", *build, cwd=sources, timeout=600)
        said = env.must("make", *build, *place, "install", cwd=sources, timeout=600)
        assert " CC " not in said and "LINK" not in said, "installing builds anew:\n" + said
        fclc = os.path.join(root, "usr", "bin", "fclc")
        program = env.written("program.fcl", "kernel k (xs : [int]) = push <grid> (reverse xs)\n")
        got = env.must(fclc, "run", "--target=c", program, "k", "[1,2,3]", cwd="/")
        assert got == "[3,2,1]\n", got
        assert env.must(fclc, "explain", "E0101", cwd="/").startswith("## E0101 "), "its page is not found"
        for name in ("include/fcl.h", "include/fclc.h", "lib/libfcl.a", "lib/libfcl.so", "lib/libfclc.so",
                     "share/man/man1/fclc.1", "share/man/man3/fcl.3", "share/man/man5/fcl.5",
                     "share/bash-completion/completions/fclc", "share/zsh/site-functions/_fclc",
                     "share/fish/vendor_completions.d/fclc.fish"):
            assert os.path.exists(os.path.join(root, "usr", name)), f"{name} is not installed"
        uses_library(root, program)
        broken = broken_links(os.path.join(root, "usr", "share", "doc", "fcl"))
        assert not broken, f"installed documents lead nowhere: {broken}"
        env.must("make", *build, *place, "uninstall", cwd=sources)
        left = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        assert not left, f"uninstall left {left}"
    yield Case("make dist, built by clang, where warnings are errors; make install from it, and uninstall", installed,
               thorough=True)

    def processor():
        """The processor of PTX is built where its sources lie beside the checkout, or in a folder there, and the
        toolkit is."""
        for place in "ptxemu", "others/ptxemu":
            folder = env.tmp()
            checkout, sources, toolkit = (os.path.join(folder, name) for name in ("checkout", place, "cuda"))
            with open(env.path("Makefile"), encoding="utf-8") as file:
                ours = file.read()
            for path, text in ((os.path.join(toolkit, "include", "cuda.h"), ""),
                               (os.path.join(sources, "build.sh"), "touch $1/libcuda.so.1\n"),
                               (os.path.join(checkout, "Makefile"), ours)):
                os.makedirs(os.path.dirname(path))
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            make = ["make", "-C", checkout, "BUILD=build", "ptx-processor"]
            built = os.path.join(checkout, "build", "ptxemu", "libcuda.so.1")
            for more, is_built in ((["CUDA_HOME=/nowhere"], False), (["CUDA_HOME=" + toolkit, "FCL_PTXEMU=its"], False),
                                   (["CUDA_HOME=" + toolkit, "FCL_PTXEMU="], True)):
                env.must(*make, *more)
                assert os.path.exists(built) == is_built, (place, more)
    yield Case("check-all builds the processor of PTX from the sources beside the checkout", processor)

    def bootstrap(*arguments, root=True, apt_status=0, status=0):
        """bootstrap on a machine that has none of the programs that it asks for: (what it says, what apt-get was
        told)."""
        folder, tools = env.tmp(), env.tmp()
        with open(env.path("bootstrap"), encoding="utf-8") as file:
            script = re.sub(r"^/.*\n", "", file.read(), flags=re.M)  # files are this machine's
        env.written("bootstrap", script, folder)
        os.chmod(os.path.join(folder, "bootstrap"), 0o755)
        for name in ("sh", "dirname", "mkdir", "tail", "env", "sed", "grep", "touch", "chmod", "nproc"):
            os.symlink(shutil.which(name), os.path.join(tools, name))

        def program(name, text):
            path = env.written(name, "#!/bin/sh\n" + text, tools)
            os.chmod(path, 0o755)
        programs = " ".join(re.findall(r"^([\w+-]+): \S+$", script, re.M))
        program("id", f"echo {0 if root else 1000}\n")
        program("apt-get", f"""\
echo "$*" >>{folder}/told
i=0
while [ $i -lt 400 ]; do echo "Get:$i a line of apt's"; i=$((i + 1)); done
for name in {programs}; do
  echo "echo a line of $name" >{tools}/$name
  chmod +x {tools}/$name
done
exit {apt_status}
""")
        done = env.run(os.path.join(folder, "bootstrap"), *arguments, env={"PATH": tools})
        assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        told = os.path.join(folder, "told")
        return done.stdout + done.stderr, (
            open(told, encoding="utf-8").read().splitlines() if os.path.exists(told) else []
        )

    def fresh():
        said, (update, install) = bootstrap("demo")
        assert update.startswith("update") and install.startswith("install -y"), (update, install)
        wanted = install.split("recommends ")[1].split()
        assert {"make", "gcc", "re2c", "bison"} <= set(wanted) and not {"g++", "python3", "clang", "oclgrind",
                                                                        "git"} & set(wanted), wanted
        assert len(said.splitlines()) < 6 and "line of apt" not in said, said
        wanted = set(bootstrap("check")[1][1].split())
        assert {"python3", "clang-format"} <= wanted and not {"g++", "clang", "git"} & wanted, wanted
        assert {"g++", "python3", "clang", "oclgrind"} <= set(bootstrap("check", "all")[1][1].split())
        bootstrap("check", "everything", status=2)
    yield Case("bootstrap demo installs what the demo needs, in few lines", fresh)

    def refuses():
        said, told = bootstrap("demo", root=False, status=1)
        assert "apt-get update && apt-get install -y" in said and not told, said
        said, _ = bootstrap("demo", apt_status=100, status=1)
        assert (
            "this failed: apt-get update" in said
            and "Get:399 a line of apt's" in said
            and "build/bootstrap.log" in said
        ), said
        assert len(said.splitlines()) < 30, said
    yield Case("bootstrap without rights, and when apt fails", refuses)
