"""The lesson on softmax: shares of 1, temperature, the stable form, the slope."""

import json
import math
from decimal import Decimal

import pytest
import torch
from torch.nn.functional import cross_entropy

from attention_core.inputs.matrix_link import read_matrix
from pages.setup.setup import make_setup
from pages.site.words import LANGUAGES, load_app_texts
from tests.screen.driver import softmax
from tests.screen.lesson import Lesson

LOGITS = (2, 1, 0, -1)


def columns(lesson):
    """What the three columns are told."""
    (part,) = lesson.parts("softmax_hero")
    return json.loads(part.proto.json, parse_constant=pytest.fail)


def shares(lesson, row, picture, count=4):
    """The numbers of a row of weights."""
    cells = lesson.table(picture)
    cells = cells[(cells["panel"] == f"row{row}") & (cells["kind"] == "cell")]
    assert len(cells) == count
    return [float(value.replace("−", "-")) for value in cells["value"]]


@pytest.mark.parametrize("temperature, stated", [(0.25, [0.98, 0.02, 0, 0]), (4.0, [0.35, 0.27, 0.21, 0.17])])
def test_logits_2_1_0_minus_1_at_three_temperatures(temperature, stated):
    assert [round(share, 2) for share in columns(Lesson("softmax"))["shares"]] == [0.64, 0.24, 0.09, 0.03]
    lesson = Lesson("softmax", temperature=str(temperature))
    told = columns(lesson)
    assert [round(share, 2) for share in told["shares"]] == pytest.approx(stated, abs=0.011)
    exact = [softmax([x / temperature for x in LOGITS], at) for at in range(4)]
    assert told["shares"] == pytest.approx(exact, abs=1e-12)
    assert told["exponentials"] == pytest.approx([math.exp(x / temperature) for x in LOGITS], rel=1e-12)
    assert f"At τ = {temperature:g} the largest of 4 numbers gets {100 * exact[0]:.0f} %" in lesson.fact()


def test_what_is_to_be_built_is_reached_at_a_quarter():
    lesson = Lesson("softmax")
    ((still, reached),) = lesson.goals().items()
    assert "Now it gets 64 %" in still and not reached
    ((done, reached),) = lesson.set("temperature", 0.25).goals().items()
    assert "Built: at τ = 0.25 the largest number gets 98 %" in done and reached


def test_the_readers_own_numbers_and_what_is_none():
    lesson = Lesson("softmax").set("logits", "1 1/2 −3")
    wanted = pytest.approx([softmax([1, 0.5, -3], at) for at in range(3)], abs=1e-12)
    assert columns(lesson)["shares"] == wanted
    assert lesson.set("logits", "1, two").errors() == ["your numbers, row 1, column 2, must be a number: got “two”"]
    assert columns(lesson)["shares"] == wanted
    assert "at most 16 numbers" in lesson.set("logits", "1 " * 17).errors()[0]
    assert lesson.set("logits", "5").errors() == []
    assert columns(lesson)["shares"] == [1.0]
    assert columns(lesson.set("logits", "1, 1000"))["exponentials"] == [pytest.approx(math.e), None]  # too large


def test_numbers_that_a_hand_let_go_are_as_if_they_were_typed():
    lesson = Lesson("softmax").send_part("softmax_hero", "moved", [2, 3.2, 0, -1])
    assert lesson.link()["logits"] == lesson.widgets()["logits"].value == "2, 3.2, 0, -1"
    assert columns(lesson)["shares"] == pytest.approx([softmax([2, 3.2, 0, -1], at) for at in range(4)], abs=1e-12)
    assert "logits" not in lesson.send_part("softmax_hero", "moved", [2, 1, 0, -1]).link()


@pytest.mark.parametrize("sent", [None, "3", 3, [True, 1], ["1", 2], [[1], 2], {"0": 1}, [], [1.0] * 17])
def test_what_no_hand_can_have_moved_changes_no_number(sent):
    lesson = Lesson("softmax").send_part("softmax_hero", "moved", sent)
    assert columns(lesson)["numbers"] == [*LOGITS] and "logits" not in lesson.link()


def test_a_share_and_an_exponential_open_their_arithmetic():
    lesson = Lesson("softmax", lang="en")
    for step, number in (("weights", softmax(LOGITS, 1)), ("exponentials", math.e)):
        lesson.send_part("softmax_hero", "clicked", {"step": f"now:{step}", "index": [0, 0, 0, 1]})
        (told,) = [text for text in lesson.texts() if text.startswith(f"**{step} [")]
        assert float(told.rpartition("= ")[2]) == pytest.approx(number, abs=1e-12)
        assert columns(lesson)["opened"] == {"step": step, "place": 1}


def test_the_naive_form_overflows_and_the_stable_one_does_not():
    lesson = Lesson("softmax", open="stable")
    assert lesson.says("float64 cannot hold all exponentials")
    naive = lesson.table("naive_weights")
    assert [*naive[naive["what"].str.startswith("exponentials")]["value"]] == ["∞"] * 3
    assert [*naive[naive["what"].str.startswith("naive_weights")]["value"]] == ["NaN"] * 3
    stable = lesson.table("stable_weights")
    found = [float(value) for value in stable[stable["what"].str.startswith("stable_weights")]["value"]]
    assert found == pytest.approx([softmax([0, 1, 2], at) for at in range(3)], abs=1e-12)
    lesson.choose("numbers", "your numbers")
    assert lesson.says("give the same shares here")
    lesson.choose("dtype", "float16").set("logits", "12, 1")  # exp(12) is more than float16 holds
    assert lesson.says("float16 cannot hold all exponentials")


