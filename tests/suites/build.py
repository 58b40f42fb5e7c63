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
    for compiler in ("gcc", "clang"):
        def builds(compiler=compiler):
            env.tool(compiler)
            env.must("make", "BUILD=" + env.tmp(), "CC=" + compiler, "WERROR=1", "OPTIMISE=-O0", timeout=600)
        yield Case(f"builds with {compiler}, warnings are errors", builds, long=compiler == "gcc")  # which `make check` has just done

    def installed():
        root = env.tmp()
        place = ["DESTDIR=" + root, "PREFIX=/usr"]
        folder = os.path.join(env.tmp(), "build")
        for part in ("gen", "obj"):  # so that only what depends on the place is built again
            shutil.copytree(os.path.join(env.build, part), os.path.join(folder, part))
        shutil.copy2(os.path.join(env.build, "settings"), folder)
        build = "BUILD=" + folder
        env.must("make", build, *place, "install", timeout=600)
        fclc = os.path.join(root, "usr", "bin", "fclc")
        program = os.path.join(env.tmp(), "program.fcl")
        with open(program, "w", encoding="utf-8") as file:
            file.write("kernel k (xs : [int]) = push <grid> (reverse xs)\n")
        got = env.must(fclc, "run", "--target=c", program, "k", "[1,2,3]", cwd="/")
        assert got == "[3,2,1]\n", got
        assert env.must(fclc, "explain", "E0101", cwd="/").startswith("## E0101 "), "its page is not found"
        for name in ("include/fcl.h", "lib/libfcl.a", "share/man/man1/fclc.1"):
            assert os.path.exists(os.path.join(root, "usr", name)), f"{name} is not installed"
        broken = broken_links(os.path.join(root, "usr", "share", "doc", "fcl"))
        assert not broken, f"installed documents lead nowhere: {broken}"
        env.must("make", build, *place, "uninstall")
        left = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        assert not left, f"uninstall left {left}"
    yield Case("make install, and uninstall", installed)

    def bootstrap(*arguments, root=True, apt_status=0, status=0):
        """bootstrap on a machine that has none of the programs that it asks for: (what it says, what apt-get was told)."""
        folder, tools = env.tmp(), env.tmp()
        shutil.copy(env.path("bootstrap"), folder)
        for name in ("sh", "dirname", "mkdir", "tail", "env", "sed", "grep", "touch", "chmod", "nproc"):
            os.symlink(shutil.which(name), os.path.join(tools, name))

        def program(name, text):
            path = os.path.join(tools, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(path, 0o755)
        program("id", f"echo {0 if root else 1000}\n")
        program("apt-get", f"""\
echo "$*" >>{folder}/told
i=0
while [ $i -lt 400 ]; do echo "Get:$i a line of apt's"; i=$((i + 1)); done
for name in make gcc g++ re2c bison python3 clang clang-format oclgrind mandoc git; do
  echo "echo a line of $name" >{tools}/$name
  chmod +x {tools}/$name
done
exit {apt_status}
""")
        done = env.run(os.path.join(folder, "bootstrap"), *arguments, env={"PATH": tools})
        assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        told = os.path.join(folder, "told")
        return done.stdout + done.stderr, open(told, encoding="utf-8").read().splitlines() if os.path.exists(told) else []

    def fresh():
        said, (update, install) = bootstrap("demo")
        assert update.startswith("update") and install.startswith("install -y"), (update, install)
        wanted = install.split("recommends ")[1].split()
        assert {"make", "gcc", "re2c", "bison"} <= set(wanted) and not {"g++", "python3", "clang", "oclgrind", "git"} & set(wanted), wanted
        assert len(said.splitlines()) < 6 and "line of apt" not in said, said
        assert {"g++", "python3", "clang", "oclgrind"} <= set(bootstrap("check")[1][1].split())
    yield Case("bootstrap demo installs what the demo needs, in few lines", fresh)

    def refuses():
        said, told = bootstrap("demo", root=False, status=1)
        assert "apt-get update && apt-get install -y" in said and not told, said
        said, _ = bootstrap("demo", apt_status=100, status=1)
        assert "this failed: apt-get update" in said and "Get:399 a line of apt's" in said and "build/bootstrap.log" in said, said
        assert len(said.splitlines()) < 30, said
    yield Case("bootstrap without rights, and when apt fails", refuses)
