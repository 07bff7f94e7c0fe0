"""Numbers and shares as texts: the browser's rule and Python's, from one table."""

from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import pytest

from attention_core.record.number_text import (
    format_fixed,
    format_or_scientific,
    format_percent,
    format_whole_percent,
)
from tests.components.in_node import call_in_node

EIGHTHS = [whole / 8 for whole in range(-40, 41)]
SIXTEENTHS = [whole / 16 for whole in range(17)]
THIRDS = [whole / 3 for whole in range(-6, 7)]
NEAR_HALVES = [0.005, 0.015, 0.025, 0.035, 0.045, 0.075, 0.145, 0.285, 1.005, 2.675, -0.615, 0.625, 0.995, 0.9949]
TINY = [1e-300, 5e-324, 1.25e-5, -1.25e-3, 0.00123, 0.00125, 0.00135, 0.0, -0.0, -0.001, 0.004999, 0.00005, 0.0000995]
HUGE = [99999.995, 99999.125, 1e5, 100500.0, 101500.0, -100500.0, 123456.7, 12345678.0, 1e6, 6.5e20, 1e21, 1e300]
NUMBERS = [*EIGHTHS, *SIXTEENTHS, *THIRDS, *NEAR_HALVES, *TINY, *HUGE]
SHARES = [*SIXTEENTHS, 0.125, 0.375, 0.625, 0.005, 0.015, 0.025, 0.0025, 0.00125, 0.994, 0.9951, 1 / 3, 0.0995]
SHARES += [1e-7, 5e-324, 1e-4, 9.9e-5, 0.000101]


def in_script(function: str, *given: object) -> object:
    return call_in_node("rounded", function, *given)


def nearest_even(number: float) -> str:
    """A number with two decimals by exact decimal arithmetic, halves to even."""
    text = str(Decimal(number).quantize(Decimal("0.01"), ROUND_HALF_EVEN))
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


@pytest.mark.parametrize("number", [number for number in NUMBERS if abs(number) < 99999.99])
def test_python_rounds_halves_to_even(number):
    assert format_fixed(number) == nearest_even(number)


@pytest.mark.parametrize("share", SIXTEENTHS)
def test_a_share_is_rounded_as_a_number_is(share):
    percent = Fraction(share) * 100
    if 0.5 < percent < 99.5:
        assert format_percent(share) == str(round(percent))


def test_the_browser_writes_numbers_as_python_does():
    assert in_script("numbers => numbers.map(fixed)", NUMBERS) == [format_fixed(number) for number in NUMBERS]
    assert in_script("() => [NaN, Infinity, -Infinity].map(fixed)") == ["NaN", "∞", "−∞"]


def test_the_browser_writes_shares_as_python_does():
    assert in_script("shares => shares.map(percentDigits)", SHARES) == [format_percent(share) for share in SHARES]


def test_the_browser_writes_whole_shares_as_python_does():
    assert in_script("shares => shares.map(wholePercentDigits)", SHARES) == [*map(format_whole_percent, SHARES)]


def test_the_browser_writes_small_terms_as_python_does():
    small = [abs(number) for number in [*TINY, *SIXTEENTHS] if 0 < abs(number) < 0.005]
    assert in_script("numbers => numbers.map(twoDigits)", small) == [format_or_scientific(number) for number in small]
