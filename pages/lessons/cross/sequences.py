"""Two sequences, of which one asks the other: who asks whom, and which of their words have random vectors."""

from dataclasses import replace

from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_text import to_text
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens
from pages.setup.setup import Setup

LECTURE_NOTES_WIDTH = 64  # lecture notes 001: 5 queries and 6 keys of width 64, eight heads


def swap_sequences(setup: Setup) -> Setup:
    """Turns the direction round: the sequence that was asked asks."""
    inputs = inputs_of(setup)
    text = spell_tokens(inputs.keys, setup)
    context_text = spell_tokens(inputs.queries, setup)
    return replace(setup, text=text, context_text=context_text)


def ask_itself(setup: Setup) -> Setup:
    """Makes the sentence that asks ask itself."""
    return replace(setup, cross=False, context_text=None)


def make_random_sequences(queries: int, keys: int) -> Setup:
    """Makes random vectors of the width of the lecture notes' example, with eight heads."""
    x = random_matrix("x", (queries, LECTURE_NOTES_WIDTH))
    context = random_matrix("context", (keys, LECTURE_NOTES_WIDTH))
    return Setup(
        example="eight_heads",
        x=to_text(x),
        context=to_text(context),
        cross=True,
    )
