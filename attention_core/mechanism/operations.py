"""The operations every mechanism shares: project, split, scale, mask, softmax, mix, merge.

Each is one definition of four functions in a row: PyTorch, its NumPy twin, the formula, one cell. B batch, H heads,
H_kv key/value heads, T query positions, S key positions, D model width, d_k and d_v widths per head.
"""

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.record.expressions import Cell, Constant, Operand, Ref
from attention_core.record.number_text import format_short, format_term
from attention_core.record.trace import Faces


# ---- project: x @ w + b, row convention -----------------------------------------------------------------------------
def project(
    x: Float[Tensor, "B T D"], w: Float[Tensor, "D width"], b: Float[Tensor, " width"] | None = None
) -> Float[Tensor, "B T width"]:
    projected = x @ w  # (B, T, D) x (D, width) -> (B, T, width)
    return projected if b is None else projected + b


def project_numpy(x, w, b=None):
    return np.einsum("btm,mn->btn", x, w) + (0.0 if b is None else b)


def project_formula(x, w, b=None):
    return rf"{x}\,{w}" + ("" if b is None else rf" + {b}")


def project_cell(index, x: Operand, w: Operand, b: Operand | None = None) -> Cell:
    batch, t, n = index
    terms = tuple((x[batch, t, m], w[m, n]) for m in range(w.shape[0]))
    return Cell(terms if b is None else (*terms, (b[n],)))


PROJECT = Faces(project, project_numpy, project_formula, project_cell)


# ---- add: positions onto x, a bias onto scores ----------------------------------------------------------------------
def add(left: Float[Tensor, "*axes"], right: Float[Tensor, "*#axes"]) -> Float[Tensor, "*axes"]:
    return left + right


def add_numpy(left, right):
    return np.add(left, right)


def add_formula(left, right):
    return f"{left} + {right}"


def add_cell(index, left: Operand, right: Operand) -> Cell:
    return Cell(((left[index],), (right[index[len(index) - len(right.shape) :]],)))


ADD = Faces(add, add_numpy, add_formula, add_cell)


