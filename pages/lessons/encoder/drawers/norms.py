"""The encoder's lesson, drawer "norm": why a norm, and where?"""

import streamlit as st

from attention_core.learned.depth.block_figures import read_block_figures
from attention_core.record.number_text import format_fixed
from pages.lessons.encoder.block_curves import show_losses, show_sizes
from pages.lessons.encoder.drawers.residuals import LOSS_DIGITS, last_loss, show_how
from pages.lessons.sentences import show_sentence
from pages.setup.setup import Setup

KINDS = ("before", "after", "no_norm")


def show_norms(_: Setup) -> None:
    """Shows the same network with norms before its parts, behind them, and without: what it learns, and how large the
    vectors grow."""
    values = {}
    for kind in KINDS:
        figures = read_block_figures()[kind]
        values[kind] = format_fixed(last_loss(figures), LOSS_DIGITS)
        values[f"{kind}_size"] = format_fixed(figures.sizes[-1])
        values[f"{kind}_worst"] = format_fixed(max(figures.tried.values()), LOSS_DIGITS)
    show_sentence("lessons.encoder.norm", blocks=len(figures.sizes) - 1, first=format_fixed(figures.sizes[0]), **values)
    with st.container(horizontal=True, gap="medium"):
        show_losses(KINDS)
        show_sizes(KINDS)
    show_how()
