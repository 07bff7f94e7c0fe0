"""Somebody's own attention beside a Trace: the first step that differs, by how much, where and, where proven, why.

Every step is compared in float64 with the run computed again, and forgiven what the precision of the given numbers
rounds there (see rerun).
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.comparison.distances import is_large_negative_fill, largest_magnitude, step_difference
from attention_core.comparison.rerun import Values, can_hold, coarsest_dtype, rerun, rounding_allowances
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.checks import check_tensors
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.verification.causes import Cause, find_causes, fit_given_steps
from attention_core.verification.tensor_layout import find_axis_order

MASK_NAMES = ("attn_mask", "mask", "allowed")  # a parameter of one of these names gets the mask
AXIS_WORDS = {"B": "b", "H": "head", "H_kv": "key/value head", "T": "query", "S": "key"}  # axes, in a written place


@dataclass(frozen=True)
class Comparison:
    """One given step beside the trace's.

    difference: the largest, relative to the step's largest finite magnitude, as is tolerance; infinite where only one
    number is finite, or the shapes differ. index: the cell of the largest difference, with its two numbers; first: the
    first cell that differs; both None where all agree. stand_ins: how many cells hold a large negative number in the
    place of -inf. follows: of a step that differs, whether it is what the run makes of their own steps before it; None
    where none of those was given. among: the steps that its fault may lie in, from what agrees to itself. fits_as: axes
    in another order, for a shape that fits those.
    """

    step: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    given_shape: tuple[int, ...]
    difference: float
    tolerance: float
    index: tuple[int, ...] | None = None
    first: tuple[int, ...] | None = None
    ours: float | None = None
    theirs: float | None = None
    stand_ins: int = 0
    follows: bool | None = None
    among: tuple[str, ...] = ()
    fits: bool = True
    fits_as: tuple[str, ...] | None = None

    @property
    def agrees(self) -> bool:
        """Whether it fits and no cell differs by more than the tolerance."""
        return self.fits and self.first is None


@dataclass(frozen=True)
class Diagnosis:
    """All given steps in the trace's order; `causes` is None where nobody looked for them."""

    comparisons: tuple[Comparison, ...]
    causes: tuple[Cause, ...] | None = None

    @property
    def first(self) -> Comparison | None:
        """The first step that differs."""
        return next((comparison for comparison in self.comparisons if not comparison.agrees), None)

    @property
    def step(self) -> str | None:
        """The first step that differs by its name; None: all agree."""
        return self.first.step if self.first else None

    @property
    def before(self) -> tuple[str, ...]:
        """The steps that agree before the first that differs."""
        return tuple(comparison.step for comparison in takewhile(lambda one: one.agrees, self.comparisons))

    @property
    def agreeing(self) -> dict[str, float]:
        """The steps that agree, with their largest relative difference."""
        return {comparison.step: comparison.difference for comparison in self.comparisons if comparison.agrees}

    def __str__(self) -> str:
        return describe_diagnosis(self)


def first_difference(
    trace: Trace, given: Mapping[str, Tensor], tolerance: float | torch.dtype | None = None
) -> Diagnosis:
    """Compares steps that somebody else computed with the trace's, in the order of the trace.

    given: tensors by the names of the trace's steps; leading axes of length 1 may be left out. tolerance: a number,
    relative to the step's largest finite magnitude; or a dtype, whose rounding is forgiven; None: the coarsest dtype of
    what was given. Infinities must stand in the same cells; a large negative number in the place of -inf in
    masked_scores is counted, and agrees where the softmax makes 0 of it.

    Returns a Diagnosis, without causes. Raises AttentionError for a step that the trace lacks, and for no tensors.
    Source of the tolerance: Parker 1997, Monte Carlo Arithmetic.

    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> print(first_difference(trace, {"scores": torch.eye(2), "weights": torch.eye(2)}))
    These agree: scores to 0. weights differ first, most at (b 0, head 0, query 0, key 0): yours 1, ours 0.6698. The
    fault lies in scaled_scores, masked_scores or weights.
    """
    theirs = fit_given_steps(trace, given)
    tolerance = coarsest_dtype(given.values()) if tolerance is None else tolerance
    values, limits = rerun(trace), rounding_allowances(trace, tolerance)
    comparisons = []
    for name in trace.steps:
        if name in theirs:
            comparison = compare_step(trace, name, theirs[name], values[name], limits[name])
            if not comparison.agrees:
                right = {other.step for other in comparisons if other.agrees}
                among = tuple(step for step in trace.computed() if step in steps_back_to(trace, name, right))
                comparison = replace(
                    comparison, follows=follows_from_given(trace, name, theirs, tolerance), among=among
                )
            comparisons.append(comparison)
        elif name in given:
            comparisons.append(report_misfit(trace, name, given[name]))
    return Diagnosis(tuple(comparisons))


