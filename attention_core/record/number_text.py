"""Numbers as they are printed: a true minus sign, a fixed number of decimals, infinity as a sign."""

import math
from collections.abc import Iterable

import numpy as np


def fixed(value: float, digits: int = 2) -> str:
    """A number with `digits` decimals, as it stands in a cell.

    >>> fixed(-0.934), fixed(-0.001), fixed(float("-inf")), fixed(12345678.0)
    ('−0.93', '0.00', '−∞', '1.23e+07')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    text = f"{value:.{digits}f}" if abs(value) < 1e5 else f"{value:.{digits}e}"
    if float(text) == 0:
        text = text.lstrip("-")  # no minus before a zero that only rounding made
    return text.replace("-", "−", 1) if text.startswith("-") else text


def told(value: float) -> str:
    """A number in a line of arithmetic: two decimals, or two digits where they would make 0 of what is not 0.

    >>> told(0.25), told(0.0025), told(0.0), told(-0.0000123)
    ('0.25', '0.0025', '0.00', '−1.2e-05')
    """
    return fixed(value) if value == 0 or not abs(value) < 0.005 else f"{value:.2g}".replace("-", "−", value < 0)


def telling(difference: float) -> int:
    """The decimals with which two numbers that are so far apart look different: two, or more where they are close.

    >>> telling(0.5), telling(-0.001), telling(0.00003), telling(0.0)
    (2, 4, 6, 2)
    """
    return 1 - math.floor(math.log10(abs(difference))) if 0 < abs(difference) < 0.005 else 2


def within(figure: float) -> str:
    """The power of ten that a difference does not exceed; 1e-15 at the least, where the digits of float64 end.

    >>> within(2.2e-16), within(3e-12), within(1e-14)
    ('1e-15', '1e-11', '1e-14')
    """
    return f"{10.0 ** max(-15, math.ceil(math.log10(figure))):.0e}"


def percent(share: float) -> str:
    """A share in percent: whole, or two digits where that would make 0 of it.

    >>> percent(0.932), percent(0.0025), percent(0.0)
    ('93', '0.25', '0')
    """
    return f"{100 * share:.0f}" if share == 0 or share >= 0.005 else f"{100 * share:.2g}"


def small(value: float) -> str:
    """A number that may be very small: two digits, and below a thousandth a power of ten, as it is written by hand.

    >>> small(0.0342), small(2.04e-5), small(0.0), small(1.846), small(9.96e-9)
    ('0.034', '2.0 × 10⁻⁵', '0', '1.8', '1.0 × 10⁻⁸')
    """
    if value == 0 or abs(value) >= 0.001:
        return term(float(f"{value:.2g}"))
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits.replace('-', '−')} × 10{str(int(power)).translate(RAISED)}"


def duration(seconds: float) -> str:
    """A time that was measured, in two digits.

    >>> duration(2.5), duration(0.0317), duration(0.00041), duration(0.000003)
    ('2.5 s', '32 ms', '0.41 ms', '3.0 µs')
    """
    steps = (("s", 1.0, 1.0), ("ms", 1e-4, 1e3), ("µs", 0.0, 1e6))
    unit, figure = next((unit, factor * seconds) for unit, least, factor in steps if seconds >= least)
    return f"{figure:.0f} {unit}" if figure >= 10 else f"{figure:#.2g}".rstrip(".") + f" {unit}"


def small_percent(share: float) -> str:
    """A share that may be very small, in percent.

    >>> small_percent(0.0476), small_percent(2.04e-7), small_percent(0.0)
    ('4.8', '2.0 × 10⁻⁵', '0')
    """
    return small(100 * share)


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def grouped(number: int) -> str:
    """A count, its digits in groups of three.

    >>> grouped(32896)
    '32,896'
    """
    return f"{number:,}"


MIB, GIB, TIB = 2**20, 2**30, 2**40
UNITS = {"bytes": 1, "KiB": 2**10, "MiB": MIB, "GiB": GIB, "TiB": TIB}


def size_text(count: int) -> str:
    """So many bytes, in the largest unit of which there is one or more.

    >>> size_text(448), size_text(2 * 2**30), size_text(1_500_000)
    ('448 bytes', '2 GiB', '1.43 MiB')
    """
    unit = max((unit for unit in UNITS if UNITS[unit] <= count), key=UNITS.get, default="bytes")
    return f"{short(count / UNITS[unit], 3)} {unit}"


def signed(value: float, digits: int = 2) -> str:
    """A difference: with its sign, 0 where there is none.

    >>> signed(0.25), signed(-1.0), signed(0.0), signed(0.001), signed(0.001, digits=4)
    ('+0.25', '−1.00', '0', '+0.00', '+0.0010')
    """
    if value == 0 or math.isnan(value):
        return "0" if value == 0 else "NaN"
    text = fixed(value, digits)
    return text if text.startswith("−") else ("−" if value < 0 else "+") + text


def brief(value: float) -> str:
    """A difference in a narrow cell: its sign, and no zero before the point.

    >>> brief(0.25), brief(-1.0), brief(0.0), brief(-10.05)
    ('+.25', '−1.00', '0', '−10.05')
    """
    text = signed(value)
    return text[0] + text[2:] if text[1:3] == "0." else text


def rough(value: float) -> str:
    """A small difference with its sign, in one digit and a power of ten.

    >>> rough(0.00024), rough(-1.6e-10), rough(0.0), rough(float("inf"))
    ('+2e−4', '−2e−10', '0', '+∞')
    """
    if value == 0 or not math.isfinite(value):
        return signed(value)
    digit, _, power = f"{value:+.0e}".partition("e")
    return f"{digit}e{int(power)}".replace("-", "−")


def row_text(values: Iterable[float]) -> str:
    """A row of numbers in a sentence.

    >>> row_text([-3.0, 0.125])
    '(−3.00, 0.12)'
    """
    return f"({', '.join(map(fixed, values))})"


def exact(value: float) -> str:
    """All the digits of a number: what is shown on a click.

    >>> exact(0.1), exact(-3.0)
    ('0.1', '−3')
    """
    if not math.isfinite(value):
        return fixed(value)
    text = repr(float(value) + 0.0).removesuffix(".0")  # + 0.0: no minus before a zero
    return text.replace("-", "−", 1) if text.startswith("-") else text


def term(value: float) -> str:
    """A parameter in written arithmetic: as `short`, with a true minus sign.

    >>> term(-0.5), term(-0.0)
    ('−0.5', '0')
    """
    return short(value + 0.0).replace("-", "−")


def short(value: float, digits: int = 5) -> str:
    """A parameter in a formula: a few significant digits, never in program notation.

    >>> short(500000.0), short(1e-6), short(-0.5)
    ('500000', '0.000001', '-0.5')
    """
    return np.format_float_positional(value, precision=digits, unique=True, fractional=False, trim="-")
