"""Shows the controls for the input: a sentence, a matrix, or q, k and v; and a second sequence for cross-attention."""

import numpy as np
import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_text import parse_matrix, to_text
from attention_core.inputs.matrix_values import UNCHANGED, MatrixValue
from attention_core.inputs.tokenizer import is_written_without_spaces
from attention_core.record.errors import AttentionError
from pages.panels.gloss import show_gloss
from pages.panels.model_controls import show_model_controls
from pages.panels.setup_controls import field_control, show_refusal, try_change, try_made_change, try_matrix
from pages.panels.word_changes import first_sentence_of, gap_words, list_swap_offers, show_word_gaps, take_swap_offer
from pages.panels.word_roles import list_role_words, show_role_choices
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import spell_tokens
from pages.runs.run_inputs import RunInputs
from pages.session import setup_state
from pages.session.fragments import page_part, redraw
from pages.session.view import ScreenState, current_screen
from pages.setup.codec import DEFAULTS
from pages.setup.resolve import resolve_run, to_positions_field
from pages.setup.setup import Setup, make_setup
from pages.site.words import current_language, escape_markdown, say
from pages.workbench.file_controls import UNSPECIFIED_UPLOAD, show_file_controls

LEARNED_EXAMPLE = "learned_copy"  # name of the example with weights that were learned in training
LEAST_MATRIX_NUMBERS = 2  # a text with fewer numbers than this is read as words
INPUT_WIDTH_PX = 120  # width of the choice of input, which fits beside the number of heads
INPUT_MATRIX_FIELDS = ("x", "context", "q", "k", "v")
MODEL_EXAMPLES = {"en": "model_en", "zh": "model_zh"}  # language of the text -> example with a language model
KNOWN_ORIGINS = frozenset(("built", "source", "learned", "padding"))  # origins of words that have a vector


def input_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the fields whose change redraws the input controls: those of the sentences.

    For any other kind of input, returns the whole RunSetup and the files in the uploader.
    """
    setup = screen.setup
    is_uploading = st.session_state.get("bringing")
    if resolve_run(setup.run).mode != "sentence" or is_uploading:
        return (
            is_uploading,
            setup.run,
            setup_state.editors_version(),
            st.session_state.get("uploads"),
        )
    crossed = resolve_run(setup.run).crossed
    return (
        setup.run.example,
        setup.run.text,
        setup.run.model,
        setup.run.word_roles,
        tuple(list_role_words(screen.inputs)),
        tuple(gap_words(screen.inputs)),
        setup.run.cut,
        setup.run.more,
        crossed,
        setup.run.context_text,
        screen.inputs.keys if crossed else (),
    )


@page_part(input_dependencies)
def show_input_controls(screen: ScreenState) -> None:
    """Shows the controls of the chosen kind of input, and the second sequence of cross-attention."""
    setup, inputs = screen.setup, screen.inputs
    mode = current_mode(setup)
    if mode == "file":
        show_file_controls(setup)
    elif mode == "code":
        st.caption(say("drawn.about"))
    elif mode == "sentence":
        with st.container(gap="xsmall"):
            show_sentence_controls(setup, inputs)
    elif mode == "matrix":
        matrix_box("x", inputs)
    else:
        for name in "qkv":
            matrix_box(name, inputs)
    if mode in ("sentence", "matrix") and resolve_run(setup.run).crossed:
        show_second_sequence(setup, inputs, mode)


def show_sentence_controls(setup: Setup, inputs: RunInputs) -> None:
    """Shows the sentence and the controls for its words.

    If the text can be parsed as a matrix, shows only the offer to use that matrix as X.
    """
    shipped = spell_tokens(first_sentence_of(inputs), setup.run)
    text = shipped if setup.run.text is None else setup.run.text
    field_control("text", text).show(st.text_input, help=say("help.text"))
    if show_matrix_offer():
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        show_model_door(setup, inputs)
        show_cut_switch(setup, inputs)
    show_gloss((*first_sentence_of(inputs), *inputs.keys))
    show_model_controls(setup)
    show_word_gaps(setup, inputs)
    show_role_choices(setup, inputs)
    show_swap_offers(setup, inputs)
    show_further_sentences(setup)


def choice_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the choice of input: kind of input, example, and switches that are on."""
    setup = screen.setup
    return (current_mode(setup), setup.run.example, setup.run.more, resolve_run(setup.run).crossed)


@page_part(choice_dependencies)
def show_input_choice(screen: ScreenState) -> None:
    """Shows the switches for a batch and for cross-attention, and the button for learned weights."""
    setup = screen.setup
    mode = current_mode(setup)
    if mode == "sentence" and not resolve_run(setup.run).crossed:
        show_batch_switch(setup)
    if mode in ("sentence", "matrix"):
        show_cross_switch(setup)
    if resolve_run(setup.run).network is None:
        show_learned_door()


