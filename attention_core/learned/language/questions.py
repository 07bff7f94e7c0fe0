"""The four questions about a text, each answered by one head of the last layer only."""

from jaxtyping import Int
from torch import Tensor

# Who is meant? Who does it? What is like that? Done to what? Each is asked at a word, and another word is the answer.
QUESTIONS = ("pronoun", "subject", "about", "object")
NOT_ASKED = -1  # instead of an answer
Answers = Int[Tensor, "Q B T"]  # the position of the answer in its row; a word without one is its own answer
