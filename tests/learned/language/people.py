"""Sentences as people type them, with the noun that is meant; and how well a model and the simple rule do on them.

`python -m tests.learned.language.people` prints it of each model that comes along, and keeps in students.json how often
it is right on the hundred sentences of students, and how often that is marked as a guess.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

from attention_core.learned.grammar import cut_words
from attention_core.learned.language.batches import START
from attention_core.learned.language.guessing import STUDENTS, Judgement, Reference, StudentFigures, judge_sentence
from attention_core.learned.language.measures import CLEAR
from attention_core.learned.language.reading import read_tokens
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import load_recipe, shipped_names

PIECES = re.compile(r"(\*[^*]+\*|\[[^]]+\])")


class TypedSentence(NamedTuple):
    """A typed sentence.

    group: the heading above it. words: behind START. pronoun: its position. meant: the positions of the noun that it
    means, none where it means none. roles: what somebody says of unknown words, as read_tokens takes it.
    """

    group: str
    words: tuple[str, ...]
    pronoun: int
    meant: tuple[int, ...]
    roles: dict[str, str]


def read_people(language: str, name: str = "people") -> list[TypedSentence]:
    """The sentences of a language. name: of the file: people, development or hundred."""
    found, group = [], ""
    for line in (Path(__file__).parent / f"{name}_{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# -- "):
            group = line[5:]
        elif line and not line.startswith("#"):
            found.append(read_line(group, line, language))
    return found


def read_line(group: str, line: str, language: str) -> TypedSentence:
    """Read one line."""
    sentence, _, said = line.partition("|")
    words, meant, pronoun = [START], (), -1
    for piece in PIECES.split(sentence):
        cut = cut_words(piece.strip("*[]"), language)
        if piece.startswith("*"):
            meant = tuple(range(len(words), len(words) + len(cut)))
        elif piece.startswith("["):
            pronoun = len(words)
        words += cut
    roles = dict(part.strip().split("=") for part in said.split(",") if part.strip())
    return TypedSentence(group, tuple(words), pronoun, meant, roles)


class Said(NamedTuple):
    """What is said of a typed sentence. right, rule_right: whether the model and the rule name what is meant."""

    sentence: TypedSentence
    judgement: Judgement
    right: bool
    rule_right: bool
    reference: Reference


def asked_models() -> list[str]:
    """The models that come along and are asked whom a pronoun means."""
    return [name for name in shipped_names() if RECIPES[name].kind == "asked"]


def ask_people(name: str, with_roles: bool = False) -> list[Said]:
    """What a model says of the sentences of its language. with_roles: whether unknown words are read as categories."""
    found = []
    for sentence in read_people(load_recipe(name).language):
        judgement = judge_sentence(name, read_tokens(name, sentence.words, sentence.roles if with_roles else {}))
        (said,) = [each for each in judgement.references if each.pronoun == sentence.pronoun]
        meant = sentence.meant or (None,)
        found.append(Said(sentence, judgement, said.answer.word in meant, said.rule in meant, said))
    return found


def measure_students(name: str) -> StudentFigures:
    """How often a model is right on the sentences of students, and how often that is marked."""
    asked = []
    for sentence in read_people(load_recipe(name).language, "hundred"):
        judgement = judge_sentence(name, read_tokens(name, sentence.words, {}))
        asked += [(sentence, each) for each in judgement.references if each.pronoun == sentence.pronoun]
    rights = [each.answer.word in (sentence.meant or (None,)) for sentence, each in asked]
    marks = [bool(each.doubts) for _, each in asked]
    unmarked = [right for right, mark in zip(rights, marks, strict=True) if not mark]
    right_marked = sum(right and mark for right, mark in zip(rights, marks, strict=True))
    return StudentFigures(len(asked), sum(rights), len(unmarked), unmarked.count(False), right_marked)


def keep_students() -> None:
    """Measure all models on the sentences of students, and keep the figures that the app tells."""
    figures = {name: vars(measure_students(name)) for name in asked_models()}
    STUDENTS.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def count_people(said: list[Said]) -> dict[str, tuple[int, int]]:
    """How often something holds, and of how many."""
    wrong = [each for each in said if not each.right]
    known = [each for each in said if not each.judgement.outside]
    return {
        "right": count(each.right for each in said),
        "rule right": count(each.rule_right for each in said),
        "outside": count(each.judgement.outside for each in said),
        "wrong that are outside": count(each.judgement.outside for each in wrong),
        "inside that are right": count(each.right for each in known),
        "inside, agreed that are right": count(each.right for each in known if each.reference.is_agreed),
        "wrong with a weight over .6": count(each.reference.answer.weight > CLEAR for each in wrong),
    }


def count(holds) -> tuple[int, int]:
    """How many hold, and how many there are."""
    each = list(holds)
    return sum(each), len(each)


def print_people() -> None:
    """Print the counts of each model, and by group how often it and the rule are right."""
    for name in asked_models():
        for with_roles in (False, True):
            said = ask_people(name, with_roles)
            counts = ", ".join(f"{what} {some} of {all_}" for what, (some, all_) in count_people(said).items())
            print(f"{name}, {'categories' if with_roles else 'as typed'}: {counts}")
            for group in dict.fromkeys(each.sentence.group for each in said):
                counts = count_people([each for each in said if each.sentence.group == group])
                shown = (
                    f"{what} {counts[what][0]} of {counts[what][1]}" for what in ("right", "rule right", "outside")
                )
                print(f"  {group}: {', '.join(shown)}")


if __name__ == "__main__":
    print_people()
    keep_students()
