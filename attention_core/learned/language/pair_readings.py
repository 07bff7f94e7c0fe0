"""A held-out minimal pair, read by a language model at a checkpoint: the weights from the pronoun in the head that is
right on most pairs, and the noun that the model names."""

from dataclasses import dataclass
from functools import lru_cache

import torch

from attention_core.analysis.interventions import EVEN, OFF, Intervention, intervene
from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.kept_steps import load_step
from attention_core.learned.language.measures import Place, deciding_kind, pair_places
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.step_figures import read_step_figures
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.trace import Trace

OWN = "own"  # the choice of an unchanged head
CHANGES = (OWN, EVEN, OFF)


@dataclass(frozen=True, eq=False)
class Reading:
    """One text read by a model. place: where the model is asked. trace: the attention of the layer with the measured
    head. head: the number of this head, from 0.

    answer, share: the word that the model names, and its probability; None and 0 if the model answers no questions.
    undecided: whether all words have the logit 0, as with an ablated head from which the answer is read.
    """

    place: Place
    trace: Trace
    head: int
    answer: str | None
    share: float
    undecided: bool

    @property
    def right(self) -> bool:
        """Whether the model names the noun that is meant."""
        return self.answer == self.place.text.words[self.place.to]

    @property
    def shown(self) -> bool:
        """Whether the head gives the noun that is meant more weight than the other noun."""
        row = self.trace["weights"][0, self.head, self.place.at]  # (S,)
        return bool(row[self.place.to] > row[self.place.others[0]])


def held_out_pair(language: str, number: int) -> tuple[Place, Place]:
    """Return the minimal pair with a number, from 0, among the pairs that give the figures.

    >>> one, two = held_out_pair("en", 47)
    >>> " ".join(one.text.words[1:]), two.text.words[-2]
    ('the cow did not get through the gate because it was too big .', 'small')
    """
    places = pair_places(False, language, "report")
    return places[2 * number], places[2 * number + 1]


@lru_cache(maxsize=256)  # a result has the steps of one layer: some hundred kilobytes
def read_pair(name: str, step: int, number: int, change: str = OWN) -> tuple[Reading, Reading]:
    """Read both texts of a held-out pair with a model at a step of its training.

    name: of a shipped encoder. step: one of steps_of. number: of the pair. change: one of CHANGES for the measured
    head: as trained, with uniform weights, or ablated.

    Raises AttentionError: unknown_choice.

    >>> one, two = read_pair("en_asked_encoder", 5000, 47)
    >>> one.answer, two.answer
    ('cow', 'gate')
    """
    require_one_of("change", change, CHANGES)
    one, two = held_out_pair(RECIPES[name].language, number)
    return read_place(name, step, one, change), read_place(name, step, two, change)


def read_place(name: str, step: int, place: Place, change: str) -> Reading:
    """Run the checkpoint of a training step on one text; return what it reads at the place, and with which share."""
    recipe = RECIPES[name]
    words = vocabulary(recipe.language)
    model = load_step(name, step)
    layer, head = read_step_figures()[name].head
    part = f"{layer + 1}.attention"
    numbers = word_numbers(recipe.language)
    answer, share, undecided = None, 0.0, False
    with torch.inference_mode():
        stack = model.stack(torch.tensor([[numbers[word] for word in place.text.words]]))
        if change != OWN:
            stack = intervene(stack, [Intervention(part, head, change)])
        if recipe.questions:
            logits = model.answer_logits(stack, QUESTIONS.index(deciding_kind(recipe.causal)))  # (1, T, V)
            probabilities = logits[0, place.at].softmax(-1)  # (V,)
            answer, share = words[int(probabilities.argmax())], float(probabilities.max())
            undecided = bool(logits[0, place.at].eq(0).all())
    return Reading(place, stack.labelled(place.text.words)[part], head, answer, share, undecided)
