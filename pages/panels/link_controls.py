"""Shows the controls of a lesson, whose values are stored in the session, written into the link, and checked.

The name of a control is its key in the link. The `read` argument of a control is a function that parses a text, or
raises an error for it. The texts of a control are in the lesson's content: control.<name>, and option.<name>.<option>
for each option.
"""

from collections.abc import Callable, Container, Sequence
from functools import partial

import streamlit as st

from attention_core.inputs.tokenizer import MAX_TEXT_LENGTH
from attention_core.record.errors import AttentionError
from pages.panels.control import Control
from pages.panels.lesson_choices import (
    current_lesson_choices,
    current_slug,
    get_choice,
    store_choice,
    store_cut,
    take_choice,
    take_stated_cut,
)
from pages.panels.refusals import show_error
from pages.panels.word_roles import tell_word_roles
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens
from pages.setup.codec import keep_text_cut, state_text_cut
from pages.setup.link_values import MAX_LINK_NUMBER, make_member_reader, read_link_count
from pages.setup.setup import Setup, make_setup
from pages.site.words import current_language, escape_markdown, make_names_distinct, say

MAX_LESSON_TOKENS = 16  # most tokens of a sentence; lessons show each token's numbers, so the workbench accepts more


def link_control(
    name: str,
    default: object,
    read: Callable[[str], object],
    offered: Container | None = None,
    label: str = "",
    of: str = "",
) -> Control:
    """Returns the Control (value and handler of a widget) of a parameter in the lesson's link.

    read: a function that parses a text, or raises an error for it. offered: the values that the widget offers; a value
    that is no longer offered, for example after other choices, becomes the default. label: the key of the widget's
    text. of: suffix of the widget's key, which distinguishes the control from an earlier one of the same name.
    """
    slug, value = current_slug(), get_choice(name, default, read)
    return Control(
        name,
        f"{slug}.{name}{of}",
        value if offered is None or value in offered else default,
        partial(take_choice, name, default=default, read=read),
        current_lesson_choices(),
        label or f"lessons.{slug}.control.{name}",
        option_labels(name),
    )


def show_choice_refusal(name: str, take_reading: Callable[[str], None] | None = None) -> None:
    """Shows, at a control, why its value was refused, if it was.

    take_reading: a callback that gets the interpretation that the visitor chose, if the value has several.
    """
    show_error(current_lesson_choices().refused.get(name), f"{current_slug()}.{name}", take_reading)


# ---- the controls ----------------------------------------------------------------------------------------------------
def option_labels(name: str) -> Callable[[str], str]:
    """Returns a function that maps an option of a control to its text."""
    return lambda of: say(f"lessons.{current_slug()}.option.{name}.{of}")


def choose_option(
    name: str, options: Sequence[str], default: str | None = None, words: Callable[[str], str] | None = None, **how
) -> str:
    """Shows a segmented control; returns the chosen option, else the default, else the first option.

    words: a function that returns an option's text; None if the lesson's content has the texts. how: arguments of
    st.segmented_control.
    """
    control = link_control(name, options[0] if default is None else default, make_member_reader(options), options)
    if words:
        how["format_func"] = words
    # wrap=True: on a phone, the options take several rows
    control.draw(st.segmented_control, options, required=True, wrap=True, **how)
    return control.value


