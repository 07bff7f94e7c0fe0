"""The sentence and the maps of the heads, drawn from a Trace."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.drawing import charts
from attention_core.explanation.facts import Accident, accident, row_fact
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.number_text import format_exact, format_fixed, format_percent
from pages.components import tiles
from pages.panels import canvas_map
from pages.panels.chart import show_chart
from pages.panels.thumbnails import show_all_heads, show_strip
from pages.panels.word_swaps import list_swap_offers, take_swap_offer
from pages.runs.cache import cached_batch_difference, trace_for
from pages.runs.compute import spell_tokens
from pages.runs.run_inputs import RunInputs
from pages.session import setup_state
from pages.session.cell_clicks import is_valid_index, open_cell
from pages.session.fragments import redraw, select_and_redraw
from pages.session.labels import (
    Selection,
    chosen_cell,
    current_palette,
    name_token,
    picture_texts_for,
    selection_of,
    spoken_share,
)
from pages.session.view import ScreenState
from pages.setup.setup import UNCHANGED, Setup, built_heads_of, config_of, network_of, without_view
from pages.site.words import escape_markdown, has, say


def show_tiles(scene: ScreenState) -> None:
    """The tokens; under each the share that the chosen one gives it. Keys of another sequence stand in a second row."""
    trace, material, look = scene.trace, scene.inputs, scene.look
    offered = list_swap_offers(scene.setup, material)

    def swapped() -> None:
        take_swap_offer(st.session_state["tiles"].swapped, scene.setup, material)

    shares = trace.step("weights").window(B=look.batch, H=look.head, T=look.query)
    crossed = material.crossed
    rows = [("tiles", material.queries, material.word_origins, handle_query_choice, None if crossed else shares)]
    if crossed:
        rows.append(("keys", material.keys, material.key_origins, handle_key_choice, shares))
    many = len(material.queries) + len(material.keys) * crossed > 64
    for name, words, origins, chosen, given in rows:
        tokens = [make_tile(word, origins, i, given) for i, word in enumerate(words)]
        data = {
            "tokens": tokens,
            "chosen": look.query if name == "tiles" else -1,
            "label": say(f"{name}.label"),
            "name": say("axis.T" if name == "tiles" else "axis.S") if crossed else "",
            "many": many,
            "swaps": [f"{old} → {new}" for old, new in offered] if name == "tiles" else [],
            "exchange": say("help.swap"),
            "language": say("app.tag"),
            "colour": current_palette().share,
        }
        tiles(data=data, key=name, on_chosen_change=chosen, on_swapped_change=swapped)


def show_sentences(scene: ScreenState) -> None:
    """Which sentence of a batch is on the screen."""
    batch = scene.inputs.batch
    if not batch:
        return

    def chosen() -> None:
        at, cell = st.session_state["c_sentence"] or 0, scene.setup.cell
        in_batch = cell is not None and scene.trace.step(scene.setup.step).dims[0] == "B"
        select_and_redraw(sentence=at or None, cell=(at, *cell[1:]) if in_batch else cell, token=None, head=None)

    def name(at: int) -> str:
        text = printable_token(spell_tokens(batch[at].words, scene.setup))
        return say("batch.sentence", number=at + 1, words=escape_markdown(text if len(text) <= 16 else text[:15] + "…"))

    st.session_state["c_sentence"] = scene.look.batch
    st.segmented_control(
        say("batch.picker"),
        range(len(batch)),
        format_func=name,
        key="c_sentence",
        on_change=chosen,
        required=True,
        label_visibility="collapsed",
    )
    _, difference = cached_batch_difference(without_view(scene.setup), scene.trace)
    st.caption(say("batch.alone", figure=f"{difference:.0e}") if difference else say("batch.alone_exact"))


def make_tile(word: str, origins: tuple[str, ...], i: int, shares: np.ndarray | None) -> dict:
    """A tile: its word, where its vector comes from, the share it receives."""
    origin = origins[i] if origins else "typed"
    text = {
        "text": printable_token(word),
        "origin": origin,
        "title": say(f"origin.word.{origin}", word=printable_token(word)),
    }
    if shares is None:
        return text | {"share": None}
    share = float(shares[i])
    return text | {
        "share": share if math.isfinite(share) else None,
        "title": f"{text['title']} · {format_exact(share)}",
    }


def handle_query_choice() -> None:
    """A token was chosen: it asks now."""
    chosen = st.session_state["tiles"].chosen
    if is_valid_index(chosen, trace_for(setup_state.current_setup()).sizes()["T"]):
        select_and_redraw(token=chosen, head=None, cell=None)


def handle_key_choice() -> None:
    """A key was chosen: the weight that it receives is opened."""
    chosen, trace = st.session_state["keys"].chosen, trace_for(setup_state.current_setup())
    look = selection_of(trace, setup_state.current_setup())
    if is_valid_index(chosen, trace.sizes()["S"]):
        open_cell("weights", (look.batch, look.head, look.query, chosen))


def fact_sentence(trace: Trace, look: Selection, spell: Callable[[str], str] = escape_markdown) -> str:
    """What the chosen query does in a head, in one sentence with its number. spell: how tokens are written in it."""
    fact = row_fact(trace, look.head, look.query, look.batch)
    count, share = fact.possible, spoken_share(fact.share, fact.rest)
    words = {
        "head": look.head + 1,
        "query": spell(name_token(trace, "T", look.query)),
        "percent": share,
        "count": count,
    }
    if found := accident(trace, fact):
        return accident_sentence(trace, found, words, spell)
    if fact.kind == "nothing":
        return say("fact.nothing", **words)
    if fact.kind == "overflow":
        return say("fact.overflow", **words)
    if fact.kind == "even":
        return say("fact.even", **words)
    keys = [spell(name_token(trace, "S", key)) for key in fact.keys]
    if fact.kind == "chosen":
        return say("fact.chosen", key=keys[0], share=format_fixed(fact.share), total=format_fixed(fact.total), **words)
    if fact.kind == "several" and len(keys) > MAX_NAMED_KEYS:
        return say("fact.many", key=keys[0], keys=len(keys), **words)
    if fact.kind == "several":
        return say("fact.several", keys=enumerated([say("fact.quoted", key=key) for key in keys]), **words)
    if fact.kind == "nearly" and format_percent(fact.share) == format_percent(1 / count):
        return say("fact.close", **words)
    if fact.kind in ("only", "nearly"):
        return say(f"fact.{fact.kind}", key=keys[0], **words)
    kind = "most" if count == trace.sizes()["S"] else "most_allowed"
    return say(f"fact.{kind}", key=keys[0], ratio=f"{fact.ratio:.1f}", **words)


def accident_sentence(trace: Trace, found: Accident, words: dict[str, object], spell: Callable[[str], str]) -> str:
    """Why nothing is said of a row: it comes of random numbers."""
    if found.query:
        return say("fact.random_query", **words)
    if found.keys:
        names = [say("fact.quoted", key=spell(name_token(trace, "S", key))) for key in found.keys[:MAX_NAMED_KEYS]]
        return say("fact.random_keys" if names[1:] else "fact.random_key", keys=enumerated(names), **words)
    names = say("fact.comma").join(map(spell, found.matrices))
    return say("fact.random_matrices", names=names, **words)


def enumerated(names: list[str]) -> str:
    """Names in a sentence: a, b and c."""
    *most, last = names
    return say("fact.and", others=say("fact.comma").join(most), last=last) if most else last


MAX_NAMED_KEYS = 4  # keys that a sentence names one by one
LARGE_MAPS_LIMITS = (2, 20)  # up to so many heads of so many tokens are all shown large
MAX_TOKENS_BESIDE_SMALL_MAPS = (
    12  # tokens: under a map of more the small ones would not be found, so they stand above it
)
LONG_ROW_KEYS = 8  # keys: beyond, the colours of an even row are hard to tell from those of an empty one


def list_large_heads(scene: ScreenState) -> list[int]:
    """The heads that are shown large: two beside each other, else the one that is looked at."""
    sizes = scene.trace.sizes()
    beside = sizes["H"] <= LARGE_MAPS_LIMITS[0] and max(sizes["T"], sizes["S"]) <= LARGE_MAPS_LIMITS[1]
    return [*range(sizes["H"])] if sizes["H"] == 1 or beside else [scene.look.head]


def make_head_pictures(scene: ScreenState) -> dict[int, charts.Picture]:
    """The maps of the large heads, as far as they stand in cells."""
    if canvas_map.is_large(scene.drawn("weights"), "weights"):
        return {}
    return {head: make_head_picture(scene, head) for head in list_large_heads(scene)}


def make_head_picture(scene: ScreenState, head: int) -> charts.Picture:
    """One head's weights, or how they changed."""
    look, axes = scene.look, (say("corner.T"), say("corner.S"))
    return charts.head_map(
        scene.drawn("weights"),
        head,
        picture_texts_for(scene.trace),
        current_palette(),
        chosen_cell(scene.trace, scene.setup),
        look.query,
        scene.times,
        look.batch,
        axes,
        head_title(scene, head),
    )


