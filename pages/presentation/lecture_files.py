"""Downloads of a whole lecture: an animated page, slides, exercise sheets. Each file is generated when its button is
clicked.
"""

from collections.abc import Callable
from functools import partial
from threading import Semaphore

import streamlit as st

from attention_core.documents.exercise_sheet import exercise_sheet
from attention_core.documents.handout import PAPERS
from attention_core.documents.lecture_page import lecture_page
from attention_core.documents.slides import SlideShow
from pages.export.document_texts import workbench_address
from pages.export.downloads import button_row, offer_download
from pages.lectures import lecture_session
from pages.lectures.script import Lecture
from pages.presentation.lecture_slides import list_drawings, make_slide_show
from pages.presentation.lesson_slide import draw_next_part
from pages.session.addresses import page_address
from pages.site.words import say

SLIDES_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
MAKING_SLOT = Semaphore()  # one file at a time in this process, because drawing its pictures uses all cores


def show_whole_lecture(lecture: Lecture) -> None:
    """Shows a popover with the downloads of the whole lecture, once all its parts of lessons are drawn."""
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

    def make(write: Callable[[SlideShow], str | bytes]) -> str | bytes:
        with MAKING_SLOT:
            return write(make_slide_show(lecture, drawn, address, link))

    with popover:
        drawn, waiting = draw_next_part(lecture)
        if waiting:
            st.caption(say("present.files.drawing", count=waiting))
            st.rerun()
        st.caption(say("present.files.how", count=len(lecture.scenes)))
        label = say("present.files.html")
        offer_download("lecture_html", "lecture.html", "text/html", lambda: make(write_page), label)
        label = say("present.files.pptx")
        offer_download("lecture_pptx", "lecture.pptx", SLIDES_TYPE, lambda: make(write_slides), label)
        with button_row():
            for paper in PAPERS:
                label = say("present.files.sheet", paper=paper)
                file = f"lecture_exercises_{paper}.html"
                write = partial(exercise_sheet, paper=paper)
                offer_download(f"exercises_{paper}", file, "text/html", partial(make, write), label)


def write_page(show: SlideShow) -> str:
    """The HTML text of the animated page."""
    return lecture_page(show, list_drawings())


def write_slides(show: SlideShow) -> bytes:
    """The slides as PPTX bytes."""
    from attention_core.documents.slide_file import slide_file  # takes a fifth of a second, so not imported at startup

    return slide_file(show)
