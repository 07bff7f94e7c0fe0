"""Numbers as they are printed, where rounding would say too much."""

import pytest

from attention_core.record.number_text import format_percent


@pytest.mark.parametrize("share", [1e-300, 1e-9, 0.0049, 0.005, 0.5, 0.994, 0.9949999, 0.995, 0.9951, 0.999, 1 - 1e-16])
def test_a_share_is_neither_nothing_nor_all_where_it_is_not(share):
    assert format_percent(share) not in ("0", "100")


def test_nothing_and_all_are_called_so():
    assert (format_percent(0.0), format_percent(1.0), format_percent(1.5)) == ("0", "100", "150")
    assert (format_percent(0.994), format_percent(0.995)) == ("99", ">99")


def test_a_share_that_was_rounded_to_all_is_not_all_where_others_have_something():
    assert (format_percent(1.0, rest=0.0), format_percent(1.0, rest=1e-300), format_percent(0.5, rest=0.5)) == (
        "100",
        ">99",
        "50",
    )


@pytest.mark.parametrize(
    ("share", "said"), [(5e-324, "<0.01"), (1e-9, "<0.01"), (9.9e-5, "<0.01"), (1e-4, "0.01"), (0.000123, "0.012")]
)
def test_a_share_of_less_than_a_hundredth_of_a_percent_is_said_to_be_less(share, said):
    assert format_percent(share) == said
