"""Distance: influence against distance, steps and costs, measured time, fixed weights, the states of an RNN."""

import json
import math
import re
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import streamlit as st
import torch
from streamlit.runtime.scriptrunner import StopException

from attention_core.examples.examples import EXAMPLES
from attention_core.variants.encoders import Encoder, draw_layers, encode
from attention_core.variants.timing import Timing
from pages.lessons.distance import drawers
from pages.panels import progress
from pages.panels.word_changes import with_word
from pages.runs import cache
from pages.setup.setup import make_setup
from tests.golden import loader
from tests.screen.driver import softmax
from tests.screen.lesson import Lesson

HERO = "Influence of each word against its distance, a curve for each encoder"
TIME = "Measured time against length, a curve for each encoder"
FIGURES = loader.read(loader.STORIES)["measured"][
    "tanh RNN influence relative to distance 0, at 1, 5, 10, 19 (H=32, seed 0)"
]
PATHS = loader.read(loader.FOLDER / "s50_path_length.json")
BAND = loader.read(loader.FOLDER / "s49_cnn_as_fixed_attention.json")


def points(lesson, name, picture=HERO):
    """A curve as {x: y}, zeros of a logarithmic axis among them, as they are said."""
    table = lesson.table(picture)
    drawn = table[table["kind"].isin(["point", "zero"]) & (table["name"] == name)]
    return {float(row["x"]): float(row["said"].rpartition("→ ")[2].replace("−", "-")) for _, row in drawn.iterrows()}


def curves(lesson, picture=HERO):
    table = lesson.table(picture)
    return {*table[table["kind"].isin(["point", "zero"])]["name"]}


def line(lesson):
    """Where the upright line stands."""
    table = lesson.table(HERO)
    return table[table["kind"] == "rule"]["x"].item()


def vectors(name, text=None):
    """The words' vectors, from the dictionary alone."""
    lexicon = EXAMPLES[name].dictionary()
    rows, _ = lexicon.vectors_of((text or EXAMPLES[name].far).split())
    return torch.tensor(rows, dtype=torch.float64)


def norms(encoder, x, at):
    """Spectral norms of torch's own Jacobian."""
    layers = draw_layers(encoder, x.shape[1])
    slopes = torch.autograd.functional.jacobian(lambda words: encode(encoder, words, layers)[0, at], x)
    return [np.linalg.norm(slopes[:, s].numpy(), 2) for s in range(len(x))]


# ---- the hero --------------------------------------------------------------------------------------------------------
def test_it_opens_on_a_sentence_whose_ends_belong_together():
    lesson = Lesson("distance", lang="en")
    assert curves(lesson) == {"RNN", "LSTM", "CNN", "attention", "1/21"}
    assert line(lesson) == 20
    assert "Influence on “smiled” that comes from “Anna”, 20 back: attention" in lesson.fact()
    far = {name: points(lesson, name)[20] for name in ("RNN", "LSTM", "CNN", "attention")}
    assert far["attention"] > far["LSTM"] > far["RNN"] > far["CNN"] == 0  # the forget bias is 2
    assert far["attention"] == pytest.approx(1 / 21, rel=0.2)
    assert far["RNN"] < 0.01 < far["LSTM"]
    for name in ("RNN", "LSTM", "CNN", "attention"):
        assert sum(points(lesson, name).values()) == pytest.approx(1, abs=1e-9)
    assert points(lesson, "1/21") == {0: 1 / 21, 20: 1 / 21}
    chinese = Lesson("distance", lang="zh").fact()
    assert "“笑了”" in chinese and "“小红”（往前 16 个词）" in chinese


@pytest.mark.parametrize(
    "kind, name, chosen",
    [("lstm", "LSTM", {"keep": 2.0}), ("gru", "GRU", {"keep": 2.0}), ("rnn", "RNN", {"gain": 0.9})],
)
def test_the_curves_are_means_and_bands_of_torchs_jacobians(kind, name, chosen):
    lesson = Lesson("distance", words="en_it", kinds=kind, draws="2", lang="en")
    x, drawn = vectors("en_it"), []
    for seed in (0, 1):
        found = norms(Encoder(kind, seed=seed, **chosen), x, 20)
        drawn.append([number / sum(found) for number in found][::-1])
    shown = points(lesson, name)
    for distance in range(21):
        assert shown[distance] == pytest.approx((drawn[0][distance] + drawn[1][distance]) / 2, rel=1e-9)
    table = lesson.table(HERO)
    bands = table[table["kind"] == "band"].set_index("x")
    for distance in (0, 3):
        ends = sorted((drawn[0][distance], drawn[1][distance]))
        assert [bands.loc[distance, "y"], bands.loc[distance, "y2"]] == pytest.approx(ends, rel=1e-9)


