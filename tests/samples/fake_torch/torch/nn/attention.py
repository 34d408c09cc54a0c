"""A part of the stand-in for PyTorch: which back end is chosen."""

import contextlib

chosen = None


class SDPBackend:
    FLASH_ATTENTION = "FLASH_ATTENTION"
    CUDNN_ATTENTION = "CUDNN_ATTENTION"


@contextlib.contextmanager
def sdpa_kernel(back_end):
    global chosen
    chosen = back_end
    try:
        yield
    finally:
        chosen = None
