"""Scenes of every kind on the stage: what each shows, what comes before it, and how it is added from its page."""

import pytest

from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.record.expressions import Ref
from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.lesson import SHOWN_PAGES, LessonPart
from pages.lectures.kinds.picture import OwnPicture
from pages.lectures.kinds.text import OwnText
from pages.lectures.script import Lecture, Scene, lecture_to_file, lecture_to_link
from pages.lessons.learned.trainings import RunningTraining
from pages.presentation.scene_steps import make_cell_picture
from pages.runs.cache import trace_for
from pages.setup.setup import make_setup
from pages.site.catalog import BESIDE_LESSONS
from pages.site.words import use_language
from tests.lectures.test_scene_kinds import ALL, picture_file
from tests.presentation.test_present import EVIL, Presented
from tests.screen.lesson import Lesson


def staged(*shown, **link):
    """A session on the stage, at the first of scenes that show this."""
    scenes = tuple(Scene(each, f"scene {number}", question="Why?") for number, each in enumerate(shown))
    return Presented(own=lecture_to_link(Lecture("t", scenes)), **({"scene": "1"} | link))


def component_names(screen):
    return {part.proto.id.rpartition("-")[2] for part in screen.at.get("bidi_component")}


@pytest.mark.parametrize("slug", SHOWN_PAGES)
def test_the_picture_of_every_page_stands_on_the_stage_without_what_is_around_it(slug):
    screen = staged(LessonPart(slug), step="lesson")
    assert screen.errors() == [] and screen.place() == (1, "lesson")
    assert not {"visited", "arrows"} & component_names(screen)
    assert not screen.at.expander and not any(button.key == "add_scene" for button in screen.at.button)
    assert slug in BESIDE_LESSONS or not screen.at.get("page_link")


def test_a_question_is_asked_before_the_picture_and_the_lesson_asks_it_no_more():
    screen = staged(LessonPart("scale"))
    assert screen.place() == (1, "question") and "**Why?**" in screen.texts() and not screen.parts("scale.d_k")
    screen.press("next")
    assert screen.place() == (1, "lesson") and screen.parts("scale.d_k")
    assert not [each for each in screen.at.get("button_group") if each.key == "scale.guess"]
    assert [each for each in Lesson("scale").at.get("button_group") if each.key == "scale.guess"]


def test_a_drawer_stands_alone_and_a_training_over_the_picture_that_it_changes():
    drawer = staged(LessonPart("scale", "code"), step="lesson")
    assert len(drawer.at.code) == 2 and "def " in drawer.at.code[0].value
    trained = staged(LessonPart("induction", "training"), step="lesson")
    assert any(button.key == "induction_train" for button in trained.at.button)
    shown = staged(LessonPart("induction"), step="lesson")
    assert not any(button.key == "induction_train" for button in shown.at.button)


def test_which_network_trains_is_asked_where_its_training_stands_and_nowhere_else():
    assert "explanation.trained" in keys_of_choices(staged(LessonPart("explanation", "training"), step="lesson"))
    assert "explanation.trained" in keys_of_choices(Lesson("explanation"))
    for part in ("picture", "code"):
        shown = staged(LessonPart("explanation", part, (("trained", "vote"),)), step="lesson")
        assert "explanation.trained" not in keys_of_choices(shown) and shown.errors() == []
        assert "script" not in shown.lectern()["on"]


def test_the_network_that_is_chosen_on_the_stage_is_the_one_that_trains(monkeypatch):
    started = []
    monkeypatch.setattr(RunningTraining, "start", lambda running: started.append(running.training.name))
    screen = staged(LessonPart("explanation", "training"), step="lesson")
    screen.type("explanation.trained", "B · majority").click("explanation_train")
    assert started == ["vote"] and {*screen.at.session_state["trainings"]} == {"vote"}


def keys_of_choices(screen):
    return {each.key for each in screen.at.get("button_group")}


def test_a_choice_is_changed_midway_the_lecture_stays_and_a_key_leads_back():
    screen = staged(LessonPart("scale", choices=(("d_k", "16"),)), OwnText("Next"), step="lesson")
    heading = next(text for text in told(screen) if "16" in text)
    assert "script" not in screen.lectern()["on"]
    screen.trigger("scale.d_k", "released", 256)
    assert any("256" in text for text in told(screen)) and "script" in screen.lectern()["on"]
    screen.press("script")
    assert heading in told(screen) and "script" not in screen.lectern()["on"]
    screen.trigger("scale.d_k", "released", 256)
    screen.press("next").press("next").press("previous").press("previous")
    assert screen.place() == (1, "lesson") and heading in told(screen)
    assert screen.own().scenes[0].shown == LessonPart("scale", choices=(("d_k", "16"),))


def told(screen):
    (part,) = [each for each in screen.at.get("bidi_component") if each.proto.id.endswith("-scale_fact")]
    return [part.proto.json]


