"""Pictures that stand for what moves: nothing leaves them, no text covers another, threads are as thick as weights."""

import re
from itertools import combinations

import altair as alt
import numpy as np
import pytest

from attention_core.documents.picture_files import vega_svg
from attention_core.drawing.cache_pictures import Shelf, ShelvedText, cache_shelves
from attention_core.drawing.decoder_threads import DecoderRow, decoder_threads
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.part_sum import PartRow, WordSum, column_edges, part_sum
from attention_core.drawing.specifications import still_specification
from attention_core.drawing.stills import STILL_COLUMNS
from attention_core.drawing.text_layout import text_width
from attention_core.drawing.tiles import TokenRow, token_rows

LONG, CHINESE = "incomprehensibilities", "那只动物没能过街道"
SENTENCES = {
    "short": ["<start>", "it"],
    "long": ["<start>", *["the", LONG, "animal", "W" * 40, "because", "it"] * 3],
    "zh": ["<start>", *CHINESE, "因为", "它", "<mask>", "太"],
}
PERCENT = "{:.0%}".format


def rows_of(picture):
    """The marks of a picture, each as a dictionary."""
    return [dict(zip(picture.table, values, strict=True)) for values in zip(*picture.table.values(), strict=True)]


def draw_tokens(words):
    letters = list("".join(words))
    return token_rows([TokenRow("Words", "n", words, [1]), TokenRow("Letters", "n", letters)], LIGHT_PALETTE)


def draw_shelves(words, seen=None, weights=None):
    seen = seen or len(words)
    rng = np.random.default_rng(3)
    weights = rng.dirichlet(np.ones(seen) / 3) if weights is None else np.array(weights)
    shelves = [Shelf(f"layer {n}", weights, rng.normal(size=(len(words), 5)), np.ones((len(words), 5))) for n in (1, 2)]
    coming = "" if seen == len(words) else f"{words[seen]} 98%"
    return cache_shelves(ShelvedText(words, seen, 1, coming, "head 1", PERCENT), shelves, LIGHT_PALETTE)


def draw_parts(words, pushes=(0.5, -2.0, 7.25)):
    vector = np.array([1.0, -3.0, 0.0, 2.0, 0.5])
    parts = [PartRow("part", f"{n} · feed-forward", vector, push) for n, push in enumerate(pushes)]
    parts += [PartRow("sum", "sum", 3 * vector, sum(pushes)), PartRow("norm", "÷ root mean square", vector, None)]
    titles = ("what it adds: 64 numbers", "pushes “somewhere” by", "Which word would come out here")
    shares = [(word, 0.9 / 2**n) for n, word in enumerate((*words, "could"))][:8]
    return part_sum(WordSum(words, 1, titles, shares, PERCENT), parts, LIGHT_PALETTE)


def draw_threads(words, row=1):
    own, cross = np.array([0.9, 0.1, *[0.0] * (len(words) - 2)]), np.linspace(0, 1, 11) / 5.5
    source, shares = [f"word{n}" for n in range(10)] + [LONG], [(LONG, 0.97), ("不", 0.03)]
    titles = ("written", "English", "The next word")
    return decoder_threads(DecoderRow(titles, words, source, row, own, cross, shares, PERCENT), LIGHT_PALETTE)


DRAWN = (draw_tokens, draw_shelves, draw_parts, draw_threads)
every_still = pytest.mark.parametrize("draw", DRAWN)
every_sentence = pytest.mark.parametrize("words", SENTENCES.values(), ids=SENTENCES)


def text_box(row):
    """Where a level text is: left, right, top, bottom."""
    wide = text_width(row["text"], row["size"]) * 0.9  # it is estimated rather too wide
    left = row["x"] - {"left": 0, "center": wide / 2, "right": wide}[row["align"]]
    return left, left + wide, row["y"] - 0.4 * row["size"], row["y"] + 0.4 * row["size"]


def overlap(one, other):
    (a, a2, b, b2), (c, c2, d, d2) = one, other
    return min(a2, c2) - max(a, c) > 0.5 and min(b2, d2) - max(b, d) > 0.5


@every_sentence
@every_still
def test_nothing_leaves_a_still_and_no_text_covers_another(draw, words):
    picture = draw(words)
    rows, width, height = rows_of(picture), picture.spec["width"], picture.spec["height"]
    assert all(-2 <= row[edge] <= width + 2 for row in rows for edge in ("x", "x2"))
    assert all(-2 <= row[edge] <= height + 2 for row in rows for edge in ("y", "y2"))
    boxes = {text_box(row): row["text"] for row in rows if row["kind"] == "label" and row["text"]}
    assert [(boxes[one], boxes[other]) for one, other in combinations(boxes, 2) if overlap(one, other)] == []
    assert all(left >= -2 and right <= width + 2 for left, right, _, _ in boxes)


@every_still
def test_a_still_is_valid_and_draws_its_marks_at_its_own_size(draw):
    picture = draw(SENTENCES["zh"])
    assert set(picture.table) == set(STILL_COLUMNS)
    svg = vega_svg(picture)
    size = re.search(r'width="(\d+)" height="(\d+)"', svg).groups()
    assert [int(edge) - 4 for edge in size] == [picture.spec["width"], picture.spec["height"]]
    texts = set(re.findall(r">([^<>]+)</text>", svg))
    assert {row["text"].replace("<", "&lt;").replace(">", "&gt;") for row in rows_of(picture) if row["text"]} == texts


