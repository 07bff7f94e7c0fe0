"""The first screen in a real browser, used as a person would use it."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, serving, wait_for_flow

IT_TO_DOG = "Head 1: “it” gives 93 % of its attention to “dog”"


def cell(screen, what: str):
    """A drawn cell by what it says, such as "weights [head 1, it, dog]"."""
    return screen.page.locator(f'path[aria-label*="{what}:"]').first


def test_opens_computed_on_one_projector_screen_and_asks_nobody_else(screen):
    opened = screen()
    assert opened.sentence().startswith(IT_TO_DOG)
    assert opened.tokens() == ["Anna", "fed", "the", "dog", "and", "it", "barked"]
    bar = opened.page.locator(".flow > .bar").bounding_box()
    assert bar["y"] + bar["height"] <= 720
    assert bar["x"] + bar["width"] <= 1280
    assert opened.page.get_by_test_id("stPopover").filter(has_text="checked").count() == 1
    assert opened.outside == []
    assert opened.errors == []


# Notes in each frame which controls would take a click, which of these are seen, and where those stand.
WATCH = """() => {
    const CONTROLS = [".st-key-c_causal label", ".st-key-c_heads button", ".st-key-sharing button",
        ".st-key-c_text input"];
    const watch = window.watched = { unseen: [], places: {}, frames: 0 };
    const look = () => {
        watch.frames += 1;
        for (const name of CONTROLS) {
            const control = document.querySelector(name);
            if (!control) continue;
            const { x, y, width, height } = control.getBoundingClientRect();
            const isSeen = control.checkVisibility({ opacityProperty: true, visibilityProperty: true });
            const isHit = control.contains(document.elementFromPoint(x + width / 2, y + height / 2));
            if (isHit && !isSeen) watch.unseen.push(name);
            if (isSeen) (watch.places[name] ??= new Set()).add([x, y, width, height].map(Math.round).join());
        }
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 720}, {"width": 390, "height": 844}])
def test_a_control_takes_a_click_only_once_it_is_seen_and_then_stays_where_it_is(profile, server, viewport):
    page = profile.new_page()
    page.set_viewport_size(viewport)
    page.add_init_script(f"({WATCH})()")
    page.goto(server)
    page.wait_for_function("() => watched.places['.st-key-c_text input']", timeout=2 * PATIENCE)
    page.wait_for_function("() => !document.documentElement.hasAttribute('data-arriving')")
    seen = page.evaluate("({ ...watched, places: Object.values(watched.places).map((each) => [...each]) })")
    page.close()
    assert seen["unseen"] == []
    assert [len(places) for places in seen["places"]] == [1, 1, 1, 1], seen["places"]


@pytest.mark.slow
def test_what_was_checked_is_there_with_its_panel_and_leaves_the_controls_free(screen):
    opened = screen("?lang=en")
    opened.page.get_by_test_id("stPopover").filter(has_text="checked").get_by_role("button").click()
    panel = opened.page.get_by_test_id("stPopoverBody")
    panel.get_by_text("Every step is computed again").wait_for()
    panel.get_by_role("row").nth(20).wait_for()  # rows of text: the canvas of a grid has none
    opened.page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    for key in ("c_text", "c_way", "c_heads", "c_causal", "more"):  # nothing lies over the middle of a control
        opened.page.locator(f".st-key-{key}").click(trial=True)


@pytest.mark.slow
def test_the_last_column_of_the_map_has_its_whole_name_on_a_phone(screen):
    opened = screen("?lang=en", viewport={"width": 390, "height": 844})
    opened.open_map()
    drawn = opened.page.locator(".flow svg").first.bounding_box()
    names = opened.page.locator(".flow svg text", has_text=re.compile("^barked$"))
    boxes = [name.bounding_box() for name in names.all() if name.is_visible()]
    assert len(boxes) >= 2  # a row and a column
    assert all(drawn["x"] <= box["x"] and box["x"] + box["width"] <= drawn["x"] + drawn["width"] for box in boxes)


