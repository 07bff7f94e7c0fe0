"""Defines the axes of curve charts: titles, ticks, and the position of a value in pixels."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass

from attention_core.record.number_text import format_exact

MAX_STEPS_BETWEEN_NUMBERS = 12  # most intervals between the numbers on an axis, so that the numbers do not overlap
TICK_STEPS = [digit * 10**power for power in range(10) for digit in (1, 2, 5)]  # possible intervals of an axis


@dataclass(frozen=True)
class Axis:
    """An axis of a chart.

    title: the quantity that the axis measures. first, last: the numbers at its ends. log: whether it is logarithmic.
    """

    title: str
    first: float
    last: float
    log: bool = False
    values: tuple[float, ...] = ()  # positions of the ticks; () lets Vega choose
    texts: tuple[str, ...] = ()  # texts at the ticks; () shows their numbers


def decade_axis(title: str, numbers: Iterable[float], last: float | None = None) -> Axis:
    """Return a logarithmic axis between the powers of ten around all positive numbers, labelled with at most 13
    numbers.

    last: a value that the axis must reach; None means the largest number.

    >>> axis = decade_axis("share", [0.0, 0.03, 0.4])
    >>> axis.first, axis.last
    (0.01, 1.0)
    """
    above = [number for number in numbers if number > 0] or [1.0]
    smallest = min(above)
    largest = last or max(above)
    low = math.floor(math.log10(smallest))
    high = math.ceil(math.log10(largest))
    low = min(low, high - 1)
    every = math.ceil((high - low) / MAX_STEPS_BETWEEN_NUMBERS)
    powers = range(high, low - 1, -every)
    return Axis(
        title,
        first=10.0**low,
        last=10.0**high,
        log=True,
        values=tuple(10.0**power for power in powers),
    )


def whole_number_axis(title: str, numbers: Iterable[int]) -> Axis:
    """Return an axis of whole numbers, from the least to the largest of `numbers`, with at most 13 numbers on it.

    >>> whole_number_axis("distance", range(-2, 21)).values
    (-2, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
    """
    numbers = list(numbers)
    first, last = min(numbers), max(numbers)
    least_step = (last - first) / MAX_STEPS_BETWEEN_NUMBERS
    every = next(step for step in TICK_STEPS if step >= least_step)
    first_tick = math.ceil(first / every) * every  # the first tick is a multiple of the interval, so that 0 is a tick
    ticks = range(first_tick, last + 1, every)
    return Axis(
        title,
        first=first,
        last=max(last, first + 1),
        values=tuple(ticks),
    )


def powers_of_ten(axis: Axis) -> tuple[float, ...]:
    """Return the powers of ten within a logarithmic axis.

    >>> powers_of_ten(Axis("", 0.005, 20.0, log=True))
    (0.01, 0.1, 1.0, 10.0)
    """
    first = math.ceil(math.log10(axis.first))
    last = math.floor(math.log10(axis.last))
    powers = range(first, last + 1)
    return tuple(10.0**power for power in powers)


def tick_settings(axis: Axis) -> dict:
    """Return the Vega-Lite settings of an axis's ticks and their texts; {} if Vega chooses them."""
    ticks = axis.values
    if axis.log and not ticks:
        ticks = powers_of_ten(axis)
    settings = {}
    if ticks:
        settings["values"] = list(ticks)
    if axis.texts:
        numbers = map(format_exact, axis.values)
        texts = dict(zip(numbers, axis.texts, strict=True))
        settings["labelExpr"] = f"({json.dumps(texts)})[datum.value]"
    return settings


def clamp_to_axis(value: float, axis: Axis) -> float:
    """Return a value limited to the range of an axis."""
    return min(max(value, axis.first), axis.last)


def pixels_below_top(value: float, axis: Axis, height: int) -> float:
    """Return the distance of a value from the top of the chart, in pixels.

    height: the height of the chart in pixels.

    >>> pixels_below_top(10.0, Axis("", 1.0, 100.0, log=True), 300)
    150.0
    """
    measure = math.log if axis.log else float
    first = measure(axis.first)
    last = measure(axis.last)
    at = measure(clamp_to_axis(value, axis))
    return height * (last - at) / (last - first)
