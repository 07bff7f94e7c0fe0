"""A lecture on the screen: the order of its steps, changes midway that never touch it, building it, hostile ones."""

import json
import math

import numpy as np
import pytest

from pages.lectures.scene_kinds import SCENE_STEPS
from pages.lectures.script import (
    MAX_SCENES,
    Lecture,
    Scene,
    lecture_from_file,
    lecture_to_file,
    lecture_to_link,
    load_shipped_lecture,
)
from pages.setup.setup import make_setup
from pages.site.words import load_app_texts
from tests.screen.driver import Screen, plain, unpack
from tests.screen.lesson import Lesson

TEN = load_shipped_lecture("ten_minutes", "en")
EVIL = "<img src=x onerror=alert(1)> [a](javascript:b) $x$ :smile: **b**"


class Presented(Lesson):
    """One session on the page."""

    def __init__(self, **link):
        super().__init__("present", **link)

    def press(self, way):
        return self.trigger("lectern", "moved", way)

    def drag(self, slider, value):
        return self.trigger(slider, "released", value)

    def trigger(self, name, event, value):
        (part,) = [each for each in self.at.get("bidi_component") if each.proto.id.endswith(f"-{name}")]
        trigger = f"$$STREAMLIT_INTERNAL_KEY_{part.proto.id}__events"
        return self.send(trigger, json_trigger_value=json.dumps([{"event": event, "value": value}]))

    def click(self, key):
        return super().press(key)

    def open_scene(self, at):
        return self.trigger("scenes", "opened", at)

    def cards(self):
        """What stands on the cards of the scenes."""
        (part,) = [each for each in self.at.get("bidi_component") if each.proto.id.endswith("-scenes")]
        return json.loads(part.proto.json)["cards"]

    def lectern(self):
        (part,) = [each for each in self.at.get("bidi_component") if each.proto.id.endswith("-lectern")]
        return json.loads(part.proto.json)

    def flow(self):
        """What the journey and the map are drawn from, and all numbers of its run."""
        (part,) = [each for each in self.at.get("bidi_component") if each.proto.id.endswith("-flow")]
        head, found = unpack(part.proto.bytes)
        return head, np.frombuffer(found["numbers"], np.float64)

    def shows_flow(self):
        return any(each.proto.id.endswith("-flow") for each in self.at.get("bidi_component"))

    def row_fact(self):
        """What the picture says of the row that is looked at."""
        head, _ = self.flow()
        return head["facts"][head["look"]["head"]][head["look"]["query"]]["text"]

    def place(self):
        link = self.link()
        return (int(link["scene"]), link["step"]) if "scene" in link else None

    def texts(self):
        return [plain(each.value) for each in self.at.markdown]

    def setup(self):
        return self.at.session_state["setup"]

    def own(self):
        return self.at.session_state["talk"].own

    def box(self, key):
        kinds = ("text_input", "text_area", "selectbox", "button_group", "number_input", "select_slider", "toggle")
        (found,) = [each for kind in kinds for each in self.at.get(kind) if each.key == key]
        return found

    def type(self, key, value):
        return self.ran(self.box(key).set_value(value).run)

    def offer(self, text):
        (uploader,) = [box for box in self.at.file_uploader if box.key.startswith("c_lecture_file")]
        data = text if isinstance(text, bytes) else text.encode()
        return self.ran(uploader.set_value(("lecture.json", data, "application/json")).run)

    def errors(self):
        return [plain(error.value) for error in self.at.error]


# ---- what is a guess -------------------------------------------------------------------------------------------------
def test_that_a_model_guesses_stands_on_the_stage_beside_what_it_made():
    far = make_setup(example="model_en", text="The quick brown fox loves my zorb because it is lazy.", token=8)
    scenes = (Scene(far, "Far", steps=("map", "symbol")), Scene(make_setup(example="model_en"), "Near", steps=("map",)))
    screen = Presented(own=lecture_to_link(Lecture("", scenes))).press("start")
    (said,) = [warning.value for warning in screen.at.warning]
    assert said.startswith("**The model guesses here**: what “it” refers to")
    assert not screen.press("next").at.warning and screen.place() == (1, "symbol")  # a formula is no answer
    assert not screen.press("next").at.warning and screen.place() == (2, "map")


