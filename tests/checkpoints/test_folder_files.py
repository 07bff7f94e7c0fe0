"""What lies in a model's folder is read only where it may be: JSON, headers and links, each as it should not be."""

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from attention_core.checkpoints import stored_weights
from attention_core.checkpoints.folder_files import ModelFolder, find_folder, parse_object
from attention_core.checkpoints.model_config import ModelBounds, read_config
from attention_core.checkpoints.stored_weights import list_tensors, read_tensors
from tests.checkpoints.model_folders import refusal, write_safetensors


def code(function, *given, **named) -> str:
    """The code of the refusal."""
    return refusal(function, *given, **named).code


# ---- which folder ----------------------------------------------------------------------------------------------------
def test_a_folder_must_lie_in_a_root(tmp_path: Path):
    inside, outside = tmp_path / "models" / "mine", tmp_path / "modelsx"
    inside.mkdir(parents=True)
    outside.mkdir()
    roots = [tmp_path / "models"]
    assert find_folder(inside, roots).path == inside
    assert find_folder(roots[0], roots).path == roots[0]
    for path in (outside, tmp_path, inside / ".." / ".." / "modelsx", "/", "", "/nothing/at/all"):
        assert code(find_folder, path, roots) == "folder_outside"
    assert code(find_folder, inside, []) == "folder_outside"


def test_what_is_no_folder_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "file", tmp_path / "loop", tmp_path / "nothing", "a\0b", "x" * 5000, "gpt2"):
        assert code(find_folder, path) == "folder_missing"
    for path in (None, 5, ["a"]):
        assert code(find_folder, path) == "not_a_class"


def test_a_link_out_of_the_roots_is_refused_for_the_folder_and_its_files(tmp_path: Path):
    root, secret = tmp_path / "root", tmp_path / "secret.json"
    root.mkdir()
    secret.write_text('{"model_type": "llama"}')
    (root / "linked").symlink_to(tmp_path)
    assert code(find_folder, root / "linked", [root]) == "folder_outside"
    (root / "config.json").symlink_to(secret)
    assert code(find_folder(root).read, "config.json", 100) == "folder_file_outside"
    assert find_folder(root, [tmp_path]).read("config.json", 100) == secret.read_bytes()


def test_the_cache_of_the_hub_links_to_its_own_blobs(tmp_path: Path):
    model = tmp_path / "models--owner--name"
    snapshot, blobs = model / "snapshots" / "abc", model / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    (blobs / "123").write_text("{}")
    (snapshot / "config.json").symlink_to("../../blobs/123")
    (tmp_path / "else").write_text("{}")
    (snapshot / "other.json").symlink_to("../../../else")
    assert find_folder(snapshot).read("config.json", 10) == b"{}"
    assert code(find_folder(snapshot).read, "other.json", 10) == "folder_file_outside"
    assert find_folder(snapshot, [tmp_path]).read("other.json", 10) == b"{}"
    assert code(find_folder(snapshot, [snapshot]).read, "config.json", 10) == "folder_file_outside"


# ---- one file --------------------------------------------------------------------------------------------------------
@pytest.fixture
def folder(tmp_path: Path) -> ModelFolder:
    """An empty folder."""
    return find_folder(tmp_path)


def test_only_regular_files_that_can_be_read_are_read(folder: ModelFolder):
    (folder.path / "folder").mkdir()
    os.mkfifo(folder.path / "pipe")
    (folder.path / "loop").symlink_to("loop")
    (folder.path / "closed").write_text("{}")
    (folder.path / "closed").chmod(0)
    (folder.path / "broken").symlink_to("nowhere")
    for name in ("folder", "pipe", "loop", "x" * 300, "a\0b"):
        assert code(folder.read, name, 10) == "folder_file_unreadable"
    if os.getuid():  # root may read everything
        assert code(folder.read, "closed", 10) == "folder_file_unreadable"
    for name in ("broken", "absent"):
        assert code(folder.read, name, 10) == "folder_file_missing"
    assert code(folder.read, "../x", 10) == "folder_file_outside"


def test_a_file_is_bounded_before_it_is_read(folder: ModelFolder):
    with open(folder.path / "config.json", "wb") as file:
        file.truncate(10**12)  # takes no room on the disk
    error = refusal(read_config, folder)
    assert (error.code, error.values["given"]) == ("file_too_large", 10**12)


def test_a_file_that_changes_is_noticed(folder: ModelFolder):
    path = folder.path / "config.json"
    path.write_text("{}")
    folder.read("config.json", 10)
    folder.require_unchanged()
    path.write_text("[]")
    os.utime(path, ns=(0, 1))  # a clock that is coarse cannot hide it
    assert code(folder.require_unchanged) == "folder_changed"
    assert code(folder.read, "config.json", 10) == "folder_changed"


