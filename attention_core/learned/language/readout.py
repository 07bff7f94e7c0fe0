"""What a language model makes of a sentence besides its maps: the sum that each vector is, and the answers it gives."""

from dataclasses import dataclass, replace
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
from attention_core.transformer.unembedding import UnembeddingConfig, unembed


@lru_cache(maxsize=4)  # each word's push on each word of the vocabulary: 20 megabytes for a long sentence
def sum_model(name: str, tokens: tuple[str, ...]) -> Stack:
    """The run of a model, and what each of its parts added to each word's vector and to each word's logit."""
    with torch.inference_mode():
        return with_logit_sum(with_residual_sum(run_model(name, tokens)))


@dataclass(frozen=True)
class WordChoices:
    """Which words may come out, and how evenly: temperature, top_k and top_p, see UnembeddingConfig.

    Raises AttentionError: positive_number, positive_integer, share_range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self):
        self.config(UnembeddingConfig())

    def config(self, own: UnembeddingConfig) -> UnembeddingConfig:
        """The choices of an unembedding with these in the place of its own."""
        return replace(own, **vars(self))


def with_word_choices(name: str, stack: Stack, choices: WordChoices) -> Stack:
    r"""The same run whose words come out at a temperature: $\mathrm{softmax}_V(\mathrm{logits} / T)$ over those that
    stay.

    name: of the model. stack: its run.

    >>> stack = run_model("en_asked_decoder", ("<start>", "the", "dog"))
    >>> cut = with_word_choices("en_asked_decoder", stack, WordChoices(temperature=2.0, top_k=3))
    >>> (cut["unembedding"]["probabilities"] > 0).sum(-1).tolist()
    [[3, 3, 3]]
    """
    if choices == WordChoices():
        return stack
    model, own = load_model(name), stack[UNEMBEDDING]
    config = choices.config(model.shape.stack().unembedding)
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