def show_head_pictures(scene: ScreenState, pictures: dict[int, charts.Picture]) -> None:
    """Two heads side by side; of more heads, or many tokens, one large and all of them small. Then the strip."""
    large, sizes = list_large_heads(scene), scene.trace.sizes()
    if len(large) == sizes["H"]:
        with st.container(horizontal=True, gap="small"):
            for head in large:
                show_head_map(scene, head, pictures)
    elif sizes["T"] <= MAX_TOKENS_BESIDE_SMALL_MAPS:
        with st.container(horizontal=True, gap="small"):
            show_head_map(scene, scene.look.head, pictures)
            show_all_heads(scene)
    else:
        show_all_heads(scene)
        show_head_map(scene, scene.look.head, pictures)
    show_strip(scene)


def show_head_map(scene: ScreenState, head: int, pictures: dict[int, charts.Picture]) -> None:
    """One head's map, in cells or on a canvas."""
    look, title = replace(scene.look, head=head), head_title(scene, head)
    fact = fact_sentence(scene.trace, look, spell=str)
    if head in pictures:
        show_chart(pictures[head], f"map{head}", f"{title}. {fact}")
        return
    st.markdown(escape_markdown(title))
    even = row_fact(scene.trace, head, look.query, look.batch).possible
    canvas_map.show_large_map(scene, "weights", look.at, f"map{head}", fact, even)


