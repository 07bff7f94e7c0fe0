"""On the page of maps heads are switched off in the model; the numbers are those of a model whose rows of W_o are 0."""

import re
from copy import deepcopy

import pytest
import torch

from attention_core.checkpoints import open_folder
from tests.checkpoints.folders import save_folder
from tests.maps.test_maps_page import errors, grid, texts, unpack, weights
from tests.maps.test_model_folder import TEXT, open_model
from tests.maps.test_next_piece import press
from tests.screen.lesson import Lesson

WIDTH = 16  # of each head


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder with tiny models."""
    root = tmp_path_factory.mktemp("models")
    save_folder(root / "tiny-gpt2", "GPT2LMHeadModel")
    save_folder(root / "tiny-bert", "BertForMaskedLM", "word pieces")
    save_folder(root / "tiny-t5", "T5ForConditionalGeneration", "unigram")
    return root


@pytest.fixture(autouse=True)
def allowed(root, monkeypatch):
    """The administrator allows the folder above the models."""
    monkeypatch.setenv("ATTENTION_MODELS", str(root))


def zeroed_gpt2(opened, *heads):
    """A copy of a GPT-2 whose W_o gets nothing from some heads, (layer, head) from 0."""
    zeroed = deepcopy(opened.model)
    with torch.no_grad():
        for layer, head in heads:
            zeroed.transformer.h[layer].attn.c_proj.weight[head * WIDTH : (head + 1) * WIDTH] = 0
    return zeroed


def maps_of(model, ids):
    """The attention maps of all layers, (L, H, T, T)."""
    with torch.no_grad():
        return torch.cat(model(ids, output_attentions=True).attentions).numpy()


def shares_shown(page):
    """The table of the likeliest pieces: {row: the two percentages}."""
    return [tuple(map(float, row)) for row in re.findall(r"\| ([\d.]+) % \| ([\d.]+) % \|", texts(page))]


def test_the_open_head_is_switched_off_and_on_again(root):
    page = open_model(Lesson("maps", open="model"), "tiny-gpt2")
    page.send_part("map_heads", "head", [2, 3])
    press(page, "maps_switch")
    opened = open_folder(root / "tiny-gpt2")
    zeroed, ids = zeroed_gpt2(opened, (1, 3)), torch.tensor([opened.cut(TEXT).ids])
    count = ids.shape[1]
    assert page.link()["off"] == "2.4" and grid(page)[0]["now"] == [2, 3]
    assert "**Switched off in the model**: layer 2, head 4." in texts(page)
    assert weights(page, 3, 4, count, count) == pytest.approx(maps_of(zeroed, ids), abs=1e-6)
    with torch.no_grad():
        before, after = (model(ids).logits[0, -1].softmax(-1) for model in (opened.model, zeroed))
    first = before.topk(5).indices.tolist()
    numbers = first + [each for each in after.topk(5).indices.tolist() if each not in first]
    expected = [(100 * float(before[number]), 100 * float(after[number])) for number in numbers]
    assert shares_shown(page) == [pytest.approx(row, abs=0.051) for row in expected]
    habits = [head["habit"].startswith("switched off") for head in grid(page)[0]["heads"]]
    assert habits.index(True) == 7 and habits.count(True) == 1
    assert any("Switched off in the model: layer 2, head 4." in note for note in grid(page)[0]["picture"]["notes"])
    assert "All 3 layers are proven" in texts(page)
    press(page, "maps_switch")
    assert "off" not in page.link() and "Switched off" not in texts(page)
    assert weights(page, 3, 4, count, count) == pytest.approx(maps_of(opened.model, ids), abs=1e-6)


def test_the_heads_of_a_mean_are_switched_off_together_and_all_put_back(root):
    page = open_model(Lesson("maps", open="model"), "tiny-gpt2")
    reading = {"without_first": False, "times": False, "least": None, "largest": None, "mean": [1, 6]}
    page.send_part("map_heads", "maps", reading)
    press(page, "maps_switch")
    assert page.link()["off"] == "1.2,2.3"
    page.send_part("map_heads", "maps", {**reading, "mean": []})
    opened = open_folder(root / "tiny-gpt2")
    ids = torch.tensor([opened.cut(TEXT).ids])
    count = ids.shape[1]
    both = maps_of(zeroed_gpt2(opened, (0, 1), (1, 2)), ids)
    assert weights(page, 3, 4, count, count) == pytest.approx(both, abs=1e-6)
    page.choose("side", "change from all heads")
    (part,) = page.parts("map_heads")
    head, found = unpack(part.proto.bytes)
    other = torch.frombuffer(bytearray(found["other"]), dtype=torch.float32).reshape(3, 4, count, count)
    assert other.numpy() == pytest.approx(maps_of(opened.model, ids), abs=1e-6)
    moved = abs(both - other.numpy()).sum(-1).mean(-1) / 2
    assert [each["here"]["moved"] for each in head["heads"]] == pytest.approx(moved.flatten().tolist(), abs=1e-6)
    assert head["other_words"] == head["queries"] and head["other_keys"] == head["keys"]
    press(page, "maps_all_heads")
    assert "off" not in page.link()
    assert weights(page, 3, 4, count, count) == pytest.approx(maps_of(opened.model, ids), abs=1e-6)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_masked_model_is_compared_at_its_mask(lang, root):
    text = "the [MASK] didn't bark"
    page = open_model(Lesson("maps", open="model", lang=lang), "tiny-bert", text)
    press(page, "maps_switch")
    opened = open_folder(root / "tiny-bert")
    zeroed = deepcopy(opened.model)
    inputs = opened.cut(text).tensors()
    mask = inputs["input_ids"][0].tolist().index(opened.tokenizer.tokenizer.token_to_id("[MASK]"))
    with torch.no_grad():
        zeroed.bert.encoder.layer[0].attention.output.dense.weight[:, :WIDTH] = 0
        before, after = (model(**inputs).logits[0, mask].softmax(-1) for model in (opened.model, zeroed))
    expected = [[100 * float(share) for share in pair] for pair in zip(before, after, strict=True)]
    rows = re.findall(r"\| ([\d.]+) ?% \| ([\d.]+) ?% \|", texts(page))
    top = before.topk(5).indices.tolist()
    assert [list(map(float, row)) for row in rows[:5]] == [pytest.approx(expected[each], abs=0.051) for each in top]


def test_without_a_mask_it_is_said_how_far_the_vectors_moved():
    page = open_model(Lesson("maps", open="model"), "tiny-bert", "the dog")
    press(page, "maps_switch")
    assert "of their length on average" in texts(page) and "write \\[MASK\\] in the text" in texts(page)


def test_heads_of_the_link_are_off_when_the_model_is_opened_and_stay_with_another_text(root):
    page = open_model(Lesson("maps", open="model", folder="tiny-gpt2", text="a dog", off="3.1,1.2"), "tiny-gpt2")
    assert page.link()["off"] == "1.2,3.1"
    assert "layer 1, head 2; layer 3, head 1" in texts(page)
    other = open_model(Lesson("maps", open="model", folder="tiny-gpt2", off="1.2"), "tiny-t5")
    assert "off" not in other.link() and "Switched off" not in texts(other)


@pytest.mark.parametrize("off", ["4.1", "1.5"])
def test_a_head_of_the_link_that_the_model_lacks_is_refused_and_the_model_opens(off):
    page = open_model(Lesson("maps", open="model", folder="tiny-gpt2", text=TEXT, off=off), "tiny-gpt2")
    (error,) = errors(page)
    assert "there is no head" in error and "off" not in page.link()
    assert "All 3 layers are proven" in texts(page)


@pytest.mark.parametrize("off", ["0.1", "1", "1.2.3", "a.b", "1.2,,", "-1.1", "9" * 40])
def test_a_link_that_names_no_heads_is_reported(off):
    page = open_model(Lesson("maps", open="model", folder="tiny-gpt2", text=TEXT, off=off), "tiny-gpt2")
    assert "off" not in page.link() and "Switched off" not in texts(page)


def test_the_kind_of_maps_that_is_open_stays_and_names_the_heads(root):
    page = open_model(Lesson("maps", open="model"), "tiny-t5", "it was tired", "The dog")
    (kinds,) = [each for each in page.at.get("segmented_control") if each.key == "c_maps_kind"]
    page.ran(kinds.set_value(2).run)
    queries = grid(page)[0]["queries"]
    press(page, "maps_switch")
    assert grid(page)[0]["queries"] == queries
    assert "decoder to encoder (cross-attention), layer 1, head 1" in texts(page).replace("\\", "")
