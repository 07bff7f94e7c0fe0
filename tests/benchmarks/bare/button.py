"""The least that changes: one button, one text."""

import streamlit as st

st.session_state.setdefault("changes", 0)
if st.button("Change"):
    st.session_state["changes"] += 1
st.text(f"Changed {st.session_state['changes']} times")
