"""A whole foreign model on the workbench: its layers, its panels, and what is said where something is missing."""

import json

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from attention_core.learned.language.circuits import head_compositions, word_circuit
from pages.runs.cache import trace_for
from pages.runs.checkpoint_store import STORE
from pages.runs.model_store import MODELS
from pages.setup.codec import setup_to_link
from pages.setup.setup import Setup
from tests.maps.test_maps_page import errors
from tests.maps.test_model_folder import open_model
from tests.screen.driver import Screen
from tests.screen.lesson import Lesson

pytestmark = pytest.mark.usefixtures("allowed_models")
FAMILIES = {
    "llama": "LlamaForCausalLM",
    "gpt2": "GPT2LMHeadModel",
    "bert": "BertForMaskedLM",
    "deberta": "DebertaV2ForMaskedLM",
}
TEXT = "The dog didn't bark."
AT, LAYER, HEAD = 3, 2, 1


def opened(folder: str) -> tuple[Setup, dict[str, torch.Tensor]]:
    """The Setup that the button opens for the first layer, and what the model read."""
    page = open_model(Lesson("maps", open="model"), folder, TEXT)
    page.press("open_layer")
    return page.at.session_state["setup"], page.at.session_state["maps_file"].recorded.inputs.tensors


def shown(setup: Setup, **link: str) -> Screen:
    """The workbench at another word, in another layer or panel."""
    return Screen(**{**setup_to_link(setup), "t": str(AT), **link})


def told(screen: Screen) -> str:
    """All captions."""
    return " ".join(caption.value for caption in screen.at.caption)


def own_logits(model: PreTrainedModel, given: dict[str, torch.Tensor]) -> torch.Tensor:
    """The model's own logits at the word, in float64."""
    with torch.no_grad():
        return model(**given).logits[0, AT].double()


@pytest.mark.parametrize("folder", ["llama", "gpt2"])
def test_every_panel_shows_the_numbers_of_the_model(models, folder: str):
    setup, given = opened(folder)
    model, count = models[folder][1], given["input_ids"].shape[1]
    logits = own_logits(model, given)
    word = int(logits.argmax())

    screen = shown(setup)
    assert "The whole model" in told(screen) and "is not here" not in told(screen)
    data, _ = screen.packed("block")
    pushes = [row["push"] for row in data["rows"] if row["kind"] == "part"]
    assert sum(pushes) == pytest.approx(float(logits[word]), abs=1e-5)
    (total,) = (row for row in data["rows"] if row["kind"] == "sum")
    assert total["push"] == pytest.approx(float(logits[word]), abs=1e-5)
    (first,) = (each for each in data["words"] if each["chosen"])
    assert first["number"] == word
    assert first["share"] == pytest.approx(float(logits.softmax(-1)[word]), abs=1e-6)

    data, _ = shown(setup, panel="words").packed("words")
    likeliest = [(row["number"], row["share"]) for row in data["words"]]
    assert [number for number, _ in likeliest] == logits.topk(len(likeliest)).indices.tolist()
    assert [share for _, share in likeliest] == pytest.approx(logits.softmax(-1)[[n for n, _ in likeliest]].tolist())
    assert data["cache"] is None and data["text"]["buttons"] == {}

    data, bytes_of = shown(setup, panel="heads").packed("model_heads")
    maps = np.frombuffer(bytes_of["weights"], np.float32).reshape(-1, count, count)
    with torch.no_grad():
        own = torch.cat(model(**given, output_attentions=True).attentions)
    assert maps == pytest.approx(own.flatten(0, 1).numpy(), abs=3e-6)
    assert {name for head in data["heads"] for name in head["held"]} == set()


@pytest.mark.parametrize("folder, maps", [("llama", 2), ("bert", 1)])
def test_the_circuits_of_a_head_are_on_the_pieces_of_the_text(models, folder: str, maps: int):
    setup, _ = opened(folder)
    screen = shown(setup, panel="circuits", layer="2", head="1")
    (part,) = screen.parts("circuits")
    data = json.loads(part.proto.json)
    model = MODELS.find(setup.run.recorded).model
    assert tuple(data["words"]) == tuple(dict.fromkeys(model.words))[:12] and data["at"] == AT
    trace = word_circuit(model.name, tuple(data["words"]), 2)["2.circuit"]
    assert [each["step"] for each in data["maps"]] == [*["scaled_scores", "writes"][:maps], "composition"]
    for each in data["maps"][:-1]:
        assert each["numbers"] == trace[each["step"]][0, HEAD].tolist()
    composed = head_compositions(model.name, 2, HEAD)
    expected = [composed[f"2.composition_{read}"]["composition"].tolist() for read in "qkv"]
    assert data["maps"][-1]["numbers"] == expected and len(expected[0]) == 4
    (lines,) = [each.value for each in screen.at.markdown if "of these words" in each.value]
    assert ("RoPE turns" in lines) == (folder == "llama") and "Composition scores, from the matrices alone" in lines
    missing = {"llama": "How far the head copies words is not measured", "bert": "Which logits the head would change"}
    assert missing[folder] in lines and "enters layer 1 where it first stands" in told(screen)
    screen.click_part("circuits", "opened", {"part": "2.circuit", "step": "scaled_scores", "index": [0, 1, 2, 2]})
    assert screen.parts("block_sum")


