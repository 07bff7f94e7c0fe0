"""Where attention comes from: who brought what, and where it can be seen here."""

import streamlit as st

from pages.lessons.frame import frame
from pages.lessons.history.milestones import MILESTONES
from pages.site.catalog import PAGE
from pages.site.words import say

WIDTHS = (1, 14, 4)  # of the columns: year, what was brought, where it can be seen

with frame("history"):
    st.markdown(f"#### {say('lessons.history.question')}\n{say('lessons.history.intro')}")
    for milestone, (slug, link) in MILESTONES.items():
        at_year, at_text, at_link = st.columns(WIDTHS, vertical_alignment="center", gap="xxsmall")
        at_year.markdown(f"**{milestone.partition('_')[0]}**")
        at_text.markdown(say(f"lessons.history.{milestone}"))
        at_link.page_link(PAGE[slug].path, label=say(f"page.{slug}"), query_params=link)
