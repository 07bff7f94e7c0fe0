"""A batch beside its sentences computed one by one: filling up to the longest must change no number of any of them."""

from collections.abc import Sequence

import torch

from attention_core.comparison.distances import abs_difference, largest_magnitude
from attention_core.record.trace import Step, Trace


def largest_batch_difference(batch: Trace, alone: Sequence[Trace]) -> tuple[str, float]:
    """The step in which a sentence of the batch is farthest from the same sentence alone, and how far.

    batch: a run of B sequences. alone: B runs of one each, of its own length, with the same weights and choices.
    Every step that both have is compared over the sentence's own tokens; the difference is relative to the step's
    largest magnitude there. Cells that are infinite must be so in both, else the difference is infinite.

    >>> from attention_core import attend
    >>> x = torch.tensor([[1.0], [2.0]])
    >>> largest_batch_difference(attend(torch.stack([x, 3 * x])), [attend(x), attend(3 * x)])
    ('', 0.0)
    """
    worst = ("", 0.0)
    for sentence, single in enumerate(alone):
        for name, step in single.computed().items():
            if name in batch and "B" in step.dims:
                difference = sentence_difference(batch.step(name), step, sentence)
                worst = max(worst, (name, difference), key=lambda found: found[1])
    return worst


def sentence_difference(step: Step, alone: Step, sentence: int) -> float:
    """How far one sentence of a step is from the same step of the sentence alone."""
    row = min(sentence, step.value.shape[0] - 1)  # a mask may stand for all sentences
    own = tuple(slice(0, size) for size in alone.value.shape[1:])
    one = step.value[(slice(row, row + 1), *own)]
    if one.shape != alone.value.shape:
        return torch.inf
    return abs_difference(one, alone.value).max().item() / largest_magnitude(alone.value)
