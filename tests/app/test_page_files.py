"""The files of Streamlit's page, as a browser gets them."""

import re

import pytest

from pages.app.page_files import FILES, FOLDER
from tests.app.test_scripts import address, ask  # noqa: F401

FONT = next(name for name in FILES if name.endswith(".woff2"))


def test_a_browser_gets_every_file_that_the_document_names(address):  # noqa: F811
    _, document = ask(address, "/", Accept="text/html")
    named = re.findall(r'"\./static/([^"]+\.(?:js|css))"', document.decode())
    assert len(named) > 50
    for name in [*named, FONT]:
        answer, body = ask(address, f"/static/{name}")
        assert (answer.status, body) == (200, (FOLDER / name).read_bytes())
        assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize(("name", "kind"), [(".js", "javascript"), (".css", "text/css"), (".woff2", "font/woff2")])
def test_a_browser_is_told_what_it_is(address, name, kind):  # noqa: F811
    path = next(each for each in FILES if each.endswith(name))
    answer, _ = ask(address, f"/lab/static/{path}")
    assert kind in answer.headers["Content-Type"]


@pytest.mark.parametrize("name", ["js/none.js", "js/..%2f..%2findex.html", "js/%2e%2e", "none/none.js"])
def test_any_other_name_is_unknown(address, name):  # noqa: F811
    answer, body = ask(address, f"/static/{name}")
    assert answer.status in (400, 404)
    assert len(body) < 100
