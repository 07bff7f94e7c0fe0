"""A learned vector for each place, added to x: against torch's embedding, by hand, and what is refused."""

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, AttentionError, Weights, attend
from attention_core.explanation.arithmetic import explain
from attention_core.variants.kv_cache import decode
from attention_core.verification.proof import prove

T, S, D, ROWS, HEADS = 5, 7, 6, 11, 2


@pytest.fixture
def table(generator):
    return torch.randn(ROWS, D, generator=generator, dtype=torch.float64)


def draw(generator, *shape):
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_each_word_gets_the_row_of_its_place_as_torchs_embedding_gives_it(table, generator):
    x = draw(generator, 3, T, D)
    matrices = {name: draw(generator, D, D) for name in ("w_q", "w_k", "w_v")}
    config = AttentionConfig(heads=HEADS, masks=["causal"], positions=["learned"])
    trace = attend(x, weights=Weights(w_places=table, **matrices), config=config)
    placed = x + F.embedding(torch.arange(T), table)
    q, k, v = (torch.stack((placed @ matrices[name]).chunk(HEADS, -1), 1) for name in ("w_q", "w_k", "w_v"))
    torch.testing.assert_close(trace["positioned_x"], placed, atol=0, rtol=0)
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(trace["head_outputs"], expected, atol=1e-12, rtol=0)
    assert prove(trace).passed


def test_the_last_queries_of_a_text_have_the_last_places(table, generator):
    query, key = draw(generator, 2, T, D), draw(generator, 2, S, D)
    config = AttentionConfig(masks=["causal"], positions=["learned"])
    trace = attend(query, key, weights=Weights(w_places=table), config=config)
    torch.testing.assert_close(trace["learned_query"], table[S - T : S], atol=0, rtol=0)
    torch.testing.assert_close(trace["learned_key"], table[:S], atol=0, rtol=0)
    assert prove(trace).passed


def test_one_cell_is_the_number_of_the_table(table, generator):
    config = AttentionConfig(masks=[("causal", {"offset": 3})], positions=["learned"])
    query, key = draw(generator, T, D), draw(generator, S, D)
    trace = attend(query, key, weights=Weights(w_places=table), config=config)
    cell = explain(trace, "learned_query", (2, 4))
    assert cell.value == table[2 + 3, 4].item()


@pytest.mark.parametrize(
    "offset, said", [(7, "places 7 to 11"), (-1, "places -1 to 3")], ids=["behind the table", "before it"]
)
def test_a_place_without_a_row_is_refused(offset, said, table, generator):
    config = AttentionConfig(masks=[("causal", {"offset": offset})], positions=["learned"])
    with pytest.raises(AttentionError, match=said) as refused:
        attend(draw(generator, T, D), draw(generator, S, D), weights=Weights(w_places=table), config=config)
    assert refused.value.code == "few_places"


def test_a_table_of_another_width_is_refused(generator):
    with pytest.raises(AttentionError) as refused:
        weights = Weights(w_places=draw(generator, ROWS, D + 1))
        attend(draw(generator, T, D), weights=weights, config=AttentionConfig(positions=["learned"]))
    assert refused.value.code == "weight_shape"


def test_decoding_refuses_a_text_that_is_longer_than_the_table(generator):
    weights = Weights(w_places=draw(generator, 4, D))
    config = AttentionConfig(masks=["causal"], positions=["learned"])
    with pytest.raises(AttentionError, match="4 rows do not cover the places 0 to 4"):
        decode(draw(generator, T, D), weights=weights, config=config)


def test_decoding_gives_each_word_its_place(table, generator):
    x = draw(generator, T, D)
    config = AttentionConfig(masks=["causal"], positions=["learned"])
    found = [step["output"][:, 0] for step in decode(x, weights=Weights(w_places=table), config=config)]
    full = attend(x, weights=Weights(w_places=table), config=config)["output"][0]
    torch.testing.assert_close(torch.cat(found), full, atol=1e-12, rtol=0)
