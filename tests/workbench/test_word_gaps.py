"""A click between two characters mends where a Chinese word ends."""

import pytest

from pages.panels.word_changes import toggle_gap
from tests.screen.driver import Screen

GIRLFRIEND = "我女朋友养了一只猫"


def words(screen):
    return list(screen.words("T"))


@pytest.mark.parametrize("example", ["zh_ta", "model_zh"])
def test_a_click_parts_a_word_and_another_joins_it_again(example):
    screen = Screen(lang="zh", ex=example, text=GIRLFRIEND)
    behind = [word for word in words(screen) if word != "<start>"]
    assert behind[:4] == ["我", "女朋友", "养", "了"]
    screen.click_part("word_gaps", "gap", {"at": 2, "words": behind})
    parted = [word for word in words(screen) if word != "<start>"]
    assert parted == ["我", "女", "朋友", *behind[2:]]
    assert " " in screen.link()["text"] and "cut" not in screen.link()
    screen.click_part("word_gaps", "gap", {"at": 2, "words": parted})
    assert [word for word in words(screen) if word != "<start>"] == behind
    assert screen.link()["text"] == GIRLFRIEND
    screen.click_part("word_gaps", "gap", {"at": 1, "words": behind})
    assert "我女朋友" in words(screen)


def test_what_is_no_place_of_these_words_changes_nothing():
    screen = Screen(ex="zh_ta", text="我很好")
    setup = screen.setup()
    for sent in (
        {"at": 0, "words": list("我很好")},
        {"at": 3, "words": list("我很好")},
        {"at": True, "words": list("我很好")},
        {"at": "1", "words": list("我很好")},
        {"at": 1, "words": ["我", "很"]},
        {"at": 1},
        [],
        "x",
        {"at": -1, "words": list("我很好")},
        {"at": 10**9, "words": list("我很好")},
    ):
        screen.click_part("word_gaps", "gap", sent)
        assert screen.setup() == setup, sent


def test_gaps_of_bars_are_none():
    assert toggle_gap(["a|b"], 1) == ()
