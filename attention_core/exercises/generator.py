"""Exercises to calculate by hand: small whole numbers from a seed, on which no two mistakes give the same numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType

import torch
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.comparison.rerun import Values, rerun
from attention_core.exercises.rounding import half_a_unit
from attention_core.exercises.slips import try_exchanges
from attention_core.exercises.worked_example import DEFAULT_DECIMALS, stages_of
from attention_core.inputs.matrix_text import from_text, to_text
from attention_core.mechanism.attention import attend, attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights, require_one_of
from attention_core.record.trace import Trace
from attention_core.verification.mistakes import MISTAKES

# The mistakes that an exercise must tell apart, besides exchanged rows and columns and one wrong sum.
COMMON_MISTAKES = (
    *("no_scale", "scale_squared", "scale_model_width", "scale_input_width", "softmax_queries", "mask_after_softmax"),
    *("mask_inverted", "k_not_transposed", "scores_transposed", "weights_transposed"),
    "softmax_undivided",
    *("split_not_transposed", "split_interleaved"),
)
MAX_ATTEMPTS = 1000  # exercises until one tells all mistakes apart: a handful is enough


@dataclass(frozen=True)
class Level:
    """How an exercise is made: the shape of each matrix, the largest whole number in it, heads and masks."""

    shapes: Mapping[str, tuple[int, int]]
    largest: int
    heads: int = 1
    masks: tuple[str, ...] = ()


LEVELS = MappingProxyType(  # widths at which √d_k, d_k, √d_model and √S are four numbers
    {
        "from_qkv": Level(dict.fromkeys("qkv", (3, 2)), largest=2),
        "one_head": Level({"x": (4, 6), "w_q": (6, 3), "w_k": (6, 3), "w_v": (6, 3)}, largest=1, masks=("causal",)),
        "two_heads": Level(
            {"x": (4, 6), "w_q": (6, 6), "w_k": (6, 6), "w_v": (6, 6), "w_o": (6, 3)}, 1, heads=2, masks=("causal",)
        ),
    }
)


@dataclass(frozen=True)
class Exercise:
    """Matrices in link form by name, heads and masks; `run` has the right numbers."""

    matrices: Mapping[str, str] = field(default_factory=dict)
    heads: int = 1
    masks: tuple[str, ...] = ()

    def run(self) -> Trace:
        """The run with the right numbers, float64."""
        given = {name: torch.from_numpy(from_text(text, name)) for name, text in self.matrices.items()}
        config = AttentionConfig(heads=self.heads, masks=self.masks)
        if "q" in given:
            return attend_qkv(given["q"], given["k"], given["v"], config=config)
        return attend(given.pop("x"), weights=Weights(**given), config=config)


def make_exercise(level: str, seed: int) -> Exercise:
    """An exercise of a level, the same from the same seed on any machine.

    level: one of LEVELS. seed: a whole number, of an own generator. Drawn again until no two of the COMMON mistakes, or
    of the exchanges of two rows or columns, can be taken for each other, or for one wrong sum, in two decimals.

    Raises AttentionError: unknown_choice.

    >>> make_exercise("from_qkv", 1).matrices["q"]
    '-2,2;2,1;1,1'
    """
    require_one_of("level", level, tuple(LEVELS))
    made, generator = LEVELS[level], torch.Generator().manual_seed(seed)
    for _ in range(MAX_ATTEMPTS):
        drawn = {
            name: torch.randint(-made.largest, made.largest + 1, shape, generator=generator)
            for name, shape in made.shapes.items()
        }
        found = Exercise({name: to_text(x.numpy(), name) for name, x in drawn.items()}, made.heads, made.masks)
        if can_tell_mistakes_apart(found.run()):
            return found
    raise RuntimeError(f"no exercise of level {level!r} and seed {seed} tells all mistakes apart")


def can_tell_mistakes_apart(trace: Trace) -> bool:
    """Whether every common mistake shows, in more than one number, and no two show the same, in the usual decimals.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> can_tell_mistakes_apart(EXAMPLES["en_it"].run())  # most of its scores are 0 and show no scale
    False
    """
    right, steps = rerun(trace), [*stages_of(trace)]
    seen: dict[str, list[Tensor]] = {step: [] for step in steps}
    for values in mistaken_runs(trace, right, steps):
        step = next((step for step in steps if differs_visibly(values[step], right[step])), None)
        exact = all(torch.equal(values[step], right[step]) for step in steps)
        if step is None and not exact:
            return False  # it changes the numbers, and nobody sees it
        if step is not None:
            seen[step].append(values[step])
            if (abs_difference(values[step], right[step]) > 2 * half_a_unit(DEFAULT_DECIMALS)).sum() < 2:
                return False
    return all(differs_visibly(one, other) for values in seen.values() for one, other in combinations(values, 2))


def mistaken_runs(trace: Trace, right: Values, steps: list[str]) -> Iterator[Values]:
    """The run with each common mistake, and with each two rows or columns of a step exchanged."""
    for code in COMMON_MISTAKES:
        yield rerun(trace, MISTAKES[code])
    for step in steps:
        for _, (swapped, _) in try_exchanges((right[step], right[step]), step):
            if not torch.equal(swapped, right[step]):
                yield right | {step: swapped}


def differs_visibly(one: Tensor, other: Tensor) -> bool:
    """Whether two steps differ where they are written with the usual decimals, however these are rounded."""
    return one.shape != other.shape or bool((abs_difference(one, other) > 2 * half_a_unit(DEFAULT_DECIMALS)).any())
