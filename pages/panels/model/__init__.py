"""The record of a panel: a tab below the picture with results of a whole model, that is, of a model whose layers are
all known.

Each module of this folder is a panel: it declares its component, draws it, and ends with PANEL, its record. The name of
the module is the panel's name in a link, and the label of its tab has the key "model.panel.<name>". The tabs, the
proof, lectures, links and exported files read the records through pages/panels/model_panels.py.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor

from attention_core import Trace
from attention_core.learned.language.read_model import ReadModel
from attention_core.record.trace import Step
from attention_core.transformer.stack import Stack
from pages.session.view import ScreenState

OWN = "own"  # name of a panel's main run; each other run has a text with the key "proof.whole.of.<name>"
Table = tuple[Trace, str]  # (a run, the name of its step to export as a table)


@dataclass(frozen=True)
class ShownRuns:
    """The runs whose numbers a panel shows.

    key: all values that determine these numbers, except the model and the sentence. find: a function that computes the
    runs and returns {name: run}.
    """

    key: tuple
    find: Callable[[], Mapping[str, Stack]]


def no_tables(screen: ScreenState) -> Iterable[Table]:
    """Returns (), for panels that export no tables."""
    return ()


def lacks_nothing(model: ReadModel) -> None:
    """Returns None: a panel with this function can be drawn for every model."""


def predicts_words(model: ReadModel) -> bool:
    """Returns whether one linear map computes a model's logits of words from its last vectors."""
    return bool(model.vocabulary) and model.returned_logits is None


@dataclass(frozen=True)
class Panel:
    """The record of a panel of a language model: how the panel is drawn, proved and exported.

    place: the position of its tab, from 1; the panel at 1 is open if a link names none. depends_on: fields of the Setup
    that change the panel's content, besides the run and the selected word. draw: a function that draws the panel, on
    the workbench and in a lecture. runs: a function that returns the runs whose numbers can be proved; None if the
    panel shows no run. checked_as: the end of the text key "proof.whole.<checked_as>", under which these runs are
    described. tables: a function that returns the tables to export as CSV files. run_key: a function that returns the
    values that determine the run; None if these are the whole RunSetup. predicts_words: whether the panel shows
    predicted words; all of them are guesses if the sentence is unusual. find_lack: a function that returns what a model
    lacks for the panel, or None; if it lacks something, the tab is absent, and the text "model.absent.<name>.<lack>"
    says why.
    """

    place: int
    depends_on: tuple[str, ...]
    draw: Callable[[ScreenState], None]
    runs: Callable[[ScreenState], ShownRuns | None]
    checked_as: str = "layers"
    tables: Callable[[ScreenState], Iterable[Table]] = no_tables
    run_key: Callable[[ScreenState], object] | None = None
    predicts_words: bool = False
    find_lack: Callable[[ReadModel], str | None] = lacks_nothing


def make_table(name: str, values: Tensor, **labels: tuple[str, ...]) -> Table:
    """Returns a table of numbers as a Trace with one step, called name.

    labels: the labels of each axis of values, in order.
    """
    return Trace({name: Step(name, values, tuple(labels))}, labels), name
