"""Words that no dictionary has are what somebody says they are: nothing about them is drawn at random."""

import numpy as np
import pytest

from pages.setup.word_roles import read_word_role, read_word_roles, with_word_role, write_word_role
from tests.screen.driver import Screen
from tests.screen.lesson import Lesson

PIZZA = "My teacher loves pizza because it is hot"
CUT = "我|的|老师|爱|披萨|因为|它|很|热"
SCORE = 6 / 2**0.5  # of a pronoun and its noun; of one and the other's, less than nothing


def softmax(scores):
    """The shares of some scores."""
    powers = np.exp(scores)
    return powers / powers.sum()


# ---- by hand ---------------------------------------------------------------------------------------------------------
def test_a_word_that_nobody_knows_counts_as_any_other_word():
    screen = Screen(text=PIZZA, t="5", head="0")
    shares = softmax([0, -SCORE, 0, 0, 0, 0, 0, 0])  # "it" turns away from the teacher, and knows no thing
    assert [screen.weight(5, key) for key in range(8)] == pytest.approx(shares, abs=1e-12)
    assert screen.origins() == ["built", "built", "role", "role", "built", "built", "built", "role"]


@pytest.mark.parametrize(
    "link, teacher, pizza, it, count",
    [
        ({"text": PIZZA, "role": "pizza:thing"}, 1, 3, 5, 8),
        ({"lang": "zh", "ex": "zh_ta", "text": CUT, "role": "披萨:thing"}, 2, 4, 6, 9),
    ],
)
def test_it_finds_the_pizza_once_the_pizza_is_a_thing(link, teacher, pizza, it, count):
    screen = Screen(**link, head="0")
    scores = np.zeros(count)
    scores[teacher], scores[pizza] = -SCORE, SCORE
    shares = softmax(scores)
    assert [screen.weight(it, key) for key in range(count)] == pytest.approx(shares, abs=1e-12)
    assert shares[pizza] > 0.9


def test_the_headline_claims_nothing_of_a_word_that_is_any_other():
    screen = Screen(text="My teacher loves pizza", t="2")
    assert screen.fact() == "Head 1: “loves” attends evenly: 25 % to each of 4 tokens."
    assert not any("random" in text for text in screen.captions())


@pytest.mark.parametrize(
    "link, doubt",
    [
        ({"text": PIZZA}, "built by hand and does not know loves, pizza, hot: its answer is for demonstration only"),
        ({"lang": "zh", "ex": "zh_ta", "text": CUT}, "这个头是手工设计的，不认识爱、披萨、热：结果只作演示"),
    ],
)
def test_a_head_built_by_hand_says_that_it_does_not_know_a_word_until_the_word_has_a_category(link, doubt):
    screen = Screen(**link)
    assert any(doubt in text for text in screen.captions())
    for number in range(3):
        screen.set(f"role{number}", "thing")
    assert not any(doubt[:12] in text for text in screen.captions())


def test_nothing_is_doubted_where_every_word_is_known_or_a_model_reads():
    for link in ({}, {"ex": "model_en", "text": "The zorb slept."}):
        assert not any("demonstration only" in text for text in Screen(**link).captions())


# ---- the choice ------------------------------------------------------------------------------------------------------
def test_a_choice_stands_under_each_unknown_word_and_goes_into_link_and_undo():
    screen = Screen(text=PIZZA, t="5", head="0")
    assert [screen.widget(f"role{number}").label for number in range(3)] == ["loves", "pizza", "hot"]
    assert {screen.widget(f"role{number}").value for number in range(3)} == {"other"}
    screen.set("role1", "thing")
    assert screen.link()["role"] == "pizza:thing" and screen.weight(5, 3) > 0.9
    screen.set("role0", "person_action")
    assert screen.setup().run.word_roles == ("pizza:thing", "loves:person_action")
    screen.press_labelled("Undo")
    assert screen.setup().run.word_roles == ("pizza:thing",)
    screen.set("role1", "other")
    assert "role" not in screen.link() and screen.weight(5, 3) < 0.2


def test_no_choice_where_every_word_is_known():
    screen = Screen(text="Tom read and then he laughed")
    assert not [box for box in screen.at.selectbox if box.key.startswith("c_role")]
    assert not any("does not know" in text for text in screen.captions())


