"""Small parts of the screen that Streamlit has no widget for. Their data is shown as text, never parsed as HTML."""

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent


def component(name: str, html: str):
    """A component from the .js and .css files of its name."""
    css, js = HERE / f"{name}.css", (HERE / f"{name}.js").read_text("utf-8")
    return st.components.v2.component(name, html=html, css=css.read_text("utf-8") if css.exists() else None, js=js)


tiles = component("tiles", '<div class="tiles" role="group"></div>')
arithmetic = component("arithmetic", '<div class="arithmetic"></div>')
shortcuts = component("shortcuts", "<div></div>")
scroller = component("scroller", '<div class="scroller"></div>')
