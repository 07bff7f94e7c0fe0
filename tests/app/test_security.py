"""What the server says with every answer, who may frame it and open a WebSocket, and that it asks nobody itself."""

import asyncio
import http.client
import os
import re
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from pages.app import security
from pages.site.settings import ADDRESS
from tests.browser.conftest import ROOT, free_port, serving, wait_for_health

SLIDES = "https://slides.example"


def policy(headers):
    """The content security policy as a dict from directive to sources."""
    return {name: sources for name, *sources in map(str.split, headers["Content-Security-Policy"].split(";"))}


# ---- the setting -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("setting", "sites"),
    [
        ("", []),
        ("  ", []),
        ("*", ["*"]),
        (SLIDES, [SLIDES]),
        (f" {SLIDES}\n https://*.lms.example:8443 ", [SLIDES, "https://*.lms.example:8443"]),
        ("http://127.0.0.1:8000", ["http://127.0.0.1:8000"]),
        ("https://LMS.example", ["https://LMS.example"]),
    ],
)
def test_sites_are_read(setting, sites):
    assert security.read_embedding_sites(setting) == sites


@pytest.mark.parametrize(
    "setting",
    [
        "slides.example",
        "htp://slides.example",
        "https://",
        "https:",
        "'self'",
        "'none'",
        f"{SLIDES}/course",
        f"{SLIDES};script-src",
        f"{SLIDES},https://lms.example",
        "https://slides.example:port",
        "https://a@b.example",
        "https://*",
        "https://a.*.example",
        f"{SLIDES} *",
        "* *",
        "https://幻灯.example",
        "data:",
    ],
)
def test_anything_else_is_refused(setting):
    with pytest.raises(ValueError, match=r"ATTENTION_EMBED must be sites .* got"):
        security.read_embedding_sites(setting)


