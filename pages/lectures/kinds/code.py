"""The scene (slide of a lecture) that shows the code of one step of a run, in PyTorch and in NumPy."""

from collections.abc import Mapping
from dataclasses import dataclass

from pages.lectures.kinds.parts import UnreadPart
from pages.lectures.kinds.workbench import read_workbench, write_workbench
from pages.setup.setup import Setup

CODE_PARTS = ("setup",)


@dataclass(frozen=True)
class RunCode:
    """The content of a code scene: a Setup, whose open step (by default the weights) is shown as code."""

    setup: Setup


def read_code(parts: Mapping[str, object]) -> tuple[RunCode, tuple[UnreadPart, ...]]:
    """Parses the RunCode (content) of a scene.

    Also returns the (key, text) parts of its Setup that could not be read.
    """
    setup, unread = read_workbench(parts)
    return RunCode(setup), unread


def write_code(code: RunCode) -> dict[str, object]:
    """Returns a RunCode as a JSON object with one part, its Setup."""
    return write_workbench(code.setup)
