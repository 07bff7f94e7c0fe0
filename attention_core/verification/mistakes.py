"""What is often done wrong in attention, each as one change of a run, and the sentence that names it.

A new one is a function here, its line in HYPOTHESES and its sentence in SENTENCES. A change gets the step and the
values of those before it, float64 on the CPU, and gives the step's other value, or None where it has no meaning.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention_core.analysis.empty_rows import add_to_blocked, fill_scores
from attention_core.comparison.distances import LARGE_NEGATIVE_FILL
from attention_core.comparison.rerun import Change, Values, unchanged_value
from attention_core.mechanism.masks import CAUSAL, PADDING, SLIDING
from attention_core.mechanism.operations import SOFTMAX, SPLIT, project, share_heads
from attention_core.mechanism.positions import ALIBI, ROPE, ROPE_STYLES
from attention_core.mechanism.scores import DOT
from attention_core.record.trace import Step

MISTAKE_SENTENCES = {
    "q_from_w_k": "q is made with w_k, not with w_q",
    "q_from_w_v": "q is made with w_v, not with w_q",
    "k_from_w_q": "k is made with w_q, not with w_k",
    "k_from_w_v": "k is made with w_v, not with w_k",
    "v_from_w_q": "v is made with w_q, not with w_v",
    "v_from_w_k": "v is made with w_k, not with w_v",
    "no_scale": "no scale: the scores are not divided by √d_k",
    "scale_squared": "the scores are divided by d_k, not √d_k: the root is missing, or they are scaled twice",
    "scale_inverse": "the scores are multiplied by √d_k, not divided by it",
    "scale_model_width": "the scores are divided by √(H·d_k), the width of all heads together, not √d_k of one head",
    "scale_input_width": "the scores are divided by √D, the width of x, not √d_k",
    "scale_keys": "the scores are divided by √S, the number of keys, not √d_k: the size of a wrong axis",
    "scale_root": "the scores are divided by √d_k: the scale that was set is not used",
    "no_temperature": "the temperature is not used",
    "temperature_inverse": "the scaled scores are multiplied by the temperature, not divided by it",
    "scores_transposed": "the scores are k qᵀ, not q kᵀ: q and k are exchanged",
    "k_not_transposed": "k is read as (d_k, S) as it stands, row after row, and not transposed",
    "bias_sign": "the position bias has the wrong sign",
    "no_bias": "the position bias is not added",
    "no_rope": "q and k are not rotated",
    "rope_pairs": "RoPE pairs the numbers in the other way: neighbours, or number m with number m + d_k/2",
    "no_mask": "no mask",
    "one_mask_missing": "one of the masks is missing: {name}",
    "mask_inverted": "the mask is inverted: True was read as blocked",
    "mask_transposed": "the mask is transposed: rows and columns are exchanged",
    "causal_upper_left": "the causal mask starts at the upper left (j ≤ i), not at the lower right (j ≤ i + S − T)",
    "causal_lower_right": "the causal mask ends at the lower right (j ≤ i + S − T), not where it was set",
    "causal_too_strict": "the causal mask blocks one key too many: a query does not see its own position",
    "causal_too_loose": "the causal mask lets one key too many through: a query sees the position after its own",
    "causal_added": "a causal mask, where there is none",
    "causal_added_upper_left": "a causal mask from the upper left (j ≤ i), where there is none",
    "padding_on_queries": "the padding mask stands on the queries, not on the keys",
    "mask_after_softmax": "the mask is applied after the softmax: blocked weights are 0, the others do not sum to 1",
    "mask_as_zero": "blocked scores are set to 0, not to −∞: the softmax still gives them weight",
    "mask_as_number": "the mask is added to the scores as 0 and 1, not as −∞ and 0",
    "finite_fill": "−1e9, or a number like it, in the place of −∞: a query that may attend to nothing attends evenly",
    "finite_added": "−1e9 is added to blocked scores: a query that may attend to nothing attends as if without a mask",
    "nan_rows": "NaN for a query that may attend to nothing: the softmax of a row of −∞ alone",
    "softmax_queries": "the softmax runs over the queries (axis T), not over the keys (axis S)",
    "softmax_heads": "the softmax runs over the heads (axis H), not over the keys (axis S)",
    "softmax_batch": "the softmax runs over the batch (axis B), not over the keys (axis S)",
    "no_softmax": "no softmax: the scores themselves are the weights",
    "softmax_undivided": "the softmax without its division: exp of the scores, not divided by their sum",
    "weights_transposed": "the weights are transposed: rows and columns are exchanged",
    "no_dropout": "the dropout is not applied",
    "dropout": "dropout was left on, p = {p}: some weights are 0, the others are divided by 1 − p",
    "values_from_keys": "the weights mix the keys, not the values",
    "values_unmixed": "the values are passed on and not mixed by the weights",
    "groups_tiled": "grouped keys and values are repeated as 0 1 0 1 (repeat), not as 0 0 1 1 (repeat_interleave)",
    "split_not_transposed": "the heads are split by a view of (B, T, H·d) as (B, H, T, d), without the transpose",
    "split_interleaved": "the heads take every H-th column in turn, not consecutive blocks of columns",
    "merge_not_transposed": "the heads are merged by a view of (B, H, T, d_v) as (B, T, H·d_v), without the transpose",
    "merge_interleaved": "the heads are merged number by number, not as consecutive blocks",
    "w_o_transposed": "w_o is transposed: the weight of a torch.nn.Linear is (out, in)",
    "w_o_missing": "the output projection is missing",
    "b_o_missing": "the bias of the output projection is missing",
    "scale_other": "the scores are multiplied by {factor}, which is not the scale",
    "transposed": "rows and columns are exchanged",
    "rows_swapped": "rows {one} and {other} are exchanged",
    "columns_swapped": "columns {one} and {other} are exchanged",
    "half_precision": "rounding alone: these are {dtype} numbers, no further off than {dtype} makes them",
}


# ---- the projections -------------------------------------------------------------------------------------------------
def project_with_other(other: str) -> Change:
    """A projection made with another one's matrix and bias, where that gives the same shape."""

    def change(step: Step, values: Values) -> Tensor | None:
        weight, bias, source = values.get(f"w_{other}"), values.get(f"b_{other}"), values[step.operation.reads[0]]
        fits = weight is not None and (*source.shape[:-1], weight.shape[-1]) == tuple(step.value.shape)
        return project(source, weight, bias) if fits and source.shape[-1] == weight.shape[0] else None

    return change


