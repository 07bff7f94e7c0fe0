"""A grammar that generates sentences and short stories in English and Chinese, and the links between their words.

    from random import Random
    from attention_core.learned.grammar import draw_scene

    scene = draw_scene(Random(1))            # sort="because", part="train" | "held" | "frames"
    text = scene.say("en")                   # Text(words, links, kinds, sort, frame)
    same = scene.say("zh")                   # its translation
    scene.align()                            # ((English position, Chinese position), ...) of equal meaning
    scene.pairs                              # ((noun, noun), ...) that a pronoun may stand for

Links are (kind, at, to, others):

    "pronoun"   the noun that a pronoun means; others: the other nouns that fit in gender and number
    "subject"   a verb's subject; others: the nouns between subject and verb
    "about"     the noun that a deciding word describes; others: the other nouns it might describe
    "object"    the verb of an object
    "again"     an earlier mention of the same thing

`vocabulary(language)` lists all tokens: <pad>, <start>, <mask>, <unknown>, the categories in `kinds`, then the words;
the words of a Text hold no special token. `cut_words(text, language)` splits a typed text into words.
`minimal_pairs(rng, count, language)` returns pairs of texts that differ in one word. See docs/grammar.md.
"""

from attention_core.learned.grammar.cut_words import cut_words
from attention_core.learned.grammar.draw import held_out_pair
from attention_core.learned.grammar.page import Link, Text
from attention_core.learned.grammar.scenes import LANGUAGES, PARTS, SORTS, MinimalPair, Scene, draw_scene, minimal_pairs
from attention_core.learned.grammar.vocabulary import SPECIAL_TOKENS, categories, known_words, vocabulary

__all__ = [
    "LANGUAGES",
    "PARTS",
    "SORTS",
    "SPECIAL_TOKENS",
    "Link",
    "MinimalPair",
    "Scene",
    "Text",
    "categories",
    "cut_words",
    "draw_scene",
    "held_out_pair",
    "known_words",
    "minimal_pairs",
    "vocabulary",
]
