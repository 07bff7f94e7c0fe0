"""attend and attend_qkv on the device that is not there: every entry of every table, and every option."""

from collections.abc import Callable
from dataclasses import fields
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from attention_core import AttentionConfig, AttentionError, Trace, Weights, attend, attend_qkv
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.parameters import NEEDED
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from tests.device.stand_in import fetch, reads_noted, send
from tests.entries import every_mask, key_rows, learned_shapes, mask_choice, score_for

B, T, S, D, H, H_KV, D_K, D_V = 2, 5, 7, 11, 4, 2, 6, 3
Move = Callable[[Tensor], Tensor]  # to the device, or nowhere
Run = Callable[[Move], Trace]


# ---- what there is to choose -----------------------------------------------------------------------------------------
def entry_choices(table) -> list[tuple]:
    """Nothing; every entry with its usual numbers, and with each of its words; all entries together."""
    choices = [()]
    for name, entry in table.items():
        needed = {each.name: each.start for each in entry.parameters if each.usual == NEEDED}
        choices.append(((name, needed),))
        for parameter in entry.parameters:
            choices += [((name, {**needed, parameter.name: word}),) for word in parameter.words]
    return [*choices, tuple(table)]


LENGTHS = {"padding": {"lengths": (5, 3)}}
EMPTY_ROWS = {"padding": {"lengths": (0, 3)}}  # in one sequence no query may attend to anything
MASK_CHOICES = [
    (),
    *[(choice,) for choice in every_mask(**LENGTHS)],
    (mask_choice("padding", **EMPTY_ROWS),),
    tuple(every_mask(**LENGTHS)),
]
# Where there is no input, nothing is added to it, and nothing reads it.
HEAD_POSITIONS = {name: each for name, each in POSITIONS.items() if not each.reads_input}
HEAD_MODIFIERS = {name: each for name, each in MODIFIERS.items() if not each.reads_input}
ENTRANCES = {"attend": (POSITIONS, MODIFIERS), "attend_qkv": (HEAD_POSITIONS, HEAD_MODIFIERS)}
OPTIONS = {
    "heads": H,
    "kv_heads": H_KV,
    "scale": 0.3,
    "temperature": 2.0,
    "dropout": 0.3,
    "replace": "uniform",
    "residual": True,
}


def test_every_choice_of_a_config_is_among_them():
    of_tables = {"score", "masks", "positions", "modifiers", "normaliser"}
    seed = {"dropout_seed"}  # of what is drawn on the host
    assert {field.name for field in fields(AttentionConfig)} == of_tables | seed | set(OPTIONS)


# ---- one run here and there ------------------------------------------------------------------------------------------
def learned_weights(config: AttentionConfig, draw: Callable[..., Tensor], width: int) -> dict[str, Tensor]:
    """What the mechanisms of a config learn. width: of the input."""
    shapes = learned_shapes(config, D_K, D_K, config.heads, wide=(width, D_V), D_out=D)
    return {name: draw(*shape) for name, shape in shapes.items()}


def make_run(entrance: str, config: AttentionConfig) -> Run:
    """A run with tensors of its own, the same at every call."""

    def run(move: Move) -> Trace:
        generator = torch.Generator().manual_seed(0)

        def draw(*shape: int) -> Tensor:
            return move(torch.randn(shape, generator=generator))

        learned = learned_weights(config, draw, D)
        if entrance == "attend_qkv":
            q, k, v = draw(B, H, T, D_K), draw(B, config.kv_heads or H, S, D_K), draw(B, config.kv_heads or H, S, D_V)
            return attend_qkv(q, k, v, weights=Weights(**learned, w_o=draw(H * D_V, D)), config=config)
        kv_heads = config.kv_heads or config.heads
        rows = key_rows(config, {name: tuple(tensor.shape) for name, tensor in learned.items()}, D)
        projections = {
            "w_q": draw(D, H * D_K),
            "w_k": draw(rows, kv_heads * D_K),
            "w_v": draw(rows, kv_heads * D_V),
            "w_o": draw(H * D_V, D),
            "b_q": draw(H * D_K),
            "b_o": draw(D),
        }
        return attend(draw(B, S, D), weights=Weights(**projections, **learned), config=config)

    return run


