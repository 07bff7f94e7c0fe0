"""The lecture of a session: which one, where one is in it, and the way from beat to beat.

While it is shown, the session's one Setup is that of its scene: controls change it, and the lecture never.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.lectures.script import (
    QUESTION_STEP,
    SHIPPED_LECTURES,
    Lecture,
    Scene,
    lecture_from_file,
    lecture_from_link,
    lecture_to_file,
    lecture_to_link,
    load_shipped_lecture,
)
from pages.runs.cache import check_run, trace_for
from pages.session import setup_state
from pages.session.reveal import REVEAL_KEY, are_answers_revealed
from pages.setup.setup import MAX_UNKNOWN_KEYS_NAMED, OTHER_LINK_KEYS, Setup, link_key_of, without_view
from pages.site.words import current_language, say

OWN_LECTURE = "own"  # the name of a lecture that was built or opened here
LECTURE_LINK_KEYS = ("lecture", "scene", "step", OWN_LECTURE, "view", "pair")
NOTES_VIEW = "notes"  # the presenter view
MAX_LINKED_LECTURE_CHARS = 5_000  # letters of a lecture: with the rest of the address no program cuts it
PAIR_PATTERN = re.compile("[0-9a-f]{8}")


@dataclass
class LectureSession:
    """What a session keeps of lectures: its own one; which is open, and where one is in it.

    beat: what is seen of the scene, or None at the desk, where a lecture is built. drawer: whether the controls stand
    beside it. pair: by what name the presenter view hears of the presentation in another window. unread, unfit: what of
    a link, or of the scene that is shown, could not be read or computed. script: the scene's Setup, as far as it can be
    computed; screen: what the workbench showed before.
    """

    name: str = SHIPPED_LECTURES[0]
    own: Lecture | None = None
    at: int = 0
    beat: str | None = None
    drawer: bool = False
    view: str | None = None
    pair: str = ""
    unread: list[tuple[str, str]] = field(default_factory=list)
    unfit: dict[str, AttentionError] = field(default_factory=dict)
    refused: AttentionError | None = None
    script: Setup | None = None
    screen: dict = field(default_factory=dict)


def get_lecture_session() -> LectureSession:
    """What the session keeps."""
    return st.session_state.setdefault("talk", LectureSession())


def current_lecture() -> Lecture:
    """The lecture that is open."""
    own = get_lecture_session()
    return (
        own.own
        if own.name == OWN_LECTURE and own.own is not None
        else load_shipped_lecture(own.name, current_language())
    )


def current_scene() -> Scene:
    """The scene that one is at."""
    return current_lecture().scenes[get_lecture_session().at]


def scene_number_and_count() -> dict[str, int]:
    """Which scene it is, of how many."""
    return {"number": get_lecture_session().at + 1, "count": len(current_lecture().scenes)}


# ---- into it and out of it -------------------------------------------------------------------------------------------
def enter_lecture() -> None:
    """Makes the page ready. Who comes from elsewhere finds the desk, or what a link says."""
    if "setup" not in st.session_state:
        setup_state.begin_session()
    link = {name: text for name, text in st.query_params.to_dict().items() if name not in OTHER_LINK_KEYS}
    if st.session_state["arrived"]:
        get_lecture_session().beat, get_lecture_session().drawer, get_lecture_session().screen = None, False, {}
        if link:
            read_lecture_link(link)


def read_lecture_link(link: Mapping[str, str]) -> None:
    """Goes where a link leads; what of it cannot be read is named."""
    own = get_lecture_session()
    own.refused, own.view, unread = None, None, []
    if OWN_LECTURE in link:
        try:
            own.own = lecture_from_link(link[OWN_LECTURE])
        except AttentionError as error:
            own.refused = error
    wanted = link.get("lecture", OWN_LECTURE if OWN_LECTURE in link and own.refused is None else own.name)
    if wanted in SHIPPED_LECTURES or (wanted == OWN_LECTURE and own.own is not None):
        own.name = wanted
    elif own.refused is None:
        unread.append(("lecture", wanted[:40]))
    own.view = NOTES_VIEW if link.get("view") == NOTES_VIEW else None
    own.pair = link["pair"] if PAIR_PATTERN.fullmatch(link.get("pair", "")) else ""
    own.unread = unread + go_to_linked_place(link)
    unknown = [
        (key[:40], text[:40])
        for key, text in link.items()
        if key not in LECTURE_LINK_KEYS and not key.startswith("utm_")
    ]
    own.unread += unknown[:MAX_UNKNOWN_KEYS_NAMED]


def go_to_linked_place(link: Mapping[str, str]) -> list[tuple[str, str]]:
    """Goes to the scene and the step of a link; gives what of these there is not."""
    scene, step = link.get("scene"), link.get("step")
    numbers = {str(at + 1): at for at in range(len(current_lecture().scenes))}
    if scene is None and step is None:
        return []
    if (scene or "1") not in numbers:
        return [("scene", (scene or "")[:40])]
    at = numbers[scene or "1"]
    beats = current_lecture().scenes[at].scene_steps()
    show_scene_step(at, step if step in beats else beats[0])
    return [] if step is None or step in beats else [("step", step[:40])]


def start_lecture(at: int = 0) -> None:
    """Shows the lecture from a scene on."""
    if current_lecture().scenes:
        show_scene_step(at, current_lecture().scenes[at].scene_steps(are_answers_revealed())[0])


def leave_lecture() -> None:
    """Back to the desk; the workbench shows what it showed before."""
    own = get_lecture_session()
    own.beat, own.drawer = None, False
    setup_state.restore_screen(own.screen)
    own.screen = {}


def start_notes_view() -> None:
    """The presenter view has a place of its own, where nobody tells it another one."""
    if get_lecture_session().beat is None:
        start_lecture()


# ---- one's own -------------------------------------------------------------------------------------------------------
def take_lecture(changed: Lecture, at: int | None = None) -> None:
    """Makes a lecture one's own as far as a file can say it, and works on a scene of it; else keeps the refusal."""
    own = get_lecture_session()
    try:
        lecture_from_file(lecture_to_file(changed))
    except AttentionError as error:
        own.refused = error
        return
    own.own, own.name, own.refused = changed, OWN_LECTURE, None
    own.at = min(own.at if at is None else at, max(len(own.own.scenes) - 1, 0))


