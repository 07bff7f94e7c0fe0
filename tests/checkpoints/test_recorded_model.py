"""A recorded whole model as a ReadModel: runs, words, sums and switched heads are the model's own; its memory ends."""

import gc
from dataclasses import replace

import pytest
import torch

from attention_core import AttentionError
from attention_core.analysis.interventions import Intervention
from attention_core.checkpoints import record
from attention_core.checkpoints.recorded_model import RecordedModel
from attention_core.checkpoints.recording import Recording
from attention_core.learned.language.read_model import RECORDED, find_model
from attention_core.learned.language.reading import run_linked, run_model
from attention_core.learned.language.readout import answer_questions, likeliest_words, sum_model
from attention_core.learned.language.what_if import (
    Changes,
    find_path,
    list_outcomes,
    path_rows,
    run_changed,
    share_with_each_off,
)
from attention_core.verification.proof import prove_stack
from tests.checkpoints.families import FAMILIES

APART = 2e-6  # of float32 logits of a few units
WORD = 11
PIECES = (5, 17, 11, 29, 5, 43, 71)


def read(name: str) -> tuple[Recording, RecordedModel]:
    """A family's recording of one text, and its whole model."""
    (family,) = (each for each in FAMILIES if each.name == name)
    recording = record(family.make(), input_ids=torch.tensor([PIECES]))
    words = tuple(f"piece {number}" for number in range(recording.calls[0].sizes[2]))
    return recording, RecordedModel(recording.whole(), name, words, str)


@pytest.fixture(params=["LlamaForCausalLM", "GPT2LMHeadModel", "EuroBertForMaskedLM"])
def pair(request) -> tuple[Recording, RecordedModel]:
    return read(request.param)


def logits_apart(stack, recording: Recording) -> float:
    """How far the logits of a run are from the model's own."""
    return float((stack["unembedding"]["logits"] - recording.logits).abs().max() / recording.logits.abs().max())


def test_both_runs_give_the_logits_of_the_model(pair):
    recording, model = pair
    assert logits_apart(run_model(model.name, model.words), recording) < APART
    assert logits_apart(run_linked(model.name, model.words), recording) < APART
    assert prove_stack(run_linked(model.name, model.words)).passed
    assert model.causal == (model.title != "EuroBertForMaskedLM")


def test_the_parts_add_up_to_the_logit_of_the_word_alone(pair):
    recording, model = pair
    pushes = sum_model(model.name, model.words, (WORD,))["logit_sum"]["pushes"]
    assert pushes.shape[-1] == 1
    assert (pushes.sum(0)[..., 0] - recording.logits[..., WORD]).abs().max() < APART * recording.logits.abs().max()
    assert "logit_sum" not in sum_model(model.name, model.words, ()).parts


def test_a_head_that_is_switched_off_is_off_in_the_model(pair):
    recording, model = pair
    changes = Changes((Intervention("2.attention", 1),))
    assert logits_apart(run_changed(model.name, model.words, changes), recording.without([(1, 1)])) < APART
    assert logits_apart(run_changed(model.name, model.words, changes), recording) > 100 * APART


def test_what_each_head_carries_of_each_word_adds_up_to_its_push(pair):
    _, model = pair
    at = len(model.words) - 2
    rows = path_rows(find_path(model.name, model.words, Changes(), WORD), at, WORD)
    logits = run_linked(model.name, model.words)["unembedding"]["logits"][0, at, WORD]
    assert sum(row.push for row in rows) == pytest.approx(float(logits), abs=1e-9)
    heads = [row for row in rows if row.by_word is not None]
    assert len(heads) == sum(model.heads)
    for row in heads:
        assert sum(row.by_word) == pytest.approx(row.push, abs=1e-9)


def test_a_norm_behind_each_layer_leaves_a_path_without_words():
    _, model = read("OpenAIGPTLMHeadModel")
    rows = path_rows(find_path(model.name, model.words, Changes(), WORD), 3, WORD)
    assert {row.by_word for row in rows} == {None}
    logits = run_linked(model.name, model.words)["unembedding"]["logits"][0, 3, WORD]
    assert sum(row.push for row in rows) == pytest.approx(float(logits), abs=1e-9)


def test_each_part_switched_off_alone_changes_the_word_as_in_the_model():
    recording, model = read("LlamaForCausalLM")
    (outcome,) = list_outcomes(model.name, model.words, 4)
    for switch, share in share_with_each_off(model.name, model.words, outcome, WORD):
        if switch.head is not None:
            layer = int(switch.part.partition(".")[0]) - 1
            own = recording.without([(layer, switch.head)]).logits[0, 4].double().softmax(-1)[WORD]
            assert share == pytest.approx(float(own), abs=1e-6)


def test_the_lens_after_the_last_part_says_what_the_model_says(pair):
    recording, model = pair
    *_, (shares, numbers) = likeliest_words(model.name, model.words).values()
    own = recording.logits[0].double().softmax(-1).max(-1)
    assert torch.equal(numbers, own.indices)
    assert (shares - own.values).abs().max() < APART
    assert answer_questions(model.name, model.words) == {}


def test_a_decoder_reads_the_beginnings_of_its_text_and_nothing_else():
    recording, model = read("GPT2LMHeadModel")
    begun = run_model(model.name, model.words[:5])["unembedding"]["logits"]
    assert (begun - recording.logits[:, :5]).abs().max() < APART * recording.logits.abs().max()
    for tokens in (("other", *model.words[1:]), (*model.words, "more")):
        with pytest.raises(AttentionError, match="must have read this text"):
            run_model(model.name, tokens)


def test_an_encoder_reads_its_whole_text_as_it_is():
    _, model = read("EuroBertForMaskedLM")
    (outcome,) = list_outcomes(model.name, model.words, 0)
    assert outcome.at == 0 and outcome.read(model.name, model.words) == model.words  # no word is hidden
    with pytest.raises(AttentionError, match="must have read this text"):
        run_linked(model.name, model.words[:5])


def test_a_model_is_found_as_long_as_somebody_keeps_it():
    _, model = read("LlamaForCausalLM")
    name = model.name
    assert find_model(name) is model and name.startswith(RECORDED)
    run_linked(name, model.words[:4])
    del model
    gc.collect()
    with pytest.raises(AttentionError, match="no longer kept"):
        run_linked(name, ("piece 0",))


def test_results_are_bounded_by_their_bytes_beside_the_model_s_own(monkeypatch):
    monkeypatch.setattr("attention_core.checkpoints.recorded_model.MAX_RESULT_BYTES", 2**16)
    _, model = read("LlamaForCausalLM")
    own = model.nbytes
    assert model.cache.most_bytes == own + 2**16
    for count in (3, 4, 5, 6):
        latest = run_linked(model.name, model.words[:count])
    assert model.cache.nbytes <= model.cache.most_bytes
    assert run_linked(model.name, model.words[:6]) is latest


def test_another_text_has_another_name():
    names = {read(name)[1].name for name in ("LlamaForCausalLM", "GPT2LMHeadModel")}
    assert len(names) == 2
    assert read("LlamaForCausalLM")[1].name in names


def test_layers_of_different_sizes_are_refused():
    _, model = read("LlamaForCausalLM")
    layers = list(model.whole.config.layers)
    layers[1] = replace(layers[1], attention=replace(layers[1].attention, heads=2, kv_heads=2))
    config = replace(model.whole.config, layers=tuple(layers))
    whole = replace(model.whole, model=replace(model.whole.model, config=config))
    with pytest.raises(AttentionError, match="the same number of heads: these have 4, 2, 4"):
        RecordedModel(whole, "", model.words, str)