# ---- the order -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_step_of_every_scene_is_shown_in_order_and_back_again(language):
    lecture = load_shipped_lecture("ten_minutes", language)
    wanted = [(at + 1, scene_step) for at, scene in enumerate(lecture.scenes) for scene_step in scene.scene_steps()]
    screen = Presented(lang=language).press("start")
    seen = []
    for _ in wanted:
        seen.append(screen.place())
        assert screen.errors() == []
        scene = lecture.scenes[screen.place()[0] - 1]
        assert f"#### {scene.title}" in screen.texts()
        assert scene.note not in " ".join(screen.texts())  # the audience never sees it
        assert (scene.question in " ".join(screen.texts())) == (screen.place()[1] == "question")
        screen.press("next")
    assert seen == wanted
    assert screen.place() == wanted[-1]  # the last key stays where it is
    for place in reversed(wanted[:-1]):
        assert screen.press("previous").place() == place
    assert screen.press("last").place() == wanted[-1] and screen.press("first").place() == wanted[0]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["ten_minutes", "forty_five_minutes"])
def test_one_key_leads_to_the_next_scene_from_any_of_its_steps_and_one_back(name, language):
    scenes = load_shipped_lecture(name, language).scenes
    firsts = [(at + 1, scene.scene_steps()[0]) for at, scene in enumerate(scenes)]
    screen = Presented(lecture=name, lang=language, scene="3", step=scenes[2].scene_steps()[-1])
    assert screen.press("next_scene").place() == firsts[3]
    assert screen.press("next").press("previous_scene").place() == firsts[2]
    assert screen.press("previous_scene").press("previous_scene").press("previous_scene").place() == firsts[0]
    screen.press("last")
    assert screen.press("next_scene").place() == (len(scenes), scenes[-1].scene_steps()[-1])  # there is none
    assert screen.press("previous_scene").place() == firsts[-2] and screen.errors() == []


def test_a_question_covers_what_answers_it_and_all_answers_can_be_revealed():
    screen = Presented(lecture="ten_minutes", scene="2")
    assert screen.place() == (2, "question") and not screen.at.get("vega_lite_chart") and not screen.shows_flow()
    assert not any("93" in text for text in screen.texts())
    assert screen.press("next").place() == (2, "journey") and "93 %" in screen.row_fact()
    screen.press("previous")
    assert screen.press("reveal").place() == (2, "journey")
    assert screen.press("previous").place() == (1, "shapes")
    assert "question" not in [screen.press("previous").place()[1] for _ in range(5)]
    screen.press("reveal").press("first")
    assert [screen.place()[1], screen.press("next").place()[1]] == ["question", "journey"]


def test_the_journey_begins_at_its_start_and_who_comes_back_finds_its_end():
    screen = Presented(lecture="ten_minutes", scene="1", step="journey")
    head, _ = screen.flow()
    assert (head["begins"], head["fills"], head["hears"], head["look"]["step"]) == ("start", True, False, None)
    head, _ = screen.press("next").flow()
    assert (screen.place(), head["begins"], head["look"]["step"]) == ((1, "map"), "end", "weights")
    again, _ = screen.press("previous").flow()
    assert (screen.place(), again["begins"], again["look"]["step"]) == ((1, "journey"), "end", None)
    assert again["look"]["order"] > head["look"]["order"] and again["digest"] == head["digest"]


