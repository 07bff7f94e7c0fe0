"""A model is fetched by its name from a hub on this machine: whole, cut off, stopped, refused; no other is asked."""

import errno
import json
from pathlib import Path
from time import monotonic, sleep

import huggingface_hub
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.checkpoints import hub_process, open_folder
from attention_core.checkpoints.hub_download import FILES, HubTask
from attention_core.checkpoints.hub_model import (
    HubModel,
    find_named,
    find_snapshot,
    list_absent_files,
    read_hub_name,
)
from attention_core.checkpoints.model_config import ModelBounds
from attention_core.record.errors import AttentionError
from tests.checkpoints.hub import COMMIT, run_hub
from tests.checkpoints.model_folders import make_llama, refusal, save

NAME = "someone/tiny-llama"
MODEL = HubModel(NAME)
WEIGHTS = "model.safetensors"
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A Llama of 3 MB, with a file that is never fetched."""
    folder = save(make_llama(hidden_size=128, intermediate_size=1024), tmp_path_factory.mktemp("llama"))
    (folder / "pytorch_model.bin").write_bytes(b"never read")
    assert 3_000_000 < (folder / WEIGHTS).stat().st_size < 6_000_000
    return folder


@pytest.fixture
def hub(folder, tmp_path, monkeypatch):
    """A hub with one model; the cache is empty, and every address that a process calls is noted."""
    with run_hub(tmp_path, monkeypatch) as hub:
        hub.models[NAME] = folder
        yield hub


def run(fetch: bool = True, model: HubModel = MODEL, **how) -> HubTask:
    """A task that has ended."""
    task = HubTask(model, fetch, **how)
    task.wait(WAIT_SECONDS)
    assert not task.is_running
    return task


def find_cached(model: HubModel) -> Path | None:
    """The folder of a model in the hub's cache; None if it lacks the model or a part of it."""
    folder = find_snapshot(model)
    return None if folder is None or list_absent_files(folder) else folder


def refused(model: HubModel = MODEL, **how) -> str:
    """The code with which a download is refused; then the cache has no model."""
    task = run(model=model, **how)
    assert task.folder is None and find_cached(model) is None
    return task.refusal.code


def cached_bytes() -> dict[str, int]:
    """{file: its size} of what the cache holds of models' bytes."""
    return {path.name: path.stat().st_size for path in Path(huggingface_hub.constants.HF_HUB_CACHE).glob("*/blobs/*")}


def kept_bytes() -> int:
    """How many bytes lie in files that are not whole."""
    return sum(size for name, size in cached_bytes().items() if name.endswith(".incomplete"))


# ---- what is fetched -------------------------------------------------------------------------------------------------
def test_a_model_is_fetched_whole_and_opens_as_a_folder(hub, folder):
    task = run()
    assert task.refusal is None and task.missing == 0
    assert task.folder == find_cached(MODEL) == find_cached(HubModel(NAME, COMMIT))
    assert sorted(path.name for path in task.folder.iterdir()) == ["config.json", WEIGHTS]
    opened, own = open_folder(task.folder), open_folder(folder)
    for tensor, expected in zip(opened.model.parameters(), own.model.parameters(), strict=True):
        assert torch.equal(tensor, expected)
    assert hub.bytes_sent_from(WEIGHTS) == ["bytes=0-"]
    assert not [path for _, path, _ in hub.requests if path.endswith((".bin", "agent-harnesses"))]


@pytest.mark.slow
def test_the_hub_is_asked_for_sizes_before_anything_is_fetched(hub, folder):
    task = run(fetch=False)
    sizes = {name: (folder / name).stat().st_size for name in ("config.json", WEIGHTS)}
    assert dict(task.plan.files) == sizes and task.plan.commit == COMMIT
    assert task.plan.missing == task.plan.size == sum(sizes.values()) and task.plan.free > 0
    assert not [path for _, path, _ in hub.requests if "/resolve/" in path] and not cached_bytes()


def test_looking_into_the_cache_asks_nobody(hub):
    assert find_cached(MODEL) is None
    assert not hub.requests


@pytest.mark.slow
def test_several_files_of_weights_are_fetched_with_their_index(hub, tmp_path):
    model = make_llama()
    hub.models[NAME] = save(model, tmp_path / "sharded", max_shard_size="10KB")
    opened = open_folder(run().folder)
    assert torch.equal(opened.model.lm_head.weight, model.lm_head.weight)
    assert len(list(opened.folder.path.glob("model-*"))) > 1


def test_a_model_whose_shard_is_gone_is_completed_with_this_shard_alone(hub, tmp_path):
    model = make_llama()
    hub.models[NAME] = save(model, tmp_path / "sharded", max_shard_size="10KB")
    folder = run().folder
    first, *_, last = sorted(path.name for path in folder.glob("model-*"))
    (folder / first).resolve().unlink()  # the link stays
    cut = (folder / last).resolve()
    size = cut.stat().st_size
    cut.write_bytes(cut.read_bytes()[:7])  # its bytes are cut off
    assert find_cached(MODEL) is None and find_snapshot(MODEL) == folder and list_absent_files(folder) == (first,)
    assert find_named(folder) == HubModel(NAME, COMMIT)
    hub.requests.clear()
    lacking = (tmp_path / "sharded" / first).stat().st_size + size - 7
    assert run(fetch=False).plan.missing == lacking
    assert torch.equal(open_folder(run().folder).model.lm_head.weight, model.lm_head.weight)
    asked = {path.rpartition("/")[2]: given for method, path, given in hub.requests if method == "GET" and given}
    assert asked == {first: "bytes=0-", last: "bytes=7-"}


