"""Lectures: what one says in numbers, one as a file and in a link, and what no file or link may do."""

import base64
import json
import math
import zlib
from dataclasses import replace

import pytest
import torch

from attention_core.errors import AttentionError
from attention_core.examples import EXAMPLES
from attention_core.explanation import explain
from pages.shared.inputs import compute
from pages.shared.lecture import (
    LARGEST,
    MOST,
    SHIPPED,
    STEPS,
    TEXTS,
    Act,
    Lecture,
    from_file,
    packed,
    shipped,
    to_file,
    unpacked,
)
from pages.shared.setup import LONGEST, Setup
from pages.shared.words import LANGUAGES

OWN = Lecture(
    "Mine",
    (
        Act(Setup(temperature=2.0, token=3), "one", note="<b>bold</b> ${x}$", question="why?", steps=("map",)),
        Act(
            Setup(example="zh_ta", masks=("causal",), step="scores", cell=(0, 1, 2, 3)), "二", steps=("symbol", "cell")
        ),
        Act(Setup(), ""),
    ),
)


def run(setup):
    return compute(setup, None)[0]


# ---- the shipped one: every claim in numbers -------------------------------------------------------------------------
def acts(language):
    return shipped("ten_minutes", language).acts


def weights(setup):
    return run(setup)["weights"][0]  # (H, T, S)


def exp_share(scores, at):
    return math.exp(scores[at]) / sum(map(math.exp, scores))


FAR = 6 / math.sqrt(2)  # the score of the noun that is meant, with two numbers in q and k


@pytest.fixture(params=LANGUAGES)
def told(request):
    return acts(request.param)


def says(act, *texts):
    return all(text in act.note.replace(" %", "%") for text in texts)


def test_the_scenes_are_those_of_the_plan_in_both_languages():
    examples = [[act.setup.example for act in acts(language)] for language in LANGUAGES]
    assert examples[0][0] == "en_it" and examples[1][0] == "zh_ta" and len(examples[0]) == len(examples[1]) == 10
    assert examples[0][6] == "en_colour" and examples[1][6] == "zh_colour"
    for one, other in zip(acts("en"), acts("zh"), strict=True):
        assert (one.steps, one.setup.cell, one.setup.step) == (other.steps, other.setup.cell, other.setup.step)
    for language in LANGUAGES:
        for act in acts(language):
            assert act.title and act.note and act.question and not act.unread
            assert run(act.setup).holds(act.setup.step, act.setup.cell)
            assert 2 <= sum(act.note.count(end) for end in ".。？?") <= 9


def test_who_is_meant(told):
    row = weights(told[0].setup)[0, 5]
    dog = exp_share([-FAR, 0, 0, FAR, 0, 0, 0], 3)
    assert row[3].item() == pytest.approx(dog) and f"{100 * dog:.0f}%" == "93%"
    assert row[0].item() == pytest.approx(dog * math.exp(-2 * FAR)) and f"{100 * row[0].item():.2f}%" == "0.02%"
    assert row.sum().item() == pytest.approx(1) and says(told[0], "93%", "0.02%", "1")


def test_one_word_exchanged_moves_one_row(told):
    before, after = weights(told[0].setup), weights(told[1].setup)
    assert moved_rows(before, after) == [(0, 5)]
    assert f"{100 * after[0, 5, 0].item():.0f}%" == "93%" and says(told[1], "93%")


def moved_rows(before, after):
    return [tuple(at) for at in ((before - after).abs().amax(-1) > 1e-12).nonzero().tolist()]


def test_q_times_k_by_hand(told):
    trace = run(told[2].setup)
    assert trace["q"][0, 0, 5].tolist() == [-3, 3] and trace["k"][0, 0, 3].tolist() == [-1, 1]
    assert explain(trace, "scores", (0, 0, 5, 3)).text == "−3.00 × (−1.00) + 3.00 × 1.00 = 6.00"
    assert trace["scores"][0, 0, 5].tolist() == [-6, 0, 0, 6, 0, 0, 0]
    assert trace["k"][0, 0, [1, 2, 4, 5, 6]].abs().max() == 0
    assert says(told[2], "−3 × −1 + 3 × 1 = 6", "−6") and "−3" in told[2].question


