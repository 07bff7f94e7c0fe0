"""Prepares the view in which the visitor drags vectors on a plane, and applies the dragged vector or temperature."""

from collections.abc import Callable, Mapping

import numpy as np

from attention_core import Trace
from attention_core.exercises.plane_goals import HEAD, PlaneGoal, is_reached, plane_goals
from attention_core.inputs.moved_vectors import VectorSource, find_vector_source, least_change
from attention_core.inputs.tokenizer import printable_token
from attention_core.mechanism.operations import kv_head
from attention_core.record.number_text import format_percent
from pages.panels.live_slider import TEMPERATURE_RANGE
from pages.panels.setup_controls import try_change, try_matrix
from pages.session.view import ScreenState, current_screen
from pages.setup.resolve import config_of
from pages.setup.setup import Setup
from pages.site.words import get_text_template, say

ROLES = ("q", "k", "v")
CONTROL = "plane"  # name under which the error of a refused drag is stored
SWAPPED_NAMES = {"w_q": "w_k", "w_k": "w_q"}  # matrix -> the matrix used instead if W_q and W_k are swapped
LABELS = (
    *("keys", "values", "shares", "temperature", "hint", "hint_touch", "zero", "waits", "follows", "reached"),
    *("across", "up", "lines"),
)
TEMPLATES = ("handle", "hint_some", "rows", "left_out_query", "left_out_score", "left_out_value")


# ---- what the browser draws ------------------------------------------------------------------------------------------
def make_plane_data(screen: ScreenState) -> dict:
    """Returns the data of the view in which vectors are dragged: q, k and v, the handle for the temperature, and the
    goals.

    The data's field `is_product` says whether a score is the dot product of q and k; the field `opens` is the view that
    is shown first, "plane" or "flow".
    """
    trace = screen.trace
    goals = list_goals(screen)
    least, most = temperature_bounds(screen.setup)
    return {
        "roles": {role: describe_role(screen, role) for role in ROLES},
        "is_product": trace.step("scores").operation.reads == ("q", "k"),
        "temperature": {
            "step": "scaled_scores",
            "parameter": "temperature",
            "least": least,
            "most": most,
        },
        "goals": [describe_goal(trace, goal) for goal in goals],
        "opens": "plane" if goals else "flow",
    }


def temperature_bounds(setup: Setup) -> tuple[float, float]:
    """Returns the range of the handle that changes the temperature, widened to include the current value."""
    least, most = TEMPERATURE_RANGE
    return min(least, setup.run.temperature), max(most, setup.run.temperature)


def plane_text() -> dict[str, str]:
    """Returns {name: text} of the texts in the view in which vectors are dragged."""
    texts = {name: say(f"flow.plane.{name}") for name in LABELS}
    return texts | {name: get_text_template(f"flow.plane.{name}") for name in TEMPLATES}


def describe_role(screen: ScreenState, role: str) -> dict:
    """Returns two texts: what the vectors q, k or v are computed from, and why they cannot be dragged ("" if they can).

    role: "q", "k" or "v".
    """
    source = find_vector_source(screen.trace, role)
    why = find_obstacle(screen, role, source)
    return {**vars(source), "why": say(f"flow.plane.why.{why}") if why else ""}


def find_obstacle(screen: ScreenState, role: str, source: VectorSource) -> str | None:
    """Returns the name of the reason why the vectors q, k or v cannot be dragged; None if they can be dragged."""
    if source.kind == "turned" and not config_of(screen.setup.run).positions_at("heads"):
        return "normed"
    if source.kind in ("same", "turned"):
        return source.kind
    if source.kind == "given":
        return None if role in screen.inputs.matrices else "brought"
    if "tied" in screen.setup.run.wiring:
        return "tied"
    return None


# ---- goals -----------------------------------------------------------------------------------------------------------
def list_goals(screen: ScreenState) -> tuple[PlaneGoal, ...]:
    """Returns the example's goals for dragging vectors.

    Returns () if the words are not the example's, or if there are several heads.
    """
    setup = screen.setup
    others = (setup.run.text, setup.run.more, setup.run.x, setup.run.q, setup.run.file)
    has_other_words = any(each is not None for each in others)
    if has_other_words or screen.trace.sizes()["H"] != 1:
        return ()
    return plane_goals(setup.run.example)


