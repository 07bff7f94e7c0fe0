"""Encodes pairs of texts as tensors, and measures how often a network generates the second text of a pair exactly."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.symbols import PAD, Alphabet

SourceTargetTexts = tuple[Int[Tensor, "B S"], Int[Tensor, "B T"]]  # (source texts, target texts), both padded with PAD


def pad_rows(rows: Sequence[Sequence[int]]) -> Int[Tensor, "B S"]:
    """Stack rows of different lengths into a tensor, padded with PAD.

    >>> pad_rows([[1, 2, 3], [4]])
    tensor([[ 1,  2,  3],
            [ 4, -1, -1]])
    """
    longest = max(map(len, rows))
    padded = []
    for row in rows:
        padding = [PAD] * (longest - len(row))
        padded.append([*row, *padding])
    return torch.tensor(padded)


def encode_pairs(pairs: Iterable[tuple[str, str]], source: Alphabet, target: Alphabet) -> SourceTargetTexts:
    """Encode pairs of texts as two tensors with the alphabet indices of their symbols, padded with PAD."""
    source_rows = []
    target_rows = []
    for source_text, target_text in pairs:
        source_rows.append(source.numbers(source_text))
        target_rows.append(target.numbers(target_text))
    return pad_rows(source_rows), pad_rows(target_rows)


def trim_padding(texts: Int[Tensor, "B S"]) -> Int[Tensor, "B n"]:
    """Remove the last columns, in which all rows have only padding."""
    lengths = (texts != PAD).sum(-1)
    longest = lengths.max().item()
    return texts[:, :longest]


def is_written_exactly(model: Seq2Seq, texts: SourceTargetTexts) -> Bool[Tensor, " B"]:
    """Return, for each text, whether the network generates the target and nothing after it."""
    source, target = texts
    # one more column, so that a longer output counts as different
    wanted = pad_columns(target, 1)  # (B, T + 1)
    most = wanted.shape[1]
    output = model.write(source, most)
    missing = most - output.shape[1]
    output = pad_columns(output, missing)
    is_same = output == wanted  # (B, T + 1)
    return is_same.all(-1)


def share_exact(model: Seq2Seq, texts: SourceTargetTexts) -> float:
    """Measure the share of texts whose target the network generates exactly."""
    return is_written_exactly(model, texts).double().mean().item()


def pad_columns(texts: Int[Tensor, "B T"], columns: int) -> Int[Tensor, "B n"]:
    """Append `columns` columns of padding."""
    return torch.nn.functional.pad(texts, (0, columns), value=PAD)