def test_what_a_folder_lacks(hub, tmp_path):
    folder = tmp_path / "cache" / "models--someone--tiny" / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    assert list_absent_files(folder) == ("config.json", WEIGHTS)
    (folder / "config.json").touch()
    (folder / f"{WEIGHTS}.index.json").write_text('{"weight_map": {"a": "b.safetensors", "c": "a.safetensors"}}')
    assert list_absent_files(folder) == ("a.safetensors", "b.safetensors")
    (folder / f"{WEIGHTS}.index.json").write_text("no index")
    assert list_absent_files(folder) == ()  # open_folder refuses it
    (folder / WEIGHTS).touch()
    assert list_absent_files(folder) == ()
    assert find_named(folder) == HubModel("someone/tiny", COMMIT)
    for other in (folder / "no", folder.parent / "0000", tmp_path, Path("\0"), Path("~/none")):
        assert find_named(other) is None


@pytest.mark.slow
def test_a_revision_has_a_folder_of_its_own_name(hub):
    tagged = HubModel(NAME, "v1.0")
    assert run(model=tagged).folder == find_cached(tagged)
    assert find_cached(MODEL) is None  # nobody asked what main is


@pytest.mark.slow
def test_no_token_is_sent_unless_somebody_logged_in(hub, monkeypatch):
    run(fetch=False)
    assert hub.tokens == {""}
    monkeypatch.setenv("HF_TOKEN", "hf_of_whoever_logged_in")
    run(fetch=False)
    assert hub.tokens == {"", "Bearer hf_of_whoever_logged_in"}


# ---- broken off, stopped ---------------------------------------------------------------------------------------------
def test_a_download_that_breaks_off_goes_on_where_it_was(hub, folder):
    hub.cut_at = 2 * 2**20
    assert refused() == "hub_broken_off"
    kept = kept_bytes()
    assert 0 < kept <= hub.cut_at
    hub.cut_at = None
    asked = run(fetch=False)
    assert asked.plan.missing == (folder / WEIGHTS).stat().st_size - kept
    task = run()
    assert hub.bytes_sent_from(WEIGHTS) == ["bytes=0-", f"bytes={kept}-"]
    assert (task.folder / WEIGHTS).read_bytes() == (folder / WEIGHTS).read_bytes()


@pytest.mark.slow
def test_a_download_that_is_stopped_keeps_what_it_has(hub, folder):
    hub.hold_at = 2 * 2**20
    task = HubTask(MODEL, fetch=True)
    assert hub.held.wait(WAIT_SECONDS)
    end = monotonic() + WAIT_SECONDS
    while not kept_bytes() and monotonic() < end:
        sleep(0.01)
    task.stop()
    assert not task.is_running and task.refusal is None and task.folder is None
    kept = kept_bytes()
    assert kept > 0
    hub.hold_at = None
    assert (run().folder / WEIGHTS).read_bytes() == (folder / WEIGHTS).read_bytes()
    assert hub.bytes_sent_from(WEIGHTS) == ["bytes=0-", f"bytes={kept}-"]


@pytest.mark.slow
def test_a_hub_that_sends_all_again_is_understood(hub, folder):
    hub.cut_at = 2 * 2**20
    run()
    hub.cut_at, hub.ignores_range = None, True
    assert (run().folder / WEIGHTS).read_bytes() == (folder / WEIGHTS).read_bytes()


@pytest.mark.slow
def test_other_bytes_than_the_hub_names_are_thrown_away(hub):
    hub.sums[WEIGHTS] = "0" * 64
    assert refused() == "hub_differs"
    assert not [name for name in cached_bytes() if name.startswith("000")]


@pytest.mark.slow
@pytest.mark.parametrize("size", [1000, 10**9])
def test_a_file_of_another_size_than_the_hub_says_is_refused(hub, size):
    hub.sizes[WEIGHTS] = size
    assert refused() == ("hub_differs" if size == 1000 else "hub_broken_off")
    assert sum(cached_bytes().values()) < 10**7


# ---- refused ---------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize(
    "model, code",
    [
        (HubModel("someone/nothing"), "hub_missing"),
        (HubModel(NAME, "v9.9"), "hub_revision"),
    ],
)
def test_a_name_or_revision_that_there_is_not(hub, model, code):
    assert refused(model) == code
    assert refused(model, fetch=False) == code


