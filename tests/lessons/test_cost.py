"""The lesson on cost: what is counted, what is measured when asked, what is skipped, rounded and not stored."""

import json
import math
import statistics

import pytest
import torch

from attention_core.learned.training.mixed_precision import PRECISION_FIGURES, trained_gradients
from attention_core.variants.timing import TimedCase
from pages.panels.progress import MEASUREMENT_SLOT
from pages.site.words import LANGUAGES, load_app_texts
from tests.screen.lesson import Lesson

RACE, BATCH = "lessons.cost.alt", "lessons.cost.batch_alt"


def lines(lesson, kind, alt=RACE):
    """The curves of a picture: name -> its points; none where it is not there. kind: "counted" or "measured"."""
    told = load_app_texts("en")[f"{alt}_{kind}"]
    if told not in [chart.proto.alt for chart in lesson.charts().values()]:
        return {}
    points = lesson.table(told)
    points = points[points["kind"] == "point"]
    assert {*points["dashed"]} == {kind == "counted"}
    return {key: [*zip(part["x"], part["y"], strict=True)] for key, part in points.groupby("name")}


@pytest.fixture
def clocked(monkeypatch):
    """Measurements that take no time: a millionth of a second a token for all pairs, half of it for anything else."""
    asked = []

    def seconds(case, length):
        asked.append((case, length))
        return length * 1e-6 * (1.0 if case == TimedCase() else 0.5)

    monkeypatch.setattr(TimedCase, "seconds", seconds)
    return asked


def test_the_first_sight_is_counted_and_nothing_is_measured(clocked):
    lesson = Lesson("cost", lang="en")
    assert lesson.fact() == (
        "1,024 tokens of width 64: 134 million multiply-adds for all pairs, 16.8 million for the projections."
    )
    found = lines(lesson, "counted")
    pairs = found["all pairs: 2.00"]
    assert pairs == [(T, pytest.approx(2 * T * T * 64 / 1e6)) for T in (64, 128, 256, 512, 1024)]
    tokens = found["projections: 1.00"]
    assert tokens == [(T, pytest.approx(4 * T * 64 * 64 / 1e6)) for T in (64, 128, 256, 512, 1024)]
    assert lines(lesson, "measured") == {} and clocked == []
    assert Lesson("cost", lang="zh").fact() == "1,024 个 64 维的词元：完整注意力要 1.34 亿次乘加，投影要 1680 万次。"


def test_the_length_decides_how_far_it_goes():
    lesson = Lesson("cost", lang="en").set("length", 128)
    assert lesson.fact().startswith("128 tokens of width 64: 2.1 million multiply-adds for all pairs, 2.1 million")
    assert {x for points in lines(lesson, "counted").values() for x, _ in points} == {64, 128}
    assert "537 million multiply-adds" in lesson.set("length", 2048).fact()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_square_and_the_stripe_are_multiply_adds_at_each_length(lang):
    (part,) = Lesson("cost", lang=lang).parts("cost_areas")
    told = json.loads(part.proto.json)
    assert told["lengths"] == [128, 256, 512, 1024, 2048] and told["lengths"][told["position"]] == 1024
    assert told["pairs"] == [2 * T * T * 64 for T in told["lengths"]]  # q·k and the weighted sum
    assert told["tokens"] == [4 * T * 64 * 64 for T in told["lengths"]]  # q, k, v and the output
    (_, square), (_, stripe) = told["told"][3]
    assert "1,024 × 1,024" in square and "2 × 64" in square and f"{1024 * 1024 * 2 * 64:,}" in square
    assert "1,024" in stripe and "4 × 64 × 64" in stripe and f"{1024 * 4 * 64 * 64:,}" in stripe


def test_a_race_is_measured_when_asked_and_stays_for_the_session(clocked):
    lesson = Lesson("cost", length="256", lang="en").press("measure_cost_local")
    assert clocked == [(case, T) for T in (64, 128, 256) for case in (TimedCase(), TimedCase("local"))]
    assert lesson.says("256 tokens, measured here: all pairs 0.26 ms (slope 1.00), 65 nearest 0.13 ms (slope 1.00).")
    found = lines(lesson, "measured")
    assert found["all pairs: 1.00"] == [(T, pytest.approx(T * 1e-3)) for T in (64, 128, 256)]
    assert found["65 nearest: 1.00"] == [(T, pytest.approx(T * 5e-4)) for T in (64, 128, 256)]
    assert len(clocked) == 6
    lesson.set("length", 512)
    assert not lesson.says("measured here")  # not all of this length is
    assert len(lines(lesson, "measured")["all pairs: 1.00"]) == 3
    lesson.choose("race", "bfloat16")
    assert lines(lesson, "measured") == {} and lines(lesson, "counted")
    assert lesson.press("measure_cost_bfloat16").says("512 tokens, measured here: all pairs 0.51 ms")
    assert lesson.choose("race", "the 65 nearest keys").set("length", 256).says("256 tokens, measured")
    assert len(clocked) == 6 + 8


