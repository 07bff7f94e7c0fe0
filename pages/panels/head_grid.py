"""Collects the data of the grid with the attention maps of all heads, from a language model's run or from a file."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from attention_core.drawing.cells import darkest_share
from attention_core.explanation.layout import MAX_PANEL_SIDE
from pages.session.labels import current_palette
from pages.site.words import get_text_template, say

TEXTS = (
    "sort",
    "layers",
    "least",
    "from",
    "to",
    "any",
    "here",
    "held",
    "compare",
    "drop",
    "difference",
    "choose_two",
    "rollout",
    "why",
)
TEMPLATES = ("pair", "order", "hidden", "cell")


@dataclass(frozen=True, eq=False)
class HeadGrid:
    """The attention maps (L, H, T, S) of all heads, and their descriptions.

    heads: a mapping for each head, layer by layer: its position (`layer`, `head`), its name, the pattern of its weights
    in words (its habit), and its measures on this sentence (`here`) and on held-out texts (`held`). measures: the
    display name of each measure. allowed: (T, S), the unmasked pairs. rolled: the attention rollout (T, S), if
    computed. now: the open layer and head. kind: "share"; "times" for multiples of the even share; "signed" for other
    numbers. hidden: (L, H, T, S), the cells that are left blank. reads: the options with which the maps can be shown
    (make_options). picture: the name, title, notes and texts with which the browser saves the maps as a picture, if it
    does.
    """

    maps: Tensor
    queries: Sequence[str]
    keys: Sequence[str]
    heads: Sequence[dict]
    measures: Mapping[str, str]
    now: Sequence[int]
    allowed: Tensor | None = None
    rolled: Tensor | None = None
    kind: str = "share"
    hidden: Tensor | None = None
    reads: dict | None = None
    picture: dict | None = None


def make_grid_data(grid: HeadGrid, **texts: str) -> dict:
    """Returns the data of the head grid: names, texts, and the weights of every head, one attention map after another.

    texts: texts to add or replace, by name.
    """
    palette = current_palette()
    keys = len(grid.keys)
    darkest = darkest_share(keys, times=keys > MAX_PANEL_SIDE)
    return {
        "heads": grid.heads,
        "queries": list(grid.queries),
        "keys": list(grid.keys),
        "measures": grid.measures,
        "now": grid.now,
        "order": None,  # no order from the server: only the browser stores the order of the heads
        "reach": {"share": darkest, "times": keys, "signed": float(grid.maps.abs().max())}[grid.kind],
        "kind": grid.kind,
        "reads": grid.reads,
        "picture": grid.picture,
        "palette": vars(palette),
        "text": {
            **{name: say(f"all_heads.{name}") for name in TEXTS},
            **{name: get_text_template(f"all_heads.{name}") for name in TEMPLATES},
            **texts,
        },
        "weights": pack_numbers(grid.maps),
        "allowed": b"" if grid.allowed is None else pack_marks(grid.allowed),
        "hidden": b"" if grid.hidden is None else pack_marks(grid.hidden),
        "rolled": b"" if grid.rolled is None else pack_numbers(grid.rolled),
        "other": b"",
    }


def pack_numbers(numbers: Tensor) -> bytes:
    """Returns numbers as single-precision bytes for the browser."""
    return numbers.numpy().astype(np.float32).tobytes()


def pack_marks(marks: Tensor) -> bytes:
    """Returns booleans as one byte each for the browser."""
    return marks.numpy().astype(np.uint8).tobytes()


def measures_of_head(measures: Mapping[str, Tensor], layer: int, head: int) -> dict[str, float]:
    """Returns {measure: number} for one head; layer and head count from 0.

    A measure without a finite value, for which no query counts, is omitted. measures: {name: numbers of all heads (L,
    H)}.
    """
    numbers = {name: float(rows[layer, head]) for name, rows in measures.items()}
    return {name: number for name, number in numbers.items() if math.isfinite(number)}
