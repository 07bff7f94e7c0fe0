"""What the last change did: a sentence, marks on the strip, maps of differences; undo and redo, and nothing jumps."""

import re
from decimal import Decimal

import pytest

from attention_core.record.number_text import format_signed
from tests.screen.driver import Screen, it_to_dog, softmax


def said(screen):
    return " ".join(text.value.replace("\\", "") for text in screen.at.markdown)


def marked(screen):
    """The steps of the strip that carry the mark of a change."""
    return screen.flow()["moved"]


def numbers(screen, picture, step, index):
    cells = screen.table(picture)
    (cell,) = cells[(cells["index"] == index) & (cells["kind"] == "cell") & (cells["step"] == step)].to_dict("records")
    return cell["text"]


def test_before_a_change_there_is_nothing_to_compare():
    screen = Screen()
    assert "Change anything: this line says what moved." in screen.captions()
    assert marked(screen) == []


def test_another_layer_is_opened_and_nothing_is_said_to_have_moved():
    """The numbers of layer 3 are not what those of layer 1 were before."""
    screen = Screen(ex="model_en").set("layer", 1)
    for each in (screen, screen.press("undo")):
        assert "Change anything: this line says what moved." in each.captions()
        assert marked(each) == []
    assert "Biggest change" in said(screen.set("masks", ["causal"]))


def test_a_difference_that_is_shown_ends_where_another_layer_is_opened():
    screen = Screen(ex="model_en").set("masks", ["causal"]).set("difference", True)
    assert "against" in screen.link()
    assert "against" not in screen.set("layer", 1).link()


def test_the_sentence_names_the_largest_move_with_both_numbers():
    screen = Screen().set("scale", "off")
    before, now = it_to_dog(2**-0.5), it_to_dog(1.0)
    assert f"{before:.3f} → {now:.3f} ({format_signed(now - before, 3)})" in said(screen)
    assert marked(screen) == ["scaled_scores", "masked_scores", "weights", "head_outputs", "concat", "output"]


@pytest.mark.parametrize("change", [("scale", "off"), ("temperature", 1.5), ("masks", ["causal"]), ("heads", 1)])
def test_a_reader_who_subtracts_gets_the_difference_that_is_shown(change):
    text = said(Screen().set(*change))
    for before, now, difference in re.findall(r"(\S+) → (\S+) \((\S+)\)", text):
        before, now, difference = (Decimal(number.replace("−", "-")) for number in (before, now, difference))
        assert now - before == difference
    assert ("→" in text) == (change[0] != "heads")


def test_what_stands_behind_the_weights_moves_alone():
    screen = Screen().set("edited", "w_v").edit_cells({0: {0: 9}})
    assert "No weight changed. Biggest change: head_outputs" in said(screen)
    assert marked(screen) == ["v_projected", "v", "head_outputs", "concat", "output"]


def test_a_change_too_small_for_two_decimals_is_told_with_more():
    before, now, difference = re.search(r"(\S+) → (\S+) \((\S+)\)", said(Screen().set("dtype", "float16"))).groups()
    assert before != now and before[:4] == now[:4]
    assert float(difference.replace("−", "-")) == pytest.approx(float(now) - float(before), rel=0.1)


def test_an_output_without_w_o_is_compared_with_the_one_before():
    text = said(Screen().set("wiring", ["no_output"]))
    assert "No weight changed. Biggest change: output [" in text
    assert "New" not in text


def test_a_step_of_another_shape_is_marked():
    screen = Screen().set("d_v", 3)
    assert {"v", "head_outputs", "concat"} <= {*marked(screen)}


def test_the_maps_show_signed_differences():
    screen = Screen().set("temperature", 2.0).set("difference", True)
    moved = it_to_dog(2**-0.5 / 2) - it_to_dog(2**-0.5)
    assert numbers(screen, "map0", "weights", "0,0,5,3") == format_signed(moved) == "−0.31"
    assert numbers(screen, "map0", "weights", "0,0,0,0") == "0"
    assert screen.link()["against"] == ""
    again = Screen(**screen.link())
    assert numbers(again, "map0", "weights", "0,0,5,3") == "−0.31"  # the link shows the same
    screen.set("temperature", 1.0)  # and the next change is compared with this one
    assert numbers(screen, "map0", "weights", "0,0,5,3") == "+0.31"
    screen.set("difference", False)
    assert not screen.maps()


def test_the_cell_of_a_difference_opens_the_arithmetic_of_now():
    screen = Screen().set("temperature", 2.0).set("difference", True).click_cell("flow", "weights", "0,0,5,3")
    expected = softmax([s * 2**-0.5 / 2 for s in (-6, 0, 0, 6, 0, 0, 0)], 3)
    assert f"{expected:.3f}"[:4] in "".join(piece["text"] for piece in screen.pieces())


