"""The tokens above the maps: one is chosen by a click, and each shows the share that the chosen one gives it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.number_text import format_exact
from pages.components import tiles
from pages.panels.word_swaps import list_swap_offers, take_swap_offer
from pages.runs.cache import cached_batch_difference, trace_for
from pages.runs.compute import spell_tokens
from pages.session import setup_state
from pages.session.cell_clicks import is_valid_index, open_cell
from pages.session.fragments import select_and_redraw
from pages.session.labels import current_palette, selection_of
from pages.session.view import ScreenState
from pages.setup.setup import without_view
from pages.site.words import escape_markdown, say

MAX_TILES_IN_SIGHT = 64  # tiles: more of them scroll in a box of their own
MAX_SENTENCE_CHARS = 16  # characters of a sentence of a batch, where one chooses among them


@dataclass(frozen=True)
class TileRow:
    """A row of tiles under the name of its component. shares: what the chosen token gives each, where the row shows
    that."""

    name: str
    words: tuple[str, ...]
    origins: tuple[str, ...]
    shares: np.ndarray | None
    handle_choice: Callable[[], None]


def show_tiles(screen: ScreenState) -> None:
    """The tokens; under each the share that the chosen one gives it. Keys of another sequence stand in a second row."""
    selection, inputs = screen.selection, screen.inputs
    weights = screen.trace.step("weights")
    shares = weights.window(B=selection.batch, H=selection.head, T=selection.query)  # (S,)
    query_shares = None if inputs.crossed else shares
    queries = TileRow("tiles", inputs.queries, inputs.word_origins, query_shares, handle_query_choice)
    show_tile_row(screen, queries)
    if inputs.crossed:
        keys = TileRow("keys", inputs.keys, inputs.key_origins, shares, handle_key_choice)
        show_tile_row(screen, keys)


def show_tile_row(screen: ScreenState, row: TileRow) -> None:
    """One row of tiles; beside the queries the words that are worth exchanging."""
    setup, inputs = screen.setup, screen.inputs
    holds_queries = row.name == "tiles"
    axis = "T" if holds_queries else "S"
    swaps = list_swap_offers(setup, inputs) if holds_queries else []
    token_count = len(inputs.queries) + len(inputs.keys) * inputs.crossed

    def take_swap() -> None:
        take_swap_offer(st.session_state["tiles"].swapped, setup, inputs)

    data = {
        "tokens": [make_tile(row, position) for position in range(len(row.words))],
        "chosen": screen.selection.query if holds_queries else -1,
        "label": say(f"{row.name}.label"),
        "name": say(f"axis.{axis}") if inputs.crossed else "",
        "many": token_count > MAX_TILES_IN_SIGHT,
        "swaps": [f"{old} → {new}" for old, new in swaps],
        "exchange": say("help.swap"),
        "language": say("app.tag"),
        "colour": current_palette().share,
    }
    tiles(
        data=data,
        key=row.name,
        on_chosen_change=row.handle_choice,
        on_swapped_change=take_swap,
    )


def make_tile(row: TileRow, position: int) -> dict:
    """A tile: its word, where its vector comes from, the share it receives."""
    word = printable_token(row.words[position])
    origin = row.origins[position] if row.origins else "typed"
    title = say(f"origin.word.{origin}", word=word)
    tile = {"text": word, "origin": origin, "title": title, "share": None}
    if row.shares is not None:
        share = float(row.shares[position])
        tile["share"] = share if math.isfinite(share) else None
        tile["title"] = f"{title} · {format_exact(share)}"
    return tile


def handle_query_choice() -> None:
    """A token was chosen: it asks now."""
    query = st.session_state["tiles"].chosen
    sizes = trace_for(setup_state.current_setup()).sizes()
    if is_valid_index(query, sizes["T"]):
        select_and_redraw(token=query, head=None, cell=None)


def handle_key_choice() -> None:
    """A key was chosen: the weight that it receives is opened."""
    key = st.session_state["keys"].chosen
    setup = setup_state.current_setup()
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    if is_valid_index(key, trace.sizes()["S"]):
        weight = (selection.batch, selection.head, selection.query, key)
        open_cell("weights", weight)


def show_sentences(screen: ScreenState) -> None:
    """Which sentence of a batch is on the screen, and how far it differs from the sentence computed alone."""
    batch = screen.inputs.batch
    if not batch:
        return

    def choose_sentence() -> None:
        number = st.session_state["c_sentence"] or 0
        cell = find_cell_of_sentence(screen, number)
        select_and_redraw(sentence=number or None, cell=cell, token=None, head=None)

    def name_sentence(number: int) -> str:
        text = spell_tokens(batch[number].words, screen.setup)
        short_text = shorten_sentence(printable_token(text))
        return say("batch.sentence", number=number + 1, words=escape_markdown(short_text))

    st.session_state["c_sentence"] = screen.selection.batch
    st.segmented_control(
        say("batch.picker"),
        range(len(batch)),
        format_func=name_sentence,
        key="c_sentence",
        on_change=choose_sentence,
        required=True,
        label_visibility="collapsed",
    )
    _, difference = cached_batch_difference(without_view(screen.setup), screen.trace)
    if difference:
        st.caption(say("batch.alone", figure=f"{difference:.0e}"))
    else:
        st.caption(say("batch.alone_exact"))


def find_cell_of_sentence(screen: ScreenState, number: int) -> tuple[int, ...] | None:
    """The opened cell, in another sentence of the batch where its step has one of each."""
    cell = screen.setup.cell
    if cell is None:
        return None
    dims = screen.trace.step(screen.setup.step).dims
    return (number, *cell[1:]) if dims[0] == "B" else cell


def shorten_sentence(text: str) -> str:
    """The beginning of a sentence, where it is too long to choose among others."""
    if len(text) <= MAX_SENTENCE_CHARS:
        return text
    return text[: MAX_SENTENCE_CHARS - 1] + "…"
