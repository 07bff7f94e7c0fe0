"""A text of the grammar: its words, their references, and the category that may replace each word."""

from typing import NamedTuple


class Link(NamedTuple):
    """A reference of a word to another one.

    kind: "pronoun" (the noun that is meant), "subject" (a verb's subject), "about" (the noun that a deciding word
    describes), "object" (the verb of an object), "again" (an earlier mention of the same thing).
    at, to: positions in the words. others: the positions of other nouns that might be confused with the noun meant.
    """

    kind: str
    at: int
    to: int
    others: tuple[int, ...] = ()


class Text(NamedTuple):
    """A text in one language.

    words: its words and punctuation marks. links: the references of words, see Link. kinds: by position the category
    token that may replace an unknown word; "" if no token may. sort: the sort of text, one of SORTS. frame: the name of
    the frame that the text was made from; "" without a frame.
    """

    words: tuple[str, ...]
    links: tuple[Link, ...]
    kinds: tuple[str, ...]
    sort: str
    frame: str
