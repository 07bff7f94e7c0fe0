"""A model is asked for by its name on the hub, on the page of maps: nothing is sent before a button is pressed."""

import json
from pathlib import Path
from time import monotonic, sleep

import pytest

from attention_core.checkpoints.hub_download import HubTask
from attention_core.checkpoints.hub_model import HubModel
from pages.maps.model_folder import read_place
from pages.runs.download_store import MAX_RUNNING, DownloadStore
from tests.checkpoints.folders import save_folder
from tests.checkpoints.hub import COMMIT, run_hub
from tests.checkpoints.model_folders import refusal, save
from tests.maps.test_maps_page import errors, grid, texts
from tests.maps.test_model_folder import open_model, widget
from tests.screen.lesson import Lesson

NAME = "someone/tiny-gpt2"
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a tiny GPT-2."""
    folder = tmp_path_factory.mktemp("hub") / "gpt2"
    save_folder(folder, "GPT2LMHeadModel")
    return folder


@pytest.fixture
def hub(folder, tmp_path, monkeypatch):
    """A hub with one model, an empty cache, and a store of its own."""
    monkeypatch.setattr("pages.maps.hub_panel.DOWNLOADS", DownloadStore())
    monkeypatch.delenv("ATTENTION_MODELS", raising=False)
    with run_hub(tmp_path, monkeypatch) as hub:
        hub.models[NAME] = folder
        yield hub


@pytest.fixture
def own(monkeypatch):
    """An app of one's own, in which any model may be opened."""
    monkeypatch.setattr("pages.maps.model_folder.may_open_any", lambda: True)


def ask_for(page: Lesson, named: str) -> Lesson:
    """Names a model and presses the button."""
    widget(page, "text_input", "c_maps_folder").set_value(named)
    return page.ran(next(each for each in page.at.button if each.proto.is_form_submitter).click().run)


def press(page: Lesson, action: str) -> Lesson:
    """Presses a button of the panel, and looks at the page again until the task has ended."""
    page.ran(widget(page, "button", f"maps_hub_{action}").click().run)
    end = monotonic() + WAIT_SECONDS
    while [each for each in page.at.button if each.key == "maps_hub_stop"] and monotonic() < end:
        sleep(0.1)
        page.ran(page.at.run)
    return page


def test_a_model_is_asked_for_fetched_and_opened(hub, own):
    page = ask_for(Lesson("maps", open="model"), NAME)
    assert "is not in the hub's cache on this machine" in texts(page) and not hub.requests
    press(page, "ask")
    assert f"commit {COMMIT[:8]}" in texts(page) and not [path for _, path, _ in hub.requests if "resolve" in path]
    press(page, "fetch")
    assert "All 3 layers are proven" in texts(page)
    assert f"{NAME}@{COMMIT[:8]}" in texts(page).replace("\\", "").replace("\u2060", "")
    assert page.link()["folder"] == NAME
    asked = len(hub.requests)
    again = ask_for(Lesson("maps", open="model", folder=NAME), NAME)
    assert "All 3 layers are proven" in texts(again) and len(hub.requests) == asked


@pytest.mark.parametrize("by", ["name", "path"])
def test_a_model_of_which_a_shard_is_missing_is_completed(hub, own, tmp_path, by):
    hub.models[NAME] = parts = tmp_path / "sharded"
    save(save_folder(parts, "GPT2LMHeadModel"), parts, max_shard_size="10KB")
    (parts / "model.safetensors").unlink(missing_ok=True)
    task = HubTask(HubModel(NAME), fetch=True)
    task.wait(WAIT_SECONDS)
    shard = sorted(task.folder.glob("model-*"))[0]
    size = shard.stat().st_size
    shard.resolve().unlink()
    hub.requests.clear()
    page = ask_for(Lesson("maps", open="model"), NAME if by == "name" else str(task.folder))
    assert not errors(page)
    assert f"lacks {shard.name}" in texts(page).replace("\\", "").replace("\u2060", "") and not hub.requests
    press(page, "ask")
    assert widget(page, "button", "maps_hub_fetch").label == f"Download the missing {size / 1e6:.1f} MB"
    press(page, "fetch")
    assert "All 3 layers are proven" in texts(page)


def test_a_link_alone_asks_for_nothing(hub, own):
    page = Lesson("maps", open="model", folder=NAME, text="a text")
    assert widget(page, "text_input", "c_maps_folder").value == NAME
    assert not hub.requests and not [each for each in page.at.button if each.key.startswith("maps_hub")]


@pytest.mark.slow
def test_what_the_hub_refuses_is_said_and_the_maps_before_stay(hub, own):
    page = Lesson("maps", open="model", lang="zh")
    before = grid(page)[0]["queries"]
    press(ask_for(page, "someone/nothing"), "ask")
    (error,) = errors(page)
    assert "someone/nothing" in error.replace("\\", "") and grid(page)[0]["queries"] == before


