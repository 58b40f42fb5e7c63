"""The build itself: no warnings from either compiler; what is installed works from its place, and goes away again."""

import os
import re
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
            env.must("make", "-j2", "BUILD=" + env.tmp(), "CC=" + compiler, "WERROR=1", "OPTIMISE=-O1", timeout=600)
        yield Case(f"builds with {compiler}, warnings are errors", builds, alone=True)

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
        sources, build = unpacked(), "BUILD=build"
        env.must("make", "-j2", build, "OPTIMISE=-O1", cwd=sources, timeout=600)
        said = env.must("make", build, "OPTIMISE=-O1", *place, "install", cwd=sources, timeout=600)
        assert " CC " not in said and "LINK" not in said, "installing builds anew:\n" + said
        fclc = os.path.join(root, "usr", "bin", "fclc")
        program = os.path.join(env.tmp(), "program.fcl")
        with open(program, "w", encoding="utf-8") as file:
            file.write("kernel k (xs : [int]) = push <grid> (reverse xs)\n")
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
        env.must("make", build, "OPTIMISE=-O1", *place, "uninstall", cwd=sources)
        left = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        assert not left, f"uninstall left {left}"
    yield Case("make dist; make install from it, and uninstall", installed, alone=True)
