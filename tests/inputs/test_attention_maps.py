"""Attention maps from files of any model: what is read, what is named, what is refused."""

import contextlib
import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core import AttentionError
from attention_core.inputs.files.attention_maps import read_attention_maps, read_map_file

L, H, T, S = 2, 3, 5, 7


def drawn(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).softmax(-1).numpy()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def safetensors(array, **metadata):
    held = np.ascontiguousarray(array, dtype="<f4").tobytes()
    header = {"attention": {"dtype": "F32", "shape": array.shape, "data_offsets": [0, len(held)]}}
    if metadata:
        header["__metadata__"] = {name: json.dumps(words) for name, words in metadata.items()}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + held


WORDS = ["the", "cat", "坐", "on", "it"]


@pytest.mark.parametrize(
    "name, content",
    [
        ("maps.json", json.dumps({"attention": drawn(L, H, T, T).tolist(), "tokens": WORDS}).encode()),
        ("maps.npz", npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS))),
        ("maps.safetensors", safetensors(drawn(L, H, T, T), tokens=WORDS)),
    ],
)
def test_maps_and_words_are_read_from_each_form(name, content):
    read = read_attention_maps(name, content)
    assert read.maps.numpy() == pytest.approx(drawn(L, H, T, T), abs=1e-7)
    assert read.queries == read.keys == tuple(WORDS)
    assert read.uneven_rows() == []


def test_one_layer_other_names_and_other_words_for_the_keys():
    keys = [f"k{n}" for n in range(S)]
    read = read_attention_maps("m.npz", npz(patterns=drawn(H, T, S), left=np.array(WORDS), right=np.array(keys)))
    assert read.maps.shape == (1, H, T, S)
    assert (read.queries, read.keys) == (tuple(WORDS), tuple(keys))


def packed(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def test_a_packed_file_is_measured_as_it_comes_and_not_unpacked():
    content = packed(attention=np.full((12, 12, 80, 80), 1 / 80), tokens=np.arange(80).astype(str))  # 921,600 numbers
    assert len(content) < 20_000  # and 7 MB unpacked
    read = read_attention_maps("m.npz", content)
    assert read.maps.shape == (12, 12, 80, 80) and read.keys[-1] == "79" and read.uneven_rows() == []


BERT = (12, 12, 128, 128)  # what a model of 12 layers gives on its usual 128 words


@pytest.mark.parametrize("ending", ["npy", "npz", "packed.npz", "safetensors"])
def test_the_maps_of_twelve_layers_of_twelve_heads_at_128_words_fit_and_take_little_memory(ending):
    maps = np.full(BERT, 1 / 128, np.float32)
    form = {"npy": npy, "safetensors": safetensors}.get(ending, packed if "packed" in ending else npz)
    content = form(attention=maps) if "npz" in ending else form(maps)
    tracemalloc.start()
    try:
        read = read_attention_maps(f"m.{ending}", content)
        assert read.maps.shape == BERT and read.maps[11, 11, 127, 127] == 1 / 128
        assert tracemalloc.get_traced_memory()[1] < 90_000_000  # 19 MB of them stay
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "shape, code", [((1, 40, 260, 260), "too_many_numbers"), ((1, 1, 1700, 1700), "unpacked_too_large")]
)
def test_what_is_packed_beyond_the_bounds_is_refused_before_it_is_unpacked(shape, code):
    dtype = np.float64 if code == "unpacked_too_large" else np.float16
    with pytest.raises(AttentionError) as refused:
        read_attention_maps("m.npz", packed(attention=np.ones(shape, dtype), tokens=np.array(WORDS)))
    assert refused.value.code == code


def test_json_keeps_to_the_bounds_of_any_file():
    """Its lists take many times their characters in memory."""
    for content, code in ((b"[" + b"0," * 2_500_000 + b"0]", "file_too_large"), (b"[" * 5_000_001, "file_too_large")):
        with pytest.raises(AttentionError) as refused:
            read_attention_maps("m.json", content)
        assert refused.value.code == code


