"""Training: a seed says all, however it is stopped and goes on; it learns, and ends with a sentence where it cannot."""

import math
from dataclasses import replace

import pytest
import torch

from attention_core import AttentionError
from attention_core.learned.symbols import PAD
from attention_core.learned.tasks import dates, evidence
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.snapshots import NetworkRecipe
from attention_core.learned.training.training import Training
from tests.learned.test_dates import days_of
from tests.learned.test_split import held_out

QUICK = {"lookup": 29, "vote": 29, "lookup_heads": 29, "copy_one": 7, "copy_two": 7, "dates_dot": 3}
every_quick_course = pytest.mark.parametrize("name", QUICK)


def trained(name, steps, **more):
    training = Training(name, **{"seed": 1} | more)
    for _ in range(steps):
        training.advance()
    return training


def numbers(training):
    return {name: tensor.detach().clone() for name, tensor in training.model.named_parameters()}


def same(one, other):
    """Whether two trainings agree in every bit."""
    pairs = [(numbers(one)[name], numbers(other)[name]) for name in numbers(one)]
    return one.losses == other.losses and all(torch.equal(*pair) for pair in pairs)


# ---- a seed says all -------------------------------------------------------------------------------------------------
@every_quick_course
def test_the_same_seed_gives_the_same_bits(name):
    steps = QUICK[name]
    assert same(trained(name, steps), trained(name, steps))


@every_quick_course
def test_another_seed_gives_other_losses_from_the_first_on(name):
    one, other = (trained(name, 2, seed=seed).losses for seed in (1, 2))
    assert not {*one} & {*other}


@every_quick_course
def test_seven_steps_at_once_or_in_pieces_are_the_same(name):
    """What is done in between changes nothing: another training, a network measured, torch's own generator asked."""
    pieces, another = Training(name, seed=1), Training(name, seed=5)
    for steps in (1, 4, 0, 2):
        for _ in range(steps):
            pieces.advance()
        another.advance()
        torch.rand(3)
        with torch.inference_mode():
            pieces.model.loss(*pieces.course.batch(torch.Generator().manual_seed(9)))
    assert same(pieces, trained(name, 7))


def test_networks_that_are_kept_are_the_same_as_well():
    one, other = (trained("vote", 50) for _ in range(2))
    for kept, again in zip(one.saved, other.saved, strict=True):
        assert kept.recipe == again.recipe
        assert all(torch.equal(kept.numbers[name], again.numbers[name]) for name in kept.numbers)


@every_quick_course
def test_the_seed_of_everybody_stays_as_it_was(name):
    before = torch.random.get_rng_state()
    trained(name, 3).saved[0].model()
    assert torch.equal(torch.random.get_rng_state(), before)


# ---- the rate --------------------------------------------------------------------------------------------------------
def test_a_step_is_adams():
    """The first step of Adam moves every number by the rate, towards where the loss falls (Kingma, Ba 2015): there
    the mean of the gradients is the gradient, and the root of its mean square its magnitude."""
    training = Training("vote", seed=3)
    before = numbers(training)
    training.advance()
    for name, parameter in training.model.named_parameters():
        clear = parameter.grad.abs() > 1e-5  # 1e-8 beside it makes no difference
        moved = parameter.detach() - before[name]
        assert clear.any()
        assert torch.allclose(moved[clear], -0.01 * parameter.grad[clear].sign(), rtol=2e-3, atol=0), name


def test_the_courses_own_rate_needs_no_mention():
    assert Training("vote", rate=COURSES["vote"].rate).recipe == Training("vote").recipe == NetworkRecipe("vote", 0, 0)
    assert Training("vote", rate=0.5).recipe == NetworkRecipe("vote", 0, 0, 0.5)


def test_at_a_rate_of_0_nothing_is_learned():
    training = Training("vote", rate=0.0)
    before = numbers(training)
    training.advance()
    assert all(torch.equal(before[name], now) for name, now in numbers(training).items())


# ---- it learns -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name, steps, least",
    [("lookup", 60, 0.95), ("vote", 60, 0.9), ("copy_two", 80, 0.05), ("dates_dot", 30, 0.4)],
)
def test_the_loss_falls(name, steps, least):
    """By so much of what it is at first, in the mean of the last five steps."""
    losses = trained(name, steps).losses
    assert len(losses) == steps
    assert sum(losses[-5:]) / 5 < (1 - least) * losses[0]


