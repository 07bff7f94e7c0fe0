"""A batch compared with its sentences run alone: padding to the longest must change no number of any sentence."""

from collections.abc import Sequence

import torch

from attention_core.comparison.distances import abs_difference, largest_magnitude
from attention_core.record.trace import Step, Trace


def largest_batch_difference(batch: Trace, alone: Sequence[Trace]) -> tuple[str, float]:
    """Find the step in which a sentence of the batch differs most from the same sentence alone, and by how much.

    batch: a run of B sequences. alone: B runs of one sequence each, of its own length, with the same weights and
    choices.

    Every step that both runs have is compared over the sentence's own tokens. The difference is relative to the step's
    largest magnitude there. A cell that is infinite in only one of the runs makes the difference infinite.

    >>> from attention_core import attend
    >>> x = torch.tensor([[1.0], [2.0]])
    >>> largest_batch_difference(attend(torch.stack([x, 3 * x])), [attend(x), attend(3 * x)])
    ('', 0.0)
    """
    worst_step = ""
    largest = 0.0
    for sentence, single in enumerate(alone):
        for name, step in single.computed().items():
            if name not in batch or "B" not in step.dims:
                continue
            difference = sentence_difference(batch.step(name), step, sentence)
            if difference > largest:
                worst_step = name
                largest = difference
    return worst_step, largest


def sentence_difference(step: Step, alone: Step, sentence: int) -> float:
    """Measure the relative difference of a step, for one sentence of a batch, from that sentence run alone."""
    expected = alone.value
    last_row = len(step.value) - 1
    row = min(sentence, last_row)  # a mask may be the same for all sentences
    own_positions = [slice(0, size) for size in expected.shape[1:]]
    in_batch = step.value[row : row + 1, *own_positions]
    if in_batch.shape != expected.shape:
        return torch.inf
    differences = abs_difference(in_batch, expected)
    largest = differences.max().item()
    return largest / largest_magnitude(expected)
