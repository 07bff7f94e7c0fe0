"""A file of kept figures: a row is put in its place, and the others stay."""

import json

from attention_core.learned.figures_file import write_row


def test_a_row_is_written_among_the_others_a_line_each(tmp_path):
    file = tmp_path / "figures.json"
    write_row(file, "b", {"share": 0.5})
    write_row(file, "a", {"share": 0.25})
    write_row(file, "b", {"share": 0.75})
    assert file.read_text("utf-8") == '{\n"a": {"share": 0.25},\n"b": {"share": 0.75}\n}\n'
    assert json.loads(file.read_text("utf-8")) == {"a": {"share": 0.25}, "b": {"share": 0.75}}
