"""Finds why a user's numbers differ from a run: the cause is a single change of the run that reproduces them.

The given numbers are those of a user's own attention.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile

import torch
from torch import Tensor

from attention_core.comparison.distances import largest_magnitude, step_difference
from attention_core.comparison.rerun import Values, can_hold, coarsest_dtype, rerun, rounding_allowances
from attention_core.record.counted_words import fill_template
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step, Trace
from attention_core.verification.given_forms import Reading, readings_of
from attention_core.verification.mistaken_layers import joint_mistakes, mistakes_of
from attention_core.verification.mistakes import MISTAKE_SENTENCES, MISTAKES, Mistake
from attention_core.verification.named_masks import with_named_masks
from attention_core.verification.tensor_layout import reshape_to_step

# Limits of what a cause may leave unexplained; some changes amplify rounding so much that they would fit any numbers.
MAX_ROUNDING_SHARE = 0.25
MAX_ROUNDING_GROWTH = 1000
MIN_EXPLAINED_RATIO = 8  # with a cause, the difference must shrink by at least this factor
FACTOR_STARTS = tuple(2.0**power for power in range(-6, 7))  # in units of the run's own factor
FACTOR_STEPS = 12  # steps of Newton's method
MIN_FACTOR_NUMBERS = 6  # fewest numbers from which a factor is measured; a single number fits some factor always
FACTOR_GAIN = 0.9  # Newton's method goes on while a step leaves at most this share of the distance
FACTOR_DIFFERENCE = 1e-6  # relative difference for the derivative
ROW_SUM_TOLERANCE = 0.02  # accepted rounding error of a row's sum, in any precision
EMPTY_ROW_MISTAKES = ("nan_rows", "finite_fill")  # codes of the mistakes with rows that have no allowed key


@dataclass(frozen=True)
class Cause:
    """A change of a run that reproduces the numbers of a user's attention, and so explains them.

    code: the key of the cause's sentence in MISTAKE_SENTENCES. values: the values of the sentence's placeholders.
    steps: the given steps that the changed run reproduces. beside: the codes of further differences that are no mistake
    (axes, precision, dropout), or for queries without an allowed key.
    """

    code: str
    steps: tuple[str, ...]
    values: Mapping[str, object] = field(default_factory=dict)
    beside: tuple[str, ...] = ()

    def __str__(self) -> str:
        codes = (self.code, *self.beside)
        return ", and ".join(fill_template(MISTAKE_SENTENCES[code], dict(self.values)) for code in codes)


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
    steps, only these are returned. Each change is tried together with what is no mistake: other axes, the mean over the
    heads, a coarser precision, no dropout. If none fits, the factor on the scores is sought. The result is empty if all
    steps agree, or if no single change reproduces the numbers. Raises AttentionError as fit_given_steps does.

    >>> from attention_core import attend_qkv
    >>> q, k = torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.tensor([[3.0, -1.0], [0.5, 1.0]])
    >>> [str(cause) for cause in find_causes(attend_qkv(q, k, k), {"output": torch.softmax(q @ k.T, dim=-1) @ k})]
    ['no scale: the scores are not divided by √dₖ']
    """
    check_given_steps(trace, given)
    if tolerance is None:
        tolerance = coarsest_dtype(given.values())
    if not any(name.startswith("allowed") for name in given):
        trace = with_named_masks(trace)
    own = rerun(trace)
    attempts = list_attempts(trace, own, given, tolerance)
    changes = None
    for attempt in attempts:
        if attempt.discrepancy is None:
            return attempt.explain_alone()
        if changes is None:
            changes = list(try_mistakes(trace, own, attempts))
        found = find_mistakes(trace, attempt, changes)
        if found:
            return tuple(found)
    for attempt in attempts:
        found = find_mistakes(trace, attempt, find_factor(trace, own, attempt))
        if found:
            return tuple(found)
    return ()


# ---- what is no mistake: axes, precision -----------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Attempt:
    """One way to compare the given numbers with runs: their axes, and the precision in which they were computed.

    reading: the axes. tolerance: a number relative to a step's largest magnitude, or a dtype whose rounding is
    tolerated. beside: what is not as in the run, though no mistake, as (code in MISTAKE_SENTENCES, values of its
    sentence). discrepancy: what a cause has to explain; None if all steps agree when compared in this way.
    """

    reading: Reading
    tolerance: float | torch.dtype
    beside: tuple[tuple[str, Mapping[str, str]], ...]
    discrepancy: Discrepancy | None

    def explain_alone(self) -> tuple[Cause, ...]:
        """Return what explains the differences if all steps agree when compared in this way."""
        causes = []
        for code, values in self.beside:
            steps = (values["step"],) if "step" in values else tuple(self.reading.forms)
            if code == "rounded":
                code, values = "half_precision", {"dtype": values["rounded_to"]}
            causes.append(Cause(code, steps, values))
        return tuple(causes)

    def name_beside(self, cause: Cause) -> Cause:
        """Return a cause that also names what is not as in the run, though no mistake."""
        for code, values in self.beside:
            cause = replace(cause, values={**values, **cause.values}, beside=(*cause.beside, code))
        return cause


