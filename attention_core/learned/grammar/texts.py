"""What a text of the grammar is: its words, what they refer to, and the category that each may be replaced by."""

from typing import NamedTuple


class Link(NamedTuple):
    """A word that has its meaning from another one.

    kind: "pronoun" (the noun that is meant), "subject" (a verb's subject), "about" (the noun that a deciding word is
    said of), "object" (the verb of what something is done to), "again" (an earlier mention of the same).
    at, to: positions in the words. others: the positions of the other nouns that might be taken for it.
    """

    kind: str
    at: int
    to: int
    others: tuple[int, ...] = ()


class Text(NamedTuple):
    """A text in one language.

    words: its words and punctuation, each by itself. links: what they refer to, see Link. kinds: by position the
    category token that may stand for a word that is not known, "" where none may. sort: the sort of text, one of SORTS.
    frame: the name of the frame that it was made from, "" where there is none.
    """

    words: tuple[str, ...]
    links: tuple[Link, ...]
    kinds: tuple[str, ...]
    sort: str
    frame: str
