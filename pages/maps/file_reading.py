"""Shows how an uploaded file was interpreted, and controls that show other maps of the file or interpret the axes of
its arrays differently.
"""

from dataclasses import replace

import streamlit as st

from attention_core.inputs.files.attention_maps import MapFile, MapGroup, MapView
from attention_core.inputs.given_maps import AttentionMaps
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.maps.given_file import FILE_KEY, HEAD_KEY, REFUSAL_KEY, GivenFile, read_habits
from pages.panels.file_box import name_array, say_unread
from pages.runs.held_bytes import HELD
from pages.session.entered_values import when_entered
from pages.site.words import escape_markdown, label_arrays, say

KIND_KEY, AXES_KEY, SENTENCE_KEY = "c_maps_kind", "c_maps_axes", "c_maps_sentence"
MAX_SEGMENTS = 4  # most kinds of maps for which a segmented control is shown instead of a select box
MAX_NOTES = 8
MAX_LISTED_WORDS = 100


# ---- controls for other readings -------------------------------------------------------------------------------------
def show_readings(given: GivenFile) -> None:
    """Shows controls for the file's maps, the meaning of the array's axes, and the sentence of a batch.

    A control appears only if there are several options.
    """
    file, view = given.file, given.view
    if file is None or view is None:
        return
    if len(file.groups) > 1:
        show_kinds(given, file, view)
    if len(view.group.readings) > 1:
        show_axes(given, view)
    if view.sentences > 1:

        def look_at_sentence(number: int) -> None:
            look_at(given, view.group, view.axes, number - 1)

        st.session_state[SENTENCE_KEY] = view.sentence + 1
        st.number_input(
            say("part.batch", size=view.sentences),
            1,
            view.sentences,
            key=SENTENCE_KEY,
            on_change=when_entered(SENTENCE_KEY, look_at_sentence),
        )


def show_kinds(given: GivenFile, file: MapFile, view: MapView) -> None:
    """Shows a choice of the kind of maps in the file: encoder, decoder, cross-attention, or another array."""
    names = name_groups(file.groups)
    choose = st.segmented_control if len(names) <= MAX_SEGMENTS else st.selectbox
    st.session_state[KIND_KEY] = file.groups.index(view.group)

    def choose_kind(number: int | None) -> None:
        if number is not None:
            look_at(given, file.groups[number])

    choose(
        say("lessons.maps.which" if given.recorded is None else "lessons.maps.model.which"),
        range(len(names)),
        format_func=names.__getitem__,
        key=KIND_KEY,
        on_change=when_entered(KIND_KEY, choose_kind),
    )


def name_groups(groups: tuple[MapGroup, ...]) -> list[str]:
    """Returns the names of a file's groups of maps.

    A name is that of the model's part if the parts of all groups are known and differ, else that of the array.
    """
    kinds = [group.kind for group in groups]
    if all(kinds) and len(set(kinds)) == len(kinds):
        return [say(f"lessons.maps.kind.{kind}") for kind in kinds]
    labels = label_arrays([group.name for group in groups])
    return [escape_markdown(labels[group.name]) for group in groups]


def show_axes(given: GivenFile, view: MapView) -> None:
    """Shows a choice of how the axes of the array are interpreted."""
    st.session_state[AXES_KEY] = view.axes

    def choose_axes(axes: str | None) -> None:
        if axes is not None:
            look_at(given, view.group, axes)

    st.segmented_control(
        say("lessons.maps.readings"),
        view.group.readings,
        format_func=say_axes,
        key=AXES_KEY,
        on_change=when_entered(AXES_KEY, choose_axes),
        help=say("lessons.maps.readings_help"),
    )


def say_axes(axes: str) -> str:
    """Returns the names of the axes before those of queries and keys, such as "layers × heads"."""
    return " × ".join(say(f"lessons.maps.axis.{axis}") for axis in axes.split())


