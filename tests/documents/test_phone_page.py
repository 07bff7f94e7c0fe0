"""The page for phones: every number and every line of arithmetic is the run's, and nothing somebody wrote is markup."""

import html
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.documents import phone_page
from attention_core.documents.excerpt import DocumentTexts
from attention_core.documents.phone_page import MAX_PAGE_CELLS, MAX_PAGE_HEADS, MAX_PAGE_TERMS, SceneTexts, scene_page
from attention_core.documents.provenance import Provenance
from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.arithmetic import explain
from attention_core.explanation.formula import formula
from attention_core.explanation.shown_steps import computed_cell, explain_shown, is_computed, shown_steps
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from tests.explanation.test_scripts import ATTENTION_RUNS, DTYPES, numbers, trace_of
from tests.session.test_hostile_words import HOSTILE

LINK = "https://attention.example.edu/?ex=en_it&mask=causal"
IMPRINT = Provenance("Anna fed the dog", LINK, ("Random: x, from seed 3.",))
TEXTS = SceneTexts("Tap a number.", "All steps", "Open it", "Without arithmetic:")


def telling(labels=("one", "two", "three"), sentence="“it” gives 93 % to “dog”."):
    def label(axis, position):
        return labels[position % len(labels)] if axis in ("T", "S") else str(position + 1)

    words = PictureTexts(lambda ref: f"{ref.step}|{','.join(map(str, ref.index))}", label)
    return DocumentTexts(
        "en", sentence, ("Score: dot",), words, lambda part: f"title {part.step}", "and {} more heads".format
    )


