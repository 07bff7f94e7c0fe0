"""On the page of maps a model says what comes next, and writes the text on; the maps are of the text so written."""

import re

import pytest
import torch

from attention_core.checkpoints import open_folder
from attention_core.checkpoints.next_pieces import Writing, write_on
from tests.checkpoints.folders import save_folder
from tests.maps.test_maps_page import grid, texts, weights
from tests.maps.test_model_folder import TEXT, open_model, widget
from tests.screen.lesson import Lesson


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a tiny GPT-2."""
    folder = tmp_path_factory.mktemp("writers") / "tiny-gpt2"
    save_folder(folder, "GPT2LMHeadModel")
    save_folder(folder.parent / "tiny-bert", "BertForMaskedLM", "word pieces")
    return folder


@pytest.fixture(autouse=True)
def allowed(folder, monkeypatch):
    """The administrator allows the folder above the models."""
    monkeypatch.setenv("ATTENTION_MODELS", str(folder.parent))


def press(page: Lesson, key: str) -> Lesson:
    """Presses a button."""
    return page.ran(widget(page, "button", key).click().run)


def test_the_maps_are_of_the_text_that_the_model_wrote_on(folder):
    page = open_model(Lesson("maps", open="model,next"), "tiny-gpt2")
    before = grid(page)[0]["queries"]
    press(page, "maps_write_8")
    opened = open_folder(folder)
    written = write_on(opened, TEXT, how=Writing(8))
    assert page.link()["written"] == ",".join(map(str, written))
    queries = grid(page)[0]["queries"]
    assert queries[: len(before)] == before and all(each.startswith("+") for each in queries[len(before) :])
    ids = torch.tensor([[*opened.cut(TEXT).ids, *written]])
    with torch.no_grad():
        own = torch.cat(opened.model(ids, output_attentions=True).attentions)
    assert weights(page, 3, 4, len(queries), len(queries)) == pytest.approx(own.numpy(), abs=1e-6)
    assert "All 3 layers are proven" in texts(page) and "**Bold**" in " ".join(each.value for each in page.at.caption)
    press(page, "maps_unwrite")
    assert grid(page)[0]["queries"] == before and "written" not in page.link()


def test_the_table_has_the_probabilities_of_the_model(folder):
    page = open_model(Lesson("maps", open="model,next", chosen="drawn", temperature="0.5"), "tiny-gpt2")
    opened = open_folder(folder)
    with torch.no_grad():
        logits = opened.model(torch.tensor([opened.cut(TEXT).ids])).logits[0, -1].double()
    rows = re.findall(r"\| ([\d.]+) % \| ([\d.]+) % \|", texts(page))
    top = logits.topk(8).indices
    expected = 100 * torch.stack([logits.softmax(-1)[top], (logits / 0.5).softmax(-1)[top]], dim=-1)
    assert [list(map(float, row)) for row in rows] == [pytest.approx(each, abs=0.051) for each in expected.tolist()]


def test_a_draw_and_its_link_give_the_same_text(folder):
    page = open_model(Lesson("maps", open="model,next", chosen="drawn", seed="7"), "tiny-gpt2")
    press(press(page, "maps_write_1"), "maps_write_1")
    written = write_on(open_folder(folder), TEXT, how=Writing(2, 7))
    assert page.link()["written"] == ",".join(map(str, written))
    queries = grid(page)[0]["queries"]
    again = Lesson("maps", **page.link())
    again.ran(next(each for each in again.at.button if each.proto.is_form_submitter).click().run)
    assert grid(again)[0]["queries"] == queries
    other = open_model(Lesson("maps", **page.link()), "tiny-gpt2", "Another text")
    assert "written" not in other.link()


@pytest.mark.parametrize("written", ["1,2,x", "-1", "1,,2", "9" * 30, "<b>"])
def test_a_link_with_other_pieces_than_numbers_is_reported(written):
    page = Lesson("maps", open="model,next", folder="tiny-gpt2", text=TEXT, written=written)
    page.ran(next(each for each in page.at.button if each.proto.is_form_submitter).click().run)
    assert not [each for each in grid(page)[0]["queries"] if each.startswith("+")]


def test_a_piece_that_the_model_has_not_is_refused():
    page = Lesson("maps", open="model", folder="tiny-gpt2", text=TEXT, written="999999999")
    page.ran(next(each for each in page.at.button if each.proto.is_form_submitter).click().run)
    assert "999" in page.at.error[0].value


def test_a_model_that_predicts_no_next_piece_offers_nothing():
    page = open_model(Lesson("maps", open="model,next"), "tiny-bert")
    assert "layers are proven" in texts(page)
    assert not [each for each in page.at.button if each.key and each.key.startswith("maps_write")]
