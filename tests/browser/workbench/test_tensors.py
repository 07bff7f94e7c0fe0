"""Somebody's own tensors: what of them differs first, and why; what is refused."""

import io
import re

import numpy as np
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

SIZES = {"q": (1, 3, 5, 7), "k": (1, 3, 11, 7), "v": (1, 3, 11, 2)}  # (B, H, T, d_k), (B, H, S, d_k), (B, H, S, d_v)


def packed(**arrays: np.ndarray) -> bytes:
    """An NPZ file."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def drawn(**sizes: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Arrays of any numbers."""
    numbers = np.random.default_rng(5)
    return {name: numbers.normal(size=size) for name, size in sizes.items()}


def softmax(scores: np.ndarray) -> np.ndarray:
    """Each row as shares."""
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


@pytest.fixture
def bringing(screen):
    """A screen that waits for a file."""
    opened = screen()
    opened.open_way("File")
    opened.page.get_by_test_id("stFileUploader").wait_for()
    opened.settled()
    return opened


def test_weights_without_the_scale_are_named_with_place_and_cause_and_agree_without_it(bringing):
    given = drawn(**SIZES)
    scores = np.einsum("bhtd,bhsd->bhts", given["q"], given["k"])
    theirs, ours = softmax(scores), softmax(scores / np.sqrt(7))
    bringing.upload("mine.npz", packed(weights=theirs, **given))
    said = bringing.page.get_by_text("First step that differs: weights.")
    said.wait_for()
    _, head, query, key = np.unravel_index(np.abs(theirs - ours).argmax(), theirs.shape)
    numbers = re.search(
        rf"most at head {head + 1}, query {query + 1}, key {key + 1}: the file has (\S+), here it is (\S+)\.",
        bringing.page.get_by_test_id("stMarkdown").filter(has=said).inner_text(),
    )
    assert numbers.groups() == tuple(f"{each[0, head, query, key]:.4g}" for each in (theirs, ours))
    cause = "One change reproduces the file's weights, within the rounding of float64: no scale"
    expect(bringing.page.get_by_text(cause)).to_be_visible()
    bringing.page.get_by_text("Scale ÷ √d").click()
    expect(bringing.page.get_by_text("The file's weights agree with what is computed here")).to_be_visible()
    expect(said).to_have_count(0)
    drawn_large = bringing.numbers("weights [head")
    assert len(drawn_large) >= 5 * 11
    for name, number in drawn_large.items():
        at = [int(digits) - 1 for digits in re.findall(r"\d+", name)]
        assert float(number) == pytest.approx(theirs[0, *at], abs=1e-12)


def test_what_is_no_array_is_refused_with_a_sentence_and_the_next_file_is_taken(bringing):
    file = io.BytesIO()
    np.save(file, np.array([{1: 2}], dtype=object), allow_pickle=True)
    alert = bringing.page.get_by_test_id("stAlert")
    bringing.upload("q.npy", file.getvalue())
    expect(alert).to_contain_text("q.npy must hold numbers: it holds pickled Python objects")
    bringing.upload("text.npz", b"0 1 2\n3 4 5\n")
    expect(alert).to_contain_text("text.npz must be an NPZ file, which is a zip archive: it cannot be unpacked")
    assert bringing.sentence().startswith("Head 1: “it” gives 93 %")
    bringing.upload("right.npz", packed(**drawn(**SIZES)))
    expect(alert).to_have_count(0)
    assert bringing.tokens() == list("12345")
    assert len(bringing.page.locator(".flow").evaluate("root => root.flow.data.words.S")) == 11


def test_heads_behind_the_positions_are_told_by_the_shapes(bringing):
    bringing.upload("mine.npz", packed(**drawn(q=(2, 5, 3, 7), k=(2, 11, 3, 7), v=(2, 11, 3, 2))))
    expect(bringing.page.locator(".flow .rail button")).to_have_count(3)
    expect(bringing.page.get_by_text("Axes of q, k, v: (B, T, H, d)")).to_be_visible()
    assert bringing.tokens()[:5] == list("12345")


@pytest.mark.parametrize("names", ["QKV", "qkv"])
def test_the_file_that_is_added_last_is_on_the_screen_and_the_box_says_so(bringing, names):
    given = drawn(**SIZES)
    lower, capital = dict(zip("qkv", given.values(), strict=True)), dict(zip("QKV", given.values(), strict=True))
    capital["Q"] = 2 * capital["Q"]
    first, second = (lower, capital) if names == "QKV" else (capital, lower)
    bringing.upload("first.npz", packed(**first))
    expect(bringing.page.get_by_text("Using q, k, v from first.npz.")).to_be_visible()
    before = bringing.numbers("weights [head")
    bringing.upload("second.npz", packed(**second))
    told = bringing.page.get_by_text("Using q, k, v from second.npz. Nothing is read from first.npz.")
    expect(told).to_be_visible()
    expect(bringing.page.get_by_text("Biggest change: the weight of")).to_be_visible()
    q, k = second[names[0]], second[names[1]]
    weights = softmax(np.einsum("bhtd,bhsd->bhts", q, k) / np.sqrt(7))
    numbers = bringing.numbers("weights [head")
    assert len(numbers) >= 5 * 11 and numbers != before
    for name, number in numbers.items():
        at = [int(digits) - 1 for digits in re.findall(r"\d+", name)]
        assert float(number) == pytest.approx(weights[0, *at], abs=1e-12)
    bringing.page.get_by_role("button", name="Remove second.npz").click()
    expect(bringing.page.get_by_text("Using q, k, v from first.npz.", exact=True)).to_be_visible()
    assert bringing.numbers("weights [head") == before


def test_a_file_belongs_to_one_browser_alone(bringing, screen):
    bringing.upload("mine.npz", packed(**drawn(**SIZES)))
    expect(bringing.page.locator(".flow .rail button")).to_have_count(3)
    bringing.settled()  # the address is written last
    link = "?" + bringing.page.url.partition("?")[2]
    assert "file=" in link
    other = screen(link)
    expect(other.page.get_by_test_id("stAlert")).to_contain_text("file")
    assert other.sentence().startswith("Head 1: “it” gives 93 %")
    assert other.numbers("weights [head 1, it,")  # its picture is drawn
    assert not other.numbers("weights [head 1, 1")
