"""Shows the controls of the layer: heads built by hand, the wiring of its matrices, the number and width of heads."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.inputs.handmade_heads import HEAD_KINDS, MAX_HEAD_OFFSET, write_kind
from attention_core.inputs.matrix_values import REMOVED
from attention_core.mechanism.config import kv_choices
from attention_core.record.number_text import format_term
from pages.panels.flow_numbers import is_too_large
from pages.panels.live_slider import ListSlider, show_list_slider
from pages.panels.setup_controls import HALF_WIDTH_PX, field_control, show_refusal, try_change, try_made_change
from pages.runs.cache import inputs_of, trace_for
from pages.runs.size_changes import MatrixFate, is_resized, list_fates, make_size_changes
from pages.session import setup_state
from pages.session.fragments import page_part
from pages.session.labels import current_palette
from pages.session.view import ScreenState
from pages.setup.resolve import config_of, most_heads, resolve_run, to_positions_field
from pages.setup.setup import WIRING, Setup
from pages.site.words import escape_markdown, say
from pages.workbench.control_rows import list_values, show_row

HeadKind = tuple[str, int]  # (name of a kind of head built by hand, offset)

NO_OUTPUT = "no_output"  # the option that removes W_o; the Setup stores it as w_o = "none", not in its field `wiring`
WIRING_OPTIONS = ("tied", "swapped", NO_OUTPUT, "residual", "bare", "even")
MAX_CHOSEN_HEAD_WIDTH = 128  # most columns of one head that can be chosen
USUAL_HEAD_COUNTS = (1, 2, 4, 8)
NEW_HEAD_OFFSET = -1  # a new head with a fixed offset attends to the token before the query
USUAL_OFFSET_REACH = 5  # tokens in both directions that the slider offers, or more if the head's offset is larger
# Setup fields that are reset to their defaults when other heads are chosen.
NEW_HEADS_RESET = dict.fromkeys(
    ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o", "heads", "kv_heads", "d_k", "d_v")
)


# ---- sizes -----------------------------------------------------------------------------------------------------------
def size_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the size controls: kind of input, counts, widths, and matrix shapes."""
    setup = screen.setup
    config = config_of(setup.run)
    shapes = [(name, matrix.shape) for name, matrix in screen.inputs.matrices.items()]
    return (
        resolve_run(setup.run).mode,
        config.heads,
        config.kv_heads,
        setup.run.d_k,
        setup.run.d_v,
        *shapes,
    )


def head_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the number of heads: the number, the columns, the effects of a change.

    Returns () if the visitor cannot choose the number.
    """
    if not has_sizes(screen):
        return ()
    return (config_of(screen.setup.run).heads, screen.setup.run.d_k, describe_size_effects(screen))


def show_head_count(screen: ScreenState) -> None:
    """Shows the buttons for the number of heads: the usual numbers, and a button that opens an input for any other
    number.
    """
    heads = config_of(screen.setup.run).heads
    options = sorted({*USUAL_HEAD_COUNTS, heads})

    def choose_heads(count: int | None) -> None:
        if count is not None:  # a browser may send a number that is not offered, which becomes None
            run = setup_state.current_setup().run
            try_made_change("heads", lambda: make_size_changes(run, heads=count, kv_heads=None))

    control = field_control("heads", heads, choose_heads, option_text=str)
    control.draw(st.segmented_control, options, required=True)
    most = most_heads(screen.setup.run)
    help = say("help.any_heads", most=most)
    with st.popover(say("control.other_heads"), help=help, key="any_heads", type="tertiary"):
        other = field_control("heads", heads, choose_heads, key="c_any_heads", label="control.any_heads")
        other.draw(st.number_input, min_value=1, max_value=most)


def has_sizes(screen: ScreenState) -> bool:
    """Returns whether the visitor can choose the sizes of a run.

    Returns False for a file, and for an example of code that samples its tensors.
    """
    return resolve_run(screen.setup.run).mode != "file" and "q" not in screen.inputs.drawn


@page_part(size_dependencies)
def show_size_row(screen: ScreenState) -> None:
    """Shows the row with the number of key/value heads and the widths of heads."""
    setup = screen.setup
    if not has_sizes(screen):
        return
    config = config_of(setup.run)
    heads = config.heads
    kv_heads = config.kv_heads or heads
    sizes = screen.trace.sizes()
    is_set = kv_heads != heads or setup.run.d_k is not None or setup.run.d_v is not None
    widths = say("row.of_sizes", kv_heads=kv_heads, d_k=sizes.get("d_k", 0), d_v=sizes.get("d_v", 0))
    show_row("sizes", widths, is_set, lambda: show_sizes(screen, heads, kv_heads))


def show_sizes(screen: ScreenState, heads: int, kv_heads: int) -> None:
    """Shows the controls for the number of key/value heads and for the widths of heads."""
    show_count_choice("kv_heads", sorted(kv_choices(heads)), kv_heads)
    matrices = screen.inputs.matrices
    if "w_q" not in matrices or "w_v" not in matrices:
        return
    query_width = matrices["w_q"].shape[1] // heads
    value_width = matrices["w_v"].shape[1] // kv_heads
    with st.container(horizontal=True):
        show_width_input("d_k", max(query_width, 1))
        show_width_input("d_v", max(value_width, 1))


def show_count_choice(field: str, options: list[int], value: int) -> None:
    """Shows the choice of a count, such as the number of heads, from the given options."""

    control = field_control(field, value, lambda count: try_sizes(field, **{field: count}), option_text=str)
    control.show(st.selectbox, options, filter_mode=None, width=HALF_WIDTH_PX)


def show_width_input(field: str, value: int) -> None:
    """Shows the input for the width of a head. Numbers of the matrices that still fit are kept."""
    control = field_control(field, value, lambda width: try_sizes(field, **{field: width}))
    control.show(
        st.number_input,
        min_value=1,
        max_value=max(value, MAX_CHOSEN_HEAD_WIDTH),
        width=HALF_WIDTH_PX,
        help=say("help.widths"),
    )


def try_sizes(control: str, **sizes: int | None) -> None:
    """Changes sizes of the layer, such as a head's width; numbers of typed matrices are kept if they still fit.

    control: the name of the control that shows the error if a size is refused. sizes: {Setup field: new size}.
    """
    try_made_change(control, lambda: make_size_changes(setup_state.current_setup().run, **sizes))


# ---- wiring ----------------------------------------------------------------------------------------------------------
def wiring_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the wiring control: kind of input, options, origin of W_o."""
    run = screen.setup.run
    return resolve_run(run).mode, run.wiring, screen.inputs.origins.get("w_o")


