"""Returns the texts of the app by key and language, loaded from pages/content/<language>/."""

import re
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.counted_words import make_filler
from attention_core.record.errors import REFUSAL_SENTENCES, AttentionError
from attention_core.verification.causes import Cause
from attention_core.verification.mistakes import MISTAKE_SENTENCES as CAUSES
from pages.site.catalog import ADVANCED, PATH
from pages.site.refusals import count_refusal

CONTENT_FOLDER = Path(__file__).parents[1] / "content"
LANGUAGES = {"en": "EN", "zh": "中文"}
MAX_ARRAY_NAME_CHARS = 60  # most characters that are shown of an array's name
WORD_JOINER = "\u2060"  # invisible character that prevents a line break
MARKDOWN_SIGN_PATTERN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=\"'/@])")
ESCAPED_SIGN_PATTERN = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~$:&^=\"'/@])")
MARKUP_PATTERN = re.compile(ESCAPED_SIGN_PATTERN.pattern + "|[*`]")
COLOURED_PATTERN = re.compile(r":[a-z]+\[(.*?)\]")
FORMULA_PATTERN = re.compile(r"(?<!\\)\$([^$]+)\$")
MATRIX_NAME_PATTERN = re.compile(r"\b([bvwW])_([a-z0-9]{1,2})\b")  # of a matrix or vector, such as w_q or b_o
# The commands of LaTeX in the texts' formulas, and how plain text writes them.
PLAIN_LATEX = {r"\,": " ", r"\cdot": "·", r"^\top": "ᵀ", "^2": "²", r"\sum": "Σ", r"\tanh": "tanh", r"\mathrm": ""}
BOLD_SIGN_PATTERN = re.compile(r"(?<!\\)\*\*")
# Matches where Streamlit would see a :name:, an address after `@` or `www`, or an arrow, even in escaped text.
STREAMLIT_MARKUP_PATTERN = re.compile(r"(?<=:)(?=\S)|(?<=@)|(?<=[wW])(?=\\\.)|(?<=[-<>~])(?=\\[-<>=])")


