"""The words of the grammar: nouns, names, qualities and verbs, each with its forms in both languages."""

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

DATA_FOLDER = Path(__file__).parent
GENDERS = {"woman": "f", "man": "m", "person": "fm", "name-f": "f", "name-m": "m"}  # of all other kinds: n, a thing
GROUPS = {  # of kinds, as frames name them
    "name": "name-f name-m",
    "adult": "woman man person",
    "people": "woman man person name-f name-m",
    "being": "woman man person name-f name-m animal",
    "ware": "clothes vehicle device object furniture",
}


class Noun(NamedTuple):
    """A noun or a name. genders: the letters of the pronouns that fit it. plural: "" where there is none.

    is_plural_only: it is always many, as noodles are. is_kin: 我 妈妈 is said without 的.
    """

    word: str
    plural: str
    chinese: str
    measure: str
    kind: str
    genders: str
    is_plural_only: bool = False
    is_kin: bool = False


class Quality(NamedTuple):
    """An adjective. predicate: what Chinese says for "is so", where that is no degree and adjective."""

    word: str
    chinese: str
    needs_de: bool
    predicate: tuple[str, ...]


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
    """Read what a line of nouns.toml says: Chinese, measure word, and the plural where it is irregular."""
    chinese, measure, *irregular = entry.split()
    said = irregular[0] if irregular else word + "s"
    plural = {"-": "", "-p": word}.get(said, said)
    is_kin = chinese.startswith("~")
    return Noun(word, plural, chinese.lstrip("~"), measure, kind, GENDERS.get(kind, "n"), said == "-p", is_kin)


@cache
def load_nouns() -> dict[str, Noun]:
    """Load all nouns by their English word, without names."""
    nouns = {}
    for kind, lines in read_data("nouns").items():
        nouns |= {word: read_noun(word, kind, entry) for word, entry in lines.items()}
    return nouns


@cache
def load_names() -> dict[str, Noun]:
    """Load first names and surnames by their English word."""
    names = {}
    for kind, lines in read_data("names").items():
        gender = GENDERS.get(kind, "")
        names |= {word: Noun(word, "", chinese, "", kind, gender) for word, chinese in lines.items()}
    return names


@cache
def find_nouns(choice: str) -> tuple[Noun, ...]:
    """Find the nouns that a frame allows: kinds, groups of kinds, and single nouns, with spaces between them.

    >>> [noun.word for noun in find_nouns("furniture door")][:2], find_nouns("door")[0].chinese
    (['table', 'chair'], '门')
    """
    everything = {**load_names(), **load_nouns()}
    found = []
    for part in choice.split():
        kinds = GROUPS.get(part, part).split()
        of_kind = [noun for noun in everything.values() if noun.kind in kinds]
        found += of_kind or [everything[part]]
    return tuple(dict.fromkeys(found))


# ---- qualities -------------------------------------------------------------------------------------------------------
def read_quality(name: str, entry: str) -> Quality:
    """Read what a line of qualities.toml says; what stands behind _ in a name is not said: old_thing is old, too."""
    chinese, _, predicate = entry.partition(":")
    return Quality(name.partition("_")[0], chinese.rstrip("+"), not chinese.endswith("+"), tuple(predicate.split()))


@cache
def load_qualities() -> dict[str, Quality]:
    """Load all qualities by their name."""
    return {name: read_quality(name, entry) for name, entry in read_data("qualities")["quality"].items()}


# ---- verbs -----------------------------------------------------------------------------------------------------------
def regular_forms(base: str) -> Verb:
    """Give the forms of a regular verb.

    >>> regular_forms("bake"), regular_forms("help").third
    (Verb(base='bake', third='bakes', past='baked', participle='baked', doing='baking'), 'helps')
    """
    stem = base[:-1] if base.endswith("e") else base
    return Verb(base, base + "s", stem + "ed", stem + "ed", stem + "ing")


@cache
def find_verb(base: str) -> Verb:
    """Find the forms of an English verb: those of verbs.toml, else the regular ones."""
    irregular = load_irregular_verbs().get(base)
    regular = regular_forms(base)
    if not irregular:
        return regular
    pairs = zip(irregular.split(), regular[1:], strict=True)
    forms = [usual if form == "." else form for form, usual in pairs]
    return Verb(base, *forms)


@cache
def load_irregular_verbs() -> dict[str, str]:
    """Load the forms of irregular verbs as they are written."""
    return read_data("verbs")["verb"]
