"""Both passes of a recurrence as steps of a run: against torch's own layers, a loop over numbers, and by hand."""

import math

import pytest
import torch

from attention_core import AttentionError, attend, explain
from attention_core.explanation.formula import formula
from attention_core.record.expressions import Ref
from attention_core.variants.encoders import Encoder, Recurrence, draw_layers, encode
from attention_core.variants.recurrence import Direction, plan_gated_pass, with_both_passes
from tests.faces import assert_five_faces

GATED_STEPS = ("input_gate", "forget_gate", "candidate", "output_gate", "cell")


def words(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def vectors(trace):
    """Both states of each word beside each other, (B, T, 2 d_h)."""
    return torch.cat([trace["states"], trace["states_back"]], 1).transpose(1, 2)


def by_torch(module, x, encoder):
    """What torch's own layer in both directions makes of x with an encoder's weights."""
    layer = module(x.shape[-1], encoder.width, bidirectional=True, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for weights, ending in zip(draw_layers(encoder, x.shape[-1])[0], ("", "_reverse"), strict=True):
            getattr(layer, f"weight_ih_l0{ending}").copy_(weights.w_x.T)
            getattr(layer, f"weight_hh_l0{ending}").copy_(weights.w_h.T)
            getattr(layer, f"bias_ih_l0{ending}").copy_(weights.b)
            getattr(layer, f"bias_hh_l0{ending}").zero_()
        return layer(x)[0]


@pytest.mark.parametrize(
    "kind, module, choices",
    [
        ("rnn", torch.nn.RNN, {}),
        ("lstm", torch.nn.LSTM, {}),
        ("lstm", torch.nn.LSTM, {"keep": 2.0, "gain": 1.2, "seed": 7}),
    ],
)
def test_after_all_steps_both_passes_are_torchs_and_the_encoders(kind, module, choices):
    """B 2, T 5, D 3, d_h 7; the two states of each word are what torch's own layer puts beside each other."""
    x, encoder = words(2, 5, 3), Encoder(kind, width=7, both=True, **choices)
    found = vectors(with_both_passes(attend(x), encoder, steps=5))
    assert found.shape == (2, 5, 14)
    assert torch.allclose(found, by_torch(module, x, encoder), atol=1e-10, rtol=0)
    assert torch.allclose(found, encode(encoder, x, draw_layers(encoder, 3)), atol=1e-10, rtol=0)


def sigmoid(number):
    return 1 / (1 + math.exp(-number))


def test_an_lstm_is_a_loop_over_numbers_each_gate_with_a_bias_of_its_own():
    """T 3, D 2, d_h 5: what the last word's cell and state are, from 0 on, gate after gate in torch's order."""
    T, D, width = 3, 2, 5
    drawn = words(T * D + width * 20 + D * 20 + 20)
    x, w_h, w_x, b = drawn.split([T * D, width * 20, D * 20, 20])
    x, weights = x.view(1, T, D), Recurrence(w_h.view(width, 20), w_x.view(D, 20), b)
    planned = plan_gated_pass(x, weights, Direction(range(T)))
    run = attend(x)
    trace = type(run)({**planned.inputs, **run.steps}).then(*planned.plan)
    h, c = [0.0] * width, [0.0] * width
    for t in range(T):
        sums = []
        for n in range(4 * width):
            of_word = sum(x[0, t, m].item() * weights.w_x[m, n].item() for m in range(D))
            sums.append(of_word + sum(h[m] * weights.w_h[m, n].item() for m in range(width)) + b[n].item())
        for n in range(width):
            let_in, keep, new, out = (sums[part * width + n] for part in range(4))
            c[n] = sigmoid(keep) * c[n] + sigmoid(let_in) * math.tanh(new)
            h[n] = sigmoid(out) * math.tanh(c[n])
        assert trace[f"cell_{t + 1}"][0].tolist() == pytest.approx(c, abs=1e-10)
        assert trace[f"h_{t + 1}"][0].tolist() == pytest.approx(h, abs=1e-10)


def test_gates_cells_and_states_have_all_faces():
    encoder = Encoder("lstm", width=3, both=True, keep=2.0)
    trace = with_both_passes(attend(words(2, 3, 2)), encoder, steps=2)
    onward = [f"{what}_{t}" for t in (1, 2) for what in (*GATED_STEPS, "h")]
    back = [f"{what}_back_{t}" for t in (3, 2) for what in GATED_STEPS]
    assert_five_faces(trace, *onward, *back, "g_3", "g_2", "states", "states_back")


def test_the_formulas_are_those_of_the_literature():
    trace = with_both_passes(attend(words(3, 2)), Encoder("lstm", width=5, both=True), steps=1)
    written = {name: formula(trace, name, {}).replace(r"\_", "_").replace(r"\mathrm", "") for name in trace.computed()}
    sums = r"(X_{1}\,{w_x_%s} + {h_0}\,{w_h_%s} + {b_%s})"
    assert written["forget_gate_1"] == r"{forget_gate_1} = \sigma" + sums % (("forget_gate",) * 3)
    assert written["candidate_1"] == r"{candidate_1} = \tanh" + sums % (("candidate",) * 3)
    kept = r"{forget_gate_back_3} \odot {cell_back_4}"
    assert written["cell_back_3"] == rf"{{cell_back_3}} = {kept} + {{input_gate_back_3}} \odot {{candidate_back_3}}"
    assert written["g_3"] == r"{g_3} = {output_gate_back_3} \odot \tanh({cell_back_3})"


@pytest.mark.parametrize("state, ending, numbers", [("h", "", (3, 2, 1)), ("g", "_back", (3, 4, 5))])
def test_a_number_is_followed_back_by_gates_and_cells_to_the_word_at_which_its_pass_began(state, ending, numbers):
    trace = with_both_passes(attend(words(5, 2)), Encoder("lstm", width=3, both=True, keep=2.0), steps=3)
    before = {number: number - 1 if state == "h" else number + 1 for number in numbers}

    def at(what, number):
        return Ref(f"{what}{ending}_{number}", (0, 1))

    for number in numbers:
        assert trace.read_by(Ref(f"{state}_{number}", (0, 1))) == {at("output_gate", number), at("cell", number)}
        gates = {at(gate, number) for gate in ("forget_gate", "input_gate", "candidate")}
        assert trace.read_by(at("cell", number)) == gates | {at("cell", before[number])}
        for gate in GATED_STEPS[:4]:
            read = trace.read_by(at(gate, number))
            assert {ref.index for ref in read if ref.step == "x"} == {(0, number - 1, 0), (0, number - 1, 1)}
            assert {ref.step for ref in read if ref.step[:2] in ("h_", "g_")} == {f"{state}_{before[number]}"}
            assert {ref.step for ref in read if ref.step[:2] in ("w_", "b_")} == {
                f"{letter}_{gate}{ending}" for letter in ("w_x", "w_h", "b")
            }
    for start in (f"{state}_{before[numbers[-1]]}", f"cell{ending}_{before[numbers[-1]]}"):
        assert trace.step(start).operation is None and trace[start].abs().max() == 0


def test_one_word_by_hand():
    """One number a word and a state: h_1 = σ(o) tanh(σ(i) tanh(c̃)); the forget gate alone has the chosen bias."""
    trace = with_both_passes(attend(words(1, 1)), Encoder("lstm", width=1, both=True, keep=3.0), steps=1)
    x = trace["x"].item()
    let_in, new, out = (x * trace[f"w_x_{gate}"].item() for gate in ("input_gate", "candidate", "output_gate"))
    assert trace["h_1"].item() == pytest.approx(sigmoid(out) * math.tanh(sigmoid(let_in) * math.tanh(new)), abs=1e-12)
    for ending in ("", "_back"):
        biases = [trace[f"b_{gate}{ending}"].item() for gate in GATED_STEPS[:4]]
        assert biases == [0, 3, 0, 0]
    assert explain(trace, "forget_gate_1", (0, 0)).text.startswith("σ(")
    assert explain(trace, "candidate_back_1", (0, 0)).text.startswith("tanh(")


@pytest.mark.parametrize("kind", ["rnn", "lstm"])
def test_after_some_steps_each_pass_has_come_that_far(kind):
    run = attend(torch.ones(4, 2).double()).labelled(T=("a", "b", "c", "d"))
    trace = with_both_passes(run, Encoder(kind, width=3, both=True), steps=3)
    assert [name for name in trace.computed() if name[:2] in ("h_", "g_")] == ["h_1", "h_2", "h_3", "g_4", "g_3", "g_2"]
    assert trace.labels["T'"] == ("b", "c", "d")
    assert all(trace[name] is run[name] for name in run.steps)


@pytest.mark.parametrize(
    "encoder, steps, code",
    [
        (Encoder("gru", width=3, both=True), 2, "unknown_choice"),
        (Encoder("lstm", width=3), 2, "unknown_choice"),
        (Encoder("lstm", width=3, both=True), 5, "at_most"),
        (Encoder("rnn", width=3, both=True), 0, "positive_integer"),
    ],
)
def test_refused(encoder, steps, code):
    with pytest.raises(AttentionError) as refused:
        with_both_passes(attend(torch.ones(4, 2)), encoder, steps)
    assert refused.value.code == code
