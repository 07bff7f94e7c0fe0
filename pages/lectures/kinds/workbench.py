"""Reads and writes scenes that show a state of the workbench; the content of such a scene is a Setup."""

from collections.abc import Mapping

from pages.lectures.kinds.parts import UnreadPart, read_texts
from pages.setup.codec import setup_from_link, setup_to_link
from pages.setup.setup import Setup

WORKBENCH_PARTS = ("setup",)


def read_workbench(parts: Mapping[str, object]) -> tuple[Setup, tuple[UnreadPart, ...]]:
    """Parses the Setup (workbench state) of a scene; also returns its (key, text) parts that could not be read."""
    setup, unread = setup_from_link(read_texts(parts, "setup"))
    return setup, tuple(unread)


def write_workbench(setup: Setup) -> dict[str, object]:
    """Returns a Setup as a JSON object, which contains its differences from its example."""
    return {"setup": setup_to_link(setup)}
