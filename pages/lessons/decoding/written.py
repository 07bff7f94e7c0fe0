"""The beginning that a reader types, and what the language model writes behind it, each word with its cache."""

from dataclasses import dataclass, replace
from itertools import takewhile

import streamlit as st

from attention_core.learned.language.middle_order import put_middle_last
from attention_core.learned.language.model import ModelShape
from attention_core.learned.language.readout import with_word_choices
from attention_core.learned.language.shipped import load_recipe
from attention_core.transformer.stack import UNEMBEDDING, Stack
from attention_core.variants.cached_model import CachedRun, run_cached
from attention_core.variants.cached_writing import write_sentence
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import choose_option, choose_whole_number, pick_place, sentence_box, slide
from pages.panels.model_look import BlockView, make_view
from pages.runs.cache import inputs_of
from pages.runs.compute import sentences_of
from pages.runs.model_runs import model_vocabulary
from pages.session.collected import is_collecting
from pages.setup.link_values import read_link_count
from pages.setup.setup import Setup, word_choices_of
from pages.site.words import say

BEGINNINGS = {"model_en_decoder": "the dog did not cross", "model_zh_decoder": "那只狗没能过"}  # at first, by example
FIRST_GAPS = ("did", "没")  # words that are hidden at first, where the text has them
MOST_WORDS = 20  # of a beginning, so that there is room to write
STOP, FIRST_STOP = "t", 4  # the choice of how many written words are looked at, and how many at first
WAYS = ("likeliest", "drawn")
TEMPERATURES, TOP_KS, ALL_WORDS = (0.5, 0.75, 1.0, 1.5, 2.0), (2, 5, 10, 20, 0), 0


@dataclass(frozen=True)
class Written:
    """A text that a model wrote on.

    setup: the beginning, and which words may come. given: how many words the beginning has, START among them. words:
    all of them; tokens: what the model reads for each. stop: how many written words are looked at.
    """

    setup: Setup
    given: int
    words: tuple[str, ...]
    tokens: tuple[str, ...]
    stop: int

    @property
    def name(self) -> str:
        """The model."""
        return sentences_of(self.setup).model

    @property
    def shape(self) -> ModelShape:
        """How large it is."""
        return load_recipe(self.name).shape()

    @property
    def stops(self) -> range:
        """How many written words may be looked at."""
        return range(len(self.words) - self.given + 1)

    def run(self, stop: int) -> CachedRun:
        """The run of the last word at a stop, behind the cache of those before it."""
        return run_cached(self.name, self.tokens[: self.given + stop])

    def stack(self, stop: int) -> Stack:
        """The same with words on its axes, and with the words that may come next."""
        words = self.words[: self.given + stop]
        stack = self.run(stop).labelled(words, model_vocabulary(self.name))
        return with_word_choices(self.name, stack, word_choices_of(self.setup))

    def view(self, stop: int) -> BlockView:
        """The same as an open number takes it."""
        return make_view(self.name, self.tokens[: self.given + stop], self.stack(stop), 0)

    def next_word(self, stop: int) -> tuple[str, float, int] | None:
        """The word that is written at a stop, its probability, its number; None at the end."""
        if stop == self.stops[-1]:
            return None
        word = self.words[self.given + stop]
        number = model_vocabulary(self.name).index(word)
        return word, float(self.stack(stop)[UNEMBEDDING]["probabilities"][0, 0, number]), number

    def moved(self, at: int) -> tuple[str, ...]:
        """The words in the order prefix, suffix, middle, where the word at a place is the middle."""
        return put_middle_last(self.words, at, at + 1)

    def whole(self) -> Setup:
        """The whole text as a state of the workbench, up to a category that was written, which nobody can type."""
        written = takewhile(is_typed, self.words[self.given :])
        words = (*self.words[1 : self.given], *written)
        text = sentences_of(self.setup).spell(words)
        return replace(self.setup, text=text, token=len(words), panel="words")


def is_typed(word: str) -> bool:
    """Whether somebody can type a word: it is no sign of the model, such as <thing>."""
    return not (word.startswith("<") and word.endswith(">"))


def choose_beginning(example: Setup) -> Setup:
    """Asks for the beginning of a text."""
    return sentence_box(replace(example, text=BEGINNINGS[example.example]), most=MOST_WORDS)


def choose_words(setup: Setup) -> Setup:
    """Asks which words may come: the likeliest, or one that a seed draws at a temperature, out of a few or all."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if choose_option("way", WAYS) == "likeliest":
            return setup
        with st.container(width=150):
            seed = choose_whole_number("seed", 1)
        with st.container(width=190):
            temperature = slide("temperature", TEMPERATURES, 1.0)
        with st.container(width=190):
            top_k = slide("top_k", TOP_KS, ALL_WORDS, spell_top_k)
    return replace(setup, word_seed=seed, word_temperature=temperature, top_k=top_k or None)


def spell_top_k(count: float) -> str:
    """How many of the likeliest words stay, in words where they all do."""
    return str(count) if count else say("words.all")


def write_on(setup: Setup) -> Written:
    """What the model writes behind a beginning, to the full stop or to the length that it learned."""
    kind = sentences_of(setup)
    given = inputs_of(setup).queries
    read = kind.read(given)
    written = write_sentence(kind.model, read, word_choices_of(setup), setup.word_seed, 0)
    usual = len(written) if is_collecting() else FIRST_STOP  # in a file it stands as it ends
    stop = min(get_choice(STOP, usual, read_link_count), len(written))
    return Written(setup, len(given), (*given, *written), (*read, *written), stop)


def choose_gap(written: Written) -> int:
    """Asks for the place of a word that is hidden, from 1."""
    words = written.words[1:]
    if get_choice("gap", 0, read_link_count) >= len(words):
        store_choice("gap", None)  # of a text that was longer
    places = [place for place, word in enumerate(words) if word in FIRST_GAPS]
    usual = places[0] if places else len(words) // 2
    return 1 + pick_place("gap", words, usual)
