"""A model is fetched by its name in the browser: asked for, stopped, gone on with, opened, written on."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, serving
from tests.checkpoints.folders import save_folder
from tests.checkpoints.hub import run_hub
from tests.checkpoints.model_folders import make_llama, save

pytestmark = pytest.mark.slow

NAME = "someone/tiny-llama"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub with a Llama of 6 MB, which waits in the middle of its weights."""
    save_folder(tmp_path / "other", "GPT2LMHeadModel")
    folder = save(
        make_llama(vocab_size=512, hidden_size=128, intermediate_size=2048, max_position_embeddings=128),
        tmp_path / "llama",
    )
    shutil.copy(tmp_path / "other" / "tokenizer.json", folder)
    with run_hub(tmp_path, monkeypatch) as hub:
        hub.models[NAME] = folder
        hub.hold_at = 3 * 2**20
        yield hub


def test_a_model_is_fetched_stopped_gone_on_with_opened_and_written_on(screen, hub):
    with serving() as address:
        opened = screen(lesson="maps", query="?open=model,next", address=address)
        page = opened.page
        page.locator(".st-key-c_maps_folder input").fill(NAME)
        page.get_by_test_id("stFormSubmitButton").get_by_role("button").click()
        page.get_by_role("button", name="Ask 127.0.0.1 for its size").click()
        page.get_by_role("button", name="Download").click()
        expect(page.get_by_role("progressbar")).to_be_visible()
        told = page.locator(".st-key-hub").get_by_text(re.compile(r"\d of \d.* MB"))  # the button says its MB, too
        expect(told).not_to_contain_text("0.0 of")
        page.get_by_role("button", name="Stop").click()
        go_on = page.get_by_role("button", name="Download the missing")
        expect(go_on).to_be_visible()
        hub.hold_at = None
        hub.released.set()
        go_on.click()
        expect(page.get_by_text("All 2 layers are proven")).to_be_visible(timeout=2 * PATIENCE)
        ranges = hub.bytes_sent_from("model.safetensors")
        assert ranges[0] == "bytes=0-" and len(ranges) == 2 and ranges[1] != "bytes=0-"
        page.get_by_role("button", name="Write 8 more pieces").click()
        expect(page.get_by_role("button", name="Take back what was written")).to_be_visible()
        expect(page).to_have_url(re.compile("written="))
