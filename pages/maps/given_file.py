"""Holds the uploaded file of attention maps, with its description and its faults; only this session stores it."""

from dataclasses import dataclass, replace
from functools import cached_property

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.analysis.map_reading import AS_THEY_ARE, MapReading, ReadMaps
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.head_habits import HeadHabit, head_habit, list_row_facts
from attention_core.inputs.files.attention_maps import (
    MAP_BOUNDS,
    MAX_MAP_HEADS,
    MAX_MAP_SIDE,
    MapFile,
    MapView,
    read_map_file,
)
from attention_core.inputs.files.stored_arrays import ARRAY_BOUNDS, printable_name
from attention_core.inputs.given_maps import AttentionMaps, pack_maps
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import (
    choose_decimals,
    format_fixed,
    format_grouped,
    format_short,
    format_term,
)
from pages.export.downloads import offer_download
from pages.maps.head_names import name_heads_off
from pages.maps.read_file import (
    CHANGE,
    SIDE,
    WITHOUT,
    KnownWords,
    current_reading,
    read_given,
    show_word_choices,
    without_first,
)
from pages.panels.file_box import file_box
from pages.panels.lesson_choices import get_choice, get_lesson_link
from pages.runs.checkpoint_store import RecordedText
from pages.runs.held_bytes import HELD
from pages.runs.model_runs import model_weights
from pages.session.entered_values import when_entered
from pages.session.labels import name_token
from pages.setup.link_values import make_member_reader
from pages.site.words import current_language, escape_markdown, say, say_refusal

# session keys; a link cannot contain the file
FILE_KEY, REFUSAL_KEY, HEAD_KEY = "maps_file", "maps_refusal", "maps_head"
UPLOAD_KEY = "c_maps_upload"
SHOWN_KEY = "maps_shown"  # session key of (file, choices for the file, file with the chosen maps)
MAP_FILE_TYPES = ["json", "npz", "npy", "safetensors"]
EXAMPLE_FILE = "attention_maps.npz"
MAX_HABIT_ROWS = 20_000  # most rows of weights for which the patterns of heads are computed; more would take seconds
MAKE_FILE = """\
import numpy as np, torch
from transformers import AutoModel, AutoTokenizer

name = "bert-base-uncased"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModel.from_pretrained(name, attn_implementation="eager")
inputs = tokenizer("The cat sat on the mat.", return_tensors="pt")
attentions = model(**inputs, output_attentions=True).attentions
maps = torch.cat(attentions).detach().numpy()  # (layers, heads, T, T)
tokens = tokenizer.convert_ids_to_tokens(inputs.input_ids[0])
np.savez("attention_maps.npz", attention=maps, tokens=tokens)
"""
# When generate() runs here, each step returns only the rows of its own queries, with all keys so far.
MAKE_GENERATED_FILE = """\
out = model.generate(**inputs, max_new_tokens=8, output_attentions=True, return_dict_in_generate=True)
size = out.attentions[-1][0].shape[-1]  # keys of the last step
rows = [torch.nn.functional.pad(torch.stack(step)[:, 0], (0, size - step[0].shape[-1])) for step in out.attentions]
maps = torch.cat(rows, dim=2).float().numpy()  # (layers, heads, T, T): the prompt's rows, then one a step
tokens = tokenizer.convert_ids_to_tokens(out.sequences[0])[:size]  # the last word asks nothing any more
np.savez("attention_maps.npz", attention=maps, tokens=tokens)
"""


