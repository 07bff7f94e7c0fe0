"""Where the app is reached: at the public address that is set, else where it was opened."""

import os
from urllib.parse import urlsplit

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.site.catalog import PAGES
from pages.site.settings import ADDRESS

MAX_ADDRESS_CHARS = 6_000  # characters of an address: many programs cut longer ones
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def page_address() -> str:
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
    given = os.environ.get(ADDRESS, "").strip()
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise AttentionError("address_form", name=ADDRESS, given=given[:80]) from None
    plain = parts.hostname and port != 0 and given.isascii() and not set(given) & set(' ?#@\\"<>')
    if given and not (parts.scheme in ("http", "https") and plain):
        raise AttentionError("address_form", name=ADDRESS, given=given[:80])
    return given.rstrip("/")


def is_local(link: str) -> bool:
    """Whether an address leads to the machine of whoever opens it: no phone in the hall gets here."""
    return urlsplit(link).hostname in LOCAL_HOSTS
