"""What comes of random numbers says so and claims no share: the headline, what is read aloud, files, lessons."""

import html
import json
import re

import pytest

from attention_core.inputs.matrix_link import read_matrix
from pages.lectures.script import Lecture, Scene, lecture_to_link
from pages.setup.setup import make_setup
from tests.export.test_export_panel import files  # noqa: F401, a fixture
from tests.presentation.test_present import Presented
from tests.screen.driver import Screen, plain, unpack
from tests.screen.lesson import Lesson

UNKNOWN = {"ex": "source_004", "text": "moon x1 x3"}  # its dictionary has no roles: what it lacks is drawn
OTHER = "My teacher loves pizza"  # of which the dictionary of the built examples has "my" and "teacher"
QUERY = "Head 1: “moon” has a random vector, which carries no meaning."
KEY = "Head 1: “x1” is compared with the random vector of “moon”, which carries no meaning."
MATRIX = "头 1，“它”：权重没有意义（w_q 是随机的）。"
SHARE = re.compile(
    r"[1-9][\d.]* ?%|(gives|给) ?“[^”]*” \**[01]\.|[01]\.\d+ (arrives|份)|[(（][01]\.\d+[)）]|α = |→ “.*[01]\.\d"
)


def told(screen):
    """All that a session says, and what a screen reader hears of its pictures."""
    if isinstance(screen, Screen):
        screen.open()
    texts = [plain(text.value) for kind in ("markdown", "caption", "success", "info") for text in screen.at.get(kind)]
    if isinstance(screen, Screen):
        texts += [fact["text"] for row in screen.flow()["facts"] for fact in row] + screen.heads()
    else:
        texts += looked_at(screen) + (screen.told() if isinstance(screen, Lesson) else [])
    return texts + [chart.proto.alt for chart in screen.at.get("vega_lite_chart")]


def looked_at(screen):
    """What the moving picture of a lesson or a scene has above it, where there is one: of the row that is looked at."""
    shown = [part.proto.bytes for part in screen.at.get("bidi_component") if part.proto.id.endswith("-flow")]
    heads = [unpack(data)[0] for data in shown]
    facts = [head["facts"][head["look"]["head"]][head["look"]["query"]] for head in heads if head["speaks"]]
    return [f"##### {fact['text']}" for fact in facts]


def claims(screen, *words):
    """The sentences that name one of these words and a share."""
    return [text for text in told(screen) if SHARE.search(text) and any(f"“{word}" in text for word in words)]


# ---- the headline ----------------------------------------------------------------------------------------------------
def test_the_headline_of_an_unknown_word_says_that_its_vector_is_random():
    screen = Screen(**UNKNOWN, t="0")
    assert screen.fact() == QUERY
    assert claims(screen, "moon") == []
    assert QUERY in told(screen)
    assert [fact["clear"] for fact in screen.flow()["facts"][0]] == [False] * 3
    assert [fact["random"] for fact in screen.flow()["facts"][0]] == [True] * 3  # drawn pale
    assert [fact["random"] for fact in Screen().flow()["facts"][0]] == [False] * 7


def test_it_says_so_in_chinese():
    screen = Screen(lang="zh", **UNKNOWN, t="0")
    assert screen.fact() == "头 1：“moon”的向量是随机的，没有语义，这一行权重与词义无关。"
    assert not any("%" in text for text in told(screen))


def test_a_known_word_whose_largest_share_goes_to_an_unknown_one():
    assert Screen(**UNKNOWN, t="1").fact() == KEY
    chinese = "头 1：与“x1”比较的“moon”，向量是随机的，没有语义，这一行权重与词义无关。"
    assert Screen(lang="zh", **UNKNOWN, t="1").fact() == chinese


def test_a_known_word_and_a_known_winner_are_told_as_ever():
    screen = Screen(ex="source_004", text="x1 fox x3", t="0")
    assert re.search(r"“x1” gives \d+ % of its attention to “x3”", screen.fact())


def test_unknown_words_that_share_equally_are_all_named():
    screen = Screen(ex="source_004", text="x1 moon moon", t="0")
    assert "is compared with the random vectors of “moon #2” and “moon #3”, which carry no meaning." in screen.fact()


def test_what_a_mask_decides_is_said_of_unknown_words_too():
    one = Screen(ex="source_004", text="moon", mask="causal")
    assert one.fact() == "Head 1: “moon” may attend to “moon” alone, which gets 100 %."
    assert "33 % to each" in Screen(**UNKNOWN, wiring="even").fact()


