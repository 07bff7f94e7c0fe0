"""Builds the Vega-Lite specification of every picture: cells in pixels, curves on two axes, arrows on a plane.

Only this module uses Altair. Each specification is built once and cached; pictures differ in their table of marks
alone, so that a rerun of a page sends data and keeps the chart.
"""

import importlib
from dataclasses import dataclass
from functools import cache, lru_cache

import altair as alt

from attention_core.drawing.axes import Axis, tick_settings
from attention_core.drawing.palette import Palette

PAGE_WIDTH_PX = 820.0  # pixels: the width of a picture on a page; wider ones are not legible on a projector
AXIS_TEXT_PX = 14  # pixels: text size at an axis
# The page's font comes first, because a Chinese font would draw Ġ as G and a separate dot.
FONT = (
    "'Source Sans 3', 'Source Sans', 'Noto Sans CJK SC', 'Noto Sans SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"
)
HOVER_COLOUR = "#d97706"
UNWANTED_KEYS = ("data", "datasets", "$schema")  # keys that Altair writes and the page does not need
SILENT = {"tooltip": None, "aria": False}  # settings of a mark without tooltip, which screen readers skip


@dataclass(frozen=True, eq=False)
class Picture:
    """A table of marks, column by column, and the Vega-Lite specification that draws it."""

    table: dict[str, list]
    spec: dict


def import_pandas() -> None:
    """Import pandas, and wait until the import is complete, before Altair looks for it.

    While another thread is importing pandas, Altair would use an incomplete module.
    """
    importlib.import_module("pandas")


# ---- cells in pixels -------------------------------------------------------------------------------------------------
@cache
def cell_specification() -> dict:
    """Return the specification of cells, hatches, outlines and texts in pixels.

    A click on a cell sends the cell to the page, and hovering over a cell highlights its row and column. A screen
    reader reads each cell's description and number, and skips the other marks.
    """
    import_pandas()
    boxes = place_points().encode(x2="x2:Q", y2="y2:Q")
    cells = boxes.transform_filter("datum.kind == 'cell' || datum.kind == 'blocked'")
    chart = alt.layer(
        draw_cells(cells),
        draw_hatches(boxes),
        draw_bars(boxes),
        draw_cell_texts(),
        draw_hovered_cells(cells),
        draw_outlines(boxes),
    )
    return finish_specification(chart)


def place_points() -> alt.Chart:
    """Return a chart whose x and y are pixel coordinates, without axes."""
    return alt.Chart().encode(
        x=alt.X("x:Q", axis=None, scale=None),
        y=alt.Y("y:Q", axis=None, scale=None),
    )


def draw_cells(cells: alt.Chart) -> alt.Chart:
    """Return the layer of a matrix's coloured squares, which can be hovered and clicked."""
    hover = alt.selection_point(
        name="hover",
        on="pointerover",
        clear="pointerout",
        fields=["row", "column", "panel"],
    )
    click = alt.selection_point(
        name="cell",
        on="click",
        fields=["step", "index", "turn"],
        empty=False,
    )
    named = cells.transform_calculate(said="datum.what + ': ' + datum.value")
    squares = named.mark_rect(strokeWidth=0.5, cursor="pointer").encode(
        description="said:N",
        fill=alt.Fill("fill:N", scale=None, legend=None),
        stroke=alt.Stroke("edge:N", scale=None, legend=None),
        tooltip=[alt.Tooltip("what:N", title=" "), alt.Tooltip("value:N", title="=")],
    )
    return squares.add_params(hover, click)


def draw_hatches(boxes: alt.Chart) -> alt.Chart:
    """Return the layer that hatches each blocked cell with a diagonal line."""
    lines = rows_of_kind(boxes, "blocked").mark_rule(strokeWidth=1, opacity=0.45, **SILENT)
    return lines.encode(color=alt.Color("ink:N", scale=None, legend=None))


def draw_bars(boxes: alt.Chart) -> alt.Chart:
    """Return the layer of filled rectangles, such as bars, that are not cells of a matrix."""
    bars = rows_of_kind(boxes, "bar").mark_rect(aria=False)
    return bars.encode(color=alt.Color("fill:N", scale=None))


