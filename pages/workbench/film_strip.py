"""Shows the film strip: a small attention map and a measure for each value of a setting; a click sets that value.

A measure is a function `figure(setup, trace, selection)` that returns one number. `trace` is the run with a value of
the setting; `setup` is the state on the screen, with whose run some measures compare `trace`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from attention_core import Trace
from attention_core.comparison.distances import total_variation
from attention_core.comparison.measures import (
    attention_perplexity,
    largest_precision_error,
    mean_offset,
    mean_pairwise_head_distance,
)
from attention_core.drawing.palette import palette_for
from attention_core.drawing.raster import SmallRaster, small_raster
from attention_core.explanation.facts import count_allowed_pairs
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_fixed, format_grouped, format_signed, format_small, format_term
from pages.panels.setup_controls import show_refusal, try_made_change
from pages.panels.thumbnails import show_small_maps
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.run_inputs import RunInputs
from pages.session.fragments import page_part
from pages.session.labels import Selection, current_palette, name_token
from pages.session.opened_drawers import show_drawer
from pages.session.view import ScreenState
from pages.setup.setup import MAX_RUN_PAIRS, RunSetup, Setup
from pages.site.words import escape_markdown, has, say, say_refusal
from pages.workbench import sweep_values
from pages.workbench.sweep_values import (
    MAX_SWEPT_VALUES,
    SetupChange,
    SweptValue,
    list_swept_parameters,
    make_field_change,
    make_field_getter,
    make_size_getter,
)

FILM_DRAWER_KEY = "film_drawer"
FRAME_SIDE_PX, FRAME_TEXT_PX = 76, 16  # sizes of a frame's map and text: nine frames fit in a line, with legible text


def get_head_weights(trace: Trace, selection: Selection) -> Tensor:
    """Returns the weights (T, S) of the selected head, or of the last head if the run has fewer."""
    heads = trace["weights"][selection.batch]  # (H, T, S)
    last_head = len(heads) - 1
    return heads[min(selection.head, last_head)]


# ---- the row of the selected query -----------------------------------------------------------------------------------
def row_perplexity(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the perplexity of the selected query's weights: the effective number of keys that it attends to."""
    row = get_head_weights(trace, selection)[selection.query]  # (S,)
    return attention_perplexity(row)


