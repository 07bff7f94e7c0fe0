"""The loss of a language model: for words to predict, for answers to questions, and for the entropy of its maps."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attention_core.learned.language.batches import Batch
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.questions import NOT_ASKED
from attention_core.transformer.stack import Stack

SMALLEST_SHARE = 1e-9  # the least weight in a logarithm


@dataclass(frozen=True)
class Prices:
    """The factors of the further parts of the loss, relative to the loss of the words to predict.

    answers: for answers that are another word. itself: for answers that are the asked word itself. spread: for the mean
    entropy of the maps, so that each word attends to few words.
    """

    answers: float = 0.0
    itself: float = 0.0
    spread: float = 0.0


def language_loss(model: LanguageModel, batch: Batch, prices: Prices, questions: tuple[int, ...]) -> Tensor:
    """Compute the loss of a batch, in nats. questions: the numbers of the questions that are asked."""
    packed = batch.packed
    stack = model.run_layers(batch.seen, packed.allowed)
    loss = foretelling_loss(model, stack, batch)
    for question in questions:
        loss = loss + answer_loss(model, stack, batch, question, prices)
    if prices.spread:
        loss = loss + prices.spread * mean_entropy(stack, batch)
    return loss


def foretelling_loss(model: LanguageModel, stack: Stack, batch: Batch) -> Tensor:
    """The mean surprise of the words to predict: for a decoder, all words after the first word of a text."""
    words, texts = batch.packed.words, batch.packed.texts
    x = stack.end  # (B, T, D)
    if batch.foretold is not None:
        return cross_entropy(model.word_logits(x[batch.foretold]), words[batch.foretold])
    is_same_text = texts[:, 1:] == texts[:, :-1]  # (B, T - 1)
    has_next = is_same_text & batch.packed.filled[:, :-1]
    here = x[:, :-1][has_next]  # (words, D)
    wanted = words[:, 1:][has_next]
    return cross_entropy(model.word_logits(here), wanted)


def answer_loss(model: LanguageModel, stack: Stack, batch: Batch, question: int, prices: Prices) -> Tensor:
    """The mean surprise of the answers that are another word, and that of the answers that are the asked word itself,
    each multiplied by its factor in `prices` and added."""
    answers = batch.packed.answers[question]  # (B, T)
    rows, places = (answers != NOT_ASKED).nonzero(as_tuple=True)
    found = answers[rows, places]
    source = model.answer_source(stack, question)[rows, places]  # (asked, read)
    wanted = batch.packed.words[rows, found]
    surprises = cross_entropy(model.read_answers(source, question), wanted, reduction="none")
    is_itself = found == places
    loss = torch.zeros(())
    for price, part in ((prices.answers, surprises[~is_itself]), (prices.itself, surprises[is_itself])):
        if price and len(part):
            loss = loss + price * part.mean()
    return loss


def mean_entropy(stack: Stack, batch: Batch) -> Tensor:
    """The mean entropy of a row of weights at positions with a word, summed over the layers."""
    total = torch.zeros(())
    for name, trace in stack.parts.items():
        if name.endswith(".attention"):
            weights = trace["weights"].transpose(1, 2)[batch.packed.filled]  # (words, H, S)
            logs = weights.clamp(min=SMALLEST_SHARE).log()
            total = total - (weights * logs).sum(-1).mean()
    return total
