"""The film strip: one setting swept, a run for each value as a small map with its figure below; a click takes it."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.raster import SmallRaster, small_raster
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import show_refusal, try_made_change
from pages.panels.thumbnails import show_small_maps
from pages.runs.cache import cache_by_setup, trace_for
from pages.session.fragments import page_part
from pages.session.labels import Selection, name_token
from pages.session.view import ScreenState
from pages.setup.setup import MAX_RUN_PAIRS, Setup, without_view
from pages.site.words import escape_markdown, say, say_refusal
from pages.workbench.sweeps import MAX_SWEPT_VALUES, SWEEPS, SweptValue, list_swept_values, make_change

FILM_DRAWER_KEY = "film_drawer"
FRAME_SIDE_PX, FRAME_TEXT_PX = 76, 16  # pixels: nine maps stand in a line, and their figures can be read from afar


def film_dependencies(scene: ScreenState) -> tuple[object, ...]:
    """The run, what is looked at and what is swept; nothing while the drawer is closed."""
    session = st.session_state
    if not session.get(FILM_DRAWER_KEY):
        return ()
    return (without_view(scene.setup), scene.look, scene.times, session.get("c_swept"))


@page_part(film_dependencies)
def show_film_strip(scene: ScreenState) -> None:
    """A drawer, which runs nothing while it is closed."""
    drawer = st.expander(say("film.title"), icon=":material/theaters:", key=FILM_DRAWER_KEY, on_change="rerun")
    if drawer.open:
        with drawer:
            show_film(scene)


def show_film(scene: ScreenState) -> None:
    """Which setting, its runs in a row, and what stands under each."""
    setup, trace = seen(scene), scene.trace
    most = min(MAX_SWEPT_VALUES, MAX_RUN_PAIRS // trace["weights"].numel())
    if most < 2:
        st.caption(say("film.large", limit=MAX_RUN_PAIRS))
        return
    films = {name: list_swept_values(sweep, setup, trace, scene.inputs, most) for name, sweep in SWEEPS.items()}
    offered = [name for name, values in films.items() if len(values) > 1]
    if st.session_state.get("c_swept") not in offered:
        st.session_state["c_swept"] = offered[0]
    name = st.segmented_control(
        say("film.setting"),
        offered,
        format_func=lambda name: say(f"film.name.{name}"),
        key="c_swept",
        required=True,
        label_visibility="collapsed",
    )
    show_frames(scene, name, films[name])


def show_frames(scene: ScreenState, name: str, values: list[SweptValue]) -> None:
    """A run for each value that can be computed; which cannot, and why the first of them."""
    sweep, now = SWEEPS[name], SWEEPS[name].now(seen(scene), scene.trace, scene.inputs)
    row, refused = [], {}
    for place, value in enumerate(values):
        try:
            run = without_view(replace(scene.setup, **change_to(scene, name, value)))
            drawn, figure = cached_frame(run, without_view(scene.setup), name, scene.look, scene.times)
        except AttentionError as error:
            refused[sweep.told(value)] = say_refusal(error)
            continue
        text = f"{sweep.told(value)}\n{sweep.written(figure)}"
        title = f"{say(f'film.name.{name}')} {sweep.told(value)}"
        chosen = value == now
        row.append({"opens": place, "name": text, "title": title, "chosen": chosen, "breaks": False, "map": drawn})
    query = escape_markdown(name_token(scene.trace, "T", scene.look.query))
    figure = say(f"film.figure.{name}", query=query)
    st.markdown(say("film.how", count=len(row), head=scene.look.head + 1, figure=figure))
    show_small_maps(
        "film", FRAME_SIDE_PX, 2, row, lambda place: take_frame(scene, name, values, place), text=FRAME_TEXT_PX
    )
    if refused:
        reason = next(iter(refused.values()))
        st.caption(say("film.refused", values=say("fact.comma").join(refused), reason=reason))
    show_refusal("film")


def take_frame(scene: ScreenState, name: str, values: list[SweptValue], place: object) -> None:
    """Takes the value that a browser names, where there is one."""
    if type(place) is int and 0 <= place < len(values):
        try_made_change("film", lambda: change_to(scene, name, values[place]))


def change_to(scene: ScreenState, name: str, value: SweptValue) -> dict[str, object]:
    """What becomes of the Setup on the screen when the swept setting takes a value."""
    return make_change(SWEEPS[name], seen(scene), scene.trace, scene.inputs, value)


def seen(scene: ScreenState) -> Setup:
    """The Setup on the screen, which says what head is looked at also where nobody chose one."""
    return replace(scene.setup, head=scene.look.head)


@cache_by_setup
def cached_frame(setup: Setup, now: Setup, name: str, look: Selection, times: bool) -> tuple[SmallRaster, float]:
    """A run's map of the head that is looked at, and its figure beside the run on the screen."""
    trace = trace_for(setup)
    return small_raster(trace, "weights", look.at, times), SWEEPS[name].figure(now, trace, look)
