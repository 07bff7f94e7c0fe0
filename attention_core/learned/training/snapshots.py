"""Stores checkpoints of a network in training: weights in half precision, and their measured accuracy."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

import torch
from torch import Generator, Tensor, nn

from attention_core.learned.training.courses import COURSES, Figures
from attention_core.record.errors import AttentionError

STORED_DTYPE = torch.float16  # half the size of float32, with almost no loss of accuracy
RECIPE_NAME_PATTERN = re.compile(r"([a-z_]{1,20})\.([0-9]{1,9})\.([0-9]{1,5})(?:\.r([0-9.e-]{1,10}))?(\.cuda)?")
TRAINING_DEVICES = ("cpu", "cuda")
MAX_LEARNING_RATE = 10_000.0
Measured = TypeVar("Measured")


@dataclass(frozen=True)
class NetworkRecipe:
    """The values that determine the weights of a trained network.

    course: a key of COURSES. seed: the seed of the initial weights and the batches. step: the number of training steps.
    rate: the learning rate; None for the course's rate. device: the device on which the network was trained, because
    devices sum in different orders.

    >>> NetworkRecipe("vote", 1, 400).name, NetworkRecipe("vote", 1, 400, 0.5, "cuda").name
    ('vote.1.400', 'vote.1.400.r0.5.cuda')
    """

    course: str
    seed: int
    step: int
    rate: float | None = None
    device: str = "cpu"

    @property
    def name(self) -> str:
        """The recipe as a text without spaces, which read_recipe parses."""
        name = f"{self.course}.{self.seed}.{self.step}"
        if self.rate is not None:
            name += f".r{self.rate:g}"
        if self.device != "cpu":
            name += f".{self.device}"
        return name


def read_recipe(name: str) -> NetworkRecipe:
    """Parse a NetworkRecipe from its name, such as "vote.1.400.r0.5". Raises ValueError if the text is not such a name.

    >>> read_recipe("vote.1.400.r0.5")
    NetworkRecipe(course='vote', seed=1, step=400, rate=0.5, device='cpu')
    """
    match = RECIPE_NAME_PATTERN.fullmatch(name)
    if match is None:
        raise ValueError(name)
    course, seed, step, rate, device = match.groups()
    recipe = NetworkRecipe(
        course,
        seed=int(seed),
        step=int(step),
        rate=None if rate is None else float(rate),
        device="cuda" if device else "cpu",
    )
    if recipe.name != name or not is_trainable(recipe):
        raise ValueError(name)
    return recipe


def is_trainable(recipe: NetworkRecipe) -> bool:
    """Return whether a recipe is valid: its course exists and has this step, and the learning rate is allowed.

    A recipe with the course's learning rate must not state it, so that each network has only one name.
    """
    course = COURSES.get(recipe.course)
    if course is None or recipe.step not in course.saved:
        return False
    if recipe.rate is None:
        return True
    is_allowed = 0 < recipe.rate <= MAX_LEARNING_RATE
    return is_allowed and recipe.rate != course.rate


@dataclass(frozen=True, eq=False)
class Network:
    """A checkpoint of a network.

    recipe: all values that determine the network's weights. numbers: every parameter by its name, in float16.
    """

    recipe: NetworkRecipe
    numbers: dict[str, Tensor]

    @classmethod
    def of(cls, recipe: NetworkRecipe, model: nn.Module) -> "Network":
        """Return a checkpoint of a model with its current weights.

        Raises AttentionError: training_diverged, if a weight is not finite in half precision.
        """
        numbers = {}
        for name, parameter in model.named_parameters():
            stored = parameter.detach().to("cpu", STORED_DTYPE)
            if not stored.isfinite().all():
                raise AttentionError("training_diverged", step=recipe.step)
            numbers[name] = stored
        return cls(recipe, numbers)

    @property
    def course(self) -> str:
        """The name of the training that made the network."""
        return self.recipe.course

    @property
    def step(self) -> int:
        """The training step after which the network was saved."""
        return self.recipe.step

    def model(self, dtype: torch.dtype = torch.float64) -> nn.Module:
        """Return the PyTorch module with these weights, in a precision."""
        model = COURSES[self.course].make(Generator())
        model = model.to(dtype).requires_grad_(False)
        numbers = {name: tensor.to(dtype) for name, tensor in self.numbers.items()}
        model.load_state_dict(numbers)
        return model

    @property
    def exact_model(self) -> nn.Module:
        """The network as a PyTorch module in float64, with which gradients can be computed."""
        return differentiable_model(self)

    def measure(self, compute: Callable[[nn.Module], Measured]) -> Measured:
        """Load the checkpoint as a float32 model, call `compute` with it, and return the result."""
        with torch.inference_mode():
            return compute(self.model(torch.float32))

    @property
    def measured(self) -> bool:
        """Whether the network's accuracy has already been measured."""
        return "figures" in self.__dict__

    @cached_property
    def figures(self) -> Figures:
        """The accuracy on held-out data, for each place (a length or a position) of the course; measured at first
        access.
        """
        return self.measure(COURSES[self.course].measure)


@lru_cache(maxsize=32)  # few models are cached, because each takes four times the memory of its checkpoint
def differentiable_model(network: Network) -> nn.Module:
    """Return a network's float64 model, cached. Gradients can be computed with it, even if the first call was made in
    inference mode.
    """
    with torch.inference_mode(False):
        return network.model()