def beads_of(lesson):
    """What the picture of beads is told."""
    (part,) = lesson.parts("distance_beads")
    return json.loads(part.proto.json, parse_constant=pytest.fail)


def test_a_bead_glows_as_much_as_its_word_arrives():
    lesson = Lesson("distance", draws="1", lang="en")
    data = beads_of(lesson)
    shown = {row["name"]: points(lesson, row["name"]) for row in data["rows"]}
    strongest = max(max(curve.values()) for curve in shown.values())
    assert data["words"][0] == "Anna" and data["words"][data["at"]] == "smiled" and data["at"] == 20
    for row in data["rows"]:
        for place, glow in enumerate(row["glows"]):
            share = shown[row["name"]][20 - place]
            assert glow == (pytest.approx(max(0, 1 + math.log10(share / strongest) / 2)) if share else None)
    (convolution,) = [row["glows"] for row in data["rows"] if row["name"] == "CNN"]
    assert convolution[:12] == [None] * 12 and None not in convolution[12:]  # 4 layers of window 3 see 8 back
    assert data["told"][0].startswith("“Anna”, 20 back: attention ")


def test_a_click_on_a_word_moves_the_distance_and_what_a_browser_makes_up_moves_nothing():
    lesson = Lesson("distance", draws="1", at="19", direction="both", lang="en")
    for sent in (21, -1, True, "3", None):
        lesson.send_part("distance_beads", "chosen", sent)
        assert "distance" not in lesson.link()
    lesson.send_part("distance_beads", "chosen", 20)
    assert lesson.link()["distance"] == "-1" and "1 ahead" in lesson.fact()
    data = beads_of(lesson)
    assert data["places"][data["slider"]["position"]] == 20


@pytest.mark.parametrize("gain, name", [(0.9, "orthogonal x0.9"), (1.0, "x1.0"), (1.2, "x1.2"), (1.5, "x1.5")])
def test_an_rnn_fades_or_explodes_by_its_gain(gain, name):
    chosen = {"words": "random", "length": "20", "measure": "relative", "draws": "1", "kinds": "rnn"}
    lesson = Lesson("distance", gain=str(gain), lang="en", **chosen)
    shown = points(lesson, "RNN")
    assert [round(shown[distance], 3) for distance in (1, 5, 10, 19)] == FIGURES[name]
    assert shown[0] == 1
    lesson.set("distance", 10)
    assert lesson.fact().startswith(
        "How much “x₂₀” depends on “x₁₀”, 10 back, as a multiple of how much it depends on its own word: RNN "
    )
    assert float(lesson.fact().rpartition(" ")[2].rstrip(".")) == pytest.approx(FIGURES[name][2], rel=0.06)


def captions(lesson):
    return " ".join(caption.value for caption in lesson.at.caption)


def test_a_recurrence_vanishes_or_explodes_and_is_called_so():
    lesson = Lesson("distance", lang="en", kinds="rnn,lstm", gain="1.5", keep="4", draws="1")
    shown = {name: points(lesson, name) for name in ("RNN", "LSTM")}
    told = captions(lesson)
    for name, curve in shown.items():
        logs = [math.log(curve[distance + 1] / curve[distance]) for distance in range(1, 20)]
        factor = math.exp(sum(logs) / len(logs))  # a step after the other
        left = curve[20] / curve[1]
        verdict = "**vanishes**" if left < 0.5 else "**holds**" if factor < 1 else "**explodes**"
        sentence = re.search(rf"{name}: each word of distance (.*?)\.( |$)", told.replace("on average. ", ""))[1]
        assert sentence.startswith(f"multiplies the influence by **{factor:.2g}**") and verdict in sentence
        assert left >= 1 or f"{100 * left:.2g} %" in sentence
    opening = captions(Lesson("distance", lang="en"))  # where LSTM and attention are one line
    assert "RNN: each word of distance" in opening and opening.count("**vanishes**") == opening.count("**holds**") == 1
    fading = captions(Lesson("distance", lang="zh", kinds="rnn"))
    assert "梯度消失" in fading and "梯度爆炸" not in fading


