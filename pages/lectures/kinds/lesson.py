"""Reads and writes scenes that show one part of a page, such as a lesson's picture, accordion, code or training."""

from collections.abc import Mapping
from dataclasses import dataclass

from pages.lectures.kinds.parts import MAX_UNREAD_CHARS, UnfitPart, UnreadPart, read_text, read_texts
from pages.setup.codec import MAX_LINK_CHARS
from pages.site.catalog import BESIDE_LESSONS, LESSONS
from pages.site.words import load_app_texts

LESSON_PARTS = ("lesson", "part", "choices")
PICTURE_PART, CODE_PART, TRAINING_PART = "picture", "code", "training"  # parts of a page, other than accordions
TRAINING_LESSONS = ("bottleneck", "induction", "explanation")  # lessons with a network that visitors can train
SHOWN_PAGES = (*LESSONS, *BESIDE_LESSONS)  # pages that a scene (slide of a lecture) can show
MAX_NAME_CHARS = 40
MAX_CHOICES = 60  # most choices of a scene (slide of a lecture); no page has more


@dataclass(frozen=True)
class LessonPart:
    """A part of a page (of a lesson, exercises or reference) that a scene shows, with the visitor's choices there.

    slug: the page's name in its URL. part: "picture", "code", "training", or the name of an accordion. choices: a
    (name, text) pair for each choice, which the page's link contains too.
    """

    slug: str
    part: str = PICTURE_PART
    choices: tuple[tuple[str, str], ...] = ()


def read_lesson(parts: Mapping[str, object]) -> tuple[LessonPart, tuple[UnreadPart, ...]]:
    """Parses a scene's LessonPart, the part of a page that the scene shows.

    If the page has no part of the given name, the picture is shown instead, and the name is returned as an unread part.
    Raises UnfitPart.
    """
    slug = parts.get("lesson")
    if slug not in SHOWN_PAGES:
        raise UnfitPart("lesson")
    choices = read_texts(parts, "choices")
    if len(choices) > MAX_CHOICES or sum(map(len, choices.values())) > MAX_LINK_CHARS:
        raise UnfitPart("choices")
    part = read_text(parts, "part", MAX_NAME_CHARS) or PICTURE_PART
    unread = ()
    if not has_part(slug, part):
        unread = (("part", part[:MAX_UNREAD_CHARS]),)
        part = PICTURE_PART
    return LessonPart(slug, part, tuple(choices.items())), unread


def has_part(slug: str, part: str) -> bool:
    """Returns whether a page has a part with this name.

    >>> has_part("scale", "picture"), has_part("induction", "training"), has_part("scale", "training")
    (True, True, False)
    """
    if part == TRAINING_PART:
        return slug in TRAINING_LESSONS
    return part in (PICTURE_PART, CODE_PART) or f"lessons.{slug}.drawer.{part}" in load_app_texts("en")


def write_lesson(shown: LessonPart) -> dict[str, object]:
    """Returns a LessonPart as a JSON object in which parts with default values are omitted."""
    parts: dict[str, object] = {"lesson": shown.slug}
    if shown.part != PICTURE_PART:
        parts["part"] = shown.part
    if shown.choices:
        parts["choices"] = dict(shown.choices)
    return parts
