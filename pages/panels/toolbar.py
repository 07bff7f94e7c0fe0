"""Draws the toolbar of every page: the page's controls at the left, search and language switch at the right.

It is always at the same position: on a wide screen (page.css) its right part is on the line of the menus.
"""

import json
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.components import make_component, more_tools
from pages.components.fetched_scripts import keep_script
from pages.components.messages import Place
from pages.session.labels import current_palette
from pages.session.linked_state import open_page
from pages.session.sought_control import LINK_KEY, seek
from pages.site.catalog import PAGES
from pages.site.findable import Findable, list_findable
from pages.site.words import LANGUAGES, current_language, get_text_template, say

LINE_HEIGHT_PX = 40  # height of the toolbar's line in pixels


def show_toolbar() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Shows the search and the language switch at the right end of the toolbar; returns two containers to their left.

    The first container is for the page's own controls. The second is for controls that several pages have.
    """
    line = {"horizontal": True, "vertical_alignment": "center", "gap": "xsmall"}
    with st.container(**line, key="toolbar"):
        own = st.container(**line)
        with st.container(**line, width="content", key="tools"):
            shared = st.container(**line, width="content", key="shared_tools")
            with st.container(width="content", gap=None):
                st.space(LINE_HEIGHT_PX)  # gives the toolbar its height even if it is empty
            show_search()
            show_language_switch()
            show_more_button()
    return own, shared


def show_more_button() -> None:
    """Shows, on a phone only, the button that opens the tools for which the toolbar's one row has no room."""
    data = {"page": current_page(), "label": say("toolbar.more"), "palette": vars(current_palette())}
    more_tools(data=data, key="more_tools", width="content")


def show_language_switch() -> None:
    """Shows the button that switches between English and Chinese, with the name of the other language."""
    (other,) = LANGUAGES.keys() - {current_language()}

    def switch() -> None:
        st.session_state["lang"] = other
        st.rerun()

    st.button(LANGUAGES[other], key="other_language", on_click=switch)


def current_page() -> str:
    """Returns the slug of the page; in the session, the first page has the name ""."""
    return st.session_state["page"] or PAGES[0].slug


# ---- the search over the whole app: the browser finds, and the server opens the chosen result ------------------------
SEARCH_WORDS = ("open", "typed", "nothing", "results")
KINDS = ("lesson", "page", "control", "drawer", "sign", "history", "example")


def pack_findable(found: Findable) -> dict:
    """Returns an entry of the search index as data for the browser."""
    return {
        "kind": found.kind,
        "slug": found.slug,
        "address": "./" if found.slug == PAGES[0].slug else found.slug,
        "query": urlencode(found.link),
        "titles": found.titles,
        "details": found.details,
        "sign": found.sign,
    }


FOUND = json.dumps([pack_findable(found) for found in list_findable()])
FINDABLE_FILE = keep_script("findable", f"export default {FOUND};\n")
search = make_component(
    "search",
    '<div class="search"></div>',
    styles=("tool_button",),
    is_fetched=True,
    sends={"chosen": Place(len(list_findable()))},
)


def show_search() -> None:
    """Shows the search button; opens the page of the chosen result."""
    data = {
        "findable": f"./{FINDABLE_FILE}",  # a URL relative to the search component's script
        "language": current_language(),
        "page": current_page(),
        "text": {word: say(f"search.{word}") for word in SEARCH_WORDS} | {"found": get_text_template("search.found")},
        "kinds": {kind: say(f"search.kind.{kind}") for kind in KINDS},
        "palette": vars(current_palette()),
    }
    chosen = search(data=data, key="search", width="content").chosen
    if chosen is not None:
        found = list_findable()[chosen]
        # whether the found control is on this page
        if found.kind == "control" and st.session_state["page"] in ("", found.slug):
            seek(found.link[LINK_KEY])
            st.rerun()
        open_page(found.slug, found.link)
