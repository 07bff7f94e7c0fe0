"""The screen without a browser: controls, refusals, links, undo, sessions. Numbers are read off the pictures."""

import json
import logging
import math
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
import torch
from streamlit import config
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.testing.v1 import AppTest

from attention_core.errors import AttentionError
from attention_core.examples import EXAMPLES
from attention_core.scores import SCORES
from attention_core.starting import random_matrix
from attention_core.tokens import word_vector
from pages.shared import inputs, words
from pages.shared import runs as runs_of
from pages.shared.setup import MOST_HEADS, Setup, to_link
from pages.shared.words import JOINER, LANGUAGES, catalog, literal

ROOT = Path(__file__).parents[1]
STORIES = json.loads((ROOT / "tests" / "golden" / "stories.json").read_text(encoding="utf-8"))["examples"]
WORDS = ("Anna", "fed", "the", "dog", "and", "it", "barked")
KINDS = (
    "text_input",
    "text_area",
    "number_input",
    "selectbox",
    "multiselect",
    "toggle",
    "select_slider",
    "button_group",
)
config.set_option("client.showErrorDetails", "full")
logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True


@pytest.fixture(autouse=True)
def labels_are_read_in_the_language_of_the_screen(monkeypatch):
    """AppTest asks for the labels of a choice outside the session, where its language is not known."""
    inside = words.language
    monkeypatch.setattr(words, "language", lambda: inside() if get_script_run_ctx() else Screen.outside)


def plain(markdown):
    """What Markdown that `literal` wrote shows."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace(JOINER, "")


class Screen:
    """One session. Every run must end without an exception."""

    outside = "en"  # the language of the session that runs, for what AppTest asks outside of it

    def __init__(self, **link):
        self.at = AppTest.from_file(ROOT / "pages" / "shared" / "router.py", default_timeout=60)
        self.at.query_params.update(link)
        self.language = "en"
        self.ran(self.at.run)

    def ran(self, act, *args):
        Screen.outside = self.language
        act(*args)
        assert not self.at.exception, [(e.message, e.stack_trace) for e in self.at.exception]
        self.language = self.tiles()["language"][:2]
        return self

    # ---- what a visitor does
    def widget(self, key):
        found = [widget for kind in KINDS for widget in self.at.get(kind) if widget.key == f"c_{key}"]
        assert len(found) == 1, (key, found)
        return found[0]

    def set(self, key, value):
        return self.ran(self.widget(key).set_value(value).run)

    def press(self, key):
        return self.ran(next(button for button in self.at.button if button.key == key).click().run)

    def press_labelled(self, label):
        return self.ran(next(button for button in self.at.button if button.label == label).click().run)

    def paste(self, text):
        """Into the box of the weight editors."""
        return self.ran(self.paste_box().set_value(text).run)

    def paste_box(self):
        return next(area for area in self.at.text_area if area.key.startswith("p_"))

    def send(self, widget_id, **value):
        """What the browser sends when a part without a Python face of its own was used."""
        Screen.outside = self.language
        states = self.at._tree.get_widget_states()
        for old in [state for state in states.widgets if state.id == widget_id]:
            states.widgets.remove(old)
        state = states.widgets.add(id=widget_id)
        for kind, given in value.items():
            setattr(state, kind, given)
        return self.ran(self.at._run, states)

    def edit_cells(self, rows):
        """Numbers typed into the cells of the weight editor: {row: {column: number}}, from 0; None empties a cell."""
        (editor,) = [frame for frame in self.at.get("dataframe") if frame.proto.id]
        columns = list(editor.value.columns)
        cells = {str(row): {columns[column]: number for column, number in line.items()} for row, line in rows.items()}
        typed = {"edited_rows": cells, "added_rows": [], "deleted_rows": []}
        return self.send(editor.proto.id, string_value=json.dumps(typed))

    def click_cell(self, picture, step, index=""):
        turn = int(self.table(picture)["turn"].iloc[0])
        points = {"selection": {"cell": [{"step": step, "index": index, "turn": turn}]}}
        return self.send(self.charts()[picture].proto.id, string_value=json.dumps(points))

    def click_part(self, name, event, value):
        (part,) = [part for part in self.at.get("bidi_component") if part.proto.id.endswith(f"-{name}")]
        trigger = f"$$STREAMLIT_INTERNAL_KEY_{part.proto.id}__events"
        return self.send(trigger, json_trigger_value=json.dumps([{"event": event, "value": value}]))

    # ---- what a visitor sees
    def charts(self):
        return {chart.proto.id.rpartition("-")[2]: chart for chart in self.at.get("vega_lite_chart")}

    def table(self, picture):
        return convert_arrow_bytes_to_pandas_df(self.charts()[picture].proto.data.data)

    def weight(self, query, key, head=0):
        """The number behind a cell of a head's map."""
        cells = self.table(f"map{head}")
        (row,) = cells[cells["index"] == f"0,{head},{query},{key}"].to_dict("records")
        return float(row["value"].replace("−", "-"))

    def blocked(self, head=0):
        cells = self.table(f"map{head}")
        return int((cells["kind"] == "blocked").sum())

    def maps(self):
        return [name for name in self.charts() if name.startswith("map")]

    def steps(self):
        """The steps on the strip, in order."""
        groups = [self.table(name) for name in self.charts() if name.startswith("strip_")]
        return list(dict.fromkeys(step for group in groups for step in group["step"] if step))

    def open_step(self, step):
        """A click on a small map of the strip."""
        group = next(name for name in self.charts() if name.startswith("strip_") and step in set(self.table(name).step))
        return self.click_cell(group, step)

    def fact(self):
        (found,) = [text.value for text in self.at.markdown if text.value.startswith("##### ")]
        return plain(found.removeprefix("##### "))

    def tiles(self, name="tiles"):
        (part,) = [part for part in self.at.get("bidi_component") if part.proto.id.endswith(f"-{name}")]
        return json.loads(part.proto.json, parse_constant=pytest.fail)  # NaN is no JSON

    def arithmetic(self):
        (part,) = [part for part in self.at.get("bidi_component") if part.proto.id.endswith("-arithmetic")]
        return json.loads(part.proto.json)

    def pieces(self):
        return self.arithmetic()["pieces"]

    def follow(self, step, index):
        """A click on a number of the arithmetic, or on a cell of the way back."""
        return self.click_part("arithmetic", "followed", {"step": step, "index": index})

    def captions(self):
        return [plain(caption.value) for caption in self.at.caption]

    def errors(self):
        return [plain(error.value) for error in self.at.error]

    def link(self):
        return dict(self.at.query_params)

    def setup(self):
        return self.at.session_state["setup"]

    def error_at(self, key):
        """The refusal that stands directly under a control."""
        order = [node for node in walk(self.at._tree) if getattr(node, "key", None) or node.type == "error"]
        at = next(n for n, node in enumerate(order) if getattr(node, "key", None) == key)
        following = order[at + 1 : at + 2]
        return plain(following[0].value) if following and following[0].type == "error" else None


def walk(node):
    for child in getattr(node, "children", {}).values():
        yield child
        yield from walk(child)


def softmax(scores, at):
    powers = [math.exp(score) for score in scores]
    return powers[at] / sum(powers)


def it_to_dog(sharpness):
    """The weight of dog for "it", whose scores are 6 for dog, -6 for Anna and 0 for five others, times a factor."""
    return softmax([-6 * sharpness, 0, 0, 6 * sharpness, 0, 0, 0], 3)


