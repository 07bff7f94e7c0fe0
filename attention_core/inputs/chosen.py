"""Numbers chosen at a few places of a step, as a text for a link: "batch.head.row.column=number;..."."""

import re

import numpy as np
from jaxtyping import Float

from attention_core.inputs.matrix_text import digits, from_text
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

PLACE = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})=([^;,]{1,30})")


def from_places(text: str, shape: tuple[int, int, int, int], name: str = "scores") -> Float[np.ndarray, "B H T S"]:
    """The chosen numbers in their places, NaN everywhere else; places outside the shape are left out.

    text: as `to_places` writes it. shape: (B, H, T, S). name: how errors call the step.
    Raises AttentionError: edit_form, and from_text's for a number.

    >>> from_places("0.0.0.1=2.5;0.0.7.7=1", (1, 1, 1, 2))
    array([[[[nan, 2.5]]]])
    """
    numbers = np.full(shape, np.nan)
    for part in text.split(";") if text else ():
        match = PLACE.fullmatch(part)
        if match is None:
            raise AttentionError("edit_form", name=name, given=part[:20])
        place = tuple(int(match[axis]) for axis in range(1, 5))
        number = from_text(match[5], name)[0, 0]
        if all(at < size for at, size in zip(place, shape, strict=True)):
            numbers[place] = number
    return numbers


def to_places(numbers: Float[np.ndarray, "B H T S"]) -> str:
    """The text that `from_places` reads back exactly: every number that is not NaN, with its place.

    >>> to_places(np.array([[[[np.nan, 2.5]]]]))
    '0.0.0.1=2.5'
    """
    places = np.argwhere(~np.isnan(numbers)).tolist()
    return ";".join(f"{b}.{h}.{i}.{j}={digits(numbers[b, h, i, j].item())}" for b, h, i, j in places)


def turned_over(trace: Trace, step: str = "weights") -> str:
    """A step's numbers with queries and keys exchanged, as chosen numbers of another run.

    So the weights of one direction can be tried, wrongly, as those of the other.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> turned_over(attend_qkv(torch.zeros(1, 3), torch.zeros(2, 3), torch.zeros(2, 3)))
    '0.0.0.0=0.5;0.0.1.0=0.5'
    """
    return to_places(trace.step(step).window().swapaxes(-1, -2))
