"""The model around the layer on the screen: the rail, the sum of its parts, what comes out, numbers followed."""

import json

import numpy as np
import pytest
import torch

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.reading import cut_sentence, run_model
from attention_core.learned.language.shipped import load_model
from tests.screen.driver import Screen

TIRED = "The animal did not cross the street because it was too tired."
NAME = "en_asked_decoder"
AT = 12  # "tired"


@pytest.fixture
def screen():
    return Screen(ex="model_en_decoder", text=TIRED, t=str(AT), layer="2")


def run(name=NAME, text=TIRED):
    return run_model(name, cut_sentence(name, text))


def strips(screen):
    """The rows of the block, each with its numbers."""
    head, found = screen.packed("block")
    numbers = np.frombuffer(found["numbers"], np.float32)
    rows = [row for row in head["rows"] if "first" in row]
    return head, [(row, numbers[row["first"] :][: row["count"]]) for row in rows]


def opened(screen, part, step, *index):
    return screen.click_part("block", "opened", {"part": part, "step": step, "index": list(index)})


def followed(screen, place):
    pieces = [piece for piece in arithmetic(screen)["pieces"] if "step" in piece]
    piece = pieces[place]
    return screen.click_part("block_sum", "followed", {"step": piece["step"], "index": piece["index"]})


def arithmetic(screen):
    (part,) = screen.parts("block_sum")
    return json.loads(part.proto.json)


def test_the_parts_add_up_to_the_vector_from_which_the_words_come(screen):
    _, rows = strips(screen)
    added = sum(numbers.astype(float) for row, numbers in rows if row["kind"] == "part")
    own = run()["3.feed_forward"]["residual"][0, AT].numpy()
    assert added == pytest.approx(own, abs=1e-5)  # single precision is sent
    assert len([row for row, _ in rows if row["kind"] == "part"]) == 1 + 3 * (4 + 1)
    assert any("parts (to within " in caption and "e-15" in caption for caption in screen.captions())


def test_each_part_is_what_a_naive_loop_gives(screen):
    """Head 3 of layer 2: its shares times the values, through its rows of W_o; layer 1 the same way for the loop."""
    stack, model = run(), load_model(NAME)
    _, rows = strips(screen)
    (numbers,) = [numbers for row, numbers in rows if row.get("part") == "2.attention.head_3"]
    trace = stack["2.attention"]
    expected = torch.zeros(64, dtype=torch.float64)
    for m in range(64):
        for j in range(16):
            mixed = sum(trace["weights"][0, 2, AT, s] * trace["v"][0, 2, s, j] for s in range(AT + 1))
            expected[m] += mixed * model.layers[1].w_o[2 * 16 + j, m]
    assert numbers == pytest.approx(expected.numpy(), abs=1e-5)


def test_the_pushes_add_up_to_the_logit_of_the_likeliest_word(screen):
    head, rows = strips(screen)
    logits = run()["unembedding"]["logits"][0, AT]
    pushes = sum(row["push"] for row, _ in rows if row["kind"] == "part")
    assert pushes == pytest.approx(float(logits.max()), abs=1e-9)
    (chosen,) = [word for word in head["words"] if word["chosen"]]
    assert chosen["word"] == vocabulary("en")[int(logits.argmax())] == "."
    assert chosen["share"] == pytest.approx(float(logits.softmax(-1).max()), abs=1e-12)


def test_another_word_is_chosen_and_its_logit_is_pushed():
    screen = Screen(ex="model_en_decoder", text=TIRED, t=str(AT))
    number = vocabulary("en").index("dog")
    screen.click_part("block", "target", number)
    _, rows = strips(screen)
    logits = run()["unembedding"]["logits"][0, AT]
    assert sum(row["push"] for row, _ in rows if row["kind"] == "part") == pytest.approx(
        float(logits[number]), abs=1e-9
    )
    screen.click_part("block", "target", 99999)  # what a browser makes up changes nothing
    assert [word["word"] for word in strips(screen)[0]["words"] if word["chosen"]] == ["dog"]


def test_a_number_is_followed_across_the_parts_to_the_embedding():
    screen = Screen(ex="model_en_decoder", text=TIRED, t=str(AT))
    opened(screen, "unembedding", "logits", 0, AT, 5)
    assert arithmetic(screen)["pieces"][0]["step"] == "unembedding/rms_normed_x"
    ways = set()
    for _ in range(60):
        pieces = [piece for piece in arithmetic(screen)["pieces"] if "step" in piece]
        if not pieces:
            break
        steps = [piece["step"].partition("/")[2] for piece in pieces]
        own = next((place for place, step in enumerate(steps) if not step.startswith(("w_", "g_"))), None)
        assert own is not None, steps
        followed(screen, own)
        ways.add(arithmetic(screen)["trail"][-1]["step"].partition("/")[0])
    assert {"unembedding", "3.feed_forward", "3.attention", "2.feed_forward", "1.attention"} <= ways
    assert arithmetic(screen)["trail"][-1]["step"] == "embedding/x"  # a number of the table is the end


