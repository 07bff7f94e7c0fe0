"""Finds why a user's numbers differ from a run: the cause is a single change of the run that reproduces them.

The given numbers are those of a user's own attention.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile

import torch
from torch import Tensor

from attention_core.comparison.distances import largest_magnitude, step_difference
from attention_core.comparison.rerun import Values, can_hold, coarsest_dtype, rerun, rounding_allowances
from attention_core.record.counted_words import fill_template
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step, Trace
from attention_core.verification.mistaken_steps import no_mask, one_bias_missing
from attention_core.verification.mistakes import MISTAKE_SENTENCES, MISTAKES, Mistake
from attention_core.verification.tensor_layout import reshape_to_step

# Limits of what a cause may leave unexplained; some changes amplify rounding so much that they would fit any numbers.
MAX_ROUNDING_SHARE = 0.25
MAX_ROUNDING_GROWTH = 1000
MIN_EXPLAINED_RATIO = 8  # with a cause, the difference must shrink by at least this factor
ROW_SUM_TOLERANCE = 0.02  # accepted rounding error of a row's sum, in any precision
EMPTY_ROW_MISTAKES = ("nan_rows", "finite_fill")  # codes of the mistakes with rows that have no allowed key


@dataclass(frozen=True)
class Cause:
    """A change of a run that reproduces the numbers of a user's attention, and so explains them.

    code: the key of the cause's sentence in MISTAKE_SENTENCES. values: the values of the sentence's placeholders.
    steps: the given steps that the changed run reproduces. beside: the codes of further changes of the run, for queries
    without an allowed key.
    """

    code: str
    steps: tuple[str, ...]
    values: Mapping[str, object] = field(default_factory=dict)
    beside: tuple[str, ...] = ()

    def __str__(self) -> str:
        sentence = MISTAKE_SENTENCES[self.code]
        sentences = [fill_template(sentence, dict(self.values))]
        for code in self.beside:
            sentences.append(MISTAKE_SENTENCES[code])
        return ", and ".join(sentences)


@dataclass(frozen=True)
class Discrepancy:
    """The difference between a user's numbers and a run that a cause has to explain: its size, and the steps in which
    it shows.

    names: the given steps, in order. needed: the given steps up to the first that differs. gap: the largest difference
    between the given and the run's numbers in that first step. limits: how large a difference rounding explains, for
    each step of the run.
    """

    names: list[str]
    needed: list[str]
    gap: float
    limits: dict[str, float]


def find_causes(
    trace: Trace, given: Mapping[str, Tensor], tolerance: float | torch.dtype | None = None
) -> tuple[Cause, ...]:
    """Finds every single change of the run that reproduces the given numbers up to rounding.

    given: tensors of a user's attention, keyed by the names of the trace's steps. tolerance: a number relative to a
    step's largest magnitude, or a dtype whose rounding is tolerated; None for the coarsest dtype of the given tensors.
    A cause must reproduce the first step that differs and all given steps before it. If some causes reproduce all given
    steps, only these are returned. If all steps of the right shape agree, the causes are those of the wrong shape that
    are means over the heads. The result is empty if all steps agree, or if no single change reproduces the numbers.
    Raises AttentionError as fit_given_steps does.

    >>> from attention_core import attend_qkv
    >>> q, k = torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.tensor([[3.0, -1.0], [0.5, 1.0]])
    >>> [str(cause) for cause in find_causes(attend_qkv(q, k, k), {"output": torch.softmax(q @ k.T, dim=-1) @ k})]
    ['no scale: the scores are not divided by √dₖ']
    """
    theirs = fit_given_steps(trace, given)
    if tolerance is None:
        tolerance = coarsest_dtype(given.values())
    discrepancy = find_discrepancy(trace, theirs, tolerance)
    if discrepancy is None:
        return find_averages(trace, given, theirs, tolerance)
    found = find_mistakes(trace, theirs, tolerance, discrepancy)
    if not found:
        found = find_half_precision(trace, given, theirs, discrepancy.names)
    explain_all = [cause for cause in found if len(cause.steps) == len(discrepancy.names)]
    return tuple(explain_all or found)


def find_discrepancy(trace: Trace, theirs: Values, tolerance: float | torch.dtype) -> Discrepancy | None:
    """Finds the first given step that differs from the run by more than rounding; None if all steps agree.

    theirs: the given steps. tolerance: a number relative to a step's largest magnitude, or a dtype whose rounding is
    tolerated.
    """
    gaps = largest_gaps(theirs, rerun(trace))
    limits = rounding_allowances(trace, tolerance)
    names = [name for name in trace.steps if name in theirs]
    for number, name in enumerate(names, 1):
        if gaps[name] <= limits[name]:
            continue
        return Discrepancy(
            names=names,
            needed=names[:number],
            gap=gaps[name],
            limits=limits,
        )
    return None


# ---- what was given --------------------------------------------------------------------------------------------------
def fit_given_steps(trace: Trace, given: Mapping[str, Tensor]) -> Values:
    """Returns those given steps that have the run's shape, in float64 on the CPU; boolean steps stay boolean.

    Raises AttentionError if the trace lacks a given step, if a given value is no tensor, or if no step is given.
    """
    if not given:
        raise AttentionError("nothing_given")
    theirs = {}
    for name, tensor in given.items():
        check_given_step(trace, name, tensor)
        value = reshape_to_step(trace.step(name), tensor.detach().cpu())
        if value is not None:
            theirs[name] = value if value.dtype == torch.bool else value.double()
    return theirs


def check_given_step(trace: Trace, name: str, tensor: Tensor) -> None:
    """Raises AttentionError if the trace lacks the step, or the given value is no tensor or has an unsuitable dtype."""
    if name not in trace:
        choices = ", ".join(trace.steps)
        raise AttentionError(
            "unknown_choice",
            name="step",
            choices=choices,
            given=repr(name),
        )
    if not isinstance(tensor, Tensor):
        raise AttentionError("not_a_tensor", name=name, given=type(tensor).__name__)
    boolean = trace.step(name).dtype == torch.bool
    if boolean and tensor.dtype != torch.bool:
        raise AttentionError("allowed_not_bool", name=name, given=tensor.dtype)
    if not boolean and not tensor.is_floating_point():
        raise AttentionError("not_floating", name=name, given=tensor.dtype)


def largest_gaps(theirs: Values, values: Values) -> dict[str, float]:
    """Returns the largest difference between each given step and the same step of a run; infinity if the shapes
    differ."""
    gaps = {}
    for name, value in theirs.items():
        if value.shape == values[name].shape:
            gaps[name] = step_difference(name, value, values[name]).max().item()
        else:
            gaps[name] = torch.inf
    return gaps


# ---- one change at a time --------------------------------------------------------------------------------------------
def find_mistakes(
    trace: Trace, theirs: Values, tolerance: float | torch.dtype, discrepancy: Discrepancy
) -> list[Cause]:
    """Finds the changes of a run that reproduce the first differing step, and all given steps before it."""
    found: list[Cause] = []
    for cause, mistake, values in try_mistakes(trace, theirs):
        codes = [other.code for other in found]
        if cause.beside and cause.code in codes:
            continue  # one change suffices, so pairs that contain it are not tried
        gaps = largest_gaps(theirs, values)
        if not comes_near(discrepancy, gaps, values):
            continue
        limits = rounding_allowances(trace, tolerance, mistake)  # only now, because it needs eight runs
        explained = []
        for name in discrepancy.names:
            if gaps[name] <= limits[name]:
                explained.append(name)
        if set(discrepancy.needed) <= set(explained):
            found.append(replace(cause, steps=tuple(explained)))
    return found


def comes_near(discrepancy: Discrepancy, gaps: dict[str, float], values: Values) -> bool:
    """Returns whether a changed run is close to the given numbers, and much closer than the unchanged run.

    gaps: the largest difference of each given step from the changed run. values: the steps of the changed run.
    """
    for name in discrepancy.needed:
        share = MAX_ROUNDING_SHARE * largest_magnitude(values[name])
        growth = MAX_ROUNDING_GROWTH * discrepancy.limits[name]
        if not gaps[name] <= min(share, growth):
            return False
    first = discrepancy.needed[-1]
    return gaps[first] * MIN_EXPLAINED_RATIO <= discrepancy.gap


def try_mistakes(trace: Trace, theirs: Values) -> Iterator[tuple[Cause, Mistake, Values]]:
    """Yields every change that alters a given step, as (cause, mistake, values of the changed run).

    A change that leaves queries without an allowed key is yielded again with each of EMPTY_ROW_MISTAKES.
    """
    own = rerun(trace)
    limits = rounding_allowances(trace, torch.float64)
    changes = single_changes(trace)
    changes += find_dropout(own, theirs)
    for cause, mistake in changes:
        values = rerun_with_mistake(trace, own, mistake)
        moved = {name: values[name] for name in theirs}
        gaps = largest_gaps(moved, own)
        if all(gaps[name] <= limits[name] for name in theirs):
            continue
        yield cause, mistake, values
        if cause.code in EMPTY_ROW_MISTAKES or not has_empty_rows(values):
            continue
        for code in EMPTY_ROW_MISTAKES:
            joined = combine_mistakes(mistake, MISTAKES[code])
            joined_values = rerun_with_mistake(trace, own, joined)
            yield replace(cause, beside=(code,)), joined, joined_values


def single_changes(trace: Trace) -> list[tuple[Cause, Mistake]]:
    """Returns every single change of a run that can be made without knowing the given numbers, each with its cause."""
    single = []
    for code, mistake in MISTAKES.items():
        single.append((Cause(code, ()), mistake))
    for name in trace.steps:
        if name.startswith("allowed_"):
            single.append((Cause("one_mask_missing", (), {"name": name}), Mistake((name,), no_mask)))
        if name == "bias_custom" or name.endswith("_bias"):
            single.append((Cause("one_bias_missing", (), {"name": name}), Mistake((name,), one_bias_missing)))
    return single


def rerun_with_mistake(trace: Trace, own: Values, mistake: Mistake) -> Values:
    """Returns the values of all steps of a run in which a mistake changes some steps.

    own: the values of the unchanged run, which are reused for the steps before the mistake.
    """
    before = takewhile(lambda name: name not in mistake.steps, trace.steps)
    return rerun(trace, mistake, {name: own[name] for name in before})


def has_empty_rows(values: Values) -> bool:
    """Returns whether a query has no allowed key, or NaN as weights."""
    scores = values["masked_scores"]  # (B, H, T, S)
    is_empty = scores.isneginf().all(-1)  # (B, H, T)
    is_broken = values["weights"].isnan()
    return bool(is_empty.any() or is_broken.any())


def combine_mistakes(first: Mistake, second: Mistake) -> Mistake:
    """Combines two changes of a run into one; a step that both change gets the value of the first."""

    def change(step: Step, values: Values) -> Tensor | None:
        value = first(step, values)
        return second(step, values) if value is None else value

    return Mistake(first.steps + second.steps, change)


# ---- changes that are derived from the given numbers -----------------------------------------------------------------
def find_dropout(own: Values, theirs: Values) -> Iterator[tuple[Cause, Mistake]]:
    """Yields dropout as a cause if some given weights are 0 and the others are larger than the run's."""
    if "weights" not in theirs or "dropped_weights" in own:
        return
    ours = own["weights"]
    given = theirs["weights"]
    is_kept = (ours > 0) & (given != 0)
    is_dropped = (ours > 0) & (given == 0)
    if not is_kept.any() or not is_dropped.any():
        return
    growths = given[is_kept] / ours[is_kept]
    growth = growths.median().item()
    if growth <= 1 or sums_to_one(given):  # if rows still sum to 1, a stricter mask is the cause, not dropout
        return

    def drop(step: Step, values: Values) -> Tensor:
        return ours * ~is_dropped * growth

    p = 1 - 1 / growth
    cause = Cause("dropout", (), {"p": f"{p:.3g}"})
    yield cause, Mistake(("weights",), drop)


