"""Puts the flow picture and the maps of all heads into files: SVG and PNG, which the browser draws, and HTML."""

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

ALL_HEADS = "heads"  # the name of the view of all heads in a link


def show_flow_files(screen: ScreenState, provenance: Provenance, is_transparent: bool) -> None:
    """Shows the buttons that save pictures of the run, without an address in them.

    From every view, these are the maps of all heads, as the view of all heads shows them. From any other view, the flow
    picture comes first: the keyframe that is on the screen.
    """
    stop = screen.setup.view.stop
    maps = describe_picture(screen, "all_heads", stop if shows_heads(stop) else ALL_HEADS)
    flow = [] if shows_heads(stop) else [describe_picture(screen, "query", stop) | {"formulas": draw_formulas(screen)}]
    packed = components.pack_bytes(
        {
            "pictures": [*flow, maps],
            "flow": make_journey_data(screen, Showing(), stop=maps["stop"]),  # the data of both pictures
            "notes": provenance.lines[2:],
            "title": provenance.lines[0],
            "transparent": is_transparent,
            "names": {kind: say(f"export.{kind}") for kind in ("svg", "png")},
        }
    )
    components.flow_files(data=packed, key="flow_files")


def describe_picture(screen: ScreenState, kind: str, stop: str | None) -> dict:
    """Returns what the browser needs to know about one picture: its kind, its caption, what it shows, its file.

    kind: "query" or "all_heads". stop: the last step of the keyframe, or the view of all heads, as a link names it.
    """
    return {
        "kind": kind,
        "caption": say(f"export.{kind}"),
        "stop": stop,
        "formulas": {},
        "file": file_name(screen.setup, "", kind).rstrip("."),
    }


def make_moving_flow(screen: ScreenState) -> MovingPart:
    """Returns the flow picture for a page without a server; it shows its last keyframe, and its animation can be
    played.
    """
    showing = Showing(begins="end", speaks=False)
    return MovingPart(components.flow.name, make_journey_data(screen, showing))


def list_drawings() -> dict[str, PartDrawing]:
    """Returns the script, HTML and style of each component, by name, with which an HTML file can draw animations."""
    return {part.name: PartDrawing(part.script, part.html, part.style) for part in components.COMPONENTS.values()}