def test_the_specification_is_valid_vega_lite_and_hears_no_click():
    spec = still_specification(394.5, 20)
    alt.LayerChart.from_dict({"data": {"name": "cells"}, **spec}, validate=True)
    assert "params" not in spec


# ---- what a picture says ---------------------------------------------------------------------------------------------
def threads_of(picture):
    """The width and the ends of each thread by its name, in the order in which they are drawn."""
    threads = {}
    for row in rows_of(picture):
        if row["kind"] == "thread":
            threads.setdefault(row["name"], []).append(row)
    return {name: (points[0]["width"], points[0], points[-1]) for name, points in threads.items()}


def test_a_thread_is_as_thick_as_its_weight_and_the_strongest_lies_on_top():
    threads = threads_of(draw_threads(SENTENCES["short"]))
    widths = {name: width for name, (width, _, _) in threads.items()}
    assert widths["own 0"] - widths["own 1"] == pytest.approx(0.8 * 9) and widths["cross 0"] == 1.0
    cross = [width for name, width in widths.items() if name.startswith("cross")]
    assert len(cross) == 11 and cross == sorted(cross)
    strokes = sorted(map(float, re.findall(r'stroke-width="([\d.]+)"', vega_svg(draw_threads(SENTENCES["short"])))))
    assert strokes[-13:] == pytest.approx(sorted(widths.values()))


def test_a_thread_ends_at_the_word_that_it_leads_to():
    picture = draw_threads(SENTENCES["zh"], row=3)
    heights = {row["text"]: row["y"] for row in rows_of(picture) if row["kind"] == "label"}
    threads = threads_of(picture)
    assert threads["cross 4"][2]["y"] == heights["word4"] and threads["cross 4"][1]["y"] == heights[CHINESE[2]]
    assert {name for name in threads if name.startswith("own")} == {f"own {n}" for n in range(4)}  # none to later words


def test_the_word_that_is_written_stands_behind_the_row_and_later_ones_are_pale():
    rows = rows_of(draw_threads(["<start>", "a", "b", "c"], row=1))
    inks = {row["ink"]: row["text"] for row in rows if row["kind"] == "label" and row["align"] == "right"}
    assert "b" not in {row["text"] for row in rows} and inks[LIGHT_PALETTE.share].startswith(LONG[:9])
    (pale,) = inks.keys() - {LIGHT_PALETTE.ink, LIGHT_PALETTE.share, LIGHT_PALETTE.x}
    assert inks[pale] == "c" and inks[LIGHT_PALETTE.ink] == "a"


def test_the_cache_has_a_key_and_a_value_for_each_word_that_is_there_and_empty_places_for_the_others():
    words = ["<start>", "a", "b", "c", "d"]
    rows = rows_of(draw_shelves(words, seen=3))
    assert len([row for row in rows if row["kind"] == "read" and row["fill"] == LIGHT_PALETTE.faint]) == 2 * 2 * 2
    full = [row for row in rows if row["fill"] == LIGHT_PALETTE.v]  # all values are 1, the largest
    assert len(full) == 2 * 3 * 5
    tiles = [row["fill"] for row in rows if row["kind"] == "bar" and row["y2"] - row["y"] == 28]
    assert len(tiles) == 3 and tiles[0] != tiles[1] == tiles[2]  # one was given, two were written
    assert "c 98%" in [row["text"] for row in rows] and "d 98%" not in [row["text"] for row in rows]


def test_a_share_is_written_where_it_is_large():
    rows = rows_of(draw_shelves(["<start>", "a", "b"], weights=[0.7, 0.24, 0.06]))
    assert [row["text"] for row in rows if row["text"].endswith("%")] == 2 * ["70%", "24%"]


def test_pushes_have_bars_to_both_sides_of_zero_and_their_numbers():
    rows = rows_of(draw_parts(SENTENCES["short"]))
    numbers = [row["text"] for row in rows if re.fullmatch(r"−?\d+\.\d\d", row["text"])]
    assert numbers == ["0.50", "−2.00", "7.25", "5.75"]
    bars = [row for row in rows if row["kind"] == "bar" and row["y2"] - row["y"] == 14]
    lengths = [bar["x2"] - bar["x"] for bar in bars]
    assert lengths == pytest.approx([lengths[0] * ratio for ratio in (1, 4, 14.5, 11.5)])
    assert bars[1]["x"] == pytest.approx(column_edges("push")[0])  # none reaches into another column
    assert bars[1]["fill"] == LIGHT_PALETTE.minus and bars[1]["x2"] == pytest.approx(bars[0]["x"])


def test_the_hidden_word_has_a_frame_and_unknown_ones_dashes():
    rows = rows_of(draw_parts(["<start>", "<mask>", "it"]))
    (frame,) = [row for row in rows if row["kind"] == "read"]
    (word,) = [row for row in rows if row["text"] == "<mask>" and row["x"] < frame["x2"]]
    assert frame["fill"] == LIGHT_PALETTE.outline and frame["x"] < word["x"] < frame["x2"]
    dashes = [row for row in rows_of(draw_tokens(SENTENCES["short"])) if row["fill"] == LIGHT_PALETTE.x]
    assert len(dashes) >= 8 and all(min(row["x2"] - row["x"], row["y2"] - row["y"]) == 1.5 for row in dashes)
