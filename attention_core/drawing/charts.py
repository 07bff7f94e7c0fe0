"""Pictures: every chart is a table of cells placed in pixels, drawn by one Vega-Lite specification.

The only file that knows Altair. The specification is built once; what changes from picture to picture is the table
(drawing.py), so a rerun sends data and keeps the chart.
"""

import importlib
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import altair as alt

from attention_core.drawing.cells import (
    cell_size,
    cell_table,
    choose_number_format,
    colour_reach,
    comfortable_cell_size,
    darkest_share,
    place_matrix,
    place_ramp,
    place_signed_ramp,
)
from attention_core.drawing.palette import Palette
from attention_core.drawing.text_layout import (
    PictureTexts,
    column_labels,
    label_margin,
    place_label,
    place_row_labels,
    shorten_text,
    text_width,
)
from attention_core.explanation.facts import row_fact
from attention_core.explanation.layout import Panel, Product, panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact
from attention_core.record.trace import Trace

PAGE_WIDTH_PX = 820.0  # pixels: as wide as a picture may be on a projector
PANEL_GAP_PX = 26.0  # between two matrices of a picture
MAP_WIDTH_PX = 394.0  # two maps of heads stand beside each other there
MAP_TITLE_PX = 16.0  # the size of the text over a map
FONT = "'Noto Sans CJK SC', 'Noto Sans SC', 'PingFang SC', 'Microsoft YaHei', 'Source Sans 3', sans-serif"


@dataclass(frozen=True, eq=False)
class Picture:
    """A table of cells, column by column, and the specification that draws it."""

    table: dict[str, list]
    spec: dict


