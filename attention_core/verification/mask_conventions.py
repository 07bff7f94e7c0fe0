"""One mask, two conventions, and an axis in the wrong place: what comes out when nobody raises an error.

Here and in torch's scaled_dot_product_attention True means may attend; in torch.nn.MultiheadAttention it means blocked.
A mask of two axes fits (B, H, T, S) only with its missing axes where they belong.
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
from attention_core.mechanism.config import require_one_of
from attention_core.mechanism.masks import all_allow
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step, Trace
from attention_core.verification.proof import is_torch_layer, layer_inputs


def run_under_mask(trace: Trace, allowed: Bool[Tensor, "*#B_H T S"]) -> Trace:
    """The run under another mask, all that stands behind it computed again.

    trace: a run with a mask. allowed: boolean (T, S) or (B, H, T, S), True = may attend; it is an input of the new run.
    Raises AttentionError (a ValueError) for a shape that does not fit, KeyError for a run without a mask.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2), allowed=torch.ones(2, 2).bool())
    >>> run_under_mask(trace, torch.eye(2).bool())["weights"][0, 0]
    tensor([[1., 0.],
            [0., 1.]])
    """
    trace.step("allowed")
    given = checks.as_pairs("allowed", allowed, tuple(trace["scores"].shape))
    inputs = {name: step for name, step in trace.inputs().items() if not name.startswith("allowed")}
    later = [step.operation for name, step in trace.computed().items() if not name.startswith("allowed")]
    return replace(trace, steps={**inputs, "allowed": Step("allowed", given, SCORE_DIMS)}).then(*later)


def without_padding_mask(batch: Trace) -> Trace:
    """A batch as it comes out where nobody hides what its sentences were filled up with: without its padding mask.

    batch: a run with that mask, alone or among others.

    >>> from attention_core import AttentionConfig, attend_qkv
    >>> masks = [("padding", {"lengths": (1,)})]
    >>> trace = attend_qkv(*[torch.zeros(2, 1)] * 3, config=AttentionConfig(masks=masks))
    >>> without_padding_mask(trace)["weights"][0, 0, 0]
    tensor([0.5000, 0.5000])
    """
    others = [batch[name] for name in batch.steps if name.startswith("allowed_") and name != "allowed_padding"]
    nobody = torch.ones_like(batch["allowed"])
    return run_under_mask(batch, all_allow(nobody, *others).expand_as(batch["scores"]))


def with_inverted_mask(trace: Trace) -> Trace:
    """What comes out when the mask is handed to code of the other convention: every query attends to just the keys that
    it must not attend to, and to nothing where it may attend to all.

    trace: a run with a mask; KeyError without one. Source: torch's documentation of scaled_dot_product_attention and of
    MultiheadAttention, which warn of each other.

    >>> from attention_core import AttentionConfig, attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2), config=AttentionConfig(masks=["causal"]))
    >>> with_inverted_mask(trace)["weights"][0, 0]  # a causal mask lets each attend to the future alone
    tensor([[0., 1.],
            [0., 0.]])
    """
    return run_under_mask(trace, ~trace["allowed"])


# ---- an axis in the wrong place --------------------------------------------------------------------------------------
def with_misplaced_mask(trace: Trace) -> Trace:
    """What comes out when the heads' axis is put into a mask of two axes by `mask.unsqueeze(1)`.

    That line is right for (B, T, S). A (T, S) mask becomes (T, 1, S), and a padding mask (B, S) becomes (B, 1, S):
    broadcasting lines their first axis up with the heads, so that head n gets, for every query and every sentence, row
    n of the mask. Without an error where that axis is as long as there are heads, T = H or B = H.

    trace: a run whose mask is one for all heads, (T, S) for all sentences or (B, S) for all queries. Raises
    AttentionError (a ValueError): shape_fits_scores where broadcasting fails, as it does in torch (but masked_fill
    grows the scores to (B, T, T, S) where there is one head), rank where the mask has more than two axes of its own.

    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q = torch.zeros(1, 3, 3, 1)  # as many queries as heads
    >>> with_misplaced_mask(attend_qkv(q, q, q, config=AttentionConfig(masks=["causal"])))["allowed"][0, 1]
    tensor([[ True,  True, False],
            [ True,  True, False],
            [ True,  True, False]])
    """
    allowed, (B, H, T, S) = trace["allowed"], trace["scores"].shape
    if allowed.shape[1] > 1 or (allowed.shape[0] > 1 and allowed.shape[2] > 1):
        raise AttentionError("rank", name="allowed", axes="(T, S) or (B, S)", shape=tuple(allowed.shape))
    added = allowed.flatten(0, 2).unsqueeze(1)  # (T, S) -> (T, 1, S), or (B, S) -> (B, 1, S)
    if len(added) not in (1, H):
        name = "mask.unsqueeze(1)"
        raise AttentionError("shape_fits_scores", name=name, expected=(B, H, T, S), shape=tuple(added.shape))
    return run_under_mask(trace, added.expand(len(added), T, S)[None])  # (1, H, T, S)


@dataclass(frozen=True)
class MaskDamage:
    """How far a run under a wrong mask is from the right one.

    pairs: how many of the `of` pairs (b, h, i, j) are allowed in one run alone. weights: how many weights differ.
    largest: the weight that differs most; output: the number of the output that does; None where none differs.
    """

    pairs: int
    of: int
    weights: int
    largest: StepMove | None
    output: StepMove | None


def measure_mask_damage(wrong: Trace, right: Trace) -> MaskDamage:
    """What a wrong mask did: counted over all sentences and heads.

    wrong, right: two runs of the same inputs.

    >>> from attention_core import AttentionConfig, attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2), config=AttentionConfig(masks=["causal"]))
    >>> found = measure_mask_damage(with_inverted_mask(trace), trace)
    >>> found.pairs, found.of, found.weights, found.largest.size
    (4, 4, 4, 1.0)
    """
    moved = find_moves(wrong, right)
    pairs = allowed_pairs(wrong) != allowed_pairs(right)
    weights = int((abs_difference(wrong["weights"], right["weights"]) > 0).sum())
    return MaskDamage(int(pairs.sum()), pairs.numel(), weights, moved.get("weights"), moved.get("output"))


# ---- torch's own layer -----------------------------------------------------------------------------------------------
TORCH_PATHS = ("weights", "no_weights", "fast")  # of the code inside torch's layer


def run_torch_layer(
    trace: Trace, attn_mask: Bool[Tensor, "#B #H T S"] | None = None, path: str = "weights"
) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B H T S"] | None] | None:
    """What torch.nn.MultiheadAttention itself gives for the run's inputs and weights: output and weights.

    trace: any run. attn_mask: handed over as it is, expanded to (B H, T, S); there True means blocked, so that the
    run's `allowed` needs to_mha_mask first. path: the layer's code has three, which differ in what a query gets that
    may attend to nothing: "weights" asks for the weights too (the default, need_weights=True); "no_weights" does not,
    and runs scaled_dot_product_attention; "fast" is the one that torch may take in evaluation without gradients. The
    weights are None where they are not asked for.

    None where the run is not what that layer computes (see proof.is_torchs_layer). Computed in float64. Raises
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
    if not is_torch_layer(trace):
        return None
    doubles = rerun(trace)
    pairs = trace["scores"].shape
    mask = None if attn_mask is None else attn_mask.cpu().expand(pairs).flatten(0, 1)  # (B, H, T, S) -> (B H, T, S)
    layer = build_torch_layer(trace, doubles).train(path != "fast")
    with torch.no_grad():
        inputs = [doubles[name] for name in layer_inputs(trace)]
        asked = path == "weights"
        return layer(*inputs, attn_mask=mask, need_weights=asked, average_attn_weights=False)


