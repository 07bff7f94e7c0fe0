"""Labels that readers stumbled over do not come back, in no language and no document."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUMBLED_OVER = (
    *("A = now", "Learned ones?", "学到的？", "e to the entropy", "Colours in even shares", "Moved most"),
    *("Your x + output", "你的 x + 输出", "proven to 1e"),
)
TEXTS = [*ROOT.glob("pages/content/**/*.toml"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]


@pytest.mark.parametrize("label", STUMBLED_OVER)
def test_a_label_that_readers_stumbled_over_is_gone(label):
    assert len(TEXTS) > 40
    assert [path.name for path in TEXTS if label in path.read_text(encoding="utf-8")] == []