ZEROS = {"en": "{zeros} of the {count} shares", "zh": "{count} 个份额中有 {zeros} 个"}
NAN = {"en": "infinity over infinity is NaN", "zh": "无穷除以无穷得到 NaN"}
ABOVE = {"en": "In exact arithmetic every share is above 0", "zh": "数学上每个份额都大于 0"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_share_too_small_for_the_precision_is_a_zero_and_is_called_one(lang):
    """exp(-10000) has some four thousand zeros behind its point, float64 some three hundred."""
    lesson = Lesson("softmax", open="stable", numbers="tens", lang=lang)
    stable = lesson.table("stable_weights")
    name = "stable_weights" if lang == "en" else load_app_texts("zh")["step.short.stable_weights"].replace("\n", "")
    numbers = [float(value) for value in stable[stable["what"].str.startswith(name)]["value"]]
    zeros = numbers.count(0.0)
    assert (zeros, len(numbers)) == (2, 4) and math.exp(-10000) == 0.0 and math.exp(-0.78125) > 0
    assert Decimal(-10000).exp() > 0  # in more digits
    assert lesson.says(ZEROS[lang].format(zeros=zeros, count=len(numbers)))
    assert lesson.says(NAN[lang]) and lesson.says(ABOVE[lang])
    assert not lesson.choose("numbers", load_app_texts(lang)["lessons.softmax.option.numbers.thousand"]).says(
        ZEROS[lang].partition("{")[0] or "个份额中"
    )


def test_a_shift_changes_no_share():
    lesson = Lesson("softmax", open="stable", numbers="own", shift="10")
    assert lesson.says("With 10 added to every number, the shares that attention computes differ from those without it")
    (text,) = [text for text in lesson.texts() if text.startswith("With 10")]
    gap = float(text.partition("at most ")[2].partition(":")[0])
    assert gap <= 1e-15  # the numbers are whole: nothing is rounded
    lesson.choose("dtype", "float16").set("logits", "0.3, 0.1, -0.2").set("shift", 1000)
    assert lesson.says("by at most 0.06: only differences count, but float16 rounds larger numbers more coarsely")
    lesson.choose("dtype", "float64").set("logits", "2, 1, 0, -1")
    lesson.set("shift", 1000)
    assert lesson.says("With 1000 added")
    assert lesson.says("float64 cannot hold all exponentials")  # the naive form alone minds


def test_the_slope_of_a_share():
    lesson = Lesson("softmax", open="slope")
    weights = [softmax(LOGITS, at) for at in range(4)]
    assert lesson.says(f"the slope of its own share is {weights[0] * (1 - weights[0]):.3f}. A small step")
    column = shares_of_slope(lesson)
    assert column == pytest.approx([weights[0] * ((at == 0) - weights[at]) for at in range(4)], abs=1e-12)
    assert math.fsum(column) == pytest.approx(0, abs=1e-15)
    lesson.set("temperature", 10.0)
    assert lesson.says("At τ = 10 the softmax reads 2 ÷ τ.") and not lesson.says("The score 2")
    lesson.set("temperature", 1.0).set("moved", 3)
    assert shares_of_slope(lesson)[3] == pytest.approx(weights[3] * (1 - weights[3]), abs=1e-12)
    assert lesson.number("jacobian", "jacobian [head 1, q, 1, 2]") == pytest.approx(-weights[0] * weights[1], abs=1e-12)


def test_the_loss_of_the_right_one_and_its_gradient_are_torchs():
    lesson = Lesson("softmax", open="slope", moves="loss", lang="en").set("right", 1)
    logits = torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)
    loss = cross_entropy(logits, torch.tensor(1))
    loss.backward()
    assert shares(lesson, 1, "loss") == pytest.approx(logits.grad.tolist(), abs=1e-12)
    assert lesson.says(f"here **{loss.item():.3f}** nats")
    assert lesson.says(f"{logits.grad[1].item():.3f} for 1".replace("-", "−"))


def shares_of_slope(lesson):
    cells = lesson.table("column")
    return [float(value.replace("−", "-")) for value in cells[cells["kind"] == "cell"]["value"]]


def test_softmax_does_not_always_sharpen():
    lesson = Lesson("softmax", open="sharp")
    assert lesson.says("The largest share is 0.525, an even one 0.500: only 1.05 times as much.")
    assert shares(lesson, 0, "close", 2) == pytest.approx([1 / (1 + math.exp(0.1)), 1 / (1 + math.exp(-0.1))])
    assert lesson.set("close", "0 0 0 3").says("The largest share is 0.870, an even one 0.250")  # e³/(e³ + 3)


def test_the_hundred_numbers_of_lecture_notes_001():
    lesson = Lesson("softmax", open="many")
    assert lesson.says(
        "Of 100 numbers the largest, 2.2698, gets 6 %; an even share is 1 %. All shares together give 1.000000."
    )
    lesson.set("count", 5)
    assert lesson.says("Of 5 numbers the largest, 2.2409, gets 36 %; an even share is 20 %")
    assert Lesson("softmax", **lesson.link()).texts() == lesson.texts()


def test_the_workbench_gets_exactly_this_run():
    lesson = Lesson("softmax", temperature="0.25").press("door_workbench")
    numbers = read_matrix("2;1;0;-1")
    assert lesson.at.session_state["setup"] == make_setup(
        example="one_query", q=read_matrix("1"), k=numbers, v=numbers, score="dot", temperature=0.25
    )
