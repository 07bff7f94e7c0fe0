"""Pairs of texts that differ in one word, which decides which noun a reason is true of."""

from typing import NamedTuple

from attention_core.learned.grammar.concepts import Quality
from attention_core.learned.grammar.draw import Draw, RandomNumbers
from attention_core.learned.grammar.events import Frame, frames_of, load_events
from attention_core.learned.grammar.function_words import DEGREES, phrase
from attention_core.learned.grammar.moods import MOODS
from attention_core.learned.grammar.page import Link, Text
from attention_core.learned.grammar.scene import Clause, Pronoun, Said, Thing, tell
from attention_core.learned.grammar.scenes import PARTS, Scene
from attention_core.mechanism.plain_checks import require_one_of, require_positive


class MinimalPair(NamedTuple):
    """Two texts that differ in one word. nouns: the position, in each text, of the noun that its pronoun means.

    pronoun, deciding: the positions, the same in both texts, of the pronoun and of the word that differs.
    """

    texts: tuple[Text, Text]
    nouns: tuple[int, int]
    pronoun: int
    deciding: int


def minimal_pairs(rng: RandomNumbers, count: int, language: str, part: str = "held") -> list[MinimalPair]:
    """Sample pairs of texts that differ in the one word of the reason.

    rng: a random.Random. count: how many pairs. language: "en" or "zh". part: as in draw_scene.

    Raises AttentionError: unknown_choice, positive_integer.

    >>> from random import Random
    >>> (pair,) = minimal_pairs(Random(1), 1, "en")
    >>> sum(word != other for word, other in zip(pair.texts[0].words, pair.texts[1].words))
    1
    """
    require_positive("count", count)
    require_one_of("part", part, PARTS)
    pairs = []
    while len(pairs) < count:
        pair = draw_minimal_pair(Draw(rng, part), language)
        if pair is not None:
            pairs.append(pair)
    return pairs


def draw_minimal_pair(draw: Draw, language: str) -> MinimalPair | None:
    """Sample one pair; None if the two nouns need different pronouns or one of them has no one-word reason."""
    frame = draw.pick(frames_of(draw.part))
    reasons = [[each for each in side if is_one_word(each)] for side in (frame.x_reasons, frame.y_reasons)]
    x = draw.thing(frame.x, many=0)
    y = draw.second(x, frame.y, many=0)
    if y is None or not all(reasons) or x.gender != y.gender or x.many != y.many:
        return None
    texts = []
    for meant, side in zip((x, y), reasons, strict=True):
        reason = draw.pick(side)
        texts.append(tell_reason(draw, frame, (x, y), meant, reason).say(language))
    first, second = (find_link(text, "pronoun") for text in texts)
    deciding = find_link(texts[0], "about").at
    return MinimalPair(tuple(texts), (first.to, second.to), first.at, deciding)


def is_one_word(reason: object) -> bool:
    """Return whether a reason is one word in both languages."""
    return isinstance(reason, Quality) and not reason.predicate


def tell_reason(draw: Draw, frame: Frame, things: tuple[Thing, Thing], meant: Thing, reason: Quality) -> Scene:
    """Build the scene of an event between two things, and of a reason that is true of one of them."""
    x, y = things
    mood = frame.moods[0]
    event = Clause(frame.event, {"x": draw.known(x), "y": draw.known(y)}, mood)
    said = Said(reason, DEGREES["too" if mood.negative else "very"])
    told = MOODS["past" if mood.past else "present"]
    because = Clause(load_events()["be"], {"x": Pronoun(meant), "q": said}, told)
    telling = tell(event, phrase("because"), because, phrase("stop"), frame=frame.name)
    return Scene("because", telling, ((x.noun.word, y.noun.word),))


def find_link(text: Text, kind: str) -> Link:
    """Return the last link of a kind."""
    return [link for link in text.links if link.kind == kind][-1]