# ---- split: the columns of a projection, cut into heads -------------------------------------------------------------
def split_heads(x: Float[Tensor, "B T width"], *, heads: int) -> Float[Tensor, "B H T d"]:
    """Head h owns the h-th block of columns."""
    B, T, width = x.shape
    x = x.view(B, T, heads, width // heads)  # (B, T, H, d)
    return x.transpose(1, 2)  # (B, H, T, d)


def split_heads_numpy(x, *, heads):
    return np.stack(np.split(x, heads, axis=-1), axis=1)  # H times (B, T, d) -> (B, H, T, d)


def split_heads_formula(x, *, heads):
    return x if heads == 1 else rf"\mathrm{{split}}_{{{heads}}}({x})"


def split_heads_cell(index, x: Operand, *, heads) -> Cell:
    b, h, t, m = index
    return Cell(((x[b, t, h * (x.shape[-1] // heads) + m],),))


SPLIT = Faces(split_heads, split_heads_numpy, split_heads_formula, split_heads_cell)


# ---- share: query head h reads key/value head h // (H / H_kv) --------------------------------------------------------
def share_heads(x: Float[Tensor, "B H_kv S d"], heads: int) -> Float[Tensor, "B H S d"]:
    B, kv_heads, S, d = x.shape
    x = x[:, :, None].expand(B, kv_heads, heads // kv_heads, S, d)  # (B, H_kv, G, S, d): a head for its whole group
    return x.reshape(B, heads, S, d)  # (B, H_kv * G, S, d)


def share_heads_numpy(x, heads):
    return np.repeat(x, heads // x.shape[1], axis=1)


def kv_head(h: int, heads: int, kv_heads: int) -> int:
    """The key/value head that query head h reads."""
    return h // (heads // kv_heads)


# ---- scale: by a factor, then divided by a temperature ---------------------------------------------------------------
def scale(scores: Float[Tensor, "B H T S"], *, factor: float, temperature: float) -> Float[Tensor, "B H T S"]:
    return scores * (factor / temperature)


def scale_numpy(scores, *, factor, temperature):
    return np.multiply(scores, factor / temperature)


def scale_formula(scores, *, factor, temperature):
    return scaled_formula(
        scores, format_short(factor) if factor >= 0 else f"({format_short(factor)})", factor, temperature
    )


def scale_cell(index, scores: Operand, *, factor, temperature) -> Cell:
    text = format_term(factor)
    return scaled_cell(scores[index], Constant(factor, text if factor >= 0 else f"({text})"), temperature)


def root_scale_formula(scores, *, factor, temperature):
    return scaled_formula(scores, rf"\tfrac{{1}}{{\sqrt{{{round(factor**-2)}}}}}", factor, temperature)


def root_scale_cell(index, scores: Operand, *, factor, temperature) -> Cell:
    return scaled_cell(scores[index], Constant(factor, f"1/√{round(factor**-2)}"), temperature)


def scaled_formula(scores: str, factor_text: str, factor: float, temperature: float) -> str:
    """scores times the factor over the temperature, without what is 1."""
    times = "" if factor == 1 else rf" \cdot {factor_text}"
    return scores + times + ("" if temperature == 1 else rf" \,/\, {format_short(temperature)}")


def scaled_cell(score: Ref, factor: Constant, temperature: float) -> Cell:
    """The same for one score."""
    over = Constant(1 / temperature, f"1/{format_short(temperature)}")
    return Cell(((score, *(part for part in (factor, over) if part.value != 1)),))


SCALE = Faces(scale, scale_numpy, scale_formula, scale_cell)
ROOT_SCALE = Faces(scale, scale_numpy, root_scale_formula, root_scale_cell)  # by 1/√d_k, and written so


# ---- mask: blocked scores become minus infinity ----------------------------------------------------------------------
def mask_scores(
    scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"] | None = None
) -> Float[Tensor, "B H T S"]:
    if allowed is None:
        return scores
    return torch.where(allowed, scores, float("-inf"))


def mask_scores_numpy(scores, allowed=None):
    return scores if allowed is None else np.where(allowed, scores, -np.inf)


def mask_scores_formula(scores, allowed=None):
    if allowed is None:
        return scores
    return rf"\begin{{cases}} {scores} & {allowed} \\ -\infty & \text{{else}} \end{{cases}}"


def mask_scores_cell(index, scores: Operand, allowed: Operand | None = None) -> Cell:
    if allowed is None:
        return Cell(((scores[index],),))
    return Cell(((scores[index],), (allowed[index],)), function="select")


MASK = Faces(mask_scores, mask_scores_numpy, mask_scores_formula, mask_scores_cell)


# ---- softmax over the keys; a row with nothing allowed gives zeros ---------------------------------------------------
def masked_softmax(masked_scores: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T S"]:
    weights = torch.softmax(masked_scores, dim=-1)  # over S
    if not weights.sum().isnan():
        return weights
    empty = masked_scores.amax(-1, keepdim=True).isneginf()  # (B, H, T, 1): queries that may attend to nothing
    weights = torch.softmax(masked_scores.masked_fill(empty, 0.0), dim=-1)  # no NaN, in the gradient either
    return weights.masked_fill(empty, 0.0)


def masked_softmax_numpy(masked_scores):
    top = masked_scores.max(-1, keepdims=True)
    powers = np.exp(masked_scores - np.where(np.isneginf(top), 0.0, top))  # the largest is exp(0) = 1: no overflow
    return powers / np.maximum(powers.sum(-1, keepdims=True), 1.0)  # so a sum is at least 1, or 0 in an empty row


def masked_softmax_formula(masked_scores):
    return rf"\mathrm{{softmax}}_S({masked_scores})"


def masked_softmax_cell(index, masked_scores: Operand) -> Cell:
    *row, chosen = index
    everyone = tuple((masked_scores[(*row, s)],) for s in range(masked_scores.shape[-1]))
    return Cell((everyone[chosen], *everyone), function="softmax")


SOFTMAX = Faces(masked_softmax, masked_softmax_numpy, masked_softmax_formula, masked_softmax_cell)


# ---- replace the weights: evenly over what is allowed, or by given ones ----------------------------------------------
def even_weights(
    scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"] | None = None
) -> Float[Tensor, "B H T S"]:
    kept = torch.ones_like(scores) if allowed is None else allowed.expand_as(scores).to(scores.dtype)
    return kept / kept.sum(-1, keepdim=True).clamp(min=1.0)  # an empty row stays 0


def even_weights_numpy(scores, allowed=None):
    kept = np.broadcast_to(True if allowed is None else allowed, scores.shape)
    count = np.count_nonzero(kept, axis=-1)[..., None]
    return np.where(kept, 1.0 / np.where(count == 0, 1, count), 0.0)


def even_weights_formula(scores, allowed=None):
    return r"\tfrac{1}{S}" if allowed is None else rf"{allowed} \,/\, \textstyle\sum_S {allowed}"


def even_weights_cell(index, scores: Operand, allowed: Operand | None = None) -> Cell:
    keys = scores.shape[-1]
    if allowed is None:
        return Cell(((Constant(1 / keys, f"1/{keys}"),),))
    *row, chosen = index
    everyone = tuple((allowed[(*row, s)],) for s in range(keys))
    return Cell((everyone[chosen], *everyone), function="share")


EVEN_WEIGHTS = Faces(even_weights, even_weights_numpy, even_weights_formula, even_weights_cell)


def take(scores: Float[Tensor, "B H T S"], given: Float[Tensor, "#B #H T S"]) -> Float[Tensor, "B H T S"]:
    return given.expand_as(scores)


def take_numpy(scores, given):
    return np.broadcast_to(given, scores.shape)


def take_formula(scores, given):
    return given


def take_cell(index, scores: Operand, given: Operand) -> Cell:
    return Cell(((given[index],),))


TAKE = Faces(take, take_numpy, take_formula, take_cell)


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
    return Cell(((computed[index],), (chosen[index],), (where[index],)), function="choose")


PUT = Faces(put, put_numpy, put_formula, put_cell)


# ---- dropout on the weights, by a given keep mask --------------------------------------------------------------------
def drop(weights: Float[Tensor, "B H T S"], keep: Bool[Tensor, "#B #H T S"], *, p: float) -> Float[Tensor, "B H T S"]:
    return weights * keep / (1 - p)  # the kept ones grow, so that the expected sum stays 1; this row's sum does not


def drop_numpy(weights, keep, *, p):
    return np.where(keep, weights / (1 - p), 0.0)


def drop_formula(weights, keep, *, p):
    return rf"{weights} \odot {keep} \,/\, (1 - {format_short(p)})"


def drop_cell(index, weights: Operand, keep: Operand, *, p) -> Cell:
    return Cell(((weights[index], keep[index], Constant(1 / (1 - p), f"1/(1 − {format_short(p)})")),))


DROP = Faces(drop, drop_numpy, drop_formula, drop_cell)


# ---- mix: every query's weighted sum of the values -------------------------------------------------------------------
def mix(weights: Float[Tensor, "B H T S"], v: Float[Tensor, "B H_kv S d_v"]) -> Float[Tensor, "B H T d_v"]:
    heads = weights.shape[1]
    return weights @ share_heads(v, heads)  # (B, H, T, S) x (B, H, S, d_v) -> (B, H, T, d_v)


def mix_numpy(weights, v):
    return np.einsum("bhts,bhsd->bhtd", weights, share_heads_numpy(v, weights.shape[1]))


def mix_formula(weights, v):
    return rf"{weights}\,{v}"


def mix_cell(index, weights: Operand, v: Operand) -> Cell:
    b, h, t, m = index
    g = kv_head(h, weights.shape[1], v.shape[1])
    return Cell(tuple((weights[b, h, t, s], v[b, g, s, m]) for s in range(v.shape[2])))


MIX = Faces(mix, mix_numpy, mix_formula, mix_cell)


# ---- merge: the heads side by side again -----------------------------------------------------------------------------
def merge_heads(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T width"]:
    return x.transpose(1, 2).flatten(2)  # (B, T, H, d_v) -> (B, T, H * d_v)


def merge_heads_numpy(x):
    return np.concatenate([x[:, h] for h in range(x.shape[1])], axis=-1)  # H times (B, T, d_v) -> (B, T, H * d_v)


def merge_heads_formula(x):
    return rf"\mathrm{{concat}}({x})"


def merge_heads_cell(index, x: Operand) -> Cell:
    b, t, n = index
    d_v = x.shape[-1]
    return Cell(((x[b, n // d_v, t, n % d_v],),))


MERGE = Faces(merge_heads, merge_heads_numpy, merge_heads_formula, merge_heads_cell)


# ---- pass on: a step that always stands, where nothing is to be done -------------------------------------------------
def pass_on(x: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    return x


def pass_on_numpy(x):
    return x


def pass_on_formula(x):
    return x


def pass_on_cell(index, x: Operand) -> Cell:
    return Cell(((x[index],),))


PASS_ON = Faces(pass_on, pass_on_numpy, pass_on_formula, pass_on_cell)
