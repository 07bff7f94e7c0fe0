"""Maps of a model in the browser: a file is brought, searched, walked through by keyboard, opened, read."""

from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import expect

from attention_core.documents.picture_files import png_bytes

pytestmark = pytest.mark.slow

L, H, T = 3, 4, 6
WORDS = ["[CLS]", "the", "cat", "##s", "sat", "[SEP]"]


def drawn():
    numbers = np.random.default_rng(3).normal(size=(L, H, T, T)) * 2
    powers = np.exp(numbers)
    return powers / powers.sum(-1, keepdims=True)


def npz(**arrays):
    file = BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def with_file(screen, **options):
    opened = screen(lesson="maps", **options)
    expect(opened.page.locator(".heads .card")).to_have_count(12)
    opened.upload("mine.npz", npz(attention=drawn(), tokens=np.array(WORDS)))
    expect(opened.page.get_by_text("mine.npz").last).to_be_visible()
    expect(opened.page.locator(".heads select.from option")).to_have_count(T + 1)
    opened.settled()
    return opened, opened.page.locator(".heads")


def name_of(place):
    layer, head = divmod(int(place), H)
    return f"layer {layer + 1}, head {head + 1}"


def test_the_head_that_looks_most_from_one_word_at_another_is_found_and_opened(screen):
    opened, heads = with_file(screen)
    heads.locator("select.from").select_option("4")
    heads.locator("select.to").select_option("2")
    best = drawn()[:, :, 4, 2].argmax()
    expect(heads.locator(".card .name").first).to_have_text(name_of(best))
    heads.locator(".card .open").first.click()
    heading = opened.page.get_by_role("heading", name=name_of(best))
    expect(heading).to_be_in_viewport()
    expect(heads.locator(".card.now .name")).to_have_text(name_of(best))


def test_the_number_of_a_cell_is_read_by_keyboard(screen):
    opened, _ = with_file(screen)
    stage = opened.page.locator(".map [tabindex='0']").first
    stage.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        opened.page.keyboard.press(key)
    read = opened.page.locator("div.map").first
    expect(read).to_contain_text("“")
    numbers = [f"{number:.2f}" for number in drawn()[0, 0].flatten()]
    assert any(number in read.inner_text() for number in numbers)


def test_arrow_keys_lead_from_head_to_head(screen):
    opened, heads = with_file(screen)
    stops = heads.locator(".open")
    assert [stops.nth(i).get_attribute("tabindex") for i in range(12)].count("0") == 1
    stops.first.focus()
    for key, place in (("ArrowRight", 1), ("ArrowDown", 1 + H), ("ArrowLeft", H), ("ArrowUp", 0), ("End", 11)):
        opened.page.keyboard.press(key)
        expect(stops.nth(place)).to_be_focused()
    opened.page.keyboard.press("Tab")
    expect(heads.locator(".compare").nth(11)).to_be_focused()  # of the same head, and of no other
    opened.page.keyboard.press("Shift+Tab")
    opened.page.keyboard.press("Enter")
    expect(opened.page.get_by_role("heading", name="layer 3, head 4")).to_be_visible()


def test_a_refused_file_is_named_at_its_box_and_the_last_one_stays(screen):
    opened, heads = with_file(screen)
    opened.upload("bad.npz", npz(attention=np.full((1, 2, 2), np.nan)))
    expect(opened.page.get_by_test_id("stAlert")).to_contain_text("finite")
    expect(heads.locator("select.from option")).to_have_count(T + 1)


def test_what_is_taken_along_holds_the_numbers_of_the_file(screen, tmp_path):
    opened, heads = with_file(screen)
    heads.locator(".card .open").nth(H + 1).click()
    expect(opened.page.get_by_role("heading", name="layer 2, head 2")).to_be_visible()
    opened.settled()
    files = {}
    for name in ("SVG", "PNG", "CSV", "All maps (NPZ)"):
        with opened.page.expect_download() as download:
            opened.page.get_by_test_id("stDownloadButton").get_by_role("button", name=name, exact=True).click()
        files[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[name])
    table = pd.read_csv(files["CSV"], skiprows=3)
    assert table["value"].to_numpy().reshape(T, T) == pytest.approx(drawn()[1, 1])
    assert "cannot be recomputed" in files["CSV"].read_text() and "cannot be recomputed" in files["SVG"].read_text()
    assert files["PNG"].read_bytes().startswith(b"\x89PNG")
    with np.load(files["All maps (NPZ)"]) as held:
        assert held["attention"] == pytest.approx(drawn()) and held["queries"].tolist() == WORDS


