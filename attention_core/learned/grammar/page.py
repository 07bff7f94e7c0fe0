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

    kinds: by position, the category that may stand for a word. named: each thing and where its noun stood last. nouns:
    where nouns stand. marks: what was said where, for the alignment of two languages: (the identity of a part of the
    scene, position).
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
        """Write a word that says a part of the scene, and give its position."""
        at = len(self.words)
        self.words.append(word)
        self.marks.append((mark, at))
        if category:
            self.kinds[at] = category
        return at

    def add_noun(self, node: object, thing: Thing, word: str, category: str) -> int:
        """Write the noun of a thing, and link it to its last mention."""
        at = self.add_word(word, id(node), category)
        self.nouns.append(at)
        before = self.named.get(thing)
        if before is not None:
            self.links.append(Link("again", at, before))
        self.named[thing] = at
        return at

    def add_surname(self, thing: Thing, word: str) -> None:
        """Write the second part of a full name, and link it to the last time that it was said."""
        earlier = [at for at, said in enumerate(self.words) if said == word]
        at = self.add_word(word, id(thing.surname))
        if earlier:
            self.links.append(Link("again", at, earlier[-1]))

    def add_pronoun(self, node: object, thing: Thing, word: str) -> int:
        """Write a pronoun, and link it to the noun that is meant."""
        at = self.add_word(word, id(node))
        meant = self.named.get(thing)
        if meant is not None:
            self.links.append(Link("pronoun", at, meant, self.rivals(thing)))
        return at

    # ---- links -------------------------------------------------------------------------------------------------------
    def may_mean(self, thing: Thing, other: Thing) -> bool:
        """Tell whether the pronoun of a thing fits another thing, too."""
        raise NotImplementedError

    def rivals(self, thing: Thing) -> tuple[int, ...]:
        """Find the other nouns that the pronoun of a thing may stand for."""
        return tuple([at for other, at in self.named.items() if other is not thing and self.may_mean(thing, other)])

    def link_subject(self, verb: int, subject: int) -> None:
        """Link a verb to its subject; the nouns in between might be taken for it."""
        first, last = (subject, verb) if subject < verb else (verb, subject)
        between = tuple([at for at in self.nouns if first < at < last]) if last - first > 2 else ()
        self.links.append(Link("subject", verb, subject, between))

    def link_object(self, at: int, verb: int) -> None:
        """Link what something is done to, to the verb."""
        self.links.append(Link("object", at, verb))

    def link_deciding(self, deciding: int, thing: Thing, subject: int) -> None:
        """Link the word that decides to the noun of which it is said. subject: where the clause has its subject."""
        meant = self.named.get(thing)
        if meant is None:
            return
        if meant == subject:
            others = tuple([noun for noun in self.nouns if meant < noun < deciding])
        else:
            others = tuple([noun for noun in self.rivals(thing) if noun < subject])
        self.links.append(Link("about", deciding, meant, others))
