"""The controls of a lesson, whose values are kept in the session, written into the link, and checked.

The name of a control is its key in the link, and its reader is a function that parses a text or refuses it. Its texts
are in the lesson's content: control.<name>, and option.<name>.<option> for each option.
"""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from attention_core.inputs.tokenizer import MAX_TEXT_LENGTH
from attention_core.record.errors import AttentionError
from pages.panels.lesson_choices import (
    current_lesson_choices,
    current_slug,
    get_choice,
    store_choice,
    store_cut,
    take_choice,
    take_stated_cut,
)
from pages.panels.readings import show_readings
from pages.panels.word_roles import tell_word_roles
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens
from pages.setup.codec import keep_text_cut, state_text_cut
from pages.setup.link_values import MAX_LINK_NUMBER, make_member_reader, read_link_count
from pages.setup.setup import Setup, make_setup
from pages.site.words import current_language, escape_markdown, make_names_distinct, say, say_refusal

MAX_LESSON_TOKENS = 16  # per sentence of a lesson, whose pictures show each token's numbers; the workbench accepts more


def bind_control(
    name: str, value: object, default: object, read: Callable[[str], object], label: str | None = None, of: str = ""
) -> dict[str, object]:
    """Sets a control's value, and returns the keyword arguments common to all controls: label, key and change handler.
    of: suffix of the key, which distinguishes the control from an earlier one of the same name.
    """
    key = f"{current_slug()}.{name}{of}"
    own = current_lesson_choices()
    is_new = key not in st.session_state
    if is_new or name not in own.refused:  # a refused input stays in its control
        if is_new or st.session_state[key] != value:  # setting the same value again would undo a later click
            st.session_state[key] = value
        own.forget_refusals(name)
    if label is None:
        label = say(f"lessons.{current_slug()}.control.{name}")
    return {
        "label": label,
        "key": key,
        "on_change": lambda: take_choice(name, st.session_state.get(key), default, read),
    }


def show_choice_refusal(name: str, take_reading: Callable[[str], None] | None = None) -> None:
    """Shows the error of a refused value at its control. take_reading: as in show_refusal."""
    refusal = current_lesson_choices().refused.get(name)
    if refusal is None:
        return
    st.error(say_refusal(refusal), icon=":material/error:")
    if take_reading is not None:
        show_readings(refusal, f"{current_slug()}.{name}", take_reading)


# ---- the controls ----------------------------------------------------------------------------------------------------
def option_labels(name: str) -> Callable[[str], str]:
    """Return a function that maps an option of a control to its text."""
    return lambda of: say(f"lessons.{current_slug()}.option.{name}.{of}")


def choose_option(
    name: str, options: Sequence[str], default: str | None = None, words: Callable[[str], str] | None = None, **how
) -> str:
    """Segmented control for one of a few options; returns the chosen one, otherwise the default or the first.

    words: returns an option's text, if not the lesson's. how: as st.segmented_control.
    """
    default = options[0] if default is None else default
    read = make_member_reader(options)
    value = get_choice(name, default, read)
    value = value if value in options else default
    st.segmented_control(
        **bind_control(name, value, default, read),
        options=options,
        format_func=words or option_labels(name),
        required=True,
        wrap=True,  # several rows on a phone, also if the control is in a row of controls
        **how,
    )
    return value


