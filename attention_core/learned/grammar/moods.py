"""Reads the moods of a clause (tense, negation and modality), and the words of its verb group in English and
Chinese.
"""

from typing import NamedTuple

from attention_core.learned.grammar.concepts import find_verb, read_data

BASE, THIRD, PAST, PARTICIPLE, DOING = range(5)  # indices of the forms in concepts.Verb
SINGULAR, PLURAL, FIRST = range(3)  # indices into IS, HAS and DOES by subject: she, they, I

IS, WAS = ("is", "are", "am"), ("was", "were", "was")
HAS, HAD = ("has", "have", "have"), ("had", "had", "had")
DOES, DID = ("does", "do", "do"), ("did", "did", "did")
AUXILIARIES = {
    "is": IS,
    "was": WAS,
    "has": HAS,
    "had": HAD,
    "does": DOES,
    "did": DID,
    "wants": ("wants", "want", "want"),
}
MODAL_VERBS = ("will", "can", "could", "must", "should", "may", "might", "would", "wanted", "used")
PAST_WORDS = frozenset(
    ["ate", "was", "had", "did", "could", "wanted", "used"]
)  # words of past moods; the reason for a past clause is past, too
DENYING = frozenset(["not", "never"])


class Mood(NamedTuple):
    """The tense, negation and modality of a clause, as the words of its verb group in both languages.

    auxiliary: the auxiliary verb's forms by agreement, () without one. between: the words between the auxiliary and the
    verb. form: the form of the verb, such as BASE. past: whether the clause is past, so that a reason for it is past,
    too. negative: whether the clause is negated. before: the Chinese words before the verb. before_state: the Chinese
    words before the verb of a state or before a quality. done: whether 了 follows the Chinese verb.
    """

    auxiliary: tuple[str, ...]
    between: tuple[str, ...]
    form: int
    past: bool
    negative: bool
    before: tuple[str, ...]
    before_state: tuple[str, ...]
    done: bool


def read_mood(english: str, chinese: str, chinese_state: str = "") -> Mood:
    """Parse a line of moods.toml, which gives a mood by the forms of the verb "eat" in English and Chinese.

    chinese_state: the same mood for Chinese verbs of a state, if it differs.

    >>> read_mood("did not eat", "没有 吃", "不 吃").between, read_mood("ate", "吃 了").done
    (('not',), True)
    """
    *words, eaten = english.split()
    forms = list(find_verb("eat"))
    form = forms.index(eaten)
    auxiliary = ()
    if words and (words[0] in AUXILIARIES or words[0] in MODAL_VERBS):
        first = words.pop(0)
        auxiliary = AUXILIARIES.get(first, (first, first, first))
    said = frozenset(english.split())
    before, _, behind = chinese.partition("吃")
    before_state, _, _ = (chinese_state or chinese).partition("吃")
    return Mood(
        auxiliary,
        tuple(words),
        form,
        past=not said.isdisjoint(PAST_WORDS),
        negative=not said.isdisjoint(DENYING),
        before=tuple(before.split()),
        before_state=tuple(before_state.split()),
        done=bool(behind),
    )


MOODS = {name: read_mood(*entry) for name, entry in read_data("moods").items()}
