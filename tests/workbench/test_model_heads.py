"""All heads of a language model at one sight: what the panel is told, beside torch."""

import numpy as np
import pytest
import torch

from attention_core.learned.language.reading import cut_sentence, run_model
from attention_core.learned.language.shipped import load_model
from tests.screen.driver import Screen

TIRED = "The animal did not cross the street because it was too tired."
NAME = "en_asked_decoder"
AT = 9  # "it"


@pytest.fixture
def screen():
    return Screen(ex="model_en_decoder", text=TIRED, t=str(AT), layer="2", panel="heads")


def run():
    return run_model(NAME, cut_sentence(NAME, TIRED))


def test_nothing_of_it_stands_where_another_panel_is_open():
    assert not Screen(ex="model_en_decoder", text=TIRED).parts("model_heads")


def test_it_gets_the_weights_of_every_head(screen):
    head, found = screen.packed("model_heads")
    side = len(head["keys"])
    sent = np.frombuffer(found["weights"], np.float32).reshape(3, 4, side, side)
    own = torch.stack([run()[f"{layer}.attention"]["weights"][0] for layer in (1, 2, 3)])
    assert sent == pytest.approx(own.numpy(), abs=1e-6)
    assert [(each["layer"], each["head"]) for each in head["heads"]] == [(n, h) for n in (1, 2, 3) for h in range(4)]


def test_each_head_says_how_much_of_it_lies_on_the_word_before(screen):
    head, _ = screen.packed("model_heads")
    for each in head["heads"]:
        weights = run()[f"{each['layer']}.attention"]["weights"][0, each["head"]]
        expected = sum(float(weights[t, t - 1]) for t in range(1, len(weights))) / (len(weights) - 1)
        assert each["here"]["previous"] == pytest.approx(expected)
        assert {"previous", "antecedent", "subject"} <= set(each["held"])


def test_of_a_pronoun_it_says_the_weight_on_the_noun_of_the_simple_rule_and_of_a_verb_nothing(screen):
    head, _ = screen.packed("model_heads")
    for each in head["heads"]:
        weights = run()[f"{each['layer']}.attention"]["weights"][0, each["head"]]
        assert each["here"]["antecedent"] == pytest.approx(float(weights[AT, 7]))  # "street", the nearest that fits
        assert "subject" not in each["here"]
    assert "it → street" in head["text"]["about"] and "in a typed sentence no word is marked" in head["text"]["about"]


def test_without_a_pronoun_that_has_a_noun_there_is_no_such_number():
    head, _ = Screen(ex="model_en_decoder", text=SHORT, panel="heads").packed("model_heads")
    assert all("antecedent" not in each["here"] for each in head["heads"])
    assert "has no number here" in head["text"]["about"]


def test_what_a_head_adds_is_as_long_as_its_values_through_its_rows(screen):
    head, _ = screen.packed("model_heads")
    (told,) = [each["written"] for each in head["heads"] if (each["layer"], each["head"]) == (2, 3)]
    own = run()["2.attention"]
    w_o = load_model(NAME).layers[1].w_o[3 * 16 : 4 * 16].double()
    added = (own["weights"][0, 3, AT] @ own["v"][0, 3]) @ w_o
    assert told == pytest.approx(float(added.norm()), rel=1e-5)


def test_the_rows_of_its_rollout_sum_to_one(screen):
    head, found = screen.packed("model_heads")
    side = len(head["keys"])
    rolled = np.frombuffer(found["rolled"], np.float32).reshape(side, side)
    assert rolled.sum(-1) == pytest.approx(np.ones(side), abs=1e-6)


def test_a_map_opens_its_head_and_what_is_no_head_opens_nothing(screen):
    screen.click_part("model_heads", "head", [3, 1])
    assert (screen.setup().run.layer, screen.setup().view.head) == (3, 1)
    for sent in ([0, 1], [4, 0], [1, 4], [True, 0], "head", {"layer": 1}):
        screen.click_part("model_heads", "head", sent)
        assert (screen.setup().run.layer, screen.setup().view.head) == (3, 1)
        assert screen.parts("model_heads")


# ---- order and search ------------------------------------------------------------------------------------------------
ORDER = {"by": "previous", "least": 0.35, "from": AT, "to": 2}
FIRST = {"by": "layers", "least": 0.0, "from": None, "to": None}


def order(screen):
    return screen.packed("model_heads")[0]["order"]


def sort(screen, **choices):
    return screen.click_part("model_heads", "order", {**order(screen), **choices})


def test_the_order_the_filter_and_the_pair_that_is_searched_stand_in_the_link(screen):
    assert order(screen) == FIRST
    sort(screen, **ORDER)
    link = {"heads_by": "previous", "heads_least": "0.35", "heads_from": "9", "heads_to": "2"}
    assert {name: text for name, text in screen.link().items() if name.startswith("heads_")} == link
    assert order(Screen(**screen.link())) == ORDER
    assert screen.setup().run.heads is None  # what is looked at changes no run
    sort(screen, **FIRST)
    assert not any(name.startswith("heads_") for name in screen.link())


def test_undo_leads_back_to_the_order_before(screen):
    sort(screen, by="entropy")
    assert order(screen.press("undo")) == FIRST
    assert order(screen.press("redo"))["by"] == "entropy"


