"""Compares a reader's own attention with a Trace: finds the first step that differs and, if proven, why.

Every step is compared with the run computed again in float64. Differences that rounding in the precision of the given
numbers can cause are tolerated (see rerun).
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.comparison.distances import is_large_negative_fill, largest_magnitude, step_difference
from attention_core.comparison.rerun import Values, coarsest_dtype, rerun, rounding_allowances
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.checks import check_tensors
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.verification.causes import find_causes, fit_given_steps, is_rounded_to
from attention_core.verification.diagnosis_report import Comparison, Diagnosis
from attention_core.verification.proof import find_lost_step
from attention_core.verification.tensor_layout import find_axis_order

MASK_NAMES = ("attn_mask", "mask", "allowed")  # a parameter of one of these names gets the mask


def first_difference(
    trace: Trace, given: Mapping[str, Tensor], tolerance: float | torch.dtype | None = None
) -> Diagnosis:
    """Compares given steps with the trace's, in the order of the trace.

    given: tensors by the names of the trace's steps; leading axes of length 1 may be left out. tolerance: a number,
    relative to the step's largest finite magnitude; or a dtype, whose rounding is tolerated; None: the coarsest dtype
    of the given tensors. Infinities must be in the same cells; a large negative number instead of -inf in masked_scores
    is counted, and agrees if the softmax gives it weight 0.

    Returns a Diagnosis without causes. Raises AttentionError for a step that the trace lacks, for something that is no
    tensor, and if nothing is given.
    Source of the tolerance: Parker 1997, Monte Carlo Arithmetic.

    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> print(first_difference(trace, {"scores": torch.eye(2), "weights": torch.eye(2)}))
    These agree: scores to 0. weights differ first, most at (b 0, head 0, query 0, key 0): yours 1, ours 0.6698. The
    fault lies in scaled_scores, masked_scores or weights.
    """
    theirs = fit_given_steps(trace, given)
    if tolerance is None:
        tolerance = coarsest_dtype(given.values())
    values = rerun(trace)
    limits = rounding_allowances(trace, tolerance)
    comparisons = []
    right = set()  # the given steps that agree
    for name in trace.steps:
        if name not in given:
            continue
        if name not in theirs:
            comparisons.append(report_misfit(trace, name, given[name]))
            continue
        comparison = compare_step(trace, name, theirs[name], values[name], limits[name])
        if comparison.agrees:
            right.add(name)
        else:
            comparison = replace(
                comparison,
                follows=follows_from_given(trace, name, theirs, tolerance),
                among=possible_faults(trace, name, right),
            )
        comparisons.append(comparison)
    return Diagnosis(tuple(comparisons), lost=find_lost_step(trace, values))


def infer_precision(trace: Trace, given: Mapping[str, Tensor]) -> torch.dtype:
    """Infers the precision that given steps were computed in, even if a file holds them in a wider dtype.

    given: as in first_difference. Returns the coarsest of bfloat16, float16 and float32 that holds all given numbers
    and not all correct ones, else float64: whole numbers, halves and the like are the same in every precision and show
    nothing. The result is never finer than the trace's own precision.

    >>> trace = attend_qkv(*3 * [torch.eye(2).double()])
    >>> infer_precision(trace, {"weights": trace["weights"].float().double()})
    torch.float32
    >>> infer_precision(trace, {"v": trace["v"]})
    torch.float64
    """
    theirs = fit_given_steps(trace, given)
    values = rerun(trace)
    inferred = torch.float64
    for dtype in (torch.float32, torch.float16, torch.bfloat16):  # from the finest to the coarsest
        if is_rounded_to(dtype, theirs, values):
            inferred = dtype
    own = coarsest_dtype(step.value for step in trace.steps.values())
    inferred_eps = torch.finfo(inferred).eps
    own_eps = torch.finfo(own).eps
    return own if own_eps > inferred_eps else inferred


def compare_step(trace: Trace, name: str, theirs: Tensor, ours: Tensor, limit: float) -> Comparison:
    """Compares one step. theirs, ours: in float64, of one shape. limit: the absolute difference that is tolerated."""
    gap = step_difference(name, theirs, ours)
    size = largest_magnitude(ours)
    comparison = Comparison(
        step=name,
        dims=trace.step(name).dims,
        shape=tuple(ours.shape),
        given_shape=tuple(ours.shape),
        difference=gap.max().item() / size,
        tolerance=limit / size,
        stand_ins=count_stand_ins(name, theirs, ours),
    )
    differing = (gap > limit).nonzero()
    if not len(differing):
        return comparison
    largest = (gap >= gap.max() - limit).nonzero()  # gaps that differ by rounding alone: the first is named
    index = tuple(largest[0].tolist())
    return replace(
        comparison,
        index=index,
        first=tuple(differing[0].tolist()),
        ours=float(ours[index]),
        theirs=float(theirs[index]),
    )


def count_stand_ins(name: str, theirs: Tensor, ours: Tensor) -> int:
    """Counts the masked scores that are a large negative number instead of -inf."""
    if name != "masked_scores":
        return 0
    return int(is_large_negative_fill(theirs, ours).sum())


def report_misfit(trace: Trace, name: str, given: Tensor) -> Comparison:
    """Returns the Comparison of a step whose shape does not fit, with the order of axes that would fit it."""
    dims = trace.step(name).dims
    given_shape = tuple(given.shape)
    return Comparison(
        step=name,
        dims=dims,
        shape=trace.step(name).shape,
        given_shape=given_shape,
        difference=torch.inf,
        tolerance=0.0,
        fits=False,
        fits_as=find_axis_order(trace.sizes(), dims, given_shape),
    )


def follows_from_given(trace: Trace, name: str, theirs: Values, tolerance: float | torch.dtype) -> bool | None:
    """Returns whether a step is correct given the other given steps, so that the fault lies before it.

    None if no step before it was given.
    """
    before = steps_back_to(trace, name, set()) - {name}
    if not before & theirs.keys():
        return None
    others = dict(theirs)
    del others[name]
    values = rerun(trace, theirs=others)
    limits = rounding_allowances(trace, tolerance, theirs=others)
    gap = step_difference(name, theirs[name], values[name])
    return gap.max().item() <= limits[name]


def possible_faults(trace: Trace, name: str, right: set[str]) -> tuple[str, ...]:
    """The computed steps in which a step's fault may lie: itself and steps that it depends on, up to right steps."""
    suspects = steps_back_to(trace, name, right)
    return tuple(step for step in trace.computed() if step in suspects)


