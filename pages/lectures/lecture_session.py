"""The lecture state of a session: the open lecture, the current scene and step, and the moves between steps.

While a lecture is shown, the session's Setup (state of the workbench) starts as that of the current scene. Controls
change the Setup, never the lecture.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.classroom.rooms import Key
from pages.lectures.scene_kinds import SceneContent, steps_of
from pages.lectures.script import (
    QUESTION_STEP,
    SCENE_TEXT_LIMITS,
    SHIPPED_LECTURES,
    Lecture,
    Scene,
    lecture_from_file,
    lecture_from_link,
    lecture_to_file,
    lecture_to_link,
    load_shipped_lecture,
)
from pages.runs.cache import check_computable, trace_for
from pages.session import linked_setup, setup_history, setup_state
from pages.session.answers import REVEAL_KEY, are_answers_revealed
from pages.session.linked_state import LinkedState, has_arrived, read_address, show_link
from pages.setup.codec import link_key_of
from pages.setup.setup import Setup
from pages.site.words import current_language, say

OWN_LECTURE = "own"  # name of the visitor's lecture, as opposed to those supplied with the app
LECTURE_LINK_KEYS = ("lecture", "scene", "step", OWN_LECTURE, "view", "pair")
LECTURE_CONTROL = "lecture"  # name under which the error of opening or changing a lecture is stored
NOTES_VIEW = "notes"  # name of the presenter view among the views of a lecture
MAX_LINKED_LECTURE_CHARS = 5_000  # a longer lecture is left out of links, because some programs cut long addresses off
WAYS = ("next", "previous", "next_scene", "previous_scene", "first", "last")  # the ways to move to another step
MAX_DIGESTS = 100  # number of stored hashes; a message from the browser that refers to an older text is not recognised
PAIR_PATTERN = re.compile("[0-9a-f]{8}")


@dataclass(frozen=True)
class Removal:
    """The removal of a scene (slide) from the visitor's own lecture.

    before: the lecture with the scene. after: the lecture without the scene. at: the scene's index in `before`.
    """

    before: Lecture
    after: Lecture
    at: int


@dataclass
class BrowserCopy:
    """What the session knows about the lectures in the browser's storage.

    lectures: the visitor's own lecture and the replaced one, to which the last digest belongs. digests: the hashes of
    all texts that were sent to the browser or received from it, the latest last; "" stands for an empty storage.
    is_heard: whether the browser has already sent what it had stored before this session. is_given: whether the last
    text was sent to the browser. is_unread: whether the lecture in the browser's storage cannot be parsed. is_refused:
    whether the browser, or its limit of size, refuses to store the lecture.
    """

    lectures: tuple[Lecture | None, Lecture | None] = (None, None)
    digests: list[str] = field(default_factory=lambda: [""])
    is_heard: bool = False
    is_given: bool = True
    is_unread: bool = False
    is_refused: bool = False

    def note(self, digest: str) -> None:
        """Appends the hash of the text that the browser stores now to `digests`."""
        self.digests = [*self.digests, digest][-MAX_DIGESTS:]


@dataclass
class LectureSession(LinkedState):
    """The lecture state of a session: the visitor's own lecture, the name of the open one, and the current scene.

    at: the index of the current scene. scene_step: the step of the scene that is shown, or None on the page where a
    lecture is edited. drawer: whether the controls of the workbench are shown beside the scene. view: NOTES_VIEW in the
    presenter view. pair: the name of the channel on which the presenter view receives messages from the presentation's
    window. unread: parts of the link or the scene that could not be read. unfit: parts with which no run can be
    computed. moves: how many steps were shown. from_behind: whether the last move was to an earlier step. motions:
    index of a scene -> the motions of the query's animation that the scene has shown since the lecture was started.
    begun: how often a scene was started or reset. script: the scene's Setup as the lecture has it, without the parts
    with which no run can be computed. departed: whether the visitor changed a scene without a Setup after it was
    started. screen: the state of the workbench before the lecture. added: the scene that was added last. removal: the
    last removal of a scene. put_away: the visitor's former own lecture, which another one replaced. room: the key of
    the room in which an audience follows; None if there is none. is_room_over: whether the room that the browser keeps
    has ended. shows_room: whether the stage shows the room instead of the scene.
    """

    name: str = SHIPPED_LECTURES[0]
    own: Lecture | None = None
    at: int = 0
    scene_step: str | None = None
    drawer: bool = False
    view: str | None = None
    pair: str = ""
    moves: int = 0
    from_behind: bool = False
    motions: dict[int, tuple[str, ...]] = field(default_factory=dict)
    begun: int = 0
    departed: bool = False
    added: Scene | None = None
    removal: Removal | None = None
    put_away: Lecture | None = None
    script: Setup | None = None
    screen: dict = field(default_factory=dict)
    is_chosen: bool = False
    awaited: dict[str, str] = field(default_factory=dict)
    room: Key | None = None
    is_room_over: bool = False
    shows_room: bool = False
    copy: BrowserCopy = field(default_factory=BrowserCopy)

    @property
    def refusal(self) -> AttentionError | None:
        """The error that prevented a lecture from being opened or changed; None if there is none."""
        return self.refused.get(LECTURE_CONTROL)


def get_lecture_session() -> LectureSession:
    """Returns the LectureSession of this session; the first call creates it."""
    return st.session_state.setdefault("talk", LectureSession())


def current_lecture() -> Lecture:
    """Returns the open lecture."""
    session = get_lecture_session()
    if session.name == OWN_LECTURE and session.own is not None:
        return session.own
    return load_shipped_lecture(session.name, current_language())


def current_scene() -> Scene:
    """Returns the current scene (slide) of the open lecture."""
    return current_lecture().scenes[get_lecture_session().at]


def scene_number_and_count() -> dict[str, int]:
    """Returns the number of the current scene, from 1, and the count of all scenes, as placeholder values."""
    return {"number": get_lecture_session().at + 1, "count": len(current_lecture().scenes)}


# ---- entering and leaving --------------------------------------------------------------------------------------------
def enter_lecture() -> None:
    """Prepares the lecture page: for a visitor who has just arrived, opens the overview or the scene in the link."""
    if not setup_state.has_begun():
        setup_state.begin_session()
    if not has_arrived():
        return
    own = get_lecture_session()
    own.scene_step, own.drawer, own.shows_room, own.screen, own.motions = None, False, False, {}, {}
    link = read_address()
    if link:
        read_lecture_link(link)


def read_lecture_link(link: Mapping[str, str]) -> None:
    """Opens the lecture, the scene (slide) and the step that a link names.

    Parts of the link that cannot be read are added to `unread`.
    """
    own = get_lecture_session()
    own.forget_refusals(LECTURE_CONTROL)
    default, unread = own.name, []
    if OWN_LECTURE in link:
        replaced = own.own
        try:
            own.own = lecture_from_link(link[OWN_LECTURE])
            keep_put_away(replaced)
            default = OWN_LECTURE
        except AttentionError as error:
            own.refuse(LECTURE_CONTROL, error)
    own.is_chosen, own.awaited = True, {}
    wanted = link.get("lecture", default)
    is_own = wanted == OWN_LECTURE and own.own is not None
    if is_own or wanted in SHIPPED_LECTURES:
        own.name = wanted
    elif wanted == OWN_LECTURE and own.refusal is None and not own.copy.is_heard:
        own.awaited = dict(link)  # this lecture is opened once the browser has sent the one that it stores
        return
    elif own.refusal is None:
        unread.append(("lecture", wanted[:40]))
    own.view = None
    if link.get("view") == NOTES_VIEW:
        own.view = NOTES_VIEW
    pair = link.get("pair", "")
    own.pair = pair if PAIR_PATTERN.fullmatch(pair) else ""
    own.unread = unread + go_to_linked_place(link)
    own.name_unknown_parts(link, LECTURE_LINK_KEYS)


def go_to_linked_place(link: Mapping[str, str]) -> list[tuple[str, str]]:
    """Shows the scene (slide) and the step that a lecture's link names; returns the (key, text) parts that do not
    exist.
    """
    number = link.get("scene")
    step = link.get("step")
    if number is None and step is None:
        return []
    scenes = current_lecture().scenes
    places = {}
    for place in range(len(scenes)):
        places[str(place + 1)] = place
    place = places.get(number or "1")
    if place is None:
        missing = ("scene", (number or "")[:40])
        return [missing]
    steps = scenes[place].scene_steps()
    if step in steps:
        show_scene_step(place, step)
        return []
    show_scene_step(place, steps[0])
    return [] if step is None else [("step", step[:40])]


def start_lecture(at: int = 0) -> None:
    """Starts the lecture at the first step of a scene (slide).

    at: the index of the scene.
    """
    scenes = current_lecture().scenes
    if scenes:
        get_lecture_session().motions = {}
        first, *_ = scenes[at].scene_steps(are_answers_revealed())
        show_scene_step(at, first)


def leave_lecture() -> None:
    """Returns to the overview of the lecture, and restores the Setup that the workbench had before the lecture."""
    own = get_lecture_session()
    own.scene_step, own.drawer, own.shows_room, own.motions = None, False, False, {}
    setup_history.restore_screen(own.screen)
    own.screen = {}


# ---- the own lecture -------------------------------------------------------------------------------------------------
def take_lecture(changed: Lecture, at: int | None = None) -> None:
    """Replaces the visitor's own lecture by a changed version of it, and selects a scene.

    If the changed lecture is too large for a file, stores an error instead. at: the scene's index.
    """
    own = get_lecture_session()
    try:
        lecture_from_file(lecture_to_file(changed))
    except AttentionError as error:
        own.refuse(LECTURE_CONTROL, error)
        return
    own.forget_refusals(LECTURE_CONTROL)
    own.own, own.name = changed, OWN_LECTURE
    last = max(len(changed.scenes) - 1, 0)
    own.at = min(own.at if at is None else at, last)


def replace_lecture(other: Lecture) -> None:
    """Replaces the visitor's own lecture by another one; the old one is kept, so that it can be restored."""
    session = get_lecture_session()
    replaced = session.own
    take_lecture(other, 0)
    if session.own is other:
        keep_put_away(replaced)