def test_what_is_learned_holds_for_texts_that_were_never_trained():
    texts, classes = evidence.held_out("lookup")
    training = Training("lookup", seed=7)

    def right():
        return (training.model.trace(texts)["output"][:, 0].argmax(-1) == classes).double().mean()

    before = right()
    for _ in range(60):
        training.advance()
    assert before < 0.3 < 0.95 < right()


# ---- what is kept ----------------------------------------------------------------------------------------------------
def test_networks_are_kept_after_the_steps_that_the_course_says():
    training = Training("vote", seed=1)
    seen = {0: numbers(training)}
    while not training.done:
        training.advance()
        seen[training.step] = numbers(training)
    assert tuple(network.step for network in training.saved) == COURSES["vote"].saved
    assert training.step == len(training.losses) == COURSES["vote"].saved[-1]
    for network in training.saved:
        assert network.recipe == NetworkRecipe("vote", 1, network.step)
        for name, tensor in seen[network.step].items():
            assert torch.equal(network.numbers[name], tensor.half())


@pytest.mark.parametrize("name", COURSES)
def test_the_first_is_kept_before_anything_is_learned(name):
    training = Training(name, seed=4)
    (first,) = training.saved
    assert (first.step, training.step, training.losses, training.done) == (0, 0, [], False)
    drawn = COURSES[name].make(torch.Generator().manual_seed(4))
    assert all(torch.equal(first.numbers[name], tensor.half()) for name, tensor in drawn.named_parameters())


# ---- what cannot go on -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rate", [1e6, 1e30])
@pytest.mark.parametrize("name", ["copy_one", "copy_two", "lookup", "vote", "dates_one", "dates_additive"])
def test_a_huge_rate_ends_with_a_sentence_and_never_a_nan(name, rate):
    training = Training(name, seed=1, rate=rate)
    with pytest.raises(AttentionError) as refused:
        while not training.done:
            training.advance()
    assert refused.value.code == "training_diverged"
    assert 1 <= refused.value.values["step"] <= COURSES[name].saved[1]
    assert training.losses and all(map(math.isfinite, training.losses))
    assert [network.step for network in training.saved] == [0]
    assert all(tensor.isfinite().all() for tensor in training.saved[0].numbers.values())


def test_what_is_no_number_any_more_is_refused_before_the_step_counts():
    training = trained("vote", 3)
    with torch.no_grad():
        training.model.w_v[2, 3] = torch.nan
    for _ in range(2):  # and again
        with pytest.raises(AttentionError) as refused:
            training.advance()
        assert (refused.value.code, refused.value.values) == ("training_diverged", {"step": 4})
    assert training.step == 3


def test_an_unknown_course_is_refused():
    with pytest.raises(AttentionError) as refused:
        Training("latin")
    assert refused.value.code == "unknown_choice"


# ---- nothing of the held-out side ------------------------------------------------------------------------------------
def shown_to(name, steps):
    """All that a training is shown, batch by batch."""
    training, shown = Training(name, seed=1), []

    def watched(generator):
        shown.append(COURSES[name].batch(generator))
        return shown[-1]

    training.course = replace(training.course, batch=watched)
    for _ in range(steps):
        training.advance()
    assert len(shown) == steps
    return shown


@pytest.mark.parametrize("name", ["lookup", "vote", "lookup_heads", "copy_one", "copy_two", "reversal_one"])
def test_nothing_is_trained_on_the_held_out_side(name):
    for rows, *_ in shown_to(name, 5):
        for row in rows.tolist():
            text = [number for number in row if number != PAD]
            assert not held_out(text[: len(text) // 2] if name.startswith("copy") else text)


@pytest.mark.parametrize("name", ["dates_one", "dates_dot"])
def test_no_day_that_is_measured_is_trained(name):
    measured = days_of(dates.untrained_texts()["dashes"]).union(*map(days_of, dates.held_out().values()))
    for texts in shown_to(name, 3):
        assert not measured & days_of(texts)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA GPU")
@pytest.mark.parametrize("course", ["vote", "copy_two", "dates_additive", "dates_dot", "dates_one"])
def test_on_a_gpu_it_begins_with_the_same_numbers_and_loses_as_much(course):
    here, there = Training(course, 3), Training(course, 3, device="cuda")
    for _ in range(5):
        here.advance()
        there.advance()
    assert there.losses == pytest.approx(here.losses, rel=1e-3)
    assert there.saved[0].recipe.name == f"{course}.3.0.cuda"
    assert all(tensor.device.type == "cpu" for tensor in there.saved[0].numbers.values())
