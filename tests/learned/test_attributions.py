"""What a classifier decided by, told by three witnesses: each against a naive loop or small steps."""

import math

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.learned.insight.attributions import (
    classifier_accuracy_without,
    leave_one_out_drops,
    with_attributions,
)
from attention_core.learned.insight.views import attention_view
from attention_core.learned.symbols import PAD
from attention_core.learned.tasks import evidence
from attention_core.learned.training import shipped_networks
from attention_core.learned.training.courses import COURSES
from tests.learned.test_classifier import plain_logits

TEXTS = {"lookup": "b>3a7ch1f", "lookup_heads": "b>3a7ch1f", "vote": "+.-+..-+"}
STEP, TOLERANCE = 1e-5, 1e-10

every_course = pytest.mark.parametrize("course", TEXTS)


def parts(course):
    """The network, its text, the same as numbers, and its run."""
    network, text = shipped_networks.load_network(course, 400), TEXTS[course]
    seen = attention_view(network, text)
    config = AttentionConfig(heads=seen.heads)
    trace = attend(seen.x, seen.context, weights=Weights(**seen.weights), config=config)
    return network, text, COURSES[course].alphabets[0].numbers(text), trace


def log_odds(model, text, target):
    powers = torch.exp(plain_logits(model, text))
    others = sum(power for number, power in enumerate(powers.tolist()) if number != target)
    return math.log(powers[target].item() / others)


# ---- leaving a symbol out --------------------------------------------------------------------------------------------
@every_course
def test_left_out_is_how_far_the_log_odds_of_the_class_fall_without_a_symbol(course):
    network, text, symbols, _ = parts(course)
    model = network.exact_model
    for target in (0, 1):
        expected = [
            log_odds(model, symbols, target) - log_odds(model, symbols[:at] + symbols[at + 1 :], target)
            for at in range(len(symbols))
        ]
        found = leave_one_out_drops(network, text, target)
        assert found.shape == (1, len(text))
        assert found[0].tolist() == pytest.approx(expected, abs=TOLERANCE)
        assert found.abs().max() > 1e-3


def test_of_a_single_symbol_nothing_can_be_left_out():
    assert leave_one_out_drops(shipped_networks.load_network("vote", 400), "+", 0).tolist() == [[0.0]]


def test_without_its_marker_a_value_is_not_found():
    """ "b>3...": the class is 3. Without the marker or the 3 it is not; without the letter at the end it is."""
    network, text, _, _ = parts("lookup")
    found = leave_one_out_drops(network, text, 3)[0].tolist()
    assert found[1] > 5 and found[2] > 5
    assert abs(found[-1]) < 0.1


# ---- gradient x input ------------------------------------------------------------------------------------------------
@every_course
def test_gradient_x_input_is_how_the_logit_moves_along_a_symbols_vector(course):
    """Both ways by a small step: vectors (1 + h) x and (1 - h) x of one place."""
    network, text, _, trace = parts(course)
    model = network.exact_model
    for target in (0, 1):
        found = with_attributions(trace, network, text, target)["gradient_x_input"]
        assert found.shape == (1, len(text))
        for place in range(len(text)):
            logits = []
            for factor in (1 + STEP, 1 - STEP):
                x = trace["key"].clone()
                x[0, place] *= factor
                config = AttentionConfig(heads=model.heads)
                again = attend(trace["query"], x, weights=model.weights(), config=config)
                logits.append(again["output"][0, 0, target].item())
            slope = (logits[0] - logits[1]) / (2 * STEP)
            assert found[0, place].item() == pytest.approx(slope, abs=1e-6)
        assert found.abs().max() > 0.1


@every_course
def test_the_run_has_the_witnesses_beside_its_own_steps(course):
    network, text, _, trace = parts(course)
    found = with_attributions(trace.labelled(S=tuple(text)), network, text, 1)
    assert [name for name in found.steps if name not in trace] == ["gradient", "gradient_x_input", "left_out"]
    assert all(found[name] is trace[name] for name in trace.steps)
    assert found.step("left_out").dims == found.step("gradient_x_input").dims == ("B", "S")
    assert torch.equal(found["left_out"], leave_one_out_drops(network, text, 1))
    assert found.labels["S"] == tuple(text)


# ---- heads that are switched off -------------------------------------------------------------------------------------
@pytest.mark.parametrize("off", [(), (0,), (2,), (0, 3), (1, 2, 3), (0, 1, 2, 3)])
def test_right_without_is_the_share_that_is_right_with_those_rows_zero(off):
    model = shipped_networks.load_network("lookup_heads", 400).model()
    texts, classes = (part[:101] for part in evidence.held_out("lookup"))
    found = classifier_accuracy_without(model, texts, classes, off)
    for head in off:
        model.w_o[4 * head : 4 * (head + 1)] = 0
    right = 0
    for row, wanted in zip(texts.tolist(), classes.tolist(), strict=True):
        logits = plain_logits(model, [number for number in row if number != PAD]).tolist()
        right += logits.index(max(logits)) == wanted
    assert found == pytest.approx(right / 101, abs=1e-12)


def test_with_all_heads_on_it_is_right_and_with_none_it_guesses():
    model = shipped_networks.load_network("lookup_heads", 400).exact_model
    texts, classes = evidence.held_out("lookup")
    assert classifier_accuracy_without(model, texts, classes, ()) >= 0.99
    assert classifier_accuracy_without(model, texts, classes, (0, 1, 2, 3)) < 0.25