def test_a_race_says_who_was_expected_to_win(clocked):
    lesson = Lesson("cost", length="128", lang="en").choose("guess", "65 nearest")
    assert not lesson.says("redicted")
    assert lesson.press("measure_cost_local").says("As predicted")
    assert lesson.choose("guess", "all pairs").says("Not as predicted")
    assert lesson.link() == {"length": "128", "guess": "0", "lang": "en"}


def test_one_session_measures_at_a_time(clocked):
    lesson = Lesson("cost", length="128", lang="en")
    with MEASUREMENT_SLOT:
        lesson.press("measure_cost_local")
        assert "Another visitor is measuring" in lesson.at.info[0].value
        assert clocked == []
    lesson.press("measure_cost_local")
    assert not lesson.at.info
    assert len(clocked) == 4
    assert MEASUREMENT_SLOT.acquire(blocking=False)  # it was given back
    MEASUREMENT_SLOT.release()


def test_a_measurement_that_fails_gives_the_room_back(monkeypatch):
    monkeypatch.setattr(TimedCase, "seconds", lambda case, length: 1 / 0)
    lesson = Lesson("cost", length="128", lang="en")
    next(button for button in lesson.at.button if button.key == "measure_cost_local").click().run()
    assert lesson.at.exception[0].message == "division by zero"
    assert MEASUREMENT_SLOT.acquire(blocking=False)
    MEASUREMENT_SLOT.release()


def test_it_is_the_real_time_of_this_machine():
    lesson = Lesson("cost", length="128", race="strided", lang="en").press("measure_cost_strided")
    assert lesson.says("128 tokens, measured here: all pairs ")
    points = next(points for name, points in lines(lesson, "measured").items() if "16th" in name)
    assert [x for x, _ in points] == [64, 128]
    assert all(y > 0 for _, y in points)


def test_a_batch_against_one_by_one(clocked):
    lesson = Lesson("cost", open="batch", lang="en")
    (counted,) = lines(lesson, "counted", BATCH).values()  # both have the same multiply-adds
    assert counted[0] == (16, pytest.approx(8 * 2 * 16 * 16 * 64 / 1e6))
    lesson.press("measure_cost_batch")
    assert {case.kind for case, _ in clocked} == {"together", "one_by_one"}
    assert lesson.says("Measured at 16 tokens each: together 8.0 µs, one by one 8.0 µs, 1.0 times as long.")
    assert lesson.says("Measured at 512 tokens each")


@pytest.mark.parametrize(
    ("pattern", "kept", "computed"),
    # local: of 256 tokens 65 keys each, less 2 (1 + ... + 32) at both ends; two blocks of 128 queries and 160 keys
    [("local", 256 * 65 - 32 * 33, 2 * 128 * 160), ("strided", 256 * 16, 256 * 16)],
)
def test_which_pairs_are_skipped_and_what_that_saves(pattern, kept, computed):
    lesson = Lesson("cost", open="skip", pattern=pattern, lang="en")
    assert lesson.says(f"The pattern keeps {kept:,} of 65,536 pairs.")
    assert lesson.says(f"Computed in whole blocks, these become {computed:,} pairs")
    assert lesson.says(f"**{computed * 128:,}** multiply-adds instead of 8,388,608")


def test_what_was_skipped_is_missing_from_the_output():
    lesson = Lesson("cost", open="skip", lang="en")
    assert lesson.says("relative error against full attention is **2 %**")
    lesson.choose("made", "random")
    (found,) = [text for text in lesson.texts() if text.startswith("With random inputs (any pair may have a")]
    assert float(found.split("**")[1].split(" ")[0]) > 100
    assert lesson.set("tokens", 64).says("The pattern keeps 3,104 of 4,096 pairs")