def test_a_blocked_cell_in_a_difference_is_hatched():
    screen = Screen().set("masks", ["causal"]).set("difference", True).open_step("masked_scores")
    table = screen.table("large")
    hatched = table[(table["kind"] == "blocked") & (table["step"] == "masked_scores")]
    assert len(hatched) == 21


def test_other_sizes_cannot_be_compared_cell_by_cell():
    screen = Screen().set("text", "Anna fed it")
    assert "The sizes changed" in said(screen)
    screen.set("text", "she fed it")
    assert "Biggest change" in said(screen)


# ---- other words -----------------------------------------------------------------------------------------------------
def test_one_word_in_the_place_of_another_is_named():
    screen = Screen().set("text", "Anna fed the dog and she barked")
    she = softmax([score * 2**-0.5 for score in (6, 0, 0, -6, 0, 0, 0)], 0)
    assert f"“it” → “she”. Biggest change: weight of “Anna” for “she”, head 1, 0.00 → {she:.2f}" in said(screen)
    chinese = Screen(lang="zh", ex="zh_ta").set("text", "小红喂了那只狗，她摇尾巴")
    assert "“它” → “她”。变化最大：头 1 中“她”对“小红”的权重，0.00 → 0.93（+0.93）。" in said(chinese)
    both = Screen(text="it fed it").set("text", "she fed she")  # in two places
    assert said(both).count("“it” → “she”. ") == 1


def test_a_word_of_the_same_vector_moves_nothing():
    screen = Screen().set("text", "Anna fed the cat and it barked")
    assert "“dog” → “cat”. Nothing moved: every number is as it was before." in said(screen)


def test_another_sentence_of_as_many_words_is_not_compared_with_the_one_before():
    screen = Screen().set("text", "my teacher loves pizza and salad today")
    assert "Unchanged words only. Between these words no weight moved." in said(screen)
    screen.set("text", "Tom read a walrus but he laughed")
    assert "All words are different: nothing is compared." in said(screen)
    assert "Biggest change" not in said(screen)
    chinese = Screen(lang="zh", ex="zh_ta").set("text", "我|喜欢|吃|苹果|和|梨|。")
    assert "词都换了，不作比较。" in said(chinese) and "变化最大" not in said(chinese)


def test_words_that_stayed_are_compared_with_themselves():
    """A second dog takes half of what "it" gives to the first; two words have changed, which are not compared."""
    screen = Screen().set("text", "dog fed a dog and it barked")
    before, now = it_to_dog(2**-0.5), softmax([score * 2**-0.5 for score in (6, 0, 0, 6, 0, 0, 0)], 3)
    moved = f"weight of “dog #4” for “it”, head 1, {before:.2f} → {now:.2f} ({format_signed(now - before)})."
    assert f"Unchanged words only. Biggest change: {moved}" in said(screen)


def has_switch(screen):
    """Whether the difference can be asked for."""
    return any(toggle.key == "c_difference" for toggle in screen.at.toggle)


def test_the_difference_is_offered_once_there_is_one():
    screen = Screen()
    assert not has_switch(screen)
    assert has_switch(screen.set("temperature", 2.0))
    assert not has_switch(screen.set("heads", 1))  # of other sizes there is none cell by cell


def test_no_map_shows_the_difference_of_one_sentence_to_another():
    screen = Screen().set("temperature", 2.0).set("difference", True)
    screen.set("text", "my teacher saw it and she barked")
    assert not has_switch(screen) and not screen.maps()
    screen.set("temperature", 1.0)
    assert screen.widget("difference").value and "Biggest change" in said(screen)


def test_a_sentence_of_a_batch_is_compared_with_its_own_words():
    screen = Screen(more="the dog barked", sentence="1").set("temperature", 2.0)
    assert "Biggest change: the weight of “dog” for “barked” in head 2" in said(screen)
    screen.at.session_state["setup"] = screen.setup().with_fields(sentence=None)  # the other one is looked at
    assert "Biggest change: the weight of “dog” for “it” in head 1" in said(screen.ran(screen.at.run))


def test_another_sentence_of_the_batch_is_not_compared_with_the_one_before():
    screen = Screen(more="the dog barked").set("more", "my walrus smiled")
    assert "Different words in sentence 2: nothing is compared there." in said(screen)
    assert "Biggest change" in said(screen.set("temperature", 2.0))


def test_a_pinned_sentence_is_not_compared_word_by_word_with_another():
    screen = Screen().set("pin", True).set("text", "my teacher loves pizza and salad today")
    assert screen.fact().startswith("Unchanged words only. ")
    assert screen.widget("apart").disabled


