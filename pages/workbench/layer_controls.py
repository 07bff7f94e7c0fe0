"""What the layer is made of: heads built by hand, how the matrices are wired, how many heads and how wide."""

from collections.abc import Sequence

import streamlit as st

from attention_core.inputs.handmade_heads import HEAD_KINDS, MAX_HEAD_OFFSET, write_kind
from attention_core.mechanism.config import kv_choices
from pages.panels.setup_controls import (
    HALF_WIDTH_PX,
    mirror_field,
    show_field_pills,
    show_refusal,
    try_change,
    try_made_change,
)
from pages.runs.run_inputs import RunInputs
from pages.runs.size_changes import make_size_changes
from pages.session import setup_state
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.setup import (
    MAX_SHOWN_HEADS,
    WIRING,
    Setup,
    built_heads_of,
    config_of,
    input_mode_of,
    is_cross_attention,
    to_positions_field,
)
from pages.site.words import say

NO_OUTPUT = "no_output"  # W_o taken away: not in Setup.wiring, since a matrix says so itself
WIRING_OPTIONS = ("tied", "swapped", NO_OUTPUT, "residual", "bare", "even")
MAX_CHOSEN_HEAD_WIDTH = 128  # columns of one head


# ---- sizes -----------------------------------------------------------------------------------------------------------
def size_dependencies(scene: ScreenState) -> tuple[object, ...]:
    """The counts, and the shapes that they and the widths follow from."""
    setup, config = scene.setup, config_of(scene.setup)
    shapes = tuple((name, matrix.shape) for name, matrix in scene.inputs.matrices.items())
    return (input_mode_of(setup), config.heads, config.kv_heads, setup.d_k, setup.d_v, shapes)


