"""The lecture of a session: which one, where one is in it, and the way from beat to beat.

While it is shown, the session's one Setup is that of its scene: controls change it, and the lecture never.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.lectures.script import QUESTION, SHIPPED, Act, Lecture, from_file, packed, shipped, to_file, unpacked
from pages.runs.cache import trace_of
from pages.session import setup_state
from pages.session.reveal import REVEAL, revealed
from pages.setup.setup import BESIDES, MOST_NAMED, Setup, computed_part, key_of
from pages.site.words import language, say

OWN = "own"  # the name of a lecture that was built or opened here
KEYS = ("lecture", "scene", "step", OWN, "view", "pair")
NOTES = "notes"  # the presenter view
IN_A_LINK = 5_000  # letters of a lecture: with the rest of the address no program cuts it
PAIR = re.compile("[0-9a-f]{8}")


@dataclass
class Talk:
    """What a session keeps of lectures: its own one; which is open, and where one is in it.

    beat: what is seen of the scene, or None at the desk, where a lecture is built. drawer: whether the controls stand
    beside it. pair: by what name the presenter view hears of the presentation in another window. unread, unfit: what of
    a link, or of the scene that is shown, could not be read or computed. script: the scene's Setup, as far as it can be
    computed; screen: what the workbench showed before.
    """

    name: str = SHIPPED[0]
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


def talk() -> Talk:
    """What the session keeps."""
    return st.session_state.setdefault("talk", Talk())


def lecture() -> Lecture:
    """The lecture that is open."""
    own = talk()
    return own.own if own.name == OWN and own.own is not None else shipped(own.name, language())


def act() -> Act:
    """The scene that one is at."""
    return lecture().acts[talk().at]


def numbered() -> dict[str, int]:
    """Which scene it is, of how many."""
    return {"number": talk().at + 1, "count": len(lecture().acts)}


# ---- into it and out of it -------------------------------------------------------------------------------------------
def enter() -> None:
    """Makes the page ready. Who comes from elsewhere finds the desk, or what a link says."""
    if "setup" not in st.session_state:
        setup_state.begin()
    link = {name: text for name, text in st.query_params.to_dict().items() if name not in BESIDES}
    if st.session_state["arrived"]:
        talk().beat, talk().drawer, talk().screen = None, False, {}
        if link:
            read(link)


def read(link: Mapping[str, str]) -> None:
    """Goes where a link leads; what of it cannot be read is named."""
    own = talk()
    own.refused, own.view, unread = None, None, []
    if OWN in link:
        try:
            own.own = unpacked(link[OWN])
        except AttentionError as error:
            own.refused = error
    wanted = link.get("lecture", OWN if OWN in link and own.refused is None else own.name)
    if wanted in SHIPPED or (wanted == OWN and own.own is not None):
        own.name = wanted
    elif own.refused is None:
        unread.append(("lecture", wanted[:40]))
    own.view = NOTES if link.get("view") == NOTES else None
    own.pair = link["pair"] if PAIR.fullmatch(link.get("pair", "")) else ""
    own.unread = unread + read_place(link)
    unknown = [(key[:40], text[:40]) for key, text in link.items() if key not in KEYS and not key.startswith("utm_")]
    own.unread += unknown[:MOST_NAMED]


def read_place(link: Mapping[str, str]) -> list[tuple[str, str]]:
    """Goes to the scene and the step of a link; gives what of these there is not."""
    scene, step = link.get("scene"), link.get("step")
    numbers = {str(at + 1): at for at in range(len(lecture().acts))}
    if scene is None and step is None:
        return []
    if (scene or "1") not in numbers:
        return [("scene", (scene or "")[:40])]
    at = numbers[scene or "1"]
    beats = lecture().acts[at].beats()
    put(at, step if step in beats else beats[0])
    return [] if step is None or step in beats else [("step", step[:40])]


def start(at: int = 0) -> None:
    """Shows the lecture from a scene on."""
    if lecture().acts:
        put(at, lecture().acts[at].beats(revealed())[0])


def leave() -> None:
    """Back to the desk; the workbench shows what it showed before."""
    own = talk()
    own.beat, own.drawer = None, False
    setup_state.restore(own.screen)
    own.screen = {}


def begin_notes() -> None:
    """The presenter view has a place of its own, where nobody tells it another one."""
    if talk().beat is None:
        start()


# ---- one's own -------------------------------------------------------------------------------------------------------
def take(changed: Lecture, at: int | None = None) -> None:
    """Makes a lecture one's own as far as a file can say it, and works on a scene of it; else keeps the refusal."""
    own = talk()
    try:
        from_file(to_file(changed))
    except AttentionError as error:
        own.refused = error
        return
    own.own, own.name, own.refused = changed, OWN, None
    own.at = min(own.at if at is None else at, max(len(own.own.acts) - 1, 0))