# ---- pictures --------------------------------------------------------------------------------------------------------
def head_map(
    trace: Trace,
    head: int,
    words: PictureTexts,
    palette: Palette,
    chosen: Ref | None = None,
    query: int | None = None,
    times: bool = False,
    batch: int = 0,
    axes: tuple[str, str] = ("", ""),
    title: str = "",
    most: float = 40.0,
    room: float = MAP_WIDTH_PX,
) -> Picture:
    """One head's weights as a map, tokens on both sides, the chosen query's row outlined, the ramp with 1/S marked.

    times: colours count in even shares, so that long rows show their shape. axes: what stands beside rows and above
    columns, written into the corner. title: what stands over the map. most: the side of a cell, at
    most. room: the width of the map, at most.
    """
    drawn = panel(trace, "weights", {"B": batch, "H": head})
    count, keys = drawn.values.shape
    corner = [f"{axes[1]} →", f"{axes[0]} ↓"] if any(axes) else []
    left = max([label_margin(drawn, words, 40.0), *(text_width(text, 13.0) + 8 for text in corner)])
    size = cell_size(count, keys, room - left - 24, most, least=min(16.0, (PAGE_WIDTH_PX - left - 24) // keys))
    while size > 16 and left + keys * size + column_labels(drawn, words, size).overhang + 8 > room:
        size -= 1
    above = column_labels(drawn, words, size)
    heading = MAP_TITLE_PX + 8 if title else 0.0
    top = heading + max(above.room, 44.0 if corner else 0.0)
    reach = colour_reach(trace, "weights", batch) if trace.difference else darkest_share(keys, times)
    rows = place_matrix(drawn, trace, words, palette, (left, top), size, chosen, reach=reach)
    rows += place_row_labels(drawn, words, palette, left, top, size, left - 8)
    rows += above.drawn(palette, left, top)
    for line, text in enumerate(reversed(corner)):
        rows.append(place_label(text, left - 6, top - 9 - 16 * line, palette, align="right", size=13.0))
    if title:
        rows.append(
            place_label(
                shorten_text(title, room, MAP_TITLE_PX),
                0,
                MAP_TITLE_PX / 2 + 2,
                palette,
                align="left",
                size=MAP_TITLE_PX,
            )
        )
    even = keys  # how many an even share is divided by: all keys, or those that the chosen query may attend to
    if query is not None and query < count:
        even = keys if times or trace.difference else row_fact(trace, head, query, batch).possible or keys
        y = top + query * size
        frame = {"kind": "chosen", "x": left, "x2": left + keys * size, "y": y, "y2": y + size, "fill": palette.outline}
        rows.append(frame)
    bottom = top + count * size
    scale = (palette, left, bottom + 10, max(keys * size, 120))
    rows += place_signed_ramp(*scale, reach) if trace.difference else place_ramp(*scale, even, times)
    width = max(left + max(keys * size + above.overhang, 120) + 8, min(text_width(title, MAP_TITLE_PX), room))
    return Picture(cell_table(rows), sized_specification(width, bottom + 40))


def product_picture(
    drawn: Product,
    trace: Trace,
    words: PictureTexts,
    palette: Palette,
    titles: dict[str, str],
    chosen: Ref | None = None,
) -> Picture:
    """left x above = result, laid out so that each result cell lies where its row and its column meet."""
    count, inner = drawn.left.values.shape
    columns = drawn.above.values.shape[1]
    written = max(text_width(titles[name], 14.0) for name in ("above", "result"))

    def width(cell: float) -> float:
        right = max(columns * cell + column_labels(drawn.above, words, cell).overhang, written)
        return label_margin(drawn.left, words, cell) + inner * cell + PANEL_GAP_PX + right + 20

    most = comfortable_cell_size((drawn.left, drawn.above, drawn.result), 38.0)
    size = fit_cell_side(count + drawn.above.values.shape[0], inner + columns, width, most)
    margin = label_margin(drawn.left, words, size)
    heads = column_labels(drawn.above, words, size)
    top = heads.room + 22
    x1, y1 = margin + inner * size + PANEL_GAP_PX, top + drawn.above.values.shape[0] * size + PANEL_GAP_PX
    rows = place_matrix(drawn.above, trace, words, palette, (x1, top), size, chosen, "above")
    rows += place_matrix(drawn.left, trace, words, palette, (margin, y1), size, chosen, "left")
    rows += place_matrix(drawn.result, trace, words, palette, (x1, y1), size, chosen, "result")
    rows += place_row_labels(drawn.left, words, palette, margin, y1, size, margin - 8)
    rows += place_row_labels(drawn.above, words, palette, x1, top, size, x1 - 8)
    rows += heads.drawn(palette, x1, top)
    rows.append(place_label(titles["above"], x1, 10, palette, align="left", size=14.0))
    bottom = y1 + count * size
    rows.append(place_label(titles["left"], margin, y1 - 10, palette, align="left", size=14.0))
    rows.append(place_label(titles["result"], x1, bottom + 14, palette, align="left", size=14.0))
    return Picture(cell_table(rows), sized_specification(width(size), bottom + 26))


def single_picture(
    panels: Sequence[Panel],
    trace: Trace,
    words: PictureTexts,
    palette: Palette,
    titles: Sequence[str],
    chosen: Ref | None,
    reach: float | None = None,
    most: float | None = None,
) -> Picture:
    """One matrix, or an operand beside the result that was made from it cell by cell: their rows stand for the same.

    reach: the magnitude that has the result's strongest colour, where that is not its own: compared maps share one.
    most: the side of the largest cell that is wanted; None: what its numbers need to be read.
    """
    count = max(drawn.values.shape[0] for drawn in panels)
    across = sum(drawn.values.shape[1] for drawn in panels)

    tallest = max(panels, key=lambda drawn: len(drawn.refs))  # an operand may have fewer rows: a cache, without the new

    def widths(cell: float) -> list[float]:
        reach = [each.values.shape[1] * cell + column_labels(each, words, cell).overhang for each in panels]
        return [max(cells, text_width(title, 14.0)) + PANEL_GAP_PX for cells, title in zip(reach, titles, strict=True)]

    def width(cell: float) -> float:
        return label_margin(tallest, words, cell) + sum(widths(cell))

    number = choose_number_format(trace, colour_reach(trace, panels[-1].step) if reach is None else reach)
    size = fit_cell_side(count, across, width, comfortable_cell_size(panels, 38.0, number) if most is None else most)
    above = [column_labels(drawn, words, size) for drawn in panels]
    top, left = max(each.room for each in above) + 22, label_margin(tallest, words, size)
    rows = place_row_labels(tallest, words, palette, left, top, size, left - 8)
    names = ("operand", "result")[-len(panels) :]
    for drawn, labels, title, name, room in zip(panels, above, titles, names, widths(size), strict=True):
        rows += place_matrix(
            drawn, trace, words, palette, (left, top), size, chosen, name, reach if name == "result" else None
        )
        rows += labels.drawn(palette, left, top)
        rows.append(place_label(title, left, 10, palette, align="left", size=14.0))
        left += room
    return Picture(cell_table(rows), sized_specification(left, top + count * size + 8))


def make_equally_large(pictures: Sequence[Picture]) -> list[Picture]:
    """The same pictures, all as wide and as high as the widest and the highest of them."""
    sides = {side: max(picture.spec[side] for picture in pictures) for side in ("width", "height")}
    return [Picture(picture.table, picture.spec | sides) for picture in pictures]


def fit_cell_side(rows: int, columns: int, width: Callable[[float], float], most: float) -> float:
    """The side of the largest cells with which a picture fits the page. width: of the picture, with cells of a side."""
    side = cell_size(rows, columns, PAGE_WIDTH_PX, most)
    while side > 10 and width(side) > PAGE_WIDTH_PX:
        side -= 1
    return side


# ---- the one specification -------------------------------------------------------------------------------------------
@cache
def cell_specification() -> dict:
    """Rectangles, hatches, outlines and texts at given pixels; a click names a cell, hovering lights row and column.

    A screen reader is told of each cell what it is and its number, and of nothing else that is drawn.
    """
    if "pandas" in sys.modules:  # which Altair looks into, also while another thread is still importing it
        importlib.import_module("pandas")  # waits for that
    base = alt.Chart().encode(
        x=alt.X("x:Q", axis=None, scale=None),
        y=alt.Y("y:Q", axis=None, scale=None),
    )
    box = base.encode(x2="x2:Q", y2="y2:Q")
    cells = box.transform_filter("datum.kind == 'cell' || datum.kind == 'blocked'")
    hover = alt.selection_point(name="hover", on="pointerover", clear="pointerout", fields=["row", "column", "panel"])
    click = alt.selection_point(name="cell", on="click", fields=["step", "index", "turn"], empty=False)
    rectangles = (
        cells.transform_calculate(said="datum.what + ': ' + datum.value")
        .mark_rect(strokeWidth=0.5, cursor="pointer")
        .encode(
            description="said:N",
            fill=alt.Fill("fill:N", scale=None, legend=None),
            stroke=alt.Stroke("edge:N", scale=None, legend=None),
            tooltip=[alt.Tooltip("what:N", title=" "), alt.Tooltip("value:N", title="=")],
        )
        .add_params(hover, click)
    )
    hatch = (
        box.transform_filter("datum.kind == 'blocked'")
        .mark_rule(strokeWidth=1, opacity=0.45, tooltip=None, aria=False)
        .encode(color=alt.Color("ink:N", scale=None, legend=None))
    )
    bars = (
        box.transform_filter("datum.kind == 'bar'").mark_rect(aria=False).encode(color=alt.Color("fill:N", scale=None))
    )
    texts = (  # of the cells in their middle, of the labels at their point
        alt.Chart()
        .transform_filter("datum.text != ''")
        .transform_calculate(middle="(datum.x + datum.x2) / 2", centre="(datum.y + datum.y2) / 2")
        .mark_text(
            font=FONT,
            align={"expr": "datum.align"},
            baseline="middle",
            angle={"expr": "datum.angle"},
            fontSize={"expr": "datum.size"},
            tooltip=None,
            aria=False,
        )
        .encode(
            x=alt.X("middle:Q", axis=None, scale=None),
            y=alt.Y("centre:Q", axis=None, scale=None),
            text="text:N",
            color=alt.Color("ink:N", scale=None, legend=None),
        )
    )
    lit = (
        cells.transform_filter(
            "isArray(hover.row) && datum.row >= 0 && hover.panel[0] == 'result' && ("
            "(datum.panel == 'left' && datum.row == hover.row[0]) || "
            "(datum.panel == 'above' && datum.column == hover.column[0]) || "
            "(datum.panel != 'left' && datum.panel != 'above' && datum.row == hover.row[0] && "
            "datum.column == hover.column[0]))"
        )
        .mark_rect(fill=None, stroke="#d97706", strokeWidth=1.5, tooltip=None, aria=False)
        .encode()
    )
    chosen = (
        box.transform_filter("datum.kind == 'chosen' || datum.kind == 'read'")
        .mark_rect(fill=None, strokeWidth={"expr": "datum.kind == 'chosen' ? 2.5 : 2"}, tooltip=None, aria=False)
        .encode(stroke=alt.Stroke("fill:N", scale=None, legend=None))
    )
    chart = alt.layer(rectangles, hatch, bars, texts, lit, chosen)
    spec = chart.configure_view(stroke=None).to_dict(validate=False)  # a tenth of a second; the tests validate
    return without_data(spec)


def without_data(spec: dict) -> dict:
    """The specification without the empty data sets that Altair writes into it, which would hide the real one."""
    if isinstance(spec, list):
        return [without_data(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    return {key: without_data(part) for key, part in spec.items() if key not in ("data", "datasets", "$schema")}


def sized_specification(width: float, height: float, padding: int = 2) -> dict:
    """The specification at a size in pixels; one data unit is one pixel."""
    return {
        **cell_specification(),
        "width": int(width),
        "height": int(height),
        "padding": dict.fromkeys(("left", "right", "top", "bottom"), padding),
        "background": "transparent",
    }


# ---- curves ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Axis:
    """What runs along an axis, from where to where, and whether each step of it multiplies (log) or adds."""

    title: str
    first: float
    last: float
    log: bool = False
    values: tuple[float, ...] = ()  # where numbers stand; none: where Vega puts them
    texts: tuple[str, ...] = ()  # what stands at each of them in the place of its number


def powers_of_ten(axis: Axis) -> tuple[float, ...]:
    """Where numbers stand on a logarithmic axis.

    >>> powers_of_ten(Axis("", 0.005, 20.0, log=True))
    (0.01, 0.1, 1.0, 10.0)
    """
    first, last = math.ceil(math.log10(axis.first)), math.floor(math.log10(axis.last))
    return tuple(10.0**power for power in range(first, last + 1))


@lru_cache(maxsize=64)
def curve_specification(x: Axis, y: Axis, palette: Palette, width: int, height: int) -> dict:
    """Bands, lines, points, bars, upright rules and texts on two axes; pointing at a point tells its numbers."""

    def scaled(axis: Axis, encoding: type, field: str) -> object:
        scale = alt.Scale(type="log" if axis.log else "linear", domain=[axis.first, axis.last], nice=False, clamp=True)
        ticks = axis.values or (powers_of_ten(axis) if axis.log else ())
        more = {"values": list(ticks)} if ticks else {}
        if axis.texts:
            texts = dict(zip(map(format_exact, axis.values), axis.texts, strict=True))
            more["labelExpr"] = f"({json.dumps(texts)})[datum.value]"
        return encoding(f"{field}:Q", scale=scale, axis=alt.Axis(title=axis.title, labelOverlap=True, **more))

    base = alt.Chart().encode(x=scaled(x, alt.X, "x"), y=scaled(y, alt.Y, "y"))
    colour = alt.Color("fill:N", scale=None, legend=None)

    def of(kind: str) -> alt.Chart:
        return base.transform_filter(f"datum.kind == '{kind}'")

    band = of("band").mark_area(opacity=0.18, tooltip=None, aria=False).encode(y2="y2:Q", color=colour, detail="name:N")
    bars = of("bar").mark_rect(opacity=0.75, tooltip=None).encode(x2="x2:Q", y2="y2:Q", color=colour)
    rules = of("rule").mark_rule(strokeWidth=1.5, strokeDash=[4, 4], tooltip=None, aria=False)
    dash = alt.StrokeDash("dashed:N", scale=alt.Scale(domain=[False, True], range=[[1, 0], [7, 5]]), legend=None)
    wide = alt.StrokeWidth("width:Q", scale=None, legend=None)
    under = of("under").mark_rule(tooltip=None, aria=False).encode(x2="x2:Q", y2="y2:Q", color=colour)
    lines = base.transform_filter("datum.kind == 'point' || datum.kind == 'zero'").mark_line(
        strokeWidth=2.5, tooltip=None, aria=False
    )
    points = of("point").mark_point(filled=True, size={"expr": "datum.size"}, opacity=1)
    zeros = of("zero").mark_point(filled=False, size={"expr": "datum.size + 10"}, shape="triangle-down", opacity=1)
    told = {"description": "said:N", "tooltip": [alt.Tooltip("said:N", title=" ")], "color": colour}
    texts = of("text").mark_text(align="left", dx=6, fontSize=14, font=FONT, tooltip=None, aria=False)
    chart = alt.layer(
        band,
        bars,
        rules.encode(y=alt.value(0), y2=alt.value(height), color=colour),
        under.encode(strokeDash=dash, strokeWidth=wide),
        lines.encode(color=colour, detail="name:N", strokeDash=dash),
        points.encode(**told),
        zeros.encode(**told),
        texts.encode(y=alt.Y("y:Q", scale=None, axis=None), text="name:N", color=colour),  # placed in pixels
    )
    chart = chart.configure_view(stroke=None).configure_axis(
        **dict.fromkeys(("labelFontSize", "titleFontSize"), 14),
        **dict.fromkeys(("labelColor", "titleColor"), palette.ink),
        **dict.fromkeys(("labelFont", "titleFont"), FONT),
        **dict.fromkeys(("gridColor", "domainColor", "tickColor"), palette.faint),
        titleFontWeight="normal",
    )
    spec = without_data(chart.to_dict(validate=False))
    fit = {"type": "fit-x", "contains": "padding"}  # axes and names take what they need, the field what is left
    return spec | {"width": width, "height": height, "background": "transparent", "autosize": fit}


def plane_specification(reach: float, side: int) -> dict:
    """Arrows from the middle of a square plane, both axes from -reach to reach, their tips named, and arcs."""
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    base = alt.Chart().encode(color=alt.Color("fill:N", scale=None, legend=None))

    def placed(field: str) -> dict:
        return {
            "x": alt.X(f"x{field}:Q", scale=scale, axis=None),
            "y": alt.Y(f"y{field}:Q", scale=scale, axis=None),
        }

    def of(kind: str) -> alt.Chart:
        return base.transform_filter(f"datum.kind == '{kind}'")

    dim = alt.condition("datum.faint", alt.value(0.35), alt.value(1.0))
    axes = of("axis").mark_rule(strokeWidth=1, tooltip=None, aria=False).encode(**placed(""), x2="x2:Q", y2="y2:Q")
    arcs = of("arc").mark_line(strokeWidth=1.5, opacity=0.6, tooltip=None, aria=False)
    shafts = of("arrow").mark_rule(strokeWidth=3, tooltip=None, aria=False)
    tips = of("arrow").mark_point(shape="triangle-up", filled=True, size=160, angle={"expr": "datum.angle"})
    texts = of("arrow").mark_text(
        dy={"expr": "datum.y2 < 0 ? 18 : -18"},
        fontSize=15,
        font=FONT,
        tooltip=None,
        aria=False,
    )
    told = {"description": "said:N", "tooltip": [alt.Tooltip("said:N", title=" ")]}
    chart = alt.layer(
        axes,
        arcs.encode(**placed(""), order="order:Q", detail="name:N"),
        shafts.encode(**placed(""), x2="x2:Q", y2="y2:Q", opacity=dim),
        tips.encode(**placed("2"), **told, opacity=dim),
        texts.encode(**placed("2"), text="name:N", opacity=dim),
    )
    spec = without_data(chart.configure_view(stroke=None).to_dict(validate=False))
    frame = {"padding": {"left": 50, "right": 50, "top": 28, "bottom": 28}, "autosize": {"type": "none"}}  # for names
    return spec | frame | {"width": side, "height": side, "background": "transparent"}
