"""A network as it was after some step: its name, its numbers in half precision, what it is made into again."""

import pytest
import torch

from attention_core import AttentionError
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.snapshots import Network, NetworkRecipe, read_recipe
from attention_core.learned.training.training import Training


def untrained(course, seed=3):
    return Training(course, seed).saved[0]


# ---- names -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rate", [None, 0.5, 1e-05, 4e-3, 100.0, 7.0, 0.123456])
@pytest.mark.parametrize("seed", [0, 1, 41, 999_999_999])
def test_names_are_read_back(seed, rate):
    for course in COURSES:
        for step in COURSES[course].saved:
            recipe = NetworkRecipe(course, seed, step, rate)
            assert read_recipe(recipe.name) == recipe
            assert not {*recipe.name} & {*" \n/&?#"}  # it may stand in an address


def test_names_by_hand():
    assert NetworkRecipe("dates_one", 7, 800).name == "dates_one.7.800"
    assert NetworkRecipe("vote", 0, 25, 0.02).name == "vote.0.25.r0.02"
    assert NetworkRecipe("vote", 0, 25, 7.0).name == "vote.0.25.r7"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "vote",
        "vote.1",
        "vote.1.400.",
        "vote.1.400 ",
        "vote.1.400\n",
        " vote.1.400",
        "vote.1.399",  # not a step that is kept
        "latin.1.400",
        "Vote.1.400",
        "vote.01.400",
        "vote.1.0400",
        "vote.-1.400",
        "vote.1234567890.400",
        "vote.١.400",
        "vote.1.400.r",
        "vote.1.400.r0",
        "vote.1.400.r-0.5",
        "vote.1.400.r.5",
        "vote.1.400.r0.50",
        "vote.1.400.r1e-5",
        "vote.1.400.r10001",
        "vote.1.400.r0.01",
        "vote.1.400.r1e9",
        "vote.1.400.r1.2.3",
        "vote.1.400.rnan",
        "vote.1.400.rinf",
        "vote.1.400.r0.5.r0.5",
        "../shipped/vote.1.400",
    ],
)
def test_other_names_are_refused(name):
    with pytest.raises(ValueError):
        read_recipe(name)


# ---- numbers ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("course", COURSES)
def test_numbers_are_the_models_in_half_precision(course):
    training = Training(course, 3)
    network = training.saved[0]
    own = dict(training.model.named_parameters())
    assert {*network.numbers} == {*own}
    for name, tensor in network.numbers.items():
        assert tensor.dtype == torch.float16 and not tensor.requires_grad
        assert torch.equal(tensor, own[name].detach().half())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("course", COURSES)
def test_a_model_has_exactly_these_numbers_in_any_precision(course, dtype):
    network = untrained(course)
    parameters = dict(network.model(dtype).named_parameters())
    assert {*parameters} == {*network.numbers}
    for name, tensor in parameters.items():
        assert tensor.dtype == dtype and not tensor.requires_grad
        assert torch.equal(tensor, network.numbers[name].to(dtype))


def test_what_has_no_half_precision_is_refused():
    model = COURSES["vote"].make(torch.Generator().manual_seed(0))
    recipe = NetworkRecipe("vote", 0, 25)
    with torch.no_grad():
        model.w_v[2, 3] = 65504.0  # the largest
        assert Network.of(recipe, model).numbers["w_v"][2, 3].item() == 65504.0
        for number in (65520.0, -1e6, torch.inf, torch.nan):
            model.w_v[2, 3] = number
            with pytest.raises(AttentionError) as refused:
                Network.of(recipe, model)
            assert (refused.value.code, refused.value.values) == ("training_diverged", {"step": 25})


def test_to_go_on_with_training_leaves_a_network_as_it_was_kept():
    training = Training("vote", 3)
    kept = {name: tensor.clone() for name, tensor in training.saved[0].numbers.items()}
    training.advance()
    assert all(torch.equal(tensor, kept[name]) for name, tensor in training.saved[0].numbers.items())


def test_a_network_that_was_looked_at_in_inference_mode_can_be_asked_for_gradients():
    network = untrained("vote")
    with torch.inference_mode():
        assert network.exact_model.query.dtype == torch.float64
    assert not any(tensor.is_inference() for tensor in network.exact_model.parameters())
    weights = torch.tensor([[[[0.5, 0.25, 0.25]]]], dtype=torch.float64, requires_grad=True)
    network.exact_model.trace(torch.tensor([[0, 1, 2]]), weights)["output"].sum().backward()
    assert weights.grad.abs().max() > 0


def test_its_course_and_step_are_its_recipes():
    network = untrained("lookup_heads")
    assert (network.course, network.step) == ("lookup_heads", 0)
    assert network.exact_model is network.exact_model


def test_figures_are_measured_in_single_precision():
    network = untrained("lookup_heads")
    with torch.inference_mode():
        assert network.figures == COURSES["lookup_heads"].measure(network.model(torch.float32))