# ---- cold, on every example, in both languages -----------------------------------------------------------------------
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_opens_cold(name, language):
    screen, example = Screen(ex=name, lang=language), EXAMPLES[name]
    assert screen.errors() == []
    assert screen.link() == ({"lang": language} if name == "en_it" else {"ex": name, "lang": language})
    assert [tile["text"] for tile in screen.tiles()["tokens"]] == list(example.tokens)
    assert screen.widget("example").label == catalog(language)["control.example"]
    if name in STORIES and example.focus:
        (head, query), weights = example.focus, STORIES[name]["expected"]["weights"]
        row = weights[head][query] if np.ndim(weights) == 3 else weights[query]
        keys = example.context_tokens or example.tokens
        share = max(row)
        assert f"“{example.tokens[query]}”" in screen.fact()
        assert re.search(rf"\b{100 * share:.0f} ?%", screen.fact())
        if share > min(row):
            assert all(f"“{keys[at]}”" in screen.fact() for at, other in enumerate(row) if share - other < 1e-9)
        else:
            assert "evenly" in screen.fact() or "平均分配" in screen.fact()
        shown = [screen.weight(query, at, head) for at in range(len(row))]
        np.testing.assert_allclose(shown, row, rtol=0, atol=1e-10)


def test_the_first_sentence_in_two_languages():
    english = "Head 1: “it” gives 93 % of its attention to “dog”, 6.5 times an even share."
    chinese = "头 1：“it”把 93% 的注意力给了“dog”，是均匀分配时的 6.5 倍。"
    assert Screen().fact() == english
    screen = Screen(lang="zh")
    assert screen.fact() == chinese
    assert screen.set("lang", "en").fact() == english
    assert screen.link() == {"lang": "en"}
    assert screen.set("lang", "zh").fact() == chinese


def test_an_unknown_language_is_no_trouble():
    screen = Screen(lang="xx")
    assert screen.errors() == [] and screen.fact().startswith("Head 1")


def test_the_browsers_language_is_the_first_choice():
    at = AppTest.from_file(ROOT / "pages" / "shared" / "router.py", default_timeout=60)
    at.context["locale"] = "zh-CN"
    at.run()
    assert any("注意力" in text.value for text in at.markdown)


# ---- each control changes what it says -------------------------------------------------------------------------------
def test_one_head_of_two_leaves_one_map():
    screen = Screen()
    assert screen.maps() == ["map0", "map1"]
    screen.set("heads", 1)
    assert screen.maps() == ["map0"]
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(1 / 2), abs=1e-12)  # one head of width 4: scale 1/2
    assert screen.link() == {"heads": "1"}


def test_more_heads_are_shown_small():
    screen = Screen().set("heads", 4)
    assert len(screen.maps()) == 1
    assert "heads" in screen.charts()


def test_fewer_key_value_heads():
    screen = Screen().set("kv_heads", 1)
    assert screen.link() == {"kv": "1"}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)  # both heads read the first one's keys
    assert screen.weight(1, 0, head=1) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)


def test_every_score():
    screen = Screen()
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    assert screen.set("score", "dot").weight(5, 3) == pytest.approx(it_to_dog(1), abs=1e-12)
    assert screen.set("score", "general").weight(5, 3) == pytest.approx(it_to_dog(1), abs=1e-12)  # W_a is the identity
    assert screen.set("score", "cosine").weight(5, 3) == pytest.approx(it_to_dog(1 / 6), abs=1e-12)  # ±1 or 0
    screen.set("score", "additive")
    w_aq, w_ak, v_a = (
        random_matrix(name, shape) for name, shape in (("w_aq", (2, 2)), ("w_ak", (2, 2)), ("v_a", (1, 2)))
    )
    keys = [(1, -1), (0, 0), (0, 0), (-1, 1), (0, 0), (0, 0), (0, 0)]
    scores = [float(np.tanh(np.array([-3, 3]) @ w_aq + np.array(key) @ w_ak) @ v_a[0]) for key in keys]
    assert screen.weight(5, 3) == pytest.approx(softmax(scores, 3), abs=1e-12)
    assert "hidden" in screen.steps()
    assert {screen.widget("score").options[n] for n in range(len(SCORES))} == {
        catalog("en")[f"score.{name}"] for name in SCORES
    }


def test_scale_off_and_a_number():
    screen = Screen().set("scale", "off")
    assert screen.weight(5, 3) == pytest.approx(0.98775, abs=5e-6)  # e^6 / (e^6 + 5 + e^-6)
    assert "99 %" in screen.fact()
    screen.set("scale", "number")
    assert screen.link() == {"scale": "0.5"}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(0.5), abs=1e-12)
    screen.set("scale_number", 0.25)
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(0.25), abs=1e-12)
    assert screen.set("scale", "default").link() == {}


def test_a_high_temperature_evens_out_and_a_low_one_decides():
    screen = Screen().set("temperature", 10.0)
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5 / 10), abs=1e-12)
    assert screen.set("temperature", 0.1).weight(5, 3) == pytest.approx(1, abs=1e-15)
    assert screen.link() == {"temp": "0.1"}


def test_positions():
    screen = Screen().set("positions", ["rope"])
    turned = [0.0] * 7  # q_it turned by 5, k_dog by 3, k_Anna by 0: what counts is the angle between them
    turned[3], turned[0] = 6 * math.cos(2) / 2**0.5, -6 * math.cos(5) / 2**0.5
    assert screen.weight(5, 3) == pytest.approx(softmax(turned, 3), abs=1e-12)
    assert {"q_heads", "k_heads"} <= set(screen.steps())
    screen.set("positions", ["alibi"])
    biased = [score * 2**-0.5 - 2**-4 * abs(5 - j) for j, score in enumerate([-6, 0, 0, 6, 0, 0, 0])]
    assert screen.weight(5, 3) == pytest.approx(softmax(biased, 3), abs=1e-12)
    screen.set("positions", ["alibi", "sinusoidal"])
    assert {"sinusoidal_x", "positioned_x", "bias", "biased_scores"} <= set(screen.steps())
    assert screen.link() == {"pos": "alibi,sinusoidal"}
    assert screen.set("positions", []).link() == {}


def test_precision_shows_its_rounding():
    screen = Screen()
    assert not any("Rounding of" in caption for caption in screen.captions())  # float64 is the measure itself
    screen.set("dtype", "float16")  # 6/√2 = 4.242641; float16 has steps of 1/256 there, so it holds 4.242188
    assert "Rounding of float16: at most 4.5e-04 away from float64, in scaled_scores." in screen.captions()
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=2**-11)
    assert screen.weight(5, 3) * 2**11 % 1 == 0
    screen.set("dtype", "bfloat16")
    assert any("at most 7.4e-03" in caption for caption in screen.captions())  # steps of 1/32: 4.25


@pytest.mark.parametrize(
    "mask, blocked, number, changed",
    [
        ("causal", 21, ("causal_offset", 1), 15),
        ("local", 30, ("local_window", 2), 20),
        ("sliding", 31, ("sliding_window", 2), 36),
        ("padding", 7, ("padding_lengths", 4), 21),
        ("local_global", 20, ("local_global_global_tokens", 3), 22),
    ],
)
def test_every_mask_blocks_the_cells_it_should_and_its_number_counts(mask, blocked, number, changed):
    screen = Screen()
    assert screen.blocked() == 0
    screen.set("masks", [mask])
    assert (screen.blocked(), screen.blocked(head=1)) == (blocked, blocked)
    assert "allowed" in screen.steps()
    assert screen.set(*number).blocked() == changed
    assert screen.set("masks", []).blocked() == 0
    assert screen.link() == {"mask": ""}


