"""Builds the rows of the picture of a whole model: contributions of its components, predicted words, answers."""

from collections.abc import Sequence

import numpy as np

from attention_core.transformer.stack import UNEMBEDDING
from pages.panels.model_look import LOGITS, SUM, BlockView
from pages.panels.model_rail import name_model_head
from pages.session.view import ScreenState
from pages.site.words import say

MOST_WORDS = 8  # most predicted words to show


class Strips:
    """Collects the numbers of all rows in one array, which the page sends to the browser."""

    def __init__(self, view: BlockView):
        self.view = view
        self.numbers: list[np.ndarray] = []

    def add(self, part: str, step: str, index: tuple[int, ...]) -> dict:
        """Appends the numbers along the last axis of a step to the array; returns their offset, count and cell.

        index: the index of these numbers on all other axes.
        """
        cell = {"part": part, "step": step, "index": index}
        return {**self.add_numbers(self.view.stack[part][step][index].numpy()), "cell": cell}

    def add_numbers(self, values: Sequence[float]) -> dict:
        """Appends numbers that belong to no step; returns their offset and count."""
        first = sum(map(len, self.numbers))
        self.numbers.append(np.asarray(values, dtype=np.float32))
        return {"first": first, "count": len(values), "cell": None}

    def pack(self) -> bytes:
        """Returns all numbers as float32 bytes."""
        return np.concatenate(self.numbers).tobytes()


def name_part(screen: ScreenState, label: str) -> dict:
    """Returns the name and the layer of a component of the model, and the head that a click on it shows.

    The head is [layer, head], counted from 1 and from 0; None for a component that is not a head.
    """
    layer, _, rest = label.partition(".")
    kind, _, inner = rest.partition(".")
    if not inner.startswith("head_"):
        # the last part of the label: such as "b_o" or "feed_forward", else "positions" or "embedding"
        last = inner or kind or layer
        name = say("block.part.bias", name=last) if last.startswith("b_") else say(f"block.part.{last}")
        return {"part": label, "name": name, "layer": int(layer) if layer.isdigit() else 0, "opens": None}
    number = int(inner.removeprefix("head_")) - 1
    name = name_model_head(screen.setup, int(layer), number)
    if name.isdigit():
        name = say("block.part.head", head=name)
    return {"part": label, "name": name, "layer": int(layer), "opens": [int(layer), number]}


def make_inner_rows(view: BlockView, strips: Strips, part: str) -> list[dict]:
    """Returns a row for each step inside a feed-forward layer, with the numbers of the selected word."""
    trace = view.stack[part]
    rows = []
    for name, step in trace.computed().items():
        if "T" in step.dims and name not in ("output", "residual"):
            sign = step.operation.sign
            said = "bent" if name == "activated" and "gate" not in trace else name
            row = {"kind": "inner", "within": part, "name": say(f"block.inner.{said}"), "sign": sign}
            rows.append({**strips.add(part, name, (0, view.at)), **row})
    return rows


def make_end_rows(view: BlockView, strips: Strips) -> list[dict]:
    """Returns rows for the sum of all components and, if the model has a last norm, for the norm of that sum."""
    norms = [name for name in view.stack[UNEMBEDDING].computed() if "_normed_" in name]
    index = (0, view.at, view.target_place)
    total = view.stack[LOGITS]["pushes_sum"][index]
    push = {"part": LOGITS, "step": "pushes_sum", "index": index}
    sum_row = {"kind": "sum", "name": say("block.part.sum"), "sign": "Σ"}
    rows = [{**strips.add(SUM, "parts_sum", (0, view.at)), **sum_row, "push": float(total), "push_cell": push}]
    for normed in norms:
        norm_row = {"kind": "norm", "name": say(f"block.inner.{normed}")}
        rows.append({**strips.add(UNEMBEDDING, normed, (0, view.at)), **norm_row})
    return rows


def make_word_rows(view: BlockView) -> list[dict]:
    """Returns rows of the likeliest next words, each with its probability; the target word is always among them."""
    trace = view.stack[UNEMBEDDING]
    logits, probabilities = trace["logits"][0, view.at], trace["probabilities"][0, view.at]
    likeliest = logits.topk(MOST_WORDS).indices.tolist()
    shown = likeliest if view.target in likeliest else [*likeliest[:-1], view.target]
    rows = []
    for number in shown:
        index = (0, view.at, number)
        row = {
            "word": trace.labels["V"][number],
            "number": number,
            "share": float(probabilities[number]),
            "chosen": number == view.target,
            "share_cell": {"part": UNEMBEDDING, "step": "probabilities", "index": index},
        }
        rows.append(row)
    return rows
