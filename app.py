"""The entry: `streamlit run app.py`. Everything heavy is imported once, while the first visitor's browser loads."""

import os
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread

import streamlit as st

from pages.app import security
from pages.app.warming import warm

ROOT = Path(__file__).parent

# Read when torch is imported, later: its threads then sleep while they wait, instead of spinning on a core that other
# sessions need. A small run and its proof take a third of the time.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


@asynccontextmanager
async def warming(app):
    """Warms up while the first browser loads Streamlit's scripts."""
    Thread(target=warm, daemon=True).start()
    yield {}


app = st.App(
    ROOT / "pages" / "app" / "router.py",
    lifespan=warming,
    middleware=[security.make_guard(os.environ.get(security.EMBED_VARIABLE, ""))],
)
