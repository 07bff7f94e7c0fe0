"""The lesson on decoding, drawer "size": how many bytes does the cache hold?"""

from dataclasses import replace

import streamlit as st

from attention_core.record.number_text import format_grouped
from attention_core.variants.decoding_work import cache_bytes, kv_bytes, latent_bytes
from attention_core.verification.precision import PRECISIONS
from pages.export.page_links import link_to_workbench
from pages.lessons.decoding.cache_chart import CACHE_LENGTHS, show_cache_chart
from pages.lessons.decoding.cached_model import (
    CACHE_WINDOWS,
    LATENT_WIDTH,
    MODEL_HEADS,
    TURNED_WIDTH,
    CachedModel,
)
from pages.lessons.decoding.written import Written
from pages.lessons.sentences import say_bytes, show_sentence
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import decoding_steps_for
from pages.setup.setup import Setup
from pages.site.words import say

KV_HEAD_COUNTS = {"each": MODEL_HEADS, "grouped": 8, "multi": 1, "latent": None}  # key/value heads, or a latent
MODEL_LAYERS = (1, 12, 32, 80)
OWN_WINDOW = 3  # window for the visitor's text, which is short


def show_cache_size(written: Written) -> None:
    """Shows the bytes of a model's cache by length, and those of the visitor's text by the same formula."""
    with st.container(horizontal=True):
        heads = choose_option("kv_heads", tuple(KV_HEAD_COUNTS))
        window = choose_option("window", tuple(CACHE_WINDOWS))
        dtype = choose_option("dtype", ("float32", "bfloat16", "float16"), "float16", lambda name: say(f"dtype.{name}"))
    with st.columns(2)[0], st.container(horizontal=True):
        layers = slide("layers", MODEL_LAYERS, 32)
        length = slide("tokens", CACHE_LENGTHS, 4096, format_grouped)
    model = CachedModel(KV_HEAD_COUNTS[heads], window, layers, dtype)
    say_cache_size(model, length)
    show_cache_chart(model, length)
    show_cache_of_own_text(written.whole(), model)


def say_cache_size(model: CachedModel, length: int) -> None:
    """Shows how many bytes a model's cache holds, and how many it would hold without shared heads or a window."""
    size = say_bytes(model.bytes_after(length))
    plain = say_bytes(model.plain.bytes_after(length))
    key = "size_plain" if size == plain else "size"
    if model.kv_heads is None:
        key = "size_latent"
    show_sentence(
        f"lessons.decoding.{key}",
        tokens=format_grouped(length),
        layers=model.layers,
        kv=model.kv_heads,
        d_c=LATENT_WIDTH,
        d_r=TURNED_WIDTH,
        dtype=model.dtype,
        size=size,
        plain=plain,
    )


def show_cache_of_own_text(setup: Setup, model: CachedModel) -> None:
    """Applies the model's settings to the first layer's run on the text, and shows bytes by formula and measured."""
    masks = ("causal",) if model.window == "all" else (f"sliding:{OWN_WINDOW}",)
    own = replace(setup, layer=1, dtype=model.dtype, masks=masks)
    if model.kv_heads is None:
        show_latents_of_own_text(replace(own, modifiers=("latent",), positions=("decoupled_rope",)))
        return
    own = replace(own, kv_heads=1 if model.kv_heads < MODEL_HEADS else None)
    last_step = decoding_steps_for(own)[-1]
    sizes = last_step.sizes()
    widths = {"d_k": sizes["d_k"], "d_v": sizes["d_v"]}
    dtype = PRECISIONS[model.dtype]
    closed = cache_bytes(sizes["S"], kv_heads=sizes["H_kv"], dtype=dtype, **widths)
    show_sentence(
        "lessons.decoding.own",
        closed=closed,
        held=kv_bytes(last_step),
        each=dtype.itemsize,
        S=sizes["S"],
        H_kv=sizes["H_kv"],
        window=OWN_WINDOW,
        **widths,
    )
    link_to_workbench(own, "size")


def show_latents_of_own_text(setup: Setup) -> None:
    """Shows the bytes that latents keep of the text, by formula and measured."""
    last_step = decoding_steps_for(setup)[-1]
    sizes = last_step.sizes()
    dtype = PRECISIONS[setup.dtype]
    widths = {"d_c": sizes["d_c"], "d_r": sizes["d_r"]}
    show_sentence(
        "lessons.decoding.own_latent",
        closed=latent_bytes(sizes["S"], dtype=dtype, **widths),
        held=kv_bytes(last_step),
        each=dtype.itemsize,
        S=sizes["S"],
        window=OWN_WINDOW,
        **widths,
    )
    link_to_workbench(setup, "size")
