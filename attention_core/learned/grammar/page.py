"""A text while it is written: its words, where each thing was named last, and what refers to what."""

from attention_core.learned.grammar.concepts import Noun
from attention_core.learned.grammar.scene import Thing
from attention_core.learned.grammar.texts import Link

KINDS_OF_MANY = {"woman": "women", "man": "men", "furniture": "pieces-of-furniture"}
QUALITY_CATEGORY, VERB_CATEGORY = "<quality>", "<verb>"


def noun_category(noun: Noun, many: bool) -> str:
    """Give the category that may stand for a noun: "<animals>"."""
    kind = KINDS_OF_MANY.get(noun.kind, noun.kind + "s") if many else noun.kind
    return f"<{kind}>"


class Page:
    """What has been written so far. Positions are those of `words`.

    named: each thing and where its noun stood last. nouns: where nouns stand. marks: what was said where, for the
    alignment of two languages: (identity of the part of the scene, position).
    """

    __slots__ = ("kinds", "links", "marks", "named", "nouns", "words")

    def __init__(self):
        self.words: list[str] = []
        self.links: list[Link] = []
        self.kinds: dict[int, str] = {}
        self.named: dict[Thing, int] = {}
        self.nouns: list[int] = []
        self.marks: list[tuple[object, int]] = []

    def write_noun(self, node: object, thing: Thing, word: str, category: str) -> int:
        """Write the noun of a thing, and link it to its last mention."""
        at = len(self.words)
        self.words.append(word)
        self.kinds[at] = category
        self.nouns.append(at)
        self.marks.append((id(node), at))
        before = self.named.get(thing)
        if before is not None:
            self.links.append(Link("again", at, before))
        self.named[thing] = at
        return at

    def write_surname(self, thing: Thing, word: str) -> None:
        """Write the second part of a full name, and link it to the last time that it was said."""
        at = len(self.words)
        self.words.append(word)
        self.marks.append((id(thing.surname), at))
        if self.words.count(word) > 1:
            before = max(i for i in range(at) if self.words[i] == word)
            self.links.append(Link("again", at, before))

    def write_pronoun(self, node: object, thing: Thing, word: str, fits) -> int:
        """Write a pronoun, and link it to the noun that is meant. fits: whether it may stand for another thing."""
        at = len(self.words)
        self.words.append(word)
        self.marks.append((id(node), at))
        meant = self.named.get(thing)
        if meant is not None:
            self.links.append(Link("pronoun", at, meant, self.rivals(thing, fits)))
        return at

    def rivals(self, thing: Thing, fits) -> tuple[int, ...]:
        """Find the other nouns that the pronoun of a thing may stand for."""
        return tuple([at for other, at in self.named.items() if other is not thing and fits(thing, other)])

    def link_subject(self, verb: int, subject: int) -> None:
        """Link a verb to its subject; the nouns in between might be taken for it."""
        first, last = (subject, verb) if subject < verb else (verb, subject)
        between = tuple([at for at in self.nouns if first < at < last]) if last - first > 2 else ()
        self.links.append(Link("subject", verb, subject, between))

    def link_clause(self, subject: object, place: int, verb: int | None, deciding: int | None, fits) -> None:
        """Link a clause's verb to its subject, which stands at `place`, and its deciding word to what it is said of."""
        if verb is not None:
            self.link_subject(verb, place)
        meant = self.named.get(subject.thing)
        if meant is None:
            return
        if meant != place:
            at = verb if deciding is None else deciding
            rivals = tuple([noun for noun in self.rivals(subject.thing, fits) if noun < place])
            self.links.append(Link("about", at, meant, rivals))
        elif deciding is not None:
            between = tuple([noun for noun in self.nouns if meant < noun < deciding])
            self.links.append(Link("about", deciding, meant, between))

    def link_object(self, at: int, verb: int) -> None:
        """Link what something is done to, to the verb."""
        self.links.append(Link("object", at, verb))
