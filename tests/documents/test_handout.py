"""The handout: sentence, settings, maps and numbers on paper; blank grids; what is left out is said."""

import re

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend
from attention_core.documents import html
from attention_core.documents.formulas import FormulaPicture
from attention_core.documents.handout import (
    MAX_PAPER_HEADS,
    MAX_PAPER_SIDE,
    PAPERS,
    Grid,
    Heading,
    Paragraph,
    blank_grid,
    handout,
    run_handout,
)
from attention_core.documents.provenance import Provenance
from attention_core.explanation.shown_steps import shown_steps
from attention_core.record.number_text import format_fixed
from tests.documents.test_phone_page import IMPRINT, LINK, Read, telling
from tests.explanation.test_scripts import ATTENTION_RUNS, trace_of
from tests.session.test_hostile_words import HOSTILE

HEADINGS = ("The heads' maps", "Every step")


def printed(name, paper="A4", at=None):
    return run_handout(trace_of(name), at or {}, IMPRINT, telling(), paper, HEADINGS)


def grids(text):
    """The matrices in order, as (title, rows of texts)."""
    for figure in re.findall(r"<figure>(.*?)</figure>", text, re.DOTALL):
        rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", figure, re.DOTALL)]
        yield re.search(r"<figcaption>title (\w+)", figure)[1], rows[1:]


@pytest.mark.parametrize("name", [name for name in ATTENTION_RUNS if not name.startswith("large")])
def test_every_number_of_every_step_is_printed(name, monkeypatch):
    """Beside the formulas, which take nine tenths of the time: the page for phones lays out the same ones."""
    monkeypatch.setattr(html, "typeset_formula", lambda *_: FormulaPicture("<svg></svg>", (), 1.0, 1.0))
    trace, found = trace_of(name), {}
    for step, rows in grids(printed(name)):
        found.setdefault(step, []).append(rows)
    assert {*found} == {*shown_steps(trace)}
    found["weights"] = found["weights"][len(found["weights"]) // 2 :]  # the first half are the maps
    for step, matrices in found.items():
        dims, value = trace.step(step).dims, trace[step].detach()
        for axis in reversed(range(len(dims[:-2]))):
            value = value if dims[axis] in ("H", "H_kv") else value.select(axis, 0)
        value = value.reshape(-1, *(value.shape[-2:] if len(dims) > 1 else (1, len(value))))[
            :MAX_PAPER_HEADS, :MAX_PAPER_SIDE, :MAX_PAPER_SIDE
        ]
        is_bool = value.dtype == torch.bool
        expected = [
            [[str(int(each)) if is_bool else format_fixed(float(each)) for each in row] for row in matrix]
            for matrix in value.double().tolist()
        ]
        blocked = [[[each if each != "0" else "0.00" for each in row] for row in matrix] for matrix in matrices]
        assert (matrices if is_bool else blocked) == expected, step


@pytest.mark.parametrize("paper", PAPERS)
def test_it_says_what_it_is_and_where_it_is_from_and_is_made_for_its_paper(paper):
    text = printed("small", paper)
    read = Read(text)
    for wanted in ("Anna fed the dog", "“it” gives 93 % to “dog”.", "Score: dot", *HEADINGS, LINK, IMPRINT.lines[2]):
        assert wanted in read.texts
    assert f"@page {{ size: {PAPERS[paper]};" in text
    labels = [each for each in read.attributes if each[:2] == ("svg", "aria-label")]
    assert len(labels) == len(shown_steps(trace_of("small")))
    assert "prefers-color-scheme" not in text and "script-src 'none'" in text.replace("&#39;", "'")
    assert {"script", "link", "img", "iframe"} & {*read.tags} == set()


def test_blank_grids_and_solutions_are_laid_out_by_the_same_function():
    parts = [
        Heading("Fill in"),
        Paragraph("scores = q k"),
        Grid(blank_grid("q", ("a", "b"), ("1", "2", "3")), latex="Q = X W_q"),
    ]
    text = handout(parts, Provenance("Practise", LINK), "Letter", "en")
    assert text.count('<td class="blank"></td>') == 6
    assert [text.index(each) for each in ("Fill in", "scores = q k", "Q = X W_q")] == sorted(
        text.index(each) for each in ("Fill in", "scores = q k", "Q = X W_q")
    )


def test_what_paper_would_cut_is_refused():
    wide = Grid(blank_grid("q", ("a",), tuple(map(str, range(MAX_PAPER_SIDE + 1)))))
    with pytest.raises(AttentionError, match="columns"):
        handout([wide], IMPRINT, "A4", "en")
    with pytest.raises(AttentionError, match="paper must be one of A4, Letter"):
        handout([], IMPRINT, "A5", "en")


def test_a_large_run_is_shortened_and_says_so():
    trace = attend(torch.randn(512, 64, generator=torch.Generator().manual_seed(0)), config=AttentionConfig(heads=8))
    text = run_handout(trace, {"T": 300}, IMPRINT, telling(), "A4", HEADINGS)
    assert len(text) < 500_000 and text.count("and 4 more heads") >= 4
    assert all(
        len(rows) <= MAX_PAPER_SIDE and all(len(row) <= MAX_PAPER_SIDE for row in rows) for _, rows in grids(text)
    )


@pytest.mark.parametrize("word", [*HOSTILE, "</style><script>", "</title>"])
def test_no_word_is_markup(word):
    text = run_handout(trace_of("small"), {}, Provenance(word, LINK, (word,)), telling((word,), word), "A4", HEADINGS)
    assert Read(text).tags == Read(printed("small")).tags
