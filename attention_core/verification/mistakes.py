"""Lists common mistakes in attention code: each is a change of some steps of a run, with a sentence that names it.

A new mistake is a function in mistaken_steps or mistaken_masks, a line in MISTAKES and a sentence in MISTAKE_SENTENCES;
one that depends on what a run has is found by a function of mistaken_layers.
"""

from dataclasses import dataclass

from torch import Tensor

from attention_core.comparison.rerun import Change, Values
from attention_core.record.trace import Step
from attention_core.verification import mistaken_masks, mistaken_steps

MISTAKE_SENTENCES = {
    "q_from_w_k": "q is made with w_k, not with w_q",
    "q_from_w_v": "q is made with w_v, not with w_q",
    "k_from_w_q": "k is made with w_q, not with w_k",
    "k_from_w_v": "k is made with w_v, not with w_k",
    "v_from_w_q": "v is made with w_q, not with w_v",
    "v_from_w_k": "v is made with w_k, not with w_v",
    "matrix_transposed": "transposed: {names}; the weight of a torch.nn.Linear is (out, in)",
    "bias_missing": "left out of the projections: {names}",
    "bias_twice": "added twice: {names}",
    "projections_exchanged": "q, k and v are made with {names}, in this order",
    "qkv_by_head": "the joint projection of q, k and v is cut as (H, 3, d), head after head; its columns are (3, H, d)",
    "no_scale": "no scale: the scores are not divided by √dₖ",
    "scale_squared": "the scores are divided by dₖ, not √dₖ: the root is missing, or they are scaled twice",
    "scale_inverse": "the scores are multiplied by √dₖ, not divided by it",
    "scale_model_width": "the scores are divided by √(H·dₖ), the width of all heads together, not √dₖ of one head",
    "scale_input_width": "the scores are divided by √D, the width of x, not √dₖ",
    "scale_keys": "the scores are divided by √S, S the number of keys, not by √dₖ: the size of a wrong axis",
    "scale_value_width": "the scores are divided by √dᵥ, the width of the values, not by √dₖ",
    "scale_root": "the scores are divided by √dₖ: the scale that was set is not used",
    "no_temperature": "the temperature is not used",
    "temperature_inverse": "the scaled scores are multiplied by the temperature, not divided by it",
    "scores_transposed": "the scores are k qᵀ, not q kᵀ: q and k are exchanged",
    "k_not_transposed": "k is read as (dₖ, S), row after row, and not transposed",
    "bias_sign": "the bias on the scores has the wrong sign",
    "no_bias": "no bias is added to the scores",
    "one_bias_missing": "one of the biases on the scores is missing: {name}",
    "no_rope": "q and k are not rotated",
    "rope_pairs": "RoPE pairs the numbers the other way: neighbours, or number m with number m + dₖ/2",
    "rope_q_alone": "only q is rotated, not k",
    "rope_k_alone": "only k is rotated, not q",
    "rope_base": "the base of RoPE is 10000, not {base}",
    "positions_from_0": "the positions of the queries are counted from 0; the first query stands at {offset}",
    "positions_from_end": "the positions of the queries are counted from {offset} = S − T, not from 0",
    "offset_missing": "mask and positions take the first query to stand at 0; it stands at {offset}",
    "part_missing": "left out: {name}",
    "residual_missing": "the residual is missing: the output is not added to x",
    "no_mask": "no mask",
    "one_mask_missing": "one of the masks is missing: {name}",
    "mask_inverted": "the mask is inverted: True was read as blocked",
    "one_mask_inverted": "one of the masks is inverted, True was read as blocked: {name}",
    "mask_transposed": "the mask is transposed: rows and columns are exchanged",
    "causal_upper_left": "the causal mask starts at the upper left (j ≤ i), not at the lower right (j ≤ i + S − T)",
    "causal_lower_right": "the causal mask ends at the lower right (j ≤ i + S − T), not where it was set",
    "causal_too_strict": "the causal mask blocks one key too many: a query does not see its own position",
    "causal_too_loose": "the causal mask lets one key too many through: a query sees the position after its own",
    "causal_added": "a causal mask is applied although none was set",
    "causal_added_upper_left": "a causal mask from the upper left (j ≤ i) is applied although none was set",
    "padding_on_queries": "the padding mask is applied to the queries, not to the keys",
    "window_wider": "the window of the mask is one key too wide: {given}, not {window}",
    "window_narrower": "the window of the mask is one key too narrow: {given}, not {window}",
    "window_missing": "the window of the mask is not applied: keys that are far away are not blocked",
    "window_both_sides": "the window reaches to both sides of a query: later keys are not blocked",
    "mask_for_heads": "the rows of the mask are read as heads: head h has row h of the mask for every query, as after "
    "mask.unsqueeze(1)",
    "mask_repeated": "the masks of the sentences are repeated for the heads as 0 1 0 1 (repeat), not as 0 0 1 1 "
    "(repeat_interleave)",
    "mask_of_first_sentence": "every sentence has the mask of the first sentence",
    "mask_of_first_head": "every head has the mask of the first head",
    "mask_heads_as_batch": "the axes of sentences and heads of the mask are exchanged",
    "mask_batch_as_queries": "a mask (B, S) is read as (T, S): query i has the mask of sentence i",
    "mask_multiplied": "the mask of 0 and {fill} is multiplied with the scores, not added to them",
    "mask_after_softmax": "the mask is applied after the softmax: blocked weights are 0, the others do not sum to 1",
    "mask_as_zero": "blocked scores are set to 0, not to −∞: the softmax still gives them weight",
    "mask_as_number": "the mask is added to the scores as 0 and 1, not as −∞ and 0",
    "finite_fill": "−1e9, or a number like it, instead of −∞: a query that may not attend to any key attends evenly",
    "finite_added": "−1e9 is added to blocked scores: a query that may not attend to any key attends as if unmasked",
    "nan_rows": "NaN for a query that may not attend to any key: the softmax of a row that holds only −∞",
    "softmax_queries": "the softmax runs over the queries (axis T), not over the keys (axis S)",
    "softmax_heads": "the softmax runs over the heads (axis H), not over the keys (axis S)",
    "softmax_batch": "the softmax runs over the batch (axis B), not over the keys (axis S)",
    "softmax_pairs": "the softmax runs over all queries and keys at once (axes T and S), not over the keys of a query",
    "softmax_weights": "the weights are those of a plain softmax, not of {name}",
    "sigmoid_weights": "the weights are the sigmoid of each score, not the softmax of a row",
    "no_softmax": "no softmax: the scores themselves are the weights",
    "softmax_undivided": "the softmax without its division: exp of the scores, not divided by their sum",
    "weights_transposed": "the weights are transposed: rows and columns are exchanged",
    "heads_averaged": "the {step} are averaged over the heads, as torch.nn.MultiheadAttention gives weights unless "
    "average_attn_weights=False",
    "no_dropout": "the dropout is not applied",
    "dropout": "dropout was left on, p = {p}: some weights are 0, the others are divided by 1 − p",
    "values_from_keys": "the weights mix the keys, not the values",
    "values_unmixed": "the values are passed on and not mixed by the weights",
    "groups_tiled": "grouped keys and values are repeated as 0 1 0 1 (repeat), not as 0 0 1 1 (repeat_interleave)",
    "split_not_transposed": "the heads are split by a view of (B, T, H·d) as (B, H, T, d), without the transpose",
    "split_interleaved": "the heads take every H-th column in turn, not consecutive blocks of columns",
    "merge_not_transposed": "the heads are merged by a view of (B, H, T, dᵥ) as (B, T, H·dᵥ), without the transpose",
    "merge_interleaved": "the heads are merged number by number, not as consecutive blocks",
    "batch_not_first": "sentences and words are exchanged, as without batch_first=True: each word attends to the other "
    "sentences",
    "heads_not_transposed": "each word attends to its own heads, not to words: (B, T, H, d) was not transposed to "
    "(B, H, T, d)",
    "w_o_transposed": "w_o is transposed: the weight of a torch.nn.Linear is (out, in)",
    "w_o_missing": "the output projection is missing",
    "b_o_missing": "the bias of the output projection is missing",
    "scale_other": "the scores are multiplied by {factor}, which is not the scale",
    "transposed": "rows and columns are exchanged",
    "rows_swapped": "rows {one} and {other} are exchanged",
    "columns_swapped": "columns {one} and {other} are exchanged",
    "axes_exchanged": "the axes of {step} are ({axes})",
    "rounded": "the numbers are rounded as {rounded_to}",
    "half_precision": "rounding alone: these are {dtype} numbers, no further off than the rounding of {dtype}",
}


