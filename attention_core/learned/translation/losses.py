"""The loss of a translator: the cross-entropy of each word of the translation."""

from torch import Tensor
from torch.nn.functional import cross_entropy

from attention_core.learned.translation.model import Translator
from attention_core.learned.translation.pairs import PairBatch


def translation_loss(model: Translator, batch: PairBatch) -> Tensor:
    """Compute the mean cross-entropy of the words of the translations and of their ends, in nats."""
    stack = model.run_layers(batch.source, batch.target)
    filled = batch.target.filled
    return cross_entropy(model.word_logits(stack.end[filled]), batch.wanted[filled])
