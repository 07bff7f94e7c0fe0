"""What a browser may do with a page of the app: load, run and ask only what is here, in frames of known sites; and by
which names it may reach the app at all.

The content security policy names what Streamlit, its charts and our components need, each tried in a browser, and
nothing else: no other host stands in it, so that a page loads nothing from elsewhere and sends nothing there. (Where a
followed link leads, no policy can say.)
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

EMBED_VARIABLE = "ATTENTION_EMBED"  # the environment variable: sites whose pages may show the app in a frame
ANY_SITE = "*"
LOCAL_NAME = "localhost"
FORBIDDEN = 403  # the status of an answer
POLICY_VIOLATION = 1008  # the code with which a websocket is closed
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
    """The hashes of the scripts that stand in Streamlit's own page, and of ours."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_bytes()
    sources = []
    for script in INLINE_SCRIPT_PATTERN.findall(page + document_head.ELEMENTS):
        digest = b64encode(sha256(script).digest()).decode()
        sources.append(f"'sha256-{digest}'")
    return " ".join(sources)


def make_security_headers(sites: list[str]) -> dict[str, str]:
    """The headers of every answer, for the sites that may show the app in a frame."""
    policy = dict(CONTENT_POLICY)
    policy["script-src"] = policy["script-src"].format(inline=hash_inline_scripts())
    if sites != [ANY_SITE]:  # a * would leave out slides that are opened from a file
        policy["frame-ancestors"] = " ".join(["'self'", *sites])
    headers = {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in DENIED_FEATURES.split()),
        "Referrer-Policy": "no-referrer",  # an address holds what was typed
        "X-Content-Type-Options": "nosniff",
    }
    if not sites:
        headers["X-Frame-Options"] = "SAMEORIGIN"
    return headers


def is_foreign_websocket(headers: dict[bytes, bytes]) -> bool:
    """Whether the page of another site opens a websocket.

    Streamlit would ask too, but first look up this host's public address on the internet, while everybody waits.
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


# ---- by which name the app is reached --------------------------------------------------------------------------------
def read_host_name(authority: str) -> str:
    """The name, or the number, of a host as a Host header says it, without its port; empty where it says none.

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
    """Whether a host is named by its IP number: nobody can make that mean another machine."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_foreign_host(hosts: Iterable[bytes], public_name: str) -> bool:
    """Whether somebody asks for a host of another name than the public one.

    A foreign name may lead here all the same: its owner lets it mean this machine, and a page of theirs would then be
    one of the app's own (DNS rebinding). By an IP number and by `localhost` the app can always be asked, as health
    checks do, and without any host, as no browser does.
    """
    known_names = {LOCAL_NAME, public_name, st.get_option("browser.serverAddress")}
    for host in hosts:
        name = read_host_name(host.decode("latin-1"))
        if name not in known_names and not is_ip_number(name):
            return True
    return False


class Guard:
    """Puts the headers on every answer, closes websockets that pages of other sites open, and refuses to be called by
    another name than the public one, where one is set."""

    def __init__(self, app, headers: dict[str, str], public_name: str = ""):
        self.app = app
        self.public_name = public_name
        self.headers = [(name.lower().encode(), text.encode()) for name, text in headers.items()]

    async def __call__(self, scope, receive, send) -> None:
        """One connection, as ASGI has it."""

        async def send_guarded(message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *self.headers]
                message = message | {"headers": headers}
            await send(message)

        if not self.refuses(scope):
            await self.app(scope, receive, send_guarded)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await send_guarded({"type": "http.response.start", "status": FORBIDDEN})
            await send_guarded({"type": "http.response.body"})

    def refuses(self, scope) -> bool:
        """Whether a connection ends here."""
        headers = scope.get("headers", ())
        if scope["type"] == "websocket" and is_foreign_websocket(dict(headers)):
            return True
        if not self.public_name:
            return False
        hosts = [text for name, text in headers if name == b"host"]
        return is_foreign_host(hosts, self.public_name)


def make_guard(embed: str, address: str) -> Middleware:
    """The guard for the values of the environment variables, as st.App takes it. Sites that are none end the program;
    an address that is none is named where links are shared."""
    try:
        sites = read_embedding_sites(embed)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    return Middleware(Guard, headers=make_security_headers(sites), public_name=read_public_name(address))


def read_public_name(address: str) -> str:
    """The name of the host in an address; empty where it has none."""
    try:
        name = urlsplit(address.strip()).hostname
    except ValueError:
        return ""
    return "" if name is None else name.rstrip(".")
