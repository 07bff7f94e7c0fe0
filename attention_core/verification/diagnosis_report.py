"""The result of a diagnosis: each given step compared with the trace's, and an English summary."""

from dataclasses import dataclass
from itertools import takewhile

from attention_core.verification.causes import Cause

AXIS_WORDS = {"B": "b", "H": "head", "H_kv": "key/value head", "T": "query", "S": "key"}  # other axes keep their letter


@dataclass(frozen=True)
class Comparison:
    """One given step compared with the trace's.

    difference: the largest, relative to the step's largest finite magnitude, as is tolerance; infinite if only one
    number is finite, or the shapes differ. index: the cell of the largest difference, with its two numbers; first: the
    first cell that differs; both None if all agree. stand_ins: the number of cells that hold a large negative number
    instead of -inf. follows: whether a step that differs is correct given the given steps before it; None if none of
    those was given. among: the steps in which its fault may lie, after the last that agree up to itself. fits: whether
    the shapes agree; fits_as: the axes in another order that the given shape fits.
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
class Diagnosis:
    """The comparisons of all given steps, in the trace's order; `causes` is None if they were not searched for.

    lost: the step that overflows in the run's own precision, so that the given outputs are compared with float64 alone;
    None if every output is finite.
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
        """The steps that agree, with their largest relative difference."""
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
    """Describes which steps agree, and which of them hold a large negative number instead of -inf."""
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
    """Describes how the first step differs, and in which steps its fault may lie."""
    sentences = [describe_difference(first) if first.fits else describe_misfit(first)]
    if first.follows is False:
        sentences.append(f"The fault lies in {one_of_these(first.among)}.")
    return sentences


def describe_later(later: tuple[Comparison, ...]) -> list[str]:
    """Describes whether the steps after the first that differs are correct given the given steps before them."""
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
    """Describes the causes, or that none was found; [] if they were not searched for."""
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
    """Joins names by "or".

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
    """Formats an index in words: (b 0, head 1, query 2, key 3)."""
    places = []
    for dim, place in zip(comparison.dims, index, strict=True):
        axis = AXIS_WORDS.get(dim, dim)
        places.append(f"{axis} {place}")
    return f"({', '.join(places)})"


def format_distinguishably(theirs: float, ours: float) -> tuple[str, str]:
    """Formats two numbers with the fewest digits that show a difference, at least four significant digits."""
    for digits in range(4, 18):
        pair = f"{theirs:.{digits}g}", f"{ours:.{digits}g}"
        if pair[0] != pair[1]:
            return pair
    return repr(theirs), repr(ours)
