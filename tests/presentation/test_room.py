"""The room of a lecture on the stage: opened by a key, shown as a code, kept over a reload, given another lecture."""

import gzip
import json
import math
import re
from html import unescape
from types import SimpleNamespace

import pytest
from streamlit.runtime.context import ContextProxy

from pages.classroom import rooms
from pages.classroom.rooms import ROOMS, Reached
from pages.lectures.kinds.text import OwnText
from pages.lectures.script import Lecture, Scene, lecture_to_link, load_shipped_lecture
from pages.presentation.poll import make_poll
from pages.setup.setup import make_setup
from pages.site.words import load_app_texts, use_language
from tests.presentation.test_present import EVIL, Presented

WORDS = load_app_texts("en")
LECTURE = Lecture(
    "", (Scene(OwnText("one"), EVIL, note="for the speaker", steps=("text",)), Scene(OwnText("two"), "B"))
)


class Led(Presented):
    """A lecturer's session on the stage."""

    def room_data(self):
        (part,) = [each for each in self.at.get("bidi_component") if each.proto.id.endswith("-room")]
        return json.loads(part.proto.json)

    def room(self):
        key = self.at.session_state["talk"].room
        return None if key is None else ROOMS.find(key.code)


@pytest.fixture(autouse=True)
def no_rooms():
    """Every test begins without a room."""
    ROOMS.rooms.clear()
    yield
    ROOMS.rooms.clear()


def page_of(led):
    return gzip.decompress(led.room().page.data).decode()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_key_opens_the_room_and_shows_its_code_and_the_next_leads_back(language):
    words = load_app_texts(language)
    led = Led(own=lecture_to_link(LECTURE), lang=language).press("start")
    data = led.room_data()
    assert [data[name] for name in ("key", "ended", "text", "poll")] == [None, False, "", None]
    assert data["place"] == {"scene": 1, "step": "text", "link": ""}
    led.press("room")
    (code,) = ROOMS.rooms
    assert f"# {code}" in led.texts() and "one" not in led.texts()
    assert "room" in led.lectern()["on"]
    kept = led.room_data()
    assert kept["key"]["code"] == code and kept["text"] == words["present.room.told"].replace("{code}", code)
    led.press("next")
    assert led.place() == (1, "text") and "one" in led.texts() and f"# {code}" not in led.texts()
    led.press("next")
    assert led.room_data()["place"] == {"scene": 2, "step": "text", "link": ""}
    led.press("leave")
    assert led.room_data()["place"] is None and led.room_data()["key"] == kept["key"]  # the room stays open
    assert led.errors() == [] and list(ROOMS.rooms) == [code]


def test_the_page_of_the_audience_has_the_scenes_as_text_and_no_notes():
    page = page_of(Led(own=lecture_to_link(LECTURE)).press("start").press("room"))
    assert "for the speaker" not in page and "<img" not in page and EVIL in unescape(page)
    assert "connect-src 'self'" in unescape(page.partition("<style>")[0])
    follow_texts = json.loads(unescape(re.search(r'id="follow"[^>]* data-texts="([^"]*)"', page)[1]))
    assert follow_texts["exercises"] == {"check": "Check your work", "puzzles": "Puzzles"}
    for name in ("waiting", "following", "leave", "back", "lost", "ended", "changed"):
        assert WORDS[f"present.room.follow.{name}"] in unescape(page)


def test_another_lecture_replaces_the_page_and_the_code_stays():
    led = Led(own=lecture_to_link(LECTURE)).press("start").press("room")
    (code,) = ROOMS.rooms
    before = led.room().page.digest
    led.press("room").press("room")
    assert led.room().page.digest == before  # the same lecture is not made again
    led.press("leave")
    led.type("c_lecture_title", "Another title")
    led.press("start").press("room")
    assert list(ROOMS.rooms) == [code] and led.room().page.digest != before
    assert "Another title" in page_of(led)


def test_a_reload_keeps_the_room_by_its_secret_and_a_wrong_one_opens_nothing():
    led = Led(own=lecture_to_link(LECTURE)).press("start").press("room")
    kept = led.room_data()["key"]
    again = Led(own=lecture_to_link(LECTURE)).trigger("room", "kept", kept)
    assert again.room_data()["key"] == kept and not again.room_data()["ended"]
    for wrong in ({**kept, "secret": "guessed"}, {**kept, "code": "AAAAAA"}):
        guesser = Led(own=lecture_to_link(LECTURE)).trigger("room", "kept", wrong)
        assert guesser.room_data()["key"] is None and guesser.room_data()["ended"]  # the browser forgets it
    for hostile in ({"code": 1, "secret": "a"}, {"code": "A" * 25, "secret": "a"}, [], {**kept, "more": 1}):
        silent = Led(own=lecture_to_link(LECTURE)).trigger("room", "kept", hostile)
        assert silent.room_data()["key"] is None and not silent.room_data()["ended"]


def test_the_lecturer_ends_the_room_and_may_open_another():
    led = Led(own=lecture_to_link(LECTURE)).press("start").press("room")
    (code,) = ROOMS.rooms
    led.click("end_room")
    assert not ROOMS.rooms and led.room_data()["ended"] and led.room_data()["key"] is None
    assert any(WORDS["present.room.over"] in each.value for each in led.at.info)
    led.click("room_again")
    (other,) = ROOMS.rooms
    assert other != code and f"# {other}" in led.texts() and not led.room_data()["ended"]