def test_stops_that_an_earlier_scene_has_shown_are_known_and_only_those():
    screen = Presented(lecture="ten_minutes", scene="1", step="question")
    known = {}
    for _ in range(7):
        while screen.place()[1] not in ("journey", "map"):
            screen.press("next")
        if screen.place()[1] == "journey":
            known[screen.place()[0]] = screen.flow()[0]["known"]
        screen.press("next_scene")
    assert known.keys() == {1, 2, 5, 6}
    assert known[1] == [] and {"ask", "match", "share", "gather", "output"} <= {*known[2]} == {*known[5]}
    assert "mask" not in known[6]  # nothing was masked before
    screen.press("leave").press("start").press("next")
    assert screen.flow()[0]["known"] == []  # another show
    assert Presented(lecture="ten_minutes", scene="2", step="journey").flow()[0]["known"] == []


@pytest.mark.parametrize("revealed", [False, True])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_question_what_would_be_without_the_division_is_answered(language, revealed):
    """Asked in scene 5, with 93 % in sight before; what comes next is not divided, also where all is revealed."""
    screen = Presented(lecture="ten_minutes", scene="4", step="map", lang=language)
    assert weight_of_dog(screen) == pytest.approx(0.933, abs=5e-4)
    if revealed:
        screen.press("reveal").press("next").press("next").press("next")
    else:
        screen.press("next").press("next")
        assert screen.press("next").place() == (5, "question") and not screen.shows_flow()
        screen.press("next")
    assert screen.place() == (5, "journey")
    assert weight_of_dog(screen) == pytest.approx(math.exp(6) / (math.exp(6) + 5 + math.exp(-6)))
    assert "99" in screen.row_fact()


def weight_of_dog(screen):
    """What "it" gives to "dog" in the map of the scene."""
    head, numbers = screen.flow()
    step = head["steps"]["weights"]
    return numbers[step["first"] :].reshape(-1)[: math.prod(step["shape"])].reshape(step["shape"])[0, 0, 5, 3]


def test_a_short_link_leads_to_a_step_and_says_what_of_it_there_is_not():
    screen = Presented(lecture="ten_minutes", scene="3", step="map")
    assert screen.place() == (3, "map") and screen.lectern()["place"] == "Scene 3 of 11"
    assert screen.link() == {"lecture": "ten_minutes", "scene": "3", "step": "map"}
    for link, said in [
        ({"scene": "12"}, "scene=12"),
        ({"scene": "0"}, "scene=0"),
        ({"scene": "3", "step": "sound"}, "step=sound"),
        ({"lecture": EVIL}, "lecture=<img"),
        ({"sceen": "3"}, "sceen=3"),
        ({"own": "nonsense"}, "in a link"),
    ]:
        errors = Presented(**link).errors()
        assert len(errors) == 1 and said in errors[0], (link, errors)


# ---- midway ----------------------------------------------------------------------------------------------------------
def test_a_number_changed_midway_is_seen_the_lecture_stays_and_a_key_leads_back():
    screen = Presented(lecture="ten_minutes", scene="4", step="map")
    before, script = lecture_to_file(TEN), screen.setup()
    assert "93 %" in screen.row_fact()
    screen.press("edit").type("c_scale_on", False)
    assert "99 %" in screen.row_fact() and screen.setup().run.scale == 1.0
    assert "script" in screen.lectern()["on"] and screen.lectern()["notes"]["departed"]
    assert screen.press("previous").setup().run.scale == 1.0  # it lasts as long as the scene
    screen.press("script")
    assert screen.setup() == script and screen.place() == (4, "question")
    assert "script" not in screen.lectern()["on"] and not screen.lectern()["notes"]["departed"]
    screen.type("c_text", "Tom fed the cat and it purred")
    assert screen.press("last").press("first").setup().run.text is None
    while screen.place() != (4, "map"):
        screen.press("next")
    assert screen.setup() == script and lecture_to_file(load_shipped_lecture("ten_minutes", "en")) == before
    screen.press("edit")
    assert not screen.at.sidebar.children


