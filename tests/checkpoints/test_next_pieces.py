"""A text written on with a model's own pieces: as transformers' generate does it, as a loop by hand does it."""

import math

import pytest
import torch
from torch import Generator

from attention_core.checkpoints import open_folder, record
from attention_core.checkpoints.next_pieces import Writing, list_candidates, next_shares, write_on, writes_on
from attention_core.checkpoints.text_inputs import make_inputs
from attention_core.record.errors import AttentionError
from tests.checkpoints.folders import save_folder
from tests.checkpoints.model_folders import refusal

TEXT = "The dog didn't"
FAMILIES = {
    "GPT2LMHeadModel": "byte pairs",
    "Qwen3ForCausalLM": "byte fallback",
    "T5ForConditionalGeneration": "unigram",
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """{family: a tiny model, opened from its folder}."""
    root = tmp_path_factory.mktemp("writers")
    for name, tokenizer in FAMILIES.items():
        save_folder(root / name, name, tokenizer)
    return {name: open_folder(root / name) for name in FAMILIES}


def end_never(opened, monkeypatch) -> None:
    """No piece ends a text."""
    monkeypatch.setattr(opened.model.config, "eos_token_id", None)
    monkeypatch.setattr(opened.model.generation_config, "eos_token_id", None)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("ends", [True, False])
def test_the_likeliest_pieces_are_those_of_generate(models, family, ends, monkeypatch):
    opened = models[family]
    if not ends:
        end_never(opened, monkeypatch)
    inputs = make_inputs(opened, TEXT).tensors
    begun = inputs.get("decoder_input_ids", inputs["input_ids"]).shape[1]
    starts = {"decoder_start_token_id": 0} if opened.model.config.is_encoder_decoder else {}
    with torch.no_grad():
        told = opened.model.generate(**inputs, **starts, do_sample=False, max_new_tokens=12, pad_token_id=0)[0, begun:]
    written = write_on(opened, TEXT, how=Writing(12))
    assert written == tuple(told.tolist())
    assert len(written) == 12 or ends


@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_are_the_softmax_of_the_model_s_logits(models, family):
    opened = models[family]
    recording = record(opened.model, **make_inputs(opened, TEXT).tensors)
    logits = recording.logits[0, -1].tolist()
    total = math.fsum(math.exp(logit - max(logits)) for logit in logits)
    expected = [math.exp(logit - max(logits)) / total for logit in logits]
    assert next_shares(recording.logits).tolist() == pytest.approx(expected, rel=1e-9)
    order = sorted(range(len(expected)), key=lambda number: -expected[number])
    found = list_candidates(opened, recording.logits, 5)
    assert [each.number for each in found] == order[:5]
    assert [each.share for each in found] == pytest.approx([expected[number] for number in order[:5]])
    assert [each.shown for each in found] == [opened.tokenizer.show(number) for number in order[:5]]


def test_logits_without_a_softmax_are_refused(models):
    opened = models["GPT2LMHeadModel"]
    logits = torch.zeros(1, 3, 257)
    logits[0, 2, 5] = -math.inf  # may be a mask
    assert next_shares(logits)[5] == 0
    for place, bad in ((5, math.nan), (7, math.inf)):
        spoilt = logits.clone()
        spoilt[0, 2, 5], spoilt[0, 2, place] = 0, bad
        error = refusal(list_candidates, opened, spoilt, 3)
        assert (error.code, error.values["name"], error.values["index"]) == ("not_finite", "logits", (place,))
    assert refusal(next_shares, torch.full((1, 1, 4), -math.inf)).code == "not_finite"


def draw_by_hand(opened, text: str, seed: int, temperature: float, count: int) -> tuple[int, ...]:
    """The pieces that are drawn: the first, from the likeliest on, at which the sum of probabilities is above u."""
    ids, written = make_inputs(opened, text).tensors["input_ids"][0].tolist(), []
    for u in torch.rand(count, generator=Generator().manual_seed(seed), dtype=torch.float64).tolist():
        with torch.no_grad():
            logits = [each / temperature for each in opened.model(torch.tensor([ids + written])).logits[0, -1].tolist()]
        shares = [math.exp(logit - max(logits)) for logit in logits]
        left = u * math.fsum(shares)
        for number in sorted(range(len(shares)), key=lambda number: -shares[number]):
            left -= shares[number]
            if left < 0:
                written.append(number)
                break
    return tuple(written)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_a_seed_draws_the_same_pieces_as_by_hand_at_once_or_one_by_one(models, temperature, monkeypatch):
    opened = models["Qwen3ForCausalLM"]
    end_never(opened, monkeypatch)
    at_once = write_on(opened, TEXT, how=Writing(8, 3, temperature))
    assert at_once == draw_by_hand(opened, TEXT, 3, temperature, 8)
    one_by_one = ()
    for _ in range(8):
        one_by_one = write_on(opened, TEXT, written=one_by_one, how=Writing(1, 3, temperature))
    assert one_by_one == at_once
    assert write_on(opened, TEXT, how=Writing(8, 4, temperature)) != at_once


@pytest.mark.parametrize("family", FAMILIES)
def test_the_model_reads_the_pieces_that_it_wrote_and_no_others(models, family, monkeypatch):
    opened = models[family]
    end_never(opened, monkeypatch)
    written = write_on(opened, TEXT, how=Writing(10, 5, 2.0))
    inputs = make_inputs(opened, TEXT, written=written)
    given = inputs.tensors.get("decoder_input_ids", inputs.tensors["input_ids"])[0].tolist()
    assert tuple(given[-10:]) == written
    pieces = inputs.pieces if inputs.begun is None else inputs.begun
    assert [shown.startswith("+") for shown in pieces.shown[-11:]] == [False] * (len(pieces.shown) > 10) + [True] * 10
    text = pieces.texts[0]
    assert text.startswith("" if inputs.begun else TEXT) and opened.tokenizer.spell(written).strip() in text
    for before, piece in zip(pieces.pieces, pieces.pieces[1:], strict=False):
        assert before.is_empty or piece.is_empty or before.span[0] <= piece.span[0] <= piece.span[1] <= len(text)
    words = pieces.words
    assert sorted(place for places in words.places for place in places) == list(range(len(pieces.pieces)))


def test_bytes_of_one_character_stand_at_it(models):
    opened = models["GPT2LMHeadModel"]
    ids = opened.cut("é小").ids
    pieces = opened.cut("a", written=ids)
    assert pieces.texts[0] == "aé小"
    assert pieces.ids == (*opened.cut("a").ids, *ids)
    if len(ids) > 2:
        assert any("/" in shown for shown in pieces.shown)
    assert "".join(dict.fromkeys(shown.lstrip("+…").split(" ")[0] for shown in pieces.shown)) == "aé小"


def test_a_model_stops_at_its_end_and_at_its_length(models, monkeypatch):
    opened = models["GPT2LMHeadModel"]
    end_never(opened, monkeypatch)
    first, second, *_ = write_on(opened, TEXT, how=Writing(4))
    number = opened.cut(TEXT).ids
    most = opened.most_pieces
    full = write_on(opened, TEXT, how=Writing(most))
    assert len(number) + len(full) == most
    error = refusal(write_on, opened, TEXT, "", full)
    assert (error.code, error.values["limit"], error.values["given"]) == ("too_many_pieces", most, most + 1)
    monkeypatch.setattr(opened.model.config, "eos_token_id", [second])
    stopped = write_on(opened, TEXT, how=Writing(8))
    assert stopped == ((first, second) if first != second else (first,))


@pytest.mark.parametrize(
    "how, code",
    [(Writing(0), "positive_integer"), (Writing(1, 1, 0.0), "positive_number"), (Writing(1, -1), "not_negative")],
)
def test_what_cannot_be_is_refused(models, how, code):
    assert refusal(write_on, models["GPT2LMHeadModel"], TEXT, how=how).code == code


@pytest.mark.parametrize("number", [10**6, 96_000_000])
def test_a_piece_that_the_model_has_not_is_refused(models, number):
    with pytest.raises(AttentionError, match="one of the"):
        make_inputs(models["GPT2LMHeadModel"], TEXT, written=(number,))


def test_which_models_write(models, tmp_path):
    assert all(writes_on(opened) for opened in models.values())
    save_folder(tmp_path / "bert", "BertForMaskedLM", "word pieces")
    assert not writes_on(open_folder(tmp_path / "bert"))
