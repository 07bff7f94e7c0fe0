"""The lesson on heads, drawer "split": what puts heads side by side, and what happens without contiguous()."""

import streamlit as st

from attention_core.explanation.traced_source import function_listing
from attention_core.variants.textbook_code import (
    merge_by_copy,
    merge_by_reshape,
    merge_by_view,
    merge_untransposed,
    numbered_heads,
)
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import choose_option, slide
from pages.site.code_words import say_code
from pages.site.words import say

MERGES = {"view": merge_by_view, "copy": merge_by_copy, "reshape": merge_by_reshape, "untransposed": merge_untransposed}


def show_merges() -> None:
    """Shows a view that torch refuses, copies that put heads side by side, or a result that is silently wrong."""
    of_way, of_heads = st.columns([3, 1], vertical_alignment="bottom")
    with of_way:
        way = choose_option("merge", tuple(MERGES))
    with of_heads:
        heads = slide("merged", (2, 3, 4), 2)
    outputs = numbered_heads(heads)
    merge = MERGES[way]
    if way == "view":
        st.error(say("lessons.heads.merge_view"), icon=":material/error:")
    else:
        meant = merge_by_copy(outputs)
        show_sentence(f"lessons.heads.merge_{way}", width=meant.shape[-1])
        made_column, meant_column = st.columns(2)
        with made_column:
            show_rows("merge_made", merge(outputs)[0].tolist())
        if way == "untransposed":
            with meant_column:
                show_rows("merge_right", meant[0].tolist())
    st.caption(say("lessons.heads.merge_numbers"))
    listing = function_listing(merge, {"x": outputs})
    st.code(say_code(listing), language="python", wrap_lines=True)


def show_rows(title: str, rows: list[list[float]]) -> None:
    """Shows whole numbers, a token a line."""
    lines = []
    for row in rows:
        numbers = [f"{number:.0f}" for number in row]
        lines.append(" ".join(numbers))
    st.markdown(say(f"lessons.heads.{title}"))
    st.code("\n".join(lines), language=None)
