"""The worked example: what is given: x and the projections, as in the printed example or as the reader typed them."""

from functools import partial

from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.answer_text import answers_text
from attention_core.exercises.stages import STAGES, operand_stages
from attention_core.inputs.matrix_text import parse_matrix, to_text
from attention_core.record.errors import AttentionError
from pages.panels import lesson_choices
from pages.panels.link_controls import get_typed_text, text_box
from pages.runs.cache import inputs_of, trace_for
from pages.setup.setup import Setup

PRINTED_EXAMPLE = "source_004"
GIVEN_MATRICES = ("x", "w_q", "w_k", "w_v")
MAX_TYPED_SIDE = 8  # rows and columns: two matrices of them stand beside each other in cells that can be read


def choose_given_setup(stage: str) -> Setup:
    """Asks for the matrices that a stage reads, and gives the Setup with all matrices that were typed."""
    printed_run = EXAMPLES[PRINTED_EXAMPLE].run()
    read_by_stage = operand_stages(printed_run, STAGES[stage])
    for name in GIVEN_MATRICES:
        start = initial_matrix_text(name)
        check_text = partial(check_given_matrix, name)
        if not get_typed_text(name, start, check_text).strip():
            lesson_choices.store_choice(name, None)  # an emptied box holds the example's numbers again
        if name == "x" or name in read_by_stage:
            text_box(name, start, check_text)
    return setup_with_matrices(get_typed_matrices())


def initial_matrix_text(name: str) -> str:
    """What a box holds before anybody types: the example's numbers, random ones where x has got another width."""
    if name == "x":
        return answers_text(EXAMPLES[PRINTED_EXAMPLE].tensor("x"), None)
    typed = get_typed_matrices()
    typed_x = {"x": typed["x"]} if "x" in typed else {}
    matrices = inputs_of(setup_with_matrices(typed_x)).matrices
    return answers_text(matrices[name], None)


def get_typed_matrices() -> dict[str, str]:
    """What the reader typed in the place of the example's matrices."""
    typed = {}
    for name, text in lesson_choices.current_lesson_choices().chosen.items():
        if name in GIVEN_MATRICES and str(text).strip():
            typed[name] = text
    return typed


def setup_with_matrices(texts: dict[str, str]) -> Setup:
    """The example with matrices in the place of its own. Raises AttentionError for what is none."""
    matrices = {}
    for name, text in texts.items():
        matrix = parse_matrix(text, name)
        matrices[name] = to_text(matrix, name)
    w_o = "none" if texts else None  # another width of x would bring a W_o
    return Setup(example=PRINTED_EXAMPLE, w_o=w_o, **matrices)


def check_given_matrix(name: str, text: str) -> None:
    """Raises AttentionError where a typed matrix is too large to be drawn, or does not go with the others."""
    matrices = get_typed_matrices()
    matrices.pop(name, None)
    if text.strip():
        check_matrix_size(name, text)
        matrices[name] = text
    trace_for(setup_with_matrices(matrices))


def check_matrix_size(name: str, text: str) -> None:
    """Raises AttentionError where a typed matrix has too many rows or columns."""
    rows, columns = parse_matrix(text, name).shape
    sizes = {"too_many_rows": rows, "too_many_columns": columns}
    for refusal, size in sizes.items():
        if size > MAX_TYPED_SIDE:
            raise AttentionError(refusal, name=name, limit=MAX_TYPED_SIDE, given=size)
