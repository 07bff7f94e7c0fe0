"""The record of a panel: one view of a language model, shown under the picture when its tab is chosen.

Each module of this folder is a panel: it declares its component, draws it and ends with PANEL, its record. The name of
the module is the panel's name in a link, and its tab is labelled by the word "model.panel.<name>". The tabs, the proof,
lectures, links and exported files read the records through pages/panels/model_panels.py.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor

from attention_core import Trace
from attention_core.record.trace import Step
from attention_core.transformer.stack import Stack
from pages.session.view import ScreenState

OWN = "own"  # the name of the run that a panel is about; other runs are named after "proof.whole.of."
Table = tuple[Trace, str]  # a run, and the name of its step that is written as a table


@dataclass(frozen=True)
class ShownRuns:
    """The runs whose numbers a panel shows.

    key: all values that decide their numbers, besides model and sentence. find: computes the runs, by name."""

    key: tuple
    find: Callable[[], Mapping[str, Stack]]


def no_tables(screen: ScreenState) -> Iterable[Table]:
    """The tables of a panel that has no files."""
    return ()


@dataclass(frozen=True)
class Panel:
    """A panel of a language model.

    place: of its tab, counted from 1; the panel at 1 is open if a link names none.
    depends_on: fields of the Setup that change what it shows, besides the run and the selected word.
    draw: draws it, on the workbench and on the stage of a lecture.
    runs: the runs that the proof checks; None if there is nothing to show.
    checked_as: which words of "proof.whole" name those runs.
    tables: the tables that its CSV files are made of.
    run_key: what decides the run, if that is not the whole Setup without its view.
    predicts_words: whether it shows words that the model predicts, so that an unusual sentence makes all of it a guess.
    """

    place: int
    depends_on: tuple[str, ...]
    draw: Callable[[ScreenState], None]
    runs: Callable[[ScreenState], ShownRuns | None]
    checked_as: str = "layers"
    tables: Callable[[ScreenState], Iterable[Table]] = no_tables
    run_key: Callable[[ScreenState], object] | None = None
    predicts_words: bool = False


def make_table(name: str, values: Tensor, **labels: tuple[str, ...]) -> Table:
    """A table of numbers as a step called name. labels: of each axis of values, in their order."""
    return Trace({name: Step(name, values, tuple(labels))}, labels), name
