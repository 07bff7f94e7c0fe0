"""Translates sentences with a trained translator, word by word, and measures it on held-out sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.learned.grammar import Text, vocabulary
from attention_core.learned.language.batches import OTHER_CATEGORIES, ROW_LENGTH, START, word_numbers
from attention_core.learned.language.measures import held_out_numbers
from attention_core.learned.language.packing import PackedWords, pack_rows
from attention_core.learned.language.reading import begin_sentence, known_tokens
from attention_core.learned.translation.model import Translator
from attention_core.learned.translation.pairs import SOURCE, TARGET, Pair, PairBatch, draw_pair, pack_pairs


def translate(model: Translator, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    r"""Translate sentences by greedy decoding: each next word is the one with the largest logit.

    $y_t = \mathrm{argmax}_w\, p(w \mid y_1 \ldots y_{t-1}, x)$, until $y_t$ is the end token or the row has ROW_LENGTH
    words.

    model: a Translator. sentences: the words of each sentence, as `cut_words(text, "en")` returns them. A category such
    as "<animal>" may replace an unknown noun; any other unknown word is read as <unknown>.

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
    """Pack sentences as rows of word indices, one sentence per row, after the start token START."""
    known = [known_tokens(begin_sentence(sentence), SOURCE, {}) for sentence in sentences]
    rows = [[Text(words, (), (), "", "")] for words in known]
    return pack_rows(rows, word_numbers(SOURCE), len(rows), max(map(len, known)))


def write_words(model: Translator, source: PackedWords) -> Int[Tensor, "B T"]:
    """Generate translations as rows of vocabulary indices, each row beginning with the index of START.

    A second START marks the end of a translation; the words after it have no meaning.
    """
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
    """Return the words of a generated row of vocabulary indices, between the first START and the next one, or the
    end."""
    words = [vocabulary(TARGET)[number] for number in row[1:]]
    end = words.index(START) if START in words else len(words)
    return tuple(words[:end])


# ---- measures: the translations, and the words that the heads attend to ----------------------------------------------
SENTENCES = 600  # number of sentences per measurement
PARTS = ("held", "frames")
SHIFTS = {"read": 0, "written": 1}  # row of weights -> its distance before the target word, in positions


@dataclass(frozen=True)
class Head:
    """A head of a cross-attention layer, and the row of its weights in which the largest weight shows a target word's
    source word.

    layer, head: the indices, from 0. row: "read" for the row of the target word itself, "written" for the row of the
    word before, where the target word is generated.
    """

    layer: int
    head: int
    row: str


@cache
def held_out_pairs(part: str, half: str, count: int) -> tuple[Pair, ...]:
    """Sample sentence pairs from a part of the grammar that training does not use.

    part: "held" for sentences whose first pair of nouns is held out from training; "frames" for held-out frames
    (sentence patterns of two nouns and a reason). half: "choose" or "report", the half of the held-out texts. count:
    the count of pairs.
    """
    rng = held_out_numbers(half)
    return tuple(draw_pair(rng, part) for _ in range(count))


def measure_translator(model: Translator, half: str = "report", count: int = SENTENCES) -> dict[str, float]:
    """Measure a translator on sentences with held-out noun pairs and with held-out frames (sentence patterns).

    exact: share of translations equal to the grammar's. words: share of right next words, each predicted after the
    right words. aligned: share of words for which the best aligning head has its largest weight on the word with the
    same meaning. nouns: the share "aligned" for nouns and first names alone. best_read, best_written: the share
    "aligned" of the best head if the row of weights is that of the word itself, or of the word before. With the suffix
    "_count": the count of cases. layer, head: the indices of the best aligning head, from 1. written: whether that head
    aligns best in the row at which a word is generated.
    """
    head = best_head(model, count)
    figures = {"layer": head.layer + 1, "head": head.head + 1, "written": head.row == "written"}
    for part in PARTS:
        pairs = held_out_pairs(part, half, count)
        looked_at = find_looks(model, pairs)
        shares = {row: aligned_shares(looked_at, pairs, row) for row in SHIFTS}  # {"read" or "written": shares (L, H)}
        nouns = [keep_nouns(pair) for pair in pairs]
        of_nouns = aligned_shares(looked_at, nouns, head.row)
        figures |= {
            f"{part}_exact": share_exact(model, pairs),
            f"{part}_words": share_of_words(model, pairs),
            f"{part}_aligned": float(shares[head.row][head.layer, head.head]),
            f"{part}_nouns": float(of_nouns[head.layer, head.head]),
            **{f"{part}_best_{row}": float(found.max()) for row, found in shares.items()},
            f"{part}_count": len(pairs),
            f"{part}_aligned_count": count_aligned(pairs),
            f"{part}_nouns_count": count_aligned(nouns),
        }
    return figures


