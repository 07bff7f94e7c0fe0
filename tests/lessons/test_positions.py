"""Positions: colours with positions and without, the dial, shuffled words, sinusoids, RoPE, ALiBi, parts of a score."""

import math

import pytest
import torch

from attention_core.inputs.matrix_link import read_matrix
from pages.setup.setup import make_setup
from tests.golden import loader
from tests.screen.lesson import Lesson

STORIES = {name: story["expected"] for name, story in loader.stories().items()}
ALIBI = loader.read(loader.STORIES)["measured"]["ALiBi on 7 tokens, last row, last weight / first weight"]
FIRST, SECOND = (
    f"The {which} pair of a query and of a key as arrows, before and after they are turned"
    for which in ("first", "second")
)
SEVEN = "black cat chased white dog saw bird"


def colours(lesson):
    return [lesson.number("hero", f"output [{word}, colour]") for word in ("black", "cat", "chased", "white", "dog")]


def story(name):
    """The colours of the words after attention, as the story's file has them."""
    return pytest.approx(loader.tensor(STORIES[name]["output"])[..., 0].flatten().tolist(), abs=1e-10)


# ---- the hero --------------------------------------------------------------------------------------------------------
def test_without_positions_both_animals_turn_grey():
    lesson = Lesson("positions")
    assert colours(lesson) == story("zh_colour_no_positions") == [0, 0, 0, 0, 0]
    assert "attends evenly" in lesson.fact() and "becomes 0.00" in lesson.fact()
    assert lesson.says("a bag of words") and not lesson.parts("positions.dial")
    assert [*lesson.threads("head_0").values()] == pytest.approx([1 / 5] * 25, abs=1e-12)
    lesson.choose("positions", "1, p, p²: built by hand")
    assert colours(lesson) == story("zh_colour")
    assert "The colour of “dog” becomes −0.83" in lesson.fact()
    assert "“cat” gives" in lesson.send_part("positions_head_0", "chosen", [0, 1]).fact()


def test_with_sines_the_order_counts():
    lesson = Lesson("positions", positions="sinusoidal")
    here = lesson.threads("head_0")
    there = lesson.set("text", "dog white chased cat black").threads("head_0")
    assert max(abs(here[pair] - there[pair]) for pair in here) > 0.001


@pytest.mark.parametrize(
    "dial, name, word", [("8", "zh_colour_head1_next", "cat"), ("0", "zh_colour_head1_self", "dog")]
)
def test_the_dial_says_how_far_head_1_looks(dial, name, word):
    lesson = Lesson("positions", dial=dial, positions="with")
    assert colours(lesson) == story(name)
    weights = loader.tensor(STORIES[name]["weights"]).view(2, 5, 5)
    at = ["black", "cat", "chased", "white", "dog"].index(word)
    looked = ["black", "cat", "chased", "white", "dog"][int(weights[0, at].argmax())]
    shown = lesson.threads("head_0")[word, looked]
    assert shown == pytest.approx(weights[0, at].max().item(), abs=1e-10)


def test_the_dial_as_it_was_built_is_the_example_itself():
    lesson = Lesson("positions", dial="8", positions="with").set("dial", -8)
    assert lesson.link() == {"ex": "en_colour", "positions": "with"}
    assert lesson.press("door_workbench").at.session_state["setup"] == make_setup(example="en_colour", head=0, token=4)
    opened = Lesson("positions", dial="16", positions="with").press("door_workbench").at.session_state["setup"]
    assert opened.run.w_q == read_matrix("~3.0=16")


@pytest.mark.parametrize(
    "lang, entry", [("en", "In the matrix: W_q[one, 0] = 16"), ("zh", "矩阵里：W_q“常数”一行的第一个数 = 16")]
)
def test_the_dial_counts_words_and_the_entry_stands_below_it(lang, entry):
    lesson = Lesson("positions", dial="16", positions="with", lang=lang)
    assert lesson.slider("dial")["texts"] == ["−2", "−1.5", "−1", "−0.5", "0", "+0.5", "+1", "+1.5", "+2"]
    assert entry in lesson.told()


def is_built(lesson):
    """Whether the goal is reached, which the lesson then says."""
    ((said, is_there),) = lesson.goals().items()
    assert ("Every word looks at the word after it" in said) == is_there
    return is_there


def test_who_builds_it_is_told_so():
    lesson = Lesson("positions", positions="with")
    ((said, is_there),) = lesson.goals().items()
    assert "move the slider" in said and "8" not in said and not is_there
    assert is_built(lesson.set("dial", 8))
    assert is_built(lesson.set("text", SEVEN))
    assert not is_built(Lesson("positions", dial="12", positions="with"))  # half way between one and two
    assert not is_built(Lesson("positions", text="dog", dial="8", positions="with"))  # there is none after it


def test_a_lecturer_is_told_the_answer():
    lesson = Lesson("positions", positions="with")
    lesson.ran(next(t for t in lesson.at.toggle if t.key == "c_reveal").set_value(True).run)
    assert any("(Answer: +1.)" in said for said in lesson.goals())


