"""Formats numbers as texts, with a true minus sign (U+2212), a fixed number of decimals, and ∞."""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np


def format_fixed(value: float, digits: int = 2) -> str:
    """Format a number with `digits` decimals, as in a cell.

    >>> format_fixed(-0.934), format_fixed(-0.001), format_fixed(float("-inf")), format_fixed(12345678.0)
    ('−0.93', '0.00', '−∞', '1.23e+07')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    notation = "f" if abs(value) < 1e5 else "e"
    text = f"{value:.{digits}{notation}}"
    if float(text) == 0:
        text = text.lstrip("-")  # no minus for a number that rounds to 0
    return with_true_minus(text)


def with_true_minus(text: str) -> str:
    """Replace the hyphen in front of a number's text by a true minus sign; a hyphen in a power of ten stays.

    >>> with_true_minus("-1e-05")
    '−1e-05'
    """
    if text.startswith("-"):
        return "−" + text[1:]
    return text


def format_or_scientific(value: float) -> str:
    """Format a number for a line of arithmetic: two decimals, or two significant digits if decimals would give 0.

    >>> format_or_scientific(0.25), format_or_scientific(0.0025)
    ('0.25', '0.0025')
    >>> format_or_scientific(0.0), format_or_scientific(-0.0000123)
    ('0.00', '−1.2e-05')
    """
    if 0 < abs(value) < 0.005:
        return with_true_minus(f"{value:.2g}")
    return format_fixed(value)


def choose_decimals(difference: float) -> int:
    """Return how many decimals show a difference of this size: two, or more if it is small.

    >>> choose_decimals(0.5), choose_decimals(-0.001), choose_decimals(0.00003), choose_decimals(0.0)
    (2, 4, 6, 2)
    """
    if 0 < abs(difference) < 0.005:
        return 1 - math.floor(math.log10(abs(difference)))
    return 2


MAX_MOVE_DECIMALS = 10  # largest number of decimals that is tried


def choose_move_decimals(before: float, now: float) -> int:
    """Return the number of decimals at which the difference of two rounded numbers equals their rounded difference.

    With two decimals, 0.93 and 0.99 would seem to contradict the difference 0.05; with three, 0.933 and 0.986 agree
    with 0.053. The difference must not round to 0. If no number of decimals agrees, the least is returned.

    >>> choose_move_decimals(0.9328, 0.9859), choose_move_decimals(0.25, 0.5)
    (3, 2)
    """
    least = choose_decimals(now - before)
    if not math.isfinite(now - before):
        return least
    for digits in range(least, MAX_MOVE_DECIMALS):
        read, shown, difference = (round(value * 10**digits) for value in (before, now, now - before))
        if shown - read == difference:
            return digits
    return least


def format_power_bound(figure: float) -> str:
    """Format the smallest power of ten that is not less than a difference.

    The result is at least 1e-15, because float64 has no further digits.

    >>> format_power_bound(2.2e-16), format_power_bound(3e-12), format_power_bound(1e-14)
    ('1e-15', '1e-11', '1e-14')
    """
    exponent = math.ceil(math.log10(figure))
    bound = 10.0 ** max(-15, exponent)
    return f"{bound:.0e}"


NEARLY_ALL = ">99"  # text of a percentage below 100 that would round to 100
NEARLY_NONE = "<1"  # text of a percentage above 0 that would round to 0
LEAST_PERCENT = 0.01  # percentages below this are written as "<0.01"


def format_percent(share: float, rest: float = 0.0) -> str:
    """Format a share as a whole percentage; the text is 0 or 100 only if the share is exactly 0 or 1.

    A share that would round to 0 gets two significant digits, or "<0.01" below LEAST_PERCENT; a share that would round
    to 100 is ">99". rest: the sum of all other shares, for a `share` that rounding has made 1.

    >>> format_percent(0.932), format_percent(0.0025), format_percent(0.0), format_percent(1e-9)
    ('93', '0.25', '0', '<0.01')
    >>> format_percent(0.9951), format_percent(1.0), format_percent(1.0, rest=1e-9)
    ('>99', '100', '>99')
    """
    percent = 100 * share
    whole = f"{percent:.0f}"
    if 0 < percent < LEAST_PERCENT:
        return f"<{LEAST_PERCENT}"
    if whole == "0" and share > 0:
        return f"{percent:.2g}"
    something_is_left = share < 1 or rest > 0
    if whole == "100" and something_is_left:
        return NEARLY_ALL
    return whole


def format_whole_percent(share: float) -> str:
    """Format a share in percent for a narrow place: a whole number, "<1" or ">99".

    >>> format_whole_percent(0.932), format_whole_percent(0.0025), format_whole_percent(0.0)
    ('93', '<1', '0')
    """
    is_rounded_away = share > 0 and f"{100 * share:.0f}" == "0"
    return NEARLY_NONE if is_rounded_away else format_percent(share)


def format_percent_tenths(share: float) -> str:
    """Format a share in percent with one decimal.

    For a share so near a limit that a whole number would not show whether it is above or below the limit.

    >>> format_percent_tenths(0.9467), format_percent_tenths(1.0), format_percent_tenths(0.0)
    ('94.7', '100', '0')
    >>> format_percent_tenths(0.9997), format_percent_tenths(0.0002)
    ('>99.9', '0.02')
    """
    tenths = f"{100 * share:.1f}"
    if tenths == "100.0" and share < 1:
        return f"{NEARLY_ALL}.9"
    return tenths if tenths not in ("0.0", "100.0") else format_percent(share)


def format_small(value: float) -> str:
    """Format a number that may be very small, with two significant digits; below 0.001 with a power of ten.

    >>> format_small(0.0342), format_small(2.04e-5), format_small(0.0), format_small(1.846), format_small(9.96e-9)
    ('0.034', '2.0 × 10⁻⁵', '0', '1.8', '1.0 × 10⁻⁸')
    """
    if value == 0 or abs(value) >= 0.001:
        rounded = float(f"{value:.2g}")
        return format_term(rounded)
    digits, _, power = f"{value:.1e}".partition("e")
    exponent = str(int(power)).translate(SUPERSCRIPT_DIGITS)
    return f"{with_true_minus(digits)} × 10{exponent}"


def format_duration(seconds: float) -> str:
    """Format a measured time with two significant digits and its unit.

    >>> format_duration(2.5), format_duration(0.0317), format_duration(0.00041), format_duration(0.000003)
    ('2.5 s', '32 ms', '0.41 ms', '3.0 µs')
    """
    if seconds >= 1:
        figure, unit = seconds, "s"
    elif seconds >= 1e-4:
        figure, unit = 1e3 * seconds, "ms"
    else:
        figure, unit = 1e6 * seconds, "µs"
    if figure >= 10:
        return f"{figure:.0f} {unit}"
    digits = f"{figure:#.2g}".rstrip(".")
    return f"{digits} {unit}"


def format_small_percent(share: float) -> str:
    """Format a share that may be very small, in percent.

    >>> format_small_percent(0.0476), format_small_percent(2.04e-7), format_small_percent(0.0)
    ('4.8', '2.0 × 10⁻⁵', '0')
    """
    return format_small(100 * share)


SUPERSCRIPT_DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_grouped(number: int) -> str:
    """Format a count with its digits in groups of three.

    >>> format_grouped(32896)
    '32,896'
    """
    return f"{number:,}"


def round_count(number: int, units: Sequence[int]) -> tuple[str, int]:
    """Return a large count with three significant digits, and its unit: the largest that does not exceed the count.

    units: the units in ascending order; the smallest is also used for smaller counts.

    >>> round_count(134_217_728, (10**6,)), round_count(134_217_728, (10**4, 10**8)), round_count(2_097_152, (10**6,))
    (('134', 1000000), ('1.34', 100000000), ('2.1', 1000000))
    """
    largest = max((unit for unit in units if unit <= number), default=units[0])
    return format_short(number / largest, 3), largest


MIB, GIB, TIB = 2**20, 2**30, 2**40
BYTE_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": MIB, "GiB": GIB, "TiB": TIB}


def format_bytes(count: int) -> str:
    """Format a number of bytes in the largest unit that does not exceed it.

    >>> format_bytes(448), format_bytes(2 * 2**30), format_bytes(1_500_000)
    ('448 bytes', '2 GiB', '1.43 MiB')
    """
    largest = "bytes"
    for unit, size in BYTE_UNITS.items():  # from the smallest unit to the largest
        if size <= count:
            largest = unit
    figure = format_short(count / BYTE_UNITS[largest], 3)
    return f"{figure} {largest}"


def format_signed(value: float, digits: int = 2) -> str:
    """Format a difference with its sign; "0" if it rounds to 0.

    >>> format_signed(0.25), format_signed(-1.0), format_signed(0.0)
    ('+0.25', '−1.00', '0')
    >>> format_signed(-0.001), format_signed(0.001, digits=4)
    ('0.00', '+0.0010')
    """
    if value == 0:
        return "0"
    if math.isnan(value):
        return "NaN"
    size = format_fixed(abs(value), digits)
    if float(size.replace("∞", "inf")) == 0:
        return size  # without a sign: the number rounds to 0
    sign = "−" if value < 0 else "+"
    return sign + size


def format_signed_rough(value: float) -> str:
    """Format a small difference with its sign, with one digit and a power of ten.

    >>> format_signed_rough(0.00024), format_signed_rough(-1.6e-10)
    ('+2e−4', '−2e−10')
    >>> format_signed_rough(0.0), format_signed_rough(float("inf"))
    ('0', '+∞')
    """
    if value == 0 or not math.isfinite(value):
        return format_signed(value)
    digit, _, power = f"{value:+.0e}".partition("e")
    return f"{digit}e{int(power)}".replace("-", "−")


MIN_TWO_DECIMAL_DIFFERENCE = 0.005  # smaller differences would round to 0 at two decimals


def choose_signed_format(reach: float) -> Callable[[float], str]:
    """Return the function that formats differences with their sign, if the largest magnitude of them is `reach`.

    The function writes two decimals. If two decimals would round all differences to 0, it writes one digit and a power
    of ten.

    >>> choose_signed_format(0.3)(0.05), choose_signed_format(0.0003)(0.0003)
    ('+0.05', '+3e−4')
    """
    return format_signed if reach >= MIN_TWO_DECIMAL_DIFFERENCE else format_signed_rough


def format_row(values: Iterable[float]) -> str:
    """Format a row of numbers in brackets, for a sentence.

    >>> format_row([-3.0, 0.125])
    '(−3.00, 0.12)'
    """
    numbers = ", ".join(map(format_fixed, values))
    return f"({numbers})"


def format_exact(value: float) -> str:
    """Format a number with all its digits, as the app shows it after a click.

    >>> format_exact(0.1), format_exact(-3.0)
    ('0.1', '−3')
    """
    if not math.isfinite(value):
        return format_fixed(value)
    number = float(value) + 0.0  # + 0.0 turns -0 into 0
    text = repr(number).removesuffix(".0")
    return with_true_minus(text)


def format_term(value: float) -> str:
    """Format a parameter for a line of arithmetic: a few significant digits, with a true minus sign.

    >>> format_term(-0.5), format_term(-0.0)
    ('−0.5', '0')
    """
    return format_short(value + 0.0).replace("-", "−")


def format_short(value: float, digits: int = 5) -> str:
    """Format a parameter for a formula: a few significant digits, never in a programming notation such as 1e-05.

    >>> format_short(500000.0), format_short(1e-6), format_short(-0.5)
    ('500000', '0.000001', '-0.5')
    """
    return np.format_float_positional(value, precision=digits, unique=True, fractional=False, trim="-")


def split_power(value: float, figures: int = 2) -> tuple[str, int]:
    """Split a number into its digits, at most `figures` significant ones, and its power of ten.

    >>> split_power(-1e9), split_power(-3.4e38)
    (('-1', 9), ('-3.4', 38))
    """
    digits, power = f"{value:.{figures - 1}e}".split("e")
    return digits.rstrip("0").rstrip("."), int(power)


def power_of_ten_latex(value: float, figures: int = 2) -> str:
    """Format a very large or very small number in LaTeX, with a power of ten.

    >>> power_of_ten_latex(-1e9), power_of_ten_latex(-3.4e38), power_of_ten_latex(1.25e-6, figures=7)
    ('-10^{9}', '-3.4 \\\\cdot 10^{38}', '1.25 \\\\cdot 10^{-6}')
    """
    digits, power = split_power(value, figures)
    sign = "-" if value < 0 else ""
    size = digits.lstrip("-")
    factor = "" if size == "1" else rf"{size} \cdot "
    return f"{sign}{factor}10^{{{power}}}"
