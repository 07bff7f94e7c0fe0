"""The entry: `streamlit run app.py`. Everything heavy is imported once, while the first visitor's browser loads."""

import os
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread

import streamlit as st

from pages.shared import security
from pages.shared.warming import warm

ROOT = Path(__file__).parent


@asynccontextmanager
async def warming(app):
    """Warms up while the first browser loads Streamlit's scripts."""
    Thread(target=warm, daemon=True).start()
    yield {}


app = st.App(
    ROOT / "pages" / "shared" / "router.py",
    lifespan=warming,
    middleware=[security.guard(os.environ.get(security.EMBED, ""))],
)
