"""Lesson 8, further sights: lengths that differ, the decoder's two stages, one context vector a step, a picture."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention_core.comparison.distances import abs_difference
from attention_core.drawing.charts import PAGE_WIDTH_PX
from attention_core.drawing.image_patches import patch_picture
from attention_core.explanation.facts import accident, row_fact, weight_sums
from attention_core.inputs.handmade_heads import build_gates
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_text import to_text
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.number_text import format_fixed, format_or_scientific, format_row
from pages.export.doors import workbench_door
from pages.lessons.pictures import (
    SMALL_MAP_CELL_PX,
    get_opened_cell,
    make_weights_map,
    show_picture,
    show_side_by_side,
    show_step_picture,
    show_weights_map,
)
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_place, sentence_box, slide, switch
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import spell_tokens
from pages.session.labels import current_palette, name_token, picture_texts_for, place_name, place_names, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def swap_sentences(setup: Setup) -> Setup:
    """The other direction: who was asked asks."""
    material = inputs_of(setup)
    return replace(setup, text=spell_tokens(material.keys, setup), context_text=spell_tokens(material.queries, setup))


def join_sums(found: Sequence[float], names: Sequence[str] = ()) -> str:
    """Sums in a sentence, behind their words where there are some."""
    texts = [format_fixed(one) for one in found]
    if names:
        pairs = zip(names, texts, strict=True)
        texts = [say("lessons.cross.sum", word=escape_markdown(name), sum=text) for name, text in pairs]
    return say("fact.comma").join(texts)


def show_random_words(setup: Setup) -> None:
    """Which words got random vectors, since no dictionary has them."""
    words = [escape_markdown(printable_token(word)) for word in inputs_of(setup).random_words()]
    if words:
        st.caption(say("lessons.cross.random", words=say("fact.comma").join(words)))


# ---- lengths ---------------------------------------------------------------------------------------------------------
RANDOM_LENGTHS = range(1, 13)
LECTURE_NOTES_WIDTH = 64  # lecture notes 001: 5 queries and 6 keys of width 64, eight heads


def show_lengths(asked: Setup) -> None:
    """Two sequences, one, or random ones of any lengths: which axis is which, and which sums are 1."""
    kind = choose_option("sequences", ("two", "one", "random"))
    if kind == "two":
        setup = asked
    elif kind == "one":
        setup = ask_itself(asked)
    else:
        left, right = st.columns(2)
        with left:
            queries = slide("queries", RANDOM_LENGTHS, 5)
        with right:
            keys = slide("keys", RANDOM_LENGTHS, 6)
        setup = make_random_sequences(queries, keys)
    trace = trace_for(setup)
    sizes, look = trace.sizes(), selection_of(trace, setup)
    shapes = {name: say("lessons.cross.by").join(map(str, trace[name].shape[1:])) for name in STEPS_WITH_SHAPES}
    st.markdown(say("lessons.cross.shapes", T=sizes["T"], S=sizes["S"], H=sizes["H"], **shapes))
    rows, columns = (  # without words where vectors are random: what a key gets says nothing about its word then
        join_sums(weight_sums(trace, over, look.head), () if trace.chance else place_names(trace, axis, sizes[axis]))
        for axis, over in (("T", "S"), ("S", "T"))
    )
    st.markdown(say("lessons.cross.sums", rows=rows, columns=columns))
    show_weights_map(
        "lengths", trace, look, say("lessons.cross.head", head=place_name(trace, "H", look.head)), PAGE_WIDTH_PX
    )
    workbench_door(setup, "lengths")


STEPS_WITH_SHAPES = ("q", "k", "v", "weights", "output")


def ask_itself(setup: Setup) -> Setup:
    """The sentence that asks asks itself."""
    return replace(setup, cross=False, context_text=None)


def make_random_sequences(queries: int, keys: int) -> Setup:
    """Random vectors of the width of the lecture notes' example, and eight heads."""
    x, context = (
        to_text(random_matrix(name, (size, LECTURE_NOTES_WIDTH))) for name, size in (("x", queries), ("context", keys))
    )
    return Setup(example="eight_heads", x=x, context=context, cross=True)


