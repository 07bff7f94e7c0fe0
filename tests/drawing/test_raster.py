"""Large maps as bytes: every expected colour number is worked out by hand or by a naive loop."""

import math
from hashlib import sha256

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, attend_qkv
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE
from attention_core.drawing.raster import BLOCKED_CODE, COLOUR_LEVELS, NOT_FINITE_CODE, raster, small_raster
from attention_core.drawing.text_layout import PictureTexts
from attention_core.record.trace import Step, Trace

WORDS = PictureTexts(lambda ref: ref.step, lambda axis, i: f"{axis}{i}")
SCORE_DIMS = ("B", "H", "T", "S")
TOP = COLOUR_LEVELS - 1  # 252: the strongest colour, of a signed scale plus; 126 is its zero


def trace_of(name: str, values, **more) -> Trace:
    """A Trace of one step (B, H, T, S), and others."""
    steps = {name: Step(name, torch.tensor(values, dtype=torch.float64), SCORE_DIMS)}
    return Trace(steps | {other: Step(other, value, SCORE_DIMS) for other, value in more.items()})


def run(T: int = 5, S: int = 7, H: int = 2, mask: tuple[str, ...] = ("causal",)) -> Trace:
    """A run with seeded numbers."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, H, n, 3, generator=generator, dtype=torch.float64) for n in (T, S, S))
    return attend_qkv(q, k, v, config=AttentionConfig(masks=mask))


def cells(drawn) -> list[int]:
    return list(drawn.cells)


def numbers(drawn) -> np.ndarray:
    return np.frombuffer(drawn.numbers, np.float32).reshape(drawn.drawn)


# ---- colour numbers --------------------------------------------------------------------------------------------------
def test_shares_count_from_zero_to_one():
    trace = trace_of("weights", [[[[0.0, 0.5, 1.0], [1 / 3, 0.25, 0.75]]]])
    assert cells(raster(trace, "weights", WORDS, LIGHT_PALETTE)) == [0, 126, 252, 84, 63, 189]


def test_shares_of_long_rows_count_in_even_ones():
    row = [0.5, 0.25, 0.125] + [0.0] * 7  # ten keys: the darkest colour is five times .1
    drawn = raster(trace_of("weights", [[[row]]]), "weights", WORDS, LIGHT_PALETTE, times=True)
    assert cells(drawn) == [252, 126, 63] + [0] * 7
    assert [row["text"] for row in drawn.ramp if row["kind"] == "label"] == ["0", "≥ 5×", "1×"]


def test_signed_numbers_reach_to_the_largest_of_all_heads():
    trace = trace_of("scores", [[[[-2.0, 0.0, 2.0]], [[1.0, -4.0, 3.0]]]])
    assert cells(raster(trace, "scores", WORDS, LIGHT_PALETTE)) == [63, 126, 189]
    other = raster(trace, "scores", WORDS, LIGHT_PALETTE, {"H": 1})
    assert cells(other)[1] == 0
    assert [row["text"] for row in other.ramp if row["kind"] == "label"] == ["−4.00", "0", "+4.00"]


def test_a_matrix_of_zeros_has_the_colour_of_zero():
    assert cells(raster(trace_of("scores", [[[[0.0, 0.0]]]]), "scores", WORDS, LIGHT_PALETTE)) == [126, 126]


def test_a_blocked_cell_has_no_colour_of_the_scale_and_an_overflowed_one_its_own():
    allowed = torch.tensor([[[[True, False, True, True]]]])
    trace = trace_of("masked_scores", [[[[1.0, -math.inf, -math.inf, math.nan]]]], allowed=allowed)
    assert cells(raster(trace, "masked_scores", WORDS, LIGHT_PALETTE)) == [
        252,
        BLOCKED_CODE,
        NOT_FINITE_CODE,
        NOT_FINITE_CODE,
    ]
    assert cells(small_raster(trace, "masked_scores")) == [252, BLOCKED_CODE, NOT_FINITE_CODE, NOT_FINITE_CODE]


def test_a_mask_is_drawn_as_what_it_allows():
    drawn = raster(run(3, 3), "allowed", WORDS, LIGHT_PALETTE)
    assert cells(drawn) == [TOP, BLOCKED_CODE, BLOCKED_CODE, TOP, TOP, BLOCKED_CODE, TOP, TOP, TOP]
    assert (drawn.is_bool, drawn.ramp) == (True, ())


@pytest.mark.parametrize("palette", [LIGHT_PALETTE, DARK_PALETTE])
def test_the_colours_are_those_of_the_palette(palette):
    shares = raster(run(), "weights", WORDS, palette)
    signed = raster(run(), "scores", WORDS, palette)
    assert (shares.fills[0], shares.fills[TOP]) == (palette.low, palette.high)
    assert signed.fills[126] == palette.ground
    for drawn in (shares, signed):
        assert (len(drawn.fills), len(drawn.inks)) == (256, 256)
        assert drawn.fills[BLOCKED_CODE] == palette.ground
        assert drawn.fills[NOT_FINITE_CODE] == palette.outline
        assert palette.outline not in drawn.fills[:COLOUR_LEVELS]


# ---- which cells -----------------------------------------------------------------------------------------------------
SIGNED = [
    [1.0, -2.0, 0.5, 3.0, 0.0],
    [0.0, 1.5, -4.0, 2.0, -1.0],
    [2.0, 0.0, 1.0, -1.0, 5.0],
]


def test_of_each_block_the_number_of_largest_magnitude_is_drawn_and_says_so():
    drawn = raster(trace_of("scores", [[SIGNED]]), "scores", WORDS, LIGHT_PALETTE, most=3)
    assert (drawn.shape, drawn.drawn, drawn.every) == ((3, 5), (3, 3), (1, 2))
    assert numbers(drawn).tolist() == [[-2, 3, 0], [1.5, -4, -1], [2, 1, 5]]
    assert np.frombuffer(drawn.places, np.int32).tolist() == [1, 3, 4, 6, 7, 9, 10, 12, 14]
    assert cells(drawn)[:3] == [76, 202, 126]  # (−2/5 + 1) 126 = 75.6, (3/5 + 1) 126 = 201.6


def test_of_each_block_the_largest_share_is_drawn():
    rows = [[0.1, 0.2, 0.7], [0.0, 0.9, 0.1], [0.3, 0.3, 0.4]]
    drawn = raster(trace_of("weights", [[rows]]), "weights", WORDS, LIGHT_PALETTE, most=2)
    assert numbers(drawn) == pytest.approx(np.array([[0.9, 0.7], [0.3, 0.4]]))
    assert np.frombuffer(drawn.places, np.int32).tolist() == [4, 2, 6, 8]  # of equals the first


def test_a_block_is_blocked_only_where_all_of_it_is_and_an_overflow_is_never_left_out():
    blocked, over = -math.inf, math.inf
    allowed = torch.tensor([[[[False, True, False, False, True, True]]]])
    scores = [[[[blocked, -0.0, blocked, blocked, 7.0, over]]]]
    drawn = raster(trace_of("masked_scores", scores, allowed=allowed), "masked_scores", WORDS, LIGHT_PALETTE, most=3)
    assert cells(drawn) == [126, BLOCKED_CODE, NOT_FINITE_CODE]


def test_downsampling_agrees_with_a_naive_loop():
    trace = run(T=43, S=37, H=1, mask=())
    plane = trace.step("scores").window(B=0, H=0)
    drawn = raster(trace, "scores", WORDS, LIGHT_PALETTE, most=11)
    assert (drawn.every, drawn.drawn) == ((4, 4), (11, 10))
    for r in range(11):
        for c in range(10):
            block = [plane[i][j] for i in range(4 * r, min(4 * r + 4, 43)) for j in range(4 * c, min(4 * c + 4, 37))]
            assert numbers(drawn)[r, c] == np.float32(max(block, key=abs))


@pytest.mark.parametrize(
    ("shape", "every", "size"),
    [
        ((97, 89), (2, 2), (49, 45)),
        ((89, 97), (2, 2), (45, 49)),
        ((3, 512), (1, 6), (3, 86)),
        ((97, 31), (2, 1), (49, 31)),
    ],
)
def test_a_map_keeps_its_proportions_unless_it_is_narrow(shape, every, size):
    drawn = small_raster(trace_of("scores", np.zeros((1, 1, *shape))), "scores", most=96)
    assert (drawn.shape, drawn.every, drawn.drawn) == (shape, every, size)


def test_nothing_is_left_out_where_all_fits():
    drawn = raster(run(), "weights", WORDS, LIGHT_PALETTE, most=7)
    assert (drawn.every, drawn.drawn, drawn.places) == ((1, 1), (5, 7), b"")


# ---- numbers and names -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("step", ["weights", "masked_scores", "scores", "q", "k"])
def test_the_numbers_are_the_traces_own(step):
    trace = run()
    drawn = raster(trace, step, WORDS, LIGHT_PALETTE, {"H": 1, "H_kv": 1})
    assert np.array_equal(numbers(drawn), trace[step][0, 1].numpy().astype(np.float32))
    assert (drawn.at, drawn.axes) == ((0, 1), 4)


def test_the_labels_are_those_of_the_axes():
    drawn = raster(run(), "weights", WORDS, LIGHT_PALETTE)
    assert drawn.rows == ("T0", "T1", "T2", "T3", "T4")
    assert drawn.columns == ("S0", "S1", "S2", "S3", "S4", "S5", "S6")


def test_a_vector_is_one_row_with_an_index_of_one_number():
    trace = Trace({"b_q": Step("b_q", torch.tensor([1.0, -3.0, 2.0]), ("D",))})
    drawn = raster(trace, "b_q", WORDS, LIGHT_PALETTE)
    assert (drawn.shape, drawn.at, drawn.axes) == ((1, 3), (), 1)
    assert (drawn.rows, drawn.columns) == (("0",), ("D0", "D1", "D2"))


def test_a_row_that_stands_for_all_queries_is_not_called_after_the_first():
    trace = run()
    keys = Step("allowed_custom", torch.ones(1, 1, 1, 7, dtype=torch.bool), SCORE_DIMS)
    drawn = raster(Trace({**trace.steps, "allowed_custom": keys}), "allowed_custom", WORDS, LIGHT_PALETTE)
    assert drawn.rows == ("0",)


def test_a_small_map_has_the_cells_of_the_large_one():
    trace = run(H=3)
    heads = [small_raster(trace, "weights", {"H": head}, most=4) for head in range(3)]
    assert {(each.shape, each.drawn, each.every, each.is_share) for each in heads} == {((5, 7), (3, 4), (2, 2), True)}
    large = [raster(trace, "weights", WORDS, LIGHT_PALETTE, {"H": head}, most=4) for head in range(3)]
    assert [each.cells for each in heads] == [each.cells for each in large]
    assert len({each.cells for each in heads}) == 3


def test_small_maps_of_heads_share_one_range_of_colours():
    """Head 1 holds numbers up to 1, head 2 up to 10: 1 is a tenth of the way up in both."""
    drawn = trace_of("scores", np.array([[[[1.0, -1.0]], [[10.0, 1.0]]]]))
    tenth, middle = round(1.1 / 2 * (COLOUR_LEVELS - 1)), (COLOUR_LEVELS - 1) // 2
    assert [*small_raster(drawn, "scores", {"H": 0}).cells] == [tenth, 2 * middle - tenth]
    assert [*small_raster(drawn, "scores", {"H": 1}).cells] == [COLOUR_LEVELS - 1, tenth]


def test_drawing_changes_nothing_of_the_run():
    trace = run()
    before = {name: sha256(trace[name].numpy().tobytes()).digest() for name in trace.steps}
    for step in ("weights", "masked_scores", "allowed"):
        raster(trace, step, WORDS, LIGHT_PALETTE, most=2)
        small_raster(trace, step, most=2)
    assert before == {name: sha256(trace[name].numpy().tobytes()).digest() for name in trace.steps}
