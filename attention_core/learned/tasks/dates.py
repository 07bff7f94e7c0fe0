"""Defines the task of translating English dates in several formats into Chinese: "March 5, 2019" to "2019年3月5日"."""

import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import MINYEAR, date, timedelta
from functools import cache
from itertools import permutations

import torch
from torch import Generator

from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.symbols import Alphabet
from attention_core.learned.tasks.texts import SourceTargetTexts, encode_pairs, share_exact, trim_padding

# ---- the formats -----------------------------------------------------------------------------------------------------
DateFormat = Callable[[date], str]

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


# ---- writing ---------------------------------------------------------------------------------------------------------
def month_name(day: date) -> str:
    return MONTHS[day.month - 1]


def weekday_name(day: date) -> str:
    return WEEKDAYS[day.weekday()]


def format_ordinal(number: int) -> str:
    """Write a day of a month as an ordinal number.

    >>> [format_ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '22nd', '23rd', '30th']
    """
    if number in (11, 12, 13):
        return f"{number}th"
    endings = {1: "st", 2: "nd", 3: "rd"}
    ending = endings.get(number % 10, "th")
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
# Formats with the same symbols as FORMATS in another order, which no training text has.
UNTRAINED_FORMATS: dict[str, DateFormat] = {
    "year_first": lambda d: f"{d.year} {month_name(d)} {d.day}",
    "dashes": lambda d: f"{d.day}-{month_name(d)[:3]}-{d.year}",
    "year_slashes": lambda d: f"{d.year}/{d.month:02}/{d.day:02}",
    "counted_us": lambda d: f"{month_name(d)} the {format_ordinal(d.day)}, {d.year}",
}


def format_chinese_date(day: date) -> str:
    """Write a date in Chinese.

    >>> format_chinese_date(date(2019, 3, 5))
    '2019年3月5日'
    """
    return f"{day.year}年{day.month}月{day.day}日"


# ---- reading ---------------------------------------------------------------------------------------------------------
def read_date(text: str) -> date | None:
    """Return the date that a text means in one of FORMATS or UNTRAINED_FORMATS; None for any other text.

    The numbers of the text are tried in each order as year, month and day.

    >>> read_date("March 5, 2019"), read_date("2019/03/05"), read_date("next Tuesday")
    (datetime.date(2019, 3, 5), datetime.date(2019, 3, 5), None)
    """
    for year, month, day in permutations(find_numbers(text), 3):
        if not is_day(year, month, day):
            continue
        named_day = date(year, month, day)
        formats = (*FORMATS.values(), *UNTRAINED_FORMATS.values())
        if text in [write(named_day) for write in formats]:
            return named_day
    return None


def find_numbers(text: str) -> list[int]:
    """Return the numbers in a text that may form a date: the first three in digits, then the months written as
    words.
    """
    digit_groups = re.findall(r"\d{1,4}", text)
    numbers = [int(digits) for digits in digit_groups[:3]]
    for number, name in enumerate(MONTHS, 1):
        short_name = name[:3]
        if short_name in text:
            numbers.append(number)
    return numbers


def is_day(year: int, month: int, day: int) -> bool:
    """Return whether a date with this year, month and day exists."""
    if year < MINYEAR:
        return False
    if not 1 <= month <= 12:
        return False
    _, day_count = monthrange(year, month)
    return 1 <= day <= day_count


# ---- days and symbols ------------------------------------------------------------------------------------------------
FIRST_DAY, DAY_COUNT = date(1950, 1, 1), 36525  # dates are sampled from this day on, within a hundred years
# One day in eleven is held out; no calendar period has eleven days, so held-out days are spread evenly.
HELD_OUT_PERIOD_DAYS, HELD_OUT_DAY = 11, 5

SOURCE_LETTERS = set("".join((*MONTHS, *WEEKDAYS, "the of st nd rd")))
SOURCE = Alphabet(tuple(sorted(SOURCE_LETTERS | set("0123456789 ,/-"))))
TARGET = Alphabet(tuple("0123456789年月日"))


