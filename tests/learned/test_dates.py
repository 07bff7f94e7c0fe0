"""Dates: what is written says the day that is read, by strptime; no day is trained and measured, in any format."""

import re
from collections import Counter
from datetime import date, datetime

import pytest
import torch

from attention_core.learned.symbols import PAD
from attention_core.learned.tasks import dates

PATTERNS = {
    "us": "%B %d, %Y",
    "uk": "%d %B %Y",
    "us_short": "%b %d, %Y",
    "uk_short": "%d %b %Y",
    "slashes": "%m/%d/%Y",
    "iso": "%Y-%m-%d",
    "weekday": "%A, %B %d, %Y",
    "counted": "the %d of %B, %Y",
    "long": "%A, the %d of %B, %Y",
}
UNTRAINED = {
    "year_first": "%Y %B %d",
    "dashes": "%d-%b-%Y",
    "year_slashes": "%Y/%m/%d",
    "counted_us": "%B the %d, %Y",
}
DAYS = [date(1950, 1, 1), date(1999, 12, 31), date(2000, 2, 29), date(2019, 3, 5), date(2049, 9, 23)]
ENDINGS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}  # all others: th


def read(text, pattern):
    """The day that an English text names."""
    return datetime.strptime(re.sub(r"\b(\d+)(st|nd|rd|th)\b", r"\1", text), pattern).date()


def readings(text):
    """Every day that some trained format reads in it."""
    found = set()
    for pattern in PATTERNS.values():
        try:
            found.add(read(text, pattern))
        except ValueError:
            continue
    return found


def read_chinese(text):
    return date(*map(int, re.fullmatch(r"(\d{4})年([1-9]\d?)月([1-9]\d?)日", text).groups()))


def rows(texts):
    """Pairs of what is read and written, as texts."""
    for source, target in zip(*(side.tolist() for side in texts), strict=True):
        yield tuple(
            "".join(alphabet.symbols([number for number in row if number != PAD]))
            for alphabet, row in ((dates.SOURCE, source), (dates.TARGET, target))
        )


def days_of(texts):
    return {read_chinese(target) for _, target in rows(texts)}


# ---- how a day is written --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name, pattern", [*PATTERNS.items(), *UNTRAINED.items()])
@pytest.mark.parametrize("day", DAYS, ids=str)
def test_a_format_says_its_day(name, pattern, day):
    text = (dates.FORMATS | dates.UNTRAINED_FORMATS)[name](day)
    assert read(text, pattern) == day
    assert ("%A" in pattern) == (day.strftime("%A") in text)
    assert re.search(r"\b0\d", text) is None or name in ("iso", "year_slashes")  # 5, not 05


def test_there_are_these_formats_and_no_other():
    assert [*dates.FORMATS] == [*PATTERNS]
    assert [*dates.UNTRAINED_FORMATS] == [*UNTRAINED]


def test_days_of_a_month_are_counted():
    assert [dates.format_ordinal(n) for n in range(1, 32)] == [f"{n}{ENDINGS.get(n, 'th')}" for n in range(1, 32)]


@pytest.mark.parametrize("day", DAYS, ids=str)
def test_chinese_says_its_day(day):
    assert read_chinese(dates.format_chinese_date(day)) == day


# ---- no day is on both sides -----------------------------------------------------------------------------------------
def test_days_are_trained_or_held_out_and_cover_a_hundred_years():
    trained, held_out = ({*days()} for days in (dates.trained_days, dates.held_out_days))
    assert not trained & held_out
    assert len(trained) + len(held_out) == (date(2050, 1, 1) - date(1950, 1, 1)).days
    assert len(held_out) == pytest.approx(36525 / 11, abs=1)
    assert min(trained | held_out) == date(1950, 1, 1) and max(trained | held_out) == date(2049, 12, 31)
    for part in ({day.weekday() for day in held_out}, {day.day for day in held_out}):
        assert part in ({*range(7)}, {*range(1, 32)})  # no weekday and no day of a month is missing


def test_no_day_is_trained_and_measured_in_any_format():
    trained = days_of(dates.all_trained_texts())
    for texts in (*dates.held_out().values(), *dates.untrained_texts().values()):
        assert not trained & days_of(texts)
    assert len(trained) > 10_000


def test_a_day_on_both_sides_would_be_seen(monkeypatch):
    monkeypatch.setattr(dates, "trained_days", dates.held_out_days)
    trained = days_of(dates.all_trained_texts.__wrapped__())  # drawn anew, and not kept
    assert all(trained & days_of(texts) for texts in dates.held_out().values())


def test_batches_are_drawn_from_what_is_trained(generator):
    known = {*rows(dates.all_trained_texts())}
    for _ in range(20):
        texts = dates.batch(31, generator)
        assert {*rows(texts)} <= known
        assert (texts[0] != PAD).any(0).all()  # no column of padding alone


def test_batches_differ(generator):
    one, other = (dates.batch(31, generator)[1] for _ in range(2))
    assert not torch.equal(one, other)


# ---- what is written is right ----------------------------------------------------------------------------------------
def test_every_measured_text_says_the_day_that_is_to_be_written():
    for length, texts in dates.held_out().items():
        for source, target in rows(texts):
            assert len(source) == length
            assert readings(source) == {read_chinese(target)}
            assert all(day in source for day in dates.WEEKDAYS if source.startswith(day))


def test_trained_texts_say_the_day_that_is_to_be_written():
    for source, target in [*rows(dates.all_trained_texts())][::47]:
        assert readings(source) == {read_chinese(target)}


def test_weekdays_are_the_calendars():
    for texts in dates.held_out().values():
        for source, target in rows(texts):
            named = re.match(r"[A-Z][a-z]+day", source)
            assert named is None or named[0] == read_chinese(target).strftime("%A")


# ---- lengths ---------------------------------------------------------------------------------------------------------
def test_every_length_has_as_many_texts():
    assert tuple(dates.held_out()) == dates.MEASURED_LENGTHS
    for texts in dates.held_out().values():
        assert [len(side) for side in texts] == [dates.TEXTS_PER_LENGTH] * 2


def test_measured_lengths_are_all_but_two_that_hardly_any_text_has():
    """ "Monday, May 5, 2019" has 19 symbols, "Wednesday, the 22nd of September, 2021" 38."""
    lengths = Counter(len(how(day)) for day in dates.held_out_days() for how in dates.FORMATS.values())
    assert {*lengths} - {*dates.MEASURED_LENGTHS} == {19, 38}
    assert {*dates.MEASURED_LENGTHS} <= {*lengths}
    assert (lengths[19] + lengths[38]) / lengths.total() < 1 / 400


# ---- formats that are never trained ----------------------------------------------------------------------------------
def test_formats_that_are_never_trained_use_known_symbols():
    trained = {symbol for source, _ in rows(dates.all_trained_texts()) for symbol in source}
    for name, texts in dates.untrained_texts().items():
        assert {symbol for source, _ in rows(texts) for symbol in source} <= trained, name


@pytest.mark.parametrize("name, pattern", UNTRAINED.items())
def test_no_trained_format_writes_as_they_do(name, pattern):
    assert name not in dates.FORMATS
    assert dates.UNTRAINED_FORMATS[name] not in dates.FORMATS.values()
    for day in dates.held_out_days()[::7]:
        assert dates.UNTRAINED_FORMATS[name](day) not in {how(day) for how in dates.FORMATS.values()}
    texts = [*rows(dates.untrained_texts()[name])]
    assert len(texts) == 4 * dates.TEXTS_PER_LENGTH
    for source, target in texts:
        assert not readings(source)
        assert read(source, pattern) == read_chinese(target)