# ---- the scale -------------------------------------------------------------------------------------------------------
def rescale_scores(step: Step, values: Values, factor: float, power: float = -1.0) -> Tensor:
    """The scores times another factor, times the temperature to a power."""
    temperature = torch.tensor(step.operation.params["temperature"], dtype=torch.float64)
    return values["scores"] * factor * temperature**power  # a float would raise where its power is none


def no_scale(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, 1.0)


def scale_squared(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, 1 / values["k"].shape[-1])


def scale_inverse(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, values["k"].shape[-1] ** 0.5)


def scale_model_width(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, (values["q"].shape[1] * values["k"].shape[-1]) ** -0.5)


def scale_input_width(step: Step, values: Values) -> Tensor | None:
    source = values.get("x", values.get("query"))
    d_k = values["k"].shape[-1]
    same = source is None or source.shape[-1] == values["q"].shape[1] * d_k  # then it is √(H·d_k) as well
    return None if same else rescale_scores(step, values, source.shape[-1] ** -0.5)


def scale_keys(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, values["k"].shape[-2] ** -0.5)


def scale_root(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, values["k"].shape[-1] ** -0.5)


def no_temperature(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, step.operation.params["factor"], power=0.0)


def temperature_inverse(step: Step, values: Values) -> Tensor:
    return rescale_scores(step, values, step.operation.params["factor"], power=1.0)


# ---- scores and positions --------------------------------------------------------------------------------------------
def transposed(step: Step, values: Values) -> Tensor | None:
    """The last two axes exchanged, where they are equally long."""
    value = unchanged_value(step, values)
    return value.mT if value.shape[-1] == value.shape[-2] else None


def k_not_transposed(step: Step, values: Values) -> Tensor | None:
    """The numbers of k in the order in which they lie, in rows as long as there are keys."""
    if step.operation.faces != DOT:
        return None
    k = share_heads(values["k"], values["q"].shape[1])  # (B, H, S, d_k)
    return values["q"] @ k.reshape(*k.shape[:2], k.shape[-1], k.shape[-2])  # (B, H, T, d_k) x (B, H, d_k, S)


def bias_sign(step: Step, values: Values) -> Tensor | None:
    return -unchanged_value(step, values) if step.operation and step.operation.faces == ALIBI else None


def no_bias(step: Step, values: Values) -> Tensor:
    return values["scaled_scores"]


def no_rope(step: Step, values: Values) -> Tensor | None:
    rotates = step.operation and step.operation.faces == ROPE
    return values[step.operation.reads[0]] if rotates else None