def take_new_lecture() -> None:
    """Begins a lecture without scenes."""
    take_lecture(Lecture(say("present.desk.untitled")), 0)


def add_scene(setup: Setup) -> None:
    """Makes what the workbench shows a scene at the end of one's own lecture."""
    before = get_lecture_session().own or Lecture(say("present.desk.untitled"))
    take_lecture(before.added(Scene(setup, say(f"example.{setup.example}"))), len(before.scenes))


# ---- from beat to beat -----------------------------------------------------------------------------------------------
def show_scene_step(at: int, beat: str) -> None:
    """Shows a beat of a scene; of another scene, as the script has it."""
    own = get_lecture_session()
    comes = own.beat is None or at != own.at
    if own.beat is None:
        own.screen = setup_state.save_screen()
    own.at, own.beat = at, beat
    if comes:
        show_scripted_scene()


def show_scripted_scene() -> None:
    """Shows the scene as the lecture has it, as far as it can be computed."""
    own = get_lecture_session()
    setup, own.unfit = setup_state.keep_computable_fields(current_scene().setup, check_run)
    setup, missing = setup_state.drop_missing_cell(setup, trace_for(setup))
    own.unread = [*current_scene().unread, *missing]
    own.unfit = {link_key_of(name): error for name, error in own.unfit.items()}
    setup_state.show_temporarily(setup, own.screen)
    own.script = setup


def is_scene_changed() -> bool:
    """Whether somebody changed the scene since it began."""
    return get_lecture_session().beat is not None and without_view(setup_state.current_setup()) != without_view(
        get_lecture_session().script
    )


def list_scene_steps() -> list[tuple[int, str]]:
    """All beats of the lecture in order, (scene, beat) each."""
    return [
        (at, beat)
        for at, act in enumerate(current_lecture().scenes)
        for beat in act.scene_steps(are_answers_revealed())
    ]


def move_in_lecture(way: str) -> None:
    """next, previous, first, last."""
    own, there = get_lecture_session(), list_scene_steps()
    here = there.index((own.at, own.beat))
    show_scene_step(
        *there[{"next": min(here + 1, len(there) - 1), "previous": max(here - 1, 0), "first": 0, "last": -1}[way]]
    )


def toggle_answers() -> None:
    """Uncovers every answer, or asks again."""
    if get_lecture_session().beat == QUESTION_STEP:
        move_in_lecture("next")
    st.session_state[REVEAL_KEY] = not are_answers_revealed()


# ---- the link --------------------------------------------------------------------------------------------------------
def lecture_link_values() -> dict[str, str]:
    """What the address says: the lecture, as far as there is room for one's own, and where one is in it."""
    own = get_lecture_session()
    said = {"lecture": own.name}
    if own.name == OWN_LECTURE:
        said = {OWN_LECTURE: lecture_to_link(current_lecture())} if fits_in_link() else {}
    if own.beat is not None:
        said |= {"scene": str(own.at + 1), "step": own.beat}
    return said


def fits_in_link() -> bool:
    """Whether the lecture has room in a link."""
    return (
        get_lecture_session().name != OWN_LECTURE or len(lecture_to_link(current_lecture())) <= MAX_LINKED_LECTURE_CHARS
    )


def lecture_query() -> str:
    """The same as a query, for the presenter view."""
    return urlencode(lecture_link_values() | {"lang": current_language()})


def write_lecture_link() -> None:
    """Writes it into the address bar, where it is not there yet."""
    said = lecture_link_values() | ({"lang": st.session_state["lang"]} if "lang" in st.session_state else {})
    if get_lecture_session().view == NOTES_VIEW:
        said |= {"view": NOTES_VIEW} | ({"pair": get_lecture_session().pair} if get_lecture_session().pair else {})
    if st.query_params.to_dict() != said:
        st.query_params.from_dict(said)
