"""The lesson on heads: the same matrices as two heads and as one, and what heads bring, share, cost and explain."""

import json
import math

import pytest
import torch

from attention_core.learned.training.head_counts import OVERFITTING, STABILITY
from attention_core.record.number_text import format_percent
from pages.runs.cache import trace_for
from pages.setup.setup import make_setup
from pages.site.words import LANGUAGES
from tests.golden import loader
from tests.screen.lesson import Lesson

STORIES = {name: story["expected"] for name, story in loader.stories().items()}
DOG = 4  # the last of five words
MEASURED = loader.read(loader.STORIES)["measured"]["multi-query (kv_heads=1)"]


def row_by_hand(width):
    """What "dog" (place 2) gives each place p from -2 to 2 in head 1: its query (8, -4) with the keys (p, p²), over the
    root of the width."""
    scores = [(8 * p - 4 * p * p) / math.sqrt(width) for p in range(-2, 3)]
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def story(name):
    """The colours of the words after attention, as the story's file has them."""
    return loader.tensor(STORIES[name]["output"])[..., 0].flatten().tolist()


# ---- the hero --------------------------------------------------------------------------------------------------------
def test_the_dog_is_white_after_two_heads_and_nearly_grey_after_one():
    lesson = Lesson("heads", heads="one")
    colours = [lesson.number("hero", f"output [{word}, colour]", row=row) for row in (1, 2) for word in ("cat", "dog")]
    expected = [story(name)[word] for name in ("zh_colour", "zh_colour_one_head") for word in (1, DOG)]
    assert colours == pytest.approx(expected, abs=1e-10)
    assert [round(colour, 2) for colour in colours] == [0.91, -0.83, 0.82, -0.29]
    assert "“dog” becomes −0.29, not −0.83" in lesson.fact()
    shares = row_by_hand(3)
    assert colours[1] == pytest.approx(shares[0] - shares[3], abs=1e-12)  # black is 1, white -1, all others 0


# ---- the painted words -----------------------------------------------------------------------------------------------
def painted(lesson):
    (part,) = lesson.parts("heads_painted")
    return json.loads(part.proto.json)


def test_head_1_carries_the_colours_and_head_2_none():
    told = painted(Lesson("heads"))
    assert told["words"] == ["black", "cat", "chased", "white", "dog"]
    assert told["own"] == [1, 0, 0, -1, 0]
    first, second = told["heads"]
    assert first["carried"] == pytest.approx([1, 0, 0, -1, 0])
    assert second["carried"] == pytest.approx([0] * 5)
    assert first["weights"][DOG] == pytest.approx(row_by_hand(3), abs=1e-12)
    assert told["query"] == DOG and told["out"]["two"] == pytest.approx(story("zh_colour"), abs=1e-10)


def test_what_comes_out_of_one_head_is_not_sent_before_somebody_guesses():
    lesson = Lesson("heads")
    assert [*painted(lesson)["out"]] == ["two"]
    lesson.choose("guess", "stronger")
    assert painted(lesson)["out"]["one"] == pytest.approx(story("zh_colour_one_head"), abs=1e-10)
    assert len(painted(lesson)["heads"]) == 2
    shown = painted(lesson.choose("heads", "one head"))
    assert (shown["shown"], len(shown["heads"])) == ("one", 1)


# ---- as one head -----------------------------------------------------------------------------------------------------
def test_one_head_of_double_width_is_divided_by_the_root_of_twice_d_k():
    two, one = (trace_for(make_setup(example="en_colour", heads=heads)) for heads in (2, 1))
    assert one.sizes()["d_k"] == 2 * two.sizes()["d_k"]
    summed = two["scores"].sum(1, keepdim=True)  # the scores of both heads
    assert torch.allclose(one["scores"], summed, atol=1e-12)
    assert torch.allclose(one["scaled_scores"], summed / math.sqrt(2 * two.sizes()["d_k"]), atol=1e-12)


