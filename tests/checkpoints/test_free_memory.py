"""Free memory is read as Linux states it: of the machine, or of the container if that has less."""

from pathlib import Path

import pytest

from attention_core.checkpoints import open_model
from attention_core.checkpoints.free_memory import find_free_bytes
from attention_core.checkpoints.open_model import open_folder
from tests.checkpoints.model_folders import make_bert, refusal, save

MEMINFO = "MemTotal: 8000000 kB\nMemFree:   10000 kB\nMemAvailable:    3000000 kB\nHugePages_Total:       0\n"
STAT = "anon 5\nfile 700\ninactive_file 600\n"


def write(root: Path, **files: str) -> Path:
    """A root with these files; the first letter of a name says whether it is one of the machine or of the group."""
    for folder in ("proc", "sys/fs/cgroup"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        folder = "proc" if name == "meminfo" else "sys/fs/cgroup"
        (root / folder / name.replace("_", ".", 1)).write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"meminfo": MEMINFO}, 3_072_000_000),
        ({"meminfo": MEMINFO, "memory_max": "max\n", "memory_current": "5\n"}, 3_072_000_000),
        ({"meminfo": MEMINFO, "memory_max": "1000\n", "memory_current": "900\n"}, 100),
        ({"meminfo": MEMINFO, "memory_max": "1000\n", "memory_current": "900\n", "memory_stat": STAT}, 700),
        ({"memory_max": "1000\n", "memory_current": "1900\n"}, 0),
        ({"meminfo": "no numbers", "memory_max": "\n", "memory_current": "x"}, None),
    ],
)
def test_the_least_of_what_is_stated_counts(tmp_path: Path, files: dict, expected: int | None):
    assert find_free_bytes(write(tmp_path, **files)) == expected


def test_a_model_that_does_not_fit_is_refused_before_its_numbers_are_read(tmp_path: Path, monkeypatch):
    folder = save(make_bert("BertModel"), tmp_path / "bert")
    needed = open_folder(folder).memory_bytes
    monkeypatch.setattr(open_model, "find_free_bytes", lambda: needed)
    assert open_folder(folder).memory_bytes == needed
    monkeypatch.setattr(open_model, "find_free_bytes", lambda: needed - 1)
    monkeypatch.setattr(open_model, "read_tensors", lambda *given: pytest.fail("numbers were read"))
    assert refusal(open_folder, folder).code == "model_no_room"
