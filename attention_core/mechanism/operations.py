"""Defines the operations that all mechanisms share: project, split, scale, mask, mix, merge.

Each is defined by four functions, one after the other: PyTorch, the same calculation in NumPy, the formula, and one
cell. B batch, H heads, H_kv key/value heads, T query positions, S key positions, D model width, d_k and d_v widths per
head.
"""

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.record.expressions import Cell, Constant, Operand, Ref, product_cell, row_terms
from attention_core.record.number_text import format_short, format_term
from attention_core.record.trace import Faces


# ---- project: x @ w + b, row convention -----------------------------------------------------------------------------
def project(
    x: Float[Tensor, "B T D"], w: Float[Tensor, "D width"], b: Float[Tensor, " width"] | None = None
) -> Float[Tensor, "B T width"]:
    projected = x @ w  # (B, T, D) x (D, width) -> (B, T, width)
    if b is None:
        return projected
    return projected.add_(b)  # added in place, because nothing reads the projection without bias


def project_numpy(x, w, b=None):
    projected = np.einsum("btm,mn->btn", x, w, optimize=True)
    bias = 0.0 if b is None else b
    return projected + bias


def project_formula(x, w, b=None):
    projected = rf"{x}\,{w}"
    if b is None:
        return projected
    return f"{projected} + {b}"


def project_cell(index, x: Operand, w: Operand, b: Operand | None = None) -> Cell:
    batch, t, n = index
    D = w.shape[0]
    terms = []
    for m in range(D):
        number = x[batch, t, m]
        weight = w[m, n]
        terms.append((number, weight))
    if b is not None:
        terms.append((b[n],))
    return Cell(tuple(terms))


PROJECT = Faces(project, project_numpy, project_formula, project_cell, sign="· W", motion="ask")


# ---- add: positions onto x, a bias onto scores ----------------------------------------------------------------------
def add(left: Float[Tensor, "*#axes"], right: Float[Tensor, "*#axes"]) -> Float[Tensor, "*#axes"]:
    return left + right


def add_numpy(left, right):
    return np.add(left, right)


def add_formula(left, right):
    return f"{left} + {right}"


def add_cell(index, left: Operand, right: Operand) -> Cell:
    one = left[index[-len(left.shape) :]]  # leading axes that the operand lacks, such as B of a bias, are cut off
    other = right[index[-len(right.shape) :]]
    return Cell(((one,), (other,)))


ADD = Faces(add, add_numpy, add_formula, add_cell, sign="+", motion="add")


