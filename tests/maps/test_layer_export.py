"""The open head of an opened model is exported: the files hold the numbers of the model's layer."""

import html
import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch

from attention_core.checkpoints import open_folder
from tests.checkpoints.folders import save_folder
from tests.export.test_export_panel import files  # noqa: F401, a fixture
from tests.maps.test_model_folder import TEXT, open_model
from tests.maps.test_next_piece import press
from tests.screen.lesson import Lesson


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a tiny GPT-2."""
    folder = tmp_path_factory.mktemp("models") / "tiny-gpt2"
    save_folder(folder, "GPT2LMHeadModel")
    return folder


@pytest.fixture(autouse=True)
def allowed(folder, monkeypatch):
    """The administrator allows the folder above the model."""
    monkeypatch.setenv("ATTENTION_MODELS", str(folder.parent))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_files_hold_the_numbers_of_the_model_and_name_it(folder, files, lang):  # noqa: F811
    page = open_model(Lesson("maps", open="model,steps", lang=lang), "tiny-gpt2")
    page.send_part("map_heads", "head", [2, 3])
    press(page, "maps_switch")
    page.at.session_state["export_layer"] = True
    page.ran(page.at.run)
    opened = open_folder(folder)
    with torch.no_grad():
        opened.model.transformer.h[1].attn.c_proj.weight[48:64] = 0  # of the head that is off
        own = opened.model(torch.tensor([opened.cut(TEXT).ids]), output_attentions=True).attentions[1].numpy()
    stem = "attention_tiny_gpt2_2"
    with np.load(BytesIO(files.made(f"{stem}.npz"))) as held:
        assert held["weights"] == pytest.approx(own, abs=1e-6)
        assert {"q", "k", "v", "scores"} <= set(held.files)
    told = json.loads(files.made(f"{stem}.json"))
    (weights,) = [step for step in told["steps"] if step["name"] == "weights"]
    assert np.array(weights["values"]) == pytest.approx(own, abs=1e-6)
    assert "off=2.4" in json.dumps(told)
    off = {"en": "Switched off in the model: layer 2, head 4", "zh": "模型中已关闭：第 2 层，头 4"}[lang]
    for ending in ("weights.csv", "tex", "page.html", "weights.svg", "ipynb"):
        join = "_" if ending[-4:] in (".csv", ".svg", "html") else "."
        text = html.unescape(files.made(f"{stem}{join}{ending}")).replace("\\", "")  # without what a notebook escapes
        assert "tiny-gpt2" in text and off in text, ending
    assert files.made(f"{stem}_weights.png").startswith(b"\x89PNG")