@dataclass(frozen=True)
class Mistake:
    """A mistake in attention code, as a change of some steps of a right run.

    steps: the names of the steps that may change. change: a function that returns the mistaken value of each of these
    steps, or None if the mistake does not apply.
    """

    steps: tuple[str, ...]
    change: Change

    def __call__(self, step: Step, values: Values) -> Tensor | None:
        return self.change(step, values) if step.name in self.steps else None


# which steps a mistake changes
SCALED_SCORES = ("scaled_scores",)
MASKED_SCORES = ("masked_scores",)
HEAD_OUTPUTS = ("head_outputs",)
CONCAT = ("concat",)
ALLOWED_MASK = ("allowed",)
CAUSAL_MASKS = ("allowed", "allowed_causal", "allowed_sliding", "allowed_custom")
PARTS_OF_MASK = ("allowed", "allowed_padding", "allowed_custom")
WINDOWS = ("allowed", "allowed_sliding", "allowed_local")
HEAD_TENSORS = ("q_heads", "q", "k_heads", "k", "v")


def softmax_mistake(change: Change) -> Mistake:
    """Return a mistake in the softmax as a change of the weights; weights that the visitor replaced stay unchanged."""
    return Mistake(("computed_weights", "weights"), mistaken_steps.restrict_to_softmax(change))


