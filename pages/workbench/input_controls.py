"""Shows the controls of the input: a sentence, a matrix, or q, k and v; and a second sequence for cross-attention."""

import numpy as np
import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_text import parse_matrix, to_text
from attention_core.inputs.matrix_values import UNCHANGED, MatrixValue
from attention_core.inputs.tokenizer import is_written_without_spaces
from attention_core.record.errors import AttentionError
from pages.components import make_component
from pages.components.messages import Text
from pages.panels.gloss import show_gloss
from pages.panels.setup_controls import field_control, show_refusal, try_change, try_matrix
from pages.panels.word_changes import find_swap_offer, first_sentence_of, gap_words, show_word_gaps, take_swap_offer
from pages.panels.word_roles import list_role_words, show_role_choices
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import spell_tokens
from pages.runs.recorded_layer import RecordedModelLayer, find_recorded
from pages.runs.run_inputs import RunInputs
from pages.runs.sentences import PROJECTIONS
from pages.session import setup_state
from pages.session.fragments import page_part, redraw
from pages.session.view import ScreenState, current_screen
from pages.setup.resolve import resolve_run, to_positions_field
from pages.setup.setup import Setup, make_setup
from pages.site.controls import EDITED_KEY
from pages.site.words import escape_markdown, say, say_refusal
from pages.workbench.control_rows import say_on_or_off, show_row
from pages.workbench.file_controls import UNSPECIFIED_UPLOAD

INPUT_MATRIX_FIELDS = ("x", "context", "q", "k", "v")
LEAST_BOX_PX, MOST_BOX_PX = 68, 150  # px: least and largest height of the text input of a matrix
ROW_PX, EDGES_PX = 21, 58  # px: height of a row of numbers in the text input, and of its upper and lower edge
MODEL_EXAMPLES = {"en": "model_en", "zh": "model_zh"}  # language of the text -> example with a language model
MOST_PASTED = 200_001  # most characters that the sentence box accepts, as in pasted_lines.js
KNOWN_ORIGINS = frozenset(("built", "source", "learned", "padding"))  # origins of words that have a vector

pasted_lines = make_component("pasted_lines", "<div></div>", sends={"pasted": Text(MOST_PASTED)})


def input_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the fields whose change redraws the input controls: those of the sentences.

    For any other kind of input, returns the whole RunSetup and the files in the uploader.
    """
    setup = screen.setup
    if resolve_run(setup.run).mode != "sentence":
        return (setup.run,)
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


def show_text_controls(screen: ScreenState) -> None:
    """Shows messages and controls below the sentence: its error, suggestions, unknown words, further sentences of a
    batch.
    """
    setup, inputs = screen.setup, screen.inputs
    resolved = resolve_run(setup.run)
    if resolved.mode == "code":
        st.caption(say("drawn.about"))
    if resolved.mode == "recorded":
        show_refusal("text")
        st.caption(describe_recorded(screen))
    if resolved.mode != "sentence":
        return
    show_refusal("text")
    show_gloss((*first_sentence_of(inputs), *inputs.keys))
    with st.container(horizontal=True, gap="small", key="unknown_words"):
        show_role_choices(setup, inputs)
        show_model_door(setup, inputs)
    show_further_sentences(setup)
    if resolved.crossed:
        show_second_sentence(setup, inputs)


def describe_recorded(screen: ScreenState) -> str:
    """Returns the text about a recorded layer: its name, and whether its whole model is stored or, if not, why."""
    name = escape_markdown(screen.inputs.layer_name)
    try:
        kind = find_recorded(screen.setup.run)
    except AttentionError:  # the layer was dropped after this screen was computed
        return say("recorded.about", name=name)
    if isinstance(kind, RecordedModelLayer):
        apart, bound = f"{kind.worst.apart:.1e}", f"{kind.worst.bound:.1e}"
        return say("recorded.whole", name=name, apart=apart, bound=bound)
    told = say("recorded.about", name=name)
    if kind.layer.alone is None:
        return told
    return f"{told} {say('recorded.alone', reason=say_refusal(kind.layer.alone))}"


def describe_input(screen: ScreenState) -> str:
    """Returns the sentence about the matrices that are given instead of a sentence: their names and shapes."""
    matrices = screen.inputs.matrices
    names = [name for name in INPUT_MATRIX_FIELDS if name in matrices]
    shapes = [
        say("way.shape", name=name, rows=matrices[name].shape[0], columns=matrices[name].shape[1]) for name in names
    ]
    return say("way.given", shapes=say("fact.comma").join(shapes)) if shapes else say("way.file_given")


# ---- the kind of input -----------------------------------------------------------------------------------------------
def show_mode_choice(setup: Setup) -> None:
    """Shows the choice of the numbers from which the run starts: the sentence's vectors, a matrix X, or q, k and v."""
    example, mode = EXAMPLES[setup.run.example], resolve_run(setup.run).mode
    if mode == "recorded":
        return
    modes = ["matrix", "qkv"]
    if example.code is not None:
        modes.insert(0, "code")
    elif example.q is None:
        modes.insert(0, "sentence")
    control = field_control("mode", mode if mode in modes else None, choose_input_mode, label="control.input")
    control.show(st.segmented_control, modes, required=mode in modes, help=say("help.mode"))