def show_fact(scene: ScreenState) -> None:
    """What the chosen query does, as the heading; beside it a switch, for rows so long that all weights are small, or
    the way to weights that were learned."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"##### {fact_sentence(scene.trace, scene.look)}", width="content")
        if scene.trace.sizes()["S"] > LONG_ROW_KEYS:
            ramp_switch(scene)
        elif network_of(scene.setup) is None:
            learned_door()


LEARNED_EXAMPLE = "learned_copy"  # the example that answers where weights come from


def learned_door() -> None:
    """Where do weights come from? A head whose weights were learned, with its own q, k and v."""

    def opened() -> None:
        setup_state.open_example(LEARNED_EXAMPLE)
        redraw()

    st.button(say("header.learned"), key="learned", help=say("help.learned"), type="tertiary", on_click=opened)


def ramp_switch(scene: ScreenState) -> None:
    """Colours of the weights from 0 to 1, or in even shares."""

    def chosen() -> None:
        wanted = st.session_state["c_ramp"]
        usual = wanted == scene.times_by_itself
        select_and_redraw(ramp=None if usual else "times" if wanted else "shares")

    st.session_state["c_ramp"] = scene.times
    st.toggle(say("control.ramp"), key="c_ramp", on_change=chosen, help=say("help.ramp"), width="content")


def head_title(scene: ScreenState, number: int) -> str:
    """A head's heading; over a difference it says so."""
    title = head_name(scene.setup, scene.inputs, number)
    return title + say("change.title") if scene.drawn("weights").difference else title


def head_name(setup: Setup, material: RunInputs, number: int) -> str:
    """A head's number, and what it was built to do, as long as nothing but words that it knows was exchanged."""
    title = say("place.head", number=number + 1)
    key = f"role.{setup.example}.{number + 1}"
    if kinds := built_heads_of(setup):
        name, offset = kinds[number] if number < len(kinds) else ("", 0)
        key = f"built_role.{name}"
        role = say(key, offset=f"{offset:+d}".replace("-", "−")) if has(key) else ""
    else:
        role = say(key) if has(key) else ""
    known = "random" not in (*material.word_origins, *material.key_origins)
    return title + say("place.role", role=role) if role and is_as_built(setup) and known else title


def is_as_built(setup: Setup) -> bool:
    """Whether the layer is as it was built: only the words, the number format or the mode of typing changed."""
    free = {"text": None, "more": None, "temperature": 1.0, "seed": 0, "dtype": "float64", "device": "cpu"}
    free["wiring"] = tuple(name for name in setup.wiring if name != "residual")  # it comes behind the heads
    free |= {"built": None, "score": None} if built_heads_of(setup) and config_of(setup).score == "dot" else {}
    return replace(without_view(setup), x=None if setup.x == UNCHANGED else setup.x, **free) == Setup(
        example=setup.example
    )