def test_a_refused_number_is_refused_at_its_place_and_the_scene_stays():
    screen = Presented(lecture="ten_minutes", scene="3", step="cell").press("edit")
    screen.type("c_text", "  ")
    assert len(screen.errors()) == 1 and screen.setup().run.text is None
    assert any("scores [head 1, it, dog]" in text for text in screen.texts())


def test_a_number_is_followed_back_and_the_script_returns():
    screen = Presented(lecture="ten_minutes", scene="3", step="cell")
    (part,) = [each for each in screen.at.get("bidi_component") if each.proto.id.endswith("-arithmetic")]
    trigger = f"$$STREAMLIT_INTERNAL_KEY_{part.proto.id}__events"
    place = {"step": "q", "index": [0, 0, 5, 0]}
    screen.send(trigger, json_trigger_value=json.dumps([{"event": "followed", "value": place}]))
    assert screen.setup().view.step == "q" and any(text.startswith("**q [") for text in screen.texts())
    assert screen.press("script").setup().view.step == "scores"


def test_leaving_gives_the_workbench_back_what_it_showed():
    screen = Presented()
    screen.go_to("workbench").at.query_params.clear()
    before = screen.setup()
    screen.go_to("present").press("start").press("edit").drag("c_temperature", 2.0)
    assert screen.setup() != before
    screen.press("leave")
    assert screen.place() is None and screen.setup() == before
    screen.press("start").go_to("workbench")  # left without a word: undo leads back
    screen.ran(next(button for button in screen.at.button if button.key == "undo").click().run)
    assert screen.setup() == before


@pytest.mark.parametrize("sent", ["", "next ", None, 3, ["next"], {"way": "next"}, "constructor", "drawer"])
def test_what_a_browser_makes_up_moves_nothing(sent):
    screen = Presented(lecture="ten_minutes", scene="3", step="map")
    assert screen.press(sent).place() == (3, "map")
    desk = Presented()
    for way in ("next", "leave", "edit", "script", "reveal", sent):
        assert desk.press(way).place() is None


# ---- building --------------------------------------------------------------------------------------------------------
def test_what_the_workbench_shows_becomes_a_scene():
    screen = Screen(mask="causal", t="3", step="scores", cell="0,0,3,1")
    screen.press("add_scene")
    assert any(button.label == "Lecture: scene 1" for button in screen.at.button)
    screen.set("temperature", 2.0)
    screen.press("add_scene")
    one, two = screen.at.session_state["talk"].own.scenes
    assert (
        one.setup.run.masks == ("causal",) and one.setup.view.cell == (0, 0, 3, 1) and one.setup.run.temperature == 1.0
    )
    assert two.setup.run.temperature == 2.0


def test_a_lecture_is_changed_reordered_and_shown_and_the_shipped_one_stays():
    screen = Presented().click("copy")
    assert screen.own() == TEN and "own" in screen.link()
    screen.type("c_scene_title", "Who, then?").type("c_scene_note", "n").type("c_scene_question", "")
    screen.type("c_scene_steps", ["map", "symbol"]).type("c_lecture_title", "Mine")
    first = screen.own().scenes[0]
    assert (first.title, first.note, first.question, first.steps) == ("Who, then?", "n", "", ("map", "symbol"))
    screen.type("c_scene_step", "scores")
    assert screen.own().scenes[0].setup.view.step == "scores"
    screen.click("b_scene_later")
    assert [scene.title for scene in screen.own().scenes][:2] == [TEN.scenes[1].title, "Who, then?"]
    screen.click("b_scene_remove").click("b_scene_remove")
    assert [scene.title for scene in screen.own().scenes] == [scene.title for scene in TEN.scenes[2:]]
    screen.open_scene(1).click("b_scene_present")
    assert screen.place() == (2, "question") and f"#### {TEN.scenes[3].title}" in screen.texts()
    kept = screen.own()
    screen.press("edit").drag("c_temperature", 5.0).press("next").press("leave")
    assert screen.own() is kept and load_shipped_lecture("ten_minutes", "en") == TEN


