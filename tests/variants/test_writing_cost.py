"""What writing costs, with a cache and without one: counted in closed form, and as it happens."""

import pytest
import torch

from attention_core.learned.language.reading import cut_sentence
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.variants.cached_model import gap_to_whole_run, read_next, run_cached
from attention_core.variants.cost import ProductCounter
from attention_core.variants.decoding_work import count_writing

NAME = "en_asked_decoder"
TOKENS = cut_sentence(NAME, "The dog chased the cat.")


def products_of_whole_run(model, length):
    """The multiplications that happen where a text is run at once and its last word says the next one."""
    with torch.inference_mode(), ProductCounter() as counted:
        x = model.run_layers(torch.tensor([[5] * length])).end
        model.word_logits(x[:, -1])
    return counted.count


def products_of_next_word(model, length):
    """The multiplications that happen where the last word alone is run behind the cache of the others."""
    before = run_cached(NAME, TOKENS[: length - 1])
    with torch.inference_mode(), ProductCounter() as counted:
        read_next(model, 5, before)
    return counted.count


def test_multiplications_are_those_that_happen():
    """The beginning has 3 tokens; then 4 words are read, one behind the other."""
    model, shape = load_model(NAME), load_recipe(NAME).shape()
    again = [products_of_whole_run(model, length) for length in range(3, 8)]
    cached = [again[0], *(products_of_next_word(model, length) for length in range(4, 8))]
    for is_cached, happened in ((True, cached), (False, again)):
        counted = [cost.products for cost in count_writing(shape, 3, 7, cached=is_cached)]
        assert counted == torch.tensor(happened).cumsum(0).tolist()


def test_keys_are_counted_one_by_one():
    shape = load_recipe(NAME).shape()
    cached = [cost.keys for cost in count_writing(shape, 1, 6, cached=True)]
    again = [cost.keys for cost in count_writing(shape, 1, 6, cached=False)]
    assert (cached[-1], again[-1]) == (6, 21)  # 1 + 2 + 3 + 4 + 5 + 6
    with pytest.raises(ValueError, match="given"):
        list(count_writing(shape, 0, 3, cached=True))


def test_a_cache_that_is_wrong_has_a_gap(monkeypatch):
    assert gap_to_whole_run(NAME, TOKENS) < 1e-10
    shifted = lambda name, tokens: run_cached(name, tokens[:-1] or tokens)  # noqa: E731
    monkeypatch.setattr("attention_core.variants.cached_model.run_cached", shifted)
    assert gap_to_whole_run(NAME, TOKENS) > 1