def test_words_that_no_file_names_are_numbered():
    read = read_attention_maps("m.npy", npy(drawn(H, T, S)))
    assert read.queries == ("1", "2", "3", "4", "5") and read.keys[-1] == "7"


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_rows_that_do_not_sum_to_one_are_told_and_read_all_the_same():
    maps = drawn(L, H, T, S)
    maps[1, 2, 4] *= 3
    maps[0, 1, 3] *= 0.5
    read = read_attention_maps("m.npz", npz(attention=maps))
    assert read.uneven_rows() == [(1, 2, 4), (0, 1, 3)]
    assert read.maps[1, 2, 4].sum() == pytest.approx(3)


@pytest.mark.parametrize(
    "name, content, code",
    [
        ("m.npz", npz(attention=drawn(1, 1, 1, 1, 1, H, T, S)), "array_axes"),
        ("m.npz", npz(attention=drawn(2, 2, 2, 2, T, S)), "map_axes"),
        ("m.npz", npz(attention=drawn(T)), "map_axes"),
        ("m.npz", npz(q=drawn(H, T, S), k=drawn(H, T, S)), "maps_missing"),
        ("m.json", b'{"attention": [[1, 0], [1]], "tokens": ["a", "b"]}', "lists_differ"),
        ("m.npz", npz(attention=drawn(H, T, T), tokens=np.array(WORDS[:-1])), "words_count"),
        ("m.npz", npz(attention=np.full((H, T, S), np.nan)), "not_finite"),
        ("m.npz", npz(attention=np.ones((40, 64, 2, 2))), "too_many_map_heads"),
        ("m.npz", npz(attention=np.ones((40, 64, 32, 32), dtype=np.float32)), "file_too_large"),
        ("m.npz", npz(attention=drawn(H, T, T), tokens=np.array(WORDS, dtype=object)), "words_pickled"),
        ("m.json", b'{"attention": [[1, 0], [0, 1]], "tokens": ["a", 1]}', "words_form"),
        (
            "m.json",
            b'{"attention": [[1, 0], [0, 1]], "tokens": ["a", null]}',
            "words_form",
        ),
        ("m.json", b'{"attention": [["0.5", "0.5"]], "tokens": ["a", "b"]}', "maps_texts"),
        ("m.json", b'{"attention": "0.5 0.5", "tokens": ["a", "b"]}', "maps_texts"),
        ("m.json", b'{"attention": [null, null], "tokens": ["a", "b"]}', "layer_empty"),
        ("m.npz", b"PK\x03\x04 no zip", "not_npz"),
        ("m.pdf", b"1 2", "file_ending"),
        ("m.json", b"", "file_empty"),
        ("m.json", json.dumps({"tokens": WORDS}).encode(), "no_arrays"),
    ],
)
def test_what_is_no_map_is_refused_plainly(name, content, code):
    with pytest.raises(AttentionError) as refused:
        read_attention_maps(name, content)
    assert refused.value.code == code


def test_layers_of_other_numbers_of_heads_and_empty_ones_are_read_one_by_one():
    layers = [drawn(2, T, T).tolist(), None, drawn(3, T, T).tolist()]
    file = read_map_file("m.json", json.dumps({"attention": layers, "tokens": WORDS}).encode())
    assert [group.shape for group in file.groups] == [(2, T, T), (3, T, T)]
    assert {name: error.code for name, error in file.unread.items()} == {"attention.1": "layer_empty"}


def test_a_header_that_asks_for_much_memory_gets_none():
    header = b"{'descr': '<U1000000000', 'fortran_order': False, 'shape': (1,), }"
    words = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("attention.npy", npy(drawn(H, T, T)))
        archive.writestr("tokens.npy", words)
    with pytest.raises(AttentionError):
        read_attention_maps("m.npz", file.getvalue())


@given(st.sampled_from(["m.json", "m.npz", "m.npy", "m.safetensors", "m.txt", "m"]), st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(name, content):
    with contextlib.suppress(AttentionError):
        read_attention_maps(name, content)
