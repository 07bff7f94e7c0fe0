"""Draws matrices: a head's attention weights as a map, a step as a matrix product, a matrix beside its operand."""

from collections.abc import Callable, Sequence
from functools import partial

from attention_core.drawing.cells import (
    box,
    cell_size,
    cell_table,
    choose_number_format,
    colour_reach,
    comfortable_cell_size,
    darkest_share,
    place_matrix,
    place_outline,
)
from attention_core.drawing.palette import Palette, palette_for
from attention_core.drawing.ramps import place_ramp, place_signed_ramp
from attention_core.drawing.specifications import (
    PAGE_WIDTH_PX,
    Picture,
    sized_specification,
)
from attention_core.drawing.text_layout import (
    PictureTexts,
    column_labels,
    label_margin,
    place_fitted_label,
    place_label,
    place_row_labels,
    text_width,
)
from attention_core.explanation.facts import row_fact
from attention_core.explanation.layout import Panel, Product, panel
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

MAP_WIDTH_PX = 394.0  # in pixels: the width of an attention map, so that two fit side by side on a page
MAP_TITLE_PX = 16.0  # in pixels: the text size of the title above an attention map
CORNER_TEXT_PX, CORNER_HEIGHT_PX = 13.0, 44.0  # in pixels: the text size and height of the axis names in a map's corner
MIN_RAMP_WIDTH_PX = 120
PANEL_GAP_PX = 26.0  # in pixels: the distance between two matrices of a picture
PRODUCT_TEXTS_PX = 48.0  # in pixels: the height of the titles above and below a product
WHOLE_PAGE = (PAGE_WIDTH_PX, float("inf"))  # (width, height) in pixels: the page's width, any height
PANEL_TITLE_PX = 14.0  # in pixels: the text size of a matrix title
MAX_PANEL_CELL_PX = 38.0  # in pixels: the largest side of a cell, unless its number needs more


# ---- one head --------------------------------------------------------------------------------------------------------
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
    """Draw a head's weights as an attention map: queries as rows, keys as columns, and a colour scale below.

    query: the index of the query whose row is outlined; None for none. times: True if colours are multiples of a
    uniform share, so that long rows show their shape. axes: the names of rows and columns, drawn in the corner. title:
    drawn above the map. most: the largest side of a cell. room: the largest width of the map.
    """
    palette = palette_for(trace, palette)
    drawn = panel(trace, "weights", {"B": batch, "H": head})
    queries, keys = drawn.values.shape
    corner = [f"{axes[0]} ↓", f"{axes[1]} →"] if any(axes) else []
    corner_margins = [text_width(text, CORNER_TEXT_PX) + 8 for text in corner]
    left = max([label_margin(drawn, words, 40.0), *corner_margins])  # wide enough for row names and axis names
    size = map_cell_size(drawn, words, left, most, room)
    labels = column_labels(drawn, words, size)
    heading = MAP_TITLE_PX + 8 if title else 0.0
    corner_height = CORNER_HEIGHT_PX if corner else 0.0
    top = heading + max(labels.room, corner_height)
    right = left + keys * size
    bottom = top + queries * size
    is_query_drawn = query is not None and query < queries
    ramp_width = max(keys * size, MIN_RAMP_WIDTH_PX)
    if trace.difference:
        reach = colour_reach(trace, "weights", batch)
        ramp = place_signed_ramp(palette, left, bottom + 10, ramp_width, reach)
    else:
        reach = darkest_share(keys, times)
        even = keys  # the ramp marks 1 / even, the uniform weight over all keys
        if is_query_drawn and not times:
            even = row_fact(trace, head, query, batch).possible or keys  # the uniform weight over the allowed keys
        ramp = place_ramp(palette, left, bottom + 10, ramp_width, even, times)
    rows = place_matrix(
        drawn,
        trace,
        words,
        palette,
        origin=(left, top),
        size=size,
        chosen=chosen,
        reach=reach,
    )
    rows += place_row_labels(drawn, words, palette, left, top, size)
    rows += labels.drawn(palette, left, top)
    rows += place_corner(corner, left, top, palette)
    if title:
        rows.append(place_map_title(title, 0, room, palette))
    if is_query_drawn:
        y = top + query * size
        rows.append(place_outline(box(left, right, y, y + size), palette))
    rows += ramp
    title_width = text_width(title, MAP_TITLE_PX)
    width = max(
        right + labels.overhang + 8,
        left + MIN_RAMP_WIDTH_PX + 8,
        min(title_width, room),
    )
    return Picture(cell_table(rows), sized_specification(width, bottom + 40))


