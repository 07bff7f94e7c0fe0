"""Dates in several English formats and in the Chinese format: "March 5, 2019" and "2019年3月5日"."""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import MINYEAR, date
from itertools import permutations

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
# Formats with the same symbols, in an order that is not in the training texts:
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
    """Return the date that a text names in one of FORMATS or UNTRAINED_FORMATS; None for any other text.

    Each order of the numbers in the text is tried as year, month and day.

    >>> read_date("March 5, 2019"), read_date("2019/03/05"), read_date("next Tuesday")
    (datetime.date(2019, 3, 5), datetime.date(2019, 3, 5), None)
    """
    for year, month, day in permutations(find_numbers(text), 3):
        if not is_day(year, month, day):
            continue
        named_day = date(year, month, day)
        if text in write_in_all_formats(named_day):
            return named_day
    return None


def find_numbers(text: str) -> list[int]:
    """Return the first three numbers in a text, and the numbers of the months that the text names."""
    digit_groups = re.findall(r"\d{1,4}", text)
    numbers = [int(digits) for digits in digit_groups[:3]]
    for number, name in enumerate(MONTHS, 1):
        short_name = name[:3]
        if short_name in text:
            numbers.append(number)
    return numbers


def is_day(year: int, month: int, day: int) -> bool:
    """Return whether the calendar has a day with this year, month and day of the month."""
    if year < MINYEAR:
        return False
    if not 1 <= month <= 12:
        return False
    _, day_count = monthrange(year, month)
    return 1 <= day <= day_count


def write_in_all_formats(day: date) -> list[str]:
    """Return a date in every format of FORMATS and UNTRAINED_FORMATS."""
    formats = (*FORMATS.values(), *UNTRAINED_FORMATS.values())
    return [write(day) for write in formats]
