"""What each head of the language models does on texts that they never saw: kept in heads.json, beside their weights."""

import json
from dataclasses import asdict, dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.head_measures import MEASURES, measure_head_maps
from attention_core.learned.figures_file import write_row
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.measures import (
    all_weights,
    find_places,
    held_out_texts,
    right_weights,
    weights_from,
)
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import SHIPPED_FOLDER, load_model

HEADS_FILE = SHIPPED_FOLDER / "heads.json"
HEAD_TEXTS = 300  # that are read for each figure
LINKS = {"antecedent": "pronoun", "subject": "subject"}  # a measure: the kind of the links that it follows
DECIMALS = 3


@dataclass(frozen=True)
class HeadFigures:
    """What the heads of a model do. texts: how many were read. places: how many pronouns and verbs were looked at.
    measures: of each name, a row a layer, a number a head."""

    texts: int
    places: dict[str, int]
    measures: dict[str, list[list[float]]]


def measure_model_heads(model: LanguageModel, language: str) -> HeadFigures:
    """The measures of measure_head_maps, each the mean over held-out texts, and the mean weight from a pronoun to its
    noun ("antecedent") and from a verb to its subject ("subject"), where that is not a later word of a decoder."""
    texts = held_out_texts(language, "held", "report", HEAD_TEXTS)
    found = {name: mean.tolist() for name, mean in average_measures(model, language).items()}
    places = {}
    for name, kind in LINKS.items():
        meant = [each for each in find_places(texts, kind) if each.to <= each.at or not model.shape.causal]
        places[name] = len(meant)
        if meant:
            found[name] = right_weights(weights_from(model, language, meant), meant).mean(0).tolist()  # (N, L, H)
    measures = {name: [[round(each, DECIMALS) for each in layer] for layer in rows] for name, rows in found.items()}
    return HeadFigures(len(texts), places, measures)


def average_measures(model: LanguageModel, language: str) -> dict[str, Float[Tensor, "L H"]]:
    """The measures of the heads over the held-out texts; a text for which one is no number does not count there."""
    numbers = word_numbers(language)
    found: dict[str, list[Tensor]] = {name: [] for name in MEASURES}
    for text in held_out_texts(language, "held", "report", HEAD_TEXTS):
        ids = [numbers[word] for word in text.words]
        weights = all_weights(model, torch.tensor([ids]))[0]  # (L, H, T, T)
        allowed = torch.ones(len(ids), len(ids), dtype=torch.bool)
        if model.shape.causal:
            allowed = allowed.tril()
        for name, each in measure_head_maps(weights, ids, allowed).items():
            found[name].append(each)
    return {name: torch.stack(each).nanmean(0) for name, each in found.items()}  # (N, L, H) -> (L, H)


# ---- the file --------------------------------------------------------------------------------------------------------
def measure_heads_again(name: str) -> None:
    """Measure the heads of a model that comes along, and write them into the file."""
    write_row(HEADS_FILE, name, asdict(measure_model_heads(load_model(name, torch.float32), RECIPES[name].language)))
    read_head_figures.cache_clear()


@cache
def read_head_figures() -> dict[str, HeadFigures]:
    """What the heads of each model do that comes along."""
    rows = json.loads(HEADS_FILE.read_text("utf-8"))
    return {name: HeadFigures(**row) for name, row in rows.items()}
