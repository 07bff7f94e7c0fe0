"""The link's box: the address, what is said of it, its QR code, and files saved and opened."""

import base64
import re

import pytest
from streamlit.runtime.context import ContextProxy

from pages.session.addresses import MAX_ADDRESS_CHARS
from pages.setup.setup import Setup, make_setup
from pages.setup.setup_file import setup_to_file
from pages.site.settings import ADDRESS
from pages.site.words import load_app_texts
from pages.workbench.sharing import MAX_QR_CHARS, qr_code
from tests.screen.driver import Screen, plain

WIDE = ";".join(",".join(f"{row * 3 + column:.1f}" for column in range(31)) for row in range(37))


@pytest.fixture(autouse=True)
def no_address_is_set(monkeypatch):
    monkeypatch.delenv(ADDRESS, raising=False)


def opened_at(monkeypatch, url):
    monkeypatch.setattr(ContextProxy, "url", property(lambda self: url))


def offer(screen, data, name="screen.json"):
    """A visitor chooses a file."""
    data = data if isinstance(data, bytes) else data.encode()
    open_box(screen)
    (uploader,) = [box for box in screen.at.file_uploader if box.key.startswith("c_file")]
    return screen.ran(uploader.set_value((name, data, "application/json")).run)


def open_box(screen):
    screen.at.session_state["sharing"] = True
    return screen.ran(screen.at.run)


def boxed(**link):
    """A screen with the box open."""
    return open_box(Screen(**link))


def link_box(screen):
    (box,) = [code.value for code in screen.at.code if "lang=" in code.value]
    return box


def codes(screen):
    """The QR codes on the screen, as SVG."""
    pictures = [image for part in screen.at.image for image in part.proto.imgs]
    return [base64.b64decode(image.url.rpartition(",")[2]).decode() for image in pictures]


# ---- files -----------------------------------------------------------------------------------------------------------
def test_a_file_opens_the_screen_that_was_saved_and_undo_takes_it_back():
    there = boxed().set("masks", ["causal"]).set("text", "he read").set("temperature", 2.0)
    here = boxed(lang="zh", score="dot")
    before = here.setup()
    offer(here, setup_to_file(there.setup()))
    assert here.setup() == there.setup()
    assert here.packed("flow")[1]["numbers"] == there.packed("flow")[1]["numbers"]
    assert here.link() == there.link() | {"lang": "zh"}  # the reader keeps the reader's language
    assert here.errors() == []
    here.press_labelled(load_app_texts("zh")["header.undo"])
    assert here.setup() == before
    assert here.link() == {"lang": "zh", "score": "dot"}


def test_a_file_can_be_opened_again_after_it_was_left():
    saved = setup_to_file(make_setup(temperature=2.0))
    screen = offer(boxed(), saved)
    assert next(b for b in open_box(screen).at.file_uploader if b.key.startswith("c_file")).value is None
    screen.set("temperature", 5.0)
    assert offer(screen, saved).link() == {"temp": "2.0"}


def test_opening_what_is_on_the_screen_is_no_change():
    screen = offer(boxed(), setup_to_file(Setup()))
    assert next(button for button in screen.at.button if button.label == "Undo").disabled


@pytest.mark.parametrize(
    "parts, english, chinese",
    [
        (
            '"heads": "two"',
            "The file says heads=two, which cannot be read; the rest of the file is shown.",
            "文件中的 heads=two 无法识别，其余部分照常显示。",
        ),
        (
            '"haeds": "2"',
            "The file says haeds=2, but nothing here is called haeds: a typo, or a file from a newer version. "
            "The rest of the file is shown.",
            "文件中的 haeds=2 无法理解：这里没有 haeds，可能是笔误，也可能来自较新的版本。其余部分照常显示。",
        ),
        (
            '"kv": "3"',
            "The file's kv cannot be used: heads must be divisible by kv_heads: heads 2, kv_heads 3. The rest of the "
            "file is shown.",
            "文件中的 kv 无法使用：头数必须能被键/值头数整除：头数 2，键/值头数 3。其余部分照常显示。",
        ),
        (
            '"step": "no such step"',
            "The file says step=no such step, which cannot be read; the rest of the file is shown.",
            "文件中的 step=no such step 无法识别，其余部分照常显示。",
        ),
    ],
)
def test_what_cannot_be_used_of_a_file_is_named_and_the_rest_is_shown(parts, english, chinese):
    for language, expected in (("en", english), ("zh", chinese)):
        text = '{"format": "attention-explorer", "version": 1, "score": "dot", ' + parts + "}"
        screen = offer(boxed(lang=language), text)
        assert screen.errors() == [expected]
        assert screen.link() == {"lang": language, "score": "dot"}
        assert screen.set("temperature", 2.0).errors() == []