def test_the_words_that_are_known_are_listed():
    (caption,) = [each for each in Screen(text=PIZZA).at.caption if "This example does not know" in each.value]
    assert "person: Anna, Tom, teacher, girl, boy" in caption.help
    assert "other word: the, a, and, but" in caption.help


def test_a_word_in_two_places_has_one_role_without_regard_to_capitals():
    screen = Screen(text="Pizza and pizza and it", role="pizza:thing", head="0")
    shares = softmax([SCORE, 0, SCORE, 0, 0])
    assert [screen.weight(4, key) for key in range(5)] == pytest.approx(shares, abs=1e-12)
    assert screen.widget("role0").label == "Pizza"


def test_more_words_than_there_is_room_for_are_counted():
    screen = Screen(text=" ".join(f"word{number}" for number in range(15)))
    assert len([box for box in screen.at.selectbox if box.key.startswith("c_role")]) == 12
    assert "and 3 further words, which count as “other word”" in screen.captions()


def test_where_nothing_can_be_chosen_it_says_that_the_vectors_are_zeros():
    screen = Screen(ex="cross_en_zh", text="I saw a walrus yesterday")
    assert "Not in the dictionary here, so taken as zeros: walrus." in screen.captions()
    assert not [box for box in screen.at.selectbox if box.key.startswith("c_role")]


@pytest.mark.parametrize(
    "text", ["<b>pizza</b> it", "pizza:thing it", "a,b it", "🍕 it", "пицца it", "[x](y) it", "x" * 40]
)
def test_whatever_is_typed_has_a_role_that_the_link_can_say(text):
    screen = Screen(text=text).set("role0", "thing")
    assert screen.errors() == [] and screen.setup().run.word_roles[0].endswith(":thing")
    again = Screen(**screen.link())
    assert again.setup() == screen.setup() and "thing" in {box.value for box in again.at.selectbox}


# ---- links -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("role", ["pizza:king", "pizza", ":thing", "pizza:thing:other", "%zz:thing", "PIZZA%:thing"])
def test_a_role_that_there_is_not_is_named_as_unread(role):
    with pytest.raises(ValueError, match=r".+"):
        read_word_role(role)
    screen = Screen(text=PIZZA, role=role)
    assert screen.setup().run.word_roles == ()
    assert any("The link says role=" in text for text in screen.errors())


def test_a_role_of_a_word_that_is_not_there_changes_nothing():
    assert Screen(text=PIZZA, role="zebra:thing", head="0").weight(5, 3) == Screen(text=PIZZA, head="0").weight(5, 3)


@pytest.mark.parametrize("word", ["pizza", "3:0", "a,b", "披萨", "well-known", "don't", "%41", "🍕", " "])
def test_a_written_role_is_read_back(word):
    assert read_word_role(write_word_role(word, "thing")) == (word, "thing")
    assert "," not in write_word_role(word, "thing")


def test_roles_are_exchanged_and_taken_back():
    roles = with_word_role(with_word_role((), "pizza", "thing"), "loves", "person_action")
    assert read_word_roles(roles) == {"pizza": "thing", "loves": "person_action"}
    assert read_word_roles(with_word_role(roles, "pizza", "person")) == {"pizza": "person", "loves": "person_action"}
    assert with_word_role(roles, "pizza", None) == ("loves:person_action",)


# ---- Chinese ---------------------------------------------------------------------------------------------------------
def test_chinese_is_cut_into_words_or_by_character():
    screen = Screen(lang="zh", ex="zh_ta", text="因为老师看见它")  # 看见 is a word of another example
    assert [screen.at.session_state["seen"] is not None, screen.origins()] == [
        True,
        ["built", "built", "role", "built"],
    ]
    screen.set("cut", True)
    assert screen.origins() == ["role", "role", "role", "role", "role", "role", "built"]
    assert screen.link()["cut"] == "characters"
    screen.set("cut", False)
    assert screen.link()["cut"] == "2221" and len(screen.origins()) == 4


def test_the_switch_stands_only_under_a_text_that_is_written_without_spaces():
    assert not [each for each in Screen("more").at.toggle if each.key == "c_cut"]
    assert [each for each in Screen("more", ex="zh_ta").at.toggle if each.key == "c_cut"]


