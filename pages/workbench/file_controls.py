"""Tensors from files: which array is what, the order of their axes, and the part of them that is looked at."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.inputs.files.qkv_file import ROLES, UploadedTensors, UploadPart
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import HALF_WIDTH_PX, mirror_field, show_refusal, try_change
from pages.runs.compute import input_kind_of
from pages.runs.upload_store import Source, sources_of, store_upload, uploaded_arrays
from pages.session import setup_state
from pages.setup.setup import AXIS_ORDERS, Setup
from pages.site.words import escape_markdown, label_arrays, make_names_distinct, say

UPLOAD_FILE_TYPES = ["npz", "npy", "safetensors"]
UNSPECIFIED_UPLOAD = {
    "roles": (),
    "axes": None,
    "part": None,
    "polarity": None,
}  # nothing said yet of what is in a file
NEW_UPLOAD_RESET = UNSPECIFIED_UPLOAD | dict.fromkeys(("scores", "weights", "allowed"))


def show_file_controls(setup: Setup) -> None:
    """An uploader; once there are tensors, what they are and which part of them is on the screen."""
    files = show_uploader(setup)
    if setup.file is None:
        st.caption(say("brought.waiting"))
        return
    arrays = uploaded_arrays(setup)
    show_sources(setup, files)
    upload = input_kind_of(setup, arrays)
    brought = upload.tensors()
    mask = upload.roles_by_name().get("mask")
    if mask is not None and arrays[mask].dtype == bool:
        show_polarity_switch(setup)
    if len(brought.fits) > 1 or setup.axes is not None:
        show_axes_choice(setup, brought)
    else:
        st.caption(say("brought.axes", axes=brought.axes.replace(" ", ", ")))
    with st.expander(say("brought.arrays"), key="arrays", on_change="rerun") as drawer:
        if drawer.open:
            show_role_choices(setup, [*arrays])
            show_part_inputs(setup, brought)


def show_uploader(setup: Setup) -> list[UploadedFile]:
    """One file with q, k and v, or one for each; gives the files in the box."""
    key = f"c_bring_{setup_state.editors_version()}"

    def chosen() -> None:
        files = st.session_state[key] or []
        if not files:
            return
        try:
            name = store_upload(files, setup)
        except AttentionError as error:
            setup_state.renew_editors()  # an uploader that still held the file would send it along with the next one
            setup_state.store_refusal("bring", error)
            return
        try_change("bring", file=name, **NEW_UPLOAD_RESET)

    files = st.file_uploader(
        say("control.bring"),
        type=UPLOAD_FILE_TYPES,
        key=key,
        on_change=chosen,
        accept_multiple_files=True,
        help=say("help.bring"),
    )
    show_refusal("bring")
    return files


def show_sources(setup: Setup, files: list[UploadedFile]) -> None:
    """Which file each tensor is from, and which files in the box give none."""
    comma = say("fact.comma")
    ids = [file.file_id for file in files]
    names = dict(zip(ids, file_names(files), strict=True))
    roles, parts = roles_by_source(setup), []
    for source, read in roles.items():
        name = names.get(source.id, shown_name(source.name))
        parts.append(say("brought.from", roles=comma.join(read), file=escape_markdown(name)))
    told = say("brought.in_force", parts=say("brought.between").join(parts))
    in_force = [source.id for source in roles]
    unread = [escape_markdown(name) for id, name in names.items() if id not in in_force]
    if unread:
        told += say("brought.unread", files=comma.join(unread))
    st.caption(told)


def roles_by_source(setup: Setup) -> dict[Source, list[str]]:
    """What is read from each file, in words."""
    sources, found = sources_of(setup), {}
    for role, array in input_kind_of(setup, uploaded_arrays(setup)).roles_by_name().items():
        found.setdefault(sources[array], []).append(say(f"role_of.{role}"))
    return found


def file_names(files: list[UploadedFile]) -> list[str]:
    """What the files in the box are called, no two alike."""
    return make_names_distinct([shown_name(file.name) for file in files])


def shown_name(name: str) -> str:
    """The name of a file as it can be printed."""
    return printable_token(name[:60])


def show_role_choices(setup: Setup, names: list[str]) -> None:
    """Which array is what."""
    current = input_kind_of(setup, uploaded_arrays(setup)).roles_by_name()
    spoken = label_arrays(names)

    def chosen(role: str) -> None:
        picked = {**current, role: st.session_state[f"c_role_{role}"]}
        texts = tuple(f"{each}:{names.index(name)}" for each, name in picked.items() if name in names)
        try_change(f"role_{role}", roles=texts, part=None)

    for role in ROLES:
        key = f"c_role_{role}"
        mirror_field(key, f"role_{role}", current.get(role))
        st.selectbox(
            say(f"role_of.{role}"),
            [None, *names] if role not in "qkv" else names,
            format_func=lambda name: "–" if name is None else spoken[name],
            key=key,
            on_change=chosen,
            args=(role,),
            placeholder="–",
        )
        show_refusal(f"role_{role}")


def show_polarity_switch(setup: Setup) -> None:
    """What True means in the mask that was brought."""

    def switched() -> None:
        try_change("polarity", polarity="blocked" if st.session_state["c_polarity"] else None)

    mirror_field("c_polarity", "polarity", setup.polarity is not None)
    st.toggle(say("control.polarity"), key="c_polarity", on_change=switched, help=say("help.polarity"))
    show_refusal("polarity")


def show_axes_choice(setup: Setup, brought: UploadedTensors) -> None:
    """The order of the axes: told by the shapes, or chosen."""

    def chosen() -> None:
        try_change("axes", axes=st.session_state["c_axes"], part=None)

    told = brought.axes.replace(" ", "")
    mirror_field("c_axes", "axes", setup.axes or told)
    st.selectbox(
        say("control.axes"),
        list(AXIS_ORDERS),
        format_func=lambda name: f"({AXIS_ORDERS[name].replace(' ', ', ')})",
        key="c_axes",
        on_change=chosen,
        filter_mode=None,
    )
    if setup.axes is None and len(brought.fits) > 1:
        st.caption(say("brought.ambiguous"))
    show_refusal("axes")


def show_part_inputs(setup: Setup, brought: UploadedTensors) -> None:
    """Which sequence, heads, queries and keys."""
    (B, H, T, _), S = brought.q.shape, brought.k.shape[2]
    now = input_kind_of(setup, uploaded_arrays(setup)).part_of(brought)

    def chosen() -> None:
        numbers = {name: st.session_state.get(f"c_part_{name}", value) for name, value, _ in fields}
        firsts = (numbers["batch"] - 1, numbers["head"] - 1, numbers["heads"], numbers["query"] - 1, numbers["queries"])
        try_change("part", part=(*firsts, numbers["key"] - 1, numbers["keys"]))

    fields = list_part_numbers(now, B, H, T, S)
    with st.container(horizontal=True):
        for name, value, size in fields:
            if size > 1:
                mirror_field(f"c_part_{name}", "part", value)
                st.number_input(
                    say(f"part.{name}", size=size), 1, size, key=f"c_part_{name}", on_change=chosen, width=HALF_WIDTH_PX
                )
    show_refusal("part")


def list_part_numbers(part: UploadPart, B: int, H: int, T: int, S: int) -> list[tuple[str, int, int]]:
    """What is chosen of a part: a name, its number as people count, and the largest that there is."""
    (head, heads), (query, queries), (key, keys) = part.heads, part.queries, part.keys
    return [
        ("batch", part.batch + 1, B),
        ("head", head + 1, H),
        ("heads", heads, H),
        ("query", query + 1, T),
        ("queries", queries, T),
        ("key", key + 1, S),
        ("keys", keys, S),
    ]
