"""The kinds of scenes: each comes back from a file, says only what is its own, and takes no picture that is none."""

import base64
import io
import json

import pytest
from PIL import Image

from attention_core.record.errors import AttentionError
from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.lesson import SHOWN_PAGES, TRAINING_LESSONS, LessonPart, has_part
from pages.lectures.kinds.picture import (
    MAX_PICTURE_BYTES,
    MAX_PICTURE_SIDE_PX,
    PNG_SIGNATURE,
    OwnPicture,
    find_picture_size,
)
from pages.lectures.kinds.text import MAX_OWN_TEXT_CHARS, OwnText
from pages.lectures.scene_kinds import SCENE_KINDS, steps_of
from pages.lectures.script import (
    MAX_LECTURE_PICTURE_BYTES,
    Lecture,
    Scene,
    lecture_from_file,
    lecture_from_link,
    lecture_to_file,
    lecture_to_link,
)
from pages.setup.setup import make_setup
from pages.site.catalog import PAGES_BY_SLUG


def picture_file(form="PNG", size=(7, 5)):
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, form)
    return file.getvalue()


SHOWN = (
    make_setup(temperature=2.0),
    LessonPart("scale", "variance", (("d_k", "16"),)),
    LessonPart("induction", "training"),
    RunCode(make_setup(step="scores")),
    OwnText("# Mine\n<b>x</b>"),
    OwnPicture(picture_file(), "red", "me, CC0"),
)
ALL = Lecture("all", tuple(Scene(each, "t", question="?", steps=steps_of(each), minutes=2) for each in SHOWN))


def test_every_kind_comes_back_from_its_file_and_its_link():
    assert {scene.kind for scene in ALL.scenes} == {*SCENE_KINDS}
    assert lecture_from_file(lecture_to_file(ALL)) == ALL == lecture_from_link(lecture_to_link(ALL))
    assert ALL.total_minutes() == 12 and [picture.mime for picture in ALL.pictures()] == ["image/png"]


def test_a_question_stands_before_what_every_kind_shows():
    assert [scene.scene_steps() for scene in ALL.scenes[1:]] == [
        ("question", step) for step in ("lesson", "lesson", "code", "text", "picture")
    ]


def test_a_scene_tells_its_setup_where_it_has_one():
    assert [scene.setup for scene in ALL.scenes] == [SHOWN[0], None, None, SHOWN[3].setup, None, None]


def test_only_pages_there_are_can_be_scenes_and_only_those_with_a_training_train():
    assert {*SHOWN_PAGES} <= {*PAGES_BY_SLUG}
    for slug in SHOWN_PAGES:
        trains = any("show_own_training(" in path.read_text("utf-8") for path in [PAGES_BY_SLUG[slug].path])
        assert trains == (slug in TRAINING_LESSONS) == has_part(slug, "training")


def read(scene):
    text = json.dumps({"format": "attention-explorer-lecture", "version": 3, "title": "t", "scenes": [scene]})
    (found,) = lecture_from_file(text).scenes
    return found


def test_in_the_place_of_a_drawer_that_is_not_there_comes_the_picture_and_it_is_said():
    found = read({"kind": "lesson", "lesson": "scale", "part": "<b>"})
    assert found.shown == LessonPart("scale") and found.unread == (("part", "<b>"),)


def letters(data):
    return base64.b64encode(data).decode()


HUGE = PNG_SIGNATURE + b"\0\0\0\rIHDR" + (MAX_PICTURE_SIDE_PX + 1).to_bytes(4) + (3).to_bytes(4)


@pytest.mark.parametrize(
    "scene, code",
    [
        ({"kind": "film"}, "scene_part"),
        ({"kind": ["text"]}, "scene_part"),
        ({"kind": "text", "text": " "}, "scene_part"),
        ({"kind": "text", "text": "x" * (MAX_OWN_TEXT_CHARS + 1)}, "scene_part"),
        ({"kind": "text", "text": "x", "setup": {}}, "scene_part"),
        ({"kind": "text", "text": "x", "steps": ["map"]}, "scene_part"),
        ({"kind": "lesson", "lesson": "workbench"}, "scene_part"),
        ({"kind": "lesson", "lesson": ["scale"]}, "scene_part"),
        ({"kind": "lesson", "lesson": "scale", "part": 3}, "scene_part"),
        ({"kind": "lesson", "lesson": "scale", "choices": {"d_k": 16}}, "scene_part"),
        ({"kind": "lesson", "lesson": "scale", "choices": {str(n): "" for n in range(99)}}, "scene_part"),
        ({"kind": "code", "text": "print"}, "scene_part"),
        ({"kind": "picture", "picture": "?"}, "scene_part"),
        ({"kind": "picture"}, "picture_kind"),
        ({"kind": "picture", "picture": letters(b"<svg onload=alert(1)>")}, "picture_kind"),
        ({"kind": "picture", "picture": letters(HUGE)}, "picture_size"),
        ({"kind": "picture", "picture": letters(picture_file() + bytes(MAX_PICTURE_BYTES))}, "picture_bytes"),
    ],
)
def test_a_scene_that_is_not_of_its_kind_is_refused(scene, code):
    with pytest.raises(AttentionError) as caught:
        read(scene)
    assert caught.value.code == code


def test_the_pictures_of_a_lecture_have_a_limit_together():
    large = OwnPicture(picture_file().ljust(MAX_PICTURE_BYTES, b"\0"))
    scenes = (Scene(large, "t", steps=("picture",)),) * (MAX_LECTURE_PICTURE_BYTES // MAX_PICTURE_BYTES)
    assert lecture_from_file(lecture_to_file(Lecture("", scenes))).scenes == scenes
    with pytest.raises(AttentionError) as caught:
        lecture_from_file(lecture_to_file(Lecture("", (*scenes, Scene(OwnPicture(picture_file()), "")))))
    assert caught.value.code == "pictures_too_large"


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_the_size_of_a_picture_is_read_as_a_reader_of_pictures_reads_it(form):
    data = picture_file(form, (301, 17))
    assert find_picture_size(data) == (301, 17)
    for cut in range(0, len(data), 7):
        find_picture_size(data[:cut])  # cut anywhere it raises nothing
    assert find_picture_size(b"\xff\xd8\xff\xe0\x00\x00" * 9) is None


@pytest.mark.parametrize("fill", [1, 2, 7])
def test_a_jpeg_with_fill_bytes_before_its_markers_is_read(fill):
    data = picture_file("JPEG", (301, 17))
    first_end = 4 + int.from_bytes(data[4:6])
    filled = data[:2] + b"\xff" * fill + data[2:first_end] + b"\xff" * fill + data[first_end:]
    assert Image.open(io.BytesIO(filled)).size == (301, 17)
    assert find_picture_size(filled) == (301, 17)
    assert find_picture_size(data[:2] + b"\xff" * 1000) is None