# ---- matrices, and whole sequences -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "link, said",
    [
        ({"w_q": "random.1~"}, "Head 1, “it”: no meaning (random: w_q)."),
        ({"w_q": "random.1~0.0=1", "w_k": "random.2~"}, "Head 1, “it”: no meaning (random: w_q, w_k)."),
        ({"w_q": "random.1~", "wiring": "tied", "w_k": "random.2~"}, "Head 1, “it”: no meaning (random: w_q)."),
        ({"b_q": "random.1~"}, "Head 1, “it”: no meaning (random: b_q)."),
        ({"score": "additive"}, "Head 1, “it”: no meaning (random: w_aq, w_ak, v_a)."),
        ({"x": "random.3~"}, "has a random vector, which carries no meaning"),
        ({"ex": "eight_heads"}, "has a random vector, which carries no meaning"),
        ({"ex": "one_query"}, "“q” has a random vector, which carries no meaning"),
        (
            {"ex": "source_004", "cross": "True", "ctx": "x2 moon", "t": "0"},
            "is compared with the random vector of “moon”",
        ),
        ({"ex": "source_004", "more": "moon x1", "sentence": "1", "t": "0"}, "“moon” has a random vector"),
    ],
)
def test_whatever_was_drawn_is_called_random(link, said):
    screen = Screen(**link)
    assert screen.errors() == [] and said in screen.fact() and "%" not in screen.fact()


def test_a_random_matrix_is_called_so_in_chinese():
    assert Screen(lang="zh", ex="zh_ta", w_q="random.1~", t="5", head="0").fact() == MATRIX


def test_random_matrices_that_make_no_weights_are_no_matter():
    screen = Screen(w_v="random.1~", w_o="random.2~", more=OTHER)
    assert screen.fact().startswith("Head 1: “it” gives 93 % of its attention to “dog”")


def test_one_number_typed_into_a_random_vector_leaves_it_random():
    assert Screen(**UNKNOWN, x="~0.0=1", t="0").fact() == QUERY
    typed = ";".join(f"0.{column}={number}" for column, number in enumerate((1, 0, 1, 0)))  # "moon" as x1 is
    screen = Screen(**UNKNOWN, x=f"~{typed}", t="0")
    assert "“moon” gives" in screen.fact() and "to “x3”" in screen.fact()
    assert screen.origins() == ["typed", "typed", "typed"]


def test_q_and_k_taken_over_from_unknown_words_are_random_until_others_are_typed():
    screen = Screen(**UNKNOWN, t="0").set("mode", "qkv")
    assert screen.fact() == QUERY
    for row in ("1,2", "1,2,3,4,5,6,7"):  # narrower and wider than what the sentence gives
        given = dict.fromkeys("qkv", ";".join([row, "0,0,0,0,0,0,9"[: len(row)]] * 2))
        screen = Screen(**UNKNOWN, heads="1", **given)
        assert screen.errors() == [] and "random" not in screen.fact()


def test_matrices_that_fit_nothing_any_more_are_no_trouble_where_q_and_k_are_typed():
    given = dict.fromkeys("qkv", "1,2;3,4;5,6;7,8")
    for link in ({"w_q": "1,2;3,4"}, {"b_q": "1,2,3", "w_q": "1,2;3,4;5,6;7,8"}, {"x": "1;2;3"}, {"wiring": "tied"}):
        assert "random" not in Screen(**UNKNOWN, **given, **link).fact(), link


def test_heads_built_by_hand_know_every_word():
    assert "random" not in Screen(ex="built_heads", text=OTHER).fact()


def test_a_head_with_random_words_has_no_habit():
    assert [head["name"] for head in Screen().flow()["head_names"]] == [
        "head 1: which noun is meant?",
        "head 2: who does it?",
    ]
    (unknown,) = Screen(**UNKNOWN).flow()["head_names"]
    assert (unknown["name"], unknown["habit"]) == ("head 1", "random numbers: no meaning")


def test_a_weight_that_moved_by_chance_says_so():
    screen = Screen(**UNKNOWN).set("scale", "off")
    (moved,) = [text for text in told(screen) if "Biggest change" in text]
    assert moved.startswith("Biggest change (no meaning: the numbers are random): weight of “")
    assert not any("of random numbers" in text for text in told(Screen().set("scale", "off")))
    moved = told(Screen(**UNKNOWN, lang="zh").set("scale", "off"))
    assert any("变化最大（随机数，没有含义）：" in text for text in moved)


# ---- files, and the stage --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("link", [{**UNKNOWN, "t": "0"}, {**UNKNOWN, "t": "1"}, {"w_q": "random.1~"}])
def test_every_document_says_so(link, files):  # noqa: F811
    screen = Screen("export", **link)
    notebook = "".join(json.loads(files.made("ipynb"))["cells"][0]["source"])
    notebook = re.sub(r"&#(\d+);", lambda code: chr(int(code[1])), notebook)
    pages = [html.unescape(files.made(ending)) for ending in ("page.html", "A4.html", "Letter.html")]
    for text in (notebook, *pages):
        assert screen.fact() in text and "of its attention" not in text
    latex = files.made("tex")
    assert re.search("no meaning|without meaning", latex) and "of its attention" not in latex


@pytest.mark.parametrize(
    "link, said",
    [
        ({"example": "source_004", "text": "moon x1 x3", "token": 0}, "random vector"),
        ({"w_k": read_matrix("random.1~")}, "no meaning (random: w_k)"),
    ],
)
def test_the_stage_says_so(link, said):
    own = Lecture("", (Scene(make_setup(**link), "", steps=("map",)),))
    screen = Presented(own=lecture_to_link(own)).press("start")
    assert any(said in text for text in told(screen))
    assert not any("of its attention" in text for text in told(screen))
