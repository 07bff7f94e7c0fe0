"""Opens the model of a folder on the page of maps: which folder, on which text, what was found, and what is proven."""

from collections.abc import Sequence
from concurrent.futures import Future, wait
from importlib.util import find_spec
from pathlib import Path

import streamlit as st

from attention_core.checkpoints.layer_proof import ProofRow
from attention_core.inputs.files.stored_arrays import printable_name
from attention_core.inputs.tokenizer import MAX_TEXT_LENGTH
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_grouped
from pages.maps.given_file import FILE_KEY, HEAD_KEY, REFUSAL_KEY, make_recorded_file
from pages.panels.lesson_choices import get_choice, take_choice
from pages.panels.markdown_table import make_table
from pages.runs.checkpoint_store import STORE, RecordedText, WantedText
from pages.session.allowed_models import allowed_roots, list_offered, may_open_any
from pages.session.opened_drawers import scroll_here
from pages.site.words import escape_markdown, say, say_refusal

FOLDER, TEXT, FURTHER = "folder", "text", "further"  # link keys; the widgets have these names too
OPENED_KEY = "maps_model_opened"  # session key: True after a model was opened; the page then scrolls to what was found
WAIT_SECONDS = 0.2
STAGES = ("waits", "opens", "reads", "proves")
TABLE_HEIGHT_PX, TEXT_HEIGHT_PX = 260, 90


def read_model_text(text: str) -> str:
    """Returns a text of a link unchanged; raises AttentionError for one that is too long."""
    if len(text) > MAX_TEXT_LENGTH:
        raise AttentionError("text_too_long", limit=MAX_TEXT_LENGTH, given=len(text))
    return text


# ---- the form --------------------------------------------------------------------------------------------------------
def show_model_form() -> None:
    """Shows the folder, the text and the button; on a press, opens the model with a bar."""
    st.markdown(say("lessons.maps.model.about"))
    if find_spec("transformers") is None:
        st.info(say("lessons.maps.model.package"), icon=":material/info:")
        return
    roots, is_own = allowed_roots(), may_open_any()
    offered = list_offered(roots)
    if not is_own and not offered:
        st.info(say("lessons.maps.model.not_allowed"), icon=":material/info:")
        return
    with st.form("maps_model", border=False):
        folder = choose_folder(offered, is_own)
        linked = get_choice(TEXT, "", read_model_text) or say("lessons.maps.model.example")
        text = st.text_area(say("lessons.maps.control.text"), linked, key="c_maps_text", height=TEXT_HEIGHT_PX)
        further = st.text_input(
            say("lessons.maps.control.further"),
            get_choice(FURTHER, "", read_model_text),
            key="c_maps_further",
            help=say("lessons.maps.model.further_help"),
        )
        if st.form_submit_button(say("lessons.maps.model.open"), icon=":material/folder_open:", type="primary"):
            wanted = WantedText(folder, text, further, None if is_own else tuple(roots))
            open_model(wanted)


def choose_folder(offered: dict[str, Path], is_own: bool) -> Path:
    """Shows the choice of a folder: of the offered ones, or any path in an app of one's own; returns it."""
    linked = get_choice(FOLDER, "", read_model_text)
    label = say("lessons.maps.control.folder")
    if not is_own:
        names = list(offered)
        return offered[st.selectbox(label, names, names.index(linked) if linked in names else 0, key="c_maps_folder")]
    return Path(st.text_input(label, linked, key="c_maps_folder", placeholder=say("lessons.maps.model.path")).strip())


# ---- opening ---------------------------------------------------------------------------------------------------------
def open_model(wanted: WantedText) -> None:
    """Opens a model on a text, shows meanwhile what is being done, and puts its maps on the page; or the refusal."""
    st.session_state.pop(REFUSAL_KEY, None)
    if wanted.folder == Path():
        st.error(say("lessons.maps.model.no_path"), icon=":material/error:")
        return
    stages = ["waits"]
    try:
        text = wait_for(STORE.begin(wanted, stages.append), stages)
        given = make_recorded_file(text)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    st.session_state[FILE_KEY] = given
    st.session_state.pop(HEAD_KEY, None)
    st.session_state[OPENED_KEY] = True
    for name, value in ((FOLDER, linked_folder(wanted)), (TEXT, wanted.text), (FURTHER, wanted.further)):
        take_choice(name, value, "", read_model_text)
    st.rerun()


