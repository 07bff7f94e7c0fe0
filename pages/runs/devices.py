"""Lists the devices that can compute runs, and finds the reason if no GPU is available."""

import torch

from attention_core.variants.timing import list_devices

AVAILABLE_DEVICES = list_devices()


def find_gpu_obstacle() -> str | None:
    """Returns the reason why no GPU is available; None if one is.

    "mac": a Mac's GPU, which does not compute float64. "built_without": torch without CUDA. "not_found": torch with
    CUDA, but no GPU.
    """
    if torch.cuda.is_available():
        return None
    if torch.backends.mps.is_available():
        return "mac"
    return "not_found" if torch.version.cuda else "built_without"
