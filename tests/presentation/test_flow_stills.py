"""The pictures of the query on slides: which ones the browser is asked for, which are kept, and where they stand."""

import base64
import io

from PIL import Image
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE

from attention_core.documents.slide_file import slide_file
from pages.lectures.script import Lecture, load_shipped_lecture
from pages.presentation.flow_stills import list_lecture_stills, read_png
from pages.presentation.lecture_files import make_slide_show
from pages.site.words import load_app_texts, use_language
from tests.presentation.test_present import Presented
from tests.screen.driver import unpack


def png(width=30, height=10, mode="RGB") -> bytes:
    data = io.BytesIO()
    Image.new(mode, (width, height)).save(data, "PNG")
    return data.getvalue()


def first_scenes(count):
    lecture = load_shipped_lecture("ten_minutes", "en")
    return Lecture(lecture.title, lecture.scenes[:count])


def test_a_way_is_asked_for_once_and_its_end_for_every_scene():
    with use_language("en"):
        stills = list_lecture_stills(first_scenes(2))
    assert [still.stop for still in stills] == [1, 2, 3, 4, 5, 6, 7, None, None]
    assert stills[-1].setup != stills[0].setup


def test_each_keyframe_is_a_slide_with_its_sentence_between_question_and_map():
    lecture, words = first_scenes(1), load_app_texts("en")
    with use_language("en"):
        stills = dict.fromkeys(list_lecture_stills(lecture), png(3936, 1608))
        slides = list(Presentation(io.BytesIO(slide_file(make_slide_show(lecture, {}, "", "", stills)))).slides)
    texts = [[shape.text_frame.text for shape in slide.shapes if shape.has_text_frame] for slide in slides]
    motions = ("ask", "match", "scale", "power", "share", "gather", "merge")
    for at, motion in enumerate(motions, start=2):
        assert words[f"flow.told.{motion}"] in texts[at]
        (picture,) = [shape for shape in slides[at].shapes if shape.shape_type == MSO_SHAPE_TYPE.PICTURE]
        assert picture.image.size == (3936, 1608) and picture.width / 9525 > 1100  # nearly as wide as the slide
    assert "“it” gives 93 %" in texts[9][1] and len(slides) == 12


def test_without_pictures_from_the_browser_the_slides_are_as_before():
    lecture = first_scenes(1)
    with use_language("en"):
        stills = dict.fromkeys(list_lecture_stills(lecture), b"")
        (slide,) = make_slide_show(lecture, {}, "", "", stills).slides
    assert slide.frames == ()


def test_the_desk_keeps_what_the_browser_draws_and_nothing_else():
    desk = Presented(lecture="ten_minutes", lang="en")
    desk.at.session_state["lecture_files"] = True
    desk.ran(desk.at.run)

    def asked():
        part = next(each for each in desk.at.get("bidi_component") if each.proto.id.endswith("-flow_stills_drawer"))
        return unpack(part.proto.bytes)[0]

    first = asked()
    assert first["stop"] == 1
    desk.trigger("flow_stills_drawer", "drawn", {"key": "another", "picture": base64.b64encode(png()).decode()})
    assert asked() == first
    desk.trigger("flow_stills_drawer", "drawn", {"key": first["key"], "picture": base64.b64encode(png()).decode()})
    second = asked()
    assert second["stop"] == 2
    desk.trigger("flow_stills_drawer", "drawn", {"key": second["key"], "picture": "bm8gcGljdHVyZQ=="})
    assert asked()["stop"] == 3  # what is no picture is asked for once
    assert [*desk.at.session_state["flow_stills"].values()] == [png(), b""]


def test_a_png_of_a_possible_size_is_taken_and_no_other_file():
    jpeg = io.BytesIO()
    Image.new("RGB", (3, 3)).save(jpeg, "JPEG")
    for data, is_taken in ((png(), True), (png(7000, 1, "1"), False), (jpeg.getvalue(), False), (png()[:20], False)):
        assert read_png(base64.b64encode(data).decode()) == (data if is_taken else b"")
