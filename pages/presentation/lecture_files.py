"""Offers a lecture as files: downloads of the whole lecture and of one scene, and the slides in these files.

Each file is generated when its button is clicked.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import Semaphore
from types import MappingProxyType

import streamlit as st

from attention_core.documents.exercise_sheet import exercise_sheet
from attention_core.documents.handout import PAPERS
from attention_core.documents.lecture_page import lecture_page
from attention_core.documents.provenance import Provenance
from attention_core.documents.slides import Slide, SlidePicture, SlideShow, SlideWords
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.export.document_texts import make_run_provenance, workbench_address
from pages.export.downloads import button_row, offer_download
from pages.export.export_panel import make_exported_run, show_setup_handouts
from pages.export.flow_files import list_drawings
from pages.lectures import lecture_session
from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.lesson import LessonPart
from pages.lectures.kinds.picture import OwnPicture
from pages.lectures.kinds.text import OwnText
from pages.lectures.script import Lecture, Scene
from pages.panels.step import list_step_code
from pages.presentation.flow_stills import FlowStills, draw_next_still, list_frames
from pages.presentation.lesson_slide import DrawnParts, draw_next_part, make_lesson_slide
from pages.presentation.scene_steps import step_of_code
from pages.presentation.setup_slide import SlidesBefore, list_shown_motions, make_setup_slide
from pages.runs.cache import trace_for
from pages.session.addresses import page_address
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal, strip_markup

SLIDES_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
EMPTY: FlowStills = MappingProxyType({})
MAKING_SLOT = Semaphore()  # one file is made at a time, because drawing its pictures uses all cores


# ---- the whole lecture -----------------------------------------------------------------------------------------------
def show_whole_lecture(lecture: Lecture) -> None:
    """Shows a popover with the downloads of the whole lecture.

    First it draws all parts of lessons that the lecture shows, one per script run.
    """
    popover = st.popover(
        say("present.files.title"),
        icon=":material/download:",
        key="lecture_files",
        on_change="rerun",
    )
    if not popover.open or not lecture.scenes:
        return
    link = page_address()
    if lecture_session.fits_in_link():
        link = f"{link}?{lecture_session.lecture_query()}"
    address = workbench_address()

    def make(write: Callable[[SlideShow], str | bytes], pictures: FlowStills = EMPTY) -> str | bytes:
        with MAKING_SLOT:
            return write(make_slide_show(lecture, drawn, address, link, pictures))

    with popover:
        drawn, waiting = draw_next_part(lecture)
        if waiting:
            st.caption(say("present.files.drawing", count=waiting))
            st.rerun()
        stills, missing = draw_next_still(lecture)
        st.caption(say("present.files.how", count=len(lecture.scenes)))
        if missing:
            st.caption(say("present.files.drawing_flow", count=missing))
        label = say("present.files.html")
        offer_download("lecture_html", "lecture.html", "text/html", lambda: make(write_page), label)
        label = say("present.files.pptx")
        offer_download("lecture_pptx", "lecture.pptx", SLIDES_TYPE, lambda: make(write_slides, stills), label)
        with button_row():
            for paper in PAPERS:
                label = say("present.files.sheet", paper=paper)
                file = f"lecture_exercises_{paper}.html"
                write = partial(exercise_sheet, paper=paper)
                offer_download(f"exercises_{paper}", file, "text/html", partial(make, write), label)


def write_page(show: SlideShow) -> str:
    """Returns the slides of a lecture, with their animations, as one HTML page."""
    return lecture_page(show, list_drawings())


def write_slides(show: SlideShow) -> bytes:
    """Returns the slides of a lecture as the bytes of a PPTX file."""
    # this import takes 0.2 s, so it is not done at the start
    from attention_core.documents.slide_file import slide_file

    return slide_file(show)


# ---- one scene, for the audience -------------------------------------------------------------------------------------
def show_scene_files(lecture: Lecture) -> None:
    """Shows a popover with a choice of one of the lecture's scenes, and the downloads of that scene."""
    popover = st.popover(say("present.desk.pages"), icon=":material/smartphone:", key="scene_files", on_change="rerun")
    if not popover.open or not lecture.scenes:
        return
    with popover:
        titles = [f"{number} · {printable_token(scene.title)}" for number, scene in enumerate(lecture.scenes, start=1)]
        index = st.selectbox(
            say("present.desk.which"),
            range(len(titles)),
            format_func=titles.__getitem__,
            key="c_scene_file",
        )
        last = len(titles) - 1
        offer_scene_files(lecture.scenes[min(index, last)])


