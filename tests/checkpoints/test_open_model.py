"""Folders are opened with the numbers that they hold, or refused by a sentence of ours, whatever is wrong with them."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from attention_core.checkpoints import open_model
from attention_core.checkpoints.model_config import ModelBounds
from attention_core.checkpoints.open_model import open_folder
from tests.checkpoints.model_folders import (
    change_config,
    change_index,
    make,
    make_bert,
    make_llama,
    refusal,
    save,
    write_safetensors,
)

ROOT = Path(__file__).parents[2]
IDS = torch.tensor([[3, 14, 15, 92, 65]])
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """A folder with a Llama, which no test changes."""
    return save(make_llama(), tmp_path_factory.mktemp("models") / "llama")


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy of the folder, to be broken."""
    return shutil.copytree(saved, tmp_path / "llama")


def logits(model: transformers.PreTrainedModel) -> torch.Tensor:
    """What a model says about a few tokens."""
    with torch.no_grad():
        return model(IDS)[0]


def codes(opened) -> list[str]:
    """What was left out of a folder."""
    return [note.code for note in opened.ignored]


# ---- what is opened --------------------------------------------------------------------------------------------------
def test_a_model_from_its_folder_gives_the_logits_of_the_model_in_memory(saved: Path):
    opened, model = open_folder(saved), make_llama()
    assert torch.equal(logits(opened.model), logits(model))
    assert not opened.model.training
    assert opened.model.config._attn_implementation == "eager"
    assert opened.name == "llama"
    assert opened.ignored == ()
    assert opened.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert opened.memory_bytes == 4 * opened.parameters + sum(each.nbytes for each in model.buffers())


def test_tied_weights_are_not_missing(tmp_path: Path):
    model = make_llama(tie_word_embeddings=True)
    opened = open_folder(save(model, tmp_path / "tied"))
    assert torch.equal(logits(opened.model), logits(model))
    assert opened.model.lm_head.weight is opened.model.model.embed_tokens.weight


def test_weights_in_several_files_are_opened(tmp_path: Path):
    model = make_llama()
    folder = save(model, tmp_path / "shards", max_shard_size="5KB")
    assert len(list(folder.glob("*.safetensors"))) > 2
    assert torch.equal(logits(open_folder(folder).model), logits(model))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_widened_and_said(tmp_path: Path, dtype: torch.dtype):
    model = make_llama()
    opened = open_folder(save(make_llama().to(dtype), tmp_path / "half"))
    for parameter in model.parameters():
        parameter.data = parameter.data.to(dtype).float()
    assert torch.equal(logits(opened.model), logits(model))
    assert codes(opened) == ["weights_widened"]
    assert torch.get_default_dtype() == torch.float32


def test_the_precision_is_that_of_the_weights_whatever_the_config_says(folder: Path, saved: Path):
    change_config(folder, dtype="float8_e4m3fn", torch_dtype="bfloat16")
    assert torch.equal(logits(open_folder(folder).model), logits(open_folder(saved).model))


def test_a_class_with_a_second_head_is_found_where_the_folder_holds_it(tmp_path: Path):
    model = make_bert("BertForPreTraining")
    folder = save(model, tmp_path / "bert")
    change_config(folder, architectures=["BertForMaskedLM"])
    opened = open_folder(folder)
    assert torch.equal(logits(opened.model), logits(model))
    assert codes(opened) == ["class_ignored"]


def test_names_and_masks_of_older_files_are_known(tmp_path: Path):
    config = transformers.GPT2Config(vocab_size=97, n_embd=16, n_layer=1, n_head=4, n_positions=8)
    gpt2, bert = make("GPT2LMHeadModel", config), make_bert("BertForMaskedLM")
    folder = save(gpt2, tmp_path / "gpt2")
    tensors = {name.removeprefix("transformer."): each for name, each in load_file(folder / WEIGHTS).items()}
    save_file(tensors | {"h.0.attn.bias": torch.ones(1, 1, 8, 8).tril()}, folder / WEIGHTS)
    assert torch.equal(logits(open_folder(folder).model), logits(gpt2))
    folder = save(bert, tmp_path / "bert")
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    tensors = {}
    for name, each in load_file(folder / WEIGHTS).items():
        kind = ".".join(name.split(".")[-2:])
        tensors[name.removesuffix(kind) + old.get(kind, kind)] = each
    assert any(name.endswith("gamma") for name in tensors)
    save_file(tensors | {"bert.embeddings.position_ids": torch.arange(32)[None]}, folder / WEIGHTS)
    assert torch.equal(logits(open_folder(folder).model), logits(bert))


