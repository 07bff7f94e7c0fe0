"""The script of the picture is fetched once, by a browser that keeps it, wherever the app is served."""

import pytest

from pages.components import COMPONENTS
from pages.panels.toolbar import show_search  # noqa: F401, whose script is one of all
from pages.panels.word_changes import show_word_gaps  # noqa: F401, likewise
from tests.browser.conftest import Screen, serving

pytestmark = pytest.mark.slow


def test_the_script_of_every_part_has_all_that_it_begins_with(chromium):
    page = chromium.new_context().new_page()
    address = "`data:text/javascript;charset=utf-8,${encodeURIComponent(script)}`"
    begin = f"(script) => import({address}).then(() => null, String)"
    assert {name: page.evaluate(begin, part.script) for name, part in COMPONENTS.items()} == dict.fromkeys(COMPONENTS)
    page.context.close()


def test_no_message_carries_the_script_of_the_picture(chromium, server):
    page = chromium.new_context().new_page()
    messages, fetched = [], []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda told: messages.append(told)))
    page.on("request", lambda asked: fetched.append(asked.url) if "/scripts/" in asked.url else None)
    opened = Screen(page, server)
    opened.open("?lang=en")
    opened.wait_for_picture()
    words = [message for message in messages if b"BACKEND_BASE_URL" in as_bytes(message)]
    assert words and max(map(len, words)) < 100_000
    assert sorted(url.rpartition("/")[2].partition(".")[0] for url in set(fetched)) == ["flow", "search", "slider"]
    page.context.close()


def as_bytes(message: str | bytes) -> bytes:
    """What came, as it came."""
    return message if isinstance(message, bytes) else message.encode()


def test_under_a_path_of_its_own_the_app_fetches_it_there(chromium):
    with serving(STREAMLIT_SERVER_BASE_URL_PATH="lab/attention") as address:
        page = chromium.new_context().new_page()
        fetched, failed = [], []
        page.on("response", lambda answer: fetched.append(answer.url) if "/scripts/" in answer.url else None)
        page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
        opened = Screen(page, address)
        for page_name in ("", "heads"):
            fetched.clear()
            opened.open_lesson(page_name, "?lang=en") if page_name else opened.open("?lang=en")
            page.locator(".flow .word").first.wait_for()
            assert {url.rpartition("/")[0] for url in fetched} == {f"{address}/scripts"}, page_name
        assert failed == []
        page.context.close()


SENT = """
    const { send } = WebSocket.prototype;
    window.sent = 0;
    WebSocket.prototype.send = function (message) { window.sent += 1; send.call(this, message); };
"""
FRAMES = "async () => { for (let frame = 0; frame < 20; frame += 1) await new Promise(requestAnimationFrame) }"


def test_the_rest_of_the_page_is_asked_for_when_the_picture_is_painted(chromium, server):
    page = chromium.new_context().new_page()
    page.add_init_script(SENT)
    held = []
    page.route("**/scripts/flow.*", lambda script: held.append(script))
    page.goto(f"{server}/?lang=en")
    page.locator(".st-key-rest").wait_for(state="attached")
    page.evaluate(FRAMES)
    assert page.evaluate("window.sent") == 1  # that the page has come
    for script in held:
        script.continue_()
    page.get_by_text("More", exact=True).wait_for()
    page.context.close()
