"""A language model that reads word by word with a cache: the numbers of the whole run, and what it saves."""

import pytest
import torch

from attention_core.learned.language.reading import cut_sentence, run_model
from attention_core.learned.language.shipped import load_model
from attention_core.variants.cached_model import read_next, run_cached
from attention_core.variants.cost import ProductCounter
from attention_core.variants.decoding_work import cache_bytes, total_work
from attention_core.verification.proof import prove_stack

SENTENCES = {
    "en_asked_decoder": "The animal did not cross the street because it was too tired.",
    "zh_asked_decoder": "那只动物没能过那条街道，因为它太累了。",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_each_step_is_a_row_of_the_whole_run(name):
    tokens = cut_sentence(name, SENTENCES[name])
    whole = run_model(name, tokens)
    for t in range(len(tokens)):
        stack = run_cached(name, tokens[: t + 1]).stack
        assert list(stack.parts) == list(whole.parts)
        for part, trace in whole.parts.items():
            last = list(trace.steps)[-1]
            torch.testing.assert_close(stack[part][last][0, 0], trace[last][0, t], rtol=0, atol=1e-10)
            if "weights" in trace:
                torch.testing.assert_close(
                    stack[part]["weights"][0, :, 0], trace["weights"][0, :, t, : t + 1], rtol=0, atol=1e-10
                )
        torch.testing.assert_close(
            stack["unembedding"]["logits"][0, 0], whole["unembedding"]["logits"][0, t], rtol=0, atol=1e-10
        )


def test_every_number_of_a_step_is_proven():
    tokens = cut_sentence("en_asked_decoder", "The dog chased the cat.")
    proof = prove_stack(run_cached("en_asked_decoder", tokens).stack)
    assert proof.passed, proof.failed


def test_one_row_is_computed_a_word_and_all_rows_without_a_cache():
    """Multiplications, counted as they happen; rows in closed form."""
    name = "en_asked_decoder"
    tokens = cut_sentence(name, SENTENCES[name])
    run_cached(name, tokens)
    model, before = load_model(name), run_cached(name, tokens[:-1])
    with torch.inference_mode(), ProductCounter() as with_cache:
        read_next(model, 5, before)
    with torch.inference_mode(), ProductCounter() as without:
        model.stack(torch.tensor([[5] * len(tokens)]))
    T, D, inner, V = len(tokens), 64, 176, 1744
    row = 3 * (4 * D * D + 3 * D * inner) + D * V  # of a word: projections, feed-forward layers, logits
    assert with_cache.count == row + 3 * 2 * T * D  # one query meets T keys, and mixes T values
    assert without.count == T * row + 3 * 2 * T * T * D
    assert (total_work(T).queries, total_work(T, cached=False).queries) == (T, T * (T + 1) // 2)


def test_the_cache_holds_a_key_and_a_value_a_word_in_each_layer():
    tokens = cut_sentence("en_asked_decoder", "The dog chased the cat.")
    for t in range(1, len(tokens) + 1):
        run = run_cached("en_asked_decoder", tokens[:t])
        layer = cache_bytes(t, kv_heads=4, d_k=16, d_v=16, dtype=torch.float64)
        assert run.nbytes == {f"{n}.attention": layer for n in (1, 2, 3)}


def test_an_encoder_cannot_be_read_word_by_word():
    with pytest.raises(ValueError, match="causal"):
        run_cached("en_asked_encoder", ("<start>", "the"))
    with pytest.raises(ValueError, match="empty"):
        run_cached("en_asked_decoder", ())
