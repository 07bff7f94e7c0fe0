"""Scenes: sampled once, written in English and in Chinese, with the alignment of their words."""

from functools import cache

from attention_core.learned.grammar.chinese import ChineseWriter
from attention_core.learned.grammar.draw import Draw, RandomNumbers
from attention_core.learned.grammar.english import EnglishWriter
from attention_core.learned.grammar.scene import Telling
from attention_core.learned.grammar.sorts.catalog import SORTS
from attention_core.learned.grammar.texts import Text
from attention_core.learned.grammar.writer import Writer
from attention_core.mechanism.plain_checks import require_one_of

WRITERS = {"en": EnglishWriter, "zh": ChineseWriter}
LANGUAGES = (*WRITERS,)
PARTS = ("train", "held", "frames")


class Scene:
    """The content of a text, independent of the language.

    sort, frame: as in Text. pairs: the pairs of nouns that a pronoun might mean.
    """

    def __init__(self, sort: str, telling: Telling, pairs: tuple[tuple[str, str], ...]):
        self.sort, self.frame, self.pairs = sort, telling.frame, pairs
        self.parts = {"en": telling.english, "zh": telling.chinese}

    def say(self, language: str) -> Text:
        """Return the scene as a Text in a language, "en" or "zh"."""
        page = self.write(language)
        kind_at = page.kinds.get
        kinds = tuple([kind_at(at, "") for at in range(len(page.words))])
        return Text(tuple(page.words), tuple(page.links), kinds, self.sort, self.frame)

    def write(self, language: str) -> Writer:
        """Return a Writer of a language with the words of the scene."""
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
    """Sample a scene.

    rng: a random.Random; the same state gives the same scene. sort: one of SORTS; if None, a sort is sampled by
    weight. part: "train", for training; "held", a scene whose first pair of nouns is held out from training; "frames",
    a scene from a held-out frame.

    Raises AttentionError: unknown_choice, also for a sort without the part.

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
    """Return the sorts of a part, each repeated by its weight, to be sampled from."""
    choices = []
    for name, sort in SORTS.items():
        if {"train": True, "held": sort.has_pairs, "frames": sort.has_frames}[part]:
            choices += [name] * sort.weight
    return tuple(choices)
