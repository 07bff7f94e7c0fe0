"""The pages by section, as st.navigation takes them."""

from copy import copy
from functools import cache

import streamlit as st

from pages.site.catalog import PAGES
from pages.site.titles import say_title
from pages.site.words import current_language, say, use_language


@cache
def make_pages(language: str) -> dict[str, list]:
    """The pages by the title of their section, made once a language: each looks its file up on the disk."""
    sections: dict[str, list] = {}
    with use_language(language):
        for entry in PAGES:
            page = st.Page(
                entry.path,
                title=say_title(entry.slug),
                icon=entry.icon,
                url_path=entry.slug,
                default=entry is PAGES[0],
            )
            sections.setdefault(say(f"section.{entry.section}"), []).append(page)
    return sections


def list_pages() -> dict[str, list]:
    """The pages of this run by section: copies, because st.navigation marks in a page that this run may draw it."""
    return {section: [copy(page) for page in pages] for section, pages in make_pages(current_language()).items()}