def test_a_skipped_pattern_is_measured_at_the_chosen_length(clocked):
    lesson = Lesson("cost", open="skip", pattern="strided", tokens="64", lang="en").press(
        "measure_cost_skip_strided_64"
    )
    assert clocked == [(TimedCase(), 64), (TimedCase("strided"), 64)]
    assert lesson.says("Measured here at 64 tokens: all pairs 64 µs, the pattern 32 µs.")


def test_rounding_of_the_readers_sentence():
    lesson = Lesson("cost", open="precision", lang="en")
    assert lesson.says(
        "Largest error of weights in float16, against float64: **1.7 × 10⁻⁴**, at weights [head 1, it, dog]"
    )
    assert abs(lesson.number("errors", "weights [head 1, it, dog]")) == pytest.approx(1.7e-4, abs=5e-6)
    lesson.choose("shown", "scores")
    assert lesson.says("In float16 no number of scores differs from float64")  # small whole numbers
    sizes = []
    for dtype in ("float32", "float16", "bfloat16"):
        lesson.choose("dtype", dtype).choose("shown", "output")
        sizes.append(abs(lesson.number("errors", "output [it, noun]")))
    assert sizes[0] < sizes[1] < sizes[2]
    assert Lesson("cost", open="precision", lang="zh").says("权重的最大误差是")


def test_the_readers_own_run_overflows_and_scaling_first_saves_it():
    lesson = Lesson("cost", open="precision", factor="12000", lang="en")
    assert lesson.says("float16 cannot hold −72000**, scores [head 1, it, Anna]: its largest number is 65504")
    lesson.choose("shown", "scores")
    cells = lesson.table("errors")
    hatched = cells[cells["kind"] == "blocked"]["what"]
    assert [*hatched] == ["scores [head 1, it, Anna]", "scores [head 1, it, dog]"]
    lesson.set("first", True)
    assert not lesson.says("cannot hold")
    lesson.set("first", False).choose("dtype", "bfloat16")
    assert not lesson.says("cannot hold")


def test_one_score_of_nine_overflows():
    lesson = Lesson("cost", open="precision", case="built", lang="en")
    assert lesson.says("float16 cannot hold 65536**, scores [head 1, 2, 1]: its largest number is 65504")
    cells = lesson.table("errors")
    assert [*cells[cells["kind"] == "blocked"]["row"]] == [1, 1, 1]  # of the weights the whole row
    assert "cannot hold" not in " ".join(lesson.set("first", True).texts())
    assert "cannot hold" in " ".join(lesson.set("first", False).texts())
    lesson.press("door_precision")
    assert (lesson.at.session_state["setup"].run.dtype, lesson.errors()) == ("float16", [])


def test_queries_that_a_precision_cannot_hold_are_refused_in_words():
    lesson = Lesson("cost", open="precision", factor="20000", lang="en").set("text", "zyzzyva glorped")
    lesson.choose("dtype", "float16")
    assert all("Traceback" not in error for error in lesson.errors())


def test_the_softmax_block_by_block():
    lesson = Lesson("cost", open="stored", lang="en")
    assert lesson.says("After the last block, block 4: largest score 4.24, sum 1.07, z = (−0.93, 0.00)")
    lesson.set("seen", 1)
    assert lesson.says("After block 1 of 4: largest score 0.00, sum 1.01. The output over these keys alone is z = ")
    drawn = lesson.table("blocks")
    assert len(drawn[(drawn["panel"] == "row0") & (drawn["kind"] == "cell")]) == 2
    sums = drawn[(drawn["what"] == "total_1 [head 1, it]") & (drawn["kind"] == "cell")]["value"]
    assert [*map(float, sums)] == pytest.approx([1 + math.exp(-6 / math.sqrt(2))] * 2, abs=1e-12)
    lesson.set("block", 7)
    assert lesson.says("After the last block, block 1: largest score 4.24, sum 1.07")
    assert lesson.says("This one block is the whole row") and not lesson.says("No row was ever stored whole")
    assert lesson.set("said", "one").says("After the last block, block 1")