def infer_precision(trace: Trace, given: Mapping[str, Tensor]) -> torch.dtype:
    """The coarsest of bfloat16, float16, float32 and float64 that somebody's steps were computed in, for all that can
    be known of numbers that a file may have widened; never finer than the trace's own.

    given: as in first_difference. A precision holds all of them, and not all right ones: whole numbers, halves and the
    like are the same in every precision and tell of none.

    >>> trace = attend_qkv(*3 * [torch.eye(2).double()])
    >>> infer_precision(trace, {"weights": trace["weights"].float().double()})
    torch.float32
    >>> infer_precision(trace, {"v": trace["v"]})
    torch.float64
    """
    theirs, values = fit_given_steps(trace, given), rerun(trace)
    numbers = [name for name, value in theirs.items() if value.is_floating_point()]
    told = torch.float64
    for dtype in (torch.float32, torch.float16, torch.bfloat16):  # the last one rounds most
        telling = any(not can_hold(dtype, values[name]) for name in numbers)
        if telling and all(can_hold(dtype, theirs[name]) for name in numbers):
            told = dtype
    own = coarsest_dtype(step.value for step in trace.steps.values())
    return max(told, own, key=lambda dtype: torch.finfo(dtype).eps)


def compare_step(trace: Trace, name: str, theirs: Tensor, ours: Tensor, limit: float) -> Comparison:
    """One step, theirs and ours in float64 of one shape; limit: the absolute difference that is forgiven."""
    gap, size = step_difference(name, theirs, ours), largest_magnitude(ours)
    stand_ins = int(is_large_negative_fill(theirs, ours).sum()) if name == "masked_scores" else 0
    shape = tuple(ours.shape)
    found = Comparison(name, trace.step(name).dims, shape, shape, gap.max().item() / size, limit / size)
    differing = (gap > limit).nonzero()
    if len(differing):
        largest = (gap >= gap.max() - limit).nonzero()[0]  # the first of those that only rounding tells apart
        index, first = tuple(largest.tolist()), tuple(differing[0].tolist())
        found = replace(found, index=index, first=first, ours=float(ours[index]), theirs=float(theirs[index]))
    return replace(found, stand_ins=stand_ins)


def report_misfit(trace: Trace, name: str, given: Tensor) -> Comparison:
    """A step whose shape does not fit, with the order of the axes in which it would."""
    dims, shape, given_shape = trace.step(name).dims, tuple(trace[name].shape), tuple(given.shape)
    order = find_axis_order(trace.sizes(), dims, given_shape)
    return Comparison(name, dims, shape, given_shape, torch.inf, 0.0, fits=False, fits_as=order)


def follows_from_given(trace: Trace, name: str, theirs: Values, tolerance: float | torch.dtype) -> bool | None:
    """Whether a step is what the run makes of the others that were given, so that the fault lies before it."""
    if not theirs.keys() & steps_before(trace, name):
        return None
    others = {other: value for other, value in theirs.items() if other != name}
    gap = step_difference(name, theirs[name], rerun(trace, theirs=others)[name]).max().item()
    return gap <= rounding_allowances(trace, tolerance, theirs=others)[name]