def draw_cell_texts() -> alt.Chart:
    """Return the layer of texts: a cell's number in the middle of the cell, and labels at their points."""
    rows = alt.Chart().transform_filter("datum.text != ''")
    rows = rows.transform_calculate(
        middle="(datum.x + datum.x2) / 2",
        centre="(datum.y + datum.y2) / 2",
    )
    texts = rows.mark_text(
        font=FONT,
        align={"expr": "datum.align"},
        baseline="middle",
        angle={"expr": "datum.angle"},
        fontSize={"expr": "datum.size"},
        **SILENT,
    )
    return texts.encode(
        x=alt.X("middle:Q", axis=None, scale=None),
        y=alt.Y("centre:Q", axis=None, scale=None),
        text="text:N",
        color=alt.Color("ink:N", scale=None, legend=None),
    )


def draw_hovered_cells(cells: alt.Chart) -> alt.Chart:
    """Return the layer that outlines cells while a product's cell is hovered: the cell, its row of the left operand,
    and its column of the operand above.

    If several results are shown, the cell is outlined in all of them.
    """
    hovered = cells.transform_filter(
        "isArray(hover.row) && datum.row >= 0 && hover.panel[0] == 'result' && ("
        "(datum.panel == 'left' && datum.row == hover.row[0]) || "
        "(datum.panel == 'above' && datum.column == hover.column[0]) || "
        "(datum.panel != 'left' && datum.panel != 'above' && datum.row == hover.row[0] && "
        "datum.column == hover.column[0]))"
    )
    return hovered.mark_rect(fill=None, stroke=HOVER_COLOUR, strokeWidth=1.5, **SILENT).encode()


def draw_outlines(boxes: alt.Chart) -> alt.Chart:
    """Return the layer that outlines the chosen cell and the cells from which it was computed."""
    outlined = boxes.transform_filter("datum.kind == 'chosen' || datum.kind == 'read'")
    width = {"expr": "datum.kind == 'chosen' ? 2.5 : 2"}
    frames = outlined.mark_rect(fill=None, strokeWidth=width, **SILENT)
    return frames.encode(stroke=alt.Stroke("fill:N", scale=None, legend=None))


def sized_specification(width: float, height: float, padding: int = 2) -> dict:
    """Return the specification of cells for a picture of this size; one data unit is one pixel."""
    return {
        **cell_specification(),
        "width": int(width),
        "height": int(height),
        "padding": dict.fromkeys(("left", "right", "top", "bottom"), padding),
        "background": "transparent",
    }


# ---- still pictures of animations ------------------------------------------------------------------------------------
@cache
def still_layers() -> dict:
    """Return the layers of a picture without clicks: lines of varying thickness below rectangles, texts and
    outlines.
    """
    import_pandas()
    points = place_points()
    boxes = points.encode(x2="x2:Q", y2="y2:Q")
    chart = alt.layer(draw_threads(points), draw_bars(boxes), draw_cell_texts(), draw_outlines(boxes))
    return finish_specification(chart)


def draw_threads(points: alt.Chart) -> alt.Chart:
    """Return the layer of the lines between queries and keys ("threads"); each line's thickness and points are in its
    table rows.
    """
    lines = rows_of_kind(points, "thread").mark_line(**SILENT)
    return lines.encode(
        color=own_colour(),
        detail="name:N",
        order="order:Q",
        strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None),
    )


def still_specification(width: float, height: float) -> dict:
    """Return the specification of a picture without clicks, with a fixed size in pixels that a long text does not
    enlarge.
    """
    return {
        **still_layers(),
        "width": int(width),
        "height": int(height),
        "padding": dict.fromkeys(("left", "right", "top", "bottom"), 2),
        "autosize": {"type": "none"},
        "background": "transparent",
    }


# ---- parts of all specifications -------------------------------------------------------------------------------------
def rows_of_kind(chart: alt.Chart, kind: str) -> alt.Chart:
    """Return a chart that draws only those table rows whose kind of mark is `kind`."""
    return chart.transform_filter(f"datum.kind == '{kind}'")


def own_colour() -> alt.Color:
    """Return an encoding that reads each mark's colour from the column "fill" of its table row."""
    return alt.Color("fill:N", scale=None, legend=None)


def finish_specification(chart: alt.LayerChart) -> dict:
    """Return a chart without a frame, as a Vega-Lite dictionary."""
    frameless = chart.configure_view(stroke=None)
    return without_data(frameless.to_dict(validate=False))  # not validated, which takes 0.1 s per chart; tests do it


