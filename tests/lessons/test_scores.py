"""The lesson on scores: one row under five scores, each number worked out by hand, and the four further sights."""

import json
import math

import pytest

from attention_core.inputs.matrix_link import read_matrix
from pages.setup.setup import make_setup
from tests.screen.lesson import Lesson

# q of "it" is (-3, 3), k of "dog" (-1, 1), k of "Anna" (1, -1), all others 0.
E424, E6 = math.exp(6 / math.sqrt(2)), math.exp(6)
COSINE = math.e / (math.e + 5 + 1 / math.e)
SCALED = E424 / (E424 + 5 + 1 / E424)
DOT = E6 / (E6 + 5 + 1 / E6)


def additive(q, k):
    """The score of the layer that is built by hand: 4 tanh(2 (q + k)), summed, q with its bias of -3."""
    return 4 * sum(math.tanh(2 * (one - 3 + other)) for one, other in zip(q, k, strict=True))


def matched(lesson):
    """What the arrows and their dials were told."""
    (part,) = lesson.parts("scores_match")
    return json.loads(part.proto.json, parse_constant=pytest.fail)


def share(scores, at=0):
    return math.exp(scores[at]) / sum(map(math.exp, scores))


IT = [additive((-3, 3), key) for key in ((-1, 1), (1, -1), *[(0, 0)] * 5)]
ADDITIVE = share(IT)


def test_the_row_of_it_under_five_scores():
    lesson = Lesson("scores", guess="2")
    found = [lesson.number("hero", "weights [head 1, it, dog]", row=row) for row in range(5)]
    crossed = 1 / (E6 * (E6 + 5 + 1 / E6))  # W_a exchanges both numbers: of "dog" comes what was of "Anna"
    assert found == pytest.approx([COSINE, SCALED, DOT, crossed, ADDITIVE], abs=1e-12)
    assert [round(share, 2) for share in found] == [0.34, 0.93, 0.99, 0.00, 0.90]
    assert lesson.number("hero", "weights [head 1, it, Anna]", row=3) == pytest.approx(DOT, abs=1e-12)
    assert lesson.number("hero", "weights [head 1, it, Anna]", row=4) == pytest.approx(share(IT, 1), abs=1e-12)
    assert lesson.fact().startswith("Score: scaled dot. Head 1: “it” gives 93 % of its attention to “dog”")


@pytest.mark.parametrize("score", ["cosine", "scaled dot", "dot", "general", "additive"])
def test_before_a_guess_only_the_chosen_score_is_seen(score):
    lesson = Lesson("scores").choose("score", score)
    table = lesson.table("hero")
    assert [*table["text"]].count("?") == 4 * 7
    (step,) = set(table[table["kind"] == "cell"]["step"])
    assert step == f"{score.replace(' ', '_')}:weights"
    assert lesson.fact().startswith(f"Score: {score}. Head 1: “it” gives")


def test_the_guess_is_kept_and_two_scores_may_be_as_sure():
    lesson = Lesson("scores").choose("guess", "cosine")
    assert lesson.says("Not as predicted")
    assert lesson.link() == {"ex": "en_it", "guess": "0"}
    assert "?" not in [*lesson.table("hero")["text"]]
    for as_sure in ("dot", "general"):
        assert lesson.choose("guess", as_sure).says(":material/check: As predicted")
    again = Lesson("scores", **lesson.link())
    assert again.texts() == lesson.texts()


def test_each_score_says_what_it_makes_of_the_pair():
    said = {
        "cosine": "is 1.00. It never leaves [−1, 1], so none of the 7 words can get more than 0.55.",
        "scaled dot": "q · k of “it” and “dog” is 6.00; divided by √2 it is 4.24.",
        "dot": "q · k of “it” and “dog” is 6.00, with no limit",
        "general": "q Wₐ kᵀ of “it” and “Anna” is 6.00: a model learns Wₐ; here Wₐ is chosen so that",
        "additive": "The score of “it” and “dog” is −0.14; every other word has at most −4.00. Only differences count",
    }
    for score, text in said.items():
        assert Lesson("scores").choose("score", score).says(text)
    assert round(IT[0], 2) == -0.14


