#!/usr/bin/env python3
"""Times PyTorch's attention as `flashstep bench --device` times our kernels: same shapes, same method, same file.

    flashstep bench --schedule --json=schedule.json
    gpu/bench_torch.py --schedule schedule.json --json peers.json
    flashstep bench-table results.json --peers peers.json

Method: before each run, warm-up or timed, a buffer of at least twice the L2 cache is overwritten; CUDA events stand
around the run alone; the median counts. A backward run is the backward pass alone (the forward before it is not timed).
--dry-run needs neither PyTorch nor a GPU: it checks the schedule and prints what would run.
Exit status: 0 done, 1 the device failed, 2 wrong use, 77 no PyTorch or no GPU here.
"""

import argparse
import ctypes
import datetime
import json
import os
import statistics
import sys
import warnings

WARM_UPS, LEAST_RUNS, MOST_RUNS, BUDGET_MS = 3, 3, 30, 300.0  # as BenchPolicy in gpu/device_bench.h
# Writing the buffer so many times keeps the device busy while Python queues the run, so that no launch is waited for.
FLUSH_BYTES, FLUSH_WRITES = 256 << 20, 8
BACK_ENDS = {"torch flash": "FLASH_ATTENTION", "torch cudnn": "CUDNN_ATTENTION"}  # members of SDPBackend
DTYPES = {"fp16": "float16", "bf16": "bfloat16"}
OK, FAILED, WRONG_USE, UNAVAILABLE = 0, 1, 2, 77


class Stop(Exception):
    """Ends the program with a message and an exit status."""

    def __init__(self, message, status=WRONG_USE):
        super().__init__(message)
        self.status = status


def one_line(text):
    return " ".join(str(text).split())


# ---- the schedule ----


def shown(value):
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:40] + "..."


def checked_shape(shape, where):
    if not isinstance(shape, dict):
        raise Stop(f"{where} is {shown(shape)}, but has to be an object")
    for key in ("pass", "d", "causal", "n", "batch", "heads"):
        if key not in shape:
            raise Stop(f"{where} has no {key!r}")
    if shape["pass"] not in ("forward", "backward"):
        raise Stop(f"{where}.pass is {shown(shape['pass'])}, but has to be \"forward\" or \"backward\"")
    if not isinstance(shape["causal"], bool):
        raise Stop(f"{where}.causal is {shown(shape['causal'])}, but has to be true or false")
    for key in ("d", "n", "batch", "heads"):
        value, most = shape[key], 1 << 20
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise Stop(f"{where}.{key} is {shown(value)}, but has to be a whole number from 1 to {most}")
    return {key: shape[key] for key in ("pass", "d", "causal", "n", "batch", "heads")}


def read_schedule(path):
    """The number format and the shapes. Raises Stop: what is wrong, and where."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # opening a pipe may wait for ever
            raise Stop(f"{path} is not a regular file; save the schedule to one")
        with open(path, encoding="utf-8") as file:
            schedule = json.load(file)
    except OSError as error:
        raise Stop(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Stop(f"{path}: not JSON: {one_line(error)}") from None
    if not isinstance(schedule, dict) or schedule.get("format") != "flashstep device bench schedule":
        raise Stop(f"{path}: not a schedule; `flashstep bench --schedule --json=FILE` writes one")
    if schedule.get("version") != 1 or isinstance(schedule["version"], bool):
        raise Stop(f"{path}: version {shown(schedule.get('version'))}, but this script reads version 1")
    if not isinstance(schedule.get("dtype"), str) or schedule["dtype"] not in DTYPES:
        raise Stop(f"{path}: dtype is {shown(schedule.get('dtype'))}, but has to be one of {', '.join(DTYPES)}")
    if not isinstance(schedule.get("shapes"), list) or not schedule["shapes"]:
        raise Stop(f"{path}: shapes has to be a list with a shape in it")
    shapes = [checked_shape(shape, f"{path}: shapes[{k}]") for k, shape in enumerate(schedule["shapes"])]
    first = {}
    for k, shape in enumerate(shapes):
        if first.setdefault(tuple(shape.values()), k) != k:
            raise Stop(f"{path}: shapes[{k}] is shapes[{first[tuple(shape.values())]}] again")
    return schedule["dtype"], shapes


def attention_flops(shape):
    """By the papers' formula: 4 N^2 d per head forward, half of it if causal, 2.5 times that backward."""
    flops = 4 * shape["n"] ** 2 * shape["d"] * shape["heads"] * shape["batch"]
    if shape["causal"]:
        flops //= 2
    return flops if shape["pass"] == "forward" else flops * 5 // 2


def line_of(name, dtype, shape):
    return (
        f"{name}: {shape['pass']} {dtype} d={shape['d']} causal={str(shape['causal']).lower()} n={shape['n']}"
        f" batch={shape['batch']} heads={shape['heads']} flops={attention_flops(shape)}"
    )


# ---- timing ----


def time_ms(run, flush, event):
    """One run in milliseconds. `event` makes a CUDA event."""
    start, end = event(), event()
    flush()
    start.record()
    run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def median_ms(run, flush, event):
    """The median of timed runs after untimed ones, and how many were timed."""
    last = 0.0
    for _ in range(WARM_UPS):
        last = time_ms(run, flush, event)
        if last > BUDGET_MS:
            break
    runs = int(min(max(BUDGET_MS / max(last, 1e-6), LEAST_RUNS), MOST_RUNS))
    return statistics.median(time_ms(run, flush, event) for _ in range(runs)), runs


