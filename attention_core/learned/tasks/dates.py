"""Dates as English writes them, in several formats, and as Chinese does: "March 5, 2019" to "2019年3月5日"."""

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import MINYEAR, date, timedelta
from functools import cache
from itertools import permutations

import torch
from torch import Generator

from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.symbols.alphabet import Alphabet
from attention_core.learned.tasks.texts import SourceTargetTexts, encode_pairs, share_exact, trim_padding

DateFormat = Callable[[date], str]

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FIRST_DAY, DAY_COUNT = date(1950, 1, 1), 36525  # a hundred years
HELD_OUT_PERIOD_DAYS, HELD_OUT_DAY = (
    11,
    5,
)  # of eleven days one is never trained: no week, month or year has this rhythm


def month_name(day: date) -> str:
    return MONTHS[day.month - 1]


def weekday_name(day: date) -> str:
    return WEEKDAYS[day.weekday()]


def format_ordinal(number: int) -> str:
    """A day of a month as it is counted.

    >>> [format_ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '22nd', '23rd', '30th']
    """
    ending = "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


FORMATS: dict[str, DateFormat] = {
    "us": lambda d: f"{month_name(d)} {d.day}, {d.year}",
    "uk": lambda d: f"{d.day} {month_name(d)} {d.year}",
    "us_short": lambda d: f"{month_name(d)[:3]} {d.day}, {d.year}",
    "uk_short": lambda d: f"{d.day} {month_name(d)[:3]} {d.year}",
    "slashes": lambda d: f"{d.month}/{d.day}/{d.year}",
    "iso": lambda d: f"{d.year}-{d.month:02}-{d.day:02}",
    "weekday": lambda d: f"{weekday_name(d)}, {month_name(d)} {d.day}, {d.year}",
    "counted": lambda d: f"the {format_ordinal(d.day)} of {month_name(d)}, {d.year}",
    "long": lambda d: f"{weekday_name(d)}, the {format_ordinal(d.day)} of {month_name(d)}, {d.year}",
}
# Written with symbols that are all known, in an order that never was:
UNTRAINED_FORMATS: dict[str, DateFormat] = {
    "year_first": lambda d: f"{d.year} {month_name(d)} {d.day}",
    "dashes": lambda d: f"{d.day}-{month_name(d)[:3]}-{d.year}",
    "year_slashes": lambda d: f"{d.year}/{d.month:02}/{d.day:02}",
    "counted_us": lambda d: f"{month_name(d)} the {format_ordinal(d.day)}, {d.year}",
}


def format_chinese_date(day: date) -> str:
    """A date as Chinese writes it.

    >>> format_chinese_date(date(2019, 3, 5))
    '2019年3月5日'
    """
    return f"{day.year}年{day.month}月{day.day}日"


def trained_days() -> list[date]:
    """The days that may be trained."""
    return [FIRST_DAY + timedelta(n) for n in range(DAY_COUNT) if n % HELD_OUT_PERIOD_DAYS != HELD_OUT_DAY]


def held_out_days() -> list[date]:
    """The days that never are."""
    return [FIRST_DAY + timedelta(n) for n in range(DAY_COUNT) if n % HELD_OUT_PERIOD_DAYS == HELD_OUT_DAY]


SOURCE = Alphabet(tuple(sorted({*"".join((*MONTHS, *WEEKDAYS)), *"the of st nd rd", *"0123456789", *" ,/-"})))
TARGET = Alphabet(tuple("0123456789年月日"))


# ---- what is trained, and what is measured ---------------------------------------------------------------------------
TRAINED_DATE_COUNT, TEXTS_PER_LENGTH = 16384, 16  # dates that are trained; dates of a length that are measured
MEASURED_LENGTHS = (*range(8, 19), *range(20, 38))  # lengths: 19 and 38, one text of 500, are left out


def draw_date_pairs(
    days: Sequence[date], formats: Sequence[DateFormat], count: int, seed: int
) -> list[tuple[str, str]]:
    """So many days, drawn, each in a format that is drawn, and as Chinese writes it."""
    generator = torch.Generator().manual_seed(seed)
    which = torch.randint(len(days), (count,), generator=generator).tolist()
    how = torch.randint(len(formats), (count,), generator=generator).tolist()
    return [(formats[style](days[at]), format_chinese_date(days[at])) for at, style in zip(which, how, strict=True)]


@cache
def all_trained_texts() -> SourceTargetTexts:
    """All that is ever trained."""
    return encode_pairs(draw_date_pairs(trained_days(), [*FORMATS.values()], TRAINED_DATE_COUNT, 0), SOURCE, TARGET)


def batch(count: int, generator: Generator) -> SourceTargetTexts:
    """Some of it, drawn."""
    source, target = all_trained_texts()
    which = torch.randint(len(source), (count,), generator=generator)
    return trim_padding(source[which]), target[which]


@cache
def held_out() -> dict[int, SourceTargetTexts]:
    """Dates that are never trained, by the length of what is read."""
    lengths: dict[int, list[tuple[str, str]]] = {}
    for pair in draw_date_pairs(held_out_days(), [*FORMATS.values()], 4096, 1):
        lengths.setdefault(len(pair[0]), []).append(pair)
    return {length: encode_pairs(lengths[length][:TEXTS_PER_LENGTH], SOURCE, TARGET) for length in MEASURED_LENGTHS}


@cache
def untrained_texts() -> dict[str, SourceTargetTexts]:
    """Dates in formats that are never trained, by format."""
    days = held_out_days()
    return {
        name: encode_pairs(draw_date_pairs(days, [how], 4 * TEXTS_PER_LENGTH, 2), SOURCE, TARGET)
        for name, how in UNTRAINED_FORMATS.items()
    }


def exact_in_untrained_formats(model: Seq2Seq) -> dict[str, float]:
    """The share of dates that are written exactly, by format."""
    return {name: share_exact(model, texts) for name, texts in untrained_texts().items()}


# ---- what is right ---------------------------------------------------------------------------------------------------
def read_date(text: str) -> date | None:
    """The day that a text names in one of the formats here, trained or not; None for any other text.

    >>> read_date("March 5, 2019"), read_date("2019/03/05"), read_date("next Tuesday")
    (datetime.date(2019, 3, 5), datetime.date(2019, 3, 5), None)
    """
    found = [int(number) for number in re.findall(r"\d{1,4}", text)][:3]
    found += [n for n, name in enumerate(MONTHS, 1) if name[:3] in text]
    ways = (*FORMATS.values(), *UNTRAINED_FORMATS.values())
    for year, month_, day in permutations(found, 3):
        if 1 <= month_ <= 12 and year >= MINYEAR and 1 <= day <= monthrange(year, month_)[1]:
            meant = date(year, month_, day)
            if any(how(meant) == text for how in ways):
                return meant
    return None


def answer(text: str) -> str | None:
    """What is to be written of a text; None where it is no date in a format here."""
    meant = read_date(text)
    return None if meant is None else format_chinese_date(meant)