def test_random_attention_is_nearly_even_and_the_forget_bias_decides_what_an_lstm_keeps():
    chosen = {"words": "random", "length": "128", "draws": "1", "lang": "en"}
    attention = points(Lesson("distance", kinds="attention", **chosen), "attention")
    assert 0.5 < 128 * sum(attention[distance] for distance in range(1, 128)) / 127 < 1.1
    kept = [points(Lesson("distance", kinds="lstm", keep=str(bias), **chosen), "LSTM")[20] for bias in (0, 1, 2, 4)]
    assert kept[0] < 1e-4 < kept[1] < kept[2]
    assert Lesson("distance", kinds="lstm", **chosen).says("plus the bias chosen here in the gate that keeps the state")


def test_the_distance_moves_the_line_and_the_sentence():
    lesson = Lesson("distance", lang="en")
    for distance, word in ((0, None), (3, "that"), (14, "dog"), (20, "Anna")):
        lesson.set("distance", distance)
        assert line(lesson) == distance
        assert (f"“{word}”, {distance} back" if word else "its own word") in lesson.fact()
        told = {name: points(lesson, name)[distance] for name in ("RNN", "LSTM", "CNN", "attention")}
        order = sorted(told, key=told.get, reverse=True)
        assert [part.split()[0] for part in lesson.fact().rpartition(": ")[2].split(", ")] == order
    assert "CNN 0 %" in lesson.fact()


def test_both_sides_are_heard_in_both_directions_and_one_in_one():
    lesson = Lesson("distance", kinds="rnn,gru,lstm,cnn,attention", draws="1", lang="en")
    assert min(points(lesson, "LSTM")) == 0
    lesson.choose("direction", "both sides")
    assert "Influence on “train”" in lesson.fact()  # the word in the middle
    for name in ("RNN", "GRU", "LSTM", "attention"):
        shown = points(lesson, name)
        assert [min(shown), max(shown)] == [-10, 10]
        assert all(share > 0 for share in shown.values())
    assert {distance for distance, share in points(lesson, "CNN").items() if share} == {*range(-4, 5)}
    lesson.set("distance", -10)
    assert "“smiled”, 10 ahead" in lesson.fact()
    lesson.set("at", 0)
    assert [min(points(lesson, "LSTM")), max(points(lesson, "LSTM"))] == [-20, 0]


def test_convolutions_are_exactly_silent_beyond_their_receptive_field():
    lesson = Lesson("distance", layers="3", window="5", lang="en")
    assert {distance for distance, share in points(lesson, "CNN").items() if share} == {*range(13)}  # 1 + 3 (5 - 1)
    table = lesson.table(HERO)
    assert {*table[(table["name"] == "CNN") & (table["kind"] == "zero")]["x"]} == {*range(13, 21)}


def test_a_gate_that_keeps_reaches_farther():
    lesson = Lesson("distance", kinds="lstm", keep="0", lang="en")
    before = points(lesson, "LSTM")[20]
    assert points(lesson.set("keep", 3), "LSTM")[20] > 100 * before


def test_any_sentence_up_to_128_words_and_what_is_none():
    lesson = Lesson("distance", draws="1", lang="en").set("text", "the dog barked")
    assert lesson.fact().startswith("Influence on “barked” that comes from “the”, 2 back: ")
    lesson.set("text", "hello")
    assert lesson.fact() == (
        "Influence on “hello” that comes from its own word: RNN 100 %, LSTM 100 %, CNN 100 %, attention 100 %."
    )
    assert "distance" not in lesson.widgets()
    lesson.set("text", " ".join(["so"] * 128))
    assert lesson.errors() == [] and max(points(lesson, "attention")) == 127
    assert points(lesson, "attention")[127] == pytest.approx(1 / 128, rel=1e-9)  # equal words are heard alike
    lesson.set("text", " ".join(["so"] * 129))
    assert len(lesson.errors()) == 1 and "at most 128 tokens" in lesson.errors()[0]
    assert max(points(lesson, "attention")) == 127
    lesson.set("text", "Anna smiled").set("kinds", [])
    assert lesson.fact() == "Influence on “smiled” that comes from “Anna”, 1 back: no encoder selected."


