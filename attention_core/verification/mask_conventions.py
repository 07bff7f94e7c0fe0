"""Runs attention with masks that are wrong but raise no error: True and False exchanged, or broadcast along a wrong
axis.

Here and in torch's scaled_dot_product_attention True means may attend; in torch.nn.MultiheadAttention it means blocked.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.comparison.differences import StepMove, find_moves
from attention_core.comparison.distances import abs_difference
from attention_core.comparison.rerun import rerun
from attention_core.explanation.facts import allowed_pairs
from attention_core.mechanism import checks
from attention_core.mechanism.masks import all_allow
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step, Trace
from attention_core.verification.torch_functions import is_torch_layer, projection_source_names


def run_under_mask(trace: Trace, allowed: Bool[Tensor, "*#B_H T S"]) -> Trace:
    """Compute a run again with another mask instead of its mask.

    trace: a run with a mask. allowed: boolean (T, S) or (B, H, T, S), True = may attend; it is an input of the new run.
    Raises AttentionError (a ValueError) for a shape that does not fit, KeyError for a run without a mask.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2), allowed=torch.ones(2, 2).bool())
    >>> run_under_mask(trace, torch.eye(2).bool())["weights"][0, 0]
    tensor([[1., 0.],
            [0., 1.]])
    """
    trace.step("allowed")  # raises KeyError if the run has no mask
    pairs = trace.step("scores").shape
    given = checks.as_pairs("allowed", allowed, pairs).to(trace["scores"].device)
    inputs = {}
    operations = []
    for name, step in trace.steps.items():
        if name.startswith("allowed"):
            continue
        if step.operation is None:
            inputs[name] = step
        else:
            operations.append(step.operation)
    inputs["allowed"] = Step("allowed", given, SCORE_DIMS)
    return replace(trace, steps=inputs).then(*operations)


def without_padding_mask(batch: Trace) -> Trace:
    """Runs a batch again without its padding mask, so that the sentences attend to their padding too.

    batch: a run with a padding mask, alone or with other masks.

    >>> from attention_core import AttentionConfig, attend_qkv
    >>> masks = [("padding", {"lengths": (1,)})]
    >>> trace = attend_qkv(*[torch.zeros(2, 1)] * 3, config=AttentionConfig(masks=masks))
    >>> without_padding_mask(trace)["weights"][0, 0, 0]
    tensor([0.5000, 0.5000])
    """
    allowed = torch.ones_like(batch["allowed"])
    for name in batch.steps:
        if name.startswith("allowed_") and name != "allowed_padding":
            allowed = all_allow(allowed, batch[name])
    return run_under_mask(batch, allowed.expand_as(batch["scores"]))


def with_inverted_mask(trace: Trace) -> Trace:
    """Compute a run again with its mask inverted, as if True meant blocked, not allowed.

    Each query then attends only to the keys that the right mask blocks, and to none if it blocks no key.

    trace: a run with a mask; KeyError without one. Source: torch's documentation of scaled_dot_product_attention and of
    MultiheadAttention, each of which warns of the other function's convention.

    >>> from attention_core import AttentionConfig, attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2), config=AttentionConfig(masks=["causal"]))
    >>> with_inverted_mask(trace)["weights"][0, 0]  # a causal mask lets each attend to the future alone
    tensor([[0., 1.],
            [0., 0.]])
    """
    return run_under_mask(trace, ~trace["allowed"])


# ---- an axis in the wrong place --------------------------------------------------------------------------------------
def with_misplaced_mask(trace: Trace) -> Trace:
    """Computes a run again after the common mistake of `mask.unsqueeze(1)` on a mask of two axes.

    That line is right for a mask (B, T, S). A (T, S) mask becomes (T, 1, S), and a padding mask (B, S) becomes (B, 1,
    S). Broadcasting aligns their first axis with the heads, so that head n uses row n of the mask for every query and
    every sentence. No error is raised if that axis is as long as there are heads: T = H or B = H.

    trace: a run with one mask for all heads, (T, S) for all sentences or (B, S) for all queries. Raises AttentionError
    (a ValueError): shape_fits_scores if broadcasting fails, as it does in torch (but with one head masked_fill grows
    the scores to (B, T, T, S)), and rank if the mask is neither (T, S) nor (B, S).

    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q = torch.zeros(1, 3, 3, 1)  # as many queries as heads
    >>> with_misplaced_mask(attend_qkv(q, q, q, config=AttentionConfig(masks=["causal"])))["allowed"][0, 1]
    tensor([[ True,  True, False],
            [ True,  True, False],
            [ True,  True, False]])
    """
    allowed = trace["allowed"]
    B, H, T, S = trace.step("scores").shape
    batches, heads, queries, _ = allowed.shape
    if heads > 1 or (batches > 1 and queries > 1):
        raise AttentionError(
            "rank",
            name="allowed",
            axes="(T, S) or (B, S)",
            shape=tuple(allowed.shape),
        )
    mask = allowed.flatten(0, 2)  # (T, S) or (B, S)
    misplaced = mask.unsqueeze(1)  # (T, 1, S) or (B, 1, S)
    if len(misplaced) not in (1, H):
        raise AttentionError(
            "shape_fits_scores",
            name="mask.unsqueeze(1)",
            expected=(B, H, T, S),
            shape=tuple(misplaced.shape),
        )
    broadcast = misplaced.expand(len(misplaced), T, S)
    return run_under_mask(trace, broadcast[None])  # (1, H, T, S)


@dataclass(frozen=True)
class MaskDamage:
    """How far a run under a wrong mask is from the right run.

    pairs: the number of cells (sentence, head, query, key) that only one of the two runs allows. of: the number of all
    cells. weights: the number of weights that differ. largest, output: the weight that differs most, and the number of
    the output that differs most; None if nothing differs.
    """

    pairs: int
    of: int
    weights: int
    largest: StepMove | None
    output: StepMove | None


def measure_mask_damage(wrong: Trace, right: Trace) -> MaskDamage:
    """Measures how far a run under a wrong mask is from the right run, over all sentences and heads.

    wrong, right: the run under the wrong mask and the run under the right mask, of the same inputs.

    >>> from attention_core import AttentionConfig, attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2), config=AttentionConfig(masks=["causal"]))
    >>> found = measure_mask_damage(with_inverted_mask(trace), trace)
    >>> found.pairs, found.of, found.weights, found.largest.size
    (4, 4, 4, 1.0)
    """
    moves = find_moves(wrong, right)
    pairs = allowed_pairs(wrong) != allowed_pairs(right)
    weights = abs_difference(wrong["weights"], right["weights"]) > 0
    return MaskDamage(
        pairs=int(pairs.sum()),
        of=pairs.numel(),
        weights=int(weights.sum()),
        largest=moves.get("weights"),
        output=moves.get("output"),
    )


# ---- torch's own layer -----------------------------------------------------------------------------------------------
TORCH_PATHS = ("weights", "no_weights", "fast")  # the three ways in which torch.nn.MultiheadAttention computes


def run_torch_layer(
    trace: Trace, attn_mask: Bool[Tensor, "#B #H T S"] | None = None, path: str = "weights"
) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B H T S"] | None] | None:
    """Runs torch.nn.MultiheadAttention on the run's inputs and weights, in float64.

    trace: any run. attn_mask: passed unchanged, expanded to (B H, T, S); in it True means blocked, so that the run's
    `allowed` needs to_mha_mask first. path: one of the layer's three code paths, which differ in the result for a query
    without an allowed key. "weights" also returns the weights (the default, need_weights=True); "no_weights" does not,
    and calls scaled_dot_product_attention; "fast" is what torch may use in evaluation mode without gradients.

    Returns output and weights; the weights are None if they are not asked for. Returns None if the run is not what that
    layer computes (see torch_functions.is_torch_layer), or has a bias, which attn_mask would have to contain. Raises
    AttentionError (a ValueError) for an unknown path. Source: torch.nn.MultiheadAttention, pytorch issues 41508 and
    160064.

    >>> from attention_core import Weights, attend, to_mha_mask
    >>> eye, allowed = torch.eye(2), torch.ones(2, 2).tril().bool()
    >>> trace = attend(eye, weights=Weights(w_q=eye, w_k=eye, w_v=eye, w_o=eye), allowed=allowed)
    >>> run_torch_layer(trace, to_mha_mask(trace["allowed"]))[1][0, 0, 0]
    tensor([1., 0.], dtype=torch.float64)
    >>> run_torch_layer(trace, trace["allowed"])[1][0, 0, 0]
    tensor([0., 1.], dtype=torch.float64)
    """
    require_one_of("path", path, TORCH_PATHS)
    if not is_torch_layer(trace) or "bias" in trace:
        return None
    doubles = rerun(trace)
    mask = attn_mask
    if mask is not None:
        mask = mask.cpu().expand(trace.step("scores").shape).flatten(0, 1)  # (B, H, T, S) -> (B H, T, S)
    layer = build_torch_layer(trace, doubles).train(path != "fast")
    query, key, value = (doubles[name] for name in projection_source_names(trace))
    with torch.no_grad():
        return layer(
            query,
            key,
            value,
            attn_mask=mask,
            need_weights=path == "weights",
            average_attn_weights=False,
        )


def build_torch_layer(trace: Trace, doubles: dict[str, Tensor]) -> torch.nn.MultiheadAttention:
    """Build torch.nn.MultiheadAttention with the run's weights and biases, in float64.

    torch stores a matrix as (out, in), and concatenates the matrices of q, k and v if they have the same shape.
    """
    w_q, w_k, w_v, w_o = (doubles[f"w_{role}"].T for role in "qkvo")  # (d_in, d_out) -> (d_out, d_in)
    D = len(w_q)
    no_bias = torch.zeros(D, dtype=torch.float64)
    b_q, b_k, b_v, b_o = (doubles.get(f"b_{role}", no_bias) for role in "qkvo")
    state = {
        "in_proj_bias": torch.cat([b_q, b_k, b_v]),
        "out_proj.weight": w_o,
        "out_proj.bias": b_o,
    }
    if w_k.shape == w_v.shape == w_q.shape:
        state["in_proj_weight"] = torch.cat([w_q, w_k, w_v])
    else:
        state["q_proj_weight"] = w_q
        state["k_proj_weight"] = w_k
        state["v_proj_weight"] = w_v
    layer = torch.nn.utils.skip_init(  # not initialised, which would sample random numbers
        torch.nn.MultiheadAttention,
        embed_dim=D,
        num_heads=trace.step("q").shape[1],
        kdim=w_k.shape[1],
        vdim=w_v.shape[1],
        batch_first=True,
        dtype=torch.float64,
    )
    layer.load_state_dict(state)
    return layer


@dataclass(frozen=True)
class TorchAnswer:
    """How far the result of torch.nn.MultiheadAttention is from a run under the same mask.

    gap: the largest difference between the layer's weights and the run's, in rows without NaN. lost: the number of rows
    in which the layer returns NaN. rows: the number of all rows (sentences x heads x queries).
    """

    gap: float
    lost: int
    rows: int


def compare_with_torch_layer(trace: Trace, attn_mask: Bool[Tensor, "#B #H T S"], ours: Trace) -> TorchAnswer | None:
    """Compares the weights of torch.nn.MultiheadAttention with those of a run.

    trace: the run whose inputs and weights torch's layer gets. attn_mask: a mask that is passed unchanged. ours: the
    run with which torch's weights are compared. Returns None if run_torch_layer returns None.

    >>> from attention_core import AttentionConfig, Weights, attend
    >>> eye = torch.eye(2)
    >>> weights = Weights(w_q=eye, w_k=eye, w_v=eye, w_o=eye)
    >>> trace = attend(eye, weights=weights, config=AttentionConfig(masks=["causal"]))
    >>> inverted = with_inverted_mask(trace)  # the last query may attend to nothing then
    >>> compare_with_torch_layer(trace, trace["allowed"], inverted).lost
    1
    """
    found = run_torch_layer(trace, attn_mask)
    if found is None:
        return None
    _, weights = found
    lost = weights.isnan().all(-1)  # (B, H, T)
    gaps = abs_difference(weights, ours["weights"])[~lost]
    return TorchAnswer(
        gap=gaps.max().item() if gaps.numel() else 0.0,
        lost=int(lost.sum()),
        rows=lost.numel(),
    )
