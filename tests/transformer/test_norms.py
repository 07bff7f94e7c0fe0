"""Norms before and behind a layer of attention: which inputs they change, and what the residual adds."""

import pytest
import torch
import torch.nn.functional as F

from attention_core import (
    AttentionConfig,
    AttentionError,
    FeedForwardConfig,
    FeedForwardWeights,
    Trace,
    Weights,
    attend,
    attend_qkv,
    feed_forward,
)
from attention_core.explanation.arithmetic import explain
from attention_core.variants.kv_cache import decode, gap_to_full
from attention_core.verification.proof import prove
from tests.faces import assert_five_faces
from tests.transformer.parts import draws

B, T, S, D, D_KEY, H, D_HEAD = 2, 3, 5, 7, 11, 2, 3
NAMES = ["layer_norm_before", "rms_norm_before", "layer_norm_after", "rms_norm_after"]
ON_OUTPUT = "rms_norm_output"


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def layer(*names: str, key: bool = False, value: bool = False, positions: tuple = (), residual: bool = True) -> Trace:
    draw = draws(1)
    key_width, value_width = D_KEY if key else D, 13 if value else D_KEY if key else D
    weights = {"w_q": draw(D, H * D_HEAD), "w_k": draw(key_width, H * D_HEAD), "w_v": draw(value_width, H * D_HEAD)}
    weights |= {"w_o": draw(H * D_HEAD, D)}
    for name in names:
        kind, place = name.replace("_norm", "").split("_")
        weights |= {f"{sign}_{kind}_{place}": draw(D) for sign in ("gb" if kind == "layer" else "g")}
    length = S if key else T
    return attend(
        draw(B, T, D),
        draw(B, S, D_KEY) if key else None,
        draw(B, length, 13) if value else None,
        weights=Weights(**weights),
        config=AttentionConfig(heads=H, modifiers=names, positions=positions, residual=residual),
    )


def normed(trace: Trace, x: torch.Tensor, name: str) -> torch.Tensor:
    """By torch."""
    kind, place = name.replace("_norm", "").split("_")
    if kind == "rms":
        return F.rms_norm(x, (D,), trace[f"g_rms_{place}"], 1e-6)
    return F.layer_norm(x, (D,), trace[f"g_layer_{place}"], trace[f"b_layer_{place}"], 1e-5)


@pytest.mark.parametrize("name", [*NAMES, ON_OUTPUT])
def test_every_step_of_a_norm_has_five_faces(name):
    trace = layer(name)
    assert_five_faces(trace, *(step for step in trace.computed() if "norm" in step or "centred" in step))


@pytest.mark.parametrize("positions", [(), ("sinusoidal",)], ids=["no positions", "positions"])
@pytest.mark.parametrize("name", NAMES[:2])
def test_before_a_layer_q_k_and_v_read_the_normed_input_and_the_residual_does_not(name, positions):
    trace = layer(name, positions=positions)
    x = trace["positioned_x" if positions else "x"]
    for role in "qkv":
        close(trace[f"{role}_projected"], normed(trace, x, name) @ trace[f"w_{role}"])
    close(trace["residual"], x + trace["output"])


@pytest.mark.parametrize("name", NAMES[:2])
def test_an_input_of_keys_and_values_of_its_own_is_not_normed(name):
    trace = layer(name, key=True)
    close(trace["q_projected"], normed(trace, trace["query"], name) @ trace["w_q"])
    close(trace["k_projected"], trace["key"] @ trace["w_k"])
    close(trace["v_projected"], trace["key"] @ trace["w_v"])


@pytest.mark.parametrize("name", NAMES[:2])
def test_values_of_another_input_are_not_normed_and_keys_of_the_same_are(name):
    trace = layer(name, value=True)
    assert "query" not in trace and "key" not in trace
    close(trace["k_projected"], normed(trace, trace["x"], name) @ trace["w_k"])
    close(trace["v_projected"], trace["value"] @ trace["w_v"])
    assert prove(trace).passed


@pytest.mark.parametrize("residual", [True, False], ids=["residual", "none"])
@pytest.mark.parametrize("name", NAMES[2:])
def test_behind_a_layer_the_last_step_is_normed(name, residual):
    trace = layer(name, residual=residual)
    last = list(trace.steps)[-1]
    close(trace[last], normed(trace, trace["residual" if residual else "output"], name))


@pytest.mark.parametrize("positions", [(), ("sinusoidal",)], ids=["no positions", "positions"])
def test_the_output_is_normed_before_the_residual_adds_it(positions):
    trace = layer(ON_OUTPUT, positions=positions)
    close(trace["output"], trace["concat"] @ trace["w_o"])
    close(trace["rms_normed_added"], normed(trace, trace["output"], ON_OUTPUT))
    close(trace["residual"], trace["positioned_x" if positions else "x"] + trace["rms_normed_added"])
    assert prove(trace).passed


