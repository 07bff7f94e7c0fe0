"""Translating with a trained translator, word by word."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from attention_core.learned.grammar import Text, vocabulary
from attention_core.learned.language.batches import ROW_LENGTH, START, word_numbers
from attention_core.learned.language.packing import PackedWords, pack_rows
from attention_core.learned.language.reading import begin_sentence, known_tokens
from attention_core.learned.translation.model import Translator
from attention_core.learned.translation.pairs import SOURCE, TARGET


def translate(model: Translator, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    r"""Translate sentences by greedy decoding: each next word is the word with the largest logit.

    $y_t = \mathrm{argmax}_w\, p(w \mid y_1 \ldots y_{t-1}, x)$, until $y_t$ is the end or the row has ROW_LENGTH words.

    model: a Translator. sentences: the words of each sentence, as `cut_words(text, "en")` returns them; a category such
    as "<animal>" may replace an unknown noun, and any other unknown word is read as <unknown>.

    Returns the words of each translation. Raises AttentionError: no_tokens, model_too_long. Source: Sutskever, Vinyals,
    Le 2014, section 3.2, with a beam of one.

    >>> from attention_core.learned.translation.recipes import TRANSLATORS
    >>> model = TRANSLATORS.load("translation_en_zh")
    >>> translate(model, [("the", "dog", "that", "saw", "the", "cat", "is", "tired", ".")])
    [('看见', '猫', '的', '狗', '很', '累', '。')]
    """
    if not sentences:
        return []
    source = pack_sentences(sentences)
    with torch.inference_mode():
        words = write_words(model, source)
    return [read_words(row) for row in words.tolist()]


def pack_sentences(sentences: Sequence[Sequence[str]]) -> PackedWords:
    """Pack each sentence, after START, into a separate row."""
    known = [known_tokens(begin_sentence(sentence), SOURCE, {}) for sentence in sentences]
    rows = [[Text(words, (), (), "", "")] for words in known]
    return pack_rows(rows, word_numbers(SOURCE), len(rows), max(map(len, known)))


def write_words(model: Translator, source: PackedWords) -> Int[Tensor, "B T"]:
    """Generate translations as word numbers, each after START; a second START is the end, and words after the end have
    no meaning."""
    memory = model.encode(source)
    start = word_numbers(TARGET)[START]
    words = torch.full_like(source.words[:, :1], start)  # (B, 1)
    is_ended = torch.zeros(len(words), dtype=torch.bool)
    while words.shape[1] < ROW_LENGTH and not is_ended.all():
        target = PackedWords(words, torch.zeros_like(words))
        stack = model.decode(target, memory, target.allowed_to(source))
        chosen = model.word_logits(stack.end[:, -1]).argmax(-1)  # (B, D) -> (B, V) -> (B,)
        is_ended |= chosen == start
        words = torch.cat((words, chosen[:, None]), 1)
    return words


def read_words(row: Sequence[int]) -> tuple[str, ...]:
    """The words between the first START and the next START, from their numbers."""
    words = [vocabulary(TARGET)[number] for number in row[1:]]
    end = words.index(START) if START in words else len(words)
    return tuple(words[:end])
