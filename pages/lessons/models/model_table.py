"""The lesson on today's models: the table of published models, each row of which opens as a state of the workbench."""

from collections.abc import Sequence

import streamlit as st

from attention_core.examples.published_models import PUBLISHED_MODELS, PublishedModel
from attention_core.record.number_text import format_grouped
from pages.export.page_links import link_to_workbench
from pages.lessons.models.cache_sizes import count_bytes_beyond, count_cache_bytes
from pages.lessons.models.pairs import Side
from pages.lessons.models.parts import PARTS, say_part
from pages.lessons.sentences import say_bytes
from pages.site.words import escape_markdown, say

TABLE_COLUMN_WIDTHS = (5, 4, 5, 5, 3)  # of the columns: which model; its parts, in three; what it keeps, and its door
TABLE_PARTS = (("positions",), ("heads",), ("masks", "score", "modifiers", "normaliser"))  # of the columns between
USUAL_PARTS = {
    "score": "scaled_dot",
    "modifiers": "plain",
    "normaliser": "softmax",
}  # what is said only where it differs


def show_model_table(layers: Sequence[Side], told: Sequence[str], known: bool) -> None:
    """Shows all models, from old to new. layers: one of each. told: for what it stands. known: whether the bytes may be
    seen."""
    st.caption(say("lessons.models.table"))
    seen: set[str] = set()
    for key, layer, what in zip(PUBLISHED_MODELS, layers, told, strict=True):
        with st.container(border=True):  # on a phone a row is five cells below each other, which belong together
            show_model_row(key, layer, what, known, seen)
        seen |= {f"{part}.{find(layer.model)}" for part, find in PARTS.items()}


def show_model_row(key: str, layer: Side, told: str, known: bool, seen: set[str]) -> None:
    """Shows one model. told: for what its layer stands. seen: what the models before it have: what is new stands in
    bold."""
    model = layer.model
    at_name, *at_parts, at_size = st.columns(TABLE_COLUMN_WIDTHS, vertical_alignment="center", gap="xsmall")
    with at_name, st.container(gap=None):
        st.markdown(say("lessons.models.row_name", year=model.year, model=model.name))
        sizes = say("lessons.models.sizes", layers=model.layers, width=format_grouped(model.width))
        st.caption(f"{sizes}  \n{escape_markdown(model.source)}")
    for column, parts in zip(at_parts, TABLE_PARTS, strict=True):
        column.markdown(tell_parts(model, parts, seen))
    with at_size, st.container(gap=None):
        st.markdown(tell_bytes(model) if known else say("lessons.models.hidden_bytes"))
        link_to_workbench(layer.setup, f"row_{key}", say("lessons.models.open"), told)


def tell_parts(model: PublishedModel, parts: Sequence[str], seen: set[str]) -> str:
    """Says what a model takes for some parts; in bold what no model before it has."""
    said = []
    for part in parts:
        value = PARTS[part](model)
        if USUAL_PARTS.get(part) == value:
            continue
        text = say_part(model, part)
        said.append(text if f"{part}.{value}" in seen else f"**{text}**")
    return say("lessons.models.dot").join(said)


def tell_bytes(model: PublishedModel) -> str:
    """Says what a token takes in the cache."""
    kept = count_cache_bytes(model, 1)
    if not kept:
        return say("lessons.models.no_cache")
    windows = [kind.window for kind in model.kinds if kind.window is not None]
    if not windows:
        return say("lessons.models.a_token", size=say_bytes(kept))
    later = count_bytes_beyond(model, *windows)
    return say(
        "lessons.models.a_token_then",
        size=say_bytes(kept),
        later=say_bytes(later),
        window=format_grouped(*windows),
    )
