"""What each head of a shipped language model does on held-out texts: measured again, and beside a loop."""

from functools import cache

import pytest
import torch

from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.head_figures import HEAD_FIGURES, HEAD_TEXTS, measure_model_heads
from attention_core.learned.language.measures import all_weights, find_places, held_out_texts
from attention_core.learned.language.shipped import load_model, shipped_names


def test_each_model_that_comes_along_has_a_number_for_each_head_and_measure():
    figures = HEAD_FIGURES.rows
    assert set(figures) == set(shipped_names())
    for name, each in figures.items():
        shape = load_model(name).shape
        for rows in each.measures.values():
            assert [len(row) for row in rows] == [shape.heads] * shape.layers


def test_a_model_measured_again_has_the_figures_of_the_file():
    again = measure_model_heads("en_asked_decoder")
    kept = HEAD_FIGURES.rows["en_asked_decoder"]
    assert (again.texts, again.places) == (kept.texts, kept.places)
    for name, rows in kept.measures.items():
        assert again.measures[name] == [pytest.approx(row, abs=0.002) for row in rows]


def test_the_weight_on_a_subject_is_that_of_a_loop():
    model = load_model("en_asked_encoder", torch.float32)
    numbers = word_numbers("en")
    weights_of = cache(lambda words: all_weights(model, torch.tensor([[numbers[word] for word in words]])))
    found = []
    for place in find_places(held_out_texts("en", "held", "report", HEAD_TEXTS), "subject"):
        words = place.text.words
        row = weights_of(words)[0, 2, :, place.at]  # (H, S)
        found.append(sum(row[:, at] for at, word in enumerate(words) if word == words[place.to]))
    expected = torch.stack(found).mean(0).tolist()
    assert HEAD_FIGURES.rows["en_asked_encoder"].measures["subject"][2] == pytest.approx(expected, abs=0.002)
