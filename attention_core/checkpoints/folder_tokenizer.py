"""Reads the tokenizer of a model's folder from tokenizer.json; chat templates, which could run code, are not used."""

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attention_core.checkpoints.folder_files import ModelFolder
from attention_core.checkpoints.pieces import FastTokenizer, tokenizer_refusal
from attention_core.record.errors import AttentionError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER_FILE, ABOUT_FILE = "tokenizer.json", "tokenizer_config.json"
MAX_TOKENIZER_BYTES, MAX_ABOUT_BYTES = 64_000_000, 8_000_000
OTHER_TOKENIZERS = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.txt", "vocab.json")
LENGTH_KEY = "model_max_length"
NO_LENGTH = 10**9  # larger lengths mean "unknown", for which transformers writes 1e30
MAX_GROWTH = 1000  # most characters per input character after the normalizer or decoder; known models: at most 16
MAX_FRAME = 200  # most tokens that the post-processor may add around a text


def read_tokenizer(folder: ModelFolder) -> FastTokenizer:
    """Return the tokenizer of a folder.

    Raises AttentionError: models_package, tokenizer_missing, tokenizer_slow, tokenizer_unread, tokenizer_grows, and
    those of ModelFolder.read.
    """
    if not folder.has(TOKENIZER_FILE):
        for name in OTHER_TOKENIZERS:
            if folder.has(name):
                raise AttentionError("tokenizer_slow", name=TOKENIZER_FILE, given=name)
        raise AttentionError("tokenizer_missing", name=TOKENIZER_FILE)
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise AttentionError("models_package", name="tokenizers") from None
    content = folder.read(TOKENIZER_FILE, MAX_TOKENIZER_BYTES)
    most = read_length(folder)
    try:
        tokenizer = Tokenizer.from_buffer(content)
        tokenizer.no_padding()
        tokenizer.no_truncation()
    except BaseException as error:
        raise tokenizer_refusal("tokenizer_unread", error) from None
    require_bounded(tokenizer)
    return FastTokenizer(tokenizer, most)


def require_bounded(tokenizer: "Tokenizer") -> None:
    """Raise AttentionError (tokenizer_grows) if a tokenizer could fill the memory with what it makes of a short text.

    The tokenizers package has no such limit. A normalizer or decoder makes a text longer by replacing or prepending
    characters, each step in what the steps before it made; a post-processor puts tokens around it, or repeats it.
    """
    for name in ("normalizer", "decoder"):
        growth = math.prod(1 + len(text) for text in list_replacements(read_part(tokenizer, name)))
        if growth > MAX_GROWTH:
            raise AttentionError("tokenizer_grows", name=name, limit=MAX_GROWTH)
    frames = [len(each) for each in walk(read_part(tokenizer, "post_processor")) if isinstance(each, list)]
    if math.prod(max(1, length) for length in frames) > MAX_FRAME:
        raise AttentionError("tokenizer_grows", name="post_processor", limit=MAX_FRAME)


def read_part(tokenizer: "Tokenizer", name: str) -> object:
    """Return the settings of a part of a tokenizer, as tokenizer.json has them; None without this part."""
    part = getattr(tokenizer, name)
    return None if part is None else json.loads(part.__getstate__())


def list_replacements(settings: object) -> list[str]:
    """Return the replacement texts that the steps of a normalizer or decoder insert into a text."""
    steps = [each for each in walk(settings) if isinstance(each, dict)]
    given = [each.get(key) for each in steps for key in ("content", "prepend")]
    return [text for text in given if isinstance(text, str)]


def walk(value: object) -> Iterator[object]:
    """Yield a JSON value and, recursively, all values inside it."""
    yield value
    if isinstance(value, dict):
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from walk(inner)


def read_length(folder: ModelFolder) -> int | None:
    """Return the largest number of tokens that a model reads, according to its tokenizer; None if the tokenizer does
    not state it.
    """
    if not folder.has(ABOUT_FILE):
        return None
    most = folder.read_object(ABOUT_FILE, MAX_ABOUT_BYTES).get(LENGTH_KEY)
    is_number = isinstance(most, int | float) and not isinstance(most, bool)
    return int(most) if is_number and 0 < most < NO_LENGTH else None