@pytest.mark.parametrize("at", [0, 4, 10])
@pytest.mark.parametrize("language, said", [("en", "Scene {}, “{}”, is removed."), ("zh", "第 {} 个场景“{}”已移除。")])
def test_a_removed_scene_comes_back_to_its_place(language, said, at):
    lecture = load_shipped_lecture("ten_minutes", language)
    screen = Presented(lang=language).click("copy").open_scene(at)
    assert not offers_undo(screen)
    screen.click("b_scene_remove")
    assert screen.own() == lecture.removed(at)
    assert [plain(each.value) for each in screen.at.info] == [said.format(at + 1, lecture.scenes[at].title)]
    screen.click("undo_removal")
    assert screen.own() == lecture and screen.box("c_scene_title").value == lecture.scenes[at].title
    assert not offers_undo(screen)


def test_a_removed_scene_can_be_brought_back_until_something_else_is_changed():
    screen = Presented().click("copy").click("b_scene_remove").press("start").press("leave").open_scene(3)
    assert offers_undo(screen)  # showing the lecture, and looking at another scene, changes nothing
    screen.type("c_scene_title", "Mine")
    assert not offers_undo(screen) and screen.own().scenes[3].title == "Mine"
    screen.click("b_scene_remove").click("b_scene_remove").click("undo_removal")  # the last of two comes back
    assert [scene.title for scene in screen.own().scenes] == [scene.title for scene in TEN.scenes[1:4] + TEN.scenes[5:]]
    screen.click("new")
    assert not offers_undo(screen)


def test_the_only_scene_comes_back_into_an_empty_lecture_and_its_title_stays_text():
    screen = Presented().offer(lecture_file(scenes=[{"title": EVIL}])).click("b_scene_remove")
    assert screen.own().scenes == () and EVIL in plain(screen.at.info[0].value)
    assert [scene.title for scene in screen.click("undo_removal").own().scenes] == [EVIL]


def offers_undo(screen):
    return any(button.key == "undo_removal" for button in screen.at.button)


MINE = Lecture("Mine", (Scene(make_setup(token=3), "one", "n"), Scene(make_setup(token=4), "two")))


def come_back_by_link(screen):
    """To the page from another one, as who goes back in the browser."""
    screen.go_to("workbench").at.query_params.clear()
    screen.at.query_params["own"] = lecture_to_link(TEN)
    return screen.go_to("present")


REPLACEMENTS = {
    "new": lambda screen: screen.click("new"),
    "file": lambda screen: screen.offer(lecture_to_file(TEN)),
    "copy": lambda screen: screen.type("c_lecture", "Ten minutes").click("copy"),
    "link": come_back_by_link,
}


@pytest.mark.parametrize("replaced_by", REPLACEMENTS)
def test_a_lecture_that_another_one_replaced_is_brought_back_and_that_is_undone_too(replaced_by):
    screen = REPLACEMENTS[replaced_by](Presented(own=lecture_to_link(MINE)))
    other = screen.own()
    assert other == (Lecture("My lecture") if replaced_by == "new" else TEN) and put_away(screen) == "Mine"
    screen.click("bring_back")
    assert screen.own() == MINE and screen.box("c_scene_title").value == "one"
    if replaced_by == "new":
        assert put_away(screen) is None  # it was empty
        return
    assert put_away(screen) == TEN.title
    assert screen.click("bring_back").own() == other and put_away(screen) == "Mine"


def put_away(screen):
    """The title of the lecture that can be brought back."""
    offered = [box.value for box in screen.at.info if "was put away" in box.value]
    assert len(offered) == any(button.key == "bring_back" for button in screen.at.button)
    return plain(offered[0]).split("“")[1].split("”")[0] if offered else None