@pytest.mark.parametrize("text", ["glorp", "dog dog dog", "黑 猫", "white white"])
def test_any_sentence_has_an_answer(text):
    lesson = Lesson("positions", text=text, open="order,distance,parts", lang="en")
    assert lesson.errors() == []
    assert "becomes" in lesson.fact()


# ---- shuffled --------------------------------------------------------------------------------------------------------
def test_without_positions_every_word_takes_its_output_with_it():
    lesson = Lesson("positions", open="order")
    assert lesson.says("Every word keeps its output in the new order")
    for seed in ("3", "7"):
        lesson.choose("shuffle", seed)
        for word in ("cat", "chased"):
            one, other = (lesson.number(f"order_{when}", f"output [{word}, animal]") for when in ("before", "after"))
            assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("told", ["1, p, p²", "sinusoids", "ALiBi", "a causal mask"])
def test_what_tells_the_order_makes_the_output_another(told):
    lesson = Lesson("positions", open="order").choose("told", told)
    assert lesson.says("The order counts")


def test_how_far_a_causal_mask_moves_a_word_by_hand():
    """Shuffled, "dog" comes first and attends to itself alone: animal 1, instead of .06 of it and .89 of the action."""
    lesson = Lesson("positions", open="order", told="causal")
    assert lesson.number("order_after", "output [dog, animal]") == 1
    before = lesson.number("order_before", "output [dog, animal]")
    share = math.exp(6 / math.sqrt(3))
    assert before == pytest.approx(2 / (share + 4), abs=1e-12)  # two animals among five words
    assert lesson.says(f"“dog” has changed by up to **{1 - before:.2f}**")


def test_the_shuffled_sentence_is_what_the_workbench_gets():
    setup = Lesson("positions", open="order").press("door_order").at.session_state["setup"]
    assert sorted(setup.run.text.split()) == ["black", "cat", "chased", "dog", "white"]
    assert setup.run.text != "black cat chased white dog"


# ---- sinusoids -------------------------------------------------------------------------------------------------------
def test_the_table_of_sinusoids_is_the_golden_one():
    stated = next(loader.read(path) for path in loader.golden_files() if path.stem.startswith("s45"))["expected"]
    lesson = Lesson("positions", open="sines", count="6")
    for position, row in enumerate(stated["pe"]):
        for column, number in enumerate(row):
            shown = lesson.number("map", f"sinusoidal_x [{position + 1}, {column + 1}]")
            assert shown == pytest.approx(number, abs=1e-12)
    assert "sin, wavelength 62.8" in [*lesson.table("map")["text"]]
    lesson.choose("width", "4").choose("count", "8")
    assert lesson.number("map", "sinusoidal_x [8, 3]") == pytest.approx(math.sin(7 / 100), abs=1e-12)


def test_waves_have_the_numbers_of_the_table():
    table = Lesson("positions", open="sines", sines_as="waves").table("A sine for each pair of columns")
    points = table[table["kind"] == "point"]
    fast = points[points["name"] == "sin, wavelength 6.28"]
    assert [*fast["y"]] == pytest.approx([math.sin(p) for p in range(16)], abs=1e-12)
    assert points["name"].nunique() == 4


def test_two_positions_meet_the_same_wherever_they_stand():
    stated = next(loader.read(path) for path in loader.golden_files() if path.stem.startswith("s45"))["expected"]
    lesson = Lesson("positions", open="sines", sines_as="pairs", count="6")
    for place, product in (("1, 3", "pe0.pe2"), ("4, 6", "pe3.pe5")):
        shown = lesson.number("pairs", f"scores [head 1, {place}]")
        assert shown == pytest.approx(stated["dot_depends_on_distance"][product], abs=1e-10)


# ---- RoPE and ALiBi --------------------------------------------------------------------------------------------------
def test_rope_turns_a_pair_and_the_score_hears_of_the_distance_alone():
    """“dog” at 4 asks (0, 6), “chased” at 2 answers (0, 1): 6 cos 2 in interleaved pairs, 6 cos 0.02 in halves."""
    lesson = Lesson("positions", open="distance")
    assert round(6 * math.cos(2), 2) == -2.5
    assert lesson.says("is 6.00. RoPE turns both vectors, each by an angle that grows with its position, and then the")
    assert lesson.says("the score is **−2.50**")
    table = lesson.table(FIRST)
    q = table[table["name"] == "q: dog"].iloc[0]
    assert (q["x2"], q["y2"]) == pytest.approx((-6 * math.sin(4), 6 * math.cos(4)), abs=1e-12)
    lesson.choose("further", "7")
    assert lesson.says("the score is **−2.50**")
    table = lesson.table(FIRST)
    q = table[table["name"] == "q: dog"].iloc[0]
    assert (q["x2"], q["y2"]) == pytest.approx((-6 * math.sin(11), 6 * math.cos(11)), abs=1e-12)
    assert lesson.says("q turned by 11.00, k by 9.00")
    lesson.choose("style", "halves")
    assert lesson.says("the score is **6.00**")
    assert lesson.says("Query and key are both 0 in this pair")
    table = lesson.table(SECOND)
    assert table[table["name"] == "k: chased"].iloc[0]["x2"] == pytest.approx(math.cos(0.09), abs=1e-12)