def share_exact(model: Translator, pairs: Sequence[Pair]) -> float:
    """Return the share of sentences whose translation is exactly the grammar's."""
    written = translate(model, [pair.source.words[1:] for pair in pairs])
    right = [words == pair.target.words[1:] for words, pair in zip(written, pairs, strict=True)]
    return sum(right) / len(right)


def share_of_words(model: Translator, pairs: Sequence[Pair]) -> float:
    """Return the share of right next words (or end tokens), where each is predicted from the right words before it."""
    batch = pack_alone(pairs)
    with torch.inference_mode():
        stack = model.run_layers(batch.source, batch.target)
        chosen = model.word_logits(stack.end).argmax(-1)  # (B, T, D) -> (B, T)
    return float((chosen == batch.wanted)[batch.target.filled].double().mean())


# ---- alignment -------------------------------------------------------------------------------------------------------
def best_head(model: Translator, count: int) -> Head:
    """Return the head that aligns best, and the row of weights at which it does, "read" or "written".

    Both head and row are chosen on the half "choose" of the held-out sentences.
    """
    pairs = held_out_pairs("held", "choose", count)
    looked_at = find_looks(model, pairs)
    shares = torch.stack([aligned_shares(looked_at, pairs, row) for row in SHIFTS])  # (rows, L, H)
    row, layer, head = (int(index) for index in torch.unravel_index(shares.argmax(), shares.shape))
    return Head(layer, head, tuple(SHIFTS)[row])


def find_looks(model: Translator, pairs: Sequence[Pair]) -> Int[Tensor, "B L H T"]:
    """Return, for each row of every cross-attention head, the position of the source word with the largest weight."""
    batch = pack_alone(pairs)
    with torch.inference_mode():
        stack = model.run_layers(batch.source, batch.target)
    maps = [trace["weights"] for name, trace in stack.parts.items() if name.endswith(".cross")]
    return torch.stack(maps, 1).argmax(-1)  # (B, L, H, T, S) -> (B, L, H, T)


def aligned_shares(looked_at: Int[Tensor, "B L H T"], pairs: Sequence[Pair], row: str) -> Float[Tensor, "L H"]:
    """Return, for each head, the share of aligned words for which the largest weight is on the word of the same
    meaning.

    looked_at: the source index of the largest weight in every row. row: which row of weights belongs to a word, "read"
    (the row of the word itself) or "written" (the row of the word before).
    """
    right = [
        looked_at[number, :, :, target - SHIFTS[row]] == source
        for number, pair in enumerate(pairs)
        for source, target in pair.aligned
    ]
    return torch.stack(right).double().mean(0)


def keep_nouns(pair: Pair) -> Pair:
    """Return a sentence pair in which only nouns and first names are still aligned.

    These are the words whose category is neither an adjective's nor a verb's.
    """
    kinds = pair.source.kinds
    nouns = [(at, target) for at, target in pair.aligned if kinds[at] and kinds[at] not in OTHER_CATEGORIES]
    return replace(pair, aligned=tuple(nouns))


def count_aligned(pairs: Sequence[Pair]) -> int:
    """Return the number of aligned word pairs in a list of sentence pairs."""
    return sum(len(pair.aligned) for pair in pairs)


def pack_alone(pairs: Sequence[Pair]) -> PairBatch:
    """Pack sentence pairs as rows of word indices, one pair per row."""
    longest = max(len(text.words) for pair in pairs for text in (pair.source, pair.target))
    return pack_pairs([[(pair.source, pair.target)] for pair in pairs], len(pairs), longest)