def test_the_race_is_over_where_the_one_behind_comes_ahead():
    lesson = Lesson("distance", lang="en")
    one, other = points(lesson, "LSTM"), points(lesson, "attention")
    turn = next(distance for distance in range(21) if other[distance] > one[distance])
    assert 0 < turn < 20 and "Race: one of the two encoders leads at short distance" in next(iter(lesson.goals()))
    assert "Answer" not in next(iter(lesson.goals()))
    lesson.set("distance", turn)
    assert f"Overtaken: at distance {turn}, attention" in next(iter(lesson.goals()))
    lesson.set("distance", 20).ran(next(t for t in lesson.at.toggle if t.key == "c_reveal").set_value(True).run)
    assert f"Answer: {turn}." in next(iter(lesson.goals()))
    lesson.choose("other", "LSTM")
    assert any("choose two different encoders" in caption.value for caption in lesson.at.caption)
    lesson.choose("kinds", "RNN", "GRU").set("gain", 1.5)
    lesson.choose("measure", "against its own word")
    assert all(points(lesson, "RNN")[at] > points(lesson, "GRU")[at] for at in range(1, 21))
    assert any("neither overtakes" in caption.value for caption in lesson.at.caption)


@pytest.mark.parametrize("link", [{"words": "en_it"}, {"words": "random", "length": "32", "direction": "both"}])
def test_the_workbench_gets_exactly_the_attention_of_the_first_draw(link):
    lesson = Lesson("distance", draws="1", lang="en", **link).press("door_workbench")
    setup = lesson.at.session_state["setup"]
    trace, both = cache.trace_for(setup), "direction" in link
    encoder = Encoder("attention", both=both)
    x = trace["x"][0]
    expected = encode(encoder, x, draw_layers(encoder, x.shape[1]))
    assert torch.allclose(trace["output"], expected, atol=1e-12, rtol=0)
    assert torch.equal(x, vectors("en_it")) or x.shape == (32, 32)
    assert not Lesson("distance", words="random", length="128", draws="1").at.get("popover")


# ---- what does an RNN do, word by word? ------------------------------------------------------------------------------
def test_states_come_one_after_the_other():
    lesson = Lesson("distance", words="en_it", text="Anna fed the dog", open="states", gain="1.2", lang="en")
    x = vectors("en_it", "Anna fed the dog")
    ((weights,),) = draw_layers(Encoder("rnn", width=4, gain=1.2), 4)
    states, h = [], np.zeros(4)
    for word in x.numpy():
        h = np.tanh(word @ weights.w_x.numpy() + h @ weights.w_h.numpy())
        states.append(h)
    for t, word in enumerate(("Anna", "fed", "the", "dog")):
        lesson.set("t", t)
        after, before = ("h₁", "h₂", "h₃", "h₄")[t], ("h₀", "h₁", "h₂", "h₃")[t]
        assert lesson.says(f"Step {t + 1}: **{after}** is computed from the word “{word}” and from **{before}**")
        assert lesson.says(f"words still waiting: {3 - t}.")
        for n in range(4):
            assert lesson.number("step", f"h_{t + 1} [{n + 1}]") == pytest.approx(states[t][n], abs=1e-12)
            assert lesson.number("states", f"states [{n + 1}, {word}]") == pytest.approx(states[t][n], abs=1e-12)
        table = lesson.table("states")
        assert (table["kind"] == "cell").sum() == 4 * (t + 1)  # later words are not there yet


