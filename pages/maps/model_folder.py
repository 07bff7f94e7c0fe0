"""Opens a model on the page of maps: its folder or name, its text, the maps found in it, and their proofs."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import streamlit as st

from attention_core.checkpoints.hub_model import HubModel, find_named, find_snapshot, list_absent_files, read_hub_name
from attention_core.checkpoints.layer_proof import ProofRow
from attention_core.checkpoints.next_pieces import Writing
from attention_core.inputs.files.stored_arrays import printable_name
from attention_core.inputs.tokenizer import MAX_TEXT_LENGTH
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_grouped
from pages.lessons.frame import show_refusal
from pages.maps.given_file import FILE_KEY, HEAD_KEY, REFUSAL_KEY, GivenFile, make_recorded_file
from pages.maps.hub_panel import ABSENT_KEY, AbsentModel, show_absent_model
from pages.maps.recent_models import TO_OPEN_KEY, AskedText, note_opened, show_recent
from pages.panels.lesson_choices import current_lesson_choices, get_choice, take_choice
from pages.panels.markdown_table import NUMBERS, WORDS, make_table
from pages.panels.model_wait import STOP_KEY, wait_for
from pages.runs.checkpoint_store import STORE, RecordedText, WantedText
from pages.runs.held_bytes import HELD
from pages.session.allowed_models import allowed_hub_models, allowed_roots, list_offered, may_open_any
from pages.session.opened_drawers import scroll_here
from pages.setup.link_values import read_link_count
from pages.site.words import escape_markdown, say, say_refusal

FOLDER, TEXT, FURTHER = "folder", "text", "further"  # link keys, and names of the widgets
WRITTEN = "written"  # link key of the pieces (subword tokens) that the model has generated after the text
OFF = "off"  # link key of the heads that are ablated inside the model
MASKED = "masked"  # link key of the piece that the mask hides from the model
OPENED_KEY = "maps_model_opened"  # session key: True after a model was opened; the page then scrolls to its layers
PATH_BEGINNINGS = (".", "~", "/")  # a name with such a beginning is a path, not a model of the hub
# codes of the errors about a part of a link, and its key; the model is then opened without these parts
REFUSED_PARTS = {"no_head_in_layer": OFF, "heads_watched": OFF, "no_mask": MASKED, "at_most": MASKED}
TABLE_HEIGHT_PX, TEXT_HEIGHT_PX = 260, 90


def read_model_text(text: str) -> str:
    """Returns a text from a link unchanged; raises AttentionError if it is too long."""
    if len(text) > MAX_TEXT_LENGTH:
        raise AttentionError("text_too_long", limit=MAX_TEXT_LENGTH, given=len(text))
    return text


def read_written(text: str) -> tuple[int, ...]:
    """Parses the numbers of pieces (subword tokens) in a link, such as 318,257."""
    return tuple(map(read_link_count, text.split(",")))


def linked_written(*wanted: str) -> tuple[int, ...]:
    """Returns the generated pieces in the link; () if the link belongs to another model or other texts."""
    linked = tuple(get_choice(name, "", read_model_text) for name in (FOLDER, TEXT, FURTHER))
    # the link is parsed even if it is not used, so that another text replaces this part
    written = get_choice(WRITTEN, (), read_written)
    return written if linked == wanted else ()


def linked_masked(*wanted: str) -> int | None:
    """Returns the index of the hidden piece in the link; None if the link belongs to another model or other texts."""
    linked = tuple(get_choice(name, "", read_model_text) for name in (FOLDER, TEXT, FURTHER))
    masked = get_choice(MASKED, None, read_link_count)
    return masked if linked == wanted else None


def read_off(text: str) -> tuple[str, ...]:
    """Parses the ablated heads in a link, such as "1.2,3.4": layer and head, both counted from 1; no head
    occurs twice.
    """
    places = {tuple(map(read_link_count, part.split("."))) for part in text.split(",")}
    if not all(len(place) == 2 and min(place) > 0 for place in places):
        raise ValueError(text)
    return spell_off((layer - 1, head - 1) for layer, head in places)


def spell_off(heads: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Returns heads, as (layer, head) from 0, as the parts of a link."""
    return tuple(f"{layer + 1}.{head + 1}" for layer, head in sorted(heads))


