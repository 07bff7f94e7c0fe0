"""Sharing the screen: its address, a QR code of that, and a file."""

import os
from urllib.parse import urlencode, urlsplit

import streamlit as st

from attention_core.errors import AttentionError
from pages.shared import lectures, state
from pages.shared.catalog import PAGES
from pages.shared.parts import redraw
from pages.shared.qr import SCANNABLE, qr_code
from pages.shared.runs import trace_of
from pages.shared.setup import Setup, to_link
from pages.shared.setup_file import from_file, text_of, to_file
from pages.shared.widgets import show_refusal
from pages.shared.words import language, literal, say, sentence

SETTING = "ATTENTION_ADDRESS"  # the environment variable with the address at which everybody reaches the app
SHAREABLE = 6_000  # characters of an address: many programs cut longer ones
ONLY_HERE = ("localhost", "127.0.0.1", "::1")
SIDE = 400  # pixels of a QR code, about


def show_sharing(setup: Setup) -> None:
    """The address with a QR code, and the file to save and to open."""
    opened = st.popover(say("header.link"), icon=":material/link:", type="tertiary", key="sharing", on_change="rerun")
    if not opened.open:
        return
    link = address(setup)
    if len(link) > SCANNABLE or is_local(link):
        with opened:
            show_address(link)
            if len(link) > SCANNABLE:
                st.caption(say("sharing.no_code", given=len(link), limit=SCANNABLE))
            show_file(setup)
        return
    words, picture = opened.columns([3, 5])
    with words:
        show_address(link)
        show_file(setup)
    with picture:
        show_code(link)


def is_local(link: str) -> bool:
    """Whether an address leads to the machine of whoever opens it: no phone in the hall gets here."""
    return urlsplit(link).hostname in ONLY_HERE


def address(setup: Setup) -> str:
    """The page's address with everything that is on the screen."""
    return base() + "?" + urlencode(to_link(setup) | {"lang": language()})


def base() -> str:
    """Where this page is reached: at the public address where one is set, else where it was opened."""
    here = (st.context.url or "").split("?")[0]
    try:
        public = public_address()
    except AttentionError:
        return here
    page = here.rpartition("/")[2]
    return f"{public}/{page if page in {entry.slug for entry in PAGES} else ''}" if public else here


def public_address() -> str:
    """The address that is set, without a slash at its end; empty where none is. Raises AttentionError: address_form."""
    given = os.environ.get(SETTING, "").strip()
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise AttentionError("address_form", name=SETTING, given=given[:80]) from None
    plain = parts.hostname and port != 0 and given.isascii() and not set(given) & set(' ?#@\\"<>')
    if given and not (parts.scheme in ("http", "https") and plain):
        raise AttentionError("address_form", name=SETTING, given=given[:80])
    return given.rstrip("/")


def show_address(link: str) -> None:
    """The address to copy, and what may go wrong with it."""
    st.markdown(say("sharing.how"))
    st.code(link, language=None, wrap_lines=True, height=120 if len(link) > 120 else "content")
    if len(link) > SHAREABLE:
        st.warning(say("sharing.long", given=len(link), limit=SHAREABLE), icon=":material/content_cut:")
    try:
        if not public_address() and is_local(link):
            st.info(say("sharing.only_here", setting=literal(SETTING)), icon=":material/computer:")
    except AttentionError as error:
        st.error(sentence(error), icon=":material/error:")


def show_code(link: str) -> None:
    """The QR code of an address."""
    picture, modules = qr_code(link)
    st.image(picture, width=modules * max(3, SIDE // modules), alt=say("sharing.code"))


def show_file(setup: Setup) -> None:
    """The screen as a file, and a file as the screen."""
    key = f"c_file_{state.version()}"

    def chosen() -> None:
        state.forget("file")
        if st.session_state[key] is None:
            return
        try:
            wanted, unread = from_file(text_of(st.session_state[key].getvalue()))
        except AttentionError as error:
            state.refuse("file", error)
            return
        state.open_setup(wanted, unread, "file", trace_of)
        st.session_state["sharing"] = False  # away from the screen that was opened
        redraw()

    st.download_button(
        say("sharing.save"),
        lambda: to_file(setup),
        file_name=f"attention_{setup.example}.json",
        mime="application/json",
        icon=":material/save:",
        on_click="ignore",
    )
    st.file_uploader(say("sharing.open"), type="json", key=key, on_change=chosen)
    show_refusal("file")
    show_adding(setup)


def show_adding(setup: Setup) -> None:
    """The screen as a scene of a lecture."""

    def added() -> None:
        lectures.add(setup)
        redraw()

    st.button(say("present.desk.add"), key="add_scene", icon=":material/slideshow:", on_click=added)
    own = lectures.talk()
    if own.refused is not None:
        st.error(sentence(own.refused), icon=":material/error:")
    elif own.own is not None:
        st.caption(say("present.desk.added", count=len(own.own.acts)))
