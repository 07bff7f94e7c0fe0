"""Checkpoints of the shipped language models: their weights after some steps of their training."""

from collections.abc import Callable, Iterable
from functools import lru_cache

import torch
from safetensors.torch import load_file, save_file
from torch import Generator

from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.network_folder import STORED_DTYPE
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import SHIPPED_FOLDER, load_model, model_file, read_figures
from attention_core.learned.language.training import LanguageTraining
from attention_core.mechanism.plain_checks import require_one_of

STEPS_FOLDER = SHIPPED_FOLDER / "steps"
BETWEEN_STEPS = (500, 1000, 2000)  # steps of the shipped checkpoints of the models in STEPPED
STEPPED = ("en_foretold_encoder", "en_named_encoder", "en_asked_encoder")
MEASURED = (*STEPPED, "zh_foretold_encoder", "zh_named_encoder", "zh_asked_encoder")


def steps_of(name: str) -> tuple[int, ...]:
    """Return the steps at which a model can be loaded: 0, the steps of shipped checkpoints, and the last step.

    >>> steps_of("en_asked_encoder"), steps_of("zh_asked_encoder")
    ((0, 500, 1000, 2000, 5000), (0, 5000))
    """
    between = BETWEEN_STEPS if name in STEPPED else ()
    return (0, *between, RECIPES[name].steps)


def size_between_steps(names: Iterable[str]) -> float:
    """The size in megabytes of these models' checkpoints at BETWEEN_STEPS, whether shipped or not.

    >>> round(size_between_steps(["zh_foretold_encoder", "zh_named_encoder", "zh_asked_encoder"]), 1)
    4.0
    """
    return len(BETWEEN_STEPS) * sum(model_file(name).stat().st_size for name in names) / 1e6


@lru_cache(maxsize=16)  # a model takes two to four megabytes
def load_step(name: str, step: int, dtype: torch.dtype = torch.float64) -> LanguageModel:
    """Return a model at a step of its training: at step 0 as sampled from its seed, at the last step as shipped.

    name: of a shipped model. step: one of steps_of. Raises AttentionError: unknown_choice.

    >>> load_step("en_asked_encoder", 500).words.shape
    torch.Size([1744, 64])
    """
    require_one_of("step", str(step), tuple(map(str, steps_of(name))))
    recipe = RECIPES[name]
    if step == recipe.steps:
        return load_model(name, dtype)
    with torch.inference_mode(False):
        generator = Generator().manual_seed(read_figures()[name].seed)
        model = recipe.make(generator).to(dtype).requires_grad_(False)
        if step:
            numbers = load_file(step_file(name, step))
            model.load_state_dict({key: tensor.to(dtype) for key, tensor in numbers.items()})
    return model


def step_file(name: str, step: int) -> str:
    """Return the path of a checkpoint file."""
    return str(STEPS_FOLDER / f"{name}.{step}.safetensors")


def keep_steps(name: str, tell: Callable[[str], object], last: int | None = None) -> LanguageTraining:
    """Train a model again from its seed, write its checkpoints at BETWEEN_STEPS, and return the training.

    tell: called with a message about the progress. last: the step at which the training ends; if None, the last of
    BETWEEN_STEPS.
    """
    STEPS_FOLDER.mkdir(exist_ok=True)
    training = LanguageTraining(RECIPES[name], read_figures()[name].seed)
    while training.step < (last or max(BETWEEN_STEPS)):
        training.advance()
        if training.step in BETWEEN_STEPS:
            numbers = {key: each.detach().to(STORED_DTYPE) for key, each in training.model.state_dict().items()}
            save_file(numbers, step_file(name, training.step))
            tell(f"{name}: step {training.step} kept")
    load_step.cache_clear()
    return training