def place_map_title(text: str, x: float, room: float, palette: Palette, y: float = 0.0) -> dict:
    """Return the label with the title above a map.

    x, y: the upper left corner of the title.
    """
    return place_fitted_label(text, x, y + MAP_TITLE_PX / 2 + 2, room, MAP_TITLE_PX, palette)


def map_cell_size(drawn: Panel, words: PictureTexts, left: float, most: float, room: float) -> float:
    """Return the largest cell side in pixels with which an attention map fits the width `room`.

    If that side is below 16 pixels, the map may be wider than `room`, up to the page.
    """
    queries, keys = drawn.values.shape
    margins = left + 24
    fitting_page = (PAGE_WIDTH_PX - margins) // keys
    least = min(16.0, fitting_page)
    size = cell_size(queries, keys, room - margins, most, least)
    while size > 16:
        overhang = column_labels(drawn, words, size).overhang
        if left + keys * size + overhang + 8 <= room:
            break
        size -= 1
    return size


def place_corner(corner: Sequence[str], left: float, top: float, palette: Palette) -> list[dict]:
    """Return the labels of both axis names, one above the other, in the corner at the left of the column names."""
    rows = []
    for line, text in enumerate(corner):
        y = top - 9 - 16 * line
        rows.append(place_label(text, left - 6, y, palette, align="right", size=CORNER_TEXT_PX))
    return rows


