"""What the map of B minus A says of its largest change."""

import pytest
import torch

from attention_core.analysis.map_reading import MapReading
from pages.panels.map_reading import pack_difference
from pages.site.words import use_language

WORDS = ("Anna", "fed", "it")
EVERY = torch.ones(1, 3, 3, dtype=torch.bool)


def say_of(first: list[list[float]], second: list[list[float]]) -> str:
    a, b = (torch.tensor([rows], dtype=torch.float64) for rows in (first, second))
    description, *_ = pack_difference((a, EVERY), (b, EVERY), MapReading(), WORDS, WORDS)
    return description["told"][0]


@pytest.mark.parametrize(
    ("lang", "moved", "same"),
    [
        (
            "en",
            "Changed most: fed → it, from 25.0 % in A to 50.0 % in B.",
            "A and B agree here to the digits that are shown.",
        ),
        ("zh", "变化最大：fed → it，A 中 25.0%，B 中 50.0%。", "按所示位数，A 与 B 在这里相同。"),
    ],
)
def test_the_largest_change_is_named_only_where_one_can_be_seen(lang, moved, same):
    rows = [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]
    other = [rows[0], [0.35, 0.15, 0.5], rows[2]]
    nearly = [rows[0], [0.50001, 0.24999, 0.25], rows[2]]
    with use_language(lang):
        assert say_of(rows, other) == moved
        assert say_of(rows, rows) == say_of(rows, nearly) == same