def keep_put_away(replaced: Lecture | None) -> None:
    """Stores a replaced lecture in `put_away`, so that it can be restored.

    If the replaced lecture has no scenes or equals the current one, the lecture that is already in `put_away` stays
    there.
    """
    session = get_lecture_session()
    has_scenes = [each for each in (replaced, session.put_away) if each is not None and each.scenes]
    session.put_away = next((each for each in has_scenes if each != session.own), None)


def bring_back_lecture() -> None:
    """Swaps the visitor's own lecture with the replaced one, if there is one in `put_away`."""
    put_away = get_lecture_session().put_away
    if put_away is not None:
        replace_lecture(put_away)


def take_new_lecture() -> None:
    """Replaces the own lecture by a new one without scenes."""
    replace_lecture(Lecture(say("present.desk.untitled")))


def make_scene(shown: SceneContent, title: str, question: str = "") -> Scene:
    """Returns a scene (slide of a lecture) with all steps of its kind; a title that is too long is cut."""
    return Scene(shown, title[: SCENE_TEXT_LIMITS["title"]], question=question, steps=steps_of(shown))


def add_scene(scene: Scene) -> None:
    """Appends a scene to the visitor's own lecture; creates this lecture if there is none."""
    session = get_lecture_session()
    lecture = session.own
    if lecture is None:
        lecture = Lecture(say("present.desk.untitled"))
    take_lecture(lecture.added(scene), at=len(lecture.scenes))
    session.added = scene


