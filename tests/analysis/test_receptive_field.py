"""How far news travels: against the Jacobians of stacked layers, and where it is known in closed form."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend
from attention_core.analysis.across_layers import reachable_inputs
from tests.golden import loader

T, D, H = 7, 4, 2


def mask(name):
    scores = torch.zeros(T, T)
    i, j = torch.arange(T)[:, None], torch.arange(T)
    masks = {
        "none": scores == 0,
        "causal": j <= i,
        "near": (i - j).abs() <= 1,
        "sliding": (j <= i) & (j > i - 2),
        "global": ((i - j).abs() <= 1) | (i == 0) | (j == 0),
        "not itself": i != j,
        "blocks": i // 3 == j // 3,
        "a query with nothing": (j <= i) & (i != 3),
    }
    return masks[name]


def stacked(x, allowed, layers, residual, generator):
    """Attention on attention under one mask, random weights in every layer."""
    for _ in range(layers):
        w = {name: torch.randn(D, D, generator=generator, dtype=torch.float64) / 2 for name in ("w_q", "w_k", "w_v")}
        config = AttentionConfig(heads=H, residual=residual)
        trace = attend(x, weights=Weights(**w), config=config, allowed=allowed)
        x = trace["residual" if residual else "output"][0]
    return x


def influence(allowed, layers, residual):
    """The largest entry of d output_i / d x_j, for every i and j."""
    generator = torch.Generator().manual_seed(layers)
    x = torch.randn(T, D, generator=generator, dtype=torch.float64)
    state = generator.get_state()

    def outputs(x):
        return stacked(x, allowed, layers, residual, torch.Generator().set_state(state))

    return torch.autograd.functional.jacobian(outputs, x).abs().amax((1, 3))  # (T, D, T, D) -> (T, T)


MASKS = ["none", "causal", "near", "sliding", "global", "not itself", "blocks", "a query with nothing"]


@pytest.mark.parametrize("layers", [0, 1, 2, 3])
@pytest.mark.parametrize("name", MASKS)
def test_what_is_reached_moves_and_nothing_else_does(name, layers):
    """With the residual kept: exactly 0 where it cannot be, and not 0 where it can."""
    assert torch.equal(influence(mask(name), layers, residual=True) > 0, reachable_inputs(mask(name), layers))


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("name", MASKS)
def test_what_is_not_reached_does_not_move_without_the_residual_either(name, layers):
    moved = influence(mask(name), layers, residual=False) > 0
    assert not (moved & ~reachable_inputs(mask(name), layers)).any()
    assert moved.any()


@pytest.mark.parametrize("layers", range(8))
@pytest.mark.parametrize("window", [1, 2, 3])
def test_a_window_goes_its_width_a_layer(window, layers):
    distance = (torch.arange(11)[:, None] - torch.arange(11)).abs()
    assert torch.equal(reachable_inputs(distance <= window, layers), distance <= layers * window)


def test_path_lengths_of_the_golden_file():
    """A window of one key on both sides is a convolution of width 3; attention needs one layer for any distance."""
    file = next(loader.read(path) for path in loader.golden_files() if path.stem == "s50_path_length")
    width = 2 * max(file["inputs"]["distances"]) + 1
    distance = (torch.arange(width)[:, None] - torch.arange(width)).abs()
    middle = width // 2
    near, full = distance <= file["inputs"]["kernel"] // 2, distance >= 0
    for place, far in enumerate(file["inputs"]["distances"]):
        for allowed, name in ((near, "cnn_layers"), (full, "attention_layers")):
            needed = file["expected"][name][place]
            assert reachable_inputs(allowed, needed)[0, far]
            assert not reachable_inputs(allowed, needed - 1)[0, far]
    for layers, field in file["expected"]["cnn_receptive_field_after_layers"].items():
        assert reachable_inputs(near, int(layers))[middle].sum() == field


def test_axes_before_are_kept_apart():
    both = torch.stack([mask("causal"), mask("near")])
    assert torch.equal(
        reachable_inputs(both, 3), torch.stack([reachable_inputs(mask("causal"), 3), reachable_inputs(mask("near"), 3)])
    )


def test_what_is_refused():
    with pytest.raises(AttentionError, match=r"allowed must be \(T, T\).*\(3, 5\)"):
        reachable_inputs(torch.ones(3, 5).bool(), 1)
    with pytest.raises(AttentionError, match="allowed must be a boolean tensor"):
        reachable_inputs(torch.ones(3, 3), 1)