# ---- lessons that take a reader's sentence ---------------------------------------------------------------------------
MASKS = {"text": "My teacher loves pizza", "token": "2"}
LESSONS = [
    ("start", {"text": "My teacher loves pizza"}),
    ("qkv", {"text": "My teacher loves pizza", "token": "2", "words": "with"}),
    ("qkv", {"text": "My teacher loves pizza", "token": "2", "open": "change,roles"}),
    ("scores", {"text": "My teacher loves pizza", "token": "2", "open": "widths,ceiling"}),
    ("masks", MASKS),
    ("masks", {**MASKS, "mask": "none"}),
    ("masks", {**MASKS, "open": "wirings", "wiring": "encoder"}),
    ("masks", {**MASKS, "open": "wirings", "wiring": "first", "sink": "<s> My teacher loves pizza"}),
    ("masks", {**MASKS, "open": "pairs", "pairs": "batch", "hidden": "False", "other": "My pizza"}),
    ("masks", {**MASKS, "open": "nothing", "nothing": "conventions"}),
    ("heads", {"text": "pink cat chased my dog", "token": "0", "open": "bring,explain", "brings": "alike"}),
    ("heads", {"text": "pink cat chased my dog", "token": "0", "open": "explain", "doubt": "gradient"}),
    ("positions", {"text": "pink cat chased my dog", "token": "0"}),
    (
        "cross",
        {"text": "my zebra", "context": "我 熊猫", "token": "1", "open": "lengths,decoder,context_vector,patches"},
    ),
    ("cross", {"open": "patches", "asking": "my zebra"}),
]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("slug, link", LESSONS)
def test_a_lesson_says_what_the_words_count_as_that_it_does_not_know(slug, link, lang):
    examples = {"heads": "en_colour", "positions": "en_colour"}
    example = {} if slug == "cross" else {"ex": examples.get(slug, "en_it")}
    lesson = Lesson(slug, **example, **link, lang=lang)
    assert lesson.errors() == []
    told = {"en": ("taken as: ", "so taken as zeros"), "zh": ("按括号里的类别处理", "向量都取零")}[lang]
    assert any(each in caption.value for caption in lesson.at.caption for each in told)
    texts = [text.value for kind in ("markdown", "caption") for text in lesson.at.get(kind)]
    words = ("loves", "pizza", "pink", "my", "zebra", "熊猫")
    named = [text for text in texts if any(f"“{word}" in text for word in words)]
    assert not any("random" in text or "随机" in text for text in named)


def test_classes_are_asked_in_the_picture_and_folded_beside_the_sentence():
    many = " ".join(f"word{number}" for number in range(15))
    for link, label in (
        ({"text": many}, "Categories for 15 unknown words"),
        ({"text": PIZZA, "more": "Our uncle bakes bread"}, "Categories for 6 unknown words"),
        ({"ex": "model_en", "text": "zorb blick frump wug"}, "Categories for 4 unknown words"),
        ({"text": "zorb barked"}, "Categories for 1 unknown word"),
    ):
        screen = Screen(**link)
        (folded,) = [box for box in screen.at.expander if box.label == label]
        assert not folded.proto.expanded
        choices = [box for box in screen.at.selectbox if box.key.startswith("c_role")]
        assert {box.key for box in choices} == {box.key for box in folded.selectbox}
        shown = {word for word, _ in screen.flow()["roles"]["words"].values()}
        assert shown == {box.label for box in choices if box.label in screen.words("S")}


def test_the_choice_stands_beside_the_word_in_the_picture():
    screen = Screen(ex="en_it", text=PIZZA)
    offered = screen.flow()["roles"]
    words = screen.words("S")
    assert {words[int(place)]: role for place, (_, role) in offered["words"].items()}["pizza"] == "other"
    assert "thing" in [role for role, _ in offered["options"]]
    screen.click_part("look", "role", {"word": "pizza", "role": "thing"})
    assert screen.link()["role"] == "pizza:thing"
    place = screen.words("S").index("pizza")
    assert screen.flow()["roles"]["words"][str(place)] == ["pizza", "thing"]
    for made_up in ({"word": "pizza", "role": "king"}, {"word": "it", "role": "thing"}, {"word": 3, "role": []}, None):
        screen.click_part("look", "role", made_up)
    assert screen.link()["role"] == "pizza:thing" and screen.errors() == []
    assert Screen(ex="en_it").flow()["roles"] is None