# ---- one step --------------------------------------------------------------------------------------------------------
def product_picture(
    drawn: Product,
    trace: Trace,
    words: PictureTexts,
    palette: Palette,
    titles: dict[str, str],
    chosen: Ref | None = None,
    room: tuple[float, float] = WHOLE_PAGE,
) -> Picture:
    """Draw the matrix product left x above = result so that each result cell lies where its row and column meet.

    room: the largest width and height of the picture.
    """
    palette = palette_for(trace, palette)
    count, inner = drawn.left.values.shape
    depth, columns = drawn.above.values.shape
    width_with = partial(product_width, drawn, words, titles)
    panels = (drawn.left, drawn.above, drawn.result)
    most = comfortable_cell_size(panels, MAX_PANEL_CELL_PX)
    width, height = room
    around = column_labels(drawn.above, words, most).room + PRODUCT_TEXTS_PX + PANEL_GAP_PX
    most = min(most, (height - around) // (count + depth))
    size = fit_cell_side(count + depth, inner + columns, width_with, most, width)
    labels = column_labels(drawn.above, words, size)
    margin = label_margin(drawn.left, words, size)
    top = labels.room + 22
    x = margin + inner * size + PANEL_GAP_PX  # left edge of the matrix above and of the result
    y = top + depth * size + PANEL_GAP_PX  # top edge of the matrix at the left and of the result
    bottom = y + count * size
    place = partial(
        place_matrix,
        trace=trace,
        words=words,
        palette=palette,
        size=size,
        chosen=chosen,
    )
    rows = [
        *place(drawn.above, origin=(x, top), name="above"),
        *place(drawn.left, origin=(margin, y), name="left"),
        *place(drawn.result, origin=(x, y), name="result"),
    ]
    rows += place_row_labels(drawn.left, words, palette, margin, y, size)
    rows += place_row_labels(drawn.above, words, palette, x, top, size)
    rows += labels.drawn(palette, x, top)
    rows.append(place_panel_title(titles["above"], x, 10, palette))
    rows.append(place_panel_title(titles["left"], margin, y - 10, palette))
    rows.append(place_panel_title(titles["result"], x, bottom + 14, palette))
    width = width_with(size)
    return Picture(cell_table(rows), sized_specification(width, bottom + 26))


def product_width(drawn: Product, words: PictureTexts, titles: dict[str, str], cell: float) -> float:
    """Return the width in pixels of a product's picture with cells of this side."""
    margin = label_margin(drawn.left, words, cell)
    inner = drawn.left.values.shape[1] * cell
    columns = drawn.above.values.shape[1] * cell
    labels = column_labels(drawn.above, words, cell)
    right = max(
        columns + labels.overhang,
        text_width(titles["above"], PANEL_TITLE_PX),
        text_width(titles["result"], PANEL_TITLE_PX),
    )
    return margin + inner + PANEL_GAP_PX + right + 20


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
    """Draw one matrix, or an operand and the matrix computed from it cell by cell side by side.

    reach: the magnitude with the result's strongest colour; pass it if several maps are compared on one scale. most:
    the largest side of a cell; by default the side that its numbers need to be legible.
    """
    palette = palette_for(trace, palette)
    rows = max(drawn.values.shape[0] for drawn in panels)
    columns = sum(drawn.values.shape[1] for drawn in panels)
    if most is None:
        most = comfortable_panel_cell(panels, trace, reach)
    width_with = partial(single_width, panels, words, titles)
    size = fit_cell_side(rows, columns, width_with, most)
    labels = [column_labels(drawn, words, size) for drawn in panels]
    tallest = tallest_panel(panels)
    left = label_margin(tallest, words, size)
    top = max(each.room for each in labels) + 22
    marks = place_row_labels(tallest, words, palette, left, top, size)
    names = ("operand", "result")[-len(panels) :]
    for drawn, name, above, title in zip(panels, names, labels, titles, strict=True):
        marks += place_matrix(
            drawn,
            trace,
            words,
            palette,
            origin=(left, top),
            size=size,
            chosen=chosen,
            name=name,
            reach=reach if name == "result" else None,
        )
        marks += above.drawn(palette, left, top)
        marks.append(place_panel_title(title, left, 10, palette))
        left += panel_width(drawn, words, title, size)
    bottom = top + rows * size
    return Picture(cell_table(marks), sized_specification(left, bottom + 8))


def comfortable_panel_cell(panels: Sequence[Panel], trace: Trace, reach: float | None) -> float:
    """Return the preferred side of a cell, at which the numbers of all panels are legible."""
    if reach is None:
        reach = colour_reach(trace, panels[-1].step)
    number = choose_number_format(trace, reach)
    return comfortable_cell_size(panels, MAX_PANEL_CELL_PX, number)


def tallest_panel(panels: Sequence[Panel]) -> Panel:
    """Return the panel with the most rows, beside which the row names are drawn.

    An operand may have fewer rows than the result, such as a cache without the new key.
    """
    return max(panels, key=lambda drawn: len(drawn.refs))


def single_width(panels: Sequence[Panel], words: PictureTexts, titles: Sequence[str], cell: float) -> float:
    """Return the width in pixels of a picture with these matrices side by side and cells of this side."""
    width = label_margin(tallest_panel(panels), words, cell)
    for drawn, title in zip(panels, titles, strict=True):
        width += panel_width(drawn, words, title, cell)
    return width


def panel_width(drawn: Panel, words: PictureTexts, title: str, cell: float) -> float:
    """Return the width in pixels of a matrix or its title, whichever is wider, including the gap after it."""
    columns = drawn.values.shape[1] * cell
    overhang = column_labels(drawn, words, cell).overhang
    title_width = text_width(title, PANEL_TITLE_PX)
    return max(columns + overhang, title_width) + PANEL_GAP_PX


def place_panel_title(text: str, x: float, y: float, palette: Palette) -> dict:
    """Return the label with the title of a matrix, above or below the matrix."""
    return place_label(text, x, y, palette, align="left", size=PANEL_TITLE_PX)


# ---- sizes -----------------------------------------------------------------------------------------------------------
def fit_cell_side(
    rows: int, columns: int, width_with: Callable[[float], float], most: float, room: float = PAGE_WIDTH_PX
) -> float:
    """Return the largest cell side with which a picture fits the width `room`.

    width_with: a function that returns the picture's width for a cell side. most: the largest side.
    """
    side = cell_size(rows, columns, room, most)
    while side > 10 and width_with(side) > room:
        side -= 1
    return side


def make_equally_large(pictures: Sequence[Picture]) -> list[Picture]:
    """Return copies of the pictures, each enlarged to the largest width and the largest height among them."""
    width = max(picture.spec["width"] for picture in pictures)
    height = max(picture.spec["height"] for picture in pictures)
    enlarged = []
    for picture in pictures:
        spec = picture.spec | {"width": width, "height": height}
        enlarged.append(Picture(picture.table, spec))
    return enlarged