def test_the_answer_is_hidden_until_somebody_guesses_compares_or_reveals():
    lesson = Lesson("heads")
    assert [*lesson.table("hero")["text"]].count("?") == 5
    assert "The colour of “dog” becomes −0.83" in lesson.fact()
    assert lesson.choose("guess", "stronger").says("Not as predicted")
    assert [*lesson.table("hero")["text"]].count("?") == 0
    assert lesson.choose("guess", "fainter").says("As predicted")
    assert lesson.link() == {"ex": "en_colour", "guess": "0"}
    assert Lesson("heads", **lesson.link()).says("As predicted")


def test_another_word_that_asks_another_sentence_and_the_maps_with_them():
    lesson = Lesson("heads").set("token", 1)
    assert "“cat” gives 91 % of its attention to “black”" in lesson.fact()
    lesson.set("text", "white bird feared black horse").set("token", 1)
    assert lesson.number("hero", "output [bird, colour]", row=1) == pytest.approx(-story("zh_colour")[1], abs=1e-12)
    assert "“bird” gives 91 % of its attention to “white”" in lesson.fact()
    assert lesson.weight("bird", "white") == pytest.approx(0.90957, abs=1e-5)
    again = Lesson("heads", **lesson.link())
    assert again.fact() == lesson.fact()


def test_as_one_head_the_picture_has_one():
    assert Lesson("heads").flow()[0]["heads"] == 2
    lesson = Lesson("heads", heads="one")
    assert lesson.flow()[0]["heads"] == 1
    expected = loader.tensor(STORIES["zh_colour_one_head"]["weights"]).view(5, 5)
    assert lesson.weight("dog", "chased") == pytest.approx(expected[DOG, 2].item(), abs=1e-10)


@pytest.mark.parametrize("text", ["glorp", "dog", "dog dog dog", "黑 猫", "white white"])
def test_any_sentence_has_an_answer(text):
    lesson = Lesson("heads", text=text, heads="one", open="bring,share,explain", lang="en")
    assert lesson.errors() == []
    assert "becomes" in lesson.fact()
    two, one = (
        lesson.number("hero", f"output [{name}, colour]", row=row) for row in (1, 2) for name in [asked(lesson)]
    )
    assert ("as with two" in lesson.fact()) == (f"{one:.2f}" == f"{two:.2f}")


def asked(lesson):
    """The word that asks, as cells say it."""
    widget = lesson.widgets()["token"]
    return widget.options[widget.value]


def test_the_workbench_gets_the_head_count_that_is_shown():
    opened = Lesson("heads", heads="one").press("door_workbench").at.session_state["setup"]
    assert opened == make_setup(example="en_colour", heads=1, head=0, token=DOG)


# ---- what each head brings -------------------------------------------------------------------------------------------
def test_the_output_is_a_sum_over_heads_and_any_one_can_be_left_out():
    lesson = Lesson("heads", open="bring")
    first, second = (lesson.number("ledger", f"contributions [head {head}, dog, colour]") for head in (1, 2))
    assert (first, second) == (pytest.approx(story("zh_colour")[DOG], abs=1e-12), 0)
    without = [lesson.number("ledger", "without_head [dog, action]", row=row) for row in (3, 4)]
    expected = loader.tensor(STORIES["zh_colour"]["output"]).view(5, 6)[DOG, 2].item()
    assert without == pytest.approx([expected, 0], abs=1e-10)
    assert lesson.says("without head 1 it moves by up to 0.83, without head 2 it moves by up to 0.89")
    assert lesson.set("token", 2).says("The output of “chased” is the sum")


def test_a_part_opens_to_its_products_with_w_o():
    lesson = Lesson("heads", open="bring").click_cell("ledger", "all:contributions", "0,0,4,0")
    assert lesson.says("**contributions [head 1, dog, colour]** = −0.83")
    lesson.follow("ledger", "head_outputs", [0, 0, 4, 0])
    assert lesson.says("**head_outputs [head 1, dog, 1]**")


