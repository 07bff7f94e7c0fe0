"""Defines the words of the grammar: nouns, names, adjectives ("qualities") and verbs, each with its forms in both
languages.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

DATA_FOLDER = Path(__file__).parent
GENDERS = {
    "woman": "f",
    "man": "m",
    "person": "fm",
    "infant": "fm",
    "name-f": "f",
    "name-m": "m",
}  # kind of noun -> the genders that it may have; nouns of other kinds are neuter ("n")
VOWELS = "aeiou"
HISSING = ("s", "sh", "ch", "x", "z")  # verbs with these endings take -es in the third person
GROUPS = {  # name of a group in the data files -> its kinds of nouns
    "name": "name-f name-m",
    "adult": "woman man person",
    "people": "woman man person name-f name-m",
    "being": "woman man person name-f name-m animal",
    "ware": "garment vehicle device object furniture",
}


@dataclass(frozen=True, eq=False, slots=True)
class Noun:
    """A noun or a name, in both languages.

    plural: the English plural; "" if it has none. genders: the letters of the genders that its pronouns may have: "f",
    "m", "n". is_plural_only: whether the noun is always plural, as noodles is. is_kin: whether its owner is written
    without 的, as in 我 妈妈.
    """

    word: str
    plural: str
    chinese: str
    measure: str
    kind: str
    genders: str
    is_plural_only: bool = False
    is_kin: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Quality:
    """An adjective that a noun may have, in English and Chinese.

    predicate: the words of its Chinese predicate; () if the predicate is a degree and the adjective. needs_de: whether
    的 follows it before a noun. fits: the nouns that may have it. is_predicate_only: whether it is only a predicate,
    never before its noun.
    """

    word: str
    chinese: str
    needs_de: bool
    predicate: tuple[str, ...]
    fits: tuple[Noun, ...]
    is_predicate_only: bool


class Verb(NamedTuple):
    """The forms of an English verb."""

    base: str
    third: str
    past: str
    participle: str
    doing: str


def read_data(name: str) -> dict:
    """Read a TOML file of the grammar."""
    return tomllib.loads((DATA_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


# ---- nouns -----------------------------------------------------------------------------------------------------------
def read_noun(word: str, kind: str, entry: str) -> Noun:
    """Parse one noun's line of nouns.toml: the Chinese noun, its measure word, and the English plural if it is
    irregular.
    """
    chinese, measure, *irregular = entry.split()
    said = irregular[0] if irregular else word + "s"
    plural = {"-": "", "-p": word}.get(said, said)
    is_kin = chinese.startswith("~")
    return Noun(word, plural, chinese.lstrip("~"), measure, kind, GENDERS.get(kind, "n"), said == "-p", is_kin)


@cache
def load_nouns() -> dict[str, Noun]:
    """Load {English word: noun} of all nouns, without names."""
    nouns = {}
    for kind, lines in read_data("nouns").items():
        nouns |= {word: read_noun(word, kind, entry) for word, entry in lines.items()}
    return nouns


@cache
def load_names() -> dict[str, Noun]:
    """Load {English word: noun} of first names and surnames."""
    names = {}
    for kind, lines in read_data("names").items():
        gender = GENDERS.get(kind, "")
        names |= {word: Noun(word, "", chinese, "", kind, gender) for word, chinese in lines.items()}
    return names


@cache
def find_nouns(choice: str) -> tuple[Noun, ...]:
    """Return the nouns that an entry of a data file names by kinds, groups of kinds, and single nouns, separated by
    spaces.

    >>> [noun.word for noun in find_nouns("furniture door")][:2], find_nouns("door")[0].chinese
    (['table', 'chair'], '门')
    """
    everything = {**load_names(), **load_nouns()}
    found = []
    for part in choice.split():
        kinds = GROUPS.get(part, part).split()
        of_kinds = [noun for noun in everything.values() if noun.kind in kinds]
        found += of_kinds or [everything[part]]
    return tuple(dict.fromkeys(found))


# ---- qualities -------------------------------------------------------------------------------------------------------
def read_quality(name: str, entry: str) -> Quality:
    """Parse one adjective's line of qualities.toml.

    name: the English word; if several adjectives have the same word, a suffix after "_" distinguishes them.
    """
    said, _, fits = entry.partition(">")
    chinese, _, predicate = said.strip().partition(":")
    word, _, _ = name.partition("_")
    is_short = chinese.endswith("+")
    is_predicate_only = chinese.endswith("!")
    said_alone = chinese.rstrip("+!")
    return Quality(word, said_alone, not is_short, tuple(predicate.split()), find_nouns(fits), is_predicate_only)


@cache
def load_qualities() -> dict[str, Quality]:
    """Load {name: quality} of all qualities."""
    lines = [line for section in read_data("qualities").values() for line in section.items()]
    return {name: read_quality(name, entry) for name, entry in lines}


@cache
def qualities_before(noun: Noun) -> tuple[Quality, ...]:
    """Return the qualities (adjectives) that may be put before a noun."""
    return tuple(quality for quality in qualities_of(noun) if not quality.is_predicate_only)


@cache
def qualities_of(noun: Noun) -> tuple[Quality, ...]:
    """Return the qualities (adjectives) that a noun may have, before it or as a predicate."""
    return tuple(quality for quality in load_qualities().values() if noun in quality.fits)


# ---- verbs -----------------------------------------------------------------------------------------------------------
def regular_forms(base: str) -> Verb:
    """Return the forms of a regular English verb.

    >>> regular_forms("bake"), regular_forms("wash").third, regular_forms("carry").past
    (Verb(base='bake', third='bakes', past='baked', participle='baked', doing='baking'), 'washes', 'carried')
    """
    stem = base[:-1]
    if base[-1] == "y" and base[-2] not in VOWELS:
        return Verb(base, stem + "ies", stem + "ied", stem + "ied", base + "ing")
    ending = "es" if base.endswith(HISSING) else "s"
    third = base + ending
    if not base.endswith("e"):
        stem = base
    doing = base + "ing" if base.endswith("ee") else stem + "ing"
    return Verb(base, third, stem + "ed", stem + "ed", doing)


@cache
def find_verb(base: str) -> Verb:
    """Return the forms of an English verb, from verbs.toml if it is irregular."""
    irregular = load_irregular_verbs().get(base)
    regular = regular_forms(base)
    if irregular is None:
        return regular
    forms = map(choose_form, irregular.split(), regular[1:])
    return Verb(base, *forms)


def choose_form(form: str, regular: str) -> str:
    """Return `form`, or the regular form if `form` is ".", as in the table of irregular verbs."""
    return regular if form == "." else form


@cache
def load_irregular_verbs() -> dict[str, str]:
    """Load {base form: other forms, separated by spaces} of the irregular verbs."""
    return read_data("verbs")["verb"]
