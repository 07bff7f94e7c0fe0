"""Every word of the app, by key and language. The words themselves stand in pages/content/<language>/."""

import re
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import REFUSAL_SENTENCES, AttentionError
from attention_core.verification.causes import Cause
from attention_core.verification.mistakes import MISTAKE_SENTENCES as CAUSES

CONTENT_FOLDER = Path(__file__).parents[1] / "content"
LANGUAGES = {"en": "EN", "zh": "中文"}
WORD_JOINER = "\u2060"  # prints nothing and allows no line break


@cache
def load_app_texts(language: str) -> dict[str, str]:
    """All labels and sentence templates of a language, keys joined with dots; English errors and causes are the
    core's own. What stands in labels.toml has no prefix, what stands in lessons/qkv.toml begins with lessons.qkv."""
    words = dict(flatten({"error": REFUSAL_SENTENCES, "cause": CAUSES})) if language == "en" else {}
    for path in sorted((CONTENT_FOLDER / language).rglob("*.toml")):
        place = path.relative_to(CONTENT_FOLDER / language).with_suffix("").parts
        prefix = "" if place == ("labels",) else ".".join((*place, ""))
        words |= flatten(tomllib.loads(path.read_text(encoding="utf-8")), prefix)
    return words


def flatten(table: dict, prefix: str = ""):
    """Nested tables as (dotted key, text) pairs."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


class ThreadLanguage(threading.local):
    """The language of the part of the page that is drawn by this thread; none between the parts."""

    now: str | None = None


THREAD_LANGUAGE = ThreadLanguage()


@contextmanager
def use_language(known: str | None = None) -> Iterator[None]:
    """While a part is drawn its language is asked for once: it has hundreds of words. known: the language, where no
    session can be asked, since a file is made for it."""
    THREAD_LANGUAGE.now = known or current_language()
    try:
        yield
    finally:
        THREAD_LANGUAGE.now = None


def current_language() -> str:
    """The language of this session: chosen, or in the link, or the browser's."""
    if THREAD_LANGUAGE.now is not None:
        return THREAD_LANGUAGE.now
    chosen = st.session_state.get("lang")
    if chosen in LANGUAGES:
        return chosen
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"


def say(key: str, /, **values) -> str:
    """A text in the session's language, its named values filled in."""
    return load_app_texts(current_language())[key].format(**values)


def get_text_template(key: str) -> str:
    """A text whose named values are filled in by a part of the screen that is not Python."""
    return load_app_texts(current_language())[key]


def has(key: str) -> bool:
    """Whether there is a text of this key."""
    return key in load_app_texts(current_language())


def escape_markdown(text: object) -> str:
    """A text as Markdown that shows exactly this text: nothing in it is markup, a directive, a formula or an emoji.

    Streamlit makes addresses, arrows and :names: of texts even where they are escaped: an invisible joiner parts them.
    """
    escaped = re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=\"'/@])", r"\\\1", " ".join(str(text).splitlines()))
    return re.sub(r"(?<=:)(?=\S)|(?<=@)|(?<=[wW])(?=\\\.)|(?<=[-<>~])(?=\\[-<>=])", WORD_JOINER, escaped)


def make_names_distinct(names: list[str]) -> list[str]:
    """Names to choose from, no two alike: numbered where two would be."""
    return names if len({*names}) == len(names) else [f"{at + 1}: {name}" for at, name in enumerate(names)]


def label_arrays(names: list[str]) -> dict[str, str]:
    """The arrays of a file as a choice of them shows their names, which is no Markdown."""
    return dict(zip(names, make_names_distinct([printable_token(name[:60]) for name in names]), strict=True))


def say_refusal(error: AttentionError) -> str:
    """A refusal in the session's language, its values shown literally."""
    return say(f"error.{error.code}", **{name: say_refused_value(value) for name, value in error.values.items()})


def say_cause(cause: Cause) -> str:
    """A proven cause in the session's language, with what stands beside it."""
    values = {name: escape_markdown(value) for name, value in cause.values.items()}
    codes = (cause.code, *cause.beside)
    return say("diagnosis.and").join(say(f"cause.{code}", **values) for code in codes)


def say_refused_value(value: object) -> str:
    """A refusal's value: a setting by the page's word for it, anything else literally."""
    return say(f"setting.{value}") if has(f"setting.{value}") else escape_markdown(printable_token(str(value)))
