"""A model is opened from a folder on the page of maps; the numbers beside ours are the model's own."""

import os
from concurrent.futures import Future

import numpy as np
import pytest
import torch

from attention_core.checkpoints.layer_proof import ProofRow
from attention_core.record.errors import AttentionError
from pages.maps.model_folder import say_proof
from pages.panels.model_wait import wait_for
from pages.session.allowed_models import list_offered, may_open_any
from pages.site.forwarding import FORWARDED, note_forwarding
from tests.maps.test_maps_page import errors, grid, texts, weights
from tests.screen.lesson import Lesson

pytestmark = pytest.mark.usefixtures("allowed_models")
FAMILIES = {"tiny-gpt2": "GPT2LMHeadModel", "tiny-t5": "T5ForConditionalGeneration"}
TEXT = "The dog didn't bark."


def widget(page: Lesson, kind: str, key: str):
    """The widget of a key."""
    return next(each for each in page.at.get(kind) if each.key == key)


def open_model(page: Lesson, folder: str, text: str = TEXT, further: str = "") -> Lesson:
    """Names a model and a text, and presses the button."""
    widget(page, "selectbox", "c_maps_folder").set_value(folder)
    widget(page, "text_area", "c_maps_text").set_value(text)
    widget(page, "text_input", "c_maps_further").set_value(further)
    button = next(each for each in page.at.button if each.proto.is_form_submitter)
    return page.ran(button.click().run)


def test_a_folder_opens_and_each_weight_is_the_model_s_own(models):
    _, model = models["tiny-gpt2"]
    page = open_model(Lesson("maps", open="model"), "tiny-gpt2")
    head, _ = grid(page)
    cut = page.at.session_state["maps_file"].recorded.inputs
    count = len(cut.shown)
    assert len(head["queries"]) == count > 4 and len(head["heads"]) == 12
    shown = weights(page, 3, 4, count, count)
    with torch.no_grad():
        own = model(cut.tensors["input_ids"], output_attentions=True).attentions
    assert shown == pytest.approx(torch.cat(own).numpy(), abs=1e-6)
    assert "All 3 layers are proven" in texts(page) and "GPT2LMHeadModel" in texts(page)
    assert page.link()["folder"] == "tiny-gpt2" and page.link()["text"] == TEXT
    assert "| ✓ | transformer.h.2.attn |" in texts(page).replace("\\", "")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_model_that_another_visitor_closed_leaves_its_maps_and_says_so(lang):
    page = open_model(Lesson("maps", open="model", lang=lang), "tiny-gpt2")
    before = weights(page, 3, 4, *grid_sizes(page))
    open_model(Lesson("maps", open="model"), "tiny-t5", "another visitor's text")
    page.ran(page.at.run)
    said = {"en": "The model **tiny-gpt2** was closed", "zh": "模型 **tiny-gpt2** 已被关闭"}
    (info,) = [each.value.replace("\\", "").replace("\u2060", "") for each in page.at.info]
    assert info.startswith(said[lang]) and not errors(page)
    assert weights(page, 3, 4, *grid_sizes(page)) == pytest.approx(before)
    assert page.at.session_state["maps_file"].recorded is None
    assert "another" not in texts(page)
    open_model(page, "tiny-gpt2")
    assert page.at.session_state["maps_file"].recorded is not None and not errors(page)


def grid_sizes(page: Lesson) -> tuple[int, int]:
    """The numbers of queries and keys in the maps."""
    head, _ = grid(page)
    return len(head["queries"]), len(head["keys"])


def test_a_link_names_model_and_text_and_opens_nothing_by_itself():
    page = Lesson("maps", open="model", folder="tiny-t5", text="a text")
    assert widget(page, "selectbox", "c_maps_folder").value == "tiny-t5"
    assert widget(page, "text_area", "c_maps_text").value == "a text"
    assert "maps_file" not in page.at.session_state


def test_an_encoder_with_a_decoder_shows_three_kinds_of_maps():
    page = open_model(Lesson("maps", open="model"), "tiny-t5", "it was tired", "The dog")
    assert "All 9 layers are proven" in texts(page)
    (kinds,) = [each for each in page.at.get("segmented_control") if each.key == "c_maps_kind"]
    assert [option.content for option in kinds.proto.options] == [
        "encoder",
        "decoder",
        "decoder to encoder (cross-attention)",
    ]
    page.ran(kinds.set_value(2).run)
    head, _ = grid(page)
    cut = page.at.session_state["maps_file"].recorded.inputs
    assert (len(head["queries"]), len(head["keys"])) == (len(cut.further_shown), len(cut.shown))
    assert cut.tensors["decoder_input_ids"].shape == (1, len(cut.further_shown))
    widget(page, "toggle", "maps.words").set_value(True).run()
    head, _ = grid(page)
    keys = [key for key in head["keys"] if not key.startswith("␣")]  # a blank may be a piece of its own
    assert head["queries"][1:] == ["The", "dog"] and keys == ["it", "was", "tired"]


