"""The frames of the data files: what may happen to whom, and the reasons that are true of one of the two only."""

from functools import cache
from typing import NamedTuple

from attention_core.learned.grammar.concepts import Noun, Quality, find_nouns, load_qualities, read_data
from attention_core.learned.grammar.moods import MOODS, Mood
from attention_core.learned.grammar.scene import Event
from attention_core.learned.grammar.templates import VERB, read_chinese, read_english

MOOD_GROUPS = {  # how often each mood is drawn
    "not": {"did not": 4, "could not": 3, "does not": 1, "can not": 1, "will not": 1, "did not want": 1},
    "fails": {"did not": 2, "could not": 3, "can not": 2, "does not": 1},
    "do": {"past": 6, "present": 2, "is doing": 1, "has done": 1},
    "state": {"past": 3, "present": 3},
}


class Frame(NamedTuple):
    """What may happen between two things, and why. x, y: the nouns that may take part.

    x_reasons, y_reasons: what is true of the one alone: qualities, or events of their own.
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
    """Give the moods of a group, each as often as it is to be drawn."""
    return tuple(MOODS[mood] for mood, weight in MOOD_GROUPS[name].items() for _ in range(weight))


def read_event(english: str, chinese: str, denial: str = "") -> Event:
    """Read a pair of templates."""
    chinese_steps = read_chinese(chinese)
    verbs = [payload for code, payload in chinese_steps if code == VERB]
    is_state = not any(may_be_done for _, may_be_done in verbs)
    denial_steps = read_chinese(denial) if denial else ()
    return Event(read_english(english), chinese_steps, is_state, denial_steps)


@cache
def load_events() -> dict[str, Event]:
    """Load the events apart from the frames, by their name."""
    events = read_data("events").items()
    return {name: read_event(entry["en"], entry["zh"], entry.get("zh_not", "")) for name, entry in events}


@cache
def load_reasons() -> dict[str, Quality | Event]:
    """Load everything that may be a reason: qualities, and the phrases of reasons.toml."""
    phrases = {name: read_event(entry["en"], entry["zh"]) for name, entry in read_data("reasons").items()}
    return {**load_qualities(), **phrases}


def read_frame(name: str, entry: dict) -> Frame:
    """Read an entry of frames.toml."""
    reasons = load_reasons()
    return Frame(
        name,
        read_event(entry["en"], entry["zh"], entry.get("zh_not", "")),
        find_nouns(entry["x"]),
        find_nouns(entry["y"]),
        mood_group(entry["mood"]),
        tuple(reasons[word] for word in entry["x_is"].split()),
        tuple(reasons[word] for word in entry["y_is"].split()),
        entry.get("held_out", False),
    )


@cache
def load_frames() -> dict[str, Frame]:
    """Load all frames by their name."""
    return {name: read_frame(name, entry) for name, entry in read_data("frames").items()}


@cache
def frames_of(part: str) -> tuple[Frame, ...]:
    """Give the frames of a part: "frames" are those that are held out, every other part has the others."""
    return tuple(frame for frame in load_frames().values() if frame.held_out == (part == "frames"))
