"""Reads and writes scenes (slides of a lecture) that show a text that the lecturer has typed."""

from collections.abc import Mapping
from dataclasses import dataclass

from pages.lectures.kinds.parts import UnfitPart, UnreadPart, read_text

TEXT_PARTS = ("text",)
MAX_OWN_TEXT_CHARS = 2_000  # most characters that fit on the screen of a lecture hall


@dataclass(frozen=True)
class OwnText:
    """A text in Markdown; HTML in it is displayed as plain text."""

    text: str


def read_own_text(parts: Mapping[str, object]) -> tuple[OwnText, tuple[UnreadPart, ...]]:
    """Parses the text of a scene (slide of a lecture). Raises UnfitPart if the text is blank or too long."""
    text = read_text(parts, "text", MAX_OWN_TEXT_CHARS)
    if not text.strip():
        raise UnfitPart("text")
    return OwnText(text), ()


def write_own_text(shown: OwnText) -> dict[str, object]:
    """Returns a text as a JSON object."""
    return {"text": shown.text}