MISTAKES = {
    "q_from_w_k": Mistake(("q_projected",), mistaken_steps.project_with_other("k")),
    "q_from_w_v": Mistake(("q_projected",), mistaken_steps.project_with_other("v")),
    "k_from_w_q": Mistake(("k_projected",), mistaken_steps.project_with_other("q")),
    "k_from_w_v": Mistake(("k_projected",), mistaken_steps.project_with_other("v")),
    "v_from_w_q": Mistake(("v_projected",), mistaken_steps.project_with_other("q")),
    "v_from_w_k": Mistake(("v_projected",), mistaken_steps.project_with_other("k")),
    "no_rope": Mistake(("q", "k"), mistaken_steps.no_rope),
    "rope_pairs": Mistake(("q", "k"), mistaken_steps.rope_pairs),
    "split_not_transposed": Mistake(HEAD_TENSORS, mistaken_steps.split_not_transposed),
    "split_interleaved": Mistake(HEAD_TENSORS, mistaken_steps.split_interleaved),
    "groups_tiled": Mistake(("k", "v"), mistaken_steps.groups_tiled),
    "scores_transposed": Mistake(("scores",), mistaken_steps.transposed),
    "k_not_transposed": Mistake(("scores",), mistaken_steps.k_not_transposed),
    "no_scale": Mistake(SCALED_SCORES, mistaken_steps.no_scale),
    "scale_squared": Mistake(SCALED_SCORES, mistaken_steps.scale_squared),
    "scale_inverse": Mistake(SCALED_SCORES, mistaken_steps.scale_inverse),
    "scale_model_width": Mistake(SCALED_SCORES, mistaken_steps.scale_model_width),
    "scale_input_width": Mistake(SCALED_SCORES, mistaken_steps.scale_input_width),
    "scale_keys": Mistake(SCALED_SCORES, mistaken_steps.scale_keys),
    "scale_value_width": Mistake(SCALED_SCORES, mistaken_steps.scale_value_width),
    "scale_root": Mistake(SCALED_SCORES, mistaken_steps.scale_root),
    "no_temperature": Mistake(SCALED_SCORES, mistaken_steps.no_temperature),
    "temperature_inverse": Mistake(SCALED_SCORES, mistaken_steps.temperature_inverse),
    "bias_sign": Mistake(("bias",), mistaken_steps.bias_sign),
    "no_bias": Mistake(("biased_scores",), mistaken_steps.no_bias),
    "no_mask": Mistake(ALLOWED_MASK, mistaken_masks.no_mask),
    "mask_inverted": Mistake(ALLOWED_MASK, mistaken_masks.mask_inverted),
    "mask_transposed": Mistake(ALLOWED_MASK, mistaken_steps.transposed),
    "padding_on_queries": Mistake(PARTS_OF_MASK, mistaken_masks.padding_on_queries),
    "causal_upper_left": Mistake(CAUSAL_MASKS, mistaken_masks.causal_upper_left),
    "causal_lower_right": Mistake(CAUSAL_MASKS, mistaken_masks.causal_lower_right),
    "causal_too_strict": Mistake(CAUSAL_MASKS, mistaken_masks.causal_too_strict),
    "causal_too_loose": Mistake(CAUSAL_MASKS, mistaken_masks.causal_too_loose),
    "causal_added": Mistake(MASKED_SCORES, mistaken_masks.causal_added),
    "causal_added_upper_left": Mistake(MASKED_SCORES, mistaken_masks.causal_added_upper_left),
    "window_missing": Mistake(WINDOWS, mistaken_masks.window_missing),
    "window_both_sides": Mistake(WINDOWS, mistaken_masks.window_both_sides),
    "mask_as_zero": Mistake(MASKED_SCORES, mistaken_masks.mask_as_zero),
    "mask_as_number": Mistake(MASKED_SCORES, mistaken_masks.mask_as_number),
    "finite_fill": Mistake(MASKED_SCORES, mistaken_masks.finite_fill),
    "finite_added": Mistake(MASKED_SCORES, mistaken_masks.finite_added),
    "mask_after_softmax": softmax_mistake(mistaken_masks.mask_after_softmax),
    "nan_rows": softmax_mistake(mistaken_steps.nan_rows),
    "softmax_queries": softmax_mistake(mistaken_steps.softmax_queries),
    "softmax_heads": softmax_mistake(mistaken_steps.softmax_heads),
    "softmax_batch": softmax_mistake(mistaken_steps.softmax_batch),
    "softmax_pairs": softmax_mistake(mistaken_steps.softmax_pairs),
    "softmax_undivided": softmax_mistake(mistaken_steps.softmax_undivided),
    "no_softmax": softmax_mistake(mistaken_steps.no_softmax),
    "weights_transposed": Mistake(("weights",), mistaken_steps.transposed),
    "no_dropout": Mistake(("dropped_weights",), mistaken_steps.no_dropout),
    "values_from_keys": Mistake(HEAD_OUTPUTS, mistaken_steps.values_from_keys),
    "values_unmixed": Mistake(HEAD_OUTPUTS, mistaken_steps.values_unmixed),
    "merge_not_transposed": Mistake(CONCAT, mistaken_steps.merge_not_transposed),
    "merge_interleaved": Mistake(CONCAT, mistaken_steps.merge_interleaved),
    "w_o_transposed": Mistake(("w_o",), mistaken_steps.transposed),
    "w_o_missing": Mistake(("output",), mistaken_steps.w_o_missing),
    "b_o_missing": Mistake(("b_o",), mistaken_steps.b_o_missing),
}
