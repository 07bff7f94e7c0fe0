"""Code in the language of the page: its comments, what it prints, and nothing else of it."""

import json
from functools import cache

from attention_core.explanation.code_comments import translate_comments
from pages.site.words import CONTENT_FOLDER, current_language


@cache
def load_code_comments(language: str) -> dict[str, str]:
    """The comments of the core's code in a language, by the English that stands in the code; English needs none."""
    path = CONTENT_FOLDER / language / "code_comments.json"
    return json.loads(path.read_text(encoding="utf-8"))


def say_code(source: str, language: str | None = None) -> str:
    """A source with its comments in a language, else in the session's."""
    comments = load_code_comments(language or current_language())
    return translate_comments(source, comments)
