"""Reads the tokenizer of a model's folder from tokenizer.json; chat templates, which could run code, are not used."""

from attention_core.checkpoints.folder_files import ModelFolder
from attention_core.checkpoints.pieces import FastTokenizer, tokenizer_refusal
from attention_core.record.errors import AttentionError

TOKENIZER_FILE, ABOUT_FILE = "tokenizer.json", "tokenizer_config.json"
MAX_TOKENIZER_BYTES, MAX_ABOUT_BYTES = 64_000_000, 8_000_000
OTHER_TOKENIZERS = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.txt", "vocab.json")
LENGTH_KEY = "model_max_length"
NO_LENGTH = 10**9  # transformers writes 1e30 for an unknown length


def read_tokenizer(folder: ModelFolder) -> FastTokenizer:
    """Return the tokenizer of a folder.

    Raises AttentionError: models_package, tokenizer_missing, tokenizer_slow, tokenizer_unread, and those of
    ModelFolder.read.
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
    return FastTokenizer(tokenizer, most)


def read_length(folder: ModelFolder) -> int | None:
    """Return the largest number of tokens that a model reads, according to its tokenizer; None if the tokenizer does
    not state it.
    """
    if not folder.has(ABOUT_FILE):
        return None
    most = folder.read_object(ABOUT_FILE, MAX_ABOUT_BYTES).get(LENGTH_KEY)
    is_number = isinstance(most, int | float) and not isinstance(most, bool)
    return int(most) if is_number and 0 < most < NO_LENGTH else None
