"""Every word of the app, by key and language. The words themselves stand in pages/content/<language>/."""

import re
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.counted_words import fill_template
from attention_core.record.errors import REFUSAL_SENTENCES, AttentionError
from attention_core.verification.causes import Cause
from attention_core.verification.mistakes import MISTAKE_SENTENCES as CAUSES

CONTENT_FOLDER = Path(__file__).parents[1] / "content"
LANGUAGES = {"en": "EN", "zh": "中文"}
MAX_ARRAY_NAME_CHARS = 60  # characters that are shown of the name of an array
WORD_JOINER = "\u2060"  # prints nothing and allows no line break
MARKDOWN_SIGN_PATTERN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=\"'/@])")
ESCAPED_SIGN_PATTERN = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~$:&^=\"'/@])")
MARKUP_PATTERN = re.compile(ESCAPED_SIGN_PATTERN.pattern + "|[*`]")
COLOURED_PATTERN = re.compile(r":[a-z]+\[(.*?)\]")
BOLD_SIGN_PATTERN = re.compile(r"(?<!\\)\*\*")
# Where Streamlit reads a name (after `:`), an address (after `@` and `www`) or an arrow, although the text is escaped.
STREAMLIT_MARKUP_PATTERN = re.compile(r"(?<=:)(?=\S)|(?<=@)|(?<=[wW])(?=\\\.)|(?<=[-<>~])(?=\\[-<>=])")


@cache
def load_app_texts(language: str) -> dict[str, str]:
    """All labels and sentence templates of a language, keys joined with dots; English errors and causes are the
    core's own. What stands in labels.toml has no prefix, what stands in lessons/qkv.toml begins with lessons.qkv."""
    folder = CONTENT_FOLDER / language
    words: dict[str, str] = {}
    if language == "en":
        words |= flatten({"error": REFUSAL_SENTENCES, "cause": CAUSES})
    for path in sorted(folder.rglob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        words |= flatten(table, prefix_of(path.relative_to(folder)))
    return words


def prefix_of(path: Path) -> str:
    """What the keys of a file of words begin with.

    >>> prefix_of(Path("labels.toml")), prefix_of(Path("lessons/qkv.toml"))
    ('', 'lessons.qkv.')
    """
    if path == Path("labels.toml"):
        return ""
    return ".".join(path.with_suffix("").parts) + "."


def flatten(table: dict, prefix: str = "") -> Iterator[tuple[str, str]]:
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
    locale = st.context.locale or ""
    return "zh" if locale.lower().startswith("zh") else "en"


def say(key: str, /, **values) -> str:
    """A text in the session's language, its named values filled in."""
    return fill_template(load_app_texts(current_language())[key], values)


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
    line = " ".join(str(text).splitlines())
    escaped = MARKDOWN_SIGN_PATTERN.sub(r"\\\1", line)
    return STREAMLIT_MARKUP_PATTERN.sub(WORD_JOINER, escaped)


def split_bold(markdown: str) -> list[str]:
    """The text that Markdown shows whose only markup is bold, in pieces of which every second is bold: for a part
    of the screen that shows texts as they are.

    >>> split_bold("all **" + escape_markdown("*7*") + "** pairs")
    ['all ', '*7*', ' pairs']
    """
    pieces = BOLD_SIGN_PATTERN.split(markdown)
    return [ESCAPED_SIGN_PATTERN.sub(r"\1", piece).replace(WORD_JOINER, "") for piece in pieces]


def strip_markup(markdown: str) -> str:
    """The text that Markdown shows whose only markup is bold, italic, code and colour.

    >>> strip_markup("**bold**, *Finding Structure*, :gray[**grey**], " + escape_markdown("*7* :gray[x]"))
    'bold, Finding Structure, grey, *7* :gray[x]'
    """
    plain = COLOURED_PATTERN.sub(r"\1", markdown)
    return MARKUP_PATTERN.sub(lambda sign: sign[1] or "", plain).replace(WORD_JOINER, "")


def make_names_distinct(names: list[str]) -> list[str]:
    """Names to choose from, no two alike: numbered where two would be."""
    if len(set(names)) == len(names):
        return names
    return [f"{number}: {name}" for number, name in enumerate(names, start=1)]


def label_arrays(names: list[str]) -> dict[str, str]:
    """The arrays of a file as a choice of them shows their names, which is no Markdown."""
    shown_names = [printable_token(name[:MAX_ARRAY_NAME_CHARS]) for name in names]
    return dict(zip(names, make_names_distinct(shown_names), strict=True))


def say_refusal(error: AttentionError, spell: Callable[[str], str] = escape_markdown) -> str:
    """A refusal in the session's language, its values shown literally. spell: how they are written in it."""
    values = {name: say_refused_value(value, spell) for name, value in error.values.items() if name != "readings"}
    return say(f"error.{error.code}", **values)


def say_cause(cause: Cause) -> str:
    """A proven cause in the session's language, with what stands beside it."""
    values = {name: escape_markdown(value) for name, value in cause.values.items()}
    sentences = []
    for code in (cause.code, *cause.beside):
        sentences.append(say(f"cause.{code}", **values))
    return say("diagnosis.and").join(sentences)


def say_refused_value(value: object, spell: Callable[[str], str]) -> str:
    """A refusal's value: a setting by the page's word for it, anything else literally."""
    if has(f"setting.{value}"):
        return say(f"setting.{value}")
    return spell(printable_token(str(value)))
