"""Trains a network to its last step, with checkpoints from which an interrupted training continues."""

from collections.abc import Callable
from pathlib import Path

from torch import nn

from attention_core.learned.language.network_folder import STORED_DTYPE
from attention_core.learned.language.training import LanguageTraining, TrainingRecipe

CHECKPOINT_FOLDER = Path(".training")  # the default folder of the command line for training checkpoints
KEPT_EVERY = 250  # number of steps between two checkpoints


def train_model(recipe: TrainingRecipe, seed: int, folder: Path, tell: Callable[[str], object]) -> nn.Module:
    """Train a network to its last step, from its checkpoint if there is one, and round its weights to the stored
    precision.
    """
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
