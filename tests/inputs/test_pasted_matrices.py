"""Matrices as people paste them, from programs, documents and spreadsheets; what is ambiguous is asked."""

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_core.explanation.projections import matrix_latex
from attention_core.inputs.matrix_cells import MAX_CHARACTERS
from attention_core.inputs.matrix_text import parse_matrix, read_cell
from attention_core.record.errors import AttentionError

CASES = json.loads(Path(__file__).with_name("pasted_matrices.json").read_text(encoding="utf-8"))
EIGHTHS = st.integers(-8000, 8000).map(lambda whole: whole / 8)  # three decimals write them exactly
MATRICES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=5), elements=EIGHTHS)
PAIR = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
COLUMNS = [[[1, 3], [2, 4]], [[1, 2], [3, 4]], [[1, 3]], [[2, 4]]]  # as rows, as columns, each alone
TABLES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=5), elements=EIGHTHS)


@pytest.mark.parametrize("text, rows", CASES)
def test_every_form_is_read(text, rows):
    assert parse_matrix(text).tolist() == rows


@pytest.mark.parametrize("text, rows", CASES[:12])
def test_a_form_is_read_with_other_line_ends_and_blanks_around_it(text, rows):
    assert parse_matrix("\n" + text.replace("\n", "\r\n") + "\n\n").tolist() == rows


# ---- what programs write of any numbers ------------------------------------------------------------------------------
def exact_texts(numbers):
    """The matrix as programs write it with all its digits."""
    tensor = torch.from_numpy(numbers)
    with np.printoptions(precision=17, suppress=False, threshold=10**6):
        yield str(numbers)
        yield repr(numbers)
        yield f"Q = {numbers!r}"
    yield np.array2string(numbers, separator=", ", precision=17)
    yield json.dumps({"q": numbers.tolist()})
    yield str([[np.float64(number) for number in row] for row in numbers.tolist()])
    torch.set_printoptions(precision=10, sci_mode=False)
    yield repr(tensor)
    yield repr(tensor[None, None].requires_grad_())
    yield repr(torch.nn.Parameter(tensor))
    torch.set_printoptions(profile="default")
    yield repr(sympy.Matrix(numbers.tolist()))
    yield sympy.latex(sympy.Matrix(numbers.tolist()))
    yield sympy.mathematica_code(sympy.Matrix(numbers.tolist()))
    yield f"```python\nx = torch.tensor({numbers.tolist()}, dtype=torch.float64)\n```"
    rows = [", ".join(f"{number:.4f}f" for number in row) for row in numbers.tolist()]
    yield f"float a[{len(rows)}][{numbers.shape[1]}] = {{{{{'}, {'.join(rows)}}}}};"
    rows = [" ".join(map(repr, row)) for row in numbers.tolist()]
    yield f"A = [{'; '.join(rows)}];"


@settings(max_examples=15)
@given(MATRICES)
def test_what_programs_print_is_read_back(numbers):
    for text in exact_texts(numbers):
        assert np.array_equal(parse_matrix(text), numbers), text


def table_texts(numbers):
    """The matrix as a table with a head and names of rows, and with a head alone."""
    words = ["it", "dog", "bone", "The", "[CLS]"]
    for index in (range(len(numbers)), words[: len(numbers)]):
        for columns in (range(numbers.shape[1]), words[: numbers.shape[1]]):
            frame = pd.DataFrame(numbers, index=list(index), columns=list(columns))
            yield frame.to_csv()
            yield frame.to_csv(sep="\t")
            yield frame.to_csv(sep=";", decimal=",")
            yield frame.to_html()
            yield frame.to_string()
            yield frame.to_latex(float_format="%.3f")
            yield write_markdown(frame)
    frame = pd.DataFrame(numbers, columns=words[: numbers.shape[1]])
    yield frame.to_csv(index=False)
    yield frame.to_html(index=False)
    yield frame.to_latex(index=False, float_format="%.3f")


def write_markdown(frame):
    """As pandas and tabulate write a data frame in Markdown."""
    lines = [f"|    | {' | '.join(map(str, frame.columns))} |", "|---:" * (frame.shape[1] + 1) + "|"]
    for name, row in zip(frame.index, frame.to_numpy().tolist(), strict=True):
        lines.append(f"| {name} | {' | '.join(map(repr, row))} |")
    return "\n".join(lines)


