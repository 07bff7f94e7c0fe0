"""What a text is asked: four questions, each read out of one head of the last layer and of nothing else."""

from jaxtyping import Int
from torch import Tensor

# Who is meant? Who does it? What is like that? Done to what? Each is asked at a word, and another word is the answer.
QUESTIONS = ("pronoun", "subject", "about", "object")
NOT_ASKED = -1  # in the place of an answer
Answers = Int[Tensor, "Q B T"]  # the position of the answer in its row; a word without one is its own answer
