"""A text of the grammar: its words, their references, and the category that may replace each word."""

from typing import NamedTuple


class Link(NamedTuple):
    """A reference of a word to another one.

    kind: "pronoun" (the noun that is meant), "subject" (a verb's subject), "about" (the noun that a deciding word
    describes), "object" (the verb of an object), "again" (an earlier mention of the same thing).
    at, to: positions in the words. others: the positions of the other nouns that might be confused with it.
    """

    kind: str
    at: int
    to: int
    others: tuple[int, ...] = ()


class Text(NamedTuple):
    """A text in one language.

    words: its words and punctuation, each by itself. links: their references, see Link. kinds: by position
    the category token that may replace an unknown word, "" if none may. sort: the sort of text, one of SORTS. frame:
    the name of the frame that it was made from, "" if there is none.
    """

    words: tuple[str, ...]
    links: tuple[Link, ...]
    kinds: tuple[str, ...]
    sort: str
    frame: str
