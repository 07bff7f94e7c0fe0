"""Lesson 10, further sights: a step beside its row of the full pass, the bytes of a cache, what is in it."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.charts import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import GIB, MIB, TIB, exact, grouped, size_text
from attention_core.variants.kv_cache import cache_bytes, gap_to_full, held_bytes
from attention_core.verification.precision import PRECISIONS
from pages.export.doors import workbench_door
from pages.lessons.pictures import show_step
from pages.panels.chart import curve_chart
from pages.panels.link_controls import choose, slide
from pages.runs.cache import steps_of, trace_of
from pages.session.labels import Look, looked_at, palette, token
from pages.setup.setup import Setup
from pages.site.words import literal, say

FORMS = ("weights", "head_outputs", "output")


def same(setup: Setup) -> None:
    """The step alone, with its cache, and the row of the full causal pass."""
    full, steps = trace_of(setup), steps_of(setup)
    look = looked_at(full, setup)
    form = choose("form", FORMS)
    told = {"word": literal(token(full, "T", look.query)), "T": len(steps)}
    st.markdown(say("lessons.decoding.same", gap=exact(gap_to_full(steps, full, form)), **told))
    show_step("alone", steps[look.query], form, in_step(look))
    show_step("full", full, form, look)


def in_step(look: Look) -> Look:
    """What is looked at in a step of its own, which has one query."""
    return replace(look, query=0)


# ---- bytes -----------------------------------------------------------------------------------------------------------
HEADS, WIDTH = 32, 128  # of a layer: 32 query heads of width 128 make a model of 4,096
LAYERS = (1, 12, 32, 80)
SHARED = {"each": HEADS, "grouped": 8, "multi": 1}  # key/value heads
LENGTHS = (256, 1024, 4096, 16384, 65536, 131072)
WINDOWS = {"all": None, "last_4096": 4096, "last_1024": 1024}
OWN_WINDOW = 3  # of the reader's sentence, which is short
TOKENS, SIZES = (1024, 4096, 16384, 65536), (MIB, GIB, TIB)  # where numbers stand
LEAST = 262_144  # bytes: where the axis begins


def size(setup: Setup) -> None:
    """The bytes of all keys and values against the length, and the same formula on the tensors of this sentence."""
    with st.container(horizontal=True):
        kv_heads = SHARED[choose("kv_heads", tuple(SHARED))]
        last = choose("window", tuple(WINDOWS))
        dtype = choose("dtype", ("float32", "bfloat16", "float16"), "float16", lambda name: say(f"dtype.{name}"))
    with st.columns(2)[0], st.container(horizontal=True):
        layers, length = slide("layers", LAYERS, 32), slide("tokens", LENGTHS, 4096, grouped)
    kind = {"d_k": WIDTH, "d_v": WIDTH, "layers": layers, "dtype": PRECISIONS[dtype]}
    lines = {(HEADS, "all"): palette().x, (kv_heads, last): palette().k}
    drawn = [
        Curve(
            say("lessons.decoding.curve", kv=heads, kept=say(f"lessons.decoding.option.window.{name}")),
            LENGTHS,
            [cache_bytes(tokens, kv_heads=heads, window=WINDOWS[name], **kind) for tokens in LENGTHS],
            colour,
            dashed=(heads, name) != (kv_heads, last),
        )
        for (heads, name), colour in lines.items()
    ]
    numbers, sizes = tuple(map(grouped, TOKENS)), tuple(map(size_text, SIZES))
    across = Axis(say("lessons.decoding.axis_tokens"), LENGTHS[0], LENGTHS[-1], True, TOKENS, numbers)
    up = Axis(say("lessons.decoding.axis_size"), LEAST, TIB, True, SIZES, sizes)
    taken = size_text(cache_bytes(length, kv_heads=kv_heads, window=WINDOWS[last], **kind))
    plain = size_text(cache_bytes(length, kv_heads=HEADS, **kind))
    told = {"tokens": grouped(length), "layers": layers, "kv": kv_heads, "dtype": dtype, "size": taken, "plain": plain}
    st.markdown(say("lessons.decoding.size_plain" if taken == plain else "lessons.decoding.size", **told))
    curve_chart(curves(drawn, across, up, palette(), at=length), "decoding_size", say("lessons.decoding.size_alt"))
    on_own(setup, kv_heads < HEADS, last != "all", dtype)


def on_own(setup: Setup, shared: bool, slides: bool, dtype: str) -> None:
    """The same choices on the reader's sentence, whose tensors are measured."""
    masks = (f"sliding:{OWN_WINDOW}",) if slides else ("causal",)
    own = replace(setup, dtype=dtype, masks=masks, kv_heads=1 if shared else None)
    last = steps_of(own)[-1]
    sizes = last.sizes()
    kind = {"kv_heads": sizes["H_kv"], "d_k": sizes["d_k"], "d_v": sizes["d_v"], "dtype": PRECISIONS[dtype]}
    told = {"closed": cache_bytes(sizes["S"], **kind), "held": held_bytes(last), "each": PRECISIONS[dtype].itemsize}
    st.markdown(say("lessons.decoding.own", **told, **{name: sizes[name] for name in ("S", "H_kv", "d_k", "d_v")}))
    workbench_door(own, "size")


# ---- what is kept ----------------------------------------------------------------------------------------------------
def kept(setup: Setup) -> None:
    """The cache of the step in numbers, and what positions do to it."""
    kind = choose("positions", ("none", "rope", "alibi"))
    placed = replace(setup, positions=None if kind == "none" else (kind,))
    steps, full = steps_of(placed), trace_of(placed)
    look = looked_at(full, placed)
    told = {"gap": exact(gap_to_full(steps, full, "k")), "word": literal(token(full, "T", look.query))}
    st.markdown(say(f"lessons.decoding.kept_{kind}", **told))
    show_step("cache", steps[look.query], "k", in_step(look))
    if kind == "alibi":
        show_step("bias", steps[look.query], "biased_scores", in_step(look))
    workbench_door(placed, "kept")
