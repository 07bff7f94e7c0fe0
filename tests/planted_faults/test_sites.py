"""Faults that are planted are other code that still runs, and each stands where it was found."""

import ast

import pytest

from tests.planted_faults.sites import Fault, javascript_faults, python_faults

PYTHON = """
LIMIT = 3

def take(values: list[int] = [1], most: int = 2) -> bool:
    \"\"\"Keeps 1 and 2.\"\"\"
    if not values and most >= 4:  # 5
        return "6 + 7"
    return 语 + most * -x % 8 in (True, 9)
"""
PYTHON_FAULTS = {
    ("not ", ""),
    ("and", "or"),
    (">=", ">"),
    ("4", "5"),
    ("+", "-"),
    ("*", "/"),
    ("-", ""),
    ("%", "//"),
    ("8", "9"),
    ("in", "not in"),
    ("True", "False"),
    ("9", "10"),
}
JAVASCRIPT = """
// 1 + 2
const said = `3 + 4` + "5 < 6"; /* 7 */
if (given && width <= 1.5) return list.at(-1) === true;
"""
JAVASCRIPT_FAULTS = {("+", "-"), ("&&", "||"), ("<=", "<"), ("1", "2"), ("===", "!=="), ("true", "false")}


def pieces(faults: list[Fault]) -> set[tuple[str, str]]:
    return {(fault.piece, fault.wrong) for fault in faults}


def test_faults_of_python_leave_out_texts_types_and_what_stands_outside_functions():
    assert pieces(python_faults("a.py", PYTHON)) == PYTHON_FAULTS


def test_faults_of_javascript_leave_out_texts_and_comments():
    assert pieces(javascript_faults("a.js", JAVASCRIPT)) == JAVASCRIPT_FAULTS


@pytest.mark.parametrize("fault", python_faults("a.py", PYTHON), ids=lambda fault: f"{fault.piece} {fault.wrong}")
def test_a_planted_fault_changes_its_piece_alone(fault, tmp_path):
    (tmp_path / "a.py").write_text("# a line before\n" + PYTHON, encoding="utf-8")
    assert fault.plant(tmp_path)
    planted = (tmp_path / "a.py").read_text(encoding="utf-8")
    assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(PYTHON))
    (changed,) = set(planted.split("\n")) - set(PYTHON.split("\n")) - {"# a line before"}
    assert changed == fault.line[: fault.column] + fault.wrong + fault.line[fault.column + len(fault.piece) :]


def test_a_fault_whose_line_is_gone_is_not_planted(tmp_path):
    fault = python_faults("a.py", PYTHON)[0]
    (tmp_path / "a.py").write_text("LIMIT = 3\n", encoding="utf-8")
    assert not fault.plant(tmp_path)
    assert not Fault("b.py", "x", 0, "x", "y").plant(tmp_path)