class Read(HTMLParser):
    """What a browser finds: the tags, the cells with what they tell, the texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.cells, self.texts, self.attributes = [], [], [], []
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        told = dict(attributes)
        self.inside = None
        if tag == "td" and "data-what" in told:
            self.inside = told
            self.cells.append(told)

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        self.texts.append(text)
        if self.inside is not None:
            self.inside["text"] = text


LARGE = "large float64"  # too large for all its arithmetic
WHOLE = {LARGE, "everything float64", "small"}  # whose matrices are shown as large as a page allows
SIDE = 4  # rows and columns of the matrices of all other runs
OTHER_LARGE = {f"large {dtype}" for dtype in DTYPES} - {LARGE}  # the runs "everything ..." have the other dtypes, too
SUMS = 5  # the arithmetic of every fifth cell is compared, and that of the first of each step


@cache
def page(name):
    with pytest.MonkeyPatch.context() as patch:
        if name not in WHOLE:
            patch.setattr(phone_page, "MATRIX_SIDES", (SIDE,))
        return Read(scene_page(trace_of(name), {}, IMPRINT, telling(), TEXTS))


@pytest.mark.parametrize("name", [name for name in ATTENTION_RUNS if name not in OTHER_LARGE])
def test_every_cell_tells_its_number_and_the_arithmetic_of_the_run(name):
    trace, told = trace_of(name), {}
    for number, cell in enumerate(page(name).cells):
        step, _, index = cell["data-what"].partition("|")
        index = tuple(map(int, index.split(",")))
        value = trace[step][index].item()
        assert cell["data-number"] == format_exact(value)
        is_bool = trace[step].dtype == torch.bool
        assert cell["text"] in ((str(int(value)),) if is_bool else (format_fixed(value), "0"))
        if "data-sum" in cell and (number % SUMS == 0 or not told.get(step)):
            assert cell["data-sum"] == explain_shown(trace, step, index).text
        told.setdefault(step, []).append("data-sum" in cell)
    assert {*told} == {*shown_steps(trace)}
    formulas = [each[2] for each in page(name).attributes if each[:2] == ("svg", "aria-label")]
    assert formulas == [formula(trace, step) for step in shown_steps(trace)]
    assert not [each for each in page(name).attributes if each[1] == "style"]
    unsaid = {step for step, those in told.items() if not all(those) and is_computed(trace, step)}
    if name == LARGE:
        (named,) = [text for text in page(name).texts if text.startswith(TEXTS.untold)]
        assert unsaid and {*named.removeprefix(TEXTS.untold).strip().split(", ")} == unsaid
    else:
        assert unsaid == set()


def test_the_weights_are_those_of_a_softmax_worked_out_apart():
    x, w_q, w_k = (numbers(*shape) for shape in ((3, 4), (4, 4), (4, 4)))
    trace = attend(x, weights=Weights(w_q=w_q, w_k=w_k), config=AttentionConfig(masks=["causal"]))
    read = Read(scene_page(trace, {}, IMPRINT, telling(), TEXTS))
    scores = (x @ w_q).numpy() @ (x @ w_k).numpy().T / 2
    powers = np.where(np.tri(3) > 0, np.exp(scores), 0.0)
    expected = powers / powers.sum(-1, keepdims=True)
    found = {cell["data-what"]: float(cell["data-number"].replace("−", "-").replace("∞", "inf")) for cell in read.cells}
    for i, j in np.ndindex(3, 3):
        assert found[f"weights|0,0,{i},{j}"] == pytest.approx(expected[i, j], abs=1e-14)
    assert sum(cell.get("class") == "blocked" for cell in read.cells if cell["data-what"].startswith("weights")) == 6


def test_its_policy_allows_its_own_style_and_script_and_no_address():
    text = scene_page(trace_of("small"), {}, IMPRINT, telling(), TEXTS)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    wanted = {}
    for kind in ("style", "script"):
        (inside,) = re.findall(rf"<{kind}[^>]*>(.*?)</{kind}>", text, re.DOTALL)
        wanted[f"{kind}-src"] = f"'sha256-{b64encode(sha256(inside.encode()).digest()).decode()}'"
    given = dict(part.split(" ", 1) for part in policy.split("; "))
    assert given == wanted | {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}
    read = page("small")
    assert not [each for each in read.attributes if each[1].startswith("on") or each[1] in ("style", "src", "srcset")]
    outside = [each for each in read.attributes if each[1] == "href" and not each[2].startswith("#")]
    assert outside == [("a", "href", LINK)]  # which only a click follows
    assert {"link", "img", "iframe", "object", "base", "form"} & {*read.tags} == set()


@cache
def plain_tags():
    """The tags of a page whose words are all plain, with a note."""
    return Read(scene_page(trace_of("small"), {}, IMPRINT, telling(), TEXTS, note="x")).tags


@pytest.mark.parametrize(
    "word", [*HOSTILE, "</script><script>alert(1)</script>", "</style>", '" onclick="x', "{{ 1 }}"]
)
def test_no_word_is_markup(word):
    hostile = telling((word, "two", "three"), word)
    text = scene_page(trace_of("small"), {}, Provenance(word, LINK, (word,)), hostile, TEXTS, note=word)
    read = Read(text)
    assert read.tags == plain_tags()
    assert any(word in each for each in read.texts)
    assert not [each for each in read.attributes if each[1].startswith("on")]


def test_a_large_run_is_a_small_page_that_says_what_is_left_out():
    x = torch.randn(512, 64, generator=torch.Generator().manual_seed(0))
    trace = attend(x, config=AttentionConfig(heads=16))
    text = scene_page(trace, {"T": 300}, IMPRINT, telling(), TEXTS)
    read = Read(text)
    once = {cell["data-what"] for cell in read.cells}
    assert len(once) <= MAX_PAGE_CELLS and len(text) < 3_000_000
    assert any(f"and {16 - MAX_PAGE_HEADS} more heads" in each for each in read.texts)
    assert "weights|0,0,300,0" in once or any(what.startswith("weights|0,0,300,") for what in once)
    lengths = [len(explain(trace, cell["data-what"].split("|")[0], (0, 0, 0, 0)).cell.terms) for cell in read.cells[:1]]
    assert lengths == [513] and "Without arithmetic:" in "".join(read.texts)
    said = {}
    for cell in read.cells:
        if "data-sum" in cell:
            said[cell["data-what"]] = cell
    terms = 0
    for what in said:
        step, _, index = what.partition("|")
        computed = computed_cell(trace, Ref(step, tuple(map(int, index.split(",")))))
        terms += len(trace.step(computed.step).operation.cell(computed.index, trace.shapes()).terms)
    assert 0 < terms <= MAX_PAGE_TERMS


def test_every_formula_keeps_its_letters():
    """The outlines stand in the page once; each letter that a formula asks for is there."""
    for name in ("position sinusoidal", "everything float64"):
        text = scene_page(trace_of(name), {}, IMPRINT, telling(), TEXTS)
        asked, there = set(re.findall(r'<use href="#(\w+)"', text)), re.findall(r'<symbol id="(\w+)"', text)
        assert asked <= {*there} and len(there) == len({*there})
    labels = [each[2] for each in Read(text).attributes if each[:2] == ("svg", "aria-label")]
    assert len(labels) == len(shown_steps(trace_of(name)))