def test_a_class_of_somebodys_own_is_opened_as_the_one_that_has_its_head(folder: Path, saved: Path):
    change_config(folder, architectures=["MyLlama"], auto_map={"AutoModelForCausalLM": "mine.MyLlama"})
    opened = open_folder(folder)
    assert type(opened.model) is transformers.LlamaForCausalLM
    assert torch.equal(logits(opened.model), logits(open_folder(saved).model))
    assert codes(opened) == ["code_ignored", "class_ignored"]


@pytest.mark.parametrize("named", [["MyOwn"], ["os"], ["AutoTokenizer"], ["x/../y"], [None], [], None, 5])
def test_a_class_that_is_no_model_gives_the_bare_model(tmp_path: Path, named: object):
    model = make_bert("BertModel")
    folder = save(model, tmp_path / "bert")
    change_config(folder, architectures=named)
    opened = open_folder(folder)
    assert type(opened.model) is transformers.BertModel
    assert torch.equal(logits(opened.model), logits(model))


def test_code_and_kernels_are_left_alone_and_said(folder: Path, saved: Path):
    (folder / "conf.py").write_text("raise SystemExit('ran')")
    classes = {"AutoConfig": "conf.C", "AutoModelForCausalLM": "conf.M"}
    change_config(folder, auto_map=classes, _attn_implementation="kernels-community/flash-attn", use_kernels=True)
    opened = open_folder(folder)
    assert codes(opened) == ["code_ignored", "implementation_ignored"]
    assert torch.equal(logits(opened.model), logits(open_folder(saved).model))
    assert "conf" not in sys.modules


def test_a_model_that_is_open_does_not_need_its_folder(folder: Path):
    opened = open_folder(folder)
    before = logits(opened.model)
    opened.folder.require_unchanged()
    with open(folder / WEIGHTS, "r+b") as file:  # in place, as a file in memory would notice
        file.seek(2000)
        file.write(b"\0" * 1000)
    os.truncate(folder / WEIGHTS, 3000)
    assert torch.equal(logits(opened.model), before)
    assert refusal(opened.folder.require_unchanged).code == "folder_changed"


# ---- what is refused -------------------------------------------------------------------------------------------------
def test_pickles_are_never_read(folder: Path, tmp_path: Path):
    class Bad:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/owned",)

    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bad()))
    assert refusal(open_folder, folder).code == "weights_pickled"
    (folder / "pytorch_model.bin").rename(folder / WEIGHTS)
    assert refusal(open_folder, folder).code == "not_safetensors"
    assert not (tmp_path / "owned").exists()


def test_a_folder_without_weights_or_config_is_refused(folder: Path, tmp_path: Path):
    (folder / WEIGHTS).unlink()
    assert refusal(open_folder, folder).code == "weights_missing"
    (folder / WEIGHTS).mkdir()
    assert refusal(open_folder, folder).code == "folder_file_unreadable"
    (tmp_path / "empty").mkdir()
    assert refusal(open_folder, tmp_path / "empty").code == "folder_file_missing"
    assert refusal(open_folder, "gpt2").code == "folder_missing"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model_type": "my_own", "auto_map": {"AutoConfig": "conf.C"}}, "model_type_unknown"),
        ({"model_type": "gpt2"}, "model_class"),
        ({"architectures": ["GPT2LMHeadModel"]}, "model_class"),
        ({"architectures": ["LlamaForSequenceClassification"]}, "weights_differ"),
        ({"num_hidden_layers": 60}, "weights_differ"),
        ({"num_hidden_layers": 0}, "weights_differ"),
        ({"num_hidden_layers": -1}, "weights_differ"),
        ({"num_hidden_layers": 2.5}, "config_refused"),
        ({"num_hidden_layers": "2"}, "config_refused"),
        ({"num_hidden_layers": None}, "config_refused"),
        ({"num_attention_heads": 0}, "config_refused"),
        ({"num_attention_heads": 3}, "config_refused"),
        ({"num_key_value_heads": 0}, "config_refused"),
        ({"hidden_size": -16}, "config_refused"),
        ({"intermediate_size": 800}, "weights_differ"),
        ({"vocab_size": 98}, "weights_differ"),
        ({"vocab_size": 10**6}, "at_most"),
        ({"hidden_act": "unheard of"}, "config_refused"),
        ({"rope_parameters": {"rope_type": "unheard of"}}, "config_refused"),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 0}}, "not_finite"),
        ({"get_text_config": 5}, "config_refused"),
        ({"id2label": {"x": "y"}}, "config_refused"),
        ({"text_config": {"model_type": "llama"}}, "config_refused"),
    ],
    ids=str,
)
def test_a_config_that_does_not_fit_is_refused(folder: Path, changes: dict, expected: str):
    change_config(folder, **changes)
    assert refusal(open_folder, folder).code == expected


