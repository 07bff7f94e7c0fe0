"""Finds the words of attention maps: which texts of a file label the queries, and which label the keys."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from attention_core.inputs.files.array_names import name_stem, plain_name
from attention_core.inputs.files.contents import Texts
from attention_core.record.errors import AttentionError

MAX_WORD_CHARS = 40
# Names of texts that label queries, keys, or both; find_words tries them in this order.
LEFT_NAMES = ("queries", "query_tokens", "query_words", "left", "left_text", "left_tokens")
RIGHT_NAMES = ("keys", "key_tokens", "key_words", "right", "right_text", "right_tokens")
QUERY_NAMES = (
    *(*LEFT_NAMES, "tgt_tokens", "target_tokens"),
    *("decoder_tokens", "target", "tgt", "trg", "tgt_text", "target_text", "decoder_text", "output_tokens"),
    *("y_tokens", "yticklabels", "y_labels", "ylabels", "index", "rows", "row_labels", "q_tokens"),
    *("generated_tokens", "generated_words", "generated", "output_words", "output_text"),
)
KEY_NAMES = (
    *(*RIGHT_NAMES, "src_tokens", "source_tokens"),
    *("encoder_tokens", "source", "src", "src_text", "source_text", "encoder_text", "input_tokens"),
    *(
        "x_tokens",
        "xticklabels",
        "x_labels",
        "xlabels",
        "input_words",
        "input_text",
        "columns",
        "col_labels",
        "column_labels",
        "k_tokens",
    ),
)
BOTH_NAMES = (
    "tokens",
    "words",
    "str_tokens",
    "token_strings",
    "labels",
    "token",
    "sentence",
    "text",
    "prompt",
    "input",
    "all_tokens",
    "word",
    "tokenized_text",
    "token_texts",
    "token_list",
    "decoded_tokens",
    "wordpieces",
    "pieces",
    "subwords",
)
STRICT_NAMES = ("tokens", "queries", "keys", "left", "right", "left_text", "right_text")  # these texts must be words
ENCODER_NAMES = ("encoder_tokens", "encoder_text", "src_tokens", "source_tokens", "source", "src", "src_text")
DECODER_NAMES = ("decoder_tokens", "decoder_text", "tgt_tokens", "target_tokens", "target", "tgt", "trg", "tgt_text")

Words = tuple[str, ...]


@dataclass(frozen=True)
class FoundWords:
    """The words that label queries and keys, each with the name of the text that has them; "" if numbers replace the
    words.
    """

    queries: Words
    keys: Words
    queries_from: str = ""
    keys_from: str = ""


def find_words(
    texts: Mapping[str, Texts], sizes: tuple[int, int], kind: str, stem: str, sentence: int | None, sentences: int
) -> FoundWords:
    """Return the words that label the T queries and S keys of attention maps; numbers from 1 if the file has no such
    words.

    texts: the texts of the file, by name. sizes: (T, S). kind: the kind of the maps, "encoder", "decoder", "cross" or
    "". stem: the path of the maps in the file; words in the same object are preferred. sentence: the index in a batch,
    None without one. sentences: the number of sentences.

    >>> find_words({"tokens": "a cat"}, (2, 2), "", "", None, 1)
    FoundWords(queries=('a', 'cat'), keys=('a', 'cat'), queries_from='tokens', keys_from='tokens')
    """
    near = {name: text for name, text in texts.items() if name_stem(name) == stem} if stem else {}
    ordered = {**near, **texts}
    T, S = sizes
    query_names, key_names = names_of_axes(kind, T == S)
    queries_from, queries = pick_words(ordered, query_names, T, sentence, sentences)
    keys_from, keys = pick_words(ordered, key_names, S, sentence, sentences)
    return FoundWords(
        queries or number_words(T),
        keys or number_words(S),
        queries_from,
        keys_from,
    )


def list_near_words(texts: Mapping[str, Texts], stem: str) -> dict[str, Texts]:
    """Return the texts whose names mean words and that a file stores in the same object as some attention maps.

    stem: the path of this object in the file.
    """
    names = (*QUERY_NAMES, *KEY_NAMES, *BOTH_NAMES)
    near = [name for name in texts if stem and name_stem(name) == stem]
    return {name: texts[name] for name in near if plain_name(name) in names}


def names_of_axes(kind: str, is_square: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that texts with the words of queries, and of keys, may have, in the order in which they are
    tried.

    kind: the kind of the attention maps ("encoder", "decoder", "cross" or ""). is_square: whether there are as many
    queries as keys.
    """
    match kind:
        case "encoder":
            return (*ENCODER_NAMES, *LEFT_NAMES, *BOTH_NAMES), (*ENCODER_NAMES, *RIGHT_NAMES, *BOTH_NAMES)
        case "decoder":
            return (*DECODER_NAMES, *LEFT_NAMES, *BOTH_NAMES), (*DECODER_NAMES, *RIGHT_NAMES, *BOTH_NAMES)
        case "cross":
            return (*DECODER_NAMES, *QUERY_NAMES, *BOTH_NAMES), (*ENCODER_NAMES, *KEY_NAMES, *BOTH_NAMES)
    if is_square:
        return (*QUERY_NAMES, *BOTH_NAMES, *KEY_NAMES), (*KEY_NAMES, *BOTH_NAMES, *QUERY_NAMES)
    return (*QUERY_NAMES, *BOTH_NAMES), (*KEY_NAMES, *BOTH_NAMES)