def linked_off(named: str) -> tuple[tuple[int, int], ...]:
    """Returns the ablated heads in the link, as (layer, head) from 0; () if the link belongs to another model."""
    parts = get_choice(OFF, (), read_off)
    if get_choice(FOLDER, "", read_model_text) != named:
        return ()
    places = (map(int, part.split(".")) for part in parts)
    return tuple((layer - 1, head - 1) for layer, head in places)


# ---- the form --------------------------------------------------------------------------------------------------------
def show_model_form() -> None:
    """Shows the inputs for a model and a text, and a button that opens the model, or offers to download it."""
    st.markdown(say("lessons.maps.model.about"))
    if find_spec("transformers") is None:
        st.info(say("lessons.maps.model.package"), icon=":material/info:")
        return
    roots, is_own = allowed_roots(), may_open_any()
    offered = {} if is_own else offer_models(roots)
    if not is_own and not offered:
        st.info(say("lessons.maps.model.not_allowed"), icon=":material/info:")
        return
    show_recent(lambda named: is_own or named in offered)
    to_open = st.session_state.pop(TO_OPEN_KEY, None)
    with st.form("maps_model", border=False):
        named = choose_model(offered, is_own)
        linked = get_choice(TEXT, "", read_model_text) or say("lessons.maps.model.example")
        text = st.text_area(say("lessons.maps.control.text"), linked, key="c_maps_text", height=TEXT_HEIGHT_PX)
        further = st.text_input(
            say("lessons.maps.control.further"),
            get_choice(FURTHER, "", read_model_text),
            key="c_maps_further",
            help=say("lessons.maps.model.further_help"),
        )
        if st.form_submit_button(say("lessons.maps.model.open"), icon=":material/folder_open:", type="primary"):
            to_open = AskedText(named, text, further)
    if to_open is not None:
        st.session_state.pop(ABSENT_KEY, None)
        with show_refusal():
            open_asked(to_open, find_place(to_open.named, offered, is_own), None if is_own else tuple(roots))
    show_absent_model()


def offer_models(roots: list[Path]) -> dict[str, Path | HubModel]:
    """Returns {name: folder or hub model} of the models that the administrator allows, folders first."""
    return {**list_offered(roots), **{str(model): model for model in allowed_hub_models()}}


def choose_model(offered: dict[str, Path | HubModel], is_own: bool) -> str:
    """Shows the choice of a model and returns its name: one of the offered ones or, in a private app, any other."""
    linked = get_choice(FOLDER, "", read_model_text)
    label = say("lessons.maps.control.folder")
    if is_own:
        return st.text_input(label, linked, key="c_maps_folder", placeholder=say("lessons.maps.model.path")).strip()
    names = list(offered)
    if linked and linked not in names:
        st.warning(say("lessons.maps.model.not_offered", name=escape_markdown(printable_name(linked))))
    return st.selectbox(label, names, names.index(linked) if linked in names else 0, key="c_maps_folder")


def find_place(named: str, offered: dict[str, Path | HubModel], is_own: bool) -> Path | HubModel:
    """Returns the folder or the hub model with the given name.

    Raises AttentionError: folder_outside for one that this visitor may not open; those of read_place.
    """
    if is_own:
        return read_place(named)
    if named not in offered:
        raise AttentionError("folder_outside", name=printable_name(named))
    return offered[named]


def read_place(named: str) -> Path | HubModel:
    """Returns the folder or the hub model with the given name; if both exist, the folder.

    Raises AttentionError: nothing_named, hub_name.
    """
    if not named:
        raise AttentionError("nothing_named")
    folder = Path(named)
    is_path = named.startswith(PATH_BEGINNINGS) or "/" not in named or folder.is_absolute() or os.path.isdir(folder)
    return folder if is_path else read_hub_name(named)