def test_how_alike_heads_are():
    lesson = Lesson("heads", open="bring", brings="alike")
    weights = loader.tensor(STORIES["zh_colour"]["weights"]).view(2, 5, 5)
    expected = torch.minimum(*weights).sum(-1).mean().item()
    assert lesson.number("alike", "likeness [head 1, 2]") == pytest.approx(expected, abs=1e-10)
    assert lesson.says(f"{100 * expected:.0f} % of their attention goes to the same words")
    lesson.choose("which", "five built by hand")
    assert lesson.says("The heads most alike are head 3 and head 5")  # first token, and the sink that rests there
    assert lesson.number("alike", "likeness [head 3, 3]") == 1


# ---- cut and put together --------------------------------------------------------------------------------------------
def test_every_line_of_a_layer_of_any_sizes_says_its_shape():
    lesson = Lesson("heads", open="split")
    (shown,) = [code.value for code in lesson.at.code if "def multi_head" in code.value]
    assert "q.transpose(1, 2): (1, 8, 10, 64), strides (5120, 64, 512, 1), not contiguous" in shown
    assert "z.contiguous(): (1, 10, 8, 64), strides (5120, 512, 64, 1)" in shown
    lesson.set("width", 64).set("h", 4).choose("d_k", "3").choose("d_v", "5")
    assert lesson.says("D = 64, h = 4: dₖ = 3, dᵥ = 5. The heads side by side are 4 · 5 = 20 wide")
    (shown,) = [code.value for code in lesson.at.code if "def multi_head" in code.value]
    assert "q.transpose(1, 2): (1, 4, 10, 3), strides (120, 3, 12, 1), not contiguous" in shown
    assert "z.view(B, T, -1): (1, 10, 20), strides (200, 20, 1)" in shown


def test_two_sequences_stand_in_the_listing_of_a_layer():
    lesson = Lesson("heads", open="split").choose("batch", "B = 2")
    (shown,) = [code.value for code in lesson.at.code if "def multi_head" in code.value]
    assert "torch.softmax(scores, dim=-1): (2, 8, 10, 10)" in shown
    assert "z @ w_o: (2, 10, 512)" in shown


@pytest.mark.parametrize("lang", LANGUAGES)
def test_merging_by_a_view_alone_shows_the_refusal_of_torch(lang):
    lesson = Lesson("heads", open="split", cut="merge", lang=lang)
    assert "transpose(1, 2)" in lesson.errors()[0]
    assert any("RuntimeError: view size is not compatible" in code.value for code in lesson.at.code)


def test_without_the_transpose_the_wrong_rows_stand_beside_the_right_ones():
    """By hand: 231 is head 2, token 3, column 1."""
    lesson = Lesson("heads", open="split", cut="merge", merge="untransposed")
    shown = [code.value for code in lesson.at.code]
    assert "111 112 121 122\n131 132 211 212\n221 222 231 232" in shown
    assert "111 112 211 212\n121 122 221 222\n131 132 231 232" in shown
    assert lesson.errors() == []


def test_heads_that_do_not_divide_the_width_are_rounded():
    lesson = Lesson("heads", open="split", lang="en").set("h", 3)
    assert lesson.errors() == []
    assert lesson.says("D = 512, h = 3: dₖ = 170, dᵥ = 170. The heads side by side are 3 · 170 = 510 wide")


@pytest.mark.parametrize("width, says", [(12, "12 heads"), (18, "9 heads"), (20, "10 heads"), (16, "8 heads")])
def test_an_eighth_of_the_width_changes_the_number_of_heads(width, says):
    lesson = Lesson("heads", open="split", cut="eighth").set("eighth", width)
    assert lesson.says(says)
    assert lesson.errors() == []