def test_of_many_states_the_last_ones_are_drawn_which_is_said():
    lesson = Lesson("distance", words="en_it", open="states", t="20", draws="1", lang="en")
    table = lesson.table("states")
    assert (table["kind"] == "cell").sum() == 4 * 18
    assert "the states h₄ to h₂₁, one after the other" in [*table["text"]]
    assert {*table[table["kind"] == "cell"]["index"].str.split(",").str[2]} == {str(t) for t in range(3, 21)}
    lesson.set("text", " ".join(f"w{n}" for n in range(128))).set("t", 127)
    assert "the states h₁₁₁ to h₁₂₈, one after the other" in [*lesson.table("states")["text"]]


def test_a_state_is_followed_back_to_the_first_word():
    lesson = Lesson("distance", words="en_it", text="Anna fed the dog", open="states", t="3", lang="en")
    lesson.click_cell("step", "h_4", "0,0")
    for t in (3, 2, 1):
        lesson.follow("step", f"h_{t}", [0, 0])
        assert lesson.link()["cell"] == f"step,,h_{t},0,0"
    lesson.follow("step", "x", [0, 0, 0])
    assert lesson.link()["cell"] == "step,,x,0,0,0"


def test_one_word_has_one_state():
    lesson = Lesson("distance", words="en_it", text="dog", open="states,cost,time,fixed", lang="en")
    assert lesson.says("Step 1: **h₁** is computed from the word “dog” and from **h₀**") and lesson.errors() == []


# ---- how many steps, and how many must wait? -------------------------------------------------------------------------
def rows_of_costs(lesson):
    (table,) = lesson.at.table
    return {kind: numbers for kind, *numbers in table.value.values}


def test_steps_and_costs_by_hand():
    """21 words of width 4 at width 32, 20 apart."""
    lesson = Lesson("distance", words="en_it", kinds="rnn,gru,lstm,cnn,attention", open="cost", lang="en")
    recurrence = 21 * 32 * (4 + 32)
    assert rows_of_costs(lesson) == {
        "RNN": ["20", "21", f"{recurrence:,}", f"{32 * (4 + 32 + 1):,}"],
        "GRU": ["20", "21", f"{3 * recurrence:,}", f"{3 * 32 * (4 + 32 + 1):,}"],
        "LSTM": ["20", "21", f"{4 * recurrence:,}", f"{4 * 32 * (4 + 32 + 1):,}"],
        "CNN": ["10", "4", f"{21 * 3 * (4 + 3 * 32) * 32:,}", f"{3 * (4 + 3 * 32) * 32:,}"],
        "attention": ["1", "1", f"{3 * 21 * 4 * 32 + 2 * 21 * 21 * 32:,}", f"{3 * 4 * 32:,}"],
    }
    assert any("Each number was found twice" in caption.value for caption in lesson.at.caption)


def test_path_lengths_of_the_golden_file():
    lesson = Lesson("distance", words="random", length="64", direction="both", open="cost", draws="1", lang="en")
    expected = PATHS["expected"]
    for n, distance in enumerate(PATHS["inputs"]["distances"]):
        rows = rows_of_costs(lesson.set("distance", distance))
        for kind, name in (("RNN", "rnn_steps"), ("CNN", "cnn_layers"), ("attention", "attention_layers")):
            assert int(rows[kind][0]) == expected[name][n]


def test_a_difference_of_formula_and_count_is_said(monkeypatch):
    found = drawers.cached_encoder_cost
    monkeypatch.setattr(drawers, "cached_encoder_cost", lambda *given: replace(found(*given), searched_path=3))
    lesson = Lesson("distance", words="en_it", open="cost", lang="en")
    assert any("do not agree" in caption.value for caption in lesson.at.caption)


def test_how_steps_and_products_grow():
    lesson = Lesson("distance", open="cost", lang="en")
    shown = points(lesson, "CNN", "steps from first to last word")
    assert shown == {n: math.ceil((n - 1) / 2) for n in (8, 16, 32, 64, 128, 256, 512, 1024)}
    lesson.choose("growth", "multiply-adds")
    shown = points(lesson, "attention", "multiply-adds")
    assert shown[1024] == 3 * 1024 * 4 * 32 + 2 * 1024 * 1024 * 32
    lesson.choose("growth", "sequential steps")
    assert points(lesson, "LSTM", "sequential steps")[512] == 512
    assert {*points(lesson, "attention", "sequential steps").values()} == {1}


