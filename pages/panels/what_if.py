"""What if a head's scores or weights were others: its numbers as a matrix, and the change that chooses them."""

import numpy as np

from attention_core.inputs.chosen import from_places, to_places
from pages.session.view import Scene

STEPS = {"scores": "computed_scores", "weights": "softmax_weights"}  # a step, and what is computed where it is chosen


def numbers(scene: Scene, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A head's scores or weights as they are used, and as they were computed."""
    look, computed = scene.look, STEPS[name]
    here = {"B": look.batch, "H": look.head}
    used = scene.trace.step(name).window(**here)
    chosen = f"chosen_{name}" in scene.trace
    return used, scene.trace.step(computed).window(**here) if chosen else used


def chosen(scene: Scene, name: str, matrix: np.ndarray | None) -> dict[str, str | None]:
    """The change by which a head has these numbers; None takes back what was chosen in it."""
    look, text = scene.look, getattr(scene.setup, name) or ""
    places = from_places(text, tuple(scene.trace["scores"].shape), name)
    computed = numbers(scene, name)[1]
    mine = np.full_like(computed, np.nan) if matrix is None else np.where(matrix == computed, np.nan, matrix)
    places[look.batch, look.head] = mine  # (T, S)
    return {name: to_places(places) or None}