def cache_flush(torch):
    """A function that overwrites more than the L2 cache holds."""
    l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0)  # not in PyTorch before 2.5
    buffer = torch.empty(max(2 * l2, FLUSH_BYTES), dtype=torch.uint8, device="cuda")

    def flush():
        for _ in range(FLUSH_WRITES):
            buffer.zero_()

    return flush


def prepared_run(torch, shape, dtype):
    """What is timed. Called, and to be called, within sdpa_kernel."""
    size = (shape["batch"], shape["heads"], shape["n"], shape["d"])
    backward = shape["pass"] == "backward"

    def tensor(needs_gradient):
        return torch.randn(size, dtype=dtype, device="cuda", requires_grad=needs_gradient)

    q, k, v = tensor(backward), tensor(backward), tensor(backward)
    attention = torch.nn.functional.scaled_dot_product_attention
    if not backward:
        return lambda: attention(q, k, v, is_causal=shape["causal"])
    output, gradient = attention(q, k, v, is_causal=shape["causal"]), tensor(False)
    return lambda: torch.autograd.grad(output, (q, k, v), gradient, retain_graph=True)


def measured(torch, flush, name, shape, dtype):
    """{"ms", "repetitions"}, or {"skipped": why}. Raises Stop where the device itself has failed."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    back_end = getattr(SDPBackend, BACK_ENDS[name], None)
    if back_end is None:
        return {"skipped": f"PyTorch {torch.__version__} has no {BACK_ENDS[name]}"}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")  # why a back end refuses is in its warnings
        try:
            with sdpa_kernel(back_end):
                run = prepared_run(torch, shape, getattr(torch, DTYPES[dtype]))
                ms, runs = median_ms(run, flush, lambda: torch.cuda.Event(enable_timing=True))
            return {"ms": ms, "repetitions": runs}
        except torch.cuda.OutOfMemoryError:
            reason = "not enough memory on the device"
        except RuntimeError as error:
            reasons = [one_line(warning.message) for warning in said]
            reason = "; ".join(dict.fromkeys(reasons[:3] + [one_line(str(error).split("\n", 1)[0])]))
    try:
        torch.cuda.empty_cache()
        torch.cuda.synchronize()
    except RuntimeError as error:  # an error that stays: nothing measured after it would be true
        raise Stop(f"{line_of(name, dtype, shape)}: {one_line(error)}", FAILED) from None
    return {"skipped": reason[:300]}


def driver_version():
    """The CUDA version that the driver is for, as "13.0"."""
    number = ctypes.c_int(0)
    try:
        status = ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError) as error:
        raise Stop(f"cannot ask the driver for its version: {one_line(error)}", UNAVAILABLE) from None
    if status != 0:
        raise Stop(f"the driver does not tell its version (error {status})", FAILED)
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


def bench(dtype, shapes):
    try:
        import torch
    except ImportError as error:
        raise Stop(f"nothing is measured: PyTorch is not there ({one_line(error)})", UNAVAILABLE) from None
    if not torch.cuda.is_available():
        raise Stop(f"nothing is measured: PyTorch {torch.__version__} finds no CUDA device", UNAVAILABLE)
    torch.manual_seed(1)
    device, flush, results = torch.cuda.get_device_properties(0), cache_flush(torch), []
    for shape in shapes:
        for name in BACK_ENDS:
            result = measured(torch, flush, name, shape, dtype)
            results.append({"name": name, "dtype": dtype, **shape, **result})
            took = f"skipped: {result['skipped']}" if "skipped" in result else f"{result['ms']:.4g} ms"
            print(f"{line_of(name, dtype, shape)}: {took}", file=sys.stderr)
    return {
        "format": "flashstep device bench",
        "version": 1,
        "source": f"torch {torch.__version__}",
        "device": device.name,
        "target": f"sm_{device.major}{device.minor}",
        "driver": driver_version(),
        "date": datetime.date.today().isoformat(),
        "results": results,
    }


def check_target(path):
    """Before anything is measured: raises Stop where write(path, ...) could not write."""
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path) or not os.path.basename(path):
        raise Stop(f"cannot write {path!r}: a folder, not a file")
    if not os.path.isdir(folder):
        raise Stop(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Stop(f"cannot write {path}: the folder {folder} is not writable")


def print_text(text):
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again when it ends
        raise Stop(f"cannot write to standard output: {error.strerror}") from None


def write(path, results):
    """To standard output without a path; a file is replaced at once."""
    text = json.dumps(results, indent=2, allow_nan=False) + "\n"
    if path is None:
        print_text(text)
        return
    fresh = f"{path}.{os.getpid()}.part"
    try:
        with open(fresh, "x", encoding="utf-8") as file:
            file.write(text)
        os.replace(fresh, path)
    except OSError as error:
        if os.path.exists(fresh):
            os.remove(fresh)
        raise Stop(f"cannot write {path}: {error.strerror}") from None


def main(words):
    parser = argparse.ArgumentParser(prog="bench_torch.py", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--schedule", required=True, metavar="FILE", help="of `flashstep bench --schedule --json=FILE`")
    parser.add_argument("--json", metavar="FILE", help="where the times go (standard output)")
    parser.add_argument("--dry-run", action="store_true", help="check the schedule and print what would run")
    options = parser.parse_args(words)
    try:
        dtype, shapes = read_schedule(options.schedule)
        if options.dry_run:
            print_text("".join(line_of(name, dtype, shape) + "\n" for shape in shapes for name in BACK_ENDS))
        else:
            if options.json is not None:
                check_target(options.json)
            write(options.json, bench(dtype, shapes))
    except Stop as stop:
        print(f"bench_torch.py: {stop}", file=sys.stderr)
        return stop.status
    return OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