@pytest.mark.parametrize("layers, window, both", [(1, 3, False), (2, 3, True), (3, 5, False), (5, 3, True)])
def test_the_receptive_field_is_drawn_word_by_word(layers, window, both):
    chosen = {"deep": str(layers), "window": str(window), "direction": "both" if both else "one"}
    lesson = Lesson("distance", words="random", length="16", open="cost", draws="1", lang="en", **chosen)
    field = 1 + layers * (window - 1)
    assert lesson.says(f"**receptive field** of a position far from both ends is 1 + L(w − 1) = **{field}** words")
    back = field // 2 if both else field - 1
    table = lesson.table("field")
    heard = {
        tuple(row["index"].split(",")): row["text"] == "✓" for _, row in table[table["panel"] == "result"].iterrows()
    }
    for i in range(12):
        for j in range(12):
            assert heard[str(i), str(j)] == (-back * both <= i - j <= back), (i, j)


def test_exact_fields_of_the_golden_file():
    lesson = Lesson("distance", open="cost", direction="both", lang="en")
    for layers, field in PATHS["expected"]["cnn_receptive_field_after_layers"].items():
        if int(layers) <= 8:
            assert lesson.set("deep", int(layers)).says(f"= **{field}**")


# ---- how long does it take? ------------------------------------------------------------------------------------------
def test_nothing_is_measured_before_it_is_asked_for(monkeypatch):
    calls = []

    def timed(encoder, length):
        calls.append((encoder.kind, length))
        return Timing({"lstm": 1e-5 * length, "attention": 1e-8 * length**2}[encoder.kind], 5)

    monkeypatch.setattr(drawers, "encoding_time", timed)
    lesson = Lesson("distance", kinds="lstm,attention", open="time", lang="en")
    assert calls == [] and TIME not in lesson.charts()
    lesson.press("measure_distance_time")
    assert calls == [(kind, length) for length in (64, 128, 256, 512, 1024) for kind in ("lstm", "attention")]
    assert curves(lesson, TIME) == {"LSTM, slope 1.00", "attention, slope 2.00"}
    assert points(lesson, "attention, slope 2.00", TIME)[512] == pytest.approx(1e-8 * 512**2)
    assert lesson.says("On this machine, 1,024 words take: LSTM 10 ms (slope 1.00), attention 10 ms (slope 2.00).")
    lesson.set("distance", 3)  # what was measured stays
    assert len(calls) == 10 and TIME in lesson.charts()


def test_measuring_is_stopped_by_a_button_and_what_is_there_stays(monkeypatch):
    calls = []

    def timed(encoder, length):
        assert "stop_distance" in st.session_state  # the button is there
        if length == 512:
            raise StopException  # as when it is pressed
        calls.append(length)
        return Timing(1e-6 * length, 5)

    monkeypatch.setattr(drawers, "encoding_time", timed)
    lesson = Lesson("distance", kinds="lstm", open="time", lang="en").press("measure_distance_time")
    lesson.ran(lesson.at.run)
    assert calls == [64, 128, 256]
    assert lesson.says("On this machine, 256 words take: LSTM 0.26 ms (slope 1.00).")


def test_a_real_measurement():
    lesson = Lesson("distance", kinds="rnn,attention", open="time", lang="en").press("measure_distance_time")
    drawn = curves(lesson, TIME)
    assert len(drawn) == 2
    for name in drawn:
        assert all(0 < seconds < 60 for seconds in points(lesson, name, TIME).values())


def test_long_work_for_the_picture_is_stopped_by_drawing_fewer_weights(monkeypatch):
    ticks, pressed, button = count(), [], st.button

    def press(label, **how):
        if how.get("key") == "stop_distance" and not pressed:
            pressed.append(label)
            how["on_click"]()
            raise StopException
        return button(label, **how)

    monkeypatch.setattr(progress, "perf_counter", lambda: float(next(ticks)))  # each look at the clock a second later
    monkeypatch.setattr(st, "button", press)
    lesson = Lesson("distance", lang="en")
    assert pressed == ["Stop"]
    lesson.ran(lesson.at.run)
    assert lesson.slider("draws")["value"] == 1 and lesson.link()["draws"] == "1"
    assert lesson.says("the line is that of a single draw")


