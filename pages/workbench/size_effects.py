"""The line under the sizes: the effect of the last change of a size on the matrices."""

from dataclasses import replace

from pages.runs.cache import inputs_of
from pages.runs.size_changes import MatrixFate, is_resized, list_fates
from pages.session import setup_state
from pages.session.view import ScreenState
from pages.site.words import escape_markdown, say


def describe_size_effects(screen: ScreenState) -> str:
    """Returns the sentences about the effect on each matrix; "" if the last change did not resize matrices."""
    before = setup_state.setup_before()
    if before is None or not is_resized(before.run, screen.setup.run):
        return ""
    fates = list_fates((before.run, inputs_of(before)), (screen.setup.run, screen.inputs))
    return " ".join(say_fate(names, fate) for fate, names in group_alike(fates).items())


def group_alike(fates: list[MatrixFate]) -> dict[MatrixFate, list[str]]:
    """Groups the names of matrices with the same effect: {effect without a name: names}."""
    names: dict[MatrixFate, list[str]] = {}
    for fate in fates:
        names.setdefault(replace(fate, name=""), []).append(fate.name)
    return names


def say_fate(names: list[str], fate: MatrixFate) -> str:
    """Returns one sentence about matrices with the same effect."""
    figures = dict(vars(fate))
    kind = figures.pop("kind")
    del figures["name"]  # the name of one matrix; the sentence lists the names of all
    shown = say("fact.comma").join(map(name_matrix, names))
    return say(f"resized.{kind}", names=escape_markdown(shown), **figures)


def name_matrix(name: str) -> str:
    """Returns the name of a matrix in formulas: W_q, X."""
    return name[0].upper() + name[1:] if name[0] in "wx" else name
