"""Samples scenes (the contents of texts), and writes each in English and in Chinese with an alignment of the words.

A minimal pair is two texts that differ in one word; this word decides to which of two nouns a pronoun refers.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from attention_core.learned.grammar.chinese import ChineseWriter
from attention_core.learned.grammar.concepts import Quality
from attention_core.learned.grammar.draw import Draw, RandomNumbers
from attention_core.learned.grammar.english import EnglishWriter
from attention_core.learned.grammar.events import Frame, frames_of, load_events
from attention_core.learned.grammar.function_words import DEGREES, phrase
from attention_core.learned.grammar.moods import MOODS
from attention_core.learned.grammar.page import Link, Text
from attention_core.learned.grammar.scene import Clause, Pronoun, Said, Telling, Thing, tell
from attention_core.learned.grammar.sorts.plain import (
    draw_call,
    draw_comparison,
    draw_owner,
    draw_plain,
    draw_question,
    draw_there,
)
from attention_core.learned.grammar.sorts.references import draw_agreement, draw_because, draw_gift, draw_so
from attention_core.learned.grammar.sorts.speech import draw_errand, draw_plan, draw_request, draw_saying, draw_telling
from attention_core.learned.grammar.sorts.stories import (
    draw_condition,
    draw_names,
    draw_story,
    draw_together,
    draw_turned,
)
from attention_core.learned.grammar.writer import Writer
from attention_core.mechanism.plain_checks import require_one_of, require_positive


# ---- the sorts of text, and their weights in sampling ----------------------------------------------------------------
class Sort(NamedTuple):
    """A kind of text: how it is sampled, how often, and what may be held out from training.

    draw: a function that samples a text of this kind, or returns None if the sample fails. weight: how often the kind
    is sampled, relative to other kinds. has_pairs: whether a text has a pair of nouns that may be held out from
    training. has_frames: whether a text is made from a frame (an event between two nouns, with its reasons), which may
    be held out.
    """

    draw: Callable[[Draw], Telling | None]
    weight: int
    has_pairs: bool = True
    has_frames: bool = False


SORTS = {
    "because": Sort(draw_because, 28, has_frames=True),
    "so": Sort(draw_so, 8, has_frames=True),
    "gift": Sort(draw_gift, 8),
    "agreement": Sort(draw_agreement, 12),
    "together": Sort(draw_together, 9),
    "turned": Sort(draw_turned, 3),
    "condition": Sort(draw_condition, 2, has_pairs=False),
    "names": Sort(draw_names, 5),
    "story": Sort(draw_story, 7),
    "saying": Sort(draw_saying, 4, has_pairs=False),
    "telling": Sort(draw_telling, 3),
    "plan": Sort(draw_plan, 3, has_pairs=False),
    "errand": Sort(draw_errand, 3, has_pairs=False),
    "request": Sort(draw_request, 2),
    "question": Sort(draw_question, 6, has_pairs=False),
    "plain": Sort(draw_plain, 8, has_pairs=False),
    "there": Sort(draw_there, 3),
    "owner": Sort(draw_owner, 2, has_pairs=False),
    "comparison": Sort(draw_comparison, 1),
    "call": Sort(draw_call, 2, has_pairs=False),
}


# ---- scenes ----------------------------------------------------------------------------------------------------------
WRITERS = {"en": EnglishWriter, "zh": ChineseWriter}
LANGUAGES = (*WRITERS,)
PARTS = ("train", "held", "frames")


class Scene:
    """The content of a text, independent of the language.

    sort: the kind of text, a key of SORTS. frame: the name of the event between two nouns (Frame) from which the text
    was made; "" if there is none. pairs: the pairs of nouns to which a pronoun could refer.
    """

    def __init__(self, sort: str, telling: Telling, pairs: tuple[tuple[str, str], ...]):
        self.sort, self.frame, self.pairs = sort, telling.frame, pairs
        self.parts = {"en": telling.english, "zh": telling.chinese}

    def say(self, language: str) -> Text:
        """Write this scene (the content of a text) in one language, "en" or "zh", and return the finished Text."""
        page = self.write(language)
        kind_at = page.kinds.get
        kinds = tuple([kind_at(at, "") for at in range(len(page.words))])
        return Text(tuple(page.words), tuple(page.links), kinds, self.sort, self.frame)

    def write(self, language: str) -> Writer:
        """Write this scene (the content of a text) in one language, and return the Writer with its words and alignment
        marks."""
        page = WRITERS[require_one_of("language", language, LANGUAGES)]()
        for part in self.parts[language]:
            page.write(part)
        return page

    def align(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of positions, English and Chinese, whose words have the same meaning."""
        in_chinese = {}
        for node, at in self.write("zh").marks:
            in_chinese.setdefault(node, []).append(at)
        pairs = []
        for node, at in self.write("en").marks:
            places = in_chinese.get(node)
            if places:
                pairs.append((at, places.pop(0)))
        return tuple(sorted(pairs))


