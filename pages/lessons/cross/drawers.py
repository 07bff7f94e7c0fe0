"""Lesson 8, further sights: lengths that differ, the decoder's two stages, one context vector a step, a picture."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention_core.comparison.distances import apart
from attention_core.drawing.charts import PAGE
from attention_core.drawing.image_patches import patch_picture
from attention_core.explanation.facts import sums
from attention_core.inputs.handmade_heads import gates
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_text import to_text
from attention_core.inputs.tokenizer import shown
from attention_core.record.number_text import fixed, row_text, told
from pages.export.doors import workbench_door
from pages.lessons.pictures import SMALL, map_shown, opened_in, show, show_beside, show_map, show_step
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose, pick_place, sentence_box, slide, switch
from pages.runs.cache import material_of, trace_of
from pages.runs.token_vectors import spelled
from pages.session.labels import looked_at, palette, place_name, place_names, token, words_for
from pages.setup.setup import Setup
from pages.site.words import literal, say


def exchanged(setup: Setup) -> Setup:
    """The other direction: who was asked asks."""
    material = material_of(setup)
    return replace(setup, text=spelled(material.keys, setup), context_text=spelled(material.queries, setup))


def each(found: Sequence[float], names: Sequence[str] = ()) -> str:
    """Sums in a sentence, behind their words where there are some."""
    texts = [fixed(one) for one in found]
    if names:
        pairs = zip(names, texts, strict=True)
        texts = [say("lessons.cross.sum", word=literal(name), sum=text) for name, text in pairs]
    return say("fact.comma").join(texts)


def show_random_words(setup: Setup) -> None:
    """Which words got random vectors, since no dictionary has them."""
    words = [literal(shown(word)) for word in material_of(setup).random_words()]
    if words:
        st.caption(say("lessons.cross.random", words=say("fact.comma").join(words)))


# ---- lengths ---------------------------------------------------------------------------------------------------------
LENGTHS = range(1, 13)
MODEL = 64  # lecture notes 001: 5 queries and 6 keys of width 64, eight heads


def lengths(asked: Setup) -> None:
    """Two sequences, one, or random ones of any lengths: which axis is which, and which sums are 1."""
    kind = choose("sequences", ("two", "one", "random"))
    if kind == "two":
        setup = asked
    elif kind == "one":
        setup = alone(asked)
    else:
        left, right = st.columns(2)
        with left:
            queries = slide("queries", LENGTHS, 5)
        with right:
            keys = slide("keys", LENGTHS, 6)
        setup = random_sequences(queries, keys)
    trace = trace_of(setup)
    sizes, look = trace.sizes(), looked_at(trace, setup)
    shapes = {name: say("lessons.cross.by").join(map(str, trace[name].shape[1:])) for name in SHAPED}
    st.markdown(say("lessons.cross.shapes", T=sizes["T"], S=sizes["S"], H=sizes["H"], **shapes))
    rows, columns = (
        each(sums(trace, over, look.head), () if kind == "random" else place_names(trace, axis, sizes[axis]))
        for axis, over in (("T", "S"), ("S", "T"))
    )
    st.markdown(say("lessons.cross.sums", rows=rows, columns=columns))
    show_map("lengths", trace, look, say("lessons.cross.head", head=place_name(trace, "H", look.head)), PAGE)
    workbench_door(setup, "lengths")


SHAPED = ("q", "k", "v", "weights", "output")


def alone(setup: Setup) -> Setup:
    """The sentence that asks asks itself."""
    return replace(setup, cross=False, context_text=None)


def random_sequences(queries: int, keys: int) -> Setup:
    """Random vectors of the width of the lecture notes' example, and eight heads."""
    x, context = (to_text(random_matrix(name, (size, MODEL))) for name, size in (("x", queries), ("context", keys)))
    return Setup(example="eight_heads", x=x, context=context, cross=True)


