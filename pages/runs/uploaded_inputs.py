"""From the tensors of a file to what goes into a run."""

import numpy as np

from attention_core.inputs.files.qkv_file import (
    UploadedTensors,
    UploadPart,
    cut_upload_part,
    guess_roles,
    largest_upload_part,
    read_roles,
)
from attention_core.inputs.tokenizer import MAX_TOKENS
from pages.runs.run_inputs import RunInputs
from pages.setup.setup import AXIS_ORDERS, MAX_RUN_PAIRS, MAX_SHOWN_HEADS, Setup

UploadedArrays = dict[str, np.ndarray]


def assign_roles(setup: Setup, arrays: UploadedArrays) -> dict[str, str]:
    """The array for each role: as it was chosen, else as its name says."""
    names = [*arrays]
    if not setup.roles:
        return guess_roles(names)
    pairs = [text.split(":") for text in setup.roles]
    return {role: names[int(place)] for role, place in pairs if int(place) < len(names)}


def read_uploaded_tensors(setup: Setup, arrays: UploadedArrays) -> UploadedTensors:
    """All that was brought. Raises AttentionError."""
    axes = AXIS_ORDERS.get(setup.axes)
    return read_roles(arrays, assign_roles(setup, arrays), axes, setup.polarity == "blocked")


def resolve_upload_part(setup: Setup, brought: UploadedTensors) -> UploadPart:
    """The part that is looked at: as it was chosen, else as much as may be looked at."""
    if setup.part is None or len(setup.part) != 7:
        return largest_upload_part(brought, MAX_SHOWN_HEADS, MAX_TOKENS, MAX_RUN_PAIRS)
    batch, head, heads, query, queries, key, keys = setup.part
    return UploadPart(batch, (head, heads), (query, queries), (key, keys))


def gather_upload(material: RunInputs, setup: Setup, arrays: UploadedArrays) -> None:
    """The part of the tensors, its queries and keys called by their places in the file."""
    brought = read_uploaded_tensors(setup, arrays)
    part = resolve_upload_part(setup, brought)
    material.brought = cut_upload_part(brought, part)
    material.left_out = set(brought.given) > set(material.brought.given)
    material.queries, material.keys = (
        tuple(str(first + n + 1) for n in range(count)) for first, count in (part.queries, part.keys)
    )
    material.crossed = material.queries != material.keys
    for name in "qkv":
        material.origins[name] = "brought"
