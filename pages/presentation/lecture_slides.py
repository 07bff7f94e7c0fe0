"""A lecture as slides, from which every file of it is written: each kind of scene says what its slide holds."""

from dataclasses import replace

from attention_core.documents.lecture_page import PartDrawing
from attention_core.documents.provenance import Provenance
from attention_core.documents.slides import Slide, SlideShow, SlideWords
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.components import COMPONENTS
from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.lesson import LessonPart
from pages.lectures.kinds.picture import OwnPicture
from pages.lectures.kinds.text import OwnText
from pages.lectures.script import Lecture, Scene
from pages.presentation.lesson_slide import DrawnParts, make_lesson_slide
from pages.presentation.own_slides import make_code_slide, make_own_picture_slide, make_text_slide
from pages.presentation.setup_slide import SlidesBefore, list_shown_motions, make_setup_slide
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal


def make_slide_show(lecture: Lecture, drawn: DrawnParts, address: str, link: str) -> SlideShow:
    """The slides of a lecture, in the language of the session. drawn: the parts of lessons that it shows. address: of
    the workbench. link: of the lecture.

    No session is asked: a thread of its own may make it.
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
    """The slide of a scene; of one that cannot be computed its words, and why."""
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
    """The files' own words."""
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
    """So many minutes."""
    return say("present.minutes", count=count)


def say_place(number: int, count: int) -> str:
    """Which scene of how many."""
    return say("present.place", number=number, count=count)


def say_missing_letters(letters: str) -> str:
    """That these cannot be drawn here."""
    return say("export.no_png", letters="".join(dict.fromkeys(letters)))


def list_drawings() -> dict[str, PartDrawing]:
    """What draws each part of the screen in a page without a server."""
    return {part.name: PartDrawing(part.script, part.html, part.style) for part in COMPONENTS.values()}


# ---- what somebody wrote ---------------------------------------------------------------------------------------------
def printable_scene(scene: Scene) -> Scene:
    """A scene without letters that would be invisible, or that no file may hold."""
    parts = {name: printable_lines(getattr(scene, name)) for name in ("title", "question", "note")}
    return replace(scene, **parts)


def printable_lines(text: str) -> str:
    """A text with its hidden letters written out, its lines as they are.

    >>> printable_lines("one\\ntwo\\x00")
    'one\\ntwo⟨U+0000⟩'
    """
    return "\n".join(map(printable_token, text.splitlines()))