def test_a_wrong_setting_ends_the_start_with_one_sentence():
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(free_port())]
    environment = os.environ | {security.EMBED_VARIABLE: "slides.example"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert "ATTENTION_EMBED must be sites" in ended.stderr and "got 'slides.example'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_by_default_only_the_app_itself_may_frame_it():
    told = security.make_security_headers([])
    assert policy(told)["frame-ancestors"] == ["'self'"]
    assert told["X-Frame-Options"] == "SAMEORIGIN"


def test_chosen_sites_may_frame_it():
    told = security.make_security_headers([SLIDES, "http://127.0.0.1:8000"])
    assert policy(told)["frame-ancestors"] == ["'self'", SLIDES, "http://127.0.0.1:8000"]
    assert "X-Frame-Options" not in told  # it cannot name sites


def test_a_star_lets_every_page_frame_it_even_slides_opened_from_a_file():
    told = security.make_security_headers(["*"])
    assert "frame-ancestors" not in policy(told)  # a listed * means the schemes of the web only
    assert "X-Frame-Options" not in told


# ---- the policy ------------------------------------------------------------------------------------------------------
def test_the_policy_names_no_other_host():
    sources = {source for sources in policy(security.make_security_headers([])).values() for source in sources}
    hashes = {source for source in sources if re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", source)}
    assert sources - hashes == {"'none'", "'self'", "blob:", "data:", "'unsafe-inline'"}


def test_the_policy_refuses_all_that_is_not_named():
    told = policy(security.make_security_headers([]))
    for directive in ("default-src", "object-src", "base-uri", "form-action"):
        assert told[directive] == ["'none'"], directive
    assert told["connect-src"] == ["'self'"]
    scripts = set(told["script-src"])
    assert not scripts & {"'unsafe-inline'", "'unsafe-eval'", "'wasm-unsafe-eval'", "data:", "*"}


# ---- the answers -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def address():
    with serving() as served:
        yield served


def ask(address, path, method="GET", skip_host=False, **headers):
    """An answer, raw: nothing is followed, and the path goes out as it stands."""
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)) as connection:
        connection.putrequest(method, path, skip_host, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
        return answer


def script_of(address):
    """The path of Streamlit's own script."""
    with urllib.request.urlopen(address, timeout=30) as answer:
        return "/static/js/" + re.search(r"static/js/(index\.[\w-]+\.js)", answer.read().decode())[1]


ANSWERS = [
    ("/", "GET", 200),
    ("/", "HEAD", 200),
    ("/workbench?ex=en_it&lang=zh", "GET", 200),
    ("/workbench/", "GET", 301),
    ("/no/such/page", "GET", 200),
    ("/favicon.png", "GET", 200),
    ("script", "GET", 200),
    ("/static/none.js", "GET", 200),
    ("/_stcore/health", "GET", 200),
    ("/_stcore/health", "OPTIONS", 204),
    ("/_stcore/host-config", "GET", 200),
    ("/_stcore/metrics", "GET", 200),
    ("/_stcore/upload_file/none/none", "PUT", 403),
    ("/_stcore/bidi-components/none/none.js", "GET", 404),
    ("/component/none/index.html", "GET", 404),
    ("/media/none.png", "GET", 404),
    ("/_stcore/agent/interact", "POST", 403),
    ("/%2e%2e/%2e%2e/etc/passwd", "GET", 400),
    ("//other.example/", "GET", 400),
    ("/", "DELETE", 405),
]


@pytest.mark.parametrize(("path", "method", "status"), ANSWERS)
def test_every_answer_carries_the_headers_once(address, path, method, status):
    answer = ask(address, script_of(address) if path == "script" else path, method)
    assert answer.status == status
    for name, text in security.make_security_headers([]).items():
        assert answer.headers.get_all(name) == [text], name


def test_the_setting_reaches_the_answers():
    with serving(**{security.EMBED_VARIABLE: SLIDES}) as address:
        answer = ask(address, "/")
    assert answer.headers["Content-Security-Policy"].endswith(f"frame-ancestors 'self' {SLIDES}")
    assert "X-Frame-Options" not in answer.headers


def test_no_other_page_may_read_an_answer(address):
    assert "Access-Control-Allow-Origin" not in ask(address, "/_stcore/health", Origin=SLIDES).headers


def test_what_nobody_needs_is_switched_off(address):
    with urllib.request.urlopen(f"{address}/_stcore/host-config", timeout=30) as answer:
        assert b'"allowedOrigins":[]' in answer.read()  # no page around the app may steer it


# ---- WebSockets ------------------------------------------------------------------------------------------------------
def opens(address, origin):
    """Whether a WebSocket opens for a page of an origin."""
    stream = address.replace("http", "ws") + "/_stcore/stream"
    try:
        with connect(stream, origin=origin, subprotocols=["streamlit"], proxy=None):
            return True
    except InvalidStatus as refusal:
        assert refusal.response.status_code == 403
        return False


def test_a_websocket_opens_for_the_own_pages_alone(address):
    assert opens(address, address)
    assert opens(address, None)  # no browser: browsers always say where they come from
    assert opens(address, "http://localhost:8888")  # the address that is set
    for origin in (SLIDES, "null", "", "file://", f"{address}.other.example", "http://127.0.0.1:1"):
        assert not opens(address, origin), origin


async def passes(*headers):
    """Whether the guard hands a WebSocket on to the app."""
    handed = []

    async def app(scope, receive, send):
        handed.append(scope)

    async def send(message):
        assert message == {"type": "websocket.close", "code": 1008}

    await security.Guard(app, {})({"type": "websocket", "headers": headers}, None, send)
    return handed != []


def told(answer):
    """What a coroutine answers, in a thread of its own: a browser test may have left a loop running in this one."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, answer).result()


def test_the_guard_closes_foreign_websockets_before_the_app_hears_of_them():
    host = (b"host", b"lecture.example:8501")
    assert told(passes(host, (b"origin", b"https://lecture.example:8501")))
    assert not told(passes(host, (b"origin", b"https://lecture.example")))
    assert not told(passes(host, (b"origin", b"https://\xff[")))
    assert not told(passes((b"origin", b"https://lecture.example:8501")))


# ---- names of the host -----------------------------------------------------------------------------------------------
PUBLIC = "https://lecture.example:8443/attention"


def ask_as(address, host, path):
    """The status of an answer to a request that calls the server by some name."""
    return ask(address, path, skip_host=True, Host=host).status


def opens_as(address, host):
    """Whether a WebSocket opens for a page that calls the server by some name."""
    here, port = urlsplit(address).hostname, urlsplit(address).port
    with closing(socket.create_connection((here, port))) as line:
        try:
            with connect(f"ws://{host}/_stcore/stream", sock=line, origin=f"http://{host}", subprotocols=["streamlit"]):
                return True
        except InvalidStatus as refusal:
            assert refusal.response.status_code == 403
            return False


@pytest.mark.parametrize(
    ("authority", "name"),
    [
        ("lecture.example", "lecture.example"),
        ("LECTURE.Example.:8501", "lecture.example"),
        ("127.0.0.1:8501", "127.0.0.1"),
        ("[::1]:8501", "::1"),
        ("rebound.example@lecture.example", ""),
        ("lecture.example/x", ""),
        ("lecture.example#x", ""),
        ("[::1", ""),
        ("", ""),
    ],
)
def test_a_host_is_named_without_its_port(authority, name):
    assert security.read_host_name(authority) == name


def test_an_old_health_check_calls_the_server_by_no_name():
    assert not security.is_foreign_host([], "lecture.example")
    assert security.is_foreign_host([b"lecture.example", b"rebound.example"], "lecture.example")


@pytest.mark.parametrize("given", ["", " ", "lecture.example", "//[", "?x"])
def test_without_an_address_any_name_will_do(given):
    assert security.read_public_name(given) == ""
    assert told(passes((b"host", b"rebound.example"), (b"origin", b"https://rebound.example")))


def test_where_an_address_is_set_the_app_answers_to_no_foreign_name():
    with serving(**{ADDRESS: PUBLIC}) as address:
        port = urlsplit(address).port
        foreign = ("rebound.example", f"rebound.example:{port}", "lecture.example.x.example", "127.0.0.1.x.example")
        for host in (*foreign, "localhost@rebound.example", "a.lecture.example", "2130706433"):
            for path in ("/", "/_stcore/health", "/workbench?ex=en_it", "/no/such/page"):
                assert ask_as(address, host, path) == 403, (host, path)
        own = ("lecture.example", "Lecture.Example:8443", f"localhost:{port}", f"127.0.0.1:{port}", "[::1]", "10.1.2.3")
        for host in own:
            assert ask_as(address, host, "/_stcore/health") == 200, host
        assert [opens_as(address, host) for host in foreign] == [False] * len(foreign)
        assert all(opens_as(address, host) for host in ("lecture.example", "localhost", f"127.0.0.1:{port}"))


def test_a_refusal_carries_the_headers_once():
    with serving(**{ADDRESS: PUBLIC}) as address:
        answer = ask(address, "/", skip_host=True, Host="rebound.example")
    assert answer.status == 403
    for name, text in security.make_security_headers([]).items():
        assert answer.headers.get_all(name) == [text], name


# ---- what the server asks --------------------------------------------------------------------------------------------
WATCHED = """
import sys

def watch(event, given):
    host = None
    if event == "socket.getaddrinfo":
        host = given[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(given[1], tuple):
        host = given[1][0]
    if host not in (None, "127.0.0.1", "localhost", "0.0.0.0", "::1", "::", b"localhost"):
        print("asked for", host, flush=True)

sys.addaudithook(watch)
from streamlit.web.cli import main
main()
"""


def test_the_server_asks_no_other_host():
    port = free_port()
    options = ["run", "app.py", "--server.port", str(port), "--server.fileWatcherType", "none"]
    command = [sys.executable, "-c", WATCHED, *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for_health(address, process)
            assert not opens(address, SLIDES)
            assert opens(address, address)
        finally:
            process.kill()
        said = process.stdout.read()
    assert f"http://localhost:{port}" in said
    assert "asked for" not in said
