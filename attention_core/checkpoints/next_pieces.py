"""Computes the probabilities of a text's next token ("piece") from a model's logits, and lets the model generate
tokens."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.checkpoints.interface import run_without
from attention_core.checkpoints.opened_model import OpenedModel
from attention_core.checkpoints.recorded_maps import most_pieces
from attention_core.checkpoints.text_inputs import make_inputs
from attention_core.learned.language.writing import pick_word
from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.errors import AttentionError


@dataclass(frozen=True)
class Writing:
    """Settings by which a model generates tokens ("pieces") after a text: their number, seed, temperature and ablated
    heads.

    count: the number of tokens to generate. seed: that of the random draw of each token; None to choose the likeliest
    token each time. temperature: divides the logits before the softmax. off: the heads that are switched off meanwhile,
    as Recording.without takes them.
    """

    count: int
    seed: int | None = None
    temperature: float = 1.0
    off: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A token ("piece") that may come next: the text to show, its probability, and its probability with a
    temperature."""

    number: int
    shown: str
    share: float
    drawn: float


def writes_on(opened: OpenedModel) -> bool:
    """Return whether a model can generate the next token of a text."""
    return opened.tokenizer is not None and opened.model.can_generate()


def find_shares(logits: Float[Tensor, " V"], temperature: float = 1.0) -> Float[Tensor, " V"]:
    r"""Return the probabilities $\mathrm{softmax}(logits / temperature)$ in float64.

    Raises AttentionError: positive_number, for the temperature; not_finite if the logits have no softmax, because one
    is NaN or infinite, or all are minus infinity.

    >>> find_shares(torch.tensor([0.0, 0.0, -torch.inf])).tolist()
    [0.5, 0.5, 0.0]
    """
    if not 0 < temperature < float("inf"):
        raise AttentionError("positive_number", name="temperature", given=temperature)
    shares = (logits.double() / temperature).softmax(-1)
    if shares.isnan().any():
        index = tuple((~logits.isfinite()).nonzero()[0].tolist())
        raise AttentionError("not_finite", name="logits", value=logits[index].item(), index=index)
    return shares


def next_shares(logits: Float[Tensor, "B T V"], temperature: float = 1.0) -> Float[Tensor, " V"]:
    r"""Return, for each token of the vocabulary, the probability that it comes next in the first text.

    That is $softmax(logits / temperature)$ at the last token of the text.

    Raises AttentionError: positive_number, not_finite; see find_shares.

    >>> next_shares(torch.zeros(1, 3, 4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return find_shares(logits[0, -1], temperature)


def list_candidates(
    opened: OpenedModel, logits: Float[Tensor, "B T V"], count: int, temperature: float = 1.0, place: int = -1
) -> list[Candidate]:
    """Return the `count` likeliest tokens at a place of the first text, the likeliest first.

    place: the index of the token whose logits are read; the last token, for the next one. Raises AttentionError: see
    find_shares.
    """
    shares, drawn = (find_shares(logits[0, place], each) for each in (1.0, temperature))
    numbers = shares.topk(min(count, len(shares))).indices.tolist()
    return [
        Candidate(number, opened.tokenizer.show(number), float(shares[number]), float(drawn[number]))
        for number in numbers
    ]


def write_on(
    opened: OpenedModel, text: str, further: str = "", written: Iterable[int] = (), how: Writing = Writing(1)
) -> tuple[int, ...]:
    """Return the vocabulary indices of the tokens that a model generated after a text: `written`, followed by the new
    tokens.

    The new ones are fewer than how.count if the model generates an end token, or if it cannot read a longer text. text,
    further, written: see make_inputs.

    Raises AttentionError: too_many_pieces if there is no room for one token; those of make_inputs, next_shares,
    pick_word.
    """
    numbers, ends = tuple(written), end_numbers(opened)
    limits = (opened.most_pieces, most_pieces(opened.model.config))
    most = min(limit for limit in limits if limit is not None)
    for place in range(require_positive("count", how.count)):
        inputs = make_inputs(opened, text, further, numbers)
        length = len(inputs.further_shown) or len(inputs.shown)
        if length >= most:
            if place == 0:
                raise AttentionError("too_many_pieces", limit=most, given=length + 1)
            break
        with torch.no_grad(), run_without(frozenset(how.off)):
            logits = opened.model(**inputs.tensors).logits
        numbers += (pick_word(next_shares(logits, how.temperature), how.seed, len(numbers)),)
        if numbers[-1] in ends:
            break
    return numbers


def end_numbers(opened: OpenedModel) -> frozenset[int]:
    """Return the vocabulary indices of the end tokens of a model, after which it generates nothing more."""
    told = getattr(opened.model.config.get_text_config(), "eos_token_id", None)
    named = told if isinstance(told, list) else [told]
    return frozenset(named) - {None}
