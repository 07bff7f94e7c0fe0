"""What may be given about pairs of tokens: who may attend to whom, which weights are kept, and numbers of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.mechanism.checks import as_pairs, check_tensors
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
    """What is given about pairs, checked, as (B, H, T, S) or broadcasting to it, by the names of its steps.

    sizes: those of the run. sample: a number of the inputs' dtype and device. sample_name: what the first input is
    called. The numbers that dropout needs are drawn where none are given.
    """
    pairs: dict[str, Tensor] = {}
    if given.allowed is not None:
        name = "allowed_custom" if config.masks else "allowed"
        pairs[name] = as_pairs("allowed", given.allowed, sizes)
    check_replaced_once(given, config)
    if given.replacement is not None:
        check_tensors({sample_name: sample, "replacement": given.replacement})
        pairs["replacement"] = as_pairs(
            "replacement",
            given.replacement,
            sizes,
            boolean=False,
        )
    for name, numbers in given.what_if.items():
        pairs |= split_chosen_numbers(name, numbers, sizes, sample)
    check_positive_pairs(pairs, config)
    if given.keep is not None and not config.dropout:
        raise AttentionError("keep_without_dropout")
    if given.keep is not None:
        pairs["keep"] = as_pairs("keep", given.keep, sizes)
    elif config.dropout:
        pairs["keep"] = draw_dropout_keep(config, sizes)
    return {name: tensor.to(sample.device) for name, tensor in pairs.items()}


def check_replaced_once(given: PairInputs, config: AttentionConfig) -> None:
    """The weights are replaced in one way at most: evenly, by a tensor, or by chosen numbers."""
    by_tensor = given.replacement is not None
    by_numbers = "weights" in given.what_if
    if config.replace and (by_tensor or by_numbers):
        raise AttentionError("replacement_twice", given=config.replace)
    if by_tensor and by_numbers:
        raise AttentionError("replacement_twice", given="replacement")


def check_positive_pairs(pairs: dict[str, Tensor], config: AttentionConfig) -> None:
    """No chosen score lies below 0, where the normaliser needs that."""
    normaliser, _ = config.normaliser
    if "chosen_scores" not in pairs or not NORMALISERS[normaliser].needs_positive:
        return
    if (pairs["chosen_scores"] < 0).any():
        raise AttentionError("needs_positive", kind=normaliser)


def split_chosen_numbers(name: str, numbers: Tensor, sizes: Sizes, sample: Tensor) -> dict[str, Tensor]:
    """Numbers chosen in the place of computed ones, NaN where the computed one stays: the numbers, and where."""
    if name not in ("scores", "weights"):
        raise AttentionError(
            "unknown_choice",
            name="what_if",
            choices="scores, weights",
            given=repr(name),
        )
    argument = f"what_if[{name!r}]"
    given = as_pairs(argument, numbers, sizes, boolean=False).expand(sizes)
    where = ~given.isnan()
    chosen = torch.where(where, given, 0.0)
    check_tensors({"the input": sample, argument: chosen})
    return {f"chosen_{name}": chosen, f"where_{name}": where}


def draw_dropout_keep(config: AttentionConfig, sizes: Sizes) -> Bool[Tensor, "B H T S"]:
    """Which weights dropout keeps, drawn on the CPU so that a seed means the same everywhere."""
    generator = torch.Generator().manual_seed(config.dropout_seed)
    draws = torch.rand(sizes, generator=generator, dtype=torch.float64)
    return draws >= config.dropout