def describe_goal(trace: Trace, goal: PlaneGoal) -> dict:
    """Returns a goal as data for the browser, with its sentence and with whether the run reaches the goal."""
    first, *_ = goal.bounds
    words = [printable_token(word) for word in trace.labels["S"]]
    text = say(
        f"flow.plane.goal.{goal.name}",
        query=words[goal.query],
        first=words[first.key],
        second=words[goal.other],
        share=format_percent(first.least),
    )
    bounds = [vars(bound) for bound in goal.bounds]
    return {
        "query": goal.query,
        "head": HEAD,
        "bounds": bounds,
        "kept": goal.kept,
        "text": text,
        "reached": is_reached(goal, trace),
    }


# ---- a handle is released --------------------------------------------------------------------------------------------
def take_release(released: Mapping) -> None:
    """Applies the new temperature, or the new vector, after the visitor has released a dragged handle."""
    if released["handle"] == "temperature":
        try_change("temperature", temperature=float(released["value"]))
        return
    screen, role = current_screen(), released["handle"]
    place = (released["batch"], released["head"], released["place"])
    vector = np.array(released["vector"], dtype=np.float64)
    if is_place(screen.trace, role, place) and len(vector) == screen.trace.step(role).shape[-1]:
        move_vector(screen, role, place, vector)


def is_place(trace: Trace, role: str, place: tuple[int, int, int]) -> bool:
    """Returns whether a run has a vector q, k or v (`role`) at `place`, an index (sentence, query head, word)."""
    batch, head, word = place
    batches, _, words, _ = trace.step(role).shape
    return batch < batches and head < trace.sizes()["H"] and word < words


def move_vector(screen: ScreenState, role: str, place: tuple[int, int, int], wanted: np.ndarray) -> None:
    """Changes a matrix as little as possible so that a word's q, k or v gets the wanted value, (d,).

    The matrix is that from which the vector is computed. Does nothing if the vector cannot be dragged. place:
    (sentence, query head, word).
    """
    source = find_vector_source(screen.trace, role)
    if find_obstacle(screen, role, source) is not None:
        return
    name = name_of_matrix(screen.setup, role, source)
    read = make_reader(screen, role, source, place, wanted)
    try_matrix(CONTROL, name, read, screen.inputs.bases.get(name))


def name_of_matrix(setup: Setup, role: str, source: VectorSource) -> str:
    """Returns the Setup's name of the matrix from which the layer computes q, k or v (`role`)."""
    if source.weight is None:
        return role
    return SWAPPED_NAMES.get(source.weight, source.weight) if "swapped" in setup.run.wiring else source.weight


def make_reader(
    screen: ScreenState, role: str, source: VectorSource, place: tuple[int, int, int], wanted: np.ndarray
) -> Callable[[], np.ndarray]:
    """Returns a function that computes the matrix with which a word gets the wanted q, k or v; this function may raise
    AttentionError.
    """
    trace = screen.trace
    batch, head, word = place
    vectors = trace.step(role).window()[batch]  # (H or H_kv, T or S, d)
    heads, _, width = vectors.shape
    own_head = kv_head(head, trace.sizes()["H"], heads)
    change = wanted - vectors[own_head, word]
    x = read_source_row(trace, role, source, (batch, word))
    matrix = screen.inputs.matrices[name_of_matrix(screen.setup, role, source)]
    return lambda: least_change(matrix, x, change, own_head * width)


def read_source_row(trace: Trace, role: str, source: VectorSource, place: tuple[int, int]) -> np.ndarray:
    """Returns the row x of a word, which is multiplied by the matrix of q, k or v.

    If the vectors are given without a projection, the row is that of an identity matrix. place: (sentence, word).
    """
    batch, word = place
    if source.weight is None:
        words = trace.step(role).shape[-2]
        return np.eye(words)[word]
    return trace.step(source.source).window()[batch, word]
