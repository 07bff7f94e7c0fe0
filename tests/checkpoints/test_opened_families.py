"""Models of many architectures are saved and opened again from their folders: the same class, the same numbers."""

from pathlib import Path

import pytest
import torch

from attention_core.checkpoints import open_folder, record
from tests.checkpoints.families import FAMILIES, Family
from tests.checkpoints.model_folders import save

OWN_TABLE = "MarianMTModel"  # saves no table of positions, since it computes it: the one of the test would be lost
EACH = [family for family in FAMILIES if family.name != OWN_TABLE]
OFTEN = {"BertForMaskedLM", "GPT2LMHeadModel", "Qwen3MoeForCausalLM", "T5ForConditionalGeneration"}


@pytest.mark.parametrize(
    "family",
    [pytest.param(each, id=each.name, marks=() if each.name in OFTEN else pytest.mark.slow) for each in EACH],
)
def test_a_model_from_its_folder_gives_the_same_numbers(family: Family, tmp_path: Path):
    model, inputs = family.make(), family.inputs()
    opened = open_folder(save(model, tmp_path / "model"))
    assert type(opened.model) is type(model)
    assert opened.ignored == ()
    with torch.no_grad():
        for expected, given in zip(model(**inputs).values(), opened.model(**inputs).values(), strict=True):
            if isinstance(expected, torch.Tensor):
                assert torch.equal(given, expected)
    if family.name in OFTEN:
        assert record(opened.model, **inputs).passed