def test_what_the_scale_does(told):
    setup = told[3].setup
    assert run(setup)["scaled_scores"][0, 0, 5, 3].item() == pytest.approx(FAR) and f"{FAR:.2f}" == "4.24"
    with_it, without = (weights(each)[0, 5, 3].item() for each in (setup, replace(setup, scale=1.0)))
    assert without == pytest.approx(exp_share([-6, 0, 0, 6, 0, 0, 0], 3))
    assert (f"{100 * with_it:.0f}%", f"{100 * without:.0f}%") == ("93%", "99%")
    assert says(told[3], "93%", "99%", "4.24", "√2", "√d_k")
    for width in (4, 64):
        draws = torch.randn(2, 20_000, width, generator=torch.Generator().manual_seed(0))
        assert (draws[0] * draws[1]).sum(-1).std().item() == pytest.approx(math.sqrt(width), rel=0.05)


def test_no_reading_ahead(told):
    trace = run(told[4].setup)
    assert trace["masked_scores"][0, 0, 1, 3] == -math.inf
    assert trace["weights"][0].triu(1).abs().max() == 0
    assert trace["weights"][0, 0, 1, :2].tolist() == [0.5, 0.5]
    dog = trace["weights"][0, 0, 5, 3].item()
    assert dog == pytest.approx(exp_share([-FAR, 0, 0, FAR, 0, 0], 3)) and f"{100 * dog:.0f}%" == "95%"
    assert says(told[4], "−∞", "50%", "95%")


def test_without_positions_weights_move_along_with_their_words(told):
    first, now = run(told[0].setup), run(told[5].setup)
    words, others = first.labels["T"], now.labels["T"]
    assert sorted(words) == sorted(others) and words != others
    order = [words.index(word) for word in others]
    moved = first["weights"][0][:, order][:, :, order]
    rounding = 4 * torch.finfo(torch.float64).eps  # a row that is added up in another order may be rounded otherwise
    torch.testing.assert_close(now["weights"][0], moved, rtol=0, atol=rounding)
    verb, subject = others.index(words[1]), others.index(words[0])
    assert subject > verb  # she is fed
    assert f"{100 * now['weights'][0, 1, verb, subject].item():.0f}%" == "93%" and says(told[5], "93%")


def test_grey_animals(told):
    act = told[6]
    bare, whole = run(act.setup), run(replace(act.setup, wiring=()))
    assert bare["weights"][0, 0].sub(0.2).abs().max() < 1e-12
    assert bare["head_outputs"][0, 0, [1, 4], 0].abs().max() < 1e-12
    assert bare["v"][0, 0, [0, 3], 0].tolist() == [1, -1]
    assert [f"{value:.2f}" for value in whole["head_outputs"][0, 0, [1, 4], 0].tolist()] == ["0.91", "-0.83"]
    assert says(act, "20%", "0.91", "−0.83")


def test_two_heads_and_one(told):
    act = told[7]
    two, one = weights(act.setup), weights(replace(act.setup, heads=1))
    assert [f"{100 * value:.0f}%" for value in (two[0, 4, 3], two[1, 4, 2], one[0, 4, 2], one[0, 4, 3])] == [
        "83%",
        "89%",
        "65%",
        "29%",
    ]
    assert int(two[0, 4].argmax()) == 3 and int(two[1, 4].argmax()) == 2
    assert says(act, "83%", "89%", "65%", "29%")


def test_the_learned_map(told):
    act = told[8]
    assert EXAMPLES["learned_copy"].network == "copy_two.1.500" and says(act, "500", "99%")
    trace = run(act.setup)
    assert "".join(trace.labels["T"]) == "k7Bxa9" * 2
    for query in range(7, 12):  # from the second 7 on: the place behind the same symbol's first one
        assert trace["weights"][0, :, query, query - 5].min() > 0.99


def test_your_turn(told):
    before, after = weights(told[0].setup), weights(told[9].setup)
    assert moved_rows(before, after) == [(0, 5), (1, 6)] and before.shape[0] * before.shape[1] == 14
    assert [f"{100 * after[at].item():.0f}%" for at in ((0, 5, 0), (1, 6, 0))] == ["93%", "93%"]
    assert says(told[9], "93%")


# ---- in order --------------------------------------------------------------------------------------------------------
def test_a_question_stands_before_what_answers_it_until_all_is_revealed():
    assert Act(Setup(), "", question="?").beats() == ("symbol", "shapes", "question", "cell", "map")
    assert Act(Setup(), "", question="?", steps=("symbol", "map")).beats() == ("symbol", "question", "map")
    assert Act(Setup(), "", question="?", steps=("shapes",)).beats() == ("shapes", "question")
    assert Act(Setup(), "", question="?").beats(revealed=True) == Act(Setup(), "").beats() == STEPS


