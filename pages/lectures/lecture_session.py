"""The lecture of a session: which one, where one is in it, and the way from step to step.

While it is shown, the session's one Setup is that of its scene: controls change it, and the lecture never.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import streamlit as st

from attention_core.record.errors import AttentionError
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
from pages.session.linked_state import LinkedState, has_arrived, read_address, show_link
from pages.session.reveal import REVEAL_KEY, are_answers_revealed
from pages.setup.setup import Setup, link_key_of, without_view
from pages.site.words import current_language, say

OWN_LECTURE = "own"  # the name of a lecture that was built or opened here
LECTURE_LINK_KEYS = ("lecture", "scene", "step", OWN_LECTURE, "view", "pair")
LECTURE_CONTROL = "lecture"  # opening and changing a lecture, as a place of refusals
NOTES_VIEW = "notes"  # the presenter view
MAX_LINKED_LECTURE_CHARS = 5_000  # letters of a lecture: with the rest of the address no program cuts it
WAYS = ("next", "previous", "next_scene", "previous_scene", "first", "last")  # to another step
PAIR_PATTERN = re.compile("[0-9a-f]{8}")


@dataclass(frozen=True)
class Removal:
    """A scene was removed from one's own lecture. before, after: the lecture with it and without it. at: its place."""

    before: Lecture
    after: Lecture
    at: int


@dataclass
class LectureSession(LinkedState):
    """What a session keeps of lectures: its own one; which is open, and where one is in it.

    scene_step: what is seen of the scene, or None at the desk, where a lecture is built. drawer: whether the controls
    stand beside it. pair: by what name the presenter view hears of the presentation in another window. unread, unfit:
    what of a link, or of the scene that is shown, could not be read or computed. moves: how often another step was
    shown; from_behind: whether the last of these led back. motions: of the stops of a query's way, by the place of each
    scene that has shown it since the show began. begun: how often a scene was shown as the lecture has it.
    script: the scene's Setup, as far as it can be computed; departed: whether what else it shows was changed since;
    screen: what the workbench showed before. added: the scene that was added last. removal: of the scene that was
    removed last. put_away: one's own lecture that another one replaced.
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

    @property
    def refusal(self) -> AttentionError | None:
        """Why a lecture could not be opened, or changed."""
        return self.refused.get(LECTURE_CONTROL)


def get_lecture_session() -> LectureSession:
    """What the session keeps."""
    return st.session_state.setdefault("talk", LectureSession())


def current_lecture() -> Lecture:
    """The lecture that is open."""
    session = get_lecture_session()
    if session.name == OWN_LECTURE and session.own is not None:
        return session.own
    return load_shipped_lecture(session.name, current_language())


def current_scene() -> Scene:
    """The scene that one is at."""
    return current_lecture().scenes[get_lecture_session().at]


def scene_number_and_count() -> dict[str, int]:
    """Which scene it is, of how many."""
    return {"number": get_lecture_session().at + 1, "count": len(current_lecture().scenes)}


# ---- into it and out of it -------------------------------------------------------------------------------------------
def enter_lecture() -> None:
    """Makes the page ready. Who comes from elsewhere finds the desk, or what a link says."""
    if not setup_state.has_begun():
        setup_state.begin_session()
    if not has_arrived():
        return
    own = get_lecture_session()
    own.scene_step, own.drawer, own.screen, own.motions = None, False, {}, {}
    link = read_address()
    if link:
        read_lecture_link(link)


def read_lecture_link(link: Mapping[str, str]) -> None:
    """Goes where a link leads; what of it cannot be read is named."""
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
    wanted = link.get("lecture", default)
    is_own = wanted == OWN_LECTURE and own.own is not None
    if is_own or wanted in SHIPPED_LECTURES:
        own.name = wanted
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
    """Goes to the scene and the step of a link; gives what of these there is not."""
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
    """Shows the lecture from a scene on."""
    scenes = current_lecture().scenes
    if scenes:
        get_lecture_session().motions = {}
        first, *_ = scenes[at].scene_steps(are_answers_revealed())
        show_scene_step(at, first)


def leave_lecture() -> None:
    """Back to the desk; the workbench shows what it showed before."""
    own = get_lecture_session()
    own.scene_step, own.drawer, own.motions = None, False, {}
    setup_history.restore_screen(own.screen)
    own.screen = {}


def start_notes_view() -> None:
    """The presenter view has a place of its own, where nobody tells it another one."""
    if get_lecture_session().scene_step is None:
        start_lecture()


# ---- one's own -------------------------------------------------------------------------------------------------------
def take_lecture(changed: Lecture, at: int | None = None) -> None:
    """Makes a lecture one's own as far as a file can say it, and works on a scene of it; else keeps the refusal."""
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
    """Makes another lecture one's own; the one that it replaces is put away."""
    session = get_lecture_session()
    replaced = session.own
    take_lecture(other, 0)
    if session.own is other:
        keep_put_away(replaced)


def keep_put_away(replaced: Lecture | None) -> None:
    """Keeps one lecture for a way back: the last one that was replaced, has scenes, and is not the one there is now."""
    session = get_lecture_session()
    has_scenes = [each for each in (replaced, session.put_away) if each is not None and each.scenes]
    session.put_away = next((each for each in has_scenes if each != session.own), None)