def rope_pairs(step: Step, values: Values) -> Tensor | None:
    if not step.operation or step.operation.faces != ROPE:
        return None
    params = step.operation.params
    other = next(style for style in ROPE_STYLES if style != params["style"])
    return replace(step.operation, params={**params, "style": other}).apply(values)


# ---- masks -----------------------------------------------------------------------------------------------------------
def no_mask(step: Step, values: Values) -> Tensor:
    return torch.ones_like(unchanged_value(step, values))


def mask_inverted(step: Step, values: Values) -> Tensor:
    return ~unchanged_value(step, values)


def causal_mask_offset(step: Step, values: Values) -> int | None:
    """Where query 0 stands under a causal mask, chosen by name or given as a tensor; None for any other mask."""
    if step.operation:
        return step.operation.params["query_offset"] if step.operation.faces in (CAUSAL, SLIDING) else None
    mask = unchanged_value(step, values)
    counts = mask.reshape(-1, *mask.shape[-2:])[0].sum(-1).tolist()  # keys allowed to each query
    first = next((query for query, count in enumerate(counts) if count), None)
    if first is None or len(counts) != count_queries(values) or counts[first] == mask.shape[-1]:
        return None
    at = counts[first] - 1 - first
    return at if torch.equal(mask, torch.ones_like(mask).tril(at)) else None


def count_queries(values: Values) -> int:
    """T."""
    return next(values[name] for name in ("q", "q_heads") if name in values).shape[-2]


def causal_mask_at(step: Step, values: Values, at: int) -> Tensor:
    """The same causal mask with query 0 at another position."""
    if step.operation:
        return replace(step.operation, params={**step.operation.params, "query_offset": at}).apply(values)
    return torch.ones_like(unchanged_value(step, values)).tril(at)


def causal_upper_left(step: Step, values: Values) -> Tensor | None:
    return causal_mask_at(step, values, 0) if causal_mask_offset(step, values) is not None else None


def causal_lower_right(step: Step, values: Values) -> Tensor | None:
    at = unchanged_value(step, values).shape[-1] - count_queries(values)
    return causal_mask_at(step, values, at) if causal_mask_offset(step, values) is not None else None


def causal_too_strict(step: Step, values: Values) -> Tensor | None:
    at = causal_mask_offset(step, values)
    return None if at is None else causal_mask_at(step, values, at - 1)


def causal_too_loose(step: Step, values: Values) -> Tensor | None:
    at = causal_mask_offset(step, values)
    return None if at is None else causal_mask_at(step, values, at + 1)


def causal_added(step: Step, values: Values, at: int | None = None) -> Tensor | None:
    scores = unmasked_scores(values)
    allowed = torch.ones_like(scores, dtype=torch.bool).tril(scores.shape[-1] - scores.shape[-2] if at is None else at)
    return None if "allowed" in values else scores.masked_fill(~allowed, -torch.inf)


def causal_added_upper_left(step: Step, values: Values) -> Tensor | None:
    return causal_added(step, values, at=0) if count_queries(values) != values["k"].shape[-2] else None


def unmasked_scores(values: Values) -> Tensor:
    """The scores that the mask sees."""
    return values.get("biased_scores", values["scaled_scores"])


def padding_on_queries(step: Step, values: Values) -> Tensor | None:
    """Rows of padding in the place of columns of padding."""
    if not step.operation or step.operation.faces != PADDING:
        return None
    value = unchanged_value(step, values)  # the same in every row: (B, H, T, S) or (B, 1, 1, S)
    return value[..., :1, :].mT if value.shape[-1] == count_queries(values) else None


def mask_after_softmax(step: Step, values: Values) -> Tensor | None:
    return torch.softmax(unmasked_scores(values), dim=-1) * values["allowed"] if "allowed" in values else None


def mask_as_zero(step: Step, values: Values) -> Tensor | None:
    return unmasked_scores(values) * values["allowed"] if "allowed" in values else None


def mask_as_number(step: Step, values: Values) -> Tensor | None:
    return unmasked_scores(values) + values["allowed"] if "allowed" in values else None


def finite_fill(step: Step, values: Values) -> Tensor | None:
    return (
        fill_scores(unmasked_scores(values), values["allowed"], value=LARGE_NEGATIVE_FILL)
        if "allowed" in values
        else None
    )


def finite_added(step: Step, values: Values) -> Tensor | None:
    return (
        add_to_blocked(unmasked_scores(values), values["allowed"], value=LARGE_NEGATIVE_FILL)
        if "allowed" in values
        else None
    )