def test_two_heads_read_two_parts_of_the_same_vector():
    lesson = Lesson("heads", open="split", cut="sight")
    read = lesson.table("sight").query("what.str.contains('dog')")["value"].str.replace("−", "-").astype(float)
    x, first, second = (read.to_numpy()[6 * row : 6 * row + 6] for row in range(3))
    assert x == pytest.approx([0, 1, 0, 1, 2, 4])  # a dog that is no colour, at place 2
    assert first == pytest.approx([0, 0, 0, 1, 2, 4], abs=1e-12)  # 1, place and place²
    assert second == pytest.approx([0, 1, 0, 0, 2, 0], abs=1e-12)  # animal, action and place
    assert lesson.says("head 1: 3 of 6 directions are read.") and lesson.says("head 2: 3 of 6 directions are read.")
    black = Lesson("heads", open="split", cut="sight", looked="0")
    assert black.number("sight", "x [black, colour]") == 1  # which neither head asks with: head 1 delivers it
    unread = [black.number("sight", f"seen_{head} [black, colour]") for head in (1, 2)]
    assert unread == pytest.approx([0, 0], abs=1e-12)
    assert trace_for(make_setup(example="en_colour"))["w_v"][0].tolist() == [1, 0, 0, 0, 0, 0]


def test_an_eighth_that_does_not_divide_is_refused_by_torch():
    lesson = Lesson("heads", open="split", cut="eighth").set("eighth", 25)
    assert "so torch refuses" in lesson.errors()[0]
    assert any("RuntimeError" in code.value for code in lesson.at.code)


