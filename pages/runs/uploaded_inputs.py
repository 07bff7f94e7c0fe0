"""From the tensors of a file to what goes into a run."""

import numpy as np

from attention_core.inputs.files.qkv_file import Brought, Part, bring, cut, guessed, whole
from attention_core.inputs.tokenizer import MAX_TOKENS
from pages.runs.run_inputs import Material
from pages.setup.setup import AXES, MOST_HEADS, MOST_PAIRS, Setup

Arrays = dict[str, np.ndarray]


def roles_of(setup: Setup, arrays: Arrays) -> dict[str, str]:
    """The array for each role: as it was chosen, else as its name says."""
    names = [*arrays]
    if not setup.roles:
        return guessed(names)
    pairs = [text.split(":") for text in setup.roles]
    return {role: names[int(place)] for role, place in pairs if int(place) < len(names)}


def whole_of(setup: Setup, arrays: Arrays) -> Brought:
    """All that was brought. Raises AttentionError."""
    axes = AXES.get(setup.axes)
    return bring(arrays, roles_of(setup, arrays), axes, setup.polarity == "blocked")


def part_of(setup: Setup, brought: Brought) -> Part:
    """The part that is looked at: as it was chosen, else as much as may be looked at."""
    if setup.part is None or len(setup.part) != 7:
        return whole(brought, MOST_HEADS, MAX_TOKENS, MOST_PAIRS)
    batch, head, heads, query, queries, key, keys = setup.part
    return Part(batch, (head, heads), (query, queries), (key, keys))


def gather_brought(material: Material, setup: Setup, arrays: Arrays) -> None:
    """The part of the tensors, its queries and keys called by their places in the file."""
    brought = whole_of(setup, arrays)
    part = part_of(setup, brought)
    material.brought = cut(brought, part)
    material.left_out = set(brought.given) > set(material.brought.given)
    material.queries, material.keys = (
        tuple(str(first + n + 1) for n in range(count)) for first, count in (part.queries, part.keys)
    )
    material.crossed = material.queries != material.keys
    for name in "qkv":
        material.origins[name] = "brought"
