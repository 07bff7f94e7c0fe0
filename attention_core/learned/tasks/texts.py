"""Texts of two sides as tensors, and whether a network writes the one from the other exactly."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.symbols.alphabet import PAD, Alphabet

SourceTargetTexts = tuple[Int[Tensor, "B S"], Int[Tensor, "B T"]]  # source and target, filled up with PAD


def pad_rows(rows: Sequence[Sequence[int]]) -> Int[Tensor, "B S"]:
    """Rows of different lengths as one tensor, filled up with PAD.

    >>> pad_rows([[1, 2, 3], [4]])
    tensor([[ 1,  2,  3],
            [ 4, -1, -1]])
    """
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])


def encode_pairs(pairs: Iterable[tuple[str, str]], source: Alphabet, target: Alphabet) -> SourceTargetTexts:
    """Pairs of texts as tensors."""
    left, right = zip(*pairs, strict=True)
    return pad_rows([source.numbers(text) for text in left]), pad_rows([target.numbers(text) for text in right])


def trim_padding(texts: Int[Tensor, "B S"]) -> Int[Tensor, "B n"]:
    """Without the columns that are padding in all rows."""
    return texts[:, : int((texts != PAD).sum(-1).max())]


def is_written_exactly(model: Seq2Seq, texts: SourceTargetTexts) -> Bool[Tensor, " B"]:
    """Which of the texts the network writes exactly, symbol by symbol and no longer."""
    source, target = texts
    written = model.write(source, target.shape[1] + 1)
    missing = target.shape[1] + 1 - written.shape[1]
    return (pad_columns(written, missing) == pad_columns(target, 1)).all(-1)


def share_exact(model: Seq2Seq, texts: SourceTargetTexts) -> float:
    """The share of texts that the network writes exactly."""
    return is_written_exactly(model, texts).double().mean().item()


def pad_columns(texts: Int[Tensor, "B T"], columns: int) -> Int[Tensor, "B n"]:
    """With so many more columns of padding."""
    return torch.nn.functional.pad(texts, (0, columns), value=PAD)