def steps_before(trace: Trace, name: str) -> set[str]:
    """Every step that a step is computed from."""
    operation = trace.step(name).operation
    reads = set(operation.reads) if operation else set()
    return reads.union(*(steps_before(trace, read) for read in reads))


def steps_back_to(trace: Trace, name: str, right: set[str]) -> set[str]:
    """A step and every one that it is computed from, back to those that are right."""
    operation = trace.step(name).operation
    reads = set(operation.reads) - right if operation else set()
    return {name}.union(*(steps_back_to(trace, read, right) for read in reads))


# ---- a function of one's own -----------------------------------------------------------------------------------------
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
    """Runs your attention function beside attend_qkv and names the first step that differs, with its proven causes.

    function: called once as function(q, k, v) with the tensors as you gave them. If it has a parameter named attn_mask,
    mask or allowed, that gets the boolean mask by keyword, True = may attend, (T, S) for two-axis tensors, else
    broadcasting to (B, H, T, S), or None where config and `allowed` set none; a function without such a parameter
    masks by itself. (torch's own scaled_dot_product_attention shows no parameters: wrap it.) It returns the output,
    (B, H, T, d_v) or (B, T, H * d_v) or what w_o makes of that; or (output, weights), weights (B, H, T, S) or None; or
    a dict of steps by the trace's names. What it raises is passed on.

    q, k, v: (T, d) or (B, H, T, d), and (B, T, H, d) where heads_first is False: an output of four axes then comes in
    that order too. config, weights, allowed: as in attend_qkv. tolerance: as in first_difference; None: the coarsest
    dtype of q and what the function returned.

    Raises AttentionError as attend_qkv does, and for something else returned.

    >>> def mine(q, k, v):
    ...     return torch.softmax(q @ k.mT, dim=-1) @ v
    >>> q = torch.tensor([[1.0, 2.0], [0.0, 3.0]])
    >>> print(diagnose(mine, q, torch.eye(2), torch.eye(2)))
    output differs first, most at (b 0, query 0, H·d_v 0): yours 0.2689, ours 0.3302. The numbers are those of: no
    scale: the scores are not divided by √d_k.
    """
    check_tensors({"q": q, "k": k, "v": v})
    turn = not heads_first and q.dim() == 4
    own = [x.clone() for x in (q, k, v)]  # a function may write in place
    own = [x.transpose(1, 2) if turn and x.dim() == 4 else x for x in own]  # (B, T, H, d) -> (B, H, T, d)
    trace = attend_qkv(*own, config=config, weights=weights, allowed=allowed)
    mask = trace["allowed"] if "allowed" in trace.steps else None
    mask = mask[0, 0] if mask is not None and q.dim() == 2 else mask  # (1, 1, T, S) -> (T, S)
    asks = [name for name in parameter_names(function) if name in MASK_NAMES]
    given = name_returned_steps(function(q, k, v, **dict.fromkeys(asks[:1], mask)), turn)
    tolerance = (
        coarsest_dtype([q, *given.values()]) if tolerance is None and fit_given_steps(trace, given) else tolerance
    )
    return replace(first_difference(trace, given, tolerance), causes=find_causes(trace, given, tolerance))


def parameter_names(function: Callable[..., object]) -> tuple[str, ...]:
    """The names of a function's parameters; of a torch module, those of its forward; none where it shows none."""
    try:
        return tuple(inspect.signature(getattr(function, "forward", function)).parameters)
    except ValueError:
        return ()


def name_returned_steps(returned: object, turn: bool) -> dict[str, Tensor]:
    """What a function returned, as steps by name; turn: an output of four axes is (B, T, H, d_v)."""
    match returned:
        case Mapping():
            steps = dict(returned)
        case Tensor():
            steps = {output_name(returned): returned}
        case (Tensor() as output, None | Tensor() as weights):
            steps = {output_name(output): output} | ({} if weights is None else {"weights": weights})
        case _:
            raise AttentionError("returned", given=type(returned).__name__)
    outputs = steps.get("head_outputs")
    if turn and isinstance(outputs, Tensor) and outputs.dim() == 4:
        steps["head_outputs"] = outputs.transpose(1, 2)  # (B, T, H, d_v) -> (B, H, T, d_v)
    return steps