def take_new() -> None:
    """Begins a lecture without scenes."""
    take(Lecture(say("present.desk.untitled")), 0)


def add(setup: Setup) -> None:
    """Makes what the workbench shows a scene at the end of one's own lecture."""
    before = talk().own or Lecture(say("present.desk.untitled"))
    take(before.added(Act(setup, say(f"example.{setup.example}"))), len(before.acts))


# ---- from beat to beat -----------------------------------------------------------------------------------------------
def put(at: int, beat: str) -> None:
    """Shows a beat of a scene; of another scene, as the script has it."""
    own = talk()
    comes = own.beat is None or at != own.at
    if own.beat is None:
        own.screen = setup_state.screen()
    own.at, own.beat = at, beat
    if comes:
        follow_script()


def follow_script() -> None:
    """Shows the scene as the lecture has it, as far as it can be computed."""
    own = talk()
    setup, own.unfit = setup_state.as_far_as_it_computes(act().setup, trace_of)
    setup, missing = setup_state.what_is_there(setup, trace_of(setup))
    own.unread = [*act().unread, *missing]
    own.unfit = {key_of(name): error for name, error in own.unfit.items()}
    setup_state.stage(setup, own.screen)
    own.script = setup


def departed() -> bool:
    """Whether somebody changed the scene since it began."""
    return talk().beat is not None and computed_part(setup_state.current()) != computed_part(talk().script)


def places() -> list[tuple[int, str]]:
    """All beats of the lecture in order, (scene, beat) each."""
    return [(at, beat) for at, act in enumerate(lecture().acts) for beat in act.beats(revealed())]


def go(way: str) -> None:
    """next, previous, first, last."""
    own, there = talk(), places()
    here = there.index((own.at, own.beat))
    put(*there[{"next": min(here + 1, len(there) - 1), "previous": max(here - 1, 0), "first": 0, "last": -1}[way]])


def reveal() -> None:
    """Uncovers every answer, or asks again."""
    if talk().beat == QUESTION:
        go("next")
    st.session_state[REVEAL] = not revealed()


# ---- the link --------------------------------------------------------------------------------------------------------
def link() -> dict[str, str]:
    """What the address says: the lecture, as far as there is room for one's own, and where one is in it."""
    own = talk()
    said = {"lecture": own.name}
    if own.name == OWN:
        said = {OWN: packed(lecture())} if fits() else {}
    if own.beat is not None:
        said |= {"scene": str(own.at + 1), "step": own.beat}
    return said


def fits() -> bool:
    """Whether the lecture has room in a link."""
    return talk().name != OWN or len(packed(lecture())) <= IN_A_LINK


def address() -> str:
    """The same as a query, for the presenter view."""
    return urlencode(link() | {"lang": language()})


def show_link() -> None:
    """Writes it into the address bar, where it is not there yet."""
    said = link() | ({"lang": st.session_state["lang"]} if "lang" in st.session_state else {})
    if talk().view == NOTES:
        said |= {"view": NOTES} | ({"pair": talk().pair} if talk().pair else {})
    if st.query_params.to_dict() != said:
        st.query_params.from_dict(said)