def test_masks_together_and_a_custom_one():
    screen = Screen().set("masks", ["causal", "padding"])
    assert screen.blocked() == 21 + 1  # padding takes (6, 6) besides
    screen.set("masks", ["causal", "padding", "custom"])
    assert screen.blocked() == 22
    rows = np.ones((7, 7), dtype=int)
    rows[5, 3] = 0
    screen.set("allowed", "\n".join(" ".join(map(str, row)) for row in rows.tolist()))
    assert screen.blocked() == 23
    assert screen.weight(5, 3) == 0
    assert screen.link()["allowed"] == "~5.3=0"


def test_a_query_that_may_attend_to_nothing():
    screen = Screen(mask="causal:-3", t="1")
    assert screen.fact() == "Head 1: “fed” may attend to nothing: its weights and its output are 0."


def test_cross_attention_brings_a_second_sentence():
    screen = Screen()
    screen.set("cross", True)
    assert screen.widget("context_text").label == catalog("en")["control.context_text"]
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    screen.set("context_text", "dog Anna")
    assert screen.weight(5, 0) == pytest.approx(softmax([6 * 2**-0.5, -6 * 2**-0.5], 0), abs=1e-12)
    assert [tile["text"] for tile in screen.tiles("keys")["tokens"]] == ["dog", "Anna"]
    assert screen.link() == {"cross": "True", "ctx": "dog Anna"}
    assert screen.set("cross", False).link() == {"cross": "False"}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    screen = Screen(ex="cross_en_zh").set("cross", False)
    assert screen.widget("cross").value is False
    assert len(screen.tiles()["tokens"]) == 5


def test_a_typed_sentence():
    screen = Screen().set("text", "Anna fed the dog and she barked")
    assert screen.weight(5, 0) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    assert [tile["origin"] for tile in screen.tiles()["tokens"]] == ["built"] * 7
    assert screen.link() == {"text": "Anna fed the dog and she barked"}


def test_an_unknown_word_has_a_random_vector_that_follows_the_seed():
    screen = Screen().set("text", "glorp fed it")
    assert [tile["origin"] for tile in screen.tiles()["tokens"]] == ["random", "built", "built"]
    assert screen.captions()[0] == (
        "Built by hand: x, w_q, w_k, w_v, w_o. "
        "Dashed: the vectors of glorp are random (seed 0), the same on any machine."
    )
    for seed in (0, 1):
        key = word_vector("glorp", 4, seed)[0]  # W_k reads the first number of x only: k = (key, -key)
        shares = softmax([-6 * key / 2**0.5, 0, 0], 0)
        assert screen.weight(2, 0) == pytest.approx(shares, abs=1e-12)
        screen.press("b_seed_w_q")
    assert screen.link()["seed"] == "2"


def test_the_three_ways_of_input():
    screen = Screen().set("mode", "matrix")
    assert screen.widget("x").value.splitlines()[3] == "-1  0  0  0"
    assert screen.link() == {"x": "~"}
    screen.set("x", "0 -1 0 0\n-1\t0\t0\t0\n1, 0, 0, 0".replace(", ", " ").replace("\t", " "))
    scores = [0, 6 * 2**-0.5, -6 * 2**-0.5]
    assert screen.weight(0, 1) == pytest.approx(softmax(scores, 1), abs=1e-12)
    screen = Screen().set("mode", "qkv")
    assert [screen.widget(name).value.splitlines()[5] for name in "qkv"] == ["-3  3", "0  0", "0  0"]
    assert screen.maps() == ["map0"]
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    screen.set("q", screen.widget("q").value.replace("-3  3", "-6  6"))
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2 * 2**-0.5), abs=1e-12)
    assert screen.set("mode", "sentence").link() == {}


def test_where_no_sentence_was_none_is_offered():
    labels = [catalog("en")[f"mode.{name}"] for name in ("sentence", "matrix", "qkv")]
    assert list(Screen().widget("mode").options) == labels
    assert list(Screen(ex="one_query").widget("mode").options) == labels[1:]


def test_q_k_and_v_of_a_sentence_keep_its_words():
    screen = Screen(text="Tom fed the cat").set("mode", "qkv")
    assert [tile["text"] for tile in screen.tiles()["tokens"]] == ["Tom", "fed", "the", "cat"]
    assert not [part for part in screen.at.get("bidi_component") if part.proto.id.endswith("-keys")]
    crossed = Screen(ex="cross_en_zh").set("mode", "qkv")
    assert [tile["text"] for tile in crossed.tiles("keys")["tokens"]] == ["我", "昨天", "看见", "了", "一只", "猫"]
    assert crossed.fact().startswith("Head 1: “yesterday” gives 97 % of its attention to “昨天”")


def test_a_matrix_that_nobody_changed_is_still_the_examples_own():
    screen = Screen(x="~")
    assert "Built by hand: x, w_q, w_k, w_v, w_o." in screen.captions()
    assert any(text.value.endswith(catalog("en")["role.en_it.1"]) for text in screen.at.markdown)
    screen.set("x", screen.widget("x").value.replace("-1", "-2"))
    assert "Edited: x. Built by hand: w_q, w_k, w_v, w_o." in screen.captions()
    assert not any(text.value.endswith(catalog("en")["role.en_it.1"]) for text in screen.at.markdown)


def test_q_and_k_that_were_given_become_the_two_sequences_of_a_matrix_input():
    screen = Screen(ex="one_query")
    shares = [screen.weight(0, key) for key in range(5)]
    screen.set("mode", "matrix")
    assert screen.widget("mode").value == "matrix" and screen.errors() == []
    assert [screen.weight(0, key) for key in range(5)] == shares  # nothing is projected
    assert screen.set("mode", "qkv").link() == {"ex": "one_query", "q": screen.setup().q} | {
        name: getattr(screen.setup(), name) for name in "kv"
    } | {"cross": "True", "heads": "1"}


def test_another_example_is_one_choice_away():
    screen = Screen().set("score", "dot").set("example", "zh_ta")
    assert screen.link() == {"ex": "zh_ta"}
    assert screen.fact() == "Head 1: “它” gives 93 % of its attention to “狗”, 6.5 times an even share."


def test_only_devices_that_are_there_are_offered():
    assert Screen().widget("device").options == ["CPU", "GPU"][: 1 + torch.cuda.is_available()]