# ---- is a convolution an attention? ----------------------------------------------------------------------------------
def band_of(lesson, picture="band", count=7):
    table = lesson.table(picture)
    cells = table[(table["panel"] == "result") & table["kind"].isin(["cell", "blocked"])].drop_duplicates("index")
    return np.array([float(value.replace("−", "-")) for value in cells["value"]]).reshape(count, count)


def test_a_kernel_is_a_fixed_band_of_weights_and_its_output_the_convolution():
    lesson = Lesson("distance", words="en_it", open="fixed", lang="en")
    band = band_of(lesson)
    golden = np.array(BAND["expected"]["weights"])
    assert np.array_equal(band[:5, :6], golden[:5])  # six words there, seven here
    x = vectors("en_it", "Anna fed the dog and it barked").numpy()
    expected = sum(tap * np.pad(x, ((1, 1), (0, 0)))[m : m + 7] for m, tap in enumerate((0.2, 0.5, 0.3)))
    table = lesson.table("conv")
    for step in ("output", "convolved"):
        shown = [float(value.replace("−", "-")) for value in table[table["step"] == step]["value"]]
        assert np.reshape(shown, (7, 4)) == pytest.approx(expected, abs=1e-12)
    assert lesson.says("gives exactly the same numbers") or lesson.says("is at most")
    lesson.set("kernel", "1, 0, 0, 0, −2")
    band = band_of(lesson)
    assert [band[3, j] for j in range(7)] == [0, 1, 0, 0, 0, -2, 0]


def test_a_word_is_exchanged_and_no_fixed_weight_moves():
    lesson = Lesson("distance", words="en_it", open="fixed", lang="en")
    own = make_setup(example="en_it")
    before, now = (cache.trace_for(setup)["weights"][0, 0] for setup in (own, with_word(own, 5, "she")))
    clearly = (now - before).abs() > 4 * torch.finfo(torch.float64).eps
    assert clearly.nonzero().tolist() == [[5, 0], [5, 3]]  # Anna and the dog; the others as this CPU rounds their sum
    told = "“it” becomes “she”. Of the 49 weights that do not depend on words, 0 change; of those of attention, "
    assert lesson.figure(told) == 2
    before = band_of(lesson)
    lesson.set("said", "the cat saw a bird and flew")
    assert np.array_equal(band_of(lesson), before)
    assert lesson.says("Of the 49 weights that do not depend on words, 0 change")


def test_weights_by_position_alone():
    lesson = Lesson("distance", words="en_it", open="fixed", fixed="position", lang="en")
    shown = band_of(lesson)
    for i in range(7):
        scores = [4.0 if j == i - 1 else 0.0 for j in range(7)]
        assert [*shown[i]] == pytest.approx([softmax(scores, j) for j in range(7)], abs=1e-12)
    assert lesson.says("Of the 49 weights that do not depend on words, 0 change")
    assert "conv" not in lesson.charts()
    lesson.set("position", "0, 0, 9")
    assert band_of(lesson)[2, 3] == pytest.approx(softmax([0, 0, 0, 9, 0, 0, 0], 3), abs=1e-12)


@pytest.mark.parametrize("kind, picture", [("kernel", "band"), ("position", "band")])
def test_the_workbench_gets_the_fixed_weights(kind, picture):
    lesson = Lesson("distance", words="en_it", open="fixed", fixed=kind, lang="en")
    shown = band_of(lesson, picture)
    lesson.press("door_fixed")
    trace = cache.trace_for(lesson.at.session_state["setup"])
    assert trace["weights"][0, 0].numpy() == pytest.approx(shown, abs=1e-12)
    assert trace.labels["S"] == ("Anna", "fed", "the", "dog", "and", "it", "barked")


def test_a_kernel_that_cannot_be_read_is_refused_at_its_place():
    lesson = Lesson("distance", words="en_it", open="fixed", lang="en")
    before = band_of(lesson)
    lesson.set("kernel", "one half")
    assert len(lesson.errors()) == 1 and "must be a number" in lesson.errors()[0]
    assert np.array_equal(band_of(lesson), before)
    assert "at most 15 numbers" in lesson.set("kernel", "1 " * 16).errors()[0]
    assert "type one word" in lesson.set("kernel", "1").set("into", "two words").errors()[0]


