"""Draws the small pictures of the glossary's symbols: a matrix with its axes, a drawing, or numbers of a run."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F

from attention_core import Trace
from attention_core.analysis.softmax_steps import with_jacobian
from attention_core.drawing.small_pictures import (
    WHOLE_FIELD,
    Box,
    Shape,
    arc_shapes,
    arrow_shapes,
    bar_shapes,
    block_shapes,
    function_shapes,
    map_shapes,
    matrix_shapes,
    shape,
    shared_head_shapes,
    signed_map_shapes,
    spread_evenly,
    text_shape,
    thread_shapes,
)
from attention_core.inputs.given_scores import as_scores, read_logits
from pages.runs.cache import cache_measurement, trace_for
from pages.session.labels import Selection, selection_of
from pages.setup.setup import make_setup

SENTENCE = "en_it"
LOGITS = "2, 1, 0, -1"
CELLS_BY_AXIS = {"": 4, "T": 4, "S": 4, "D": 4, "dₖ": 2, "dᵥ": 2, "H·dᵥ": 4, "1": 1, "c": 1}  # axis -> cells
Matrix = tuple[str, str, str]  # (colour, axis of the rows, axis of the columns)


@cache_measurement
def draw_sign(key: str) -> list[Shape]:
    """Returns the shapes of a symbol's picture.

    key: the key of the symbol.
    """
    draw, *given = SIGN_PICTURES[key]
    return draw(*given)


def beside(count: int) -> list[Box]:
    """Returns `count` rectangles of equal width, side by side, that fill the area of a picture."""
    left, top, width, height = WHOLE_FIELD
    each = width / count
    return [(left + number * each, top, each - 6, height) for number in range(count)]


# ---- matrices --------------------------------------------------------------------------------------------------------
def draw_matrices(*matrices: Matrix) -> list[Shape]:
    """Draws empty matrices side by side, each labelled with the names of its axes."""
    shapes = []
    for box, (colour, down, across) in zip(beside(len(matrices)), matrices, strict=True):
        shapes += matrix_shapes(colour, CELLS_BY_AXIS[down], CELLS_BY_AXIS[across], down, across, box)
    return shapes


def draw_stack(colour: str, name: str) -> list[Shape]:
    """Draws a stack of three matrices, labelled with the name of the axis along which they are stacked."""
    shapes = []
    for number in range(3):
        left, top = 58 + 14 * number, 30 - 11 * number
        shapes += [shape(*look, (left, top, 52, 52)) for look in (("rect", "ground", 1.0), ("frame", colour, 1.0))]
    return [*shapes, text_shape("ink", 36, 24, 24, name)]


# ---- runs ------------------------------------------------------------------------------------------------------------
def run_of(example: str, choices: dict) -> tuple[Trace, Selection]:
    """Returns the run of an example with some changed settings, and the head and query selected in it.

    choices: {Setup field: changed value}.
    """
    setup = make_setup(example=example, **choices)
    trace = trace_for(setup)
    return trace, selection_of(trace, setup)


def run_of_logits(choices: dict) -> Trace:
    """Returns a run with the fixed scores LOGITS.

    choices: {Setup field: value} of the other settings.
    """
    scores = as_scores(read_logits(LOGITS, 16))
    return trace_for(make_setup(example="one_query", score="dot", **scores, **choices))


def draw_step(step: str, choices: dict, example: str = SENTENCE) -> list[Shape]:
    """Draws a step of a run as a matrix of coloured cells, for the selected head; cells of blocked pairs are empty."""
    trace, chosen = run_of(example, choices)
    numbers = trace[step].double().numpy()
    maps = numbers.reshape(-1, *numbers.shape[-2:])  # (..., rows, columns) -> (maps, rows, columns)
    matrix = maps[min(chosen.head, len(maps) - 1)]
    if step != "weights" or (matrix < 0).any():
        return signed_map_shapes(matrix)
    masked_scores = trace["masked_scores"][0, chosen.head]
    return map_shapes(matrix, masked_scores.isfinite().numpy())


def draw_heads(example: str) -> list[Shape]:
    """Draws the attention maps of an example's first two heads side by side."""
    trace, _ = run_of(example, {})
    one, two = trace["weights"][0, :2].numpy()
    left, right = beside(2)
    return map_shapes(one, box=left) + map_shapes(two, box=right)


def draw_rows(*rows: tuple[str, str, dict]) -> list[Shape]:
    """Draws the numbers of a single query as bars, a group of bars for each (step, colour, changed Setup fields)."""
    shapes = []
    for box, (step, colour, choices) in zip(beside(len(rows)), rows, strict=True):
        trace = run_of_logits(choices)
        numbers = trace[step][0, 0, 0].numpy()
        shapes += bar_shapes(numbers, colour, box, 1.0 if step == "weights" else None)
    return shapes


