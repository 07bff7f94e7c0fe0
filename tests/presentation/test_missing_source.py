"""A scene whose model or file is not there: its title and the reason, and no numbers of anything else."""

import pytest

from pages.lectures.kinds.code import RunCode
from pages.lectures.script import Lecture, Scene, lecture_to_link
from pages.presentation.lecture_files import make_slide_show
from pages.setup.setup import make_setup
from pages.site.words import use_language
from tests.presentation.test_present import Presented

LAST_STEP = Scene(make_setup(), "Here", steps=("map", "cell"))
GONE = {
    "model": (make_setup(recorded="0123456789abcdef", layer=2, heads=4, masks=("causal",)), "no longer kept"),
    "layer": (make_setup(recorded="0123456789abcdef", heads=4), "no longer kept"),
    "file": (make_setup(file="0123456789abcdef"), "a file that is no longer here"),
}


def is_drawn(screen: Presented) -> bool:
    """Whether anything stands on the stage that is computed from a run."""
    drawn = [part.proto.id.rpartition("-")[2] for part in screen.at.get("bidi_component")]
    return bool({*drawn} & {"flow", "arithmetic"} or screen.at.get("vega_lite_chart") or screen.at.get("code"))


@pytest.mark.parametrize("source", GONE)
def test_the_stage_shows_the_reason_and_no_numbers_of_another_run(source: str):
    setup, reason = GONE[source]
    gone = Scene(setup, "Gone", question="Where does it look?", steps=("map", "cell", "symbol", "shapes"))
    screen = Presented(own=lecture_to_link(Lecture("", (LAST_STEP, gone)))).press("start")
    assert is_drawn(screen)
    shown = screen.setup()
    screen.press("next_scene")
    while screen.place() != (2, "shapes"):
        (error,) = screen.errors()
        assert error.startswith("This scene has no numbers now: ") and reason in error
        assert not is_drawn(screen) and screen.setup() == shown
        told = " ".join(screen.texts())
        assert ("Where does it look?" in told) == (screen.place()[1] == "question") and "Anna" not in told
        screen.press("edit").press("edit").press("next")
    assert is_drawn(screen.press("first")) and not screen.errors()


def test_the_stage_shows_no_code_of_another_run():
    setup, reason = GONE["model"]
    screen = Presented(own=lecture_to_link(Lecture("", (Scene(RunCode(setup), "Gone", steps=("code",)),)))).press(
        "start"
    )
    assert reason in " ".join(screen.errors()) and not is_drawn(screen)


@pytest.mark.parametrize("source", GONE)
def test_a_slide_of_a_file_has_the_reason_and_no_numbers_of_another_run(source: str):
    setup, reason = GONE[source]
    scenes = (LAST_STEP, Scene(setup, "Gone", "Where does it look?"), Scene(RunCode(setup), "Code"), LAST_STEP)
    with use_language("en"):
        here, *gone, again = make_slide_show(Lecture("", scenes), {}, "https://example.org/", "").slides
    assert here.pictures and again.pictures
    for slide, title in zip(gone, ("Gone", "Code"), strict=True):
        assert slide.title == title and reason in slide.answer
        assert not (slide.pictures or slide.frames or slide.moving or slide.formulas or slide.figures or slide.code)
        assert slide.exercise is None
