"""Puts the flow picture (of one query, or of all heads) into files: SVG and PNG, which the browser draws, and HTML."""

from attention_core.documents.lecture_page import PartDrawing
from attention_core.documents.provenance import Provenance
from attention_core.documents.slides import MovingPart
from pages import components
from pages.export.downloads import file_name
from pages.panels.flow_data import Showing, shows_heads
from pages.panels.flow_formulas import draw_formulas
from pages.panels.flow_picture import make_journey_data
from pages.session.view import ScreenState
from pages.site.words import say


def show_flow_files(screen: ScreenState, provenance: Provenance, is_transparent: bool) -> None:
    """Shows the buttons that save the flow picture as it is on the screen, without an address in it.

    The picture is that of the current keyframe, or the view of all heads with its options.
    """
    stop = screen.setup.view.stop
    has_heads = shows_heads(stop)
    packed = components.pack_bytes(
        {
            "flow": make_journey_data(screen, Showing(), stop=stop if has_heads else None),
            "stop": stop,
            "formulas": {} if has_heads else draw_formulas(screen),
            "notes": provenance.lines[2:],
            "title": provenance.lines[0],
            "transparent": is_transparent,
            "names": {kind: say(f"export.{kind}") for kind in ("svg", "png")},
            "file": file_name(screen.setup, "", "all_heads" if has_heads else "query").rstrip("."),
        }
    )
    components.flow_files(data=packed, key="flow_files")


def make_moving_flow(screen: ScreenState) -> MovingPart:
    """Returns the flow picture for a page without a server; it shows its last keyframe, and its animation can be
    played.
    """
    showing = Showing(begins="end", speaks=False)
    return MovingPart(components.flow.name, make_journey_data(screen, showing))


def list_drawings() -> dict[str, PartDrawing]:
    """Returns the script, HTML and style of each component, by name, with which an HTML file can draw animations."""
    return {part.name: PartDrawing(part.script, part.html, part.style) for part in components.COMPONENTS.values()}
