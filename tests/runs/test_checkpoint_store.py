"""The store of an opened model: one at a time, texts in turn, bounded in bytes."""

from pathlib import Path

import pytest

from attention_core.record.errors import AttentionError
from pages.runs import checkpoint_store
from pages.runs.checkpoint_store import CheckpointStore, WantedText
from tests.checkpoints.folders import save_folder


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