# ---- opening ---------------------------------------------------------------------------------------------------------
def open_asked(asked: AskedText, place: Path | HubModel, roots: tuple[Path, ...] | None) -> None:
    """Opens a model and lets it read a text; if this machine lacks files of a hub model, offers to download them
    instead.

    roots: the folders in which a model's folder must lie; None for any.
    """
    model = place if isinstance(place, HubModel) else None
    if model is not None:
        place, roots = find_snapshot(model), None
    elif roots is None:
        model = find_named(place)  # the hub's cache may have a folder from an interrupted download
    absent = () if place is None or model is None else list_absent_files(place)
    if place is None or absent:
        st.session_state[ABSENT_KEY] = AbsentModel(model, asked, absent)
        return
    texts = (asked.named, asked.text, asked.further)
    written, off, masked = linked_written(*texts), linked_off(asked.named), linked_masked(*texts)
    wanted = WantedText(place, asked.text, asked.further, roots, written, off, masked)
    try:
        open_model(asked.named, wanted)
    except AttentionError as error:
        if error.code not in REFUSED_PARTS or not (off or masked is not None):
            raise
        open_model(asked.named, replace(wanted, off=(), masked=None), refused=error)


def open_model(
    named: str, wanted: WantedText, how: Writing | None = None, refused: AttentionError | None = None
) -> None:
    """Opens a model, lets it read a text while showing the progress, and puts its maps on the page.

    named: the model's name for the link. how: the settings with which the model first continues the text; None for no
    continuation. refused: the reason, shown on the page, why the heads in the link are not ablated, or its piece is
    not hidden. Raises AttentionError: those of the store.
    """
    st.session_state.pop(REFUSAL_KEY, None)
    key = STOP_KEY if refused is None else f"{STOP_KEY}_again"  # the first attempt was in the same script run
    text = wait_for(lambda tell: STORE.begin(wanted, tell, how), key)
    earlier = st.session_state.get(FILE_KEY)
    if earlier is not None and not is_same_model(earlier, text):
        earlier = None
    given = make_recorded_file(text, earlier)
    HELD.add([given.file, given.maps])
    st.session_state[FILE_KEY] = given
    if earlier is None:
        st.session_state.pop(HEAD_KEY, None)
        st.session_state[OPENED_KEY] = True
    for name, value in ((FOLDER, named), (TEXT, wanted.text), (FURTHER, wanted.further)):
        take_choice(name, value, "", read_model_text)
    take_choice(WRITTEN, text.wanted.written, (), read_written)
    take_choice(OFF, spell_off(text.wanted.off), (), read_off)
    take_choice(MASKED, text.wanted.masked, None, read_link_count)
    if refused is not None:
        current_lesson_choices().refuse(REFUSED_PARTS[refused.code], refused)
    note_opened(AskedText(named, wanted.text, wanted.further))
    st.rerun()


def is_same_model(earlier: GivenFile, text: RecordedText) -> bool:
    """Returns whether the maps on the page come from the same open model as a recorded text."""
    before, now = earlier.recorded and earlier.recorded.record, text.record
    return before is not None and now is not None and before.opened is now.opened


# ---- what was found --------------------------------------------------------------------------------------------------
def show_found(text: RecordedText) -> None:
    """Shows how many attention layers of a model were found and proven, and what is missing;

    below, a table with each layer's proof.
    """
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
    """Returns the sentence about how many layers are proven, and about the largest difference."""
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
    """Returns the sentences that say why a layer is not proven; "" for a proven layer."""
    return " ".join(say_refusal(fault) for fault in row.faults)


def make_proof_table(rows: Sequence[ProofRow]) -> str:
    """Returns the table of proofs as Markdown, with a row per layer."""
    columns = ("layer", "apart", "bound", "output_apart", "output_bound")
    heading = ["", *(say(f"lessons.maps.model.column.{name}") for name in columns)]
    return make_table(heading, [make_proof_row(row) for row in rows], [WORDS, WORDS, *[NUMBERS] * 4])


def make_proof_row(row: ProofRow) -> list[str]:
    """Returns the cells of a layer's row in the table of proofs."""
    figures = (row.apart, row.bound, row.output_apart, row.output_bound)
    told = ["–" if figure is None else f"{figure:.1e}" for figure in figures]
    return ["✓" if row.passed else "✗", escape_markdown(printable_name(row.layer)), *told]