def steps_back_to(trace: Trace, name: str, right: set[str]) -> set[str]:
    """A step and all steps that it depends on, up to the steps in `right`."""
    operation = trace.step(name).operation
    found = {name}
    if operation is not None:
        for read in set(operation.reads) - right:
            found |= steps_back_to(trace, read, right)
    return found


# ---- a reader's own function -----------------------------------------------------------------------------------------
def diagnose(
    function: Callable[..., object],
    q: Float[Tensor, "..."],
    k: Float[Tensor, "..."],
    v: Float[Tensor, "..."],
    *,
    config: AttentionConfig | None = None,
    weights: Weights | None = None,
    allowed: Bool[Tensor, "..."] | None = None,
    heads_first: bool = True,
    tolerance: float | torch.dtype | None = None,
) -> Diagnosis:
    """Compares your attention function with attend_qkv: the first step that differs, with its proven causes.

    function: called once as function(q, k, v) with the tensors as you gave them. If it has a parameter named attn_mask,
    mask or allowed, that gets the boolean mask by keyword: True = may attend, (T, S) for two-axis tensors, else
    broadcasting to (B, H, T, S), or None if config and `allowed` set none. A function without such a parameter
    masks by itself. (torch's own scaled_dot_product_attention shows no parameters: wrap it.) It returns the output,
    (B, H, T, d_v) or (B, T, H * d_v) or that times w_o; or (output, weights), weights (B, H, T, S) or None; or a dict
    of steps by the trace's names. An error that it raises is passed on.

    q, k, v: (T, d) or (B, H, T, d), and (B, T, H, d) if heads_first is False: then an output of four axes has that
    order too. config, weights, allowed: as in attend_qkv. tolerance: as in first_difference; None: the coarsest dtype
    of q and of what the function returned.

    Raises AttentionError as attend_qkv does, and if the function returns something else.

    >>> def mine(q, k, v):
    ...     return torch.softmax(q @ k.mT, dim=-1) @ v
    >>> q = torch.tensor([[1.0, 2.0], [0.0, 3.0]])
    >>> print(diagnose(mine, q, torch.eye(2), torch.eye(2)))
    output differs first, most at (b 0, query 0, H·d_v 0): yours 0.2689, ours 0.3302. The numbers are those of: no
    scale: the scores are not divided by √d_k.
    """
    check_tensors({"q": q, "k": k, "v": v})
    swap = not heads_first and q.dim() == 4
    own = []
    for tensor in (q, k, v):
        copy = tensor.clone()  # the function may write in place
        own.append(swap_heads(copy) if swap else copy)
    trace = attend_qkv(*own, config=config, weights=weights, allowed=allowed)
    mask = None
    if "allowed" in trace:
        mask = trace["allowed"]
        mask = mask[0, 0] if q.dim() == 2 else mask  # (1, 1, T, S) -> (T, S)
    given = name_returned_steps(function(q, k, v, **mask_argument(function, mask)), swap)
    if tolerance is None:
        fit_given_steps(trace, given)  # raises AttentionError for an object without a dtype
        tolerance = coarsest_dtype([q, *given.values()])
    compared = first_difference(trace, given, tolerance)
    return replace(compared, causes=find_causes(trace, given, tolerance))


def swap_heads(tensor: Tensor) -> Tensor:
    """Exchanges (B, T, H, d) and (B, H, T, d); a tensor of another rank stays as it is."""
    return tensor.transpose(1, 2) if tensor.dim() == 4 else tensor


def mask_argument(function: Callable[..., object], mask: Tensor | None) -> dict[str, Tensor | None]:
    """{name: mask} for the function's first parameter in MASK_NAMES; {} if it has no such parameter."""
    for name in parameter_names(function):
        if name in MASK_NAMES:
            return {name: mask}
    return {}


def parameter_names(function: Callable[..., object]) -> tuple[str, ...]:
    """The names of the parameters of a function, or of a torch module's forward; () if it has no signature."""
    called = getattr(function, "forward", function)
    try:
        return tuple(inspect.signature(called).parameters)
    except ValueError:
        return ()


def name_returned_steps(returned: object, swap: bool) -> dict[str, Tensor]:
    """Returns a function's result as steps by name. swap: an output of four axes is (B, T, H, d_v)."""
    match returned:
        case Mapping():
            steps = dict(returned)
        case Tensor():
            steps = {output_name(returned): returned}
        case (Tensor() as output, None):
            steps = {output_name(output): output}
        case (Tensor() as output, Tensor() as weights):
            steps = {output_name(output): output, "weights": weights}
        case _:
            raise AttentionError("returned", given=type(returned).__name__)
    outputs = steps.get("head_outputs")
    if swap and isinstance(outputs, Tensor):
        steps["head_outputs"] = swap_heads(outputs)
    return steps


def output_name(output: Tensor) -> str:
    """The step's name of an output: head_outputs if it has four axes, else output."""
    return "head_outputs" if output.dim() == 4 else "output"