@page_part(wiring_dependencies)
def show_wiring_row(screen: ScreenState) -> None:
    """Shows the row of the wiring options: W_q = W_k = W_v, Q and K swapped, no W_o, x + output, no positions, even
    weights.
    """
    setup, origins = screen.setup, screen.inputs.origins
    if resolve_run(setup.run).mode in ("qkv", "file") or "q" in screen.inputs.drawn:
        return
    has_output = "w_o" in origins

    def choose_wiring(names: Sequence[str]) -> None:
        changes = make_wiring_change(setup_state.current_setup(), names, has_output)
        try_change("wiring", **changes)

    options = [name for name in WIRING_OPTIONS if name != NO_OUTPUT or has_output]
    chosen = [*setup.run.wiring]
    if origins.get("w_o") == "removed":
        chosen.append(NO_OUTPUT)
    shown = [name for name in options if name in chosen]
    control = field_control("wiring", shown, choose_wiring)
    show_row(
        "wiring",
        list_values([say(f"wiring.{name}") for name in shown]),
        bool(shown),
        lambda: control.show(st.pills, options, selection_mode="multi"),
    )


def make_wiring_change(setup: Setup, names: Sequence[str], has_output: bool) -> dict[str, object]:
    """Returns the fields of a Setup that change if the visitor chooses these wiring options.

    has_output: whether there is a W_o that can be removed.
    """
    changes: dict[str, object] = {"wiring": tuple(name for name in WIRING if name in names)}
    if has_output and NO_OUTPUT in names:
        changes["w_o"] = REMOVED
    elif has_output:
        changes["w_o"] = None if setup.run.w_o == REMOVED else setup.run.w_o
    if "bare" in names and "bare" not in setup.run.wiring:
        changes["positions"] = to_positions_field(setup.run, ())
    return changes


