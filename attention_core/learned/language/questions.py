"""The four questions about a text, each answered by one head of the last layer only, and the words that answer them."""

from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor

# Who is meant? Who does it? What is like that? Done to what? Each question is asked at a word; a word is the answer.
QUESTIONS = ("pronoun", "subject", "about", "object")
PRONOUN, ABOUT = QUESTIONS.index("pronoun"), QUESTIONS.index("about")
NOT_ASKED = -1  # value in Answers if a question is not asked
Answers = Int[Tensor, "Q B T"]  # for each word the position of its answer in the text; its own position if it has none
ENDS = frozenset(".,!?;:。，！？；：")  # punctuation that ends a clause


class Answer(NamedTuple):
    """An answer. asked: the position at which the model is asked. weight: the largest weight from there.

    word: the position of the word with this weight; None if it is `asked` itself or START, which mean no answer.
    """

    asked: int
    word: int | None
    weight: float


def find_answer(weights: Float[Tensor, "H T S"], causal: bool, tokens: tuple[str, ...], pronoun: int) -> Answer:
    """The answer of a model to the question of whom a pronoun means.

    An encoder is asked at the pronoun. A decoder has not read the reason at the pronoun, so it is asked at the deciding
    word, and at the pronoun only if no later word of the clause decides.

    weights: of the last layer, whose heads answer the questions. pronoun: the position of the pronoun.
    """
    if causal:
        ends = [place for place, token in enumerate(tokens) if place > pronoun and token in ENDS]
        rest_of_clause = range(pronoun + 1, min(ends, default=len(tokens)))
        deciding = [read_answer(weights, ABOUT, at) for at in rest_of_clause]
        deciding = [answer for answer in deciding if answer.word is not None and answer.word < pronoun]
        if deciding:
            return max(deciding, key=lambda answer: answer.weight)
    return read_answer(weights, PRONOUN, pronoun)


def read_answer(weights: Float[Tensor, "H T S"], question: int, asked: int) -> Answer:
    """The answer at the position `asked`: the word to which the question's head gives the largest weight."""
    row = weights[question, asked]  # (S,)
    word = int(row.argmax())
    return Answer(asked, None if word in (0, asked) else word, float(row[word]))
