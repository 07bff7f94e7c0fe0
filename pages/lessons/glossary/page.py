"""Shows the glossary: every symbol in both languages, in groups that open, with a link to a page that shows it."""

from collections.abc import Sequence
from itertools import groupby

import streamlit as st

from pages.components import sign_picture
from pages.lessons.frame import draw_page_frame
from pages.lessons.glossary.sign_pictures import draw_sign
from pages.lessons.sentences import join_with_commas
from pages.panels.link_controls import switch, text_box
from pages.session.labels import current_palette
from pages.session.opened_drawers import show_drawer
from pages.session.staged import is_one_screen
from pages.setup.twins import link_in_language
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.signs import GLOSSARY_SIGNS, Sign
from pages.site.words import LANGUAGES, current_language, escape_markdown, load_app_texts, say, say_title

GLOSSARY_COLUMN_WIDTHS = (2, 3, 12, 4)  # relative widths of the columns: symbol, picture, meaning, link


def names_in_both_languages(sign: Sign) -> list[str]:
    """Returns the names of a symbol, one for each language of the app."""
    return [load_app_texts(language)[f"lessons.glossary.name.{sign.key}"] for language in LANGUAGES]


def is_found(sign: Sign, wanted: str) -> bool:
    """Returns whether the typed text `wanted` occurs in a symbol's key, meaning, or name, in any language."""
    meaning = say(f"lessons.glossary.text.{sign.key}")
    return any(wanted in text.casefold() for text in (sign.key, meaning, *names_in_both_languages(sign)))


def show_sign(sign: Sign) -> None:
    """Shows a symbol, its picture, name and meaning, and a link to a page that shows it."""
    name = say(f"lessons.glossary.name.{sign.key}")
    first_name = names_in_both_languages(sign)[0]
    called = f"**{name}**"
    if name != first_name:
        called = f"{called} ({escape_markdown(first_name)})"
    meaning = say(f"lessons.glossary.text.{sign.key}")
    with st.container(gap=None):  # one container keeps the columns together on a phone
        at_sign, at_picture, at_text, at_link = st.columns(
            GLOSSARY_COLUMN_WIDTHS, vertical_alignment="center", gap="xxsmall"
        )
    at_sign.markdown(f"${sign.latex}$")
    with at_picture:
        sign_picture(data={"shapes": draw_sign(sign.key), "palette": vars(current_palette())}, key=f"sign_{sign.key}")
    at_text.markdown(say("lessons.glossary.entry", called=called, text=meaning))
    at_link.page_link(
        PAGES_BY_SLUG[sign.slug].path,
        label=say_title(sign.slug),
        query_params=link_in_language(sign.slug, sign.link, current_language()),
    )


def show_group(group: str, signs: Sequence[Sign], folded: bool) -> None:
    """Shows the symbols of a group.

    folded: whether they are drawn only once the visitor opens the group, whose line names them.
    """
    title = say(f"lessons.glossary.group.{group}")
    if folded:
        names = join_with_commas([say(f"lessons.glossary.name.{sign.key}") for sign in signs])
        line = say("lessons.glossary.line", group=title, names=names)
        show_drawer(line, None, f"glossary.group.{group}", lambda: show_signs(signs))
        return
    st.markdown(f"**{title}**")
    show_signs(signs)


def show_signs(signs: Sequence[Sign]) -> None:
    """Shows symbols one below the other."""
    for sign in signs:
        show_sign(sign)


with draw_page_frame("glossary"):
    st.markdown(f"#### {say('lessons.glossary.question')}\n{say('lessons.glossary.intro')}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = text_box("find", "", str.casefold, width=320).casefold()
        shows_all = switch("all")
    found = [sign for sign in GLOSSARY_SIGNS if is_found(sign, wanted)]
    for group, signs in groupby(found, key=lambda sign: sign.group):
        show_group(group, list(signs), folded=not (wanted or shows_all or is_one_screen()))
    if not found:
        st.markdown(say("lessons.glossary.nothing"))
