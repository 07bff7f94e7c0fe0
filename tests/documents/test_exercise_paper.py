"""An exercise on paper: what is given stands there, what is asked does not, unless with its solutions."""

import re
from functools import partial

import pytest

from attention_core import AttentionError
from attention_core.documents.excerpt import DocumentTexts
from attention_core.documents.handout import Grid, exercise_paper, exercise_parts
from attention_core.documents.provenance import Provenance
from attention_core.drawing.text_layout import PictureTexts
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.generator import make_exercise
from attention_core.exercises.stages import stages_of


def telling_of(trace):
    words = PictureTexts(lambda ref: ref.step, lambda axis, at: str(at + 1))
    return DocumentTexts("en", "Calculate <b>it</b>.", ("heads: 2",), words, lambda drawn: drawn.step, partial(str))


def sheet(trace, solved, paper="A4"):
    imprint = Provenance("Exercise", "http://127.0.0.1/check?kind=two_heads&seed=1")
    return exercise_paper(trace, imprint, telling_of(trace), paper, ("Given", "Calculate"), solved)


def numbers(text):
    """All cells of all tables, in order; the corners of their headings are none."""
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', text, re.S)
    return [cell.strip() for row in rows for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)]


def written(trace, step):
    values = trace[step].flatten().tolist()
    whole = all(value == round(value) for value in values)
    texts = [f"{value:.0f}" if whole else f"{value:.2f}" for value in values]
    if step == "weights":  # a blocked one is exactly 0
        blocked = trace["masked_scores"].isneginf().flatten().tolist()
        texts = ["0" if hidden else text for text, hidden in zip(texts, blocked, strict=True)]
    return [text.replace("-", "−" if float(text) else "") for text in texts]


@pytest.mark.parametrize("level", ["from_qkv", "one_head", "two_heads"])
def test_a_blank_sheet_has_the_given_numbers_and_a_grid_for_each_asked(level):
    trace = make_exercise(level, 3).run()
    cells = numbers(sheet(trace, solved=False))
    asked = sum(trace[step].numel() for step in stages_of(trace))
    given = [text for name in trace.inputs() for text in written(trace, name)]
    assert cells[: len(given)] == given
    assert cells[len(given) :] == [""] * asked


def test_a_formula_names_a_grid_that_stands_there_or_what_a_mask_makes_of_it():
    for level, read in (("from_qkv", r"scaled\_scores"), ("one_head", r"masked\_scores")):
        trace = make_exercise(level, 1).run()
        parts = exercise_parts(trace, telling_of(trace), ("Given", "Calculate"), solved=False)
        equations = [part.latex for part in parts if isinstance(part, Grid)]
        assert any(rf"softmax}}_S(\mathrm{{{read}}})" in equation for equation in equations)


@pytest.mark.parametrize("level", ["from_qkv", "one_head", "two_heads"])
def test_the_solutions_are_the_numbers_of_the_run(level):
    trace = make_exercise(level, 3).run()
    cells = numbers(sheet(trace, solved=True))
    wanted = [text for name in (*trace.inputs(), *stages_of(trace)) for text in written(trace, name)]
    assert cells == wanted


def test_words_are_texts_and_the_address_stands_on_it():
    text = sheet(make_exercise("one_head", 1).run(), solved=False, paper="Letter")
    assert "Calculate &lt;b&gt;it&lt;/b&gt;." in text and "<b>it" not in text
    assert "check?kind=two_heads&amp;seed=1" in text and "size: letter portrait" in text


def test_what_is_larger_than_a_sheet_is_refused():
    with pytest.raises(AttentionError, match="room for matrices of 12 x 12 and 4 heads"):
        sheet(EXAMPLES["eight_heads"].run(), solved=False)