def bring_back_lecture() -> None:
    """Takes the lecture that was put away; the one there was is put away in its place."""
    put_away = get_lecture_session().put_away
    if put_away is not None:
        replace_lecture(put_away)


def take_new_lecture() -> None:
    """Begins a lecture without scenes."""
    replace_lecture(Lecture(say("present.desk.untitled")))


def make_scene(shown: SceneContent, title: str, question: str = "") -> Scene:
    """A scene with all steps of its kind."""
    return Scene(shown, title[: SCENE_TEXT_LIMITS["title"]], question=question, steps=steps_of(shown))


def add_scene(scene: Scene) -> None:
    """Puts a scene at the end of one's own lecture."""
    session = get_lecture_session()
    lecture = session.own
    if lecture is None:
        lecture = Lecture(say("present.desk.untitled"))
    take_lecture(lecture.added(scene), at=len(lecture.scenes))
    session.added = scene


def remove_scene(at: int) -> None:
    """Takes a scene out of one's own lecture, and works on the one before it."""
    session = get_lecture_session()
    before = current_lecture()
    session.removal = Removal(before, before.removed(at), at)
    take_lecture(session.removal.after, max(at - 1, 0))


def find_removal() -> Removal | None:
    """What can be undone: the last removal of a scene, as long as nothing was changed after it."""
    session = get_lecture_session()
    if session.removal is not None and session.own is session.removal.after:
        return session.removal
    return None


def restore_scene() -> None:
    """Puts the removed scene back in its place, and works on it."""
    removal = find_removal()
    if removal is not None:
        take_lecture(removal.before, removal.at)


# ---- from step to step -----------------------------------------------------------------------------------------------
def show_scene_step(at: int, scene_step: str) -> None:
    """Shows a step of a scene; another scene as the script has it."""
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
    """Shows the scene as the lecture has it, as far as it can be computed."""
    own = get_lecture_session()
    scene = current_scene()
    own.begun += 1
    own.unread, own.unfit, own.script, own.departed = [*scene.unread], [], None, False
    if scene.setup is not None:
        show_scripted_setup(scene.setup)


def show_scripted_setup(scripted: Setup) -> None:
    """Shows the state of the workbench of a scene."""
    own = get_lecture_session()
    setup, refused = linked_setup.keep_computable_fields(scripted, check_computable)
    setup, missing = setup_state.drop_missing(setup, trace_for(setup))
    own.unread = [*own.unread, *missing]
    for name, error in refused.items():
        own.unfit.append((link_key_of(name), error))
    setup_history.show_temporarily(setup, own.screen)
    own.script = setup


def is_scene_changed() -> bool:
    """Whether somebody changed the scene since it began."""
    own = get_lecture_session()
    if own.scene_step is None or own.script is None:
        return own.departed
    return without_view(setup_state.current_setup()) != without_view(own.script)


def list_scene_steps() -> list[tuple[int, str]]:
    """All steps of the lecture in order, (scene, step) each."""
    revealed = are_answers_revealed()
    steps = []
    for place, scene in enumerate(current_lecture().scenes):
        steps += [(place, step) for step in scene.scene_steps(revealed)]
    return steps


def move_in_lecture(way: str) -> None:
    """Shows another step. way: one of WAYS; of another scene than the one that is shown its first step."""
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
    """The motions of a query's way that scenes before this one have shown."""
    own = get_lecture_session()
    before = [motions for at, motions in sorted(own.motions.items()) if at < own.at]
    return tuple(dict.fromkeys(motion for motions in before for motion in motions))


def toggle_answers() -> None:
    """Uncovers every answer, or asks again."""
    if get_lecture_session().scene_step == QUESTION_STEP:
        move_in_lecture("next")
    st.session_state[REVEAL_KEY] = not are_answers_revealed()


# ---- the link --------------------------------------------------------------------------------------------------------
def lecture_link_values() -> dict[str, str]:
    """What the address says: the lecture, as far as there is room for one's own, and where one is in it."""
    own, values = get_lecture_session(), {}
    if own.name != OWN_LECTURE:
        values["lecture"] = own.name
    elif fits_in_link():
        values[OWN_LECTURE] = lecture_to_link(current_lecture())
    if own.scene_step is not None:
        values["scene"] = str(own.at + 1)
        values["step"] = own.scene_step
    return values


def fits_in_link() -> bool:
    """Whether the lecture has room in a link: pictures of one's own have none."""
    if get_lecture_session().name != OWN_LECTURE:
        return True
    if current_lecture().pictures():
        return False
    letters = lecture_to_link(current_lecture())
    return len(letters) <= MAX_LINKED_LECTURE_CHARS


def lecture_query() -> str:
    """The same as a query, for the presenter view."""
    return urlencode(lecture_link_values() | {"lang": current_language()})


def write_lecture_link() -> None:
    """Shows in the address bar which lecture it is, and where one is in it."""
    own, link = get_lecture_session(), lecture_link_values()
    if own.view == NOTES_VIEW:
        link["view"] = NOTES_VIEW
        if own.pair:
            link["pair"] = own.pair
    show_link(link)
