"""Lets a language model continue the beginning of a text, and runs it with a cache after each word."""

from dataclasses import dataclass
from itertools import takewhile

import streamlit as st

from attention_core.learned.language.fill_in_middle import put_middle_last
from attention_core.learned.language.model import ModelShape
from attention_core.learned.language.readout import with_word_choices
from attention_core.learned.language.shipped import load_recipe
from attention_core.transformer.stack import UNEMBEDDING, Stack
from attention_core.variants.cached_model import CachedRun, run_cached, write_sentence
from pages.panels.lesson_choices import get_choice
from pages.panels.link_controls import choose_option, choose_whole_number, sentence_box, slide
from pages.panels.model_look import BlockView, make_view
from pages.runs.cache import inputs_of
from pages.runs.compute import sentences_of
from pages.runs.model_runs import model_vocabulary
from pages.session.collected import is_collecting
from pages.setup.link_values import read_link_count
from pages.setup.resolve import word_choices_of
from pages.setup.setup import Setup
from pages.site.words import say

BEGINNINGS = {
    "model_en_decoder": "the dog did not cross",
    "model_zh_decoder": "那只狗没能过",
}  # example -> default beginning of a text
MOST_TYPED_WORDS = 20  # most words of a beginning, so that the model can add some
STOP_CHOICE, FIRST_STOP = "t", 4  # the number of generated words that is shown: its link parameter, and its default
WRITING_WAYS = ("likeliest", "drawn")
TEMPERATURES, TOP_KS, ALL_WORDS = (0.5, 0.75, 1.0, 1.5, 2.0), (2, 5, 10, 20, 0), 0


@dataclass(frozen=True)
class Written:
    """The beginning of a text and its continuation by a model.

    setup: the beginning as text, and how words are sampled. given: number of words in the beginning, including START.
    words: all words. tokens: the model's token for each word. stop: the number of generated words that the visitor
    selected.
    """

    setup: Setup
    given: int
    words: tuple[str, ...]
    tokens: tuple[str, ...]
    stop: int

    @property
    def name(self) -> str:
        """Name of the language model."""
        return sentences_of(self.setup.run).model

    @property
    def shape(self) -> ModelShape:
        """The sizes of the model."""
        return load_recipe(self.name).shape()

    @property
    def stops(self) -> range:
        """The numbers of generated words that the visitor can select, from 0 to all."""
        return range(len(self.words) - self.given + 1)

    def run(self, stop: int) -> CachedRun:
        """Returns the run of the last word, with the cache of the words before it, after `stop` generated words."""
        return run_cached(self.name, self.tokens[: self.given + stop])

    def stack(self, stop: int) -> Stack:
        """Returns the run after `stop` generated words, with words as labels, and with the distribution from which the
        next word is chosen.
        """
        words = self.words[: self.given + stop]
        stack = self.run(stop).labelled(words, model_vocabulary(self.name))
        return with_word_choices(self.name, stack, word_choices_of(self.setup.view))

    def view(self, stop: int) -> BlockView:
        """Returns the run after `stop` generated words as a BlockView, which shows the arithmetic of an open number."""
        return make_view(self.name, self.tokens[: self.given + stop], self.stack(stop), 0)

    def next_word(self, stop: int) -> tuple[str, float, int] | None:
        """Returns the word after `stop` generated words, its probability and vocabulary index; None at the text's
        end.
        """
        if stop == self.stops[-1]:
            return None
        word = self.words[self.given + stop]
        number = model_vocabulary(self.name).index(word)
        return word, float(self.stack(stop)[UNEMBEDDING]["probabilities"][0, 0, number]), number

    def moved(self, at: int) -> tuple[str, ...]:
        """Returns the words in the order prefix, suffix, middle.

        at: the index of the word that is the middle.
        """
        return put_middle_last(self.words, at, at + 1)

    def whole(self) -> Setup:
        """Returns the whole text as a Setup for the workbench, cut before the first category token such as <thing>."""
        written = takewhile(is_typed, self.words[self.given :])
        words = (*self.words[1 : self.given], *written)
        text = sentences_of(self.setup.run).spell(words)
        return self.setup.with_fields(text=text, token=len(words), panel="words")


def is_typed(word: str) -> bool:
    """Whether the visitor can type a word. A special token such as <thing> cannot be typed."""
    return not (word.startswith("<") and word.endswith(">"))


def choose_beginning(example: Setup) -> Setup:
    """Shows the text input for the beginning of a text; returns the Setup of the typed beginning."""
    return sentence_box(example.with_fields(text=BEGINNINGS[example.run.example]), most=MOST_TYPED_WORDS)


def choose_words(setup: Setup) -> Setup:
    """Shows the choice of the next word: the likeliest word, or a word sampled with a seed, a temperature and top-k.

    Returns the Setup with this choice.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if choose_option("way", WRITING_WAYS) == "likeliest":
            return setup
        with st.container(width=150):
            seed = choose_whole_number("seed", 1)
        with st.container(width=190):
            temperature = slide("temperature", TEMPERATURES, 1.0)
        with st.container(width=190):
            top_k = slide("top_k", TOP_KS, ALL_WORDS, spell_top_k)
    return setup.with_fields(word_seed=seed, word_temperature=temperature, top_k=top_k or None)


def spell_top_k(count: float) -> str:
    """Formats the value of top-k; 0, which keeps all words, becomes the text for all words."""
    return str(count) if count else say("words.all")


def write_on(setup: Setup) -> Written:
    """Lets the model continue a beginning up to a full stop or the largest length in the model's training."""
    kind = sentences_of(setup.run)
    given = inputs_of(setup).queries
    read = kind.read(given)
    written = write_sentence(kind.model, read, word_choices_of(setup.view), setup.view.word_seed, 0)
    usual = len(written) if is_collecting() else FIRST_STOP  # an exported file shows all generated words
    stop = min(get_choice(STOP_CHOICE, usual, read_link_count), len(written))
    return Written(setup, len(given), (*given, *written), (*read, *written), stop)
