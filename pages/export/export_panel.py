"""Shows the export panel: downloads of a run as pictures, numbers, documents and scripts.

A file is generated when its button is clicked.
"""

from collections.abc import Iterator
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.documents.handout import PAPERS, run_handout
from attention_core.documents.latex_document import latex_document
from attention_core.documents.notebook import notebook
from attention_core.documents.number_files import csv_text, json_text, npz_bytes
from attention_core.documents.phone_page import SceneTexts, scene_page
from attention_core.documents.picture_files import missing_letters, png_bytes
from attention_core.documents.provenance import Provenance
from attention_core.explanation.scripts import INPUTS_FILE, code, inputs_npz, needs_file
from attention_core.inputs.given_maps import AttentionMaps, pack_maps
from attention_core.inputs.tokenizer import printable_token
from pages.export.document_texts import make_document_texts, make_run_provenance
from pages.export.downloads import button_row, can_export, file_name, offer_download
from pages.export.flow_files import list_drawings, make_moving_flow, show_flow_files
from pages.export.heads_file import show_heads_file
from pages.export.page_links import link_to_exercise
from pages.export.step_picture import StepPicture
from pages.panels.flow_data import shows_heads
from pages.panels.head_maps import head_name
from pages.panels.model import Table
from pages.panels.model.what_if import list_changed_words
from pages.panels.model_panels import PANELS, open_panel
from pages.panels.model_rail import words_of_model
from pages.panels.step_picture import step_name
from pages.runs.cache import inputs_of
from pages.runs.model_runs import model_sentences_of, model_weights
from pages.session.labels import Selection, axis_label, chosen_cell, current_palette, selection_of
from pages.session.view import ScreenState, make_screen_state
from pages.setup.setup import Setup
from pages.site.code_words import load_code_comments, say_code
from pages.site.words import current_language, escape_markdown, say

EXPORTED_STEP_KEY = "c_export"  # session key of the step that is exported, or MAP_OPTION
MAP_OPTION = "map"  # the option to export the attention map of the selected head
TRANSPARENT_KEY = "c_export_transparent"  # session key: whether pictures are exported without a background
MAX_NAMED_LETTERS = 12  # most letters missing in the fonts that the message lists


def show_export(trace: Trace, setup: Setup) -> None:
    """Shows a popover with all downloads of a run."""
    popover = st.popover(
        say("export.title"),
        icon=":material/download:",
        type="tertiary",
        key="export",
        on_change="rerun",
    )
    if not popover.open:
        return
    provenance = make_run_provenance(setup)
    selection = selection_of(trace, setup)
    with popover, st.container(gap="xsmall"):
        show_picture_files(make_screen_state(setup, None), provenance)
        show_step_files(trace, setup, provenance, selection)
        show_handouts(trace, setup, provenance, selection)
        show_documents(trace, setup, provenance, selection)
        show_all_files(trace, setup, provenance)
        show_model_files(make_screen_state(setup, None), provenance)
        link_to_exercise(setup, "export")


def show_picture_files(screen: ScreenState, provenance: Provenance) -> None:
    """Shows the downloads of the large picture in its present state; in the view of all heads also of their numbers."""
    is_transparent = bool(st.session_state.get(TRANSPARENT_KEY))
    has_heads = shows_heads(screen.setup.view.stop)
    st.caption(say("export.all_heads" if has_heads else "export.flow"))
    show_flow_files(screen, provenance, is_transparent)
    if has_heads:
        show_heads_file(screen, provenance)


def show_step_files(trace: Trace, setup: Setup, provenance: Provenance, selection: Selection) -> None:
    """Shows a choice of a step or of the selected head's attention map, and its downloads as SVG, PNG and CSV."""
    heading = head_name(setup, inputs_of(setup), selection.head)
    names = {MAP_OPTION: heading}
    for name in trace.steps:
        names[name] = step_name(name)
    option = choose_exported_step(trace, setup, names)
    step = "weights" if option == MAP_OPTION else option
    picture = StepPicture(
        trace=trace,
        step=step,
        selection=selection,
        chosen=chosen_cell(trace, setup),
        palette=current_palette(),
        provenance=provenance,
        map_title=heading if option == MAP_OPTION else None,
        is_transparent=bool(st.session_state.get(TRANSPARENT_KEY)),
    )
    missing = missing_letters(list_picture_letters(trace, provenance, names))
    with button_row():
        offer_download("svg", file_name(setup, "svg", option), "image/svg+xml", picture.to_svg)
        if not missing:
            offer_download("png", file_name(setup, "png", option), "image/png", lambda: png_bytes(picture.to_svg()))
        if can_export(trace, "CSV", step):
            make_table = partial(csv_text, with_shown_labels(trace), step, provenance)
            offer_download("csv", file_name(setup, "csv", option), "text/csv", make_table)
    if missing:
        st.caption(say("export.no_png", letters=escape_markdown(missing[:MAX_NAMED_LETTERS])))
    st.toggle(say("export.transparent"), key=TRANSPARENT_KEY)
    show_credit(provenance)


def show_credit(provenance: Provenance) -> None:
    """Shows the credit of a picture with the address of its run, as text to copy; the picture itself has no address."""
    st.caption(say("export.credit"))
    st.code(" ".join((*provenance.lines[2:], provenance.lines[1])), language=None, wrap_lines=True)


