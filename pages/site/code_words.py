"""Translates the comments and the printed texts of shown code into the language of the page."""

import json
from functools import cache

from attention_core.explanation.code_comments import translate_comments
from pages.site.words import CONTENT_FOLDER, current_language, load_app_texts

MECHANISM_LABELS = ("score", "masks", "positions", "modifiers", "normaliser")  # kinds of mechanisms that have labels


@cache
def load_code_comments(language: str) -> dict[str, str]:
    """Returns {English comment in attention_core: its translation}; {} for English.

    A title such as "causal: no key after the query" that is not translated becomes the label of its mechanism.
    """
    path = CONTENT_FOLDER / language / "code_comments.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    return {**written, **mechanism_titles(language)} if written else {}


def mechanism_titles(language: str) -> dict[str, str]:
    """Returns {pattern of a comment that titles a mechanism, such as "causal: {rest}": the mechanism's label in a
    language}.
    """
    titles = {}
    for key, label in load_app_texts(language).items():
        family, _, name = key.partition(".")
        if family in MECHANISM_LABELS:
            titles[f"{name}: {{rest}}"] = label
    return titles


def say_code(source: str, language: str | None = None) -> str:
    """Returns source code with its comments translated into a language.

    language: None for the session's language.
    """
    comments = load_code_comments(language or current_language())
    return translate_comments(source, comments)