@page_part(size_dependencies)
def show_size_controls(scene: ScreenState) -> None:
    """How many heads and key/value heads, and how wide they are."""
    setup, material, config = scene.setup, scene.inputs, config_of(scene.setup)
    if input_mode_of(setup) == "file":
        return
    with st.container(horizontal=True):
        show_count_choice("heads", head_choices(setup, material, config.heads), config.heads)
        kv = config.kv_heads or config.heads
        show_count_choice("kv_heads", sorted(kv_choices(config.heads)), kv)
    widths = {"d_k": ("w_q", config.heads), "d_v": ("w_v", kv)}
    if any(name not in material.matrices for name, _ in widths.values()):
        return
    with st.container(horizontal=True):
        for field, (name, count) in widths.items():
            show_width_input(field, max(material.matrices[name].shape[1] // count, 1))


def show_count_choice(field: str, options: list[int], value: int) -> None:
    """A count out of the possible ones."""
    key = f"c_{field}"

    def chosen() -> None:
        more = {"kv_heads": None} if field == "heads" else {}
        try_sizes(field, **{field: st.session_state[key]}, **more)

    mirror_field(key, field, value)
    st.selectbox(say(f"control.{field}"), options, key=key, on_change=chosen, filter_mode=None, width=HALF_WIDTH_PX)
    show_refusal(field)


def show_width_input(field: str, value: int) -> None:
    """How wide a head is: any number, what still fits stays."""
    key = f"c_{field}"

    def typed() -> None:
        try_sizes(field, **{field: st.session_state[key]})

    mirror_field(key, field, min(value, MAX_CHOSEN_HEAD_WIDTH))
    st.number_input(
        say(f"control.{field}"),
        1,
        MAX_CHOSEN_HEAD_WIDTH,
        key=key,
        on_change=typed,
        width=HALF_WIDTH_PX,
        help=say("help.widths"),
    )
    show_refusal(field)


def try_sizes(control: str, **sizes: int | None) -> None:
    """Other sizes; the typed matrices keep what still fits."""
    try_made_change(control, lambda: make_size_changes(setup_state.current_setup(), **sizes))


def head_choices(setup: Setup, material: RunInputs, current: int) -> list[int]:
    """The head counts that the projections can be cut into; any, where the width of a head is given."""
    if (setup.d_k, setup.d_v) != (None, None):
        return sorted({*range(1, MAX_SHOWN_HEADS + 1), current})
    matrices = material.matrices
    columns = matrices.get("w_q", matrices.get("x", matrices.get("q"))).shape[1]
    return sorted({n for n in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16) if columns % n == 0} | {current})


# ---- wiring ----------------------------------------------------------------------------------------------------------
@page_part(lambda scene: (input_mode_of(scene.setup), scene.setup.wiring, scene.inputs.origins.get("w_o")))
def show_wiring_control(scene: ScreenState) -> None:
    """One click each: W_q = W_k = W_v, Q and K swapped, no W_o, x + output, no positions, even weights."""
    setup, material = scene.setup, scene.inputs
    if input_mode_of(setup) in ("qkv", "file"):
        return

    def chosen() -> None:
        setup = setup_state.current_setup()
        names = st.session_state["c_wiring"]
        changes = {"wiring": tuple(name for name in WIRING if name in names)}
        if "w_o" in material.origins:
            changes["w_o"] = "none" if NO_OUTPUT in names else None if setup.w_o == "none" else setup.w_o
        if "bare" in names and "bare" not in setup.wiring:
            changes["positions"] = to_positions_field(setup, ())
        try_change("wiring", **changes)

    options = [name for name in WIRING_OPTIONS if name != NO_OUTPUT or "w_o" in material.origins]
    on = {*setup.wiring, *([NO_OUTPUT] if material.origins.get("w_o") == "removed" else [])}
    show_field_pills("wiring", options, [name for name in options if name in on], chosen)
    show_refusal("wiring")


# ---- heads built by hand ---------------------------------------------------------------------------------------------
@page_part(lambda scene: (input_mode_of(scene.setup), is_cross_attention(scene.setup), built_heads_of(scene.setup)))
def show_built_heads_control(scene: ScreenState) -> None:
    """Heads whose behaviour can be read off, and how far the offset head looks."""
    setup = scene.setup
    if input_mode_of(setup) != "sentence" or is_cross_attention(setup):
        return
    kinds = built_heads_of(setup)
    names = dict.fromkeys(name for name, _ in kinds)

    def chosen() -> None:
        texts = choose_heads(kinds, st.session_state["c_built"])
        try_change("built", built=texts, **NEW_HEADS_RESET, score="dot" if texts else None)

    show_field_pills("built", HEAD_KINDS, names, chosen, say("help.built"))
    for place in offset_places(setup):
        offset_slider(setup, place)
    show_refusal("built")


def choose_heads(kinds: Sequence[tuple[str, int]], names: Sequence[str]) -> tuple[str, ...]:
    """The heads as a Setup says them after a choice of names: those that stay are as they were, new ones come last."""
    stay = [kind for kind in kinds if kind[0] in names]
    old = {name for name, _ in kinds}
    new = [(name, -1) for name in names if name not in old]
    return tuple(write_kind(*kind) for kind in stay + new)


def offset_slider(setup: Setup, place: int) -> None:
    """How far an offset head looks. A link may hold several of them: then each slider says the number of its head."""
    places = offset_places(setup)
    key = "c_offset" if place == places[0] else f"c_offset_{place}"
    head = say("place.head", number=place + 1)
    label = say("control.offset") if len(places) == 1 else say("control.offset_of", head=head)
    _, offset = built_heads_of(setup)[place]
    reach = min(max(5, abs(offset)), MAX_HEAD_OFFSET)

    def turned() -> None:
        try_change("built", built=turn_head(setup, place, st.session_state[key]))

    mirror_field(key, "built", offset)
    st.slider(label, -reach, reach, key=key, on_change=turned)


def offset_places(setup: Setup) -> list[int]:
    """The numbers of the heads that look a few tokens away, from 0."""
    return [place for place, (name, _) in enumerate(built_heads_of(setup)) if name == "offset"]


def turn_head(setup: Setup, place: int, offset: int) -> tuple[str, ...]:
    """The heads built by hand as a Setup says them, one offset head looking so far away."""
    kinds = list(built_heads_of(setup))
    kinds[place] = ("offset", offset)
    return tuple(write_kind(*kind) for kind in kinds)


# a new set of heads starts from its own matrices
NEW_HEADS_RESET = dict.fromkeys(
    ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o", "heads", "kv_heads", "d_k", "d_v")
)