# ---- what is refused is said at its control --------------------------------------------------------------------------
REFUSED = [
    ("text", {}, "", "the text must hold at least one word: it is empty", "请输入至少一个词：现在是空的。"),
    ("text", {}, "it " * 65, "a text may have at most 64 tokens: this one has 65.", "最多 64 个词元，现在有 65 个。"),
    (
        "text",
        {},
        "a" * 41,
        "a token may have at most 40 characters: aaaaaaaaaaaaaaaaaaaa… has 41",
        "一个词元最多 40 个字符：aaaaaaaaaaaaaaaaaaaa… 有 41 个。",
    ),
    ("context_text", {"cross": "True"}, "", "the text must hold at least one word: it is empty", "请输入至少一个词"),
    ("x", {"x": "~"}, "", "x must hold at least one number: there is none", "x 至少要有一个数，现在是空的。"),
    (
        "x",
        {"x": "~"},
        "1 2\n3",
        "every row of x must have as many numbers: the rows have 2, 1",
        "x 每行的个数必须相同：各行分别有 2, 1 个。",
    ),
    (
        "x",
        {"x": "~"},
        "1 two",
        "x, row 1, column 2, must be a number: got “two”",
        "x 第 1 行第 2 列必须是数：现在是“two”。",
    ),
    (
        "x",
        {"x": "~"},
        "1 2\n3 nan",
        "x, row 2, column 2, must be finite: got “nan”",
        "x 第 2 行第 2 列必须是有限数：现在是“nan”。",
    ),
    ("x", {"x": "~"}, "inf", "x, row 1, column 1, must be finite: got “inf”", "x 第 1 行第 1 列必须是有限数"),
    (
        "x",
        {"x": "~"},
        "1e308",
        "x, row 1, column 1, must lie between -1000000 and 1000000",
        "x 第 1 行第 1 列必须在 -1000000 和 1000000 之间",
    ),
    ("x", {"x": "~"}, "1e309", "x, row 1, column 1, must be finite", "x 第 1 行第 1 列必须是有限数"),
    ("x", {"x": "~"}, "1\n" * 65, "x may have at most 64 rows: it has 65", "x 最多 64 行，现在有 65 行。"),
    (
        "x",
        {"x": "~", "w_q": "none"},
        "1 2 3\n4 5 6",
        "the width of x must be divisible by the number of its heads: width 3, heads 2",
        "x 的宽度必须能被头数整除：宽度 3，头数 2。",
    ),
    (
        "k",
        {"q": "1,2;3,4", "k": "1,2;3,4", "v": "1;2", "heads": "1"},
        "1 2 3\n4 5 6",
        "k must have the width of q: q is (2, 2), k is (2, 3)",
        "k 的宽度必须与 q 相同：q 是 (2, 2)，k 是 (2, 3)。",
    ),
    (
        "v",
        {"q": "1,2;3,4", "k": "1,2;3,4", "v": "1;2", "heads": "1"},
        "1\n2\n3",
        "there must be as many values as keys: k is (2, 2), v is (3, 1)",
        "键和值的个数必须相同：k 是 (2, 2)，v 是 (3, 1)。",
    ),
    (
        "allowed",
        {"allowed": "~"},
        "1 0\n0 1",
        "allowed must broadcast to (B, H, T, S) = (1, 2, 7, 7): its shape is (2, 2)",
        "allowed 必须能广播为 (B, H, T, S) = (1, 2, 7, 7)，现在的形状是 (2, 2)。",
    ),
    (
        "padding_lengths",
        {"mask": "padding:3"},
        8,
        "a length must be a whole number from 0 to S = 7: got 8",
        "长度必须是 0 到 S = 7 之间的整数，现在是 8。",
    ),
    (
        "local_window",
        {"mask": "local:1"},
        -1,
        "window must be a whole number, 0 or more: got -1",
        "window 必须是大于等于 0 的整数，现在是 -1。",
    ),
    (
        "sliding_window",
        {"mask": "sliding:2"},
        0,
        "window must be a positive whole number: got 0",
        "window 必须是正整数，现在是 0。",
    ),
    (
        "local_global_global_tokens",
        {"mask": "local_global:1:0"},
        7,
        "global tokens must be positions from 0 to 6: got 7",
        "全局词元的位置必须在 0 到 6 之间，现在是 7。",
    ),
    (
        "causal_offset",
        {"mask": "causal,sliding:2"},
        3,
        "causal masks must agree on one offset: got [0, 3]",
        "几个因果掩码的偏移必须相同，现在是 [0, 3]。",
    ),
    (
        "positions",
        {"heads": "4"},
        ["rope"],
        "RoPE turns pairs, so the width must be even: it is 1",
        "RoPE 成对旋转，宽度必须是偶数，现在是 1。",
    ),
    (
        "positions",
        {"ex": "one_query"},
        ["sinusoidal"],
        "sinusoidal positions are added to x, and q, k, v were given without it",
        "正弦位置编码要加到 x 上，而这里直接给出了 q、k、v，没有 x。",
    ),
]


@pytest.mark.parametrize(
    "control, link, typed, english, chinese", REFUSED, ids=[f"{row[0]}-{n}" for n, row in enumerate(REFUSED)]
)
def test_bad_input_is_refused_at_its_control_and_the_screen_stays(control, link, typed, english, chinese):
    screen = Screen(lang="en", **link)
    before, setup, numbers = screen.fact(), screen.setup(), screen.table("map0")["value"]
    screen.set(control, typed)
    assert screen.error_at(f"c_{control}").startswith(english)
    assert (screen.fact(), screen.link()) == (before, {"lang": "en", **to_link(setup)})
    screen.set("lang", "zh")
    assert screen.error_at(f"c_{control}").startswith(chinese)
    assert len(screen.errors()) == 1
    assert screen.widget(control).value == typed
    assert screen.setup() == setup
    assert screen.table("map0")["value"].equals(numbers)
    assert [button.disabled for button in screen.at.button if button.label == catalog("zh")["header.undo"]] == [True]


def test_a_refusal_speaks_the_language_that_is_chosen_later_and_goes_with_the_next_good_input():
    screen = Screen(lang="en").set("text", "")
    screen.set("lang", "zh")
    assert screen.errors() == ["请输入至少一个词：现在是空的。"]
    screen.set("text", "it fed Anna")
    assert screen.errors() == []
    assert screen.link()["text"] == "it fed Anna"


def test_another_control_leaves_a_refused_text_and_its_reason_where_they_are():
    screen = Screen().set("text", "").set("score", "dot")
    assert screen.errors() == ["the text must hold at least one word: it is empty"]
    assert screen.widget("text").value == ""
    assert screen.link() == {"score": "dot"}


def test_q_and_k_of_a_new_width_are_taken_together():
    """Each alone does not fit the other: the first waits as a draft until the second comes."""
    screen = Screen(ex="one_query")
    screen.set("q", "1 2")
    assert screen.errors()[0].startswith("k must have the width of q: q is (1, 2), k is (5, 8)")
    screen.set("k", "1 0\n0 1")
    assert len(screen.errors()) == 2
    screen.set("v", "1\n2")
    assert screen.errors() == []
    assert screen.link() == {"ex": "one_query", "q": "1,2", "k": "1,0;0,1", "v": "1;2"}


def test_a_matrix_that_was_refused_can_be_typed_again_as_it_was():
    screen = Screen(x="~")
    good = screen.widget("x").value
    screen.set("x", "1 2 x").set("x", good)
    assert screen.errors() == []
    assert screen.link() == {"x": "~"}


# ---- links -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "link, english, chinese",
    [
        (
            {"ex": "en_i"},
            "The link says ex=en_i, which cannot be read; the rest of it is shown.",
            "链接中的 ex=en_i 无法识别，其余部分照常显示。",
        ),
        ({"mask": "causal:x"}, "The link says mask=causal:x, which", "链接中的 mask=causal:x 无法识别"),
        ({"heads": "two"}, "The link says heads=two, which", "链接中的 heads=two 无法识别"),
        ({"temp": "1e999"}, "The link says temp=1e999, which", "链接中的 temp=1e999 无法识别"),
        (
            {"text": "a" * 200_001},
            "The link says text=" + "a" * 40 + ", which",
            "链接中的 text=" + "a" * 40 + " 无法识别",
        ),
        (
            {"w_q": "~1.0=6;2."},
            "The link's w_q cannot be used: a changed cell of w_q must read row.column=number and lie inside it: got "
            "“2.”. The rest of the link is shown.",
            "链接中的 w_q 无法使用：w_q 的改动应写作“行.列=数”，并且不能越界：现在是“2.”。其余部分照常显示。",
        ),
        (
            {"w_q": "1,2;3"},
            "The link's w_q cannot be used: every row of w_q must have as many numbers: the rows have 2, 1.",
            "链接中的 w_q 无法使用：w_q 每行的个数必须相同：各行分别有 2, 1 个。",
        ),
        (
            {"heads": "3"},
            "The link's heads cannot be used: the width of w_q must be divisible",
            "链接中的 heads 无法使用：w_q 的宽度",
        ),
        (
            {"heads": "999999999"},
            f"The link's heads cannot be used: heads must be at most {MOST_HEADS}",
            "链接中的 heads 无法使用：heads 最多",
        ),
        (
            {"x": "none"},
            "The link's x cannot be used: x must hold at least one number",
            "链接中的 x 无法使用：x 至少要有一个数",
        ),
        (
            {"q": "1,2"},
            "The link's q cannot be used: k must hold at least one number",
            "链接中的 q 无法使用：k 至少要有一个数",
        ),
    ],
)
def test_an_altered_link_is_named_and_the_rest_shown(link, english, chinese):
    for language, expected in (("en", english), ("zh", chinese)):
        screen = Screen(lang=language, **link)
        (error,) = screen.errors()
        assert error.startswith(expected)
        assert "93" in screen.fact()
        assert screen.link() == {"lang": language}
        assert screen.set("score", "dot").errors() == []