@cache
def load_app_texts(language: str) -> dict[str, str]:
    """Returns {dotted key: text} with all labels and sentence templates of a language.

    The English texts of errors and causes come from attention_core. Keys of labels.toml have no prefix; keys of
    lessons/qkv.toml begin with lessons.qkv.
    """
    folder = CONTENT_FOLDER / language
    words: dict[str, str] = {}
    if language == "en":
        words |= flatten({"error": REFUSAL_SENTENCES, "cause": CAUSES})
    for path in sorted(folder.rglob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        words |= flatten(table, prefix_of(path.relative_to(folder)))
    return words


def prefix_of(path: Path) -> str:
    """Returns the prefix of the keys of a content file.

    >>> prefix_of(Path("labels.toml")), prefix_of(Path("lessons/qkv.toml"))
    ('', 'lessons.qkv.')
    """
    if path == Path("labels.toml"):
        return ""
    return ".".join(path.with_suffix("").parts) + "."


def flatten(table: dict, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yields the entries of nested tables as (dotted key, text) pairs."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


class ThreadLanguage(threading.local):
    """Stores the language for the current thread while a use_language block is active; None outside such a block."""

    now: str | None = None


THREAD_LANGUAGE = ThreadLanguage()


@contextmanager
def use_language(known: str | None = None) -> Iterator[str]:
    """Context manager in which all texts have one language, determined only once; yields this language.

    known: the language, if there is no session, for example if a file is generated; None for the session's language.
    """
    THREAD_LANGUAGE.now = language = known or current_language()
    try:
        yield language
    finally:
        THREAD_LANGUAGE.now = None


def current_language() -> str:
    """Returns the language of this session: the visitor's choice, else the link's language, else the browser's."""
    if THREAD_LANGUAGE.now is not None:
        return THREAD_LANGUAGE.now
    chosen = st.session_state.get("lang")
    if chosen in LANGUAGES:
        return chosen
    locale = st.context.locale or ""
    return "zh" if locale.lower().startswith("zh") else "en"


def say(key: str, /, **values) -> str:
    """Returns the text of a key in the session's language, with its placeholders replaced by the given values."""
    return make_filler(load_app_texts(current_language())[key])(**values)


def get_text_template(key: str) -> str:
    """Returns the text of a key in the session's language, with placeholders for values that JavaScript fills in."""
    return load_app_texts(current_language())[key]


def has(key: str) -> bool:
    """Returns whether the session's language has a text for a key."""
    return key in load_app_texts(current_language())


def escape_markdown(text: object) -> str:
    """Returns Markdown that shows exactly this text, without any markup, directive, formula or emoji.

    Streamlit converts addresses, arrows and :names: even if they are escaped, so an invisible word joiner is inserted.
    """
    line = " ".join(str(text).splitlines())
    escaped = MARKDOWN_SIGN_PATTERN.sub(r"\\\1", line)
    return STREAMLIT_MARKUP_PATTERN.sub(WORD_JOINER, escaped)


def split_bold(markdown: str) -> list[str]:
    """Splits Markdown whose only markup is bold into plain texts, for a component that shows plain text.

    The texts alternate: not bold, bold, not bold, and so on.

    >>> split_bold("all **" + escape_markdown("*7*") + "** pairs")
    ['all ', '*7*', ' pairs']
    """
    pieces = BOLD_SIGN_PATTERN.split(markdown)
    return [ESCAPED_SIGN_PATTERN.sub(r"\1", piece).replace(WORD_JOINER, "") for piece in pieces]


def strip_markup(markdown: str) -> str:
    r"""Returns the plain text of Markdown whose only markup is bold, italic, code, colour and short formulas.

    >>> strip_markup("**bold**, *Finding Structure*, :gray[**grey**], " + escape_markdown("*7* :gray[x]"))
    'bold, Finding Structure, grey, *7* :gray[x]'
    >>> strip_markup(r"$e = v_a \cdot \tanh(s\,W_{aq})$ for " + escape_markdown("5$ to 7$"))
    'e = v_a · tanh(s W_aq) for 5$ to 7$'
    """
    plain = FORMULA_PATTERN.sub(write_formula_plainly, COLOURED_PATTERN.sub(r"\1", markdown))
    return MARKUP_PATTERN.sub(lambda sign: sign[1] or "", plain).replace(WORD_JOINER, "")


def write_formula_plainly(formula: re.Match) -> str:
    """Returns a matched formula of Markdown as plain text, without its dollar signs and the commands of LaTeX."""
    plain = formula[1]
    for command, text in PLAIN_LATEX.items():
        plain = plain.replace(command, text)
    return plain.replace("{", "").replace("}", "")


def typeset_matrix_names(text: str) -> str:
    """Returns a Markdown text in which the names of matrices in the code are formulas, as all texts write them.

    >>> typeset_matrix_names("x, w_q, b_o; other_w_q")
    'x, $W_{q}$, $b_{o}$; other_w_q'
    """
    return MATRIX_NAME_PATTERN.sub(lambda name: f"${name[1].replace('w', 'W')}_{{{name[2]}}}$", text)


def make_names_distinct(names: list[str]) -> list[str]:
    """Returns the names unchanged if no two are equal, else all names with a number added."""
    if len(set(names)) == len(names):
        return names
    return [f"{number}: {name}" for number, name in enumerate(names, start=1)]


def label_arrays(names: list[str]) -> dict[str, str]:
    """Returns {array name: label for a select box}, with labels that are distinct and printable and have no markup."""
    shown_names = [printable_token(name[:MAX_ARRAY_NAME_CHARS]) for name in names]
    return dict(zip(names, make_names_distinct(shown_names), strict=True))


def say_refusal(error: AttentionError, spell: Callable[[str], str] = escape_markdown) -> str:
    """Returns the sentence that says why an input was refused (an AttentionError), in the session's language.

    spell: a function that formats the error's values.
    """
    count_refusal(error)
    values = {}
    for key, value in error.values.items():
        if key not in ("readings", "owner"):
            values[key] = spell(printable_token(str(value)))
    if "name" in values:
        values["name"] = say_setting(error.values["name"], error.values.get("owner")) or values["name"]
    return say(f"error.{error.code}", **values)


def say_cause(cause: Cause) -> str:
    """Returns the sentence that names the proven cause of a wrong number, in the session's language.

    The sentences of cause.beside, further causes, are added.
    """
    values = {name: escape_markdown(value) for name, value in cause.values.items()}
    sentences = []
    for code in (cause.code, *cause.beside):
        sentences.append(typeset_matrix_names(say(f"cause.{code}", **values)))
    return say("diagnosis.and").join(sentences)


def say_setting(name: object, owner: str | None) -> str:
    """Returns what a refused setting is called on the page, or "" if it has no name there.

    owner: the mechanism, such as a mask, whose parameter it is; then it may have the label of its control, in quotes.
    """
    if has(f"setting.{name}"):
        return say(f"setting.{name}")
    label = f"parameter.{owner}_{name}"
    return f"“{say(label)}”" if has(label) else ""


def say_title(slug: str) -> str:
    """Returns the title of a page in the session's language.

    The title of a lesson of the beginner's path begins with its number, that of another lesson with "Advanced".
    """
    title = say(f"page.{slug}")
    if slug in PATH:
        number = PATH.index(slug) + 1
        return f"{number} · {title}"
    return say("lesson.advanced", title=title) if slug in ADVANCED else title