def test_another_key_and_another_distance():
    lesson = Lesson("positions", open="distance", text="dog chased cat").send_part("positions_head_0", "chosen", [0, 2])
    assert lesson.says(f"the score is **{6 * math.cos(1):.2f}**")
    lesson.set("key", 0)
    assert lesson.says("Without positions the score of “cat” and “dog” is 0.00")


def test_what_rope_makes_of_a_distance():
    table = Lesson("positions", open="distance", by="curve").table("The score against the distance")
    points = table[table["kind"] == "point"]
    neighbours = points[points["name"] == "interleaved pairs"]
    halves = points[points["name"] == "halves"]
    assert [*neighbours["y"]] == pytest.approx([36 * math.cos(n) for n in range(33)], abs=1e-10)
    assert [*halves["y"]] == pytest.approx([36 * math.cos(n / 100) for n in range(33)], abs=1e-10)


def test_alibi_with_eight_heads_is_seen_on_seven_tokens_and_with_two_it_is_not():
    lesson = Lesson("positions", open="distance", by="alibi", alibi="weights", text=SEVEN).send_part(
        "positions_head_0", "chosen", [0, 6]
    )
    for heads, head, name in ((8, 1, "slope 1/2 (8 heads, head 1)"), (2, 1, "slope 1/16 (2 heads, head 1)")):
        lesson.choose("alibi_heads", str(heads))
        ends = [lesson.number("alibi", f"weights [head {head}, bird, {word}]") for word in ("bird", "black")]
        assert ends == pytest.approx(ALIBI[name], abs=5e-4)
    assert lesson.says(
        "from 0.171 for the word itself to 0.118 for the farthest word in head 1, and from 0.145 to 0.141 in head 2"
    )


def test_alibi_is_seen_alone_also_where_the_words_match():
    """“chased” asks for animals: without the scale of 0 they would get more than their place gives them."""
    lesson = Lesson("positions", open="distance", by="alibi", alibi="weights").send_part(
        "positions_head_0", "chosen", [0, 2]
    )
    cat, white = (lesson.number("alibi", f"weights [head 2, chased, {word}]") for word in ("cat", "white"))
    assert cat == white > 0.2  # both one place away


def test_what_alibi_adds_at_each_distance():
    lesson = Lesson("positions", open="distance", by="alibi")
    for word, distance in (("dog", 0), ("white", 1), ("chased", 2), ("black", 4)):
        assert lesson.number("alibi", f"bias [head 1, dog, {word}]") == -distance / 2
        assert lesson.number("alibi", f"bias [head 8, dog, {word}]") == -distance / 256
    lesson.send_part("positions_head_0", "chosen", [0, 0])
    assert lesson.number("alibi", "bias [head 2, black, dog]") == -1


# ---- parts of a score ------------------------------------------------------------------------------------------------
def test_a_score_is_four_products():
    lesson = Lesson("positions", open="parts")
    parts = [f"{one}_{other}" for one in ("content", "position") for other in ("content", "position")]
    for word in ("black", "chased"):
        four = [lesson.number("parts", f"{part} [head 2, dog, {word}]") for part in parts]
        assert sum(four) == pytest.approx(lesson.number("parts", f"scores [head 2, dog, {word}]"), abs=1e-12)
    assert lesson.number("parts", "content_content [head 2, dog, chased]") == 6
    words = torch.tensor([0, 1, 0, 1, 0, 0]).double()  # dog, without its place
    place = loader.tensor([math.sin(4), math.cos(4)] + [f(4 / 10000 ** (i / 3)) for i in (1, 2) for f in SINES])
    w_q, w_k = (loader.tensor(STORY_MATRICES[name])[:, 3:] for name in ("W_q", "W_k"))
    other = torch.tensor([0, 0, 1, 1, 0, 0]).double()  # chased
    expected = (place @ w_q) @ (other @ w_k)
    assert lesson.number("parts", "position_content [head 2, dog, chased]") == pytest.approx(expected.item(), abs=1e-12)
    assert (words @ w_q) @ (other @ w_k) == 6
    table = lesson.table("parts")
    told = dict(zip(table["text"], table["y"], strict=True))
    titles = ("word to word", "word to position", "position to word", "position to position")
    for title, part in zip(titles, parts, strict=True):
        row = table[table["step"] == part].iloc[0]
        assert row["y"] < told[title] < row["y2"]
    lesson.set("parts_head", 0)
    assert lesson.says("each score of “dog” in head 1")


SINES = (math.sin, math.cos)
STORY_MATRICES = loader.read(loader.STORIES)["examples"]["zh_colour"]
