"""Every sign in both languages, and where it can be seen."""

import streamlit as st

from pages.lessons.frame import frame
from pages.lessons.glossary.signs import SIGNS
from pages.panels.link_controls import text_box
from pages.site.catalog import PAGE
from pages.site.words import LANGUAGES, catalog, literal, say

WIDTHS = (3, 14, 4)  # of the columns: sign, meaning, where it can be seen

with frame("glossary"):
    st.markdown(f"#### {say('lessons.glossary.question')}\n{say('lessons.glossary.intro')}")
    wanted = text_box("find", "", str.casefold, width=320).casefold()
    group = ""
    for sign in SIGNS:
        name, text = say(f"lessons.glossary.name.{sign.key}"), say(f"lessons.glossary.text.{sign.key}")
        others = [catalog(each)[f"lessons.glossary.name.{sign.key}"] for each in LANGUAGES]
        if not any(wanted in told.casefold() for told in (sign.key, text, *others)):
            continue
        if sign.group != group:
            group = sign.group
            st.markdown(f"**{say(f'lessons.glossary.group.{group}')}**")
        called = f"**{name}**" if name in others[:1] else f"**{name}** ({literal(others[0])})"
        with st.container(gap=None):  # on a phone a sign is three lines, which belong together
            at_sign, at_text, at_link = st.columns(WIDTHS, vertical_alignment="center", gap="xxsmall")
        at_sign.markdown(f"${sign.latex}$")
        at_text.markdown(say("lessons.glossary.entry", called=called, text=text))
        at_link.page_link(PAGE[sign.slug].path, label=say(f"page.{sign.slug}"), query_params=sign.link)
    if not group:
        st.markdown(say("lessons.glossary.nothing"))
