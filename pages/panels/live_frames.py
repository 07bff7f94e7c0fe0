"""Draws the parts of a page that follow a slider while it is dragged; the browser gets the data of all positions at
once.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log10

import streamlit as st

from attention_core.drawing.axes import Axis, powers_of_ten
from attention_core.drawing.cells import CELL_COLUMNS
from attention_core.drawing.curves import CURVE_COLUMNS, CURVE_NAME_PX
from attention_core.drawing.specifications import Picture
from attention_core.drawing.text_layout import text_width
from pages import components
from pages.panels.fact import HEADING_SIGN, show_fact
from pages.panels.live_choice import Followed, describe_followed
from pages.session.answers import note_answer
from pages.session.collected import collected, show_moving
from pages.session.labels import current_palette
from pages.site.words import say, split_bold

LEAST_PLAIN_TICK = 0.00005  # tick values below this are written as a power of ten
Rows = list[dict[str, object]]  # rows of a picture's table, each a dict {column: value}
Values = list[tuple]  # rows of a picture's table as tuples, without column names


@dataclass(frozen=True, eq=False)
class LiveCells:
    """Cells of a picture that follow a slider while it is dragged.

    pictures: one for each position of the slider, all of equal size; None for a position whose picture is drawn only
    after the slider is released. packed: the rows of the pictures as bytes for the browser.
    """

    pictures: Sequence[Picture | None]
    packed: bytes


def only_now(choice: Followed, drawn: object) -> list[object]:
    """Returns a list with `drawn` at the slider's current position, and None at all others.

    It is used for a picture or text that takes too long to be computed for all positions.
    """
    return [drawn if position == choice.position else None for position in range(choice.count)]


def tell_live(
    choice: Followed, key: str, texts: Sequence[str | None], kind: str = "line", template: str | None = None
) -> None:
    """Shows a sentence that changes while the slider is dragged.

    texts: the sentence for each position, in Markdown; None if it is computed only after the slider is released. kind:
    "heading", "line", "caption" or "table". template: the text shown while other sliders are dragged.
    """
    if kind == "heading":
        collected().facts.append(texts[choice.position])
    draw_text(choice, key, texts, {"kind": kind, "templates": [template, template] if template else []})


def tell_each(choice: Followed | None, key: str, texts: Sequence[str]) -> None:
    """Shows a sentence; if a slider is given, the sentence changes with it.

    texts: the sentence for each position of the slider, or a single one; a heading begins with HEADING_SIGN.
    """
    kind = "heading" if texts[0].startswith(HEADING_SIGN) else "line"
    told = [text.removeprefix(HEADING_SIGN) for text in texts]
    if choice is not None:
        tell_live(choice, key, told, kind)
    elif kind == "heading":
        show_fact(told[0])
    else:
        st.markdown(told[0])


def show_live_goal(
    choice: Followed, key: str, reached: Sequence[bool], texts: Sequence[str], templates: Sequence[str] = ()
) -> None:
    """Shows whether the number of the slider reaches the goal of a task.

    reached: for each position of the slider, whether it reaches the goal. texts: the text for each position. templates:
    two texts shown while other sliders are dragged, for a goal that is not reached and for a goal that is.
    """
    note_answer(reached[choice.position])
    draw_text(choice, key, texts, {"kind": "goal", "reached": list(reached), "templates": list(templates)})


def draw_text(choice: Followed, key: str, texts: Sequence[str | None], form: dict) -> None:
    """Draws a text that changes while the slider is dragged.

    texts: the text for each position; None if it is computed only after the slider is released. form: further data for
    the browser component.
    """
    pieces = [split_bold(say("flow.waits") if text is None else text) for text in texts]
    data = {**describe_followed(choice), "texts": pieces, "waits": say("flow.waits"), **form}
    show_moving(components.live_text, data, answers=form["kind"] == "heading", key=key)


def pack_live_cells(pictures: Sequence[Picture | None]) -> LiveCells:
    """Packs the pictures of all positions of a slider as cells that follow the slider.

    pictures: one for each position, of equal size; None if a picture is drawn only after a release.
    """
    drawn = [picture and list_values(picture.table, CELL_COLUMNS) for picture in pictures]
    fixed, frames = part_fixed_rows(drawn)
    moving = chain.from_iterable(filter(None, frames))
    usual = find_usual([*fixed, *moving])
    unusual = [frame and list_unusual(frame, usual) for frame in frames]
    named = dict(zip(CELL_COLUMNS, usual, strict=True))
    packed = pack_rows(list_unusual(fixed, usual), unusual, named)
    return LiveCells(pictures, packed)


def pack_rows(fixed: Rows, frames: Sequence[Rows | None], usual: dict[str, object]) -> bytes:
    """Packs the rows of a picture's table as JSON bytes for the browser.

    fixed: rows shown at all positions of the slider. frames: the additional rows of each position. usual: the default
    of each column; a row omits values that equal it.
    """
    return json.dumps({"usual": usual, "fixed": fixed, "frames": frames}, ensure_ascii=False).encode()


def show_live_cells(
    choice: Followed, key: str, cells: LiveCells, alt: str, take: Callable[[Mapping], None], fills: bool = True
) -> None:
    """Shows the cells of a picture that changes while a slider is dragged.

    take: the function that is called with a click on a cell. fills: whether the cells take the full width.
    """
    picture = cells.pictures[choice.position]
    collected().pictures.append((picture, alt))
    size = {"width": picture.spec["width"], "height": picture.spec["height"], "fills": fills}
    data = {**size, "x": None, "y": None, "rows": cells.packed}
    draw_frames(choice, key, data, alt, take)


def part_fixed_rows(frames: Sequence[Values | None]) -> tuple[Values, list[Values | None]]:
    """Returns the rows that the pictures of all positions have in common, and the other rows of each picture.

    The browser gets the common rows only once. frames: the rows of each position's picture.

    >>> part_fixed_rows([[("a", 1), ("a", 2)], None, [("a", 2), ("a", 3)]])
    ([('a', 2)], [[('a', 1)], None, [('a', 3)]])
    """
    drawn = [frame for frame in frames if frame is not None]
    common = set(drawn[0]).intersection(*drawn)
    fixed = [row for row in dict.fromkeys(drawn[0]) if row in common]
    others = [frame and [row for row in frame if row not in common] for frame in frames]
    return fixed, others


def find_usual(rows: Values) -> tuple:
    """Returns the most common value of each column.

    >>> find_usual([("cell", 2.0), ("cell", 0.0), ("bar", 0.0)])
    ('cell', 0.0)
    """
    return tuple(Counter(column).most_common(1)[0][0] for column in zip(*rows, strict=True))


def list_unusual(rows: Values, usual: tuple) -> Rows:
    """Returns each row as a dict without the values that equal the column's default."""
    columns = tuple(zip(CELL_COLUMNS, usual, strict=True))
    told = []
    for row in rows:
        values = zip(columns, row, strict=True)
        told.append({name: value for (name, most), value in values if value != most})
    return told


