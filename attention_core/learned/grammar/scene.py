"""Defines the parts of a scene (who does what), from which an English and a Chinese text are written."""

from dataclasses import dataclass
from typing import NamedTuple

from attention_core.learned.grammar.concepts import Noun, Quality
from attention_core.learned.grammar.moods import FIRST, PLURAL, SINGULAR, Mood
from attention_core.learned.grammar.templates import Step


class Thing:
    """A person, an animal or a thing in a text; two are equal only if they are the same Python object."""

    __slots__ = ("agreement", "gender", "many", "noun", "speaker", "surname")

    def __init__(self, noun: Noun, gender: str, many: bool = False, surname: Noun | None = None, speaker: str = ""):
        self.noun, self.gender, self.many, self.surname = noun, gender, many, surname
        self.speaker = speaker  # "i", "we" or "you" if the thing is a speaker or listener, else ""
        singular = FIRST if speaker == "i" else SINGULAR
        self.agreement = PLURAL if many else singular


@dataclass(frozen=True, eq=False, slots=True)
class Determiner:
    """A determiner in both languages; "M" stands for the measure word of the noun.

    is_total: whether 都 is written before the verb. is_owner: whether the determiner is a possessive, such as "my".
    """

    english: tuple[str, ...]
    chinese: tuple[str, ...]
    is_total: bool = False
    is_owner: bool = False


class Mention(NamedTuple):
    """A thing named by its noun, with determiner, adjective, relative clause and owner.

    owner: the owner of the thing, written as a possessive pronoun; None for none.
    """

    thing: Thing
    determiner: Determiner
    quality: Quality | None = None
    relative: "Relative | None" = None
    owner: Thing | None = None


class Pronoun(NamedTuple):
    """A mention of a thing by a pronoun."""

    thing: Thing


class Degree(NamedTuple):
    """A degree such as "very": the English words before an adjective, the Chinese words before and after it."""

    english: tuple[str, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...] = ()


class Said(NamedTuple):
    """An adjective and its degree as the predicate of a clause: "is very tall"."""

    quality: Quality
    degree: Degree


@dataclass(frozen=True, eq=False, slots=True)
class Event:
    """An action or a state, given as a template in both languages.

    is_state: True for a state. denial: the Chinese template of its negation; () if adding 不 or 没有 suffices.
    """

    english: tuple[Step, ...]
    chinese: tuple[Step, ...]
    is_state: bool
    denial: tuple[Step, ...] = ()


class Phrase(NamedTuple):
    """A phrase with fixed words in both languages, for a time, a conjunction or the end of a sentence."""

    english: tuple[str, ...]
    chinese: tuple[str, ...]


class Place(NamedTuple):
    """A place: a relation and a thing, such as "under" and the table, 在 桌子 下面."""

    relation: Phrase
    mention: Mention


class Clause(NamedTuple):
    """A clause: an event, the things that take part in it, its mood, time and place.

    gap: the name of the part that is left out, as a relative clause leaves out the noun that it describes. asks: in a
    question, what it asks for: the name of a part, "place", "time", "why", "how", or "?" for yes or no; "" if the
    clause is no question.
    """

    event: Event
    parts: dict
    mood: Mood
    time: Phrase | None = None
    place: Place | None = None
    gap: str = ""
    asks: str = ""


class Relative(NamedTuple):
    """A relative clause, such as "that saw the cat", 看见 猫 的."""

    pronoun: str
    clause: Clause


class Telling(NamedTuple):
    """A text as a sequence of clauses and phrases, in the order of each language.

    frame: the name of the frame (event with two nouns and reasons) that the text was made from; "" without a frame.
    """

    frame: str
    english: tuple
    chinese: tuple


def tell(*parts: object, frame: str = "") -> Telling:
    """Return a Telling (a text as clauses and phrases) whose parts have the same order in both languages."""
    return Telling(frame, parts, parts)
