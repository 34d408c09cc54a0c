"""A part of the stand-in for PyTorch."""

from . import attention  # noqa: F401


class functional:
    scaled_dot_product_attention = None
