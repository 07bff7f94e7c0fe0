"""The entry: `streamlit run app.py`. Everything heavy is imported once, while the first visitor's browser loads."""

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from pages.app import (
    connections,
    document_head,
    forwarding,
    health,
    left_visitors,
    log_lines,
    metrics,
    page_files,
    reconnection,
    security,
    upload_room,
    warming,
)
from pages.site.settings import ADDRESS

ROOT = Path(__file__).parent

# Read when torch is imported, later: its threads then sleep while they wait, instead of spinning on a core that other
# sessions need. A small run and its proof take a third of the time.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Seconds that a thread computes in Python before another one may; Python's own are 0.005. Each time that a visitor's
# thread has waited for anything, torch included, it waits so long again for a thread that computes for somebody else.
sys.setswitchinterval(0.001)


@asynccontextmanager
async def warm_up(app):
    """Warms up while the first browser loads Streamlit's scripts."""
    connections.send_at_once()
    log_lines.leave_out_typed_text()
    warming.begin()
    yield {}


guard = security.make_guard(
    embed=os.environ.get(security.EMBED_VARIABLE, ""),
    address=os.environ.get(ADDRESS, ""),
)
for_operators = [
    *health.make_routes(os.environ.get(health.LIMIT_VARIABLE, "")),
    *metrics.make_routes(os.environ.get(metrics.READERS_VARIABLE, "")),
]
app = st.App(
    ROOT / "pages" / "app" / "router.py",
    lifespan=warm_up,
    routes=[*for_operators, *page_files.routes],
    middleware=[
        forwarding.noted,
        guard,
        upload_room.upload_room,
        document_head.completed,
        metrics.measured,
        reconnection.in_turn,
        left_visitors.memory_back,
    ],
)
