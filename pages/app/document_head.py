"""Provides middleware that adds elements to the one HTML document that Streamlit serves.

The first script does three things. It sets the base URL of the app. Without a base URL, Streamlit's page requests
/heads/_stcore/health and then /_stcore/health to find the URL, and a browser logs each 404 as an error in its console.
Streamlit does not search if window.__streamlit.BACKEND_BASE_URL is set. The script also keeps each page at one entry of
the browser's history: Streamlit adds an entry for each change of the address, so that Back would lead through all
settings of the page, each of which the page overwrites at once. The script replaces the entry if only the query
changes. And it sets the language of the document by the link, else by the browser, as words.current_language does for a
new session: pictures write numbers by it, and some are drawn before spoken.js sets the language of the session.

The second script, arrival.js, shows a page from the top down while the page loads; the third, key_focus.js,
distinguishes focus by keyboard from focus by a click; the fourth, phone_menu.js, closes the menu of a phone; the fifth,
popover_links.js, closes a popover before a link opens another page; the sixth, touch_tooltips.js, closes a tooltip when
the visitor scrolls by touch; the seventh, printing.js, prepares a page for paper. Preload links name the component
scripts of the first screen, so that they are loaded before a component imports them.

The style sheet page.css is at the end of the document: a browser has read it before anything is drawn, and its rules
come after the styles that Streamlit adds to the head, so that they override these.
"""

import json

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware

from pages.components.fetched_scripts import FOLDER, SCRIPTS
from pages.components.modules import read_part
from pages.site.catalog import PAGES

NAMES = "|".join(entry.slug for entry in PAGES)
BASE_SCRIPT = (
    f'window.__streamlit={{BACKEND_BASE_URL:location.origin+location.pathname.replace(/(^|\\/)({NAMES})\\/?$/,"$1")}};'
)
HISTORY_SCRIPT = (
    "{const push=history.pushState;history.pushState=function(state,title,address){"
    "const stays=new URL(address??location,location).pathname===location.pathname;"
    "return(stays?history.replaceState:push).call(history,state,title,address)}}"
)
TAGS = {"en": "en", "zh": "zh-Hans"}  # the texts app.tag, written here because the entry reads no texts
LANGUAGE_SCRIPT = (
    f"{{const tags={json.dumps(TAGS)},linked=new URLSearchParams(location.search).get('lang');"
    "const own=navigator.language.toLowerCase().startsWith('zh')?'zh':'en';"
    "document.documentElement.lang=tags[Object.hasOwn(tags,linked)?linked:own]}"
)
SCRIPT = BASE_SCRIPT + HISTORY_SCRIPT + LANGUAGE_SCRIPT
FIRST = ("flow", "slider")  # every visitor needs these components' scripts; others are fetched with their component
LINKS = "".join(
    f'<link rel="modulepreload" crossorigin href="./{FOLDER}/{name}">'
    for name in SCRIPTS
    if name.partition(".")[0] in FIRST
)
SHELL_SCRIPTS = (
    "arrival.js",
    "key_focus.js",
    "phone_menu.js",
    "popover_links.js",
    "touch_tooltips.js",
    "printing.js",
)
SHELL = "".join(f"<script>{read_part(name)}</script>" for name in SHELL_SCRIPTS)
ELEMENTS = f"<script>{SCRIPT}</script>{SHELL}{LINKS}".encode()
BEFORE = b"<title>"
STYLE = f"<style>{read_part('page.css')}</style>".encode()
END = b"</body>"


class DocumentHead:
    """ASGI middleware that inserts ELEMENTS before the document's title, and STYLE at its end."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        """Forwards an ASGI connection to the app, and inserts ELEMENTS and STYLE into each response that is an HTML
        document.
        """
        is_request = scope["type"] == "http"
        if not is_request or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        # the app is asked for the HTML uncompressed, so that elements can be inserted
        plain = [(name, text) for name, text in scope["headers"] if name != b"accept-encoding"]
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
                    document = document.replace(BEFORE, ELEMENTS + BEFORE, 1).replace(END, STYLE + END, 1)
                    MutableHeaders(scope=begun)["content-length"] = str(len(document))
                    await send(begun)
                    await send({"type": "http.response.body", "body": document})

        await self.app(scope | {"headers": plain}, receive, send_document)


def is_document(message) -> bool:
    """Returns whether a message starts a response that is Streamlit's page: status 200, content type text/html.

    A page with a content security policy of its own allows none of the elements that would be inserted.
    """
    headers = Headers(scope=message)
    is_complete = "content-security-policy" in headers
    return message["status"] == 200 and headers.get("content-type", "").startswith("text/html") and not is_complete


completed = Middleware(DocumentHead)
