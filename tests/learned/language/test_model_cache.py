"""What the language models that come along have computed is kept within its bytes, whatever is asked for."""

import gc
from itertools import islice, permutations

import pytest
import torch

from attention_core.learned.language.reading import MAX_MODEL_WORDS, begin_sentence, run_model
from attention_core.learned.language.readout import answer_questions, sum_model
from attention_core.learned.language.shipped import load_model
from attention_core.learned.language.what_if import Changes, find_path
from attention_core.learned.model_cache import MODEL_CACHE

NAME = "en_asked_encoder"
WORDS = ("anna", "fed", "the", "dog", "and", "it")


def list_sentences(count):
    """Different sentences of the most words that a model reads."""
    for words in islice(permutations(WORDS), count):
        yield begin_sentence((words * MAX_MODEL_WORDS)[:MAX_MODEL_WORDS])


def living_bytes():
    """Bytes of all tensors of the process that hold numbers, each storage once."""
    gc.collect()
    tensors = [each for each in gc.get_objects() if type(each) in (torch.Tensor, torch.nn.Parameter)]
    found = [each.untyped_storage() for each in tensors if each.device.type == "cpu"]
    return sum({storage.data_ptr(): storage.nbytes() for storage in found}.values())


@pytest.fixture
def small(monkeypatch):
    """The cache, empty, with room for the sums of two of the longest sentences."""
    MODEL_CACHE.clear()
    monkeypatch.setattr(MODEL_CACHE, "most_bytes", 64 * 2**20)
    yield MODEL_CACHE
    MODEL_CACHE.clear()


def test_long_sentences_of_many_visitors_stay_within_the_bytes(small):
    load_model(NAME)
    before = living_bytes()
    for tokens in list_sentences(4):
        sum_model(NAME, tokens)
        answer_questions(NAME, tokens)
        find_path(NAME, tokens, Changes(), 5)
    assert small.nbytes <= small.most_bytes
    assert living_bytes() - before <= small.most_bytes
    stack = sum_model(NAME, tokens)
    assert stack is sum_model(NAME, tokens)
    torch.testing.assert_close(
        stack["logit_sum"]["pushes"].sum(0)[0], run_model(NAME, tokens)["unembedding"]["logits"][0]
    )
