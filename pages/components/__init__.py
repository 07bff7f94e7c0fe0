"""Small parts of the screen that Streamlit has no widget for. Their data is shown as text, never parsed as HTML."""

import json
from pathlib import Path

import streamlit as st

COMPONENTS_FOLDER = Path(__file__).parent


def make_component(name: str, html: str, *shared: str, **how):
    """A component from the .js and .css files of its name, and the .js files that it shares with others. how: as
    st.components.v2.component."""
    css = COMPONENTS_FOLDER / f"{name}.css"
    js = "\n".join((COMPONENTS_FOLDER / f"{part}.js").read_text("utf-8") for part in (*shared, name))
    style = css.read_text("utf-8") if css.exists() else None
    return st.components.v2.component(name, html=html, css=style, js=js, **how)


def pack_bytes(data: dict) -> bytes:
    """A dictionary as one run of bytes, which is sent as it is: the length of a JSON text, the text, then the values
    that are bytes, each at a multiple of 4.

    >>> pack_bytes({"a": 1, "b": b"xyz"})
    b'\\x1b\\x00\\x00\\x00{"a": 1, "bytes": {"b": 3}} xyz\\x00'
    """
    parts = {name: value for name, value in data.items() if isinstance(value, bytes)}
    rest = {name: value for name, value in data.items() if name not in parts}
    head = json.dumps(rest | {"bytes": {name: len(part) for name, part in parts.items()}}).encode()
    padded = [part + bytes(-len(part) % 4) for part in parts.values()]
    return b"".join([len(head).to_bytes(4, "little"), head + b" " * (-len(head) % 4), *padded])


tiles = make_component(
    "tiles", '<div class="sentence"><div class="tiles" role="group"></div><div class="swaps"></div></div>', "roving"
)
arithmetic = make_component("arithmetic", '<div class="arithmetic"></div>')
shortcuts = make_component("shortcuts", "<div></div>")
arrows = make_component("arrows", "<div></div>", "belongs")
scroller = make_component("scroller", "<div></div>")
canvas = make_component("canvas", '<div class="map"></div>', "pixels", "printed", "sheet")
thumbnails = make_component("thumbnails", '<div class="thumbnails" role="group"></div>', "pixels", "roving")
lectern = make_component(
    "lectern", (COMPONENTS_FOLDER / "lectern.html").read_text("utf-8"), "belongs", "remote", isolate_styles=False
)
prompter = make_component("prompter", (COMPONENTS_FOLDER / "prompter.html").read_text("utf-8"), "belongs", "remote")
number_grid = make_component("numbers", "<table></table>")
