"""Making the language models that come along: the best seed of each by one half of the held-out texts."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch

from attention_core.learned.language.guess_figures import measure_guesses
from attention_core.learned.language.measures import measure_heads
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.recipes import RECIPES, Recipe
from attention_core.learned.language.shipped import (
    STORED_DTYPE,
    load_model,
    other_form,
    read_figures,
    ship_model,
    write_row,
)
from attention_core.learned.language.training import LanguageTraining

KEPT_EVERY = 250  # steps
CHOOSING_FIGURES = ("one_fits", "two_fit", "pairs", "across")
FIGURE_DECIMALS = 4


def make_model(name: str, folder: Path, tell: Callable[[str], object]) -> None:
    """Train a model with each seed of its kind, measure all, and ship the best.

    folder: where unfinished trainings are kept; one that was stopped goes on from there. tell: is told how far it is.
    """
    recipe = RECIPES[name]
    models = {seed: train_model(recipe, seed, folder, tell) for seed in recipe.seeds}
    scores = {seed: score_choice(measure_heads(model, recipe.language, "choose")) for seed, model in models.items()}
    best = max(scores, key=scores.get)
    reports = {seed: round_figures(measure_heads(model, recipe.language)) for seed, model in models.items()}
    row = {
        "seed": best,
        "steps": recipe.steps,
        "texts": count_texts(recipe),
        "figures": reports[best],
        "others": {str(seed): figures for seed, figures in reports.items() if seed != best},
    }
    ship_model(models[best], name, row)
    for each in filter(None, (name, other_form(name))):
        measure_guesses_again(each)
    tell(f"{name}: seed {best}, {reports[best]}")


def measure_guesses_again(name: str) -> None:
    """Measure a model that comes along beside its other form, and write into its row when it guesses."""
    model, second = (load_model(each, torch.float32) if each else None for each in (name, other_form(name)))
    columns = measure_guesses(model, RECIPES[name].language, second)
    rounded = {column: round_figures(figures) for column, figures in columns.items()}
    write_row(name, asdict(read_figures()[name]) | rounded)


def train_model(recipe: Recipe, seed: int, folder: Path, tell: Callable[[str], object]) -> LanguageModel:
    """Train a model to its end, from where it was left, and round its numbers as they are stored."""
    training = LanguageTraining(recipe, seed)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{recipe.name}.{seed}.safetensors"
    training.take_up(path)
    while not training.done:
        loss = training.advance()
        if training.step % KEPT_EVERY == 0 or training.done:
            training.keep(path)
            tell(f"{recipe.name}, seed {seed}: step {training.step} of {recipe.steps}, {loss:.2f} nats")
    model = training.model.requires_grad_(False)
    for tensor in model.parameters():
        tensor.copy_(tensor.to(STORED_DTYPE))
    return model


def score_choice(figures: dict[str, float]) -> float:
    """How good a seed is: the sum of the figures that choose."""
    return sum(figures.get(name, 0.0) for name in CHOOSING_FIGURES)


def round_figures(figures: dict[str, float]) -> dict[str, float]:
    """Figures as the table has them."""
    return {name: round(figure, FIGURE_DECIMALS) for name, figure in figures.items()}


def count_texts(recipe: Recipe) -> int:
    """How many texts a model learns from, about: those of one batch, times its steps."""
    batch = recipe.draw(torch.Generator().manual_seed(recipe.seeds[0]))
    texts = batch.packed.texts.amax(-1) + 1  # (B,)
    return int(texts.sum()) * recipe.steps