@pytest.mark.parametrize("folder", ["llama", "gpt2"])
def test_a_head_that_is_switched_off_is_off_in_the_model(models, folder: str):
    setup, given = opened(folder)
    model = models[folder][1]
    before = own_logits(model, given).softmax(-1)
    output = model.model.layers[1].self_attn.o_proj if folder == "llama" else model.transformer.h[1].attn.c_proj
    rows = slice(16 * HEAD, 16 * (HEAD + 1))
    part = (slice(None), rows) if folder == "llama" else (rows, slice(None))  # Linear and Conv1D lie across
    kept = output.weight[part].clone()
    with torch.no_grad():
        output.weight[part] = 0
        try:
            after = own_logits(model, given).softmax(-1)
        finally:
            output.weight[part] = kept
    data, _ = shown(setup, panel="what_if", changes=f"{LAYER}.{HEAD}:off").packed("what_if")
    (outcome,) = data["outcomes"]
    words = {row["cell"]["index"][-1]: row for row in outcome["rows"]}
    assert words
    for number, row in words.items():
        assert row["before"] == pytest.approx(float(before[number]), abs=1e-6)
        assert row["after"] == pytest.approx(float(after[number]), abs=1e-6)
    assert (before - after).abs().max() > 0.001
    assert "other" not in {kind for tile in data["tiles"] for kind in tile["kinds"]}


def test_of_a_large_model_the_parts_of_the_shown_layer_are_switched_off_one_at_a_time(models, monkeypatch):
    setup, _ = opened("llama")
    (outcome,) = shown(setup, panel="what_if").packed("what_if")[0]["outcomes"]
    assert len(outcome["alone"]) == 3 * 5
    monkeypatch.setattr("pages.panels.model.what_if.MOST_ALONE", 14)
    screen = shown(setup, panel="what_if").set("layer", 2)
    (some,) = screen.packed("what_if")[0]["outcomes"]
    assert "layer 2" in some["alone_title"]
    assert some["alone"] == [each for each in outcome["alone"] if each["part"].startswith("2.")]


def test_heads_that_are_off_on_the_page_of_maps_are_off_in_what_if(models):
    page = open_model(Lesson("maps", open="model"), "gpt2", TEXT)
    page.press("maps_switch")
    page.press("open_layer")
    setup = page.at.session_state["setup"]
    assert (setup.view.panel, setup.view.changes, setup.run.layer) == ("what_if", ("1.0:off",), 1)
    given = page.at.session_state["maps_file"].recorded
    off = given.maps.recording.logits[0, AT].double().softmax(-1)
    (outcome,) = shown(setup).packed("what_if")[0]["outcomes"]
    for row in outcome["rows"]:
        assert row["after"] == pytest.approx(float(off[row["cell"]["index"][-1]]), abs=1e-6)


def test_another_layer_shows_its_own_weights_and_settings(models):
    setup, given = opened("gpt2")
    screen = shown(setup)
    with torch.no_grad():
        own = models["gpt2"][1](**given, output_attentions=True).attentions
    for layer in (3, 2):
        screen.set("layer", layer)
        assert screen.setup().run.layer == layer
        assert float((trace_for(screen.setup())["weights"] - own[layer - 1]).abs().max()) < 3e-6


def test_a_model_whose_head_bends_the_vectors_shows_its_heads_and_names_what_is_missing(models):
    setup, given = opened("bert")
    screen = shown(setup, panel="heads")
    assert screen.packed("model_heads")
    for name, is_here in (("Its parts", True), ("Next word", False), ("What if", True), ("Words alone", True)):
        assert (f"*{name}* is not here" in told(screen)) is not is_here
    with torch.no_grad():
        own = models["bert"][1](**given, output_attentions=True).attentions[0]
    assert float((trace_for(screen.setup())["weights"] - own).abs().max()) < 3e-6


