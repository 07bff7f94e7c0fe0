"""Numbers chosen at a few places of a step, as a text and back."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core.inputs.matrix_edits import from_places, to_places
from attention_core.inputs.matrix_text import MAX_MAGNITUDE
from attention_core.record.errors import AttentionError

SHAPE = (2, 3, 5, 7)
NUMBERS = st.floats(-MAX_MAGNITUDE, MAX_MAGNITUDE)


@given(st.dictionaries(st.tuples(*(st.integers(0, size - 1) for size in SHAPE)), NUMBERS, max_size=9))
def test_every_number_comes_back_to_its_place(chosen):
    numbers = np.full(SHAPE, np.nan)
    for place, number in chosen.items():
        numbers[place] = number
    again = from_places(to_places(numbers), SHAPE)
    for place in np.ndindex(SHAPE):
        assert again[place] == chosen[place] if place in chosen else np.isnan(again[place])


def test_places_outside_are_left_out():
    again = from_places("1.2.4.6=-2.5;2.0.0.0=1;0.0.0.7=1", SHAPE)
    assert again[1, 2, 4, 6] == -2.5
    assert np.isnan(again).sum() == again.size - 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0.0.0=1", "edit_form"),
        ("0.0.0.0=", "edit_form"),
        ("0.0.0.0=1;", "edit_form"),
        ("-1.0.0.0=1", "edit_form"),
        ("0.0.0.0=nan", "not_a_number"),
        ("0.0.0.0=1e7", "too_large"),
        ("0.0.0.0=1e400", "cell_not_finite"),
    ],
)
def test_refusals(text, code):
    with pytest.raises(AttentionError) as caught:
        from_places(text, SHAPE)
    assert caught.value.code == code


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    with suppress(AttentionError):
        from_places(text, SHAPE)