ZERO = {"en": "4 // 8 = 0: each head would have width 0", "zh": "4 // 8 = 0：每个头的维度会是 0"}
REST = {"en": "25 // 8 = 3 does not divide 25", "zh": "25 // 8 = 3，这个数不能整除 25"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_an_eighth_of_less_than_8_is_none(lang):
    assert 4 // 8 == 0 and 25 // 8 == 3 and 25 % 3
    lesson = Lesson("heads", open="split", cut="eighth", lang=lang)
    assert ZERO[lang] in lesson.set("eighth", 4).errors()[0]
    assert REST[lang] in lesson.set("eighth", 25).errors()[0]


# ---- shared keys and values, cost ------------------------------------------------------------------------------------
def test_one_key_head_costs_the_colour_sentence_its_who_and_the_other_nothing():
    lesson = Lesson("heads", open="share")
    assert lesson.says(f"This changes the output by at most **{MEASURED['zh_colour max output change']:.2f}**")
    assert lesson.says("Keys kept: 15 numbers instead of 30")
    assert lesson.number("shared", "weights [head 2, dog, chased]", row=0) == pytest.approx(0.8887, abs=1e-4)
    assert lesson.number("shared", "weights [head 2, dog, chased]", row=1) == pytest.approx(0.0, abs=1e-4)
    assert lesson.choose("of", "Anna fed the dog").says("This changes the output by at most **0**")
    assert MEASURED["en_it max output change"] == 0
    lesson.choose("of", "eight random heads")
    assert lesson.says("Keys kept: 640 numbers instead of 5,120")
    lesson.set("kv", 1)  # four key/value heads: a pair of query heads shares one
    assert lesson.says("those of key/value head 4")
    assert lesson.says("Keys kept: 2,560 numbers")


def test_cost_does_not_depend_on_heads_but_stored_weights_do():
    expected = next(loader.read(path) for path in loader.golden_files() if path.stem.startswith("s41"))["expected"]
    lesson = Lesson("heads", open="share", sharing="cost")
    (table,) = [text for text in lesson.texts() if "| heads |" in text]
    rows = [[int(cell.replace(",", "")) for cell in line.strip("| ").split(" | ")] for line in table.splitlines()[2:]]
    for heads, parameters, scores, weights in rows[:4]:
        assert parameters == expected["parameters_no_bias"]["64"][str(heads)]
        assert scores == expected["score_madds"]["64"][str(heads)]
        assert weights == expected["weights_entries"][str(heads)]
    assert lesson.says("for the whole layer (176,640)")  # 4 T D² + 2 T² D, for any h
    (table,) = [text for text in lesson.set("D", 512).texts() if "| heads |" in text]
    assert "1,048,576" in table


# ---- what a weight explains ------------------------------------------------------------------------------------------
def test_even_weights_turn_every_word_grey_and_the_workbench_shows_them():
    lesson = Lesson("heads", open="explain")
    assert lesson.number("even", "output [dog, colour]", row=1) == 0
    assert {"colours with the run's own weights", "colours with even weights"} <= {*lesson.table("even")["text"]}
    output = loader.tensor(STORIES["zh_colour"]["output"]).view(5, 6)
    v = loader.tensor(STORIES["zh_colour"]["v"]).view(2, 5, 3).mean(1)  # what even weights take of each head's values
    even = torch.tensor([v[0, 0], v[1, 0], v[1, 1], 0, 0, 0]).expand(5, 6)
    change = ((even - output).norm() / output.norm()).item()
    assert lesson.says(f"the output moves by **{100 * change:.0f} %** of its length")
    setup = lesson.press("door_even").at.session_state["setup"]
    assert setup.run.wiring == ("even",)


def test_the_word_with_the_largest_weight_is_not_what_the_colour_hangs_on():
    lesson = Lesson("heads", open="explain", doubt="gradient")
    assert lesson.says(
        "The largest weight of head 2 is that of “chased” (0.89), but the colour of “dog” depends most on"
    )
    assert lesson.number("gradient", "gradient_x_input [chased]") == pytest.approx(0, abs=1e-9)
    lesson.set("beside", 0)
    assert lesson.says(
        "The largest weight of head 1 is that of “white” (0.83), and the colour of “dog” depends most on “white”, too"
    )
    assert lesson.set("number", 2).says("the action of “dog” depends most on “**chased**” (1.23)")


def test_dropped_weights_no_longer_sum_to_1():
    lesson = Lesson("heads", open="explain", doubt="dropout", p="0.5")
    dropped = [lesson.number("dropout", f"dropped_weights [head 1, dog, {word}]") for word in ("white", "dog")]
    weights = [lesson.number("dropout", f"weights [head 1, dog, {word}]") for word in ("white", "dog")]
    assert all(kept in (0, pytest.approx(2 * weight)) for kept, weight in zip(dropped, weights, strict=True))
    total = lesson.number("dropout", "row_sums [head 1, dog]")
    assert total != pytest.approx(1, abs=0.05)
    assert lesson.says("and to 1 only on average")
    lesson.choose("seed", "9")
    assert lesson.number("dropout", "row_sums [head 1, dog]") != total
    assert lesson.choose("p", "0").number("dropout", "row_sums [head 1, dog]") == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_whether_heads_make_training_stable_is_told_as_measured(lang):
    failed = {key: sum(right < 0.9 for right in row.right) for key, row in STABILITY.rows.items()}
    lesson = Lesson("heads", open="share", sharing="stable", lang=lang)
    (told,) = [text for text in lesson.texts() if "0.3" in text and "8" in text and not text.startswith("|")]
    assert f"{failed[1, 0.3]}" in told and f"{failed[8, 0.3]}" in told
    (table,) = [text for text in lesson.texts() if text.startswith("|") and "0.003" in text]
    assert table.count("\n") == 5


@pytest.mark.parametrize("lang", LANGUAGES)
def test_whether_heads_keep_from_overfitting_is_told_as_measured(lang):
    lesson = Lesson("heads", open="share", sharing="stable", lang=lang)
    for row in OVERFITTING.rows.values():
        seen, unseen = (format_percent(sum(of) / len(of)) for of in (row.seen, row.unseen))
        assert lesson.says(f"{seen} / {unseen}")
        if row.heads in (1, 8):
            assert lesson.says(f"{unseen} %" if lang == "en" else f"{unseen}%")
    assert lesson.says({"en": "there is no sign here that more heads do", "zh": "头多是否有用，这里看不出来"}[lang])