# ---- softmax and weights ---------------------------------------------------------------------------------------------
def nan_rows(step: Step, values: Values) -> Tensor:
    return torch.softmax(values["masked_scores"], dim=-1)


def softmax_queries(step: Step, values: Values) -> Tensor:
    return torch.softmax(values["masked_scores"], dim=-2)


def softmax_heads(step: Step, values: Values) -> Tensor:
    return torch.softmax(values["masked_scores"], dim=1)


def softmax_batch(step: Step, values: Values) -> Tensor:
    return torch.softmax(values["masked_scores"], dim=0)


def no_softmax(step: Step, values: Values) -> Tensor:
    return values["masked_scores"].masked_fill(values["masked_scores"].isneginf(), 0.0)


def softmax_undivided(step: Step, values: Values) -> Tensor:
    return values["masked_scores"].exp()


def no_dropout(step: Step, values: Values) -> Tensor:
    return values["weights"]


# ---- values and heads ------------------------------------------------------------------------------------------------
def values_from_keys(step: Step, values: Values) -> Tensor | None:
    same_width = values["k"].shape == values["v"].shape
    return step.operation.apply({**values, "v": values["k"]}) if same_width else None


def values_unmixed(step: Step, values: Values) -> Tensor | None:
    return values["v"] if values["v"].shape[:3] == values["q"].shape[:3] else None


