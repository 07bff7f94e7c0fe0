"""On the page of maps the last vectors of a model stand as a sum of what its layers added, and a logit likewise."""

import re

import pytest
import torch

from pages.runs import checkpoint_store
from pages.runs.checkpoint_store import STORE
from tests.checkpoints.folders import save_folder
from tests.maps.test_maps_page import errors, texts
from tests.maps.test_model_folder import open_model
from tests.screen.lesson import Lesson

TEXT = "The dog didn't bark."


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders with a model whose experts are not the core's, one whose head bends the vectors, and one that is no
    sum.
    """
    root = tmp_path_factory.mktemp("sums")
    names = {"deepseek": "DeepseekV3ForCausalLM", "bert": "BertForMaskedLM", "t5": "T5ForConditionalGeneration"}
    return {folder: save_folder(root / folder, name) for folder, name in names.items()}, root


@pytest.fixture(autouse=True)
def allowed(models, monkeypatch):
    """The administrator allows the folder above the models."""
    monkeypatch.setenv("ATTENTION_MODELS", str(models[1]))


def opened(folder: str, **link: str) -> Lesson:
    """The page of a model with the sum open."""
    return open_model(Lesson("maps", open="model,sum", **link), folder, TEXT)


def rows(page: Lesson) -> list[list[str]]:
    """The rows of the table of parts."""
    (table,) = (each.value for each in page.at.markdown if "| part |" in each.value)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_a_model_that_is_not_whole_shows_what_each_layer_adds_to_a_logit(models):
    page = opened("deepseek", place="2")
    given = page.at.session_state["maps_file"].recorded
    with torch.no_grad():
        logits = models[0]["deepseek"](**given.inputs.tensors).logits[0, 2]
    total, *parts = rows(page)
    names = [part.replace("\\", "") for part, *_ in parts]
    assert [name for name in names if name.endswith("attn")] == [f"model.layers.{n}.self_attn" for n in range(3)]
    assert names[0] == "model.embed_tokens" and [name.split(".")[2] for name in names[1:]] == sorted(
        name.split(".")[2] for name in names[1:]
    )
    assert any("mlp" in name for name in names)
    assert sum(float(push.replace("−", "-")) for *_, push in parts) == pytest.approx(
        float(logits.max()), abs=0.005 * len(parts) + 1e-4
    )
    assert float(total[3].replace("−", "-")) == pytest.approx(float(logits.max()), abs=0.0051)
    shares = [float(re.sub(r"[^\d.−-]", "", share).replace("−", "-")) for _, _, share, _ in parts]
    assert sum(shares) == pytest.approx(100, abs=0.05 * len(parts) + 0.01)
    assert f"the sum of these {len(parts)} parts" in texts(page)


def test_a_head_that_bends_the_vectors_shows_no_logit_and_says_why():
    page = opened("bert")
    assert {len(row) for row in rows(page)} == {3}
    assert "no single linear map computes the logits" in " ".join(each.value for each in page.at.caption)


def test_vectors_that_are_no_sum_are_refused_with_their_reason():
    page = opened("t5")
    assert any("must be a sum of what layers added" in error for error in errors(page))


def test_a_sum_that_would_take_too_much_memory_is_refused_before_it_is_computed(monkeypatch):
    monkeypatch.setattr(checkpoint_store, "MAX_SUM_BYTES", 2**16)
    page = opened("bert")
    assert any("must take at most 0 MB" in error for error in errors(page))
    assert STORE.waiting == 0


def test_it_speaks_chinese():
    page = opened("deepseek", lang="zh")
    assert "个部分之和" in texts(page) and not errors(page)