def without_data(spec: dict) -> dict:
    """Return a specification without the empty data sets that Altair writes, which would replace the data sent to the
    chart.
    """
    if isinstance(spec, list):
        return [without_data(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    kept = {}
    for key, part in spec.items():
        if key not in UNWANTED_KEYS:
            kept[key] = without_data(part)
    return kept


# ---- curves on two axes ----------------------------------------------------------------------------------------------
@lru_cache(maxsize=64)
def curve_specification(x: Axis, y: Axis, palette: Palette, width: int, height: int) -> dict:
    """Return the specification of curves on two axes: bands, lines, points, bars, vertical rules and texts.

    Hovering a point shows its numbers.
    """
    layers = curve_layers()
    axes = {"x": encode_axis(x, alt.X, "x").to_dict(), "y": encode_axis(y, alt.Y, "y").to_dict()}
    return {
        **layers,
        "layer": [{**layer, "encoding": put_on_axes(layer["encoding"], axes)} for layer in layers["layer"]],
        "config": {**layers["config"], "axis": style_axes(palette)},
        "width": width,
        "height": height,
        "background": "transparent",
        "autosize": {"type": "fit-x", "contains": "padding"},  # the plot area gets the width that labels leave
    }


@cache
def curve_layers() -> dict:
    """Return the layers of all charts of curves, without axes.

    The result is cached, because Altair needs 0.1 s to build the layers.
    """
    import_pandas()
    rows = alt.Chart().encode(x="x:Q", y="y:Q")
    chart = alt.layer(
        draw_bands(rows),
        draw_curve_bars(rows),
        draw_upright_rules(rows),
        draw_covered_stretches(rows),
        draw_curve_lines(rows),
        draw_points(rows, "point", filled=True, size={"expr": "datum.size"}),
        draw_points(rows, "zero", filled=False, size={"expr": "datum.size + 10"}, shape="triangle-down"),
        draw_curve_names(rows),
    )
    return finish_specification(chart)


def put_on_axes(encoding: dict, axes: dict[str, dict]) -> dict:
    """Return the encoding of a mark in which axes replace the channels that only name a column.

    encoding: the encoding of one mark. axes: {channel: its encoding along an axis}.
    """
    put = dict(encoding)
    for channel, axis in axes.items():
        if put[channel] == {"field": channel, "type": "quantitative"}:
            put[channel] = axis
    return put


def encode_axis(axis: Axis, channel: type[alt.X] | type[alt.Y], field: str) -> alt.X | alt.Y:
    """Return the encoding of an axis's quantity, from the table column `field`, along x or y."""
    scale = alt.Scale(
        type="log" if axis.log else "linear",
        domain=[axis.first, axis.last],
        nice=False,
        clamp=True,
    )
    marked = alt.Axis(title=axis.title, labelOverlap=True, **tick_settings(axis))
    return channel(f"{field}:Q", scale=scale, axis=marked)


def style_axes(palette: Palette) -> dict:
    """Return the configuration of both axes: the colours of the theme and the font of the pictures."""
    return {
        "labelFontSize": AXIS_TEXT_PX,
        "titleFontSize": AXIS_TEXT_PX,
        "labelColor": palette.ink,
        "titleColor": palette.ink,
        "labelFont": FONT,
        "titleFont": FONT,
        "titleFontWeight": "normal",
        "gridColor": palette.faint,
        "domainColor": palette.faint,
        "tickColor": palette.faint,
    }


def draw_bands(rows: alt.Chart) -> alt.Chart:
    """Return the layer of bands: the areas between the lower and the upper bounds of curves."""
    areas = rows_of_kind(rows, "band").mark_area(opacity=0.18, **SILENT)
    return areas.encode(y2="y2:Q", color=own_colour(), detail="name:N")


def draw_curve_bars(rows: alt.Chart) -> alt.Chart:
    """Return the layer of bars between two points of the plot area."""
    bars = rows_of_kind(rows, "bar").mark_rect(opacity=0.75, tooltip=None)
    return bars.encode(x2="x2:Q", y2="y2:Q", color=own_colour())


def draw_upright_rules(rows: alt.Chart) -> alt.Chart:
    """Return the layer of dashed vertical lines across the plot area."""
    rules = rows_of_kind(rows, "rule").mark_rule(strokeWidth=1.5, strokeDash=[4, 4], **SILENT)
    return rules.encode(y=alt.value(0), y2=alt.value("height"), color=own_colour())


def own_dashes() -> alt.StrokeDash:
    """Return an encoding that dashes the line if the column "dashed" of its table row is True."""
    patterns = alt.Scale(domain=[False, True], range=[[1, 0], [7, 5]])
    return alt.StrokeDash("dashed:N", scale=patterns, legend=None)


def draw_covered_stretches(rows: alt.Chart) -> alt.Chart:
    """Return the layer that draws the stretches of a curve that another curve covers, with the width given in their
    table row.
    """
    stretches = rows_of_kind(rows, "under").mark_rule(**SILENT)
    return stretches.encode(
        x2="x2:Q",
        y2="y2:Q",
        color=own_colour(),
        strokeDash=own_dashes(),
        strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None),
    )


def draw_curve_lines(rows: alt.Chart) -> alt.Chart:
    """Return the layer of the curves' lines through their points."""
    points = rows.transform_filter("datum.kind == 'point' || datum.kind == 'zero'")
    lines = points.mark_line(strokeWidth=2.5, **SILENT)
    return lines.encode(color=own_colour(), detail="name:N", strokeDash=own_dashes())


def draw_points(rows: alt.Chart, kind: str, **form) -> alt.Chart:
    """Return the layer of the points of one kind, with tooltips. form: Vega-Lite properties of the mark."""
    points = rows_of_kind(rows, kind).mark_point(opacity=1, **form)
    return points.encode(color=own_colour(), **told_text())


def told_text() -> dict:
    """Return an encoding that makes the table column "said" a mark's tooltip and its description for screen readers."""
    return {"description": "said:N", "tooltip": [alt.Tooltip("said:N", title=" ")]}


def draw_curve_names(rows: alt.Chart) -> alt.Chart:
    """Return the layer of the curves' names, each at the height in pixels that its table row gives."""
    names = rows_of_kind(rows, "text").mark_text(align="left", dx=6, fontSize=14, font=FONT, **SILENT)
    return names.encode(y=alt.Y("y:Q", scale=None, axis=None), text="name:N", color=own_colour())


# ---- arrows on a plane -----------------------------------------------------------------------------------------------
def plane_specification(reach: float, side: int) -> dict:
    """Return the specification of arrows and arcs on a square plane.

    Arrows start in the middle and have their names at their tips. reach: both axes run from -reach to reach. side: the
    side of the square in pixels.
    """
    import_pandas()
    rows = alt.Chart().encode(color=own_colour())
    start = encode_point(reach, "x:Q", "y:Q")
    end = encode_point(reach, "x2:Q", "y2:Q")
    axes = rows_of_kind(rows, "axis").mark_rule(strokeWidth=1, **SILENT)
    arcs = rows_of_kind(rows, "arc").mark_line(strokeWidth=1.5, opacity=0.6, **SILENT)
    arrows = rows_of_kind(rows, "arrow")
    shafts = arrows.mark_rule(strokeWidth=3, **SILENT)
    tips = arrows.mark_point(shape="triangle-up", filled=True, size=160, angle={"expr": "datum.angle"})
    names = arrows.mark_text(dy={"expr": "datum.y2 < 0 ? 18 : -18"}, fontSize=15, font=FONT, **SILENT)
    faded = alt.condition("datum.faint", alt.value(0.35), alt.value(1.0))
    chart = alt.layer(
        axes.encode(**start, x2="x2:Q", y2="y2:Q"),
        arcs.encode(**start, order="order:Q", detail="name:N"),
        shafts.encode(**start, x2="x2:Q", y2="y2:Q", opacity=faded),
        tips.encode(**end, **told_text(), opacity=faded),
        names.encode(**end, text="name:N", opacity=faded),
    )
    return finish_specification(chart) | {
        "width": side,
        "height": side,
        "padding": {"left": 50, "right": 50, "top": 28, "bottom": 28},  # pixels for the names of arrows at the edge
        "autosize": {"type": "none"},
        "background": "transparent",
    }


def encode_point(reach: float, across: str, up: str) -> dict:
    """Return the encoding of a point of the plane. across, up: the table columns with its coordinates."""
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    return {
        "x": alt.X(across, scale=scale, axis=None),
        "y": alt.Y(up, scale=scale, axis=None),
    }
