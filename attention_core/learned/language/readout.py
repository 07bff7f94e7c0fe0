"""What a language model makes of a sentence besides its maps: the sum that each vector is, and the answers it gives."""

from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.logit_lens import logit_lens
from attention_core.analysis.residual_sum import with_logit_sum, with_residual_sum
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.transformer.stack import Stack


@lru_cache(maxsize=4)  # each word's push on each word of the vocabulary: 20 megabytes for a long sentence
def sum_model(name: str, tokens: tuple[str, ...]) -> Stack:
    """The run of a model, and what each of its parts added to each word's vector and to each word's logit."""
    with torch.inference_mode():
        return with_logit_sum(with_residual_sum(run_model(name, tokens)))


@lru_cache(maxsize=16)
def likeliest_words(name: str, tokens: tuple[str, ...]) -> dict[str, tuple[Tensor, Tensor]]:
    """The word that a model would say at each place if it ended after a part, by the name of the part: the probability
    of the likeliest word (T,), and its number (T,); see logit_lens."""
    with torch.inference_mode():
        lens = logit_lens(run_model(name, tokens))
        return {part: tuple(trace["probabilities"][0].max(-1)) for part, trace in lens.items()}


@lru_cache(maxsize=16)
def answer_questions(name: str, tokens: tuple[str, ...]) -> dict[str, Float[Tensor, "T V"]]:
    r"""The probability of each word to be the answer, by question; nothing for a model that is asked none.

    $\mathrm{softmax}_V(z\,W_q E^\top)$, where $z$ is what a model reads the answers from (see ModelShape).

    name: of a model that comes along. tokens: what it reads. Raises AttentionError: unknown_choice.

    >>> words = ("<start>", "anna", "fed", "the", "dog", "and", "it", "barked", ".")
    >>> sorted(answer_questions("en_asked_encoder", words))
    ['about', 'object', 'pronoun', 'subject']
    """
    model, stack = load_model(name), run_model(name, tokens)
    found = {}
    with torch.inference_mode():
        for question in load_recipe(name).questions:
            logits = model.answer_logits(stack, question)  # (1, T, V)
            found[QUESTIONS[question]] = logits[0].softmax(-1)
    return found
