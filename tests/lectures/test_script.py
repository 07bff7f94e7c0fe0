"""Lectures: what one says in numbers, one as a file and in a link, and what no file or link may do."""

import base64
import json
import math
import zlib

import pytest
import torch

from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.arithmetic import explain
from attention_core.record.errors import AttentionError
from pages.lectures.scene_kinds import MODEL_STEPS, SCENE_STEPS, steps_of
from pages.lectures.script import (
    MAX_LECTURE_CHARS,
    MAX_LECTURE_FILE_CHARS,
    MAX_SCENE_MINUTES,
    MAX_SCENES,
    SCENE_TEXT_LIMITS,
    SHIPPED_LECTURES,
    Lecture,
    Scene,
    lecture_from_file,
    lecture_from_link,
    lecture_to_file,
    lecture_to_link,
    load_shipped_lecture,
)
from pages.runs.compute import compute_run
from pages.setup.codec import MAX_LINK_CHARS
from pages.setup.setup import Setup, make_setup
from pages.site.words import LANGUAGES

OWN = Lecture(
    "Mine",
    (
        Scene(
            make_setup(temperature=2.0, token=3),
            "one",
            note="<b>bold</b> ${x}$",
            question="why?",
            steps=("map",),
            minutes=4,
        ),
        Scene(
            make_setup(example="zh_ta", masks=("causal",), step="scores", cell=(0, 1, 2, 3)),
            "二",
            steps=("cell", "symbol"),
        ),
        Scene(Setup(), ""),
    ),
)


def run(setup):
    return compute_run(setup.run, None)[0]


# ---- the shipped one: every claim in numbers -------------------------------------------------------------------------
def scenes(language):
    return load_shipped_lecture("ten_minutes", language).scenes


def weights(setup):
    return run(setup)["weights"][0]  # (H, T, S)


def exp_share(scores, at):
    return math.exp(scores[at]) / sum(map(math.exp, scores))


FAR = 6 / math.sqrt(2)  # the score of the noun that is meant, with two numbers in q and k


@pytest.fixture(params=LANGUAGES)
def told(request):
    return scenes(request.param)


def says(scene, *texts):
    return all(text in scene.note.replace(" %", "%") for text in texts)


def test_the_scenes_are_those_of_the_plan_in_both_languages():
    examples = [[scene.setup.run.example for scene in scenes(language)] for language in LANGUAGES]
    assert examples[0][0] == "en_it" and examples[1][0] == "zh_ta" and len(examples[0]) == len(examples[1]) == 11
    assert examples[0][7] == "en_colour" and examples[1][7] == "zh_colour"
    for one, other in zip(scenes("en"), scenes("zh"), strict=True):
        assert (one.steps, one.setup.view.cell, one.setup.view.step) == (
            other.steps,
            other.setup.view.cell,
            other.setup.view.step,
        )
    for language in LANGUAGES:
        for scene in scenes(language):
            assert scene.title and scene.note and scene.question and not scene.unread
            assert run(scene.setup).holds(scene.setup.view.step, scene.setup.view.cell)
            assert 2 <= sum(scene.note.count(end) for end in ".。？?") <= 9


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
    with_it, without = (weights(each)[0, 5, 3].item() for each in (setup, setup.with_fields(scale=1.0)))
    assert without == pytest.approx(exp_share([-6, 0, 0, 6, 0, 0, 0], 3))
    assert (f"{100 * with_it:.0f}%", f"{100 * without:.0f}%") == ("93%", "99%")
    assert says(told[3], "93%", "4.24", "√2", "√dₖ")
    assert says(told[3], "mean 0 and variance 1") or says(told[3], "均值为 0、方差为 1")
    assert says(told[4], "93%", "99%", "6")
    for width in (4, 64):
        draws = torch.randn(2, 20_000, width, generator=torch.Generator().manual_seed(0))
        assert (draws[0] * draws[1]).sum(-1).std().item() == pytest.approx(math.sqrt(width), rel=0.05)


def test_no_reading_ahead(told):
    trace = run(told[5].setup)
    assert trace["masked_scores"][0, 0, 1, 3] == -math.inf
    assert trace["weights"][0].triu(1).abs().max() == 0
    assert trace["weights"][0, 0, 1, :2].tolist() == [0.5, 0.5]
    dog = trace["weights"][0, 0, 5, 3].item()
    assert dog == pytest.approx(exp_share([-FAR, 0, 0, FAR, 0, 0], 3)) and f"{100 * dog:.0f}%" == "95%"
    assert says(told[5], "−∞", "50%", "95%")