def check_same_there(run: Run, what: object) -> None:
    """On the device a run keeps all its steps there, has the same numbers to the last bit, and is read once at most."""
    here = run(lambda tensor: tensor)
    with reads_noted() as reads:
        there = run(send)
    assert len(reads) <= 1, (what, reads)
    assert list(there.steps) == list(here.steps)
    for name in here.steps:
        assert torch.equal(fetch(there[name]), here[name]), (what, name)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_score_with_every_mask_and_position(entrance, score):
    table, _ = ENTRANCES[entrance]
    *some, together = entry_choices(table)
    choices = [((), ()), *product(MASK_CHOICES, [together]), *product(MASK_CHOICES[-1:], some)]
    for masks, positions in choices:
        config = AttentionConfig(score, heads=H, masks=masks, positions=positions)
        check_same_there(make_run(entrance, config), config)


@pytest.mark.parametrize("normaliser", NORMALISERS)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_normaliser_with_every_modifier_mask_and_option(entrance, normaliser):
    _, table = ENTRANCES[entrance]
    *some, together = entry_choices(table)
    options = [name for name in OPTIONS if entrance == "attend" or name != "residual"]
    choices = [((), (), "heads"), *product(MASK_CHOICES, [together], ["heads"])]
    choices += [*product(MASK_CHOICES[-1:], some, ["heads"]), *product(MASK_CHOICES[-1:], [together], options)]
    for masks, modifiers, option in choices:
        config = AttentionConfig(
            score_for(normaliser),
            normaliser=normaliser,
            masks=masks,
            modifiers=modifiers,
            **{"heads": H, option: OPTIONS[option]},
        )
        check_same_there(make_run(entrance, config), config)


# ---- what is given about pairs of tokens -----------------------------------------------------------------------------
def draw_pairs() -> dict[str, dict]:
    """Arguments about pairs of tokens, (T, S), on the host."""
    generator = torch.Generator().manual_seed(1)
    marks = torch.rand(T, S, generator=generator) < 0.6
    numbers = torch.rand(T, S, generator=generator)
    some = torch.where(marks, numbers, torch.nan)
    return {
        "allowed": {"allowed": marks},
        "bias": {"bias": numbers - 0.5},
        "keep": {"keep": marks},
        "replacement": {"replacement": numbers},
        "scores": {"what_if": {"scores": some}},
        "weights": {"what_if": {"weights": some}},
    }


PAIRS_AND_NORMALISERS = [
    (name, normaliser)
    for name in draw_pairs()
    for normaliser in NORMALISERS
    if name != "bias" or not NORMALISERS[normaliser].needs_positive
]


@pytest.mark.parametrize("is_sent", [True, False], ids=["there", "host"])
@pytest.mark.parametrize(("name", "normaliser"), PAIRS_AND_NORMALISERS)
def test_what_is_given_about_pairs_may_lie_on_the_host(name, normaliser, is_sent):
    config = AttentionConfig(
        score_for(normaliser), normaliser=normaliser, heads=H, dropout=0.3 if name == "keep" else None
    )

    def run(move: Move) -> Trace:
        generator = torch.Generator().manual_seed(0)
        q, k, v = (move(torch.randn(B, H, length, D_K, generator=generator)) for length in (T, S, S))
        learned = learned_weights(config, lambda *shape: move(torch.randn(shape, generator=generator)), D)
        given = tree_map_only(Tensor, move if is_sent else lambda tensor: tensor, draw_pairs()[name])
        return attend_qkv(q, k, v, weights=Weights(**learned), config=config, **given)

    check_same_there(run, name)


# ---- refusals --------------------------------------------------------------------------------------------------------
def test_numbers_that_are_not_finite_are_named_there_as_here():
    x = torch.eye(T)
    x[3, 1] = torch.inf
    for move in (lambda tensor: tensor, send):
        with reads_noted(), pytest.raises(AttentionError, match=r"w_k must be finite everywhere: inf at \(3, 1\)"):
            attend(move(torch.eye(T)), weights=Weights(w_k=move(x)))


def test_an_input_on_the_host_beside_one_there_is_refused():
    with (
        reads_noted(),
        pytest.raises(AttentionError, match="all inputs must lie on one device: k is on cpu, q on away:0"),
    ):
        attend_qkv(send(torch.eye(T)), torch.eye(T), send(torch.eye(T)))
