"""The words of a Chinese sentence in a browser: frames in rows, and a click between two characters."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

CAT = "我女朋友养了一只猫，它很黏人"


# both are drawn, and the choice begins behind the word
STANDS_FREE = """(flow) => {
    const word = [...flow.querySelectorAll(".word")].find((each) => each.textContent.includes("女朋友"));
    const [one, other] = [word, flow.querySelector(".roles select")].map((each) => each?.getBoundingClientRect());
    return one?.width && other?.width && one.right <= other.left + 0.5;
}"""
LONG_NAME = "?lang=zh&text=南京市长江大桥很长"


def test_a_click_between_two_characters_parts_a_word(screen):
    opened = screen(LONG_NAME)
    opened.open_row("分词")
    part_the_first_word(opened)


def test_on_a_phone_a_click_parts_a_word(screen):
    opened = screen(LONG_NAME, viewport={"width": 390, "height": 844})
    opened.open_row("分词")
    choice = opened.page.locator(".flow .roles select").nth(1)
    assert choice.bounding_box()["x"] > 70  # behind a word of four characters
    part_the_first_word(opened)


def part_the_first_word(opened) -> None:
    """Clicks between the characters of a name of three: two of them are a word, and the page stays as wide as it is."""
    words = opened.page.locator(".word-gaps .word")
    expect(words.first).to_have_text("南京市")
    opened.page.get_by_role("button", name="南京").first.wait_for()
    opened.page.locator(".word-gaps .gap.inside").nth(1).click()
    expect(words.first).to_have_text("南京")
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not opened.errors


@pytest.mark.parametrize("width", [1280, 390])
def test_the_choice_in_the_picture_leaves_its_word_free_and_every_row_begins_with_a_word(screen, width):
    opened = screen(f"?ex=zh_ta&lang=zh&text={CAT}", viewport={"width": width, "height": 844})
    choices = opened.page.locator(".flow .roles select")
    expect(choices).to_have_count(6)
    opened.page.wait_for_function(STANDS_FREE, arg=opened.page.locator(".flow").element_handle())
    opened.open_row("分词")
    words = opened.page.locator(".word-gaps .word")
    expect(words).to_have_count(11)
    lefts = words.evaluate_all("all => all.map(each => [each.offsetTop, each.getBoundingClientRect().x])")
    first_of_rows = {}
    for top, left in lefts:
        first_of_rows.setdefault(top, left)
    assert len({*first_of_rows.values()}) == 1  # no row is shifted by the gap before it
    opened.page.locator(".word-gaps").get_by_role("button", name="切开：女 | 朋友").click()
    expect(words.nth(1)).to_have_text("女")
    expect(words).to_have_count(12)


def test_choices_in_rows_too_low_for_words_do_not_lie_over_each_other(screen):
    opened = screen(f"?ex=zh_ta&lang=zh&text={CAT}，昨天晚上它又跑到我的床上睡觉了")
    choices = opened.page.locator(".flow .roles select")
    expect(choices).to_have_count(13)
    for choice in choices.all():
        expect(choice).to_be_hidden()


@pytest.mark.parametrize(
    "query",
    [
        "?ex=zh_ta&lang=zh",
        "?ex=zh_ta&lang=zh&text=我昨天在图书馆丢了钱包",
        f"?ex=zh_ta&lang=zh&text={CAT}，昨天晚上它又跑到我的床上睡觉了",
        "?lang=en&text=The teacher asked Tom why he forgot the homework again",
    ],
)
def test_the_controls_of_the_first_screen_stay_in_sight_under_an_own_sentence(screen, query):
    opened = screen(query, viewport={"width": 1280, "height": 720})
    for key in ("c_way", "c_text", "c_heads", "c_causal", "c_scale_on", "c_temperature", "row_device", "more"):
        expect(opened.page.locator(f".st-key-{key}")).to_be_in_viewport(ratio=1)