def linked_folder(wanted: WantedText) -> str:
    """Returns what a link says of a folder: its path in an app of one's own, else the name that is offered."""
    if wanted.roots is None:
        return str(wanted.folder)
    return next(name for name, folder in list_offered(list(wanted.roots)).items() if folder == wanted.folder)


def wait_for(future: Future[RecordedText], stages: list[str]) -> RecordedText:
    """Waits for a text, with a bar that says the stage; returns it. Raises AttentionError."""
    bar = st.progress(0.0)
    try:
        while not wait([future], WAIT_SECONDS).done:
            stage = stages[-1]
            bar.progress((STAGES.index(stage) + 1) / (len(STAGES) + 1), say(f"lessons.maps.model.stage.{stage}"))
        return future.result()
    finally:
        bar.empty()


# ---- what was found --------------------------------------------------------------------------------------------------
def show_found(text: RecordedText) -> None:
    """Shows what was found, what is proven and to which bound, what is missing, and the table of proofs a layer."""
    scroll_here("maps_found", is_new=st.session_state.pop(OPENED_KEY, False))
    recording = text.maps.recording
    heads = sum(call.sizes[1] for call in recording.calls)
    model = type(text.opened.model).__name__
    found = say(
        "lessons.maps.model.found",
        model=model,
        parameters=format_grouped(text.opened.parameters),
        layers=len(recording.calls),
        heads=heads,
        pieces=len(text.inputs.shown) + len(text.inputs.further_shown),
    )
    st.markdown(f"{found} {say_proof(text.proof)}")
    missing = [*recording.missing, *text.opened.ignored]
    told = " ".join(escape_markdown(say_refusal(error)) for error in missing)
    st.caption(say("lessons.maps.model.missing", told=told) if missing else say("lessons.maps.model.whole"))
    with st.popover(say("lessons.maps.model.proofs"), icon=":material/verified:"):
        st.markdown(say("lessons.maps.model.bound"))
        with st.container(height=TABLE_HEIGHT_PX):
            st.markdown(make_proof_table(text.proof))


def say_proof(rows: Sequence[ProofRow]) -> str:
    """Returns the sentence on how many layers are proven, and how far the worst of them is apart."""
    passed = sum(row.passed for row in rows)
    measured = [row for row in rows if row.apart is not None]
    if passed < len(rows):
        worst = next(row for row in rows if not row.passed)
        layer = escape_markdown(printable_name(worst.layer))
        told = name_faults(worst)
        return say("lessons.maps.model.red", passed=passed, layers=len(rows), layer=layer, told=told)
    if not measured:
        return say("lessons.maps.model.outputs_proven", layers=passed)
    worst = max(measured, key=lambda row: row.apart / row.bound)
    return say("lessons.maps.model.proven", layers=passed, apart=f"{worst.apart:.1e}", bound=f"{worst.bound:.1e}")


def name_faults(row: ProofRow) -> str:
    """Returns the sentences on why a layer is not proven; "" if it is."""
    return " ".join(say_refusal(fault) for fault in row.faults)


def make_proof_table(rows: Sequence[ProofRow]) -> str:
    """Returns the table of proofs, one row a layer, as Markdown."""
    columns = ("layer", "apart", "bound", "output_apart", "output_bound")
    heading = ["", *(say(f"lessons.maps.model.column.{name}") for name in columns)]
    return make_table(heading, [make_proof_row(row) for row in rows])


def make_proof_row(row: ProofRow) -> list[str]:
    """Returns the cells of a layer's row."""
    figures = (row.apart, row.bound, row.output_apart, row.output_bound)
    told = ["–" if figure is None else f"{figure:.1e}" for figure in figures]
    return ["✓" if row.passed else "✗", escape_markdown(printable_name(row.layer)), *told]