def test_a_link_that_compares_with_nonsense_says_so():
    assert "against=nonsense" in " ".join(Screen(against="nonsense=1").errors())
    assert Screen(against="kv_heads=3").errors() != []  # readable, but no run
    assert Screen(against="against=x").errors() != []


# ---- undo and redo ---------------------------------------------------------------------------------------------------
def test_undo_and_redo_go_through_the_same_screens():
    screen = Screen()
    weights = [screen.weight(5, 3)]
    for temperature in (2.0, 3.0, 5.0):
        weights.append(screen.set("temperature", temperature).weight(5, 3))
    for expected in weights[-2::-1]:
        assert screen.press("undo").weight(5, 3) == expected
    for expected in weights[1:]:
        assert screen.press("redo").weight(5, 3) == expected
    assert next(button for button in screen.at.button if button.key == "redo").disabled


def test_a_new_change_ends_what_could_be_redone():
    screen = Screen().set("temperature", 2.0).press("undo").set("score", "dot")
    assert next(button for button in screen.at.button if button.key == "redo").disabled
    assert screen.press("undo").setup().run.score is None


@pytest.mark.parametrize("move", ["undo", "redo"])
def test_the_keyboard_does_it_too(move):
    screen = Screen().set("temperature", 2.0)
    if move == "redo":
        screen.press("undo")
    screen.click_part("shortcuts", "moved", {"first": 0, "moves": [move]})
    assert screen.setup().run.temperature == {"undo": 1.0, "redo": 2.0}[move]
    screen.click_part("shortcuts", "moved", {"first": 0, "moves": ["nonsense"]})
    assert screen.setup().run.temperature == {"undo": 1.0, "redo": 2.0}[move]


def test_a_held_key_loses_no_step_and_does_none_twice():
    screen = Screen()
    for temperature in (2.0, 3.0, 4.0, 5.0):
        screen.set("temperature", temperature)
    screen.click_part("shortcuts", "moved", {"first": 0, "moves": ["undo"]})
    screen.click_part("shortcuts", "moved", {"first": 0, "moves": ["undo"] * 3})  # it had not heard of the first
    assert screen.setup().run.temperature == 2.0
    screen.click_part("shortcuts", "moved", {"first": 3, "moves": ["redo", "redo", "undo"]})
    assert screen.setup().run.temperature == 3.0
    fresh = Screen().set("temperature", 2.0)  # of a server that was started again under the page
    assert fresh.click_part("shortcuts", "moved", {"first": 7, "moves": ["undo"]}).setup().run.temperature == 1.0


def test_undo_takes_back_a_setting_and_not_the_playhead_the_opened_step_or_the_opened_sum():
    screen = Screen().set("temperature", 2.0)
    screen.look_at(stop="scores").open_step("weights").click_cell("flow", "weights", "0,0,5,3")
    opened = {name: screen.link()[name] for name in ("step", "cell")}
    screen.press("undo")
    assert "temp" not in screen.link()
    assert {name: screen.link()[name] for name in opened} == opened


def test_undo_of_a_change_leaves_the_look_where_it_is():
    screen = Screen().click_cell("flow", "weights", "0,1,1,0").set("temperature", 2.0)
    here = {key: screen.link()[key] for key in ("t", "head", "step", "cell")}
    screen.press("undo")
    assert {key: screen.link()[key] for key in here} == here
    assert "temp" not in screen.link() and screen.fact().startswith("Head 2: “fed”")


def test_undo_leads_back_to_what_was_looked_at_and_redo_there_again():
    screen = Screen().set("temperature", 2.0)
    screen.look_at(query=1, head=1).look_at(query=6, head=1)
    said_of_change = said(screen)
    assert screen.fact().startswith("Head 2: “barked”")
    screen.press("undo")  # all looks since the change are one
    assert screen.fact().startswith("Head 1: “it”") and screen.link()["temp"] == "2.0"
    screen.press("redo")
    assert screen.fact().startswith("Head 2: “barked”") and said(screen) == said_of_change
    screen.press("undo").press("undo")
    assert "temp" not in screen.link()


def test_what_undo_takes_away_is_closed():
    screen = Screen().set("masks", ["causal"]).open_step("allowed").press("undo")
    assert "step" not in screen.link()
    assert Screen(**screen.link()).errors() == []


def test_a_change_keeps_head_query_step_and_cell():
    screen = Screen().click_cell("flow", "weights", "0,0,5,3").set("wiring", ["swapped"])
    assert screen.fact().startswith("Head 1: “it”")
    assert (screen.link()["step"], screen.link()["cell"]) == ("weights", "0,0,5,3")


def test_where_nobody_chose_the_head_it_stays_too():
    screen = Screen().set("wiring", ["swapped"])  # dog -> it is now the most telling row
    assert screen.fact().startswith("Head 1: “it”")