def test_the_rest_of_an_altered_link_is_shown():
    screen = Screen(ex="zh_ta", heads="1", temp="hot", unknown="x", **{"utm_source": "y"})
    assert screen.errors() == ["The link says temp=hot, which cannot be read; the rest of it is shown."]
    assert screen.link() == {"ex": "zh_ta", "heads": "1"}


@pytest.mark.parametrize(
    "link",
    [
        {"mask": "local_global:1"},
        {"t": "999999999", "head": "999", "step": "weights", "cell": "0,0,5,3"},
        {"scale": "1e299", "temp": "1e-299"},
        {"mask": "causal:-1000000", "pos": "rope,alibi,sinusoidal"},
        {"w_q": "none", "w_k": "none", "w_v": "none", "w_o": "none"},
        {"ex": "eight_heads", "text": " ".join(["tired"] * 64), "x": "~", "heads": "16", "kv": "1"},
        {"dtype": "float16", "scale": "70000"},
        {"dtype": "float16", "x": "60000,60000", "mask": "causal"},
        {"seed": "999999999", "text": "glorp"},
        {"w_q": "~0.0=1e6", "w_k": "~0.0=1e6"},
    ],
)
def test_strange_links_open(link):
    screen = Screen(**link)
    assert screen.errors() == []


def test_a_link_to_a_cell_looks_at_its_head_and_its_query():
    screen = Screen(ex="eight_heads", step="scores", cell="0,0,5,3")
    assert screen.fact().startswith("Head 1: “mat”")
    assert screen.maps() == ["map0"]
    assert screen.pieces()[-1]["text"].strip(" =") == f"{score_of(screen, 5, 3):.2f}".replace("-", "−")


@pytest.mark.parametrize(
    ("link", "then", "step"),
    [
        ({"pos": "rope", "step": "q_heads", "cell": "0,0,5,0"}, ("positions", []), None),  # the step goes
        ({"step": "weights", "cell": "0,0,5,3"}, ("text", "Anna fed it"), "weights"),  # the cell goes
    ],
)
def test_an_opened_cell_that_is_no_longer_there_is_closed(link, then, step):
    screen = Screen(**link)
    assert screen.pieces()
    screen.set(*then)
    assert screen.widget("step").value == step
    assert not any(part.proto.id.endswith("-arithmetic") for part in screen.at.get("bidi_component"))
    assert ("Choose a cell to see its arithmetic." in screen.captions()) == (step is not None)


def test_what_does_not_fit_the_example_is_dropped_not_the_example():
    screen = Screen(ex="zh_colour", pos="rope,alibi")
    assert screen.errors() == [
        "The link's pos cannot be used: RoPE turns pairs, so the width must be even: it is 3. "
        "The rest of the link is shown."
    ]
    assert screen.link() == {"ex": "zh_colour"}


def test_the_even_share_is_one_of_the_allowed_keys():
    screen = Screen(mask="causal")  # "it" may attend to six of the seven
    share = softmax([-6 * 2**-0.5, 0, 0, 6 * 2**-0.5, 0, 0], 3)
    assert screen.fact() == (
        f"Head 1: “it” gives {100 * share:.0f} % of its attention to “dog”, {6 * share:.1f} times an even share of 1/6."
    )
    assert {"1/6"} == {text for text in screen.table("map0")["text"] if text.startswith("1/")}


def test_a_custom_mask_is_a_step_of_the_strip():
    screen = Screen(allowed="~5.3=0")
    assert screen.steps()[-6:-4] == ["allowed", "masked_scores"]
    assert screen.steps().count("allowed") == 1
    assert any("Edited: custom mask." in caption for caption in screen.captions())


def test_the_cells_of_a_matrix_say_what_they_stand_for():
    (editor,) = [frame for frame in Screen().at.get("dataframe") if frame.proto.id]
    assert list(editor.value.index) == ["1 noun", "2 pronoun", "3 verb", "4 glue"]
    assert list(editor.value.columns) == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    "link, missing, shown",
    [
        ({"step": "no such step", "cell": "1,2"}, "step=no such step", {}),
        ({"step": "scores", "cell": "0,0,5,999999999"}, "cell=0,0,5,999999999", {"step": "scores"}),
        ({"step": "scores", "cell": "1"}, "cell=1", {"step": "scores"}),
        ({"step": "", "cell": ""}, "step=", {}),
        ({"cell": "0,0,5,3"}, "cell=0,0,5,3", {}),
    ],
)
def test_a_link_to_what_is_not_there_says_so(link, missing, shown):
    screen = Screen(**link)
    assert screen.errors() == [f"The link says {missing}, which cannot be read; the rest of it is shown."]
    assert screen.link() == shown


def test_numbers_too_large_for_the_precision_are_said_to_be():
    screen = Screen(dtype="float16", scale="70000")
    assert screen.fact() == (
        "Head 1: the scores of “it” are too large for this precision, so its weights are not numbers."
    )
    assert all(tile["share"] is None for tile in screen.tiles()["tokens"])
    assert [plain(warning.value) for warning in screen.at.warning] == [
        "float16 cannot hold this number: scaled_scores [head 1, it, Anna]"
    ]


def test_the_link_box_and_the_address_bar_open_the_same_screen():
    screen = Screen(lang="zh").set("masks", ["causal"]).set("text", "it|a&b=c#d?e+f%20").set("temperature", 2.0)
    (box,) = [code.value for code in screen.at.code if code.value.startswith("?")]
    query = {key: values[0] for key, values in parse_qs(box[1:], keep_blank_values=True).items()}
    assert query == screen.link()
    again = Screen(**query)
    assert again.fact() == screen.fact()
    assert again.table("map0").equals(screen.table("map0"))
    assert again.setup() == screen.setup()


# ---- hostile words ---------------------------------------------------------------------------------------------------
HOSTILE = [
    "<script>alert(1)</script>",
    "<b>x</b>",
    "**x**",
    "_x_ `y`",
    "$x^2$",
    "$$",
    ":red[x]",
    ":smile:",
    ":streamlit:",
    ":material/home:",
    "[a](http://b.c)",
    "![a](b)",
    "www.example.com",
    "https://example.com",
    "a@b.cd",
    "a -> b",
    "a <-> b -- c >= d",
    "# h",
    "1. a",
    "{0}",
    "\\frac",
    "&lt;",
    "~~x~~",
    ":::note",
]
# What Streamlit makes of a text after its escapes are undone: addresses, names between colons, arrows.
MADE_OF_TEXT = re.compile(r"https?://|www\.|[\w.+-]@[\w-]|:[\w+/-]+:|<-|->|--|>=|<=|~=")
ESCAPABLE = "\\`*_{}[]()#+-.!|<>~$:&^=\"'/@"


