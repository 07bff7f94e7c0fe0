"""Computes a step as it would be after a common mistake: one function per mistake, named by the mistake's code.

Each function takes the step and the values of the steps before it, float64 on the CPU. It returns the mistaken value of
the step, or None if the mistake does not apply.
"""

from dataclasses import replace

import torch
from torch import Tensor

from attention_core.comparison.rerun import Change, Values, unchanged_value
from attention_core.mechanism.normalisers import SOFTMAX
from attention_core.mechanism.operations import SPLIT, project, share_heads
from attention_core.mechanism.positions import ROPE, ROPE_STYLES
from attention_core.mechanism.scores import DOT
from attention_core.record.trace import Faces, Step


def has_faces(step: Step, faces: Faces) -> bool:
    """Return whether the operation of a step has these faces: its torch, NumPy, LaTeX and cell functions."""
    return step.operation is not None and step.operation.faces == faces


# ---- the projections -------------------------------------------------------------------------------------------------
def project_with_other(other: str) -> Change:
    """Return the mistake of projecting q, k or v with the matrix and the bias of another of the three.

    other: the one of "q", "k" and "v" to which the matrix and bias belong. The mistake does not apply (None) if the
    shape would differ.
    """

    def change(step: Step, values: Values) -> Tensor | None:
        weight = values.get(f"w_{other}")
        if weight is None:
            return None
        bias = values.get(f"b_{other}")
        source = values[step.operation.reads[0]]
        if source.shape[-1] != weight.shape[0]:
            return None
        if step.shape[-1] != weight.shape[-1]:
            return None
        return project(source, weight, bias)

    return change


# ---- the scale -------------------------------------------------------------------------------------------------------
def rescale_scores(step: Step, values: Values, factor: float, power: float = -1.0) -> Tensor:
    """Return the scores times a factor other than the run's own, and times a power of the temperature.

    power: the exponent of the temperature.
    """
    temperature = torch.tensor(step.operation.params["temperature"], dtype=torch.float64)
    (scores,) = step.operation.reads
    return values[scores] * factor * temperature**power  # a tensor: a power of floats may raise an error


def no_scale(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, 1.0)


def scale_squared(step: Step, values: Values) -> Tensor:
    d_k = values["k"].shape[-1]
    return rescale_scores(step, values, 1 / d_k)


def scale_inverse(step: Step, values: Values) -> Tensor:
    d_k = values["k"].shape[-1]
    return rescale_scores(step, values, d_k**0.5)


def scale_model_width(step: Step, values: Values) -> Tensor:
    H = values["q"].shape[1]
    d_k = values["k"].shape[-1]
    width = H * d_k
    return rescale_scores(step, values, width**-0.5)


def scale_input_width(step: Step, values: Values) -> Tensor | None:
    source = values.get("x", values.get("query"))
    if source is None:
        return None
    D = source.shape[-1]
    H = values["q"].shape[1]
    d_k = values["k"].shape[-1]
    model_width = H * d_k
    if model_width == D:
        return None  # None, because scale_model_width gives the same scores
    return rescale_scores(step, values, D**-0.5)


def scale_keys(step: Step, values: Values) -> Tensor:
    S = values["k"].shape[-2]
    return rescale_scores(step, values, S**-0.5)


def scale_value_width(step: Step, values: Values) -> Tensor | None:
    d_k, d_v = values["k"].shape[-1], values["v"].shape[-1]
    return None if d_k == d_v else rescale_scores(step, values, d_v**-0.5)


def scale_root(step: Step, values: Values) -> Tensor:
    d_k = values["k"].shape[-1]
    return rescale_scores(step, values, d_k**-0.5)


def no_temperature(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, step.operation.params["factor"], power=0.0)


def temperature_inverse(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, step.operation.params["factor"], power=1.0)


# ---- scores and positions --------------------------------------------------------------------------------------------
def transposed(step: Step, values: Values) -> Tensor | None:
    """Return the step with its last two axes exchanged; None if these axes differ in length."""
    value = unchanged_value(step, values)
    rows, columns = value.shape[-2:]
    return value.mT if rows == columns else None


def k_not_transposed(step: Step, values: Values) -> Tensor | None:
    """Return dot-product scores with k reshaped to (d_k, S) instead of transposed."""
    if not has_faces(step, DOT):
        return None
    q = values["q"]
    k = share_heads(values["k"], q.shape[1])
    B, H, S, d_k = k.shape
    return q @ k.reshape(B, H, d_k, S)  # (B, H, T, d_k) x (B, H, d_k, S) -> (B, H, T, S)


def bias_sign(step: Step, values: Values) -> Tensor:
    return -unchanged_value(step, values)


def no_bias(step: Step, values: Values) -> Tensor:
    return values[step.operation.reads[0]]


