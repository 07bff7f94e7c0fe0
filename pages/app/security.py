"""Adds security headers, and checks the origins of websockets and the Host header.

The content security policy allows what Streamlit, its charts and our components need, each tried in a browser, and
nothing else. The policy names no other host, so a page loads nothing from elsewhere and sends nothing there. (No policy
restricts the links that a visitor follows.)
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware

from pages.app import document_head

EMBED_VARIABLE = "ATTENTION_EMBED"  # environment variable with the sites that may show the app in a frame
ANY_SITE = "*"
LOCAL_NAME = "localhost"
FORBIDDEN = 403  # HTTP status of a refused request
POLICY_VIOLATION = 1008  # close code of a refused websocket
SITE_PATTERN = re.compile(r"https?://(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?", re.IGNORECASE)
INLINE_SCRIPT_PATTERN = re.compile(rb"<script>(.*?)</script>", re.DOTALL)

CONTENT_POLICY = {
    "default-src": "'none'",
    "script-src": "'self' blob: {inline}",  # blob: is for the scripts of components, which Streamlit loads as modules
    "style-src": "'self' 'unsafe-inline'",  # components and formulas have inline styles
    "img-src": "'self' data:",  # data: is for the wordmark and the grid's icons
    "font-src": "'self' data:",  # data: is for the tall brackets of formulas
    "connect-src": "'self'",  # connections to the app's own host only, for the websocket, too
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
DENIED_FEATURES = """accelerometer camera display-capture geolocation gyroscope hid local-fonts magnetometer microphone
midi payment serial usb xr-spatial-tracking"""


def read_embedding_sites(setting: str) -> list[str]:
    """Parses the sites that may show the app in a frame: addresses separated by spaces, or `*` alone for any site.

    Raises ValueError for any other text.
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
    """Returns the CSP hash sources of the inline scripts in Streamlit's index.html and in document_head.ELEMENTS."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_bytes()
    sources = []
    for script in INLINE_SCRIPT_PATTERN.findall(page + document_head.ELEMENTS):
        digest = b64encode(sha256(script).digest()).decode()
        sources.append(f"'sha256-{digest}'")
    return " ".join(sources)


def make_security_headers(sites: list[str]) -> dict[str, str]:
    """Returns the security headers of every response.

    sites: the sites that may show the app in a frame.
    """
    policy = dict(CONTENT_POLICY)
    policy["script-src"] = policy["script-src"].format(inline=hash_inline_scripts())
    if sites != [ANY_SITE]:  # left out for any site, because frame-ancestors * would exclude slides opened from a file
        policy["frame-ancestors"] = " ".join(["'self'", *sites])
    headers = {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in DENIED_FEATURES.split()),
        "Referrer-Policy": "no-referrer",  # names no referrer, because an address contains what the visitor typed
        "X-Content-Type-Options": "nosniff",
    }
    if not sites:
        headers["X-Frame-Options"] = "SAMEORIGIN"
    return headers


def is_foreign_origin(headers: dict[bytes, bytes]) -> bool:
    """Returns whether the Origin header of a websocket, or of a POST, names another site than the app.

    Streamlit checks the header of a websocket too, but before that it asks the internet for this host's public address,
    which blocks the server. It checks no POST to a route of the app's own.
    """
    origin = headers.get(b"origin")
    if origin is None or not st.get_option("server.enableCORS"):
        return False
    try:
        site = urlsplit(origin.decode("latin-1"))
    except ValueError:
        return True
    host = headers.get(b"host", b"").decode("latin-1")
    return site.netloc != host and site.hostname != st.get_option("browser.serverAddress")


# ---- the Host header -------------------------------------------------------------------------------------------------
def read_host_name(authority: str) -> str:
    """Returns the host name or IP address in a Host header, without its port; "" if the header is malformed.

    >>> read_host_name("Lecture.example:8501"), read_host_name("[::1]:8501"), read_host_name("lecture.example/")
    ('lecture.example', '::1', '')
    """
    try:
        parts = urlsplit(f"//{authority}")
    except ValueError:
        return ""
    is_host_alone = parts.netloc == authority and "@" not in authority
    if not is_host_alone or parts.hostname is None:
        return ""
    return parts.hostname.rstrip(".")


def is_ip_number(name: str) -> bool:
    """Returns whether a host name is an IP address, which no DNS entry can redirect to another machine."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_foreign_host(hosts: Iterable[bytes], public_name: str) -> bool:
    """Returns whether any Host header names neither the public name, `localhost`, Streamlit's address nor an IP
    address.

    The check prevents DNS rebinding: whoever owns a foreign name can let it point at this machine, so that their page
    has the same origin as the app. An IP address and `localhost` are always allowed, for health checks; so is a request
    without a Host header, which no browser sends.
    """
    known_names = {LOCAL_NAME, public_name, st.get_option("browser.serverAddress")}
    for host in hosts:
        name = read_host_name(host.decode("latin-1"))
        if name not in known_names and not is_ip_number(name):
            return True
    return False


class Guard:
    """ASGI middleware that adds the security headers that a response lacks, and refuses foreign websockets and hosts.

    The Guard closes websockets opened by pages of other sites, and refuses foreign Host headers if a public name is
    set.
    """

    def __init__(self, app, headers: dict[str, str], public_name: str = ""):
        self.app = app
        self.public_name = public_name
        self.headers = [(name.lower().encode(), text.encode()) for name, text in headers.items()]

    async def __call__(self, scope, receive, send) -> None:
        """Forwards one ASGI connection to the app; if it is refused, closes its websocket or responds with 403."""

        async def send_guarded(message) -> None:
            if message["type"] == "http.response.start":
                own = [*message.get("headers", ())]
                given = {name for name, _ in own}
                added = [header for header in self.headers if header[0] not in given]
                message = message | {"headers": own + added}
            await send(message)

        if not self.refuses(scope):
            await self.app(scope, receive, send_guarded)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await send_guarded({"type": "http.response.start", "status": FORBIDDEN})
            await send_guarded({"type": "http.response.body"})

    def refuses(self, scope) -> bool:
        """Returns whether a connection is refused: a foreign websocket, or a foreign host if a public name is set."""
        headers = scope.get("headers", ())
        if scope["type"] == "websocket" and is_foreign_origin(dict(headers)):
            return True
        if not self.public_name:
            return False
        hosts = [text for name, text in headers if name == b"host"]
        return is_foreign_host(hosts, self.public_name)


def make_guard(embed: str, address: str) -> Middleware:
    """Returns the Guard middleware for st.App.

    embed, address: values of the environment variables EMBED_VARIABLE and ADDRESS. Raises SystemExit for an invalid
    `embed`. An invalid `address` counts as no public name; the share panel then shows the error.
    """
    try:
        sites = read_embedding_sites(embed)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    return Middleware(Guard, headers=make_security_headers(sites), public_name=read_public_name(address))


def read_public_name(address: str) -> str:
    """Returns the host name in the app's public address; "" if the address has none."""
    try:
        name = urlsplit(address.strip()).hostname
    except ValueError:
        return ""
    return "" if name is None else name.rstrip(".")
