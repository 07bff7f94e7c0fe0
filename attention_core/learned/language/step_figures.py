"""Whether the weights of a head show a language model's answers: on minimal pairs, by step, by head, and with changed
heads. Stored in steps.json, beside the models."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.interventions import EVEN, OFF, Intervention, intervene
from attention_core.learned.figures_file import write_row
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.kept_steps import load_step, steps_of
from attention_core.learned.language.measures import Place, deciding_kind, pair_places, pairs_by_length, share_of_both
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import SHIPPED_FOLDER, load_model
from attention_core.transformer.stack import Stack

STEPS_FILE = SHIPPED_FOLDER / "steps.json"
DECIMALS = 4


@dataclass(frozen=True)
class StepFigures:
    """Shares of the minimal pairs with both texts right.

    head: (layer, head), from 0, with the largest share after the last step, chosen on other pairs. shown: step -> share
    in which `head` gives the noun that is meant more weight than the other noun. answered: step -> share with right
    answers; {} for a model without questions. changed: share with right answers after the last step with `head`
    ablated, "off", or with uniform weights, "even". heads: `shown` of each head after the last step, one row per layer.
    without: the share with right answers if each head is ablated, one row per layer; [] without questions.
    """

    head: tuple[int, int]
    shown: dict[str, float]
    answered: dict[str, float]
    changed: dict[str, float]
    heads: list[list[float]]
    without: list[list[float]]


def measure_steps(name: str) -> StepFigures:
    """Measure a model at each step of steps_of, on the half of the held-out pairs that gives the figures."""
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
    changed, without = {}, []  # of the last step
    if recipe.questions:
        own = {kind: Intervention(f"{layer + 1}.attention", head, kind) for kind in (OFF, EVEN)}
        changed = {kind: answer_pairs(model, recipe.language, batches, each) for kind, each in own.items()}
        without = answer_without_heads(model, recipe.language, batches)
    return StepFigures((layer, head), shown, answered, changed, heads, without)


def find_telling_head(model: LanguageModel, language: str) -> tuple[int, int]:
    """The (layer, head) that is right in most pairs of the half that chooses: more weight on the noun that is meant."""
    shares = torch.tensor(share_shown(list(run_pairs(model, language, "choose"))))  # (L, H)
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    return layer, head


def answer_without_heads(model: LanguageModel, language: str, batches: Sequence["PairBatch"]) -> list[list[float]]:
    """The share of pairs with both answers right if each head is ablated, one row per layer."""
    shape = model.shape
    changes = [
        [Intervention(f"{layer}.attention", head) for head in range(shape.heads)]
        for layer in range(1, shape.layers + 1)
    ]
    return [[answer_pairs(model, language, batches, change) for change in layer] for layer in changes]


# ---- the pairs -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class PairBatch:
    """Pairs whose texts are of one length. places: both texts of a pair, one after the other. stack: the run on all."""

    places: Sequence[Place]
    stack: Stack


def run_pairs(model: LanguageModel, language: str, half: str = "report") -> Iterator[PairBatch]:
    """Yield the runs on all pairs; pairs of one length are run together."""
    numbers = word_numbers(language)
    for some in pairs_by_length(pair_places(model.shape.causal, language, half)):
        words = torch.tensor([[numbers[word] for word in place.text.words] for place in some])
        with torch.inference_mode():
            yield PairBatch(some, model.stack(words))


def share_shown(batches: Sequence[PairBatch]) -> list[list[float]]:
    """The share of pairs in which each head gives the noun that is meant more weight than the other, in both texts."""
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
    """The share of pairs with both answers right. change: an intervention in all runs; None: no intervention."""
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


# ---- the file --------------------------------------------------------------------------------------------------------
def measure_steps_again(name: str) -> None:
    """Measure a model at each step of steps_of, and write the figures into STEPS_FILE."""
    write_row(STEPS_FILE, name, asdict(measure_steps(name)))
    read_step_figures.cache_clear()


@cache
def read_step_figures() -> dict[str, StepFigures]:
    """Name -> figures of each model in MEASURED, read from STEPS_FILE."""
    return {name: StepFigures(**row) for name, row in json.loads(STEPS_FILE.read_text("utf-8")).items()}
