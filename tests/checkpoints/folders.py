"""Writes tiny random models with a tokenizer into folders, as somebody would have them on a disk."""

from pathlib import Path

import transformers
from transformers import PreTrainedModel

from tests.checkpoints.families import FAMILIES
from tests.checkpoints.tiny_models import make_model, small_config
from tests.checkpoints.tokenizers import KINDS


def save_folder(folder: Path, name: str, tokenizer: str = "byte pairs") -> PreTrainedModel:
    """Write a tiny random model of a family into a folder; return the model. tokenizer: one of KINDS."""
    family = next(family for family in FAMILIES if family.name == name)
    cut = KINDS[tokenizer]()
    kind = getattr(transformers, family.config or getattr(transformers, family.model).config_class.__name__)
    config = small_config(kind, **{**family.own, "vocab_size": cut.get_vocab_size()})
    model = make_model(family.model, config)
    model.save_pretrained(folder)
    cut.save(str(folder / "tokenizer.json"))
    return model
