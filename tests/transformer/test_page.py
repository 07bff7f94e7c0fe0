"""docs/transformer.md: its lines run, and give what the page says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "transformer.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names() -> dict:
    """What the page's names mean when all its lines have run."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    found: dict = {"print": lambda *_: None}
    exec(compile("\n".join(blocks), "transformer.md", "exec"), found)
    return found


def said(line: str) -> str:
    """What the page says behind a line."""
    return re.search(re.escape(line) + r"  # (.*)", PAGE).group(1)


def test_the_parts_are_those_that_the_page_names(names):
    assert ", ".join(names["stack"].parts) == said("list(stack.parts)")
    assert str(tuple(names["stack"]["unembedding"]["probabilities"].shape)) == said(
        'stack["unembedding"]["probabilities"]'
    )
    assert names["prove_stack"](names["stack"]).passed


def test_a_number_is_followed_as_the_page_says(names):
    line = 'stack.source_of("2.attention", Ref("x", (0, 2, 3)))'
    assert str(eval(line, names)) == said(line)  # noqa: S307


def test_the_sum_closes_and_its_parts_are_called_so(names):
    trace = names["trace"]
    assert ", ".join(trace.labels["part"]).startswith(said('trace.labels["part"]').removesuffix(" ..."))
    assert (trace["pushes"].sum(0) - names["stack"]["unembedding"]["logits"]).abs().max() < 1e-12