@pytest.mark.slow
def test_a_long_word_of_ones_own_stays_within_the_map_on_a_phone(screen):
    opened = screen("?lang=en&text=Donaudampfschifffahrtsgesellschaft dog", viewport={"width": 390, "height": 844})
    opened.open_map()
    drawn = opened.page.locator(".flow .stage > svg").bounding_box()["x"]
    names = opened.page.locator(".flow svg text.end.mapword")
    expect(names).to_have_count(2)
    assert min(name.bounding_box()["x"] for name in names.all()) >= drawn - 1


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_picture_has_most_of_the_width_and_grows_with_the_page(screen, lang):
    opened = screen(f"?lang={lang}")
    picture, boxes = opened.page.locator(".flow .stage > svg"), []
    for width, height in ((1280, 720), (1920, 1080)):
        opened.page.set_viewport_size({"width": width, "height": height})
        opened.settled()
        content = opened.page.get_by_test_id("stMainBlockContainer").bounding_box()["width"]
        boxes.append(picture.bounding_box())
        assert boxes[-1]["width"] >= 0.6 * content
    assert boxes[1]["width"] > 1.4 * boxes[0]["width"] and boxes[1]["height"] > 1.2 * boxes[0]["height"]


@pytest.mark.slow
def test_a_deep_link_as_the_first_request_of_a_fresh_process(screen):
    with serving() as address:
        opened = screen("?ex=en_it&w_q=~1.0%3D6&step=scores&cell=0,0,5,3", address=address)
        opened.sums().wait_for()
        assert opened.arithmetic() == "−6.00 × (−1.00) + 3.00 × 1.00 = 9.00"  # q_it = (−6, 3), k_dog = (−1, 1)
        expect(opened.page.get_by_text("中文", exact=True)).to_have_count(1)  # the router's frame, not the bare page


def test_a_typed_sentence_moves_the_attention(screen):
    opened = screen()
    opened.type("Sentence", "Tom read and then he laughed")
    opened.wait_for_sentence("“he” gives 93 % of its attention to “Tom”")  # e^(6/√2) = 69.6 of 69.6 + 5
    assert opened.tokens() == ["Tom", "read", "and", "then", "he", "laughed"]
    assert opened.query()["text"] == "Tom read and then he laughed"


@pytest.mark.slow  # tests/workbench/test_word_roles.py asks the page without a browser
def test_a_word_of_no_dictionary_is_what_one_says_it_is(screen):
    opened = screen()
    opened.type("Sentence", "Anna fed the glorp and it barked")
    opened.page.get_by_text("Categories for 1 unknown word").click()
    expect(opened.page.get_by_text("This example does not know glorp")).to_be_visible()
    expect(opened.page.locator(".flow .word.marked")).to_have_count(0)
    opened.choose("glorp", "thing")
    expect(opened.page.locator(".flow .headline")).to_contain_text("glorp")


def test_heads_change_the_number_of_maps(screen):
    opened = screen()
    expect(opened.page.locator(".flow .rail button")).to_have_count(2)
    opened.press("Heads", "4")
    expect(opened.page.locator(".flow .rail button")).to_have_count(4)
    opened.press("Heads", "1")
    expect(opened.page.locator(".flow .rail")).to_be_hidden()
    opened.wait_for_sentence("“it” gives 80 %")  # the same matrices as one head: it -> dog .80
    assert opened.query()["heads"] == "1"


@pytest.mark.slow
def test_any_cell_is_followed_to_the_input(screen):
    opened = screen()
    opened.click_drawn("shares share 3")
    opened.sums().wait_for()
    assert opened.arithmetic().startswith("exp(4.24) / (exp(−4.24) + exp(0.00) + exp(0.00) + exp(4.24)")
    opened.follow(0, "scaled_scores [head 1, it, dog]")
    assert opened.arithmetic() == "6.00 × 1/√2 = 4.24"
    opened.follow(0, "scores [head 1, it, dog]")
    opened.page.get_by_text("−3.00 × (−1.00) + 3.00 × 1.00 = 6.00").wait_for()
    opened.follow(0, "q [head 1, it, 1]")
    opened.page.get_by_text("= −3.00").first.wait_for()
    opened.follow(2, "x [it, pronoun]")
    expect(opened.page.get_by_text("This number is given")).to_be_visible()
    assert opened.query() == {"t": "5", "head": "0", "step": "x", "cell": "0,5,1"}
    way_back = opened.page.locator(".flow .where .back")
    passed = ["weights", "scaled_scores", "scores", "q"]
    assert way_back.all_inner_texts() == passed
    assert way_back.nth(2).get_attribute("title") == "scores [head 1, it, dog]"
    way_back.nth(2).click()
    expect(way_back).to_have_count(2)
    assert opened.arithmetic() == "−3.00 × (−1.00) + 3.00 × 1.00 = 6.00"


