"""Where the numbers of the inputs come from, in words."""

from collections.abc import Callable

import numpy as np

from attention_core.inputs.matrix_edits import from_places, to_places
from attention_core.inputs.tokenizer import printable_token
from pages.runs.run_inputs import RunInputs
from pages.session.view import ScreenState
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def describe_origins(setup: Setup, material: RunInputs, spell: Callable[[str], str] = escape_markdown) -> str:
    """Which numbers are built by hand, random, edited. spell: how words are written in it."""
    names: dict[str, list[str]] = {}
    for name, origin in material.origins.items():
        seed = material.seeds.get(name)
        called = say("origin.allowed") if name == "allowed" else name
        names.setdefault(origin, []).append(called if seed is None else say("origin.seeded", name=called, seed=seed))
    for step in WHAT_IF_STEPS:
        if getattr(setup, step) is not None:
            names.setdefault("typed", []).append(say(f"edited.{step}"))
    parts = [say(f"origin.group.{origin}", names=say("fact.comma").join(group)) for origin, group in names.items()]
    return " ".join([*parts, *explain_dashed_tiles(setup, material, spell)])


def explain_dashed_tiles(setup: Setup, material: RunInputs, spell: Callable[[str], str] = escape_markdown) -> list[str]:
    """Why tiles are dashed: all of them, or some words, got random vectors."""
    words = [spell(printable_token(word)) for word in material.random_words()]
    if words:
        return [say("tiles.some_random", words=say("fact.comma").join(words), seed=setup.seed)]
    return [say("tiles.all_random")] if "random" in (*material.word_origins, *material.key_origins) else []


WHAT_IF_STEPS = {
    "scores": "computed_scores",
    "weights": "softmax_weights",
}  # a step, and what is computed where it is chosen


def get_head_numbers(scene: ScreenState, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A head's scores or weights as they are used, and as they were computed."""
    look, computed = scene.look, WHAT_IF_STEPS[name]
    here = {"B": look.batch, "H": look.head}
    used = scene.trace.step(name).window(**here)
    chosen = f"chosen_{name}" in scene.trace
    return used, scene.trace.step(computed).window(**here) if chosen else used


def make_what_if_change(scene: ScreenState, name: str, matrix: np.ndarray | None) -> dict[str, str | None]:
    """The change by which a head has these numbers; None takes back what was chosen in it."""
    look, text = scene.look, getattr(scene.setup, name) or ""
    places = from_places(text, tuple(scene.trace["scores"].shape), name)
    computed = get_head_numbers(scene, name)[1]
    mine = np.full_like(computed, np.nan) if matrix is None else np.where(matrix == computed, np.nan, matrix)
    places[look.batch, look.head] = mine  # (T, S)
    return {name: to_places(places) or None}