def test_an_order_that_a_link_makes_up_is_named_and_not_taken():
    made_up = {"heads_by": "beauty", "heads_least": "1.5", "heads_from": "-1", "heads_to": "it"}
    screen = Screen(ex="model_en_decoder", text=TIRED, panel="heads", **made_up)
    assert all(any(name in error for error in screen.errors()) for name in made_up)
    assert order(screen) == FIRST


def test_a_link_that_names_a_word_or_a_measure_that_there_is_not_shows_what_there_is():
    screen = Screen(ex="model_en_decoder", text=SHORT, panel="heads", heads_from="12", heads_to="2", heads_by="moved")
    assert screen.errors() == [] and order(screen) == {**FIRST, "to": 2}


NO_ORDERS = [("by", "beauty"), ("by", ["same"]), ("least", 2), ("least", True), ("from", "9"), ("to", -1), ("to", 1.5)]


@pytest.mark.parametrize(("name", "sent"), NO_ORDERS)
def test_an_order_that_no_control_offers_is_refused(name, sent):
    screen = Screen(ex="model_en_decoder", text=TIRED, panel="heads", heads_by="same")
    before = order(screen)
    sort(screen, **{name: sent})
    assert order(screen) == before and screen.link()["heads_by"] == "same"
    (error,) = screen.errors()
    assert error.startswith(f"heads_{name} must be something that the address of the screen can hold")
    assert sort(screen, least=0.5).errors() == []


def test_what_is_no_order_changes_nothing(screen):
    for sent in (None, "same", [], {"by": "same"}, 5):
        screen.click_part("model_heads", "order", sent)
        assert order(screen) == FIRST and errors(screen) == []


def test_of_two_sentences_the_link_says_an_order_that_is_not_the_first(screen):
    screen.set("other_text", WIDE)
    assert order(screen)["by"] == "moved" and "heads_by" not in screen.link()
    assert sort(screen, by="layers").link()["heads_by"] == "layers"
    assert order(Screen(**screen.link()))["by"] == "layers"
    assert "heads_by" not in sort(screen, by="moved").link()


# ---- a second sentence -----------------------------------------------------------------------------------------------
WIDE = "The animal did not cross the street because it was too wide."
SHORT = "The dog fed the cat."


def weights_of(sentence):
    stack = run_model(NAME, cut_sentence(NAME, sentence))
    return torch.stack([stack[f"{layer}.attention"]["weights"][0] for layer in (1, 2, 3)])


def errors(screen):
    return [error.value for error in screen.at.error]


def test_of_a_second_sentence_of_as_many_words_it_gets_the_weights_and_how_much_moved(screen):
    assert screen.packed("model_heads")[1]["other"] == b""
    screen.set("other_text", WIDE)
    head, found = screen.packed("model_heads")
    here, there = weights_of(TIRED), weights_of(WIDE)
    side = here.shape[-1]
    sent = np.frombuffer(found["other"], np.float32).reshape(3, 4, side, side)
    assert sent == pytest.approx(there.numpy(), abs=1e-6)
    assert head["order"]["by"] == "moved" and head["other_words"][-2] == "wide"
    for each in head["heads"]:
        one, other = here[each["layer"] - 1, each["head"]], there[each["layer"] - 1, each["head"]]
        moved = sum(float(abs(one[t, s] - other[t, s])) / 2 for t in range(side) for s in range(side)) / side
        assert each["here"]["moved"] == pytest.approx(moved)
    assert max(each["here"]["moved"] for each in head["heads"]) > 0.01


def test_of_a_second_sentence_of_another_length_it_gets_the_measures_alone(screen):
    screen.set("other_text", SHORT)
    head, found = screen.packed("model_heads")
    assert found["other"] == b"" and head["order"]["by"] == "layers"
    assert "This sentence has 13 words, the second 6" in head["text"]["about"]
    for each in head["heads"]:
        weights = weights_of(SHORT)[each["layer"] - 1, each["head"]]
        expected = sum(float(weights[t, t - 1]) for t in range(1, len(weights))) / (len(weights) - 1)
        assert each["there"]["previous"] == pytest.approx(expected)


def test_a_second_sentence_that_is_too_long_is_refused_and_the_one_before_stays(screen):
    screen.set("other_text", WIDE)
    before = screen.packed("model_heads")
    screen.set("other_text", "the dog " * 30)
    assert len(errors(screen)) == 1 and "47" in errors(screen)[0]
    assert screen.packed("model_heads") == before
    assert screen.widget("other_text").value == "the dog " * 30
    screen.set("other_text", "")
    assert errors(screen) == [] and screen.packed("model_heads")[1]["other"] == b""


def test_a_word_that_the_model_does_not_know_is_named(screen):
    screen.set("other_text", "The *zorg* fed the cat.")
    assert any("it does not know “zorg”" in each.value for each in screen.at.warning)


def test_the_second_sentence_stands_in_the_link_and_another_model_reads_it_too(screen):
    screen.set("other_text", WIDE)
    assert screen.link()["other_text"] == WIDE
    screen.set("model", "en_asked_encoder")
    assert screen.widget("other_text").value == WIDE and screen.packed("model_heads")[1]["other"] != b""
    screen.press("undo").press("undo")
    assert "other_text" not in screen.link() and screen.packed("model_heads")[1]["other"] == b""