def list_attempts(
    trace: Trace, own: Values, given: Mapping[str, Tensor], tolerance: float | torch.dtype
) -> list[Attempt]:
    """Returns the ways to compare given steps with runs: first as they are, then in a coarser precision that holds all
    their numbers, then with other axes.

    own: the values of the unchanged run in float64.
    """
    limits: dict[object, dict[str, float]] = {}
    attempts = []
    for reading in readings_of(trace, given):
        ours = reading.arrange(trace, own)
        for precision, codes in precisions(given, reading, ours, tolerance):
            if precision not in limits:
                limits[precision] = rounding_allowances(trace, precision)
            discrepancy = find_discrepancy(reading.theirs, ours, limits[precision])
            beside = (*reading.differences(trace), *codes)
            attempts.append(Attempt(reading, precision, beside, discrepancy))
    return attempts


def precisions(
    given: Mapping[str, Tensor], reading: Reading, ours: Values, tolerance: float | torch.dtype
) -> Iterator[tuple[float | torch.dtype, tuple[tuple[str, Mapping[str, str]], ...]]]:
    """Yields the own tolerance, and each dtype that holds all given numbers, but not all right ones, coarsest first.

    Each is yielded with what is said of it beside a cause.
    """
    yield tolerance, ()
    own_eps = torch.finfo(coarsest_dtype(given[name] for name in reading.forms)).eps
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        if own_eps < torch.finfo(dtype).eps and is_rounded_to(dtype, reading.theirs, ours):
            yield dtype, (("rounded", {"rounded_to": str(dtype).removeprefix("torch.")}),)


def find_discrepancy(theirs: Values, ours: Values, limits: dict[str, float]) -> Discrepancy | None:
    """Finds the first given step that differs from the run by more than rounding; None if all steps agree.

    theirs: the given steps in the run's order. ours: the run's, with the same axes. limits: how large a difference
    rounding explains, for each step.
    """
    gaps = largest_gaps(theirs, ours)
    names = list(theirs)
    for number, name in enumerate(names, 1):
        if gaps[name] > limits[name]:
            return Discrepancy(names, names[:number], gaps[name], limits)
    return None


# ---- what was given --------------------------------------------------------------------------------------------------
def fit_given_steps(trace: Trace, given: Mapping[str, Tensor]) -> Values:
    """Returns those given steps that have the run's shape, in float64 on the CPU; boolean steps stay boolean.

    Raises AttentionError if the trace lacks a given step, if a given value is no tensor, or if no step is given.
    """
    check_given_steps(trace, given)
    theirs = {}
    for name, tensor in given.items():
        value = reshape_to_step(trace.step(name), tensor.detach().cpu())
        if value is not None:
            theirs[name] = value if value.dtype == torch.bool else value.double()
    return theirs


def check_given_steps(trace: Trace, given: Mapping[str, Tensor]) -> None:
    """Raises AttentionError as fit_given_steps does."""
    if not given:
        raise AttentionError("nothing_given")
    for name, tensor in given.items():
        check_given_step(trace, name, tensor)


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
@dataclass(frozen=True, eq=False)
class ChangedRun:
    """A run with one change: its cause, the change, and its values of the given steps, and of those alone."""

    cause: Cause
    mistake: Mistake
    values: Values


def find_mistakes(trace: Trace, attempt: Attempt, changes: Iterable[ChangedRun]) -> list[Cause]:
    """Finds the changes of a run that reproduce the first differing step, and all given steps before it.

    If some reproduce all given steps, only these are returned, and of these those that need no change beside them.
    """
    found: list[Cause] = []
    theirs, discrepancy = attempt.reading.theirs, attempt.discrepancy
    for changed in changes:
        cause, mistake = changed.cause, changed.mistake
        if cause.beside and cause.code in [each.code for each in found if len(each.steps) == len(theirs)]:
            continue  # one change suffices, so pairs that contain it are not tried
        values = attempt.reading.arrange(trace, changed.values)
        gaps = largest_gaps(theirs, values)
        if not comes_near(discrepancy, gaps, values):
            continue
        limits = rounding_allowances(trace, attempt.tolerance, mistake)  # only now, because it needs eight runs
        explained = []
        for name in discrepancy.names:
            if gaps[name] <= limits[name]:
                explained.append(name)
        if set(discrepancy.needed) <= set(explained):
            found.append(replace(cause, steps=tuple(explained)))
    found = [cause for cause in found if len(cause.steps) == len(theirs)] or found
    alone = [cause for cause in found if not cause.beside]
    return [attempt.name_beside(cause) for cause in alone or found]


def comes_near(discrepancy: Discrepancy, gaps: dict[str, float], values: Values) -> bool:
    """Returns whether a changed run is close to the given numbers, and much closer than the unchanged run.

    gaps: the largest difference of each given step from the changed run. values: the steps of the changed run.
    """
    for name in discrepancy.needed:
        growth = MAX_ROUNDING_GROWTH * discrepancy.limits[name]
        if not gaps[name] <= growth:
            return False
        share = MAX_ROUNDING_SHARE * largest_magnitude(values[name])
        if not gaps[name] <= share:
            return False
    first = discrepancy.needed[-1]
    return gaps[first] * MIN_EXPLAINED_RATIO <= discrepancy.gap