@dataclass(frozen=True, eq=False)
class GivenFile:
    """A parsed file of attention maps.

    name: the file's name; "" for the example. habits: for each layer and head, the pattern of the head's weights; None
    for a head whose rows are not weights, () if there are too many rows. first: the layer and the head, from 0, that
    are open before the visitor clicks one. file: the whole content; None for the example. view: the maps that are
    shown; None for the example. reading: the options with which the maps are shown. recorded: the record of the model's
    run, if the maps come from a model that was opened on this page. before: the maps of the model with all heads, which
    are subtracted from the shown maps; None to show the maps themselves. is_closed: whether the model has been closed
    since. heads_off: the names of the heads that were ablated in that run; "" for none.
    """

    name: str
    maps: AttentionMaps
    habits: tuple[tuple[HeadHabit | None, ...], ...]
    first: tuple[int, int] = (0, 0)
    file: MapFile | None = None
    view: MapView | None = None
    reading: MapReading = AS_THEY_ARE
    recorded: RecordedText | None = None
    before: AttentionMaps | None = None
    is_closed: bool = False
    heads_off: str = ""

    @property
    def known_words(self) -> KnownWords | None:
        """The words of the pieces (subword tokens), and where a second text begins, from the model's tokenizer; None
        for a file.
        """
        if self.recorded is None or self.view is None:
            return None
        inputs = self.recorded.inputs
        second = inputs.pieces.second if inputs.begun is None else None
        # a second text that begins at index 0 becomes None, because the first text is then empty
        return inputs.words(self.view.group.kind), second or None

    @cached_property
    def measured(self) -> AttentionMaps:
        """The maps from which the measures of heads are computed, without the first key if the visitor's options
        exclude it.
        """
        return without_first(self.maps, self.reading)

    @cached_property
    def read(self) -> ReadMaps | None:
        """The maps of all heads under the chosen options, layer by layer; None if no option is chosen."""
        return None if self.reading == AS_THEY_ARE else read_given(self.maps, self.reading)

    @property
    def opened(self) -> tuple[int, int]:
        """The layer and the head whose map is open, counted from 0."""
        return st.session_state.get(HEAD_KEY, self.first)

    @property
    def opened_number(self) -> int:
        """The index in `read` of the open map: the mean of heads if the options ask for one, else the map of the open
        head.
        """
        layer, head = self.opened
        heads = self.maps.maps.shape[1]
        return len(self.maps.maps) * heads if self.reading.mean else layer * heads + head


# ---- the file of the session -----------------------------------------------------------------------------------------
def current_file() -> GivenFile:
    """Returns the file that the visitor uploaded last; if there is none, the example in the page's language."""
    given = st.session_state.get(FILE_KEY) or example_file(current_language())
    if given.recorded is not None and given.recorded.is_closed:
        given = st.session_state[FILE_KEY] = replace(
            given, recorded=None, is_closed=True, heads_off=name_heads_off(given.recorded)
        )
    return given


@st.cache_resource(max_entries=4, show_spinner=False)
def example_file(language: str) -> GivenFile:
    """Returns the attention maps of a model of this app, written to a file and parsed like an uploaded one."""
    example = EXAMPLES[f"model_{language}"]
    head, _ = example.focus
    return make_given_file("", EXAMPLE_FILE, pack_example(language), first=(example.layer - 1, head))


def pack_example(language: str) -> bytes:
    """Returns the bytes of the example file, whose weights this function computes from the example's sentence."""
    example = EXAMPLES[f"model_{language}"]
    weights = model_weights(example.model, example.tokens)
    return pack_maps(AttentionMaps(weights, example.tokens, example.tokens))


def make_given_file(name: str, file_name: str, content: bytes, first: tuple[int, int] = (0, 0)) -> GivenFile:
    """Parses a file, and returns it as a GivenFile. Raises AttentionError."""
    file = read_map_file(file_name, content)
    view = file.view()
    if not name:
        return GivenFile(name, view.maps, read_habits(view.maps), first)
    return GivenFile(name, view.maps, read_habits(view.maps), first, file, view)


def make_recorded_file(text: RecordedText, earlier: GivenFile | None = None) -> GivenFile:
    """Returns the maps that a model computed from a text as a GivenFile, in the same form as the maps of a file.

    earlier: the GivenFile that was shown of the same model before; maps of the same kind are selected again. Raises
    AttentionError.
    """
    file = text.file
    group = 0
    if earlier is not None and len(earlier.file.groups) == len(file.groups):
        group = earlier.file.groups.index(earlier.view.group)
    view = file.view(group)
    return GivenFile(text.name, view.maps, read_habits(view.maps), (0, 0), file, view, recorded=text)