# ---- split: the columns of a projection, cut into heads -------------------------------------------------------------
def split_heads(x: Float[Tensor, "B T width"], *, heads: int) -> Float[Tensor, "B H T d"]:
    """Cuts the columns into blocks, one per head: head h gets the h-th block."""
    B, T, width = x.shape
    x = x.view(B, T, heads, width // heads)  # (B, T, H, d)
    return x.transpose(1, 2)  # (B, H, T, d)


def split_heads_numpy(x, *, heads):
    blocks = np.split(x, heads, axis=-1)  # a list of H blocks, each (B, T, d)
    return np.stack(blocks, axis=1)  # (B, H, T, d)


def split_heads_formula(x, *, heads):
    if heads == 1:
        return x
    return rf"\mathrm{{split}}_{{{heads}}}({x})"


def split_heads_cell(index, x: Operand, *, heads) -> Cell:
    b, h, t, m = index
    d = x.shape[-1] // heads
    column = h * d + m
    return product_cell(x[b, t, column])


SPLIT = Faces(split_heads, split_heads_numpy, split_heads_formula, split_heads_cell)


# ---- share: query head h reads key/value head h // (H / H_kv) --------------------------------------------------------
def share_heads(x: Float[Tensor, "B H_kv S d"], heads: int) -> Float[Tensor, "B H S d"]:
    B, kv_heads, S, d = x.shape
    group = heads // kv_heads  # number of query heads per key/value head
    x = x.unsqueeze(2)  # (B, H_kv, 1, S, d)
    x = x.expand(B, kv_heads, group, S, d)  # (B, H_kv, G, S, d)
    return x.reshape(B, heads, S, d)  # (B, H_kv * G, S, d)


def share_heads_numpy(x, heads):
    group = heads // x.shape[1]
    return np.repeat(x, group, axis=1)  # (B, H_kv, S, d) -> (B, H_kv * G, S, d)


def kv_head(h: int, heads: int, kv_heads: int) -> int:
    """Return the index of the key/value head that query head h reads."""
    return h // (heads // kv_heads)


# ---- scale: by a factor, then divided by a temperature ---------------------------------------------------------------
def scale(scores: Float[Tensor, "B H T S"], *, factor: float, temperature: float) -> Float[Tensor, "B H T S"]:
    return scores * (factor / temperature)


def scale_numpy(scores, *, factor, temperature):
    return np.multiply(scores, factor / temperature)


def scale_formula(scores, *, factor, temperature):
    text = format_short(factor)
    if factor < 0:
        text = f"({text})"
    return scaled_formula(scores, text, factor, temperature)


def scale_cell(index, scores: Operand, *, factor, temperature) -> Cell:
    constant = Constant(factor, format_term(factor))
    return scaled_cell(scores[index], constant, temperature)


def root_scale_formula(scores, *, factor, temperature):
    d_k = round(factor**-2)
    text = rf"\tfrac{{1}}{{\sqrt{{{d_k}}}}}"
    return scaled_formula(scores, text, factor, temperature)


def root_scale_cell(index, scores: Operand, *, factor, temperature) -> Cell:
    d_k = round(factor**-2)
    return scaled_cell(scores[index], Constant(factor, f"1/√{d_k}"), temperature)


def scaled_formula(scores: str, factor_text: str, factor: float, temperature: float) -> str:
    """Return the scores times the factor, divided by the temperature, in LaTeX; a factor or temperature of 1 is
    omitted.
    """
    formula = scores
    if factor != 1:
        formula += rf" \cdot {factor_text}"
    if temperature != 1:
        formula += rf" \,/\, {format_short(temperature)}"
    return formula


def scaled_cell(score: Ref, factor: Constant, temperature: float) -> Cell:
    """Return one score times the factor, divided by the temperature, as a cell; a factor or temperature of 1 is
    omitted.
    """
    inverse = Constant(1 / temperature, f"1/{format_short(temperature)}")
    factors = [score]
    for constant in (factor, inverse):
        if constant.value != 1:
            factors.append(constant)
    return product_cell(*factors)


def scale_sign(*, factor: float, temperature: float) -> str:
    """Return the short symbol of the step that scales scores: × and the factor, and ÷ τ if the temperature is not 1.

    >>> scale_sign(factor=2.0, temperature=1.0), scale_sign(factor=1.0, temperature=5.0)
    ('× 2', '÷ τ')
    >>> scale_sign(factor=-0.5, temperature=5.0), scale_sign(factor=1.0, temperature=1.0)
    ('× −0.5 ÷ τ', '× 1')
    """
    times = f"× {format_term(float(format_short(factor, SIGN_DIGITS)))}"
    if temperature == 1:
        return times
    return "÷ τ" if factor == 1 else f"{times} ÷ τ"


def root_scale_sign(*, factor: float, temperature: float) -> str:
    """Return the short symbol of the step that scales scores by 1/√d_k, which shows the root instead of the factor's
    value.

    >>> root_scale_sign(factor=0.5, temperature=1.0), root_scale_sign(factor=0.5, temperature=5.0)
    ('÷ √d', '÷ √d τ')
    """
    return "÷ √d" if temperature == 1 else "÷ √d τ"


SIGN_DIGITS = 3  # significant digits of the factor in a step's symbol
SCALE = Faces(scale, scale_numpy, scale_formula, scale_cell, sign=scale_sign, motion="scale")
ROOT_SCALE = Faces(
    scale, scale_numpy, root_scale_formula, root_scale_cell, sign=root_scale_sign, motion="scale"
)  # symbol of the scaling by 1/√d_k, which shows a root instead of the factor's value


# ---- mask: blocked scores become minus infinity ----------------------------------------------------------------------
def mask_scores(
    scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"] | None = None
) -> Float[Tensor, "B H T S"]:
    if allowed is None:
        return scores
    return torch.where(allowed, scores, float("-inf"))


def mask_scores_numpy(scores, allowed=None):
    if allowed is None:
        return scores
    return np.where(allowed, scores, -np.inf)


def mask_scores_formula(scores, allowed=None):
    if allowed is None:
        return scores
    return rf"\begin{{cases}} {scores} & {allowed} \\ -\infty & \text{{else}} \end{{cases}}"


def mask_scores_cell(index, scores: Operand, allowed: Operand | None = None) -> Cell:
    if allowed is None:
        return product_cell(scores[index])
    terms = ((scores[index],), (allowed[index],))
    return Cell(terms, function="select")


MASK = Faces(mask_scores, mask_scores_numpy, mask_scores_formula, mask_scores_cell, sign="−∞", motion="mask")


# ---- mask to 0: where weights are shares of a sum, a blocked pair adds nothing to it ---------------------------------
def mask_to_zero(
    scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"] | None = None
) -> Float[Tensor, "B H T S"]:
    if allowed is None:
        return scores
    return torch.where(allowed, scores, 0.0)


def mask_to_zero_numpy(scores, allowed=None):
    if allowed is None:
        return scores
    return np.where(allowed, scores, 0.0)


def mask_to_zero_formula(scores, allowed=None):
    if allowed is None:
        return scores
    return rf"{scores} \odot {allowed}"


def mask_to_zero_cell(index, scores: Operand, allowed: Operand | None = None) -> Cell:
    if allowed is None:
        return product_cell(scores[index])
    return product_cell(scores[index], allowed[index])


MASK_TO_ZERO = Faces(
    mask_to_zero, mask_to_zero_numpy, mask_to_zero_formula, mask_to_zero_cell, sign="× 0", motion="mask"
)


# ---- replace the weights: evenly over what is allowed, or by given ones ----------------------------------------------
def even_weights(
    weights: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"] | None = None
) -> Float[Tensor, "B H T S"]:
    if allowed is None:
        allowed = torch.ones_like(weights, dtype=torch.bool)
    ones = allowed.expand_as(weights).to(weights.dtype)  # (B, H, T, S): 1 for allowed pairs, else 0
    counts = ones.sum(-1, keepdim=True)  # (B, H, T, 1)
    return ones / counts.clamp(min=1.0)  # the weights of a row without an allowed key are 0


def even_weights_numpy(weights, allowed=None):
    if allowed is None:
        allowed = True
    allowed = np.broadcast_to(allowed, weights.shape)
    counts = np.count_nonzero(allowed, axis=-1)  # (B, H, T)
    shares = 1.0 / np.maximum(counts, 1)
    return np.where(allowed, shares[..., None], 0.0)


def even_weights_formula(weights, allowed=None):
    if allowed is None:
        return r"\tfrac{1}{S}"
    return rf"{allowed} \,/\, \textstyle\sum_S {allowed}"


def even_weights_cell(index, weights: Operand, allowed: Operand | None = None) -> Cell:
    S = weights.shape[-1]
    if allowed is None:
        return product_cell(Constant(1 / S, f"1/{S}"))
    *row, chosen = index
    marks = row_terms(allowed, row, S)
    return Cell((marks[chosen], *marks), function="share")


EVEN_WEIGHTS = Faces(
    even_weights, even_weights_numpy, even_weights_formula, even_weights_cell, sign="%", motion="replace"
)


def take(weights: Float[Tensor, "B H T S"], given: Float[Tensor, "#B #H T S"]) -> Float[Tensor, "B H T S"]:
    return given.expand_as(weights)


def take_numpy(weights, given):
    return np.broadcast_to(given, weights.shape)


def take_formula(weights, given):
    return given


def take_cell(index, weights: Operand, given: Operand) -> Cell:
    return product_cell(given[index])


TAKE = Faces(take, take_numpy, take_formula, take_cell, sign="%", motion="replace")


# ---- what if: chosen numbers in the place of computed ones -----------------------------------------------------------
def put(
    computed: Float[Tensor, "B H T S"], chosen: Float[Tensor, "B H T S"], where: Bool[Tensor, "B H T S"]
) -> Float[Tensor, "B H T S"]:
    return torch.where(where, chosen, computed)


def put_numpy(computed, chosen, where):
    return np.where(where, chosen, computed)


def put_formula(computed, chosen, where):
    return rf"\begin{{cases}} {chosen} & {where} \\ {computed} & \text{{else}} \end{{cases}}"


def put_cell(index, computed: Operand, chosen: Operand, where: Operand) -> Cell:
    terms = ((computed[index],), (chosen[index],), (where[index],))
    return Cell(terms, function="choose")


PUT = Faces(put, put_numpy, put_formula, put_cell, sign="←", motion="replace")


# ---- dropout on the weights, by a given keep mask --------------------------------------------------------------------
def drop(weights: Float[Tensor, "B H T S"], keep: Bool[Tensor, "#B #H T S"], *, p: float) -> Float[Tensor, "B H T S"]:
    return weights * keep / (1 - p)  # kept weights are scaled up, so that a row's expected sum stays 1


def drop_numpy(weights, keep, *, p):
    return np.where(keep, weights / (1 - p), 0.0)


def drop_formula(weights, keep, *, p):
    return rf"{weights} \odot {keep} \,/\, (1 - {format_short(p)})"


def drop_cell(index, weights: Operand, keep: Operand, *, p) -> Cell:
    growth = Constant(1 / (1 - p), f"1/(1 − {format_short(p)})")
    return product_cell(weights[index], keep[index], growth)


DROP = Faces(drop, drop_numpy, drop_formula, drop_cell, sign="× 0", motion="replace")


# ---- mix: every query's weighted sum of the values -------------------------------------------------------------------
def mix(weights: Float[Tensor, "B H T S"], v: Float[Tensor, "B H_kv S d_v"]) -> Float[Tensor, "B H T d_v"]:
    heads = weights.shape[1]
    v = share_heads(v, heads)  # (B, H, S, d_v)
    return weights @ v  # (B, H, T, S) x (B, H, S, d_v) -> (B, H, T, d_v)


def mix_numpy(weights, v):
    heads = weights.shape[1]
    v = share_heads_numpy(v, heads)
    return np.einsum("bhts,bhsd->bhtd", weights, v)


def mix_formula(weights, v):
    return rf"{weights}\,{v}"


def mix_cell(index, weights: Operand, v: Operand) -> Cell:
    b, h, t, m = index
    g = kv_head(h, weights.shape[1], v.shape[1])
    S = v.shape[2]
    terms = []
    for s in range(S):
        weight = weights[b, h, t, s]
        value = v[b, g, s, m]
        terms.append((weight, value))
    return Cell(tuple(terms))


MIX = Faces(mix, mix_numpy, mix_formula, mix_cell, sign="Σ", motion="gather")


# ---- merge: the heads side by side again -----------------------------------------------------------------------------
def merge_heads(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T width"]:
    return x.transpose(1, 2).flatten(2)  # (B, T, H, d_v) -> (B, T, H * d_v)


def merge_heads_numpy(x):
    H = x.shape[1]
    heads = [x[:, h] for h in range(H)]  # a list of H outputs, each (B, T, d_v)
    return np.concatenate(heads, axis=-1)  # (B, T, H * d_v)


def merge_heads_formula(x):
    return rf"\mathrm{{concat}}({x})"


def merge_heads_cell(index, x: Operand) -> Cell:
    b, t, n = index
    d_v = x.shape[-1]
    h, m = divmod(n, d_v)
    return product_cell(x[b, h, t, m])


MERGE = Faces(merge_heads, merge_heads_numpy, merge_heads_formula, merge_heads_cell, sign="∥", motion="merge")


# ---- pass on: a step that always stands, where nothing is to be done -------------------------------------------------
def pass_on(x: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    return x


def pass_on_numpy(x):
    return x


def pass_on_formula(x):
    return x


def pass_on_cell(index, x: Operand) -> Cell:
    return product_cell(x[index])


PASS_ON = Faces(pass_on, pass_on_numpy, pass_on_formula, pass_on_cell)