def pick_words(
    texts: Mapping[str, Texts], names: Iterable[str], count: int, sentence: int | None, sentences: int
) -> tuple[str, Words]:
    """Return the first text that has one of `names` and `count` words, as (its name, its words); ("", ()) if none has.

    sentence: the index of the sentence in a batch, None without one. sentences: the number of sentences.
    """
    for wanted in names:
        for name, text in texts.items():
            if plain_name(name) == wanted:
                for words in list_cuts(text, sentence, sentences):
                    if len(words) == count:
                        return name, tuple(word[:MAX_WORD_CHARS] for word in words)
    return "", ()


def list_cuts(text: Texts, sentence: int | None, sentences: int) -> Iterator[Words]:
    """Yield the ways to split a text of a file into words.

    A text is split at its spaces, or into its characters. A list of words is returned unchanged. From a list of lists,
    the list of the sentence is returned.
    """
    if isinstance(text, str):
        yield tuple(text.split())
        yield tuple(text)
        return
    if all(isinstance(word, str) for word in text):
        if sentence is not None and len(text) == sentences:
            yield from list_cuts(text[sentence], None, 1)  # one text per sentence
        yield text
        if len(text) == 1:
            yield from list_cuts(text[0], None, 1)
    elif len(text) == 1:
        yield from list_cuts(text[0], sentence, sentences)
    elif sentence is not None and len(text) == sentences:
        yield from list_cuts(text[sentence], None, 1)


def check_words(texts: Mapping[str, Texts], sizes: list[tuple[int, int]], sentences: int) -> None:
    """Raise AttentionError if a text that must be words of attention maps has a length that no axis of a map has.

    sizes: (T, S) of all attention maps of a file. Raises AttentionError: words_count.
    """
    known = {size for pair in sizes for size in pair}
    sentence = 0 if sentences > 1 else None
    for name, text in texts.items():
        plain = plain_name(name)
        if plain not in STRICT_NAMES:
            continue
        counts = [len(words) for words in list_cuts(text, sentence, sentences)]
        if counts and not set(counts) & known:
            is_key = plain in KEY_NAMES
            axis = "S" if is_key else "T"
            raise AttentionError("words_count", axis=axis, size=sizes[0][is_key], given=counts[0])


def number_words(count: int) -> Words:
    """Return numbers from 1 as labels, for axes without words."""
    return tuple(str(n + 1) for n in range(count))


def count_sentences(texts: Mapping[str, Texts]) -> int:
    """Return the number of sentences in a file's words: the length of a list of lists of words, else 1."""
    sentences = 1
    for name, text in texts.items():
        is_named = plain_name(name) in (*QUERY_NAMES, *KEY_NAMES, *BOTH_NAMES)
        is_list_of_lists = not isinstance(text, str) and not any(isinstance(words, str) for words in text)
        if is_named and is_list_of_lists:
            sentences = max(sentences, len(text))
    return sentences
