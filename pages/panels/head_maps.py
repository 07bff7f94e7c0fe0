"""Draws the attention maps of the heads, and writes the heads' names and a sentence about what a head does."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.drawing import charts
from attention_core.explanation.facts import Accident, RowFact, accident, row_fact
from attention_core.inputs.matrix_values import UNCHANGED
from attention_core.record.number_text import format_fixed, format_percent
from pages.panels import canvas_map
from pages.panels.chart import show_chart
from pages.panels.thumbnails import show_all_heads, show_strip
from pages.runs.run_inputs import RunInputs
from pages.session.labels import Selection, chosen_cell, current_palette, name_token, picture_texts_for, spoken_share
from pages.session.view import ScreenState
from pages.setup.resolve import config_of, resolve_run
from pages.setup.setup import RunSetup, Setup
from pages.site.words import escape_markdown, has, say

MAX_NAMED_KEYS = 4  # most keys that a sentence lists by name
LARGE_MAPS_LIMITS = (2, 20)  # most heads and most tokens for which all maps are drawn large, side by side
MAX_TOKENS_BESIDE_SMALL_MAPS = 12  # most tokens for which the small maps are beside the large one, not above


# ---- what a head does ------------------------------------------------------------------------------------------------
def fact_sentence(trace: Trace, selection: Selection, spell: Callable[[str], str] = escape_markdown) -> str:
    """Returns the sentence that says to what the selected query attends in the selected head.

    spell: a function that formats the tokens in the sentence.
    """
    fact = row_fact(trace, selection.head, selection.query, selection.batch)
    return row_sentence(trace, fact, accident(trace, fact), spell)


def row_sentence(trace: Trace, fact: RowFact, found: Accident | None, spell: Callable[[str], str]) -> str:
    """Returns the sentence that says to what a query attends, from the known facts about its row of weights.

    found: the random numbers that determine the row's weights; None if there are none.
    """
    words = {
        "head": fact.head + 1,
        "query": spell(name_token(trace, "T", fact.query)),
        "percent": spoken_share(fact.share, fact.rest),
        "count": fact.possible,
    }
    if found:
        return accident_sentence(trace, found, words, spell)
    sentence = attention_sentence(trace, fact, words, spell)
    if not fact.sunk:
        return sentence
    return say("fact.sunk", sentence=sentence, sunk=format_percent(fact.sunk))


def attention_sentence(trace: Trace, fact: RowFact, words: dict[str, object], spell: Callable[[str], str]) -> str:
    """Returns the sentence about the weights that a query gives to its keys."""
    if fact.kind == "nothing":
        return say("fact.nothing" if fact.possible == 0 else "fact.zero", **words)
    if fact.kind == "overflow":
        return say("fact.overflow", **words)
    if fact.kind == "even":
        return say("fact.even", **words)
    keys = [spell(name_token(trace, "S", key)) for key in fact.keys]
    if fact.kind == "several":
        return several_keys_sentence(keys, words)
    return first_key_sentence(trace, fact, keys[0], words)


def several_keys_sentence(keys: list[str], words: dict[str, object]) -> str:
    """Returns the sentence that a query attends to several keys equally; more than MAX_NAMED_KEYS keys are counted."""
    count = len(keys)
    if count > MAX_NAMED_KEYS:
        return say("fact.many", keys=count, **words)
    quoted_keys = [say("fact.quoted", key=key) for key in keys]
    return say("fact.several", keys=enumerated(quoted_keys), **words)


def first_key_sentence(trace: Trace, fact: RowFact, key: str, words: dict[str, object]) -> str:
    """Returns the sentence about the key with the largest weight."""
    if fact.kind in ("chosen", "free", "difference"):
        return say(
            f"fact.{fact.kind}",
            key=key,
            share=format_fixed(fact.share),
            total=format_fixed(fact.total),
            **words,
        )
    looks_even = format_percent(fact.share) == format_percent(fact.even)
    if fact.kind == "nearly" and looks_even:
        return say("fact.close", **words)
    if fact.kind == "only" and fact.sunk:
        return say("fact.only_beside_sink", key=key, **words)
    if fact.kind in ("only", "nearly"):
        return say(f"fact.{fact.kind}", key=key, **words)
    sees_all_keys = fact.possible == trace.sizes()["S"]
    kind = "most" if sees_all_keys or fact.sunk else "most_allowed"
    return say(f"fact.{kind}", key=key, ratio=f"{fact.ratio:.1f}", **words)


def accident_sentence(trace: Trace, found: Accident, words: dict[str, object], spell: Callable[[str], str]) -> str:
    """Returns the sentence that a row's weights have no meaning, because they result from random numbers."""
    if found.query:
        return say("fact.random_query", **words)
    if found.keys:
        quoted_keys = []
        for key in found.keys[:MAX_NAMED_KEYS]:
            token = spell(name_token(trace, "S", key))
            quoted_keys.append(say("fact.quoted", key=token))
        sentence = "fact.random_key" if len(quoted_keys) == 1 else "fact.random_keys"
        return say(sentence, keys=enumerated(quoted_keys), **words)
    names = say("fact.comma").join(map(spell, found.matrices))
    return say("fact.random_matrices", names=names, **words)


def enumerated(names: list[str]) -> str:
    """Returns names as a list in a sentence, such as "a, b and c"."""
    *others, last = names
    if not others:
        return last
    return say("fact.and", others=say("fact.comma").join(others), last=last)