def draw_scene(rng: RandomNumbers, sort: str | None = None, part: str = "train") -> Scene:
    """Sample the content of a text.

    rng: a random.Random; the same state gives the same scene. sort: the kind of text, a key of SORTS; if None, it is
    sampled by weight. part: "train" for training; "held" for a scene whose first pair of nouns is held out from
    training; "frames" for a scene from an event (Frame) that is held out.

    Raises AttentionError: unknown_choice, also for a kind of text that this part lacks.

    >>> from random import Random
    >>> scene = draw_scene(Random(3), sort="because")
    >>> scene.say("en").sort, scene.say("zh").words[-1]
    ('because', '。')
    """
    require_one_of("part", part, PARTS)
    choices = sorts_of(part)
    if sort is not None:
        require_one_of("sort", sort, choices)
    while True:
        draw = Draw(rng, part)
        drawn_sort = sort or draw.pick(choices)
        telling = SORTS[drawn_sort].draw(draw)
        if telling is not None and (draw.pairs or part != "held"):
            return Scene(drawn_sort, telling, tuple(draw.pairs))


@cache
def sorts_of(part: str) -> tuple[str, ...]:
    """Return the kinds of text for a part of the data, each repeated according to its weight, to sample from."""
    choices = []
    for name, sort in SORTS.items():
        if {"train": True, "held": sort.has_pairs, "frames": sort.has_frames}[part]:
            choices += [name] * sort.weight
    return tuple(choices)


# ---- minimal pairs ---------------------------------------------------------------------------------------------------
class MinimalPair(NamedTuple):
    """Two texts that differ in one word, which decides to which noun the pronoun refers.

    nouns: the position, in each text, of the noun that the pronoun refers to. pronoun: the position of the pronoun.
    deciding: the position of the word that differs. Pronoun and deciding word have the same position in both texts.
    """

    texts: tuple[Text, Text]
    nouns: tuple[int, int]
    pronoun: int
    deciding: int


def minimal_pairs(rng: RandomNumbers, count: int, language: str, part: str = "held") -> list[MinimalPair]:
    """Sample minimal pairs: two texts that differ in a single word, the reason for an event.

    rng: a random.Random. count: the number of pairs. language: "en" or "zh". part: "train", "held" for pairs of nouns
    that are held out from training, or "frames" for events that are.

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
    """Sample two texts that differ in one word, the reason for an event between two nouns.

    Returns None if the two nouns need different pronouns, or one of them has no reason of one word.
    """
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
    """Build the content of a text: an event between two things, and a reason for it that is true of only one of them.

    meant: the one of `things` that the reason is true of.
    """
    x, y = things
    mood = frame.moods[0]
    event = Clause(frame.event, {"x": draw.known(x), "y": draw.known(y)}, mood)
    said = Said(reason, DEGREES["too" if mood.negative else "very"])
    told = MOODS["past" if mood.past else "present"]
    because = Clause(load_events()["be"], {"x": Pronoun(meant), "q": said}, told)
    telling = tell(event, phrase("because"), because, phrase("stop"), frame=frame.name)
    return Scene("because", telling, ((x.noun.word, y.noun.word),))


def find_link(text: Text, kind: str) -> Link:
    """Return the last link of a kind in a text, such as "pronoun", which links a pronoun to its noun."""
    return [link for link in text.links if link.kind == kind][-1]
