"""An exercise on paper, blank and with its solutions, on the paper of either continent."""

from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from attention_core import AttentionError, Trace
from attention_core.documents.handout import PAPERS, check_sheet, exercise_paper
from attention_core.documents.provenance import Imprint
from pages.export.document_texts import telling_of
from pages.export.export_panel import file_name, offer
from pages.practice.check.exercise import link_of
from pages.session.addresses import base
from pages.session.labels import looked_at
from pages.setup.setup import Setup
from pages.site.words import language, say, sentence


def show_printing(kind: str, trace: Trace, setup: Setup) -> None:
    """The sheets, behind a button."""
    opened = st.popover(
        say("lessons.check.print"), icon=":material/print:", type="tertiary", key="printing", on_change="rerun"
    )
    if not opened.open:
        return
    with opened:
        try:
            check_sheet(trace)
        except AttentionError as error:
            st.caption(sentence(error))
            return
        telling = replace(telling_of(trace, setup, looked_at(trace, setup)), sentence=say("lessons.check.task"))
        told, headings = imprint(kind), (say("lessons.check.given"), say("lessons.check.asked"))
        for solved, name in ((False, "blank"), (True, "solved")):
            st.caption(say(f"lessons.check.{name}"))
            with st.container(horizontal=True, gap="xsmall"):
                for paper in PAPERS:
                    make = partial(exercise_paper, trace, told, telling, paper, headings, solved)
                    file = file_name(setup, "html", "exercise", name, paper)
                    offer(f"{name}_{paper}", file, "text/html", make, paper)


def imprint(kind: str) -> Imprint:
    """The exercise's title, and the link at which answers to it are checked."""
    address = f"{base()}?{urlencode(link_of(kind) | {'lang': language()})}"
    return Imprint(say("lessons.check.question"), address, (say("app.title"),))
