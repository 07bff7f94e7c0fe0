"""Training of the shipped networks, of which the best seed is chosen by one half of the held-out texts."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch
from torch import nn

from attention_core.learned.language.guess_figures import measure_guesses
from attention_core.learned.language.network_folder import STORED_DTYPE, NetworkFolder
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import LANGUAGE_MODELS, load_model, other_form, read_figures
from attention_core.learned.language.training import LanguageTraining, TrainingRecipe

KEPT_EVERY = 250  # steps between checkpoints
FIGURE_DECIMALS = 4


def make_model(networks: NetworkFolder, name: str, folder: Path, tell: Callable[[str], object]) -> None:
    """Train a network with each seed of its recipe, measure all results, and save the best in the package.

    folder: for checkpoints, from which interrupted training continues. tell: called with a message about the progress.
    """
    recipe = networks.recipes[name]
    models = {seed: train_model(recipe, seed, folder, tell) for seed in recipe.seeds}
    chosen_by = {seed: recipe.measure(model, "choose") for seed, model in models.items()}
    best = max(recipe.seeds, key=lambda seed: sum(chosen_by[seed].get(name, 0.0) for name in recipe.choosing))
    reports = {seed: round_figures(recipe.measure(model, "report")) for seed, model in models.items()}
    batch = recipe.draw(torch.Generator().manual_seed(recipe.seeds[0]))
    row = {
        "seed": best,
        "steps": recipe.steps,
        "texts": batch.count * recipe.steps,  # about: batches differ in their number of texts
        "figures": reports[best],
        "others": {str(seed): figures for seed, figures in reports.items() if seed != best},
    }
    networks.ship(models[best], name, row)
    tell(f"{name}: seed {best}, {reports[best]}")


def measure_guesses_again(name: str) -> None:
    """Measure when a shipped language model guesses, also with its other form, and write the figures into its row."""
    model, second = (load_model(each, torch.float32) if each else None for each in (name, other_form(name)))
    columns = measure_guesses(model, RECIPES[name].language, second)
    rounded = {column: round_figures(figures) for column, figures in columns.items()}
    LANGUAGE_MODELS.write_row(name, asdict(read_figures()[name]) | rounded)


def train_model(recipe: TrainingRecipe, seed: int, folder: Path, tell: Callable[[str], object]) -> nn.Module:
    """Train a network to its end, from its checkpoint if any, and round its weights to the stored precision."""
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


def round_figures(figures: dict[str, float]) -> dict[str, float]:
    """Round figures to FIGURE_DECIMALS decimals."""
    return {name: round(figure, FIGURE_DECIMALS) for name, figure in figures.items()}
