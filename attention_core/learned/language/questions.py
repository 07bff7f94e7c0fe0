"""Lists the four questions that a model answers about a text, each by one head of the last layer, and reads a model's
answer.
"""

from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor

# The noun that a pronoun refers to, the noun that acts, the noun that is described, the verb whose object a noun is.
QUESTIONS = ("pronoun", "subject", "about", "object")
PRONOUN, ABOUT = QUESTIONS.index("pronoun"), QUESTIONS.index("about")
NOT_ASKED = -1  # what Answers has where training does not ask the question
Answers = Int[Tensor, "Q B T"]  # per question and word: the position of the answer, or of the word itself
ENDS = frozenset(".,!?;:。，！？；：")  # punctuation marks that end a clause


class Answer(NamedTuple):
    """An answer to the question of which noun a pronoun refers to.

    asked: the position of the query whose weights are read. weight: the query's largest weight. word: the position of
    the word with this weight; None, which means no answer, if that word is at `asked` or is START.
    """

    asked: int
    word: int | None
    weight: float


def find_answer(weights: Float[Tensor, "H T S"], causal: bool, tokens: tuple[str, ...], pronoun: int) -> Answer:
    """Return a model's answer to the question of which noun a pronoun refers to, read from the weights of one query.

    In an encoder that query is the pronoun. A decoder has not read the reason when it is at the pronoun, so its query
    is a later word of the clause, the one that decides; without such a word it is the pronoun.

    weights: the weights of the last layer, whose heads answer the questions. pronoun: the position of the pronoun.
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
    """Return the answer of the query at `asked`: the word to which the question's head gives the largest weight.

    question: the index of the question, which is also the index of its head.
    """
    row = weights[question, asked]  # (S,)
    word = int(row.argmax())
    return Answer(asked, None if word in (0, asked) else word, float(row[word]))