def choose_options(name: str, options: Sequence[str], default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Shows pills for any number of options; returns the options that the visitor chose."""

    read_option = make_member_reader(options)

    def read(text: str) -> tuple[str, ...]:
        return tuple(read_option(part) for part in text.split(",") if part)

    control = link_control(name, default, read)
    control.draw(st.pills, options, selection_mode="multi", wrap=True)
    return control.value


def choose_place(name: str, labels: Sequence[str], label: str | None = None) -> int | None:
    """Shows pills for the positions of a sequence, such as the tokens of a sentence; returns the chosen position or
    None.
    """
    places = range(len(labels))
    texts = make_names_distinct([escape_markdown(text) for text in labels])
    control = link_control(name, None, make_place_reader(len(labels)), places)
    control.draw(st.pills, places, label, format_func=texts.__getitem__, wrap=True)
    return control.value


def pick_place(name: str, labels: Sequence[str], default: int, **how) -> int:
    """Shows a select box that names the positions of a sequence, and returns the selected position.

    how: arguments of st.selectbox.
    """
    places = range(len(labels))
    control = link_control(name, default, make_place_reader(len(labels)), places)
    control.draw(st.selectbox, places, format_func=labels.__getitem__, filter_mode=None, **how)
    return control.value


def make_place_reader(size: int) -> Callable[[str], int]:
    """Returns a function that parses a text as a position from 0 to size - 1."""
    read_number = make_member_reader([str(position) for position in range(size)])
    return lambda text: int(read_number(text))


def switch(name: str, default: bool = False) -> bool:
    """Shows a toggle; returns whether it is on."""
    control = link_control(name, default, read_switch)
    control.draw(st.toggle)
    return control.value


def read_switch(text: str) -> bool:
    """Parses "True" or "False"."""
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
    """Shows a slider through a list of numbers, and returns the chosen one.

    options: the numbers that the slider offers now. written: a function that formats a number. others: only needed if
    `options` depends on another control of the page; then it contains the numbers that the slider offers at other
    settings of that control. A link with one of these is accepted: the slider shows the default until the number is
    offered again. Any other number of a link is reported as unreadable. moves: whether the default may change. If so,
    each default gets a separate slider, because a browser that still shows the old default would send it to the server.
    how: arguments of st.select_slider.
    """
    control = number_control(name, options, default, others, of=f".{default}" if moves else "")
    control.draw(st.select_slider, options, format_func=written, **how)
    return control.value


def number_control(
    name: str, options: Sequence[float], default: float, others: Sequence[float] = (), of: str = ""
) -> Control:
    """Returns the Control (value and handler of a widget) of a number from a list.

    options, others: the numbers that are offered now, and those offered at other settings, as in `slide`. of: suffix of
    the widget's key, to tell it from an earlier one of the same name.
    """
    known = {str(number): number for number in (*options, *others)}
    read_number = make_member_reader(known)

    def read(text: str) -> float:
        return known[read_number(text)]

    return link_control(name, default, read, options, of=of)


def choose_whole_number(name: str, default: int, **how) -> int:
    """Shows an input for a whole number, 0 or more, and returns the entered number. how: arguments of
    st.number_input.
    """
    control = link_control(name, default, read_link_count)
    control.draw(st.number_input, min_value=0, max_value=MAX_LINK_NUMBER, step=1, **how)
    return control.value


def text_box(name: str, default: str, check: Callable[[str], object], tall: bool = False, **how) -> str:
    """Shows a text input; returns the last text that `check` accepted.

    check: a function that raises AttentionError for a text that is not accepted. tall: whether the input has several
    lines.
    """
    control = text_control(name, default, check)
    with st.container(width=how.pop("width", "stretch")):  # the error is shown below the input, also inside a row
        control.draw(st.text_area if tall else st.text_input, max_chars=MAX_TEXT_LENGTH, **how)
        show_choice_refusal(name, control.take)
    return control.value


def text_control(name: str, default: str, check: Callable[[str], object]) -> Control:
    """Returns the Control (value and handler of a widget) of a text input.

    check: a function that raises AttentionError for a text that is not accepted.
    """

    def read(text: str) -> str:
        check(text)
        return text

    return link_control(name, default, read)


def sentence_box(setup: Setup, name: str = "text", part: str = "text", most: int = MAX_LESSON_TOKENS) -> Setup:
    """Shows a text input for the visitor's own sentence; returns the Setup with this sentence.

    part: the Setup field that stores the sentence. most: the most tokens that the sentence may have.
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
    """Shows a select box with a few examples; returns the Setup (state of the workbench) of the chosen one.

    names: the names of the examples. zh: the name of the example that is the default on a Chinese page; None for the
    first example. name: the name of the choice, if a lesson has several such select boxes.
    """
    usual = names[0]
    if zh and current_language() == "zh":
        usual = zh
    control = link_control(name, usual, make_member_reader(names), label="control.example" if name == "ex" else "")
    # the choice is stored even if it is the default, because the default depends on the language
    store_choice(name, control.value)
    control.draw(st.selectbox, names, format_func=lambda example: say(f"example.{example}"), filter_mode=None)
    return make_setup(example=control.value)
