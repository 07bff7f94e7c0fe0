"""Draws the picture of a step: as a matrix product, or else the step beside its first operand."""

from attention_core import Trace
from attention_core.drawing import charts
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture
from attention_core.explanation.layout import MAX_PANEL_SIDE, Panel, panel, product
from attention_core.explanation.shown_steps import shown_name
from attention_core.record.expressions import Ref
from pages.panels import canvas_map
from pages.session import setup_state
from pages.session.labels import HEAD_DIMS, current_palette, inline_step_name, picture_texts_for
from pages.site.words import say

MAX_COLUMNS_ACROSS = 18  # most columns of cells whose numbers are legible with a projector
STEP_WINDOW_SIDE = 10  # number of rows and columns of a large step that are drawn as cells
MIN_OPERAND_COLUMNS = 6  # least number of columns of an operand that are drawn


def make_step_picture(
    trace: Trace,
    step: str,
    at: dict[str, int],
    chosen: Ref | None,
    reach: float | None = None,
    palette: Palette | None = None,
    room: tuple[float, float] = charts.WHOLE_PAGE,
) -> Picture:
    """Returns the picture of a step: a matrix product, or the step beside its first operand.

    reach: for a step that is no product, the magnitude with the strongest colour; None for its largest number. palette:
    None to read the palette from the session. room: the largest width and height of a product. If room is smaller than
    the page, a step that is no product is drawn without its operand, and titles are short.
    """
    is_whole_page = room == charts.WHOLE_PAGE
    make_title = make_panel_title if is_whole_page else make_short_title
    side = STEP_WINDOW_SIDE if canvas_map.is_large(trace, step) else MAX_PANEL_SIDE
    texts = picture_texts_for(trace)
    palette = palette or current_palette()
    step_product = product(trace, step, at, side, widest=count_feature_columns(trace, step))
    if step_product is not None:
        titles = {
            "left": make_title(trace, step_product.left),
            "above": make_title(trace, step_product.above),
            "result": make_title(trace, step_product.result),
        }
        return charts.product_picture(
            step_product,
            trace,
            texts,
            palette,
            titles,
            chosen,
            room,
        )
    operands = list_shown_operands(trace, step) if is_whole_page else []
    names = [*operands, step]
    max_columns = MAX_COLUMNS_ACROSS // len(names)
    panels = [panel(trace, name, at, side, widest=max_columns) for name in names]
    titles = [make_title(trace, part) for part in panels]
    return charts.single_picture(
        panels,
        trace,
        texts,
        palette,
        titles,
        chosen,
        reach,
    )


def count_feature_columns(trace: Trace, step: str) -> int:
    """Returns how many feature columns are drawn of a step or of its operands: at least MIN_OPERAND_COLUMNS.

    If the step or one of its operands has keys as columns, as many are drawn as fit beside the keys in
    MAX_COLUMNS_ACROSS. Otherwise as many columns are drawn as fit, but at most half of MAX_COLUMNS_ACROSS.
    """
    operation = trace.step(step).operation
    operands = operation.reads if operation else ()
    last_dims = [trace.step(name).dims[-1:] for name in (step, *operands)]
    has_keys = ("S",) in last_dims
    columns = MAX_COLUMNS_ACROSS - trace.sizes()["S"]
    if not has_keys:
        columns = min(MAX_COLUMNS_ACROSS // 2, columns)
    return max(MIN_OPERAND_COLUMNS, columns)


def list_shown_operands(trace: Trace, step: str) -> list[str]:
    """Returns [name] of a step's first operand if the rows of both correspond and both fit on the page, else []."""
    found = trace.step(step)
    if found.operation is None:
        return []
    has_wide_rows = found.dims[-1] == "S" and trace.sizes()["S"] > MAX_COLUMNS_ACROSS
    if has_wide_rows:
        return []
    first_cell = Ref(step, (0,) * trace[step].dim())
    steps_read = {ref.step for ref in trace.read_by(first_cell)}
    shown = []
    for read in found.operation.reads[:1]:
        name = shown_name(trace, read)
        has_same_rows = trace.step(name).dims[-2:-1] == found.dims[-2:-1]
        has_no_more_axes = trace[name].dim() <= trace[step].dim()
        if read in steps_read and has_same_rows and has_no_more_axes:
            shown.append(name)
    return shown


def position_with_cell(at: dict[str, int], trace: Trace, chosen: Ref | None) -> dict[str, int]:
    """Returns, for each axis, the index around which a large step is drawn.

    It is the index of the opened cell, so that the drawn part of the step contains this cell, else the selected index.
    """
    if chosen is None:
        return at
    dims = trace.step(chosen.step).dims
    return at | dict(zip(dims, chosen.index, strict=True))


# ---- titles ----------------------------------------------------------------------------------------------------------
def make_panel_title(trace: Trace, part: Panel) -> str:
    """Returns a panel's title: the step's name, the drawn sentence and heads, and the shape.

    If only a part is drawn, the title also has the range of cells.
    """
    mark, shape = describe_sides(trace, part)
    name = step_name(part.step) + mark
    if trace.difference:
        is_comparison = setup_state.current_setup().comparison.pinned
        name += say("compare.step" if is_comparison else "change.title")
    title = " · ".join([name, *name_drawn_places(trace, part), shape])
    if not any(part.hidden):
        return title
    top, left = part.first
    rows, columns = part.values.shape
    return title + say(
        "step.part",
        a=top + 1,
        b=top + rows,
        c=left + 1,
        d=left + columns,
    )


def make_short_title(trace: Trace, part: Panel) -> str:
    """Returns a short panel title: the step's name in the code, and its shape."""
    mark, shape = describe_sides(trace, part)
    return f"{part.step}{mark} · {shape}"


def describe_sides(trace: Trace, part: Panel) -> tuple[str, str]:
    """Returns the symbol that marks a transposed step ("" if it is not transposed), and the shape of the step.

    If only one row is drawn, the shape is that of a row.
    """
    dims = trace.step(part.step).dims
    sides = trace.step(part.step).shape[-2:]
    is_transposed = len(dims) > 1 and (part.columns, part.rows) == dims[-2:]
    if len(dims) > 1:
        sides = [drawn + hidden for drawn, hidden in zip(part.values.shape, part.hidden, strict=True)]
    shape = " × ".join(map(str, sides))
    return "ᵀ" if is_transposed else "", shape


def name_drawn_places(trace: Trace, part: Panel) -> list[str]:
    """Returns the names of the sentence and the heads in a panel's title.

    If the run has only one sentence or head, its name is omitted.
    """
    dims = trace.step(part.step).dims[:-2]
    sizes = trace.step(part.step).shape[:-2]
    first_index = part.refs[0][0].index
    names = []
    for dim, size, position in zip(dims, sizes, first_index, strict=False):
        if dim == "B" and size > 1:
            names.append(say("place.sentence_of", number=position + 1, count=size))
        elif dim in HEAD_DIMS and size > 1:
            names.append(say("place.head", number=position + 1))
    return names


def step_name(step: str) -> str:
    """Returns a step's name in the code, followed by its name on the page if that differs."""
    word = inline_step_name(step)
    if word.lower() in step:
        return step
    return say("step.name", step=step, word=word)
