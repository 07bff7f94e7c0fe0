"""Parses and writes the link values of a language model's panels: order and filter of its heads, sampling of the next
word, and generated text.
"""

from collections.abc import Container

from attention_core.analysis.head_measures import MEASURES
from attention_core.learned.language.head_figures import LINKS
from attention_core.learned.language.reading import MAX_MODEL_WORDS
from attention_core.record.errors import AttentionError
from pages.setup.link_values import (
    MAX_FIELD_CHARS,
    MAX_LINK_NUMBER,
    make_member_reader,
    read_link_count,
    read_link_number,
)

BY_LAYER, BY_MOVED = "layers", "moved"  # orders of the heads: by layer; by the change of weights on a second sentence
HEAD_ORDERS = (BY_LAYER, *MEASURES, *LINKS, BY_MOVED)
WORD_TEMPERATURES = (0.25, 4.0)  # smallest and largest temperature of the next word
TOP_KS = (1, 20)
TOP_PS = (0.05, 1.0)
WORD_SEEDS = (0, MAX_LINK_NUMBER)
WORD_CHOICE_ENDS = {
    "word_temperature": WORD_TEMPERATURES,
    "top_k": TOP_KS,
    "top_p": TOP_PS,
    "word_seed": WORD_SEEDS,
}
WHOLE_WORD_CHOICES = ("top_k", "word_seed")
Words = tuple[str, ...]
BAR = "|"  # separates the sentence from the generated words; no model has this token in its vocabulary


# ---- the order of heads ----------------------------------------------------------------------------------------------
def read_least_share(text: str) -> float:
    """Parses the smallest share at which a head is shown, a number from 0 to 1. Raises ValueError."""
    share = read_link_number(text)
    if not 0 <= share <= 1:
        raise ValueError(text)
    return share


HEAD_ORDER_READERS = {
    "heads_by": make_member_reader(HEAD_ORDERS),
    "heads_least": read_least_share,
    "heads_from": read_link_count,
    "heads_to": read_link_count,
}


# ---- sampling: temperature, top-k, top-p, seed -----------------------------------------------------------------------
def check_word_choice(name: str, number: object) -> float | int:
    """Returns the value of a sampling setting if it is in the setting's range, else raises AttentionError."""
    least, most = WORD_CHOICE_ENDS[name]
    kinds = (int,) if name in WHOLE_WORD_CHOICES else (int, float)
    if type(number) not in kinds or not least <= number <= most:
        raise AttentionError("word_choice", name=name, least=least, limit=most, given=repr(number)[:40])
    return number if name in WHOLE_WORD_CHOICES else float(number)


def make_word_choice_reader(name: str):
    """Returns a function that parses the value of the sampling setting `name` in a link."""
    read_number = read_link_count if name in WHOLE_WORD_CHOICES else read_link_number

    def read(text: str) -> float | int:
        return check_word_choice(name, read_number(text))

    return read


# ---- generated text: "the animal did not | hunt the cat ." -----------------------------------------------------------
def write_writing(before: Words, written: Words) -> str | None:
    """Returns the value of the Setup field `written` for generated words; None if there are none.

    before: the words of the sentence before the generated words, START first.

    >>> write_writing(("<start>", "the", "dog"), ("ate", "."))
    'the dog | ate .'
    """
    return " ".join((*before[1:], BAR, *written)) if written else None


def read_writing_link(text: str) -> str:
    """Checks the link's text of generated words (the Setup field `written`) and returns the text unchanged.

    Raises ValueError if no generated word follows the bar, or if the text is too long.
    """
    words = text.split(" ")
    has_written = BAR in words[:-1]  # True if at least one word follows the bar
    if len(text) > MAX_FIELD_CHARS or "" in words or not has_written:
        raise ValueError(text)
    return text


def find_written(text: str, words: Words, known: Container[str]) -> tuple[int, Words] | None:
    """Parses the Setup field `written`: returns how many words precede the generated words, and the generated words.

    START counts as a word. Returns None if the sentence does not begin with the words before the bar, if a generated
    word is not in `known`, or if there are more than MAX_MODEL_WORDS words. words: the words of the sentence, START
    first. known: the vocabulary of the model.

    >>> find_written("the dog | ate .", ("<start>", "the", "dog", "ran"), {"ate", "."})
    (3, ('ate', '.'))
    """
    parts = text.split(" ")
    bar = len(parts) - 1 - parts[::-1].index(BAR)  # the last bar, because the sentence may contain a bar too
    before, written = tuple(parts[:bar]), tuple(parts[bar + 1 :])
    is_long = len(before) + len(written) > MAX_MODEL_WORDS
    if is_long or words[1 : bar + 1] != before or not all(word in known for word in written):
        return None
    return bar + 1, written
