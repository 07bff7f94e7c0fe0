"""Lets the visitor share the screen: shows its address as text and QR code, and buttons to save and open a file."""

import io
from urllib.parse import urlencode

import segno
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.record.errors import AttentionError
from pages.panels.file_box import MAX_UPLOAD_MB, file_box
from pages.panels.setup_controls import show_refusal
from pages.runs.cache import check_computable, trace_for
from pages.session import linked_setup, setup_state
from pages.session.addresses import MAX_ADDRESS_CHARS, is_local, page_address, public_address
from pages.session.entered_values import when_entered
from pages.session.fragments import redraw
from pages.setup.codec import to_address
from pages.setup.setup import Setup
from pages.setup.setup_file import decode_file_text, setup_from_file, setup_to_file
from pages.site.words import current_language, say, say_refusal

QR_SIDE_PX = 400  # width in pixels that the QR code should have on the page
MIN_MODULE_PX = 3  # smallest width in pixels of a module, a single square of the QR code
MAX_QR_CHARS = 1_200  # most characters of a QR code; more need over 133 modules a side, too fine for a phone
QUIET_ZONE_MODULES = 4  # white margin of a QR code in modules (its squares), as the standard requires


def show_share_panel(setup: Setup) -> None:
    """Shows a popover with the address, its QR code, and the controls to save and open a file."""
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
    """Returns the address of the page, including the Setup on the screen and the language."""
    language = current_language()
    parameters = to_address(setup, language) | {"lang": language}
    return page_address() + "?" + urlencode(parameters)


def show_address(link: str) -> None:
    """Shows the address to copy, with a warning if it is long, invalid, or works only on this computer."""
    length = len(link)
    try:
        is_only_here = not public_address() and is_local(link)
    except AttentionError as error:
        is_only_here = False
        st.error(say_refusal(error), icon=":material/error:")
    if is_only_here:
        st.info(say("sharing.only_here"), icon=":material/computer:")
    st.markdown(say("sharing.how"))
    st.code(link, language=None, wrap_lines=True, height=120 if length > 120 else "content")
    if length > MAX_ADDRESS_CHARS:
        warning = say("sharing.long", given=length, limit=MAX_ADDRESS_CHARS)
        st.warning(warning, icon=":material/content_cut:")


def show_qr_code(link: str) -> None:
    """Shows the QR code of an address."""
    picture, modules = qr_code(link)
    module_px = max(MIN_MODULE_PX, QR_SIDE_PX // modules)
    side_px = modules * module_px
    st.image(picture, width=side_px, alt=say("sharing.code"))


def show_setup_file(setup: Setup) -> None:
    """Shows the button that saves the Setup as a file, and the upload that opens such a file."""
    key = f"c_file_{setup_state.editors_version()}"

    def open_chosen_file(file: UploadedFile | None) -> None:
        setup_state.workbench().forget_refusals("file")
        if file is None:
            return
        try:
            wanted, unread = setup_from_file(decode_file_text(file.getvalue()))
        except AttentionError as error:
            setup_state.workbench().refuse("file", error)
            return
        linked_setup.open_setup(wanted, unread, "file", check_computable, trace_for)
        st.session_state["sharing"] = False  # closes the popover, which still shows the former screen's address
        redraw()

    st.download_button(
        say("sharing.save"),
        lambda: setup_to_file(setup),
        file_name=f"attention_{setup.run.example}.json",
        mime="application/json",
        icon=":material/save:",
        on_click="ignore",
    )
    on_change = when_entered(key, open_chosen_file)
    file_box(say("sharing.open"), ["json"], key, on_change=on_change, max_upload_size=MAX_UPLOAD_MB)
    show_refusal("file")


def qr_code(text: str) -> tuple[str, int]:
    """Returns the QR code of a text as SVG, black on white, and its modules per side, the white margin included.

    The error correction level is at least M: a code of which 15 % is hidden can still be read. text: a text of at most
    MAX_QR_CHARS characters.
    """
    code = segno.make(text, error="m", micro=False)
    picture = io.BytesIO()
    code.save(
        picture,
        kind="svg",
        border=QUIET_ZONE_MODULES,
        dark="#000",
        light="#fff",
        omitsize=True,
        xmldecl=False,
    )
    side, _ = code.symbol_size(border=QUIET_ZONE_MODULES)
    return picture.getvalue().decode(), side
