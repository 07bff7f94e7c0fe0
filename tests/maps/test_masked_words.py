"""A masked model on the workbench says what belongs behind its mask: its own words, beside a plain run of the model."""

import re
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel

from attention_core import AttentionError
from attention_core.checkpoints import open_folder
from attention_core.checkpoints.stock_folder import save_folder as save_own
from attention_core.checkpoints.text_inputs import make_inputs
from attention_core.learned.language.shipped import load_model
from attention_core.transformer.stack import UNEMBEDDING
from pages.panels import model_wait
from pages.setup.codec import setup_to_link
from tests.checkpoints.folders import save_folder
from tests.checkpoints.tiny_models import make_model
from tests.maps.test_maps_page import grid, texts
from tests.maps.test_model_folder import open_model
from tests.maps.test_other_texts import until_read
from tests.maps.test_whole_models import told
from tests.screen.driver import Screen
from tests.screen.lesson import Lesson

TEXT, AT = "the dog barked at the cat .", 3


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A folder with a tiny BERT, an encoder of the app, a BERT without a head, and one without a mask."""
    root = tmp_path_factory.mktemp("masked")
    bert = save_folder(root / "bert", "BertForMaskedLM", "word pieces")
    save_own(load_model("en_foretold_encoder"), "en", root / "own")
    save_folder(root / "plain", "BertForMaskedLM", "word pieces")
    make_model("BertModel", bert.config).save_pretrained(root / "plain")
    save_folder(root / "unmasked", "BertForMaskedLM")
    return root


@pytest.fixture(autouse=True)
def allowed(root, monkeypatch):
    """The administrator allows the folder above the models."""
    monkeypatch.setenv("ATTENTION_MODELS", str(root))


def opened(folder: str) -> Screen:
    """The workbench with the panel of the next word."""
    page = open_model(Lesson("maps", open="model"), folder, TEXT)
    page.press("open_layer")
    return Screen(**{**setup_to_link(page.at.session_state["setup"]), "t": str(AT), "panel": "words"})


def own_shares(model: PreTrainedModel, ids: tuple[int, ...], at: int) -> torch.Tensor:
    """The probabilities of a plain run of the model at a piece."""
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0, at].double().softmax(-1)


@pytest.mark.parametrize("folder, mask", [("bert", "[MASK]"), ("own", "<mask>")])
def test_a_click_puts_the_mask_there_and_the_words_are_those_of_the_model(root, folder: str, mask: str):
    screen = opened(folder)
    opened_model = open_folder(root / folder)
    ids = opened_model.cut(TEXT).ids
    hidden = (*ids[:AT], opened_model.tokenizer.tokenizer.token_to_id(mask), *ids[AT + 1 :])
    for read, is_masked in ((ids, False), (hidden, True), (ids, False)):
        shares = own_shares(opened_model.model, read, AT)
        data, _ = screen.packed("words")
        likeliest = {row["number"]: row["share"] for row in data["words"]}
        expected, numbers = shares.topk(len(likeliest))
        assert [*likeliest.values()] == pytest.approx(expected.tolist(), abs=1e-6)
        assert sum(number in likeliest for number in numbers.tolist()) >= len(likeliest) - 1  # equal ones may change
        assert [row["word"] for row in data["words"]] == [opened_model.tokenizer.show(n) for n in likeliest]
        assert [tile["kind"] == "blank" for tile in data["tiles"]] == [is_masked and n == AT for n in range(len(ids))]
        assert screen.setup().view.token == AT
        cell = [0, AT, data["words"][0]["number"]]
        screen.click_part("words", "opened", {"part": UNEMBEDDING, "step": "probabilities", "index": cell})
        assert screen.parts("block_sum") and not screen.at.error
        event = ("done", "show") if is_masked else ("place", AT)
        until_read(screen.click_part("words", *event))


def find_choice(page: Lesson):
    """The box in which the hidden piece is chosen."""
    return next(each for each in page.at.selectbox if each.key.startswith("maps_masked"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_of_maps_hides_a_piece_and_says_what_belongs_there(root, lang: str):
    page = open_model(Lesson("maps", open="model,next", lang=lang), "bert", TEXT)
    said = {"en": "the model then says what belongs there", "zh": "模型会说出那里应该是什么"}
    assert said[lang] in " ".join(each.value for each in page.at.caption)
    choice = find_choice(page)
    choice.set_value(AT)
    page.press("maps_hide")
    assert page.link()["masked"] == str(AT)
    opened_model = open_folder(root / "bert")
    ids = opened_model.cut(TEXT).ids
    mask = opened_model.tokenizer.tokenizer.token_to_id("[MASK]")
    shares = own_shares(opened_model.model, (*ids[:AT], mask, *ids[AT + 1 :]), AT)
    rows = re.findall(r"\| ([\d.]+) ?% \|", texts(page))
    assert list(map(float, rows)) == pytest.approx((100 * shares.topk(8).values).tolist(), abs=0.051)
    assert grid(page)[0]["queries"][AT] == "[MASK]"
    assert find_choice(page).value == AT and find_choice(page).key != choice.key  # a kept box would show the word still
    again = Lesson("maps", **page.link())
    again.ran(next(each for each in again.at.button if each.proto.is_form_submitter).click().run)
    assert grid(again)[0]["queries"][AT] == "[MASK]"
    page.press("maps_unhide")
    assert grid(page)[0]["queries"][AT] != "[MASK]" and "masked" not in page.link()


def test_a_hidden_piece_in_a_link_that_the_text_has_not_is_told_and_the_model_opens(monkeypatch):
    monkeypatch.setattr(model_wait, "WAIT_SECONDS", 0)  # so that both attempts of the one run show their bar
    page = Lesson("maps", open="model", folder="bert", text=TEXT, masked="99")
    page.ran(next(each for each in page.at.button if each.proto.is_form_submitter).click().run)
    assert "layers are proven" in texts(page) and "[MASK]" not in grid(page)[0]["queries"]
    assert "at most" in " ".join(each.value for each in (*page.at.error, *page.at.warning))


def test_another_mask_replaces_the_first_and_another_text_has_none(root):
    screen = opened("bert")
    for place in (AT, 1):
        until_read(screen.click_part("words", "place", place))
    assert [tile["kind"] for tile in screen.packed("words")[0]["tiles"]].count("blank") == 1
    assert screen.packed("words")[0]["tiles"][1]["kind"] == "blank"
    until_read(screen.set("recorded_text", "the dog"))
    assert "blank" not in [tile["kind"] for tile in screen.packed("words")[0]["tiles"]] and not screen.at.error


@pytest.mark.parametrize("folder, why", [("plain", "needs logits of words"), ("unmasked", "fills no mask")])
def test_a_model_without_logits_or_without_a_mask_says_what_is_missing(folder: str, why: str):
    screen = opened(folder)
    assert not screen.parts("words") and "*Next word* is not here: " in told(screen) and why in told(screen)


def test_a_mask_that_is_not_there_or_beyond_the_text_is_refused(root):
    with pytest.raises(AttentionError, match=r"\[MASK\] or <mask>"):
        make_inputs(open_folder(root / "unmasked"), TEXT, masked=1)
    with pytest.raises(AttentionError, match="at most"):
        make_inputs(open_folder(root / "bert"), "the dog", masked=50)
