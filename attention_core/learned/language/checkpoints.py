"""Loads checkpoints of the included language models, and measures at each how often an attention head shows the right
answer.

A minimal pair is two texts that differ in one word, which changes the noun that a pronoun refers to. Measurements over
many pairs are stored in steps.json, beside the models; the results of one held-out pair are computed on demand.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from safetensors.torch import load_file, save_file
from torch import Generator, Tensor

from attention_core.analysis.interventions import EVEN, OFF, Intervention, intervene
from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.measures import Place, deciding_kind, pair_places, pairs_by_length, share_of_both
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.network_folder import STORED_DTYPE
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import SHIPPED_FOLDER, load_model, model_file, read_figures
from attention_core.learned.language.training import LanguageTraining
from attention_core.learned.measured_table import MeasuredTable
from attention_core.learned.model_cache import MODEL_CACHE
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.trace import Trace
from attention_core.transformer.stack import Stack

# ---- the weights after some steps of training ------------------------------------------------------------------------
STEPS_FOLDER = SHIPPED_FOLDER / "steps"
BETWEEN_STEPS = (500, 1000, 2000)  # training steps at which models of STEPPED have checkpoints
STEPPED = ("en_foretold_encoder", "en_named_encoder", "en_asked_encoder")
MEASURED = (*STEPPED, "zh_foretold_encoder", "zh_named_encoder", "zh_asked_encoder")


def steps_of(name: str) -> tuple[int, ...]:
    """Return the training steps at which a model can be loaded: step 0, those of its checkpoints, and the last.

    >>> steps_of("en_asked_encoder"), steps_of("zh_asked_encoder")
    ((0, 500, 1000, 2000, 5000), (0, 5000))
    """
    between = BETWEEN_STEPS if name in STEPPED else ()
    return (0, *between, RECIPES[name].steps)


def size_between_steps(names: Iterable[str]) -> float:
    """Return the size in megabytes of all checkpoints at BETWEEN_STEPS of these models.

    >>> round(size_between_steps(["zh_foretold_encoder", "zh_named_encoder", "zh_asked_encoder"]), 1)
    4.0
    """
    return len(BETWEEN_STEPS) * sum(model_file(name).stat().st_size for name in names) / 1e6


@MODEL_CACHE.keep
def load_step(name: str, step: int, dtype: torch.dtype = torch.float64) -> LanguageModel:
    """Return a model at a training step: at step 0 with its random initial weights, at the last step as it is included.

    name: a model of the package. step: one of the steps that steps_of returns. Raises AttentionError: unknown_choice.

    >>> load_step("en_asked_encoder", 500).words.shape
    torch.Size([1744, 64])
    """
    require_one_of("step", str(step), tuple(map(str, steps_of(name))))
    recipe = RECIPES[name]
    if step == recipe.steps:
        return load_model(name, dtype)
    with torch.inference_mode(False):
        generator = Generator().manual_seed(read_figures()[name].seed)
        model = recipe.make(generator).to(dtype).requires_grad_(False)
        if step:
            numbers = load_file(step_file(name, step))
            model.load_state_dict({key: tensor.to(dtype) for key, tensor in numbers.items()})
    return model


def step_file(name: str, step: int) -> str:
    """Return the path of a checkpoint file."""
    return str(STEPS_FOLDER / f"{name}.{step}.safetensors")


def keep_steps(name: str, tell: Callable[[str], object], last: int | None = None) -> LanguageTraining:
    """Train a model again from its seed, save a checkpoint at each step of BETWEEN_STEPS, and return the
    LanguageTraining.

    tell: a function that is called with a message about the progress. last: the step at which the training ends; None
    means the last step of BETWEEN_STEPS.
    """
    STEPS_FOLDER.mkdir(exist_ok=True)
    training = LanguageTraining(RECIPES[name], read_figures()[name].seed)
    while training.step < (last or max(BETWEEN_STEPS)):
        training.advance()
        if training.step in BETWEEN_STEPS:
            numbers = {key: each.detach().to(STORED_DTYPE) for key, each in training.model.state_dict().items()}
            save_file(numbers, step_file(name, training.step))
            tell(f"{name}: step {training.step} kept")
    load_step.cache_clear()
    return training


# ---- figures: on minimal pairs, by step, by head, and with changed heads ---------------------------------------------
DECIMALS = 4


@dataclass(frozen=True)
class StepFigures:
    """Measurements of a model's checkpoints, as shares of minimal pairs: a pair counts only if the model is right on
    both texts.

    head: (layer, head), both from 0, of the measured head, which has the largest share on other pairs after the last
    step. shown: training step -> share in which `head` gives the noun to which the pronoun refers more weight than the
    other noun. answered: training step -> share with right answers; {} for a model without questions. changed: share
    with right answers after the last step with `head` ablated, "off", or with uniform weights, "even". heads: the share
    `shown` after the last step for each head, one row per layer. without: for each head, the share with right answers
    if this head is ablated, one row per layer; [] without questions.
    """

    head: tuple[int, int]
    shown: dict[str, float]
    answered: dict[str, float]
    changed: dict[str, float]
    heads: list[list[float]]
    without: list[list[float]]


def measure_steps(name: str) -> StepFigures:
    """Measure a model at each of its checkpoints, on the half of the held-out minimal pairs named "report", which
    chooses no head.
    """
    recipe = RECIPES[name]
    layer, head = find_telling_head(load_model(name, torch.float32), recipe.language)
    shown, answered = {}, {}
    for step in steps_of(name):
        model = load_step(name, step, torch.float32)
        batches = list(run_pairs(model, recipe.language))
        heads = share_shown(batches)
        shown[str(step)] = heads[layer][head]
        if recipe.questions:
            answered[str(step)] = answer_pairs(model, recipe.language, batches)
    changed, without = {}, []  # `batches` still holds the runs of the last step from the loop above
    if recipe.questions:
        own = {kind: Intervention(f"{layer + 1}.attention", head, kind) for kind in (OFF, EVEN)}
        changed = {kind: answer_pairs(model, recipe.language, batches, each) for kind, each in own.items()}
        without = answer_without_heads(model, recipe.language, batches)
    return StepFigures((layer, head), shown, answered, changed, heads, without)


def find_telling_head(model: LanguageModel, language: str) -> tuple[int, int]:
    """Return (layer, head) of the head that is right on most minimal pairs, among the half of the held-out pairs named
    "choose".

    A head is right if it gives the noun to which the pronoun refers more weight than the other noun.
    """
    shares = torch.tensor(share_shown(list(run_pairs(model, language, "choose"))))  # (L, H)
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    return layer, head


def answer_without_heads(model: LanguageModel, language: str, batches: Sequence["PairBatch"]) -> list[list[float]]:
    """Return, for each head, the share of minimal pairs answered right on both texts while this head is ablated; one
    row per layer."""
    shape = model.shape
    changes = [
        [Intervention(f"{layer}.attention", head) for head in range(shape.heads)]
        for layer in range(1, shape.layers + 1)
    ]
    return [[answer_pairs(model, language, batches, change) for change in layer] for layer in changes]


# ---- the pairs -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class PairBatch:
    """Minimal pairs whose texts have equal length, and one run of a model on all of these texts.

    places: the positions at which the model is asked, for both texts of each pair, one after the other. stack: the run.
    """

    places: Sequence[Place]
    stack: Stack


def run_pairs(model: LanguageModel, language: str, half: str = "report") -> Iterator[PairBatch]:
    """Run a model on one half of the held-out minimal pairs, and yield one PairBatch for each length of text."""
    numbers = word_numbers(language)
    for some in pairs_by_length(pair_places(model.shape.causal, language, half)):
        words = torch.tensor([[numbers[word] for word in place.text.words] for place in some])
        with torch.inference_mode():
            yield PairBatch(some, model.stack(words))


def share_shown(batches: Sequence[PairBatch]) -> list[list[float]]:
    """Return, for each head, the share of minimal pairs in which it attends more to the right noun than to the other,
    in both texts; one row per layer.

    A head is right if it gives the noun to which the pronoun refers more weight than the other noun.
    """
    rights = []
    for batch in batches:
        maps = [trace["weights"] for part, trace in batch.stack.parts.items() if part.endswith(".attention")]
        weights: Float[Tensor, "B L H T S"] = torch.stack(maps, 1)
        for maps_of_text, place in zip(weights, batch.places, strict=True):
            row = maps_of_text[:, :, place.at]  # (L, H, S)
            rights.append(row[..., place.to] > row[..., place.others[0]])  # (L, H)
    both = torch.stack(rights[::2]) & torch.stack(rights[1::2])  # (pairs, L, H)
    return [[round(share, DECIMALS) for share in layer] for layer in both.double().mean(0).tolist()]


def answer_pairs(
    model: LanguageModel, language: str, batches: Sequence[PairBatch], change: Intervention | None = None
) -> float:
    """Return the share of minimal pairs for which a model gives the right answer on both texts.

    change: an intervention, such as an ablated head, in all runs, or None.
    """
    question = QUESTIONS.index(deciding_kind(model.shape.causal))
    numbers = word_numbers(language)
    rights = []
    for batch in batches:
        with torch.inference_mode():
            stack = intervene(batch.stack, [change]) if change else batch.stack
            answers = model.answer_logits(stack, question).argmax(-1)  # (B, T)
        for row, place in zip(answers.tolist(), batch.places, strict=True):
            rights.append(row[place.at] == numbers[place.text.words[place.to]])
    return round(share_of_both(rights), DECIMALS)


STEP_FIGURES = MeasuredTable(SHIPPED_FOLDER / "steps.json", StepFigures, measure_steps)


# ---- one held-out pair: the weights from the pronoun in the head that is right on most pairs, and the noun named -----
OWN = "own"  # choice of CHANGES: the head is unchanged
CHANGES = (OWN, EVEN, OFF)


@dataclass(frozen=True, eq=False)
class Reading:
    """How a model read one text of a minimal pair: the attention of the measured head, and the model's answer.

    place: the positions of the query and of the right answer. trace: the attention of the layer with the measured head.
    head: the index of this head, from 0. answer, share: the word that the model names, and its probability; None and 0
    if the model answers no questions. undecided: whether all words have the logit 0, which happens if the head from
    which the answer is read is ablated.
    """

    place: Place
    trace: Trace
    head: int
    answer: str | None
    share: float
    undecided: bool

    @property
    def right(self) -> bool:
        """Whether the model names the noun that the pronoun refers to."""
        return self.answer == self.place.text.words[self.place.to]

    @property
    def shown(self) -> bool:
        """Whether the head gives the noun that the pronoun refers to more weight than the other noun."""
        row = self.trace["weights"][0, self.head, self.place.at]  # (S,)
        return bool(row[self.place.to] > row[self.place.others[0]])


def held_out_pair(language: str, number: int) -> tuple[Place, Place]:
    """Return a held-out minimal pair by its index, from 0, in the half of the pairs used for reporting.

    >>> one, two = held_out_pair("en", 47)
    >>> " ".join(one.text.words[1:]), two.text.words[-2]
    ('the cow did not get through the gate because it was too big .', 'small')
    """
    places = pair_places(False, language, "report")
    return places[2 * number], places[2 * number + 1]


@MODEL_CACHE.keep
def read_pair(name: str, step: int, number: int, change: str = OWN) -> tuple[Reading, Reading]:
    """Run a checkpoint of a model on both texts of a held-out minimal pair, and return its weights and answers.

    name: of an included encoder. step: the training step of the checkpoint, one of steps_of. number: the index of the
    pair, from 0. change: one of CHANGES for the measured head: as trained, with uniform weights, or ablated.

    Raises AttentionError: unknown_choice.

    >>> one, two = read_pair("en_asked_encoder", 5000, 47)
    >>> one.answer, two.answer
    ('cow', 'gate')
    """
    require_one_of("change", change, CHANGES)
    one, two = held_out_pair(RECIPES[name].language, number)
    return read_place(name, step, one, change), read_place(name, step, two, change)


def read_place(name: str, step: int, place: Place, change: str) -> Reading:
    """Run a checkpoint on one text, and return its weights and its answer at the position where the model is asked."""
    recipe = RECIPES[name]
    words = vocabulary(recipe.language)
    model = load_step(name, step)
    layer, head = STEP_FIGURES.rows[name].head
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