def read_habits(maps: AttentionMaps) -> tuple[tuple[HeadHabit | None, ...], ...]:
    """Returns the patterns of weights ("habits") of all heads, by layer and head.

    Returns () for more than MAX_HABIT_ROWS rows.
    """
    layers = len(maps.maps)
    rows = maps.maps[..., 0].numel()
    if rows > MAX_HABIT_ROWS:
        return ()
    return tuple(read_layer_habits(maps, layer) for layer in range(layers))


def read_layer_habits(maps: AttentionMaps, layer: int) -> tuple[HeadHabit | None, ...]:
    """Returns the pattern of weights ("habit") of each head of a layer; None for a head whose rows are not weights."""
    habits: list[HeadHabit | None] = []
    for head in range(maps.maps.shape[1]):
        trace = maps.head_trace(layer, head)
        habits.append(head_habit(trace, list_row_facts(trace, 0)) if maps.is_measured[layer, head] else None)
    return tuple(habits)


# ---- what the visitor chose to see of it ---------------------------------------------------------------------------
def show_choices(given: GivenFile) -> GivenFile:
    """Shows the choices of words and sentences; returns the file with the chosen maps, under the chosen options.

    The session stores the result, because describing all heads takes a while.
    """
    chosen = show_word_choices(given.maps, given.known_words)
    maps, before = chosen.apply(given.maps), find_whole_maps(given)
    reading = current_reading(maps)
    if maps is given.maps and reading == AS_THEY_ARE and before is None:
        return given
    link = get_lesson_link()
    kept = st.session_state.get(SHOWN_KEY)
    if kept is None or kept[0] is not given or kept[1] != link:
        habits = read_habits(without_first(maps, reading))
        before = None if before is None else chosen.apply(before)
        kept = (given, link, replace(given, maps=maps, habits=habits, reading=reading, before=before))
        st.session_state[SHOWN_KEY] = kept
    return kept[2]


def find_whole_maps(given: GivenFile) -> AttentionMaps | None:
    """Returns the maps that the model computes with all heads, if the visitor chose to see how ablation changes them;
    else None.
    """
    if given.recorded is None or given.recorded.whole is None:
        return None
    if get_choice(SIDE, WITHOUT, make_member_reader((WITHOUT, CHANGE))) != CHANGE:
        return None
    return given.recorded.whole.file.view(given.file.groups.index(given.view.group)).maps


# ---- the upload ------------------------------------------------------------------------------------------------------
def show_uploader() -> None:
    """Shows the file uploader, the error of a refused upload, and a button that restores the example."""
    file_box(
        say("lessons.maps.upload"),
        MAP_FILE_TYPES,
        UPLOAD_KEY,
        on_change=when_entered(UPLOAD_KEY, take_chosen_file),
        max_upload_size=MAP_BOUNDS.megabytes,
        help=say(
            "lessons.maps.upload_help",
            heads=MAX_MAP_HEADS,
            side=MAX_MAP_SIDE,
            numbers=format_grouped(MAP_BOUNDS.numbers),
            megabytes=MAP_BOUNDS.megabytes,
            json_numbers=format_grouped(ARRAY_BOUNDS.numbers),
            json_megabytes=ARRAY_BOUNDS.megabytes,
        ),
    )
    refused = st.session_state.get(REFUSAL_KEY)
    if refused is not None:
        st.error(say_refusal(refused), icon=":material/error:")
    if FILE_KEY in st.session_state:
        st.button(say("lessons.maps.back"), key="maps_back", on_click=forget_file, icon=":material/undo:")


def take_chosen_file(file: UploadedFile | None) -> None:
    """Reads the uploaded file; if it is refused, stores the error and keeps the earlier file."""
    st.session_state.pop(REFUSAL_KEY, None)
    if file is None:
        return
    try:
        given = make_given_file(printable_name(file.name), file.name, file.getvalue())
        HELD.add([given.file, given.maps])
    except AttentionError as error:
        st.session_state[REFUSAL_KEY] = error.without_frames()
        return
    st.session_state[FILE_KEY] = given
    st.session_state.pop(HEAD_KEY, None)