def groups_tiled(step: Step, values: Values) -> Tensor | None:
    value, heads = (
        unchanged_value(step, values),
        next(values[name] for name in ("q", "q_heads") if name in values).shape[1],
    )
    groups = value.shape[1]
    return value.repeat(1, heads // groups, 1, 1) if 1 < groups < heads else None  # (B, H_kv, S, d) -> (B, H, S, d)


def split_not_transposed(step: Step, values: Values) -> Tensor | None:
    if step.operation and step.operation.faces != SPLIT:
        return None
    x = unchanged_value(step, values)  # (B, H, T, d)
    return x.transpose(1, 2).reshape(x.shape)  # (B, T, H, d) read as (B, H, T, d)


def split_interleaved(step: Step, values: Values) -> Tensor | None:
    if step.operation and step.operation.faces != SPLIT:
        return None
    x = unchanged_value(step, values)  # (B, H, T, d)
    B, H, T, d = x.shape
    columns = x.transpose(1, 2).reshape(B, T, d, H)  # (B, T, H * d) cut into d times H
    return columns.permute(0, 3, 1, 2)  # (B, H, T, d): head h has columns h, h + H, h + 2 H ...


def merge_not_transposed(step: Step, values: Values) -> Tensor:
    B, H, T, d_v = values["head_outputs"].shape
    return values["head_outputs"].reshape(B, T, H * d_v)  # (B, H, T, d_v) read as (B, T, H * d_v)


def merge_interleaved(step: Step, values: Values) -> Tensor:
    return values["head_outputs"].permute(0, 2, 3, 1).flatten(2)  # (B, T, d_v, H) -> (B, T, d_v * H)


def w_o_missing(step: Step, values: Values) -> Tensor | None:
    return values["concat"] if values["concat"].shape == step.value.shape else None


def b_o_missing(step: Step, values: Values) -> Tensor:
    return torch.zeros_like(unchanged_value(step, values))


# ---- the table: which steps a hypothesis computes differently, and how -----------------------------------------------
@dataclass(frozen=True)
class Mistake:
    """One thing changed: another value for some steps, None where it has no meaning there."""

    steps: tuple[str, ...]
    change: Change

    def __call__(self, step: Step, values: Values) -> Tensor | None:
        return self.change(step, values) if step.name in self.steps else None


SCALED_SCORES, MASKED_SCORES, HEAD_OUTPUTS, CONCAT = (
    ("scaled_scores",),
    ("masked_scores",),
    ("head_outputs",),
    ("concat",),
)
ALLOWED_MASK, SOFTMAX_WEIGHTS, HEAD_TENSORS = (
    ("allowed",),
    ("softmax_weights", "weights"),
    ("q_heads", "q", "k_heads", "k", "v"),
)
CAUSAL_MASKS = ("allowed", "allowed_causal", "allowed_sliding", "allowed_custom")


def restrict_to_softmax(change: Change) -> Change:
    """A change of the softmax alone, where replaced weights stand behind it."""
    return lambda step, values: change(step, values) if step.operation.faces == SOFTMAX else None


MISTAKES = {
    "q_from_w_k": Mistake(("q_projected",), project_with_other("k")),
    "q_from_w_v": Mistake(("q_projected",), project_with_other("v")),
    "k_from_w_q": Mistake(("k_projected",), project_with_other("q")),
    "k_from_w_v": Mistake(("k_projected",), project_with_other("v")),
    "v_from_w_q": Mistake(("v_projected",), project_with_other("q")),
    "v_from_w_k": Mistake(("v_projected",), project_with_other("k")),
    "no_rope": Mistake(("q", "k"), no_rope),
    "rope_pairs": Mistake(("q", "k"), rope_pairs),
    "split_not_transposed": Mistake(HEAD_TENSORS, split_not_transposed),
    "split_interleaved": Mistake(HEAD_TENSORS, split_interleaved),
    "groups_tiled": Mistake(("k", "v"), groups_tiled),
    "scores_transposed": Mistake(("scores",), transposed),
    "k_not_transposed": Mistake(("scores",), k_not_transposed),
    "no_scale": Mistake(SCALED_SCORES, no_scale),
    "scale_squared": Mistake(SCALED_SCORES, scale_squared),
    "scale_inverse": Mistake(SCALED_SCORES, scale_inverse),
    "scale_model_width": Mistake(SCALED_SCORES, scale_model_width),
    "scale_input_width": Mistake(SCALED_SCORES, scale_input_width),
    "scale_keys": Mistake(SCALED_SCORES, scale_keys),
    "scale_root": Mistake(SCALED_SCORES, scale_root),
    "no_temperature": Mistake(SCALED_SCORES, no_temperature),
    "temperature_inverse": Mistake(SCALED_SCORES, temperature_inverse),
    "bias_sign": Mistake(("bias",), bias_sign),
    "no_bias": Mistake(("biased_scores",), no_bias),
    "no_mask": Mistake(ALLOWED_MASK, no_mask),
    "mask_inverted": Mistake(ALLOWED_MASK, mask_inverted),
    "mask_transposed": Mistake(ALLOWED_MASK, transposed),
    "padding_on_queries": Mistake(("allowed", "allowed_padding"), padding_on_queries),
    "causal_upper_left": Mistake(CAUSAL_MASKS, causal_upper_left),
    "causal_lower_right": Mistake(CAUSAL_MASKS, causal_lower_right),
    "causal_too_strict": Mistake(CAUSAL_MASKS, causal_too_strict),
    "causal_too_loose": Mistake(CAUSAL_MASKS, causal_too_loose),
    "causal_added": Mistake(MASKED_SCORES, causal_added),
    "causal_added_upper_left": Mistake(MASKED_SCORES, causal_added_upper_left),
    "mask_as_zero": Mistake(MASKED_SCORES, mask_as_zero),
    "mask_as_number": Mistake(MASKED_SCORES, mask_as_number),
    "finite_fill": Mistake(MASKED_SCORES, finite_fill),
    "finite_added": Mistake(MASKED_SCORES, finite_added),
    "mask_after_softmax": Mistake(SOFTMAX_WEIGHTS, restrict_to_softmax(mask_after_softmax)),
    "nan_rows": Mistake(SOFTMAX_WEIGHTS, restrict_to_softmax(nan_rows)),
    "softmax_queries": Mistake(SOFTMAX_WEIGHTS, restrict_to_softmax(softmax_queries)),
    "softmax_heads": Mistake(SOFTMAX_WEIGHTS, restrict_to_softmax(softmax_heads)),
    "softmax_batch": Mistake(SOFTMAX_WEIGHTS, restrict_to_softmax(softmax_batch)),
    "softmax_undivided": Mistake(SOFTMAX_WEIGHTS, restrict_to_softmax(softmax_undivided)),
    "no_softmax": Mistake(SOFTMAX_WEIGHTS, restrict_to_softmax(no_softmax)),
    "weights_transposed": Mistake(("weights",), transposed),
    "no_dropout": Mistake(("dropped_weights",), no_dropout),
    "values_from_keys": Mistake(HEAD_OUTPUTS, values_from_keys),
    "values_unmixed": Mistake(HEAD_OUTPUTS, values_unmixed),
    "merge_not_transposed": Mistake(CONCAT, merge_not_transposed),
    "merge_interleaved": Mistake(CONCAT, merge_interleaved),
    "w_o_transposed": Mistake(("w_o",), transposed),
    "w_o_missing": Mistake(("output",), w_o_missing),
    "b_o_missing": Mistake(("b_o",), b_o_missing),
}
