"""examples/cluster: programs of several ranks, whose results are those of a serial reference in NumPy, alike for any
number of ranks; what a rank that dies leaves behind; the same k-means by Dask; and weak scaling."""

import os
import re
import subprocess
import threading
import time
from harness import Case, Skip
import virtual

ORDER = 59  # after others that want the virtual environment, so that no two wait for it
THOROUGH = True
PLACES = {"c": [], "cu": ["TARGET=cu", "DEVICE=FCL_DEVICE_CUDA"]}


def cases(env):
    made, once = {}, threading.Lock()

    def numpy():
        try:
            import numpy
        except ImportError:
            raise Skip("no NumPy") from None
        return numpy

    def programs(target="c"):
        """The folder in which they are built."""
        env.tool("mpicc")
        with once:
            if target not in made:
                out = env.tmp()
                env.must("make", "-C", env.path("examples", "cluster"), "OUT=" + out, "FCLC=" + env.fclc,
                         *PLACES[target],
                         "FCL_CPPFLAGS=-I" + env.path("runtime"), "FCL_LIBRARY=" + os.path.join(env.build, "libfcl.a"),
                         "CFLAGS=-O2 -Wall -Wextra -Werror", timeout=600)
                made[target] = out
        return made[target]

    def variables(extra=None):
        """Ranks may be more than processors, whose rest is for other tests, and root may start them. Each run has
        a folder of its own: of two that make the same one at once, one fails."""
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_orte_tmpdir_base": env.tmp(),
                "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_base_warn_component_unused": "0", "FCL_THREADS": "1",
                "OMPI_MCA_hwloc_base_binding_policy": "none", **(extra or {})}

    def command(ranks, name, *words, target="c"):
        return [env.tool("mpirun"), "-n", str(ranks), os.path.join(programs(target), name), *map(str, words)]

    def result(kind, ranks, name, *words, target="c", extra=None):
        """What the program writes, as an array of that type."""
        path = os.path.join(env.tmp(), "out")
        env.must(*command(ranks, name, *words, path, target=target), env=variables(extra), timeout=300)
        assert os.listdir(os.path.dirname(path)) == ["out"], os.listdir(os.path.dirname(path))
        return numpy().fromfile(path, kind)

    # ---- serial references ----

    def scrambled(i):
        np = numpy()
        i = i.astype(np.uint32)
        a = (i ^ (i >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        b = (a ^ (a >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        return b ^ (b >> np.uint32(16))

    def histogram(n):
        np = numpy()
        return np.bincount(scrambled(np.arange(n)) >> np.uint32(24), minlength=256).astype(np.int64)

    def sort(n):
        np = numpy()
        return np.sort(scrambled(np.arange(n)).view(np.int32))

    def heat(rows, columns, steps):
        np = numpy()
        plate = (scrambled(np.arange((rows + 2) * columns)) >> np.uint32(8)).astype(np.float32).reshape(-1, columns)
        for _ in range(steps):
            old = plate[1:-1, 1:-1]
            around = (plate[:-2, 1:-1] + plate[2:, 1:-1]) + (plate[1:-1, :-2] + plate[1:-1, 2:])
            new = plate.copy()
            new[1:-1, 1:-1] = old + np.float32(0.125) * (around - np.float32(4) * old)
            plate = new
        return plate.ravel()

    def kmeans(n, rounds):
        np = numpy()
        i = np.arange(n, dtype=np.uint32)
        part = lambda cell, word: (cell * np.float32(16384) +
                                   (word >> np.uint32(19)).astype(np.float32)) * np.float32(1 / 65536)
        c = (i % 8).astype(np.float32)
        x, y = part(c % 4, scrambled(2 * i)), part(c // 4, scrambled(2 * i + np.uint32(1)))
        c = np.arange(8, dtype=np.float32)
        cx, cy = c % 4 / 4, c // 4 / 2
        for _ in range(rounds):
            own = ((x[:, None] - cx) ** 2 + (y[:, None] - cy) ** 2).argmin(1)
            count = np.bincount(own, minlength=8)
            for centre, place in ((cx, x), (cy, y)):
                total = np.bincount(own, place.astype(np.float64), 8)
                centre[count > 0] = (total[count > 0] / count[count > 0]).astype(np.float32)
        return np.concatenate((cx, cy))

    def same(got, wanted):
        assert got.shape == wanted.shape and (got == wanted).all(), f"{got}\nnot {wanted}"

    def right(target, ranks, sizes, extra=None):
        run = lambda *words: result(*words, target=target, extra=extra)
        for n in sizes:
            same(run("int64", ranks, "histogram", n, 1), histogram(n * ranks))
            same(run("int32", ranks, "sort", n, 1), sort(n * ranks))
            same(run("float32", ranks, "kmeans", n, 4), kmeans(n * ranks, 4))
            same(run("float32", ranks, "heat", n + 1, n + 2, 5), heat((n + 1) * ranks, n + 2, 5))

    for ranks in (1, 2, 4):
        yield Case(f"results of {ranks} ranks", lambda ranks=ranks: right("c", ranks, (0, 1, 127, 1000)))
    yield Case("results of 3 ranks on the CUDA simulator's two devices, through the host's memory",
               lambda: right("cu", 3, (65,), env.cudasim(CUDASIM_DEVICES="2")))

    # ---- what goes wrong ----

    def descendants(pid):
        children = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == pid:
                        children.append(int(name))
            except OSError:
                pass
        return children

    def killed():
        """A rank is killed amid the work: the job ends, with an error, and leaves no result."""
        path = os.path.join(env.tmp(), "out")
        job = subprocess.Popen(command(3, "heat", 200, 200, 2000000000, path), env=env.variables(variables()),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            ranks = []
            for _ in range(100):
                time.sleep(0.1)
                ranks = [pid for pid in descendants(job.pid) if os.readlink(f"/proc/{pid}/exe").endswith("/heat")]
                if len(ranks) == 3:
                    break
            assert len(ranks) == 3, f"there are {len(ranks)} ranks"
            time.sleep(0.5)
            os.kill(ranks[1], 9)
            said, _ = job.communicate(timeout=60)
        finally:
            job.kill()
        assert job.returncode != 0 and "signal 9" in said, said
        assert not os.path.exists(path), "there is a result"
        for _ in range(100):
            left = [pid for pid in ranks if os.path.exists(f"/proc/{pid}/exe")]
            if not left:
                return
            time.sleep(0.1)
        raise AssertionError(f"a rank is left: {left}")
    yield Case("a rank that is killed ends the job, and there is no result", killed)

    def refused():
        """What fails on a rank ends the job: here there is no such device, and no place for the file."""
        path = os.path.join(env.tmp(), "absent", "out")
        done = env.run(*command(2, "histogram", 10, 1, path), env=variables())
        assert done.returncode == 1 and "rank 0: MPI_ERR_NO_SUCH_FILE" in done.stderr, done.stderr
        done = env.run(*command(2, "histogram", 10, 1, "out", target="cu"), env=variables({"FCL_LIBCUDA": "/none"}))
        assert done.returncode == 1 and re.search(r"rank [01]: .*/none", done.stderr), done.stderr
    yield Case("what fails on a rank ends the job", refused)

    # ---- Dask ----

    def dask():
        virtual.package(env, env.build)
        path = os.path.join(env.tmp(), "out")
        if env.run(virtual.python(env.build), "-c", "import distributed").returncode:
            raise Skip("no Dask")
        for n in (1000, 1):
            env.must(virtual.python(env.build), env.path("examples", "cluster", "kmeans.py"), n, 4, path, timeout=300)
            same(numpy().fromfile(path, "float32"), kmeans(4 * n, 4))
        assert os.listdir(os.path.dirname(path)) == ["out"]
    yield Case("kmeans.py: the same by Dask on two worker processes", dask, alone=True)

    # ---- speed ----

    def scaling():
        said = env.must("python3", env.path("benchmarks", "cluster.py"), "--programs", programs(), env=variables(),
                        timeout=900)
        efficiencies = dict(re.findall(r"^\| `(\w+) .*\| ([0-9.]+) \|$", said, re.M))
        assert set(efficiencies) == {"histogram", "kmeans", "sort", "heat"}, said
        assert all(float(value) >= 0.9 for value in efficiencies.values()), said
    yield Case("weak scaling from one process to two is 0.9 or better", scaling, alone=True, long=True)
