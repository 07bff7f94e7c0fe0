"""Where something stands on the screen, in words; what is looked at; and how a click on a picture opens it."""

import re
from dataclasses import dataclass

import pyarrow as pa
import streamlit as st

from attention_core import Trace, charts
from attention_core.cells import Ref
from attention_core.drawing import COLUMNS
from attention_core.examples import EXAMPLES
from attention_core.layout import TOKENS, spans_all
from attention_core.lettering import Words
from attention_core.operations import kv_head
from attention_core.palette import DARK, LIGHT, Palette
from attention_core.reading import most_telling
from attention_core.tokens import shown
from pages.shared import state
from pages.shared.material import PAD
from pages.shared.runs import trace_of
from pages.shared.setup import Setup
from pages.shared.words import apart, has, say

HEADS = ("H", "H_kv")  # the axes that count heads
PHONE = 350  # pixels: what every screen is wide enough for
SCROLLBAR = 8  # pixels


def palette() -> Palette:
    """The colours of the theme that is on."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def chosen_cell(trace: Trace, setup: Setup) -> Ref | None:
    """The cell that is opened, where this run has it."""
    return Ref(setup.step, setup.cell) if setup.cell and trace.holds(setup.step, setup.cell) else None


def axis_label(trace: Trace, axis: str, position: int) -> str:
    """What stands beside a row or above a column: a token, what a number of x stands for, or a number from 1 on."""
    words = trace.labels.get(axis)
    if axis == "":
        return say("place.all")
    if words is None:
        return str(position + 1)
    word = words[position]
    named = axis in ("D", "D_out") and not word.startswith("=")
    return say(f"dim.{word}") if named else shown(word.removeprefix("=") if axis in ("D", "D_out") else word)


LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def token(trace: Trace, axis: str, position: int) -> str:
    """A token in a text; one that stands there more than once carries its place: the₃."""
    words = trace.labels[axis]
    return shown(words[position]) + (str(position + 1).translate(LOW) if words.count(words[position]) > 1 else "")


def describe(trace: Trace, ref: Ref) -> str:
    """A cell in words: its step, its head, its tokens."""
    step = trace.step(ref.step)
    parts = []
    for axis, (dim, position) in enumerate(zip(step.dims, ref.index, strict=True)):
        if spans_all(trace, ref.step, axis) or (dim == "B" and step.value.shape[axis] == 1):
            continue
        parts.append(place_name(trace, dim, position))
    return f"{ref.step} [{', '.join(parts)}]"


def place_name(trace: Trace, axis: str, position: int) -> str:
    """A position along any axis: a head by its number, else what stands beside its row or above its column."""
    if axis in HEADS:
        return say("place.head", number=position + 1)
    return (
        token(trace, axis, position) if axis in TOKENS and axis in trace.labels else axis_label(trace, axis, position)
    )


def place_names(trace: Trace, axis: str, size: int) -> list[str]:
    """The names of all positions along an axis, to choose from: no two alike, also where tokens imitate others."""
    return apart([place_name(trace, axis, position) for position in range(size)])


def short_name(step: str) -> str:
    """A step's name under its small map."""
    mask = f"mask.{step.removeprefix('allowed_')}"
    if step.startswith("allowed_") and has(mask):
        return say(mask).replace(" ", "\n", 1)
    return say(f"step.short.{step}") if has(f"step.short.{step}") else step


def words_for(trace: Trace) -> Words:
    """How pictures of this run speak."""
    return Words(lambda ref: describe(trace, ref), lambda axis, i: axis_label(trace, axis, i))


TYPES = {str: pa.string(), float: pa.float64(), int: pa.int32()}  # a browser has no number for 64 bits
SCHEMA = pa.schema([(column, TYPES[type(usual)]) for column, usual in {**COLUMNS, "turn": 0}.items()])


