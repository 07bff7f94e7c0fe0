"""What the app puts into the head of the one document that Streamlit serves.

Under which path the app is served: Streamlit's page would find out by asking for its server under the path of every
page, /heads/_stcore/health and then /_stcore/health, and a browser writes each 404 into its console as an error. It
does not ask where window.__streamlit names the path: that is how a host of Streamlit tells it.

And the scripts of the first screen that a browser fetches itself, which it then has when a component asks for one.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware

from pages.components.fetched_scripts import FOLDER, SCRIPTS
from pages.site.catalog import PAGES

NAMES = "|".join(entry.slug for entry in PAGES)
SCRIPT = (
    f'window.__streamlit={{BACKEND_BASE_URL:location.origin+location.pathname.replace(/(^|\\/)({NAMES})\\/?$/,"$1")}}'
)
FIRST = ("flow", "slider")  # the scripts that every visitor needs; others are fetched when their component is shown
LINKS = "".join(
    f'<link rel="modulepreload" crossorigin href="./{FOLDER}/{name}">'
    for name in SCRIPTS
    if name.partition(".")[0] in FIRST
)
ELEMENTS = f"<script>{SCRIPT}</script>{LINKS}".encode()
BEFORE = b"<title>"


class DocumentHead:
    """Puts the elements into the document, before Streamlit's own scripts."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        """One connection, as ASGI has it."""
        if not asks_for_document(scope):
            await self.app(scope, receive, send)
            return
        plain = [(name, text) for name, text in scope["headers"] if name != b"accept-encoding"]  # nothing is packed
        begun = None
        document = b""

        async def send_document(message) -> None:
            nonlocal begun, document
            if message["type"] == "http.response.start" and is_document(message):
                begun = message
            elif begun is None:
                await send(message)
            else:
                document += message.get("body", b"")
                if not message.get("more_body"):
                    document = document.replace(BEFORE, ELEMENTS + BEFORE, 1)
                    MutableHeaders(scope=begun)["content-length"] = str(len(document))
                    await send(begun)
                    await send({"type": "http.response.body", "body": document})

        await self.app(scope | {"headers": plain}, receive, send_document)


def asks_for_document(scope) -> bool:
    """Whether a browser opens a page."""
    return scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")


def is_document(message) -> bool:
    """Whether an answer that begins is the page."""
    kind = Headers(scope=message).get("content-type", "")
    return message["status"] == 200 and kind.startswith("text/html")


completed = Middleware(DocumentHead)
