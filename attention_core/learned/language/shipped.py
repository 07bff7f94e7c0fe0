"""The language models that come with the app: their numbers in half precision, and the figures that were measured."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Generator

from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.recipes import RECIPES, Recipe
from attention_core.mechanism.plain_checks import require_one_of

SHIPPED_FOLDER = Path(__file__).with_name("shipped")
FIGURES_FILE = SHIPPED_FOLDER / "figures.json"
STORED_DTYPE = torch.float16  # half the memory, and hardly a figure moves by it


@dataclass(frozen=True)
class ShippedFigures:
    """What was measured of a model that comes along.

    seed: the one that was chosen, by the half of the held-out texts that chooses. figures: on the other half, see
    measure_heads. others: of the seeds that were not chosen. texts: from how many it learned. limits, guesses: see
    measure_guesses.
    """

    seed: int
    steps: int
    texts: int
    figures: dict[str, float]
    others: dict[str, dict[str, float]]
    limits: dict[str, float] = field(default_factory=dict)
    guesses: dict[str, float] = field(default_factory=dict)


def shipped_names() -> tuple[str, ...]:
    """The names of the models that come along, in the order of RECIPES."""
    return tuple(name for name in RECIPES if name in read_figures())


def load_recipe(name: str) -> Recipe:
    """The recipe of a model that comes along. Raises AttentionError: unknown_choice."""
    return RECIPES[require_one_of("model", name, shipped_names())]


def other_form(name: str) -> str | None:
    """The decoder of an encoder, and the encoder of a decoder: of the same kind and language, if it comes along."""
    recipe = RECIPES[name]
    forms = [
        each
        for each in shipped_names()
        if (RECIPES[each].language, RECIPES[each].kind) == (recipe.language, recipe.kind) and each != name
    ]
    return forms[0] if forms else None


@lru_cache(maxsize=4)  # a model in float64 takes two megabytes
def load_model(name: str, dtype: torch.dtype = torch.float64) -> LanguageModel:
    """A model that comes along, read when it is first asked for. Raises AttentionError: unknown_choice."""
    recipe = load_recipe(name)
    with torch.inference_mode(False):
        model = recipe.make(Generator()).to(dtype).requires_grad_(False)
        numbers = load_file(model_file(name))
        model.load_state_dict({key: tensor.to(dtype) for key, tensor in numbers.items()})
    return model


def model_file(name: str) -> Path:
    """The file of a model."""
    return SHIPPED_FOLDER / f"{name}.safetensors"


@cache
def weights_revision(name: str) -> str:
    """The fingerprint of a model's weights: the first eight digits of the SHA-256 of its file."""
    return hashlib.sha256(model_file(name).read_bytes()).hexdigest()[:8]


@cache
def read_figures() -> dict[str, ShippedFigures]:
    """What was measured of each model that comes along, by name."""
    if not FIGURES_FILE.exists():
        return {}
    table = json.loads(FIGURES_FILE.read_text(encoding="utf-8"))
    return {name: ShippedFigures(**row) for name, row in table.items()}


# ---- shipping --------------------------------------------------------------------------------------------------------
def ship_model(model: LanguageModel, name: str, row: dict[str, object]) -> None:
    """Write a model and its row of the table."""
    SHIPPED_FOLDER.mkdir(exist_ok=True)
    numbers = {key: tensor.detach().to(STORED_DTYPE).contiguous() for key, tensor in model.state_dict().items()}
    save_file(numbers, model_file(name))
    write_row(name, row)
    load_model.cache_clear()
    weights_revision.cache_clear()


def write_row(name: str, row: dict[str, object]) -> None:
    """Write the row of a model into the table."""
    table = json.loads(FIGURES_FILE.read_text(encoding="utf-8")) if FIGURES_FILE.exists() else {}
    table[name] = row
    ordered = {each: table[each] for each in RECIPES if each in table}
    FIGURES_FILE.write_text(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    read_figures.cache_clear()
