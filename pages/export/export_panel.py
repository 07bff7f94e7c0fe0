"""What is seen, to take along: pictures, numbers, documents, scripts. Nothing is made before somebody asks for it.

A file is made in a thread of its own, where no session can be asked: whatever it needs is handed to it.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core import AttentionError, Trace
from attention_core.documents.handout import PAPERS, run_handout
from attention_core.documents.latex_document import latex_document
from attention_core.documents.notebook import notebook
from attention_core.documents.number_files import check_export_size, csv_text, json_text, npz_bytes
from attention_core.documents.phone_page import SceneTexts, scene_page
from attention_core.documents.picture_files import missing_letters, png_bytes, svg_text
from attention_core.documents.provenance import Provenance
from attention_core.drawing.charts import head_map
from attention_core.explanation.formula import formula
from attention_core.explanation.layout import panel
from attention_core.explanation.scripts import INPUTS_FILE, code, inputs_npz, needs_file
from attention_core.inputs.tokenizer import printable_token
from pages.export.document_texts import make_document_texts, make_run_provenance
from pages.export.doors import exercise_door
from pages.panels.head_maps import head_name
from pages.panels.step_picture import make_panel_title, make_step_picture, position_with_cell, step_name
from pages.runs.cache import inputs_of
from pages.session.labels import Selection, chosen_cell, current_palette, picture_texts_for, selection_of
from pages.setup.setup import Setup
from pages.site.words import current_language, escape_markdown, say, say_refusal, use_language

EXPORTED_STEP_KEY = "c_export"  # the step that is exported alone, or
MAP_OPTION = "map"  # of a head
MAX_NAMED_LETTERS = 12  # letters that are missing
FileMaker = Callable[[], str | bytes]


def show_export(trace: Trace, setup: Setup) -> None:
    """The files that a run can be taken along as, behind a button."""
    opened = st.popover(
        say("export.title"), icon=":material/download:", type="tertiary", key="export", on_change="rerun"
    )
    if not opened.open:
        return
    imprint, look = make_run_provenance(setup), selection_of(trace, setup)
    with opened, st.container(gap="xsmall"):
        show_step_files(trace, setup, imprint, look)
        show_handouts(trace, setup, imprint, look)
        show_documents(trace, setup, imprint, look)
        show_all_files(trace, setup, imprint)
        exercise_door(setup, "export")


# ---- what there is ---------------------------------------------------------------------------------------------------
def show_step_files(trace: Trace, setup: Setup, imprint: Provenance, look: Selection) -> None:
    """The map of the head that is looked at, or one step alone: as a picture, and as a table."""
    heading = head_name(setup, inputs_of(setup), look.head)
    names = {MAP_OPTION: heading} | {name: step_name(name) for name in trace.steps}
    if st.session_state.get(EXPORTED_STEP_KEY) not in names:
        st.session_state[EXPORTED_STEP_KEY] = setup.step if setup.step in trace else MAP_OPTION
    which = st.selectbox(say("export.step"), list(names), key=EXPORTED_STEP_KEY, format_func=names.__getitem__)
    step = "weights" if which == MAP_OPTION else which
    chosen, colours = chosen_cell(trace, setup), current_palette()
    part = panel(trace, "weights", {"B": look.batch, "H": look.head})  # all that the map shows of a large one
    is_part = which == MAP_OPTION and any(part.hidden)
    noted = replace(imprint, notes=(*imprint.notes, make_panel_title(trace, part))) if is_part else imprint

    def svg() -> str:
        if which == MAP_OPTION:
            axes, words = (say("corner.T"), say("corner.S")), picture_texts_for(trace)
            picture = head_map(trace, look.head, words, colours, chosen, look.query, False, look.batch, axes, heading)
        else:
            picture = make_step_picture(trace, step, position_with_cell(look.at, trace, chosen), chosen)
        return svg_text(picture, noted, colours, formula(trace, step, colours.families()))

    with button_row():
        offer_download("svg", file_name(setup, "svg", which), "image/svg+xml", svg)
        texts = (*names.values(), *imprint.lines, *(word for words in trace.labels.values() for word in words))
        missing = missing_letters("".join(map(printable_token, texts)))
        if not missing:
            offer_download("png", file_name(setup, "png", which), "image/png", lambda: png_bytes(svg()))
        if can_export(trace, "CSV", step):
            offer_download("csv", file_name(setup, "csv", which), "text/csv", partial(csv_text, trace, step, imprint))
    if missing:
        st.caption(say("export.no_png", letters=escape_markdown(missing[:MAX_NAMED_LETTERS])))


def show_all_files(trace: Trace, setup: Setup, imprint: Provenance) -> None:
    """All steps together."""
    st.caption(say("export.all"))
    with button_row():
        if can_export(trace, "NPZ"):
            offer_download(
                "npz", file_name(setup, "npz"), "application/octet-stream", partial(npz_bytes, trace, imprint)
            )
        if can_export(trace, "JSON"):
            offer_download("json", file_name(setup, "json"), "application/json", partial(json_text, trace, imprint))


def show_documents(trace: Trace, setup: Setup, imprint: Provenance, look: Selection) -> None:
    """What a paper is written with, and code that computes the same numbers, with what it reads."""
    telling, at = make_document_texts(trace, setup, look), look.at
    st.caption(say("export.documents"))
    with button_row():
        offer_download(
            "latex", file_name(setup, "tex"), "text/x-tex", lambda: latex_document(trace, at, imprint, telling)
        )
        book = partial(notebook, trace, imprint, telling.sentence)
        offer_download("notebook", file_name(setup, "ipynb"), "application/x-ipynb+json", book)
        for name in ("torch", "numpy"):
            offer_download(name, file_name(setup, "py", name), "text/x-python", partial(code, trace, name))
    if needs_file(trace):
        label = say("export.inputs", file=INPUTS_FILE)
        offer_download("inputs", INPUTS_FILE, "application/octet-stream", partial(inputs_npz, trace), label)


def show_handouts(trace: Trace, setup: Setup, imprint: Provenance, look: Selection, note: str = "") -> None:
    """What an audience gets: a page on their phones, and paper. note: what a lecturer wrote to it."""
    telling, at = make_document_texts(trace, setup, look), look.at
    texts = SceneTexts(*(say(f"export.page.{name}") for name in ("hint", "steps", "open", "untold")))
    headings = (say("export.maps"), say("export.page.steps"))
    st.caption(say("export.handouts"))
    with button_row():
        page = partial(scene_page, trace, at, imprint, telling, texts, note)
        offer_download("html", file_name(setup, "html", "page"), "text/html", page)
        for paper in PAPERS:
            make = partial(run_handout, trace, at, imprint, telling, paper, headings)
            label = say("export.handout", paper=paper)
            offer_download(paper, file_name(setup, "html", "handout", paper), "text/html", make, label)


# ---- how it is offered -----------------------------------------------------------------------------------------------
def button_row():
    """A row of buttons, which wraps on a phone."""
    return st.container(horizontal=True, gap="xsmall")


def can_export(trace: Trace, kind: str, step: str | None = None) -> bool:
    """Whether so many numbers may be in a file of this kind; says so where they may not."""
    try:
        check_export_size(trace, kind, step)
    except AttentionError as error:
        st.caption(say_refusal(error))
        return False
    return True


def offer_download(name: str, file: str, mime: str, make: FileMaker, label: str | None = None) -> None:
    """A file to download, made when it is asked for, in the language of this session."""
    spoken = current_language()

    def made() -> str | bytes:
        with use_language(spoken):
            return make()

    st.download_button(label or say(f"export.{name}"), made, file, mime, key=f"export_{name}", on_click="ignore")


def file_name(setup: Setup, ending: str, *parts: str) -> str:
    """A name of plain letters, whatever the example and the step are called.

    >>> file_name(Setup(), "csv", "../weights")
    'attention_en_it_weights.csv'
    """
    words = [re.sub(r"[^A-Za-z0-9]+", "_", part).strip("_") for part in ("attention", setup.example, *parts)]
    return f"{'_'.join(filter(None, words))[:80]}.{ending}"