def show_live_curves(
    choice: Followed, key: str, pictures: Sequence[Picture | None], axes: tuple[Axis, Axis], alt: str
) -> None:
    """Shows curves that change while a slider is dragged.

    pictures: the curves for each position of the slider; None if they are drawn only after the slider is released.
    """
    collected().pictures.append((pictures[choice.position], alt))
    frames = [picture and list_rows(picture.table, CURVE_COLUMNS) for picture in pictures]
    draw_curves(choice, key, [], frames, axes, pictures[choice.position].spec, alt)


def show_followed_curves(choice: Followed, key: str, picture: Picture, axes: tuple[Axis, Axis], alt: str) -> None:
    """Shows fixed curves, and a vertical line that moves along them while a slider is dragged."""
    collected().pictures.append((picture, alt))
    colour = current_palette().outline
    frames = [[CURVE_COLUMNS | {"kind": "rule", "x": place, "fill": colour}] for place in choice.options]
    fixed = list_rows(picture.table, CURVE_COLUMNS)
    draw_curves(choice, key, fixed, frames, axes, picture.spec, alt)


def draw_curves(
    choice: Followed,
    key: str,
    fixed: Rows,
    frames: Sequence[Rows | None],
    axes: tuple[Axis, Axis],
    spec: dict,
    alt: str,
) -> None:
    """Draws curves that change while a slider is dragged.

    fixed: rows shown at all positions of the slider. frames: the additional rows of each position. spec: the Vega-Lite
    specification, which contains width and height.
    """
    rows = [*fixed, *(frames[choice.position] or [])]
    names = [text_width(row["name"], CURVE_NAME_PX) for row in rows if row["kind"] == "text"]
    x, y = map(describe_axis, axes)
    data = {
        "width": spec["width"],
        "height": spec["height"],
        "names": max(names, default=0.0),
        "x": x,
        "y": y,
        "rows": pack_rows(fixed, frames, {}),
    }
    draw_frames(choice, key, data, alt)


def draw_frames(
    choice: Followed, key: str, data: dict, alt: str, take: Callable[[Mapping], None] | None = None
) -> None:
    """Draws a picture that changes while a slider is dragged.

    data: the picture's size, axes and rows for all positions. take: the function that is called with a click.
    """
    palette = current_palette()
    place = {**describe_followed(choice), "alt": alt, "ink": palette.ink, "faint": palette.faint}
    packed = components.pack_bytes(data | place | {"waits": say("flow.waits")})
    show_moving(components.live_frames, packed, key=key, on_clicked=take)


def describe_axis(axis: Axis) -> dict[str, object]:
    """Returns an axis as data for the browser, with the values and texts of its tick marks."""
    places = axis.values or (axis.first, axis.last)
    if axis.log and not axis.values:
        places = powers_of_ten(axis)
    texts = axis.texts or [format_tick(place) for place in places]
    ticks = [list(tick) for tick in zip(places, texts, strict=True)]
    return {"title": axis.title, "first": axis.first, "last": axis.last, "log": axis.log, "ticks": ticks}


def format_tick(place: float) -> str:
    """Formats the number at a tick mark of an axis.

    >>> format_tick(0.0001), format_tick(1e-07), format_tick(-2.0)
    ('0.0001', '1e−7', '−2')
    """
    if 0 < abs(place) < LEAST_PLAIN_TICK:
        return f"1e−{-round(log10(place))}"
    return f"{place:.5f}".rstrip("0").rstrip(".").replace("-", "−")


def list_rows(table: dict[str, list], columns: dict[str, object]) -> Rows:
    """Returns the rows of a picture's table as dictionaries."""
    return [dict(zip(columns, row, strict=True)) for row in list_values(table, columns)]


def list_values(table: dict[str, list], columns: dict[str, object]) -> Values:
    """Returns the rows of a picture's table as tuples."""
    return list(zip(*(table[name] for name in columns), strict=True))