@pytest.mark.slow
def test_nothing_jumps_when_a_sum_unfolds(screen):
    opened = screen()
    place = "() => document.querySelector('[data-testid=stMain]').scrollTop"
    before = opened.page.evaluate(place), opened.page.locator(".flow .stage").bounding_box()
    opened.click_drawn("hits scores 3")
    opened.sums().wait_for()
    assert (opened.page.evaluate(place), opened.page.locator(".flow .stage").bounding_box()) == before
    assert opened.arithmetic() == "−3.00 × (−1.00) + 3.00 × 1.00 = 6.00"
    expect(opened.page.locator(".flow .panel")).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_the_words_are_walked_with_the_keyboard(screen):
    opened = screen()
    opened.page.locator(".flow .stage").focus()
    with opened.answered():
        opened.page.keyboard.press("ArrowUp")
    opened.wait_for_sentence("Head 1: “and” attends evenly")
    with opened.answered():
        opened.page.keyboard.press("ArrowDown")  # the focus is still in the picture
    opened.wait_for_sentence(IT_TO_DOG)


@pytest.mark.slow
def test_a_word_is_exchanged_and_the_bright_cell_moves(screen):
    opened = screen()
    opened.page.get_by_role("button", name="Try “she” for “it”").click()
    opened.wait_for_sentence("“she” gives 93 % of its attention to “Anna”")
    assert opened.query()["text"] == "Anna fed the dog and she barked"


PIXELS = """canvas => {
    const { width, height } = canvas;
    return [width, height, [...canvas.getContext("2d").getImageData(0, 0, width, height).data]];
}"""
SIX = ["Anna", "saw", "the", "dog", "it", "barked"]


@pytest.mark.slow
def test_a_small_map_has_a_pixel_for_each_cell_as_strong_as_its_share(screen):
    opened = screen("?mask=causal&head=0&text=" + "+".join(SIX))
    opened.open_map()
    small = opened.page.locator(".flow .strip button[data-key=weights] canvas")
    width, height, colours = small.evaluate(PIXELS)
    assert (width, height) == (6, 6)
    weights = opened.page.locator(".flow").evaluate("root => [...root.flow.data.steps.weights.value]")
    for place, share in enumerate(weights[:36]):
        query, key = divmod(place, 6)
        opacity = colours[4 * place + 3]
        expected = 0 if key > query else 255 * min(1, 0.08 + 0.92 * share)  # blocked ones are left out
        assert opacity == pytest.approx(expected, abs=2), (query, key)


HAND_RESTS_MS = 350
HEARD_AFTER = """() => {
    let acted = 0;
    const act = () => { acted = performance.now() };
    for (const name of ["keydown", "pointermove"]) window.addEventListener(name, act, true);
    window.waited = [];  // of each message to the server, how long no hand had done anything
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (...parts) {
        window.waited.push(performance.now() - acted);
        return send.apply(this, parts);
    };
}"""


@pytest.mark.slow
def test_looking_asks_the_server_for_nothing_until_the_hand_rests(screen):
    opened = screen()
    opened.page.evaluate(HEARD_AFTER)
    opened.drawn("hits word 3").hover()
    faded = opened.drawn("texts word 1")
    opened.page.wait_for_function("text => Number(text.getAttribute('opacity')) < 0.5", arg=faded)
    opened.page.locator(".flow .stage").focus()
    opened.page.keyboard.press("Home")  # the journey
    opened.page.keyboard.press("ArrowRight")
    wait_for_flow(opened.page, "flow => flow.progress === 1")
    opened.page.wait_for_url("**stop=k**")
    waited = opened.page.evaluate("window.waited")
    assert waited and min(waited) >= 0.9 * HAND_RESTS_MS


def test_an_edited_weight_changes_numbers_and_travels_in_the_link(screen):
    opened = screen()
    opened.open_matrix("w_q")
    opened.edit(1, 0, "0", was="3")
    # q_it = (0, 3): it · dog = 3 and it · Anna = −3; e^(3/√2) = 8.34, e^(−3/√2) = .12: 8.34 / (8.34 + 5 + .12) = .62
    opened.wait_for_sentence("“it” gives 62 %")
    assert opened.query()["w_q"] == "~1.0=0"
    said = opened.sentence()
    opened.open("?" + opened.page.url.split("?", 1)[1])
    assert opened.sentence() == said