def show_learned_door() -> None:
    """Shows a choice of learned weights: the weights of a language model that reads the sentence, or of a copying
    head.
    """

    def open_learned_example() -> None:
        setup_state.open_example(LEARNED_EXAMPLE)
        redraw()

    with st.popover(say("header.learned"), help=say("help.learned"), type="tertiary", key="learned_door"):
        st.markdown(say("header.learned_asks"))
        st.button(say("header.learned_model"), key="learned_model", type="primary", on_click=open_language_model)
        st.button(say("header.learned_copy"), key="learned", on_click=open_learned_example)


def open_language_model() -> None:
    """Opens the language model with the current sentence; if there is none, with the model's example sentence."""
    setup = setup_state.current_setup()
    text = None
    if resolve_run(setup.run).mode == "sentence":
        text = spell_tokens(first_sentence_of(inputs_of(setup)), setup.run)
    is_chinese = is_written_without_spaces(text) if text else current_language() == "zh"
    wanted = make_setup(example="model_zh" if is_chinese else "model_en", text=text)
    try_change("mode", **{name: wanted.value_of(name) for name in DEFAULTS})


def current_mode(setup: Setup) -> str:
    """Returns the chosen kind of input; this may be "file" before a file is uploaded."""
    return "file" if st.session_state.get("bringing") else resolve_run(setup.run).mode


# ---- the kind of input -----------------------------------------------------------------------------------------------
def show_mode_choice(setup: Setup, mode: str) -> None:
    """Shows the choice of the kind of input: a sentence, a matrix, the three matrices q, k and v, or a file."""
    example = EXAMPLES[setup.run.example]
    modes = ["matrix", "qkv", "file"]
    if example.code is not None:
        modes.insert(0, "code")
    elif example.q is None:
        modes.insert(0, "sentence")
    control = field_control("mode", mode, choose_input_mode, label="control.input")
    control.show(st.selectbox, modes, filter_mode=None, width=INPUT_WIDTH_PX, help=say("help.mode"))


def choose_input_mode(wanted: str) -> None:
    """Switches to the kind of input that the visitor chose; "file" changes the state only after a file is uploaded."""
    st.session_state["bringing"] = wanted == "file"
    if wanted == "file":
        redraw()
        return
    try:
        changes = make_mode_change(setup_state.current_setup(), wanted)
    except AttentionError as error:  # raised for numbers that a text cannot hold
        setup_state.workbench().refuse("mode", error)
        return
    try_change("mode", **changes)


def make_mode_change(setup: Setup, mode: str) -> dict[str, object]:
    """Returns {Setup field: value} for another kind of input; the numbers of the input are kept if possible.

    Raises AttentionError if the numbers cannot be written as text.
    """
    changes: dict[str, object] = {"file": None, **UNSPECIFIED_UPLOAD}
    changes |= dict.fromkeys((*INPUT_MATRIX_FIELDS, "d_k", "d_v"))
    if resolve_run(setup.run).mode in ("qkv", "file"):
        changes |= {"heads": None, "kv_heads": None}
    if mode == "qkv":
        changes |= {"heads": 1, "kv_heads": None, "positions": to_positions_field(setup.run, ())}
        changes |= pack_first_head(setup)
    elif mode == "matrix" and EXAMPLES[setup.run.example].q is not None:
        sequences = pack_first_head(setup, "qk")
        changes |= {"cross": True, "x": sequences["q"], "context": sequences["k"]}
    elif mode == "matrix":
        changes["x"] = UNCHANGED
        if resolve_run(setup.run).crossed:
            changes["context"] = UNCHANGED
    return changes


def pack_first_head(setup: Setup, names: str = "qkv") -> dict[str, MatrixValue]:
    """Returns q, k and v of the first head of the current run, as values of Setup fields."""
    trace = trace_for(setup)
    matrices = {}
    for name in names:
        step = trace.step(name)  # (B, H, T, d)
        first_head = {"B": 0, step.dims[1]: 0}
        matrices[name] = pack_matrix(step.window(**first_head), name)
    return matrices


# ---- the boxes -------------------------------------------------------------------------------------------------------
def show_swap_offers(setup: Setup, inputs: RunInputs) -> None:
    """Shows a button for each suggested exchange of a word."""
    swaps = list_swap_offers(setup, inputs)
    if not swaps:
        return
    with st.container(horizontal=True, gap="xsmall"):
        for number, (old, new) in enumerate(swaps):
            label = escape_markdown(f"{old} → {new}")
            args = (number, setup, inputs)
            st.button(label, key=f"swap{number}", help=say("help.swap"), on_click=take_swap_offer, args=args)


def show_matrix_offer() -> bool:
    """Offers to use the typed sentence as X if it can be parsed as a matrix; returns whether it can."""
    text = st.session_state["c_text"]
    try:
        matrix = parse_matrix(text, "x")
    except AttentionError:
        return False
    if matrix.size < LEAST_MATRIX_NUMBERS:
        return False

    def use_as_x() -> None:
        setup = setup_state.current_setup()
        setup_state.workbench().forget_refusals("text")
        try_made_change(
            "text", lambda: make_mode_change(setup, "matrix") | {"text": None, "x": pack_matrix(matrix, "x")}
        )

    rows, columns = matrix.shape
    st.markdown(say("pasted.matrix", rows=rows, columns=columns))
    st.button(say("pasted.use_as_x"), key="use_as_x", icon=":material/grid_on:", on_click=use_as_x)
    return True


