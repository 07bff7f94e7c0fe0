"""The lesson on distance, drawer "cost": path length between two words, and sequential steps."""

from collections.abc import Mapping

import streamlit as st

from attention_core.drawing.axes import decade_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import format_grouped
from attention_core.variants.encoder_cost import CostComparison, encoder_cost
from attention_core.variants.encoders import Encoder
from pages.lessons.distance.drawers.receptive_field import show_receptive_field
from pages.lessons.distance.encoder_curves import (
    ENCODED_LENGTHS,
    EncodersByKind,
    encoder_colours,
    length_axis,
    list_values,
    name_encoder,
)
from pages.lessons.encoders import COMPARED_ENCODER_WIDTH, EncoderWords, cached_encoder_cost, get_word_vectors
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, option_labels
from pages.session.labels import current_palette
from pages.site.words import say

GROWTH_QUANTITIES = ("longest_path", "sequential_steps", "multiply_adds")
COST_COLUMNS = ("kind", "path", "waiting", "products", "numbers")


def show_encoder_costs(encoders: EncodersByKind, cnn: Encoder, words: EncoderWords, distance: int) -> None:
    """Shows path lengths, sequential steps and multiply-adds of the encoders, and the receptive field of the CNN."""
    T, D = get_word_vectors(words).shape
    costs = {kind: cached_encoder_cost(encoder, T, D, distance) for kind, encoder in encoders.items()}
    if costs:
        show_cost_table(costs, T, abs(distance))
    agree = all(cost.agrees for cost in costs.values())
    key = "twice" if agree else "differ"
    st.caption(say(f"lessons.distance.{key}", D=D, width=COMPARED_ENCODER_WIDTH))
    show_cost_growth(encoders, T, D)
    show_receptive_field(cnn, words)


def show_cost_table(costs: Mapping[str, CostComparison], length: int, distance: int) -> None:
    """Shows a table of the costs of each kind of encoder."""
    heads = [say(f"lessons.distance.head_{column}", T=length, distance=distance) for column in COST_COLUMNS]
    rows = []
    for kind, cost in costs.items():
        cells = list_cost_cells(kind, cost)
        row = dict(zip(heads, cells, strict=True))
        rows.append(row)
    st.table(rows, hide_index=True, width="content")


def list_cost_cells(kind: str, cost: CostComparison) -> list[str]:
    """Returns the table cells of a kind of encoder, in the order of COST_COLUMNS."""
    path = say("lessons.distance.unreached") if cost.path is None else str(cost.path)
    return [
        name_encoder(kind),
        path,
        str(cost.formula.sequential_steps),
        format_grouped(cost.formula.multiply_adds),
        format_grouped(cost.formula.parameters),
    ]


def show_cost_growth(encoders: EncodersByKind, length: int, width: int) -> None:
    """Shows how one of GROWTH_QUANTITIES grows with the length.

    length: marked by a vertical line. width: of the words' vectors."""
    quantity = choose_option("growth", GROWTH_QUANTITIES)
    title = option_labels("growth")(quantity)
    drawn = [make_cost_curve(kind, encoder, quantity, width) for kind, encoder in encoders.items()]
    picture = curves(
        drawn,
        length_axis(ENCODED_LENGTHS),
        decade_axis(title, list_values(drawn)),
        current_palette(),
        length,
        height=220,
    )
    show_curve_chart(picture, "distance_growth", title)


def make_cost_curve(kind: str, encoder: Encoder, quantity: str, width: int) -> Curve:
    """Makes the curve of one quantity of an encoder's cost by length."""
    costs = [encoder_cost(encoder, length, width) for length in ENCODED_LENGTHS]
    amounts = [getattr(cost, quantity) for cost in costs]
    colour = encoder_colours()[kind]
    return Curve(name_encoder(kind), ENCODED_LENGTHS, amounts, colour)