@pytest.mark.parametrize("how", ["gone", "other", "linked"])
def test_a_file_that_is_taken_away_or_replaced_is_noticed(folder: ModelFolder, how: str):
    path = folder.path / "config.json"
    path.write_text("{}")
    folder.read("config.json", 10)
    path.rename(folder.path / "old")
    if how == "other":
        path.write_text("{}")
    if how == "linked":
        path.symlink_to("/etc/hostname")
    assert code(folder.require_unchanged) == "folder_changed"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "json_object"),
        (b"[1]", "json_object"),
        (b"null", "json_object"),
        (b"5", "json_object"),
        (b'{"a": 1', "json_object"),
        (b'{"a": "\xff"}', "json_object"),
        ('{"a": 1}'.encode("utf-16"), "json_object"),
        (b'{"a":' * 100_000, "json_object"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "json_object"),
        (b'{"a": 1, "b": 2, "a": 3}', "file_twice"),
        (b'{"a": {"x": 1, "x": 1}}', "file_twice"),
    ],
)
def test_json_must_be_one_object_with_each_key_once(content: bytes, expected: str):
    assert code(parse_object, "config.json", content) == expected


# ---- config.json -----------------------------------------------------------------------------------------------------
def config_code(folder: ModelFolder, text: str) -> tuple[str, object]:
    """The refusal of a config.json with this text, and what it names."""
    (folder.path / "config.json").write_text(text)
    error = refusal(read_config, folder, ModelBounds(vocabulary=1000))
    return error.code, error.values["name"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", ("model_type_missing", "config.json")),
        ('{"model_type": ["llama"]}', ("model_type_missing", "config.json")),
        ('{"quantization_config": {"quant_method": "x"}}', ("model_quantised", "quantization_config")),
        ('{"text_config": {"quantization_config": []}}', ("model_quantised", "quantization_config")),
        ('{"num_hidden_layers": 1000000000000}', ("at_most", "num_hidden_layers")),
        ('{"text_config": {"num_labels": -1000000}}', ("at_most", "num_labels")),
        ('{"depths": [2, 1000000]}', ("at_most", "depths")),
        ('{"vocab_size": 1001}', ("at_most", "vocab_size")),
        ('{"hidden_size": 100000000}', ("at_most", "hidden_size")),
        ('{"a": ' * 13 + "1" + "}" * 13, ("file_nested_deep", "config.json")),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", ("file_nested_deep", "config.json")),
    ],
)
def test_a_config_is_bounded_before_anything_is_made_of_it(folder: ModelFolder, text: str, expected: tuple):
    assert config_code(folder, text) == expected


def test_what_would_run_code_is_left_out_of_a_config_and_said(folder: ModelFolder):
    (folder.path / "config.json").write_text(
        '{"model_type": "llama", "auto_map": {"AutoModel": "x.Y"}, "architectures": ["Y"], "hidden_size": 8,'
        ' "_attn_implementation": "kernels-community/x", "rope_theta": 3000000000, "dtype": "float8",'
        ' "text_config": {"attn_implementation": "x", "_name_or_path": "/etc", "a": 1}, "quantization_config": null}'
    )
    config = read_config(folder)
    kept = {"architectures": ["Y"], "hidden_size": 8, "rope_theta": 3000000000, "text_config": {"a": 1}}
    assert (config.values, config.model_type, config.class_name) == (kept, "llama", "Y")
    assert [note.code for note in config.ignored] == ["code_ignored", "implementation_ignored"]


# ---- safetensors -----------------------------------------------------------------------------------------------------
NUMBERS = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


