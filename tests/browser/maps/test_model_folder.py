"""A model's folder is opened in the browser, as somebody would: from the first screen, by its path, on a text."""

import re

import pytest
import torch
from playwright.sync_api import expect

from attention_core.checkpoints import open_folder
from tests.browser.conftest import PATIENCE
from tests.checkpoints.folders import save_folder

pytestmark = pytest.mark.slow

TEXT = "it was tired."


def open_folder_by_path(opened, folder, text):
    page = opened.page
    page.locator(".st-key-c_maps_folder input").fill(str(folder))
    page.locator(".st-key-c_maps_text textarea").fill(text)
    page.get_by_test_id("stFormSubmitButton").get_by_role("button").click()


@pytest.mark.parametrize(
    "family, tokenizer, layers",
    [
        ("BertForMaskedLM", "word pieces", 3),
        ("Qwen3ForCausalLM", "byte fallback", 3),
        ("T5ForConditionalGeneration", "unigram", 9),
    ],
)
def test_a_folder_opens_with_its_proof_and_a_number_with_its_arithmetic(screen, tmp_path, family, tokenizer, layers):
    save_folder(tmp_path / "mine", family, tokenizer)
    opened = screen(lesson="maps", query="?open=model,steps")
    open_folder_by_path(opened, tmp_path / "mine", TEXT)
    expect(opened.page.get_by_text(f"All {layers} layers are proven")).to_be_visible(timeout=2 * PATIENCE)
    expect(opened.page.locator(".heads .card")).to_have_count(12)
    opened.page.get_by_role("button", name="The proof of each layer").click()
    expect(opened.page.locator("table tbody tr")).to_have_count(layers)


def test_a_layer_opens_in_the_workbench_with_the_weights_of_the_model(screen, tmp_path):
    model = save_folder(tmp_path / "mine", "Qwen3ForCausalLM", "word pieces")
    opened = screen(lesson="maps", query="?open=model")
    page = opened.page
    open_folder_by_path(opened, tmp_path / "mine", TEXT)
    page.locator(".st-key-open_layer").get_by_role("button").and_(page.locator(":visible")).click(timeout=2 * PATIENCE)
    page.wait_for_url(re.compile("recorded=[0-9a-f]{16}"))
    headline = page.locator(".flow .headline")
    expect(headline).to_have_text(re.compile(r"^.+ attends to .+, \d+ %$"))
    query, key, share = re.fullmatch("(.+) attends to (.+), (.+) %", headline.inner_text()).groups()
    pieces = open_folder(tmp_path / "mine").cut(TEXT)
    with torch.no_grad():
        weights = model(**pieces.tensors(), output_attentions=True).attentions[0][0, 0]
    row = pieces.shown.index(query)
    assert (pieces.shown[weights[row].argmax()], f"{100 * weights[row].max():.0f}") == (key, share)
    expect(page.get_by_text("model.layers.0.self_attn")).to_be_visible()


def test_the_first_screen_leads_to_one_s_own_model(screen):
    opened = screen("?ex=model_en")
    opened.page.get_by_role("button", name="Open a model of your own").click()
    expect(opened.page.locator(".st-key-c_maps_folder")).to_be_in_viewport()


def test_a_folder_that_is_none_is_refused_at_the_form(screen, tmp_path):
    opened = screen(lesson="maps", query="?open=model")
    open_folder_by_path(opened, tmp_path / "nothing", TEXT)
    expect(opened.page.get_by_role("alert")).to_contain_text("must be a folder on this machine")
    expect(opened.page.locator(".heads .card")).to_have_count(12)  # the example stays
