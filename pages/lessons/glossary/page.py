"""Every sign in both languages, and where it can be seen."""

import streamlit as st

from pages.lessons.frame import draw_page_frame
from pages.lessons.glossary.signs import GLOSSARY_SIGNS
from pages.panels.link_controls import text_box
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.words import LANGUAGES, escape_markdown, load_app_texts, say

GLOSSARY_COLUMN_WIDTHS = (3, 14, 4)  # of the columns: sign, meaning, where it can be seen

with draw_page_frame("glossary"):
    st.markdown(f"#### {say('lessons.glossary.question')}\n{say('lessons.glossary.intro')}")
    wanted = text_box("find", "", str.casefold, width=320).casefold()
    group = ""
    for sign in GLOSSARY_SIGNS:
        name, text = say(f"lessons.glossary.name.{sign.key}"), say(f"lessons.glossary.text.{sign.key}")
        others = [load_app_texts(each)[f"lessons.glossary.name.{sign.key}"] for each in LANGUAGES]
        if not any(wanted in told.casefold() for told in (sign.key, text, *others)):
            continue
        if sign.group != group:
            group = sign.group
            st.markdown(f"**{say(f'lessons.glossary.group.{group}')}**")
        called = f"**{name}**" if name in others[:1] else f"**{name}** ({escape_markdown(others[0])})"
        with st.container(gap=None):  # on a phone a sign is three lines, which belong together
            at_sign, at_text, at_link = st.columns(GLOSSARY_COLUMN_WIDTHS, vertical_alignment="center", gap="xxsmall")
        at_sign.markdown(f"${sign.latex}$")
        at_text.markdown(say("lessons.glossary.entry", called=called, text=text))
        at_link.page_link(PAGES_BY_SLUG[sign.slug].path, label=say(f"page.{sign.slug}"), query_params=sign.link)
    if not group:
        st.markdown(say("lessons.glossary.nothing"))