@pytest.mark.parametrize("steps, complete", [(2, "no word yet"), (3, "dog"), (5, "the, big, dog, barked, loudly")])
def test_two_passes_meet_word_by_word(steps, complete):
    lesson = Lesson("distance", open="states", passes="both", text="the big dog barked loudly", lang="en")
    lesson.set("passed", steps)
    assert lesson.says(f"Step {steps} of 5: the first pass has reached")
    assert lesson.says(f"Both are already computed for: {complete}.")
    states = lesson.table("states_back")
    assert len({*states[states["kind"] == "cell"]["index"]}) == steps * 4


def test_two_passes_of_an_lstm_are_torchs_and_a_state_leads_to_gates_cells_and_words():
    """D and width 4; the bias of the forget gate is that of the slider: 2 where none is chosen."""
    text = "the big dog barked loudly"
    link = {"open": "states", "words": "en_it", "passes": "both", "text": text, "lang": "en"}
    lesson = Lesson("distance", **link)
    assert lesson.says("it is a **bidirectional LSTM**: choose it above") and "gates" not in lesson.charts()
    for keep in (2, 4):
        lesson = Lesson("distance", **link, unit="lstm", passed="5", keep=str(keep))
        assert lesson.says("A **bidirectional LSTM**: each step also has a cell and three gates")
        assert lesson.says(f"the bias of the forget gate is {keep}, as chosen above")
        encoder = Encoder("lstm", width=4, both=True, keep=keep)
        x = vectors("en_it", text)
        layer = torch.nn.LSTM(4, 4, bidirectional=True, batch_first=True, dtype=torch.float64)
        with torch.no_grad():
            for weights, ending in zip(draw_layers(encoder, 4)[0], ("", "_reverse"), strict=True):
                getattr(layer, f"weight_ih_l0{ending}").copy_(weights.w_x.T)
                getattr(layer, f"weight_hh_l0{ending}").copy_(weights.w_h.T)
                getattr(layer, f"bias_ih_l0{ending}").copy_(weights.b)
                getattr(layer, f"bias_hh_l0{ending}").zero_()
            expected = layer(x[None])[0][0]  # (5, 8)
        for t, word in enumerate(text.split()):
            for n in range(4):
                onward = lesson.number("states", f"states [{n + 1}, {word}]")
                back = lesson.number("states_back", f"states_back [{n + 1}, {word}]")
                assert [onward, back] == pytest.approx([expected[t, n].item(), expected[t, 4 + n].item()], abs=1e-10)
    lesson.click_cell("states", "states", "0,1,4")
    way = ("h_5", "cell_5", "forget_gate_5", "h_4", "output_gate_4")
    for step in way:
        lesson.follow("states", step, [0, 1])
        assert lesson.link()["cell"] == f"states,,{step},0,1"
    lesson.follow("states", "x", [0, 3, 0])
    assert lesson.link()["cell"] == "states,,x,0,3,0"


def test_the_gates_of_the_newest_state_stand_below_each_other():
    lesson = Lesson("distance", open="states", passes="both", unit="lstm", words="en_it", text="the dog", lang="en")
    lesson.set("passed", 2)

    def row(step):
        return np.array([lesson.number("gates", f"{step} [{n + 1}]") for n in range(4)])

    kept, added = row("forget_gate_2") * row("cell_1"), row("input_gate_2") * row("candidate_2")
    assert row("cell_2") == pytest.approx(kept + added, abs=1e-12)
    assert row("h_2") == pytest.approx(row("output_gate_2") * np.tanh(row("cell_2")), abs=1e-12)
    assert {
        "cell₁: the cell so far",
        "forget_gate₂: how much of the cell stays",
        'candidate₂: new content from "dog"',
        "input_gate₂: how much is added",
        "cell₂: what stayed + what came in",
        "output_gate₂: how much passes",
        "h₂: what passes of tanh(cell₂)",
    } <= {*lesson.table("gates")["text"]}
    one = Lesson("distance", open="states", passes="both", unit="lstm", words="en_it", text="dog", lang="en")
    assert one.says("Step 1 of 1") and one.errors() == []