@pytest.mark.parametrize(
    "data, sentence",
    [
        (b"\xff\xfe", "a saved screen must be JSON in UTF-8: this file is not"),
        ("<script>alert(1)</script>", "a saved screen must be JSON in UTF-8: this file is not"),
        ("[" * 100_000, "a saved screen must be one object of texts: this one is nested too deeply to be read"),
        (
            '{"format": "attention-explorer", "version": 7}',
            "the version of a file must be at most 1, the newest known here: this one is 7",
        ),
        (
            '{"format": "attention-explorer", "version": 1, "**b**": 1}',
            "each part of a file must be a text in double quotes: **b** is not",
        ),
        (" " * 300_001, "a saved screen may have at most 300000 characters: this one has 300001"),
    ],
)
def test_a_file_of_something_else_is_refused_and_changes_nothing(data, sentence):
    screen = boxed(score="dot")
    before = screen.setup()
    assert offer(screen, data).errors() == [sentence]
    assert screen.setup() == before
    assert next(button for button in screen.at.button if button.label == "Undo").disabled
    assert screen.ran(screen.at.file_uploader[0].set_value(None).run).errors() == []


def test_a_file_that_opens_takes_the_refusal_of_another_away():
    screen = offer(boxed(), "x")
    assert len(screen.errors()) == 1
    assert offer(screen, setup_to_file(make_setup(heads=1))).errors() == []
    assert screen.link() == {"heads": "1"}


def test_the_file_is_offered_for_every_screen():
    for link in ({}, {"x": WIDE}):
        labels = [button.label for button in boxed(**link).at.get("download_button")]
        assert "Save this screen as a file" in labels


# ---- the address -----------------------------------------------------------------------------------------------------
def test_a_long_address_says_how_long_it_is(monkeypatch):
    opened_at(monkeypatch, "http://192.0.2.7:8501/")
    for language, words in (("en", "Many programs cut an address after 6,000"), ("zh", "超过 6,000 个字符的地址")):
        screen = open_box(boxed(lang=language, x=WIDE))
        given = len(link_box(screen))
        assert given > MAX_ADDRESS_CHARS == 6_000
        (warning,) = [warning.value for warning in screen.at.warning]
        assert f"{given:,}" in warning and words in warning
        assert codes(screen) == []
        assert any(f"{given:,}" in caption and f"{MAX_QR_CHARS:,}" in caption for caption in screen.captions())
    short = open_box(boxed())
    assert short.at.warning.len == 0 and len(codes(short)) == 1


def test_the_code_is_that_of_the_address_and_drawn_when_the_box_is_open(monkeypatch):
    opened_at(monkeypatch, "http://192.0.2.7:8501/")
    screen = Screen(text="狗 it", lang="zh")
    assert codes(screen) == []
    open_box(screen)
    assert link_box(screen) == "http://192.0.2.7:8501/?text=%E7%8B%97+it&lang=zh"
    (code,) = codes(screen)
    assert re.sub(r"\s+", " ", code) == re.sub(r"\s+", " ", qr_code(link_box(screen))[0])


@pytest.mark.parametrize(
    "url, here",
    [
        ("http://localhost:8501/", True),
        ("http://127.0.0.1:8501/", True),
        ("http://[::1]:8501/", True),
        ("http://192.0.2.7:8501/", False),
        ("https://localhost.example.org/", False),
    ],
)
def test_an_address_that_opens_on_this_machine_only_says_so(monkeypatch, url, here):
    opened_at(monkeypatch, url)
    sentence = "works on this machine only"
    assert any(sentence in plain(info.value) for info in boxed().at.info) == here
    monkeypatch.setenv(ADDRESS, "https://attention.example.edu")
    assert not any(sentence in plain(info.value) for info in boxed().at.info)


@pytest.mark.parametrize(
    "setting, url, base",
    [
        ("https://attention.example.edu", "http://localhost:8501/", "https://attention.example.edu/"),
        ("https://example.edu/attention/", "http://localhost:8501/", "https://example.edu/attention/"),
        ("https://example.edu/attention", "https://example.edu/attention", "https://example.edu/attention/"),
        ("http://192.0.2.7:8501", "http://localhost:8501/workbench", "http://192.0.2.7:8501/workbench"),
        ("", "http://192.0.2.9/?ex=x", "http://192.0.2.9/"),
    ],
)
def test_links_begin_with_the_address_that_is_set(monkeypatch, setting, url, base):
    opened_at(monkeypatch, url)
    monkeypatch.setenv(ADDRESS, setting)
    screen = boxed(score="dot")
    assert link_box(screen) == f"{base}?score=dot&lang=en"
    assert screen.errors() == []


@pytest.mark.parametrize(
    "setting",
    [
        "attention.example.edu",
        "ftp://example.edu",
        "javascript:alert(1)",
        "https://",
        "https://example.edu/?a=b",
        "https://example.edu/#a",
        "https://name:word@example.edu",
        "https://example.edu:99999",
        "https://exa mple.edu",
        "https://[::1",
        "https://狗.example",
    ],
)
def test_an_address_that_is_none_is_named_and_not_used(monkeypatch, setting):
    opened_at(monkeypatch, "http://192.0.2.7:8501/")
    monkeypatch.setenv(ADDRESS, setting)
    for language, words in (("en", "must be an http or https address without a query"), ("zh", "不带查询参数的 http")):
        screen = boxed(lang=language)
        example = {"en": "", "zh": "ex=zh_ta&"}[language]
        assert link_box(screen) == f"http://192.0.2.7:8501/?{example}lang={language}"
        (error,) = screen.errors()
        assert error.startswith(ADDRESS) and words in error and setting in error
