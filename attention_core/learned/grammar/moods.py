"""Moods: when something is done, whether, and how it must, can or will; the verb group of both languages."""

from typing import NamedTuple

BASE, THIRD, PAST, PARTICIPLE, DOING = range(5)  # the forms of a verb, see concepts.Verb
SINGULAR, PLURAL, FIRST = range(3)  # what a verb agrees with: she, they or you, i

IS, WAS = ("is", "are", "am"), ("was", "were", "was")
HAS, HAD = ("has", "have", "have"), ("had", "had", "had")
DOES, DID = ("does", "do", "do"), ("did", "did", "did")


def alike(word: str) -> tuple[str, str, str]:
    """Give an auxiliary verb that is the same for every subject."""
    return word, word, word


class Mood(NamedTuple):
    """How a clause's verb is said.

    auxiliary: by what the verb agrees with, () where there is none. between: the words before the verb. form: the
    verb's own, see BASE. past: whether a reason told beside it is told in the past. negative: whether it is denied.
    before: the Chinese words before the verb. before_state: the same before a verb of a state or a quality.
    done: whether 了 follows the Chinese verb.
    """

    auxiliary: tuple[str, ...]
    between: tuple[str, ...]
    form: int
    past: bool
    negative: bool
    before: tuple[str, ...]
    before_state: tuple[str, ...]
    done: bool = False


def asserted(auxiliary=(), form=BASE, past=False, before=(), state=(), done=False, between=()) -> Mood:
    """Give a mood that says that something is so."""
    return Mood(auxiliary, between, form, past, False, before, state, done)


def denied(auxiliary, before, state, past=False, form=BASE, between=("not",)) -> Mood:
    """Give a mood that says that something is not so."""
    return Mood(auxiliary, between, form, past, True, before, state)


MOODS = {
    "past": asserted(form=PAST, past=True, done=True),
    "present": asserted(form=THIRD),
    "infinitive": asserted(),
    "is doing": asserted(IS, DOING, before=("正在",)),
    "was doing": asserted(WAS, DOING, past=True, before=("正在",)),
    "has done": asserted(HAS, PARTICIPLE, before=("已经",), done=True),
    "had done": asserted(HAD, PARTICIPLE, past=True, before=("已经",), done=True),
    "will": asserted(alike("will"), before=("会",), state=("会",)),
    "can": asserted(alike("can"), before=("能",), state=("会",)),
    "could": asserted(alike("could"), past=True, before=("能",), state=("会",)),
    "must": asserted(alike("must"), before=("必须",), state=("必须",)),
    "should": asserted(alike("should"), before=("应该",), state=("应该",)),
    "wants": asserted(("wants", "want", "want"), between=("to",), before=("想",), state=("想",)),
    "wanted": asserted(alike("wanted"), between=("to",), past=True, before=("想",), state=("想",)),
    "did not": denied(DID, ("没有",), ("不",), past=True),
    "does not": denied(DOES, ("不",), ("不",)),
    "could not": denied(alike("could"), ("不", "能"), ("不", "会"), past=True),
    "can not": denied(alike("can"), ("不", "能"), ("不", "会")),
    "will not": denied(alike("will"), ("不", "会"), ("不", "会")),
    "would not": denied(alike("would"), ("不", "肯"), ("不", "会"), past=True),
    "has not done": denied(HAS, ("还", "没有"), ("还", "不"), form=PARTICIPLE),
    "did not want": denied(DID, ("不", "想"), ("不", "想"), past=True, between=("not", "want", "to")),
    "does not want": denied(DOES, ("不", "想"), ("不", "想"), between=("not", "want", "to")),
}
