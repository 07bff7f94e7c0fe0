"""Tensors from files: which array is what, the order of their axes, and the part of them that is looked at."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.inputs.files.qkv_file import ROLES, Brought, Part
from attention_core.inputs.tokenizer import shown
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import HALF, mirror, show_refusal, try_change
from pages.runs.upload_store import Source, held_for, keep, sources_of
from pages.runs.uploaded_inputs import part_of, roles_of, whole_of
from pages.session import setup_state
from pages.setup.setup import AXES, Setup
from pages.site.words import apart, array_names, literal, say

KINDS = ["npz", "npy", "safetensors"]
UNTOLD = {"roles": (), "axes": None, "part": None, "polarity": None}  # nothing said yet of what is in a file
FRESH = UNTOLD | dict.fromkeys(("scores", "weights", "allowed"))


def file_controls(setup: Setup) -> None:
    """An uploader; once there are tensors, what they are and which part of them is on the screen."""
    files = uploader(setup)
    if setup.file is None:
        st.caption(say("brought.waiting"))
        return
    arrays = held_for(setup)
    show_sources(setup, files)
    brought = whole_of(setup, arrays)
    mask = roles_of(setup, arrays).get("mask")
    if mask is not None and arrays[mask].dtype == bool:
        polarity(setup)
    if len(brought.fits) > 1 or setup.axes is not None:
        axes(setup, brought)
    else:
        st.caption(say("brought.axes", axes=brought.axes.replace(" ", ", ")))
    with st.expander(say("brought.arrays"), key="arrays", on_change="rerun") as drawer:
        if drawer.open:
            roles(setup, [*arrays])
            part(setup, brought)


def uploader(setup: Setup) -> list[UploadedFile]:
    """One file with q, k and v, or one for each; gives the files in the box."""
    key = f"c_bring_{setup_state.version()}"

    def chosen() -> None:
        files = st.session_state[key] or []
        if not files:
            return
        try:
            name = keep(files, setup)
        except AttentionError as error:
            setup_state.new_version()  # an uploader that still held the file would send it along with the next one
            setup_state.refuse("bring", error)
            return
        try_change("bring", file=name, **FRESH)

    files = st.file_uploader(
        say("control.bring"), type=KINDS, key=key, on_change=chosen, accept_multiple_files=True, help=say("help.bring")
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
        parts.append(say("brought.from", roles=comma.join(read), file=literal(name)))
    told = say("brought.in_force", parts=say("brought.between").join(parts))
    in_force = [source.id for source in roles]
    unread = [literal(name) for id, name in names.items() if id not in in_force]
    if unread:
        told += say("brought.unread", files=comma.join(unread))
    st.caption(told)


def roles_by_source(setup: Setup) -> dict[Source, list[str]]:
    """What is read from each file, in words."""
    sources, found = sources_of(setup), {}
    for role, array in roles_of(setup, held_for(setup)).items():
        found.setdefault(sources[array], []).append(say(f"role_of.{role}"))
    return found


def file_names(files: list[UploadedFile]) -> list[str]:
    """What the files in the box are called, no two alike."""
    return apart([shown_name(file.name) for file in files])


def shown_name(name: str) -> str:
    """The name of a file as it can be printed."""
    return shown(name[:60])


def roles(setup: Setup, names: list[str]) -> None:
    """Which array is what."""
    current, spoken = roles_of(setup, held_for(setup)), array_names(names)

    def chosen(role: str) -> None:
        picked = {**current, role: st.session_state[f"c_role_{role}"]}
        texts = tuple(f"{each}:{names.index(name)}" for each, name in picked.items() if name in names)
        try_change(f"role_{role}", roles=texts, part=None)

    for role in ROLES:
        key = f"c_role_{role}"
        mirror(key, f"role_{role}", current.get(role))
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


def polarity(setup: Setup) -> None:
    """What True means in the mask that was brought."""

    def switched() -> None:
        try_change("polarity", polarity="blocked" if st.session_state["c_polarity"] else None)

    mirror("c_polarity", "polarity", setup.polarity is not None)
    st.toggle(say("control.polarity"), key="c_polarity", on_change=switched, help=say("help.polarity"))
    show_refusal("polarity")


def axes(setup: Setup, brought: Brought) -> None:
    """The order of the axes: told by the shapes, or chosen."""

    def chosen() -> None:
        try_change("axes", axes=st.session_state["c_axes"], part=None)

    told = brought.axes.replace(" ", "")
    mirror("c_axes", "axes", setup.axes or told)
    st.selectbox(
        say("control.axes"),
        list(AXES),
        format_func=lambda name: f"({AXES[name].replace(' ', ', ')})",
        key="c_axes",
        on_change=chosen,
        filter_mode=None,
    )
    if setup.axes is None and len(brought.fits) > 1:
        st.caption(say("brought.ambiguous"))
    show_refusal("axes")


def part(setup: Setup, brought: Brought) -> None:
    """Which sequence, heads, queries and keys."""
    (B, H, T, _), S = brought.q.shape, brought.k.shape[2]
    now = part_of(setup, brought)

    def chosen() -> None:
        numbers = {name: st.session_state.get(f"c_part_{name}", value) for name, value, _ in fields}
        firsts = (numbers["batch"] - 1, numbers["head"] - 1, numbers["heads"], numbers["query"] - 1, numbers["queries"])
        try_change("part", part=(*firsts, numbers["key"] - 1, numbers["keys"]))

    fields = numbers_of(now, B, H, T, S)
    with st.container(horizontal=True):
        for name, value, size in fields:
            if size > 1:
                mirror(f"c_part_{name}", "part", value)
                st.number_input(
                    say(f"part.{name}", size=size), 1, size, key=f"c_part_{name}", on_change=chosen, width=HALF
                )
    show_refusal("part")


def numbers_of(part: Part, B: int, H: int, T: int, S: int) -> list[tuple[str, int, int]]:
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
