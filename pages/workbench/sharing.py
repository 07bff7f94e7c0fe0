"""Sharing the screen: its address, a QR code of that, and a file."""

import io
from urllib.parse import urlencode

import segno
import streamlit as st

from attention_core.record.errors import AttentionError
from pages.lectures import talk
from pages.panels.setup_controls import show_refusal
from pages.runs.cache import check_run, trace_for
from pages.session import linked_setup, setup_state
from pages.session.addresses import MAX_ADDRESS_CHARS, is_local, page_address, public_address
from pages.session.fragments import redraw
from pages.setup.setup import Setup, to_address
from pages.setup.setup_file import decode_file_text, setup_from_file, setup_to_file
from pages.site.settings import ADDRESS
from pages.site.words import current_language, escape_markdown, say, say_refusal

QR_SIDE_PX = 400  # pixels of a QR code, about


def show_sharing(setup: Setup) -> None:
    """The address with a QR code, and the file to save and to open."""
    opened = st.popover(say("header.link"), icon=":material/link:", type="tertiary", key="sharing", on_change="rerun")
    if not opened.open:
        return
    link = setup_address(setup)
    if len(link) > MAX_QR_CHARS or is_local(link):
        with opened:
            show_address(link)
            if len(link) > MAX_QR_CHARS:
                st.caption(say("sharing.no_code", given=len(link), limit=MAX_QR_CHARS))
            show_setup_file(setup)
        return
    words, picture = opened.columns([3, 5])
    with words:
        show_address(link)
        show_setup_file(setup)
    with picture:
        show_qr_code(link)


def setup_address(setup: Setup) -> str:
    """The page's address with everything that is on the screen."""
    return page_address() + "?" + urlencode(to_address(setup, current_language()) | {"lang": current_language()})


def show_address(link: str) -> None:
    """The address to copy, and what may go wrong with it."""
    st.markdown(say("sharing.how"))
    st.code(link, language=None, wrap_lines=True, height=120 if len(link) > 120 else "content")
    if len(link) > MAX_ADDRESS_CHARS:
        st.warning(say("sharing.long", given=len(link), limit=MAX_ADDRESS_CHARS), icon=":material/content_cut:")
    try:
        if not public_address() and is_local(link):
            st.info(say("sharing.only_here", setting=escape_markdown(ADDRESS)), icon=":material/computer:")
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")


def show_qr_code(link: str) -> None:
    """The QR code of an address."""
    picture, modules = qr_code(link)
    st.image(picture, width=modules * max(3, QR_SIDE_PX // modules), alt=say("sharing.code"))


def show_setup_file(setup: Setup) -> None:
    """The screen as a file, and a file as the screen."""
    key = f"c_file_{setup_state.editors_version()}"

    def chosen() -> None:
        setup_state.forget_refusals("file")
        if st.session_state[key] is None:
            return
        try:
            wanted, unread = setup_from_file(decode_file_text(st.session_state[key].getvalue()))
        except AttentionError as error:
            setup_state.store_refusal("file", error)
            return
        linked_setup.open_setup(wanted, unread, "file", check_run, trace_for)
        st.session_state["sharing"] = False  # away from the screen that was opened
        redraw()

    st.download_button(
        say("sharing.save"),
        lambda: setup_to_file(setup),
        file_name=f"attention_{setup.example}.json",
        mime="application/json",
        icon=":material/save:",
        on_click="ignore",
    )
    st.file_uploader(say("sharing.open"), type="json", key=key, on_change=chosen)
    show_refusal("file")
    show_add_scene_button(setup)


def show_add_scene_button(setup: Setup) -> None:
    """The screen as a scene of a lecture."""

    def added() -> None:
        talk.add_scene(setup)
        redraw()

    st.button(say("present.desk.add"), key="add_scene", icon=":material/slideshow:", on_click=added)
    own = talk.get_lecture_session()
    if own.refusal is not None:
        st.error(say_refusal(own.refusal), icon=":material/error:")
    elif own.own is not None:
        st.caption(say("present.desk.added", count=len(own.own.scenes)))


MAX_QR_CHARS = 1_200  # characters: 133 modules a side; a phone at the back of a room sees no finer ones


QUIET_ZONE_MODULES = 4  # modules of white around the code, as the standard asks


def qr_code(text: str) -> tuple[str, int]:
    """The SVG of a text, black on white, and how many modules a side has, the quiet zone included.

    Error level M or better: a code of which 15 % cannot be seen is still read. At most SCANNABLE characters.
    """
    code = segno.make(text, error="m", micro=False)
    picture = io.BytesIO()
    code.save(picture, kind="svg", border=QUIET_ZONE_MODULES, dark="#000", light="#fff", omitsize=True, xmldecl=False)
    return picture.getvalue().decode(), code.symbol_size(border=QUIET_ZONE_MODULES)[0]
