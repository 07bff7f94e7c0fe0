"""Runs encoder-decoder networks from a step of their training, and checks their outputs for a typed text."""

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
from pages.setup.setup import Setup, make_setup

MAX_WRITTEN_ROWS = MAX_READ_SYMBOLS  # most symbols of an output that are shown: as many as a network can read


@dataclass(frozen=True)
class WritingTask:
    """A sequence-to-sequence task of a lesson, such as reversing a text.

    text: the default input. telling: the training step that is shown by default. kinds: the networks that learn the
    task, those with attention first. example: the name of the workbench example with their attention. answer: a
    function that returns the right output for a text, or None if there is none. longest: the length in symbols of the
    longest training text, if longer texts are measured too.
    """

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
    """The output of a network for a text.

    right: whether the output is right; None if the text has no right output. setup: the Setup (settings of a run) that
    shows the network's attention in the workbench; None for a network without attention, or for an empty output.
    """

    written: str
    right: bool | None
    setup: Setup | None


def check_writer_text(task: str, text: str) -> None:
    """Raises AttentionError for a text that no network of the task can read."""
    split_symbols(f"{task}_one", text)


@cache_by_setup
def cached_writing(network: str, text: str) -> str:
    """Returns the output of a network for a text."""
    return "".join(write_text(find_network(network), text))


def write_at_step(of: TrainingRecord, step: int, text: str) -> WritingResult:
    """Returns the output for a text by the network at one step of a training.

    of: the record of the training. step: a step with a checkpoint.
    """
    task_name, _, kind = of.course.partition("_")
    task = WRITING_TASKS[task_name]
    network = of.network_at(step)
    written = cached_writing(network, text)
    symbols = split_symbols(of.course, text)
    wanted = task.answer("".join(symbols))
    right = None if wanted is None else written == wanted
    setup = None
    if kind != "one" and written:
        setup = make_setup(
            example=task.example,
            text=written[:MAX_WRITTEN_ROWS],
            context_text=text,
            network=network,
            score=kind,
        )
    return WritingResult(written, right, setup)


def split_symbols(course: str, text: str) -> tuple[str, ...]:
    """Splits a text into symbols of the alphabet that the network of a course (a training for one task) reads."""
    return symbols_of(text, COURSES[course].alphabets[0])


def shorten_writing(written: str) -> str:
    """Returns an output; if it is longer than MAX_WRITTEN_ROWS symbols, cut to these and "…"."""
    if len(written) <= MAX_WRITTEN_ROWS:
        return written
    return f"{written[:MAX_WRITTEN_ROWS]}…"


def network_colours(palette: Palette) -> dict[str, str]:
    """Returns {kind of network, by its attention: colour of its curve}; "one" is the network without attention."""
    return {"additive": palette.share, "dot": palette.q, "one": palette.k}
