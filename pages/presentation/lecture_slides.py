"""A lecture as slides, from which all its files are generated; one function per kind of scene makes the slide."""

from dataclasses import replace

from attention_core.documents.lecture_page import PartDrawing
from attention_core.documents.provenance import Provenance
from attention_core.documents.slides import Slide, SlidePicture, SlideShow, SlideWords
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.components import COMPONENTS
from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.lesson import LessonPart
from pages.lectures.kinds.picture import OwnPicture
from pages.lectures.kinds.text import OwnText
from pages.lectures.script import Lecture, Scene
from pages.panels.step import list_step_code
from pages.presentation.lesson_slide import DrawnParts, make_lesson_slide
from pages.presentation.own_scenes import step_of_code
from pages.presentation.setup_slide import SlidesBefore, list_shown_motions, make_setup_slide
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal, strip_markup


def make_slide_show(lecture: Lecture, drawn: DrawnParts, address: str, link: str) -> SlideShow:
    """The slides of a lecture, in the language of the session. drawn: the parts of lessons that the lecture shows.
    address: of the workbench. link: of the lecture.

    No session state is read, so a separate thread may call this function.
    """
    provenance = Provenance(printable_lines(lecture.title), link, (say("export.made_with"),))
    slides: list[Slide] = []
    before = SlidesBefore()
    for scene in lecture.scenes:
        slide = make_slide(scene, drawn, address, before)
        slides.append(slide)
        exercises = (*before.exercises, slide.exercise) if slide.exercise else before.exercises
        before = SlidesBefore((*before.motions, *list_shown_motions(scene)), exercises)
    return SlideShow(provenance, tuple(slides), make_slide_words())


def make_slide(scene: Scene, drawn: DrawnParts, address: str, before: SlidesBefore) -> Slide:
    """The slide of a scene; if the scene cannot be computed, a slide with only its texts and the reason."""
    printable = printable_scene(scene)
    try:
        match scene.shown:
            case Setup():
                return make_setup_slide(printable, address, before)
            case RunCode():
                return make_code_slide(printable)
            case LessonPart() as part:
                return make_lesson_slide(printable, drawn[part], address)
            case OwnText():
                return make_text_slide(printable)
            case OwnPicture():
                return make_own_picture_slide(printable)
    except AttentionError as error:
        return Slide(
            title=printable.title,
            question=printable.question,
            answer=say("present.files.refused", reason=say_refusal(error, str)),
            notes=printable.note,
            minutes=printable.minutes,
        )


def make_slide_words() -> SlideWords:
    """The interface texts of the files, in the language of the session."""
    own = ("answer", "notes", "previous", "next", "keys", "given", "asked", "solutions", "nothing")
    return SlideWords(
        language=say("app.tag"),
        open=say("export.page.open"),
        minutes=say_minutes,
        place=say_place,
        no_font=say_missing_letters,
        **{name: say(f"present.files.{name}") for name in own},
    )


def say_minutes(count: float) -> str:
    """The text for a number of minutes."""
    return say("present.minutes", count=count)


def say_place(number: int, count: int) -> str:
    """The text "scene number of count"."""
    return say("present.place", number=number, count=count)


def say_missing_letters(letters: str) -> str:
    """The sentence that these letters cannot be drawn here; each letter is listed once."""
    return say("export.no_png", letters="".join(dict.fromkeys(letters)))


def list_drawings() -> dict[str, PartDrawing]:
    """The script, HTML and style of every component, by name, for a page without a server."""
    return {part.name: PartDrawing(part.script, part.html, part.style) for part in COMPONENTS.values()}


# ---- texts of the lecturer -------------------------------------------------------------------------------------------
def printable_scene(scene: Scene) -> Scene:
    """A copy of a scene in which hidden letters of its texts are replaced by visible text, such as ⟨U+0000⟩."""
    parts = {name: printable_lines(getattr(scene, name)) for name in ("title", "question", "note")}
    return replace(scene, **parts)


def printable_lines(text: str) -> str:
    """A text in which hidden letters are replaced by visible text; line breaks are kept.

    >>> printable_lines("one\\ntwo\\x00")
    'one\\ntwo⟨U+0000⟩'
    """
    return "\n".join(map(printable_token, text.splitlines()))


# ---- the slides of scenes that show a text, an uploaded picture, or the code of a step -------------------------------
def make_text_slide(scene: Scene) -> Slide:
    """The slide of a text scene; each non-empty line becomes a paragraph."""
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
