"""What must hold of the learned matrices: they fit the inputs, the heads and each other."""

import math

from attention_core.mechanism.checks import shape_of
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import AttentionError

MAX_HIDDEN_BYTES = 256 * 2**20  # the most that the additive score's tanh layer (B, H, T, S, A) may take
SCORE_WEIGHTS = ("w_a", "w_aq", "w_ak", "v_a")  # of all scores


# ---- projections -----------------------------------------------------------------------------------------------------
def check_projection(role: str, source: str, shape: tuple[int, ...], weights: Weights, heads: int) -> int:
    """w_<role> and b_<role> fit the input, and the projection can be cut into heads. Returns the width of one head.

    source, shape: the name of the input and its shape (B, T, D). Without w_<role> the input itself is cut.
    """
    name = source
    width = shape[-1]
    w = getattr(weights, f"w_{role}")
    check_matrix_and_bias(role, weights, "(d_in, d_out)", source, shape, width)
    if w is not None:
        name = f"w_{role}"
        width = w.shape[1]
    if width % heads:
        raise AttentionError("heads_split", name=name, width=width, heads=heads)
    return width // heads


def check_output_weights(weights: Weights, width: int) -> None:
    """w_o and b_o fit the concatenated heads, `width` numbers for each query."""
    check_matrix_and_bias("o", weights, "(H * d_v, D_out)", "concat", f"(T, {width})", width)


def check_matrix_and_bias(
    role: str,
    weights: Weights,
    axes: str,
    source: str,
    shape: tuple[int, ...] | str,
    width: int,
) -> None:
    """w_<role> has as many rows as its input has columns, and b_<role> has as many numbers as w_<role> has columns.

    axes: how the matrix is described. source, shape, width: the input's name, its shape as it is printed, its columns.
    """
    weight = f"w_{role}"
    bias = f"b_{role}"
    w = getattr(weights, weight)
    b = getattr(weights, bias)
    if w is None:
        if b is not None:
            raise AttentionError("bias_alone", bias=bias, weight=weight)
        return
    given = shape_of(w)
    if len(given) != 2:
        raise AttentionError("weight_shape", weight=weight, axes=axes, shape=given)
    if given[0] != width:
        raise AttentionError(
            "projection_width",
            weight=weight,
            name=source,
            shape=shape,
            given=given,
        )
    if b is not None and shape_of(b) != given[1:]:
        raise AttentionError(
            "bias_width",
            bias=bias,
            weight=weight,
            shape=shape_of(b),
            given=given,
        )


# ---- the score's own weights -----------------------------------------------------------------------------------------
def check_score_weights(
    config: AttentionConfig,
    weights: Weights,
    q: tuple[int, ...],
    k: tuple[int, ...],
    itemsize: int,
) -> None:
    """The score's own weights are there and fit q (B, H, T, d_q) and k (B, H_kv, S, d_k); no other score's are."""
    B, H, T, d_q = q
    _, _, S, d_k = k
    needed = SCORES[config.score].weights
    check_weight_names(config.score, weights, needed)
    layer = 0
    if "v_a" in needed and weights.v_a.dim():
        layer = weights.v_a.shape[-1]
    shared_shapes = {
        "w_a": (d_q, d_k),
        "w_aq": (d_q, layer),
        "w_ak": (d_k, layer),
        "v_a": (layer,),
    }
    for name in sorted(needed):  # v_a first: the layer's width is its length
        given = shape_of(getattr(weights, name))
        shared = shared_shapes[name]
        one_a_head = (H, *shared)
        if given not in (shared, one_a_head):
            raise AttentionError(
                "weight_shape",
                weight=name,
                axes=f"{shared} or {one_a_head}",
                shape=given,
            )
    check_hidden((B, H, T, S, layer), itemsize)


def check_weight_names(score: str, weights: Weights, needed: tuple[str, ...]) -> None:
    """All weights that the score needs are there, and none that only another score needs."""
    for name in SCORE_WEIGHTS:
        is_there = getattr(weights, name) is not None
        if name in needed and not is_there:
            raise AttentionError("missing_weight", score=score, weight=name)
        if is_there and name not in needed:
            raise AttentionError("unused_weight", weight=name, why=f"the score is {score}")


def check_hidden(sizes: tuple[int, ...], itemsize: int, limit: int = MAX_HIDDEN_BYTES) -> None:
    """The additive score's tanh layer (B, H, T, S, A) takes at most `limit` bytes."""
    needed = math.prod(sizes) * itemsize
    if needed > limit:
        raise AttentionError("hidden_too_large", needed=needed, limit=limit)
