"""What is typed beside a slider is tried as a number of the control's kind."""

import pytest

from pages.panels.live_slider import TypedNumber


@pytest.mark.parametrize(
    ("step", "typed", "tried"),
    [
        (0.1, 2, 2.0),
        (0.1, 12345678901234567000, 1.2345678901234567e19),  # what a browser sends for 12345678901234567890
        (1, 2.0, 2),
        (1, 12345678901234567000, 12345678901234567000),
        (1, 1.5, None),
    ],
)
def test_a_typed_number_is_tried_in_the_type_of_its_control(step, typed, tried):
    read = TypedNumber(step).read(typed)
    assert read == tried and type(read) is type(tried)