def test_without_positions_weights_move_along_with_their_words(told):
    first, now = run(told[0].setup), run(told[6].setup)
    words, others = first.labels["T"], now.labels["T"]
    assert sorted(words) == sorted(others) and words != others
    order = [words.index(word) for word in others]
    moved = first["weights"][0][:, order][:, :, order]
    rounding = 4 * torch.finfo(torch.float64).eps  # a row that is added up in another order may be rounded otherwise
    torch.testing.assert_close(now["weights"][0], moved, rtol=0, atol=rounding)
    verb, subject = others.index(words[1]), others.index(words[0])
    assert subject > verb  # she is fed
    assert f"{100 * now['weights'][0, 1, verb, subject].item():.0f}%" == "93%" and says(told[6], "93%")


def test_grey_animals(told):
    scene = told[7]
    bare, whole = run(scene.setup), run(scene.setup.with_fields(wiring=()))
    assert bare["weights"][0, 0].sub(0.2).abs().max() < 1e-12
    assert bare["head_outputs"][0, 0, [1, 4], 0].abs().max() < 1e-12
    assert bare["v"][0, 0, [0, 3], 0].tolist() == [1, -1]
    assert [f"{value:.2f}" for value in whole["head_outputs"][0, 0, [1, 4], 0].tolist()] == ["0.91", "-0.83"]
    assert says(scene, "20%", "0.91", "−0.83")


def test_two_heads_and_one(told):
    scene = told[8]
    two, one = weights(scene.setup), weights(scene.setup.with_fields(heads=1))
    assert [f"{100 * value:.0f}%" for value in (two[0, 4, 3], two[1, 4, 2], one[0, 4, 2], one[0, 4, 3])] == [
        "83%",
        "89%",
        "65%",
        "29%",
    ]
    assert int(two[0, 4].argmax()) == 3 and int(two[1, 4].argmax()) == 2
    assert says(scene, "83%", "89%", "65%", "29%")


def test_the_learned_map(told):
    scene = told[9]
    assert EXAMPLES["learned_copy"].network == "copy_two.1.500" and says(scene, "500", "99%")
    trace = run(scene.setup)
    assert "".join(trace.labels["T"]) == "k7Bxa9" * 2
    for query in range(7, 12):  # from the second 7 on: the place behind the same symbol's first one
        assert trace["weights"][0, :, query, query - 5].min() > 0.99


def test_your_turn(told):
    before, after = weights(told[0].setup), weights(told[10].setup)
    assert moved_rows(before, after) == [(0, 5), (1, 6)] and before.shape[0] * before.shape[1] == 14
    assert [f"{100 * after[at].item():.0f}%" for at in ((0, 5, 0), (1, 6, 0))] == ["93%", "93%"]
    assert says(told[10], "93%")


def shown(scene):
    """What the steps of a scene show: the number whose arithmetic is opened, and the rows of the maps by head."""
    trace = run(scene.setup)
    cell = trace[scene.setup.view.step][scene.setup.view.cell].item() if "cell" in scene.steps else None
    heads = range(trace.sizes()["H"]) if scene.setup.view.head is None else [scene.setup.view.head]
    return cell, {head: trace["weights"][0, head] for head in heads if "map" in scene.steps}


def most(row):
    """The key that gets most, and its share as the screen says it."""
    return int(row.argmax()), f"{100 * row.max().item():.0f}%"


IT, DOG, ANNA, FED, SHE, SMILED = 5, 3, 0, 1, 5, 6
NOW_FED, NOW_ANNA = 2, 3  # where the dog feeds her
WHITE_CHASED = ((3, "83%"), (2, "89%"))
ANSWERS = (  # what a question asks, in English and in Chinese; the answer, in what its scene shows: a cell, and maps
    ("which word will “it” attend", "“它”最关注哪个词", lambda cell, maps: most(maps[0][IT]), (DOG, "93%")),
    ("Where does its attention go", "这一行的权重会移到哪个词", lambda cell, maps: most(maps[0][SHE]), (ANNA, "93%")),
    ("What is q · k", "q · k 等于多少", lambda cell, maps: cell, 6.0),
    ("divided by √dₖ = √2", "除以 √dₖ = √2", lambda cell, maps: f"{cell:.2f}", "4.24"),
    ("more than 93", "比 93% 多", lambda cell, maps: (most(maps[0][IT]), f"{cell:.2f}"), ((DOG, "99%"), "0.99")),
    ("Over how many words", "分给几个词", lambda cell, maps: maps[0][FED].count_nonzero().item(), 2),
    ("to which word does it attend", "它会关注谁", lambda cell, maps: most(maps[1][NOW_FED]), (NOW_ANNA, "93%")),
    ("which colour does the dog get?", "狗会是什么颜色？", lambda cell, maps: f"{cell:.2f}", "0.00"),  # grey
    ("which two words", "分别关注哪两个词", lambda cell, maps: (most(maps[0][4]), most(maps[1][4])), WHITE_CHASED),
    ("Where does the second “7” look", "第二个“7”会看哪里", lambda cell, maps: most(maps[0][7])[0], 2),  # at "B"
    ("Who is “she”, and who smiled", "是谁笑了", lambda cell, maps: most(maps[0][SHE]), (ANNA, "93%")),
)