def one_bias_missing(step: Step, values: Values) -> Tensor:
    return torch.zeros_like(unchanged_value(step, values))


def no_rope(step: Step, values: Values) -> Tensor | None:
    if not has_faces(step, ROPE):
        return None
    return values[step.operation.reads[0]]


def rope_pairs(step: Step, values: Values) -> Tensor | None:
    if not has_faces(step, ROPE):
        return None
    params = step.operation.params
    other = next(style for style in ROPE_STYLES if style != params["style"])
    rotation = replace(step.operation, params={**params, "style": other})
    return rotation.apply(values)


# ---- softmax and weights ---------------------------------------------------------------------------------------------
def restrict_to_softmax(change: Change) -> Change:
    """Restrict a mistake to weights computed by the softmax: weights that the visitor replaced stay unchanged."""

    def change_softmax(step: Step, values: Values) -> Tensor | None:
        return change(step, values) if has_faces(step, SOFTMAX) else None

    return change_softmax


def nan_rows(step: Step, values: Values) -> Tensor:
    return torch.softmax(values["masked_scores"], dim=-1)


def softmax_queries(step: Step, values: Values) -> Tensor:
    return torch.softmax(values["masked_scores"], dim=-2)


def softmax_heads(step: Step, values: Values) -> Tensor:
    return torch.softmax(values["masked_scores"], dim=1)


def softmax_batch(step: Step, values: Values) -> Tensor:
    return torch.softmax(values["masked_scores"], dim=0)


def softmax_pairs(step: Step, values: Values) -> Tensor:
    scores = values["masked_scores"]
    return torch.softmax(scores.flatten(-2), dim=-1).view(scores.shape)  # (B, H, T * S) -> (B, H, T, S)


def no_softmax(step: Step, values: Values) -> Tensor:
    scores = values["masked_scores"]
    return scores.masked_fill(scores.isneginf(), 0.0)


def softmax_undivided(step: Step, values: Values) -> Tensor:
    return values["masked_scores"].exp()


def no_dropout(step: Step, values: Values) -> Tensor:
    return values["weights"]


# ---- values and heads ------------------------------------------------------------------------------------------------
def values_from_keys(step: Step, values: Values) -> Tensor | None:
    if values["k"].shape != values["v"].shape:
        return None
    return step.operation.apply({**values, "v": values["k"]})


def values_unmixed(step: Step, values: Values) -> Tensor | None:
    v = values["v"]
    same_places = v.shape[:3] == values["q"].shape[:3]  # (B, H, S) and (B, H, T)
    return v if same_places else None


def groups_tiled(step: Step, values: Values) -> Tensor | None:
    value = unchanged_value(step, values)
    q = values["q"] if "q" in values else values["q_heads"]
    heads = q.shape[1]
    groups = value.shape[1]
    if not 1 < groups < heads:
        return None
    return value.repeat(1, heads // groups, 1, 1)  # (B, H_kv, S, d) -> (B, H, S, d)


def split_not_transposed(step: Step, values: Values) -> Tensor | None:
    if not is_first_with_heads(step):
        return None
    x = unchanged_value(step, values)  # (B, H, T, d)
    return x.transpose(1, 2).reshape(x.shape)  # (B, T, H, d), wrongly read as (B, H, T, d)


def split_interleaved(step: Step, values: Values) -> Tensor | None:
    if not is_first_with_heads(step):
        return None
    x = unchanged_value(step, values)  # (B, H, T, d)
    B, H, T, d = x.shape
    columns = x.transpose(1, 2).reshape(B, T, d, H)  # (B, T, H * d) cut into d times H
    return columns.permute(0, 3, 1, 2)  # (B, H, T, d): head h has columns h, h + H, h + 2 H ...


def is_first_with_heads(step: Step) -> bool:
    """Return whether a step is the first one with a head axis: the split of x into heads, or an input given per
    head."""
    return step.operation is None or step.operation.faces == SPLIT


def merge_not_transposed(step: Step, values: Values) -> Tensor:
    (heads,) = step.operation.reads
    B, H, T, d_v = values[heads].shape
    return values[heads].reshape(B, T, H * d_v)  # (B, H, T, d_v), wrongly read as (B, T, H * d_v)


def merge_interleaved(step: Step, values: Values) -> Tensor:
    (heads,) = step.operation.reads
    return values[heads].permute(0, 2, 3, 1).flatten(2)  # (B, T, d_v, H) -> (B, T, d_v * H)


def w_o_missing(step: Step, values: Values) -> Tensor | None:
    concat = values["concat"]
    return concat if concat.shape == step.shape else None


def b_o_missing(step: Step, values: Values) -> Tensor:
    return torch.zeros_like(unchanged_value(step, values))
