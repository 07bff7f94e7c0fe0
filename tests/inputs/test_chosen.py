"""Numbers chosen at a few places of a step, as a text and back."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attention_core.inputs.matrix_edits import chosen_array, pack_chosen
from attention_core.inputs.matrix_link import read_chosen, write_matrix
from attention_core.inputs.matrix_text import MAX_MAGNITUDE
from attention_core.record.errors import AttentionError

SHAPE = (2, 3, 5, 7)
NUMBERS = st.floats(-MAX_MAGNITUDE, MAX_MAGNITUDE)


@given(st.dictionaries(st.tuples(*(st.integers(0, size - 1) for size in SHAPE)), NUMBERS, max_size=9))
def test_every_number_comes_back_to_its_place(chosen):
    numbers = np.full(SHAPE, np.nan)
    for place, number in chosen.items():
        numbers[place] = number
    value = pack_chosen(numbers)
    assert value is None or read_chosen(write_matrix(value)) == value
    again = chosen_array(value, SHAPE)
    for place in np.ndindex(SHAPE):
        assert again[place] == chosen[place] if place in chosen else np.isnan(again[place])


def test_places_outside_are_left_out():
    again = chosen_array(read_chosen("1.2.4.6=-2.5;2.0.0.0=1;0.0.0.7=1"), SHAPE)
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
        chosen_array(read_chosen(text), SHAPE, "weights")
    assert caught.value.code == code and caught.value.values["name"] == "weights"


@pytest.mark.parametrize("number", [np.inf, -1e7])
def test_a_number_that_no_link_can_hold_is_refused(number):
    numbers = np.full(SHAPE, np.nan)
    numbers[0, 1, 2, 3] = number
    with pytest.raises(AttentionError):
        chosen_array(pack_chosen(numbers), SHAPE)


@given(st.text(max_size=40))
@example("00.0.0.0=1.0")
@example("0.0.0.0=1;0.0.0.0=2")
@example("")
def test_any_text_is_read_or_refused_and_stays_as_it_is(text):
    value = read_chosen(text)
    assert write_matrix(value) == text
    with suppress(AttentionError):
        chosen_array(value, SHAPE)
