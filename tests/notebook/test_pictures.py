"""What a notebook shows: the numbers are the Trace's, a picture is bounded, loads nothing, shows any text as it is."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
import torch

from attention_core import (
    AttentionConfig,
    AttentionError,
    LayerConfig,
    LayerWeights,
    StackConfig,
    StackWeights,
    Weights,
    attend,
    attend_qkv,
    diagnose,
    explain,
    feed_forward,
    prove,
    prove_stack,
    run_stack,
)
from attention_core.comparison.differences import subtract_traces
from attention_core.notebook.pictures import MAX_HEADS, MAX_SIDE, draw_html
from attention_core.record.trace import Step, Trace
from attention_core.transformer.feed_forward import FeedForwardWeights
from tests.device.stand_in import send
from tests.session.test_hostile_words import HOSTILE

MAX_BYTES = 300_000


class Page(HTMLParser):
    """The tables of a picture by their captions, the texts outside them, and every tag and attribute."""

    def __init__(self, html):
        super().__init__()
        self.tables, self.heads, self.texts, self.tags, self.attributes = {}, {}, [], [], []
        self.open, self.caption = [], None
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "table":
            self.caption = ""
        if tag == "tr":
            self.tables.setdefault(self.caption, []).append([])
        if tag in ("td", "th"):
            self.last = ""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "td":
            self.tables[self.caption][-1].append(self.last)
        if tag == "th":
            self.heads.setdefault(self.caption, []).append(self.last)

    def handle_data(self, data):
        if self.open[-1] == "caption":
            self.caption += data
        elif self.open[-1] in ("td", "th"):
            self.last += data
        elif self.open[-1] != "style":
            self.texts.append(data)

    def numbers(self, caption):
        return [row for row in self.tables[caption] if row]

    @property
    def text(self):
        return "".join(self.texts)


def printed(matrix):
    """Two decimals and a true minus, as a table prints numbers."""
    return [[f"{x:.2f}".replace("-0.00", "0.00").replace("-", "−") for x in row] for row in matrix.tolist()]


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_numbers_worked_out_by_hand():
    """q k = 1 x 3 - 2 = 1 and 0; e / (e + 1) = 0.731; 0.731 x 5 + 0.269 x 10 = 6.34."""
    k = torch.tensor([[3.0, -1.0], [0.0, 0.0]])
    trace = attend_qkv(torch.tensor([[1.0, 2.0]]), k, torch.tensor([[5.0], [10.0]]), config=AttentionConfig(scale=1.0))
    page = Page(trace._repr_html_())
    assert page.numbers("scores") == [["1.00", "0.00"]]
    assert page.numbers("weights") == [["0.73", "0.27"]]
    assert page.numbers("output") == [["6.34"]]
    assert "1.00 × 3.00 + 2.00 × (−1.00) = 1.00" in page.text


def test_every_number_is_the_traces():
    config = AttentionConfig(heads=3)
    weights = Weights(**{f"w_{role}": drawn(6, 6, seed=n) for n, role in enumerate("qkvo")})
    trace = attend(drawn(5, 6), drawn(7, 6, seed=9), drawn(7, 6, seed=9), weights=weights, config=config)
    page = Page(trace._repr_html_())
    for name in ("scores", "weights"):
        for head in range(3):
            assert page.numbers(f"{name} · head {head}") == printed(trace[name][0, head])
    assert page.numbers("output") == printed(trace["output"][0])


def test_the_marked_cell_is_the_largest_weight_of_the_last_query():
    trace = attend_qkv(drawn(3, 5), drawn(7, 5, seed=1), drawn(7, 2, seed=2))
    key = trace["weights"][0, 0, -1].argmax().item()
    html = trace._repr_html_()
    assert f"weights[0, 0, 2, {key}]" in html and html.count("marked") == 3 + 1  # three cells and one rule of style


def test_a_blocked_cell_is_hatched_and_has_no_colour():
    trace = attend_qkv(drawn(3, 5), drawn(3, 5), drawn(3, 5), config=AttentionConfig(masks=["causal"]))
    html = trace._repr_html_()
    assert html.count('<td class="blocked">0</td>') == 3


def test_512_tokens_are_bounded_and_the_picture_says_so():
    words = tuple(f"word{n}" for n in range(512))
    weights = Weights(**{f"w_{role}": drawn(22, 22, seed=n) for n, role in enumerate("qkvo")})
    config = AttentionConfig(heads=11, masks=["causal"])
    trace = attend(drawn(2, 512, 22), weights=weights, config=config).labelled(T=words, S=words)
    html = trace._repr_html_()
    page = Page(html)
    assert len(html.encode()) <= MAX_BYTES
    assert len(page.tables) == 2 * MAX_HEADS + 1
    assert all(len(page.numbers(name)) == MAX_SIDE for name in page.tables)
    assert page.numbers("weights · head 3")[4][:5] == printed(trace["weights"][0, 3, 4:5, :5])[0]
    for part in ("4 of 11 heads", "sequence 0 of 2", "12 of 512 along T", "12 of 512 along S", "12 of 22 along D"):
        assert part in page.text
    assert "(488 more)" in page.text


def test_any_text_is_shown_as_it_is():
    size = len(HOSTILE)
    few = HOSTILE[:MAX_SIDE]
    assert any("<" in word for word in few)
    trace = attend_qkv(*3 * [torch.eye(size)]).labelled(T=tuple(HOSTILE), S=tuple(HOSTILE))
    page = Page(trace._repr_html_())
    assert set(page.tags) == {"div", "style", "p", "b", "table", "caption", "tr", "th", "td", "span"}
    assert {name for name, _ in page.attributes} <= {"class", "style", "title"}
    assert [text for text in few if text in page.text] == few
    step = "<img src=x onerror=alert(1)>"
    hostile = Trace({step: Step(step, torch.eye(2), ("T", "<i>"))}).labelled(T=("\u202edog", "</style>"))
    page = Page(hostile._repr_html_())
    assert not {"img", "i"} & {*page.tags}
    assert "⟨U+202E⟩dog" in page.heads[step] and "</style>" in page.heads[step]


def test_a_picture_loads_nothing_and_has_no_script():
    html = attend_qkv(*3 * [drawn(3, 2)])._repr_html_()
    assert not any(part in html for part in ("<script", "http", "url(", "@import", "src=", "href="))


def test_meta_tensors_and_empty_ones_are_said():
    meta = Trace({"weights": Step("weights", torch.empty(1, 1, 3, 5, device="meta"), ("B", "H", "T", "S"))})
    assert "on the device meta, which holds no numbers: weights." in Page(meta._repr_html_()).text
    empty = Trace({"v": Step("v", torch.empty(0, 3), ("S", "d_v"))})
    assert "No numbers: an axis of v has size 0." in Page(empty._repr_html_()).text


def test_a_trace_on_another_device_has_the_same_picture():
    given = [drawn(5, 3), drawn(7, 3, seed=1), drawn(7, 2, seed=2)]
    there = attend_qkv(*map(send, given))
    assert there["weights"].device.type != "cpu"
    here = attend_qkv(*given)
    assert there._repr_html_() == here._repr_html_()
    assert replace(there, difference=True)._repr_html_() == replace(here, difference=True)._repr_html_()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_what_is_not_finite_is_shown(dtype):
    value = torch.tensor([[float("nan"), float("inf")], [-float("inf"), 1.0]], dtype=dtype)
    page = Page(Trace({"scores": Step("scores", value, ("T", "S"))})._repr_html_())
    assert page.numbers("scores") == [["NaN", "∞"], ["−∞", "1.00"]]


def test_other_runs_are_drawn_too():
    weights = FeedForwardWeights(w_1=drawn(5, 7), w_2=drawn(7, 5))
    forward = feed_forward(drawn(3, 5), weights)
    page = Page(forward._repr_html_())
    assert page.numbers("output") == printed(forward["output"][0])
    first, second = (attend_qkv(drawn(3, 5, seed=n), drawn(3, 5), drawn(3, 5)) for n in (3, 4))
    page = Page(subtract_traces(first, second)._repr_html_())
    assert "Difference of two runs" in page.text
    assert page.numbers("weights") == printed((first["weights"] - second["weights"])[0, 0])


def test_an_explanation_is_its_text():
    trace = attend_qkv(*3 * [drawn(3, 5)])
    explained = explain(trace, "scores", (0, 0, 1, 2))
    assert Page(explained._repr_html_()).text == f"scores[0, 0, 1, 2] {explained.text}"


def test_a_proof_says_whether_it_holds_and_what_fails_first():
    trace = attend_qkv(*3 * [drawn(3, 5)])
    assert Page(prove(trace)._repr_html_()).text.startswith("Proven. ")
    broken = prove(trace.holding({"weights": trace["weights"].flip(-1)}))
    page = Page(broken._repr_html_())
    assert page.text.startswith("Not proven. ")
    assert page.numbers("")[0][:3] == ["weights", "fails", "the arithmetic as it is written"]
    assert {row[0] for row in page.numbers("")} == {check.step for check in broken.checks}


def test_a_diagnosis_has_its_text_and_both_numbers():
    q, k, v = drawn(5, 3), drawn(7, 3, seed=1), drawn(7, 2, seed=2)
    found = diagnose(lambda q, k, v: torch.softmax(q @ k.mT, -1) @ v, q, k, v)
    page = Page(found._repr_html_())
    assert "no scale" in page.text and str(found) in page.text
    first = found.first
    assert page.numbers("") == [
        [first.step, "differs", *page.numbers("")[0][2:5], f"{first.theirs:.6g}", f"{first.ours:.6g}"]
    ]
    right = diagnose(torch.nn.functional.scaled_dot_product_attention, q, k, v)
    assert Page(right._repr_html_()).text.startswith("All steps agree. ")


def test_a_stack_lists_its_parts_and_draws_one():
    config = StackConfig([LayerConfig(AttentionConfig(residual=True))] * 2)
    stack = run_stack(drawn(3, 5), StackWeights([LayerWeights(Weights())] * 2), config)
    page = Page(stack._repr_html_())
    assert [row[0] for row in page.numbers("")] == ["1.attention", "2.attention"]
    assert page.numbers("weights") == printed(stack["2.attention"]["weights"][0, 0])
    assert Page(prove_stack(stack)._repr_html_()).text.startswith("Proven. ")


def test_only_what_has_a_picture_is_drawn():
    with pytest.raises(AttentionError, match="must be one of Trace, Explanation"):
        draw_html("a text")
