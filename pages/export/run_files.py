"""Shows the downloads of one run: pictures, numbers, documents, scripts and handouts.

A file is generated when its button is clicked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.documents.excerpt import DocumentTexts
from attention_core.documents.handout import PAPERS, run_handout
from attention_core.documents.latex_document import latex_document
from attention_core.documents.notebook import notebook
from attention_core.documents.number_files import csv_text, json_text, npz_bytes
from attention_core.documents.phone_page import MovingPart, SceneTexts, scene_page
from attention_core.documents.picture_files import png_bytes
from attention_core.documents.provenance import Provenance
from attention_core.explanation.scripts import INPUTS_FILE, code, inputs_npz, needs_file
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.expressions import Ref
from pages.export.downloads import FileMaker, button_row, can_export, name_file, offer_download
from pages.export.flow_files import list_drawings
from pages.export.step_picture import StepPicture
from pages.export.worker_drawing import find_missing_letters
from pages.session.labels import Selection, axis_label, current_palette, listed_step_name
from pages.site.code_words import load_code_comments, say_code
from pages.site.words import current_language, escape_markdown, make_names_distinct, say

EXPORTED_STEP_KEY = "c_export"  # session key of the step that is exported, or MAP_OPTION
MAP_OPTION = "map"  # the option to export the attention map of the selected head
TRANSPARENT_KEY = "c_export_transparent"  # session key: whether pictures are exported without a background
MAX_NAMED_LETTERS = 12  # most letters missing in the fonts that the message lists


@dataclass(frozen=True, eq=False)
class ExportedRun:
    """A run, with all that its files need.

    selection: the selected head and query. texts: those of its documents. heading: the title of the selected head's
    map. name: a part of the files' names. chosen: the opened cell. step: the step that is open on the page. mark: a
    prefix of the buttons' keys, to tell them from others on the same page.
    """

    trace: Trace
    selection: Selection
    provenance: Provenance
    texts: DocumentTexts
    heading: str
    name: str
    chosen: Ref | None = None
    step: str | None = None
    mark: str = ""

    def file_name(self, ending: str, *parts: str) -> str:
        """Returns the name of a file of this run."""
        return name_file(ending, self.name, *parts)

    def offer(self, name: str, file: str, mime: str, make: FileMaker, label: str | None = None) -> None:
        """Shows the download button of one file."""
        offer_download(f"{self.mark}{name}", file, mime, make, label or say(f"export.{name}"))


def show_step_files(run: ExportedRun) -> None:
    """Shows a choice of a step or of the selected head's attention map, and its downloads as SVG, PNG and CSV."""
    trace, provenance = run.trace, run.provenance
    words = make_names_distinct([listed_step_name(name) for name in trace.steps])
    names = {MAP_OPTION: run.heading} | dict(zip(trace.steps, words, strict=True))
    option = choose_exported_step(run, names)
    step = "weights" if option == MAP_OPTION else option
    picture = StepPicture(
        trace=trace,
        step=step,
        selection=run.selection,
        chosen=run.chosen,
        palette=current_palette(),
        provenance=provenance,
        map_title=run.heading if option == MAP_OPTION else None,
        is_transparent=bool(st.session_state.get(TRANSPARENT_KEY)),
    )
    missing = find_missing_letters(list_picture_letters(trace, provenance, names))
    with button_row():
        run.offer("svg", run.file_name("svg", option), "image/svg+xml", picture.to_svg)
        if missing == "":
            run.offer("png", run.file_name("png", option), "image/png", lambda: png_bytes(picture.to_svg()))
        if can_export(trace, "CSV", step):
            make_table = partial(csv_text, with_shown_labels(trace), step, provenance)
            run.offer("csv", run.file_name("csv", option), "text/csv", make_table)
    if missing:
        st.caption(say("export.no_png", letters=escape_markdown(missing[:MAX_NAMED_LETTERS])))
    st.toggle(say("export.transparent"), key=TRANSPARENT_KEY)
    show_credit(provenance)


def show_credit(provenance: Provenance) -> None:
    """Shows the credit of a picture with the address of its run, as text to copy; the picture itself has no address."""
    st.caption(say("export.credit"))
    st.code(" ".join((*provenance.lines[2:], provenance.lines[1])), language=None, wrap_lines=True)


def choose_exported_step(run: ExportedRun, names: dict[str, str]) -> str:
    """Shows a select box and returns the chosen step or MAP_OPTION.

    The default is the step that is open on the page.
    """
    if st.session_state.get(EXPORTED_STEP_KEY) not in names:
        st.session_state[EXPORTED_STEP_KEY] = run.step if run.step in run.trace else MAP_OPTION
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


def show_all_files(run: ExportedRun) -> None:
    """Shows the downloads of all steps of a run in one file, as NPZ and JSON."""
    trace = with_shown_labels(run.trace)
    st.caption(say("export.all"))
    with button_row():
        if can_export(trace, "NPZ"):
            make_archive = partial(npz_bytes, trace, run.provenance)
            run.offer("npz", run.file_name("npz"), "application/octet-stream", make_archive)
        if can_export(trace, "JSON"):
            make_json = partial(json_text, trace, run.provenance)
            run.offer("json", run.file_name("json"), "application/json", make_json)


def show_documents(run: ExportedRun) -> None:
    """Shows the downloads as LaTeX, notebook and scripts, and of the inputs in a file if the scripts read it."""
    trace, provenance, language = run.trace, run.provenance, current_language()
    st.caption(say("export.documents"))
    with button_row():
        make_latex = partial(latex_document, trace, run.selection.at, provenance, run.texts)
        run.offer("latex", run.file_name("tex"), "text/x-tex", make_latex)
        make_notebook = partial(notebook, trace, provenance, run.texts.sentence, load_code_comments(language))
        run.offer("notebook", run.file_name("ipynb"), "application/x-ipynb+json", make_notebook)
        for library in ("torch", "numpy"):
            make_script = partial(write_script, trace, library, language)
            run.offer(library, run.file_name("py", library), "text/x-python", make_script)
    if needs_file(trace):
        label = say("export.inputs", file=INPUTS_FILE)
        run.offer("inputs", INPUTS_FILE, "application/octet-stream", partial(inputs_npz, trace), label)


def write_script(trace: Trace, library: str, language: str) -> str:
    """Returns a script that computes the run with a library, with comments in the given language."""
    return say_code(code(trace, library), language)


def show_handouts(run: ExportedRun, note: str = "", make_moving: Callable[[], tuple[MovingPart, ...]] = tuple) -> None:
    """Shows the downloads for an audience: a page for phones, and handouts to print.

    note: the lecturer's note, which is printed on the handouts. make_moving: a function that returns the moving parts
    of the page.
    """
    trace, provenance, at = run.trace, run.provenance, run.selection.at
    st.caption(say("export.handouts"))
    with button_row():
        page_texts = SceneTexts(
            hint=say("export.page.hint"),
            steps=say("export.page.steps"),
            open=say("export.page.open"),
            untold=say("export.page.untold"),
        )

        def make_page() -> str:
            moving = make_moving()
            drawings = {part.name: list_drawings()[part.name] for part in moving}
            return scene_page(trace, at, provenance, run.texts, page_texts, note, moving, drawings)

        run.offer("html", run.file_name("html", "page"), "text/html", make_page)
        headings = (say("export.maps"), say("export.page.steps"))
        for paper in PAPERS:
            make_handout = partial(run_handout, trace, at, provenance, run.texts, paper, headings)
            label = say("export.handout", paper=paper)
            run.offer(paper, run.file_name("html", "handout", paper), "text/html", make_handout, label)