@settings(max_examples=5)
@given(TABLES)
def test_tables_are_read_without_their_heads_and_names(numbers):
    for text in table_texts(numbers):
        assert np.array_equal(parse_matrix(text), numbers), text


@settings(max_examples=15)
@given(MATRICES)
def test_decimal_commas_of_a_spreadsheet_are_read(numbers):
    rows = [[f"{number:.4f}".replace(".", ",") for number in row] for row in numbers.tolist()]
    for between in ("\t", ", ", " "):
        text = "\n".join(between.join(row) for row in rows)
        if numbers.shape[1] > 1:
            assert np.array_equal(parse_matrix(text), numbers), text


def test_the_latex_that_the_app_writes_is_read_back():
    numbers = torch.tensor([[0.25, -1.5], [3.0, 0.0]])
    assert parse_matrix(f"Q = {matrix_latex(numbers)}").tolist() == numbers.tolist()


# ---- what is asked, and what is refused ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text, code, readings",
    [
        ("1,234", "ambiguous_comma", [[[1, 234]], [[1.234]], [[1234]]]),
        ("1,234\t5", "ambiguous_comma", [[[1.234, 5]], [[1234, 5]]]),
        ("1,234\t5,678", "ambiguous_comma", [[[1.234, 5.678]], [[1234, 5678]]]),
        ("0,5\t1.234", "ambiguous_comma", [[[0.5, 1.234]], [[0.5, 1234]]]),
        ("1,234.5\n2,345.5", "ambiguous_comma", [[[1234.5], [2345.5]], [[1, 234.5], [2, 345.5]]]),
        ("1.234,56\n7.890,12", "ambiguous_comma", [[[1234.56], [7890.12]], [[1.234, 56], [7.89, 12]]]),
        ("0,5, 2.5", "ambiguous_comma", [[[0.5, 2.5]], [[0, 5, 2.5]]]),
        ("| 1 | 2 |\n|---|---|\n| 3 | 4 |", "ambiguous_head", [[[3, 4]], [[1, 2], [3, 4]]]),
        ("q = [[1, 2]]\nk = [[3], [4]]", "several_matrices", [[[1, 2]], [[3], [4]]]),
        ('{"q": [[1, 2]], "k": [[3], [4]]}', "several_matrices", [[[1, 2]], [[3], [4]]]),
        (r"\begin{pmatrix}1\end{pmatrix}\begin{pmatrix}2\end{pmatrix}", "several_matrices", [[[1]], [[2]]]),
        ("[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]", "several_matrices", PAIR),
        ("[[1. 2.]\n [3. 4.]]\n\n[[5. 6.]\n [7. 8.]]", "several_matrices", PAIR),
        ("(array([[1, 2],\n       [3, 4]]), array([[5, 6],\n       [7, 8]]))", "several_matrices", PAIR),
        ("Q: [[1 2]\n [3 4]]\nK: [[5 6]\n [7 8]]", "several_matrices", PAIR),
        ("Q\n1 2\n3 4\n\nK\n5 6\n7 8", "several_matrices", PAIR),
        ("[[1, 2], [3, 4]]\nK = [[5, 6], [7, 8]]", "several_matrices", PAIR),
        ("1 2\n3 4\n\n5 6\n7 8", "several_matrices", [[*PAIR[0], *PAIR[1]], *PAIR]),
        ("1\t2\n3\t4\n \t\n\n5\t6\n7\t8\n", "several_matrices", [[*PAIR[0], *PAIR[1]], *PAIR]),
        ("a,b\n1,2\n3,4\n\na,b\n5,6\n7,8", "several_matrices", [[*PAIR[0], *PAIR[1]], *PAIR]),
        ("1 2\n3 4\n\n5 6 7\n8 9 1", "several_matrices", [PAIR[0], [[5, 6, 7], [8, 9, 1]]]),
        ("A(:,:,1) =\n\n   1   2\n   3   4\n\nA(:,:,2) =\n\n   5   6\n   7   8\n", "several_matrices", PAIR),
        (
            ", , 1\n\n     [,1] [,2]\n[1,] 1 2\n[2,] 3 4\n\n, , 2\n\n     [,1] [,2]\n[1,] 5 6\n[2,] 7 8\n",
            "several_matrices",
            PAIR,
        ),
        ('{"a": {"0": 1, "1": 3}, "b": {"0": 2, "1": 4}}', "several_matrices", COLUMNS),
        ("{'a': {0: 1, 1: 3}, 'b': {0: 2, 1: 4}}", "several_matrices", COLUMNS),
        ("q1 = (1, 3)\nq2 = (2, 4)", "several_matrices", [COLUMNS[0], *COLUMNS[2:]]),
        ("My matrix\n5 1 2\n7 3 4", "ambiguous_index", [[[5, 1, 2], [7, 3, 4]], [[1, 2], [3, 4]]]),
        ("a\n0 2\n1 4", "ambiguous_index", [[[0, 2], [1, 4]], [[2], [4]]]),
        ("1,000 2,000", "ambiguous_comma", [[[1, 2]], [[1000, 2000]]]),
        (
            "[" + " ".join(["0.125"] * 12) + "\n " + " ".join(["0.125"] * 12) + "]",
            "ambiguous_rows",
            [[[0.125] * 12] * 2, [[0.125] * 24]],
        ),
    ],
)
def test_what_is_ambiguous_is_asked_with_its_readings(text, code, readings):
    with pytest.raises(AttentionError) as caught:
        parse_matrix(text, name="W_q")
    assert caught.value.code == code
    assert [parse_matrix(reading).tolist() for reading in caught.value.values["readings"]] == readings


