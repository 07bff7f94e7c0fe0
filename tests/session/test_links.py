"""A link is the screen; an altered one is named and the rest shown."""

from time import thread_time
from urllib.parse import parse_qs

import numpy as np
import pytest

from attention_core.record.errors import AttentionError
from pages.runs import cache
from pages.runs import compute as inputs
from pages.runs.compute import compute_run
from pages.session import linked_setup
from pages.session.linked_state import OPENED_PAGE_KEY
from pages.setup.codec import setup_from_link
from pages.setup.setup import MAX_SHOWN_HEADS, Setup
from tests.screen.driver import Screen, plain, score_of
from tests.screen.lesson import Lesson


@pytest.mark.parametrize(
    "link, english, chinese",
    [
        (
            {"ex": "en_i"},
            "The link says ex=en_i, which cannot be read; the rest of the link is shown.",
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
            "链接中的 w_q 无法使用：w_q 的改动应写作“行.列=数”，行号和列号都不能越界：现在是“2.”。其余部分照常显示。",
        ),
        (
            {"w_q": "1,2;3"},
            "The link's w_q cannot be used: all rows of w_q must be equally long: the rows have 2, 1 numbers.",
            "链接中的 w_q 无法使用：w_q 各行必须有同样多的数：现在分别有 2, 1 个。",
        ),
        (
            {"kv": "3"},
            "The link's kv cannot be used: heads must be divisible by kv_heads: heads 2, kv_heads 3",
            "链接中的 kv 无法使用：头数必须能被键/值头数整除：头数 2",
        ),
        (
            {"heads": "999999999"},
            f"The link's heads cannot be used: heads must be at most {MAX_SHOWN_HEADS}",
            "链接中的 heads 无法使用：头数最多",
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
        assert screen.link() == {"en": {}, "zh": {"ex": "en_it"}}[language] | {"lang": language}
        assert screen.set("score", "dot").errors() == []


def test_the_rest_of_an_altered_link_is_shown():
    screen = Screen(ex="zh_ta", heads="1", temp="hot", haeds="3", **{"utm_source": "y", "embed": "true"})
    assert screen.errors() == [
        "The link says temp=hot, which cannot be read; the rest of the link is shown.",
        "The link says haeds=3, but nothing here is called haeds: a typo, or a link from a newer version. "
        "The rest of the link is shown.",
    ]
    assert screen.link() == {"ex": "zh_ta", "heads": "1", "embed": "true"}  # which Streamlit keeps


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
    assert (screen.look()["head"], screen.look()["query"]) == (0, 5)
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
    assert not screen.look()["sum"]
    assert Screen(**screen.link()).errors() == []


def test_what_does_not_fit_the_example_is_dropped_not_the_example():
    screen = Screen(ex="zh_colour", pos="rope,alibi")
    assert screen.errors() == [
        "The link's pos cannot be used: RoPE rotates numbers in pairs, so the width must be even: it is 3. "
        "The rest of the link is shown."
    ]
    assert screen.link() == {"ex": "zh_colour"}


# ---- many wrong fields -----------------------------------------------------------------------------------------------
LARGE = {"text": " ".join(["tired"] * 512), "score": "dot", "scale": "0.1", "temp": "2.0"}
LARGE |= {"pos": "alibi", "seed": "5", "wiring": "residual", "mask": "causal", "scores": "0.0.0.0=1"}


def test_a_large_link_with_wrong_fields_computes_one_run(monkeypatch):
    computed = []
    monkeypatch.setattr(cache, "compute_run", lambda *given: computed.append(given) or compute_run(*given))
    screen = Screen(**LARGE, w_o="1", b_q="1")
    assert [error.partition(" cannot")[0] for error in screen.errors()] == ["The link's w_o", "The link's b_q"]
    assert screen.link() == LARGE
    assert len(computed) == 1


def test_the_check_says_what_the_run_would_and_runs_nothing(monkeypatch):
    wanted, _ = setup_from_link(LARGE | {"b_q": "1"})
    with pytest.raises(AttentionError) as told:
        compute_run(wanted.run)
    monkeypatch.setattr(inputs, "run_plan", None)
    with pytest.raises(AttentionError) as said:
        cache.check_computable(wanted)
    assert said.value.args == told.value.args
    cache.check_computable(setup_from_link(LARGE)[0])


def test_what_takes_long_to_try_is_left_out_and_named():
    wanted, _ = setup_from_link(LARGE | {"w_o": "1", "b_q": "1"})

    def check(setup):
        begin = thread_time()
        while thread_time() < begin + 0.1:
            pass
        if setup.run.w_o is not None or setup.run.b_q is not None:
            raise AttentionError("bias_alone", bias="b_q", weight="w_o")

    begin = thread_time()
    setup, refused = linked_setup.keep_computable_fields(wanted, check)
    assert thread_time() - begin < 2
    untried = [name for name, error in refused.items() if error.code == "not_tried"]
    assert setup.run.text == wanted.run.text and {"masks", "positions"} <= set(untried)
    assert all(setup.value_of(name) == Setup().value_of(name) for name in refused)
    assert str(refused["masks"]) == "there was no time left to try it, because too much else is wrong"


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
    assert screen.errors() == [f"The link says {missing}, which cannot be read; the rest of the link is shown."]
    assert screen.link() == shown


def test_numbers_too_large_for_the_precision_are_said_to_be():
    screen = Screen("proof", dtype="float16", scale="70000")
    assert screen.fact() == (
        "Head 1: the scores of “it” are too large for this precision, so its weights are not numbers."
    )
    assert np.isnan(screen.numbers("weights")[0, 0, screen.look()["query"]]).all()
    assert [plain(warning.value) for warning in screen.at.warning] == [
        "float16 cannot hold this number: scaled_scores [head 1, it, Anna]"
    ]


def test_the_link_box_and_the_address_bar_open_the_same_screen():
    screen = Screen(lang="zh").set("masks", ["causal"]).set("text", "it|a&b=c#d?e+f%20").set("temperature", 2.0)
    screen.open("sharing")
    (box,) = [code.value for code in screen.at.code if code.value.startswith("?")]
    query = {key: values[0] for key, values in parse_qs(box[1:], keep_blank_values=True).items()}
    assert query == screen.link()
    again = Screen(**query)
    assert again.fact() == screen.fact()
    assert again.packed("flow")[1]["numbers"] == screen.packed("flow")[1]["numbers"]
    assert again.setup() == screen.setup()


def test_the_link_of_a_page_that_a_button_opened_is_not_read_by_the_page_before():
    page, link = Lesson(""), {"mask": "causal", "open": "future"}

    def come_to(slug):
        page.at.query_params.clear()
        page.at.query_params.update(link)  # after Back, the browser says the other page's link once more
        return page.go_to(slug)

    page.at.session_state[OPENED_PAGE_KEY] = ("masks", link)
    come_to("masks")
    assert page.link()["open"] == "future"
    come_to("")
    assert page.at.session_state["workbench"].unread == []
    page.at.session_state[OPENED_PAGE_KEY] = ("masks", {})
    come_to("masks")
    come_to("")
    assert page.at.session_state["workbench"].unread == [("open", "future")]
