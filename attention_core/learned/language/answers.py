"""The word that a model answers to the question of whom a pronoun means, and the word at which it is asked."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from attention_core.learned.language.recipes import ABOUT, PRONOUN

ENDS = frozenset(".,!?;:。，！？；：")  # ends of a clause


class Answer(NamedTuple):
    """An answer. asked: the word at which the model is asked. weight: the largest weight there.

    word: the word with this weight; None if it is the asked word itself or START, which means no word.
    """

    asked: int
    word: int | None
    weight: float


def find_answer(weights: Float[Tensor, "H T S"], causal: bool, tokens: tuple[str, ...], pronoun: int) -> Answer:
    """The answer of a model to the question of whom a pronoun means.

    An encoder is asked at the pronoun. A decoder has not read the reason there: it is asked at the deciding word,
    and at the pronoun only if no later word of the clause decides.

    weights: of the last layer, whose heads answer the questions. pronoun: its position.
    """
    if causal:
        deciding = [read_answer(weights, ABOUT, at) for at in rest_of_clause(tokens, pronoun)]
        deciding = [answer for answer in deciding if answer.word is not None and answer.word < pronoun]
        if deciding:
            return max(deciding, key=lambda answer: answer.weight)
    return read_answer(weights, PRONOUN, pronoun)


def read_answer(weights: Float[Tensor, "H T S"], question: int, asked: int) -> Answer:
    """The word with the largest weight in a question's head, from the asked word."""
    row = weights[question, asked]  # (S,)
    word = int(row.argmax())
    return Answer(asked, None if word in (0, asked) else word, float(row[word]))


def rest_of_clause(tokens: tuple[str, ...], at: int) -> range:
    """The positions after a word, up to the next punctuation."""
    ends = [place for place, token in enumerate(tokens) if place > at and token in ENDS]
    return range(at + 1, min(ends, default=len(tokens)))
