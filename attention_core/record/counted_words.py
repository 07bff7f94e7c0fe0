"""Fills sentence templates, and puts a counted word in the singular after the number 1."""

import re
from collections.abc import Callable
from functools import lru_cache, partial

# Plural -> singular of the counted words in English texts; Chinese has one form for any number.
PLURALS = {
    f"{word}s": word
    for word in (
        *("array", "block", "byte", "cell", "character", "column", "decimal", "digit", "draw", "example"),
        *("feature", "gradient", "head", "item", "key", "label", "layer", "lesson", "letter", "line", "logit", "merge"),
        *("minute", "model", "network", "number", "pair", "part", "piece", "place", "puzzle", "row", "run", "scene"),
        *("score", "seed", "sentence", "sequence", "share", "sign", "step", "symbol", "task", "term", "text", "time"),
        *("token", "update", "vector", "weight", "word"),
    )
} | {"queries": "query", "entries": "entry", "matrices": "matrix", "axes": "axis", "indices": "index"}
COUNTED_PATTERN = re.compile(rf"\{{(\w+)\}}(\*{{0,2}} (?:[a-z/]+ )?)({'|'.join(PLURALS)})\b")


@lru_cache(maxsize=4096)
def make_filler(template: str) -> Callable[..., str]:
    """Return the function that fills a template with named values: `str.format` if the template counts no words.

    >>> make_filler("{name} is")(name="q"), make_filler("at most {limit} heads, {name}")(limit=1, name="q")
    ('q is', 'at most 1 head, q')
    """
    counts = tuple(dict.fromkeys(found[1] for found in COUNTED_PATTERN.finditer(template)))
    return partial(fill_counted, template, counts) if counts else template.format


def fill_template(template: str, values: dict) -> str:
    """Fill a template with its values; a counted word is in the singular if its number is 1.

    >>> fill_template("at most {limit} heads", {"limit": 1}), fill_template("{n} more words", {"n": "2"})
    ('at most 1 head', '2 more words')
    >>> fill_template("**{n}** words, {kv} key/value heads", {"n": 1, "kv": 1})
    '**1** word, 1 key/value head'
    """
    return make_filler(template)(**values)


def fill_counted(template: str, counts: tuple[str, ...], /, **values) -> str:
    """Return a template filled with its values; a counted word is in the singular after the number 1.

    counts: the placeholders that are followed by a counted word.
    """
    if single := [name for name in counts if str(values.get(name)) == "1"]:
        template = COUNTED_PATTERN.sub(lambda found: in_singular(found, single), template)
    return template.format(**values)


def in_singular(found: re.Match, single: list[str]) -> str:
    """Return a matched placeholder and its counted word, in the singular if the placeholder is in `single`.

    single: the placeholders whose value is 1.
    """
    name, between, word = found.groups()
    return f"{{{name}}}{between}{PLURALS[word]}" if name in single else found[0]
