"""The lesson on positions, drawer "sines": what do sinusoids look like?"""

import streamlit as st

from attention_core import Trace
from attention_core.drawing.axes import Axis
from attention_core.drawing.cell_rows import column_of
from attention_core.drawing.curves import Curve, curves
from attention_core.explanation.formula import formula
from attention_core.inputs.initial_matrices import zero_matrix
from attention_core.inputs.matrix_text import to_text
from attention_core.mechanism.positions import wavelengths
from attention_core.record.number_text import format_short
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import choose_sight
from pages.lessons.pictures import show_cell_rows, show_step_picture
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import slide
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, formula_names, selection_of
from pages.setup.setup import Setup
from pages.site.words import say

SINE_WIDTHS = (2, 4, 6, 8, 12)  # of the table: at most 6 pairs of a sine and a cosine
SINE_COUNTS = (4, 6, 8, 12, 16, 24, 32)  # positions of the table


def show_sines(_: Setup) -> None:
    """Shows the table of sines and cosines as a map, as waves, or each row compared with each."""
    sights = {
        "map": show_sine_map,
        "waves": show_sine_waves,
        "pairs": show_position_pairs,
    }
    show_sight = choose_sight("sines_as", sights)
    with st.container(horizontal=True):
        width = slide("width", SINE_WIDTHS, 8)
        count = slide("count", SINE_COUNTS, 16)
    alone = setup_of_positions_alone(count, width)
    trace = trace_for(alone)
    st.latex(formula(trace, "sinusoidal_x", current_palette().families(), formula_names(trace)))
    show_sight(trace)
    link_to_workbench(alone, "sines")


def setup_of_positions_alone(count: int, width: int) -> Setup:
    """A run whose words are zeros, so that their vectors are the sinusoids, compared without projections."""
    return Setup(
        example="eight_heads",
        x=to_text(zero_matrix((count, width))),
        positions=("sinusoidal",),
        heads=1,
        score="dot",
        w_q="none",
        w_k="none",
        w_v="none",
        w_o="none",
    )


def show_sine_map(trace: Trace) -> None:
    """Shows the table, positions from left to right."""
    count, width = trace.step("sinusoidal_x").shape
    rows = []
    for column in range(width):
        title = title_column(column, width)
        rows.append(
            column_of(
                title,
                trace,
                "sinusoidal_x",
                (),
                column,
            )
        )
    positions = [str(position) for position in range(count)]
    show_cell_rows("map", rows, positions, {"": trace}, trace)


def title_column(column: int, width: int) -> str:
    """What a column of the table is: sine or cosine, and the length of its wave."""
    pair, odd = divmod(column, 2)
    kind = "cos" if odd else "sin"
    length = wavelengths(width)[pair]
    return say("lessons.positions.wave", kind=kind, length=format_short(length, 3))


def show_sine_waves(trace: Trace) -> None:
    """Shows the sine of each pair against the position."""
    count, width = trace.step("sinusoidal_x").shape
    palette = current_palette()
    colours = (palette.q, palette.k, palette.v, palette.share, palette.minus, palette.x)
    positions = range(count)
    sine_columns = range(0, width, 2)  # between them stand the cosines
    waves = []
    for column, colour in zip(sine_columns, colours, strict=False):
        title = title_column(column, width)
        heights = trace["sinusoidal_x"][:, column]  # (T,)
        wave = Curve(title, positions, heights.tolist(), colour)
        waves.append(wave)
    x = Axis(say("lessons.positions.position"), 0, positions[-1])
    y = Axis("", -1, 1)
    picture = curves(waves, x, y, palette)
    show_curve_chart(picture, "positions_waves", say("lessons.positions.waves_alt"))


def show_position_pairs(trace: Trace) -> None:
    """Shows every position's sinusoids times every other's: the same along each diagonal."""
    show_sentence("lessons.positions.diagonal")
    selection = selection_of(trace, Setup(example="eight_heads"))
    show_step_picture("pairs", trace, "scores", selection)
