"""The titles of pages; that of a lesson begins with its number."""

from pages.site.catalog import LESSONS
from pages.site.words import say


def say_title(slug: str) -> str:
    """Returns the title of a page in the session's language."""
    title = say(f"page.{slug}")
    if slug not in LESSONS:
        return title
    number = LESSONS.index(slug) + 1
    return f"{number} · {title}"