def draw_bias(position: str) -> list[Shape]:
    """Draws as bars the bias that a kind of position encoding adds to the scores of the last word."""
    trace, _ = run_of(SENTENCE, {"positions": (position,)})
    return bar_shapes(trace["bias"][0, -1].numpy(), "minus")


def draw_arrows(choices: dict) -> list[Shape]:
    """Draws the queries and keys of the selected head as arrows. choices: the changed fields of the Setup."""
    trace, chosen = run_of(SENTENCE, choices)
    queries = trace["q"][0, chosen.head].numpy()  # (T, d_k)
    keys = trace["k"][0, chosen.kv].numpy()  # (S, d_k)
    vectors = [("k", key) for key in keys] + [("q", query) for query in queries]
    return arrow_shapes([(colour, vector) for colour, vector in vectors if vector.any()])


def draw_threads(example: str, only: int | None = None) -> list[Shape]:
    """Draws queries above, keys below, and the weights between them as lines ("threads").

    only: the index of the single query whose lines are drawn; None for all queries.
    """
    trace, chosen = run_of(example, {})
    weights = trace["weights"][0, chosen.head].numpy()
    return thread_shapes(weights if only is None else weights[only : only + 1])


def draw_arcs(example: str) -> list[Shape]:
    """Draws symbols in a row, and the attention weights of one head as arcs between them.

    The head is the one with the largest weight in its last five rows.
    """
    trace, _ = run_of(example, {})
    return arc_shapes(max(trace["weights"][0].numpy(), key=lambda weights: weights[-5:].max()))


# ---- drawings --------------------------------------------------------------------------------------------------------
def draw_cache(count: int) -> list[Shape]:
    """Draws a KV cache as a triangle: each step adds a row with one more key, and only this key is new."""
    side = 74.0 / count
    shapes = []
    for step in range(count):
        for key in range(step + 1):
            strength = 1.0 if key == step else 0.22
            left, top = 43 + key * side, 8 + step * side
            shapes.append(shape("rect", "k", strength, (left, top, side - 2, side - 2)))
    return shapes


def draw_path(tokens: int) -> list[Shape]:
    """Draws a row of tokens with an arc from the first to the last."""
    across = spread_evenly(tokens, WHOLE_FIELD)
    dots = [shape("dot", "x", 1.0, (x, 70, 5)) for x in across]
    return [shape("arc", "share", 1.0, (across[0], across[-1], 64, 100, 3)), *dots]


def draw_tokens(colour: str, strengths: Sequence[float]) -> list[Shape]:
    """Draws a row of tokens, each with a colour of the given strength."""
    return [shape("dot", colour, strength, (20 + 24 * place, 45, 9)) for place, strength in enumerate(strengths)]


def draw_two_rows(one: Sequence[float], other: Sequence[float]) -> list[Shape]:
    """Draws two probability distributions, as two groups of bars side by side."""
    left, right = beside(2)
    return bar_shapes(np.array(one), "share", left, 1.0) + bar_shapes(np.array(other), "share", right, 1.0)


def surprise(probability: np.ndarray) -> np.ndarray:
    """Returns minus the logarithm of each probability (the cross-entropy of the right answer), computed by torch."""
    given = torch.from_numpy(probability)
    return F.binary_cross_entropy(given, torch.ones_like(given), reduction="none").numpy()


def numpy_sigmoid(numbers: np.ndarray) -> np.ndarray:
    """Returns the sigmoid of each number as a NumPy array, computed by torch."""
    return torch.from_numpy(numbers).sigmoid().numpy()


def draw_jacobian(choices: dict) -> list[Shape]:
    """Draws the Jacobian of the weights with respect to the scores as a matrix of coloured cells."""
    trace = with_jacobian(run_of_logits(choices))
    return signed_map_shapes(trace["jacobian"][0, 0, 0].numpy())