def test_a_feed_forward_layer_norms_its_output_before_the_residual_adds_it():
    """(3, 4) through two identity matrices, over its root mean square, the root of 12.5, plus (3, 4)."""
    eye = torch.eye(2, dtype=torch.float64)
    weights = FeedForwardWeights(w_1=eye, w_2=eye, g_rms_output=torch.tensor([1.0, 10.0], dtype=torch.float64))
    config = FeedForwardConfig("relu", [(ON_OUTPUT, {"eps": 1e-12})], residual=True)
    trace = feed_forward(torch.tensor([[3.0, 4.0]]).double(), weights, config)
    expected = torch.tensor([[[3 + 3 / 12.5**0.5, 4 + 40 / 12.5**0.5]]], dtype=torch.float64)
    close(trace["residual"], expected)
    assert_five_faces(trace, "rms_normed_added", "residual")
    assert prove(trace).passed


def test_norms_on_the_output_and_behind_the_layer_stand_in_a_row():
    trace = layer(ON_OUTPUT, NAMES[3])
    close(trace["rms_normed_output"], normed(trace, trace["x"] + normed(trace, trace["output"], ON_OUTPUT), NAMES[3]))


def test_all_norms_stand_in_a_row():
    trace = layer(*NAMES)
    x = normed(trace, normed(trace, trace["x"], NAMES[0]), NAMES[1])
    close(trace["q_projected"], x @ trace["w_q"])
    close(trace["rms_normed_output"], normed(trace, normed(trace, trace["residual"], NAMES[2]), NAMES[3]))


def test_token_by_token_gives_the_same():
    draw = draws(2)
    x = draw(T, D)
    config = AttentionConfig(modifiers=NAMES, masks=["causal"], residual=True)
    names = ("g_layer_before", "b_layer_before", "g_rms_before", "g_layer_after", "b_layer_after", "g_rms_after")
    weights = Weights(**{name: draw(D) for name in names})
    steps, full = list(decode(x, weights=weights, config=config)), attend(x, weights=weights, config=config)
    assert gap_to_full(steps, full, "rms_normed_output") < 1e-12


def test_the_arithmetic_of_a_layer_norm():
    x = torch.tensor([[1.0, 7.0]], dtype=torch.float64)
    weights = Weights(g_layer_before=torch.tensor([2.0, 1.0]).double(), b_layer_before=torch.tensor([0.5, 0]).double())
    trace = attend(x, weights=weights, config=AttentionConfig(modifiers=[("layer_norm_before", {"eps": 7.0})]))
    assert explain(trace, "centred_x", (0, 0, 0)).text == "1.00 + 1.00 × (−1/2) + 7.00 × (−1/2) = −3.00"
    text = explain(trace, "layer_normed_x", (0, 0, 0)).text  # −3 × 2 / √16 + 0.5
    assert text == "−3.00 × 2.00 / √((−3.00 × (−3.00) + 3.00 × 3.00) / 2 + 7) + 0.50 = −1.00"


# ---- bad input -------------------------------------------------------------------------------------------------------
REFUSED = {
    "a gain of another width": ({"g_layer_before": (D + 1,), "b_layer_before": (D,)}, r"g_layer_before must be \(7,\)"),
    "no shift": ({"g_layer_before": (D,)}, "'layer_norm_before' needs b_layer_before"),
    "the gain of another norm": (
        {"g_layer_before": (D,), "b_layer_before": (D,), "g_rms_after": (D,)},
        "g_rms_after has no place here: 'rms_norm_after', which would read it, is not chosen",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_tensor_that_does_not_fit_is_refused(name):
    shapes, sentence = REFUSED[name]
    draw = draws(3)
    weights = Weights(**{each: draw(*shape) for each, shape in shapes.items()})
    with pytest.raises(AttentionError, match=sentence):
        attend(draw(T, D), weights=weights, config=AttentionConfig(modifiers=["layer_norm_before"]))


def test_a_norm_behind_a_layer_is_as_wide_as_its_output():
    draw = draws(4)
    weights = Weights(w_o=draw(D, 13), g_rms_after=draw(D))
    with pytest.raises(AttentionError, match=r"g_rms_after must be \(13,\): its shape is \(7,\)"):
        attend(draw(T, D), weights=weights, config=AttentionConfig(modifiers=["rms_norm_after"]))


def test_without_an_input_there_is_no_norm_before_and_there_is_one_behind():
    draw = draws(5)
    q, gain = draw(T, D), draw(D)
    with pytest.raises(AttentionError, match="'rms_norm_before' reads the input"):
        attend_qkv(q, q, q, weights=Weights(g_rms_before=gain), config=AttentionConfig(modifiers=["rms_norm_before"]))
    trace = attend_qkv(q, q, q, weights=Weights(g_rms_after=gain), config=AttentionConfig(modifiers=["rms_norm_after"]))
    close(trace["rms_normed_output"], F.rms_norm(trace["output"], (D,), gain, 1e-6))
