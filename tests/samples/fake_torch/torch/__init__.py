"""Stands in for PyTorch in tests of gpu/bench_torch.py: a clock and a log, no arithmetic and no device.

What it says of times is made up. Every call that matters is a line of the file $FAKE_TORCH_LOG.
"""

import ctypes
import os
import warnings

__version__ = "2.0+sample"
float16, bfloat16, uint8 = "float16", "bfloat16", "uint8"
clock_ms = 0.0
runs_of_shape = 0


def log(text):
    with open(os.environ["FAKE_TORCH_LOG"], "a", encoding="utf-8") as file:
        file.write(text + "\n")


def pass_time(milliseconds):
    global clock_ms
    clock_ms += milliseconds


class Tensor:
    def __init__(self, size, dtype, requires_grad=False):
        self.size, self.dtype, self.requires_grad = size, dtype, requires_grad

    def zero_(self):
        log(f"flush {self.size}")
        pass_time(1000.0)  # would be seen if it were timed


def manual_seed(seed):
    log(f"seed {seed}")


def empty(size, dtype, device):
    assert dtype == uint8 and device == "cuda"
    return Tensor(size, dtype)


def randn(size, dtype, device, requires_grad=False):
    global runs_of_shape
    assert device == "cuda"
    runs_of_shape = 0
    return Tensor(size, dtype, requires_grad)


def run_time():
    """10 ms, but 30 ms (or what the test wants) while warming up, and 90 ms in every fifth run."""
    global runs_of_shape
    runs_of_shape += 1
    if runs_of_shape <= 3:
        return {"long": 1e6}.get(os.environ.get("FAKE_TORCH_WARM_UP", ""), 30.0 if runs_of_shape < 3 else 10.0)
    return 90.0 if runs_of_shape % 5 == 0 else 10.0


class cuda:
    OutOfMemoryError = type("OutOfMemoryError", (RuntimeError,), {})
    broken = False

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing
            self.at = None

        def record(self):
            log("record")
            self.at = clock_ms

        def synchronize(self):
            log("wait")

        def elapsed_time(self, end):
            return end.at - self.at

    @staticmethod
    def is_available():
        return os.environ.get("FAKE_TORCH_DEVICE", "yes") == "yes"

    @staticmethod
    def get_device_properties(index):
        assert index == 0
        return type("Properties", (), {"name": "SAMPLE, not a device", "major": 9, "minor": 0, "L2_cache_size": 1 << 28})

    @staticmethod
    def empty_cache():
        pass

    @staticmethod
    def synchronize():
        if cuda.broken:
            raise RuntimeError("CUDA error: an illegal memory access\nwas encountered")


class autograd:
    @staticmethod
    def grad(output, inputs, gradient, retain_graph):
        assert retain_graph and all(tensor.requires_grad for tensor in inputs)
        assert gradient.size == output.size and not gradient.requires_grad
        log("backward")
        pass_time(2 * run_time())


from . import nn  # noqa: E402  (it needs what stands above)


def attention(q, k, v, is_causal):
    assert q.size == k.size == v.size and q.dtype in (float16, bfloat16)
    chosen, (batch, heads, n, d) = nn.attention.chosen, q.size
    log(f"forward {chosen} {q.dtype} batch={batch} heads={heads} n={n} d={d} causal={is_causal}")
    if chosen == "CUDNN_ATTENTION" and is_causal and q.requires_grad:
        warnings.warn("SAMPLE reason")
        raise RuntimeError("No available kernel. Aborting execution.\nmore")
    if chosen == "FLASH_ATTENTION" and n == 16384 and d == 64:
        raise cuda.OutOfMemoryError("CUDA out of memory")
    if n == int(os.environ.get("FAKE_TORCH_BREAKS_AT", "0")):
        cuda.broken = True
        raise RuntimeError("CUDA error")
    pass_time(run_time() if not q.requires_grad else 1e5)  # a forward before a backward must not be timed
    return Tensor(q.size, q.dtype, q.requires_grad)


nn.functional.scaled_dot_product_attention = attention

# The driver that bench_torch.py asks for its version.
real_library = ctypes.CDLL


class Driver:
    @staticmethod
    def cuDriverGetVersion(number):
        number._obj.value = 13000
        return 0


ctypes.CDLL = lambda name, *rest, **named: Driver() if name == "libcuda.so.1" else real_library(name, *rest, **named)
