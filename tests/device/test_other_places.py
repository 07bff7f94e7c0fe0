"""What makes tensors of its own for a run: on the device that is not there it has the CPU's numbers to the last bit."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from attention_core import AttentionConfig, Trace, Weights, attend
from attention_core.analysis.dropout import with_dropout
from attention_core.analysis.head_contributions import with_contributions, with_likeness
from attention_core.analysis.online_softmax import with_online_softmax
from attention_core.analysis.position_effects import with_score_parts
from attention_core.analysis.softmax_steps import with_jacobian
from attention_core.comparison.measures import mean_offset
from attention_core.exercises.rounding import NumberRange
from attention_core.exercises.slips import try_exchanges
from attention_core.explanation.facts import allowed_pairs
from attention_core.variants.blockwise_softmax import attend_blockwise
from attention_core.variants.convolution import attend_by_position, with_convolution
from attention_core.variants.encoders import Encoder
from attention_core.variants.kv_cache import decode
from attention_core.variants.linear_recurrence import attend_linear
from attention_core.variants.recurrence import with_states
from attention_core.variants.sparse import LocalPattern, attend_sparse
from attention_core.verification.mask_conventions import run_under_mask, with_inverted_mask
from attention_core.verification.precision import run_in_precision
from tests.device.stand_in import fetch, reads_noted, send

T, D, H, WIDTH = 7, 5, 2, 6  # of all heads
TAPS = torch.tensor([0.25, 0.5, 0.125])
BLOCKED_FIRST = torch.ones(T, T, dtype=torch.bool).triu()
Move = Callable[[Tensor], Tensor]


def draw(move: Move, *shape: int) -> Tensor:
    return move(torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))))


def run(move: Move, *positions: str) -> Trace:
    weights = {name: draw(move, D, WIDTH) for name in ("w_q", "w_k", "w_v")}
    layer = Weights(**weights, w_o=draw(move, WIDTH, D))
    config = AttentionConfig(heads=H, masks=["causal"], positions=positions)
    return attend(draw(move, 1, T, D), weights=layer, config=config)


def qkv(move: Move) -> list[Tensor]:
    return [draw(move, T, WIDTH), draw(move, T, WIDTH), draw(move, T, D)]


PLACES = {
    "dropout": lambda move: with_dropout(run(move), 0.5),
    "a recurrence": lambda move: with_states(run(move), Encoder("rnn", width=3)),
    "a convolution, its kernel of the host": lambda move: with_convolution(run(move), TAPS),
    "attention by position": lambda move: attend_by_position(draw(move, T, D), move(TAPS)),
    "how far ahead": lambda move: mean_offset(run(move)["weights"][0, 0]),
    "another mask, of the host": lambda move: run_under_mask(run(move), BLOCKED_FIRST),
    "an inverted mask": lambda move: with_inverted_mask(run(move)),
    "allowed pairs": lambda move: allowed_pairs(run(move)),
    "two rows exchanged": lambda move: [each.low for _, each in try_exchanges(NumberRange(*qkv(move)[:2]), "scores")],
    "contributions": lambda move: with_contributions(run(move)),
    "likeness": lambda move: with_likeness(run(move)),
    "a running softmax": lambda move: with_online_softmax(run(move), 3),
    "score parts": lambda move: with_score_parts(run(move, "sinusoidal")),
    "a Jacobian": lambda move: with_jacobian(run(move)),
    "bfloat16": lambda move: run_in_precision(run(move), torch.bfloat16),
    "in blocks": lambda move: [state.output for state in attend_blockwise(*qkv(move), block=3)],
    "a linear recurrence": lambda move: [state.output for state in attend_linear(*qkv(move))],
    "sparse": lambda move: attend_sparse(*qkv(move), LocalPattern(1)).output,
    "decoding": lambda move: [step["output"] for step in decode(draw(move, T, D))],
}


def tensors_of(found: Trace | Tensor | list[Tensor] | float) -> list[Tensor]:
    """The numbers that a place gives."""
    match found:
        case Trace():
            return [step.value for step in found.steps.values()]
        case Tensor():
            return [found]
        case float():
            return []
    return found


@pytest.mark.parametrize("name", PLACES)
def test_it_stays_on_its_device(name):
    here = PLACES[name](lambda tensor: tensor)
    with reads_noted():
        there = PLACES[name](send)
    if isinstance(here, float):
        assert there == here
    for ours, theirs in zip(tensors_of(here), tensors_of(there), strict=True):
        assert torch.equal(fetch(theirs), ours)