@pytest.mark.parametrize(
    ("language", "titles"),
    [
        ("en", ("mixed_4 (values so far) · head 1 · 7 × 2", "seen_outputs_4 (output so far) · head 1 · 7 × 2")),
        ("zh", ("当前加权和 mixed_4 · 头 1 · 7 × 2", "当前输出 seen_outputs_4 · 头 1 · 7 × 2")),
    ],
)
def test_the_running_steps_have_names(language, titles):
    lesson = Lesson("cost", open="stored", block="2", lang=language)
    assert {*titles} <= {*lesson.table("seen")["text"]}


def test_a_running_number_opens():
    lesson = Lesson("cost", open="stored", lang="en").click_cell("blocks", "total_2", "0,0,5")
    assert lesson.link()["cell"] == "blocks,,total_2,0,0,5"
    lesson.follow("blocks", "faded_2", [0, 0, 5]).follow("blocks", "maximum_2", [0, 0, 5])
    assert lesson.link()["cell"] == "blocks,,maximum_2,0,0,5"


def test_a_gpu_races_where_there_is_one(clocked, monkeypatch):
    assert "the GPU" not in Lesson("cost", lang="en").widgets()["race"].options
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    lesson = Lesson("cost", length="128", race="cuda", lang="en")
    assert lesson.errors() == []
    assert lesson.press("measure_cost_cuda").says("128 tokens, measured here: all pairs 0.13 ms")
    assert {case.device for case, _ in clocked} == {"cpu", "cuda"}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("differ", ["weights", "scale"])
def test_whole_trainings_are_told_as_measured(lang, differ):
    lesson = Lesson("cost", open="precision", precise="train", differ=differ, lang=lang)
    figures = PRECISION_FIGURES.rows
    name, what = ("alone", "still") if differ == "weights" else ("unscaled", "zero")
    share = statistics.median(statistics.fmean(seed[10:]) for seed in getattr(figures[name], what))
    assert lesson.says(f"{100 * share:.0f}") and lesson.says("145 KiB")
    drawn = lesson.table(load_app_texts(lang)["lessons.cost.losses_alt"])
    assert len(drawn[drawn["kind"] == "point"]) == 3 * 20


def test_gradients_move_out_of_what_float16_loses_as_the_loss_is_scaled():
    lesson = Lesson("cost", open="precision", precise="gradients", lang="en")
    zero = (trained_gradients("float16", 1.0) == 0).double().mean()
    assert lesson.says(f"**{100 * zero:.0f} %** of the 1,480 gradients are 0 in float16, and 0 % in float32")
    alt = load_app_texts("en")["lessons.cost.gradients_alt"]
    before = lesson.table(alt)["y"].sum()
    lesson.set("scale", 1024)
    assert lesson.says("With the loss multiplied by **1,024**") and not lesson.says(f"**{100 * zero:.0f} %**")
    assert lesson.table(alt)["y"].sum() == before == 1480


def test_a_lost_update_opens_to_its_sum():
    lesson = Lesson("cost", open="precision", precise="updates", lang="en")
    assert lesson.says("the next number after 1 is 1 + 1/1,024. Of 8 updates, **3** leave a weight of 1 unchanged")
    assert lesson.says("gives **1.00** if the weight is kept in float16, and 1.25 if a float32 master is kept")
    lesson.click_cell("updates", "moved", "6")
    (part,) = lesson.parts("arithmetic_cost_updates")
    assert [piece["text"] for piece in json.loads(part.proto.json)["pieces"]] == ["1.00", " + ", "0.00024", " = 1.00"]
    lesson.choose("number", "float32")
    assert lesson.says("Of 8 updates, **0** leave a weight of 1 unchanged")


@pytest.mark.parametrize("lang, word", [("en", "it"), ("zh", "它")])
def test_a_router_sends_each_word_to_the_head_in_which_it_asks(lang, word):
    """Of seven words three ask something, each in one head: 3 · 7 of 2 · 49 scores."""
    lesson = Lesson("cost", open="skip", lang=lang)
    (table,) = [text for text in lesson.texts() if text.startswith("|") and f"| {word} |" in text]
    rows = [row.split("|")[2:-1] for row in table.splitlines()[2:]]
    assert [sum("**" in cell for cell in row) for row in rows] == [0, 1, 0, 0, 0, 1, 1]
    assert "**" in rows[5][0] and "**" in rows[6][1]
    assert lesson.says({"en": "**21** of 98 scores", "zh": "98 个得分中，只计算了 **21** 个"}[lang])
    typed = Lesson("cost", open="skip", lang="en", routed="the dog")
    assert typed.says("**0** of 8 scores")