@pytest.mark.slow
@pytest.mark.parametrize(
    "status, code",
    [
        ((401, "GatedRepo"), "hub_gated"),
        ((403, "GatedRepo"), "hub_gated"),
        ((403, ""), "hub_gated"),
        ((500, ""), "hub_answer"),
    ],
)
def test_a_model_that_is_not_open_to_everybody(hub, status, code):
    hub.status = status
    assert refused() == code


@pytest.mark.slow
def test_a_model_that_is_too_large_is_refused_before_a_byte_is_fetched(hub):
    assert refused(bounds=ModelBounds(memory_bytes=1_000_000)) == "hub_large"
    assert not hub.bytes_sent_from("config.json")


@pytest.mark.slow
def test_a_model_without_safetensors_is_refused(hub, tmp_path):
    hub.models[NAME] = tmp_path / "pickled"
    hub.models[NAME].mkdir()
    (hub.models[NAME] / "config.json").write_text("{}")
    (hub.models[NAME] / "pytorch_model.bin").write_bytes(b"pickle")
    assert refused() == "hub_files"


@pytest.mark.slow
def test_files_on_another_host_are_not_fetched(hub):
    hub.elsewhere = hub.address.replace("127.0.0.1", "localhost") + "/stolen"
    assert refused() == "hub_elsewhere"
    assert not [path for _, path, _ in hub.requests if path == "/stolen"]


@pytest.mark.slow
def test_a_commit_that_is_none_names_no_folder(hub):
    hub.commit = "../../../tmp/x"
    assert refused() == "hub_answer"


@pytest.mark.slow
def test_a_hub_that_cannot_be_reached(hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert refused(fetch=False) == "hub_broken_off"


@pytest.mark.slow
def test_whoever_forbids_requests_is_heeded(hub, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert refused() == "hub_offline"
    assert not hub.requests


@pytest.mark.slow
def test_a_process_that_ends_without_an_answer(hub, monkeypatch):
    monkeypatch.setitem(FILES, "others", "no list")
    monkeypatch.setattr("attention_core.checkpoints.hub_download.PROGRAM", Path("/nothing.py"))
    assert refused() == "hub_process"


# ---- the disk --------------------------------------------------------------------------------------------------------
def make_wanted(**other) -> hub_process.Wanted:
    """What the process is asked for."""
    return hub_process.Wanted(name=NAME, revision="main", most_bytes=10**9, fetch=True, **FILES | other)


def process_refusal(function, *given) -> str:
    """The code with which a function of the process refuses."""
    with pytest.raises(hub_process.Refusal) as raised, hub_process.as_refusal(make_wanted()):
        function(*given)
    return raised.value.code


def test_a_disk_without_room_is_known_before(hub, monkeypatch):
    usage = type("Usage", (), {"free": 10**9 + 999})
    monkeypatch.setattr(hub_process.shutil, "disk_usage", lambda folder: usage)
    assert hub_process.require_room(make_wanted(), 2000, 999) == usage.free
    assert process_refusal(hub_process.require_room, make_wanted(), 2000, 1000) == "hub_disk"


def test_a_disk_that_fills_meanwhile_and_a_cache_that_cannot_be_written(hub):
    def fail(number: int) -> None:
        raise OSError(number, "no")

    assert process_refusal(fail, errno.ENOSPC) == "hub_disk_full"
    assert process_refusal(fail, errno.EACCES) == "hub_cache"


@pytest.mark.slow
def test_a_cache_that_is_a_file_is_refused(hub, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "file"))
    assert run().refusal.code == "hub_cache"


# ---- names -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "../x", "a/b/c", "a/..", "../../etc", "a", "", "a/", "/a", "a/b@", "a/b@../x", "a/b@x..y", "a/b@-x", "a/b@/x",
        "a/b@x/", "a--b/c", "模型/名字", "a/ｂ", "a/b c", "a/b\n", "a/b\0", "a\\b", "a/b?x=1", "a/b#x", "a/b%2e",
        "-a/b", ".a/b", "a/b@" + "x" * 101, "a/" + "b" * 10_000, "http://a/b", "a@b/c", "<b>/x",
    ],
)  # fmt: skip
def test_hostile_names_are_refused(text):
    assert refusal(read_hub_name, text).code == "hub_name"


@pytest.mark.parametrize(
    "text, name, revision",
    [
        ("a/b", "a/b", "main"),
        ("google-bert/bert-base-uncased", "google-bert/bert-base-uncased", "main"),
        ("Qwen/Qwen2.5-0.5B@refs/pr/3", "Qwen/Qwen2.5-0.5B", "refs/pr/3"),
        (f"a_1/b.2@{COMMIT}", "a_1/b.2", COMMIT),
    ],
)
def test_a_name_is_read_and_written(text, name, revision):
    model = read_hub_name(text)
    assert (model.name, model.revision) == (name, revision)
    assert read_hub_name(str(model)) == model


@given(st.text(max_size=40))
def test_any_text_is_a_safe_name_or_refused(text):
    try:
        model = read_hub_name(text)
    except AttentionError as error:
        assert error.code == "hub_name"
        return
    assert huggingface_hub.utils.validate_repo_id(model.name) is None
    assert ".." not in json.dumps([model.name, model.revision])