def sums_to_one(weights: Tensor) -> bool:
    """Returns whether every row of weights sums to 1, or to 0 as a row without an allowed key does."""
    sums = weights.sum(-1)
    is_one = (sums - 1).abs() < ROW_SUM_TOLERANCE
    is_zero = sums.abs() < ROW_SUM_TOLERANCE
    return bool((is_one | is_zero).all())


def find_averages(
    trace: Trace, given: Mapping[str, Tensor], theirs: Values, tolerance: float | torch.dtype
) -> tuple[Cause, ...]:
    """Finds given steps whose shape lacks the axis of heads because they are means over the heads: (B, T, S), or (T, S)
    if B is 1.

    theirs: the given steps whose shapes fit.
    """
    values, found = rerun(trace), []
    limits = rounding_allowances(trace, tolerance)
    for name in given:
        if name in theirs or "H" not in trace.step(name).dims:
            continue
        mean = values[name].mean(trace.step(name).dims.index("H"))
        numbers = given[name].detach().cpu().double()
        if numbers.dim() == mean.dim() - 1 and len(mean) == 1:
            numbers = numbers[None]  # adds the missing batch axis
        if numbers.shape != mean.shape:
            continue
        gap = step_difference(name, numbers, mean).max().item()
        if gap <= limits[name]:
            found.append(Cause("heads_averaged", (name,), {"step": name}))
    return tuple(found)


