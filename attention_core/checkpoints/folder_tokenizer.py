"""Reads the tokenizer of a model's folder from tokenizer.json; chat templates, which could run code, are not used."""

import base64
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
# Most characters of a word that WordPiece splits, with time that grows with their third power; BERT's own limit is 100.
MAX_WORD_CHARACTERS = 1000
BYTES_A_CHARACTER = 4  # most bytes of a character in UTF-8; the step ByteLevel makes a character of each byte
SPACED_CHARACTERS = 3  # number of characters that BertNormalizer makes of a Chinese character: it and two spaces
SIZE_BYTES = 4  # number of bytes that hold the size of the table before the texts of the step Precompiled


def read_tokenizer(folder: ModelFolder) -> FastTokenizer:
    """Return the tokenizer of a folder.

    Raises AttentionError: models_package, tokenizer_missing, tokenizer_slow, tokenizer_unread, tokenizer_grows,
    tokenizer_word, and those of ModelFolder.read.
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
    """Raise AttentionError (tokenizer_grows, tokenizer_word) if a tokenizer could fill the memory, or compute for
    hours, with a short text.

    The tokenizers package has no such limits. A normalizer, pre-tokenizer or decoder makes a text longer by replacing
    or prepending characters, each step in what the steps before it made; a post-processor puts tokens around it, or
    repeats it.
    """
    for name in ("normalizer", "pre_tokenizer", "decoder"):
        steps = [each for each in walk(read_part(tokenizer, name)) if isinstance(each, dict)]
        if math.prod(map(find_growth, steps)) > MAX_GROWTH:
            raise AttentionError("tokenizer_grows", name=name, limit=MAX_GROWTH)
    frames = [len(each) for each in walk(read_part(tokenizer, "post_processor")) if isinstance(each, list)]
    if math.prod(max(1, length) for length in frames) > MAX_FRAME:
        raise AttentionError("tokenizer_grows", name="post_processor", limit=MAX_FRAME)
    longest = getattr(tokenizer.model, "max_input_chars_per_word", 0)
    if longest > MAX_WORD_CHARACTERS:
        raise AttentionError("tokenizer_word", limit=MAX_WORD_CHARACTERS, given=longest)


def read_part(tokenizer: "Tokenizer", name: str) -> object:
    """Return the settings of a part of a tokenizer, as tokenizer.json has them; None without this part."""
    part = getattr(tokenizer, name)
    return None if part is None else json.loads(part.__getstate__())


def find_growth(step: dict) -> int:
    """Return how many characters one step of a normalizer, pre-tokenizer or decoder makes of one character, at most.

    Unicode's normal forms (NFKC and its kin) count as 1: at most 18, but only once, however often they are applied.

    >>> find_growth({"type": "Prepend", "prepend": "__"}), find_growth({"type": "Lowercase"})
    (3, 1)
    """
    match step:
        case {"type": "ByteLevel"}:
            return BYTES_A_CHARACTER
        case {"type": "BertNormalizer", "handle_chinese_chars": True}:
            return SPACED_CHARACTERS
        case {"type": "Precompiled", "precompiled_charsmap": str(table)}:
            return 1 + longest_precompiled(table)
    texts = [step.get(key) for key in ("content", "prepend")]
    return math.prod(1 + len(text) for text in texts if isinstance(text, str))


def longest_precompiled(table: str) -> int:
    """Return the number of bytes of the longest text with which the step Precompiled may replace a character.

    table: in base64, a size, a table of that size, and after it the texts, each of which ends with a byte 0. Source:
    google/sentencepiece, src/normalizer.cc, EncodePrecompiledCharsMap.
    """
    content = base64.b64decode(table)
    size = int.from_bytes(content[:SIZE_BYTES], "little")
    return max(map(len, content[SIZE_BYTES + size :].split(b"\0")))


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
    return int(most) if is_number and 1 <= most < NO_LENGTH else None
