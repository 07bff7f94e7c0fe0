"""Work in parts: all results in order, and a bar only where it takes long."""

from types import SimpleNamespace

import pytest

from pages.shared import waiting


@pytest.mark.parametrize("patience, shares", [(-1.0, [0, 1 / 3, 2 / 3]), (60.0, [])])
def test_a_bar_says_how_far_it_is_and_is_gone_at_the_end(monkeypatch, patience, shares):
    drawn = []
    place = SimpleNamespace(
        progress=lambda share, text: drawn.append((share, text)), empty=lambda: drawn.append("gone")
    )
    monkeypatch.setattr(waiting, "st", SimpleNamespace(empty=lambda: place))
    monkeypatch.setattr(waiting, "PATIENCE", patience)
    assert waiting.one_by_one(str, [3, 5, 7]) == ["3", "5", "7"]
    assert [share for share, _ in drawn[:-1]] == shares
    assert drawn[-1] == "gone"
    if shares:
        assert "1" in drawn[1][1] and "3" in drawn[1][1]


def test_moving_a_control_ends_the_work_between_two_parts(monkeypatch):
    """Streamlit ends a run where something is drawn."""

    def ended(share, text):
        raise InterruptedError

    monkeypatch.setattr(waiting, "st", SimpleNamespace(empty=lambda: SimpleNamespace(progress=ended)))
    monkeypatch.setattr(waiting, "PATIENCE", -1.0)
    begun = []
    with pytest.raises(InterruptedError):
        waiting.one_by_one(begun.append, [3, 5, 7])
    assert begun == []