def show_cut_switch(setup: Setup, inputs: RunInputs) -> None:
    """Shows the switch that splits a sentence written without spaces into characters."""
    text = spell_tokens(first_sentence_of(inputs), setup.run)
    reads_otherwise = resolve_run(setup.run).network is not None or resolve_run(setup.run).model is not None
    if reads_otherwise or not is_written_without_spaces(text):
        return

    def switch_cut(is_on: bool) -> None:
        try_change("cut", cut="characters" if is_on else None, text=text)

    field_control("cut", setup.run.cut == "characters", switch_cut).draw(st.toggle, help=say("help.cut"))


def show_batch_switch(setup: Setup) -> None:
    """Shows the switch for a batch, in which more sentences are computed together with the first."""

    def switch_batch(is_on: bool) -> None:
        sentences = EXAMPLES[setup.run.example].batch if is_on else None
        try_change("more", more=sentences, sentence=None)

    control = field_control("more", setup.run.more is not None, switch_batch, "c_batch", "control.batch")
    control.draw(st.toggle, help=say("help.batch"))


def show_further_sentences(setup: Setup) -> None:
    """Shows the text input for the other sentences of a batch, one per line; shorter sentences are padded."""
    if setup.run.more is not None:
        field_control("more", setup.run.more).draw(st.text_area, height=100)
    show_refusal("more")


def matrix_box(field: str, inputs: RunInputs, height: int = 150) -> None:
    """Shows a matrix as text in a text input, in which the visitor can type or paste numbers."""

    def take_matrix_text(text: str) -> None:
        base = current_screen().inputs.bases.get(field)
        try_matrix(field, field, lambda: parse_matrix(text, field), base)

    label = say("control.allowed") if field == "allowed" else say("control.matrix", name=field)
    control = field_control(field, format_matrix_rows(inputs.matrices.get(field)), take_matrix_text).moved()
    control.draw(st.text_area, label=label, height=height, help=say("help.matrix"))
    show_refusal(field, take_matrix_text)


def format_matrix_rows(matrix: np.ndarray | None) -> str:
    """Returns a matrix as text, with one row per line and spaces between cells.

    Returns "" if the matrix is None, or if its numbers cannot be written as text.
    """
    if matrix is None:
        return ""
    try:
        text = to_text(matrix)
    except AttentionError:
        return ""
    return text.replace(",", "  ").replace(";", "\n")


def show_cross_switch(setup: Setup) -> None:
    """Shows the switch for cross-attention: keys and values from a second sentence or matrix."""

    def switch_cross_attention(is_on: bool) -> None:
        try_change("cross", cross=is_on, context=None, context_text=None)

    control = field_control("cross", resolve_run(setup.run).crossed, switch_cross_attention)
    control.show(st.toggle, help=say("help.cross"))


def show_second_sequence(setup: Setup, inputs: RunInputs, mode: str) -> None:
    """Shows the sentence or matrix from which keys and values are computed."""
    if mode == "sentence":
        shipped = spell_tokens(inputs.keys, setup.run)
        text = shipped if setup.run.context_text is None else setup.run.context_text
        field_control("context_text", text).show(st.text_input, help=say("help.text"))
    else:
        matrix_box("context", inputs)


# ---- the language model, for a sentence whose words the example does not know ----------------------------------------
def find_model_door(setup: Setup, inputs: RunInputs) -> Setup | None:
    """Returns the state that opens a language model of the sentence's language with the typed sentence.

    Returns None if the example knows all words of the sentence, if a language model already reads the sentence, if the
    example has cross-attention, or if no sentence is typed.
    """
    resolved = resolve_run(setup.run)
    has_reader = resolved.model is not None or resolved.network is not None
    if setup.run.text is None or has_reader or resolved.crossed:
        return None
    example = EXAMPLES[setup.run.example]
    knows_words = example.lexicon is not None and not example.built
    if knows_words and KNOWN_ORIGINS.issuperset(inputs.word_origins):
        return None
    words = first_sentence_of(inputs)
    is_chinese = is_written_without_spaces("".join(words))
    text = ("" if is_chinese else " ").join(words)
    return make_setup(example=MODEL_EXAMPLES["zh" if is_chinese else "en"], text=text)


def show_model_door(setup: Setup, inputs: RunInputs) -> None:
    """Shows the button that opens the language model, if this example does not know the sentence's words."""
    door = find_model_door(setup, inputs)
    if door is None:
        return

    def open_model() -> None:
        try:
            trace_for(door)
        except AttentionError as error:  # raised if the text is too long for the model
            setup_state.workbench().refuse("text", error)
        else:
            setup_state.adopt_setup(door)
        redraw()

    st.button(say("roles.dictionary.open"), key="read_by_model", on_click=open_model)
