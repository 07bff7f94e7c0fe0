"""The lesson on explanation: a guess first; what other weights do to predictions; three witnesses; heads to spare."""

import numpy as np
import pytest
import torch

from attention_core.learned.language.readout import measure_vector_shares
from attention_core.learned.symbols import PAD
from attention_core.learned.tasks import evidence
from attention_core.learned.training.shipped_networks import load_network
from tests.screen.lesson import Lesson

HERO = "How far predictions move under other weights, one dumbbell per kind of weights: A at one end, B at the other"


def points(lesson):
    """The ends of the dumbbells: what is said of each."""
    drawn = lesson.table(HERO)
    drawn = drawn[drawn["kind"] == "point"]
    return dict(zip(drawn["name"], drawn["x"], strict=True))


def told(lesson):
    """The sentences in the chart."""
    drawn = lesson.table(HERO)
    return [*drawn[drawn["kind"] == "text"]["name"]]


def plain_shift(task):
    """The mean shift under even weights, text by text."""
    model = load_network(task, 400).exact_model
    shifts = []
    for row in evidence.held_out(task)[0].tolist():
        text = torch.tensor([[number for number in row if number != PAD]])
        x = model.vectors(text)[0]
        scores = (model.query @ model.w_q) @ (x @ model.w_k).T / 4
        predictions = [
            ((weights @ (x @ model.w_v)) @ model.w_o + model.b_o).softmax(-1)
            for weights in (scores.softmax(-1), torch.full_like(scores, 1 / len(x)))
        ]
        shifts.append((predictions[0] - predictions[1]).abs().sum().item() / 2)
    return shifts


def test_nothing_is_shown_before_the_guess_and_then_all():
    lesson = Lesson("explanation", lang="en")
    assert HERO not in lesson.charts() and "A gives over 99 % of its weight to one place" in lesson.fact()
    lesson.choose("guess", lesson.widgets()["guess"].options[0])
    assert lesson.says("As predicted")
    assert len(points(lesson)) == 8
    assert lesson.fact() == "Even weights move A's prediction by 79 %, B's by 0.021 %."
    assert len(told(lesson)) == 4 and told(lesson)[2] == "Random: A moves by 79 %, B by 21 %."
    wrong = Lesson("explanation", guess="2", lang="en")
    assert wrong.says("Not as predicted") and points(wrong) == points(lesson)


def test_even_weights_move_a_and_not_b():
    shown = points(Lesson("explanation", guess="0", lang="en"))
    for task, name in (("lookup", "A · look up"), ("vote", "B · majority")):
        shifts = plain_shift(task)
        assert shown[f"even {name}"] == pytest.approx(np.mean(shifts), abs=1e-5)
        drawn = Lesson("explanation", guess="0", lang="en").table(HERO)
        (told,) = {text for text in drawn["said"] if text.startswith(f"even, {name}: ") and "(" in text}
        half = 1.96 * np.std(shifts, ddof=1) / np.sqrt(len(shifts))
        low, high = (float(part) for part in told.rpartition("(")[2].rstrip(")").split(" … "))
        assert (low, high) == pytest.approx((max(np.mean(shifts) - half, 0), np.mean(shifts) + half), abs=1e-5)
    assert shown["even A · look up"] > 0.7 and shown["even B · majority"] < 0.01


def test_of_b_nearly_any_weights_say_the_same():
    shown = points(Lesson("explanation", guess="0", lang="en"))
    assert all(
        shown[f"{kind} B · majority"] < 0.05 < shown[f"{kind} A · look up"]
        for kind in ("even", "permuted", "adversarial")
    )


@pytest.mark.parametrize(
    "box, text, part",
    [("text_lookup", "a > 9", "got '9'"), ("text_vote", "+ x", "got 'x'"), ("text_vote", " ", "at least one symbol")],
)
def test_what_a_classifier_has_never_seen_is_refused(box, text, part):
    lesson = Lesson("explanation", lang="en")
    before = lesson.fact()
    lesson.set(box, text)
    assert part in lesson.errors()[0] and lesson.fact() == before


@pytest.mark.parametrize("box, text, verdict", [("text_lookup", "a1b>5c2", "says 5"), ("text_vote", "-+--.", "says -")])
def test_any_text_is_typed_in(box, text, verdict):
    lesson = Lesson("explanation", lang="en", **{box: text})
    own = {chart.proto.alt for name, chart in lesson.charts().items() if name.startswith("own_")}
    assert any(verdict in alt for alt in own)


