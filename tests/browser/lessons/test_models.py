"""Today's models in a real browser: two models, rows that open in the workbench, and the table on a phone."""

import pytest

pytestmark = pytest.mark.slow

NEWER = "Newer"
THE_THE = "weights [head 1, The, The]"


def test_map_and_headline_follow_the_slider_before_the_server_answers(screen):
    opened = screen("?lang=en", lesson="models")
    assert opened.sentence().startswith("Between GPT-2 (small) (2019) and gpt-oss-120b (2025), 4 of 6 parts differ")
    opened.slide(NEWER, "Home")
    opened.wait_for_sentence("Between GPT-2 (small) (2019) and Transformer (base) (2017)")
    opened.slide(NEWER, "ArrowRight", 5)
    opened.wait_for_sentence("and LLaMA 7B (2023), 1 of 6 parts differ: position.")
    assert opened.query()["new"] == "5"


def test_the_bytes_are_guessed_before_the_table_says_them(screen):
    opened = screen("?lang=en&open=read", lesson="models")
    opened.press(
        "Predict before you read the table: which of these keeps the most bytes of keys and values for every token?",
        "LLaMA 7B",
    )
    opened.wait_for_text("As predicted")
    opened.wait_for_text("512 KiB")


def test_both_maps_stand_above_the_fold_and_on_a_phone_they_are_seen_whole(screen):
    opened = screen("?lang=en", lesson="models", viewport={"width": 1280, "height": 720})
    cells = opened.page.locator(".frames path[aria-label*='weights [']")
    last = cells.last.bounding_box()
    assert last["y"] + last["height"] <= 720
    opened.page.set_viewport_size({"width": 390, "height": 800})
    opened.page.wait_for_function("svg => svg.getBoundingClientRect().width < 370", arg=svg_of(cells.first))
    boxes = [each.bounding_box() for each in cells.all()]
    assert max(box["x"] + box["width"] for box in boxes) <= 390


def svg_of(cell):
    return cell.evaluate_handle("cell => cell.ownerSVGElement")


def test_a_row_opens_as_a_state_of_the_workbench(screen):
    opened = screen("?lang=en&open=read", lesson="models")
    opened.page.locator(".st-key-door_row_mistral_7b button").first.click()
    opened.wait_for_picture()
    opened.settled()
    wanted = {"ex": "model_layer", "kv": "2", "mask": "sliding:4", "pos": "rope", "head": "0"}
    assert {key: opened.query()[key] for key in wanted} == wanted
    assert not opened.errors


WIDEST = (
    "kv=2&mask=causal&pos=rope&mod=qk_norm:1e-06"  # x, q and k split, normed and turned: each of 64 numbers or more
)
ENDS = """root => [...root.querySelectorAll(".stage > svg, .stage > svg .word.asking")]
    .map(each => each.getBoundingClientRect().right)"""


def test_the_picture_of_the_widest_row_ends_where_its_field_does(screen):
    opened = screen(f"?ex=model_layer&{WIDEST}&lang=en")
    field, *words = opened.page.locator(".flow").evaluate(ENDS)
    assert len(words) == 2 and max(words) <= field + 1


def test_both_models_open_as_a_and_b(screen):
    opened = screen("?lang=en&old=5&new=7", lesson="models")
    opened.page.get_by_role("button", name="Both in the workbench, as A and B").click()
    opened.wait_for_picture()
    opened.settled()
    assert opened.query()["pinned"] == "values" and "mask=causal" in opened.query()["against"]
    assert not opened.errors


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_table_is_read_on_a_phone(screen, lang):
    opened = screen(f"?lang={lang}&open=read,cache,layers", lesson="models", viewport={"width": 390, "height": 844})
    assert opened.page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    name = opened.page.get_by_text("Llama 2 70B", exact=True).last
    box = name.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
