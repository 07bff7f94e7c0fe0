"""The proof of a run: the same operations in float64 against their NumPy twins and against torch's own attention.

A twin by the same hand catches slips, not shared misunderstandings: torch is the other witness. The rounding of the
chosen precision stands beside the proof as a figure, it is no matter of pass or fail.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool
from torch import Tensor

from attention_core.comparison.rerun import rerun
from attention_core.mechanism.scores import DOT
from attention_core.record.trace import Trace

PROOF_TOLERANCE = 1e-10  # of the step's largest magnitude
MAX_AUTOMATIC_PROOF_NUMBERS = 5_000_000  # numbers in a trace; a larger one is proven when asked for


@dataclass(frozen=True)
class ProofCheck:
    """One comparison: which step, by which witness, how far apart, and whether that passes."""

    step: str
    witness: str
    difference: float
    passed: bool


@dataclass(frozen=True)
class Proof:
    """What was checked. `rounding`: how far each shown step lies from float64, relative to its largest number.
    `overflow`: the first cell that is not finite though no mask made it so, as (step, index)."""

    checks: tuple[ProofCheck, ...]
    rounding: dict[str, float]
    overflow: tuple[str, tuple[int, ...]] | None

    @property
    def passed(self) -> bool:
        """All checks pass."""
        return all(check.passed for check in self.checks)

    @property
    def worst(self) -> float:
        """The largest relative difference of any check."""
        return max(check.difference for check in self.checks)

    @property
    def failed(self) -> ProofCheck | None:
        """The first check that fails, in the order of the steps."""
        return next((check for check in self.checks if not check.passed), None)


def prove(trace: Trace) -> Proof:
    """Checks every number of a run: NumPy twins, torch's own attention, rows that sum to 1 or 0, blocked cells at 0.

    trace: any run, of any precision and device; it is computed again on the CPU in float64 and not changed. Nothing is
    raised for a wrong number: `passed` is False, `failed` names its step.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> proof = prove(attend_qkv(torch.eye(3), torch.eye(3), torch.eye(3)))
    >>> proof.passed, proof.worst < 1e-15
    (True, True)
    """
    with torch.inference_mode():
        doubles = rerun(trace)
        twins = run_numpy_twins(trace, doubles)
        checks = [check_step(name, "numpy", doubles[name].numpy(), twins[name]) for name in trace.computed()]
        for name, step in trace.computed().items():
            if step.value.dtype in (torch.float64, torch.bool):  # what no precision has rounded
                checks.append(check_step(name, "shown", step.window(), twins[name]))
        checks += check_by_torch(trace, doubles) + check_rules(trace, doubles)
        order = [*trace.computed()]
        checks.sort(key=lambda check: order.index(check.step))
        return Proof(tuple(checks), measure_rounding(trace, doubles), find_overflow(trace))


def run_numpy_twins(trace: Trace, doubles: dict[str, Tensor]) -> dict[str, np.ndarray]:
    """Every step by its NumPy twin, from the inputs on: nothing of torch's results is used."""
    twins = {name: doubles[name].numpy() for name in trace.inputs()}
    with np.errstate(all="ignore"):  # what overflows is named by the proof
        for name, step in trace.computed().items():
            twins[name] = step.operation.apply_numpy(twins)
    return twins


