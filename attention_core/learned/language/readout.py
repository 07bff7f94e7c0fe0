"""Further outputs of a language model: what each part adds to vectors and logits, the next words, the answers."""

from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.logit_attribution import logit_lens
from attention_core.analysis.residual_sum import with_logit_sum, with_residual_sum
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.transformer.stack import UNEMBEDDING, Stack
from attention_core.transformer.unembedding import UnembeddingConfig, unembed


@lru_cache(maxsize=4)  # the parts of each word's logits for the whole vocabulary: 20 MB for a long sentence
def sum_model(name: str, tokens: tuple[str, ...]) -> Stack:
    """The run of a model, with what each part adds to every word's vector and logits (direct logit attribution)."""
    with torch.inference_mode():
        return with_logit_sum(with_residual_sum(run_model(name, tokens)))


@dataclass(frozen=True)
class WordChoices:
    """How output words are chosen: temperature, top_k and top_p, see UnembeddingConfig.

    Raises AttentionError: positive_number, positive_integer, share_range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self):
        self.config(UnembeddingConfig())

    def config(self, own: UnembeddingConfig) -> UnembeddingConfig:
        """The config of an unembedding with its temperature, top_k and top_p replaced by these choices."""
        return replace(own, **vars(self))


def with_word_choices(name: str, stack: Stack, choices: WordChoices) -> Stack:
    r"""The run with output words at a temperature, $\mathrm{softmax}_V(\mathrm{logits} / T)$ over the words that stay.

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
    """Name of a part -> (probability, number), each (T,), of the likeliest word at each position if the model ended
    after this part; see logit_lens."""
    with torch.inference_mode():
        lens = logit_lens(run_model(name, tokens))
        return {part: tuple(trace["probabilities"][0].max(-1)) for part, trace in lens.items()}


@lru_cache(maxsize=16)
def answer_questions(name: str, tokens: tuple[str, ...]) -> dict[str, Float[Tensor, "T V"]]:
    r"""Question -> the probability of each word as the answer; {} for a model without questions.

    $\mathrm{softmax}_V(z\,W_q E^\top)$, where $z$ are the vectors from which the answers are read (see ModelShape).

    name: of a shipped model. tokens: its input. Raises AttentionError: unknown_choice.

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
