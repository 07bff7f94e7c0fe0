"""Reads the events of the data files: frames (an event of two nouns, with reasons for it) and deeds (an event with its
possible nouns).

Each reason of a frame is true of only one of the frame's two nouns.
"""

from dataclasses import dataclass
from functools import cache

from attention_core.learned.grammar.concepts import DATA_FOLDER, Noun, Quality, find_nouns, load_qualities, read_data
from attention_core.learned.grammar.moods import MOODS, Mood
from attention_core.learned.grammar.scene import Event
from attention_core.learned.grammar.templates import VERB, read_chinese, read_english

# ---- frames ----------------------------------------------------------------------------------------------------------
MOOD_GROUPS = {  # group of moods -> {mood: its sampling weight}
    "not": {"did not": 4, "could not": 3, "does not": 1, "can not": 1, "will not": 1, "did not want": 1},
    "fails": {"did not": 2, "could not": 3, "can not": 2, "does not": 1},
    "did": {"past": 7, "has done": 1},
    "not-things": {"did not": 4, "could not": 3, "can not": 1, "does not": 1},
    "do": {"past": 6, "present": 2, "is doing": 1},
    "past": {"past": 1},
    "state": {"past": 3, "present": 3},
}


@dataclass(frozen=True, eq=False, slots=True)
class Frame:
    """An event between two nouns, and reasons for the event that are true of only one of them.

    x, y: the nouns that may take part as subject and as object. x_reasons: qualities and events that are true of x but
    not of y. y_reasons: qualities and events that are true of y but not of x.
    """

    name: str
    event: Event
    x: tuple[Noun, ...]
    y: tuple[Noun, ...]
    moods: tuple[Mood, ...]
    x_reasons: tuple[Quality | Event, ...]
    y_reasons: tuple[Quality | Event, ...]
    held_out: bool


@cache
def mood_group(name: str) -> tuple[Mood, ...]:
    """Return the moods of a group as a list to sample from, each repeated according to its weight."""
    return tuple(MOODS[mood] for mood, weight in MOOD_GROUPS[name].items() for _ in range(weight))


def read_event(english: str, chinese: str, denial: str = "") -> Event:
    """Parse the English and the Chinese template of an event, and the Chinese template of its negation, if any."""
    chinese_steps = read_chinese(chinese)
    marks = [payload[1] for code, payload in chinese_steps if code == VERB]
    is_state = "=" in marks or not marks
    denial_steps = read_chinese(denial) if denial else ()
    return Event(read_english(english), chinese_steps, is_state, denial_steps)


@cache
def load_events() -> dict[str, Event]:
    """Load {name: event} of all events that are not part of frames (events with two nouns and reasons)."""
    lines = [line for section in read_data("events").values() for line in section.items()]
    return {name: read_templates(entry[0]) for name, entry in lines}


def read_templates(entry: str) -> Event:
    """Parse an event from templates separated by "|": English, Chinese, and, if given, the Chinese negation."""
    return read_event(*entry.split("|"))


@cache
def load_reasons() -> dict[str, Quality | Event]:
    """Load {name: reason} of all reasons for events: adjectives (qualities), and the phrases of reasons.toml."""
    phrases = {name: read_templates(entry) for name, entry in read_data("reasons").items()}
    return {**load_qualities(), **phrases}


def read_frame(name: str, entry: list[str]) -> Frame:
    """Parse one entry of the folder frame_data: a frame, which is an event with two nouns and the reasons for it."""
    templates, x, y, mood, *rest = entry
    x_nouns, x_reasons = read_side(x)
    y_nouns, y_reasons = read_side(y)
    return Frame(name, read_templates(templates), x_nouns, y_nouns, mood_group(mood), x_reasons, y_reasons, bool(rest))


def read_side(entry: str) -> tuple[tuple[Noun, ...], tuple[Quality | Event, ...]]:
    """Parse one side of a frame (an event of two nouns), such as "animal: hungry angry": the nouns, and reasons true
    of them."""
    nouns, _, reasons = entry.partition(":")
    known = load_reasons()
    return find_nouns(nouns), tuple(known[reason] for reason in reasons.split())


@cache
def load_frames() -> dict[str, Frame]:
    """Load {name: frame} of all frames (events with two nouns and reasons for them)."""
    files = sorted((DATA_FOLDER / "frame_data").glob("*.toml"))
    entries = [line for file in files for line in read_data(f"frame_data/{file.stem}").items()]
    return {name: read_frame(name, entry) for name, entry in entries}


@cache
def frames_of(part: str) -> tuple[Frame, ...]:
    """Return the frames (events with two nouns and reasons) for a part of the data: those held out from training if
    `part` is "frames", else all others.
    """
    return tuple(frame for frame in load_frames().values() if frame.held_out == (part == "frames"))


# ---- deeds: the events that a noun may take part in, alone or with another noun --------------------------------------
FEW = 4  # an action is typical of nouns if at most this many nouns can do it
OWN_WEIGHT = 6  # how often a noun's typical actions are repeated in the list from which actions are sampled


@dataclass(frozen=True, eq=False, slots=True)
class Deed:
    """An event together with the nouns that may be its subject and its object.

    x: the nouns that may do it. y: the nouns to which it may be done; () if x does it alone. is_planned: whether the
    deed lasts and can be wanted, so that "is doing" and "wants to" fit it.
    """

    event: Event
    x: tuple[Noun, ...]
    y: tuple[Noun, ...]
    is_planned: bool


@cache
def load_deeds() -> dict[str, Deed]:
    """Load all deeds, as {name of the event: deed}.

    A deed is an event with the nouns that may be its subject and its object.
    """
    sections = read_data("events")
    deeds = {}
    for name, (_, x, *at_once) in sections["alone"].items():
        deeds[name] = make_deed(name, x, "", bool(at_once))
    for name, (_, x, y, *at_once) in sections["together"].items():
        deeds[name] = make_deed(name, x, y, bool(at_once))
    return deeds


def make_deed(name: str, x: str, y: str, is_at_once: bool) -> Deed:
    """Return the deed of an event: the event with the nouns that may be its subject and its object.

    x, y: the nouns as in the data files, kinds, groups or single nouns separated by spaces. is_at_once: whether the
    deed happens in an instant.
    """
    event = load_events()[name]
    is_planned = not event.is_state and not is_at_once
    return Deed(event, find_nouns(x), find_nouns(y), is_planned)


@cache
def deeds_alone(noun: Noun, planned: bool = False) -> tuple[Deed, ...]:
    """Return the deeds (actions with their possible nouns) that a noun may do without an object, typical ones repeated.

    planned: whether to return only deeds that fit "is doing" and "wants to", that is, lasting actions.
    """
    mine = [deed for deed in deeds_of(noun, planned) if not deed.y]
    own = [deed for deed in mine if len(deed.x) <= FEW]
    return tuple(mine + own * OWN_WEIGHT)


@cache
def deeds_to_others(noun: Noun, planned: bool = False) -> tuple[Deed, ...]:
    """Return the deeds (actions with their possible nouns) that a noun may do to another noun.

    planned: whether to return only deeds that fit "is doing" and "wants to", that is, lasting actions.
    """
    return tuple(deed for deed in deeds_of(noun, planned) if deed.y)


def deeds_of(noun: Noun, planned: bool) -> list[Deed]:
    """Return the deeds (actions with their possible nouns) that a noun may do, with or without an object.

    planned: whether to return only deeds that fit "is doing" and "wants to", that is, lasting actions.
    """
    mine = [deed for deed in load_deeds().values() if noun in deed.x]
    return [deed for deed in mine if deed.is_planned or not planned]
