"""Shows the buttons that save the flow picture (the way of one query) as SVG and PNG, which the browser draws."""

from attention_core.documents.provenance import Provenance
from pages import components
from pages.export.downloads import file_name
from pages.panels.flow_data import Showing
from pages.panels.flow_picture import make_journey_data
from pages.session.view import ScreenState
from pages.site.words import say


def show_flow_files(screen: ScreenState, provenance: Provenance, is_transparent: bool) -> None:
    """Shows the buttons that save the flow picture at the keyframe of the screen, without an address in it."""
    packed = components.pack_bytes(
        {
            "flow": make_journey_data(screen, Showing()),
            "stop": screen.setup.view.stop,
            "notes": provenance.lines[2:],
            "title": provenance.lines[0],
            "transparent": is_transparent,
            "names": {kind: say(f"export.{kind}") for kind in ("svg", "png")},
            "file": file_name(screen.setup, "", "query").rstrip("."),
        }
    )
    components.flow_files(data=packed, key="flow_files")
