"""One vector that is wider, or trained longer: the kept figures beside those of the shipped network."""

import pytest

from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import shipped_figures
from attention_core.learned.training.wider_vector import FIRST, TRIALS, WIDER_VECTOR, measure_width


def test_as_wide_and_as_long_as_the_shipped_one_it_writes_the_same():
    kept = WIDER_VECTOR.rows[64, 3000].exact
    assert kept == pytest.approx(shipped_figures("reversal_one", 3000), abs=0.05)


@pytest.mark.parametrize("width", [64, 128])
def test_the_first_steps_are_trained_again(width):
    row = measure_width((width, FIRST))
    kept = {each.first_loss for (tried, _), each in WIDER_VECTOR.rows.items() if tried == width}
    assert len(kept) == 1 and row.first_loss == pytest.approx(kept.pop(), rel=1e-4)


def test_more_numbers_hold_longer_texts_and_more_training_hardly_does():
    rows = WIDER_VECTOR.rows
    assert [*rows] == [*TRIALS]
    places = COURSES["reversal_one"].places
    shipped, longer, wider = (dict(zip(places, rows[trial].exact, strict=True)) for trial in TRIALS)
    assert shipped[15] == 0 and longer[15] < 0.1 < wider[15]
    assert all(share == 0 for share in (*[wider[length] for length in places if length >= 20], longer[20]))
