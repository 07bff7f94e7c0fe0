"""Training by a recipe, step by step; stopped and continued from a checkpoint file, it gives the same weights."""

import math
from pathlib import Path
from typing import Protocol

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Generator, Tensor, nn

from attention_core.record.errors import AttentionError

WARM_UP = 150  # steps over which the rate grows to its largest
LEAST_RATE = 0.03  # share of the largest, at the end
LARGEST_GRADIENT = 1.0  # the norm to which gradients are clipped
DECAY = 0.01  # weight decay of matrices in AdamW; gains do not decay
BETAS = (0.9, 0.98)
MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # the state of AdamW for a tensor


class TrainingRecipe(Protocol):
    """The training of a network: the initial network, its batches, its loss, its steps, and its figures.

    rate: the largest. seeds: of its trainings; the best is shipped. choosing: the figures whose sum decides which is
    the best.
    """

    name: str
    steps: int
    rate: float
    seeds: tuple[int, ...]
    choosing: tuple[str, ...]

    def make(self, generator: Generator) -> nn.Module:
        """Return the network before training."""

    def draw(self, generator: Generator) -> object:
        """Sample the batch of one step; its `count` is the number of texts."""

    def loss(self, model: nn.Module, batch: object) -> Tensor:
        """Compute the loss of a batch."""

    def measure(self, model: nn.Module, half: str) -> dict[str, float]:
        """Measure it on a half of the held-out texts: "choose" or "report"."""


class LanguageTraining:
    r"""One network in training, by AdamW (Loshchilov, Hutter 2019); the rate falls along a cosine.

    recipe: see TrainingRecipe. seed: of the initial weights and of all texts. Nothing is shared: each training has a
    separate generator.
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
        """All that the weights depend on besides the step, as a text."""
        return f"{self.recipe.name}.{self.seed}.{self.recipe.steps}"

    @property
    def done(self) -> bool:
        """Whether the last step is done."""
        return self.step >= self.recipe.steps

    def rate(self) -> float:
        """The rate of the next step.

        It grows over WARM_UP steps, then falls as half a cosine.
        """
        grown = min((self.step + 1) / WARM_UP, 1.0)
        fallen = (1 + math.cos(math.pi * self.step / self.recipe.steps)) / 2
        return self.recipe.rate * grown * max(fallen, LEAST_RATE)

    def advance(self) -> float:
        """Make one step, and return the loss before it. Raises AttentionError: training_diverged, if it is not
        finite."""
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
        """Write a checkpoint: all that the next steps depend on."""
        tensors = {"generator": self.generator.get_state()}
        for name, parameter in self.model.named_parameters():
            tensors[f"model/{name}"] = parameter.detach()
            for moment, tensor in self.optimiser.state[parameter].items():
                tensors[f"{moment}/{name}"] = tensor
        unfinished = path.with_suffix(".part")
        save_file(tensors, unfinished, {"name": self.name, "step": str(self.step)})
        unfinished.replace(path)  # a stop while writing loses nothing

    def take_up(self, path: Path) -> bool:
        """Continue from a checkpoint, if there is one of this recipe and seed; return whether there was."""
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