def test_all_heads_are_saved_as_one_picture_wider_than_high_with_what_is_compared(screen):
    opened, heads = with_file(screen, viewport={"width": 390, "height": 844})
    with opened.page.expect_download() as download:  # before the browser has drawn a frame of what is compared
        heads.first.evaluate("""root => {
            for (const place of [2, 7]) root.querySelectorAll(".compare")[place].click();
            root.querySelector(".files button.svg").click();
        }""")
    text = Path(download.value.path()).read_text()
    root = ElementTree.fromstring(text)
    assert int(root.get("width")) > 1200 and int(root.get("width")) > int(root.get("height"))
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {name_of(place) for place in range(12)} <= {*texts} and texts.count(name_of(7)) == 2  # its card, and large
    assert "Compare" not in texts and "127.0.0.1" not in text and "mine.npz" in texts
    apart = drawn()[0, 2] - drawn()[1, 3]
    assert f"+{100 * apart.max():.0f}" in texts  # a number of the difference, in its cell
    with Image.open(BytesIO(png_bytes(text, 1))) as picture:
        shades = picture.convert("RGB").getcolors(10**6)
    assert len(shades) > 100  # the cells are there, each in the shade of its weight


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_shows_it_without_scrolling_aside(screen, language):
    opened = screen(f"?lang={language}", lesson="maps", viewport={"width": 390, "height": 844})
    expect(opened.page.locator(".heads .card")).to_have_count(12)
    opened.settled()
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    upper, lower = [column.bounding_box() for column in opened.page.get_by_test_id("stColumn").all()[:2]]
    assert lower["y"] - upper["y"] - upper["height"] <= 16  # columns that stand below one another


def test_the_box_for_a_file_speaks_the_language_of_the_page(screen):
    opened = screen("?lang=zh", lesson="maps")
    box = opened.page.get_by_test_id("stFileUploader")
    expect(box.get_by_role("button", name="选择文件").last).to_be_visible()
    expect(box).to_contain_text("每个文件最大 10MB • JSON")
    expect(opened.page.locator("html")).to_have_attribute("lang", "zh-Hans")
    opened.upload("mine.pdf", b"%PDF")
    expect(box.get_by_role("button", name="移除 mine.pdf")).to_be_visible()
    expect(box.get_by_role("alert")).to_contain_text("错误：不接受")
    opened.page.get_by_text("EN", exact=True).first.click()
    expect(box.get_by_role("button", name="Remove mine.pdf")).to_be_visible()
    expect(box.get_by_role("alert")).to_contain_text("files are not allowed.")
    expect(opened.page.locator("html")).to_have_attribute("lang", "en")


# ---- a connection that is down ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_file_given_while_the_connection_is_down_is_told_and_made_up_for(profile, server, language):
    """A proxy that cuts the socket and takes no new one for a while."""
    page, sockets, cut = profile.new_page(), [], []

    def connect(socket):
        if cut:
            socket.close()
        else:
            sockets.append(socket)
            socket.connect_to_server()

    page.route_web_socket("**/_stcore/stream*", connect)
    page.goto(f"{server}/maps?lang={language}")
    expect(page.locator(".heads .card")).to_have_count(12)
    app = page.locator("[data-test-connection-state]")
    expect(app).to_have_attribute("data-test-connection-state", "CONNECTED")
    cut.append(True)
    sockets[-1].close()
    expect(app).not_to_have_attribute("data-test-connection-state", "CONNECTED")
    content = npz(attention=drawn()[:1, :1], tokens=np.array(WORDS))
    file = {"name": "lost.npz", "mimeType": "application/octet-stream", "buffer": content}
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(file)
    told = {"en": "lost.npz has not reached the server", "zh": "lost.npz 没有送到服务器"}[language]
    expect(page.locator(".file-waits")).to_contain_text(told)
    cut.clear()
    expect(page.locator(".heads .card")).to_have_count(1)  # the one head of the file
    expect(page.locator(".file-waits")).to_have_text("")
    page.close()
