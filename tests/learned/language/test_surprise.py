"""The surprise of each word, beside a naive loop; and which words and sentences are beyond what is usual."""

import pytest
import torch
from torch import Generator

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import MASK, START, word_numbers
from attention_core.learned.language.making import measure_limits
from attention_core.learned.language.model import LanguageModel, ModelShape
from attention_core.learned.language.surprise import surprises_of_texts, text_surprise

TEXT = (START, "the", "dog", "chased", "the", "cat", ".")
SHORT = (START, "it", "barked", ".")
both_forms = pytest.mark.parametrize("causal", [False, True])


def drawn(causal):
    """A small model of English that nobody trained."""
    shape = ModelShape(len(vocabulary("en")), causal, width=16, layers=2, heads=4, inner=7)
    return LanguageModel(shape, Generator().manual_seed(1)).double().requires_grad_(False)


def naive_surprise(model, tokens, at):
    """The surprise of one word: a decoder reads what stands before it, an encoder all others."""
    numbers = [word_numbers("en")[token] for token in tokens]
    wanted = numbers[at]
    if model.shape.causal:
        row, place = numbers[:at], at - 1
    else:
        row, place = numbers.copy(), at
        row[at] = word_numbers("en")[MASK]
    logits = model.stack(torch.tensor([row]))["unembedding"]["logits"][0, place]
    return -float(torch.log_softmax(logits, -1)[wanted])


@both_forms
def test_each_word_is_as_surprising_as_a_loop_says(causal):
    model = drawn(causal)
    expected = [naive_surprise(model, TEXT, at) for at in range(1, len(TEXT))]
    assert text_surprise(model, "en", TEXT).tolist() == pytest.approx(expected, abs=1e-12)


@both_forms
def test_texts_together_are_what_they_are_alone(causal):
    model = drawn(causal)
    together = surprises_of_texts(model, "en", [TEXT, SHORT, TEXT[::-1], SHORT])
    for tokens, found in zip([TEXT, SHORT, TEXT[::-1], SHORT], together, strict=True):
        assert torch.allclose(found, text_surprise(model, "en", tokens), rtol=0, atol=1e-12)


def test_many_texts_of_an_encoder_are_run_in_parts_and_come_out_the_same(monkeypatch):
    model = drawn(False)
    whole = surprises_of_texts(model, "en", [TEXT, TEXT[::-1]])
    monkeypatch.setattr("attention_core.learned.language.surprise.MOST_ROWS", 4)
    for found, expected in zip(surprises_of_texts(model, "en", [TEXT, TEXT[::-1]]), whole, strict=True):
        assert torch.allclose(found, expected, rtol=0, atol=1e-12)


def test_98_of_100_texts_stay_below_each_limit(monkeypatch):
    held = [torch.tensor([0.0, float(count)]) for count in range(60)]
    train = [torch.tensor([0.0, float(count)]) for count in range(60, 101)]
    parts = {"held": held, "train": train}
    monkeypatch.setattr(
        "attention_core.learned.language.making.surprises_of_part",
        lambda model, language, part, half: parts[part] if half == "choose" else None,
    )
    assert measure_limits(None, "en") == {"surprise": 49.0, "word": 98.0}
