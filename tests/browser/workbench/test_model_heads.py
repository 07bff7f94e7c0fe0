"""All heads of a language model in the browser: searched, sorted, opened, compared."""

import re

import pytest
import torch
from playwright.sync_api import expect

from attention_core.learned.language.reading import cut_sentence, run_model

pytestmark = pytest.mark.slow

TIRED = "The animal did not cross the street because it was too tired."
AT, ANIMAL = 9, 2  # "it", "animal"
NAME = "en_asked_encoder"


def weights():
    """Of all heads, (L, H, T, S)."""
    stack = run_model(NAME, cut_sentence(NAME, TIRED))
    return torch.stack([stack[f"{layer}.attention"]["weights"][0] for layer in (1, 2, 3)])


def opened_heads(screen, **options):
    opened = screen(f"?ex=model_en&text={TIRED}&t={AT}&panel=heads", **options)
    expect(opened.page.locator(".heads .card")).to_have_count(12)
    return opened, opened.page.locator(".heads")


def test_the_head_that_looks_most_from_one_word_at_another_is_found_and_opened(screen):
    opened, heads = opened_heads(screen)
    heads.locator("select.from").select_option(str(AT))
    heads.locator("select.to").select_option(str(ANIMAL))
    given = weights()[:, :, AT, ANIMAL].flatten()
    order = given.argsort(descending=True).tolist()
    first = heads.locator(".card").first
    expect(first.locator(".name")).to_have_text("layer 3: which noun is meant?")
    assert order[0] == 2 * 4
    expect(first.locator(".number")).to_have_text(f"here {100 * float(given[order[0]]):.0f} %")
    second = divmod(order[1], 4)
    expect(heads.locator(".card .name").nth(1)).to_have_text(f"layer {second[0] + 1}, head {second[1] + 1}")
    heads.locator(".card .open").nth(1).click()
    expect(opened.page).to_have_url(re.compile(f"layer={second[0] + 1}"))


OPENED_AT_ONCE = """root => {
    const { send } = WebSocket.prototype;
    window.sent = [];
    WebSocket.prototype.send = function (message) {
        const text = new TextDecoder("latin1").decode(message);
        window.sent.push(["order", "head"].filter((name) => text.includes(`"event":"${name}"`)));
        send.call(this, message);
    };
    const by = root.querySelector("select.by");
    by.value = "previous";
    by.onchange();
    root.querySelectorAll(".open")[1].click();
}"""


def test_a_head_opened_before_the_order_is_sent_takes_the_order_along(screen):
    opened, heads = opened_heads(screen)
    heads.evaluate(OPENED_AT_ONCE)
    opened.page.wait_for_function("() => window.sent.some((names) => names.includes('head'))")
    named = [names for names in opened.page.evaluate("() => window.sent") if names]
    assert named == [["order", "head"]]  # one message; a second one could take the first one's place


def test_heads_are_sorted_by_what_they_do_and_those_that_do_less_are_left_out(screen):
    _, heads = opened_heads(screen)
    heads.locator("select.by").select_option("previous")
    share = weights()[:, :, 1:].diagonal(0, -2, -1).mean(-1).flatten()  # of each word the one before
    best = divmod(int(share.argmax()), 4)
    expect(heads.locator(".card .name").first).to_have_text(f"layer {best[0] + 1}, head {best[1] + 1}")
    heads.locator(".least input").evaluate("input => { input.value = 0.5; input.oninput(); }")
    expect(heads.locator(".card")).to_have_count(int((share >= 0.5).sum()))
    heads.locator("select.by").select_option("entropy")
    expect(heads.locator(".least")).to_be_hidden()
    expect(heads.locator(".card")).to_have_count(12)  # bits are no shares