def test_what_the_stage_shows_leaves_the_page_of_the_lesson_as_it_was():
    screen = staged(LessonPart("scale", choices=(("d_k", "16"),)), step="lesson")
    screen.press("leave")
    screen.slug = "scale"
    screen.at.query_params.clear()
    screen.go_to("scale")
    assert "d_k" not in screen.link() and screen.errors() == []


def test_what_of_a_scene_cannot_be_read_is_named_and_the_rest_is_shown():
    screen = staged(LessonPart("scale", choices=(("d_k", EVIL), (EVIL, "1"))), step="lesson")
    assert len(screen.errors()) == 2 and screen.parts("scale.d_k")


def test_own_words_code_and_pictures_stand_on_the_stage():
    words = staged(OwnText("**mine** <img src=x> ![x](http://a.b/c.png)"), step="text")
    (shown,) = [each for each in words.at.markdown if "mine" in each.value]
    assert "![" not in shown.value and not shown.allow_html
    code = staged(RunCode(make_setup(step="scores")), step="code")
    assert len(code.at.code) == 2 and "scores" in code.at.code[0].value
    screen = Presented().offer(lecture_to_file(ALL))
    assert screen.own() == ALL and "own" not in screen.link()
    screen.press("start").press("last")
    assert screen.place() == (6, "picture") and screen.errors() == []
    assert screen.at.get("image") and any("CC0" in caption.value for caption in screen.at.caption)


def test_a_lesson_is_added_as_it_is_seen_and_the_way_to_the_desk_takes_the_place_of_the_button():
    lesson = Lesson("scale", d_k="16", open="variance", guess="0").press("add_scene")
    (scene,) = lesson.at.session_state["talk"].own.scenes
    assert scene.shown == LessonPart("scale", "picture", (("d_k", "16"),))
    assert scene.question == "Why divide by the square root of dₖ?"
    lesson.press("add_scale.drawer.variance")
    _, drawer = lesson.at.session_state["talk"].own.scenes
    assert (drawer.shown.part, drawer.shown.choices) == ("variance", (("d_k", "16"),))
    assert any(button.key == "desk_add_scale.drawer.variance" for button in lesson.at.button)
    lesson.set("d_k", 4)
    assert any(button.key == "add_scale.drawer.variance" for button in lesson.at.button)


@pytest.mark.parametrize("slug", BESIDE_LESSONS)
def test_every_other_page_can_be_added(slug):
    page = Lesson(slug).press("add_scene")
    (scene,) = page.at.session_state["talk"].own.scenes
    assert scene.shown.slug == slug and scene.title and page.errors() == []


def test_words_pictures_and_code_are_added_and_changed_at_the_desk():
    desk = Presented().click("new").click("add_text").type("c_shown_text", "# Mine")
    desk.type("c_shown_text", " ")
    assert desk.own().scenes[0].shown == OwnText("# Mine") and len(desk.errors()) == 1
    (box,) = [each for each in desk.at.file_uploader if each.key.startswith("c_picture")]
    desk.ran(box.set_value(("a cat.png", picture_file(), "image/png")).run)
    desk.type("c_shown_source", "me, CC0")
    assert desk.own().scenes[1].shown == OwnPicture(picture_file(), "", "me, CC0")
    assert desk.own().scenes[1].title == "a cat" and desk.errors() == []
    (box,) = [each for each in desk.at.file_uploader if each.key.startswith("c_picture")]
    desk.ran(box.set_value(("evil.png", b"<svg onload=alert(1)>", "image/png")).run)
    assert len(desk.own().scenes) == 2 and len(desk.errors()) == 1
    copy = Presented().click("copy").open_scene(2).click("add_code")
    assert copy.own().scenes[-1].shown == RunCode(copy.own().scenes[2].shown)


# ---- the picture of a number -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("chosen", "before"),
    [({}, "scaled_scores"), ({"scale": 1.0}, "scores"), ({"masks": ("causal",)}, "masked_scores")],
)
def test_beside_the_row_of_a_number_stands_the_last_step_that_changed_it(chosen, before):
    with use_language("en"):
        trace = trace_for(make_setup(**chosen))
        picture = make_cell_picture(trace, Ref("weights", (0, 0, 5, 3)), LIGHT_PALETTE)
    kinds, steps = picture.table["kind"], picture.table["step"]
    drawn = {step for kind, step in zip(kinds, steps, strict=True) if kind == "cell"}
    ringed = [step for kind, step in zip(kinds, steps, strict=True) if kind == "read"]
    assert drawn == {before, "weights"}
    assert set(ringed) == {before} and len(ringed) >= 6
    titles = [text for text in picture.table["text"] if " · " in str(text)]
    assert [title.partition(" · ")[0] for title in titles] == [before, "weights"]