def try_mistakes(trace: Trace, own: Values, attempts: list[Attempt]) -> Iterator[ChangedRun]:
    """Yields every change that alters a given step.

    own: the values of the unchanged run in float64. A change that leaves queries without an allowed key is yielded
    again with each of EMPTY_ROW_MISTAKES, and each change of a run with dropout again without the dropout.
    """
    limits = rounding_allowances(trace, torch.float64)
    names = list(dict.fromkeys(name for attempt in attempts for name in attempt.reading.forms))
    changes = single_changes(trace)
    changes += [(Cause(code, (), values), mistake) for code, values, mistake in joint_mistakes(trace)]
    changes += find_dropout(own, attempts[0].reading.theirs)
    if "dropped_weights" in trace:
        quiet = [combine_changes(cause, mistake, "no_dropout") for cause, mistake in changes]
        changes += [pair for pair in quiet if pair[0].code != "no_dropout"]
    for cause, mistake in changes:
        values = rerun_with_mistake(trace, own, mistake)
        moved = {name: values[name] for name in names}
        gaps = largest_gaps(moved, own)
        if all(gaps[name] <= limits[name] for name in names):
            continue
        yield ChangedRun(cause, mistake, moved)
        if cause.code in EMPTY_ROW_MISTAKES or not has_empty_rows(values):
            continue
        for code in EMPTY_ROW_MISTAKES:
            other, joined = combine_changes(cause, mistake, code)
            joined_values = rerun_with_mistake(trace, own, joined)
            yield ChangedRun(other, joined, {name: joined_values[name] for name in names})


def combine_changes(cause: Cause, mistake: Mistake, code: str) -> tuple[Cause, Mistake]:
    """Returns a change together with one of MISTAKES, which its cause names beside it."""
    return replace(cause, beside=(*cause.beside, code)), combine_mistakes(mistake, MISTAKES[code])


def single_changes(trace: Trace) -> list[tuple[Cause, Mistake]]:
    """Returns the changes of a run that can be made without knowing the given numbers, and that show in a single step;
    each with its cause.
    """
    single = [(Cause(code, ()), mistake) for code, mistake in MISTAKES.items()]
    single += [(Cause(code, (), values), mistake) for code, values, mistake in mistakes_of(trace)]
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
    if given.shape != ours.shape:
        return
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


def find_factor(trace: Trace, own: Values, attempt: Attempt) -> Iterator[ChangedRun]:
    """Yields the run whose scores have the factor that fits the given numbers best, as a cause if it reproduces them.

    own: the values of the unchanged run in float64. The start is the best of FACTOR_STARTS times the run's own factor;
    then Newton's method minimises the squared differences (Gauss-Newton, with differences for the derivative).
    """
    if "scaled_scores" not in trace:
        return
    scores, scaled = own[trace.step("scaled_scores").operation.reads[0]], own["scaled_scores"]
    right = (scaled.norm() / scores.norm()).item()
    name = attempt.discrepancy.needed[-1]
    theirs = attempt.reading.theirs[name].flatten()
    weights = own["weights"]
    undecided = int(((weights > 0) & (weights < 1)).sum())
    if not theirs.isfinite().all() or min(undecided, theirs.numel()) < MIN_FACTOR_NUMBERS:
        return

    def run_with(factor: float) -> Values:
        return rerun_with_mistake(trace, own, multiply_scores(factor))

    def miss(factor: float) -> Tensor:
        return attempt.reading.arrange(trace, run_with(factor))[name].flatten() - theirs

    factor = min((right * times for times in FACTOR_STARTS), key=lambda start: miss(start).nan_to_num().norm().item())
    before = torch.inf
    for _ in range(FACTOR_STEPS):
        here, step = miss(factor), factor * FACTOR_DIFFERENCE
        distance = here.norm().item()
        if not distance < FACTOR_GAIN * before:
            break
        slope = (miss(factor + step) - here) / step
        steepness = (slope @ slope).item()
        if not steepness > 0:
            return
        factor -= (here @ slope).item() / steepness
        before = distance
    cause = Cause("scale_other", (), {"factor": f"{factor:.4g}"})
    values = run_with(factor)
    yield ChangedRun(cause, multiply_scores(factor), {each: values[each] for each in attempt.reading.forms})


def multiply_scores(factor: float) -> Mistake:
    """Returns the mistake of multiplying the scores by another factor than the scale."""

    def change(step: Step, values: Values) -> Tensor:
        return values[step.operation.reads[0]] * factor

    return Mistake(("scaled_scores", "scaled_scores_2"), change)


def sums_to_one(weights: Tensor) -> bool:
    """Returns whether every row of weights sums to 1, or to 0 as a row without an allowed key does."""
    sums = weights.sum(-1)
    is_one = (sums - 1).abs() < ROW_SUM_TOLERANCE
    is_zero = sums.abs() < ROW_SUM_TOLERANCE
    return bool((is_one | is_zero).all())


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
