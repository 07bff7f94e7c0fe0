"""The matrices of a run: projections and biases, cut for the chosen heads and widths, and the score's own weights."""

from dataclasses import replace

import numpy as np
import torch

from attention_core import AttentionConfig
from attention_core.examples.examples import Example, MatrixRecipe
from attention_core.inputs.initial_matrices import random_matrix, recut_heads
from attention_core.inputs.matrix_text import MAX_COLUMNS
from attention_core.mechanism.config import require_positive
from attention_core.mechanism.scores import SCORES
from attention_core.mechanism.weight_checks import check_hidden
from attention_core.record.errors import AttentionError
from pages.runs.network_store import network_view_for
from pages.runs.run_inputs import RunInputs, get_example_matrix, put_matrix
from pages.runs.token_vectors import make_built_heads
from pages.setup.setup import Setup, config_of

PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")
SEED_STRIDE = 10  # from one seed to the next; an example's own seeds are below it
MAX_GENERAL_TERMS = 64 * 64  # the most products that one general score may be the sum of, to be shown one by one
MAX_TANH_LAYER_BYTES = 2**24  # the most that the additive score's tanh layer may take; every visitor's runs are kept

StartMatrix = tuple[np.ndarray | None, str, int | None]  # a matrix, its origin, and what a random one was drawn from


def gather_projections(material: RunInputs, setup: Setup, example: Example) -> None:
    """W_q, W_k, W_v, W_o and the biases: typed, or what they start from, cut for the heads and widths chosen."""
    started, cut = make_start_matrices(material, setup, reseed_example(example, setup.seed))
    for name in PROJECTIONS + BIASES:
        matrix, origin, seed = started.get(name, (None, "", None))
        if name in BIASES and name.replace("b_", "w_") not in material.matrices:
            matrix = None  # what it was added to was taken away
        if matrix is not None:
            matrix = cut_to_sizes(matrix, name, setup, cut, origin)
        elif name in BIASES and getattr(setup, name) not in (None, "none"):
            matrix, origin = make_zero_bias(material, name), "typed"
        put_matrix(material, name, setup, matrix, origin, seed)


def make_zero_bias(material: RunInputs, name: str) -> np.ndarray | None:
    """The zeros that a typed bias differs from, as many as its projection has columns."""
    projection = material.matrices.get(name.replace("b_", "w_"))
    return None if projection is None else np.zeros((1, projection.shape[1]))