# ---- a decoder -------------------------------------------------------------------------------------------------------
def decoder(asked: Setup) -> None:
    """The words so far attend to each other under a causal mask; what comes of it asks the other sentence."""
    whole = material_of(asked).queries
    left, right = st.columns(2)
    with left:
        written = pick_place("written", place_names(trace_of(asked), "T", len(whole)), len(whole[1:-1]))
    with right:
        causal = switch("causal", True)
    so_far = [word for at, word in enumerate(whole) if at <= written]
    stages = two_stages(replace(asked, text=spelled(tuple(so_far), asked)), causal)
    own, crossed = map(trace_of, stages)
    full = trace_of(two_stages(asked, causal)[0])
    moved = apart(full["residual"][:, : len(so_far)], own["residual"]).max().item()
    look = replace(looked_at(crossed, stages[1]), query=len(so_far[1:]))
    st.markdown(f"**{fact_sentence(crossed, look)}**")
    show_beside(
        map_shown("stage_1", own, look, say("lessons.cross.stage_1"), PAGE, SMALL),
        map_shown("stage_2", crossed, look, say("lessons.cross.stage_2"), PAGE, SMALL),
    )
    st.markdown(
        say(
            "lessons.cross.decoded_causal" if causal else "lessons.cross.decoded_free",
            moved=told(moved) if moved else "0",
        )
    )
    workbench_door(stages[1], "decoder")


def two_stages(setup: Setup, causal: bool) -> tuple[Setup, Setup]:
    """Self-attention of the words so far, x added; and cross-attention in which the sums ask."""
    own = replace(alone(setup), masks=("causal",) if causal else (), wiring=("residual",))
    sums_of_both = trace_of(own)["residual"][0].numpy()
    return own, replace(setup, x=to_text(sums_of_both, "x"))


# ---- one context vector a step ---------------------------------------------------------------------------------------
def context_vector(forward: Setup) -> None:
    """c_t = sum of alpha_ti h_i, with e_ti = s_t h_i or the additive score: decoder steps by source words."""
    kind = choose("energy", ("dot", "additive"))
    matrices = material_of(forward).matrices
    setup = replace(forward, score=kind, w_k="none", w_v="none", w_o="none")
    if kind == "additive":
        built = gates(matrices["x"].shape[1])
        setup = replace(setup, **{name: to_text(matrix, name) for name, matrix in built.items()})
    trace = trace_of(setup)
    look = looked_at(trace, setup)
    best = int(trace["weights"][0, 0, look.query].argmax())
    st.markdown(
        say(
            f"lessons.cross.energy_{kind}",
            step=look.query,
            query=literal(token(trace, "T", look.query)),
            key=literal(token(trace, "S", best)),
            energy=fixed(trace["scores"][0, 0, look.query, best].item()),
            alpha=fixed(trace["weights"][0, 0, look.query, best].item()),
            c=row_text(trace["head_outputs"][0, 0, look.query].tolist()),
            d_s=trace["q"].shape[-1],
            d_h=trace["k"].shape[-1],
        )
    )
    show_step("context_vector", trace, "head_outputs", look)
    workbench_door(setup, "context_vector")


# ---- a picture -------------------------------------------------------------------------------------------------------
def patches(_: Setup) -> None:
    """Words ask the patches of a picture, whose colours are their vectors."""
    left, middle, right = st.columns((1, 2, 1))
    with left:
        setup = sentence_box(Setup(example="picture"), "asking")
    with middle:
        setup = sentence_box(setup, "picture", "context_text")
    trace = trace_of(setup)
    names = place_names(trace, "T", trace.sizes()["T"])
    with right:
        setup = replace(setup, token=pick_place("colour", names, looked_at(trace, setup).query))
    look = looked_at(trace, setup)
    st.markdown(f"**{fact_sentence(trace, look)}**")
    opened = opened_in("patches", {"": trace})
    titles = [say(f"lessons.cross.picture_{part}", word=names[look.query]) for part in ("keys", "weights", "output")]
    at = (look.batch, look.head, look.query)
    picture = patch_picture(trace, at, words_for(trace), palette(), titles, opened and opened[1])
    show("patches", picture, {"": trace}, titles[1])
    st.markdown(say("lessons.cross.patches"))
    show_random_words(setup)
    workbench_door(setup, "patches")
