"""What a browser may do with a page of the app: load, run and ask only what is here, in frames of known sites.

The content security policy names what Streamlit, its charts and our components need, each tried in a browser, and
nothing else: no other host stands in it, so that a page loads nothing from elsewhere and sends nothing there. (Where a
followed link leads, no policy can say.)
"""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware

EMBED_VARIABLE = "ATTENTION_EMBED"  # the environment variable: sites whose pages may show the app in a frame
ANY_SITE = "*"
SITE_PATTERN = re.compile(r"https?://(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?", re.IGNORECASE)
INLINE_SCRIPT_PATTERN = re.compile(rb"<script>(.*?)</script>", re.DOTALL)

CONTENT_POLICY = {
    "default-src": "'none'",
    "script-src": "'self' blob: {inline}",  # blob: the scripts of components, which Streamlit loads as modules
    "style-src": "'self' 'unsafe-inline'",  # the styles of components, and of formulas
    "img-src": "'self' data:",  # data: the wordmark, the grid's icons
    "font-src": "'self' data:",  # data: the tall brackets of formulas
    "connect-src": "'self'",  # the websocket too
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
DENIED_FEATURES = """accelerometer camera display-capture geolocation gyroscope hid local-fonts magnetometer microphone
midi payment serial usb xr-spatial-tracking"""


def read_embedding_sites(setting: str) -> list[str]:
    """The sites that may show the app in a frame: addresses parted by spaces, or `*` alone for any page.

    Raises ValueError where something else is given.
    """
    sites = setting.split()
    if sites == [ANY_SITE]:
        return sites
    for site in sites:
        if not SITE_PATTERN.fullmatch(site):
            raise ValueError(
                f"{EMBED_VARIABLE} must be sites (scheme://host or scheme://host:port) or * alone: got {site!r}"
            )
    return sites


def hash_inline_scripts() -> str:
    """The hashes of the scripts that stand in Streamlit's own page."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_bytes()
    digests = [b64encode(sha256(script).digest()).decode() for script in INLINE_SCRIPT_PATTERN.findall(page)]
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def make_security_headers(sites: list[str]) -> dict[str, str]:
    """The headers of every answer, for the sites that may show the app in a frame."""
    content = CONTENT_POLICY | {"script-src": CONTENT_POLICY["script-src"].format(inline=hash_inline_scripts())}
    if sites != [ANY_SITE]:  # a * would leave out slides that are opened from a file
        content["frame-ancestors"] = " ".join(["'self'", *sites])
    told = {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in content.items()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in DENIED_FEATURES.split()),
        "Referrer-Policy": "no-referrer",  # an address holds what was typed
        "X-Content-Type-Options": "nosniff",
    }
    return told if sites else told | {"X-Frame-Options": "SAMEORIGIN"}


def is_foreign_websocket(asked: dict[bytes, bytes]) -> bool:
    """Whether the page of another site opens a websocket.

    Streamlit would ask too, but first look up this host's public address on the internet, while everybody waits.
    """
    origin = asked.get(b"origin")
    if origin is None or not st.get_option("server.enableCORS"):
        return False
    try:
        site = urlsplit(origin.decode("latin-1"))
    except ValueError:
        return True
    host = asked.get(b"host", b"").decode("latin-1")
    return site.netloc != host and site.hostname != st.get_option("browser.serverAddress")


class Guard:
    """Puts the headers on every answer, and closes websockets that pages of other sites open."""

    def __init__(self, app, headers: dict[str, str]):
        self.app = app
        self.headers = [(name.lower().encode(), text.encode()) for name, text in headers.items()]

    async def __call__(self, scope, receive, send) -> None:
        """One connection, as ASGI has it."""

        async def send_guarded(message) -> None:
            if message["type"] == "http.response.start":
                message = message | {"headers": [*message.get("headers", ()), *self.headers]}
            await send(message)

        if scope["type"] == "websocket" and is_foreign_websocket(dict(scope["headers"])):
            await send({"type": "websocket.close", "code": 1008})  # 1008: against the rules
        else:
            await self.app(scope, receive, send_guarded)


def make_guard(setting: str) -> Middleware:
    """The guard for a value of the environment variable, as st.App takes it; a value that is none ends the program."""
    try:
        return Middleware(Guard, headers=make_security_headers(read_embedding_sites(setting)))
    except ValueError as error:
        raise SystemExit(str(error)) from None
