"""The search in the browser: which entries have the typed words, and in which order."""

import pytest

from tests.components.in_node import call_in_node

ENTRIES = [
    {"titles": {"en": "Masks", "zh": "掩码"}, "details": {"en": "which keys a query may see"}, "sign": "M"},
    {"titles": {"en": "Causal mask", "zh": "因果掩码"}, "details": {"en": "no key after the query"}, "sign": ""},
    {"titles": {"en": "Mask", "zh": "遮盖"}, "details": {"en": "one mask"}, "sign": "softmax(QKᵀ)"},
    {"titles": {"en": "Padding", "zh": "填充"}, "details": {"en": "a mask for words that are not there"}, "sign": "M"},
]


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        ("mask", [2, 0, 1, 3]),  # the entry of that name, then titles with the word, then texts
        ("  MASK  ", [2, 0, 1, 3]),
        ("ｍａｓｋ", [2, 0, 1, 3]),  # full width
        ("mask causal", [1]),  # every word, in any order
        ("掩码", [0, 1]),
        ("m", [0, 3, 1, 2]),  # their sign
        ("softmax(qkt)", [2]),  # a raised T is a T
        ("no such", []),
        ("   ", []),
    ],
)
def test_entries_are_found_by_name_title_and_text(typed, numbers):
    assert call_in_node("find", "(entries, typed) => find(makeIndex(entries), typed)", ENTRIES, typed) == numbers


def test_an_entry_keeps_its_number_and_its_written_titles():
    [entry] = call_in_node("find", "makeIndex", ENTRIES[:1])
    assert (entry["number"], entry["shown"], entry["titles"]) == (0, ENTRIES[0]["titles"], ["masks", "掩码"])


def test_a_control_of_the_open_page_comes_first_by_the_beginning_of_its_name():
    control = {"kind": "control", "slug": "workbench", "titles": {"en": "Temperature τ", "zh": "温度 τ"}}
    sign = {"kind": "sign", "slug": "softmax", "titles": {"en": "temperature", "zh": "温度"}}
    entries = [each | {"details": {}, "sign": ""} for each in (sign, control)]
    ask = "(entries, typed, page) => find(makeIndex(entries), typed, page)"
    for typed in ("temperature", "温度", "Temperature τ"):
        assert call_in_node("find", ask, entries, typed, "workbench")[0] == 1
    for typed, page in (("temperature", "softmax"), ("温度", "heads")):
        assert call_in_node("find", ask, entries, typed, page)[0] == 0
