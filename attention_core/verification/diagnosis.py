"""Compares a user's own attention with a Trace: finds the first step that differs and, if it can be proven, the cause.

Each given step is compared with the run computed again in float64. Differences that rounding can cause, in the
precision of the given numbers, are accepted.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.comparison.distances import is_large_negative_fill, largest_magnitude, step_difference
from attention_core.comparison.rerun import Values, coarsest_dtype, rerun, rounding_allowances
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.checks import check_tensors
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.errors import AttentionError
from attention_core.record.notebook_picture import NotebookPicture
from attention_core.record.trace import Trace
from attention_core.verification.causes import Cause, find_causes, fit_given_steps, is_rounded_to
from attention_core.verification.proof import find_lost_step
from attention_core.verification.tensor_layout import find_axis_order

AXIS_WORDS = {"B": "b", "H": "head", "H_kv": "key/value head", "T": "query", "S": "key"}  # words for axes
MASK_NAMES = ("attn_mask", "mask", "allowed")  # the function's parameter with one of these names gets the mask
BIAS_NAMES = ("attn_bias", "bias")  # the function's parameter with one of these names gets the bias


# ---- the result ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Comparison:
    """The comparison of one given step with the trace's step.

    difference, tolerance: the largest difference and the accepted one, both relative to the step's largest finite
    magnitude; difference is infinite if one of two numbers is finite and the other is not, or if the shapes differ.
    index: the cell of the largest difference. ours, theirs: the trace's and the given number in this cell. first: the
    first cell that differs; index and first are None if all cells agree. stand_ins: the number of cells with a large
    negative number instead of -inf. follows: whether a step that differs is right for the given steps before it; None
    if none of these is given. among: the steps in which the error may be, between the last steps that agree and this
    step. fits: whether the shapes agree. fits_as: the axes in another order that fits the given shape.
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
        """Whether the step's shape fits and no cell differs by more than the tolerance."""
        return self.fits and self.first is None


@dataclass(frozen=True)
class Diagnosis(NotebookPicture):
    """The comparisons of all given steps, in the trace's order.

    causes: the proven causes; None if they were not searched for. lost: the step that overflows in the run's precision,
    so that the given outputs can only be compared with float64; None if every output is finite.
    """

    comparisons: tuple[Comparison, ...]
    causes: tuple[Cause, ...] | None = None
    lost: str | None = None

    @property
    def first(self) -> Comparison | None:
        """The first step that differs; None if all agree."""
        differing = (comparison for comparison in self.comparisons if not comparison.agrees)
        return next(differing, None)

    @property
    def step(self) -> str | None:
        """The name of the first step that differs; None if all agree."""
        return self.first.step if self.first else None

    @property
    def before(self) -> tuple[str, ...]:
        """The steps that agree before the first that differs."""
        agreeing = takewhile(lambda comparison: comparison.agrees, self.comparisons)
        return tuple(comparison.step for comparison in agreeing)

    @property
    def agreeing(self) -> dict[str, float]:
        """The steps that agree, each with its largest relative difference."""
        return {comparison.step: comparison.difference for comparison in self.comparisons if comparison.agrees}

    def __str__(self) -> str:
        return describe_diagnosis(self)


# ---- in words --------------------------------------------------------------------------------------------------------
def describe_diagnosis(diagnosis: Diagnosis) -> str:
    """Formats a diagnosis as a short English paragraph."""
    sentences = describe_agreement(diagnosis)
    if diagnosis.lost:
        sentences.append(
            f"Our own run in this precision does not agree: it cannot hold {diagnosis.lost}, so outputs are lost. "
            "Scale q before its product with k, as fused kernels do."
        )
    first = diagnosis.first
    if first is not None:
        sentences += describe_first(first)
        behind = diagnosis.comparisons.index(first) + 1
        sentences += describe_later(diagnosis.comparisons[behind:])
        sentences += describe_causes(diagnosis)
    return " ".join(sentences)


def describe_agreement(diagnosis: Diagnosis) -> list[str]:
    """Describes which given steps agree with the run, and which of these have a large negative number instead of
    -inf.
    """
    sentences = []
    if diagnosis.agreeing:
        agreed = ", ".join(f"{step} to {difference:.1g}" for step, difference in diagnosis.agreeing.items())
        subject = "These" if diagnosis.first else "All steps"
        if diagnosis.lost:
            subject = "Compared with float64, these"
        sentences.append(f"{subject} agree: {agreed}.")
    for comparison in diagnosis.comparisons:
        if comparison.stand_ins:
            sentences.append(
                f"{comparison.step} hold a large negative number in the place of −∞ in {comparison.stand_ins} cells, "
                "of which the softmax makes 0."
            )
    return sentences


