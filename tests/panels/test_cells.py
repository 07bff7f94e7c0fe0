"""Any cell by name, the way back, sentences that are not ambiguous, proof."""

import re

import pytest

from attention_core.record.errors import AttentionError
from pages.setup.codec import setup_to_link
from pages.setup.setup import Setup
from tests.screen.driver import Screen, softmax
from tests.screen.lesson import Lesson


# ---- any cell by name, and the way back ------------------------------------------------------------------------------
def test_any_cell_is_opened_by_name():
    screen = Screen().set("step", "scores")
    assert screen.link() == {"step": "scores"}
    assert screen.widget("axis_scores_1").value == 0  # the head that is looked at
    screen.set("axis_scores_2", 5).set("axis_scores_3", 3)
    assert screen.link() == {"step": "scores", "cell": "0,0,5,3", "t": "5", "head": "0"}
    assert screen.pieces()[-1]["text"] == " = 6.00"
    screen.set("axis_scores_3", 0)
    assert screen.pieces()[-1]["text"] == " = −6.00"
    assert {"w_q", "allowed"} & set(screen.widget("step").options) == {"w_q"}


def test_the_way_back_leads_through_every_cell_that_was_passed():
    screen = Screen().click_cell("flow", "weights", "0,0,5,3")
    assert screen.look()["sum"]["trail"] == []
    screen.follow("masked_scores", [0, 0, 5, 3]).follow("scaled_scores", [0, 0, 5, 3])
    passed = {place["text"]: place["title"] for place in screen.look()["sum"]["trail"]}
    assert passed == {"weights": "weights [head 1, it, dog]", "masked_scores": "masked_scores [head 1, it, dog]"}
    screen.follow("weights", [0, 0, 5, 3])  # the first crumb
    assert screen.link()["step"] == "weights" and screen.look()["sum"]["trail"] == []
    screen.follow("masked_scores", [0, 0, 5, 3]).click_cell("flow", "weights", "0,0,5,4")
    assert screen.look()["sum"]["trail"] == []  # another cell begins another way


def test_in_chinese_the_way_back_has_chinese_names():
    screen = Screen(lang="zh").click_cell("flow", "weights", "0,0,5,3").follow("masked_scores", [0, 0, 5, 3])
    assert [place["text"] for place in screen.look()["sum"]["trail"]] == ["权重"]


def test_each_exponential_and_each_weight_of_a_sum_carries_its_word():
    words = ["Anna", "fed", "the", "dog", "and", "it", "barked"]
    for step, cell, expected in (
        ("weights", "0,0,5,3", ["dog", *words]),
        ("head_outputs", "0,0,5,0", [each for word in words for each in (word, None)]),  # weight, value
        ("scores", "0,0,5,3", [None] * 4),
    ):
        pieces = Screen(ex="en_it", step=step, cell=cell).look()["sum"]["pieces"]
        assert [piece.get("word") for piece in pieces if "step" in piece] == expected


# ---- sentences that must not be ambiguous ----------------------------------------------------------------------------
def test_two_keys_with_the_same_share_are_joined_and_equal_words_carry_their_place():
    screen = Screen(text="it fed dog dog", t="0", lang="en")  # it -> both dogs, e^(6/√2) each, fed 1, itself 1
    share = softmax([6 * 2**-0.5, 6 * 2**-0.5, 0, 0], 0)
    assert screen.fact() == f"Head 1: “it” gives {100 * share:.0f} % each to “dog #3” and “dog #4”."
    assert (
        Screen(text="it fed dog dog", t="0", lang="zh").fact()
        == f"头 1：“it”给“dog #3”和“dog #4”各分配 {100 * share:.0f}% 的注意力。"
    )
    screen.set("step", "weights").set("axis_weights_2", 0).set("axis_weights_3", 3)
    assert screen.look()["sum"]["title"].startswith("weights [head 1, it, dog #4] = ")


