"""The four questions about a text, each answered by one head of the last layer only."""

from jaxtyping import Int
from torch import Tensor

# Who is meant? Who does it? What is like that? Done to what? Each question is asked at a word; a word is the answer.
QUESTIONS = ("pronoun", "subject", "about", "object")
NOT_ASKED = -1  # value in Answers if a question is not asked
Answers = Int[Tensor, "Q B T"]  # for each word the position of its answer in the text; its own position if it has none
