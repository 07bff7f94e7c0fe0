"""Trainings in 16 bits: kept figures, some trained again, and each sentence that the lesson makes of them."""

import numpy as np
import pytest
import torch

from attention_core.learned.training.mixed_precision import (
    EVERY,
    PRECISION_FIGURES,
    SCHEMES,
    SEEDS,
    STEPS,
    bytes_of_steps,
    bytes_per_weight,
    count_powers,
    draw_batch,
    last_loss,
    late_shares,
    load_trained,
    share_of_zeros,
    train_in_precision,
    trained_gradients,
)


def last(name: str) -> float:
    """The middle loss at the end."""
    return np.median(PRECISION_FIGURES.rows[name].losses, axis=0)[-1]


def late(name: str, what: str) -> float:
    """The middle share over the second half."""
    return np.median(np.mean(np.array(getattr(PRECISION_FIGURES.rows[name], what))[:, 10:], axis=1))


@pytest.mark.parametrize("name", ["bfloat16_alone", "small"])
def test_the_beginning_of_a_kept_training_is_trained_again(name):
    _, measured = train_in_precision(SCHEMES[name], seed=1, steps=2 * EVERY)
    figures = PRECISION_FIGURES.rows[name]
    for found, kept in zip(zip(*measured, strict=True), (figures.losses, figures.zero, figures.still), strict=True):
        assert [*found] == pytest.approx(kept[1][:2], rel=0.05, abs=0.02)


def test_every_scheme_was_trained_from_every_seed_to_the_end():
    figures = PRECISION_FIGURES.rows
    assert {*figures} == {*SCHEMES}
    for each in figures.values():
        assert {len(seed) for seed in (*each.losses, *each.zero, *each.still)} == {STEPS // EVERY}
        assert len(each.losses) == len(each.right) == len(SEEDS)


def test_what_multiplies_the_loss_is_divided_out_of_the_gradients():
    """Adam alone would not show it: its steps are the same for gradients of any size."""
    plain, scaled = (train_in_precision(SCHEMES[name], seed=1, steps=1)[0] for name in ("float32", "scaled"))
    for one, two in zip(plain.parameters(), scaled.parameters(), strict=True):
        torch.testing.assert_close(two.grad, one.grad, rtol=0.05, atol=1e-4)


def test_without_masters_most_weights_stay_and_the_loss_is_higher():
    for name in ("scaled", "unscaled", "bfloat16"):
        assert last(name) == pytest.approx(last("float32"), rel=0.02)
    assert last("alone") > 1.5 * last("float32") and last("bfloat16_alone") > 5 * last("float32")
    assert late("bfloat16_alone", "still") > late("alone", "still") > 0.8 > 0.3 > late("scaled", "still")
    assert all(right == 1 for each in PRECISION_FIGURES.rows.values() for right in each.right)


def test_without_a_scale_more_gradients_are_0_which_costs_something_only_where_the_loss_is_small():
    assert late("unscaled", "zero") > 2 * late("scaled", "zero") > 0 == late("float32", "zero")
    assert late("small", "zero") > 0.9 and last("small") > 10 * last("small_scaled")
    assert last("small_scaled") == pytest.approx(last("scaled"), rel=0.1)


def test_the_figures_that_are_told_are_those_of_numpy():
    for name, figures in PRECISION_FIGURES.rows.items():
        assert last_loss(figures) == last(name)
        assert np.median(late_shares(figures.zero)) == pytest.approx(late(name, "zero"))


def test_gradients_that_float16_loses_are_those_of_autograd_below_half_of_its_smallest_number():
    texts, classes = draw_batch()
    model = load_trained("float32")
    logits = model.trace(texts)["output"][:, 0]
    torch.nn.functional.cross_entropy(logits, classes).backward()
    wanted = torch.cat([weight.grad.flatten() for weight in model.parameters()])
    found = trained_gradients("float32", 1.0)
    torch.testing.assert_close(found, wanted)
    predicted = (np.float16(wanted.numpy()) == 0).mean()
    assert share_of_zeros([trained_gradients("float16", 1.0)]) == pytest.approx(predicted, abs=0.02)
    assert sum(count_powers(found).values()) == int((wanted != 0).sum())
    below = sum(count for power, count in count_powers(found).items() if power < -25)
    assert below == int((wanted.abs() < 2.0**-25).sum())


def test_memory_by_hand():
    # a weight, its gradient, a master where there is one, and Adam's two numbers
    assert bytes_per_weight(SCHEMES["float32"]) == 4 + 4 + 2 * 4 == bytes_per_weight(SCHEMES["scaled"])
    assert bytes_per_weight(SCHEMES["bfloat16_alone"]) == 2 + 2 + 2 * 4
    assert bytes_of_steps(SCHEMES["float32"]) == 2 * bytes_of_steps(SCHEMES["scaled"])
