"""The record of a panel: one view of a language model, shown under the picture if its tab is chosen.

Each module of this folder is a panel: it declares its component, draws it, and ends with PANEL, its record. The name of
the module is the panel's name in a link, and the label of its tab has the key "model.panel.<name>". The tabs, the
proof, lectures, links and exported files read the records through pages/panels/model_panels.py.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor

from attention_core import Trace
from attention_core.record.trace import Step
from attention_core.transformer.stack import Stack
from pages.session.view import ScreenState

OWN = "own"  # name of the panel's own run; further runs have a name with a text "proof.whole.of.<name>"
Table = tuple[Trace, str]  # a run, and the name of its step that is exported as a table


@dataclass(frozen=True)
class ShownRuns:
    """The runs whose numbers a panel shows.

    key: all values that determine these numbers, besides model and sentence. find: computes the runs, by name.
    """

    key: tuple
    find: Callable[[], Mapping[str, Stack]]


def no_tables(screen: ScreenState) -> Iterable[Table]:
    """The tables of a panel that has no files."""
    return ()


@dataclass(frozen=True)
class Panel:
    """A panel of a language model.

    place: position of its tab, counted from 1; the panel at 1 is open if a link names none.
    depends_on: fields of the Setup that change the panel's content, besides the run and the selected word.
    draw: draws the panel, on the workbench and on the stage of a lecture.
    runs: returns the runs that the proof checks; None if the panel is empty.
    checked_as: end of the key "proof.whole.<checked_as>" of the words for these runs.
    tables: returns the tables that are exported as CSV files.
    run_key: returns the values that determine the run, if they are not the whole RunSetup.
    predicts_words: whether the panel shows predicted words, so that all of it is a guess for an unusual sentence.
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
    """A table of numbers as a Trace with one step, called name. labels: of each axis of values, in their order."""
    return Trace({name: Step(name, values, tuple(labels))}, labels), name