def offer_scene_files(scene: Scene) -> None:
    """Shows the downloads of a scene's run, or a message if there is none.

    The message says that the scene shows no run, or why the scene's run cannot be computed.
    """
    if scene.setup is None:
        st.caption(say("present.desk.no_run"))
        return
    try:
        trace = trace_for(scene.setup)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    provenance = make_run_provenance(scene.setup)
    if scene.title:
        provenance = replace(provenance, title=scene.title)
    show_setup_handouts(make_exported_run(trace, scene.setup, provenance), scene.setup, scene.note)


# ---- slides ----------------------------------------------------------------------------------------------------------
def make_slide_show(
    lecture: Lecture, drawn: DrawnParts, address: str, link: str, stills: FlowStills = EMPTY
) -> SlideShow:
    """Returns the slides of a lecture, in the language of the session.

    drawn: {part of a lesson: its collected content} for the parts that the lecture shows. address: the address of the
    workbench. link: the link of the lecture. stills: the flow pictures that the browser has drawn, for a file that
    cannot move. No session state is read, so a separate thread may call this function.
    """
    provenance = Provenance(printable_lines(lecture.title), link, (say("export.made_with"),))
    slides: list[Slide] = []
    before = SlidesBefore()
    for scene in lecture.scenes:
        slide = make_slide(scene, drawn, address, before, stills)
        slides.append(slide)
        exercises = (*before.exercises, slide.exercise) if slide.exercise else before.exercises
        before = SlidesBefore((*before.motions, *list_shown_motions(scene)), exercises)
    return SlideShow(provenance, tuple(slides), make_slide_words())


def make_slide(scene: Scene, drawn: DrawnParts, address: str, before: SlidesBefore, stills: FlowStills) -> Slide:
    """Returns the slide of one scene of a lecture; if the scene cannot be computed, a slide with its texts and the
    reason.

    before: the content of earlier slides. stills: the flow pictures that the browser has drawn.
    """
    texts = {name: printable_lines(getattr(scene, name)) for name in ("title", "question", "note")}
    printable = replace(scene, **texts)
    try:
        match scene.shown:
            case Setup():
                return make_setup_slide(printable, address, before, list_frames(scene, before, stills))
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
    """Returns the texts of a lecture's files that belong to no scene, such as "scene 1 of 5", in the session's
    language.
    """
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
    """Returns a number of minutes as text, such as "3 min"."""
    return say("present.minutes", count=count)


def say_place(number: int, count: int) -> str:
    """Returns the text with the number of a scene and the count of all scenes, such as "scene 1 of 5"."""
    return say("present.place", number=number, count=count)


def say_missing_letters(letters: str) -> str:
    """Returns the sentence that says which letters of a text the file's font lacks, each letter once."""
    return say("export.no_png", letters="".join(dict.fromkeys(letters)))


def printable_lines(text: str) -> str:
    """Returns a text in which invisible characters are replaced by visible text; line breaks are kept.

    >>> printable_lines("one\\ntwo\\x00")
    'one\\ntwo⟨U+0000⟩'
    """
    return "\n".join(map(printable_token, text.splitlines()))


# ---- the slides of scenes that show a text, an uploaded picture, or the code of a step -------------------------------
def make_text_slide(scene: Scene) -> Slide:
    """Returns the slide of a text scene; each non-empty line becomes a paragraph."""
    lines = [strip_markup(line) for line in scene.shown.text.splitlines() if line.strip()]
    return Slide(scene.title, scene.question, figures=tuple(lines), notes=scene.note, minutes=scene.minutes)


def make_own_picture_slide(scene: Scene) -> Slide:
    """Returns the slide of a scene with an uploaded picture, and the picture's source."""
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
    """Returns the slide of a code scene: the step's code in PyTorch and, beside it, in NumPy."""
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
