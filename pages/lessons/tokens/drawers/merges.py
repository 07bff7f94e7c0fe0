"""The lesson on tokens, drawer "merges": how are the pieces chosen?"""

from collections import Counter
from functools import reduce

import streamlit as st

from attention_core.learned.pieces.byte_pairs import Merge, Pieces, count_pairs, join, learn_merges, split_runs
from attention_core.record.errors import AttentionError
from pages.lessons.sentences import show_sentence
from pages.lessons.tokens.cut_text import show_piece
from pages.lessons.tokens.tables import draw_table
from pages.panels.link_controls import slide, text_box
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

SMALL_TEXT = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
MOST_RUNS, MOST_MERGES, SHOWN_PAIRS = 40, 10, 6  # of a small text; merges that are learned of it; pairs in a line


def show_merges(_: Setup) -> None:
    """Shows the pairs of a small text with how often they stand there, and which becomes a piece next."""
    text = text_box("small", SMALL_TEXT, check_small_text)
    runs = Counter(split_runs(text))
    merges = learn_merges(runs, MOST_MERGES)
    if not merges:
        st.info(say("lessons.tokens.no_pair"))
        return
    step = slide("step_of", range(len(merges)), 0)
    cut = {run: cut_run(run, merges[:step]) for run in runs}
    pairs = count_pairs(cut, runs)
    merge = merges[step]
    tied = sum(often == merge.count for often in pairs.values())
    show_sentence(
        f"lessons.tokens.merge{'_tied' if tied > 1 else ''}",
        step=step,
        left=escape_markdown(show_piece(merge.left)),
        right=escape_markdown(show_piece(merge.right)),
        count=merge.count,
        tied=tied,
    )
    ordered = sorted(pairs.items(), key=lambda each: (-each[1], each[0]))[:SHOWN_PAIRS]
    names = [f"{show_piece(left)} + {show_piece(right)}" for (left, right), _ in ordered]
    st.markdown(draw_table([("pair", names), ("often", [str(often) for _, often in ordered])]))
    st.markdown(draw_table([("run", [" · ".join(map(show_piece, pieces)) for pieces in cut.values()])]))


def cut_run(run: str, merges: list[Merge]) -> Pieces:
    """The pieces of one run after some merges."""
    return reduce(join, merges, tuple(run))


def check_small_text(text: str) -> None:
    """Raises AttentionError for a text without words, or with too many."""
    count = len(split_runs(text))
    if not count:
        raise AttentionError("no_tokens")
    if count > MOST_RUNS:
        raise AttentionError("too_many_tokens", limit=MOST_RUNS, given=count)
