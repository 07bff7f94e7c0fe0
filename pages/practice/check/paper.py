"""An exercise as sheets to print, blank and with its solutions, in each paper size of PAPERS."""

from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from attention_core import AttentionError, Trace
from attention_core.documents.handout import PAPERS, check_paper_size, exercise_paper
from attention_core.documents.provenance import Provenance
from pages.export.document_texts import make_document_texts
from pages.export.downloads import file_name, offer_download
from pages.practice.check.exercise import exercise_link_values
from pages.session.addresses import page_address
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import current_language, say, say_refusal


def show_printing(kind: str, trace: Trace, setup: Setup) -> None:
    """Shows a popover with the sheets to print."""
    opened = st.popover(
        say("lessons.check.print"),
        icon=":material/print:",
        type="tertiary",
        key="printing",
        on_change="rerun",
    )
    if opened.open:
        with opened:
            show_sheets(kind, trace, setup)


def show_sheets(kind: str, trace: Trace, setup: Setup) -> None:
    """Shows the downloads of the sheets, or why the exercise is too large for paper."""
    try:
        check_paper_size(trace)
    except AttentionError as refusal:
        st.caption(say_refusal(refusal))
        return
    texts = make_document_texts(trace, setup, selection_of(trace, setup))
    texts = replace(texts, sentence=say("lessons.check.task"))
    provenance = make_exercise_provenance(kind)
    headings = (say("lessons.check.given"), say("lessons.check.asked"))
    for solved, name in ((False, "blank"), (True, "solved")):
        st.caption(say(f"lessons.check.{name}"))
        with st.container(horizontal=True, gap="xsmall"):
            for paper in PAPERS:
                make = partial(exercise_paper, trace, provenance, texts, paper, headings, solved)
                file = file_name(setup, "html", "exercise", name, paper)
                offer_download(f"{name}_{paper}", file, "text/html", make, paper)


def make_exercise_provenance(kind: str) -> Provenance:
    """The provenance of a sheet: its title, and the link at which its answers can be checked."""
    values = exercise_link_values(kind)
    values["lang"] = current_language()
    address = f"{page_address()}?{urlencode(values)}"
    title = say("lessons.check.question")
    return Provenance(title, address, (say("export.made_with"),))