def test_the_layer_is_built_for_she_as_for_it_and_leaves_words_that_ask_nothing_even():
    lesson = Lesson("scores", score="additive").set("text", "Tom read and he laughed")
    tom = share([additive((3, -3), key) for key in ((1, -1), *[(0, 0)] * 4)])
    assert lesson.number("hero", "weights [head 1, he, Tom]", row=4) == pytest.approx(tom, abs=1e-12)
    assert f"“he” gives {100 * tom:.0f} % of its attention to “Tom”" in lesson.fact()
    assert "almost evenly" in lesson.set("token", 2).fact()


def test_another_word_asks_in_the_head_that_is_built_for_it():
    lesson = Lesson("scores", guess="0").set("token", 6)
    assert "Head 2: “barked” gives 93 % of its attention to “dog”" in lesson.fact()
    assert lesson.number("hero", "weights [head 2, barked, dog]", row=4) == pytest.approx(ADDITIVE, abs=1e-12)


# ---- two arrows ------------------------------------------------------------------------------------------------------
def scores_by_hand(q, k):
    product = q[0] * k[0] + q[1] * k[1]
    sums = [one + other for one, other in zip(q, k, strict=True)]
    return {
        "cosine": product / (math.hypot(*q) * math.hypot(*k)),
        "scaled_dot": product / math.sqrt(2),
        "dot": product,
        "general": q[1] * k[0] + q[0] * k[1],  # W_a exchanges the two numbers
        "additive": 4 * math.tanh(sums[0]) + 4 * math.tanh(sums[1]),
    }


def test_two_arrows_under_five_scores():
    lesson = Lesson("scores")
    assert matched(lesson)["scores"] == pytest.approx(scores_by_hand((2, 0.5), (1, 1.5)), abs=1e-12)
    assert [*lesson.goals().values()] == [False]
    lesson.send_part("scores_match", "moved", [[2, 0.5], [-1.1, 1]])
    assert matched(lesson)["scores"] == pytest.approx(scores_by_hand((2, 0.5), (-1.1, 1)), abs=1e-12)
    assert [*lesson.goals().values()] == [True]  # −1.7 by the dot product, 1.45 with W_a
    assert lesson.link()["k"] == "-1.1,1.0"
    assert matched(Lesson("scores", **lesson.link())) == matched(lesson)
    assert set(lesson.send_part("scores_match", "moved", [[0, 0], [0, 0]]).goals().values()) == {False}
    assert matched(lesson)["scores"] == dict.fromkeys(matched(lesson)["scores"], 0)


def test_what_no_hand_can_drag_is_not_taken():
    lesson = Lesson("scores")
    before = matched(lesson)
    for sent in (
        None,
        3,
        [[1, 2]],
        [[4, 0], [0, 0]],
        [["x", 0], [0, 0]],
        [[1, 2, 3], [0, 0]],
        [[float("nan"), 0], [0, 0]],
    ):
        assert matched(lesson.send_part("scores_match", "moved", sent)) == before
    assert matched(lesson.send_part("scores_match", "chosen", "nothing")) == before
    assert matched(lesson.send_part("scores_match", "chosen", ["dot"])) == before
    assert matched(lesson.send_part("scores_match", "chosen", "dot"))["chosen"] == "dot"
    assert "Score: dot." in lesson.fact()
    assert matched(Lesson("scores", k="9,9"))["k"] == before["k"]


# ---- inside the additive score ---------------------------------------------------------------------------------------
def test_the_hidden_layer_of_the_asking_word():
    lesson = Lesson("scores", open="inside")
    wanted = {"Anna": (-10, -2), "fed": (-12, 0), "dog": (-14, 2)}
    for word, sums in wanted.items():
        for unit, total in zip(("person", "animal"), sums, strict=True):
            cell = f"hidden [head 1, it, {word}, {unit}]"
            assert lesson.number("hidden", cell) == pytest.approx(math.tanh(total), abs=1e-12)
    assert lesson.number("bounded", "scores [head 1, it, dog]", row=0) == pytest.approx(IT[0], abs=1e-12)
    assert lesson.says("in this row is **7.86**; the limit is Σ|v| = 8.00.")
    assert lesson.says("The dot product of the same queries and keys reaches 6.00.")


def test_the_bound_is_reached_and_not_passed_while_the_dot_product_grows():
    lesson = Lesson("scores", open="inside")
    grown = ((1, "7.86", "6.00"), (2, "8.00", "24.00"), (10, "8.00", "600.00"), (100, "8.00", "60000.00"))
    for factor, largest, dot in grown:
        assert lesson.set("grow", factor).says(f"**{largest}**; the limit is Σ|v| = 8.00.")
        assert lesson.says(f"reaches {dot}.")
    assert lesson.number("bounded", "scores [head 1, it, Anna]", row=0) == -8  # tanh is -1 to the last digit there
    assert lesson.number("bounded", "scores [head 1, it, dog]", row=0) == 0
    typed = lesson.set("text", "Tom read and he laughed")
    assert typed.number("bounded", "scores [head 1, he, Tom]", row=0) == 0