@pytest.mark.parametrize(
    "text, rows",
    [
        ("1,5,2,5", [[1, 5, 2, 5]]),
        ("1,234\t0.5", [[1234, 0.5]]),
        ("1,234\t0,5", [[1.234, 0.5]]),
        ("1,234.5\t2", [[1234.5, 2]]),
        ("1.234,5\t2", [[1234.5, 2]]),
        ("1 234,5\t2,0", [[1234.5, 2]]),
        ("1'234.5 2", [[1234.5, 2]]),
        ("1.234\t5", [[1.234, 5]]),
        ("0,5, 1", [[0.5, 1]]),
        ("1,5 2.5", [[1.5, 2.5]]),
        ("[0,5, 0,25]", [[0, 5, 0, 25]]),
        ("| 0.5 | 2 |\n|---|---|\n| 3 | 4 |", [[0.5, 2], [3, 4]]),
    ],
)
def test_what_can_be_read_in_one_way_is_not_asked(text, rows):
    assert parse_matrix(text).tolist() == rows


@pytest.mark.parametrize(
    "text, code, values",
    [
        (
            "tensor([[0.1, 0.2,  ..., 0.3],\n        ...,\n        [0.7, 0.8,  ..., 0.9]])",
            "numbers_left_out",
            {"line": 1},
        ),
        ("[[1 2]\n [3 …]]", "numbers_left_out", {"line": 2, "given": "…"}),
        (r"\begin{pmatrix} 1 & \dots & 2 \end{pmatrix}", "numbers_left_out", {"given": r"\dots"}),
        ("   a  ...  b\n0  1  ...  2\n", "numbers_left_out", {}),
        ("2×3 Matrix{Float64}:\n 1.0  …  2.0\n ⋮", "numbers_left_out", {"line": 2}),
        ("[sqrt(2), 1]", "not_understood", {"line": 1, "given": "sqrt(2), 1]"}),
        ("[[1, 2],\n [3, 4]].T", "not_understood", {"given": ".T"}),
        ("np.array([[1, 2]], scale=3)", "not_understood", {"given": "scale=3)"}),
        ("[[1, 2]] * 3", "brackets", {}),
        (r"\frac{1}{2}\begin{pmatrix}1 & 2\end{pmatrix}", "not_understood", {}),
        (r"\begin{pmatrix}1 & 2\end{pmatrix}^T", "not_understood", {"given": "^T"}),
        (r"\begin{pmatrix}1 & x\end{pmatrix}", "not_a_number", {"row": 1, "column": 2, "given": "x"}),
        (r"\begin{pmatrix}1 & -\infty\end{pmatrix}", "cell_not_finite", {}),
        (r"\begin{pmatrix}1 & 2", "brackets", {}),
        ("| a | b |\n|---|---|\n| 1 | |", "not_a_number", {"row": 1, "column": 2, "given": ""}),
        ("a,b\n1,x", "not_a_number", {"row": 1, "column": 2, "given": "x"}),
        ("<table><tr><td colspan=2>1</td></tr></table>", "not_understood", {}),
        ("<table><tr><td><script>alert(1)</script></td></tr></table>", "not_a_number", {"given": ""}),
        ("matrix(c(1, 2, 3), nrow=2)", "cells_count", {"given": 3}),
        ("matrix(c(1, 2), nrow=1) * 3", "not_understood", {}),
        ("Columns 1 through 2\n1 2\n3 4\nColumn 3\n5", "blocks_differ", {"lengths": "2, 1"}),
        (str([[[1, 2]]] * 9), "rank", {"shape": (9, 1, 2)}),
        ("<Sparse matrix of 2 elements>\n  Coords\tValues\n  (0, 0)\t1.0\n  (1, 1)\t4.0", "not_a_number", {"row": 1}),
        ("Row 1: 1, 2", "not_a_number", {"given": "Row 1: 1"}),
        ("1½", "not_a_number", {"given": "1½"}),
        ("2²", "not_a_number", {"given": "2²"}),
        ("Q: 1 2", "not_a_number", {"row": 1, "column": 1, "given": "Q:"}),
        ("1 2\nx 3 4", "not_a_number", {"row": 2, "column": 1, "given": "x"}),
        ("sin(1) 2", "not_a_number", {"given": "sin(1)"}),
        ("1-2", "not_a_number", {}),
        ("nan 1\nnan 2", "cell_not_finite", {"row": 1, "column": 1}),
        ("1\t#N/A\n2\t3", "not_a_number", {"row": 1, "column": 2, "given": "#N/A"}),
        ("O 1\nl 2", "not_a_number", {"row": 1, "column": 1, "given": "O"}),
        ("1 -", "not_a_number", {"column": 2, "given": "-"}),
    ],
)
def test_what_is_not_understood_is_named(text, code, values):
    with pytest.raises(AttentionError) as caught:
        parse_matrix(text, name="W_q")
    assert caught.value.code == code
    assert caught.value.values.items() >= values.items()
    assert "W_q" in str(caught.value)


