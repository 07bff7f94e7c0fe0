"""What a decoder has written on, as a Setup and its link say it: "the animal did not | hunt the cat ."."""

from collections.abc import Container

from attention_core.learned.language.reading import MAX_MODEL_WORDS
from pages.setup.link_values import MAX_FIELD_CHARS

Words = tuple[str, ...]
BAR = "|"  # between the words of the sentence and those that are written: no model knows it as a word


def write_writing(before: Words, written: Words) -> str | None:
    """What is written as a part of a link; None where nothing is.

    before: the words of the sentence that it follows, START first.

    >>> write_writing(("<start>", "the", "dog"), ("ate", "."))
    'the dog | ate .'
    """
    return " ".join((*before[1:], BAR, *written)) if written else None


def read_writing_link(text: str) -> str:
    """A text of words with written ones among them. Raises ValueError."""
    words = text.split(" ")
    has_written = BAR in words[:-1]  # behind the bar stands a word
    if len(text) > MAX_FIELD_CHARS or "" in words or not has_written:
        raise ValueError(text)
    return text


def find_written(text: str, words: Words, known: Container[str]) -> tuple[int, Words] | None:
    """How many words of a sentence stand before what is written on it, START among them, and the written words.

    None where the sentence begins otherwise, where the model does not know a written word, or is not used to as many.
    words: of the sentence, START first. known: the words of the model.

    >>> find_written("the dog | ate .", ("<start>", "the", "dog", "ran"), {"ate", "."})
    (3, ('ate', '.'))
    """
    parts = text.split(" ")
    bar = len(parts) - 1 - parts[::-1].index(BAR)  # the last one: a sentence may have it as a word
    before, written = tuple(parts[:bar]), tuple(parts[bar + 1 :])
    is_long = len(before) + len(written) > MAX_MODEL_WORDS
    if is_long or words[1 : bar + 1] != before or not all(word in known for word in written):
        return None
    return bar + 1, written