@pytest.mark.parametrize(
    "language, said",
    [
        ("en", "Your lecture “{}” (scenes: 1) was put away."),
        ("zh", "你原来的讲稿“{}”（1 个场景）已换下，但还保留着。"),
    ],
)
def test_what_was_put_away_is_said_and_its_title_stays_text(language, said):
    screen = Presented(lang=language).offer(lecture_file(title=EVIL, scenes=[{}])).click("new")
    assert [plain(each.value) for each in screen.at.info] == [said.format(EVIL)]


def test_what_was_put_away_stays_while_the_other_lecture_is_built_until_a_next_one_takes_its_place():
    screen = Presented().click("new")
    assert put_away(screen) is None  # nothing was there
    screen.type("c_lecture", "Ten minutes").click("copy")
    assert put_away(screen) is None  # it had no scene
    screen.type("c_lecture_title", "Mine").click("new").click("new")
    assert put_away(screen) == "Mine"  # an empty one takes nobody's place
    screen.click("add_text").type("c_lecture_title", "Words")
    assert put_away(screen) == "Mine"
    screen.offer(lecture_to_file(TEN))
    assert put_away(screen) == "Words"
    screen.offer(lecture_to_file(TEN)).offer("{}")
    assert put_away(screen) == "Words" and screen.own() == TEN  # the same again, or nothing, replaces nothing
    screen.type("c_scene_title", "Changed").click("bring_back").click("bring_back")
    assert screen.own().scenes[0].title == "Changed" and put_away(screen) == "Words"


@pytest.mark.parametrize(
    "language, unit, place",
    [("en", "min", "Scene 3 of 11"), ("zh", "分钟", "场景 3/11")],
)
def test_the_desk_tells_the_minutes_of_each_scene_and_their_sum(language, unit, place):
    screen = Presented(lang=language).click("copy")
    assert any(f"10 {unit}" in each.value for each in screen.at.caption)  # of the lecture of ten minutes
    screen.type("c_scene_minutes", 4).open_scene(1).type("c_scene_minutes", 5).open_scene(2)
    screen.type("c_scene_minutes", 2.4).open_scene(3).type("c_scene_minutes", 0)  # the nearest half
    assert [scene.minutes for scene in screen.own().scenes[:4]] == [4, 5, 2.5, 0]
    assert [card["minutes"] for card in screen.cards()[:4]] == [f"4 {unit}", f"5 {unit}", f"2.5 {unit}", ""]
    assert any(f"17.5 {unit}" in each.value for each in screen.at.caption)
    assert lecture_from_file(lecture_to_file(screen.own())) == screen.own()
    screen.open_scene(2).click("b_scene_present")
    notes = screen.lectern()["notes"]
    assert notes["place"] == f"{place} · 2.5 {unit}" and [*notes["planned"]] == [9, 11.5]


def test_an_own_lecture_comes_back_from_its_link_and_its_file():
    screen = Presented().click("copy").type("c_lecture_title", "Mine")
    again = Presented(**screen.link())
    assert again.own() == screen.own() and "Mine" in again.box("c_lecture_title").value
    other = Presented().offer(lecture_to_file(screen.own()))
    assert other.own() == screen.own() and other.errors() == []
    assert lecture_from_file(lecture_to_file(other.own())).title == "Mine"


def test_a_lecture_too_long_for_a_link_says_so():
    scenes = tuple(
        Scene(make_setup(seed=n), chr(0x4E00 + n), note="".join(chr(0x4E00 + n * i % 9973) for i in range(1900)))
        for n in range(3, 12)
    )
    screen = Presented().offer(lecture_to_file(Lecture("long", scenes)))
    assert len(lecture_to_link(screen.own())) > 5_000 and "own" not in screen.link()
    assert load_app_texts("en")["present.desk.too_long"] in [each.value for each in screen.at.caption]


