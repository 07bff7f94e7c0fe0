"""The encoder's lesson, drawer "residual": why are the parts added?"""

import streamlit as st

from attention_core.learned.depth.block_figures import (
    DEPTHS,
    EVERY,
    LAYERS,
    RATES,
    SEEDS,
    STEPS,
    read_block_figures,
)
from attention_core.record.number_text import format_fixed, format_or_scientific
from pages.lessons.encoder.block_curves import show_alikeness, show_gradients, show_losses
from pages.lessons.frame import choose_sight
from pages.lessons.sentences import join_with_commas, show_sentence
from pages.setup.setup import Setup

DEEP = 16  # blocks
LOSS_DIGITS = 4  # behind the point


def show_residuals(_: Setup) -> None:
    """Shows what becomes of the same network without additions: what it learns, and what is lost on the way."""
    show_sight = choose_sight("lost", {"words": show_lost_words, "gradient": show_lost_gradient})
    show_sight()


def show_lost_words() -> None:
    """Shows that without additions all words become alike, and that nothing is learned."""
    whole, without, bare = (read_block_figures()[kind] for kind in ("before", "no_residual", "bare"))
    show_sentence(
        "lessons.encoder.residual",
        whole=format_fixed(last_loss(whole), LOSS_DIGITS),
        without=format_fixed(last_loss(without)),
        bare=format_fixed(last_loss(bare)),
        alike=format_fixed(without.alike[4]),
        alike_whole=format_fixed(whole.alike[4]),
    )
    with st.container(horizontal=True, gap="medium"):
        show_losses(("before", "no_residual", "bare"))
        show_alikeness(("before", "no_residual"))
    show_how()


def show_lost_gradient() -> None:
    """Shows how much of the gradient reaches the first block."""
    figures = read_block_figures()
    bare, whole, without = (figures[kind].gradients for kind in ("bare", "before", "no_residual"))
    show_sentence(
        "lessons.encoder.gradient",
        deep=DEEP,
        bare=format_or_scientific(bare[str(DEEP)]),
        one=format_or_scientific(bare[str(DEPTHS[0])]),
        whole=format_fixed(whole[str(DEEP)]),
        whole_one=format_fixed(whole[str(DEPTHS[0])]),
        without=format_fixed(without[str(DEEP)]),
        layers=LAYERS,
        last=format_or_scientific(figures["no_residual"].last_word),
        last_whole=format_fixed(figures["before"].last_word),
    )
    show_gradients(("before", "no_residual", "bare"))


def last_loss(figures: object) -> float:
    """The last loss at the best rate, the mean of all seeds."""
    return figures.tried[str(figures.rate)]


def show_how() -> None:
    """Says how the networks were trained."""
    rates = join_with_commas(f"{rate:g}" for rate in RATES)
    best = {kind: f"{figures.rate:g}" for kind, figures in read_block_figures().items()}
    show_sentence(
        "lessons.encoder.trained", layers=LAYERS, steps=STEPS, seeds=len(SEEDS), rates=rates, every=EVERY, **best
    )