def remove_scene(at: int) -> None:
    """Removes a scene from the own lecture, and selects the scene before it."""
    session = get_lecture_session()
    before = current_lecture()
    session.removal = Removal(before, before.removed(at), at)
    take_lecture(session.removal.after, max(at - 1, 0))


def find_removal() -> Removal | None:
    """Returns the last removal of a scene if the lecture was not changed after it, else None."""
    session = get_lecture_session()
    if session.removal is not None and session.own is session.removal.after:
        return session.removal
    return None


def restore_scene() -> None:
    """Undoes the last removal of a scene, and selects the restored scene."""
    removal = find_removal()
    if removal is not None:
        take_lecture(removal.before, removal.at)


# ---- from step to step -----------------------------------------------------------------------------------------------
def show_scene_step(at: int, scene_step: str) -> None:
    """Shows a step of a scene (slide of a lecture).

    If another scene was shown before, the new one starts in its original state.
    """
    own = get_lecture_session()
    is_other_scene = own.scene_step is None or at != own.at
    own.moves += 1
    own.from_behind = False
    if own.scene_step is None:
        own.screen = setup_history.save_screen()
    own.at, own.scene_step = at, scene_step
    if is_other_scene:
        show_scripted_scene()


def show_scripted_scene() -> None:
    """Resets the current scene (slide) to its content in the lecture, as far as it can be computed."""
    own = get_lecture_session()
    scene = current_scene()
    own.begun += 1
    own.unread, own.unfit, own.script, own.departed = [*scene.unread], [], None, False
    own.missing = None
    if scene.setup is not None:
        show_scripted_setup(scene.setup)


