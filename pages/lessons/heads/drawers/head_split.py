"""The lesson on heads, drawer "split": how are heads split and merged again?"""

from functools import partial

import streamlit as st

from attention_core.explanation.traced_source import function_listing
from attention_core.record.errors import AttentionError
from attention_core.variants.textbook_code import eighth_of, heads_by_eighth, multi_head, split_by_eighth
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import choose_sight
from pages.lessons.heads.drawers.head_merge import show_merges
from pages.lessons.heads.drawers.head_sight import show_head_sight
from pages.lessons.heads.random_layers import EXAMPLE_WIDTH, make_random_layer, repeat_sequence
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.code_words import say_code
from pages.site.words import say, say_refusal

LAYER_WIDTHS = (8, 12, 16, 18, 20, 24, 25, 32, 64)
HEAD_WIDTHS = (0, 1, 2, 3, 5, 16, 32)  # 0 stands for the width that fits


def show_head_split(setup: Setup) -> None:
    """Shows a layer line by line, what merges its heads, the head count that changes unseen, or what a head reads."""
    sights = {
        "chain": show_layer_code,
        "merge": show_merges,
        "eighth": show_split_by_eighth,
        "sight": partial(show_head_sight, setup),
    }
    show_sight = choose_sight("cut", sights)
    show_sight()


def choose_layer() -> Setup:
    """Asks for the sizes of a layer."""
    of_width, of_heads, of_d_k, of_d_v = st.columns(4)
    with of_width:
        width = slide("width", (*LAYER_WIDTHS, EXAMPLE_WIDTH), EXAMPLE_WIDTH)
    with of_heads:
        heads = slide("h", (1, 2, 3, 4, 6, 8, 16), 8)
    with of_d_k:
        d_k = slide("d_k", HEAD_WIDTHS, 0, format_head_width)
    with of_d_v:
        d_v = slide("d_v", HEAD_WIDTHS, 0, format_head_width)
    return make_random_layer(width, heads, d_k or None, d_v or None)


def format_head_width(width: float) -> str:
    """Formats the width of a head; 0 stands for the one that fits."""
    return f"{width}" if width else say("lessons.heads.fitting")


def show_layer_code() -> None:
    """Shows the code of a layer from the linear projections to W_o, with the shapes that its lines make."""
    layer = choose_layer()
    try:
        trace = trace_for(layer)
    except AttentionError as refusal:
        st.error(say_refusal(refusal), icon=":material/error:")
        return
    sizes = trace.sizes()
    show_sentence(
        "lessons.heads.chain",
        D=sizes["D"],
        H=sizes["H"],
        d_k=sizes["d_k"],
        d_v=sizes["d_v"],
        width=sizes["H·d_v"],
    )
    batch = int(choose_option("batch", ("1", "2"), words=format_batch))
    if batch > 1:
        st.caption(say("lessons.heads.same_twice"))
    matrices = {name: trace[name] for name in ("x", "w_q", "w_k", "w_v", "w_o")}
    matrices["x"] = repeat_sequence(trace["x"], batch)
    listing = function_listing(multi_head, matrices, {"heads": layer.heads})
    st.code(say_code(listing), language="python", wrap_lines=True)
    link_to_workbench(layer, "split")


def format_batch(count: str) -> str:
    """Formats the number of sequences."""
    return f"B = {count}"


def show_split_by_eighth() -> None:
    """Shows that d_model // 8 is a width of a head, and no number of heads."""
    width = slide("eighth", (4, *LAYER_WIDTHS), 20)
    say_heads_by_eighth(width)
    layer = make_random_layer(width, heads=1)
    vectors = trace_for(layer)["x"]
    listing = function_listing(split_by_eighth, {"x": vectors})
    st.code(say_code(listing), language="python", wrap_lines=True)


def say_heads_by_eighth(width: int) -> None:
    """Says how many heads an eighth of the width makes where 8 heads were meant, or that torch refuses it."""
    made = heads_by_eighth(width)
    if made is None:
        d_k = eighth_of(width)
        kind = "eighth_refused" if d_k else "eighth_none"
        st.error(say(f"lessons.heads.{kind}", D=width, d=d_k), icon=":material/error:")
        return
    heads, d_k = made
    kind = "eighth_right" if heads == 8 else "eighth"
    show_sentence(f"lessons.heads.{kind}", D=width, H=heads, d=d_k)
