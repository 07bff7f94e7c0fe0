"""A screen handed on in a real browser: as a file, as a link that outlives the server, as a QR code."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import serving

pytestmark = pytest.mark.slow

HAS_37 = "root => root.flow.data.words.T.length === 37"
WIDE = "\n".join("  ".join(f"{(37 * row + 11 * column) % 97 / 10}" for column in range(31)) for row in range(37))


def open_box(opened):
    opened.page.get_by_role("button", name="Link").click()
    return opened.page.get_by_test_id("stPopoverBody")


def shown(opened):
    """The computed sentence, the tiles and every printed number of the maps."""
    opened.settled()
    return opened.sentence(), opened.tokens(), opened.numbers("weights [")


def test_numbers_that_are_too_many_for_a_link_go_on_as_a_file_and_the_link_outlives_the_server(screen, tmp_path):
    opened = screen()
    first = opened.sentence()
    opened.open_way("Matrices")
    opened.press("Input", "Matrix X")
    box = opened.page.get_by_role("textbox", name="x as text")
    box.fill(WIDE)
    box.press("Control+Enter")
    opened.page.wait_for_function(HAS_37, arg=opened.page.locator(".flow").element_handle())
    before = shown(opened)
    assert before[0] != first and len(before[2]) >= 37
    popover = open_box(opened)
    expect(popover.get_by_text("Many programs cut an address after 6,000")).to_be_visible()
    expect(popover.get_by_text("A QR code that can still be read")).to_be_visible()
    with opened.page.expect_download() as download:
        popover.get_by_role("button", name="Save this screen as a file").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.name == "attention_en_it.json" and "0,1.1,2.2" in saved.read_text(encoding="utf-8")

    other = screen()
    open_box(other).locator("input[type=file]").set_input_files(saved)
    other.page.wait_for_function(HAS_37, arg=other.page.locator(".flow").element_handle())
    assert shown(other) == before
    query = other.page.url.partition("?")[2]
    link, _, panel = opened.page.url.partition("?")[2].partition("&side_panel=")  # which the address keeps, and no file
    assert len(query) > 6_000 and query == link and panel == "matrices%3Ax"
    expect(other.page.get_by_test_id("stPopoverBody")).to_be_hidden()
    other.page.get_by_role("button", name="Undo").click()
    other.wait_for_sentence(first)
    assert opened.errors == other.errors == []
    with serving() as address:
        again = screen("?" + query, address=address)
        assert shown(again) == before
        assert again.errors == []


def test_the_code_is_seen_whole_on_a_projector_and_leads_to_the_public_address(screen):
    with serving(ATTENTION_ADDRESS="https://attention.example.edu") as address:
        opened = screen("?mask=causal", address=address)
        popover = open_box(opened)
        code = popover.get_by_role("img", name="QR code of this address")
        for scheme in ("light", "dark"):
            opened.page.emulate_media(color_scheme=scheme)
            opened.settled()
            expect(code).to_be_in_viewport(ratio=1)
            frame, around = code.bounding_box(), popover.bounding_box()
            assert frame["width"] == frame["height"] >= 320, scheme
            assert frame["y"] + frame["height"] <= around["y"] + around["height"], scheme
        link = popover.locator("code").inner_text()
        assert link.replace("\n", "") == "https://attention.example.edu/?mask=causal&lang=en"
        assert popover.get_by_text("this machine only").count() == 0
        assert opened.outside == [] and opened.errors == []