@pytest.mark.slow
def test_the_link_shows_the_same_screen_in_a_second_browser(screen):
    opened = screen("?ex=zh_colour&mask=causal&temp=2.0&step=weights&cell=0,1,4,2&lang=en")
    opened.sums().wait_for()
    other = screen("?" + opened.page.url.split("?", 1)[1])
    other.sums().wait_for()
    assert other.arithmetic() == opened.arithmetic()
    assert other.sentence() == opened.sentence()
    assert other.query() == opened.query()


@pytest.mark.slow
@pytest.mark.parametrize("query", ["?lang=en", "?lang=zh", "?lang=en&x=1,2;3,4"])
def test_on_a_phone_the_picture_begins_in_the_upper_third_and_every_promise_is_at_hand(screen, query):
    opened = screen(query, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert opened.page.get_by_test_id("stMain").evaluate("main => main.scrollWidth") <= 390
    if "x=" in query:
        return
    assert opened.page.locator(".flow").bounding_box()["y"] <= 844 / 3
    for key in (
        "present",
        "add_scene",
        "undo",
        "sharing",
        "proof",
        "export",
        "other_language",
        "c_way",
        "examples",
        "c_text",
        "more",
    ):
        expect(opened.page.locator(f".st-key-{key}")).to_be_in_viewport(ratio=1)
    for key in ("c_heads", "c_causal", "c_scale_on", "c_temperature", "row_device"):
        opened.page.locator(f".st-key-{key}").scroll_into_view_if_needed()  # a swipe along the row
        expect(opened.page.locator(f".st-key-{key}")).to_be_in_viewport(ratio=0.9)
    expect(opened.page.locator(".st-key-more")).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_the_language_switches_and_stays_in_the_link(screen):
    opened = screen()
    opened.page.get_by_text("中文", exact=True).click()
    opened.wait_for_sentence("头 1：“它”把 93% 的注意力给了“狗”")
    assert (opened.query()["lang"], opened.query()["ex"]) == ("zh", "zh_ta")
    assert opened.page.evaluate("() => document.documentElement.lang") == "zh-Hans"
    other = screen("?lang=zh")
    assert "头 1" in other.sentence()


HOSTILE = ["<script>alert(1)</script>", "**bold**", "$x^2$", "<img src=x onerror=alert(1)>", ":smile:", "`code`", "{x}"]


@pytest.mark.slow
def test_hostile_tokens_are_shown_literally(screen):
    opened = screen()
    dialogs = []
    opened.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    opened.type("Sentence", "|".join(HOSTILE))
    opened.page.locator(".flow .word", has_text="{x}").first.wait_for()
    assert opened.tokens() == HOSTILE
    assert any(word in opened.sentence() for word in HOSTILE)
    assert opened.page.locator(".flow :is(strong, code, img, script, .katex)", has_text="x").count() == 0
    opened.look_at(0)
    opened.wait_for_sentence("<script>alert(1)</script>")
    opened.look_at(1)
    opened.click_drawn("shares share 2")
    opened.page.get_by_text("weights [head 1, **bold**, $x^2$] =").first.wait_for()
    assert dialogs == []
    assert opened.outside == []


def test_a_refused_text_is_explained_and_nothing_is_lost(screen):
    opened = screen()
    for text, sentence in (
        ("", "the text must hold at least one word"),
        (" ".join(["word"] * 513), "a text may have at most 512 tokens: this one has 513"),
    ):
        opened.type("Sentence", text)
        expect(opened.page.get_by_test_id("stAlert")).to_contain_text(sentence)
        assert opened.sentence().startswith(IT_TO_DOG)
        assert opened.page.get_by_label("Sentence", exact=True).input_value() == text
    opened.type("Sentence", "Anna fed the dog and she barked")
    opened.wait_for_sentence("“she” gives 93 % of its attention to “Anna”")
    expect(opened.page.get_by_test_id("stAlert")).to_have_count(0)


def test_a_broken_link_says_what_it_could_not_read(screen):
    opened = screen("?ex=en_it&heads=two&temp=1e999&w_q=1,2;3")
    expect(opened.page.get_by_test_id("stAlert").first).to_be_visible()
    text = " ".join(opened.page.get_by_test_id("stAlert").all_inner_texts())
    assert "heads=two" in text
    assert "temp=1e999" in text
    assert opened.sentence().startswith(IT_TO_DOG)
    assert opened.page.get_by_test_id("stException").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "query", ["?lang=zh&ex=zh_ta", "?step=scores&cell=0,0,5,3", "?ex=eight_heads&step=q_projected"]
)
def test_a_phone_needs_no_sideways_scrolling_of_the_page(screen, query):
    opened = screen(query, viewport={"width": 390, "height": 844})
    for place in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert opened.page.evaluate(f"() => {place}.scrollWidth") <= 390


