"""Measures each head of the language models on held-out texts; the results are stored in heads.json, beside the models'
weights.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.head_measures import MEASURES, measure_head_maps
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
from attention_core.learned.measured_table import MeasuredTable

HEAD_TEXTS = 300  # number of held-out texts per measure
LINKS = {"antecedent": "pronoun", "subject": "subject"}  # measure -> the kind of link whose mean weight it is
DECIMALS = 3


@dataclass(frozen=True)
class HeadFigures:
    """The measures of a model's heads.

    texts: the number of texts. places: {"antecedent": number of measured pronouns, "subject": number of measured
    verbs}. measures: {name: one row per layer, one number per head}.
    """

    texts: int
    places: dict[str, int]
    measures: dict[str, list[list[float]]]


def measure_model_heads(name: str) -> HeadFigures:
    """Measure the heads of a shipped model: the measures of measure_head_maps, averaged over held-out texts, and the
    mean weight from a pronoun to its noun ("antecedent") and from a verb to its subject ("subject").

    Pairs whose noun or subject comes later are left out for a decoder, because its mask blocks them.
    """
    model, language = load_model(name, torch.float32), RECIPES[name].language
    texts = held_out_texts(language, "held", "report", HEAD_TEXTS)
    found = {measure: mean.tolist() for measure, mean in average_measures(model, language).items()}
    places = {}
    for link, kind in LINKS.items():
        meant = [each for each in find_places(texts, kind) if each.to <= each.at or not model.shape.causal]
        places[link] = len(meant)
        if meant:
            found[link] = right_weights(weights_from(model, language, meant), meant).mean(0).tolist()  # (N, L, H)
    measures = {
        measure: [[round(each, DECIMALS) for each in layer] for layer in rows] for measure, rows in found.items()
    }
    return HeadFigures(len(texts), places, measures)


def average_measures(model: LanguageModel, language: str) -> dict[str, Float[Tensor, "L H"]]:
    """Return the measures of measure_head_maps for each head, averaged over those held-out texts for which they are not
    NaN.
    """
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


HEAD_FIGURES = MeasuredTable(SHIPPED_FOLDER / "heads.json", HeadFigures, measure_model_heads)