def build_torch_layer(trace: Trace, doubles: dict[str, Tensor]) -> torch.nn.MultiheadAttention:
    """The layer with the run's weights; torch keeps them as (out, in), and those of q, k and v under one another."""
    q, k, v, o = (doubles[f"w_{role}"].T for role in "qkvo")  # (d_in, d_out) -> (d_out, d_in)
    D, heads = len(q), trace["q"].shape[1]
    widths = {"kdim": k.shape[1], "vdim": v.shape[1]}
    kind = torch.nn.MultiheadAttention
    layer = torch.nn.utils.skip_init(kind, D, heads, **widths, batch_first=True, dtype=torch.float64)  # draws nothing
    none = torch.zeros(D, dtype=torch.float64)
    b_q, b_k, b_v, b_o = (doubles.get(f"b_{role}", none) for role in "qkvo")
    own = {"in_proj_bias": torch.cat([b_q, b_k, b_v]), "out_proj.weight": o, "out_proj.bias": b_o}
    one_matrix = k.shape == v.shape == q.shape
    apart = {"q_proj_weight": q, "k_proj_weight": k, "v_proj_weight": v}
    layer.load_state_dict(own | ({"in_proj_weight": torch.cat([q, k, v])} if one_matrix else apart))
    return layer


@dataclass(frozen=True)
class TorchAnswer:
    """What torch's own layer makes of a mask, beside a run: `gap`, how far its weights are from the run's where it
    gives numbers; `lost`, in how many of all rows (sentences x heads x queries) it gives NaN."""

    gap: float
    lost: int
    rows: int


def compare_with_torch_layer(trace: Trace, attn_mask: Bool[Tensor, "#B #H T S"], ours: Trace) -> TorchAnswer | None:
    """torch.nn.MultiheadAttention's weights for a run's inputs under a mask handed over as it is, beside those of
    another run; None where torch_layer gives none.

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
    weights = found[1]
    lost = weights.isnan().all(-1)  # (B, H, T)
    gaps = abs_difference(weights, ours["weights"])[~lost]
    return TorchAnswer(gaps.max().item() if gaps.numel() else 0.0, int(lost.sum()), lost.numel())
