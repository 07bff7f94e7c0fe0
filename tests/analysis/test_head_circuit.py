"""What heads would do with words alone, against naive loops over the matrices."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend
from attention_core.analysis.head_circuits import copying_score, head_circuit, with_answers, with_pushes
from tests.faces import assert_five_faces

T, S, D, H, WIDTH, V = 5, 7, 11, 2, 3, 13


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def weights():
    return Weights(
        w_q=drawn(D, H * WIDTH, seed=1),
        w_k=drawn(D, H * WIDTH, seed=2),
        w_v=drawn(D, H * WIDTH, seed=3),
        w_o=drawn(H * WIDTH, D, seed=4),
    )


def product(x, w, column):
    return sum(float(x[m] * w[m, column]) for m in range(len(x)))


def score(x, key, weights, h):
    columns = range(h * WIDTH, (h + 1) * WIDTH)
    return sum(product(x, weights.w_q, c) * product(key, weights.w_k, c) for c in columns) / WIDTH**0.5


def written(x, weights, h):
    """What a head that looks at x alone adds."""
    columns = range(h * WIDTH, (h + 1) * WIDTH)
    return [sum(product(x, weights.w_v, c) * float(weights.w_o[c, n]) for c in columns) for n in range(D)]


def test_heads_that_share_keys_and_values_are_as_if_each_had_its_own(weights):
    shared = {name: drawn(D, WIDTH, seed=9 + place) for place, name in enumerate(("w_k", "w_v"))}
    repeated = {name: matrix.repeat(1, H) for name, matrix in shared.items()}
    x, table = drawn(T, D), drawn(V, D, seed=5)
    grouped = head_circuit(x, Weights(**weights.given() | shared), AttentionConfig(heads=H, kv_heads=1))
    trace = with_pushes(grouped, table, drawn(D, seed=6))
    assert trace["v"].shape[1] == 1
    for h in range(H):
        scores = [score(x[2], x[s], Weights(**weights.given() | repeated), h) for s in range(T)]
        assert trace["scaled_scores"][0, h, 2].tolist() == pytest.approx(scores, abs=1e-10)
        added = written(x[2], Weights(**weights.given() | repeated), h)
        assert trace["written"][0, h, 2].tolist() == pytest.approx(added, abs=1e-10)
    assert_five_faces(trace, "written", "writes")


def test_a_layer_norm_takes_the_mean_of_what_a_head_adds_away(weights):
    """The last norm with the divisor 1: what it makes of a sum is the sum of what it makes of each part."""
    x, table, gain = drawn(T, D), drawn(V, D, seed=5), drawn(D, seed=6)
    trace = with_pushes(head_circuit(x, weights, AttentionConfig(heads=H)), table, gain, is_centred=True)
    for h in range(H):
        added = written(x[3], weights, h)
        mean = sum(added) / D
        pushes = [sum((added[n] - mean) * float(gain[n] * table[v, n]) for n in range(D)) for v in range(V)]
        assert trace["writes"][0, h, 3].tolist() == pytest.approx(pushes, abs=1e-10)
    assert_five_faces(trace, "centred", "gained", "writes")


@pytest.mark.parametrize("positions", [(), ("alibi",)])
def test_each_score_and_each_push_is_what_a_naive_loop_gives(weights, positions):
    x, table, gain = drawn(T, D), drawn(V, D, seed=5), drawn(D, seed=6)
    config = AttentionConfig(heads=H, masks=("causal",), positions=positions, residual=True)
    trace = with_pushes(head_circuit(x, weights, config), table, gain)
    for h in range(H):
        for t in range(T):
            scores = [score(x[t], x[s], weights, h) for s in range(T)]
            assert trace["scaled_scores"][0, h, t].tolist() == pytest.approx(scores, abs=1e-10)
            added = written(x[t], weights, h)
            pushes = [sum(added[n] * float(gain[n] * table[v, n]) for n in range(D)) for v in range(V)]
            assert trace["writes"][0, h, t].tolist() == pytest.approx(pushes, abs=1e-10)


@pytest.mark.parametrize("all_dim", [0.0, 0.7])
def test_yarn_multiplies_the_scores_of_two_words_at_one_place(weights, all_dim):
    x = drawn(T, D)
    yarn = {"scaling": "yarn", "factor": 8.0, "trained": 32, "mscale_all_dim": all_dim}
    weights = Weights(**{**weights.given(), "w_q": drawn(D, H * 4, seed=1), "w_k": drawn(D, H * 4, seed=2)})
    config = AttentionConfig(heads=H, positions=[("rope", yarn)])
    scores = head_circuit(x, weights, config)["scaled_scores"]
    in_a_text = attend(x, weights=weights, config=config)["scaled_scores"]
    same = torch.arange(T)
    assert scores[0, :, same, same] == pytest.approx(in_a_text[0, :, same, same], abs=1e-10)


def test_without_a_gain_the_table_alone_is_met(weights):
    x, table = drawn(T, D), drawn(V, D, seed=5)
    trace = with_pushes(head_circuit(x, weights, AttentionConfig(heads=H)), table)
    expected = torch.tensor([written(x[1], weights, 1)], dtype=torch.float64) @ table.T
    assert trace["writes"][0, 1, 1] == pytest.approx(expected[0], abs=1e-10)


def test_a_norm_before_stays(weights):
    x, gain = drawn(T, D), drawn(D, seed=6)
    config = AttentionConfig(heads=H, modifiers=("rms_norm_before",))
    learned = Weights(**weights.given(), g_rms_before=gain)
    trace = head_circuit(x, learned, config)
    normed = torch.nn.functional.rms_norm(x, (D,), gain, eps=1e-6)
    expected = [score(normed[2], normed[s], weights, 1) for s in range(T)]
    assert trace["scaled_scores"][0, 1, 2].tolist() == pytest.approx(expected, abs=1e-10)
    assert trace["scaled_scores"][0, 1, 2].tolist() != pytest.approx([score(x[2], x[s], weights, 1) for s in range(T)])


def test_keys_and_values_may_be_made_of_something_else(weights):
    x, key, value = drawn(T, D), drawn(S, D, seed=6), drawn(S, D, seed=7)
    trace = head_circuit(x, weights, AttentionConfig(heads=H), key=key, value=value)
    assert float(trace["scaled_scores"][0, 1, 4, 6]) == pytest.approx(score(x[4], key[6], weights, 1), abs=1e-10)
    assert trace["written"][0, 0, 6].tolist() == pytest.approx(written(value[6], weights, 0), abs=1e-10)


def test_an_answer_is_read_out_of_one_head(weights):
    x, table, w_answers = drawn(T, D), drawn(V, D, seed=5), drawn(H, WIDTH, D, seed=8)
    trace = with_answers(head_circuit(x, weights, AttentionConfig(heads=H)), w_answers, table)
    for h in range(H):
        values = [product(x[3], weights.w_v, h * WIDTH + j) for j in range(WIDTH)]
        read = [sum(values[j] * float(w_answers[h, j, n]) for j in range(WIDTH)) for n in range(D)]
        expected = [sum(read[n] * float(table[v, n]) for n in range(D)) for v in range(V)]
        assert trace["answers"][0, h, 3].tolist() == pytest.approx(expected, abs=1e-10)


def test_every_step_has_its_five_faces(weights):
    table = drawn(V, D, seed=5)
    trace = with_pushes(head_circuit(drawn(T, D), weights, AttentionConfig(heads=H)), table, drawn(D, seed=6))
    trace = with_answers(trace, drawn(H, WIDTH, D, seed=8), table)
    assert_five_faces(trace, "written", "gained", "writes", "answered", "answers")


def test_the_copying_score_is_that_of_the_eigenvalues_of_the_whole_matrix(weights):
    x, table = drawn(V, D), drawn(V, D, seed=5)
    trace = head_circuit(x, weights, AttentionConfig(heads=H))
    for h, found in enumerate(copying_score(trace["written"][0], table)):
        whole = trace["written"][0, h] @ table.T  # (V, V)
        eigenvalues = torch.linalg.eigvals(whole)
        expected = eigenvalues.real.sum() / eigenvalues.abs().sum()
        assert float(found) == pytest.approx(float(expected), abs=1e-10)
        assert abs(float(found)) < 0.9  # drawn matrices neither copy nor hold back


def test_what_pushes_itself_up_has_one_and_what_pushes_itself_down_minus_one():
    table = drawn(V, D, seed=5)
    assert copying_score(torch.stack([table, -table]), table).tolist() == pytest.approx([1, -1])


def test_what_does_not_fit_is_refused(weights):
    x, table = drawn(T, D), drawn(V, D, seed=5)
    config = AttentionConfig(heads=H)
    with pytest.raises(AttentionError, match="w_o"):
        head_circuit(x, Weights(w_q=weights.w_q, w_k=weights.w_k, w_v=weights.w_v), config)
    trace = head_circuit(x, weights, config)
    with pytest.raises(AttentionError, match="table"):
        with_pushes(trace, table[:, 1:])
    with pytest.raises(AttentionError, match="g_last"):
        with_pushes(trace, table, drawn(D - 1))
    with pytest.raises(AttentionError, match="w_answers"):
        with_answers(trace, drawn(H, WIDTH + 1, D), table)
