"""Runs a language model with changed heads or feed-forward layers, and compares its predictions with those of the
unchanged model.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.interventions import Intervention, intervene
from attention_core.analysis.logit_attribution import WORD_PUSHES, attention_parts, splits_by_word, with_word_pushes
from attention_core.analysis.residual_sum import LOGIT_SUM, place_of_word, with_logit_sum
from attention_core.comparison.differences import WeightMove, rank_moved_weights
from attention_core.comparison.measures import measure_moves
from attention_core.learned.language.questions import ABOUT, PRONOUN, find_answer
from attention_core.learned.language.read_model import find_model, remembered
from attention_core.learned.language.reading import run_linked, run_model
from attention_core.learned.language.shipped import load_model
from attention_core.learned.language.simple_rule import find_pronouns
from attention_core.learned.language.writing import blank_word
from attention_core.transformer.stack import UNEMBEDDING, Stack

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """The changes in a run of a model.

    interventions: the changed heads and feed-forward layers. other: the tokens of another sentence, for activation
    patching. hold_norms: whether each norm divides by the same number as in the unchanged run.
    """

    interventions: tuple[Intervention, ...] = ()
    other: Tokens | None = None
    hold_norms: bool = False


@dataclass(frozen=True)
class Outcome:
    """A prediction that is compared before and after a change: the probabilities of all words at one position.

    at: the position. question: the index of the question asked at this position; None for a decoder's next word, or for
    an encoder's masked word. pronoun: the position of the pronoun that the question is about.
    """

    at: int
    question: int | None = None
    pronoun: int | None = None

    def read(self, name: str, tokens: Tokens) -> Tokens:
        """Return the tokens that the model reads. For an encoder that predicts a masked word, MASK replaces the word at
        `at`; a recorded encoder reads its text as it is.
        """
        model = find_model(name)
        is_hidden = self.question is None and not model.causal and model.reads_all
        return blank_word(tokens, self.at) if is_hidden else tokens

    def shares(self, name: str, stack: Stack) -> Float[Tensor, " V"]:
        """Return the probability of each word at the position `at`: as answer to the question, or as predicted word if
        there is no question.

        stack: a run on the tokens that `read` returns.
        """
        if self.question is None:
            return stack[UNEMBEDDING]["probabilities"][0, self.at]
        with torch.inference_mode():
            return find_model(name).answer_logits(stack, self.question)[0, self.at].softmax(-1)


def list_outcomes(name: str, tokens: Tokens, at: int) -> tuple[Outcome, ...]:
    """Return the predictions that the visitor can choose: what each pronoun refers to, and the word at a position.

    Only a model that answers questions predicts what a pronoun refers to.

    >>> tokens = ("<start>", "anna", "fed", "the", "dog", "because", "it", "was", "hungry", ".")
    >>> list_outcomes("en_asked_encoder", tokens, at=2)
    (Outcome(at=6, question=0, pronoun=6), Outcome(at=2, question=None, pronoun=None))
    """
    model = find_model(name)
    pronouns = find_pronouns(model.language, tokens) if model.questions else ()
    answers = tuple(ask_for(name, tokens, pronoun) for pronoun in pronouns)
    if model.causal or not model.reads_all:
        return (*answers, Outcome(at))
    return (*answers, Outcome(max(1, at))) if len(tokens) > 1 else answers


def ask_for(name: str, tokens: Tokens, pronoun: int) -> Outcome:
    """Return the Outcome (a compared prediction) that says to which noun a pronoun refers.

    Its position is the pronoun's, or, in a model whose heads answer, the position at which find_answer reads the
    answer.
    """
    shape = load_model(name).shape
    if shape.answers != "heads":
        return Outcome(pronoun, PRONOUN, pronoun)
    weights = run_model(name, tokens)[f"{shape.layers}.attention"]["weights"][0]  # (H, T, S)
    asked = find_answer(weights, shape.causal, tokens, pronoun).asked
    return Outcome(asked, PRONOUN if asked == pronoun else ABOUT, pronoun)


# ---- runs ------------------------------------------------------------------------------------------------------------
@remembered
def run_changed(name: str, tokens: Tokens, changes: Changes) -> Stack:
    """Run a model with changes. Raises AttentionError as intervene does."""
    other = None if changes.other is None else run_model(name, changes.other)
    with torch.inference_mode():
        return intervene(run_linked(name, tokens), changes.interventions, other, changes.hold_norms)


def shares_before_and_after(name: str, tokens: Tokens, outcome: Outcome, changes: Changes) -> tuple[Tensor, Tensor]:
    """Return the probabilities of all words for an outcome, (V), as a pair: without and with changes."""
    read = outcome.read(name, tokens)
    return outcome.shares(name, run_linked(name, read)), outcome.shares(name, run_changed(name, read, changes))


def moved_weights(name: str, tokens: Tokens, changes: Changes, count: int) -> list[WeightMove]:
    """Return the attention weights that the changes alter most; weights of the changed heads are left out.

    count: the number of weights to return.

    >>> from attention_core.analysis.interventions import Intervention
    >>> tokens = ("<start>", "anna", "fed", "the", "dog")
    >>> (move,) = moved_weights("en_asked_decoder", tokens, Changes((Intervention("2.attention", 0),)), count=1)
    >>> move.part
    '3.attention'
    """
    changed = {(each.part, each.head) for each in changes.interventions}
    return rank_moved_weights(run_changed(name, tokens, changes).parts, run_linked(name, tokens).parts, count, changed)


def last_vectors(stack: Stack) -> Float[Tensor, "T D"]:
    """Return the vectors at the end of a run, after the last layer."""
    *_, last = (trace for part, trace in stack.parts.items() if part != UNEMBEDDING)
    return last.steps[next(reversed(last.steps))].value[0]


def vector_moves(name: str, tokens: Tokens, changes: Changes) -> Float[Tensor, " T"]:
    r"""Return how far changes move the last vector of each word, as a share of its length: $|after - before| /
    |before|$.
    """
    return measure_moves(last_vectors(run_linked(name, tokens)), last_vectors(run_changed(name, tokens, changes)))


# ---- each part ablated -----------------------------------------------------------------------------------------------
def list_switches(stack: Stack) -> list[Intervention]:
    """Return all single ablations in a run: one Intervention for each head and each feed-forward layer.

    >>> len(list_switches(run_model("en_asked_decoder", ("<start>", "the"))))
    15
    """
    switches = []
    for part, trace in stack.parts.items():
        if "w_2" in trace:
            switches.append(Intervention(part))
        elif "weights" in trace:
            switches += [Intervention(part, head) for head in range(trace["weights"].shape[1])]
    return switches


@remembered
def share_with_each_off(
    name: str, tokens: Tokens, outcome: Outcome, word: int, hold_norms: bool = False, layer: int | None = None
) -> tuple[tuple[Intervention, float], ...]:
    """Return (ablation, probability of a word with it) for each head and feed-forward layer, the lowest probability
    first.

    word: the row of the word in the unembedding table. hold_norms: whether each
    norm divides by the same number as in the unchanged run. layer: the layer, from 1, whose parts are ablated; None for
    those of all layers. Source: Michel, Levy, Neubig 2019, section 3.2, "ablating one head".
    """
    stack = run_linked(name, outcome.read(name, tokens))
    with torch.inference_mode():
        runs = each_off(stack, hold_norms, layer)
        found = [(switch, float(outcome.shares(name, without)[word])) for switch, without in runs]
    return tuple(sorted(found, key=lambda each: each[1]))


@remembered
def move_with_each_off(
    name: str, tokens: Tokens, at: int, hold_norms: bool = False, layer: int | None = None
) -> tuple[tuple[Intervention, float], ...]:
    """Return (ablation, how far it moves a word's last vector) for each head and feed-forward layer, the farthest
    first.

    The farthest comes first. at: the position of the word. hold_norms, layer: see share_with_each_off.
    """
    stack = run_linked(name, tokens)
    before = last_vectors(stack)
    with torch.inference_mode():
        runs = each_off(stack, hold_norms, layer)
        found = [(switch, float(measure_moves(before, last_vectors(without))[at])) for switch, without in runs]
    return tuple(sorted(found, key=lambda each: -each[1]))


def each_off(stack: Stack, hold_norms: bool, layer: int | None) -> Iterator[tuple[Intervention, Stack]]:
    """Yield (ablation, the run with it) for each head and feed-forward layer, one at a time.

    layer: the layer, from 1, whose parts are ablated; None for all.
    """
    for switch in list_switches(stack):
        if layer is None or switch.part.startswith(f"{layer}."):
            yield switch, intervene(stack, [switch], hold_norms=hold_norms)


# ---- the path of a prediction ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PathRow:
    """What one head or layer of the model adds to a word's logit (direct logit attribution).

    push: the number that it adds. by_word: for a head, the part of this number that comes from each attended word; None
    for any other part, and if the number is no sum over words.
    """

    part: str
    push: float
    by_word: tuple[float, ...] | None


@remembered
def find_path(name: str, tokens: Tokens, changes: Changes, word: int) -> Stack:
    """Run a model with changes, and split the logit of a word by head and layer, and each head's part by attended word
    if it is a sum over them.

    tokens: the tokens that the model reads, as Outcome.read returns them. word: the row of the word in the unembedding
    table.
    """
    words = find_model(name).words_of_sum(word)
    with torch.inference_mode():
        stack = with_logit_sum(run_changed(name, tokens, changes), words)
        return with_word_pushes(stack, word) if splits_by_word(stack) else stack


def path_rows(stack: Stack, at: int, word: int) -> tuple[PathRow, ...]:
    """Return what each head and layer adds to the logit of a word at a position; the numbers `push` sum to this logit.

    The row of a head also contains its contribution from each attended word. stack: the result of find_path for the
    word. at: the position. word: the row of the word in the unembedding table.
    """
    whole = stack[LOGIT_SUM]["pushes"][:, 0, at, place_of_word(stack, word)].tolist()
    by_head = {}
    for part in attention_parts(stack) if WORD_PUSHES in stack.parts else ():
        pushes = stack[WORD_PUSHES][f"attention_{part.partition('.')[0]}_pushes"][0, :, at]  # (H, S)
        by_head |= {f"{part}.head_{head + 1}": tuple(row) for head, row in enumerate(pushes.tolist())}
    labels = stack[LOGIT_SUM].labels["part"]
    return tuple(PathRow(part, push, by_head.get(part)) for part, push in zip(labels, whole, strict=True))
