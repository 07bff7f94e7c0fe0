"""Trains a network by a recipe, step by step.

A training that continues from a checkpoint file ends with the same weights as one that was not interrupted.
"""

import math
from pathlib import Path
from typing import Protocol

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Generator, Tensor, nn

from attention_core.record.errors import AttentionError

WARM_UP = 150  # steps over which the learning rate grows to its maximum
LEAST_RATE = 0.03  # final learning rate as a share of the largest, after a cosine decay
LARGEST_GRADIENT = 1.0  # gradients are clipped to this norm
DECAY = 0.01  # AdamW's weight decay of matrices; vectors, such as gains of norms, have none
BETAS = (0.9, 0.98)
MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # names of AdamW's state for each parameter in torch


class TrainingRecipe(Protocol):
    """The training of a network: the initial network, batches, loss, number of steps and measurements.

    rate: the largest learning rate. seeds: one training for each seed; the best network is included in the package.
    choosing: the names of the measurements whose sum decides which seed is best.
    """

    name: str
    steps: int
    rate: float
    seeds: tuple[int, ...]
    choosing: tuple[str, ...]

    def make(self, generator: Generator) -> nn.Module:
        """Return a new network with its initial weights."""

    def draw(self, generator: Generator) -> object:
        """Sample the training texts of one step; the batch's `count` is the number of texts in it."""

    def loss(self, model: nn.Module, batch: object) -> Tensor:
        """Return the loss on a batch, which training minimises."""

    def measure(self, model: nn.Module, half: str) -> dict[str, float]:
        """Measure a trained network on one half of the held-out texts: "choose" or "report"."""


class LanguageTraining:
    r"""A network in training by AdamW (Loshchilov, Hutter 2019) with cosine decay of the learning rate.

    recipe: the source of the initial network, the batches, the loss and the number of steps. seed: determines the
    initial weights and all sampled texts. Each training has a separate generator.
    """

    def __init__(self, recipe: TrainingRecipe, seed: int):
        self.recipe = recipe
        self.seed = seed
        self.step = 0
        self.generator = Generator().manual_seed(seed)
        self.model = recipe.make(self.generator)
        matrices = [tensor for tensor in self.model.parameters() if tensor.dim() > 1]
        vectors = [tensor for tensor in self.model.parameters() if tensor.dim() < 2]
        groups = [{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(groups, recipe.rate, BETAS)

    @property
    def name(self) -> str:
        """The recipe's name, the seed and the number of steps.

        Together with the index of the current step, this name determines the weights.
        """
        return f"{self.recipe.name}.{self.seed}.{self.recipe.steps}"

    @property
    def done(self) -> bool:
        """Whether the training has made its last step."""
        return self.step >= self.recipe.steps

    def rate(self) -> float:
        """The learning rate of the next step.

        The rate grows over WARM_UP steps, then falls along half a cosine to the share LEAST_RATE of the largest rate.
        """
        grown = min((self.step + 1) / WARM_UP, 1.0)
        fallen = (1 + math.cos(math.pi * self.step / self.recipe.steps)) / 2
        return self.recipe.rate * grown * max(fallen, LEAST_RATE)

    def advance(self) -> float:
        """Make one training step, and return the loss that the batch had before this step.

        Raises AttentionError: training_diverged, if the loss is not finite.
        """
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        batch = self.recipe.draw(self.generator)
        loss = self.recipe.loss(self.model, batch)
        self.step += 1
        if not math.isfinite(loss.item()):
            raise AttentionError("training_diverged", step=self.step)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), LARGEST_GRADIENT)
        self.optimiser.step()
        return loss.item()

    # ---- checkpoints -------------------------------------------------------------------------------------------------
    def keep(self, path: Path) -> None:
        """Write a checkpoint file with the weights, the state of the optimiser and the state of the generator."""
        tensors = {"generator": self.generator.get_state()}
        for name, parameter in self.model.named_parameters():
            tensors[f"model/{name}"] = parameter.detach()
            for moment, tensor in self.optimiser.state[parameter].items():
                tensors[f"{moment}/{name}"] = tensor
        unfinished = path.with_suffix(".part")
        save_file(tensors, unfinished, {"name": self.name, "step": str(self.step)})
        unfinished.replace(path)  # replaced in one operation, so that an interruption leaves a whole file

    def take_up(self, path: Path) -> bool:
        """Load a checkpoint file if it exists and belongs to this training; return whether it was loaded.

        The recipe, the seed and the number of steps must be those of the file.
        """
        if not path.exists():
            return False
        with safe_open(path, "pt") as kept:
            if kept.metadata()["name"] != self.name:
                return False
            self.step = int(kept.metadata()["step"])
            tensors = {name: kept.get_tensor(name) for name in kept.offset_keys()}
        self.generator.set_state(tensors["generator"])
        for name, parameter in self.model.named_parameters():
            with torch.no_grad():
                parameter.copy_(tensors[f"model/{name}"])
            self.optimiser.state[parameter] = {
                moment: tensors[f"{moment}/{name}"] for moment in MOMENTS if f"{moment}/{name}" in tensors
            }
        return True
