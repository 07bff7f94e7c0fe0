"""A gap filled by a decoder that reads one side: words are tried in it, and the whole text is judged with each."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.learned.language.surprise import number_words, word_surprises
from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import UNEMBEDDING


@dataclass(frozen=True, eq=False)
class TriedWords:
    """Words that were tried in a gap.

    numbers: of the words, the one that stood there first. shares: of each among them.
    """

    numbers: Int[Tensor, " W"]
    shares: Float[Tensor, " W"]


def try_words(name: str, tokens: tuple[str, ...], at: int, count: int) -> TriedWords:
    r"""Give how likely each of some words is in a gap, as a decoder judges the whole text with it.

    $p(w \mid \text{left}, \text{right}) \propto p(\text{left}, w, \text{right})$, over the word that stood there and
    the `count` words that are likeliest after what stands before.

    name: of a decoder that comes along. tokens: the text, START first. at: the place of the gap, from 1. Raises
    AttentionError: index, positive_integer, decoding_not_causal. Source: Bayes' rule.

    >>> tried = try_words("en_asked_decoder", ("<start>", "the", "dog", "barked", "."), 2, 3)
    >>> len(tried.numbers), round(float(tried.shares.sum()), 6)
    (4, 1.0)
    """
    recipe = load_recipe(name)
    if not recipe.causal:
        raise AttentionError("decoding_not_causal")
    if not 1 <= at < len(tokens):
        raise AttentionError("index", name="tokens", axes="T from 1", shape=(len(tokens),), given=at)
    own = word_numbers(recipe.language)[tokens[at]]
    before = run_model(name, tokens[:at])[UNEMBEDDING]["logits"][0, -1]  # (V)
    likeliest = before.topk(require_positive("count", count)).indices
    others = likeliest[likeliest != own]
    numbers = torch.cat([torch.tensor([own]), others])  # (W)
    texts = number_words(recipe.language, tokens).repeat(len(numbers), 1)  # (W, T)
    texts[:, at] = numbers
    surprises = word_surprises(load_model(name), recipe.language, texts)  # (W, T - 1)
    return TriedWords(numbers, (-surprises.sum(-1)).softmax(-1))