@pytest.mark.parametrize(
    ("header", "data", "expected"),
    [
        (b"", b"", "not_safetensors"),
        (b"[]", b"", "not_safetensors"),
        (b"{\xff}", b"", "not_safetensors"),
        (b'{"a": 1, "a": 1}', b"", "file_twice"),
        ({"w": NUMBERS}, b"", "not_safetensors"),
        ({"w": NUMBERS}, b"12345", "not_safetensors"),
        ({"w": NUMBERS, "v": NUMBERS}, b"1234", "not_safetensors"),
        ({"w": NUMBERS, "v": NUMBERS}, b"12345678", "not_safetensors"),  # both at one place, and a hole behind them
        (
            {"w": NUMBERS | {"data_offsets": [0, 8]}, "v": NUMBERS | {"data_offsets": [4, 8]}},
            b"12345678",
            "not_safetensors",
        ),
        ({"w": NUMBERS | {"data_offsets": [4, 8]}}, b"12345678", "not_safetensors"),
        ({"w": NUMBERS | {"data_offsets": [4, 0]}}, b"1234", "not_safetensors"),
        ({"w": NUMBERS | {"data_offsets": [0, 8]}}, b"12345678", "not_safetensors"),
        ({"w": NUMBERS | {"data_offsets": [0]}}, b"1234", "not_safetensors"),
        ({"w": NUMBERS | {"data_offsets": [0.0, 4.0]}}, b"1234", "not_safetensors"),
        ({"w": NUMBERS | {"shape": [-1]}}, b"1234", "not_safetensors"),
        ({"w": NUMBERS | {"shape": [True]}}, b"1234", "not_safetensors"),
        ({"w": NUMBERS | {"shape": [10**30]}}, b"1234", "not_safetensors"),
        ({"w": NUMBERS | {"shape": [0, 2**63], "data_offsets": [0, 0]}}, b"", "not_safetensors"),
        ({"w": NUMBERS | {"shape": [0, 2**62, 4], "data_offsets": [0, 0]}}, b"", "not_safetensors"),
        ({"w": NUMBERS | {"shape": "1"}}, b"1234", "not_safetensors"),
        ({"w": NUMBERS | {"shape": [1] * 9}}, b"1234", "array_axes"),
        ({"w": NUMBERS | {"dtype": "F8_E4M3"}}, b"1234", "weight_type"),
        ({"w": NUMBERS | {"dtype": "F64"}}, b"1234", "weight_type"),
        ({"w": NUMBERS | {"dtype": 5}}, b"1234", "not_safetensors"),
        ({"w": [1]}, b"1234", "not_safetensors"),
    ],
)
def test_a_header_must_describe_its_file_exactly(folder: ModelFolder, header: object, data: bytes, expected: str):
    write_safetensors(folder.path / "model.safetensors", header, data)
    assert code(list_tensors, folder) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "file_empty"),
        (b"1234", "not_safetensors"),
        (b"\xff" * 8, "not_safetensors"),
        (b"\0" * 7 + b"\x80", "not_safetensors"),
        (b"PK\x03\x04" + b"\0" * 60, "not_safetensors"),
    ],
)
def test_what_is_no_safetensors_file_is_refused(folder: ModelFolder, content: bytes, expected: str):
    (folder.path / "model.safetensors").write_bytes(content)
    assert code(list_tensors, folder) == expected


def test_a_header_is_bounded_before_it_is_read(folder: ModelFolder):
    with open(folder.path / "model.safetensors", "wb") as file:
        file.write((10**11).to_bytes(8, "little"))
        file.truncate(10**12)
    assert code(list_tensors, folder) == "header_too_long"


def test_numbers_are_those_of_the_library_that_wrote_them(folder: ModelFolder):
    generator = torch.Generator().manual_seed(0)
    tensors = {
        "w": torch.randn(3, 5, generator=generator),
        "large": torch.full((3,), 3e38),  # their sum is beyond float32
        "half": torch.randn(7, generator=generator).half(),
        "brain": torch.randn(2, 1, 2, generator=generator).bfloat16(),
        "one": torch.tensor(3.5),
        "none": torch.empty(0, 4),
        "ids": torch.arange(6),
        "open": torch.tensor([True, False]),
        "a name\nwith <odd> signs": torch.ones(1),
    }
    save_file(tensors, folder.path / "model.safetensors")
    stored = list_tensors(folder)
    read = read_tensors(folder, stored)
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        expected = tensor.float() if tensor.is_floating_point() else tensor
        assert read[name].dtype == expected.dtype
        assert torch.equal(read[name], expected)
        assert stored[name].memory_bytes == expected.nbytes


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_number_that_is_not_finite_is_found_by_its_tensor(folder: ModelFolder, bad: float):
    weights = torch.zeros(3, 4)
    weights[2, 1] = bad
    save_file({"layers.0.w": torch.ones(2), "layers.1.w": weights}, folder.path / "model.safetensors")
    error = refusal(read_tensors, folder, list_tensors(folder))
    assert (error.code, error.values["name"], error.values["index"]) == ("not_finite", "layers.1.w", (2, 1))


def test_weights_that_change_between_header_and_numbers_are_noticed(folder: ModelFolder):
    path = folder.path / "model.safetensors"
    save_file({"w": torch.ones(1000)}, path)
    stored = list_tensors(folder)
    os.truncate(path, 2000)
    assert code(read_tensors, folder, stored) == "folder_changed"


def test_weights_that_are_written_while_they_are_read_are_noticed(folder: ModelFolder, monkeypatch):
    path = folder.path / "model.safetensors"
    save_file({"w": torch.ones(1000)}, path)
    read = stored_weights.read_tensor

    def write_after(*given) -> torch.Tensor:
        numbers = read(*given)
        os.utime(path, ns=(0, 1))
        return numbers

    monkeypatch.setattr(stored_weights, "read_tensor", write_after)
    assert code(read_tensors, folder, list_tensors(folder)) == "folder_changed"


def test_weights_that_are_cut_off_while_they_are_read_are_an_error_and_no_crash(folder: ModelFolder):
    path = folder.path / "model.safetensors"
    save_file({"w": torch.ones(1000)}, path)
    stored = list_tensors(folder)
    os.truncate(path, 2000)
    folder.marks.clear()  # as if it were cut off just after it was opened
    assert code(read_tensors, folder, stored) == "folder_changed"
