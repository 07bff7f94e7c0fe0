"""The app's entry point, started by `streamlit run app.py`. Heavy modules are imported once, while the first visitor's
browser loads.
"""

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
    room_routes,
    security,
    upload_room,
    warming,
)
from pages.site.settings import ADDRESS

ROOT = Path(__file__).parent

# Read later, when torch is imported: threads of torch then sleep while they wait, and leave the core to other sessions.
# With this setting, a small run and its proof take a third of the time.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Seconds for which a thread computes in Python before another thread may; Python's default is 0.005.
# A visitor's thread that has waited, for torch or anything else, waits this long again while another thread computes.
sys.setswitchinterval(0.001)


@asynccontextmanager
async def warm_up(app):
    """Starts the imports of heavy modules, while the first visitor's browser loads Streamlit's scripts."""
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
    routes=[*for_operators, *page_files.routes, *room_routes.routes],
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
