#!/usr/bin/env python3
"""The side of PyOpenCL: its reduction, scans and sort on an OpenCL device.

    python3 pyopencl_side.py --measure PROGRAM --data DIRECTORY [--device NAME] [--size N] [--runs R] [--warm-up W]
                             [--seconds S] [--check no] TASK

As harness/main.c, whose JSON and exit status this has, too; the inputs and what is right come from the program that
measures the hand-written kernels.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import pyopencl as cl
    import pyopencl.algorithm
    import pyopencl.array
    import pyopencl.elementwise
    import pyopencl.reduction
    import pyopencl.scan
except ImportError as why:
    print(why, file=sys.stderr)
    sys.exit(3)

NO_TASK, LEAST_RUNS = 4, 3


def find_device(name):
    kind = cl.device_type.GPU if name and name.startswith("opencl-gpu") else cl.device_type.CPU
    for platform in cl.get_platforms():
        for device in platform.get_devices():
            if device.type & kind:
                return device
    sys.exit(3)


def make(task, context, queue, inputs):
    """A function that computes the task's results once; None where PyOpenCL has nothing for it."""
    arrays = [cl.array.to_device(queue, np.load(path)) for path in inputs]
    if task == "saxpy":
        kernel = cl.elementwise.ElementwiseKernel(
            context, "float a, const float *x, const float *y, float *z", "z[i] = a * x[i] + y[i]")
        out = cl.array.empty_like(arrays[0])

        def saxpy():
            kernel(np.float32(2), *arrays, out)
            return [out]
        return saxpy
    if task == "reduce":
        kernel = cl.reduction.ReductionKernel(context, np.int32, neutral="0", reduce_expr="a + b", map_expr="x[i]",
                                              arguments="const int *x")
        return lambda: [np.array([kernel(arrays[0]).get()])]
    if task == "scan":
        kernel = cl.scan.InclusiveScanKernel(context, np.int32, "a + b", neutral="0")
        out = cl.array.empty_like(arrays[0])
        return lambda: [kernel(arrays[0], out)]
    if task == "filter":
        def keep():
            kept, count, _ = cl.algorithm.copy_if(arrays[0], "ary[i] > 0", queue=queue)
            return [kept[:int(count.get())]]
        return keep
    if task == "sort":
        radix = cl.algorithm.RadixSort(context, "unsigned *keys", key_expr="keys[i]", sort_arg_names=["keys"])
        return lambda: radix(arrays[0], key_bits=32, queue=queue)[0]
    if task == "sortPairs":
        radix = cl.algorithm.RadixSort(context, "unsigned *keys, int *values", key_expr="keys[i]",
                                       sort_arg_names=["keys", "values"])
        return lambda: radix(*arrays, key_bits=32, queue=queue)[0]
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--device")
    parser.add_argument("--size", default=str(1 << 24))
    parser.add_argument("--runs", type=int, default=101)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--check", default="yes")
    parser.add_argument("task")
    o = parser.parse_args()
    if o.task not in ("saxpy", "reduce", "scan", "filter", "sort", "sortPairs"):
        return NO_TASK
    described = json.loads(subprocess.run([o.measure, "--write", o.data, "--size", o.size, o.task], check=True,
                                          capture_output=True, text=True).stdout)
    device = find_device(o.device)
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    run = make(o.task, context, queue, described["files"])
    queue.finish()
    start = time.perf_counter()
    for i in range(o.warm_up):
        if i == 0 or time.perf_counter() - start < o.seconds:
            results = run()
            queue.finish()
    times, start = [], time.perf_counter()
    while len(times) < o.runs and (len(times) < LEAST_RUNS or time.perf_counter() - start < o.seconds):
        before = time.perf_counter()
        results = run()
        queue.finish()
        times.append(time.perf_counter() - before)
    if o.check != "no":
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"r{i}.npy") for i in range(len(results))]
            for path, result in zip(paths, results):
                np.save(path, result if isinstance(result, np.ndarray) else result.get())
            if subprocess.run([o.measure, "--verify", ",".join(paths), "--size", o.size, o.task],
                              check=False).returncode:
                return 1
    print(json.dumps({
        "task": o.task, "side": "pyopencl", "target": "opencl", "device": device.name,
        "driver": f"PyOpenCL {cl.VERSION_TEXT}, {device.driver_version}", "size": described["size"], "runs": len(times),
        "median_s": statistics.median(times), "min_s": min(times), "bytes": described["bytes"], "launches": []}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