def test_a_visitor_of_a_public_app_fetches_what_the_administrator_allows(hub, monkeypatch):
    monkeypatch.setenv("ATTENTION_HUB_MODELS", f"{NAME} someone/other@v1.0")
    page = Lesson("maps", open="model", folder="someone/secret")
    choice = widget(page, "selectbox", "c_maps_folder")
    assert choice.options == [NAME, "someone/other@v1.0"] and choice.value == NAME
    assert "someone/secret" in page.at.warning[0].value.replace("\\", "")
    page.ran(next(each for each in page.at.button if each.proto.is_form_submitter).click().run)
    press(press(page, "ask"), "fetch")
    assert "All 3 layers are proven" in texts(page)


def test_a_name_is_a_folder_where_there_is_one(tmp_path, monkeypatch):
    (tmp_path / "owner" / "name").mkdir(parents=True)
    assert read_place("owner/name") == HubModel("owner/name")
    monkeypatch.chdir(tmp_path)
    assert read_place("owner/name").is_dir()
    for path in ("/owner/name", "./owner/name", "~/name", "name"):
        assert read_place(path) == Path(path)
    assert refusal(read_place, "a/b/c").code == "hub_name" and refusal(read_place, "").code == "nothing_named"


def test_few_models_are_fetched_at_a_time(monkeypatch):
    class Endless:
        is_running = True

        def __init__(self, model, fetch):
            self.model = model

    monkeypatch.setattr("pages.runs.download_store.HubTask", Endless)
    store = DownloadStore()
    tasks = [store.begin(f"a/{number}", True) for number in range(MAX_RUNNING)]
    assert store.begin("a/0", False) is tasks[0]
    assert refusal(store.begin, "a/more", True).code == "hub_busy"


def test_models_that_were_opened_can_be_opened_again_and_a_visitor_sees_only_allowed_ones(hub, folder, monkeypatch):
    save_folder(folder.parent / "other-gpt2", "GPT2LMHeadModel")
    monkeypatch.setenv("ATTENTION_MODELS", str(folder.parent))
    page = open_model(Lesson("maps", open="model"), "gpt2", "one text")
    assert not [each for each in page.at.button if each.key and each.key.startswith("maps_recent")]
    open_model(page, "other-gpt2", "another")
    first = grid(page)[0]["queries"]
    assert widget(page, "button", "maps_recent_0").label.replace("\\", "").replace("\u2060", "") == "other-gpt2"
    page.ran(widget(page, "button", "maps_recent_1").click().run)
    assert (page.link()["folder"], page.link()["text"]) == ("gpt2", "one text")
    assert widget(page, "selectbox", "c_maps_folder").value == "gpt2" and grid(page)[0]["queries"] != first
    (folder.parent / "other-gpt2" / "config.json").unlink()
    page.ran(page.at.run)
    assert not [each for each in page.at.button if each.key and each.key.startswith("maps_recent")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_names_that_the_browser_kept_are_offered_after_a_reload_and_can_be_forgotten(folder, monkeypatch, lang):
    monkeypatch.setenv("ATTENTION_MODELS", str(folder.parent))
    page = Lesson("maps", open="model", lang=lang)
    assert kept_models(page) == {"names": [], "begins": True} and not recent(page)
    page.send_part("kept_models", "read", ["someone/secret", "gpt2"])
    assert recent(page) == ["gpt2"]  # the other one may not be opened here
    page.ran(widget(page, "button", "maps_recent_0").click().run)
    assert (page.link()["folder"], page.at.session_state["maps_file"].recorded.wanted.text) == (
        "gpt2",
        widget(page, "text_area", "c_maps_text").value,
    )
    assert not errors(page) and kept_models(page) == {"names": ["gpt2", "someone/secret"], "begins": False}
    page.send_part("kept_models", "read", ["gpt2", "someone/secret"])
    page.ran(page.at.run)
    assert kept_models(page)["names"] == ["gpt2", "someone/secret"]
    other = Lesson("maps", open="model", lang=lang)
    assert not recent(other)
    other.send_part("kept_models", "read", ["gpt2"])
    other.ran(widget(other, "button", "maps_forget").click().run)
    assert not recent(other) and kept_models(other) == {"names": [], "begins": False}


def recent(page: Lesson) -> list[str]:
    """The models that are offered again."""
    found = [each.label for each in page.at.button if each.key and each.key.startswith("maps_recent_")]
    return [each.replace("\\", "").replace("\u2060", "") for each in found]


def kept_models(page: Lesson) -> dict:
    """What the browser is to keep."""
    (part,) = page.parts("kept_models")
    return json.loads(part.proto.json)
