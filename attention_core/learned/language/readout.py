"""What a language model makes of a sentence besides its maps: the sum that each vector is, and the answers it gives."""

from dataclasses import replace
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.logit_lens import logit_lens
from attention_core.analysis.residual_sum import with_logit_sum, with_residual_sum
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.transformer.stack import UNEMBEDDING, Stack
from attention_core.transformer.unembedding import unembed


@lru_cache(maxsize=4)  # each word's push on each word of the vocabulary: 20 megabytes for a long sentence
def sum_model(name: str, tokens: tuple[str, ...]) -> Stack:
    """The run of a model, and what each of its parts added to each word's vector and to each word's logit."""
    with torch.inference_mode():
        return with_logit_sum(with_residual_sum(run_model(name, tokens)))


def with_word_temperature(name: str, stack: Stack, temperature: float) -> Stack:
    r"""The same run whose words come out at a temperature: $\mathrm{softmax}_V(\mathrm{logits} / T)$.

    name: of the model. stack: its run. temperature: see UnembeddingConfig. Raises AttentionError: positive_number.

    >>> stack = run_model("en_asked_decoder", ("<start>", "the", "dog"))
    >>> warm = with_word_temperature("en_asked_decoder", stack, 2.0)
    >>> bool(warm["unembedding"]["probabilities"].max() < stack["unembedding"]["probabilities"].max())
    True
    """
    if temperature == 1:
        return stack
    model, own = load_model(name), stack[UNEMBEDDING]
    config = replace(model.shape.stack().unembedding, temperature=temperature)
    with torch.inference_mode():
        trace = unembed(own["x"], model.weights().unembedding, config).labelled(**own.labels)
    return replace(stack, parts={**stack.parts, UNEMBEDDING: trace})


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
