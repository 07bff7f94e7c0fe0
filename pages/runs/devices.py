"""The devices on which runs can be computed, and why no GPU is available."""

import torch

from attention_core.variants.timed_kinds import list_devices

AVAILABLE_DEVICES = list_devices()


def find_gpu_obstacle() -> str | None:
    """Why no GPU is available: "mac", whose GPU computes no float64; "built_without", a torch without CUDA;
    "not_found", a torch with CUDA that finds none. None if one is available."""
    if torch.cuda.is_available():
        return None
    if torch.backends.mps.is_available():
        return "mac"
    return "not_found" if torch.version.cuda else "built_without"