def choose_exported_step(trace: Trace, setup: Setup, names: dict[str, str]) -> str:
    """Shows a select box and returns the chosen step or MAP_OPTION.

    The default is the step that is open on the page.
    """
    if st.session_state.get(EXPORTED_STEP_KEY) not in names:
        st.session_state[EXPORTED_STEP_KEY] = setup.view.step if setup.view.step in trace else MAP_OPTION
    return st.selectbox(
        say("export.step"),
        list(names),
        key=EXPORTED_STEP_KEY,
        format_func=names.__getitem__,
    )


def list_picture_letters(trace: Trace, provenance: Provenance, names: dict[str, str]) -> str:
    """Returns all letters that a picture of a run may contain, as one string with repetitions."""
    texts = [*names.values(), *provenance.lines]
    for words in trace.labels.values():
        texts += words
    return "".join(map(printable_token, texts))


def with_shown_labels(trace: Trace) -> Trace:
    """Returns the run with the labels of D and D_out that the page shows, in the language of the session."""
    labels = {}
    for axis in ("D", "D_out"):
        if axis in trace.labels:
            labels[axis] = tuple(axis_label(trace, axis, place) for place in range(len(trace.labels[axis])))
    return trace.labelled(**labels)


def show_all_files(trace: Trace, setup: Setup, provenance: Provenance) -> None:
    """Shows the downloads of all steps of a run in one file, as NPZ and JSON."""
    trace = with_shown_labels(trace)
    st.caption(say("export.all"))
    with button_row():
        if can_export(trace, "NPZ"):
            make_archive = partial(npz_bytes, trace, provenance)
            offer_download("npz", file_name(setup, "npz"), "application/octet-stream", make_archive)
        if can_export(trace, "JSON"):
            make_json = partial(json_text, trace, provenance)
            offer_download("json", file_name(setup, "json"), "application/json", make_json)


def show_documents(trace: Trace, setup: Setup, provenance: Provenance, selection: Selection) -> None:
    """Shows the downloads as LaTeX, notebook and scripts, and of the inputs in a file if the scripts read it."""
    texts = make_document_texts(trace, setup, selection)
    language = current_language()
    st.caption(say("export.documents"))
    with button_row():
        make_latex = partial(latex_document, trace, selection.at, provenance, texts)
        offer_download("latex", file_name(setup, "tex"), "text/x-tex", make_latex)
        make_notebook = partial(notebook, trace, provenance, texts.sentence, load_code_comments(language))
        offer_download("notebook", file_name(setup, "ipynb"), "application/x-ipynb+json", make_notebook)
        for library in ("torch", "numpy"):
            make_script = partial(write_script, trace, library, language)
            offer_download(library, file_name(setup, "py", library), "text/x-python", make_script)
    if needs_file(trace):
        label = say("export.inputs", file=INPUTS_FILE)
        offer_download("inputs", INPUTS_FILE, "application/octet-stream", partial(inputs_npz, trace), label)


def write_script(trace: Trace, library: str, language: str) -> str:
    """Returns a script that computes the run with a library, with comments in the given language."""
    return say_code(code(trace, library), language)


def show_handouts(trace: Trace, setup: Setup, provenance: Provenance, selection: Selection, note: str = "") -> None:
    """Shows the downloads for an audience: a page for phones, and handouts to print.

    note: the lecturer's note, which is printed on the handouts.
    """
    texts = make_document_texts(trace, setup, selection)
    st.caption(say("export.handouts"))
    with button_row():
        page_texts = SceneTexts(
            hint=say("export.page.hint"),
            steps=say("export.page.steps"),
            open=say("export.page.open"),
            untold=say("export.page.untold"),
        )

        def make_page() -> str:
            moving = make_moving_flow(make_screen_state(setup, None))
            drawings = {moving.name: list_drawings()[moving.name]}
            return scene_page(trace, selection.at, provenance, texts, page_texts, note, (moving,), drawings)

        offer_download("html", file_name(setup, "html", "page"), "text/html", make_page)
        headings = (say("export.maps"), say("export.page.steps"))
        for paper in PAPERS:
            make_handout = partial(run_handout, trace, selection.at, provenance, texts, paper, headings)
            label = say("export.handout", paper=paper)
            offer_download(paper, file_name(setup, "html", "handout", paper), "text/html", make_handout, label)


# ---- a language model ------------------------------------------------------------------------------------------------
def show_model_files(screen: ScreenState, provenance: Provenance) -> None:
    """Shows the downloads of the language model that reads the sentence; shows nothing if no model is used."""
    words = words_of_model(screen)
    if words is None:
        return
    kind = model_sentences_of(screen.setup.run)
    maps = AttentionMaps(model_weights(kind.model, kind.read(words)), words, words)
    st.caption(say("export.model"))
    with button_row():
        name = file_name(screen.setup, "npz", "heads")
        offer_download("heads", name, "application/octet-stream", partial(pack_maps, maps))
        for trace, step in list_tables(screen):
            show_table_file(screen, trace, step, provenance)


def list_tables(screen: ScreenState) -> Iterator[Table]:
    """Yields the tables of the open panel, then the next words before and after interventions in the model."""
    yield from PANELS[open_panel(screen)].tables(screen)
    yield from list_changed_words(screen)


def show_table_file(screen: ScreenState, trace: Trace, step: str, provenance: Provenance) -> None:
    """Shows the download of one table as CSV, if the table is small enough."""
    if can_export(trace, "CSV", step):
        make = partial(csv_text, trace, step, provenance)
        offer_download(step, file_name(screen.setup, "csv", step), "text/csv", make)