def find_half_precision(trace: Trace, given: Mapping[str, Tensor], theirs: Values, names: list[str]) -> list[Cause]:
    """Finds half precision as a cause, if a dtype represents all given numbers and its rounding explains the
    differences.
    """
    values = rerun(trace)
    gaps = largest_gaps(theirs, values)
    own_dtype = coarsest_dtype(given[name] for name in theirs)
    own_eps = torch.finfo(own_dtype).eps
    for dtype in (torch.bfloat16, torch.float16):  # bfloat16 first, because float16 represents most bfloat16 numbers
        if own_eps >= torch.finfo(dtype).eps:
            continue
        if not is_rounded_to(dtype, theirs, values):
            continue
        limits = rounding_allowances(trace, dtype)
        if all(gaps[name] <= limits[name] for name in names):
            short_name = str(dtype).removeprefix("torch.")
            cause = Cause("half_precision", tuple(names), {"dtype": short_name})
            return [cause]
    return []


def is_rounded_to(dtype: torch.dtype, theirs: Values, values: Values) -> bool:
    """Returns whether a dtype represents all given numbers exactly, but not all correct numbers.

    theirs: the given numbers. values: the correct numbers.
    """
    right_are_held = True
    for name, numbers in theirs.items():
        if not numbers.is_floating_point():
            continue
        if not can_hold(dtype, numbers):
            return False
        right_are_held &= can_hold(dtype, values[name])
    return not right_are_held