def largest_query_weight(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the largest weight of the selected query."""
    row = get_head_weights(trace, selection)[selection.query]  # (S,)
    return row.max().item()


# ---- heads and pairs -------------------------------------------------------------------------------------------------
def distance_between_heads(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the distance between the weights of two heads, averaged over all pairs of heads."""
    return mean_pairwise_head_distance(trace["weights"][selection.batch])


def count_kept_pairs_of_head(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the number of (query, key) pairs that the masks allow in the selected head."""
    last_head = trace.sizes()["H"] - 1
    pairs = count_allowed_pairs(trace, min(selection.head, last_head), selection.batch)
    return pairs.kept


def mean_key_offset(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the mean offset of the attended keys from their query, in positions; positive if the keys come later."""
    return mean_offset(get_head_weights(trace, selection))


# ---- differences of weights ------------------------------------------------------------------------------------------
def mean_row_distance(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the total variation between the selected head's weights in this run and on the screen, averaged over
    rows.
    """
    weights = get_head_weights(trace, selection).double()
    weights_on_screen = get_head_weights(trace_for(setup), selection).double()
    distances = total_variation(weights, weights_on_screen)  # (T,)
    return distances.mean().item()


def weight_rounding_error(setup: Setup, trace: Trace, selection: Selection) -> float:
    """Returns the largest difference between a weight of any head and its value in float64."""
    exact = trace_for(setup.with_fields(dtype="float64"))
    return largest_precision_error(trace["weights"], exact["weights"])


# ---- the settings ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Sweep:
    """A setting of which the film strip shows several values, each with its run.

    values: a function that returns these values; () if the setting has no effect on this run. now: a function that
    returns the current value. change: a function that returns {Setup field: new value}. figure: a function that
    measures a run as one number, which may be a comparison with the run on the screen. format_figure, format_value:
    functions that format a measure and a value.
    """

    values: Callable[[Setup, Trace, RunInputs], Sequence[SweptValue]]
    now: Callable[[Setup, Trace, RunInputs], SweptValue | None]
    change: Callable[[Setup, SweptValue], SetupChange]
    figure: Callable[[Setup, Trace, Selection], float]
    format_figure: Callable[[float], str] = format_fixed
    format_value: Callable[[SweptValue], str] = str


def list_swept_values(sweep: Sweep, setup: Setup, trace: Trace, inputs: RunInputs, most: int) -> list[SweptValue]:
    """Returns at most `most` values of a sweep, including the current value."""
    values = list(sweep.values(setup, trace, inputs))
    now = sweep.now(setup, trace, inputs)
    if values and now is not None and now not in values:
        values.append(now)
        values.sort()
    return thin_values(values, now, most)


def thin_values(values: Sequence[SweptValue], kept: SweptValue | None, most: int) -> list[SweptValue]:
    """Returns at most `most` of the values, evenly spaced; the first, the last and `kept` are always among them.

    >>> thin_values(range(13), 5, 5), thin_values("ab", None, 5)
    ([0, 3, 5, 9, 12], ['a', 'b'])
    """
    if len(values) <= most:
        return list(values)
    last = len(values) - 1
    places = [round(number * last / (most - 1)) for number in range(most)]
    kept_place = values.index(kept) if kept in values else places[0]
    if kept_place not in places:
        between = range(1, most - 1)
        nearest = min(between, key=lambda number: abs(places[number] - kept_place))
        places[nearest] = kept_place
    return [values[place] for place in places]


def make_change(sweep: Sweep, setup: Setup, trace: Trace, inputs: RunInputs, value: SweptValue) -> SetupChange:
    """Returns the fields of a Setup that change if a setting gets this value; {} for the current value.

    The current value is not set explicitly: a width that follows from the matrices would become fixed, and matrices
    entered later would be cut to it.
    """
    if value == sweep.now(setup, trace, inputs):
        return {}
    return sweep.change(setup, value)


# ---- formats ---------------------------------------------------------------------------------------------------------
def format_plainly(value: float) -> str:
    """Formats a number without trailing zeros."""
    return f"{value:g}"


def format_one_decimal(value: float) -> str:
    """Formats a number with one decimal; a mean count of keys, for example, need not be whole."""
    return format_fixed(value, 1)


def format_signed_decimal(value: float) -> str:
    """Formats an offset with one decimal and its sign, which shows the direction."""
    return format_signed(value, digits=1)


def name_precision(name: str) -> str:
    """Returns the name of a precision as the page shows it."""
    return say(f"dtype.{name}")


SWEEPS = {
    "temperature": Sweep(
        sweep_values.temperature_values,
        make_field_getter("temperature"),
        make_field_change("temperature"),
        row_perplexity,
        format_one_decimal,
        format_plainly,
    ),
    "d_k": Sweep(
        sweep_values.width_values,
        make_size_getter("d_k"),
        sweep_values.with_width,
        largest_query_weight,
    ),
    "heads": Sweep(
        sweep_values.head_count_values,
        make_size_getter("H"),
        sweep_values.with_heads,
        distance_between_heads,
    ),
    "window": Sweep(
        sweep_values.window_values,
        sweep_values.get_window,
        sweep_values.with_window,
        count_kept_pairs_of_head,
        format_grouped,
    ),
    "offset": Sweep(
        sweep_values.offset_values,
        sweep_values.get_causal_offset,
        sweep_values.with_causal_offset,
        count_kept_pairs_of_head,
        format_grouped,
        format_term,
    ),
    "neighbour": Sweep(
        sweep_values.neighbour_values,
        sweep_values.get_neighbour,
        sweep_values.with_neighbour,
        mean_key_offset,
        format_signed_decimal,
        format_term,
    ),
    "seed": Sweep(
        sweep_values.seed_values,
        make_field_getter("seed"),
        make_field_change("seed"),
        mean_row_distance,
    ),
    "dtype": Sweep(
        sweep_values.precision_values,
        make_field_getter("dtype"),
        make_field_change("dtype"),
        weight_rounding_error,
        format_small,
        name_precision,
    ),
    **{
        name: Sweep(
            swept.values,
            swept.now,
            swept.change,
            largest_query_weight,
            format_value=swept.format_value,
        )
        for name, swept in list_swept_parameters()
    },
}


def name_sweep(name: str) -> str:
    """Returns the name of a setting as the page shows it; for a parameter of a mechanism, the label of the parameter's
    control.
    """
    key = f"film.name.{name}"
    return say(key) if has(key) else say(f"parameter.{name}")


# ---- the strip -------------------------------------------------------------------------------------------------------
def film_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the film strip: the run, the selection and the setting that varies.

    Returns () while the accordion is closed.
    """
    session = st.session_state
    if not session.get(FILM_DRAWER_KEY):
        return ()
    return (screen.setup.run, screen.selection, screen.times, session.get("c_swept"))


@page_part(film_dependencies)
def show_film_strip(screen: ScreenState) -> None:
    """Shows the film strip in an accordion; nothing is computed while it is closed."""
    show_drawer(say("film.title"), ":material/theaters:", FILM_DRAWER_KEY, lambda: show_film(screen))


def show_film(screen: ScreenState) -> None:
    """Shows the choice of the setting that varies, and a frame (a small attention map) for each of its values."""
    setup, trace = with_seen_head(screen), screen.trace
    max_runs = min(MAX_SWEPT_VALUES, MAX_RUN_PAIRS // trace["weights"].numel())
    if max_runs < 2:
        st.caption(say("film.large", limit=MAX_RUN_PAIRS))
        return
    values_by_sweep = {}
    for name, sweep in SWEEPS.items():
        values = list_swept_values(sweep, setup, trace, screen.inputs, max_runs)
        if len(values) > 1:
            values_by_sweep[name] = values
    offered = list(values_by_sweep)
    if st.session_state.get("c_swept") not in offered:
        st.session_state["c_swept"] = offered[0]
    name = st.segmented_control(
        say("film.setting"),
        offered,
        format_func=name_sweep,
        key="c_swept",
        required=True,
        label_visibility="collapsed",
    )
    show_frames(screen, name, values_by_sweep[name])


def show_frames(screen: ScreenState, name: str, values: list[SweptValue]) -> None:
    """Shows a frame (small attention map) for each computable value of a setting.

    Names the values that cannot be computed, and the error of one of them.
    """

    def take_frame(place: int) -> None:
        try_made_change("film", lambda: make_frame_change(screen, name, values[place]))

    row: list[dict] = []
    refusals: dict[str, str] = {}  # value of the setting, as text -> why it was refused
    for place, value in enumerate(values):
        try:
            row.append(make_frame(screen, name, place, value))
        except AttentionError as error:
            refusals[SWEEPS[name].format_value(value)] = say_refusal(error)
    query = escape_markdown(name_token(screen.trace, "T", screen.selection.query))
    caption = f"film.figure.{name}"
    figure = say(caption if has(caption) else "film.figure.d_k", query=query)
    st.markdown(say("film.how", count=len(row), head=screen.selection.head + 1, figure=figure))
    show_small_maps(
        "film",
        FRAME_SIDE_PX,
        2,
        row,
        take_frame,
        text=FRAME_TEXT_PX,
        palette=palette_for(screen.trace, current_palette()),
    )
    if refusals:
        refused_values = say("fact.comma").join(refusals)
        first_reason = next(iter(refusals.values()))
        st.caption(say("film.refused", values=refused_values, reason=first_reason))
    show_refusal("film")


def make_frame(screen: ScreenState, name: str, place: int, value: SweptValue) -> dict:
    """Returns the data of one frame: a small attention map with the measure of its run.

    Raises AttentionError if the run cannot be computed.
    """
    sweep = SWEEPS[name]
    value_now = sweep.now(with_seen_head(screen), screen.trace, screen.inputs)
    run = screen.setup.with_fields(**make_frame_change(screen, name, value)).run
    small_map, figure = cached_frame(
        run,
        screen.setup.run,
        name,
        screen.selection,
        screen.times,
    )
    value_text = sweep.format_value(value)
    setting = name_sweep(name)
    return {
        "opens": place,
        "name": f"{value_text}\n{sweep.format_figure(figure)}",
        "title": f"{setting} {value_text}",
        "chosen": value == value_now,
        "breaks": False,
        "map": small_map,
    }


def make_frame_change(screen: ScreenState, name: str, value: SweptValue) -> dict[str, object]:
    """Returns the fields of the current Setup that change if the setting gets this value, as {field: new value}."""
    return make_change(SWEEPS[name], with_seen_head(screen), screen.trace, screen.inputs, value)


def with_seen_head(screen: ScreenState) -> Setup:
    """Returns the current Setup with its head set to the selected one."""
    return screen.setup.with_fields(head=screen.selection.head)


@cache_by_setup
def cached_frame(
    run: RunSetup, now: RunSetup, name: str, selection: Selection, times: bool
) -> tuple[SmallRaster, float]:
    """Returns the attention map of the selected head in a run, and the measure of that run.

    now: the run on the screen, with which the measure may compare.
    """
    trace = trace_for(Setup(run))
    small_map = small_raster(trace, "weights", selection.at, times)
    figure = SWEEPS[name].figure(Setup(now), trace, selection)
    return small_map, figure
