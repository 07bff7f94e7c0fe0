"""Lesson 10, further sights: a step beside its row of the full pass, the bytes of a cache, what is in it."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import GIB, MIB, TIB, format_bytes, format_exact, format_grouped
from attention_core.variants.kv_cache import cache_bytes, gap_to_full, kv_bytes
from attention_core.verification.precision import PRECISIONS
from pages.export.doors import workbench_door
from pages.lessons.pictures import show_step_picture
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import decoding_steps_for, trace_for
from pages.session.labels import Selection, current_palette, name_token, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

COMPARED_DECODING_STEPS = ("weights", "head_outputs", "output")


def show_same(setup: Setup) -> None:
    """The step alone, with its cache, and the row of the full causal pass."""
    full, steps = trace_for(setup), decoding_steps_for(setup)
    look = selection_of(full, setup)
    form = choose_option("form", COMPARED_DECODING_STEPS)
    told = {"word": escape_markdown(name_token(full, "T", look.query)), "T": len(steps)}
    st.markdown(say("lessons.decoding.same", gap=format_exact(gap_to_full(steps, full, form)), **told))
    show_step_picture("alone", steps[look.query], form, select_in_step(look))
    show_step_picture("full", full, form, look)


def select_in_step(look: Selection) -> Selection:
    """What is looked at in a step of its own, which has one query."""
    return replace(look, query=0)


# ---- bytes -----------------------------------------------------------------------------------------------------------
MODEL_HEADS, MODEL_HEAD_WIDTH = 32, 128  # of a layer: 32 query heads of width 128 make a model of 4,096
MODEL_LAYERS = (1, 12, 32, 80)
KV_HEAD_COUNTS = {"each": MODEL_HEADS, "grouped": 8, "multi": 1}  # key/value heads
CACHE_LENGTHS = (256, 1024, 4096, 16384, 65536, 131072)
CACHE_WINDOWS = {"all": None, "last_4096": 4096, "last_1024": 1024}
OWN_WINDOW = 3  # of the reader's sentence, which is short
CACHE_AXIS_TOKENS, CACHE_AXIS_BYTES = (1024, 4096, 16384, 65536), (MIB, GIB, TIB)  # where numbers stand
CACHE_AXIS_START_BYTES = 262_144  # bytes: where the axis begins


def show_size(setup: Setup) -> None:
    """The bytes of all keys and values against the length, and the same formula on the tensors of this sentence."""
    with st.container(horizontal=True):
        kv_heads = KV_HEAD_COUNTS[choose_option("kv_heads", tuple(KV_HEAD_COUNTS))]
        last = choose_option("window", tuple(CACHE_WINDOWS))
        dtype = choose_option("dtype", ("float32", "bfloat16", "float16"), "float16", lambda name: say(f"dtype.{name}"))
    with st.columns(2)[0], st.container(horizontal=True):
        layers, length = slide("layers", MODEL_LAYERS, 32), slide("tokens", CACHE_LENGTHS, 4096, format_grouped)
    kind = {"d_k": MODEL_HEAD_WIDTH, "d_v": MODEL_HEAD_WIDTH, "layers": layers, "dtype": PRECISIONS[dtype]}
    lines = {(MODEL_HEADS, "all"): current_palette().x, (kv_heads, last): current_palette().k}
    drawn = [
        Curve(
            say("lessons.decoding.curve", kv=heads, kept=say(f"lessons.decoding.option.window.{name}")),
            CACHE_LENGTHS,
            [cache_bytes(tokens, kv_heads=heads, window=CACHE_WINDOWS[name], **kind) for tokens in CACHE_LENGTHS],
            colour,
            dashed=(heads, name) != (kv_heads, last),
        )
        for (heads, name), colour in lines.items()
    ]
    numbers, sizes = tuple(map(format_grouped, CACHE_AXIS_TOKENS)), tuple(map(format_bytes, CACHE_AXIS_BYTES))
    across = Axis(
        say("lessons.decoding.axis_tokens"), CACHE_LENGTHS[0], CACHE_LENGTHS[-1], True, CACHE_AXIS_TOKENS, numbers
    )
    up = Axis(say("lessons.decoding.axis_size"), CACHE_AXIS_START_BYTES, TIB, True, CACHE_AXIS_BYTES, sizes)
    taken = format_bytes(cache_bytes(length, kv_heads=kv_heads, window=CACHE_WINDOWS[last], **kind))
    plain = format_bytes(cache_bytes(length, kv_heads=MODEL_HEADS, **kind))
    told = {
        "tokens": format_grouped(length),
        "layers": layers,
        "kv": kv_heads,
        "dtype": dtype,
        "size": taken,
        "plain": plain,
    }
    st.markdown(say("lessons.decoding.size_plain" if taken == plain else "lessons.decoding.size", **told))
    show_curve_chart(
        curves(drawn, across, up, current_palette(), at=length), "decoding_size", say("lessons.decoding.size_alt")
    )
    show_cache_of_own_sentence(setup, kv_heads < MODEL_HEADS, last != "all", dtype)


def show_cache_of_own_sentence(setup: Setup, shared: bool, slides: bool, dtype: str) -> None:
    """The same choices on the reader's sentence, whose tensors are measured."""
    masks = (f"sliding:{OWN_WINDOW}",) if slides else ("causal",)
    own = replace(setup, dtype=dtype, masks=masks, kv_heads=1 if shared else None)
    last = decoding_steps_for(own)[-1]
    sizes = last.sizes()
    kind = {"kv_heads": sizes["H_kv"], "d_k": sizes["d_k"], "d_v": sizes["d_v"], "dtype": PRECISIONS[dtype]}
    told = {"closed": cache_bytes(sizes["S"], **kind), "held": kv_bytes(last), "each": PRECISIONS[dtype].itemsize}
    st.markdown(say("lessons.decoding.own", **told, **{name: sizes[name] for name in ("S", "H_kv", "d_k", "d_v")}))
    workbench_door(own, "size")


# ---- what is kept ----------------------------------------------------------------------------------------------------
def show_kept(setup: Setup) -> None:
    """The cache of the step in numbers, and what positions do to it."""
    kind = choose_option("positions", ("none", "rope", "alibi"))
    placed = replace(setup, positions=None if kind == "none" else (kind,))
    steps, full = decoding_steps_for(placed), trace_for(placed)
    look = selection_of(full, placed)
    told = {
        "gap": format_exact(gap_to_full(steps, full, "k")),
        "word": escape_markdown(name_token(full, "T", look.query)),
    }
    st.markdown(say(f"lessons.decoding.kept_{kind}", **told))
    show_step_picture("cache", steps[look.query], "k", select_in_step(look))
    if kind == "alibi":
        show_step_picture("bias", steps[look.query], "biased_scores", select_in_step(look))
    workbench_door(placed, "kept")
