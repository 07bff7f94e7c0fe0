"""A link says where the Chinese words of its texts end: another list of words changes nothing of it."""

import pytest

from attention_core.inputs.tokenizer import is_ideograph
from pages.runs.compute import tokens_of
from pages.setup.codec import setup_from_link, setup_to_link
from pages.setup.setup import DEFAULT_SETUP, make_setup
from pages.setup.setup_file import setup_from_file, setup_to_file

BRIDGE = "南京市长江大桥"


def chinese_words(text, setup):
    return [word for word in tokens_of(text, setup.run) if any(map(is_ideograph, word))]


@pytest.mark.parametrize("example", ["zh_ta", "model_zh", "translator", "en_it"])
@pytest.mark.parametrize("text", ["我女朋友在南京市长江大桥 Python 3😭。", "红烧肉", "小明和小红吵架了，她哭了"])
def test_a_link_keeps_the_cut_that_it_was_made_with(example, text):
    setup = make_setup(example=example, text=text)
    link = setup_to_link(setup)
    assert link["text"] == text
    assert link["cut"] == "".join(str(len(word)) for word in chinese_words(text, setup))
    assert setup_from_link(link) == (setup, [])
    assert setup_from_file(setup_to_file(setup)) == (setup, [])
    characters = [char for char in text if is_ideograph(char)]
    opened, unread = setup_from_link(link | {"cut": "1" * len(characters)})  # as another list of words had cut it
    assert unread == []
    assert chinese_words(opened.run.text, opened) == characters
    assert setup_from_link(setup_to_link(opened)) == (opened, [])  # and stays so


def test_a_link_of_before_opens():
    setup = make_setup(example="zh_ta", text=BRIDGE)
    assert setup_from_link({"ex": "zh_ta", "text": BRIDGE}) == (setup, [])
    assert setup_from_link({"ex": "zh_ta", "cut": "characters"}) == (make_setup(example="zh_ta", cut="characters"), [])


@pytest.mark.parametrize("cut", ["3", "341", "9", "0", "34 ", "長", "3" * 200_000, ""])
def test_a_cut_that_fits_no_text_is_named(cut):
    setup, unread = setup_from_link({"ex": "zh_ta", "text": BRIDGE, "cut": cut})
    assert (setup.run.text, unread) == (BRIDGE, [("cut", cut[:40])])
    assert setup_from_link({"cut": "11"}) == (DEFAULT_SETUP, [("cut", "11")])


@pytest.mark.parametrize("text", ["南京 市长 江大桥", "南京|市长|江大桥", "The dog barked.", "狗", "日本語の文"])
def test_what_no_list_of_words_cuts_is_said_by_the_text_alone(text):
    assert "cut" not in setup_to_link(make_setup(example="zh_ta", text=text))
    assert setup_to_link(make_setup(example="zh_ta", text=BRIDGE, cut="characters"))["cut"] == "characters"
    assert "cut" not in setup_to_link(make_setup(example="learned_dates", text="2019年3月5日"))


def test_the_cuts_of_all_texts_stand_in_one_row():
    setup = make_setup(example="zh_ta", text="我很好", more=f"她哭了\n{BRIDGE}\n")
    link = setup_to_link(setup)
    assert link["cut"] == "11111134"
    opened, unread = setup_from_link(link | {"cut": "3111232"})
    assert unread == []
    assert [tokens_of(line, opened.run) for line in (opened.run.text, *opened.run.more.splitlines())] == [
        ("我很好",),
        ("她", "哭", "了"),
        ("南京", "市长江", "大桥"),
    ]
