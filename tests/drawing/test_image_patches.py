"""A picture of patches: the colours that vectors are, the weights in the same places, and what is received."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from attention_core import attend
from attention_core.drawing.image_patches import (
    PATCH_SIDE_PX,
    PICTURE_GAP_PX,
    patch_picture,
    patches_per_row,
    vector_colours,
)
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.text_layout import PictureTexts
from attention_core.examples.examples import EXAMPLES
from attention_core.record.expressions import Ref

WORDS = PictureTexts(lambda ref: f"{ref.step} {ref.index}", lambda axis, at: str(at))
TITLES = ("picture", "weights", "received")


def drawn(picture, kind):
    rows = [dict(zip(picture.table, row, strict=True)) for row in zip(*picture.table.values(), strict=True)]
    return [row for row in rows if row["kind"] == kind]


def test_a_vector_is_its_colour():
    assert vector_colours(np.array([[1, -1, -1], [-1, 1, -1], [0, 0, 0]])) == ["#eb3c3c", "#3ceb3c", "#949494"]
    assert vector_colours(np.array([[5.0, -9.0, -1.0]])) == ["#eb3c3c"]


@pytest.mark.parametrize("patches, columns", [(1, 1), (2, 2), (4, 2), (7, 3), (9, 3), (10, 4), (16, 4)])
def test_a_picture_is_about_as_high_as_wide(patches, columns):
    assert patches_per_row(patches) == columns
    rows = -(-patches // columns)
    assert columns - 1 <= rows <= columns


def test_the_weights_lie_where_the_patches_lie():
    trace = EXAMPLES["picture"].run()
    roof = EXAMPLES["picture"].tokens.index("roof")
    chosen = Ref("weights", (0, 0, roof, 6))
    picture = patch_picture(trace, (0, 0, roof), WORDS, LIGHT_PALETTE, TITLES, chosen)
    patches, cells = drawn(picture, "bar"), drawn(picture, "cell")
    assert len(patches) == 17 and len(cells) == 16
    assert [cell["index"] for cell in cells] == [f"0,0,{roof},{at}" for at in range(16)]
    for patch, cell in zip(patches[:16], cells, strict=True):
        assert (cell["x"] - patch["x"], cell["y"]) == (4 * PATCH_SIDE_PX + PICTURE_GAP_PX, patch["y"])
    (gap,) = {round(right["x"] - left["x2"], 9) for left, right in pairwise(patches[:4])}
    assert gap == 1.0  # px of the ground between two patches of a row
    red = [at for at, patch in enumerate(patches[:16]) if patch["fill"] == "#eb3c3c"]
    bright = [at for at, cell in enumerate(cells) if float(cell["value"]) > 0.4]
    assert red == bright == [5, 6]
    (frame,) = drawn(picture, "chosen")
    assert (frame["x"], frame["y"]) == (cells[6]["x"], cells[6]["y"])
    (received,) = vector_colours(trace["output"][0, roof : roof + 1].numpy())
    assert patches[16]["fill"] == received != "#eb3c3c"  # a share of yellow is in it


def test_the_last_row_may_be_short():
    x = torch.tensor([[1.0, 0.0, 0.0]] * 7)
    picture = patch_picture(attend(x[:1], x), (0, 0, 0), WORDS, LIGHT_PALETTE, TITLES)
    assert [
        (patch["x"] // PATCH_SIDE_PX, (patch["y"] - 26) // PATCH_SIDE_PX) for patch in drawn(picture, "bar")[6:7]
    ] == [(0, 2)]
    assert len(drawn(picture, "cell")) == 7
