"""Samples what a scene (who does what) consists of: nouns, how they are first mentioned, and held-out pairs of
nouns.
"""

from collections.abc import Sequence
from typing import Protocol
from zlib import crc32

import torch
from torch import Generator

from attention_core.learned.grammar.concepts import Noun, Quality, qualities_before
from attention_core.learned.grammar.function_words import DETERMINERS, FIRST_MENTION
from attention_core.learned.grammar.scene import Mention, Thing

DESCRIBED = {"subject": 0.06, "object": 0.1, "head": 0, "either": 0}  # grammatical role -> probability of an adjective
HELD_OUT_SHARE = 8  # one in this many pairs of nouns is held out


class RandomNumbers(Protocol):
    """A source of random numbers with the method `random`, such as random.Random."""

    def random(self) -> float:
        """Sample a number that is at least 0 and less than 1."""


def held_out_pair(noun: str, other: str) -> bool:
    """Return whether two nouns are a held-out pair, which never occurs in training texts.

    About one pair in eight is held out.

    >>> held_out_pair("cat", "dog") == held_out_pair("dog", "cat")
    True
    """
    first, second = sorted((noun, other))
    return crc32(f"{first} {second}".encode()) % HELD_OUT_SHARE == 0


class Draw:
    """The random choices of one scene (who does what), which is then written in both languages.

    pairs: the pairs of nouns to which a pronoun might refer, in the order of sampling. part: "train"; "held" if the
    first pair of nouns must be one that training leaves out; "frames" if the frame (event with two nouns and reasons)
    must be.
    """

    __slots__ = ("pairs", "part", "random")

    def __init__(self, rng: RandomNumbers, part: str):
        self.random = rng.random
        self.part = part
        self.pairs: list[tuple[str, str]] = []

    def pick(self, options: Sequence):
        """Choose one of the options; all have the same probability."""
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.random() < probability

    # ---- things ------------------------------------------------------------------------------------------------------
    def thing(self, nouns: Sequence[Noun], many: float = 0.15) -> Thing:
        """Sample a person, an animal or a thing: one of these nouns, singular or plural.

        many: the probability that it is plural.
        """
        noun = self.pick(nouns)
        return self.thing_of(noun, many)

    def thing_of(self, noun: Noun, many: float = 0.15) -> Thing:
        """Return a thing with this noun, and sample whether it is plural.

        Its gender is sampled, too, if the noun allows both genders. many: the probability that it is plural.
        """
        if noun.is_plural_only:
            return Thing(noun, "n", True)
        is_many = bool(noun.plural) and self.random() < many
        gender = noun.genders
        if gender == "fm":
            gender = "m" if is_many or self.random() < 0.5 else "f"
        return Thing(noun, gender, is_many)

    def second(self, first: Thing, nouns: Sequence[Noun], many: float = 0.15) -> Thing | None:
        """Sample a second thing whose noun forms a held-out pair with the first exactly if the scene needs one; None if
        that fails.

        Returns None after 40 failures. many: the probability that the thing is plural.
        """
        if first.speaker:
            return self.thing(nouns, many)
        word = first.noun.word
        wanted = self.part == "held" and not self.pairs
        for _ in range(40):
            noun = self.pick(nouns)
            if noun.word != word and held_out_pair(word, noun.word) == wanted:
                self.pairs.append((word, noun.word))
                return self.thing_of(noun, many)
        return None

    # ---- mentions ----------------------------------------------------------------------------------------------------
    def mention(self, thing: Thing, role: str = "subject") -> Mention:
        """Return the first mention of a thing, with a sampled determiner and, sometimes, a sampled adjective.

        role: "subject", "object", "head" (with a relative clause) or "either" (a subject or object to which a later
        pronoun may refer).
        """
        noun = thing.noun
        if not noun.measure:
            return Mention(thing, DETERMINERS[""])
        quality = self.quality_of(noun) if self.random() < DESCRIBED[role] else None
        return Mention(thing, self.pick(FIRST_MENTION[role, number_of(thing)]), quality)

    def counted(self, thing: Thing) -> Mention:
        """Return the mention of a thing after "there is": "a dog", "two dogs", "some meat"."""
        if thing.many:
            return Mention(thing, DETERMINERS[self.pick(("two", "three", "some", "many"))])
        return Mention(thing, DETERMINERS["a" if thing.noun.plural else "some"])

    def quality_of(self, noun: Noun) -> Quality | None:
        """Sample an adjective (quality) to put before a noun; None if no adjective fits the noun."""
        options = qualities_before(noun)
        return self.pick(options) if options else None

    def known(self, thing: Thing) -> Mention:
        """Return a later mention of a thing by its noun with a definite determiner: "the dog"."""
        if not thing.noun.measure:
            return Mention(thing, DETERMINERS[""])
        if not thing.many:
            return Mention(thing, DETERMINERS["the"])
        return Mention(thing, DETERMINERS["the things" if thing.gender == "n" else "the people"])


def number_of(thing: Thing) -> str:
    """Return "one", "kin", "people" or the like for a thing, which determines how the thing is first mentioned.

    It is the second part of a key of FIRST_MENTION.
    """
    if thing.many:
        return "things" if thing.gender == "n" else "people"
    if thing.noun.is_kin:
        return "kin"
    if thing.noun.kind in ("woman", "man"):
        return "stranger"
    return "one" if thing.noun.plural else "mass"


# ---- random numbers for the choices, from a generator of torch -------------------------------------------------------
DRAWN_AT_ONCE = 4096


class DrawnNumbers:
    """Random numbers from 0 to 1 from a torch generator, sampled in blocks and returned one by one.

    >>> one, same = (DrawnNumbers(Generator().manual_seed(3)) for _ in range(2))
    >>> [one.random() for _ in range(5)] == [same.random() for _ in range(5)]
    True
    """

    def __init__(self, generator: Generator):
        self.generator = generator
        self.left: list[float] = []

    @classmethod
    def drawn_from(cls, generator: Generator) -> "DrawnNumbers":
        """Return a source of random numbers, seeded once from `generator`, which is not used after that."""
        seed = torch.randint(2**62, (1,), generator=generator)
        return cls(Generator().manual_seed(seed.item()))

    def random(self) -> float:
        """Return the next number, at least 0 and below 1."""
        if not self.left:
            drawn = torch.rand(DRAWN_AT_ONCE, generator=self.generator, dtype=torch.float64)
            self.left = drawn.tolist()
        return self.left.pop()