# ---- a decoder -------------------------------------------------------------------------------------------------------
def show_decoder(asked: Setup) -> None:
    """The words so far attend to each other under a causal mask; what comes of it asks the other sentence."""
    whole = inputs_of(asked).queries
    left, right = st.columns(2)
    with left:
        written = pick_place("written", place_names(trace_for(asked), "T", len(whole)), len(whole[1:-1]))
    with right:
        causal = switch("causal", True)
    so_far = [word for at, word in enumerate(whole) if at <= written]
    stages = make_decoder_stages(replace(asked, text=spell_tokens(tuple(so_far), asked)), causal)
    own, crossed = map(trace_for, stages)
    asking = {**crossed.chance.tokens, "T": own.chance.tokens["T"]}  # what asks was made of the words' own vectors
    crossed = replace(crossed, chance=replace(crossed.chance, tokens=asking))
    full = trace_for(make_decoder_stages(asked, causal)[0])
    moved = abs_difference(full["residual"][:, : len(so_far)], own["residual"]).max().item()
    look = replace(selection_of(crossed, stages[1]), query=len(so_far[1:]))
    st.markdown(f"**{fact_sentence(crossed, look)}**")
    show_side_by_side(
        make_weights_map("stage_1", own, look, say("lessons.cross.stage_1"), PAGE_WIDTH_PX, SMALL_MAP_CELL_PX),
        make_weights_map("stage_2", crossed, look, say("lessons.cross.stage_2"), PAGE_WIDTH_PX, SMALL_MAP_CELL_PX),
    )
    st.markdown(
        say(
            "lessons.cross.decoded_causal" if causal else "lessons.cross.decoded_free",
            moved=format_or_scientific(moved) if moved else "0",
        )
    )
    workbench_door(stages[1], "decoder")


def make_decoder_stages(setup: Setup, causal: bool) -> tuple[Setup, Setup]:
    """Self-attention of the words so far, x added; and cross-attention in which the sums ask."""
    own = replace(ask_itself(setup), masks=("causal",) if causal else (), wiring=("residual",))
    sums_of_both = trace_for(own)["residual"][0].numpy()
    return own, replace(setup, x=to_text(sums_of_both, "x"))


# ---- one context vector a step ---------------------------------------------------------------------------------------
def show_context_vector(forward: Setup) -> None:
    """c_t = sum of alpha_ti h_i, with e_ti = s_t h_i or the additive score: decoder steps by source words."""
    kind = choose_option("energy", ("dot", "additive"))
    matrices = inputs_of(forward).matrices
    setup = replace(forward, score=kind, w_k="none", w_v="none", w_o="none")
    if kind == "additive":
        built = build_gates(matrices["x"].shape[1])
        setup = replace(setup, **{name: to_text(matrix, name) for name, matrix in built.items()})
    trace = trace_for(setup)
    look = selection_of(trace, setup)
    best = int(trace["weights"][0, 0, look.query].argmax())
    told = {
        "query": escape_markdown(name_token(trace, "T", look.query)),
        "key": escape_markdown(name_token(trace, "S", best)),
        "energy": format_fixed(trace["scores"][0, 0, look.query, best].item()),
        "alpha": format_fixed(trace["weights"][0, 0, look.query, best].item()),
        "c": format_row(trace["head_outputs"][0, 0, look.query].tolist()),
        "d_s": trace["q"].shape[-1],
        "d_h": trace["k"].shape[-1],
    }
    of_chance = accident(trace, row_fact(trace, 0, look.query))
    st.markdown(fact_sentence(trace, look) if of_chance else say(f"lessons.cross.energy_{kind}", **told))
    show_step_picture("context_vector", trace, "head_outputs", look)
    workbench_door(setup, "context_vector")


# ---- a picture -------------------------------------------------------------------------------------------------------
def show_patches(_: Setup) -> None:
    """Words ask the patches of a picture, whose colours are their vectors."""
    left, middle, right = st.columns((1, 2, 1))
    with left:
        setup = sentence_box(Setup(example="picture"), "asking")
    with middle:
        setup = sentence_box(setup, "picture", "context_text")
    trace = trace_for(setup)
    names = place_names(trace, "T", trace.sizes()["T"])
    with right:
        setup = replace(setup, token=pick_place("colour", names, selection_of(trace, setup).query))
    look = selection_of(trace, setup)
    st.markdown(f"**{fact_sentence(trace, look)}**")
    opened = get_opened_cell("patches", {"": trace})
    titles = [say(f"lessons.cross.picture_{part}", word=names[look.query]) for part in ("keys", "weights", "output")]
    at = (look.batch, look.head, look.query)
    picture = patch_picture(trace, at, picture_texts_for(trace), current_palette(), titles, opened and opened[1])
    show_picture("patches", picture, {"": trace}, titles[1])
    st.markdown(say("lessons.cross.patches"))
    show_random_words(setup)
    workbench_door(setup, "patches")
