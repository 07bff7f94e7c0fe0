"""Whatever is wrong with a folder, the page of maps says it in a sentence, and keeps the maps and the model before."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from pages.runs.checkpoint_store import STORE
from tests.checkpoints.model_folders import change_config
from tests.maps.test_maps_page import errors, grid
from tests.maps.test_model_folder import open_model
from tests.screen.lesson import Lesson

pytestmark = pytest.mark.usefixtures("allowed_models")
FAMILIES = {"tiny-gpt2": "GPT2LMHeadModel"}
WEIGHTS = "model.safetensors"
SAID = {  # what is wrong: what the sentence contains in English and in Chinese
    "truncated": ("safetensors", "safetensors"),
    "pickled": ("pytorch_model.bin", "pytorch_model.bin"),
    "more layers": ("36 tensors are missing", "缺少 36 个张量"),
    "linked away": ("model.safetensors", "model.safetensors"),
    "json bomb": ("config.json", "config.json"),
    "quantised": ("quantization_config", "quantization_config"),
    "huge": ("at most 300000", "300000"),
    "no code": ("my_own", "my_own"),
    "no shard": ("b.safetensors", "b.safetensors"),
    "taken away": (WEIGHTS, WEIGHTS),
    "nan": ("h.1.attn.c_attn.weight", "h.1.attn.c_attn.weight"),
    "overflow": ("transformer.h.1.attn: every number", "transformer.h.1.attn：模型计算的每个数"),
    "no tokenizer": ("tokenizer.json", "tokenizer.json"),
    "word": ("1000000000", "1000000000"),
    "no attention": ("attention", "注意力"),
}
# what is found once the weights are loaded, after the model before was closed for them: memory holds one
LATE = ("more layers", "nan", "overflow", "no tokenizer", "word", "no attention")


def change_weight(folder: Path, name: str, value: float) -> None:
    """Give all numbers of a tensor one value."""
    tensors = load_file(folder / WEIGHTS)
    tensors[name] = torch.full_like(tensors[name], value)
    save_file(tensors, folder / WEIGHTS, {"format": "pt"})


def pickle_weights(folder: Path) -> None:
    """Leave only a pickle."""
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")


def link_away(folder: Path) -> None:
    """Replaces the file of the weights by a symbolic link to a file outside of the folder."""
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).symlink_to("/etc/hostname")


def name_shard(folder: Path) -> None:
    """Leave an index whose second file is missing."""
    (folder / WEIGHTS).rename(folder / "a.safetensors")
    index = {"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def split_long_words(folder: Path) -> None:
    """A tokenizer that would compute for hours."""
    settings = json.loads((folder / "tokenizer.json").read_text())
    settings["model"] = {"type": "WordPiece", "unk_token": "u", "continuing_subword_prefix": "", "vocab": {"u": 0}}
    settings["model"]["max_input_chars_per_word"] = 10**9
    (folder / "tokenizer.json").write_text(json.dumps(settings))


def leave_attention_out(folder: Path) -> None:
    """A model without attention."""
    config = transformers.MambaConfig(vocab_size=262, hidden_size=8, state_size=3, num_hidden_layers=1)
    transformers.MambaForCausalLM(config).save_pretrained(folder)


BREAK: dict[str, Callable[[Path], object]] = {
    "truncated": lambda folder: os.truncate(folder / WEIGHTS, 5000),
    "pickled": pickle_weights,
    "more layers": lambda folder: change_config(folder, n_layer=6),
    "linked away": link_away,
    "json bomb": lambda folder: (folder / "config.json").write_text('{"a":' * 100_000),
    "quantised": lambda folder: change_config(folder, quantization_config={"quant_method": "x"}),
    "huge": lambda folder: change_config(folder, vocab_size=10**9),
    "no code": lambda folder: change_config(folder, model_type="my_own", auto_map={"AutoConfig": "conf.C"}),
    "no shard": name_shard,
    "taken away": lambda folder: (folder / WEIGHTS).unlink(),
    "nan": lambda folder: change_weight(folder, "transformer.h.1.attn.c_attn.weight", torch.nan),
    "overflow": lambda folder: change_weight(folder, "transformer.h.1.attn.c_attn.weight", 3e38),
    "no tokenizer": lambda folder: (folder / "tokenizer.json").unlink(),
    "word": split_long_words,
    "no attention": leave_attention_out,
}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_folder_that_is_refused_says_why_and_nothing_is_lost(models, lang: str):
    good = models["tiny-gpt2"][0]
    broken = shutil.copytree(good, good.parent / "broken", dirs_exist_ok=True)
    page = open_model(Lesson("maps", open="model", lang=lang), "tiny-gpt2")
    page.ran(page.at.run)
    before, opened = grid(page)[0]["queries"], STORE.opened
    for name in [*(name for name in BREAK if name not in LATE), *LATE]:
        shutil.rmtree(broken)
        shutil.copytree(good, broken)
        BREAK[name](broken)
        if name in LATE:
            open_model(page, "tiny-gpt2")
        open_model(page, "broken")
        assert [SAID[name][lang == "zh"] in error.replace("\\", "") for error in errors(page)] == [True], name
        assert grid(page)[0]["queries"] == before, name
        assert not page.at.exception
        if name not in LATE:
            assert STORE.opened is opened and not page.at.session_state["maps_file"].is_closed, name
    open_model(page, "tiny-gpt2")
    assert not errors(page) and grid(page)[0]["queries"] == before
    shutil.rmtree(broken)


def test_a_folder_that_changes_while_it_is_open_is_told_and_opened_anew(models):
    good = models["tiny-gpt2"][0]
    changed = shutil.copytree(good, good.parent / "changed", dirs_exist_ok=True)
    page = open_model(Lesson("maps", open="model"), "changed")
    before = grid(page)[0]["queries"]
    change_config(changed, n_layer=3)
    open_model(page, "changed", "another text")
    assert ["must stay as they are while it is open" in error for error in errors(page)] == [True]
    assert grid(page)[0]["queries"] == before
    open_model(page, "changed", "another text")
    assert not errors(page) and grid(page)[0]["queries"] != before
    shutil.rmtree(changed)