def test_literal_leaves_no_mark_active():
    for text in [*HOSTILE, *(a + b for a in ESCAPABLE for b in ESCAPABLE), ESCAPABLE]:
        written = literal(text)
        assert plain(written) == text
        bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", written)  # what is left when every escaped sign is taken out
        assert not set(ESCAPABLE) & set(bare), text
        assert not MADE_OF_TEXT.search(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written)), text


def test_literal_keeps_one_line_and_leaves_plain_words_alone():
    assert literal("a\nb") == "a b"
    assert literal("狗 dog 3,5; “it”？") == "狗 dog 3,5; “it”？"
    assert literal(7) == "7"


def test_hostile_words_are_shown_as_they_are():
    screen = Screen()
    for start in range(0, len(HOSTILE), 8):
        words = HOSTILE[start : start + 8]
        screen.set("text", "|".join(words))
        assert [tile["text"] for tile in screen.tiles()["tokens"]] == words
        cells = screen.table("map0")
        labels = list(cells[cells["kind"] == "label"]["text"])[: len(words)]
        assert all(word.startswith(label.removesuffix("…")) for word, label in zip(words, labels, strict=True))
        assert any(
            f"[{catalog('en')['place.head'].format(number=1)}, {words[0]}, {words[-1]}]" in w for w in cells["what"]
        )
        for n, word in [*enumerate(words)][:: len(words) - 1]:
            screen.click_part("tiles", "chosen", n)
            assert f"“{word}”" in screen.fact()
            (markdown,) = [text.value for text in screen.at.markdown if text.value.startswith("##### ")]
            assert f"“{literal(word)}”" in markdown
        screen.click_cell("map0", "weights", f"0,0,{start // 8},{len(words) - 1}")
        (named,) = [text.value for text in screen.at.markdown if text.value.startswith("**weights")]
        assert plain(named).startswith("**weights [") and words[-1] in plain(named)
        assert literal(words[-1]) in named


@pytest.mark.parametrize("typed", ["**x** y $z$ :red[a]", "<b>1</b> 2", "www.example.com 2", "\u202e1 2"])
def test_a_refusal_repeats_hostile_cells_literally(typed):
    screen = Screen(x="~").set("x", typed)
    (error,) = [error.value for error in screen.at.error]
    quoted = re.search("“(.*)”", error)[1]
    assert literal(plain(quoted)) == quoted
    assert "\u202e" not in error


def test_invisible_characters_are_written_out():
    screen = Screen(text="a\u202eb|it")
    assert [tile["text"] for tile in screen.tiles()["tokens"]] == ["a⟨U+202E⟩b", "it"]
    assert "\u202e" not in " ".join(text.value for text in screen.at.markdown)


# ---- few and many tokens ---------------------------------------------------------------------------------------------
def test_one_token_attends_to_itself():
    screen = Screen().set("text", "it")
    assert screen.weight(0, 0) == 1
    assert screen.fact() == "Head 1: “it” may attend to “it” alone, so it gets all."


def test_sixty_four_tokens():
    words = ["it", *["the"] * 62, "dog"]
    screen = Screen().set("text", " ".join(words))
    assert screen.weight(0, 63) == pytest.approx(softmax([6 * 2**-0.5] + [0] * 63, 0), abs=1e-12)
    cells = screen.table("map0")
    assert len(cells[(cells["kind"] == "cell") & (cells["step"] == "weights")]) == 64 * 64
    assert "heads" in screen.charts()


def test_the_same_word_twice_is_two_rows():
    screen = Screen().set("text", "the the dog")
    cells = screen.table("map0")
    assert list(cells[cells["kind"] == "label"]["text"])[:3] == ["the", "the", "dog"]


# ---- sessions, undo, looking around ----------------------------------------------------------------------------------
def test_two_sessions_never_see_each_others_numbers():
    one, other = Screen(), Screen(lang="zh")
    one.set("temperature", 2.0)
    other.set("scale", "off")
    one.set("masks", ["causal"])
    assert other.blocked() == 0
    other.edit_cells({1: {0: 6.0}})
    assert one.weight(5, 3) == pytest.approx(softmax([-6 / 8**0.5, 0, 0, 6 / 8**0.5, 0, 0], 3), abs=1e-12)
    assert one.set("masks", []).weight(5, 3) == pytest.approx(it_to_dog(8**-0.5), abs=1e-12)
    assert other.weight(5, 3) == pytest.approx(it_to_dog(1.5), abs=1e-12)  # q_it = (-6, 3): 9 and -9
    assert one.fact().startswith("Head") and other.fact().startswith("头")
    assert set(one.link()) & {"w_q", "scale"} == set() and set(other.link()) & {"temp", "mask"} == set()
    one.press_labelled("Undo").press_labelled("Undo").press_labelled("Undo")
    assert one.link() == {}
    assert other.link()["w_q"] == "~1.0=6"


def test_undo_goes_back_step_by_step():
    screen = Screen()
    undo = catalog("en")["header.undo"]
    states = [(screen.link(), screen.weight(5, 3))]
    for control, value in (("score", "dot"), ("temperature", 2.0), ("masks", ["causal"]), ("mode", "matrix")):
        screen.set(control, value)
        states.append((screen.link(), screen.weight(5, 3)))
    screen.edit_cells({1: {0: 0.0}})
    for link, weight in reversed(states):
        screen.press_labelled(undo)
        assert (screen.link(), screen.weight(5, 3)) == (link, weight)
    assert next(button for button in screen.at.button if button.label == undo).disabled
    screen.set("example", "zh_ta").press_labelled(undo)
    assert screen.link() == {}


def test_undo_takes_a_refusal_with_it():
    screen = Screen().set("score", "dot").set("text", "")
    screen.press_labelled("Undo")
    assert screen.errors() == [] and screen.link() == {}
    assert screen.widget("text").value == " ".join(WORDS)


def test_looking_around_computes_nothing(monkeypatch):
    runs = []
    monkeypatch.setattr(runs_of, "compute", lambda setup: runs.append(setup) or inputs.compute(setup))
    runs_of.cached_trace.clear()
    screen = Screen(seed="4242")
    assert len(runs) == 1
    screen.click_part("tiles", "chosen", 1)
    assert screen.fact().startswith("Head 2: “fed” gives 93 % of its attention to “Anna”")
    assert screen.link() == {"seed": "4242", "t": "1"}
    screen.click_cell("map0", "weights", "0,0,5,3")
    assert screen.link() == {"seed": "4242", "t": "5", "head": "0", "step": "weights", "cell": "0,0,5,3"}
    screen.open_step("scores")
    screen.click_cell("large", "scores", "0,0,5,3")
    followed = {"step": "q", "index": [0, 0, 5, 0]}
    screen.click_part("arithmetic", "followed", followed)
    assert screen.link()["cell"] == "0,0,5,0" and screen.link()["step"] == "q"
    screen.set("lang", "zh")
    assert len(runs) == 1
    screen.set("score", "dot")
    assert len(runs) == 2
    screen.press_labelled(catalog("zh")["header.undo"])
    assert len(runs) == 2  # what was computed once is kept


def test_what_was_clicked_once_can_be_clicked_again():
    screen = Screen()
    for _ in range(3):
        assert screen.open_step("scores").link()["step"] == "scores"
        assert screen.click_cell("map0", "weights", "0,0,5,3").link()["cell"] == "0,0,5,3"
        assert "cell" not in screen.click_part("tiles", "chosen", 1).link()


