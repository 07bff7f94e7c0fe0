"""What a translator pays for: the surprise of each word of the translation, and heads that look everywhere."""

from torch import Tensor
from torch.nn.functional import cross_entropy

from attention_core.learned.language.losses import mean_entropy
from attention_core.learned.translation.model import Translator
from attention_core.learned.translation.pairs import PairBatch


def translation_loss(model: Translator, batch: PairBatch, spread: float = 0.0) -> Tensor:
    """Compute the mean surprise of the words of the translations and of their ends, in nats.

    spread: how much the mean entropy of the cross-attention counts beside it, so that each word looks at few.
    """
    stack = model.run_layers(batch.source, batch.target)
    filled = batch.target.filled
    loss = cross_entropy(model.word_logits(stack.end[filled]), batch.wanted[filled])
    return loss + spread * mean_entropy(stack, filled, ".cross") if spread else loss