def check_step(step: str, witness: str, value: np.ndarray, other: np.ndarray) -> ProofCheck:
    """The largest difference, relative to the step's largest magnitude. Infinities and NaN must stand in the same
    cells: where both have them, they are what the operation gives, such as a naive softmax that overflows."""
    value, other = np.asarray(value, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if value.shape != other.shape:
        return ProofCheck(step, witness, float("inf"), False)
    finite = np.isfinite(other)
    same = np.array_equal(np.isfinite(value), finite) and np.array_equal(value[~finite], other[~finite], equal_nan=True)
    if not same:
        return ProofCheck(step, witness, float("inf"), False)
    difference = relative_difference(value[finite], other[finite])
    return ProofCheck(step, witness, difference, difference <= PROOF_TOLERANCE)


def relative_difference(value: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of finite numbers, relative to the largest magnitude of `other`."""
    magnitude = np.abs(other).max(initial=0.0) or 1.0
    return float(np.abs(value - other).max(initial=0.0) / magnitude)


# ---- torch's own attention -------------------------------------------------------------------------------------------
def check_by_torch(trace: Trace, doubles: dict[str, Tensor]) -> list[ProofCheck]:
    """scaled_dot_product_attention for the heads' outputs, multi_head_attention_forward for the whole layer."""
    if {"softmax_weights", "dropped_weights"} & set(trace.steps):
        return []  # torch's functions draw their own dropout and cannot be given weights
    checks = [check_step("head_outputs", "sdpa", run_sdpa(trace, doubles).numpy(), doubles["head_outputs"].numpy())]
    layer = run_mha(trace, doubles)
    if layer is not None:
        output, weights = layer
        checks.append(check_step("weights", "mha", weights.numpy(), doubles["weights"].numpy()))
        checks.append(check_step("output", "mha", output.numpy(), doubles["output"].numpy()))
    return checks


def run_sdpa(trace: Trace, doubles: dict[str, Tensor]) -> Tensor:
    """The heads' outputs by torch: from q and k where the score is a dot product, else from the scores."""
    scores = trace.step("scores").operation
    q, k, v = doubles["q"], doubles["k"], doubles["v"]
    grouped = q.shape[1] != v.shape[1]
    if scores.faces.cell is not DOT.cell:
        nothing = torch.zeros(*doubles["scores"].shape[:3], v.shape[-1], dtype=torch.float64)
        bias = doubles["masked_scores"]
        return F.scaled_dot_product_attention(nothing, torch.zeros_like(v), v, attn_mask=bias, enable_gqa=grouped)
    params = trace.step("scaled_scores").operation.params
    bias = torch.zeros_like(doubles["scores"]) + doubles.get("bias", torch.zeros(()))
    if "allowed" in doubles:
        bias = bias.masked_fill(~doubles["allowed"], float("-inf"))
    factor = params["factor"] / params["temperature"]
    q = doubles[scores.reads[0]]  # the queries may be scaled already
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=factor, enable_gqa=grouped)


def run_mha(trace: Trace, doubles: dict[str, Tensor]) -> tuple[Tensor, Tensor] | None:
    """The whole layer by the function behind torch.nn.MultiheadAttention, where that covers the case."""
    if not is_torch_layer(trace):
        return None
    B, H, T, d_k = doubles["q"].shape
    D = H * d_k
    inputs = [doubles[name] for name in layer_inputs(trace)]
    blocked = mha_mask(doubles, (B, H, T, doubles["k"].shape[2]))
    if blocked is not None and blocked.all(-1).any():
        return None  # torch gives NaN for a query that may attend to nothing
    bias = [doubles.get(f"b_{role}", torch.zeros(D, dtype=torch.float64)) for role in "qkvo"]
    output, weights = F.multi_head_attention_forward(
        *(x.transpose(0, 1) for x in inputs),  # (B, T, D) -> (T, B, D)
        embed_dim_to_check=D,
        num_heads=H,
        in_proj_weight=None,
        in_proj_bias=torch.cat(bias[:3]),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=doubles["w_o"].T,
        out_proj_bias=bias[3],
        training=False,
        attn_mask=blocked,
        use_separate_proj_weight=True,
        q_proj_weight=doubles["w_q"].T,
        k_proj_weight=doubles["w_k"].T,
        v_proj_weight=doubles["w_v"].T,
        average_attn_weights=False,
    )
    return output.transpose(0, 1), weights  # (T, B, D) -> (B, T, D); (B, H, T, S)


def is_torch_layer(trace: Trace) -> bool:
    """Whether a run, but for its mask, is what torch.nn.MultiheadAttention computes: all projections there, square for
    the query and the output, equal heads, the scaled dot product without positions beyond those added to the input, and
    the softmax's own weights.

    >>> from attention_core import attend
    >>> is_torch_layer(attend(torch.eye(3)))
    False
    """
    needed = ("q_projected", "k_projected", "v_projected", "w_o")
    others = ("q_heads", "bias", "k_cache", "softmax_weights", "dropped_weights")
    if any(name not in trace for name in needed) or any(name in trace for name in others):
        return False
    _, H, _, d_k = trace["q"].shape
    square = all(tuple(trace[name].shape) == (H * d_k, H * d_k) for name in ("w_o", "w_q"))
    plain = trace["k"].shape[1] == H and trace["v"].shape[-1] == d_k and square
    params = trace.step("scaled_scores").operation.params
    is_dot = trace.step("scores").operation.faces.cell is DOT.cell
    return plain and is_dot and params == {"factor": d_k**-0.5, "temperature": 1.0}


def layer_inputs(trace: Trace) -> tuple[str, ...]:
    """The steps that q, k and v are projected from: the inputs, or these with positions added."""
    return tuple(trace.step(f"{role}_projected").operation.reads[0] for role in "qkv")


def mha_mask(doubles: dict[str, Tensor], pairs: tuple[int, int, int, int]) -> Bool[Tensor, "BH T S"] | None:
    """torch's layer wants True where attention is blocked, one mask a head of each sequence."""
    if "allowed" not in doubles:
        return None
    B, H, T, S = pairs
    return ~doubles["allowed"].expand(B, H, T, S).reshape(B * H, T, S)


# ---- rules that need no second computation ---------------------------------------------------------------------------
def check_rules(trace: Trace, doubles: dict[str, Tensor]) -> list[ProofCheck]:
    """Rows of the softmax sum to 1, or to 0 where nothing is allowed; blocked cells are exactly 0 as shown, unless the
    weights are somebody's own."""
    softmax = "softmax_weights" if "softmax_weights" in trace else "weights"
    sums = doubles[softmax].sum(-1)
    some = (~doubles["masked_scores"].isneginf()).any(-1)
    checks = [check_step(softmax, "rows", sums.numpy(), some.double().numpy())]
    own = "replacement" in trace or "chosen_weights" in trace
    masked = (softmax,) if own else ("softmax_weights", "weights", "dropped_weights")
    for name in masked:
        if "allowed" in trace and name in trace:
            blocked = ~trace["allowed"].expand_as(trace[name])
            leak = float(trace[name].detach()[blocked].abs().double().max()) if blocked.any() else 0.0
            checks.append(ProofCheck(name, "blocked", leak, leak == 0.0))
    return checks


def measure_rounding(trace: Trace, doubles: dict[str, Tensor]) -> dict[str, float]:
    """How far each shown step lies from its float64 value, where both are finite, relative to its largest magnitude."""
    figures = {}
    for name, step in trace.computed().items():
        if step.value.dtype == torch.bool:
            continue
        shown, double = step.window(), doubles[name].numpy()
        both = np.isfinite(shown) & np.isfinite(double)
        figures[name] = relative_difference(shown[both], double[both])
    return figures


def find_overflow(trace: Trace) -> tuple[str, tuple[int, ...]] | None:
    """The first shown number that the precision could not hold: NaN or infinite without a mask's doing."""
    for name, step in trace.computed().items():
        value = step.value
        if value.dtype == torch.bool:
            continue
        broken = ~torch.isfinite(value)
        if name == "masked_scores" and "allowed" in trace:
            broken &= trace["allowed"]
        if broken.any():
            return name, tuple(broken.nonzero()[0].tolist())
    return None
