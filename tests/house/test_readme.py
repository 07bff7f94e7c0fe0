"""The README's notebook lines run, are ten, and give what they promise."""

import contextlib
import io
import re
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCK = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)


def test_the_notebook_lines_run_and_give_what_they_promise():
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(BLOCK, "README", "exec"), names)
    assert "masked_softmax_numpy" in printed.getvalue()
    assert names["trace"]["weights"].dim() == 4
    assert names["explain"](names["trace"], "scores", (0, 0, 1, 0)).text == re.search(r"'(.*= −6\.00)'", BLOCK).group(1)
    assert names["prove"](names["trace"]).passed


def test_they_are_ten_at_most():
    assert len([line for line in BLOCK.splitlines() if line.strip()]) <= 10
