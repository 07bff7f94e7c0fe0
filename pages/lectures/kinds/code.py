"""A scene that shows the code which ran: of one step of a state of the workbench, in PyTorch and in NumPy."""

from collections.abc import Mapping
from dataclasses import dataclass

from pages.lectures.kinds.parts import UnreadPart
from pages.lectures.kinds.workbench import read_workbench, write_workbench
from pages.setup.setup import Setup

CODE_PARTS = ("setup",)


@dataclass(frozen=True)
class RunCode:
    """The code of the step that a Setup opens; of its weights, where it opens none."""

    setup: Setup


def read_code(parts: Mapping[str, object]) -> tuple[RunCode, tuple[UnreadPart, ...]]:
    """The run whose code a scene shows; what of it nobody can read."""
    setup, unread = read_workbench(parts)
    return RunCode(setup), unread


def write_code(code: RunCode) -> dict[str, object]:
    """The run as a file has it."""
    return write_workbench(code.setup)
