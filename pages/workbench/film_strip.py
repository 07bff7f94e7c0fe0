"""The film strip: one setting swept, a run for each value as a small map with its figure below; a click takes it."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.raster import Small, small
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import show_refusal, try_made
from pages.panels.thumbnails import show_row
from pages.runs.cache import kept, trace_of
from pages.session.fragments import part
from pages.session.labels import Look, token
from pages.session.view import Scene
from pages.setup.setup import MOST_PAIRS, Setup, computed_part
from pages.site.words import literal, say, sentence
from pages.workbench.sweeps import MOST, SWEEPS, Value, make_change, swept

DRAWER = "film_drawer"
SIDE, TEXT = 76, 16  # pixels: nine maps stand in a line, and their figures can be read from afar


def shows(scene: Scene) -> tuple[object, ...]:
    """The run, what is looked at and what is swept; nothing while the drawer is closed."""
    session = st.session_state
    if not session.get(DRAWER):
        return ()
    return (computed_part(scene.setup), scene.look, scene.times, session.get("c_swept"))


@part(shows)
def film_strip(scene: Scene) -> None:
    """A drawer, which runs nothing while it is closed."""
    drawer = st.expander(say("film.title"), icon=":material/theaters:", key=DRAWER, on_change="rerun")
    if drawer.open:
        with drawer:
            show_film(scene)


def show_film(scene: Scene) -> None:
    """Which setting, its runs in a row, and what stands under each."""
    setup, trace = seen(scene), scene.trace
    most = min(MOST, MOST_PAIRS // trace["weights"].numel())
    if most < 2:
        st.caption(say("film.large", limit=MOST_PAIRS))
        return
    films = {name: swept(sweep, setup, trace, scene.material, most) for name, sweep in SWEEPS.items()}
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


def show_frames(scene: Scene, name: str, values: list[Value]) -> None:
    """A run for each value that can be computed; which cannot, and why the first of them."""
    sweep, now = SWEEPS[name], SWEEPS[name].now(seen(scene), scene.trace, scene.material)
    row, refused = [], {}
    for place, value in enumerate(values):
        try:
            run = computed_part(replace(scene.setup, **change_to(scene, name, value)))
            drawn, figure = frame(run, computed_part(scene.setup), name, scene.look, scene.times)
        except AttentionError as error:
            refused[sweep.told(value)] = sentence(error)
            continue
        text = f"{sweep.told(value)}\n{sweep.written(figure)}"
        title = f"{say(f'film.name.{name}')} {sweep.told(value)}"
        chosen = value == now
        row.append({"opens": place, "name": text, "title": title, "chosen": chosen, "breaks": False, "map": drawn})
    query = literal(token(scene.trace, "T", scene.look.query))
    figure = say(f"film.figure.{name}", query=query)
    st.markdown(say("film.how", count=len(row), head=scene.look.head + 1, figure=figure))
    show_row("film", SIDE, 2, row, lambda place: take(scene, name, values, place), text=TEXT)
    if refused:
        reason = next(iter(refused.values()))
        st.caption(say("film.refused", values=say("fact.comma").join(refused), reason=reason))
    show_refusal("film")


def take(scene: Scene, name: str, values: list[Value], place: object) -> None:
    """Takes the value that a browser names, where there is one."""
    if type(place) is int and 0 <= place < len(values):
        try_made("film", lambda: change_to(scene, name, values[place]))


def change_to(scene: Scene, name: str, value: Value) -> dict[str, object]:
    """What becomes of the Setup on the screen when the swept setting takes a value."""
    return make_change(SWEEPS[name], seen(scene), scene.trace, scene.material, value)


def seen(scene: Scene) -> Setup:
    """The Setup on the screen, which says what head is looked at also where nobody chose one."""
    return replace(scene.setup, head=scene.look.head)


@kept
def frame(setup: Setup, now: Setup, name: str, look: Look, times: bool) -> tuple[Small, float]:
    """A run's map of the head that is looked at, and its figure beside the run on the screen."""
    trace = trace_of(setup)
    return small(trace, "weights", look.at, times), SWEEPS[name].figure(now, trace, look)
