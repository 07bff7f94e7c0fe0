"""Writes texts about the origins of the input numbers: built by hand, random or edited."""

from collections.abc import Callable

import numpy as np

from attention_core.inputs.matrix_edits import chosen_array, pack_chosen
from attention_core.inputs.matrix_values import ChosenNumbers
from attention_core.inputs.tokenizer import printable_token
from pages.panels.word_roles import tell_word_roles
from pages.runs.run_inputs import RunInputs
from pages.session.view import ScreenState
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

# Step whose numbers a visitor may set -> the step that then has the computed numbers.
WHAT_IF_STEPS = {"scores": "computed_scores", "weights": "computed_weights"}


def describe_origins(setup: Setup, inputs: RunInputs, spell: Callable[[str], str] = escape_markdown) -> str:
    """Returns the text that says which input numbers are built by hand, random or edited.

    spell: a function that formats the words in the text.
    """
    names_by_origin = group_by_origin(setup, inputs)
    sentences = []
    for origin, names in names_by_origin.items():
        listed_names = say("fact.comma").join(names)
        sentences.append(say(f"origin.group.{origin}", names=listed_names))
    sentences += [tell_word_roles(setup, inputs, spell), *explain_dashed_tiles(setup, inputs, spell)]
    return " ".join(filter(None, sentences))


def group_by_origin(setup: Setup, inputs: RunInputs) -> dict[str, list[str]]:
    """Returns {origin: display names of a run's matrices}.

    If the visitor has set numbers of the scores or the weights, this matrix is listed, too, with the origin "typed".
    """
    names_by_origin: dict[str, list[str]] = {}
    for matrix, origin in inputs.origins.items():
        seed = inputs.seeds.get(matrix)
        names = names_by_origin.setdefault(origin, [])
        names.append(name_with_seed(matrix, seed))
    for step in WHAT_IF_STEPS:
        if getattr(setup.run, step) is not None:
            names = names_by_origin.setdefault("typed", [])
            names.append(say(f"edited.{step}"))
    return names_by_origin


def name_with_seed(matrix: str, seed: int | None) -> str:
    """Returns the display name of a matrix, with the seed if it was sampled."""
    name = say("origin.allowed") if matrix == "allowed" else matrix
    if seed is None:
        return name
    return say("origin.seeded", name=name, seed=seed)


def explain_dashed_tiles(setup: Setup, inputs: RunInputs, spell: Callable[[str], str] = escape_markdown) -> list[str]:
    """Returns the sentences that say why word tiles are dashed: all words, or some of them, have random vectors."""
    words = [spell(printable_token(word)) for word in inputs.random_words()]
    if words:
        listed_words = say("fact.comma").join(words)
        return [say("tiles.some_random", words=listed_words, seed=setup.run.seed)]
    if "random" in (*inputs.word_origins, *inputs.key_origins):
        return [say("tiles.all_random")]
    return []


def get_head_numbers(screen: ScreenState, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns a head's scores or weights: those that the run uses, and those computed before the visitor set any.

    Both have shape (T, S).
    """
    trace = screen.trace
    place = {"B": screen.selection.batch, "H": screen.selection.head}
    used = trace.step(name).window(**place)
    if f"chosen_{name}" not in trace:
        return used, used
    computed = trace.step(WHAT_IF_STEPS[name]).window(**place)
    return used, computed


def make_what_if_change(screen: ScreenState, name: str, matrix: np.ndarray | None) -> dict[str, ChosenNumbers | None]:
    """Returns the change of the workbench's state, {field: value}, that sets a head's scores or weights to `matrix`.

    name: "scores" or "weights". matrix: the new numbers; None removes all numbers that were set in this head.
    """
    selection = screen.selection
    shape = screen.trace.step("scores").shape  # (B, H, T, S)
    numbers = chosen_array(getattr(screen.setup.run, name), shape, name)  # NaN where the visitor has set no number
    _, computed = get_head_numbers(screen, name)
    chosen = np.full_like(computed, np.nan)
    if matrix is not None:
        chosen = np.where(matrix == computed, np.nan, matrix)
    numbers[selection.batch, selection.head] = chosen  # (T, S)
    return {name: pack_chosen(numbers)}