def test_scenes_are_moved_changed_and_removed_and_the_lecture_itself_stays():
    titles = lambda lecture: [act.title for act in lecture.acts]  # noqa: E731
    before = to_file(OWN)
    assert titles(OWN.moved(0, 2)) == ["二", "", "one"] and titles(OWN.moved(2, 0)) == ["", "one", "二"]
    assert titles(OWN.removed(1)) == ["one", ""] and titles(OWN.changed(1, title="x")) == ["one", "x", ""]
    assert titles(OWN.added(Act(Setup(), "last"))) == ["one", "二", "", "last"]
    assert to_file(OWN) == before


# ---- files and links -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("lecture", [OWN, *(shipped(name, language) for name in SHIPPED for language in LANGUAGES)])
def test_a_lecture_comes_back_from_its_file_and_from_its_link(lecture):
    assert from_file(to_file(lecture)) == lecture == unpacked(packed(lecture))
    assert packed(lecture).replace("-", "").replace("_", "").isalnum()
    again = json.loads(to_file(lecture))
    assert again["format"] == "attention-explorer-lecture" and again["version"] == 1


def refusal(text):
    with pytest.raises(AttentionError) as caught:
        from_file(text)
    return caught.value.code


def file_with(**parts):
    return json.dumps({"format": "attention-explorer-lecture", "version": 1, "title": "t", "scenes": []} | parts)


SCENES = [
    "text",
    None,
    {"title": 3},
    {"title": "t" * (TEXTS["title"] + 1)},
    {"note": "n" * (TEXTS["note"] + 1)},
    {"question": ["?"]},
    {"steps": []},
    {"steps": "map"},
    {"steps": ["map", "sound"]},
    {"steps": [["map"]]},
    {"setup": []},
    {"setup": {"t": 5}},
    {"script": "alert(1)"},
]


@pytest.mark.parametrize("scene", SCENES, ids=repr)
def test_a_scene_that_is_none_is_refused_with_its_number(scene):
    with pytest.raises(AttentionError) as caught:
        from_file(file_with(scenes=[{}, scene]))
    assert caught.value.code == "scene_part" and caught.value.values["number"] == 2


@pytest.mark.parametrize(
    "text, code",
    [
        ("", "file_not_json"),
        ("[1]", "lecture_format"),
        ("[" * 100_000, "file_nested"),
        ('{"format": "attention-explorer", "version": 1}', "lecture_format"),
        (file_with(version=True), "lecture_format"),
        (file_with(version=0), "lecture_format"),
        (file_with(version=2), "file_version"),
        (file_with(title=7), "lecture_format"),
        (file_with(title="t" * (TEXTS["title"] + 1)), "scene_part"),
        (file_with(scenes={}), "lecture_format"),
        (file_with(scenes=[{}] * (MOST + 1)), "too_many_scenes"),
        (file_with(title="\ud800"), "file_not_json"),
        ('{"format": 1, "format": 2}', "file_twice"),
        (" " * (LARGEST + 1), "lecture_too_long"),
    ],
    ids=lambda given: given[:40],
)
def test_a_file_that_is_no_lecture_is_refused(text, code):
    assert refusal(text) == code


def test_what_of_a_setup_cannot_be_read_is_kept_beside_the_rest():
    (act,) = from_file(file_with(scenes=[{"setup": {"temp": "hot", "mask": "causal", "nonsense": "<script>"}}])).acts
    assert act.setup == Setup(masks=("causal",))
    assert act.unread == (("temp", "hot"), ("nonsense", "<script>"))


def letters(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "no lecture",
        "AAAA",
        packed(OWN)[:-9],
        packed(OWN) + "*",
        letters(zlib.compress(b"\xff\xfe")),
        letters(zlib.compress(b" " * (LARGEST + 2), 9)),  # a kilobyte that would unpack to a megabyte
        letters(zlib.compress(b"\x00" * 30_000_000, 9)),
        "A" * (LONGEST + 1),
    ],
    ids=lambda text: text[:20],
)
def test_letters_that_hold_no_lecture_are_refused(text):
    with pytest.raises(AttentionError) as caught:
        unpacked(text)
    assert caught.value.code in ("lecture_link", "file_not_json", "lecture_format")