# ---- drawers ---------------------------------------------------------------------------------------------------------
def rows(lesson, picture, count):
    """The numbers of each row of bars."""
    cells = lesson.table(picture)
    cells = cells[cells["kind"] == "cell"].drop_duplicates(["panel", "index"])
    own = [cells[cells["panel"] == f"row{row}"]["value"] for row in range(count)]
    return [[float(value.replace("−", "-")) for value in values] for values in own]


def test_three_witnesses_of_one_text():
    lesson = Lesson("explanation", open="witness", lang="en")
    weights, gradient = rows(lesson, "witness", 2)
    (left_out,) = rows(lesson, "left_out", 1)
    assert np.argmax(weights) == np.argmax(gradient) == 4 and weights[4] > 0.99  # the 3 of b7c>3ah1f
    assert {place for place, fall in enumerate(left_out) if fall > 5} == {3, 4}  # the mark as well
    lesson.choose("witness_task", "B · majority")
    votes = np.array([{"+": 1, "-": -1, ".": 0}[symbol] for symbol in "+.-++.-+"])
    weights, gradient = rows(lesson, "witness", 2)
    assert max(weights) < 0.2 and all(np.sign(gradient)[votes != 0] == votes[votes != 0])


def test_other_weights_for_one_text():
    lesson = Lesson("explanation", open="others", other_task="vote", guess="0", lang="en")
    learned, even, permuted, random, adversarial = rows(lesson, "others", 5)
    assert even == pytest.approx([1 / 8] * 8) and sorted(permuted) == pytest.approx(sorted(learned))
    assert sum(random) == pytest.approx(1) and max(adversarial) > 0.5 and sum(adversarial) == pytest.approx(1)
    titles = [text for text in lesson.table("others")["text"] if "the prediction moves by" in text]
    assert len(titles) == 4 and float(titles[0].rpartition("by ")[2].strip("< %")) < 5


def test_heads_to_spare():
    lesson = Lesson("explanation", open="spare", guess="0", lang="en")
    (found,) = lesson.at.table
    table = found.value.to_dict("records")
    model = load_network("lookup_heads", 400).model(torch.float32)
    texts, classes = evidence.held_out("lookup")
    for head in range(4):
        kept = torch.zeros(4)
        kept[head] = 1
        alone = (model.trace(texts, switches=kept)["output"][:, 0].argmax(-1) == classes).double().mean().item()
        assert table[head + 1]["right with it alone"] == f"{alone:.0%}".replace("%", " %")
    assert [row["right without it"] for row in table[1:]] == ["100 %"] * 4
    lesson.press("door_spare")
    assert lesson.at.session_state["setup"].run.heads == 4


def test_what_may_be_concluded_is_said():
    lesson = Lesson("explanation", open="conclude", guess="0", lang="en")
    assert lesson.says("What it does not") and lesson.says("use several tests")


def test_nothing_gives_the_answer_away_before_the_guess():
    lesson = Lesson("explanation", open="others,spare,conclude", lang="en")
    assert len([info for info in lesson.at.info if "Guess first whose prediction moves" in info.value]) == 3
    assert "others" not in lesson.charts() and not lesson.at.table


def test_a_text_of_another_kind_gets_no_answer():
    lesson = Lesson("explanation", text_lookup="abcdefgh", text_vote="+-", open="witness", lang="en")
    assert lesson.says("This text is of a kind that was not in training")
    own = {chart.proto.alt for name, chart in lesson.charts().items() if name.startswith("own_")}  # wide and narrow
    assert len(own) == 2 and all("a text of another kind; its guess is" in alt for alt in own)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_map_leaves_out_is_said_with_the_shares_of_our_encoder(language):
    shares = measure_vector_shares(language)
    lesson = Lesson("explanation", open="conclude", guess="0", lang=language)
    said = [f"{100 * share:.0f}" for share in (shares.attention, shares.feed_forward, shares.embedding)]
    (text,) = [text for text in lesson.texts() if all(number in text for number in said)]
    assert f"{shares.growth:.0f}" in text and f"{shares.words}" in text