def test_every_question_has_an_answer_that_is_known(told):
    assert len(told) == len(ANSWERS)
    for scene, (english, chinese, *_) in zip(told, ANSWERS, strict=True):
        asked = scene.question.replace("\N{NO-BREAK SPACE}", " ")
        assert english in asked or chinese in asked
    assert most(shown(told[10])[1][1][SMILED]) == (ANNA, "93%")  # the second half of the last one


@pytest.mark.parametrize("at", range(len(ANSWERS)))
def test_a_question_is_answered_by_what_its_scene_shows(told, at):
    *_, find, answer = ANSWERS[at]
    scene_steps = told[at].scene_steps()
    assert "question" in scene_steps and {"cell", "map"} <= {*scene_steps[scene_steps.index("question") :]}
    assert find(*shown(told[at])) == answer


def test_what_is_asked_of_a_changed_run_is_shown_by_the_changed_run(told):
    """Without the division, more than 93 % or less? The scene before it still divides."""
    before, after = told[3], told[4]
    assert after.setup.run.scale == 1.0 and after.setup.with_fields(scale=None, step="scaled_scores") == before.setup
    assert "93" in after.question and "√dₖ" in before.title
    (_, maps), (_, changed) = shown(before), shown(after)
    assert most(maps[0][IT]) == (DOG, "93%") and most(changed[0][IT]) == (DOG, "99%")


# ---- in order --------------------------------------------------------------------------------------------------------
def test_a_question_stands_before_what_answers_it_until_all_is_revealed():
    pictures_first = ("question", "journey", "map", "cell", "symbol", "shapes")
    assert Scene(Setup(), "", question="?").scene_steps() == pictures_first
    assert Scene(Setup(), "", question="?", steps=("symbol", "map")).scene_steps() == ("symbol", "question", "map")
    assert Scene(Setup(), "", question="?", steps=("shapes",)).scene_steps() == ("shapes", "question")
    assert (
        Scene(Setup(), "", question="?").scene_steps(revealed=True) == Scene(Setup(), "").scene_steps() == SCENE_STEPS
    )


def test_a_scene_of_a_language_model_may_show_what_it_is_asked():
    assert steps_of(Setup()) == SCENE_STEPS == tuple(step for step in MODEL_STEPS if step != "model")
    assert steps_of(make_setup(example="model_en")) == MODEL_STEPS
    scene = Scene(make_setup(example="model_en", panel="what_if"), "one", question="?", steps=("model", "symbol"))
    assert scene.scene_steps() == ("question", "model", "symbol")
    assert lecture_from_file(lecture_to_file(Lecture("all", (scene,)))).scenes == (scene,)


def test_scenes_are_moved_changed_and_removed_and_the_lecture_itself_stays():
    titles = lambda lecture: [scene.title for scene in lecture.scenes]  # noqa: E731
    before = lecture_to_file(OWN)
    assert titles(OWN.moved(0, 2)) == ["二", "", "one"] and titles(OWN.moved(2, 0)) == ["", "one", "二"]
    assert titles(OWN.removed(1)) == ["one", ""] and titles(OWN.changed(1, title="x")) == ["one", "x", ""]
    assert titles(OWN.added(Scene(Setup(), "last"))) == ["one", "二", "", "last"]
    assert lecture_to_file(OWN) == before


# ---- files and links -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "lecture", [OWN, *(load_shipped_lecture(name, language) for name in SHIPPED_LECTURES for language in LANGUAGES)]
)
def test_a_lecture_comes_back_from_its_file_and_from_its_link(lecture):
    assert lecture_from_file(lecture_to_file(lecture)) == lecture == lecture_from_link(lecture_to_link(lecture))
    assert lecture_to_link(lecture).replace("-", "").replace("_", "").isalnum()
    again = json.loads(lecture_to_file(lecture))
    assert again["format"] == "attention-explorer-lecture" and again["version"] == 4


def test_a_file_of_version_1_says_no_minutes_and_is_read_as_before():
    scene = {"title": "one", "steps": ["map"], "setup": {"t": "3"}}
    assert lecture_from_file(file_with(scenes=[scene])).scenes == (Scene(make_setup(token=3), "one", steps=("map",)),)


