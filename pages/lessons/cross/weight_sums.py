"""Sums of weights in a sentence."""

from collections.abc import Sequence

from attention_core.record.number_text import format_fixed
from pages.lessons.sentences import join_with_commas
from pages.site.words import escape_markdown, say


def join_sums(sums: Sequence[float]) -> str:
    """Joins sums in a sentence."""
    return join_with_commas([format_fixed(each) for each in sums])


def join_named_sums(sums: Sequence[float], names: Sequence[str]) -> str:
    """Joins sums in a sentence, each behind its word."""
    texts = []
    for name, each in zip(names, sums, strict=True):
        word = escape_markdown(name)
        texts.append(say("lessons.cross.sum", word=word, sum=format_fixed(each)))
    return join_with_commas(texts)