def test_a_clicked_cell_shows_its_arithmetic():
    screen = Screen().click_cell("map0", "weights", "0,0,5,3").open_step("scores")
    screen.click_cell("large", "scores", "0,0,5,3")
    (part,) = [part for part in screen.at.get("bidi_component") if part.proto.id.endswith("-arithmetic")]
    pieces = json.loads(part.proto.json)["pieces"]
    assert "".join(piece["text"] for piece in pieces) == "−3.00 × (−1.00) + 3.00 × 1.00 = 6.00"
    assert pieces[0]["step"] == "q" and pieces[0]["index"] == [0, 0, 5, 0]


def test_messages_from_the_browser_that_no_click_makes_do_no_harm():
    screen = Screen().click_cell("map0", "weights", "0,0,5,3")
    for value in (-1, 7, 10**9, "x", None, 1.5, {"a": 1}):
        screen.click_part("tiles", "chosen", value)
    assert screen.link()["t"] == "5"


# ---- the weight editors ----------------------------------------------------------------------------------------------
def test_an_edited_cell_changes_that_cell_alone_and_the_link_carries_it_alone():
    screen = Screen().edit_cells({1: {0: 6.0}})
    assert screen.link() == {"w_q": "~1.0=6"}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(1.5 * 2**-0.5), abs=1e-12)  # q_it = (-6, 3)
    w_q = np.array(EXAMPLES["en_it"].w_q, dtype=float)
    w_q[1, 0] = 6
    assert np.array_equal(runs_of.material_of(screen.setup()).matrices["w_q"], w_q)
    assert screen.weight(1, 0, head=1) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)  # head 2 is as it was
    screen.edit_cells({2: {3: 0.0}, 0: {0: 1.5}})
    assert screen.link() == {"w_q": "~0.0=1.5;1.0=6;2.3=0"}
    screen.edit_cells({1: {0: 3}, 0: {0: 0}, 2: {3: -3}})
    assert screen.link() == {"w_q": "~"}


def test_each_matrix_has_its_editor():
    screen = Screen()
    for name, cell in (("w_k", "~3.3=2.5"), ("w_v", "~3.3=2.5"), ("w_o", "~3.3=2.5"), ("x", "~3.3=2.5")):
        screen.set("edited", name).edit_cells({3: {3: 2.5}})
        assert screen.link()[name] == cell
    assert screen.widget("mode").value == "matrix"


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_emptied_cell_keeps_its_number_and_says_so(language):
    screen = Screen(lang=language)
    fact = screen.fact()
    screen.edit_cells({1: {1: None}})
    assert screen.errors() == [
        {
            "en": "w_q, row 2, column 2, must be a finite number: it was emptied, so it keeps its number",
            "zh": "w_q 第 2 行第 2 列必须是有限数：该格被清空，已保留原来的数。",
        }[language]
    ]
    assert screen.fact() == fact and "w_q" not in screen.link()
    screen.edit_cells({1: {0: 6.0, 1: None}})  # what can be taken is taken
    assert screen.link()["w_q"] == "~1.0=6"
    assert len(screen.errors()) == 1
    screen.edit_cells({1: {0: 3.0}})
    assert screen.errors() == []


def test_a_cell_beyond_a_million_is_refused():
    screen = Screen().edit_cells({0: {0: 1e308}})
    assert screen.errors()[0].startswith("w_q, row 1, column 1, must lie between -1000000 and 1000000")
    assert screen.link() == {}


def test_paste_into_a_matrix():
    screen = Screen()
    assert screen.paste_box().value.splitlines()[1] == "3  -3  0  0"
    screen.paste("0\t0\t0\t0\n6\t-3\t0\t0\n0\t0\t3\t-3\n0\t0\t0\t0")
    assert screen.link() == {"w_q": "~1.0=6"}
    assert screen.paste_box().value.splitlines()[1] == "6  -3  0  0"
    screen.paste("1 2\n3 4")
    assert screen.errors() == ["w_q must have as many rows as x has columns: x is (1, 7, 4), w_q is (2, 2)"]
    assert screen.link() == {"w_q": "~1.0=6"}
    screen.paste("1 2 x")
    assert screen.errors() == ["w_q, row 1, column 3, must be a number: got “x”"]
    assert screen.paste_box().value == "1 2 x"


def test_identity_zeros_take_away_and_reset():
    screen = Screen().press("b_identity_w_q")
    assert screen.link() == {"w_q": "identity~"}
    assert np.array_equal(runs_of.material_of(screen.setup()).matrices["w_q"], np.eye(4))
    screen.press("b_zeros_w_q")
    assert screen.weight(5, 3) == pytest.approx(1 / 7, abs=1e-15)
    screen.press("b_none_w_q")
    assert screen.link() == {"w_q": "none"}
    assert "q_projected" not in screen.steps()
    assert catalog("en")["editor.removed"].format(name="w_q") in screen.captions()
    screen.press("b_reset_w_q")
    assert screen.link() == {}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)


def test_a_random_matrix_says_its_seed_and_every_click_is_another():
    screen = Screen().press("b_random_w_q")
    for seed in (0, 1):
        assert screen.link() == {"w_q": f"random.{seed}~"}
        drawn = runs_of.material_of(screen.setup()).matrices["w_q"]
        assert np.array_equal(drawn, random_matrix("w_q", (4, 4), seed))
        assert f"w_q (seed {seed}), 4 × 4, random" in screen.captions()
        screen.press("b_random_w_q")
    expected = random_matrix("w_q", (4, 4), 2)
    expected[3, 2] = 0.5
    screen.edit_cells({3: {2: 0.5}})
    assert np.array_equal(runs_of.material_of(screen.setup()).matrices["w_q"], expected)
    assert "w_q, 4 × 4, edited" in screen.captions()


def test_a_large_matrix_is_edited_in_a_part_of_it():
    screen = Screen(ex="eight_heads").set("row_w_q", 300).set("column_w_q", 497)
    screen.edit_cells({2: {14: 7.5}})  # row 302, column 511
    assert screen.link() == {"ex": "eight_heads", "w_q": "~301.510=7.5"}
    assert runs_of.material_of(screen.setup()).matrices["w_q"][301, 510] == 7.5
    screen.press("b_identity_w_q")
    assert screen.link() == {"ex": "eight_heads", "w_q": "identity~"} and screen.errors() == []
    screen.press("b_zeros_w_q")
    assert screen.weight(9, 3) == pytest.approx(1 / 10, abs=1e-12)


def test_another_seed_draws_the_weights_of_an_example_that_is_random():
    screen = Screen(ex="eight_heads")
    assert any("Random: x (seed 0), w_q (seed 1), w_k (seed 2)" in caption for caption in screen.captions())
    before = runs_of.trace_of(screen.setup())["weights"]
    screen.press("b_seed_w_q")
    assert any("Random: x (seed 0), w_q (seed 11), w_k (seed 12)" in caption for caption in screen.captions())
    drawn = torch.randn((512, 512), generator=torch.Generator().manual_seed(11), dtype=torch.float64) / 512**0.5
    np.testing.assert_allclose(runs_of.material_of(screen.setup()).matrices["w_q"], drawn.numpy(), rtol=1e-15)
    assert not torch.equal(runs_of.trace_of(screen.setup())["weights"], before)


def test_too_wide_to_edit_in_cells_and_too_long_to_show_as_text():
    screen = Screen(ex="eight_heads")
    assert "A part of 16 × 16 cells; choose where it begins." in screen.captions()
    assert screen.paste_box().value == ""
    screen.paste("1 2\n3 4")
    assert screen.errors()[0].startswith("w_q must have as many rows as x has columns")
    long = Screen(ex="eight_heads", text=" ".join(["tired"] * 64)).set("mode", "matrix")
    assert long.widget("x").value == "" and long.errors() == []
    wide = Screen(ex="eight_heads", text=" ".join(["tired"] * 64), heads="1").set("mode", "qkv")
    assert wide.errors()[0].startswith("the text of q may have at most 200000 characters")
    assert wide.fact().startswith("Head 1")