def test_the_address_opens_the_same_order_and_undo_leads_back(screen):
    opened, heads = opened_heads(screen)
    by, compared = heads.locator("select.by"), heads.locator(".two figure")
    heads.get_by_role("button", name="Compare").first.click()
    by.focus()
    by.select_option("previous")
    heads.locator(".least input").evaluate("input => { input.value = 0.2; input.oninput(); }")
    opened.page.wait_for_url("**heads_by=previous&heads_least=0.2**")
    names = heads.locator(".card .name").all_inner_texts()
    assert 0 < len(names) < 12
    other = screen("?" + opened.page.url.split("?")[1])
    expect(other.page.locator(".heads .card .name")).to_have_text(names)
    expect(other.page.locator(".heads .least output")).to_have_text("20 %")
    expect(by).to_be_focused()  # meanwhile the server has answered: cards and an open choice stay
    opened.page.get_by_role("button", name="Undo", exact=True).click()
    expect(heads.locator(".card")).to_have_count(12)
    expect(by).to_have_value("layers")
    expect(compared).to_have_count(1)


def test_two_heads_stand_beside_each_other_with_their_difference(screen):
    _, heads = opened_heads(screen)
    compare = heads.get_by_role("button", name="Compare")
    compare.nth(0).click()
    compare.nth(0).click()  # the second head's: the first one's leaves it out now
    expect(heads.locator(".two figure")).to_have_count(3)
    heads.locator(".two .frame").last.focus()
    heads.page.keyboard.press("ArrowRight")
    apart = weights()[0, 0, 0, 1] - weights()[0, 1, 0, 1]
    sign = "−" if apart < 0 else ""
    told = heads.locator(".two .cell").last
    expect(told).to_contain_text(f"{sign}{100 * abs(float(apart)):.0f} %")
    framed = heads.locator(".two .frame").last.locator("rect.asks")
    heads.page.keyboard.press("ArrowDown")
    cell = heads.locator(".two canvas").last.bounding_box()
    side = cell["height"] / len(weights()[0, 0])
    assert framed.bounding_box()["y"] == pytest.approx(cell["y"] + side, abs=2)  # the row of the cell that is read


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_shows_all_heads_without_scrolling_aside(screen, language):
    opened = screen(f"?ex=model_{language}&lang={language}&panel=heads", viewport={"width": 390, "height": 844})
    expect(opened.page.locator(".heads .card")).to_have_count(12)
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_of_two_sentences_the_head_that_moved_most_comes_first_and_is_seen_on_both(screen):
    opened, heads = opened_heads(screen)
    wide = TIRED.replace("tired", "wide")
    box = opened.page.get_by_role("textbox", name="Second sentence")
    box.fill(wide)
    box.press("Enter")
    expect(heads.locator("select.by")).to_have_value("moved")
    stack = run_model(NAME, cut_sentence(NAME, wide))
    other = torch.stack([stack[f"{layer}.attention"]["weights"][0] for layer in (1, 2, 3)])
    moved = ((weights() - other).abs().sum(-1) / 2).mean(-1).flatten()
    best = divmod(int(moved.argmax()), 4)
    first = heads.locator(".card").first
    expect(first.locator(".name")).to_have_text(f"layer {best[0] + 1}, head {best[1] + 1}")
    expect(first.locator(".number")).to_have_text(f"{100 * float(moved.max()):.0f} %")
    first.get_by_role("button", name="Both sentences").click()
    expect(heads.locator(".two figure")).to_have_count(3)
    for place, word in ((0, "tired"), (1, "wide"), (2, "tired / wide")):
        expect(heads.locator(".two figure").nth(place).locator("text.mapword.end").nth(12)).to_have_text(word)
    box.fill("")
    box.press("Enter")
    expect(heads.locator("select.by")).to_have_value("layers")
    expect(heads.locator(".two figure")).to_have_count(1)


def test_arrow_keys_lead_from_head_to_head(screen):
    opened, heads = opened_heads(screen)
    stops = heads.locator(".open")
    stops.first.focus()
    for key, place in (("ArrowDown", 4), ("ArrowRight", 5), ("ArrowUp", 1), ("Home", 0)):
        opened.page.keyboard.press(key)
        expect(stops.nth(place)).to_be_focused()