@pytest.mark.slow
def test_the_picture_of_seven_chinese_tokens_fits_on_a_phone(screen):
    opened = screen("?lang=zh&ex=zh_ta", viewport={"width": 390, "height": 844})
    first = opened.page.locator(".flow .stage > svg").bounding_box()
    page = opened.page.get_by_test_id("stMainBlockContainer")
    inner = "page => page.getBoundingClientRect().right - parseFloat(getComputedStyle(page).paddingRight)"
    right = page.evaluate(inner)
    assert first["x"] + first["width"] <= right


STEPS = [
    "mask=causal,local:1&dtype=float32",
    "pos=sinusoidal,rope&dtype=bfloat16",
    "wiring=residual&pos=rope&w_o=none",
    "ex=zh_ta&pos=rope,alibi",
]


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_all_steps_of_a_plain_run_are_seen_whole_and_those_that_are_read_say_so(screen, lang):
    opened = screen(f"?lang={lang}&step=weights")
    opened.open_map()
    row = opened.page.locator(".flow .strip")
    assert row.evaluate("row => row.scrollWidth <= row.clientWidth")
    read = row.locator("button.read")
    assert read.count() == 1 and {"en": "is computed from this", "zh": "由此算出"}[lang] in read.get_attribute("title")


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_a_word_does_stands_within_its_box_where_names_are_short(screen, lang):
    opened = screen(f"?lang={lang}&x=1,0,0,0;0,1,0,0;0,0,1,0")
    edges = "flow => ['.pill', '.aside'].map(part => flow.querySelector(part).getBoundingClientRect().right)"
    box, said = opened.page.locator(".flow").evaluate(edges)
    assert said <= box


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("query", STEPS)
def test_the_header_is_one_line_and_all_steps_stay_on_one_projector_screen(screen, lang, query):
    opened = screen(f"?lang={lang}&{query}")
    for first, last in (("present", "other_language"), ("c_way", "examples"), ("c_causal", "more")):
        first, last = (opened.page.locator(f".st-key-{key}").bounding_box() for key in (first, last))
        assert abs(first["y"] - last["y"]) < last["height"] / 2
    opened.open_map()
    boxes = [each.bounding_box() for each in opened.strip().all()]
    assert len(boxes) > 15
    assert len({box["y"] for box in boxes}) == 1
    assert boxes[0]["y"] + boxes[0]["height"] <= 720


@pytest.mark.slow
def test_two_people_never_see_each_others_numbers(screen):
    one, two = screen(), screen()
    one.type("Sentence", "Anna fed the dog and she barked")
    one.wait_for_sentence("“she” gives 93 %")
    assert two.sentence().startswith(IT_TO_DOG)
    two.look_at(1)
    two.wait_for_sentence("Head 1: “fed” attends evenly")
    assert "she" in one.sentence()


@pytest.mark.slow
def test_undo_brings_the_former_numbers_back(screen):
    opened = screen()
    opened.type("Sentence", "Anna fed the dog and she barked")
    opened.wait_for_sentence("“she” gives 93 %")
    opened.page.get_by_role("button", name=re.compile("Undo")).click()
    opened.wait_for_sentence("“it” gives 93 %")
    box = opened.page.get_by_label("Sentence", exact=True)
    expect(box).to_have_value("Anna fed the dog and it barked")


@pytest.mark.slow
def test_the_causal_mask_leads_to_the_proof_that_nothing_leaks(screen):
    opened = screen("?mask=causal&lang=en")
    opened.page.get_by_text("Nothing leaks: proof").click()
    moved = opened.page.get_by_text("Of the 6 words before it, 6 get another output without a mask, 0 with the mask")
    expect(moved).to_be_in_viewport()
