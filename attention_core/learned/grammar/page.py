"""Collects a text while the grammar writes it: its words, the links between them, and where each thing was last
named.
"""

from typing import NamedTuple

from attention_core.learned.grammar.concepts import Noun
from attention_core.learned.grammar.scene import Thing


class Link(NamedTuple):
    """A link from one word of a text to another that it refers to or depends on.

    kind: what the other word is: "pronoun" (the noun that the pronoun refers to), "subject" (the subject of a verb),
    "about" (the noun described by a word that decides what a pronoun refers to), "object" (the verb of an object),
    "again" (an earlier mention of the same thing). at, to: the positions of both words. others: the positions of other
    nouns that could be confused with the noun referred to.
    """

    kind: str
    at: int
    to: int
    others: tuple[int, ...] = ()


class Text(NamedTuple):
    """A text in one language: its words, and the links between them.

    words: its words and punctuation marks. links: pairs of words that belong together. kinds: for each position the
    category token that may replace an unknown word; "" for none. sort: the kind of text, one of SORTS. frame: the name
    of the frame (event with two nouns and reasons) that the text was made from; "" without a frame.
    """

    words: tuple[str, ...]
    links: tuple[Link, ...]
    kinds: tuple[str, ...]
    sort: str
    frame: str


KINDS_OF_MANY = {"woman": "women", "man": "men", "furniture": "pieces-of-furniture"}
QUALITY_CATEGORY, VERB_CATEGORY = "<quality>", "<verb>"


def noun_category(noun: Noun, many: bool) -> str:
    """Return the category token that may replace a noun, such as "<animals>" for a plural."""
    kind = KINDS_OF_MANY.get(noun.kind, noun.kind + "s") if many else noun.kind
    return f"<{kind}>"


class Page:
    """A text while the grammar writes it: its words, and the links between them.

    All positions are indices into `words`. kinds: {position: the category token that may replace the word}. named:
    {thing: position of its last noun}. nouns: the positions of all nouns. marks: (id of a part of the scene, position),
    by which the words of two languages are aligned.
    """

    __slots__ = ("kinds", "links", "marks", "named", "nouns", "words")

    def __init__(self):
        self.words: list[str] = []
        self.links: list[Link] = []
        self.kinds: dict[int, str] = {}
        self.named: dict[Thing, int] = {}
        self.nouns: list[int] = []
        self.marks: list[tuple[object, int]] = []

    # ---- words -------------------------------------------------------------------------------------------------------
    def add_word(self, word: str, mark: object, category: str = "") -> int:
        """Append a word, and return its position.

        mark: the id of the part of the scene that the word expresses; equal marks align the two languages. category:
        the category token that may replace the word; "" for none.
        """
        at = len(self.words)
        self.words.append(word)
        self.marks.append((mark, at))
        if category:
            self.kinds[at] = category
        return at

    def add_noun(self, node: object, thing: Thing, word: str, category: str) -> int:
        """Append the noun of a thing, link it to the thing's last mention, and return the noun's position.

        node: the Mention; the nouns of the same Mention in two languages are aligned.
        """
        at = self.add_word(word, id(node), category)
        self.nouns.append(at)
        before = self.named.get(thing)
        if before is not None:
            self.links.append(Link("again", at, before))
        self.named[thing] = at
        return at

    def add_surname(self, thing: Thing, word: str) -> None:
        """Write the surname of a full name, and link it to the last occurrence of the same word."""
        earlier = [at for at, said in enumerate(self.words) if said == word]
        at = self.add_word(word, id(thing.surname))
        if earlier:
            self.links.append(Link("again", at, earlier[-1]))

    def add_pronoun(self, node: object, thing: Thing, word: str) -> int:
        """Write a pronoun, link it to the noun that it refers to, and return the pronoun's position."""
        at = self.add_word(word, id(node))
        meant = self.named.get(thing)
        if meant is not None:
            self.links.append(Link("pronoun", at, meant, self.rivals(thing)))
        return at

    # ---- links -------------------------------------------------------------------------------------------------------
    def may_mean(self, thing: Thing, other: Thing) -> bool:
        """Return whether the pronoun of a thing could also refer to another thing."""
        raise NotImplementedError

    def rivals(self, thing: Thing) -> tuple[int, ...]:
        """Return the positions of nouns with which a thing's pronoun could be confused: those of other things that it
        also fits."""
        return tuple([at for other, at in self.named.items() if other is not thing and self.may_mean(thing, other)])

    def link_subject(self, verb: int, subject: int) -> None:
        """Link a verb to its subject, and record the nouns between the two in the link's `others`."""
        first, last = (subject, verb) if subject < verb else (verb, subject)
        between = tuple([at for at in self.nouns if first < at < last]) if last - first > 2 else ()
        self.links.append(Link("subject", verb, subject, between))

    def link_object(self, at: int, verb: int) -> None:
        """Link an object to its verb."""
        self.links.append(Link("object", at, verb))

    def link_deciding(self, deciding: int, thing: Thing, subject: int) -> None:
        """Link a word that decides to which noun a pronoun refers (such as an adjective) to the noun that it describes.

        deciding: the position of the word. thing: what the noun names. subject: the position of the clause's subject.
        """
        meant = self.named.get(thing)
        if meant is None:
            return
        if meant == subject:
            others = tuple([noun for noun in self.nouns if meant < noun < deciding])
        else:
            others = tuple([noun for noun in self.rivals(thing) if noun < subject])
        self.links.append(Link("about", deciding, meant, others))
