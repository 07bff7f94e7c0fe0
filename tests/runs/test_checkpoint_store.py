"""The store of an opened model: one at a time, texts in turn, bounded in bytes."""

import os
import shutil
from pathlib import Path

import pytest
import transformers

from attention_core.record.errors import AttentionError
from pages.runs import checkpoint_store
from pages.runs.checkpoint_store import STORE, CheckpointStore, WantedText
from pages.runs.model_store import MODELS
from pages.runs.recorded_setup import make_recorded_setup
from tests.checkpoints.folders import save_folder
from tests.checkpoints.tiny_models import make_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a tiny GPT-2."""
    folder = tmp_path_factory.mktemp("models") / "gpt2"
    save_folder(folder, "GPT2LMHeadModel")
    return folder


def read(store: CheckpointStore, folder: Path, text: str = "The dog", **how):
    """A text as the store's thread reads it, and the stages that it told."""
    stages: list[str] = []
    return store.begin(WantedText(folder, text, **how), stages.append).result(), stages


def test_twenty_sessions_get_their_own_texts_from_one_model(folder):
    store = CheckpointStore()
    texts = ["z" * number for number in range(1, 21)]  # no pair of them is one piece
    futures = [store.begin(WantedText(folder, text), lambda stage: None) for text in texts]
    found = [future.result() for future in futures]
    assert [each.wanted.text for each in found] == texts
    assert len({id(each.opened) for each in found}) == 1
    sizes = [each.maps.recording.calls[0].sizes[2] for each in found]
    assert sizes == sorted(sizes) and len(set(sizes)) == 20
    assert store.waiting == 0


def test_a_text_that_was_read_is_not_read_again(folder):
    store = CheckpointStore()
    first, stages = read(store, folder)
    again, told = read(store, folder)
    assert stages == ["opens", "reads", "finds", "proves"] and told == ["opens"]
    assert again is first


def test_another_model_takes_the_place_of_the_first(folder, tmp_path):
    store = CheckpointStore()
    first, _ = read(store, folder)
    other = tmp_path / "other"
    save_folder(other, "GPT2LMHeadModel")
    second, _ = read(store, other)
    assert store.opened is second.opened and first.wanted not in store.texts


def test_old_texts_go_beyond_the_bound_and_the_latest_stays(folder, monkeypatch):
    store = CheckpointStore()
    first, _ = read(store, folder)
    size = first.kept_bytes
    monkeypatch.setattr(checkpoint_store, "MAX_KEPT_BYTES", size + 1)
    second, _ = read(store, folder, "The dog was tired")
    assert list(store.texts) == [second.wanted]
    assert first.is_closed and not second.is_closed
    assert second.kept_bytes > size > 3 * 5 * 4 * 2 * 16 * 4  # q, k, v, output, weights of three layers


def test_a_model_that_changes_or_goes_away_is_refused_and_then_opened_anew(tmp_path):
    store, folder = CheckpointStore(), tmp_path / "gpt2"
    save_folder(folder, "GPT2LMHeadModel")
    read(store, folder)
    config = (folder / "config.json").read_bytes()
    (folder / "config.json").write_bytes(config + b" ")
    with pytest.raises(AttentionError, match=r"config\.json"):
        read(store, folder, "it was")
    found, _ = read(store, folder, "it was")
    assert found.proof[0].passed
    (folder / "model.safetensors").unlink()
    with pytest.raises(AttentionError):
        read(store, folder, "tired")


def test_a_folder_that_is_refused_closes_no_model(folder, tmp_path, monkeypatch):
    store = CheckpointStore()
    first, _ = read(store, folder)
    broken = shutil.copytree(folder, tmp_path / "broken")
    os.truncate(broken / "model.safetensors", 5000)
    with pytest.raises(AttentionError, match="safetensors"):
        read(store, broken)
    assert store.opened is first.opened and not first.is_closed
    again, stages = read(store, folder)
    assert again is first and stages == ["opens"]
    monkeypatch.setattr("attention_core.checkpoints.open_model.find_free_bytes", lambda: 0)
    other = shutil.copytree(folder, tmp_path / "other")
    small = first.opened.memory_bytes  # the memory of the model that is closed for the other one
    assert read(store, other)[0].opened.memory_bytes == small
    with pytest.raises(AttentionError, match="must fit into the free memory of this machine"):
        read(CheckpointStore(), other)


def test_a_text_whose_run_would_take_too_much_memory_is_refused_before_the_model_reads_it(folder, monkeypatch):
    store = CheckpointStore()
    found, _ = read(store, folder)
    count = len(found.inputs.shown)
    held = sum(max(each.shape[-2:]) for each in found.opened.model.parameters() if each.dim() == 2)
    monkeypatch.setattr(checkpoint_store, "MAX_RUN_BYTES", 8 * held * count)
    read(store, folder, "z" * count)
    monkeypatch.setattr(checkpoint_store, "record", lambda *given, **named: pytest.fail("the model read it"))
    with pytest.raises(AttentionError, match=rf"this text of {count + 1} pieces would take about"):
        read(store, folder, "z" * (count + 1))


def test_the_encoder_of_t5_alone_reads_a_text(tmp_path):
    model = save_folder(tmp_path / "t5", "T5ForConditionalGeneration", "unigram")
    transformers.T5EncoderModel(model.config).save_pretrained(tmp_path / "t5")
    found, _ = read(CheckpointStore(), tmp_path / "t5")
    assert type(found.opened.model) is transformers.T5EncoderModel
    assert len(found.proof) == 3 and all(row.passed for row in found.proof)
    assert not found.inputs.further_shown


def test_a_session_that_may_not_open_a_folder_gets_nothing_of_an_open_one(folder, tmp_path):
    store = CheckpointStore()
    read(store, folder)
    with pytest.raises(AttentionError):
        read(store, folder, roots=(tmp_path,))


def test_a_text_whose_maps_would_be_too_many_is_refused_before_the_model_reads_it(tmp_path, monkeypatch):
    folder = tmp_path / "t5"
    save_folder(folder, "T5ForConditionalGeneration")  # it reads any length
    monkeypatch.setattr(checkpoint_store, "record", lambda *given, **named: pytest.fail("the model read it"))
    limit = 263  # 3 kinds of maps x 3 layers x 4 heads x 263 x 263 is just below 2,500,000
    assert 36 * limit**2 <= 2_500_000 < 36 * (limit + 1) ** 2
    with pytest.raises(AttentionError, match=r"at most 263 pieces of a text are shown.*: this text has 264"):
        read(CheckpointStore(), folder, "z" * 264)


def test_the_words_of_a_classifier_are_its_classes(tmp_path):
    folder = tmp_path / "classes"
    config = save_folder(folder, "BertForMaskedLM", "word pieces").config
    config.id2label = {0: "other", 1: "person", 2: "place"}
    make_model("BertForTokenClassification", config).save_pretrained(folder)
    text = STORE.read(WantedText(folder, "the dog"), lambda stage: None)
    setup = make_recorded_setup(text, 0, 0, lambda stage: None)
    model = MODELS.find(setup.run.recorded).model
    assert model.vocabulary == ("other", "person", "place")
    assert model.rows_of(model.words[:1]) is None  # a word of the text is no class
