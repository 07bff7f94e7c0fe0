"""Groups the pages by section, in the form that st.navigation takes."""

from copy import copy
from functools import cache

import streamlit as st

from pages.site.catalog import PAGES
from pages.site.words import current_language, say, say_title, use_language


@cache
def make_pages(language: str) -> dict[str, list]:
    """Returns {section title: its pages} in a language.

    The result is cached, because each st.Page looks for its file on disk.
    """
    sections: dict[str, list] = {}
    with use_language(language):
        for entry in PAGES:
            page = st.Page(
                entry.path,
                title=say_title(entry.slug),
                icon=entry.icon,
                url_path=entry.slug,
                default=entry is PAGES[0],
                visibility="visible" if entry.is_in_menu else "hidden",
            )
            sections.setdefault(say(f"section.{entry.section}"), []).append(page)
    return sections


def list_pages() -> dict[str, list]:
    """Returns {section title: its pages} for this script run, as copies, because st.navigation modifies the pages it
    gets.
    """
    return {section: [copy(page) for page in pages] for section, pages in make_pages(current_language()).items()}