def test_a_hidden_cell_opens_to_its_arithmetic():
    lesson = Lesson("scores", open="inside").click_cell("hidden", "hidden", "0,0,5,3,1")
    assert lesson.says("**hidden [head 1, it, dog, animal]** = 0.964")
    assert lesson.link()["cell"] == "hidden,,hidden,0,0,5,3,1"


# ---- other widths, and W_a -------------------------------------------------------------------------------------------
def warnings(lesson):
    return [warning.value for warning in lesson.at.warning]


def test_dot_forms_refuse_unequal_widths_and_general_and_additive_take_them():
    lesson = Lesson("scores", open="widths")
    assert warnings(lesson) == ["cosine, scaled dot, dot: k must have the width of q: q is \\(7, 4\\), k is \\(7, 3\\)"]
    assert lesson.number("widths", "weights [head 1, it, dog]", row=0) == pytest.approx(DOT, abs=1e-12)
    assert lesson.number("widths", "weights [head 1, it, dog]", row=1) == pytest.approx(ADDITIVE, abs=1e-12)
    lesson.set("d_q", 3)
    assert warnings(lesson) == []
    found = [lesson.number("widths", "weights [head 1, it, dog]", row=row) for row in range(5)]
    root3 = math.exp(6 / math.sqrt(3))  # one head of three numbers: q k is 6 still
    assert found[1] == pytest.approx(root3 / (root3 + 5 + 1 / root3), abs=1e-12)
    assert found[2:] == pytest.approx([DOT, DOT, ADDITIVE], abs=1e-12)


@pytest.mark.parametrize("d_q, d_k", [(1, 2), (1, 4), (4, 1), (4, 3)])
def test_general_and_additive_work_at_any_widths(d_q, d_k):
    lesson = Lesson("scores", open="widths", d_q=str(d_q), d_k=str(d_k))
    assert f"q is \\(7, {d_q}\\), k is \\(7, {d_k}\\)" in warnings(lesson)[0]
    q, k = (-3.0, 3.0, 0.0, 0.0)[:d_q], (-1.0, 1.0, -1.0, 1.0)[:d_k]
    score = sum(one * other for one, other in zip(q, k, strict=False))  # W_a is the identity
    rows = [score, -score, *[0.0] * 5]  # dog, Anna, the others
    assert lesson.number("widths", "weights [head 1, it, dog]", row=0) == pytest.approx(share(rows), abs=1e-12)


def test_another_w_a_turns_the_question_round():
    lesson = Lesson("scores", open="widths", d_q="2", d_k="2")
    assert lesson.says("Score: general. Head 1: “it” gives 99 % of its attention to “dog”")
    lesson.choose("w_a", "crossed")
    assert lesson.says("Score: general. Head 1: “it” gives 99 % of its attention to “Anna”")
    assert lesson.number("widths", "weights [head 1, it, Anna]", row=3) == pytest.approx(DOT, abs=1e-12)
    lesson.choose("w_a", "your own").set("own", "1 0; 0 0")
    assert lesson.number("widths", "weights [head 1, it, dog]", row=3) == pytest.approx(
        math.exp(3) / (math.exp(3) + 5 + math.exp(-3)), abs=1e-12
    )
    assert Lesson("scores", **lesson.link()).texts() == lesson.texts()


def test_a_w_a_that_does_not_fit_or_cannot_be_read_is_named():
    lesson = Lesson("scores", open="widths", d_q="2", d_k="2").choose("w_a", "your own").set("own", "1 2 3; 4 5 6")
    assert any("general: w\\_a must be" in text for text in warnings(lesson))
    assert lesson.number("widths", "weights [head 1, it, dog]", row=3) == pytest.approx(
        ADDITIVE, abs=1e-12
    )  # general left out
    lesson.set("own", "1 dog; 0 1")
    assert lesson.errors() == ["w_a, row 1, column 2, must be a number: got “dog”"]
    assert lesson.widgets()["own"].value == "1 dog; 0 1"
    assert lesson.set("own", "1 0; 0 1").errors() == [] and warnings(lesson) == []


