"""The scenes as cards: what stands on each, moves that a browser sends, and values that nobody sends by hand."""

import base64
import io

import torch
from PIL import Image

from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.lesson import LessonPart
from pages.lectures.kinds.picture import OwnPicture
from pages.lectures.kinds.text import OwnText
from pages.lectures.script import Lecture, Scene, lecture_to_file
from pages.lessons.start.card_pictures import CARD_PICTURES
from pages.presentation.scene_cards import MAX_CARD_PICTURE_PIXELS, shrink_picture
from pages.runs.cache import trace_for
from pages.setup.setup import Setup, make_setup
from tests.presentation.test_present import EVIL, TEN, Presented


def picture_of(width, height):
    file = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(file, "PNG")
    return file.getvalue()


def test_each_kind_of_scene_has_its_picture():
    map_scene = Scene(make_setup(masks=("causal",), token=3, head=0), EVIL, minutes=4)
    code = Scene(RunCode(Setup()), "code")
    lesson = Scene(LessonPart("softmax"), "lesson", steps=("lesson",))
    page = Scene(LessonPart("glossary"), "page", steps=("lesson",))
    words = Scene(OwnText(f"# Mine\n\n{EVIL}"), "words", steps=("text",))
    picture = Scene(OwnPicture(picture_of(640, 360)), "picture", steps=("picture",))
    scenes = (map_scene, code, lesson, page, words, picture)
    cards = Presented().offer(lecture_to_file(Lecture("All", scenes))).cards()
    assert [card["title"] for card in cards] == [EVIL, "code", "lesson", "page", "words", "picture"]
    assert cards[0]["minutes"] == "4 min"
    weights = trace_for(map_scene.setup)["weights"][0, 0]
    strengths = [strength for kind, _, strength, *_ in cards[0]["shapes"] if kind == "rect"]
    lower = weights[torch.ones_like(weights).tril().bool()]
    assert strengths == [max(0.07, round(each, 2)) for each in lower.tolist()]
    assert cards[1]["code"] and any(line.startswith("def ") for line in cards[1]["lines"])
    assert cards[2]["shapes"] and "lines" not in cards[2] and "softmax" in CARD_PICTURES
    assert cards[3]["lines"] == ["Glossary"]
    assert cards[4]["lines"] == ["# Mine", EVIL[:40]]
    head, letters = cards[5]["image"].split(",")
    small = Image.open(io.BytesIO(base64.b64decode(letters)))
    assert head == "data:image/jpeg;base64" and small.size == (320, 180)


def test_a_picture_that_is_broken_or_too_large_has_no_small_one():
    whole = picture_of(640, 360)
    assert shrink_picture(whole) and shrink_picture(whole[:60]) == ""
    side = int(MAX_CARD_PICTURE_PIXELS**0.5) + 1
    assert shrink_picture(whole[:16] + side.to_bytes(4) + side.to_bytes(4) + whole[24:]) == ""


def test_a_card_is_put_in_another_place_and_its_scene_is_worked_on():
    desk = Presented().click("copy")
    titles = [scene.title for scene in TEN.scenes]
    desk.trigger("scenes", "moved", [0, 2])
    assert [scene.title for scene in desk.own().scenes] == [titles[1], titles[2], titles[0], *titles[3:]]
    assert [card["title"] for card in desk.cards()] == [scene.title for scene in desk.own().scenes]
    assert desk.box("c_scene_title").value == titles[0]
    desk.trigger("scenes", "moved", [2, 0])
    assert desk.own() == TEN


def test_a_click_shows_a_lecture_that_comes_with_the_app_from_there_on():
    desk = Presented()
    assert desk.trigger("scenes", "moved", [0, 2]).own() is None
    assert desk.open_scene(2).place() == (3, "question")


MADE_UP = [None, "1", -1, 11, True, 1.0, [], [0], [0, 11], [0, True], [0, 1, 2], {"from": 0}]


def test_what_a_browser_makes_up_opens_and_moves_no_scene():
    desk = Presented()
    for sent in MADE_UP:
        assert desk.open_scene(sent).place() is None, sent
    desk.click("copy")
    for sent in MADE_UP:
        desk.open_scene(sent).trigger("scenes", "moved", sent)
        assert desk.own() == TEN and desk.box("c_scene_title").value == TEN.scenes[0].title, sent
