"""Determines the address of the app: the configured public address, or else the address in the browser."""

import os
from urllib.parse import urlsplit

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.site.catalog import PAGES
from pages.site.settings import ADDRESS

MAX_ADDRESS_CHARS = 6_000  # longest address that is offered; many programs truncate longer ones
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def page_address() -> str:
    """Returns the address of this page, under the configured public address or else under that of the browser."""
    here = (st.context.url or "").split("?")[0]
    try:
        public = public_address()
    except AttentionError:
        return here
    if not public:
        return here
    *_, page = here.split("/")
    slugs = {entry.slug for entry in PAGES}
    return f"{public}/{page}" if page in slugs else f"{public}/"


def public_address() -> str:
    """Returns the configured public address without a trailing slash; "" if none is set.

    Raises AttentionError (address_form) if it is no valid address.
    """
    given = os.environ.get(ADDRESS, "").strip()
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise AttentionError("address_form", name=ADDRESS, given=given[:80]) from None
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0
    is_plain = given.isascii() and set(given).isdisjoint(' ?#@\\"<>')
    if given and not (is_web and is_plain):
        raise AttentionError("address_form", name=ADDRESS, given=given[:80])
    return given.rstrip("/")


def is_local(link: str) -> bool:
    """Returns whether an address is a loopback address, which other devices cannot reach."""
    return urlsplit(link).hostname in LOCAL_HOSTS
