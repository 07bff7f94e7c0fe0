"""A scene that shows words of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass

from pages.lectures.kinds.parts import UnfitPart, UnreadPart, read_text

TEXT_PARTS = ("text",)
MAX_OWN_TEXT_CHARS = 2_000  # characters: what a hall's screen has room for


@dataclass(frozen=True)
class OwnText:
    """Words of one's own, as Markdown; what is HTML in them is shown as it stands."""

    text: str


def read_own_text(parts: Mapping[str, object]) -> tuple[OwnText, tuple[UnreadPart, ...]]:
    """The words of a scene."""
    text = read_text(parts, "text", MAX_OWN_TEXT_CHARS)
    if not text.strip():
        raise UnfitPart("text")
    return OwnText(text), ()


def write_own_text(shown: OwnText) -> dict[str, object]:
    """The words as a file has them."""
    return {"text": shown.text}
