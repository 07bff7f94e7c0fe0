"""What is refused is said at its control, and the screen stays."""

import numpy as np
import pytest

from attention_core.inputs.matrix_text import to_text
from pages.setup.codec import setup_to_link
from pages.site.words import load_app_texts
from tests.screen.driver import PANEL_OF, Screen

REFUSED = [
    ("text", {}, "", "the text must hold at least one word: it is empty", "请至少输入一个词元：现在是空的。"),
    (
        "text",
        {},
        "it " * 513,
        "a text may have at most 512 tokens: this one has 513.",
        "最多 512 个词元，现在有 513 个。",
    ),
    (
        "text",
        {},
        "a" * 41,
        "a token may have at most 40 characters: aaaaaaaaaaaaaaaaaaaa… has 41",
        "一个词元最多 40 个字符：aaaaaaaaaaaaaaaaaaaa… 有 41 个。",
    ),
    ("context_text", {"cross": "True"}, "", "the text must hold at least one word: it is empty", "请至少输入一个词元"),
    ("x", {"x": "~"}, "", "x must hold at least one number: there is none", "x 至少要有一个数，现在是空的。"),
    (
        "x",
        {"x": "~"},
        "1 2\n3",
        "all rows of x must be equally long: the rows have 2, 1 numbers",
        "x 各行必须有同样多的数：现在分别有 2, 1 个。",
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
    ("x", {"x": "~"}, "1\n" * 513, "x may have at most 512 rows: it has 513", "x 最多 512 行，现在有 513 行。"),
    (
        "x",
        {"x": "~", "w_q": "none"},
        "1 2 3\n4 5 6",
        "the width of x must be divisible by the number of its heads: width 3, heads 2",
        "x 的维度必须能被头数整除：维度 3，头数 2。",
    ),
    (
        "k",
        {"q": "1,2;3,4", "k": "1,2;3,4", "v": "1;2", "heads": "1"},
        "1 2 3\n4 5 6",
        "k must have the width of q: q is (2, 2), k is (2, 3)",
        "k 的维度必须与 q 相同：q 是 (2, 2)，k 是 (2, 3)。",
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
        "“Padding: real tokens; the rest is padding” must lie between 0 and S = 7: got 8",
        "“填充：有效词元数，其余为填充”必须在 0 到 S = 7 之间，现在是 8。",
    ),
    (
        "local_window",
        {"mask": "local:1"},
        -1,
        "window must be a whole number, 0 or more: got -1",
        "窗口必须是大于等于 0 的整数，现在是 -1。",
    ),
    (
        "sliding_window",
        {"mask": "sliding:2"},
        0,
        "window must be a positive whole number: got 0",
        "窗口必须是正整数，现在是 0。",
    ),
    (
        "dilated_dilation",
        {"mask": "dilated:1:2"},
        0,
        "“Dilated: step from one key to the next, in tokens” must be a positive whole number: got 0",
        "“空洞：相邻两个键相距几个词元”必须是正整数，现在是 0。",
    ),
    (
        "text",
        {"mask": "local_global:1:6"},
        "Anna fed it",
        "“Local + global: global tokens” must lie between 0 and 2, the last position: got 6",
        "“局部 + 全局：全局词元的位置”必须在 0 到 2 之间（2 是最后一个位置），现在是 6。",
    ),
    (
        "positions",
        {"heads": "4"},
        ["rope"],
        "RoPE rotates numbers in pairs, so the width must be even: it is 1",
        "RoPE 把数成对旋转，所以维度必须是偶数，现在是 1。",
    ),
    (
        "positions",
        {"ex": "one_query"},
        ["sinusoidal"],
        "'sinusoidal' reads the input from which q, k and v are computed: here q, k and v were given directly",
        "sinusoidal 要读取生成 q、k、v 的输入，而这里的 q、k、v 是直接给出的。",
    ),
]


@pytest.mark.parametrize(
    "control, link, typed, english, chinese", REFUSED, ids=[f"{row[0]}-{n}" for n, row in enumerate(REFUSED)]
)
def test_bad_input_is_refused_at_its_control_and_the_screen_stays(control, link, typed, english, chinese):
    drawers = filter(None, [PANEL_OF.get(f"c_{control}")])  # the panel in which the control stands, if it is in one
    screen = Screen(*drawers, lang="en", **link)
    before, setup, numbers = screen.fact(), screen.setup(), screen.packed("flow")[1]["numbers"]
    screen.set(control, typed)
    assert screen.error_at(f"c_{control}").startswith(english)
    assert (screen.fact(), screen.link()) == (before, {"lang": "en", **setup_to_link(setup)})
    screen.press("other_language")
    assert screen.error_at(f"c_{control}").startswith(chinese)
    assert len(screen.errors()) == 1
    assert screen.held(control) == typed
    assert screen.setup() == setup
    assert screen.packed("flow")[1]["numbers"] == numbers
    assert [button.disabled for button in screen.at.button if button.label == load_app_texts("zh")["header.undo"]] == [
        True
    ]


def test_a_refusal_speaks_the_language_that_is_chosen_later_and_goes_with_the_next_good_input():
    screen = Screen(lang="en").set("text", "")
    screen.press("other_language")
    assert screen.errors() == ["请至少输入一个词元：现在是空的。"]
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


# ---- what an attack found --------------------------------------------------------------------------------------------
def test_a_general_score_of_too_many_products_is_refused():
    wide = to_text(np.ones((1, 512)))
    screen = Screen(x=wide, heads="4").set("score", "general")
    assert screen.error_at("c_score").startswith("a general score of widths 128 and 128 is a sum of 128 × 128 products")
    assert screen.link() == {"x": wide, "heads": "4"}
    assert Screen(x=wide, heads="8", score="general", step="scores").errors() == []


@pytest.mark.parametrize("given", [{"q": ";".join([",".join(["1e6"] * 8)] * 3), "pos": "rope"}])
def test_numbers_that_no_text_can_hold_stay_where_they_are(given):
    screen = Screen(ex="one_query", **given).set("mode", "matrix")
    assert screen.error_at("c_mode").startswith("q, row 2, column 2, must lie between")  # 1e6 (sin 1 + cos 1)
    assert "x" not in screen.link() and len(screen.heads()) == 1


def test_a_text_of_a_million_characters_is_refused_at_once():
    screen = Screen().set("text", "a" * 1_000_000)
    assert screen.error_at("c_text") == "a text may have at most 10000 characters: this one has 1000000"


def test_what_no_address_can_say_is_refused():
    screen = Screen(x="~").set("x", "\n".join([" ".join(["0.123"] * 480)] * 60))
    assert screen.error_at("c_x").startswith("with this change the address of the screen would have 2")
    assert screen.link() == {"x": "~"}


def test_a_refused_text_that_was_lost_takes_its_refusal_along():
    screen = Screen(x="~").set("x", "1 two")
    assert screen.error_at("c_x") is not None
    screen.set("mode", "sentence").set("mode", "matrix")
    assert screen.errors() == []
    assert screen.widget("x").value.splitlines()[3] == "-1  0  0  0"


def test_the_next_seed_is_one_that_a_link_can_say():
    screen = Screen(ex="eight_heads", seed="999999999").press("b_seed_w_q")
    assert "seed" not in screen.link()  # 0 again
    assert Screen(w_q="random.999999999~").press("b_random_w_q").link() == {"w_q": "random.0~"}
    screen = Screen().set("scale", "number").set("scale_number", 1e308)
    assert Screen(**screen.link()).setup().run.scale == 1e308


def test_the_text_of_a_matrix_follows_its_cells():
    screen = Screen().set("edited", "w_q").edit_cells({0: {0: "7"}})
    assert screen.paste_box().value.splitlines()[0] == "7  0  0  0"