def chart(picture: charts.Picture, key: str, alt: str) -> None:
    """Draws a picture; a click on one of its cells opens that cell.

    A browser tells a click only where it selects something new: after each click the cells have another turn, so that
    the same one can be clicked again.
    """
    turn = st.session_state.get(f"turn_{key}", 0)

    def opened() -> None:
        st.session_state[f"turn_{key}"] = turn + 1
        match st.session_state[key].selection.get("cell"):
            case [{"step": str(step), "index": str(index)}, *_] if PLACE.fullmatch(index):
                open_sent({"step": step, "index": [*map(int, index.split(","))]})

    with box(picture):
        st.vega_lite_chart(
            pa.table({**picture.table, "turn": [turn] * len(picture.table["kind"])}, schema=SCHEMA),
            picture.spec,
            width="content",
            theme=None,
            key=key,
            on_select=opened,
            selection_mode="cell",
            alt=alt,
        )


def box(picture: charts.Picture) -> st.delta_generator.DeltaGenerator:
    """Where a picture stands: one that is wider than a phone scrolls by itself there, not the page."""
    width, height = picture.spec["width"], picture.spec["height"]
    if width <= PHONE:
        return st.container(width="content")
    return st.container(width=width + 6, height=height + SCROLLBAR, border=False)


PLACE = re.compile(r"[0-9]{1,3}(,[0-9]{1,3})*")  # how a cell of a picture names the cell of the step


def within(given: object, size: int) -> bool:
    """Whether what a browser sent is one of so many positions: it may send anything."""
    return type(given) is int and 0 <= given < size


def open_sent(place: object, follow: bool = False) -> None:
    """Opens the cell that a browser names, {"step", "index"}, where the run has it: it may have been drawn for another
    run, or be made up."""
    match place:
        case {"step": str(step), "index": [*index]} if all(type(at) is int for at in index):
            if trace_of(state.current()).holds(step, tuple(index)):
                open_cell(step, tuple(index), follow)


def open_cell(step: str, cell: tuple[int, ...] | None, follow: bool = False) -> None:
    """Opens a step, and a cell of it; the head that is looked at goes along, and the token unless a number is followed
    back to where it comes from."""
    looks: dict = {"step": step, "cell": cell}
    if cell is not None:
        place = dict(zip(trace_of(state.current()).step(step).dims, cell, strict=True))
        looks |= {"head": place["H"]} if "H" in place else {}
        looks |= {"token": place["T"]} if "T" in place and not follow else {}
        looks |= {"sentence": place["B"]} if place.get("B") else {}
        if follow:
            state.follow(step, cell)
    state.look(**looks)
    st.session_state["opened"] = st.session_state.get("opened", 0) + 1


@dataclass(frozen=True)
class Look:
    """What is looked at: a sentence of the batch, a head with the key/value head that it reads, a query."""

    batch: int
    head: int
    kv: int
    query: int

    @property
    def at(self) -> dict[str, int]:
        """The position on every axis that a picture picks one of."""
        return {"B": self.batch, "H": self.head, "H_kv": self.kv, "T": self.query}


def real_queries(trace: Trace) -> int:
    """How many queries of the sentence on the screen are words, not what fills it up."""
    return sum(word != PAD for word in trace.labels["T"])


def looked_at(trace: Trace, setup: Setup) -> Look:
    """The chosen sentence, head and query, else the example's story, else the most telling."""
    sizes = trace.sizes()
    batch = min(setup.sentence or 0, sizes["B"] - 1)
    focus, typed = EXAMPLES[setup.example].focus, (setup.text, setup.x, setup.q, setup.file, setup.built)
    told = typed == (None,) * len(typed) and batch == 0 and focus and focus[0] < sizes["H"]
    if setup.token is None and told:
        head, query = focus
    else:
        real = real_queries(trace)
        query = None if setup.token is None else min(setup.token, sizes["T"] - 1)
        head, query = most_telling(trace, query, batch, real)
    head = head if setup.head is None else min(setup.head, sizes["H"] - 1)
    return Look(batch, head, kv_head(head, sizes["H"], sizes["H_kv"]), query)
