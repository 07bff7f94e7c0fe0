"""Twenty visitors who ask for models at once: one model in memory, each in turn, each their own text."""

import gc
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
import torch

from attention_core.record.bounded_cache import count_memory
from attention_core.record.errors import AttentionError
from pages.runs import checkpoint_store
from pages.runs.checkpoint_store import CheckpointStore, RecordedText, WantedText
from tests.checkpoints.folders import save_folder

VISITORS = 20
MODELS = 3  # asked for in turn: neighbours in the queue want different ones


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> list[Path]:
    """Folders of three tiny models, whose numbers differ."""
    place = tmp_path_factory.mktemp("models")
    for number in range(MODELS):
        torch.manual_seed(number)
        save_folder(place / f"gpt2_{number}", "GPT2LMHeadModel")
    return sorted(place.iterdir())


@pytest.fixture
def opened(monkeypatch) -> list[weakref.ref]:
    """The models that were opened, in order; none is in memory when the next one is."""
    found: list[weakref.ref] = []
    load_checked = checkpoint_store.load_checked

    def watched(*given):
        assert not [each for each in found if each() is not None], "two models are in memory"
        model = load_checked(*given)
        found.append(weakref.ref(model.model))
        return model

    monkeypatch.setattr(checkpoint_store, "load_checked", watched)
    return found


@pytest.fixture
def store(opened):
    """A store of its own, which ends with the test."""
    store = CheckpointStore()
    yield store
    store.worker.shutdown(wait=True)


def ask_at_once(store: CheckpointStore, wanted: list[WantedText]) -> tuple[list[Future], list[tuple[int, str]]]:
    """The futures of requests that all wait before the first is served, and the stages as they begin, by request."""
    begin, stages = Event(), []
    store.worker.submit(begin.wait, 60)
    futures = [
        store.begin(each, lambda stage, number=number: stages.append((number, stage)))
        for number, each in enumerate(wanted)
    ]
    begin.set()
    return futures, stages


def weights_of(folder: Path, text: RecordedText) -> torch.Tensor:
    """The weights that the model of a folder gives for a text, as transformers returns them, (L, H, T, T)."""
    from transformers import GPT2LMHeadModel

    model = GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        return torch.cat(model(**text.inputs.tensors, output_attentions=True).attentions)


def list_wanted(folders: list[Path]) -> list[WantedText]:
    """A text of its own for each visitor, and the models in turn."""
    return [WantedText(folders[number % MODELS], "z" * (number + 1)) for number in range(VISITORS)]


def test_each_sees_their_own_maps_in_turn_and_one_model_is_in_memory(store, folders, opened):
    wanted = list_wanted(folders)
    futures, stages = ask_at_once(store, wanted)
    shown = []  # what each session keeps
    for number, future in enumerate(futures):
        text = future.result(120)
        assert text.wanted == wanted[number]
        shown.append(text)
    begun = [number for number, stage in stages if stage == "opens"]
    assert begun == list(range(VISITORS)) and len(opened) == VISITORS and store.waiting == 0
    assert [text.is_closed for text in shown] == [True] * (VISITORS - 1) + [False]
    gc.collect()
    assert [each() is not None for each in opened] == [False] * (VISITORS - 1) + [True]
    for folder in folders:  # read again, for the pieces that transformers is to read
        for number in range(VISITORS):
            if wanted[number].folder == folder:
                again = store.begin(wanted[number], lambda stage: None).result(120)
                expected = weights_of(folder, again)
                found = torch.from_numpy(shown[number].file.view().maps.maps.numpy())
                assert found.shape == expected.shape
                torch.testing.assert_close(found, expected.double(), rtol=0, atol=1e-6)


def test_a_closed_text_says_so_and_its_maps_stay(store, folders):
    one = store.begin(WantedText(folders[0], "zz"), lambda stage: None).result(60)
    maps = one.file.view().maps.maps.clone()
    store.begin(WantedText(folders[1], "zz"), lambda stage: None).result(60)
    assert one.is_closed and torch.equal(one.file.view().maps.maps, maps)
    for name in ("opened", "inputs", "maps", "proof", "found", "whole"):
        with pytest.raises(AttentionError, match="gpt2_0 was closed"):
            getattr(one, name)


def test_a_visitor_who_leaves_gives_the_place_up(store, folders, opened):
    wanted = [WantedText(folder, "zzz") for folder in folders]
    begin = Event()
    store.worker.submit(begin.wait, 60)
    read: list[str] = []
    futures = [store.begin(each, lambda stage, name=each.folder.name: read.append(name)) for each in wanted]
    assert futures[1].cancel() and store.waiting == MODELS - 1
    begin.set()
    assert futures[2].result(60).name == "gpt2_2"
    assert set(read) == {"gpt2_0", "gpt2_2"} and len(opened) == MODELS - 1 and store.waiting == 0


def test_texts_that_sessions_show_stay_within_the_bytes(store, folders, monkeypatch):
    first = store.begin(WantedText(folders[0], "z"), lambda stage: None).result(60)
    most = 5 * first.kept_bytes
    monkeypatch.setattr(checkpoint_store, "MAX_KEPT_BYTES", most)
    texts = [WantedText(folders[0], "z" * (number + 1)) for number in range(VISITORS)]
    with ThreadPoolExecutor(VISITORS) as visitors:  # each session asks by itself
        shown = list(visitors.map(lambda each: store.begin(each, lambda stage: None).result(60), texts))
    kept = [text for text in shown if not text.is_closed]
    assert len({id(text.opened) for text in kept}) == 1
    recorded = [(call.q, call.k, call.v, call.output) for text in kept for call in text.maps.recording.calls]
    assert kept and len(kept) < VISITORS and count_memory(recorded) <= max(most, kept[-1].kept_bytes)