def test_a_room_that_the_server_has_lost_is_said_to_have_ended():
    led = Led(own=lecture_to_link(LECTURE)).press("start").press("room")
    ROOMS.rooms.clear()
    led.trigger("room", "lost", True)
    assert led.room_data()["ended"] and led.room() is None


def test_why_no_room_opens_is_said_at_its_place(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_ROOMS", 0)
    led = Led(own=lecture_to_link(LECTURE)).press("start").press("room")
    assert led.errors() == [WORDS["present.room.refused.rooms"].format(limit=0)] and led.room() is None
    monkeypatch.setattr(rooms, "MAX_ROOMS", 1)
    monkeypatch.setattr(rooms, "MAX_PAGE_BYTES", 100)
    led.press("room").press("room")
    assert led.errors()[0].startswith("The lecture’s page for the audience may have at most")


def test_what_the_lecturer_changes_in_a_scene_is_a_link_to_the_workbench():
    lecture = Lecture("", (Scene(make_setup(example="en_colour"), "A", steps=("cell",)),))
    led = Led(own=lecture_to_link(lecture)).press("start")
    assert led.room_data()["place"]["link"] == ""
    led.press("edit")
    led.drag("c_temperature", 2.0)
    assert "temp" in led.room_data()["place"]["link"]
    led.press("script")
    assert led.room_data()["place"]["link"] == ""


def test_the_page_of_the_audience_is_light_whatever_the_lecturers_theme(monkeypatch):
    lecture = Lecture("", (Scene(make_setup(example="en_colour"), "A", steps=("journey",)),))
    light = page_of(Led(own=lecture_to_link(lecture)).press("start").press("room"))
    ROOMS.rooms.clear()
    monkeypatch.setattr(ContextProxy, "theme", SimpleNamespace(type="dark"))
    dark = page_of(Led(own=lecture_to_link(lecture)).press("start").press("room"))
    assert dark == light and len(re.findall('"packed": ', unescape(dark))) == 1  # the animation is in it


# ---- polls -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_poll_of_a_scene_offers_its_words_and_knows_the_weights(language):
    scenes = load_shipped_lecture("ten_minutes", language).scenes
    with use_language(language):
        poll = make_poll(scenes[0])
        others = [make_poll(scene) is not None for scene in scenes]
    words = {"en": "Anna fed the dog and it barked", "zh": "小红 喂了 那只 狗 ， 它 摇尾巴"}[language].split()
    assert list(poll.choices) == words
    powers = [math.exp(each / math.sqrt(2)) for each in (-6, 0, 0, 6, 0, 0, 0)]  # q · k, as on paper
    assert poll.shares == pytest.approx([power / sum(powers) for power in powers], abs=1e-6)
    query = {"en": "it", "zh": "它"}[language]
    assert poll.question == load_app_texts(language)["present.room.poll.question"].format(word=query)
    steps = [{"journey", "map"} & {*scene.own_steps()} for scene in scenes]
    assert all(scene.question and shown for scene, shown, has in zip(scenes, steps, others, strict=True) if has)


def test_a_scene_without_a_largest_weight_without_a_question_or_with_many_words_has_no_poll():
    setup = make_setup(example="en_it")
    assert make_poll(Scene(setup, "", question="Which?", steps=("map",))) is not None
    assert make_poll(Scene(setup, "", steps=("map",))) is None
    assert make_poll(Scene(setup, "", question="Which?", steps=("cell",))) is None
    assert make_poll(Scene(OwnText("a"), "", question="Which?")) is None
    even = setup.with_fields(temperature=1e6, text="Zog Zog Zog")
    assert make_poll(Scene(even, "", question="Which?", steps=("map",))) is None
    many = make_setup(example="en_it", text=" ".join(["Anna fed the dog and it barked"] * 3))
    assert make_poll(Scene(many, "", question="Which?", steps=("map",))) is None


def test_the_poll_is_on_the_stage_and_in_the_page_of_the_audience():
    lecture = Lecture("", (Scene(make_setup(example="en_it"), "A", question="Which?", steps=("map",)),))
    led = Led(own=lecture_to_link(lecture)).press("start").press("room")
    poll = led.room_data()["poll"]
    assert poll["choices"][3] == "dog" and max(poll["shares"]) == poll["shares"][3]
    assert led.room_data()["texts"]["open"] == "Answers so far: {count}"
    (texts,) = re.findall(r'data-texts="([^"]*)"', page_of(led))
    assert json.loads(unescape(texts))["polls"] == {"1": poll}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_lecturer_sees_how_many_of_the_class_have_got_how_far(language):
    words = load_app_texts(language)
    led = Led(own=lecture_to_link(LECTURE), lang=language).press("start").press("room")
    (code,) = ROOMS.rooms
    for browser, done in (("a", 2), ("b", 2), ("c", 0)):
        ROOMS.report(code, "puzzles", browser, Reached(done, 11))
    led.press("room").press("room")
    for slug, count in (("check", 0), ("puzzles", 3)):
        assert words["present.room.work.at_work"].format(title=words[f"page.{slug}"], count=count) in led.texts()
    bars = [each.proto for each in led.at.get("progress")]
    assert [bar.text for bar in bars] == [
        words["present.room.work.reached"].format(done=done, total=11, count=count) for done, count in ((0, 1), (2, 2))
    ]
    assert [bar.value for bar in bars] == [33, 66]  # percent of those at work
