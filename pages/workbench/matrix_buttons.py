"""The buttons under a matrix: identity, zeros, random, none, reset; and another seed."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_edits import random_seed
from attention_core.inputs.matrix_values import REMOVED, ChangedCells
from pages.panels.input_origins import WHAT_IF_STEPS, get_head_numbers
from pages.panels.setup_controls import try_change
from pages.runs.compute import ONE_ROW_MATRICES
from pages.runs.sentences import BIASES, PROJECTIONS
from pages.session.view import ScreenState
from pages.setup.link_values import MAX_LINK_NUMBER
from pages.site.words import has, say
from pages.workbench.matrix_changes import (
    MatrixReader,
    editor_control_name,
    replace_matrix,
    replace_value,
    restore_matrix,
)


def editor_buttons(screen: ScreenState, name: str, matrix: np.ndarray | None, base: np.ndarray | None) -> None:
    """Shows the buttons of a matrix: identity, zeros, random, none, reset, and another seed for random defaults."""
    shape = find_new_shape(screen, name, matrix)
    is_mask = name == "allowed"
    with st.container(horizontal=True):
        if shape[0] > 1:
            label = say("editor.mask_identity" if is_mask else "editor.identity")
            show_button("identity", name, label, replace_matrix, screen, name, lambda: np.eye(*shape))
        label = say("editor.mask_zeros" if is_mask else "editor.zeros")
        show_button("zeros", name, label, replace_matrix, screen, name, lambda: np.zeros(shape))
        if is_mask:
            show_button("ones", name, say("editor.ones"), replace_matrix, screen, name, lambda: np.ones(shape))
        else:
            random_button(screen, name, shape, has_base=base is not None)
        if name in PROJECTIONS + BIASES and matrix is not None:
            show_button("none", name, say("editor.remove"), replace_value, name, REMOVED)
        is_edited = getattr(screen.setup.run, name) is not None
        show_button("reset", name, say("editor.reset"), restore_matrix, screen, name, disabled=not is_edited)
        if is_random_unasked(screen):
            seed_button(screen, name)


def show_button(
    kind: str, name: str, label: str, handle_click: Callable, *args, disabled: bool = False, **kwargs
) -> None:
    """Shows a button of a matrix, with a help text if its kind has one. args, kwargs: of `handle_click`."""
    help_key = f"help.{kind}"
    st.button(
        label,
        key=f"b_{kind}_{name}",
        on_click=handle_click,
        args=args,
        kwargs=kwargs,
        help=say(help_key) if has(help_key) else None,
        disabled=disabled,
    )


def find_new_shape(screen: ScreenState, name: str, matrix: np.ndarray | None) -> tuple[int, int]:
    """Returns the shape of a new matrix: that of the present one; for a new bias, a row as wide as its projection."""
    if matrix is not None:
        return matrix.shape
    projection = screen.inputs.matrices.get(name.replace("b_", "w_"))
    model = screen.inputs.bases.get(name, projection)
    if name in ONE_ROW_MATRICES:
        return (1, model.shape[1])
    return model.shape


# ---- random numbers --------------------------------------------------------------------------------------------------
def random_button(screen: ScreenState, name: str, shape: tuple[int, int], has_base: bool) -> None:
    """Shows the button for random numbers; they are stored by their seed if possible, otherwise as numbers."""
    last_seed = random_seed(getattr(screen.setup.run, name))
    seed = screen.setup.run.seed if last_seed is None else next_seed(last_seed)
    label = say("editor.random")
    if name not in WHAT_IF_STEPS and (has_base or name in BIASES):
        show_button("random", name, label, replace_value, name, ChangedCells(seed))
        return
    read = make_random_reader(screen, name, shape, seed)
    show_button("random", name, label, replace_matrix, screen, name, read)


def make_random_reader(screen: ScreenState, name: str, shape: tuple[int, int], seed: int) -> MatrixReader:
    """Returns a function that samples random numbers; for scores and weights, numbers that differ from the current
    ones.
    """

    def draw_matrix() -> np.ndarray:
        drawn = random_matrix(name, shape, seed)
        if name not in WHAT_IF_STEPS:
            return drawn
        used, _ = get_head_numbers(screen, name)
        if np.array_equal(used, drawn):
            return random_matrix(name, shape, next_seed(seed))
        return drawn

    return draw_matrix


def is_random_unasked(screen: ScreenState) -> bool:
    """Whether words or matrices are random by default, so that they depend on the Setup's seed."""
    if screen.inputs.random_words():
        return True
    random_matrices = [name for name, origin in screen.inputs.origins.items() if origin == "random"]
    return any(getattr(screen.setup.run, name) is None for name in random_matrices)


def seed_button(screen: ScreenState, name: str) -> None:
    """Shows the button that takes the next seed for words and matrices that are random by default."""
    seed = screen.setup.run.seed
    show_button(
        "seed",
        name,
        say("editor.seed", seed=seed),
        try_change,
        editor_control_name(name),
        seed=next_seed(seed),
    )


def next_seed(seed: int) -> int:
    """Returns the next seed, which is 0 after the largest that a link can hold."""
    return (seed + 1) % (MAX_LINK_NUMBER + 1)