def trained_days() -> list[date]:
    """Return the dates used for training."""
    return [FIRST_DAY + timedelta(number) for number in range(DAY_COUNT) if not is_held_out_day(number)]


def held_out_days() -> list[date]:
    """Return the held-out days."""
    return [FIRST_DAY + timedelta(number) for number in range(DAY_COUNT) if is_held_out_day(number)]


def is_held_out_day(day_number: int) -> bool:
    """Return whether a day is held out for measuring.

    day_number: the number of days since FIRST_DAY.
    """
    return day_number % HELD_OUT_PERIOD_DAYS == HELD_OUT_DAY


# ---- texts for training, and for measuring ---------------------------------------------------------------------------
TRAINED_DATE_COUNT, HELD_OUT_DATE_COUNT = 16384, 4096  # number of dates sampled for training, number of held-out dates
TEXTS_PER_LENGTH, UNTRAINED_DATE_COUNT = 16, 64  # number of dates measured per text length, per untrained format
MEASURED_LENGTHS = (*range(8, 19), *range(20, 38))  # without lengths 19 and 38, which are too rare (one text in 500)


def draw_date_pairs(
    days: Sequence[date], formats: Sequence[DateFormat], count: int, seed: int
) -> list[tuple[str, str]]:
    """Sample pairs of texts: a day in a randomly chosen English format, and the same day in Chinese."""
    generator = torch.Generator().manual_seed(seed)
    day_numbers = torch.randint(len(days), (count,), generator=generator)
    format_numbers = torch.randint(len(formats), (count,), generator=generator)
    pairs = []
    for day_number, format_number in zip(day_numbers, format_numbers, strict=True):
        day = days[day_number]
        write_english = formats[format_number]
        english = write_english(day)
        chinese = format_chinese_date(day)
        pairs.append((english, chinese))
    return pairs


@cache
def all_trained_texts() -> SourceTargetTexts:
    """Sample all training texts: TRAINED_DATE_COUNT dates in English, each with its Chinese translation."""
    pairs = draw_date_pairs(
        trained_days(),
        [*FORMATS.values()],
        TRAINED_DATE_COUNT,
        seed=0,
    )
    return encode_pairs(pairs, SOURCE, TARGET)


def batch(count: int, generator: Generator) -> SourceTargetTexts:
    """Sample a batch of `count` pairs from the training texts."""
    source, target = all_trained_texts()
    rows = torch.randint(len(source), (count,), generator=generator)
    source = trim_padding(source[rows])
    target = target[rows]
    return source, target


@cache
def held_out() -> dict[int, SourceTargetTexts]:
    """Return sampled held-out dates with their translations: {length of the English text: its pairs}."""
    pairs = draw_date_pairs(
        held_out_days(),
        [*FORMATS.values()],
        HELD_OUT_DATE_COUNT,
        seed=1,
    )
    pairs_by_length: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for english, chinese in pairs:
        length = len(english)
        pairs_by_length[length].append((english, chinese))
    texts = {}
    for length in MEASURED_LENGTHS:
        own_pairs = pairs_by_length[length]
        texts[length] = encode_pairs(own_pairs[:TEXTS_PER_LENGTH], SOURCE, TARGET)
    return texts


@cache
def untrained_texts() -> dict[str, SourceTargetTexts]:
    """Return {format: sampled held-out dates} for the formats that do not occur in training texts."""
    days = held_out_days()
    texts = {}
    for name, write_english in UNTRAINED_FORMATS.items():
        pairs = draw_date_pairs(days, [write_english], UNTRAINED_DATE_COUNT, seed=2)
        texts[name] = encode_pairs(pairs, SOURCE, TARGET)
    return texts


def exact_in_untrained_formats(model: Seq2Seq) -> dict[str, float]:
    """Measure the share of dates that are translated exactly, for each format that does not occur in training texts."""
    return {name: share_exact(model, texts) for name, texts in untrained_texts().items()}


# ---- the right text --------------------------------------------------------------------------------------------------
def answer(text: str) -> str | None:
    """Return the right translation of a text; None if the text is not a date in one of the formats."""
    day = read_date(text)
    if day is None:
        return None
    return format_chinese_date(day)