# ---- hostile ---------------------------------------------------------------------------------------------------------
def lecture_file(**parts):
    return json.dumps({"format": "attention-explorer-lecture", "version": 1, "title": "t", "scenes": []} | parts)


def test_what_stands_in_a_file_is_shown_as_it_stands():
    scene = {"title": EVIL, "note": EVIL, "question": EVIL, "steps": ["map"], "setup": {"text": EVIL, EVIL: EVIL}}
    screen = Presented().offer(lecture_file(title=EVIL, scenes=[scene]))
    screen.press("start")
    assert screen.place() == (1, "question")
    assert f"#### {EVIL}" in screen.texts() and f"**{EVIL}**" in screen.texts()
    for each in screen.at.markdown:
        assert "<img" not in each.value.replace("\\<img", "") and not each.allow_html
    assert screen.lectern()["notes"]["note"] == EVIL  # shown by textContent


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe\x00",
        "{}",
        "[" * 99_999,
        lecture_file(scenes=[{"steps": ["x"]}]),
        lecture_file(scenes=[{}] * (MAX_SCENES + 1)),
    ],
    ids=range(5),
)
def test_a_hostile_file_is_refused_and_the_lecture_stays(text):
    screen = Presented().click("copy")
    kept = screen.own()
    screen.offer(text)
    assert len(screen.errors()) == 1 and screen.own() is kept


def test_a_scene_that_cannot_be_computed_says_so_and_shows_the_rest():
    scenes = [
        {"title": "one", "setup": {"heads": "17", "mask": "causal", "temp": "hot"}, "steps": ["map"]},
        {"title": "two", "setup": {"step": "scores", "cell": "0,9,9,9"}, "steps": ["cell"]},
        {"title": "three", "setup": {"ex": "en_it", "file": "0123456789abcdef", "roles": "q:0,k:1,v:2"}},
    ]
    screen = Presented().offer(lecture_file(scenes=scenes)).press("start")
    assert screen.setup().run.masks == ("causal",) and len(screen.errors()) == 2
    assert screen.press("next").place() == (2, "cell") and len(screen.errors()) == 1
    assert screen.press("next").errors() and screen.texts()
    assert [screen.press("next").place()[1] for _ in SCENE_STEPS][-1] == "shapes"


def test_a_lecture_without_scenes_is_no_mistake():
    screen = Presented().offer(lecture_file(scenes=[]))
    assert screen.press("start").place() is None and screen.errors() == []
    screen.click("new")
    assert screen.own().scenes == ()


def test_a_full_lecture_takes_no_more():
    screen = Presented().offer(lecture_file(scenes=[{}] * MAX_SCENES))
    screen.go_to("workbench")
    screen.ran(next(button for button in screen.at.button if button.key == "add_scene").click().run)
    assert len(screen.own().scenes) == MAX_SCENES and any(str(MAX_SCENES) in error for error in screen.errors())


# ---- the presenter view ----------------------------------------------------------------------------------------------
def test_the_notes_are_told_and_by_themselves_are_gone_through():
    screen = Presented(lecture="ten_minutes", scene="2", step="cell")
    told = screen.lectern()["notes"]
    assert told["note"] == TEN.scenes[1].note and told["scene_step"] == "Arithmetic"
    assert TEN.scenes[2].title in told["next"]
    alone = Presented(lecture="ten_minutes", scene="2", step="cell", view="notes", pair="0123abcd")
    (part,) = [each for each in alone.at.get("bidi_component") if each.proto.id.endswith("-prompter")]
    assert json.loads(part.proto.json)["at"] == told and json.loads(part.proto.json)["pair"] == "0123abcd"
    trigger = f"$$STREAMLIT_INTERNAL_KEY_{part.proto.id}__events"
    alone.send(trigger, json_trigger_value=json.dumps([{"event": "moved", "value": "next"}]))
    assert alone.place() == (3, "question") and alone.link()["view"] == "notes"
    assert "pair" not in Presented(view="notes", pair="../etc").link()
