"""Why somebody's numbers differ, where it can be proven: the same inputs run again with one thing changed give theirs.

Nothing is named that does not reproduce the numbers it was asked about.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attention_core.comparison.distances import largest_magnitude, step_difference
from attention_core.comparison.rerun import Values, can_hold, coarsest_dtype, rerun, rounding_allowances
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step, Trace
from attention_core.verification.mistakes import MISTAKE_SENTENCES, MISTAKES, Mistake, no_mask
from attention_core.verification.tensor_layout import reshape_to_step


@dataclass(frozen=True)
class Cause:
    """What was changed in a run that gave somebody's numbers: `code`, one of SENTENCES, with its values.

    steps: the given steps that it reproduces. beside: what else had to be so, for queries that may attend to nothing.
    """

    code: str
    steps: tuple[str, ...]
    values: Mapping[str, object] = field(default_factory=dict)
    beside: tuple[str, ...] = ()

    def __str__(self) -> str:
        sentences = [
            MISTAKE_SENTENCES[self.code].format(**self.values),
            *(MISTAKE_SENTENCES[code] for code in self.beside),
        ]
        return ", and ".join(sentences)


MAX_ROUNDING_SHARE = (
    0.25  # of a step's largest magnitude: rounding that moves numbers further leaves nothing to compare
)
MAX_ROUNDING_GROWTH = (
    1000  # times what rounding may do in the run itself: no single change makes rounding that much worse
)
MIN_EXPLAINED_RATIO = 8  # times nearer than the run itself a cause must be: coarse numbers are near much that is none
ROW_SUM_TOLERANCE = 0.02  # from 1, or from 0: nearer than that a row of weights sums to it in any precision
EMPTY_ROW_MISTAKES = ("nan_rows", "finite_fill")  # what else a query that may attend to nothing can get


def find_causes(
    trace: Trace, given: Mapping[str, Tensor], tolerance: float | torch.dtype | None = None
) -> tuple[Cause, ...]:
    """Every single change of the run that gives somebody's numbers, within what rounding may do.

    given: steps of the trace that somebody else computed, as in diagnosis.first_difference, and the same tolerance.
    A cause reproduces the first step that differs and all given before it; where some reproduce all that was given,
    only these are named. Nothing is named where all steps agree, or where no single change gives the numbers.

    >>> from attention_core import attend_qkv
    >>> q, k = torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.tensor([[3.0, -1.0], [0.5, 1.0]])
    >>> [str(cause) for cause in find_causes(attend_qkv(q, k, k), {"output": torch.softmax(q @ k.T, dim=-1) @ k})]
    ['no scale: the scores are not divided by √d_k']
    """
    theirs = fit_given_steps(trace, given)
    tolerance = coarsest_dtype(given.values()) if tolerance is None else tolerance
    own, names = rounding_allowances(trace, tolerance), [name for name in trace.steps if name in theirs]
    gaps = largest_gaps(theirs, rerun(trace))
    first = next((place for place, name in enumerate(names) if not gaps[name] <= own[name]), None)
    if first is None:
        return ()
    needed, found = names[: first + 1], []
    differing, before = names[first], gaps[names[first]]
    for cause, hypothesis, values in try_mistakes(trace, theirs):
        if cause.beside and any(other.code == cause.code for other in found):
            continue  # it gives the numbers without anything beside
        gaps = largest_gaps(theirs, values)
        if any(
            not gaps[name] <= min(MAX_ROUNDING_SHARE * largest_magnitude(values[name]), MAX_ROUNDING_GROWTH * own[name])
            for name in needed
        ):
            continue
        if not gaps[differing] * MIN_EXPLAINED_RATIO <= before:
            continue
        limits = rounding_allowances(trace, tolerance, hypothesis)
        steps = tuple(name for name in names if gaps[name] <= limits[name])
        if set(needed) <= set(steps):
            found.append(replace(cause, steps=steps))
    found = found or find_half_precision(trace, given, theirs, names)
    whole = [cause for cause in found if len(cause.steps) == len(names)]
    return tuple(whole or found)


def fit_given_steps(trace: Trace, given: Mapping[str, Tensor]) -> Values:
    """What was given and fits its step, in float64 on the CPU, every axis there; what is boolean stays so.

    Raises AttentionError for a step that the trace lacks, something that is no tensor, and nothing at all.
    """
    if not given:
        raise AttentionError("nothing_given")
    theirs = {}
    for name, tensor in given.items():
        if name not in trace:
            raise AttentionError("unknown_choice", name="step", choices=", ".join(trace.steps), given=repr(name))
        if not isinstance(tensor, Tensor):
            raise AttentionError("not_a_tensor", name=name, given=type(tensor).__name__)
        boolean = trace[name].dtype == torch.bool
        if boolean and tensor.dtype != torch.bool:
            raise AttentionError("allowed_not_bool", name=name, given=tensor.dtype)
        if not boolean and not tensor.is_floating_point():
            raise AttentionError("not_floating", name=name, given=tensor.dtype)
        value = reshape_to_step(trace.step(name), tensor.detach().cpu())
        if value is not None:
            theirs[name] = value if boolean else value.double()
    return theirs


def largest_gaps(theirs: Values, values: Values) -> dict[str, float]:
    """How far apart each given step and a run are at most; infinite where their shapes differ."""
    return {
        name: step_difference(name, value, values[name]).max().item()
        if value.shape == values[name].shape
        else torch.inf
        for name, value in theirs.items()
    }


def try_mistakes(trace: Trace, theirs: Values) -> Iterator[tuple[Cause, Mistake, Values]]:
    """Every change worth trying, with the run that it gives: it moves what was given. One that leaves queries without a
    key is also tried with what others make of those."""
    own, limits = rerun(trace), rounding_allowances(trace, torch.float64)
    for cause, hypothesis in [*single_changes(trace), *find_dropout(own, theirs)]:
        values = rerun_with_mistake(trace, own, hypothesis)
        gaps = largest_gaps({name: values[name] for name in theirs}, own)
        if all(gaps[name] <= limits[name] for name in theirs):
            continue
        yield cause, hypothesis, values
        empty = values["masked_scores"].isneginf().all(-1).any() or values["weights"].isnan().any()
        if empty and cause.code not in EMPTY_ROW_MISTAKES:
            for code in EMPTY_ROW_MISTAKES:
                joined = combine_mistakes(hypothesis, MISTAKES[code])
                yield replace(cause, beside=(code,)), joined, rerun_with_mistake(trace, own, joined)


def single_changes(trace: Trace) -> list[tuple[Cause, Mistake]]:
    """Every change of one thing that can be tried without knowing what somebody wrote."""
    single = [(Cause(code, ()), hypothesis) for code, hypothesis in MISTAKES.items()]
    for name in trace.steps:
        if name.startswith("allowed_"):
            single.append((Cause("one_mask_missing", (), {"name": name}), Mistake((name,), no_mask)))
    return single


def rerun_with_mistake(trace: Trace, own: Values, hypothesis: Mistake) -> Values:
    """The changed run; what stands before the change is not computed again."""
    names = list(trace.steps)
    first = min((names.index(name) for name in hypothesis.steps if name in trace), default=len(names))
    return rerun(trace, hypothesis, {name: own[name] for name in names[:first]})


def combine_mistakes(first: Mistake, second: Mistake) -> Mistake:
    """Two changes; where both change a step, the first does."""

    def change(step: Step, values: Values) -> Tensor | None:
        value = first(step, values)
        return second(step, values) if value is None else value

    return Mistake(first.steps + second.steps, change)


def find_dropout(own: Values, theirs: Values) -> Iterator[tuple[Cause, Mistake]]:
    """Which weights were dropped, and how much the others grew, read off the given weights."""
    if "weights" not in theirs or "dropped_weights" in own:
        return
    ours, given = own["weights"], theirs["weights"]
    kept, dropped = (ours > 0) & (given != 0), (ours > 0) & (given == 0)
    growth = (given[kept] / ours[kept]).median().item() if kept.any() and dropped.any() else 0.0
    sums = given.sum(-1)
    renormed = (
        (sums.abs() < ROW_SUM_TOLERANCE) | ((sums - 1).abs() < ROW_SUM_TOLERANCE)
    ).all()  # as a mask leaves them
    if growth > 1 and not renormed:
        weights = Mistake(("weights",), lambda step, values: ours * ~dropped * growth)
        yield Cause("dropout", (), {"p": f"{1 - 1 / growth:.3g}"}), weights


def find_half_precision(trace: Trace, given: Mapping[str, Tensor], theirs: Values, names: list[str]) -> list[Cause]:
    """Rounding as the cause: numbers of a finer dtype that are all numbers of a coarser one, and no further off."""
    values, numbers = rerun(trace), [name for name in names if theirs[name].is_floating_point()]
    gaps = largest_gaps(theirs, values)
    for dtype in (torch.bfloat16, torch.float16):  # a bfloat16 number of moderate size is a float16 number too
        finer = all(torch.finfo(given[name].dtype).eps < torch.finfo(dtype).eps for name in numbers)
        exact = all(can_hold(dtype, theirs[name]) for name in numbers)
        rounded = any(not can_hold(dtype, values[name]) for name in numbers)
        limits = rounding_allowances(trace, dtype) if finer and exact and rounded else dict.fromkeys(names, -1.0)
        if all(gaps[name] <= limits[name] for name in names):
            return [Cause("half_precision", tuple(names), {"dtype": str(dtype).removeprefix("torch.")})]
    return []
