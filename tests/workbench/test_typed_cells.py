"""Numbers typed where they stand in the picture: an edit like every other, or a refusal at the cell."""

import pytest

from tests.screen.driver import Screen, softmax


def typed(screen, step, index, text):
    return screen.click_part("look", "typed", {"step": step, "index": index, "text": text})


def it_to_dog_without(query_first):
    """The share of dog for q(it) = (query_first, 3): its scores are ±(3 − query_first) over √2."""
    score = (3 - query_first) * 2**-0.5
    return softmax([-score, 0, 0, score, 0, 0, 0], 3)


def test_a_typed_cell_is_an_edit_like_every_other():
    screen = typed(Screen(), "w_q", [1, 0], "0")
    assert screen.weight(5, 3) == pytest.approx(it_to_dog_without(0), abs=1e-12)
    assert screen.link()["w_q"] == "~1.0=0"
    assert screen.look()["refused"] is None
    screen.press("undo")
    assert screen.weight(5, 3) == pytest.approx(it_to_dog_without(-3), abs=1e-12)


def test_a_vector_of_a_word_is_typed_in_its_row():
    screen = typed(Screen(), "x", [0, 5, 1], "-0.5")  # x(it) = (0, -1, 0, 0): q(it) is half of (−3, 3)
    score = 3 * 2**-0.5
    assert screen.weight(5, 3) == pytest.approx(softmax([-score, 0, 0, score, 0, 0, 0], 3), abs=1e-12)


def test_a_bias_is_a_row_alone():
    screen = typed(Screen(b_q="0,0,0,0"), "b_q", [1], "-3")  # q(it) = (−3, 0)
    assert screen.weight(5, 3) == pytest.approx(it_to_dog_without(0), abs=1e-12)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("zwei", "w_q, row 2, column 1, must be a number: got “zwei”"),
        ("", "w_q, row 2, column 1, must be a finite number: it was emptied"),
        ("1e99", "1e99"),
        ("<b>*1*</b>", "<b>*1*</b>"),
    ],
)
def test_what_is_no_number_is_refused_at_its_cell_and_the_run_stays(text, says):
    screen = typed(Screen(), "w_q", [1, 0], text)
    refused = screen.look()["refused"]
    assert says in refused["sentence"]
    assert (refused["step"], refused["index"], refused["text"]) == ("w_q", [1, 0], text)
    assert screen.weight(5, 3) == pytest.approx(it_to_dog_without(-3), abs=1e-12)
    assert screen.click_part("look", "typed", None).look()["refused"] is None


@pytest.mark.parametrize(
    "sent",
    [
        {"step": "w_q", "index": [9, 0], "text": "1"},
        {"step": "w_q", "index": [True, 0], "text": "1"},
        {"step": "w_q", "index": "10", "text": "1"},
        {"step": "w_q", "index": [1], "text": "1"},
        {"step": "weights", "index": [0, 0, 0, 0], "text": "1"},
        {"step": "nothing", "index": [0, 0], "text": "1"},
        {"step": "w_q", "index": [1, 0], "text": 1},
        ["w_q"],
        7,
    ],
)
def test_what_no_cell_can_send_changes_nothing(sent):
    screen = Screen()
    before = screen.link()
    screen.click_part("look", "typed", sent)
    assert screen.link() == before and screen.look()["refused"] is None


def test_only_what_the_run_reads_as_it_stands_can_be_typed():
    assert Screen().flow()["typed"] == ["x", "w_q", "w_k", "w_v", "w_o"]
    assert Screen(wiring="tied").flow()["typed"] == ["x", "w_q", "w_o"]
    assert Screen(ex="one_query").flow()["typed"] == ["q", "k", "v"]
    assert Screen(ex="cross_en_zh").flow()["typed"][:2] == ["query", "key"]
    assert Screen(more="it barked").flow()["typed"] == ["w_q", "w_k", "w_v", "w_o"]


def test_a_name_opens_the_product_that_the_part_is_cut_from():
    opens = {part["name"]: part["opens"] for part in Screen().flow()["parts"]}
    assert (opens["q"], opens["k"], opens["v"]) == ("q_projected", "k_projected", "v_projected")
    assert (opens["output"], opens["concat"], opens["weights"]) == ("output", "concat", "weights")
    assert {part["name"]: part["opens"] for part in Screen(pos="rope").flow()["parts"]}["q"] == "q"