def look_at(given: GivenFile, group: MapGroup, axes: str | None = None, sentence: int = 0) -> None:
    """Shows the attention maps that the controls select: other maps of the file, other axes, or another sentence of a
    batch.

    If the file has no such maps, stores the error and keeps the maps on the page.
    """
    st.session_state.pop(REFUSAL_KEY, None)
    try:
        view = given.file.view(given.file.groups.index(group), axes, sentence)
        HELD.add([view.maps])
    except AttentionError as error:
        st.session_state[REFUSAL_KEY] = error.without_frames()
        return
    st.session_state[FILE_KEY] = replace(given, view=view, maps=view.maps, habits=read_habits(view.maps))
    st.session_state.pop(HEAD_KEY, None)


# ---- how the file was read -------------------------------------------------------------------------------------------
def show_file_line(given: GivenFile) -> None:
    """Shows how the arrays of the file were interpreted, which ones were ignored, and the file's notes."""
    if given.file is None or given.view is None or given.recorded is not None:
        return
    parts = [say_group(given.file, group, given.view) for group in given.file.groups]
    parts += say_words(given.file, given.view)
    line = say("brought.read", arrays=say("fact.comma").join(parts))
    notes = list(given.file.notes.items())
    without_room = dict.fromkeys(name for name, _ in notes[MAX_NOTES:])
    line += say_unread([*given.file.unread.items(), *without_room.items()])
    if not given.view.words.queries_from or not given.view.words.keys_from:
        line += say("lessons.maps.no_words")
    st.caption(line)
    show_subwords_line(given.maps)
    if notes:
        shown = [": ".join(escape_markdown(printable_token(text)) for text in note) for note in notes[:MAX_NOTES]]
        st.caption(say("lessons.maps.notes", notes=say("brought.between").join(shown)))


def show_subwords_line(maps: AttentionMaps) -> None:
    """Shows that the page spells some tokens differently from the file, with a list of these tokens as help text.

    Shows nothing if all tokens are spelled as in the file.
    """
    given_words = (*maps.queries, *maps.keys)
    pairs = zip(given_words, (*maps.shown_queries, *maps.shown_keys), strict=True)
    changed = {given: shown for given, shown in pairs if given != shown}
    if not changed:
        return
    spelled = [tuple(escape_markdown(printable_token(text)) for text in pair) for pair in changed.items()]
    given, shown = spelled[0]
    listed = [say("brought.as", array=f"“{given}”", role=f"“{shown}”") for given, shown in spelled[:MAX_LISTED_WORDS]]
    st.caption(say("lessons.maps.subwords", given=given, shown=shown), help=say("fact.comma").join(listed))


def say_group(file: MapFile, group: MapGroup, view: MapView) -> str:
    """Returns the name of an array, or of a series of arrays, and how its axes are interpreted."""
    axes = view.axes if group is view.group else group.readings[0]
    named = say("lessons.maps.queries_keys")
    read_as = f"{say_axes(axes)} × {named}" if axes else named
    if len(group.members) > 1:
        array = say("lessons.maps.series", name=name_array(group.name, ()), count=len(group.members))
    else:
        array = name_array(group.name, tuple(group.shape))
    return say("brought.as", array=array, role=read_as)


def say_words(file: MapFile, view: MapView) -> list[str]:
    """Returns the names of the word lists in the file, each followed by the axis that it labels.

    A list that labels other maps than the shown ones gets a text that says so.
    """
    words = view.words
    roles: dict[str, str] = {}
    if words.queries_from == words.keys_from:
        roles[words.queries_from] = "words_of_both"
    else:
        roles |= {words.queries_from: "words_of_queries", words.keys_from: "words_of_keys"}
    for name in file.word_names:
        roles.setdefault(name, "words_of_others")
    roles.pop("", None)  # removes the entry of axes that have no words
    return [
        say("brought.as", array=name_array(name, ()), role=say(f"lessons.maps.{role}")) for name, role in roles.items()
    ]
