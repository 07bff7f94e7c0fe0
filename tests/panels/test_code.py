"""The code drawer: both listings of the opened step, on the operands of the run, and nothing while it is closed."""

import re

import numpy as np
import pytest

from pages.panels import step
from pages.runs import cache
from pages.site.words import load_app_texts
from tests.screen.driver import Screen


def opened(**link):
    return Screen("step_drawer", "code", **link)


def codes(screen):
    return [block.value for block in screen.at.code if "def " in block.value]


def test_both_listings_stand_beside_each_other_with_the_call():
    ours, twin = codes(opened().open_step("q"))
    assert ours.splitlines()[-5:] == [
        "    return x.transpose(1, 2)  # (B, H, T, d)",
        "    #   x.transpose(1, 2): (1, 2, 7, 2), strides (28, 2, 4, 1), not contiguous",
        "",
        "",
        "q = split_heads(q_projected, heads=2)",
    ]
    assert "    #   x.view(B, T, heads, width // heads): (1, 7, 2, 2), strides (28, 4, 2, 1)\n" in ours
    assert twin.startswith("def split_heads_numpy(x, *, heads):\n    #   x: (1, 7, 4), strides (28, 4, 1)\n")
    assert twin.endswith("\n\n\nq = split_heads_numpy(q_projected, heads=2)")


def test_the_shapes_follow_the_run():
    screen = opened().set("masks", ["causal"]).open_step("masked_scores")
    where = 'torch.where(allowed, scores, float("-inf"))'
    assert f"#   {where}: (1, 2, 7, 7), strides (98, 49, 7, 1)\n" in codes(screen)[0]
    assert "#   allowed: (1, 1, 7, 7), strides (49, 49, 7, 1)\n" in codes(screen)[0]
    screen.set("text", "Anna fed the cat").set("heads", 4)
    assert cache.trace_for(screen.setup())["scores"].shape == (1, 4, 4, 4)
    assert f"#   {where}: (1, 4, 4, 4), strides (64, 16, 4, 1)\n" in codes(screen)[0]
    screen.press("other_language")
    assert f"#   {where}: (1, 4, 4, 4)，步长 (64, 16, 4, 1)\n" in codes(screen)[0]


def test_an_input_has_no_code():
    assert codes(opened().open_step("x")) == []


def test_nothing_is_listed_while_the_drawer_is_closed(monkeypatch):
    monkeypatch.setattr(step, "listing", lambda *_: pytest.fail("listed behind a closed drawer"))
    screen = Screen("step_drawer").open_step("weights")
    assert [drawer.label for drawer in screen.at.expander if drawer.label.startswith("The code that ran")]
    assert codes(screen) == []


CALLS = {
    "np.matmul(x, w)": np.matmul,
    "np.matmul(q, np.transpose(k, (0, 1, 3, 2)))": lambda q, k: np.matmul(q, np.transpose(k, (0, 1, 3, 2))),
    "np.matmul(weights, v)": np.matmul,
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_said_of_einsum_is_what_np_matmul_computes(language):
    said = re.findall(r"“([a-z,>-]+)”[^`]*`([^`]+)`", load_app_texts(language)["code.einsum"])
    assert [letters for letters, _ in said] == ["btm,mn->btn", "bhtd,bhsd->bhts", "bhts,bhsd->bhtd"]
    sizes = dict(zip("bhtsdmn", (2, 3, 5, 7, 11, 13, 17), strict=True))
    rng = np.random.default_rng(0)
    for letters, call in said:
        axes = letters.partition("->")[0].split(",")
        one, other = (rng.standard_normal([sizes[letter] for letter in part]) for part in axes)
        np.testing.assert_allclose(CALLS[call](one, other), np.einsum(letters, one, other), atol=1e-12)


def test_the_sentence_stands_where_einsum_is_called():
    for name, calls_it in (("scores", True), ("q", False)):
        captions = [caption.value for caption in opened().open_step(name).at.caption]
        assert any(text.startswith("np.einsum multiplies") for text in captions) is calls_it
