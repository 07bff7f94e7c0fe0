"""The entry: `streamlit run app.py`. Everything heavy is imported once, before the first visitor."""

import gc
import os
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from pages.shared import security

ROOT = Path(__file__).parent


@asynccontextmanager
async def warm(app):
    """Imports what every page needs, and takes it out of the garbage collector's sight: with torch imported a full
    collection takes 75 ms, after gc.freeze() next to nothing.
    """
    import altair  # noqa: F401
    import pandas  # noqa: F401
    import torch

    torch.set_num_threads(2)
    gc.collect()
    gc.freeze()
    yield {}


app = st.App(
    ROOT / "pages" / "shared" / "router.py",
    lifespan=warm,
    middleware=[security.guard(os.environ.get(security.EMBED, ""))],
)
