"""What q, k and v are for: exchanged, asked alone, changed alone."""

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.comparison.differences import find_moves
from attention_core.examples.examples import EXAMPLES

EN_IT = EXAMPLES["en_it"]
B, H, T, D, D_K, D_V = 2, 3, 5, 7, 11, 13


def layer(generator):
    shapes = {"w_q": (D, H * D_K), "w_k": (D, H * D_K), "w_v": (D, H * D_V), "w_o": (H * D_V, D)}
    shapes |= {"b_q": (H * D_K,), "b_k": (H * D_K,)}
    weights = {name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
    return torch.randn(B, T, D, generator=generator, dtype=torch.float64), weights


def test_exchanged_w_q_and_w_k_transpose_the_scores(generator):
    x, given = layer(generator)
    config = AttentionConfig(heads=H)
    swapped = given | {"w_q": given["w_k"], "w_k": given["w_q"], "b_q": given["b_k"], "b_k": given["b_q"]}
    one, other = (attend(x, weights=Weights(**each), config=config) for each in (given, swapped))
    torch.testing.assert_close(other["scores"], one["scores"].mT, rtol=0, atol=1e-10)
    assert (other["weights"] - one["weights"].mT).abs().max() > 0.1  # the softmax runs over the keys of each


def test_exchanged_in_en_it_the_dog_asks_for_it():
    """The score of it and dog is 6 either way round; the row of "dog" has one key of 6 and none of -6, so that
    e^4.243 / (e^4.243 + 6) = 69.6 / 75.6 = .921."""
    given = EN_IT.weights()
    swapped = Weights(w_q=given.w_k, w_k=given.w_q, w_v=given.w_v, w_o=given.w_o)
    trace = attend(EN_IT.tensor("x"), weights=swapped, config=EN_IT.config())
    assert torch.equal(trace["scores"], EN_IT.run()["scores"].mT)
    it, dog = EN_IT.tokens.index("it"), EN_IT.tokens.index("dog")
    assert trace["weights"][0, 0, dog, it].item() == pytest.approx(0.921, abs=5e-4)


def test_one_tokens_row_asked_alone_is_its_row_among_all():
    x, full = EN_IT.tensor("x"), EN_IT.run()
    for t in range(len(EN_IT.tokens)):
        row = attend(x[t : t + 1], x, weights=EN_IT.weights(), config=EN_IT.config())
        for step in ("q", "scores", "weights", "head_outputs", "output"):
            at = (slice(None),) * (full[step].dim() - 2) + (slice(t, t + 1),)
            torch.testing.assert_close(row[step], full[step][at], rtol=0, atol=1e-12)


STILL = {
    "w_v": {"q_projected", "q", "k_projected", "k", "scores", "scaled_scores", "masked_scores", "weights"},
    "w_o": {"q", "k", "v", "scores", "weights", "head_outputs", "concat"},
    "w_q": {"k_projected", "k", "v_projected", "v"},
    "w_k": {"q_projected", "q", "v_projected", "v"},
}


@pytest.mark.parametrize(("changed", "still"), STILL.items(), ids=STILL)
def test_what_moves_when_one_matrix_changes(generator, changed, still):
    x, given = layer(generator)
    config = AttentionConfig(heads=H, masks=["causal"])
    other = given | {changed: given[changed] + 1.0}
    one, two = (attend(x, weights=Weights(**each), config=config) for each in (given, other))
    moved = {*find_moves(two, one)}
    assert not moved & still
    own = {"w_o": ["output"]}.get(
        changed, [f"{changed[2:]}_projected", changed[2:], "head_outputs", "concat", "output"]
    )
    assert {changed, *own} <= moved


def test_only_v_changes_touches_only_what_comes_after_the_weights():
    given = EN_IT.weights()
    other = Weights(w_q=given.w_q, w_k=given.w_k, w_v=2 * given.w_v, w_o=given.w_o)
    trace = attend(EN_IT.tensor("x"), weights=other, config=EN_IT.config())
    assert [*find_moves(trace, EN_IT.run())] == ["w_v", "v_projected", "v", "head_outputs", "concat", "output"]
