"""The film strip: a small map and a figure of the run for each value of a swept setting; a click sets that value."""

import streamlit as st

from attention_core.drawing.palette import palette_for
from attention_core.drawing.raster import SmallRaster, small_raster
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import show_refusal, try_made_change
from pages.panels.thumbnails import show_small_maps
from pages.runs.cache import cache_by_setup, trace_for
from pages.session.fragments import page_part
from pages.session.labels import Selection, current_palette, name_token
from pages.session.opened_drawers import show_drawer
from pages.session.view import ScreenState
from pages.setup.setup import MAX_RUN_PAIRS, RunSetup, Setup
from pages.site.words import escape_markdown, say, say_refusal
from pages.workbench.sweep_values import MAX_SWEPT_VALUES, SweptValue
from pages.workbench.sweeps import SWEEPS, describe_figure, list_swept_values, make_change, name_sweep

FILM_DRAWER_KEY = "film_drawer"
FRAME_SIDE_PX, FRAME_TEXT_PX = 76, 16  # nine maps fit in a line, with figures that are legible from afar


def film_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the run, the selection and the swept setting; () while the drawer is closed."""
    session = st.session_state
    if not session.get(FILM_DRAWER_KEY):
        return ()
    return (screen.setup.run, screen.selection, screen.times, session.get("c_swept"))


@page_part(film_dependencies)
def show_film_strip(screen: ScreenState) -> None:
    """Shows the film strip in a drawer; nothing is computed while it is closed."""
    show_drawer(say("film.title"), ":material/theaters:", FILM_DRAWER_KEY, lambda: show_film(screen))


def show_film(screen: ScreenState) -> None:
    """Shows the choice of the swept setting and the frames of its values."""
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
    """Shows a frame for each value that can be computed, and the refused values with the reason of the first."""

    def take_frame(place: int) -> None:
        try_made_change("film", lambda: make_frame_change(screen, name, values[place]))

    row: list[dict] = []
    refusals: dict[str, str] = {}  # by the name of the value, the reason for its refusal
    for place, value in enumerate(values):
        try:
            row.append(make_frame(screen, name, place, value))
        except AttentionError as error:
            refusals[SWEEPS[name].format_value(value)] = say_refusal(error)
    query = escape_markdown(name_token(screen.trace, "T", screen.selection.query))
    figure = describe_figure(name, query)
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
    """Returns the data of one frame: a small map with its figure. Raises AttentionError if it cannot be computed."""
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
    """Returns the changed fields of the current Setup for a value of the swept setting."""
    return make_change(SWEEPS[name], with_seen_head(screen), screen.trace, screen.inputs, value)


def with_seen_head(screen: ScreenState) -> Setup:
    """Returns the current Setup with its head set to the selected one."""
    return screen.setup.with_fields(head=screen.selection.head)


@cache_by_setup
def cached_frame(
    run: RunSetup, now: RunSetup, name: str, selection: Selection, times: bool
) -> tuple[SmallRaster, float]:
    """Returns a run's map of the selected head, and its figure. now: the run on the screen."""
    trace = trace_for(Setup(run))
    small_map = small_raster(trace, "weights", selection.at, times)
    figure = SWEEPS[name].figure(Setup(now), trace, selection)
    return small_map, figure
