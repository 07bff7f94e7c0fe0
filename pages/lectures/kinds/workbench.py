"""A scene that shows a state of the workbench: its record is the Setup itself."""

from collections.abc import Mapping

from pages.lectures.kinds.parts import UnreadPart, read_texts
from pages.setup.codec import setup_from_link, setup_to_link
from pages.setup.setup import Setup

WORKBENCH_PARTS = ("setup",)


def read_workbench(parts: Mapping[str, object]) -> tuple[Setup, tuple[UnreadPart, ...]]:
    """The Setup of a scene, in the form of a link, and its (key, text) parts that could not be read."""
    setup, unread = setup_from_link(read_texts(parts, "setup"))
    return setup, tuple(unread)


def write_workbench(setup: Setup) -> dict[str, object]:
    """A Setup as a JSON object: its differences from its example, as in a link."""
    return {"setup": setup_to_link(setup)}