@pytest.mark.parametrize(
    "text, number", [("0,5", 0.5), ("１", 1), ("–2", -2), ("12 %", 0.12), ("½", 0.5), ("1.5D+03", 1500)]
)
def test_a_typed_cell_is_read_as_a_pasted_one(text, number):
    assert read_cell(text, "w_q", 1, 1) == number


def test_a_typed_cell_that_can_be_two_numbers_is_asked():
    with pytest.raises(AttentionError, match=r"1\.234, or 1234"):
        read_cell("1,234", "w_q", 1, 1)


HOSTILE_PIECES = (
    *(
        "[[1,2],",
        "(",
        "{",
        "tensor(",
        "a.",
        "a=",
        "'a':",
        "\\begin{array}{",
        "\\frac{",
        "<td>",
        "<!--",
        "|",
        "|-",
        "-",
        "1|",
    ),
    *(
        "1,2 ",
        "1 ,",
        "1, ",
        "&",
        "\\\\",
        "a b\n",
        "#",
        "% ",
        '"',
        '"1",',
        "```\n",
        ">>> ",
        "c(",
        "[1,] ",
        "１",
        "½",
        "1^",
        "x10^",
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE_PIECES)
def test_a_hostile_text_takes_time_that_grows_with_its_length(piece):
    begun = time.process_time()
    for text in (
        piece * (MAX_CHARACTERS // len(piece)),
        "1,2 <tr>" + piece * 20_000,
        "1" + " " * 100_000 + piece * 10_000,
    ):
        try:
            parse_matrix(text[:MAX_CHARACTERS])
        except AttentionError as error:
            assert len(str(error)) < 400
    assert time.process_time() - begun < 20  # a square of the length would take hours


@given(st.text(st.sampled_from('01.,;-−+eE/[](){}\t\n ai\\&|<>"=#%$'), max_size=60))
def test_any_text_gives_a_matrix_or_a_refusal(text):
    try:
        matrix = parse_matrix(text)
    except AttentionError:
        return
    assert matrix.ndim == 2
    assert np.isfinite(matrix).all()
