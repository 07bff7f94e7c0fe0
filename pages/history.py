"""Where attention comes from: who brought what, and where it can be seen here."""

import streamlit as st

from pages.shared.catalog import PAGE
from pages.shared.lesson import frame
from pages.shared.milestones import MILESTONES
from pages.shared.words import say

with frame("history"):
    st.markdown(f"#### {say('lessons.history.question')}\n{say('lessons.history.intro')}")
    for milestone, (slug, link) in MILESTONES.items():
        with st.container(horizontal=True, vertical_alignment="top"):
            st.markdown(f"**{milestone.partition('_')[0]}**", width=48)
            st.markdown(say(f"lessons.history.{milestone}"), width="stretch")
            st.page_link(PAGE[slug].path, label=say(f"page.{slug}"), query_params=link, width=200)