def show_scripted_setup(scripted: Setup) -> None:
    """Sets the session's Setup to that of a scene (slide of a lecture), without the fields that cannot be computed.

    If the recorded model or the file of the scene is not there, the Setup stays, and the scene shows no numbers.
    """
    own = get_lecture_session()
    setup, refused = linked_setup.keep_computable_fields(scripted, check_computable)
    own.missing = linked_setup.find_source_error(refused)
    if own.missing is not None:
        return
    setup, missing = setup_state.drop_missing(setup, trace_for(setup))
    own.unread = [*own.unread, *missing]
    for name, error in refused.items():
        own.unfit.append((link_key_of(name), error))
    setup_history.show_temporarily(setup, own.screen)
    own.script = setup


def is_scene_changed() -> bool:
    """Returns whether the visitor has changed what the scene (slide of a lecture) shows since the scene was started."""
    own = get_lecture_session()
    if own.scene_step is None or own.script is None:
        return own.departed
    return setup_state.current_setup().run != own.script.run


def list_scene_steps() -> list[tuple[int, str]]:
    """Returns all steps of the lecture in the order in which they are shown, as (index of the scene, step)."""
    revealed = are_answers_revealed()
    steps = []
    for place, scene in enumerate(current_lecture().scenes):
        steps += [(place, step) for step in scene.scene_steps(revealed)]
    return steps


def move_in_lecture(way: str) -> None:
    """Shows another step of the lecture.

    way: one of WAYS; "next_scene" and "previous_scene" lead to the first step of a scene.
    """
    own = get_lecture_session()
    steps = list_scene_steps()
    here = steps.index((own.at, own.scene_step))
    last = len(steps) - 1
    firsts = {place: number for number, (place, _) in reversed([*enumerate(steps)])}
    targets = {
        "next": min(here + 1, last),
        "previous": max(here - 1, 0),
        "next_scene": firsts.get(own.at + 1, here),
        "previous_scene": firsts.get(own.at - 1, 0),
        "first": 0,
        "last": last,
    }
    place, step = steps[targets[way]]
    show_scene_step(place, step)
    own.from_behind = way in ("previous", "last")


def known_motions() -> tuple[str, ...]:
    """Returns the distinct motions (stages of the query's animation) that earlier scenes have shown."""
    own = get_lecture_session()
    before = [motions for at, motions in sorted(own.motions.items()) if at < own.at]
    return tuple(dict.fromkeys(motion for motions in before for motion in motions))


def toggle_answers() -> None:
    """Reveals all answers, or hides them again; if a question is shown, first moves to the next step."""
    if get_lecture_session().scene_step == QUESTION_STEP:
        move_in_lecture("next")
    st.session_state[REVEAL_KEY] = not are_answers_revealed()


# ---- the link --------------------------------------------------------------------------------------------------------
def lecture_link_values() -> dict[str, str]:
    """Returns the query parameters of the lecture, the scene and the step.

    The visitor's own lecture is left out if it is too large for a link.
    """
    own, values = get_lecture_session(), {}
    if own.name != OWN_LECTURE:
        values["lecture"] = own.name
    elif fits_in_link():
        values[OWN_LECTURE] = lecture_to_link(current_lecture())
    if own.scene_step is not None:
        values["scene"] = str(own.at + 1)
        values["step"] = own.scene_step
    return values


def link_to_start() -> dict[str, str]:
    """Returns the query parameters that start the open lecture at its first scene; without scenes, its overview.

    The visitor's own lecture is only named, because the session stores it.
    """
    first = {"scene": "1"} if current_lecture().scenes else {}
    return {"lecture": get_lecture_session().name} | first


def fits_in_link() -> bool:
    """Returns whether a link can contain the lecture: only a short lecture without uploaded pictures."""
    if get_lecture_session().name != OWN_LECTURE:
        return True
    if current_lecture().pictures():
        return False
    letters = lecture_to_link(current_lecture())
    return len(letters) <= MAX_LINKED_LECTURE_CHARS


def lecture_query() -> str:
    """Returns the values of lecture_link_values as a URL query string, including the language."""
    return urlencode(lecture_link_values() | {"lang": current_language()})


def write_lecture_link() -> None:
    """Writes the lecture, the scene and the step to the address bar."""
    own, link = get_lecture_session(), lecture_link_values()
    if own.view == NOTES_VIEW:
        link["view"] = NOTES_VIEW
        if own.pair:
            link["pair"] = own.pair
    show_link(link)
