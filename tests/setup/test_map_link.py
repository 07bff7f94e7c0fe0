"""How attention maps are read, as a part of a link."""

import pytest

from attention_core import AttentionError
from attention_core.analysis.map_reading import MapReading
from pages.setup.map_link import read_map_link, read_map_parts, write_map_reading

READINGS = [
    MapReading(),
    MapReading(without_first=True, times=True),
    MapReading(least=0.025, mean=(3,)),
    MapReading(largest=2, mean=(0, 2, 11)),
]


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_a_reading_comes_back_from_its_link(reading):
    parts = write_map_reading(reading)
    assert read_map_link(",".join(parts)) == parts and read_map_parts(parts) == reading


def test_a_link_by_hand_is_put_in_order():
    assert read_map_link("mean:0:2,least:0.10,times") == ("times", "least:0.1", "mean:0:2")


@pytest.mark.parametrize(
    "text",
    [
        "first", "times:1", "least", "least:a", "least:0", "least:1.5", "least:nan", "largest:0", "largest:1.5", "mean",
        "mean:", "mean:-1", "mean:a", "times,times", "least:0.1,largest:2", "mean:0:" + "1:" * 2000 + "1",
    ],
)  # fmt: skip
def test_what_is_no_reading_is_refused(text):
    with pytest.raises((ValueError, AttentionError)):
        read_map_link(text)
