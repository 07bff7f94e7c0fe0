"""Generates exercises to calculate by hand, with small whole numbers for which no two mistakes give the same result."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations
from types import MappingProxyType

import torch
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.comparison.rerun import Values, rerun
from attention_core.exercises.answer_text import DEFAULT_DECIMALS
from attention_core.exercises.rounding import NumberRange, half_a_unit
from attention_core.exercises.slips import try_exchanges
from attention_core.exercises.stages import stages_of
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_values import WholeMatrix
from attention_core.mechanism.attention import attend, attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.trace import Trace
from attention_core.verification.mistakes import MISTAKES

# Mistakes that must give different numbers, in addition to swapped rows or columns and a single wrong sum.
COMMON_MISTAKES = (
    "no_scale",
    "scale_squared",
    "scale_model_width",
    "scale_input_width",
    "softmax_queries",
    "mask_after_softmax",
    "mask_inverted",
    "k_not_transposed",
    "scores_transposed",
    "weights_transposed",
    "softmax_undivided",
    "split_not_transposed",
    "split_interleaved",
)
VISIBLE_GAP = 2 * half_a_unit(DEFAULT_DECIMALS)  # larger differences are visible, however halves are rounded
MAX_ATTEMPTS = 1000  # most attempts at sampling an exercise in which all mistakes give different numbers


@dataclass(frozen=True)
class Level:
    """The level of an exercise: the shape and the largest whole number of each matrix, the number of heads, and the
    masks.
    """

    shapes: Mapping[str, tuple[int, int]]
    largest: int
    heads: int = 1
    masks: tuple[str, ...] = ()


LEVELS = MappingProxyType(  # name -> Level; the sizes are chosen so that √d_k, d_k, √d_model and √S differ
    {
        "from_qkv": Level(
            {"q": (3, 2), "k": (3, 2), "v": (3, 2)},
            largest=2,
        ),
        "one_head": Level(
            {"x": (4, 6), "w_q": (6, 3), "w_k": (6, 3), "w_v": (6, 3)},
            largest=1,
            masks=("causal",),
        ),
        "two_heads": Level(
            {"x": (4, 6), "w_q": (6, 6), "w_k": (6, 6), "w_v": (6, 6), "w_o": (6, 3)},
            largest=1,
            heads=2,
            masks=("causal",),
        ),
    }
)


@dataclass(frozen=True)
class Exercise:
    """An exercise: its matrices by name, the number of heads, and the masks; `run` gives the right numbers."""

    matrices: Mapping[str, WholeMatrix] = field(default_factory=dict)
    heads: int = 1
    masks: tuple[str, ...] = ()

    def run(self) -> Trace:
        """Run the exercise in float64, which gives the right numbers."""
        given = {name: torch.tensor(matrix.packed.array()) for name, matrix in self.matrices.items()}
        config = AttentionConfig(heads=self.heads, masks=self.masks)
        if "q" in given:
            return attend_qkv(
                given["q"],
                given["k"],
                given["v"],
                config=config,
            )
        x = given.pop("x")
        weights = Weights(**given)
        return attend(x, weights=weights, config=config)


def make_exercise(level: str, seed: int) -> Exercise:
    """Make an exercise of a level; the same seed gives the same exercise on any machine.

    Numbers are sampled until no two mistakes give the same numbers, rounded to two decimals, and each mistake changes
    more than one number, unlike a single wrong sum. The mistakes are COMMON_MISTAKES and the swaps of two rows or
    columns. level: a key of LEVELS. seed: a whole number.

    Raises AttentionError: unknown_choice.

    >>> make_exercise("from_qkv", 1).matrices["q"].packed.array().tolist()
    [[-2.0, 2.0], [2.0, 1.0], [1.0, 1.0]]
    """
    require_one_of("level", level, tuple(LEVELS))
    generator = torch.Generator().manual_seed(seed)
    for _ in range(MAX_ATTEMPTS):
        exercise = draw_exercise(LEVELS[level], generator)
        if can_tell_mistakes_apart(exercise.run()):
            return exercise
    raise RuntimeError(f"no exercise of level {level!r} and seed {seed} tells all mistakes apart")


def draw_exercise(level: Level, generator: torch.Generator) -> Exercise:
    """Sample whole numbers for every matrix of a level."""
    matrices = {}
    for name, shape in level.shapes.items():
        numbers = torch.randint(
            -level.largest,
            level.largest + 1,
            shape,
            generator=generator,
        )
        matrices[name] = pack_matrix(numbers.numpy(), name)
    return Exercise(matrices, level.heads, level.masks)


# ---- whether mistakes can be told apart ------------------------------------------------------------------------------
def can_tell_mistakes_apart(trace: Trace) -> bool:
    """Return whether a run's numbers show which of the common mistakes was made, after rounding to the usual decimals.

    The result is True if every mistake changes more than one number, and no two mistakes give the same numbers.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> can_tell_mistakes_apart(EXAMPLES["en_it"].run())  # most of its scores are 0 and show no scale
    False
    """
    right = rerun(trace)
    stages = [*stages_of(trace)]
    seen: dict[str, list[Tensor]] = {step: [] for step in stages}
    for mistaken in mistaken_runs(trace, right, stages):
        if is_same_run(mistaken, right, stages):
            continue
        step = first_visible_step(mistaken, right, stages)
        if step is None:
            return False  # this mistake would not be visible
        if count_visible(mistaken[step], right[step]) < 2:
            return False
        seen[step].append(mistaken[step])
    pairs = chain.from_iterable(combinations(values, 2) for values in seen.values())
    return all(differs_visibly(one, other) for one, other in pairs)


def mistaken_runs(trace: Trace, right: Values, stages: list[str]) -> Iterator[Values]:
    """Yield a run's values with each common mistake, and with each swap of two rows or columns of a step.

    stages: the steps to be calculated, in order.
    """
    for code in COMMON_MISTAKES:
        yield rerun(trace, MISTAKES[code])
    for step in stages:
        value = right[step]
        for _, swapped in try_exchanges(NumberRange(value, value), step):
            if not torch.equal(swapped.low, value):
                yield right | {step: swapped.low}


def is_same_run(mistaken: Values, right: Values, stages: list[str]) -> bool:
    """Return whether a mistake changes none of the steps in `stages`, which the visitor calculates."""
    return all(torch.equal(mistaken[step], right[step]) for step in stages)


def first_visible_step(mistaken: Values, right: Values, stages: list[str]) -> str | None:
    """Return the first of the steps in `stages` at which a mistake is visible; None if it is visible at none of
    them.
    """
    for step in stages:
        if differs_visibly(mistaken[step], right[step]):
            return step
    return None


def differs_visibly(one: Tensor, other: Tensor) -> bool:
    """Return whether two values of a step differ visibly, that is, after rounding to DEFAULT_DECIMALS."""
    if one.shape != other.shape:
        return True
    return count_visible(one, other) > 0


def count_visible(one: Tensor, other: Tensor) -> int:
    """Count the cells that differ visibly (after rounding to DEFAULT_DECIMALS), whether halves are rounded up or
    down."""
    is_visible = abs_difference(one, other) > VISIBLE_GAP
    return int(is_visible.sum())
