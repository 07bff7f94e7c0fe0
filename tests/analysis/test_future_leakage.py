"""Whether a word can learn of its future: counted by loops, and measured against the numbers of a story."""

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend, attend_qkv
from attention_core.analysis.target_leakage import LookAhead, compare_with_causal, share_ahead, with_moved_rows
from attention_core.examples.examples import EXAMPLES
from tests.faces import assert_five_faces
from tests.golden import loader

MOVED = loader.read(loader.STORIES)["measured"]["leak test en_it (barked -> smiled), max change per output row"]
B, T, D, D_OUT = 2, 5, 3, 7


def run(x, generator_seed=0, masks=()):
    generator = torch.Generator().manual_seed(generator_seed)
    draw = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)  # noqa: E731
    weights = Weights(w_q=draw(D, D), w_k=draw(D, D), w_v=draw(D, D), w_o=draw(D, D_OUT))
    return attend(x, weights=weights, config=AttentionConfig(masks=masks))


@pytest.fixture
def pair(generator):
    """A batch, and the same with another word at place 3 of its second sentence."""
    before = torch.randn((B, T, D), generator=generator, dtype=torch.float64)
    now = before.clone()
    now[1, 3] += 1.0
    return before, now


# ---- outputs that move -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("masks", "name"), [((), "unmasked"), (("causal",), "causal")])
def test_how_far_outputs_move_is_what_the_story_says(masks, name):
    tokens = ("Anna", "fed", "the", "dog", "and", "it", "smiled")
    rows, _ = EXAMPLES["en_it"].dictionary().vectors_of(tokens)
    story = EXAMPLES["en_it"]
    weights = Weights(**{name: story.tensor(name) for name in ("w_q", "w_k", "w_v", "w_o")})
    config = AttentionConfig(heads=2, masks=masks)
    before, now = (attend(x, weights=weights, config=config) for x in (story.tensor("x"), torch.tensor(rows).double()))
    moved = with_moved_rows(now, before)["moved"][0].tolist()
    expected = MOVED[name]
    assert moved == pytest.approx(expected, abs=5e-4)
    assert [far == 0 for far in moved] == [stated == 0 for stated in expected]  # not one bit


def test_each_row_is_compared_with_its_own(pair):
    before, now = (run(x) for x in pair)
    moved = with_moved_rows(now, before)
    assert moved.step("moved").dims == ("B", "T")
    for b in range(B):
        for t in range(T):
            gaps = [abs(float(now["output"][b, t, m] - before["output"][b, t, m])) for m in range(D_OUT)]
            assert moved["moved"][b, t].item() == max(gaps)
    assert (moved["moved"][0] == 0).all() and (moved["moved"][1] > 0).all()


def test_a_causal_run_moves_from_the_changed_word_on_alone(pair):
    before, now = (run(x, masks=("causal",)) for x in pair)
    assert (with_moved_rows(now, before)["moved"][1] > 0).tolist() == [False, False, False, True, True]


def test_another_step_than_the_output(pair):
    before, now = (run(x) for x in pair)
    moved = with_moved_rows(now, before, "weights")
    assert moved.step("moved").dims == ("B", "H", "T")
    assert moved["moved"].shape == (B, 1, T)


def test_the_step_has_all_faces(pair):
    before, now = (run(x) for x in pair)
    assert_five_faces(with_moved_rows(now, before), "moved")


# ---- pairs and weight that lie ahead ---------------------------------------------------------------------------------
def test_pairs_that_look_ahead_are_counted_one_by_one(generator):
    for _ in range(20):
        allowed = torch.rand((T, T), generator=generator) < 0.5
        later = sum(bool(allowed[i, j]) for i in range(T) for j in range(T) if j > i)
        missing = sum(not allowed[i, j] for i in range(T) for j in range(T) if j <= i)
        assert compare_with_causal(allowed) == LookAhead(later, missing)


def test_only_the_causal_mask_is_neither_ahead_nor_missing():
    causal = torch.ones(T, T).tril().bool()
    assert compare_with_causal(causal) == LookAhead(0, 0)
    for i in range(T):
        for j in range(T):
            other = causal.clone()
            other[i, j] = not other[i, j]
            assert compare_with_causal(other) == (LookAhead(1, 0) if j > i else LookAhead(0, 1))


def test_the_share_of_weight_that_lies_ahead(generator):
    weights = torch.rand((T, T), generator=generator, dtype=torch.float64)
    ahead = sum(float(weights[i, j]) for i in range(T) for j in range(i + 1, T))
    assert share_ahead(weights) == pytest.approx(ahead / float(weights.sum()), abs=1e-12)
    even = attend_qkv(*[torch.zeros(7, 2)] * 3)["weights"][0, 0]
    assert share_ahead(even) == pytest.approx(21 / 49, abs=1e-6)  # of 49 even weights 21 lie above the diagonal
    assert share_ahead(even.tril()) == 0
    assert share_ahead(torch.zeros(3, 3)) == 0
