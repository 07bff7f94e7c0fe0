"""A page with nothing but one measurement of 2,000 pieces, each of which takes a twentieth of a second."""

import sys
import time
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from pages.panels.progress import measure_on_request


def piece(number: int) -> float:
    """One of them."""
    time.sleep(0.05)
    return float(number)


st.session_state["lesson"] = "cost"
st.session_state["lang"] = "en"
if st.button("Another control"):
    st.text("pressed")
measure_on_request("long", tuple(range(2000)), piece, "Begin", lambda found: st.text(f"found {len(found)} pieces"))