# ---- heads built by hand ---------------------------------------------------------------------------------------------
def built_heads_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the choice of built heads: the heads and, with an offset, the run."""
    setup, resolved = screen.setup, resolve_run(screen.setup.run)
    dragged = (setup.run, current_palette().share) if offset_places(setup) else None
    return resolved.mode, resolved.crossed, resolved.built, dragged


@page_part(built_heads_dependencies)
def show_built_row(screen: ScreenState) -> None:
    """Shows the row with the choice of heads built by hand, and the sliders for the offsets of offset heads."""
    setup, resolved = screen.setup, resolve_run(screen.setup.run)
    if resolved.mode != "sentence" or resolved.crossed:
        return
    kinds = resolved.built
    names = dict.fromkeys(name for name, _ in kinds)

    def choose_heads(chosen: Sequence[str]) -> None:
        texts = write_chosen_heads(kinds, chosen)
        score = "dot" if texts else None
        try_change("built", built=texts, **NEW_HEADS_RESET, score=score)

    def show_choice() -> None:
        control = field_control("built", list(names), choose_heads)
        control.draw(st.pills, HEAD_KINDS, selection_mode="multi", help=say("help.built"))
        for place in offset_places(setup):
            show_offset_slider(screen, place)
        show_refusal("built")

    show_row("built", list_values([say(f"built.{name}") for name in names]), bool(names), show_choice)


def write_chosen_heads(kinds: Sequence[HeadKind], names: Sequence[str]) -> tuple[str, ...]:
    """Returns the value of the Setup field `built` after the visitor has chosen kinds of heads.

    Heads that are still chosen are unchanged, and new heads come last.
    """
    chosen_kinds = [(name, offset) for name, offset in kinds if name in names]
    old_names = [name for name, _ in kinds]
    for name in names:
        if name not in old_names:
            chosen_kinds.append((name, NEW_HEAD_OFFSET))
    return write_kinds(chosen_kinds)


def show_offset_slider(screen: ScreenState, place: int) -> None:
    """Shows the slider for the offset of an offset head, that is, how far from the query its key lies.

    If there are several offset heads, the label of the slider has the head's position, counted from 1.
    """
    setup = screen.setup
    places = offset_places(setup)
    key = "c_offset" if place == places[0] else f"c_offset_{place}"
    label = say("control.offset")
    if len(places) > 1:
        head = say("place.head", number=place + 1)
        label = say("control.offset_of", head=head)
    _, offset = resolve_run(setup.run).built[place]
    reach = min(max(USUAL_OFFSET_REACH, abs(offset)), MAX_HEAD_OFFSET)
    offsets = [*range(-reach, reach + 1)]
    turned = [setup.with_fields(built=turn_head(setup, place, each)) for each in offsets]
    changes = [find_turned_inputs(screen.trace, each) for each in turned]
    slider = ListSlider(offsets, [format_term(each) for each in offsets], changes)

    def take_offset(chosen: int) -> None:
        try_change("built", built=turn_head(setup, place, chosen))

    show_list_slider(field_control("built", offset, take_offset, key), slider, label=label)


def find_turned_inputs(trace: Trace, turned: Setup) -> dict[str, dict]:
    """Returns those inputs of the run that another offset of a head changes, so that the picture follows the slider.

    The result is {"values": {step: numbers}}, or {} for a large run, of which the browser has only a part. turned: the
    Setup with the other offset.
    """
    if is_too_large(trace):
        return {}
    values = {}
    for name, step in trace_for(turned).inputs().items():
        if not np.array_equal(step.window(), trace.step(name).window()):
            values[name] = step.window().reshape(-1).tolist()
    return {"values": values}


def offset_places(setup: Setup) -> list[int]:
    """Returns the indices, from 0, of the heads built by hand that have an offset."""
    return [place for place, (name, _) in enumerate(resolve_run(setup.run).built) if name == "offset"]


def turn_head(setup: Setup, place: int, offset: int) -> tuple[str, ...]:
    """Returns the value of the Setup field `built` with another offset for one head."""
    kinds = list(resolve_run(setup.run).built)
    kinds[place] = ("offset", offset)
    return write_kinds(kinds)


def write_kinds(kinds: Sequence[HeadKind]) -> tuple[str, ...]:
    """Returns each head built by hand as text, in the format of the Setup field `built`."""
    return tuple(write_kind(name, offset) for name, offset in kinds)


# ---- the line under the sizes: the effect of their last change on the matrices ---------------------------------------
def describe_size_effects(screen: ScreenState) -> str:
    """Returns the sentences on the effect of a size change on each matrix; "" if no matrix was resized, or if undo or
    redo brought the sizes back.
    """
    before = setup_state.setup_before()
    if before is None or setup_state.is_moved_in_history() or not is_resized(before.run, screen.setup.run):
        return ""
    fates = list_fates((before.run, inputs_of(before)), (screen.setup.run, screen.inputs))
    return " ".join(say_fate(names, fate) for fate, names in group_alike(fates).items())


def group_alike(fates: list[MatrixFate]) -> dict[MatrixFate, list[str]]:
    """Returns {effect of a change of size: names of the matrices on which the change had this effect}.

    fates: the effect on each matrix. In the result, the name of an effect is "".
    """
    names: dict[MatrixFate, list[str]] = {}
    for fate in fates:
        names.setdefault(replace(fate, name=""), []).append(fate.name)
    return names


def say_fate(names: list[str], fate: MatrixFate) -> str:
    """Returns one sentence about matrices that a change of sizes affected in the same way.

    names: the names of the matrices. fate: their common effect.
    """
    figures = dict(vars(fate))
    kind = figures.pop("kind")
    del figures["name"]  # the name is left out, because the sentence lists all names itself
    shown = say("fact.comma").join(map(name_matrix, names))
    return say(f"resized.{kind}", names=escape_markdown(shown), **figures)


def name_matrix(name: str) -> str:
    """Returns the name of a matrix as it is written in formulas, such as W_q or X."""
    return name[0].upper() + name[1:] if name[0] in "wx" else name
