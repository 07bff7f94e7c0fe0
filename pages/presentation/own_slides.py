"""The slides of scenes that show a text, an uploaded picture, or the code of a step."""

from attention_core.documents.slides import Slide, SlidePicture
from pages.lectures.script import Scene
from pages.panels.step import list_step_code
from pages.presentation.own_scenes import step_of_code
from pages.runs.cache import trace_for
from pages.site.words import strip_markup


def make_text_slide(scene: Scene) -> Slide:
    """The slide of a text scene; each non-empty line is a paragraph."""
    lines = [strip_markup(line) for line in scene.shown.text.splitlines() if line.strip()]
    return Slide(scene.title, scene.question, figures=tuple(lines), notes=scene.note, minutes=scene.minutes)


def make_own_picture_slide(scene: Scene) -> Slide:
    """The slide of a picture scene, with the picture's source."""
    shown = scene.shown
    return Slide(
        title=scene.title,
        question=scene.question,
        pictures=(SlidePicture(shown.data, shown.alt or scene.title, shown.mime),),
        notes=scene.note,
        minutes=scene.minutes,
        source=shown.source,
    )


def make_code_slide(scene: Scene) -> Slide:
    """The slide of a code scene: the step's code in PyTorch and in NumPy, as on the stage."""
    trace = trace_for(scene.setup)
    torch_code, numpy_code = (
        list_step_code(trace, step_of_code(trace, scene.setup), library) for library in ("torch", "numpy")
    )
    return Slide(
        scene.title,
        scene.question,
        code=torch_code,
        code_beside=numpy_code,
        notes=scene.note,
        minutes=scene.minutes,
    )