def test_a_number_that_is_not_there_opens_nothing(screen):
    for cell in (["logits", [0, 1]], ["nowhere", [0]], ["logits", [0, AT, 10**6]], ["logits", "x"]):
        screen.click_part("block", "opened", {"part": "unembedding", "step": cell[0], "index": cell[1]})
        assert not screen.parts("block_sum")
    screen.click_part("block", "head", ["x", 0])
    screen.click_part("block", "head", [2, 17])
    assert screen.errors() == []


def test_a_head_of_another_layer_opens_from_the_rail_and_from_the_block():
    screen = Screen(ex="model_en", text=TIRED)
    layers = screen.flow()["layers"]
    assert layers["now"] == 3 and [len(heads) for heads in layers["names"]] == [4, 4, 4]
    assert layers["names"][2][0] == "which noun is meant?"
    screen.click_part("look", "looked", {"query": 9, "head": 2, "layer": 1, "stop": "heads-3.1"})
    assert screen.link()["stop"] == "heads-3.1"
    assert screen.link()["layer"] == "1" and screen.setup().view.head == 2
    screen.click_part("block", "head", [2, 1])
    assert screen.link()["layer"] == "2" and screen.setup().view.head == 1
    screen.click_part("look", "looked", {"query": 9, "head": 2, "layer": 17, "stop": None})
    assert screen.link()["layer"] == "2"  # there is no such layer


def test_the_rail_holds_the_maps_of_all_layers(screen):
    head, found = screen.packed("flow")
    rows, columns = head["layers"]["shape"]
    cells = np.frombuffer(found["layer_maps"], np.float32).reshape(12, rows, columns)
    above = np.triu(np.ones((rows, columns), bool), 1)
    assert np.isnan(cells[:, above]).all()  # a decoder looks back
    weights = run()["1.attention"]["weights"][0, 1].numpy()
    assert cells[1][~above] == pytest.approx(weights[~above], abs=1e-6)


def test_what_is_changed_in_a_layer_is_said_to_be_missing_below():
    screen = Screen(ex="model_en", text=TIRED)
    said = "This is the model as it was trained."
    assert not any(said in caption for caption in screen.captions())
    screen.set("masks", ["causal"])
    assert any(said in caption for caption in screen.captions())


def test_nothing_of_a_model_stands_where_none_reads():
    screen = Screen(ex="en_it")
    assert not screen.parts("block") and not screen.flow()["layers"]


def test_the_answers_are_those_of_the_heads(screen):
    head, _ = strips(screen)
    model, stack = load_model(NAME), run()
    for row, question in zip(head["answers"], range(4), strict=True):
        mixed = stack["3.attention"]["head_outputs"][0, question, AT]  # (d_v)
        shares = (mixed @ model.w_answers[question] @ model.words.T).softmax(-1)
        assert row["share"] == pytest.approx(float(shares.max()), abs=1e-12)
        said = vocabulary("en")[int(shares.argmax())]
        assert row["word"] == ("no other" if said == "tired" else said)
    assert len({row["word"] for row in head["answers"]}) > 1  # "tired" is asked something


def test_the_logits_are_divided_by_the_temperature(screen):
    screen.click_part("block", "temperature", 2.5)
    logits = run()["unembedding"]["logits"][0, AT]
    expected = (logits / 2.5).softmax(-1)
    words, known = strips(screen)[0]["words"], vocabulary("en")
    assert [word["share"] for word in words] == pytest.approx(
        [float(expected[known.index(each["word"])]) for each in words]
    )
    opened(screen, "unembedding", "scaled_logits", 0, AT, 5)
    (piece,) = [piece for piece in arithmetic(screen)["pieces"] if "step" in piece]
    assert piece["step"] == "unembedding/logits"
    pushes = sum(row["push"] for row, _ in strips(screen)[1] if row["kind"] == "part")
    assert pushes == pytest.approx(float(logits.max()), abs=1e-9)  # what parts push is the logit itself
    for made_up in (0, -1, 1e9, True, "2", None):
        screen.click_part("block", "temperature", made_up)
        assert strips(screen)[0]["temperature"]["value"] == 2.5
