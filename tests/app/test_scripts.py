"""The scripts that a browser fetches itself: where they lie, under which names, and what a message carries instead."""

import http.client
from contextlib import closing
from hashlib import sha256
from urllib.parse import urlsplit

import pytest

from pages.components.fetched_scripts import SCRIPTS, make_loader
from tests.browser.conftest import serving

PICTURE = next(name for name in SCRIPTS if name.startswith("flow."))


@pytest.fixture(scope="module")
def address():
    with serving() as served:
        yield served


def ask(address: str, path: str, **headers: str):
    """An answer and its body."""
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)) as connection:
        connection.request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})
        answer = connection.getresponse()
        return answer, answer.read()


@pytest.mark.parametrize("base", ["", "/lab", "/lab/attention", "/heads"])
def test_the_picture_lies_under_every_path_and_may_be_kept(address, base):
    answer, script = ask(address, f"{base}/scripts/{PICTURE}")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "immutable" in answer.headers["Cache-Control"]
    assert b"class Exchange {" in script
    assert f"flow.{sha256(script).hexdigest()[:16]}.js" == PICTURE


@pytest.mark.parametrize("name", ["flow.js", f"{PICTURE}.map", "%2e%2e/app.py", "..%2fapp.py", "exchange.js"])
def test_any_other_name_is_unknown(address, name):
    answer, body = ask(address, f"/scripts/{name}")
    assert answer.status in (400, 404)
    assert len(body) < 100


def test_it_travels_packed(address):
    plain, script = ask(address, f"/scripts/{PICTURE}", Accept_Encoding="identity")
    packed, fewer = ask(address, f"/scripts/{PICTURE}", Accept_Encoding="gzip")
    assert (plain.headers["Content-Encoding"], packed.headers["Content-Encoding"]) == (None, "gzip")
    assert 3 * len(fewer) < len(script)


@pytest.mark.parametrize("path", ["/", "/heads"])
def test_the_document_names_the_scripts_for_a_browser_to_fetch_early(address, path):
    _, document = ask(address, path, Accept="text/html")
    assert f'<link rel="modulepreload" crossorigin href="./scripts/{PICTURE}">' in document.decode()


def test_a_message_carries_four_lines_in_its_place():
    loader = make_loader("flow/flow", SCRIPTS[PICTURE])
    assert len(loader.splitlines()) == 4  # Streamlit takes one line for the name of a file
    assert len(loader) < 250
    assert f'"scripts/{PICTURE}"' in loader
