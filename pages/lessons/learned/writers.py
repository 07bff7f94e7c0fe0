"""Encoder-decoders at a step of their training, and what they make of a text that is typed."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from attention_core.drawing.palette import Palette
from attention_core.learned.insight.views import MAX_READ_SYMBOLS, symbols_of, write_text
from attention_core.learned.tasks import dates, reversal
from attention_core.learned.training.courses import COURSES
from pages.lessons.learned.learning import TrainingRecord
from pages.runs.cache import cache_by_setup
from pages.runs.network_store import find_network
from pages.setup.setup import Setup

MAX_WRITTEN_ROWS = MAX_READ_SYMBOLS  # symbols of what is written that are shown: as many as can be read


@dataclass(frozen=True)
class WritingTask:
    """A task in which a text is read and another one is written.

    text: what is read at first, after the step `telling`. kinds: the networks that learn it, those with attention
    first. example: the one whose attention theirs is. answer: what is to be written of a text; None where nobody can
    say. longest: symbols of the longest text in training, where longer ones are measured, too."""

    text: str
    telling: int
    kinds: tuple[str, ...]
    example: str
    answer: Callable[[str], str | None]
    longest: float = math.inf


WRITING_TASKS = {
    "reversal": WritingTask(
        "representation",
        3000,
        ("additive", "one"),
        "learned_reversal",
        reversal.answer,
        reversal.LONGEST_TRAINED,
    ),
    "dates": WritingTask("August 14, 2026", 200, ("additive", "dot", "one"), "learned_dates", dates.answer),
}


@dataclass(frozen=True)
class WritingResult:
    """What a network wrote, and whether it is right; None where nobody can say.

    setup: the run of the network's attention, where it has one and wrote anything."""

    written: str
    right: bool | None
    setup: Setup | None


def check_writer_text(task: str, text: str) -> None:
    """Raises AttentionError for a text that no network of the task can read."""
    split_symbols(f"{task}_one", text)


@cache_by_setup
def cached_writing(network: str, text: str) -> str:
    """What a network writes."""
    return "".join(write_text(find_network(network), text))


def write_at_step(of: TrainingRecord, step: int, text: str) -> WritingResult:
    """What a text becomes after a step of a training of which there is a network."""
    task_name, _, kind = of.course.partition("_")
    task = WRITING_TASKS[task_name]
    network = of.network_at(step)
    written = cached_writing(network, text)
    symbols = split_symbols(of.course, text)
    wanted = task.answer("".join(symbols))
    right = None if wanted is None else written == wanted
    setup = None
    if kind != "one" and written:
        setup = Setup(
            task.example,
            text=written[:MAX_WRITTEN_ROWS],
            context_text=text,
            network=network,
            score=kind,
        )
    return WritingResult(written, right, setup)


def split_symbols(course: str, text: str) -> tuple[str, ...]:
    """The symbols of a text as the network reads it."""
    return symbols_of(text, COURSES[course].alphabets[0])


def shorten_writing(written: str) -> str:
    """What a network writes, as much of it as is shown."""
    if len(written) <= MAX_WRITTEN_ROWS:
        return written
    return f"{written[:MAX_WRITTEN_ROWS]}…"


def network_colours(palette: Palette) -> dict[str, str]:
    """One a kind of network."""
    return {"additive": palette.share, "dot": palette.q, "one": palette.k}