def test_the_minutes_of_a_lecture_are_those_of_its_scenes():
    told = lecture_from_file(file_with(version=2, scenes=[{"minutes": 3}, {}, {"minutes": 40}]))
    assert [scene.minutes for scene in told.scenes] == [3, 0, 40] and told.total_minutes() == 43


def test_minutes_may_be_halves_and_whole_ones_are_written_as_such():
    told = lecture_from_file(file_with(version=4, scenes=[{"minutes": 1.5}, {"minutes": 0.5}, {"minutes": 3.0}]))
    assert [told.planned_minutes(at) for at in range(3)] == [(0, 1.5), (1.5, 2), (2, 5)]
    assert [scene["minutes"] for scene in json.loads(lecture_to_file(told))["scenes"]] == [1.5, 0.5, 3]
    assert '"minutes": 3,\n' in lecture_to_file(told) and lecture_from_link(lecture_to_link(told)) == told
    for never in ("NaN", "Infinity", "1e400"):
        with pytest.raises(AttentionError):
            lecture_from_file(file_with(scenes=[{"minutes": 1}]).replace(": 1}", f": {never}}}"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "minutes"), [("ten_minutes", 10), ("forty_five_minutes", 45)])
def test_the_scenes_of_a_shipped_lecture_take_as_long_as_its_title_says(name, minutes, language):
    lecture = load_shipped_lecture(name, language)
    last = lecture.planned_minutes(len(lecture.scenes) - 1)
    assert last is not None and last[1] == lecture.total_minutes() == minutes


def refusal(text):
    with pytest.raises(AttentionError) as caught:
        lecture_from_file(text)
    return caught.value.code


def file_with(**parts):
    return json.dumps({"format": "attention-explorer-lecture", "version": 1, "title": "t", "scenes": []} | parts)


SCENES = [
    "text",
    None,
    {"title": 3},
    {"title": "t" * (SCENE_TEXT_LIMITS["title"] + 1)},
    {"note": "n" * (SCENE_TEXT_LIMITS["note"] + 1)},
    {"question": ["?"]},
    {"steps": []},
    {"steps": "map"},
    {"steps": ["map", "sound"]},
    {"steps": [["map"]]},
    {"setup": []},
    {"setup": {"t": 5}},
    {"minutes": -1},
    {"minutes": MAX_SCENE_MINUTES + 1},
    {"minutes": 2.25},
    {"minutes": -0.5},
    {"minutes": True},
    {"minutes": "2"},
    {"script": "alert(1)"},
]


@pytest.mark.parametrize("scene", SCENES, ids=repr)
def test_a_scene_that_is_none_is_refused_with_its_number(scene):
    with pytest.raises(AttentionError) as caught:
        lecture_from_file(file_with(scenes=[{}, scene]))
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
        (file_with(version=5), "file_version"),
        (file_with(title=7), "lecture_format"),
        (file_with(title="t" * (SCENE_TEXT_LIMITS["title"] + 1)), "scene_part"),
        (file_with(scenes={}), "lecture_format"),
        (file_with(scenes=[{}] * (MAX_SCENES + 1)), "too_many_scenes"),
        (file_with(title="\ud800"), "file_not_json"),
        ('{"format": 1, "format": 2}', "file_twice"),
        (file_with() + " " * MAX_LECTURE_CHARS, "lecture_too_long"),
        (" " * (MAX_LECTURE_FILE_CHARS + 1), "lecture_too_long"),
    ],
    ids=lambda given: given[:40],
)
def test_a_file_that_is_no_lecture_is_refused(text, code):
    assert refusal(text) == code


def test_what_of_a_setup_cannot_be_read_is_kept_beside_the_rest():
    (scene,) = lecture_from_file(
        file_with(scenes=[{"setup": {"temp": "hot", "mask": "causal", "nonsense": "<script>"}}])
    ).scenes
    assert scene.setup == make_setup(masks=("causal",))
    assert scene.unread == (("temp", "hot"), ("nonsense", "<script>"))


def letters(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "no lecture",
        "AAAA",
        lecture_to_link(OWN)[:-9],
        lecture_to_link(OWN) + "*",
        letters(zlib.compress(b"\xff\xfe")),
        letters(zlib.compress(b" " * (MAX_LECTURE_CHARS + 2), 9)),  # a kilobyte that would unpack to a megabyte
        letters(zlib.compress(b"\x00" * 30_000_000, 9)),
        "A" * (MAX_LINK_CHARS + 1),
    ],
    ids=lambda text: text[:20],
)
def test_letters_that_hold_no_lecture_are_refused(text):
    with pytest.raises(AttentionError) as caught:
        lecture_from_link(text)
    assert caught.value.code in ("lecture_link", "file_not_json", "lecture_format")
