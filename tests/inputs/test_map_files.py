"""Files of maps as people save them: kinds, layers, batches, words under their names, and all that is not read."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest
import torch

from attention_core import AttentionError
from attention_core.documents.number_files import json_text, npz_bytes
from attention_core.documents.provenance import Provenance
from attention_core.inputs.files.attention_maps import read_attention_maps, read_map_file
from attention_core.inputs.given_maps import pack_maps
from attention_core.mechanism.attention import attend_qkv

L, B, H, T, S = 2, 3, 5, 4, 7
WORDS = ("[CLS]", "cat", "sat", "[SEP]")


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).softmax(-1).numpy()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def as_json(**values):
    return json.dumps(values, default=lambda array: array.tolist()).encode()


def view(content, ending="npz", group=0, axes=None, sentence=0):
    return read_map_file(f"m.{ending}", content).view(group, axes, sentence)


def assert_maps(shown, right):
    assert shown.maps.maps.numpy() == pytest.approx(right, abs=1e-12) and shown.maps.maps.shape == right.shape


# ---- axes ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "arranged", "readings"),
    [
        ((T, S), (1, 1, T, S), ("",)),
        ((1, T, S), (1, 1, T, S), ("",)),
        ((1, 1, T, S), (1, 1, T, S), ("",)),
        ((H, T, S), (1, H, T, S), ("H", "L", "B")),
        ((1, H, T, S), (1, H, T, S), ("H",)),
        ((L, 1, T, S), (L, 1, T, S), ("L", "B")),
        ((L, H, T, S), (L, H, T, S), ("L H", "B H")),
        ((L, 1, H, T, S), (L, H, T, S), ("L H",)),
        ((1, L, H, T, S), (L, H, T, S), ("L H",)),
        ((L, H, 1, 1), (L, H, 1, 1), ("L H", "B H")),
        ((L, 1, H, 1, S), (L, H, 1, S), ("L H",)),
    ],
)
@pytest.mark.parametrize("ending", ["npz", "json"])
def test_an_axis_of_one_is_the_batch_and_one_map_is_a_head(given, arranged, readings, ending):
    maps = drawn(*given)
    shown = view(npz(attention=maps) if ending == "npz" else as_json(attention=maps), ending)
    assert_maps(shown, maps.reshape(arranged))
    assert shown.group.readings == readings


def test_of_two_readings_the_likelier_is_drawn_and_the_other_is_one_call_away():
    averaged, layer = drawn(B, T, T), drawn(B, H, T, T, seed=1)
    assert_maps(view(npz(attention=averaged)), averaged[None])
    assert_maps(view(npz(attention=averaged), axes="B", sentence=2), averaged[2][None, None])
    assert_maps(view(npz(attention=averaged), axes="L"), averaged[:, None])
    assert_maps(view(npz(attention=layer), axes="B H", sentence=1), layer[1][None])
    stacked = drawn(L, B, H, T, T, seed=2)
    shown = view(npz(attention=stacked), sentence=2)
    assert_maps(shown, stacked[:, 2])
    assert (shown.axes, shown.sentences) == ("L B H", B)
    assert_maps(view(npz(attention=stacked), axes="B L H", sentence=1), stacked[1])
    assert view(npz(attn_output_weights=averaged)).axes == "B"  # as torch averages the heads of a batch


def test_words_of_several_sentences_say_that_the_maps_are_a_batch():
    sentences = [[f"{n}{word}" for word in WORDS] for n in range(B)]
    shown = view(as_json(attention=drawn(B, H, T, T), tokens=sentences), "json", sentence=2)
    assert shown.axes == "B H" and shown.maps.queries == tuple(sentences[2]) == shown.maps.keys


def test_a_sentence_that_is_not_there_and_another_reading_are_refused():
    for axes, sentence, code in (("B", B, "part_outside"), ("B", -1, "part_outside"), ("L H", 0, "unknown_choice")):
        with pytest.raises(AttentionError) as refused:
            view(npz(attention=drawn(B, T, T)), axes=axes, sentence=sentence)
        assert refused.value.code == code


# ---- one array a layer -----------------------------------------------------------------------------------------------
SERIES = ["arr_{}", "layer_{}", "attentions.{}", "blocks.{}.attn.hook_pattern", "encoder/layer/{}/attention_probs"]


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("lead", [(), (1,)])
def test_one_array_a_layer_is_a_file_of_layers_in_the_order_of_their_numbers(name, lead):
    layers = [drawn(*lead, H, T, T, seed=n) for n in range(11)]
    order = [10, 2, *range(2), *range(3, 10)]
    shown = view(npz(**{name.format(n): layers[n] for n in order}))
    assert_maps(shown, np.stack(layers).reshape(11, H, T, T))
    assert shown.group.members[2] == name.format(2) and shown.axes == "L H"


def test_one_array_a_layer_of_a_batch_and_one_map_a_head():
    layers = [drawn(B, H, T, T, seed=n) for n in range(L)]
    assert_maps(view(npz(**{f"layer_{n}": each for n, each in enumerate(layers)}), sentence=1), np.stack(layers)[:, 1])
    heads = {f"layer_{a}_head_{b}": drawn(T, T, seed=3 * a + b) for a in range(L) for b in range(3)}
    right = np.stack(list(heads.values())).reshape(L, 3, T, T)
    assert_maps(view(npz(**heads)), right)
    nested = {str(a): {str(b): heads[f"layer_{a}_head_{b}"] for b in range(3)} for a in range(L)}
    assert_maps(view(as_json(attention=nested), "json"), right)
    lone = {f"head_{n}": drawn(T, T, seed=n) for n in range(3)}
    assert_maps(view(npz(**lone)), np.stack(list(lone.values()))[None])


# ---- kinds -----------------------------------------------------------------------------------------------------------
def test_encoder_decoder_and_cross_stand_in_one_file_with_their_words():
    """As transformers' Seq2SeqLMOutput names them, and BertViz's words."""
    source, target = ["das", "haus", "ist", "alt"], ["the", "house", "is", "old", ".", "</s>", "x"]
    maps = {
        "encoder_attentions": drawn(L, 1, H, T, T),
        "decoder_attentions": drawn(L, 1, H, S, S, seed=1),
        "cross_attentions": drawn(L, 1, H, S, T, seed=2),
    }
    for names in (("encoder_tokens", "decoder_tokens"), ("src_tokens", "tgt_tokens"), ("source", "target")):
        content = as_json(**maps, **dict(zip(names, (source, " ".join(target)), strict=True)))
        file = read_map_file("m.json", content)
        assert [group.kind for group in file.groups] == ["encoder", "decoder", "cross"] and file.unread == {}
        words = [(file.view(n).maps.queries, file.view(n).maps.keys) for n in range(3)]
        src, tgt = tuple(source), tuple(target)
        assert words == [(src, src), (tgt, tgt), (tgt, src)]
        for number, each in enumerate(maps.values()):
            assert_maps(file.view(number), each[:, 0])


def test_the_parameters_of_bertviz_open_as_they_are():
    one = {"name": None, "attn": drawn(L, H, T, T), "left_text": WORDS, "right_text": WORDS}
    file = read_map_file("m.json", as_json(attention=[one], default_filter="0", root_div_id="bertviz-1"))
    assert_maps(file.view(), one["attn"])
    assert file.view().maps.queries == WORDS and set(file.notes) == {"default_filter", "root_div_id"}
    left, right = tuple("abcdefg"), WORDS
    kinds = [
        {"name": "Encoder", "attn": drawn(L, H, T, T), "left_text": right, "right_text": right},
        {"name": "Decoder", "attn": drawn(L, H, S, S, seed=1), "left_text": left, "right_text": left},
        {"name": "Cross", "attn": drawn(L, H, S, T, seed=2), "left_text": left, "right_text": right},
    ]
    file = read_map_file("m.json", as_json(attention=kinds))
    for number, each in enumerate(kinds):
        shown = file.view(number)
        assert_maps(shown, each["attn"])
        assert (shown.maps.queries, shown.maps.keys) == (tuple(each["left_text"]), tuple(each["right_text"]))
    assert_maps(view(json.dumps([drawn(1, H, T, T).tolist()] * L).encode(), "json"), np.stack([drawn(H, T, T)] * L))


# ---- words -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["tokens", "words", "labels", "str_tokens", "x_tokens", "sentence", "text", "queries"])
@pytest.mark.parametrize("said", [list(WORDS), " ".join(WORDS), [list(WORDS)], [" ".join(WORDS)]])
def test_words_are_read_under_each_name_as_a_list_and_as_a_text(name, said):
    shown = view(as_json(attention=drawn(H, T, T), **{name: said}), "json")
    assert shown.maps.queries == shown.maps.keys == WORDS


@pytest.mark.parametrize(
    ("queries", "keys"),
    [("queries", "keys"), ("left_text", "right_text"), ("tgt_tokens", "src_tokens"), ("query_tokens", "key_tokens")],
)
def test_the_words_of_either_side_are_read_under_their_names(queries, keys):
    other = tuple("abcdefg")
    shown = view(npz(attn=drawn(H, T, S), **{keys: np.array(other), queries: np.array(WORDS)}))
    assert (shown.maps.queries, shown.maps.keys) == (WORDS, other)


def test_chinese_words_in_one_text_and_bytes_are_words():
    assert view(as_json(attention=drawn(H, T, T), text="猫坐下了"), "json").maps.keys == tuple("猫坐下了")
    assert view(npz(attention=drawn(H, T, T), tokens=np.array(WORDS, dtype="S"))).maps.keys == WORDS


def test_numbers_of_words_are_no_words_and_are_named():
    file = read_map_file("m.json", as_json(attention=drawn(H, T, T), tokens=[101, 7, 8, 102], input_ids=[[1, 2, 3, 4]]))
    assert file.view().maps.queries == ("1", "2", "3", "4")
    assert file.unread == {"tokens": (4,), "input_ids": (1, 4)}


@pytest.mark.parametrize("said", ["[CLS] cat [SEP]", ["a"], [["a", "b"]]])
def test_words_that_fit_no_axis_are_refused_by_their_number(said):
    with pytest.raises(AttentionError) as refused:
        view(as_json(attention=drawn(H, T, T), tokens=said), "json")
    assert refused.value.code == "words_count" and refused.value.values["size"] == T


# ---- what is not read ------------------------------------------------------------------------------------------------
def test_everything_else_of_a_file_is_a_note_or_is_named():
    content = as_json(
        model="some-model", tokens=WORDS, attention=drawn(H, T, T), layer=3, hidden_states=drawn(T, 2), odd=[1, [2]],
        attention_mask=[[1, 1, 1, 1]], meta={"date": "today", "list": ["a", "b"], "deep": {"n": 1}}, nothing=None,
    )  # fmt: skip
    file = read_map_file("m.json", content)
    assert file.notes == {"model": "some-model", "meta.date": "today"}
    assert file.unread.pop("odd").code == "json_value"
    assert file.unread == {
        **{"layer": (), "hidden_states": (T, 2), "attention_mask": (1, 4), "meta.list": None, "meta.deep.n": ()}
    }


def test_pickled_objects_beside_the_maps_are_named_and_maps_that_are_pickled_are_refused():
    pickled = np.array([{"a": 1}], dtype=object)
    file = read_map_file("m.npz", npz(attention=drawn(H, T, T), config=pickled))
    assert file.unread["config"].code == "array_pickled"
    for name in ("attention", "tokens", "attn_weights"):
        with pytest.raises(AttentionError, match="pickled"):
            read_map_file("m.npz", npz(**{"maps": drawn(H, T, T), name: pickled}))


def test_maps_that_cannot_be_drawn_are_named_beside_those_that_can():
    file = read_map_file("m.npz", npz(encoder_attentions=drawn(H, T, T), cross_attentions=np.full((H, T, S), np.nan)))
    assert [group.name for group in file.groups] == ["encoder_attentions"]
    assert file.unread["cross_attentions"].code == "not_finite"


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("m.npz", npz(**{f"a{n}": np.ones(1) for n in range(1000)}), "too_many_arrays"),
        ("m.json", as_json(**{f"a{n}": [1] for n in range(1000)}), "too_many_arrays"),
        ("m.npz", npz(attention=np.zeros((0, T, T))), "empty"),
        ("m.npz", npz(attention=np.array("text")), "maps_texts"),
        ("m.npz", npz(attention=np.array(1.0)), "map_axes"),
        ("m.json", b'{"attention": "1 0"}', "maps_texts"),
        ("m.json", b'{"attention": [[1, 0], [0, 1]], "attention": [[1]]}', "array_twice"),
        ("m.json", b"[" * 90_000, "lists_too_deep"),
        *(("m.json", b"[" * deep + b"1" + b"]" * deep, "lists_too_deep") for deep in (7, 300, 900, 1200)),
        (
            "m.json",
            b'{"about": {}, "steps": [{"name": "w", "values": ' + b"[" * 900 + b"]" * 900 + b"}]}",
            "lists_too_deep",
        ),
        ("m.json", as_json(**{f"t{n}": "text" for n in range(1000)}), "too_many_arrays"),
        ("m.json", b'{"a":' * 600 + b"1" + b"}" * 600, "file_nested_deep"),
        ("m.npz", npz(q=drawn(H, T, T), k=drawn(H, T, T), attention_mask=np.ones((1, T), int)), "maps_missing"),
    ],
)
def test_what_cannot_be_maps_is_refused_by_name(name, content, code):
    with pytest.raises(AttentionError) as refused:
        read_attention_maps(name, content)
    assert refused.value.code == code


# ---- lists of objects ------------------------------------------------------------------------------------------------
def test_a_list_of_objects_with_layer_and_head_is_a_grid():
    maps = drawn(L, H, T, T)
    entries = [{"layer": i, "head": j, "attention": maps[i, j].tolist()} for i in range(L) for j in range(H)]
    for content in (entries, entries[::-1], {"maps": entries, "tokens": WORDS}):
        shown = view(json.dumps(content).encode(), "json")
        assert_maps(shown, maps)
        assert shown.axes == "L H" and not read_map_file("m.json", json.dumps(content).encode()).unread
    by_layer = [{"layer": i, "attn": maps[i].tolist()} for i in range(L)]
    assert_maps(view(json.dumps(by_layer).encode(), "json"), maps)


def test_a_list_of_sentences_has_the_words_of_each():
    maps, others = drawn(B, H, T, T), [[f"{word}{place}" for word in WORDS] for place in range(B)]
    entries = [{"sentence": " ".join(others[i]), "attention": maps[i].tolist()} for i in range(B)]
    content = json.dumps({"results": entries}).encode()
    for place in range(B):
        shown = view(content, "json", sentence=place)
        assert_maps(shown, maps[place][None])
        assert shown.axes == "B H" and shown.maps.queries == shown.maps.keys == tuple(others[place])
    file = read_map_file("m.json", content)
    assert not file.notes and not file.unread and len(file.word_names) == B
    same = [{**entry, "sentence": entries[0]["sentence"]} for entry in entries]
    assert view(json.dumps(same).encode(), "json").axes == "L H"
    deep = [{"tokens": others[i], "layer_0": maps[i].tolist(), "layer_1": maps[i].tolist()} for i in range(B)]
    shown = view(json.dumps(deep).encode(), "json", sentence=2)
    assert shown.axes == "B L H" and shown.maps.keys == tuple(others[2])


def test_two_series_of_one_form_have_names_of_their_own():
    blocks = {f"decoder_layer{n}_block{kind}": drawn(1, H, T, (T, S)[kind - 1]) for n in (1, 2) for kind in (1, 2)}
    file = read_map_file("m.npz", npz(**blocks))
    assert [group.name for group in file.groups] == ["decoder_layer#_block1", "decoder_layer#_block2"]
    layers = {f"{name}.{n}": drawn(H, T, T) for name in ("decoder.self_attn", "decoder.multihead_attn") for n in (0, 1)}
    assert [group.kind for group in read_map_file("m.npz", npz(**layers)).groups] == ["decoder", "cross"]


def test_what_can_be_no_weights_is_not_taken_for_maps_beside_what_can():
    beside = {"A": drawn(T, T), "X": np.full((T, 3), -1.5), "W_o": np.full((3, 2), 2.0)}
    file = read_map_file("m.npz", npz(**beside))
    assert [group.name for group in file.groups] == ["A"] and set(file.unread) == {"X", "W_o"}


@pytest.mark.parametrize(
    "tokens",
    [
        [{"id": 7, "text": word} for word in WORDS],
        [{"token": word, "start": 0, "special": False} for word in WORDS],
        dict(enumerate(WORDS)),
    ],
)
def test_words_in_objects_are_words(tokens):
    content = as_json(attention=drawn(H, T, T), tokens=tokens)
    file = read_map_file("m.json", content)
    assert file.view().maps.keys == file.view().maps.queries == WORDS
    assert not file.notes and set(file.unread) <= {"tokens.id", "tokens.start", "tokens.special"}


@pytest.mark.parametrize(
    ("queries", "keys"),
    [("y_labels", "x_labels"), ("generated_tokens", "input_tokens"), ("output_words", "input_words")],
)
def test_words_stand_under_the_names_of_plain_scripts(queries, keys):
    names = tuple("abcdefg")
    shown = view(npz(attention=drawn(H, T, S), **{keys: np.array(names), queries: np.array(WORDS)}))
    assert shown.maps.queries == WORDS and shown.maps.keys == names


def test_strange_names_and_folders_in_an_archive_are_names():
    odd = {"params/attn\u202e": drawn(H, T, T), "\u2603": np.ones(2), "x" * 300: np.ones(3)}
    file = read_map_file("m.npz", npz(**odd))
    assert {group.name for group in file.groups} == {"params/attn\u202e"}
    assert set(file.unread) == {"\u2603", "x" * 300}


def test_a_member_that_is_no_array_is_named():
    packed = io.BytesIO(npz(attention=drawn(H, T, T)))
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("readme.txt", "hello")
    assert read_map_file("m.npz", packed.getvalue()).unread["readme.txt"].code == "member_name"


def test_texts_in_the_metadata_of_safetensors_are_words_and_notes():
    held = np.ascontiguousarray(drawn(H, T, T), "<f4").tobytes()
    said = {"tokens": json.dumps(WORDS), "model": "m", "format": "pt"}
    entry = {"dtype": "F32", "shape": [H, T, T], "data_offsets": [0, len(held)]}
    header = json.dumps({"__metadata__": said, "attn": entry}).encode()
    file = read_map_file("m.safetensors", struct.pack("<Q", len(header)) + header + held)
    assert file.view().maps.keys == WORDS and file.notes == {"model": "m", "format": "pt"}


# ---- our own files ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("write", [npz_bytes, lambda trace, source: json_text(trace, source).encode()])
def test_a_run_that_we_exported_opens_as_maps_with_its_words(write):
    q = torch.from_numpy(np.random.default_rng(0).normal(size=(B, H, T, 2)))
    trace = attend_qkv(q, q, q, allowed=torch.ones(T, T).tril().bool()).labelled(T=WORDS, S=WORDS)
    ending = "npz" if write is npz_bytes else "json"
    file = read_map_file(f"run.{ending}", write(trace, Provenance("Four words", "?ex=1")))
    shown = file.view(sentence=1)
    assert shown.axes == "B H" and shown.group.readings == ("B H",)
    assert shown.maps.maps[0].numpy() == pytest.approx(trace["weights"][1].numpy())
    assert shown.maps.queries == shown.maps.keys == WORDS
    assert file.notes["title"] == "Four words" and "scores" in file.unread and "about" not in file.unread
    again = read_attention_maps("maps.npz", pack_maps(shown.maps))
    assert torch.equal(again.maps, shown.maps.maps) and again.queries == WORDS