def forget_file() -> None:
    """Removes the uploaded file from the session, so that the example is shown."""
    for key in (FILE_KEY, REFUSAL_KEY, HEAD_KEY):
        st.session_state.pop(key, None)


# ---- facts and faults ------------------------------------------------------------------------------------------------
def show_file_facts(given: GivenFile) -> None:
    """Shows the file's name and sizes, and warnings about rows that do not sum to 1."""
    layers, heads, queries, keys = given.maps.maps.shape
    name = say("lessons.maps.file", name=escape_markdown(given.name)) if given.name else say("lessons.maps.example")
    if given.recorded is not None:
        st.markdown(name)  # the sizes are in the text about the model
        return
    sizes = say("lessons.maps.sizes", layers=layers, heads=heads, queries=queries, keys=keys)
    st.markdown(f"{name} {sizes}")
    if given.maps.fault:
        st.warning(describe_fault(given.maps), icon=":material/balance:")
    elif given.maps.is_uneven.any():
        st.warning(describe_uneven(given.maps), icon=":material/balance:")
    elif given.maps.farthest_rounded:
        st.caption(describe_rounded(given.maps))
    blank = given.maps.count_blank()
    if blank and not given.maps.fault:
        st.caption(say("lessons.maps.blank", count=blank, queries=queries))


def describe_fault(maps: AttentionMaps) -> str:
    """Returns the sentence that says why the file's numbers cannot be weights, and how they are shown instead."""
    found = say(
        f"lessons.maps.fault.{maps.fault}",
        least=format_term(float(maps.maps.min())),
        most=format_term(float(maps.maps.max())),
    )
    return f"{found} {say('lessons.maps.no_weights')}"


def describe_uneven(maps: AttentionMaps) -> str:
    """Returns the sentence about how many rows do not sum to 1, and about the row whose sum is farthest from 1.

    The sentence has a hint if the maps are transposed.
    """
    uneven = maps.uneven_rows()
    told = say(
        "lessons.maps.uneven",
        count=len(uneven),
        rows=maps.maps[..., 0].numel(),
        **name_row_sum(maps, uneven[0]),
    )
    return f"{told} {say('lessons.maps.transposed')}" if maps.is_transposed else told


def describe_rounded(maps: AttentionMaps) -> str:
    """Returns the sentence that all rows sum to 1 up to rounding, and how far the farthest sum is from 1."""
    rounding = maps.rounding
    cause = say("lessons.maps.in_dtype", dtype=rounding.dtype)
    if rounding.decimals:
        cause = say("lessons.maps.in_decimals", count=rounding.decimals)
    return say("lessons.maps.rounded", cause=cause, **name_row_sum(maps, maps.farthest_rounded))


def name_row_sum(maps: AttentionMaps, row: tuple[int, int, int]) -> dict[str, str]:
    """Returns the head, query, sum and distance from 1 of a row as texts, with enough digits to show the distance."""
    layer, head, query = row
    total = float(maps.maps[row].sum())
    return {
        "head": say("all_heads.name", layer=layer + 1, head=head + 1),
        "query": escape_markdown(name_token(maps.trace(), "T", query)),
        "total": format_fixed(total, choose_decimals(total - 1) + 1),
        "distance": format_short(abs(total - 1), 3),
    }


def show_file_form() -> None:
    """Shows how to make a file: its format, code that writes one, and the example as a download."""
    language = current_language()
    st.markdown(say("lessons.maps.form"))
    st.code(MAKE_FILE, language="python")
    st.markdown(say("lessons.maps.form_generated"))
    st.code(MAKE_GENERATED_FILE, language="python")
    make = say("lessons.maps.download")
    offer_download("maps_example", EXAMPLE_FILE, "application/octet-stream", lambda: pack_example(language), make)