def choose_options(name: str, options: Sequence[str], default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Pills for any number of options; returns those chosen."""

    read_option = make_member_reader(options)

    def read(text: str) -> tuple[str, ...]:
        return tuple(read_option(part) for part in text.split(",") if part)

    value = get_choice(name, default, read)
    st.pills(
        **bind_control(name, list(value), list(default), read),
        options=options,
        format_func=option_labels(name),
        selection_mode="multi",
        wrap=True,
    )
    return value


def choose_place(name: str, labels: Sequence[str], label: str | None = None) -> int | None:
    """Pills for a position by its label, such as the tokens of a sentence; returns None if no pill was chosen."""
    read = make_place_reader(len(labels))
    value = get_choice(name, None, read)
    if value is not None and value >= len(labels):
        value = None
    texts = make_names_distinct([escape_markdown(text) for text in labels])
    st.pills(
        **bind_control(name, value, None, read, label),
        options=range(len(labels)),
        format_func=texts.__getitem__,
        wrap=True,
    )
    return value


def pick_place(name: str, labels: Sequence[str], default: int, **how) -> int:
    """Select box for a position by its label; exactly one is always chosen. how: as st.selectbox."""
    read = make_place_reader(len(labels))
    value = get_choice(name, default, read)
    value = value if value < len(labels) else default
    st.selectbox(
        **bind_control(name, value, default, read),
        options=range(len(labels)),
        format_func=labels.__getitem__,
        filter_mode=None,
        **how,
    )
    return value


def make_place_reader(size: int) -> Callable[[str], int]:
    """Return a function that parses a position below size."""
    read_number = make_member_reader([str(position) for position in range(size)])
    return lambda text: int(read_number(text))


def switch(name: str, default: bool = False) -> bool:
    """Toggle; returns whether it is on."""
    value = get_choice(name, default, read_switch)
    st.toggle(**bind_control(name, value, default, read_switch))
    return value


def read_switch(text: str) -> bool:
    """Parse "True" or "False"."""
    return make_member_reader(("True", "False"))(text) == "True"


def slide(
    name: str,
    options: Sequence[float],
    default: float,
    written: Callable[[float], str] = "{:g}".format,
    others: Sequence[float] = (),
    moves: bool = False,
    **how,
) -> float:
    """Slider through a list of numbers; returns the default if the chosen number is no longer in the list.

    others: further numbers that a link may contain, because other choices offer them. moves: whether the default may
    change; each default then gets a separate slider, because a browser that still shows the old default would send it.
    how: as st.select_slider.
    """
    value, read = read_number_choice(name, options, default, others)
    control = bind_control(name, value, default, read, of=f".{default}" if moves else "")
    st.select_slider(**control, options=options, format_func=written, **how)
    return value


def read_number_choice(
    name: str, options: Sequence[float], default: float, others: Sequence[float] = ()
) -> tuple[float, Callable[[str], float]]:
    """The number chosen from a list, and a function that parses such numbers. The arguments are those of slide."""
    known = {str(number): number for number in (*options, *others)}
    read_number = make_member_reader(known)

    def read(text: str) -> float:
        return known[read_number(text)]

    value = get_choice(name, default, read)
    return value if value in options else default, read


def choose_whole_number(name: str, default: int, **how) -> int:
    """Number input for a whole number, 0 or more. how: as st.number_input."""
    value = get_choice(name, default, read_link_count)
    control = bind_control(name, value, default, read_link_count)
    st.number_input(**control, min_value=0, max_value=MAX_LINK_NUMBER, step=1, **how)
    return value


def text_box(name: str, default: str, check: Callable[[str], object], tall: bool = False, **how) -> str:
    """Text input; returns the last text that `check` accepted (`check` raises AttentionError for any other text). tall:
    whether the input has several lines.
    """
    value, read = get_typed_text(name, default, check), make_text_reader(check)
    widget = st.text_area if tall else st.text_input
    with st.container(width=how.pop("width", "stretch")):  # the error is under the box, also in a row
        widget(**bind_control(name, value, default, read), max_chars=MAX_TEXT_LENGTH, **how)
        show_choice_refusal(name, lambda reading: take_choice(name, reading, default, read))
    return value


def get_typed_text(name: str, default: str, check: Callable[[str], object]) -> str:
    """The value of text_box without drawing it, for a box that is not always visible."""
    return get_choice(name, default, make_text_reader(check))


def make_text_reader(check: Callable[[str], object]) -> Callable[[str], str]:
    """Return a function that parses a text, and accepts it if `check` does."""

    def read(text: str) -> str:
        check(text)
        return text

    return read


def sentence_box(setup: Setup, name: str = "text", part: str = "text", most: int = MAX_LESSON_TOKENS) -> Setup:
    """Text input for the reader's own sentence instead of the example's; returns the Setup with this sentence. part:
    the Setup field of the sentence. most: limit of its tokens.
    """
    inputs = inputs_of(setup)
    words = inputs.keys if part == "context_text" else inputs.queries
    own = spell_tokens(words, setup.run)

    def check(text: str) -> None:
        typed = inputs_of(setup.with_fields(**{part: text}))
        check_lesson_tokens(typed.queries, most)
        check_lesson_tokens(typed.keys, most)

    take_stated_cut(name, partial(keep_text_cut, setup.run))
    text = text_box(name, own, check)
    if text == own:
        store_cut(name, "")
        return setup
    typed = setup.with_fields(**{part: text})
    store_cut(name, state_text_cut(typed.run, text))
    told = tell_word_roles(typed, inputs_of(typed))
    if told:
        st.caption(told)
    return typed


def check_lesson_tokens(tokens: Sequence[str], most: int = MAX_LESSON_TOKENS) -> None:
    """Raises AttentionError if a sentence is too long for a lesson."""
    if len(tokens) > most:
        raise AttentionError("lesson_tokens", limit=most, given=len(tokens))


def pick_example(*names: str, zh: str | None = None, name: str = "ex") -> Setup:
    """Select box for one of a few examples; returns the example's Setup. zh: the default for readers of Chinese, if not
    the first. name: of the choice, if a lesson has several such boxes.
    """
    usual = names[0]
    if zh and current_language() == "zh":
        usual = zh
    read = make_member_reader(names)
    value = get_choice(name, usual, read)
    store_choice(name, value)  # always in the link, because the default depends on the language
    st.selectbox(
        **bind_control(name, value, None, read, say("control.example") if name == "ex" else None),
        options=names,
        format_func=lambda example: say(f"example.{example}"),
        filter_mode=None,
    )
    return make_setup(example=value)