# ---- the map of a head -----------------------------------------------------------------------------------------------
def list_large_heads(screen: ScreenState) -> list[int]:
    """Returns the heads whose attention maps are drawn large: all if they fit side by side, else the selected one."""
    sizes = screen.trace.sizes()
    heads = sizes["H"]
    longest = max(sizes["T"], sizes["S"])
    max_heads, max_tokens = LARGE_MAPS_LIMITS
    fit_beside = heads <= max_heads and longest <= max_tokens
    if heads == 1 or fit_beside:
        return list(range(heads))
    return [screen.selection.head]


def make_head_pictures(screen: ScreenState) -> dict[int, charts.Picture]:
    """Returns {head: picture of its attention map} for the heads that are drawn large; {} if they are drawn on a
    canvas.
    """
    if canvas_map.is_large(screen.drawn("weights"), "weights"):
        return {}
    return {head: make_head_picture(screen, head) for head in list_large_heads(screen)}


def make_head_picture(screen: ScreenState, head: int) -> charts.Picture:
    """Returns the picture of one head's attention weights or, if two runs are compared, of their difference."""
    selection = screen.selection
    axes = (say("corner.T"), say("corner.S"))
    return charts.head_map(
        screen.drawn("weights"),
        head,
        picture_texts_for(screen.trace),
        current_palette(),
        chosen_cell(screen.trace, screen.setup),
        selection.query,
        screen.times,
        selection.batch,
        axes,
        head_title(screen, head),
    )


def show_head_pictures(screen: ScreenState, pictures: dict[int, charts.Picture]) -> None:
    """Draws the attention maps of the heads, then the small maps of the steps.

    If the maps are few and small, all are drawn side by side. Otherwise one large map and small maps of all heads are
    drawn.
    """
    large_heads = list_large_heads(screen)
    sizes = screen.trace.sizes()
    if len(large_heads) == sizes["H"]:
        with st.container(horizontal=True, gap="small"):
            for head in large_heads:
                show_head_map(screen, head, pictures)
    elif sizes["T"] <= MAX_TOKENS_BESIDE_SMALL_MAPS:
        with st.container(horizontal=True, gap="small"):
            show_head_map(screen, screen.selection.head, pictures)
            show_all_heads(screen)
    else:
        show_all_heads(screen)
        show_head_map(screen, screen.selection.head, pictures)
    show_strip(screen)


def show_head_map(screen: ScreenState, head: int, pictures: dict[int, charts.Picture]) -> None:
    """Draws one head's attention map: as a picture with cells or, if it has none, on a canvas."""
    selection = replace(screen.selection, head=head)
    title = head_title(screen, head)
    sentence = fact_sentence(screen.trace, selection, spell=str)
    key = f"map{head}"
    if head in pictures:
        show_chart(pictures[head], key, f"{title}. {sentence}")
        return
    st.markdown(escape_markdown(title))
    fact = row_fact(screen.trace, head, selection.query, selection.batch)
    canvas_map.show_large_map(
        screen,
        "weights",
        selection.at,
        key,
        sentence,
        even=fact.possible,
    )


# ---- the name of a head ----------------------------------------------------------------------------------------------
def head_title(screen: ScreenState, number: int) -> str:
    """Returns the heading of a head's attention map, with a mark if the map shows a difference of two runs."""
    title = head_name(screen.setup, screen.inputs, number)
    if screen.drawn("weights").difference:
        return title + say("change.title")
    return title


def head_name(setup: Setup, inputs: RunInputs, number: int) -> str:
    """Returns the title of a head: its position, counted from 1, and what it was built to do (its role), if known.

    The role is added only if the layer is as the example built it and no word has a random vector.
    """
    title = say("place.head", number=number + 1)
    find_role = built_head_role if resolve_run(setup.run).built else example_head_role
    role = find_role(setup, number)
    has_random_words = "random" in (*inputs.word_origins, *inputs.key_origins)
    if role and is_as_built(setup) and not has_random_words:
        return title + say("place.role", role=role)
    return title


def built_head_role(setup: Setup, number: int) -> str:
    """Returns the role of a head built by hand: what the head does; "" for any other head."""
    kinds = resolve_run(setup.run).built
    if number >= len(kinds):
        return ""
    name, offset = kinds[number]
    offset_text = f"{offset:+d}".replace("-", "−")
    return say(f"built_role.{name}", offset=offset_text)


def example_head_role(setup: Setup, number: int) -> str:
    """Returns the role of a head as the example states it; "" if the example says nothing about the head."""
    key = f"role.{setup.run.example}.{number + 1}"
    return say(key) if has(key) else ""


def is_as_built(setup: Setup) -> bool:
    """Returns whether the layer is unchanged from the example.

    Words, number format, device and other settings outside the layer may have been changed.
    """
    example = RunSetup(example=setup.run.example)
    free_fields = ["text", "more", "temperature", "seed", "dtype", "device"]
    if setup.run.scale is None or setup.run.scale > 0:
        free_fields.append("scale")  # the scale, like the temperature, keeps the order of the scores
    if resolve_run(setup.run).built and config_of(setup.run).score == "dot":
        free_fields += ["built", "score"]
    if setup.run.x == UNCHANGED:
        free_fields.append("x")
    as_in_example = {name: getattr(example, name) for name in free_fields}
    # "residual" is ignored, because it changes nothing inside the heads
    wiring = tuple(name for name in setup.run.wiring if name != "residual")
    return replace(setup.run, wiring=wiring, **as_in_example) == example
