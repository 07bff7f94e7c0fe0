"""The way of a query through the picture, and how its parts look."""

import pytest

from attention_core.drawing.flow import flow_stops, largest_numbers, part_family, part_sign
from tests.drawing.test_flow import layer, parts_of
from tests.formulas import RUNS


@pytest.mark.parametrize("name", RUNS)
def test_every_part_that_is_computed_comes_in_one_stop(name):
    parts = parts_of(RUNS[name])
    coming = [part for stop in flow_stops(parts) if stop.motion != "power" for part in stop.parts]
    assert sorted(coming) == sorted(part.name for part in parts if part.motion != "given")


def test_colours_and_signs():
    trace = layer(masks=["causal"])
    looks = {part.name: (part_family(part), part_sign(trace, part)) for part in parts_of(trace)}
    assert looks["x"] == ("x", "x")
    assert looks["k"] == ("k", "k")
    assert looks["scores"] == ("x", "q · k")
    assert looks["scaled_scores"] == ("x", "÷ √d")
    assert looks["weights"] == ("share", "%")
    assert looks["head_outputs"] == ("v", "Σ")


def test_scores_share_one_scale_so_that_a_division_is_seen():
    trace = layer(masks=["causal"])
    largest = largest_numbers(trace, parts_of(trace))
    top = float(trace["scores"].abs().max())
    assert largest["scores"] == largest["scaled_scores"] == largest["masked_scores"] == top
    assert largest["weights"] == 1.0  # the first word sees itself alone


@pytest.mark.parametrize(
    "settings, sign",
    [
        ({}, "÷ √d"),
        ({"temperature": 5}, "÷ √d τ"),
        ({"scale": 2}, "× 2"),
        ({"scale": 2, "temperature": 5}, "× 2 ÷ τ"),
        ({"scale": 1}, "× 1"),
        ({"scale": 1, "temperature": 0.5}, "÷ τ"),
        ({"scale": -0.123456}, "× −0.123"),
        ({"score": "cosine"}, "× 1"),
        ({"score": "cosine", "temperature": 5}, "÷ τ"),
        ({"score": "cosine", "scale": 10}, "× 10"),
    ],
)
def test_the_sign_over_the_scaled_scores_says_what_was_done(settings, sign):
    trace = layer(**settings)
    assert trace.step("scaled_scores").operation.sign == sign
    drawn = {part.name: part_sign(trace, part) for part in parts_of(trace)}
    assert drawn.get("scaled_scores", "× 1") == sign  # what changes nothing is not drawn


@pytest.mark.parametrize("name", RUNS)
def test_every_step_that_is_drawn_has_a_sign_in_letters(name):
    trace = RUNS[name]
    assert all(isinstance(part_sign(trace, part), str) for part in parts_of(trace))