def test_how_many_weights_differ_is_said(folder: Path):
    change_config(folder, num_hidden_layers=60)
    error = refusal(open_folder, folder)
    assert error.values["missing"] == 9 * 58  # a layer of Llama has 7 matrices and 2 norms
    assert (error.values["unexpected"], error.values["mismatched"]) == (0, 0)
    assert error.values["name"].startswith("model.layers.")


@pytest.mark.parametrize("key", ["model.layers.1.mlp.up_proj.weight", "model.norm.weight"])
def test_a_weight_that_is_missing_or_too_many_or_not_finite_is_named(folder: Path, key: str):
    tensors = load_file(folder / WEIGHTS)
    save_file({name: tensor for name, tensor in tensors.items() if name != key}, folder / WEIGHTS)
    assert refusal(open_folder, folder).values == {"missing": 1, "unexpected": 0, "mismatched": 0, "name": key}
    save_file(tensors | {"odd\x00 <b>": torch.ones(1)}, folder / WEIGHTS)
    assert refusal(open_folder, folder).values["unexpected"] == 1
    save_file(tensors | {key: torch.full_like(tensors[key], torch.nan)}, folder / WEIGHTS)
    error = refusal(open_folder, folder)
    assert (error.code, error.values["name"]) == ("not_finite", key)


@pytest.mark.parametrize("size", [0, 7, 100, 5000])
def test_a_file_that_is_cut_off_is_refused(folder: Path, size: int):
    os.truncate(folder / WEIGHTS, size)
    assert refusal(open_folder, folder).code == ("not_safetensors" if size else "file_empty")


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path):
    (folder / WEIGHTS).rename(tmp_path / "elsewhere")
    (folder / WEIGHTS).symlink_to(tmp_path / "elsewhere")
    assert refusal(open_folder, folder).code == "folder_file_outside"
    assert open_folder(folder, [tmp_path]).parameters


# ---- an index --------------------------------------------------------------------------------------------------------
@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """A folder whose weights lie in several files."""
    return save(make_llama(), tmp_path / "shards", max_shard_size="5KB")


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("../llama/model.safetensors", "weights_index"),
        ("/etc/model.safetensors", "weights_index"),
        ("C:model.safetensors", "weights_index"),
        ("..\\model.safetensors", "weights_index"),
        ("pytorch_model.bin", "weights_index"),
        ("a\0.safetensors", "weights_index"),
        (5, "weights_index"),
        ("absent.safetensors", "folder_file_missing"),
        ("model-00001-of-00002.safetensors ", "weights_index"),
    ],
)
def test_an_index_must_name_files_of_the_folder(shards: Path, saved: Path, file: object, expected: str):
    change_index(shards, model__norm__weight=file)
    assert refusal(open_folder, shards).code == expected


@pytest.mark.parametrize("text", ["{}", '{"weight_map": {}}', '{"weight_map": []}', '{"weight_map": 5}'])
def test_an_index_must_have_a_map(shards: Path, text: str):
    (shards / INDEX).write_text(text)
    assert refusal(open_folder, shards).code == "weights_index"


def test_an_index_must_list_what_its_files_hold(shards: Path):
    first, second, *_ = sorted(path.name for path in shards.glob("*.safetensors"))
    index = json.loads((shards / INDEX).read_text())
    held = load_file(shards / first)
    key = next(iter(held))
    change_index(shards, **{key.replace(".", "__"): second})
    assert refusal(open_folder, shards).values["tensor"] == key
    (shards / INDEX).write_text(json.dumps(index))
    change_index(shards, absent=first)
    assert refusal(open_folder, shards).values["tensor"] == "absent"
    (shards / INDEX).write_text(json.dumps(index))
    save_file(held | {"more": torch.ones(1)}, shards / first)
    assert refusal(open_folder, shards).values["tensor"] == "more"
    save_file(held, shards / first)
    save_file(load_file(shards / second) | {key: held[key]}, shards / second)
    assert refusal(open_folder, shards).code == "array_twice"
    (shards / first).unlink()
    assert refusal(open_folder, shards).code == "folder_file_missing"


