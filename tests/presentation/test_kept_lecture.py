"""One's own lecture in the browser: a reload and another tab have it, and what somebody else wrote there is refused."""

import json

import pytest

from pages.lectures import kept_lecture
from pages.lectures.kept_lecture import read_lectures, write_lectures
from pages.lectures.lecture_session import MAX_LINKED_LECTURE_CHARS
from pages.lectures.script import Lecture, Scene, lecture_to_file, lecture_to_link
from pages.setup.setup import make_setup
from tests.presentation.test_present import Presented
from tests.screen.driver import Screen

ONE = Lecture("One", (Scene(make_setup(), "first"),))
TWO = ONE.added(Scene(make_setup(example="zh_ta"), "second"))
OTHER = Lecture("Other", (Scene(make_setup(example="zh_ta"), "other"),))
LONG = Lecture("Long", tuple(Scene(make_setup(), f"{number}", note="ab" * 900) for number in range(9)))


def part_of(screen):
    (part,) = [each for each in screen.at.get("bidi_component") if each.proto.id.endswith("-kept_lecture")]
    return part


def told(screen):
    """What the browser is told to keep."""
    return json.loads(part_of(screen).proto.json)


def tell(screen, event, value):
    """What the browser says that it keeps."""
    trigger = f"$$STREAMLIT_INTERNAL_KEY_{part_of(screen).proto.id}__events"
    return screen.send(trigger, json_trigger_value=json.dumps([{"event": event, "value": value}]))


def asked(screen):
    """What the browser is told to keep where it has not heard it."""
    return told(tell(screen, "read", {"digest": "", "text": "", "changed": False}))


def kept(own, put_away=None, changed=False):
    return {"digest": "before", "text": write_lectures((own, put_away)), "changed": changed}


def own_of(screen):
    return screen.at.session_state["talk"].own


# ---- what the browser is given ---------------------------------------------------------------------------------------
def test_a_scene_that_is_added_is_given_to_the_browser_once():
    screen = Screen()
    assert told(screen) == {"digest": "", "text": None, "begins": True, "awaits": False}
    screen.press("add_scene")
    given = told(screen)
    assert read_lectures(given["text"]) == (own_of(screen), None)
    again = told(screen.set("scale", "off"))
    assert (again["digest"], again["text"]) == (given["digest"], None)
    assert asked(screen)["text"] == given["text"]


def test_a_lecture_too_large_for_a_browser_is_not_kept_and_the_desk_says_so(monkeypatch):
    texts = [len(write_lectures(pair)) for pair in ((ONE, OTHER), (ONE, None))]
    monkeypatch.setattr(kept_lecture, "MAX_KEPT_CHARS", texts[0] - 1)
    assert read_lectures(write_lectures((ONE, OTHER))) == (ONE, None)
    monkeypatch.setattr(kept_lecture, "MAX_KEPT_CHARS", texts[1] - 1)
    assert write_lectures((ONE, OTHER)) == ""
    (warning,) = Presented(own=lecture_to_link(ONE)).click("new").offer(lecture_to_file(ONE)).at.warning
    assert warning.value.startswith("This browser does not keep your lecture")


# ---- what the browser has --------------------------------------------------------------------------------------------
def test_a_reload_has_the_lecture_that_the_browser_kept():
    screen = tell(Screen(), "read", kept(TWO, OTHER))
    assert own_of(screen) == TWO
    desk = tell(Presented(), "read", kept(TWO, OTHER))
    assert (desk.link()["own"], desk.own()) == (lecture_to_link(TWO), TWO)
    assert desk.click("bring_back").own() == OTHER


def test_a_lecture_of_a_link_stays_and_the_one_of_the_browser_is_put_away():
    desk = tell(Presented(own=lecture_to_link(ONE)), "read", kept(TWO))
    assert (desk.own(), desk.at.session_state["talk"].put_away) == (ONE, TWO)
    assert read_lectures(asked(desk)["text"]) == (ONE, TWO)


def test_a_long_lecture_opens_again_at_its_step():
    assert len(lecture_to_link(LONG)) < MAX_LINKED_LECTURE_CHARS  # the link alone decides here
    desk = Presented(lecture="own", scene="2", step="map")
    assert told(desk)["awaits"] and not desk.errors()
    assert tell(desk, "read", kept(LONG)).place() == (2, "map")
    lost = tell(Presented(lecture="own", scene="2", step="map"), "read", None)
    assert (lost.place(), told(lost)["awaits"]) == (None, False)
    assert any("lecture=own" in error for error in lost.errors())


HOSTILE = ["", "x", "{}", "[]", "null", "[" * 99_999, '{"own": 3, "put_away": null}', '{"own": "[", "put_away": null}']
HOSTILE += [
    '{"own": null}',
    '{"own": "{}", "put_away": "{}"}',
    json.dumps({"own": lecture_to_file(ONE)[:-9], "put_away": None}),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_lecture_is_a_sentence_on_the_desk_and_changes_nothing(text):
    for changed in (False, True):
        desk = tell(Presented(own=lecture_to_link(ONE)), "read", {"digest": "<b>", "text": text, "changed": changed})
        assert desk.own() == ONE
        assert [warning.value[:24] for warning in desk.at.warning] == ["The lecture that this br"]


@pytest.mark.parametrize("sent", [3, "x", [], {}, {"text": 3}, {"digest": "", "text": None, "changed": True}])
def test_what_is_no_message_does_nothing(sent):
    desk = tell(Presented(own=lecture_to_link(ONE)), "read", sent)
    assert desk.own() == ONE and not desk.at.warning


# ---- another tab -----------------------------------------------------------------------------------------------------
def test_a_scene_that_another_tab_added_is_there():
    desk = tell(Presented(own=lecture_to_link(ONE)), "read", kept(TWO, changed=True))
    assert (desk.own(), desk.link()["own"]) == (TWO, lecture_to_link(TWO))
    assert read_lectures(asked(desk)["text"]) == (TWO, None)


@pytest.mark.parametrize(("changed", "place"), [(TWO, (2, "map")), (ONE, (1, "map")), (Lecture("Empty"), None)])
def test_the_stage_stays_at_a_scene_that_the_changed_lecture_has(changed, place):
    stage = Presented(own=lecture_to_link(TWO), scene="2", step="map")
    assert tell(stage, "read", kept(changed, changed=True)).place() == place


def test_a_lecture_that_is_thrown_away_is_gone_here_and_in_another_tab():
    desk = Presented(own=lecture_to_link(ONE)).click("throw_away")
    assert (desk.own(), told(desk)["digest"], told(desk)["text"]) == (None, "", "")
    assert desk.link()["lecture"] == "ten_minutes"
    other = tell(Presented(own=lecture_to_link(ONE), scene="1", step="map"), "removed", True)
    assert (other.own(), other.place(), told(other)["digest"]) == (None, None, "")