def describe_first(first: Comparison) -> list[str]:
    """Describes how the first differing step differs, and in which steps the error may be."""
    sentences = [describe_difference(first) if first.fits else describe_misfit(first)]
    if first.follows is False:
        sentences.append(f"The fault lies in {one_of_these(first.among)}.")
    return sentences


def describe_later(later: tuple[Comparison, ...]) -> list[str]:
    """Describes whether each later step that differs is right for the given steps before it."""
    sentences = []
    right = [comparison.step for comparison in later if comparison.follows]
    wrong = [comparison.step for comparison in later if comparison.follows is False]
    if right:
        sentences.append(f"Right from your own steps before: {', '.join(right)}.")
    if wrong:
        sentences.append(f"Wrong also from your own steps before: {', '.join(wrong)}.")
    for comparison in later:
        if not comparison.fits:
            sentences.append(describe_misfit(comparison))
    return sentences


def describe_causes(diagnosis: Diagnosis) -> list[str]:
    """Describes the causes, or that none was found; [] if no causes were searched for."""
    if diagnosis.causes is None:
        return []
    if not diagnosis.causes:
        tried = diagnosis.first.fits
        return ["No single change that is tried here gives these numbers."] if tried else []
    explained = diagnosis.causes[0].steps
    fitting = [comparison for comparison in diagnosis.comparisons if comparison.fits]
    numbers = "The numbers"
    if set(explained) != {comparison.step for comparison in fitting}:
        numbers = f"The numbers of {', '.join(explained)}"
    causes = "; or: ".join(str(cause) for cause in diagnosis.causes)
    return [f"{numbers} are those of: {causes}."]


def one_of_these(names: tuple[str, ...]) -> str:
    """Joins names to one text with commas and "or".

    >>> one_of_these(("q_projected", "q_heads", "q")), one_of_these(("q",))
    ('q_projected, q_heads or q', 'q')
    """
    *before, last = names
    return f"{', '.join(before)} or {last}" if before else last


def describe_difference(comparison: Comparison) -> str:
    """Describes where a step differs, and the two numbers there."""
    step = comparison.step
    verb = "differ" if step.endswith("s") else "differs"
    largest = describe_index(comparison, comparison.index)
    theirs, ours = format_distinguishably(comparison.theirs, comparison.ours)
    also = ""
    if comparison.first != comparison.index:
        first = describe_index(comparison, comparison.first)
        also = f", and already at {first}"
    return f"{step} {verb} first, most at {largest}: yours {theirs}, ours {ours}{also}."


def describe_misfit(comparison: Comparison) -> str:
    """Describes the axes that a step must have, and the shape that was given."""
    axes = ", ".join(comparison.dims)
    reading = ""
    if comparison.fits_as:
        reading = f", which is ({', '.join(comparison.fits_as)})"
    return f"{comparison.step} must be ({axes}) = {comparison.shape}: yours is {comparison.given_shape}{reading}."


def describe_index(comparison: Comparison, index: tuple[int, ...]) -> str:
    """Formats an index in words, such as (b 0, head 1, query 2, key 3)."""
    places = []
    for dim, place in zip(comparison.dims, index, strict=True):
        axis = AXIS_WORDS.get(dim, dim)
        places.append(f"{axis} {place}")
    return f"({', '.join(places)})"


def format_distinguishably(theirs: float, ours: float) -> tuple[str, str]:
    """Formats two numbers with the fewest significant digits, at least four, that make them look different."""
    for digits in range(4, 18):
        pair = f"{theirs:.{digits}g}", f"{ours:.{digits}g}"
        if pair[0] != pair[1]:
            return pair
    return repr(theirs), repr(ours)