def show_given_matrices(screen: ScreenState) -> None:
    """Shows the given matrices (X, or q, k and v) as text, in which the visitor can type or paste numbers."""
    names = list_text_matrices(screen.setup)
    if names:  # beside a sentence, its own component hears what is pasted into the boxes of matrices
        pasted_lines(key="pasted_matrix")
    for name in names:
        matrix_box(name, screen.inputs)
        reason = explain_random_weights(screen) if name == "x" else ""
        if reason:
            st.info(reason, icon=":material/casino:")


def list_text_matrices(setup: Setup) -> tuple[str, ...]:
    """Returns the names of the matrices that are given as text in place of a sentence."""
    resolved = resolve_run(setup.run)
    if resolved.mode == "matrix":
        return ("x", "context") if resolved.crossed else ("x",)
    return ("q", "k", "v") if resolved.mode == "qkv" else ()


def explain_random_weights(screen: ScreenState) -> str:
    """Returns the sentence on why the example's weight matrices were replaced by random ones; "" if they were not.

    The example's matrices do not fit an X whose number of columns differs from the width of the example's vectors.
    """
    inputs, own = screen.inputs, inputs_of(make_setup(example=screen.setup.run.example))
    columns = inputs.matrices["x"].shape[1]
    replaced = [name for name in PROJECTIONS if inputs.origins.get(name) == "random" != own.origins.get(name, "random")]
    if not replaced or len(own.matrices[replaced[0]]) == columns:
        return ""
    name, *_ = replaced
    names = say("fact.comma").join(replaced)
    rows, seed = len(own.matrices[name]), inputs.seeds[name]
    return say(
        "way.random_weights",
        names=escape_markdown(names),
        name=escape_markdown(name),
        rows=rows,
        columns=columns,
        seed=seed,
    )


def choose_input_mode(wanted: str) -> None:
    """Switches to the kind of input that the visitor chose; stores the error if this is refused.

    If X is chosen, the editor below then shows X.
    """
    if wanted == "matrix":
        st.session_state[EDITED_KEY] = "x"
    try:
        changes = make_mode_change(setup_state.current_setup(), wanted)
    except AttentionError as error:  # the numbers cannot be written as text
        setup_state.workbench().refuse("mode", error)
        return
    try_change("mode", **changes)


def make_mode_change(setup: Setup, mode: str) -> dict[str, object]:
    """Returns {Setup field: value} for another kind of input; the numbers are kept if possible.

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
def show_swap_offer(setup: Setup, inputs: RunInputs) -> None:
    """Shows a button that replaces a word by another one, if the dictionary suggests a replacement."""
    swap = find_swap_offer(setup, inputs)
    if swap is not None:
        old, new = map(escape_markdown, swap)
        label = say("control.swap", old=old, new=new)
        args = (setup, inputs)
        st.button(label, key="swap_word", help=say("help.swap"), on_click=take_swap_offer, args=args)


def cut_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the row about segmentation: the text and its segmentation."""
    run = screen.setup.run
    return (run.example, run.text, run.model, run.cut, resolve_run(run).mode, tuple(gap_words(screen.inputs)))