def test_without_logits_the_parts_add_up_to_the_vector_and_the_recorded_words_are_the_model_s(models):
    setup, given = opened("bert")
    model = models["bert"][1]
    with torch.no_grad():
        own = model(**given, output_hidden_states=True)
    data, bytes_of = shown(setup, panel="sum").packed("block")
    numbers = np.frombuffer(bytes_of["numbers"], np.float32)
    parts = [row for row in data["rows"] if row["kind"] == "part"]
    vectors = np.stack([numbers[row["first"] :][: row["count"]] for row in parts])
    assert len(parts) > 3 * 5
    assert vectors.sum(0) == pytest.approx(own.hidden_states[-1][0, AT].numpy(), abs=1e-5)
    assert [row["push"] for row in parts] == pytest.approx(np.sqrt((vectors**2).sum(-1)).tolist(), rel=1e-5)
    shares, words = own.logits[0, AT].double().softmax(-1).topk(8)
    assert [word["share"] for word in data["words"]] == pytest.approx(shares.tolist(), abs=1e-6)
    assert [word["word"] for word in data["words"]] == [STORE.opened.tokenizer.show(n) for n in words.tolist()]


def test_without_logits_what_if_says_how_far_the_vectors_move(models):
    setup, given = opened("bert")
    model, rows = models["bert"][1], slice(16 * HEAD, 16 * (HEAD + 1))

    def last() -> torch.Tensor:
        with torch.no_grad():
            return model.bert(**given).last_hidden_state[0].double()

    before, weight = last(), model.bert.encoder.layer[LAYER - 1].attention.output.dense.weight
    kept = weight[:, rows].clone()
    with torch.no_grad():
        weight[:, rows] = 0
        try:
            after = last()
        finally:
            weight[:, rows] = kept
    own = ((after - before).norm(dim=-1) / before.norm(dim=-1)).tolist()
    data, _ = shown(setup, panel="what_if", changes=f"{LAYER}.{HEAD}:off").packed("what_if")
    (outcome,) = data["outcomes"]
    assert data["path"] is None
    assert [row["after"] for row in outcome["rows"]] == pytest.approx(sorted(own, reverse=True)[:8], abs=1e-5)
    alone = {(each["part"], each["head"]): each["share"] for each in outcome["alone"]}
    assert alone[f"{LAYER}.attention", HEAD] == pytest.approx(own[AT], abs=1e-5)


def test_a_layer_whose_model_is_not_whole_opens_alone_and_says_why(models):
    setup, _ = opened("deberta")
    assert setup.run.layer is None
    screen = shown(setup)
    assert "Only this layer of the model is here: " in told(screen)


def test_a_model_that_is_too_large_opens_its_layer_alone(models, monkeypatch):
    monkeypatch.setattr("pages.runs.model_store.MAX_MODEL_BYTES", 2**19)
    setup, _ = opened("llama")
    assert setup.run.layer is None
    assert "the whole model must take at most 0 MB" in told(shown(setup))


def test_a_part_that_does_not_end_as_in_the_model_keeps_the_model_out(models, monkeypatch):
    monkeypatch.setattr("attention_core.checkpoints.whole_run.PART_BOUND", 1e-9)
    setup, _ = opened("llama")
    assert "rounding explains" in told(shown(setup)) and setup.run.layer is None


def test_a_link_to_a_model_that_is_gone_says_so_once(models):
    setup, _ = opened("llama")
    link = setup_to_link(setup)
    kept = MODELS.kept.pop(setup.run.recorded)
    try:
        page = Lesson("", **link)
        assert len([error for error in [*page.at.error, *page.at.warning] if "no longer kept" in error.value]) == 1
    finally:
        MODELS.keep(kept)


def test_the_panels_are_said_in_chinese_too(models):
    setup, _ = opened("llama")
    for panel in ("sum", "heads", "words", "what_if", "circuits"):
        screen = shown(setup, panel=panel, lang="zh")
        assert "整个模型" in told(screen) and not screen.at.error


def test_the_door_keeps_no_model_that_the_workbench_cannot_show(models, monkeypatch):
    monkeypatch.setattr("pages.setup.resolve.MAX_RECORDED_HEADS", 3)
    page = open_model(Lesson("maps", open="model"), "llama", TEXT)
    MODELS.kept.clear()
    page.press("open_layer")
    assert errors(page) == ["heads must be at most 3: got 4"]
    assert not MODELS.kept
    assert STORE.waiting == 0
