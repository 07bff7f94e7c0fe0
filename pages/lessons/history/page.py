"""Where attention comes from: who brought what, and where it can be seen here."""

import streamlit as st

from pages.lessons.frame import draw_page_frame
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.milestones import MILESTONES
from pages.site.titles import say_title
from pages.site.words import say

HISTORY_COLUMN_WIDTHS = (1, 14, 4)  # of the columns: year, what was brought, where it can be seen

with draw_page_frame("history"):
    st.markdown(f"#### {say('lessons.history.question')}\n{say('lessons.history.intro')}")
    for milestone, (slug, link) in MILESTONES.items():
        at_year, at_text, at_link = st.columns(HISTORY_COLUMN_WIDTHS, vertical_alignment="center", gap="xxsmall")
        at_year.markdown(f"**{milestone.partition('_')[0]}**")
        at_text.markdown(say(f"lessons.history.{milestone}"))
        at_link.page_link(PAGES_BY_SLUG[slug].path, label=say_title(slug), query_params=link)