def make_start_matrices(material: RunInputs, setup: Setup, example: Example) -> tuple[dict[str, StartMatrix], int]:
    """What the matrices are before anybody changes them, and how many heads they are cut for: heads built by hand,
    else the example's where x is as wide as the example's, else drawn from the seed."""
    heads = make_built_heads(setup)
    if heads:
        own = {name: (getattr(heads, name), "built", None) for name in ("w_q", "w_k", "w_v")}
        return own, heads.w_v.shape[1] // len(heads.words)
    width = material.matrices["x"].shape[1]
    source = material.matrices.get("context", material.matrices["x"]).shape[1]
    learned = network_view_for(setup)
    if learned and (learned.width("x"), learned.width("context")) == (width, source):
        return {name: (matrix, "learned", None) for name, matrix in learned.matrices().items()}, learned.heads
    own = {name: get_example_matrix(example, name) for name in PROJECTIONS}
    if own["w_q"] is None or (own["w_q"].shape[0], own["w_k"].shape[0]) == (width, source):
        bias = None if example.b_q is None else np.array([example.b_q], dtype=float)
        seeds = {name: getattr(getattr(example, name), "seed", None) for name in own}
        found = {name: (matrix, example.origin, seeds[name]) for name, matrix in own.items()}
        return {**found, "b_q": (bias, example.origin, None)}, example.heads
    count = config_of(setup).heads
    inner = -(-width // count) * count  # as wide as x, or as little wider as the heads need
    shapes = {"w_q": (width, inner), "w_k": (source, inner), "w_v": (source, inner), "w_o": (inner, width)}
    drawn = {name: (random_matrix(name, shape, setup.seed), "random", setup.seed) for name, shape in shapes.items()}
    return drawn, count


def reseed_example(example: Example, seed: int) -> Example:
    """The example, its random weights drawn anew where another seed is chosen."""
    recipes = {name: getattr(example, name) for name in PROJECTIONS}
    return replace(
        example,
        **{
            name: replace(recipe, seed=recipe.seed + SEED_STRIDE * seed)
            for name, recipe in recipes.items()
            if isinstance(recipe, MatrixRecipe)
        },
    )


# ---- sizes -----------------------------------------------------------------------------------------------------------
def cut_to_sizes(matrix: np.ndarray, name: str, setup: Setup, cut: int, origin: str) -> np.ndarray:
    """A matrix cut for the heads and the widths that are chosen: what still fits stays.

    Without a width the columns stay all there are, and other heads cut them anew. With one, each of the `cut` heads
    keeps its own columns; new ones are zeros, in a random matrix random.
    """
    given, anew = wanted_width(name, setup), (setup.d_k, setup.d_v) != (None, None)
    across = matrix.T if name == "w_o" else matrix  # heads lie side by side in columns, for w_o in rows
    count = count_matrix_heads(name, setup)
    was = cut if anew else config_of(setup).heads
    if name == "b_o" or across.shape[1] % was or (given is None and not anew and count == was):
        return matrix
    wide = (
        across.shape[1] // was if given is None else require_positive("d_v" if name in ("w_v", "w_o") else "d_k", given)
    )
    if count * wide > MAX_COLUMNS:
        raise AttentionError("too_many_columns", name=name, limit=MAX_COLUMNS, given=count * wide)
    fill = random_matrix(name, (len(across), count * wide), setup.seed) if origin == "random" else None
    new = recut_heads(across, was, (count, wide), fill)
    return new.T if name == "w_o" else new


def count_matrix_heads(name: str, setup: Setup) -> int:
    """How many heads a matrix is cut into."""
    config = config_of(setup)
    return config.kv_heads or config.heads if name in ("w_k", "w_v", "b_k", "b_v") else config.heads


def wanted_width(name: str, setup: Setup) -> int | None:
    """The width of a head that is chosen for a matrix, None where none is; one for all where W_q stands for all."""
    values = name in ("w_v", "b_v", "w_o") and "tied" not in setup.wiring
    return setup.d_v if values else setup.d_k


# ---- what reads which matrix -----------------------------------------------------------------------------------------
def apply_wiring(matrices: dict[str, np.ndarray], setup: Setup) -> dict[str, np.ndarray]:
    """The matrices as the layer reads them: W_q in the place of all three, or Q's and K's exchanged."""
    read = dict(matrices)
    if "tied" in setup.wiring and "w_q" in read:
        config, w_q = config_of(setup), read["w_q"]
        if config.kv_heads and w_q.shape[1] % config.heads == 0:
            w_q = recut_heads(w_q, config.heads, (config.kv_heads, w_q.shape[1] // config.heads))
        read |= {"w_k": w_q, "w_v": w_q}
    if "swapped" in setup.wiring:
        for one, other in (("w_q", "w_k"), ("b_q", "b_k")):
            pair = {one: read.pop(other, None), other: read.pop(one, None)}
            read |= {name: matrix for name, matrix in pair.items() if matrix is not None}
    return read


# ---- the score's own -------------------------------------------------------------------------------------------------
def head_widths(material: RunInputs, setup: Setup) -> tuple[int, int]:
    """The widths of q and of k per head, as far as the matrices say."""
    matrices, config = apply_wiring(material.matrices, setup), config_of(setup)
    query = matrices.get("w_q", matrices["x"]).shape[1] // config.heads
    key = matrices.get("w_k", matrices.get("context", matrices["x"])).shape[1] // (config.kv_heads or config.heads)
    return max(query, 1), max(key, 1)


def gather_score_weights(material: RunInputs, setup: Setup, widths: tuple[int, int]) -> None:
    """The score's own weights: typed, or W_a as the identity, the additive score's drawn from the seed."""
    config = config_of(setup)
    d_q, d_k = widths
    layer = max(d_q, d_k)
    shapes = {"w_a": (d_q, d_k), "w_aq": (d_q, layer), "w_ak": (d_k, layer), "v_a": (1, layer)}
    learned = learned_score_weights(setup, widths)
    for name in SCORES[config.score].weights:
        if name in learned:
            put_matrix(material, name, setup, learned[name], "learned")
        elif name == "w_a":
            if d_q * d_k > MAX_GENERAL_TERMS:
                raise AttentionError("too_many_terms", q=d_q, k=d_k, limit=MAX_GENERAL_TERMS)
            put_matrix(material, name, setup, np.eye(d_q, d_k), "built")
        else:
            put_matrix(material, name, setup, random_matrix(name, shapes[name], setup.seed), "random", setup.seed)
    if "v_a" in material.matrices:
        check_tanh_layer(material, setup, config)


def learned_score_weights(setup: Setup, widths: tuple[int, int]) -> dict[str, np.ndarray]:
    """The weights of the additive score that a network learned, where they fit the widths of q and of k."""
    learned = network_view_for(setup)
    found = {} if learned is None else {n: m for n, m in learned.matrices().items() if n in ("w_aq", "w_ak", "v_a")}
    return found if found and (len(found["w_aq"]), len(found["w_ak"])) == widths else {}


def check_tanh_layer(material: RunInputs, setup: Setup, config: AttentionConfig) -> None:
    """The additive score's tanh layer is not too large."""
    tokens = len(material.queries), len(material.keys)
    if material.batch:
        longest = max(len(each.words) for each in material.batch)
        tokens = longest, longest
    sizes = (max(len(material.batch), 1) * config.heads, *tokens, material.matrices["v_a"].shape[1])
    check_hidden(sizes, getattr(torch, setup.dtype).itemsize, MAX_TANH_LAYER_BYTES)