def test_numbers_beyond_a_million_are_not_handed_on_as_q_k_and_v():
    screen = Screen(w_q="~1.0=1e6", x="~5.1=-9").set("mode", "qkv")
    assert screen.error_at("c_mode").startswith("q, row 6, column 1, must lie between -1000000 and 1000000")


def test_a_matrix_of_many_rows_is_pasted():
    screen = Screen(x=",".join(["1"] * 128), heads="16", kv="1").set("edited", "w_k")
    assert "A part of 16 × 8 cells; choose where it begins." in screen.captions()
    screen.paste("\n".join(["0 1 2 3 4 5 6 7"] * 128))
    assert screen.errors() == []
    assert np.array_equal(runs_of.material_of(screen.setup()).matrices["w_k"], np.tile(np.arange(8.0), (128, 1)))


def test_the_seed_of_everything_random_is_shown_and_changed():
    screen = Screen(score="additive").set("edited", "v_a")
    assert "v_a (seed 0), 1 × 2, random" in screen.captions()
    before = screen.weight(5, 3)
    screen.press("b_seed_v_a")
    assert "v_a (seed 1), 1 × 2, random" in screen.captions()
    assert screen.weight(5, 3) != before
    assert screen.link() == {"score": "additive", "seed": "1"}


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
    screen = Screen().click_cell("map0", "weights", "0,0,5,3")
    assert screen.arithmetic()["trail"] == []
    screen.follow("masked_scores", [0, 0, 5, 3]).follow("scaled_scores", [0, 0, 5, 3])
    passed = [place["text"] for place in screen.arithmetic()["trail"]]
    assert passed == ["weights [head 1, it, dog]", "masked_scores [head 1, it, dog]"]
    screen.follow("weights", [0, 0, 5, 3])  # the first crumb
    assert screen.link()["step"] == "weights" and screen.arithmetic()["trail"] == []
    screen.follow("masked_scores", [0, 0, 5, 3]).click_cell("map0", "weights", "0,0,5,4")
    assert screen.arithmetic()["trail"] == []  # another cell begins another way


# ---- sentences that must not be ambiguous ----------------------------------------------------------------------------
def test_two_keys_with_the_same_share_are_joined_and_equal_words_carry_their_place():
    screen = Screen(text="it fed dog dog", t="0", lang="en")  # it -> both dogs, e^(6/√2) each, fed 1, itself 1
    share = softmax([6 * 2**-0.5, 6 * 2**-0.5, 0, 0], 0)
    assert screen.fact() == f"Head 1: “it” gives {100 * share:.0f} % each to “dog₃” and “dog₄”."
    assert (
        Screen(text="it fed dog dog", t="0", lang="zh").fact() == f"头 1：“it”给 “dog₃”和“dog₄” 各 {100 * share:.0f}%。"
    )
    screen.set("step", "weights").set("axis_weights_2", 0).set("axis_weights_3", 3)
    assert "weights [head 1, it, dog₄]" in plain(" ".join(text.value for text in screen.at.markdown))


def test_a_number_that_the_precision_cannot_hold_is_named_with_its_place():
    screen = Screen().edit_cells({1: {0: 300_000}}).set("dtype", "float16")
    assert screen.error_at("c_dtype") == (
        "w_q, row 2, column 1, must lie between -65504 and 65504, the largest numbers of float16: got 300000"
    )
    assert screen.setup().dtype == "float64"


# ---- exchanged words, colours ----------------------------------------------------------------------------------------
def test_a_word_is_exchanged_in_one_click():
    screen = Screen().press("swap_it")
    assert screen.link() == {"text": "Anna fed the dog and she barked"}
    assert screen.fact().startswith("Head 1: “she” gives 93 % of its attention to “Anna”")
    screen.press("swap_she")
    assert screen.fact().startswith("Head 1: “it” gives 93 % of its attention to “dog”")
    chinese = Screen(ex="zh_ta").press("swap_它")
    assert chinese.link() == {"ex": "zh_ta", "text": "小红喂了那只狗，她摇尾巴"}
    assert [tile["text"] for tile in chinese.tiles()["tokens"]] == ["小红", "喂了", "那只", "狗", "，", "她", "摇尾巴"]
    assert not [button for button in Screen(ex="source_004").at.button if (button.key or "").startswith("swap")]


def test_colours_in_even_shares_stay_in_the_link_and_compute_nothing():
    screen = Screen(ex="eight_heads")
    numbers, fills = list(screen.table("map5")["value"]), list(screen.table("map5")["fill"])
    screen.set("ramp", True)
    assert screen.link() == {"ex": "eight_heads", "ramp": "times"}
    assert list(screen.table("map5")["value"])[:100] == numbers[:100]
    assert list(screen.table("map5")["fill"]) != fills
    assert "≥ 5×" in set(screen.table("map5")["text"])
    assert screen.set("ramp", False).link() == {"ex": "eight_heads"}


def score_of(screen, query, key, head=0):
    """The score of a pair on the screen's run."""
    return runs_of.trace_of(screen.setup())["scores"][0, head, query, key].item()


def test_one_style_of_rope_at_a_time():
    screen = Screen(heads="1").set("positions", ["rope"])  # pairs of neighbours
    # q_it = (-3, 3, 0, 0) at 5 and k_dog = (-1, 1, -1, 1) at 3: the pairs turn by -2 and by -2 / 10000^(2/4) = -0.02
    assert score_of(screen, 5, 3) == pytest.approx(6 * math.cos(2), abs=1e-12)  # (-3, 3) · turned (-1, 1)
    assert screen.set("rope", "rope_half").link() == {"heads": "1", "pos": "rope_half"}
    halves = 3 * (math.cos(2) + math.sin(2)) + 3 * (
        math.cos(0.02) + math.sin(0.02)
    )  # (-3, 0) · (-1, -1), (3, 0) · (1, 1)
    assert score_of(screen, 5, 3) == pytest.approx(halves, abs=1e-12)
    assert screen.widget("positions").value == ["rope"]
    screen.set("positions", ["rope", "alibi"])
    assert screen.link()["pos"] == "rope_half,alibi"


def test_a_matrix_of_any_width_gets_projections_that_its_heads_can_share():
    screen = Screen(x="~").set("x", "1 2 3\n4 5 6")
    assert screen.errors() == [] and screen.maps() == ["map0", "map1"]
    matrices = runs_of.material_of(screen.setup()).matrices
    assert {name: matrices[name].shape for name in ("w_q", "w_k", "w_v", "w_o")} == {
        "w_q": (3, 4),
        "w_k": (3, 4),
        "w_v": (3, 4),
        "w_o": (4, 3),
    }


# ---- proof and export ------------------------------------------------------------------------------------------------
def test_the_badge_tells_the_proof_and_the_scripts_are_offered():
    screen = Screen()
    (badge,) = [
        block.proto.popover.label for block in screen.at.get("popover") if "proven" in block.proto.popover.label
    ]
    assert re.search(r"proven to \d+e-1\d", badge)
    assert [button.proto.label for button in screen.at.get("download_button")] == ["PyTorch script", "NumPy script"]


def test_the_setup_of_the_screen_is_its_link():
    screen = Screen().set("score", "cosine").set("heads", 4)
    assert to_link(screen.setup()) == screen.link()
    assert screen.setup() == replace(Setup(), score="cosine", heads=4)
    assert issubclass(AttentionError, ValueError)