# ---- the cosine's ceiling --------------------------------------------------------------------------------------------
def ceilings(lesson):
    """The points that are drawn, by curve and number of keys."""
    table = lesson.table("ceiling")
    points = table[table["kind"] == "point"]
    return {(row.name_, row.x): row.y for row in points.rename(columns={"name": "name_"}).itertuples()}


def test_the_ceiling_of_the_cosine_against_the_number_of_keys():
    lesson = Lesson("scores", open="ceiling")
    assert lesson.says(
        "At temperature 1 the cosine gives “dog” **0.34**; with S = 7 keys it could give at most **0.55**"
    )
    drawn = ceilings(lesson)
    for keys in (2, 7, 16, 512):
        assert drawn["at most, τ = 1", keys] == pytest.approx(math.e**2 / (math.e**2 + keys - 1), abs=1e-12)
    assert drawn["it", 7] == pytest.approx(COSINE, abs=1e-12)
    lesson.set("text", "Tom read and he laughed")
    assert lesson.says("with S = 5 keys it could give at most **0.65**")
    assert ("he", 5) in ceilings(lesson)


def test_a_temperature_lifts_the_ceiling():
    lesson = Lesson("scores", open="ceiling").set("temperature", 0.5)
    assert lesson.says(
        "At temperature 0.5 the cosine gives “dog” **0.59**; with S = 7 keys it could give at most **0.90**"
    )
    e2, e4 = math.exp(2), math.exp(4)
    assert lesson.number("cool", "weights [head 1, it, dog]", row=0) == pytest.approx(e2 / (e2 + 5 + 1 / e2), abs=1e-12)
    drawn = ceilings(lesson)
    assert drawn["at most, τ = 0.5", 7] == pytest.approx(e4 / (e4 + 6), abs=1e-12)
    assert drawn["at most, τ = 1", 7] == pytest.approx(e2 / (e2 + 6), abs=1e-12)


# ---- what each costs -------------------------------------------------------------------------------------------------
def costs(lesson):
    """The numbers of the table, by score."""
    (table,) = lesson.at.table
    return {score: [int(number.replace(",", "")) for number in numbers] for score, *numbers in table.value.values}


def test_what_each_score_costs():
    lesson = Lesson("scores", open="cost")
    pairs, matrix = 64 * 64 * 64, 64 * 64 * 64  # T S d, and T d d for one more matrix: 64 words of width 64
    dot = 2 * 7 * 7 * 2  # heads, words, words, width: counted while this sentence ran
    assert costs(lesson) == {
        "cosine": [dot, pairs, 0, 0],
        "scaled dot": [dot, pairs, 0, 0],
        "dot": [dot, pairs, 0, 0],
        "general": [dot + 2 * 7 * 2 * 2, pairs + matrix, 0, 64 * 64],
        "additive": [dot + 2 * 2 * 7 * 2 * 2, pairs + 2 * matrix, pairs, 2 * 64 * 64 + 64],
    }
    lesson.set("tokens", 16).set("width", 8).set("text", "Tom read and he laughed")
    assert costs(lesson)["additive"] == [2 * 5 * 5 * 2 + 80, 16 * 16 * 8 + 2 * 16 * 8 * 8, 16 * 16 * 8, 136]


# ---- the workbench ---------------------------------------------------------------------------------------------------
def test_the_workbench_gets_exactly_what_the_lesson_shows():
    lesson = Lesson("scores", score="additive")
    shown = lesson.fact().removeprefix("Score: additive. ")
    setup = lesson.press("door_workbench").at.session_state["setup"]
    layer = {"w_aq": "2,0;0,2", "w_ak": "2,0;0,2", "v_a": "4,4", "b_q": "-3,-3,-3,-3"}
    assert setup == make_setup(
        score="additive", token=5, head=0, **{key: read_matrix(text) for key, text in layer.items()}
    )
    (look,) = [part for part in lesson.at.get("bidi_component") if part.proto.id.endswith("-look")]
    assert shown in json.loads(look.proto.json)["fact"]["text"]  # the same sentence stands there


def test_the_chinese_lesson_opens_on_its_own_sentence():
    lesson = Lesson("scores", lang="zh", guess="2")
    assert lesson.number("hero", "权重 [头 1, 它, 狗]", row=0) == pytest.approx(COSINE, abs=1e-12)
    assert "“它”把 93% 的注意力给了“狗”" in lesson.fact()
