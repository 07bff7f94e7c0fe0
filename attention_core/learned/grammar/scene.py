"""A scene: who does what, drawn once, and said in English and in Chinese."""

from dataclasses import dataclass
from typing import NamedTuple

from attention_core.learned.grammar.concepts import Noun, Quality
from attention_core.learned.grammar.moods import FIRST, PLURAL, SINGULAR, Mood
from attention_core.learned.grammar.templates import Step


class Thing:
    """A person, an animal or a thing of a scene. Two things are the same where they are the same object."""

    __slots__ = ("agreement", "gender", "many", "noun", "speaker", "surname")

    def __init__(self, noun: Noun, gender: str, many: bool = False, surname: Noun | None = None, speaker: str = ""):
        self.noun, self.gender, self.many, self.surname = noun, gender, many, surname
        self.speaker = speaker  # "i", "we" or "you", who are said by no noun
        singular = FIRST if speaker == "i" else SINGULAR
        self.agreement = PLURAL if many else singular


@dataclass(frozen=True, eq=False, slots=True)
class Determiner:
    """What stands before a noun in both languages; M is the measure word.

    is_total: 都 stands before the verb. is_owner: it says whose.
    """

    english: tuple[str, ...]
    chinese: tuple[str, ...]
    is_total: bool = False
    is_owner: bool = False


class Mention(NamedTuple):
    """A thing said by its noun. owner: whose it is, said by a pronoun."""

    thing: Thing
    determiner: Determiner
    quality: Quality | None = None
    relative: "Relative | None" = None
    owner: Thing | None = None


class Pronoun(NamedTuple):
    """A thing said by its pronoun."""

    thing: Thing


class Degree(NamedTuple):
    """How much: the English word before, the Chinese words before and behind."""

    english: tuple[str, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...] = ()


class Said(NamedTuple):
    """A quality as a predicate says it."""

    quality: Quality
    degree: Degree


@dataclass(frozen=True, eq=False, slots=True)
class Event:
    """What may happen or be: a template in both languages.

    is_state: it says how something is, not what is done. denial: how Chinese denies it, where that is more than a word.
    """

    english: tuple[Step, ...]
    chinese: tuple[Step, ...]
    is_state: bool
    denial: tuple[Step, ...] = ()


class Phrase(NamedTuple):
    """Words that stand for themselves in both languages: a time, a conjunction, the end of a sentence."""

    english: tuple[str, ...]
    chinese: tuple[str, ...]


class Place(NamedTuple):
    """Where something is: "under" the table, 在 桌子 下面."""

    relation: Phrase
    mention: Mention


class Clause(NamedTuple):
    """An event with its parts. gap: the part that is not said, because the noun outside is it.

    asks: the part that is asked for; "?" asks whether.
    """

    event: Event
    parts: dict
    mood: Mood
    time: Phrase | None = None
    place: Place | None = None
    gap: str = ""
    asks: str = ""


class Relative(NamedTuple):
    """A clause that says which one is meant: "that saw the cat", 看见 猫 的."""

    pronoun: str
    clause: Clause


class Telling(NamedTuple):
    """What a scene tells: its parts in the order of each language. frame: the frame that it was made from, or ""."""

    frame: str
    english: tuple
    chinese: tuple


def tell(*parts: object, frame: str = "") -> Telling:
    """Tell the same parts in the same order in both languages."""
    return Telling(frame, parts, parts)
