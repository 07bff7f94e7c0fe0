"""Words alone: what the panel tells of a head's two circuits, and how its numbers open."""

import json

import pytest

from attention_core.analysis.head_composition import composition_scores
from attention_core.learned.language.circuits import word_circuit
from attention_core.learned.language.reading import cut_sentence, run_model
from attention_core.learned.language.shipped import load_model
from tests.screen.driver import Screen, plain

TIRED = "The animal did not cross the street because it was too tired."
NAME = "en_asked_encoder"
AT = 9  # "it"
LINK = {"ex": "model_en", "text": TIRED, "t": str(AT), "panel": "circuits"}


@pytest.fixture
def screen():
    return Screen(**LINK)


def data(screen):
    (part,) = screen.parts("circuits")
    return json.loads(part.proto.json)


def told(screen):
    """What is said of the head, a line a circuit."""
    lines = [plain(each.value) for each in screen.at.markdown if each.value.startswith("- ")]
    return next(line for line in lines if "of these words" in line or "只看词本身，" in line)


def test_nothing_of_it_stands_where_another_panel_is_open():
    assert not Screen(ex="model_en", text=TIRED).parts("circuits")


def test_each_map_has_the_numbers_of_the_head_on_the_words_of_the_sentence(screen):
    shown = data(screen)
    words = tuple(dict.fromkeys(cut_sentence(NAME, TIRED)))[:12]
    assert tuple(shown["words"]) == words and words[shown["at"]] == "it"
    trace = word_circuit(NAME, words, 3)["3.circuit"]
    assert [each["step"] for each in shown["maps"]] == ["scaled_scores", "writes", "answers", "composition"]
    for each in shown["maps"][:3]:
        assert each["numbers"] == trace[each["step"]][0, each["head"]].tolist()


def test_it_says_whom_the_word_would_ask_and_whether_it_does(screen):
    words = data(screen)["words"]
    scores = data(screen)["maps"][0]["numbers"][words.index("it")]
    most = words[scores.index(max(scores))]
    assert f"“it” would look more at “{most}” than at any other of these words (score {max(scores):.2f})" in told(
        screen
    )
    weights = run_model(NAME, cut_sentence(NAME, TIRED))["3.attention"]["weights"][0, 0, AT]
    looked = cut_sentence(NAME, TIRED)[int(weights.argmax())]
    assert looked == most == "animal"
    assert f"point to “animal”, and that is where the head looks most ({float(weights.max()):.0%}".replace(
        "%", " %"
    ) in told(screen)


def test_another_head_and_another_word_say_other_things(screen):
    before = told(screen)
    screen.click_part("circuits", "word", 2)
    assert data(screen)["words"][data(screen)["at"]] == "animal" and screen.link()["t"] == "2"
    assert told(screen) != before and "“animal” would look more at “" in told(screen)
    layer_1 = Screen(**LINK, layer="1", head="1")
    assert [each["step"] for each in data(layer_1)["maps"]] == ["scaled_scores", "writes"]
    words = tuple(data(layer_1)["words"])
    for each in data(layer_1)["maps"]:
        assert each["numbers"] == word_circuit(NAME, words, 1)["1.circuit"][each["step"]][0, 1].tolist()
        assert each["head"] == 1


def test_a_number_opens_and_leads_to_the_embedding(screen):
    screen.click_part("circuits", "opened", {"part": "3.circuit", "step": "writes", "index": [0, 0, 2, 2]})
    ways = []
    for _ in range(8):
        (part,) = screen.parts("block_sum")
        pieces = [piece for piece in json.loads(part.proto.json)["pieces"] if "step" in piece]
        own = [piece for piece in pieces if not piece["step"].partition("/")[2].startswith(("w_", "g_", "table"))]
        if not own:
            break
        ways.append(own[0]["step"])
        screen.click_part("block_sum", "followed", {"step": own[0]["step"], "index": own[0]["index"]})
    assert ways[:4] == ["3.circuit/gained", "3.circuit/written", "3.circuit/v", "3.circuit/value"]
    (part,) = screen.parts("block_sum")
    assert json.loads(part.proto.json)["pieces"][0]["step"] == "embedding/table"


def test_the_composition_scores_of_earlier_heads_stand_beside_and_open():
    layer_2 = Screen(**LINK, layer="2", head="1")
    (table,) = [each for each in data(layer_2)["maps"] if each["step"] == "composition"]

    first, second = (load_model(NAME).layers[place].weights().attention for place in range(2))
    scores = composition_scores(first, second, heads=4)
    assert table["numbers"] == [pytest.approx(scores[read][1].tolist(), abs=1e-12) for read in "qkv"]
    assert table["heads"] == [f"L1H{number}" for number in range(1, 5)]
    layer_2.click_part("circuits", "opened", {"part": "2.composition_k", "step": "composition", "index": [3]})
    (part,) = layer_2.parts("block_sum")
    assert any(piece.get("step") == "2.composition_k/met_size" for piece in json.loads(part.proto.json)["pieces"])
    said = next(each.value for each in layer_2.at.markdown if "Composition scores" in each.value)
    assert "RoPE turns" in said and f"about {1 / len(first.w_q) ** 0.5:.2f}" in said


def test_a_layer_whose_values_are_words_says_that_no_earlier_head_reaches_them(screen):
    table = data(screen)["maps"][-1]
    assert table["lines"] == ["queries", "keys"] and len(table["heads"]) == 8
    said = " ".join(each.value for each in screen.at.markdown)
    assert "No earlier head reaches the values" in said


@pytest.mark.parametrize("sent", [["x"], {"part": "9.circuit", "step": "writes", "index": [0]}, None, "writes"])
def test_what_a_browser_makes_up_opens_nothing(screen, sent):
    screen.click_part("circuits", "opened", sent)
    screen.click_part("circuits", "word", 99)
    screen.click_part("circuits", "word", "<b>")
    assert not screen.parts("block_sum") and screen.link()["t"] == str(AT)


def test_words_are_added_and_refused_where_they_are_not_known(screen):
    screen.set("circuit_words", "cat, the bird")
    assert data(screen)["words"][-2:] == ["cat", "bird"]
    assert screen.link()["circuit_words"] == "cat the bird"
    screen.set("circuit_words", "zebrafish <b>")
    assert any("zebrafish" in error.value for error in screen.at.error)
    assert data(screen)["words"][-2:] == ["cat", "bird"]  # the last good result stays


@pytest.mark.parametrize("words", ["<script>alert(1)</script>", "zebrafish", "x" * 5000, "dog " * 40])
def test_a_link_with_words_that_cannot_be_shown_shows_the_others(words):
    assert "animal" in data(Screen(**LINK, circuit_words=words))["words"]


def test_it_speaks_chinese():
    screen = Screen(ex="model_zh", panel="circuits", lang="zh")
    assert "只看词本身，" in told(screen)
    assert data(screen)["maps"][0]["title"] == "QK：一个词会关注哪个词"