# ---- bounds ----------------------------------------------------------------------------------------------------------
def test_what_is_too_large_is_refused_before_it_is_made(folder: Path):
    large = {"num_hidden_layers": 400, "hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64}
    change_config(folder, **large, num_key_value_heads=8)
    error = refusal(open_folder, folder)
    assert error.code == "model_memory"
    limit = ModelBounds().memory_bytes
    assert limit == error.values["limit"] < error.values["given"] < 3 * limit  # stops soon: the whole has 1.2e12 bytes


def test_the_bound_on_memory_is_exact(saved: Path):
    needed = open_folder(saved).memory_bytes
    assert open_folder(saved, bounds=ModelBounds(memory_bytes=needed)).memory_bytes == needed
    error = refusal(open_folder, saved, bounds=ModelBounds(memory_bytes=needed - 1))
    assert (error.code, error.values["given"]) == ("model_memory", needed)


def test_a_header_that_says_too_much_is_refused_before_its_numbers_are_read(folder: Path):
    size = 7_000_000_000
    entry = {"dtype": "I8", "shape": [size], "data_offsets": [0, size]}
    write_safetensors(folder / WEIGHTS, {"w": entry})
    with open(folder / WEIGHTS, "r+b") as file:
        file.truncate(size + file.seek(0, 2))  # takes no room on the disk
    assert refusal(open_folder, folder).code == "model_memory"


def test_far_fewer_weights_than_the_config_asks_for_are_refused_before_any_is_made(folder: Path):
    change_config(folder, intermediate_size=1_000_000)
    assert refusal(open_folder, folder).code == "weights_few"


def test_far_more_weights_than_the_config_asks_for_are_refused_before_they_are_read(folder: Path, monkeypatch):
    def read_tensors(*_) -> None:
        raise MemoryError

    monkeypatch.setattr(open_model, "read_tensors", read_tensors)
    size = 4 * 10**9
    header = {"extra": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}
    write_safetensors(folder / WEIGHTS, header)
    os.truncate(folder / WEIGHTS, (folder / WEIGHTS).stat().st_size + size)  # takes no room on the disk
    assert refusal(open_folder, folder).code == "weights_many"


def test_parts_are_counted_while_they_are_made(folder: Path):
    assert refusal(open_folder, folder, bounds=ModelBounds(modules=20)).code == "too_many_modules"


def test_the_hooks_that_count_are_gone_afterwards(folder: Path):
    change_config(folder, hidden_size=10**7)
    assert refusal(open_folder, folder).code == "model_memory"
    hooks = torch.nn.modules.module
    assert not hooks._global_parameter_registration_hooks
    assert not hooks._global_buffer_registration_hooks
    assert not hooks._global_module_registration_hooks


def test_models_that_are_opened_at_once_keep_apart(saved: Path, tmp_path: Path):
    other = save(make_bert("BertModel"), tmp_path / "bert")
    expected = {folder: logits(open_folder(folder).model) for folder in (saved, other)}
    with ThreadPoolExecutor(4) as pool:
        folders = [saved, other] * 4
        models = list(pool.map(lambda folder: open_folder(folder).model, folders))
    for folder, model in zip(folders, models, strict=True):
        assert torch.equal(logits(model), expected[folder])


# ---- packages --------------------------------------------------------------------------------------------------------
BLOCKED = """
import sys
for name in ("transformers", "tokenizers", "huggingface_hub"):
    sys.modules[name] = None
"""


@pytest.mark.parametrize("name", ["attention_core", pytest.param("app", marks=pytest.mark.slow)])
def test_the_core_and_the_app_start_without_transformers(saved: Path, name: str):
    lines = f"""{BLOCKED}
import {name}
from attention_core.checkpoints.open_model import open_folder
try:
    open_folder({str(saved)!r})
except ValueError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert ran.stdout.strip() == "opening a model needs transformers: pip install -r requirements-models.txt", (
        ran.stderr
    )
