"""Loads and saves the trained networks of the package: weights in half precision, and their measurements."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Generator, nn

from attention_core.learned.language.training import TrainingRecipe
from attention_core.learned.model_cache import MODEL_CACHE
from attention_core.mechanism.plain_checks import require_one_of

STORED_DTYPE = torch.float16  # half the size of float32, with almost no loss of accuracy


@dataclass(frozen=True)
class ShippedFigures:
    """The measurements of an included network.

    seed: the training seed, chosen on one half of the held-out texts. figures: {name: value}, measured on the other
    half. others: the measurements of the networks trained with the other seeds, keyed by seed. texts: the number of
    training texts. limits, guesses: for a language model, the results of measure_guesses.
    """

    seed: int
    steps: int
    texts: int
    figures: dict[str, float]
    others: dict[str, dict[str, float]]
    limits: dict[str, float] = field(default_factory=dict)
    guesses: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class NetworkFolder:
    """A folder with the weights of trained networks."""

    folder: Path
    recipes: Mapping[str, TrainingRecipe]

    @property
    def figures_file(self) -> Path:
        """The path of the file with the measurements of all networks."""
        return self.folder / "figures.json"

    def model_file(self, name: str) -> Path:
        """Return the path of the file with a network's weights."""
        return self.folder / f"{name}.safetensors"

    def names(self) -> tuple[str, ...]:
        """Return the names of the included networks, in the order of the recipes."""
        return tuple(name for name in self.recipes if name in self.figures())

    def recipe(self, name: str) -> TrainingRecipe:
        """Return the recipe of an included network. Raises AttentionError: unknown_choice."""
        return self.recipes[require_one_of("model", name, self.names())]

    def load(self, name: str, dtype: torch.dtype = torch.float64) -> nn.Module:
        """Return an included network; it is loaded once and cached. Raises AttentionError: unknown_choice."""
        return load_from(self, name, dtype)

    def figures(self) -> dict[str, ShippedFigures]:
        """Return the measurements of each included network, keyed by name."""
        return figures_from(self)

    def revision(self, name: str) -> str:
        """Return a fingerprint of a network's weights: the first eight hex digits of the SHA-256 of its file."""
        return revision_from(self, name)

    # ---- shipping ----------------------------------------------------------------------------------------------------
    def ship(self, model: nn.Module, name: str, row: dict[str, object]) -> None:
        """Save the weights of a network in the folder, and add its measurements to the file of measurements.

        row: the measurements.
        """
        self.folder.mkdir(exist_ok=True)
        numbers = {key: tensor.detach().to(STORED_DTYPE).contiguous() for key, tensor in model.state_dict().items()}
        save_file(numbers, self.model_file(name))
        self.write_row(name, row)
        load_from.cache_clear()
        revision_from.cache_clear()

    def write_row(self, name: str, row: dict[str, object]) -> None:
        """Write the measurements of one network into the file of measurements; its former row is replaced."""
        table = {**self.table(), name: row}
        ordered = {each: table[each] for each in self.recipes if each in table}
        text = json.dumps(ordered, indent=2, ensure_ascii=False)
        self.figures_file.write_text(text + "\n", encoding="utf-8")
        figures_from.cache_clear()

    def table(self) -> dict[str, dict]:
        """Return the contents of the file of measurements, keyed by the network's name; {} if the file does not
        exist.
        """
        if not self.figures_file.exists():
            return {}
        return json.loads(self.figures_file.read_text(encoding="utf-8"))


@MODEL_CACHE.keep
def load_from(networks: NetworkFolder, name: str, dtype: torch.dtype) -> nn.Module:
    """Load a network of a folder from its file. Raises AttentionError: unknown_choice, if the folder lacks it."""
    recipe = networks.recipe(name)
    with torch.inference_mode(False):
        model = recipe.make(Generator()).to(dtype).requires_grad_(False)
        numbers = load_file(networks.model_file(name))
        model.load_state_dict({key: tensor.to(dtype) for key, tensor in numbers.items()})
    return model


@cache
def figures_from(networks: NetworkFolder) -> dict[str, ShippedFigures]:
    """Return the measurements of the networks of a folder, keyed by name."""
    return {name: ShippedFigures(**row) for name, row in networks.table().items()}


@cache
def revision_from(networks: NetworkFolder, name: str) -> str:
    """Return a fingerprint of a network's weights: the first eight hex digits of the SHA-256 of its file."""
    return hashlib.sha256(networks.model_file(name).read_bytes()).hexdigest()[:8]