# ---- each given step compared ----------------------------------------------------------------------------------------
def first_difference(
    trace: Trace, given: Mapping[str, Tensor], tolerance: float | torch.dtype | None = None
) -> Diagnosis:
    """Compares given steps with the trace's, in the order of the trace.

    given: tensors, keyed by the names of the trace's steps; leading axes of length 1 may be missing. tolerance: a
    number, relative to the step's largest finite magnitude; or a dtype, whose rounding is tolerated; None for the
    coarsest dtype of the given tensors. Infinities must be in the same cells. A large negative number instead of -inf
    in masked_scores is counted; it agrees if its weight in the softmax is 0.

    Returns a Diagnosis without causes. Raises AttentionError for a step that the trace lacks, for a value that is no
    tensor, and if nothing is given. Source of the tolerance: Parker 1997, Monte Carlo Arithmetic.

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
    right = set()  # given steps that agree with the run so far
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
            suspects = steps_back_to(trace, name, right)  # steps in which the error may be
            comparison = replace(
                comparison,
                follows=follows_from_given(trace, name, theirs, tolerance),
                among=tuple(step for step in trace.computed() if step in suspects),
            )
        comparisons.append(comparison)
    return Diagnosis(tuple(comparisons), lost=find_lost_step(trace, values))


def infer_precision(trace: Trace, given: Mapping[str, Tensor]) -> torch.dtype:
    """Infers the precision in which given steps were computed, even if a file stores them in a wider dtype.

    given: tensors, keyed by the names of the trace's steps. Returns the coarsest of bfloat16, float16 and float32 that
    holds all given numbers and not all correct ones, else float64. Numbers such as 2 or 0.5 are the same in every
    precision, so that they show none. The result is never finer than the precision of the trace.

    >>> trace = attend_qkv(*3 * [torch.eye(2).double()])
    >>> infer_precision(trace, {"weights": trace["weights"].float().double()})
    torch.float32
    >>> infer_precision(trace, {"v": trace["v"]})
    torch.float64
    """
    theirs = fit_given_steps(trace, given)
    values = rerun(trace)
    inferred = torch.float64
    for dtype in (torch.float32, torch.float16, torch.bfloat16):  # from fine to coarse, so that the coarsest wins
        if is_rounded_to(dtype, theirs, values):
            inferred = dtype
    own = coarsest_dtype(step.value for step in trace.steps.values())
    inferred_eps = torch.finfo(inferred).eps
    own_eps = torch.finfo(own).eps
    return own if own_eps > inferred_eps else inferred


def compare_step(trace: Trace, name: str, theirs: Tensor, ours: Tensor, limit: float) -> Comparison:
    """Compares one given step with the trace's step.

    theirs, ours: the given and the trace's numbers, in float64 and of the same shape. limit: the largest accepted
    absolute difference.
    """
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
    largest = (gap >= gap.max() - limit).nonzero()  # cells with the largest difference, up to rounding
    index = tuple(largest[0].tolist())
    return replace(
        comparison,
        index=index,
        first=tuple(differing[0].tolist()),
        ours=float(ours[index]),
        theirs=float(theirs[index]),
    )


def count_stand_ins(name: str, theirs: Tensor, ours: Tensor) -> int:
    """Counts the cells of masked_scores with a large negative number instead of -inf; returns 0 for any other step."""
    if name != "masked_scores":
        return 0
    return int(is_large_negative_fill(theirs, ours).sum())


def report_misfit(trace: Trace, name: str, given: Tensor) -> Comparison:
    """Returns the Comparison of a given step whose shape is wrong, with an order of its axes that would have the right
    shape.
    """
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
    """Returns whether a step that differs is right for the given steps before it, so that the error is in an earlier
    step.

    Returns None if no step before it is given.
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


def steps_back_to(trace: Trace, name: str, right: set[str]) -> set[str]:
    """Returns a step and all earlier steps that it depends on, up to those in `right`, which are left out."""
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
    bias: Float[Tensor, "..."] | None = None,
    heads_first: bool = True,
    tolerance: float | torch.dtype | None = None,
) -> Diagnosis:
    """Compares your attention function with attend_qkv: the first step that differs, with its proven causes.

    function: your function, which is called once as function(q, k, v) with the tensors as you gave them. If it has a
    parameter named attn_mask, mask or allowed, that parameter receives the boolean mask by keyword: True = may attend,
    (T, S) for two-axis tensors, else broadcasting to (B, H, T, S), or None if config and `allowed` set no mask. One
    named attn_bias or bias receives the given `bias` as it is. A function without such a parameter has to apply the
    mask or the bias itself. (torch's own scaled_dot_product_attention shows no parameters: wrap it.) It must return the
    output, (B, H, T, d_v) or (B, T, H * d_v) or that times w_o; or (output, weights), with weights (B, H, T, S) or
    None; or a dict of steps keyed by the trace's names. An error that it raises is not caught.

    q, k, v: (T, d) or (B, H, T, d), or (B, T, H, d) if heads_first is False; then an output of four axes has that order
    too. config, weights, allowed, bias: the arguments of attend_qkv with these names. tolerance: a number relative to a
    step's largest magnitude, or a dtype whose rounding is tolerated; None for the coarsest dtype of q and of what the
    function returned.

    Raises AttentionError as attend_qkv does, and if the function returns anything else.

    >>> def mine(q, k, v):
    ...     return torch.softmax(q @ k.mT, dim=-1) @ v
    >>> q = torch.tensor([[1.0, 2.0], [0.0, 3.0]])
    >>> print(diagnose(mine, q, torch.eye(2), torch.eye(2)))
    output differs first, most at (b 0, query 0, H·d_v 0): yours 0.2689, ours 0.3302. The numbers are those of: no
    scale: the scores are not divided by √dₖ.
    """
    check_tensors({"q": q, "k": k, "v": v})
    swap = not heads_first and q.dim() == 4
    own = []
    for tensor in (q, k, v):
        copy = tensor.clone()  # the function gets copies, because it may change its arguments
        own.append(swap_heads(copy) if swap else copy)
    trace = attend_qkv(*own, config=config, weights=weights, allowed=allowed, bias=bias)
    added = pair_arguments(function, mask_of(trace, q), bias)
    given = name_returned_steps(function(q, k, v, **added), last_step(trace), swap)
    return diagnose_steps(trace, given, tolerance, first=q)


