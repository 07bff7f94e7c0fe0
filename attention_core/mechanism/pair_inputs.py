"""Checks the optional arguments about (query, key) pairs: mask, bias, dropout mask, and numbers that replace scores or
weights.
"""

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
    """The optional arguments of attend about (query, key) pairs: mask, bias, dropout mask, weights or numbers that
    replace computed ones.
    """

    allowed: Tensor | None = None
    bias: Tensor | None = None
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
    """Return the given inputs about pairs of tokens as {name of their step: tensor}, on the inputs' device and ready to
    broadcast to (B, H, T, S).

    sizes: (B, H, T, S) of the run. sample: a number of the inputs' dtype and device. sample_name: the name of the first
    input. The dropout mask is sampled if it is not given. check_numbers checks the values.
    """
    pairs: dict[str, Tensor] = {}
    if given.allowed is not None:
        name = "allowed_custom" if config.masks else "allowed"
        pairs[name] = as_pairs("allowed", given.allowed, sizes)
    if given.bias is not None:
        check_bias_allowed(config)
        name = "bias_custom" if config.positions_at("bias") else "bias"
        pairs[name] = as_pairs("bias", given.bias, sizes, boolean=False)
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
    """Return {argument name: tensor} of those optional arguments about pairs that hold numbers, such as a bias, not
    booleans, such as a mask.

    pairs: all of these inputs by step name, as check_pairs returns them.
    """
    numbers = {f"what_if[{name!r}]": pairs[f"chosen_{name}"] for name in given.what_if}
    if given.bias is not None:
        bias = pairs.get("bias_custom", pairs.get("bias"))
        numbers["bias"] = bias.view(given.bias.shape)  # in the shape that the caller gave, such as (T, S)
    if given.replacement is not None:
        numbers["replacement"] = pairs["replacement"].view(given.replacement.shape)
    return numbers


def check_numbers(numbers: Mapping[str, Tensor], pairs: Mapping[str, Tensor], config: AttentionConfig) -> None:
    """Check that all numbers of a run are finite, and that no chosen score is below 0 if the normaliser needs that.

    All checks are read from the GPU at once: scores below 0 are found by the same test for finite numbers, because
    their roots are NaN.
    """
    normaliser, _ = config.normaliser
    is_chosen = "chosen_scores" in pairs and NORMALISERS[normaliser].needs_positive
    positive = [pairs["chosen_scores"]] if is_chosen else []
    roots = [scores.sqrt() for scores in positive]
    if all_finite(*numbers.values(), *roots):
        return
    if "bias" in numbers:
        check_no_blocking(numbers["bias"])
    check_finite(numbers)
    if any((scores < 0).any() for scores in positive):
        raise AttentionError("needs_positive", kind=normaliser)


def check_bias_allowed(config: AttentionConfig) -> None:
    """Check that the normaliser accepts scores below 0, which occur if a bias is added."""
    normaliser, _ = config.normaliser
    if NORMALISERS[normaliser].needs_positive:
        raise AttentionError("needs_positive", kind=normaliser)


def check_no_blocking(bias: Tensor) -> None:
    """Check that a bias has no -inf, with which other libraries block a pair."""
    blocked = bias.isneginf().nonzero()
    if len(blocked):
        raise AttentionError("bias_blocks", index=tuple(blocked[0].tolist()))


def check_replaced_once(given: PairInputs, config: AttentionConfig) -> None:
    """Check that weights are replaced in at most one way: by uniform weights, by a tensor, or by chosen numbers."""
    by_tensor = given.replacement is not None
    by_numbers = "weights" in given.what_if
    if config.replace and (by_tensor or by_numbers):
        raise AttentionError("replacement_twice", given=config.replace)
    if by_tensor and by_numbers:
        raise AttentionError("replacement_twice", given="replacement")


def split_chosen_numbers(name: str, numbers: Tensor, sizes: Sizes) -> dict[str, Tensor]:
    """Split a tensor of chosen numbers, which is NaN elsewhere, into two steps: the numbers, and a boolean mask.

    The numbers have 0 instead of NaN. The mask is True at chosen numbers.
    """
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
    """Sample the mask of weights that dropout keeps; on the CPU, so that a seed gives the same mask everywhere."""
    generator = torch.Generator().manual_seed(config.dropout_seed)
    draws = torch.rand(sizes, generator=generator, dtype=torch.float64)
    return draws >= config.dropout