@page_part(cut_dependencies)
def show_cut_row(screen: ScreenState) -> None:
    """Shows the row with the segmentation of a text without spaces: a switch for single characters, and the word
    boundaries.
    """
    setup, inputs = screen.setup, screen.inputs
    text = spell_tokens(first_sentence_of(inputs), setup.run)
    if resolve_run(setup.run).mode != "sentence" or not is_written_without_spaces(text):
        return
    is_read_by_network = resolve_run(setup.run).network is not None or resolve_run(setup.run).model is not None
    is_cut = setup.run.cut == "characters"

    def switch_cut(is_on: bool) -> None:
        try_change("cut", cut="characters" if is_on else None, text=text)

    def show_cuts() -> None:
        if not is_read_by_network:
            field_control("cut", is_cut, switch_cut).draw(st.toggle, help=say("help.cut"))
        show_word_gaps(setup, inputs)

    show_row("cut", say("row.characters" if is_cut else "row.words"), is_cut, show_cuts)


def batch_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the row of a batch: its sentences, and whether a batch is possible."""
    resolved = resolve_run(screen.setup.run)
    return (resolved.mode, resolved.crossed, screen.setup.run.example, screen.setup.run.more)


@page_part(batch_dependencies)
def show_batch_row(screen: ScreenState) -> None:
    """Shows the row with the switch for a batch, whose further sentences are computed together with the first."""
    setup = screen.setup
    if resolve_run(setup.run).mode != "sentence" or resolve_run(setup.run).crossed:
        return
    is_batch = setup.run.more is not None

    def switch_batch(is_on: bool) -> None:
        sentences = EXAMPLES[setup.run.example].batch if is_on else None
        try_change("more", more=sentences, sentence=None)

    control = field_control("more", is_batch, switch_batch, "c_batch", "control.batch")
    show_row("batch", say_on_or_off(is_batch), is_batch, lambda: control.draw(st.toggle, help=say("help.batch")))


def show_further_sentences(setup: Setup) -> None:
    """Shows the text input for the other sentences of a batch, one per line; shorter sentences are padded."""
    if setup.run.more is not None:
        field_control("more", setup.run.more).draw(st.text_area, height=100)
    show_refusal("more")


def matrix_box(field: str, inputs: RunInputs) -> None:
    """Shows a matrix as text in a text input, in which the visitor can type or paste numbers."""
    matrix = inputs.matrices.get(field)
    rows = 0 if matrix is None else len(matrix)
    height = min(max(LEAST_BOX_PX, EDGES_PX + ROW_PX * rows), MOST_BOX_PX)

    def take_matrix_text(text: str) -> None:
        base = current_screen().inputs.bases.get(field)
        try_matrix(field, field, lambda: parse_matrix(text, field), base)

    label = say("control.allowed") if field == "allowed" else say("control.matrix", name=field)
    control = field_control(field, format_matrix_rows(matrix), take_matrix_text).moved()
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


@page_part(lambda screen: (resolve_run(screen.setup.run).mode, resolve_run(screen.setup.run).crossed))
def show_cross_row(screen: ScreenState) -> None:
    """Shows the row with the switch for cross-attention: keys and values from a second sentence or matrix."""
    resolved = resolve_run(screen.setup.run)
    if resolved.mode not in ("sentence", "matrix"):
        return

    def switch_cross_attention(is_on: bool) -> None:
        try_change("cross", cross=is_on, context=None, context_text=None)

    control = field_control("cross", resolved.crossed, switch_cross_attention)
    show_row(
        "cross",
        say_on_or_off(resolved.crossed),
        resolved.crossed,
        lambda: control.show(st.toggle, help=say("help.cross")),
    )


def show_second_sentence(setup: Setup, inputs: RunInputs) -> None:
    """Shows the sentence from which keys and values are computed."""
    shipped = spell_tokens(inputs.keys, setup.run)
    text = shipped if setup.run.context_text is None else setup.run.context_text
    field_control("context_text", text).show(st.text_input, help=say("help.text"))


# ---- the language model, for a sentence whose words the example does not know ----------------------------------------
def find_model_door(setup: Setup, inputs: RunInputs) -> Setup | None:
    """Returns the Setup in which a language model reads the typed sentence.

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