def diagnose_steps(
    trace: Trace, given: Mapping[str, Tensor], tolerance: float | torch.dtype | None, first: Tensor
) -> Diagnosis:
    """Compares what a function returned with a run, and finds the causes of the first difference.

    given: {step of the trace: tensor}. first: the function's first argument, whose precision counts as that of what it
    returned.
    """
    if tolerance is None:
        fit_given_steps(trace, given)  # raises AttentionError for a value without a dtype
        tolerance = coarsest_dtype([first, *given.values()])
    compared = first_difference(trace, given, tolerance)
    return replace(compared, causes=find_causes(trace, given, tolerance))


def mask_of(trace: Trace, first: Tensor) -> Tensor | None:
    """Returns the mask of a run as its function gets it; None if it has none. first: the function's first argument."""
    if "allowed" not in trace:
        return None
    mask = trace["allowed"]
    return mask[0, 0] if first.dim() == 2 and mask.shape[1] == 1 else mask  # (1, 1, T, S) -> (T, S)


def pair_arguments(
    function: Callable[..., object], mask: Tensor | None, bias: Tensor | None
) -> dict[str, Tensor | None]:
    """Returns the mask and the bias under the names that the function's parameters have for them."""
    return {**argument_named(MASK_NAMES, function, mask), **argument_named(BIAS_NAMES, function, bias)}


def last_step(trace: Trace) -> str:
    """Returns the name of the last step, which is the output of the whole layer."""
    *_, last = trace.steps
    return last


def swap_heads(tensor: Tensor) -> Tensor:
    """Exchanges (B, T, H, d) and (B, H, T, d); returns a tensor of another rank unchanged."""
    return tensor.transpose(1, 2) if tensor.dim() == 4 else tensor


def argument_named(
    names: Collection[str], function: Callable[..., object], value: Tensor | None
) -> dict[str, Tensor | None]:
    """Returns {name: value} for the function's first parameter that has one of the names; {} if it has none."""
    for name in parameter_names(function):
        if name in names:
            return {name: value}
    return {}


def parameter_names(function: Callable[..., object]) -> tuple[str, ...]:
    """Returns the parameter names of a function or of a torch module's forward; () if it has no signature."""
    called = getattr(function, "forward", function)
    try:
        return tuple(inspect.signature(called).parameters)
    except ValueError:
        return ()


def name_returned_steps(returned: object, last: str, swap: bool = False) -> dict[str, Tensor]:
    """Returns a function's result as steps, keyed by name.

    last: the name of the output's step. swap: True if an output of four axes is (B, T, H, d_v).
    """
    match returned:
        case Mapping():
            steps = dict(returned)
        case Tensor() | (Tensor(), None):
            output = returned if isinstance(returned, Tensor) else returned[0]
            steps = {output_name(output, last): output}
        case (Tensor() as output, Tensor() as weights):
            steps = {output_name(output, last): output, "weights": weights}
        case _:
            raise AttentionError("returned", given=type(returned).__name__)
    outputs = steps.get("head_outputs")
    if swap and isinstance(outputs, Tensor):
        steps["head_outputs"] = swap_heads(outputs)
    return steps


def output_name(output: Tensor, last: str) -> str:
    """Returns the step name of an output: head_outputs if it has four axes, else the last step."""
    return "head_outputs" if output.dim() == 4 else last
