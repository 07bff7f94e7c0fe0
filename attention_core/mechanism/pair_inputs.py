"""What may be given about pairs of tokens: who may attend to whom, which weights are kept, and numbers of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.mechanism.checks import all_finite, as_pairs, check_finite, check_kinds
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.record.errors import AttentionError

Sizes = tuple[int, int, int, int]  # (B, H, T, S)


@dataclass(frozen=True, eq=False)
class PairInputs:
    """What may be given about pairs of tokens: see attend."""

    allowed: Tensor | None = None
    keep: Tensor | None = None
    replacement: Tensor | None = None
    what_if: Mapping[str, Tensor] = field(default_factory=dict)


def check_pairs(
    given: PairInputs,
    config: AttentionConfig,
    sizes: Sizes,
    sample: Tensor,
    sample_name: str,
) -> dict[str, Tensor]:
    """What is given about pairs, where the inputs lie, as (B, H, T, S) or broadcasting to it, by the names of steps.

    sizes: those of the run. sample: a number of the inputs' dtype and device. sample_name: what the first input is
    called. What dropout keeps is drawn where it is not given. Numbers are not read yet: check_numbers does.
    """
    pairs: dict[str, Tensor] = {}
    if given.allowed is not None:
        name = "allowed_custom" if config.masks else "allowed"
        pairs[name] = as_pairs("allowed", given.allowed, sizes)
    check_replaced_once(given, config)
    if given.replacement is not None:
        pairs["replacement"] = as_pairs("replacement", given.replacement, sizes, boolean=False)
    for name, numbers in given.what_if.items():
        pairs |= split_chosen_numbers(name, numbers, sizes)
    if given.keep is not None and not config.dropout:
        raise AttentionError("keep_without_dropout")
    if given.keep is not None:
        pairs["keep"] = as_pairs("keep", given.keep, sizes)
    elif config.dropout:
        pairs["keep"] = draw_dropout_keep(config, sizes)
    there = {name: tensor.to(sample.device) for name, tensor in pairs.items()}
    check_kinds({sample_name: sample, **chosen_numbers(given, there)})
    return there


def chosen_numbers(given: PairInputs, pairs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The numbers among what is given about pairs, by the names of its arguments. pairs: those of check_pairs."""
    numbers = {f"what_if[{name!r}]": pairs[f"chosen_{name}"] for name in given.what_if}
    if given.replacement is not None:
        numbers["replacement"] = pairs["replacement"].view(given.replacement.shape)  # (T, S), if it was given so
    return numbers


def check_numbers(numbers: Mapping[str, Tensor], pairs: Mapping[str, Tensor], config: AttentionConfig) -> None:
    """All numbers of a run are finite, and no chosen score lies below 0, where the normaliser needs that.

    All of them in one reading: a number below 0 has no root that is finite.
    """
    normaliser, _ = config.normaliser
    is_chosen = "chosen_scores" in pairs and NORMALISERS[normaliser].needs_positive
    positive = [pairs["chosen_scores"]] if is_chosen else []
    roots = [scores.sqrt() for scores in positive]
    if all_finite(*numbers.values(), *roots):
        return
    check_finite(numbers)
    if any((scores < 0).any() for scores in positive):
        raise AttentionError("needs_positive", kind=normaliser)


def check_replaced_once(given: PairInputs, config: AttentionConfig) -> None:
    """The weights are replaced in one way at most: evenly, by a tensor, or by chosen numbers."""
    by_tensor = given.replacement is not None
    by_numbers = "weights" in given.what_if
    if config.replace and (by_tensor or by_numbers):
        raise AttentionError("replacement_twice", given=config.replace)
    if by_tensor and by_numbers:
        raise AttentionError("replacement_twice", given="replacement")


def split_chosen_numbers(name: str, numbers: Tensor, sizes: Sizes) -> dict[str, Tensor]:
    """Numbers chosen in the place of computed ones, NaN where the computed one stays: the numbers, and where."""
    if name not in ("scores", "weights"):
        raise AttentionError(
            "unknown_choice",
            name="what_if",
            choices="scores, weights",
            given=repr(name),
        )
    given = as_pairs(f"what_if[{name!r}]", numbers, sizes, boolean=False).expand(sizes)
    where = ~given.isnan()
    return {f"chosen_{name}": torch.where(where, given, 0.0), f"where_{name}": where}


def draw_dropout_keep(config: AttentionConfig, sizes: Sizes) -> Bool[Tensor, "B H T S"]:
    """Which weights dropout keeps, drawn on the CPU so that a seed means the same everywhere."""
    generator = torch.Generator().manual_seed(config.dropout_seed)
    draws = torch.rand(sizes, generator=generator, dtype=torch.float64)
    return draws >= config.dropout
