"""The app in a browser that holds it to its own policy, in frames of other pages, and with hostile scripts in it."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pages.app.security import EMBED_VARIABLE
from pages.site.settings import ADDRESS
from tests.browser.conftest import ARGUMENTS, CHROMIUM, serving

LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", event =>
    window.violations.push(event.effectiveDirective + " " + event.blockedURI));
"""
KNOWN = "script-src wasm-eval"  # a number library of Streamlit tries WebAssembly and does without


FRAME = '<h1>A slide</h1><iframe src="{address}/" width="1200" height="700"></iframe>'


@contextmanager
def other_site():
    """A site on another port; its pages frame the address behind the `?`. Gives its address and what was asked for."""
    asked = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(FRAME.format(address=self.path.partition("?")[2]).encode())

        do_POST = do_GET

        def log_message(self, *given):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{site.server_port}", asked
        finally:
            site.shutdown()
            thread.join()


def is_refused(page, slide: str) -> bool:
    """Whether a page that frames the app gets the browser's error page for it."""
    with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.goto(slide)
    return page.frames[1].url == "chrome-error://chromewebdata/"


def works_in_frame(page, slide: str) -> bool:
    """Whether a page that frames the app shows it, and it answers."""
    page.goto(slide)
    app = page.frame_locator("iframe")
    app.get_by_role("button", name="Try “she” for “it”").click()
    app.locator("h5, .heard", has_text="“she” gives 93 % of its attention to “Anna”").wait_for(state="attached")
    return True


def violations(opened) -> set[str]:
    """What the browser did not load or run."""
    return set(opened.page.evaluate("() => window.violations"))


@pytest.fixture
def listening(screen, server):
    """A screen whose page notes every violation from its first script on."""
    opened = screen()
    opened.page.add_init_script(LISTEN)
    opened.open("")
    return opened


def test_a_whole_visit_breaks_no_rule_and_asks_nobody_else(listening):
    opened, page = listening, listening.page
    opened.click_drawn("shares share 3")
    opened.sums().wait_for()
    opened.open_step_drawer()
    page.locator(".katex").first.wait_for()
    page.get_by_text("The code that ran").click()
    opened.type("Sentence", "Anna fed the dog and she barked")
    opened.wait_for_sentence("“she” gives 93 % of its attention to “Anna”")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as script:
        page.get_by_role("button", name="PyTorch script").click()
    assert script.value.failure() is None
    page.keyboard.press("Escape")
    opened.open_way("Matrices")
    page.get_by_test_id("stDataFrame").first.locator("canvas").first.wait_for()
    page.get_by_text("中文", exact=True).click()
    opened.wait_for_sentence("头 1：“she”把 93% 的注意力给了“Anna”")
    opened.settled()
    assert violations(opened) <= {KNOWN}
    assert opened.outside == []
    assert opened.errors == []


@pytest.mark.slow
def test_the_dark_theme_breaks_no_rule(screen):
    opened = screen(color_scheme="dark")
    opened.page.add_init_script(LISTEN)
    opened.open("?ex=zh_ta&lang=zh&step=weights")
    assert violations(opened) <= {KNOWN}
    assert opened.outside == []


@pytest.fixture
def page(chromium):
    """A page of its own profile."""
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    yield context.new_page()
    context.close()


def test_no_other_page_may_show_the_app_in_a_frame(page, server):
    with other_site() as (address, _):
        assert is_refused(page, f"{address}/?{server}")


@pytest.mark.slow
def test_a_site_of_the_setting_may_and_no_other(page):
    with other_site() as (slides, _), other_site() as (stranger, _), serving(**{EMBED_VARIABLE: slides}) as server:
        assert works_in_frame(page, f"{slides}/?{server}")
        assert is_refused(page, f"{stranger}/?{server}")


@pytest.mark.slow
def test_under_a_star_slides_opened_from_a_file_may_too(page, tmp_path):
    with other_site() as (slides, _), serving(**{EMBED_VARIABLE: "*"}) as server:
        assert works_in_frame(page, f"{slides}/?{server}")
        (tmp_path / "slide.html").write_text(FRAME.format(address=server), "utf-8")
        assert works_in_frame(page, (tmp_path / "slide.html").as_uri())


def test_hostile_scripts_in_the_page_do_not_run_and_send_nothing(listening):
    page = listening.page
    with other_site() as (address, asked):
        page.evaluate(
            """address => {
                window.hits = [];
                const add = (name, given, parent = document.body) =>
                    parent.appendChild(Object.assign(document.createElement(name), given));
                add("script", {text: "window.hits.push('inline script')"});
                add("script", {src: address + "/script"});
                add("script", {src: "data:text/javascript,window.hits.push('data script')"});
                add("div", {innerHTML: "<img src='data:,' onerror=\\"window.hits.push('handler')\\">"});
                add("a", {href: "javascript:window.hits.push('address')"}).click();
                add("base", {href: address + "/base/"}, document.head);
                add("img", {src: address + "/image"});
                add("link", {rel: "stylesheet", href: address + "/style"});
                add("iframe", {src: address + "/frame"});
                add("object", {data: address + "/object"});
                add("video", {src: address + "/video"});
                const form = add("form", {action: address + "/form", method: "post", target: "_blank"});
                form.submit();
                navigator.sendBeacon(address + "/beacon", "words");
                fetch(address + "/fetch").catch(() => {});
                try { new WebSocket(address.replace("http", "ws") + "/socket"); } catch { }
                try { new Worker("data:text/javascript,0"); } catch { }
                setTimeout(() => { try { eval("window.hits.push('eval')"); } catch { } window.tried = true; });
            }""",
            address,
        )
        page.wait_for_function("() => window.tried && window.violations.length >= 14")
        assert page.evaluate("() => window.hits") == []
        assert page.evaluate("() => document.baseURI") == page.url
    assert asked == []
    listening.blocked.clear()  # all of it was meant to be


@pytest.mark.slow  # tests/app asks the server without a browser
def test_a_foreign_name_that_leads_here_shows_nothing(chromium):
    rules = "--host-resolver-rules=MAP *.example 127.0.0.1"  # as its owner would have a name lead here
    with serving(**{ADDRESS: "https://lecture.example"}) as server:
        browser = chromium.browser_type.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, rules])
        try:
            page, port = browser.new_page(), server.rpartition(":")[2]
            page.goto(f"http://lecture.example:{port}/")
            page.get_by_role("button", name="Try “she” for “it”").wait_for()
            assert page.goto(f"http://rebound.example:{port}/").status == 403
            assert page.get_by_test_id("stApp").count() == 0
        finally:
            browser.close()
