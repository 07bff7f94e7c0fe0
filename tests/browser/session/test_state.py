"""What is on the screen is in its address: it outlives a reload, and nobody else is touched by it."""

import re

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import Screen, ends_a_run


@pytest.mark.slow
def test_a_reload_gives_the_edited_screen_with_head_step_cell_and_difference(screen):
    opened = screen("?step=scores&cell=0,1,1,0")
    opened.open_matrix("w_q")
    opened.edit(2, 2, "5", was="3")  # q(fed) = (5, −3): fed · Anna = 5 + 3
    opened.page.get_by_text(re.compile("^Biggest change: ")).wait_for(state="attached")
    opened.page.get_by_text("Show the difference").click()
    opened.page.get_by_text("(now − before)").first.wait_for(state="attached")
    seen = shown(opened)
    assert seen["sum"] == "5.00 × 1.00 + (−3.00) × (−1.00) = 8.00"
    assert seen["numbers"]["scores [head 2, fed, Anna]"] == "2"
    opened.page.reload()
    opened.page.get_by_text("(now − before)").first.wait_for(state="attached")
    opened.sums().wait_for()
    assert shown(opened) == seen
    assert seen["link"]["head"] == "1" and seen["link"]["step"] == "scores" and seen["link"]["cell"] == "0,1,1,0"


def shown(opened) -> dict:
    """Sentences, numbers and address."""
    opened.settled()
    return {
        "sentence": opened.sentence(),
        "moved": opened.page.get_by_text(re.compile("^Biggest change: ")).inner_text(),
        "sum": opened.arithmetic(),
        "numbers": opened.numbers("weights [") | opened.numbers("scores ["),
        "difference": opened.page.get_by_role("switch", name="Show the difference").is_checked(),
        "link": opened.query(),
    }


@pytest.mark.slow
def test_an_edit_is_seen_in_one_browser_alone(screen):
    one, two = screen(), screen()
    one.open_matrix("what if: scores")
    one.edit(5, 0, "6", was="-6")
    one.wait_for_number("weights [head 1, it, Anna]", "0.4826")
    two.open_matrix("what if: scores")
    two.edit(5, 3, "0", was="6")  # the other's screen: dog no more, Anna as it was
    two.wait_for_number("weights [head 1, it, dog]", "0.1662")  # 1 / (6 + .01437)
    assert one.numbers("weights [head 1, it, dog")["weights [head 1, it, dog]"].startswith("0.4826")
    assert two.numbers("weights [head 1, it, Anna")["weights [head 1, it, Anna]"].startswith("0.0023")
    expect(two.page.get_by_test_id("stException")).to_have_count(0)


def test_a_run_refers_to_nothing_that_the_browser_may_have_forgotten(screen):
    """The server is told what a browser keeps when a run is asked for; by the time of the answer it may be gone."""
    opened, kinds = screen(), []
    opened.socket.on("framereceived", lambda frame: kinds.append(ForwardMsg.FromString(frame).WhichOneof("type")))
    for _ in ("off", "on"):  # the pictures of the second were drawn before
        with opened.answered():
            opened.page.get_by_text("Scale ÷ √d").click()
    assert "delta" in kinds and "ref_hash" not in kinds


def test_a_click_before_the_answer_to_undo_has_arrived_does_not_take_undo_back(profile, server):
    """The click's message still contains the value of the switch that undo has changed on the server."""
    page, sockets, held, holds = profile.new_page(), [], [], []

    def connect(socket):
        sockets.append(socket)
        answers = socket.connect_to_server()
        answers.on_message(lambda frame: held.append(frame) if holds else socket.send(frame))

    def wait_for_answer() -> None:
        while not any(map(ends_a_run, held[len(seen) :])):
            page.wait_for_timeout(20)
        seen[:] = held

    page.route_web_socket("**/_stcore/stream*", connect)
    opened, seen = Screen(page, server), []
    opened.open("?lang=en")
    causal = page.locator(".st-key-c_causal")
    causal.get_by_text("Causal").click()
    undo = page.locator(".st-key-undo button").first
    expect(undo).to_be_enabled()
    opened.settled()
    holds.append(True)
    undo.click()
    wait_for_answer()
    expect(causal.locator("input")).to_be_checked()  # the browser has not heard of it
    page.locator(".flow .rail button").nth(1).click()
    wait_for_answer()
    holds.clear()
    for frame in held:
        sockets[-1].send(frame)
    expect(causal.locator("input")).not_to_be_checked()
    opened.settled()
    assert (opened.query().get("mask"), opened.query()["head"]) == (None, "1")
    expect(page.locator(".st-key-redo button").first).to_be_enabled()
    page.close()


QUICK = 100  # milliseconds between two clicks, or two presses of a held key


@pytest.mark.slow
def test_back_leaves_the_page_at_once_and_quick_clicks_and_held_keys_lose_nothing(screen):
    opened = screen("?lang=en", lesson="start")
    page = opened.page
    page.get_by_text("Open in the workbench").first.click()
    opened.wait_for_picture()
    for _ in range(5):
        with opened.answered():
            page.locator(".st-key-c_causal").get_by_text("Causal").click()
    for key, move, mask in (("Control+z", "Undo", None), ("Control+y", "Redo", "causal")):
        for _ in range(5):
            page.keyboard.press(key)
            page.wait_for_timeout(QUICK)
        expect(page.locator(f".st-key-{move.lower()} button").first).to_be_disabled()  # Redo is hidden then
        assert opened.query().get("mask") == mask
    for _ in range(5):
        with opened.answered():
            page.locator(".st-key-c_causal").get_by_text("Causal").click()
    for move, mask in (("Undo", None), ("Redo", "")):
        box = page.get_by_role("button", name=move).bounding_box()
        for _ in range(10):  # the clicks of a hand, in one second; each is one step
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.wait_for_timeout(QUICK)
        expect(page.locator(f".st-key-{move.lower()} button").first).to_be_disabled()  # Redo is hidden then
        assert opened.query().get("mask") == mask
    with opened.answered():
        page.locator(".st-key-c_causal").get_by_text("Causal").click()
    for presses, mask in ((5, ""), (6, ""), (5, "causal")):
        opened.settled()
        box = page.locator(".st-key-c_causal").get_by_text("Causal").bounding_box()
        for _ in range(presses):
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.wait_for_timeout(QUICK)
        assert opened.query()["mask"] == mask
        assert (opened.numbers("weights [")["weights [head 1, Anna, dog]"] == "0") == (mask == "causal")
        assert page.locator(".st-key-c_causal input").is_checked() == (mask == "causal")
    page.go_back()
    page.wait_for_url("**/start?*")
    opened.maps().first.wait_for()
    page.go_forward()
    opened.wait_for_picture()
    assert opened.query()["mask"] == "causal"