def test_the_steps_of_the_open_head_are_those_of_the_recorded_layer(models):
    page = open_model(Lesson("maps", open="model,steps"), "tiny-gpt2")
    trace = page.at.session_state["maps_file"].recorded.maps.recording.traces[0]
    page.click_cell("recorded", "weights", "0,0,2,1")
    q, k = trace["q"][0, 0, 2], trace["k"][0, 0, :3]
    expected = (k @ q / 4).softmax(0)[1]
    assert f"= {expected:.2f}"[:5] in texts(page)
    assert "the weights lie within" in " ".join(each.value for each in page.at.caption)


def test_a_folder_that_is_refused_says_why_and_the_maps_before_stay(models, tmp_path, monkeypatch):
    root, _ = models["tiny-gpt2"]
    broken = root.parent / "broken"
    broken.mkdir()
    (broken / "config.json").write_text("{}")
    page = open_model(Lesson("maps", open="model"), "tiny-gpt2")
    before = grid(page)[0]["queries"]
    open_model(page, "broken")
    (error,) = errors(page)
    assert "config.json" in error.replace("\\", "")
    assert grid(page)[0]["queries"] == before
    (broken / "config.json").unlink()
    broken.rmdir()


def test_a_pair_whose_first_text_is_empty_has_no_blocks():
    page = open_model(Lesson("maps", open="model"), "tiny-gpt2", "", "it was")
    assert len(grid(page)[0]["queries"]) >= 2
    assert "Each block" not in texts(page) and "maps.block" not in {
        each.key for each in page.at.get("segmented_control")
    }


def test_a_text_that_the_model_cannot_hold_is_refused(models):
    page = open_model(Lesson("maps", open="model"), "tiny-gpt2", "it was tired " * 40)
    (error,) = errors(page)
    assert "64" in error


def test_without_allowed_folders_the_page_says_how_to_allow_them(monkeypatch):
    monkeypatch.delenv("ATTENTION_MODELS")
    page = Lesson("maps", open="model", folder="/etc")
    assert [info.value for info in page.at.info if "ATTENTION" in info.value and "localhost" in info.value]
    assert not page.at.get("text_area")


def test_without_the_package_the_page_says_what_to_install(monkeypatch):
    monkeypatch.setattr("pages.maps.model_folder.find_spec", lambda name: None)
    page = Lesson("maps", open="model", lang="zh")
    assert "requirements-models.txt" in page.at.info[0].value


def test_a_layer_beyond_its_bound_is_named_with_its_difference():
    Lesson("maps")  # whose language the sentence has
    faults = (AttentionError("weights_apart", given="0.94", limit="1.1e-06"),)
    rows = [ProofRow("layers.0", 1e-8, 1e-6, 0.0, 1e-6), ProofRow("layers.1", 0.94, 1e-6, 0.3, 1e-6, faults)]
    assert say_proof(rows).replace("\\", "") == (
        "**1 of 2 layers are proven.** layers.1: a weight is 0.94 apart, and rounding explains 1.1e-06"
    )


# ---- whose folders ---------------------------------------------------------------------------------------------------
def test_only_an_app_of_one_s_own_opens_any_folder(monkeypatch):
    monkeypatch.setattr("pages.session.allowed_models.is_local", lambda url: True)
    options = {"server.address": "127.0.0.1"}
    monkeypatch.setattr("streamlit.get_option", options.get)
    assert may_open_any()
    monkeypatch.setenv("ATTENTION_ADDRESS", "https://demo.example")
    assert not may_open_any()
    monkeypatch.delenv("ATTENTION_ADDRESS")
    options["server.address"] = "0.0.0.0"
    assert not may_open_any()
    options["server.address"] = "localhost"
    note_forwarding([b"host", b"user-agent"])
    assert may_open_any()
    note_forwarding([b"host", b"x-forwarded-for"])
    assert not may_open_any()
    FORWARDED.clear()


def test_models_of_one_name_are_offered_with_the_folder_above(tmp_path):
    for place in ("a/bert", "b/bert", "b/gpt", "b/empty"):
        (tmp_path / place).mkdir(parents=True)
        if "empty" not in place:
            (tmp_path / place / "config.json").write_text("{}")
    snapshot = tmp_path / "hub" / "models--owner--name" / "snapshots" / "abc123"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    offered = list_offered([tmp_path / name for name in ("a", "b", "missing", "hub")])
    assert list(offered) == ["a/bert", "b/bert", "gpt", "models--owner--name/abc123"]
    assert offered["gpt"] == tmp_path / "b" / "gpt"


def test_a_number_of_a_posted_folder_that_is_not_offered_opens_nothing(models):
    outside = os.fspath(models["tiny-gpt2"][0].parent.parent)
    page = Lesson("maps", open="model", folder=outside)
    assert widget(page, "selectbox", "c_maps_folder").value == "tiny-gpt2"
    assert np.prod(weights(page, 3, 4, 14, 14).shape) == 3 * 4 * 14 * 14  # the example


def test_a_visitor_who_leaves_gives_up_the_place_in_the_queue(monkeypatch):
    class LeftError(Exception):
        """What ends the script of a visitor who clicks elsewhere."""

    def leave(*given) -> None:
        raise LeftError

    monkeypatch.setattr("pages.panels.model_wait.wait", leave)
    queued = Future()
    with pytest.raises(LeftError):
        wait_for(lambda tell: queued)
    assert queued.cancelled()