WEIGHTS, SCORES = ("weights", "share", {}), ("scores", "plus", {})
SIGN_PICTURES: dict[str, tuple] = {
    "B": (draw_stack, "x", "B"),
    "T": (draw_matrices, ("x", "T", "")),
    "S": (draw_matrices, ("share", "", "S")),
    "H": (draw_stack, "share", "H"),
    "H_kv": (shared_head_shapes, 2),
    "D": (draw_matrices, ("x", "", "D")),
    "d_k": (draw_matrices, ("q", "", "dₖ"), ("k", "", "dₖ")),
    "d_v": (draw_matrices, ("v", "", "dᵥ")),
    "x": (draw_step, "x", {}),
    "W_q": (draw_matrices, ("q", "D", "dₖ"), ("k", "D", "dₖ"), ("v", "D", "dᵥ")),
    "W_o": (draw_matrices, ("x", "H·dᵥ", "D")),
    "b": (draw_matrices, ("q", "1", "dₖ"), ("k", "1", "dₖ"), ("v", "1", "dᵥ")),
    "q": (draw_matrices, ("q", "T", "dₖ")),
    "k": (draw_matrices, ("k", "S", "dₖ")),
    "v": (draw_matrices, ("v", "S", "dᵥ")),
    "scores": (draw_step, "scores", {}),
    "scaled_scores": (draw_step, "scaled_scores", {}),
    "bias": (draw_step, "bias", {"positions": ("alibi",)}),
    "allowed": (draw_step, "allowed", {"masks": ("causal",)}),
    "masked_scores": (draw_step, "masked_scores", {"masks": ("causal",)}),
    "weights": (draw_step, "weights", {}),
    "head_outputs": (draw_matrices, ("share", "T", "S"), ("v", "S", "dᵥ")),
    "concat": (draw_matrices, ("v", "T", "H·dᵥ")),
    "output": (draw_matrices, ("v", "T", "H·dᵥ"), ("x", "H·dᵥ", "D")),
    "hidden": (function_shapes, np.tanh, -3.0, 3.0, "share"),
    "softmax": (draw_rows, SCORES, WEIGHTS),
    "temperature": (draw_rows, ("weights", "share", {"temperature": 0.5}), ("weights", "share", {"temperature": 2.0})),
    "jacobian": (draw_jacobian, {}),
    "logits": (draw_rows, SCORES),
    "dot": (draw_arrows, {}),
    "scaled_dot": (draw_rows, SCORES, ("scaled_scores", "plus", {"temperature": 2.0})),
    "cosine": (draw_step, "scores", {"score": "cosine"}),
    "general": (draw_matrices, ("q", "T", "dₖ"), ("x", "dₖ", "dₖ"), ("k", "S", "dₖ")),
    "additive": (draw_step, "scores", {"score": "additive"}),
    "causal": (draw_step, "weights", {"masks": ("causal",)}),
    "padding": (draw_step, "weights", {"masks": ("padding:5",)}),
    "local": (draw_step, "weights", {"masks": ("local:1",)}),
    "sliding": (draw_step, "weights", {"masks": ("sliding:2",)}),
    "sink": (draw_step, "weights", {}, "en_it_sink"),
    "multi_head": (draw_heads, "en_colour"),
    "grouped": (shared_head_shapes, 2),
    "residual": (draw_step, "residual", {"wiring": "residual"}),
    "sinusoidal": (draw_step, "sinusoidal_x", {"positions": ("sinusoidal",)}),
    "learned_table": (draw_step, "learned_x", {"positions": ("learned",)}),
    "rope": (draw_arrows, {"positions": ("rope",), "text": "it it it it"}),
    "alibi": (draw_bias, "alibi"),
    "softcap": (draw_step, "capped_scores", {"modifiers": ("softcap:2",)}),
    "qk_norm": (draw_arrows, {"modifiers": ("qk_norm",)}),
    "learned_sink": (draw_step, "weights", {"normaliser": "sinks"}),
    "sigmoid": (function_shapes, numpy_sigmoid, -5.0, 5.0, "share"),
    "differential": (draw_step, "weights", {"modifiers": ("differential",)}),
    "latent": (draw_matrices, ("x", "T", "D"), ("share", "T", "c")),
    "decoupled_rope": (draw_step, "scores", {"positions": ("decoupled_rope",)}),
    "gate": (draw_step, "gate", {"modifiers": ("gate",)}),
    "relative": (draw_step, "bias", {"positions": ("t5",)}),
    "linear_state": (draw_matrices, ("share", "dₖ", "dᵥ")),
    "self": (draw_threads, SENTENCE),
    "cross": (draw_threads, "cross_en_zh"),
    "context": (draw_threads, "cross_en_zh", 0),
    "cache": (draw_cache, 5),
    "path": (draw_path, 6),
    "influence": (draw_tokens, "share", (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)),
    "block": (block_shapes, 3),
    "loss": (function_shapes, surprise, 0.03, 1.0, "share"),
    "alignment": (draw_threads, "learned_dates"),
    "induction": (draw_arcs, "learned_copy"),
    "shift": (draw_two_rows, (0.8, 0.2), (0.3, 0.7)),
}
