"""A network as it was after some step: its numbers in half precision, and what they do."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

import torch
from torch import Generator, Tensor, nn

from attention_core.learned.training.courses import COURSES, Figures
from attention_core.record.errors import AttentionError

STORED_DTYPE = torch.float16  # what is kept, shipped and measured: half as much memory, and hardly a figure moves by it
RECIPE_NAME_PATTERN = re.compile(r"([a-z_]{1,20})\.([0-9]{1,9})\.([0-9]{1,5})(?:\.r([0-9.e-]{1,10}))?(\.cuda)?")
TRAINING_DEVICES = ("cpu", "cuda")
MAX_LEARNING_RATE = 10_000.0
Measured = TypeVar("Measured")


@dataclass(frozen=True)
class NetworkRecipe:
    """How a network came about: all that its numbers depend on. course: its name in COURSES. seed: see Training. step:
    after which step. rate: Adam's, where it is not that of the course. device: where it was computed, since sums are
    rounded in another order there.

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
        """As a text without blanks."""
        rate = "" if self.rate is None else f".r{self.rate:g}"
        device = "" if self.device == "cpu" else f".{self.device}"
        return f"{self.course}.{self.seed}.{self.step}{rate}{device}"


def read_recipe(name: str) -> NetworkRecipe:
    """The recipe that a name tells. Raises ValueError for another text.

    >>> read_recipe("vote.1.400.r0.5")
    NetworkRecipe(course='vote', seed=1, step=400, rate=0.5, device='cpu')
    """
    match = RECIPE_NAME_PATTERN.fullmatch(name)
    if match is None or match[1] not in COURSES or int(match[3]) not in COURSES[match[1]].saved:
        raise ValueError(name)
    rate = None if match[4] is None else float(match[4])
    recipe = NetworkRecipe(match[1], int(match[2]), int(match[3]), rate, "cuda" if match[5] else "cpu")
    own = COURSES[recipe.course].rate  # which a name leaves out: a network has one name
    if recipe.name != name or (rate is not None and not (0 < rate <= MAX_LEARNING_RATE and rate != own)):
        raise ValueError(name)
    return recipe


@dataclass(frozen=True, eq=False)
class Network:
    """numbers: every parameter by its name, float16."""

    recipe: NetworkRecipe
    numbers: dict[str, Tensor]

    @classmethod
    def of(cls, recipe: NetworkRecipe, model: nn.Module) -> "Network":
        """The network as it is now. Raises AttentionError: training_diverged, where a number has no half precision."""
        numbers = {name: tensor.detach().to("cpu", STORED_DTYPE) for name, tensor in model.named_parameters()}
        if not all(tensor.isfinite().all() for tensor in numbers.values()):
            raise AttentionError("training_diverged", step=recipe.step)
        return cls(recipe, numbers)

    @property
    def course(self) -> str:
        """What it learns."""
        return self.recipe.course

    @property
    def step(self) -> int:
        """After which step."""
        return self.recipe.step

    def model(self, dtype: torch.dtype = torch.float64) -> nn.Module:
        """The network in a precision to compute in."""
        model = COURSES[self.course].make(Generator()).to(dtype).requires_grad_(False)
        model.load_state_dict({name: tensor.to(dtype) for name, tensor in self.numbers.items()})
        return model

    @property
    def exact_model(self) -> nn.Module:
        """The network in float64, to look at; gradients may go through it."""
        return differentiable_model(self)

    def measure(self, how: Callable[[nn.Module], Measured]) -> Measured:
        """What is measured of the network in float32."""
        with torch.inference_mode():
            return how(self.model(torch.float32))

    @property
    def measured(self) -> bool:
        """Whether its figures are there already."""
        return "figures" in self.__dict__

    @cached_property
    def figures(self) -> Figures:
        """How well it does on what it was never trained on, see Course."""
        return self.measure(COURSES[self.course].measure)


@lru_cache(maxsize=32)  # of a network, by its identity; it takes four times as much memory as what is kept
def differentiable_model(network: Network) -> nn.Module:
    """A network in float64, also for gradients, whoever asks for it first."""
    with torch.inference_mode(False):
        return network.model()