def test_a_share_is_called_all_only_where_it_is_all():
    """At temperature 0.5 dog has e^8.49 = 4,852 of 4,857 parts, which bfloat16 rounds to 1; at 0.01 the others have
    e^-424 each, which float32 rounds to 0."""
    english = "Head 1: “it” gives over 99 % of its attention to “dog”, 7.0 times an even share."
    for link in ({"temp": "0.5"}, {"temp": "0.5", "dtype": "bfloat16"}, {"temp": "0.01"}):
        assert Screen(**link).fact() == english, link
    chinese = "头 1：“它”把超过 99% 的注意力给了“狗”，是均匀分配时的 7.0 倍。"
    assert Screen(temp="0.5", lang="zh", ex="zh_ta").fact() == chinese
    assert "gives 100 % of its attention to “dog”" in Screen(temp="0.01", dtype="float32").fact()
    assert "of 4 numbers gets over 99 %" in Lesson("softmax", logits="9, 0, 1, 0", lang="en").fact()


def test_a_number_that_the_precision_cannot_hold_is_named_with_its_place():
    screen = Screen().edit_cells({1: {0: 300_000}}).set("dtype", "float16")
    assert screen.error_at("c_dtype") == (
        "w_q, row 2, column 1, must lie between -65504 and 65504, the largest numbers of float16: got 300000"
    )
    assert screen.setup().run.dtype == "float64"


# ---- the proof ------------------------------------------------------------------------------------------------------
def test_a_transposed_operand_is_called_so():
    link = Screen().set("pin", True).set("temperature", 2.0).link()
    titles = {*Screen(**link | {"step": "scores", "cell": "0,0,5,3"}).table("large")["text"]}
    assert {"q · head 1 · 7 × 2", "kᵀ · head 1 · 2 × 7"} <= titles
    assert "v · head 1 · 7 × 2" in {*Screen(**link | {"step": "head_outputs"}).table("large")["text"]}


def test_the_sentence_of_a_batch_stands_over_what_is_drawn_of_it():
    link = Screen(more="she smiled", sentence="1").set("pin", True).set("temperature", 2.0).link()
    titles = {*Screen(**link | {"step": "scores", "cell": "1,0,1,0"}).table("large")["text"]}
    assert any(title.startswith("q · sentence 2 of B = 2 · head 1 · ") for title in titles)


def test_the_operands_of_a_product_stand_at_its_left_and_above_it():
    steps = Screen().flow()["steps"]
    assert steps["scores"]["product"] == {
        "left": {"step": "q", "transposed": False, "family": "q"},
        "above": {"step": "k", "transposed": True, "family": "k"},
    }
    assert steps["head_outputs"]["product"]["above"] == {"step": "v", "transposed": False, "family": "v"}
    assert steps["q_projected"]["product"]["above"]["step"] == "w_q"
    assert steps["weights"]["product"] is None and steps["x"]["product"] is None


def test_a_weight_chosen_in_spite_of_the_mask_is_a_number_and_is_named():
    screen = Screen(weights="0.1.0.1=5", mask="causal")
    assert screen.blocked(1) == 20  # of 21
    assert screen.weight(0, 1, head=1) == 5
    assert "Built by hand: x, $W_{q}$, $W_{k}$, $W_{v}$, $W_{o}$. Edited: what if: weights." in screen.captions()


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_the_badge_is_a_quiet_tick_and_its_panel_says_to_which_digit(dtype):
    screen = Screen("proof", dtype=dtype, lang="en")
    labels = [block.proto.popover.label for block in screen.at.get("popover")]
    assert ":gray[:material/check: checked]" in labels
    (line,) = [text.value for text in screen.at.markdown if "compared agrees" in text.value]
    assert re.fullmatch(r"Everything that was compared agrees to within \de-1\d\.", line)


def test_the_setup_of_the_screen_is_its_link():
    screen = Screen().set("score", "cosine").set("heads", 4)
    assert setup_to_link(screen.setup()) == screen.link()
    assert screen.setup() == Setup().with_fields(score="cosine", heads=4)
    assert issubclass(AttentionError, ValueError)


def test_a_table_stands_behind_each_map():
    screen = Screen("step_drawer", "table", ex="zh_ta").open_step("weights")
    (table,) = [frame.value for frame in screen.at.get("dataframe") if "它" in frame.value.columns]
    assert table.loc["它", "狗"] == screen.weight(5, 3)
    assert table.shape == (7, 7)
    screen.set("masks", ["causal"])
    (table,) = [frame.value for frame in screen.at.get("dataframe") if "它" in frame.value.columns]
    assert table.loc["小红", "狗"] == 0
    screen.open_step("output")
    names = [frame.value for frame in screen.at.get("dataframe") if "它" in frame.value.index]
    assert [name for name in names if name.shape == (7, 4)]