def output_name(output: Tensor) -> str:
    """Four axes are the heads' outputs, fewer the merged ones."""
    return "head_outputs" if output.dim() == 4 else "output"


# ---- in words --------------------------------------------------------------------------------------------------------
def describe_diagnosis(diagnosis: Diagnosis) -> str:
    """A short English paragraph."""
    agreed = ", ".join(f"{step} to {difference:.1g}" for step, difference in diagnosis.agreeing.items())
    first = diagnosis.first
    sentences = [f"{'These' if first else 'All steps'} agree: {agreed}."] if agreed else []
    sentences += [
        f"{comparison.step} hold a large negative number in the place of −∞ in {comparison.stand_ins} cells, of which "
        "the softmax makes 0."
        for comparison in diagnosis.comparisons
        if comparison.stand_ins
    ]
    if first is None:
        return " ".join(sentences)
    sentences.append(describe_difference(first) if first.fits else describe_misfit(first))
    later = diagnosis.comparisons[diagnosis.comparisons.index(first) + 1 :]
    if first.follows is False:
        sentences.append(f"The fault lies in {one_of_these(first.among)}.")
    follow = [comparison.step for comparison in later if comparison.follows]
    broken = [comparison.step for comparison in later if comparison.follows is False]
    sentences += [f"Right from your own steps before: {', '.join(follow)}."] if follow else []
    sentences += [f"Wrong also from your own steps before: {', '.join(broken)}."] if broken else []
    sentences += [describe_misfit(comparison) for comparison in later if not comparison.fits]
    if diagnosis.causes:
        explained, fitting = diagnosis.causes[0].steps, [comp.step for comp in diagnosis.comparisons if comp.fits]
        numbers = "The numbers" if len(explained) == len(fitting) else f"The numbers of {', '.join(explained)}"
        sentences.append(f"{numbers} are those of: " + "; or: ".join(map(str, diagnosis.causes)) + ".")
    elif diagnosis.causes is not None and first.fits:
        sentences.append("No single change that is tried here gives these numbers.")
    return " ".join(sentences)


def one_of_these(names: tuple[str, ...]) -> str:
    """Names joined by "or".

    >>> one_of_these(("q_projected", "q_heads", "q")), one_of_these(("q",))
    ('q_projected, q_heads or q', 'q')
    """
    *before, last = names
    return f"{', '.join(before)} or {last}" if before else last


def describe_difference(comparison: Comparison) -> str:
    """Where a step differs, and the two numbers."""
    verb = "differ" if comparison.step.endswith("s") else "differs"
    where = f"most at {describe_index(comparison, comparison.index)}"
    theirs, ours = format_distinguishably(comparison.theirs, comparison.ours)
    other = (
        f", and already at {describe_index(comparison, comparison.first)}"
        if comparison.first != comparison.index
        else ""
    )
    return f"{comparison.step} {verb} first, {where}: yours {theirs}, ours {ours}{other}."


def describe_misfit(comparison: Comparison) -> str:
    """The axes that a step must have, and the shape that was given."""
    axes, order = ", ".join(comparison.dims), comparison.fits_as
    reading = f", which is ({', '.join(order)})" if order else ""
    return f"{comparison.step} must be ({axes}) = {comparison.shape}: yours is {comparison.given_shape}{reading}."


def describe_index(comparison: Comparison, index: tuple[int, ...]) -> str:
    """An index in words: (b 0, head 1, query 2, key 3)."""
    return f"({', '.join(f'{AXIS_WORDS.get(dim, dim)} {i}' for dim, i in zip(comparison.dims, index, strict=True))})"


def format_distinguishably(theirs: float, ours: float) -> tuple[str, str]:
    """Two numbers with as few digits as show that they differ, four at least where they have them."""
    pairs = ((f"{theirs:.{digits}g}", f"{ours:.{digits}g}") for digits in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (repr(theirs), repr(ours)))
