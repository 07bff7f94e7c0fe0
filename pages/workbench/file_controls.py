"""Shows controls for tensors from files: how masks are interpreted, roles of arrays, order of axes, shown part."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.inputs.files.mask_readings import MaskReading
from attention_core.inputs.files.qkv_file import MASK_ROLES, ROLES, UploadedTensors
from attention_core.record.errors import AttentionError
from pages.export.page_links import link_to_drawer
from pages.panels.file_box import MAX_UPLOAD_MB, file_box, name_array, say_unread
from pages.panels.setup_controls import HALF_WIDTH_PX, field_control, show_refusal, try_change
from pages.runs.cache import trace_for
from pages.runs.compute import input_kind_of
from pages.runs.upload_store import (
    Source,
    UploadedArrays,
    others_of,
    printable_file_name,
    sources_of,
    store_upload,
    uploaded_arrays,
)
from pages.session import setup_state
from pages.session.entered_values import when_entered
from pages.setup.link_values import write_mask_answer
from pages.setup.resolve import config_of, resolve_run
from pages.setup.setup import AXIS_ORDERS, Setup
from pages.site.words import escape_markdown, label_arrays, make_names_distinct, say
from pages.workbench.kept_file import MAX_KEPT_KB, is_kept

UPLOAD_FILE_TYPES = ["npz", "npy", "safetensors", "json"]
# The defaults of the Setup fields that describe an uploaded file.
UNSPECIFIED_UPLOAD = {"roles": (), "axes": None, "part": None, "polarity": None, "mask_as": ()}
NEW_UPLOAD_RESET = {**UNSPECIFIED_UPLOAD, "scores": None, "weights": None, "allowed": None}
THREE_AXES = ("BTd", "HTd")  # the two possible meanings of three axes: sequences of one head, or heads of one sequence

PartNumber = tuple[str, int, int]  # (name of an input, its value counted from 1, largest possible value)
BRING = "bring"  # name of the control for the upload of files


def show_file_controls(setup: Setup) -> None:
    """Shows the uploader and, once a file is read, the controls for its masks, axes, roles and shown part."""
    files = show_uploader(setup)
    if resolve_run(setup.run).model is None:  # with a language model, the page shows this link in another place
        link_to_drawer("maps", "model", {}, say("model.folder"))
    show_three_axes_choice()
    show_mask_question()
    show_waiting_roles()
    if setup.run.file is None:
        if waiting_file() is None:
            st.caption(say("brought.waiting"))
        return
    arrays = uploaded_arrays(setup.run)
    show_sources(setup, files)
    st.caption(say("brought.kept" if is_kept(setup.run.file) else "brought.not_kept", limit=MAX_KEPT_KB))
    upload = input_kind_of(setup.run, arrays)
    tensors = upload.tensors()
    names_by_id = {id: escape_markdown(name) for id, name in name_files(files).items()}
    show_file_lines(setup, tensors, names_by_id)
    show_mask_choices(setup, tensors)
    has_position_bias = bool(config_of(setup.run).positions_at("bias"))
    if tensors.bias is not None and has_position_bias and "bias_custom" not in trace_for(setup).steps:
        st.caption(say("brought.bias_once"))
    if len(tensors.fits) > 1 or setup.run.axes is not None:
        show_axes_choice(setup, tensors)
    else:
        st.caption(say("brought.axes", axes=tensors.axes.replace(" ", ", ")))
    with st.expander(say("brought.arrays"), key="arrays", on_change="rerun") as drawer:
        if drawer.open:
            show_role_choices(setup, list(arrays))
            show_part_inputs(setup, tensors)


def show_uploader(setup: Setup) -> list[UploadedFile]:
    """Shows the uploader for one file with q, k and v, or for three files with one each; returns the uploaded files."""
    key = f"c_bring_{setup_state.editors_version()}"

    def store_chosen_files(files: list[UploadedFile]) -> None:
        if not files:
            return
        try:
            name = store_upload(files, setup.run)
        except AttentionError as error:
            # a new uploader, because the old one would send the old file together with the next
            setup_state.renew_editors()
            setup_state.workbench().refuse(BRING, error)
            return
        try_change(BRING, file=name, **NEW_UPLOAD_RESET)

    files = file_box(
        say("control.bring"),
        UPLOAD_FILE_TYPES,
        key,
        on_change=when_entered(key, store_chosen_files),
        accept_multiple_files=True,
        help=say("help.bring"),
        max_upload_size=MAX_UPLOAD_MB,
    )
    show_refusal(BRING)
    return files


def show_sources(setup: Setup, files: list[UploadedFile]) -> None:
    """Shows which file each tensor comes from, and which uploaded files are not used."""
    comma = say("fact.comma")
    names_by_id = name_files(files)
    roles = roles_by_source(setup)
    parts = []
    for source, role_names in roles.items():
        name = names_by_id.get(source.id, printable_file_name(source.name))
        parts.append(say("brought.from", roles=comma.join(role_names), file=escape_markdown(name)))
    sentence = say("brought.in_force", parts=say("brought.between").join(parts))
    ids_in_force = [source.id for source in roles]
    unread = [escape_markdown(name) for id, name in names_by_id.items() if id not in ids_in_force]
    if unread:
        sentence += say("brought.unread", files=comma.join(unread))
    st.caption(sentence)


def roles_by_source(setup: Setup) -> dict[Source, list[str]]:
    """Returns {file: roles of the arrays that are read from it, in words}."""
    sources = sources_of(setup.run)
    arrays_by_role = input_kind_of(setup.run, uploaded_arrays(setup.run)).roles_by_name()
    roles: dict[Source, list[str]] = {}
    for role, array in arrays_by_role.items():
        source = sources[array]
        roles.setdefault(source, []).append(say(f"role_of.{role}"))
    return roles


def name_files(files: list[UploadedFile]) -> dict[str, str]:
    """Returns {id of an uploaded file: printable name}; the names are distinct."""
    ids = [file.file_id for file in files]
    names = [printable_file_name(file.name) for file in files]
    distinct_names = make_names_distinct(names)
    return dict(zip(ids, distinct_names, strict=True))


def show_role_choices(setup: Setup, names: list[str], is_waiting: bool = False) -> None:
    """Shows a select box for each role, with the arrays of the file as options.

    is_waiting: whether the file cannot be read before this choice.
    """
    place = "waiting" if is_waiting else "role"
    arrays_by_role = input_kind_of(setup.run, uploaded_arrays(setup.run)).roles_by_name()
    labels = label_arrays(names)

    def choose_array(role: str, chosen_array: str | None) -> None:
        texts = []
        for each_role, name in {**arrays_by_role, role: chosen_array}.items():
            if name in names:
                texts.append(f"{each_role}:{names.index(name)}")
        if is_waiting:
            answer_for_waiting_file(roles=tuple(texts))
        else:
            try_change(f"role_{role}", roles=tuple(texts), part=None)

    for role in ROLES:
        control = field_control(
            f"{place}_{role}",
            arrays_by_role.get(role),
            partial(choose_array, role),
            label=f"role_of.{role}",
            option_text=lambda name: "–" if name is None else labels[name],
        )
        control.show(st.selectbox, names if role in "qkv" else [None, *names], placeholder="–")


def show_waiting_roles() -> None:
    """Shows the select boxes for roles if a file cannot be read without them.

    Its array names do not reveal the roles, or an array has no shape that fits its role.
    """
    refusal, waiting = setup_state.workbench().refused.get(BRING), waiting_file()
    if waiting is None or refusal is None or refusal.code not in ("role_missing", "shape_fits_scores"):
        return
    with st.expander(say("brought.arrays"), expanded=True):
        show_role_choices(waiting, list(uploaded_arrays(waiting.run)), is_waiting=True)


def format_axes(name: str) -> str:
    """Returns the order of axes as a text in parentheses, such as (B, T, d)."""
    axes = AXIS_ORDERS[name].replace(" ", ", ")
    return f"({axes})"


def show_three_axes_choice() -> None:
    """Shows the choice between the two meanings of three axes, if a file cannot be read without it."""
    refusal = setup_state.workbench().refused.get(BRING)
    if refusal is None or refusal.code != "rank_qkv":
        return

    def choose_reading(axes: str | None) -> None:
        answer_for_waiting_file(axes=axes)

    st.segmented_control(
        say("control.three_axes"),
        THREE_AXES,
        format_func=format_axes,
        key="c_three_axes",
        on_change=when_entered("c_three_axes", choose_reading),
        help=say("help.three_axes"),
    )


def show_axes_choice(setup: Setup, tensors: UploadedTensors) -> None:
    """Shows the choice of the order of the axes. By default, the order is inferred from the shapes."""
    control = field_control(
        "axes",
        setup.run.axes or tensors.axes.replace(" ", ""),
        lambda axes: try_change("axes", axes=axes, part=None),
        option_text=format_axes,
    )
    control.draw(st.selectbox, list(AXIS_ORDERS), filter_mode=None)
    if setup.run.axes is None and len(tensors.fits) > 1:
        st.caption(say("brought.ambiguous"))
    show_refusal("axes")


# ---- the part that is shown ------------------------------------------------------------------------------------------
def show_part_inputs(setup: Setup, tensors: UploadedTensors) -> None:
    """Shows the inputs for the sequence, heads, queries and keys that are shown."""
    part_numbers = list_part_numbers(setup, tensors)

    def choose_part(_: int) -> None:
        numbers = {}  # numbers in the inputs, including refused ones
        for name, value, _ in part_numbers:
            numbers[name] = st.session_state.get(f"c_part_{name}", value)
        part = (
            numbers["batch"] - 1,
            numbers["head"] - 1,
            numbers["heads"],
            numbers["query"] - 1,
            numbers["queries"],
            numbers["key"] - 1,
            numbers["keys"],
        )
        try_change("part", part=part)

    with st.container(horizontal=True):
        for name, value, largest in part_numbers:
            if largest <= 1:
                continue
            control = field_control("part", value, choose_part, f"c_part_{name}")
            label = say(f"part.{name}", size=largest)
            control.draw(st.number_input, label=label, min_value=1, max_value=largest, width=HALF_WIDTH_PX)
    show_refusal("part")


def list_part_numbers(setup: Setup, tensors: UploadedTensors) -> list[PartNumber]:
    """Returns the numbers that determine the shown part of the tensors, with names and largest possible values."""
    part = input_kind_of(setup.run, uploaded_arrays(setup.run)).part_of(tensors)
    head, heads = part.heads
    query, queries = part.queries
    key, keys = part.keys
    B, H, T, _ = tensors.q.shape
    S = tensors.k.shape[2]
    return [
        ("batch", part.batch + 1, B),
        ("head", head + 1, H),
        ("heads", heads, H),
        ("query", query + 1, T),
        ("queries", queries, T),
        ("key", key + 1, S),
        ("keys", keys, S),
    ]


# ---- how files and masks are read ------------------------------------------------------------------------------------
def show_file_lines(setup: Setup, tensors: UploadedTensors, names_by_id: dict[str, str]) -> None:
    """Shows a line for each file: its arrays with their roles, and those that were ignored."""
    arrays = uploaded_arrays(setup.run)
    roles = {name: role for role, name in input_kind_of(setup.run, arrays).roles_by_name().items()}
    sources, others = sources_of(setup.run), others_of(setup.run)
    for source in dict.fromkeys([*sources.values(), *others]):
        own = [name for name in arrays if sources[name] == source]
        read = [say_read(name, roles[name], arrays, tensors) for name in own if name in roles]
        unread = [(name, arrays[name].shape) for name in own if name not in roles]
        line = say("brought.read", arrays=say("fact.comma").join(read)) if read else say("brought.read_nothing")
        line += say_unread([*unread, *others.get(source, {}).items()])
        name = names_by_id.get(source.id, escape_markdown(source.name))
        st.caption(say("brought.line", file=name, line=line))


def say_read(name: str, role: str, arrays: UploadedArrays, tensors: UploadedTensors) -> str:
    """Returns the phrase about an array that was read: its role and, for a mask, its axes and what True means."""
    read = {"array": name_array(name, arrays[name].shape), "role": say(f"role_of.{role}")}
    if role in tensors.masks:
        return say("brought.as_mask", **read, reading=format_reading(tensors.masks[role]))
    return say("brought.as", **read)


def format_reading(reading: MaskReading) -> str:
    """Returns the phrase about the axes of a mask and the meaning of its numbers."""
    axes = reading.axes.replace("BH", "B·H").replace(" ", ", ")
    return say(f"mask_reading.{reading.polarity}", axes=f"({axes})")


# ---- a file that waits for an answer ---------------------------------------------------------------------------------
def waiting_file() -> Setup | None:
    """Returns the Setup with the file that cannot be read before the visitor answers a question.

    Returns None if there is no such file.
    """
    draft = setup_state.workbench().drafts.get(BRING)
    if draft is None:
        return None
    waiting = setup_state.current_setup().with_fields(**draft)
    try:
        uploaded_arrays(waiting.run)
    except AttentionError:  # the session no longer has the file
        return None
    return waiting


def answer_for_waiting_file(**answer) -> None:
    """Tries again to open the uploaded file that waits for an answer of the visitor.

    answer: the Setup fields that the answer changes.
    """
    try_change(BRING, **{**setup_state.workbench().drafts.get(BRING, {}), **answer})


# ---- the readings of a mask ------------------------------------------------------------------------------------------
def show_mask_question() -> None:
    """Shows the possible interpretations of a mask, if an uploaded file cannot be read without this choice."""
    refusal, waiting = setup_state.workbench().refused.get(BRING), waiting_file()
    if waiting is None or refusal is None or refusal.code != "mask_readings":
        return
    roles = input_kind_of(waiting.run, uploaded_arrays(waiting.run)).roles_by_name()
    role = next(role for role in MASK_ROLES if roles.get(role) == refusal.values["name"])
    readings = [*refusal.values["likely"], *refusal.values["others"]]
    show_reading_choice(waiting, role, readings, None, answer_for_waiting_file)


def show_mask_choices(setup: Setup, tensors: UploadedTensors) -> None:
    """Shows a choice for each mask of the file that has more than one possible interpretation."""
    for role, readings in tensors.mask_fits.items():
        if len(readings) > 1:
            show_reading_choice(setup, role, list(readings), tensors.masks[role], partial(try_change, f"read_{role}"))
            show_refusal(f"read_{role}")


def show_reading_choice(
    setup: Setup, role: str, readings: list[MaskReading], now: MaskReading | None, take: Callable[..., None]
) -> None:
    """Shows a choice of how to interpret one mask; one option leaves the mask out.

    now: the current interpretation; None if the mask waits for a choice. take: a function that is called with the
    chosen interpretation.
    """
    arrays = uploaded_arrays(setup.run)
    roles = input_kind_of(setup.run, arrays).roles_by_name()

    def choose_reading(chosen: str | None) -> None:
        if chosen == "none":
            numbers = {name: number for number, name in enumerate(arrays)}
            kept = [f"{each}:{numbers[name]}" for each, name in roles.items() if each != role]
            take(roles=tuple(kept))
        elif chosen is not None:
            others = [answer for answer in setup.run.mask_as if not answer.startswith(f"{role}:")]
            take(mask_as=(*others, chosen), polarity=None)

    answers = {write_mask_answer(role, reading): format_reading(reading) for reading in readings}
    answers["none"] = say("mask_reading.none")
    control = field_control(
        f"read_{role}",
        None if now is None else write_mask_answer(role, now),
        choose_reading,
        key=f"c_waiting_mask_{role}" if now is None else f"c_mask_{role}",
        option_text=answers.__getitem__,
    )
    label = say("control.mask_reading", name=escape_markdown(roles[role]))
    control.draw(st.pills, list(answers), label=label, help=say("help.mask_reading"))
