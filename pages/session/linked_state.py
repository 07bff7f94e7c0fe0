"""Reads a page's state from its address when the visitor arrives, and writes it back to the address after changes.

The state also contains the errors of refused changes.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.setup.codec import OTHER_LINK_KEYS, is_campaign_mark, list_unknown_parts
from pages.site.catalog import PAGES, PAGES_BY_SLUG

OPENED_PAGE_KEY = "opened_page"  # session key: the page that a button opened last, and the query parameters it got
LinkPart = tuple[str, str]  # (key of a part of a link, the first characters of its value)


@dataclass
class LinkedState:
    """The part of the session state that all pages with a link share.

    unread: the parts of the link that could not be read. unfit: the parts that could not be computed, with their
    errors. missing: why nothing of the link is shown, because its recorded model or its file is not there; else None.
    refused: {control: error of the refused change}. Both lists and the dict are replaced, never changed in place, so
    that saved copies stay valid.
    """

    unread: list[LinkPart] = field(default_factory=list)
    unfit: list[tuple[str, AttentionError]] = field(default_factory=list)
    missing: AttentionError | None = None
    refused: dict[str, AttentionError] = field(default_factory=dict)

    def refuse(self, control: str, error: AttentionError) -> None:
        """Stores the error of a refused change under the control that was used."""
        self.refused = {**self.refused, control: error.without_frames()}

    def forget_refusals(self, *controls: str) -> None:
        """Removes the errors stored under these controls."""
        self.refused = {name: error for name, error in self.refused.items() if name not in controls}

    def forget_trouble(self) -> None:
        """Removes the record of link parts that could not be read or computed."""
        self.unread, self.unfit, self.missing = [], [], None

    def name_unknown_parts(self, link: Mapping[str, str], known: Container[str]) -> None:
        """Adds the parts of a link whose keys are unknown to the parts that could not be read.

        known: the keys that the page can read.
        """
        self.unread = [*self.unread, *list_unknown_parts(link, known)]


def has_arrived() -> bool:
    """Returns whether the visitor has just come to this page, from another page or from outside the app."""
    return st.session_state["arrived"]


def read_address() -> dict[str, str]:
    """Returns the query parameters in the browser's address that belong to the state of a page."""
    link = st.query_params.to_dict()
    return {key: text for key, text in link.items() if key not in OTHER_LINK_KEYS and not is_campaign_mark(key)}


def link_on_arrival(is_new: bool) -> dict[str, str]:
    """Returns the page's query parameters if the visitor has just arrived, else {}.

    Later the state is in the session, and the address is not read again. After Back, Streamlit may hand this page the
    link with which the session opened another page; it is ignored. is_new: whether the session has no state of this
    page yet.
    """
    slug, link = st.session_state.get(OPENED_PAGE_KEY, ("", None))
    is_of_other_page = link == st.query_params.to_dict() and slug != st.session_state.get("page")
    return read_address() if is_new or (has_arrived() and not is_of_other_page) else {}


def open_page(slug: str, link: Mapping[str, str]) -> None:
    """Opens another page of the app with these query parameters, as if the visitor had clicked a link."""
    entry = PAGES_BY_SLUG[slug]
    name = "" if entry == PAGES[0] else slug  # the address of the first page has no name
    st.session_state[OPENED_PAGE_KEY] = (name, dict(link))
    st.switch_page(entry.path, query_params=dict(link))


def show_link(link: Mapping[str, str]) -> None:
    """Writes a link and the chosen language into the browser's address bar, unless it has them already.

    The address that the browser last reported may be older than the one last sent to it. So the address bar is known to
    be right only if both the reported and the sent address equal the new one.
    """
    link = dict(link)
    if "lang" in st.session_state:
        link["lang"] = st.session_state["lang"]
    if st.query_params.to_dict() != link or st.session_state.get("sent_link") != link:
        st.query_params.from_dict(link)
    st.session_state["sent_link"] = link
