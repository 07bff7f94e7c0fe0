"""Translates the comments, docstrings and printed texts in Python code; the code itself stays unchanged."""

import inspect
import io
import re
import tokenize
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache

from attention_core.explanation.source_closure import SCRIPT_WIDTH

TITLE_START = "# ---- "
REMARK_START = "#   "  # how a comment with the value of an expression starts in a listing
TITLE_SIGNS = "# -"
PHRASE_START = "…"  # how a key of `translations` starts that translates a phrase within a comment
PLACEHOLDER_PATTERN = re.compile(r"\\{(\w+)\\}")


def translate_comments(source: str, translations: Mapping[str, str]) -> str:
    """Replace the comments, docstrings and printed texts of a source by their translations.

    source: Python code. translations: {text without its # or quotes: translated text}. A {name} in both texts stands
    for any text, which is kept. A text without a translation stays unchanged. A comment on an expression begins with
    code; only its phrases after the code are translated, by keys that begin with "…".

    >>> print(translate_comments("y = 2 * x  # over S", {"over S": "沿 S"}))
    y = 2 * x  # 沿 S
    >>> translate_comments("# Sizes: B = 1", {"Sizes: {sizes}": "形状：{sizes}"})
    '# 形状：B = 1'
    >>> translate_comments("#   x: (2,), strides (1,)", {"…, strides ": "，步长 "})
    '#   x: (2,)，步长 (1,)'
    """
    lines = source.splitlines(keepends=True)
    for token in reversed(list(words_of(source))):  # in reverse, so that positions of earlier tokens stay valid
        (first, left), (last, right) = token.start, token.end
        text = translate_token(token, translations)
        before = lines[first - 1][:left]
        after = lines[last - 1][right:]
        lines[first - 1 : last] = [before + text + after]
    return "".join(lines)


def words_of(source: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the comment and string tokens of a source."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token


def translate_token(token: tokenize.TokenInfo, translations: Mapping[str, str]) -> str:
    """Return a comment or string token with its text translated; a token without a translation stays unchanged."""
    if token.type == tokenize.STRING:
        return translate_string(token, translations)
    if token.string.startswith(TITLE_START):
        title = translate(token.string.strip(TITLE_SIGNS), translations)
        return fill_title(title)
    if token.string.startswith(REMARK_START):
        return translate_phrases(token.string, translations)
    text = token.string.removeprefix("#").strip()
    return f"# {translate(text, translations)}"


def translate_string(token: tokenize.TokenInfo, translations: Mapping[str, str]) -> str:
    """Return a docstring or printed text translated between its quotes, or unchanged if it has no translation."""
    quotes = '"""' if token.string.startswith('"""') else '"'
    text = inspect.cleandoc(token.string.strip(quotes))
    if not token.string.startswith(quotes) or text not in translations:
        return token.string
    indent = " " * token.start[1]
    lines = translations[text].splitlines()
    if len(lines) > 1:
        lines.append("")  # the closing quotes stand after an empty line
    return quotes + f"\n{indent}".join(lines).replace(f"\n{indent}\n", "\n\n") + quotes


def translate(text: str, translations: Mapping[str, str]) -> str:
    """Translate a whole text and insert what its placeholders match; return a text that has no translation
    unchanged."""
    if text in translations:
        return translations[text]
    for known, other in translations.items():
        found = template_pattern(known).fullmatch(text) if "{" in known else None
        if found:
            return other.format(**found.groupdict())
    return text


def translate_phrases(remark: str, translations: Mapping[str, str]) -> str:
    """Translate the phrases that follow the expression in a comment of a listing."""
    for known, other in translations.items():
        if known.startswith(PHRASE_START):
            remark = remark.replace(known.removeprefix(PHRASE_START), other)
    return remark


@cache
def template_pattern(template: str) -> re.Pattern:
    """Compile a template to a regular expression in which each {placeholder} matches any text.

    >>> template_pattern("{n} times").fullmatch("3 times")["n"]
    '3'
    """
    return re.compile(PLACEHOLDER_PATTERN.sub(r"(?P<\1>.+?)", re.escape(template)))


def fill_title(title: str) -> str:
    """Pad a section's title to the width of a script; a Chinese character counts as two columns.

    >>> len(fill_title("the steps")), len(fill_title("各步"))
    (100, 98)
    """
    start = f"{TITLE_START}{title} "
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in start)
    return (start + "-" * (SCRIPT_WIDTH - len(start) - wide)).rstrip()
