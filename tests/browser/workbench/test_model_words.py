"""The next word in the browser: writing on, stepping back, and words that follow a drag before the server answers."""

import pytest
from playwright.sync_api import expect

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.reading import cut_sentence, run_model
from attention_core.learned.language.readout import WordChoices, with_word_choices

pytestmark = pytest.mark.slow

TIRED = "The animal did not cross the street because it was too tired."
DECODER = "en_asked_decoder"
READ = 5  # START and the four words up to "not"


def shares(choices):
    """The probabilities of the likeliest words, the likeliest first, by torch."""
    stack = run_model(DECODER, cut_sentence(DECODER, TIRED)[:READ])
    order = stack["unembedding"]["logits"][0, -1].topk(10).indices
    return with_word_choices(DECODER, stack, choices)["unembedding"]["probabilities"][0, -1][order].tolist()


def spell(share):
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


@pytest.fixture
def opened(screen):
    return screen(f"?ex=model_en_decoder&text={TIRED}&t={READ - 1}&panel=words")


def test_it_writes_on_and_steps_back_by_keyboard(opened):
    panel = opened.page.locator(".writing")
    written = panel.locator(".tile.written")
    write = panel.get_by_role("button", name="Write one word")
    write.focus()
    opened.page.keyboard.press("Enter")
    expect(written).to_have_count(1)
    expect(panel.locator(".column")).to_have_count(3 * (READ + 1))
    expect(write).to_be_focused()
    panel.get_by_role("button", name="Write to the full stop").click()
    expect(written.last).to_have_text(".")
    count = written.count()
    panel.get_by_role("button", name="Step back").click()
    expect(written).to_have_count(count - 1)
    panel.get_by_role("button", name="Begin again").click()
    expect(written).to_have_count(0)


def test_the_address_opens_the_text_that_was_written_and_undo_takes_it_back(opened, screen):
    written = opened.page.locator(".writing .tile.written")
    opened.page.get_by_role("button", name="Write to the full stop").click()
    expect(written.last).to_have_text(".")
    opened.page.wait_for_url("**written=the+animal+did+not+%7C+**")
    other = screen("?" + opened.page.url.split("?")[1])
    expect(other.page.locator(".writing .tile.written")).to_have_text(written.all_inner_texts())
    opened.page.get_by_role("button", name="Undo", exact=True).click()
    expect(written).to_have_count(0)


def test_the_words_follow_each_slider_while_it_is_dragged(opened):
    panel = opened.page.locator(".writing")
    cells = panel.locator(".row .cell")

    def drag(name, position):
        slider = panel.get_by_role("slider", name=name)
        slider.evaluate("(input, position) => { input.value = position; input.oninput(); }", position)
        return slider

    drag("Temperature", 0.75)  # from 0.25 to 4 by equal ratios: 2
    expect(cells).to_have_text([spell(share) for share in shares(WordChoices(2.0))])
    drag("top-k", 6)
    expect(cells).to_have_text([spell(share) for share in shares(WordChoices(2.0, 6))])
    expect(panel.locator(".row.cut")).to_have_count(4)
    last = drag("top-p", 0.5)
    cut = shares(WordChoices(2.0, 6, 0.5))
    expect(cells).to_have_text([spell(share) for share in cut])
    expect(panel.locator(".row.cut")).to_have_count(cut.count(0.0))
    expect(panel.locator(".bars .line")).to_be_visible()
    last.evaluate("input => input.onchange()")
    expect(cells).to_have_text([spell(share) for share in shares(WordChoices(top_p=0.5))])  # the one that was let go
    assert opened.query()["top_p"] == "0.5"


def test_a_bar_writes_its_word_and_its_share_opens_its_sum(opened):
    panel = opened.page.locator(".writing")
    panel.locator(".row .cell").first.click()
    expect(opened.page.get_by_text("logits · probabilities")).to_be_visible()
    second = panel.locator(".row .said").nth(1)
    word = second.inner_text()
    assert word in vocabulary("en")
    panel.locator(".row .track").nth(1).click()
    expect(panel.locator(".tile.written")).to_have_text([word])
    panel.get_by_role("button", name="Use as the sentence").click()
    expect(opened.page.get_by_role("textbox", name="Sentence")).to_have_value(f"the animal did not {word}")


def test_a_word_that_is_clicked_is_hidden_from_an_encoder(screen):
    opened = screen(f"?ex=model_en&text={TIRED}&t=9&panel=words")
    panel = opened.page.locator(".writing")
    panel.locator(".tile").nth(2).click()
    expect(panel.locator(".tile").nth(2)).to_have_text("____")
    expect(opened.page.get_by_text("“animal” is hidden")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_shows_it_all_without_scrolling_aside(screen, language):
    link = f"?ex=model_{language}_decoder&lang={language}&panel=words&word_seed=1"
    opened = screen(link, viewport={"width": 390, "height": 844})
    panel = opened.page.locator(".writing")
    panel.locator(".row").first.wait_for()
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth + 1")
