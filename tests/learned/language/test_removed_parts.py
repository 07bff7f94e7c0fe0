"""What a decoder loses without a part: measured again, and beside torch's own attention written out by hand."""

import math
from functools import cache

import pytest
import torch
from torch.nn.functional import rms_norm, silu

from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.measures import held_out_texts
from attention_core.learned.language.removed_parts import (
    REMOVED,
    REMOVED_FIGURES,
    count_words_alike,
    measure_removed_parts,
)
from attention_core.learned.language.shipped import load_model

SOME = 40  # texts of a loop


@cache
def measure_some():
    """The figures of a shipped decoder over some texts, for all tests that write one of them out as a loop."""
    return measure_removed_parts("en_asked_decoder", SOME)


def turned(x):
    """RoPE of (H, T, 16) by hand: the halves of a vector turn by angles of the position."""
    angles = torch.arange(x.shape[1])[:, None] * 100.0 ** (-torch.arange(8) / 8)  # (T, 8)
    one, two = x[..., :8], x[..., 8:]
    return torch.cat((one * angles.cos() - two * angles.sin(), two * angles.cos() + one * angles.sin()), -1)


def surprise_by_hand(model, ids, part="whole", head=None):
    """The nats of each next word, by a loop over layers that knows nothing of the core."""
    first = x = model.words[ids]
    blocked = torch.ones(len(ids), len(ids)).triu(0 if part == "diagonal" else 1).bool()
    for number, layer in enumerate(model.layers, 1):
        normed = rms_norm(x, (64,), layer.g_attention, 1e-6)
        values = first if number == 3 else normed  # of the words, as they stand in the table
        q, k, v = (
            (of @ w).unflatten(-1, (4, 16)).transpose(0, 1)
            for of, w in ((normed, layer.w_q), (normed, layer.w_k), (values, layer.w_v))
        )
        if part != "positions":
            q, k = turned(q), turned(k)
        scores = q @ k.mT / (1.0 if part == "scale" else 4.0)
        if part != "mask":
            scores = scores.masked_fill(blocked, -torch.inf)
        heads = scores.softmax(-1).nan_to_num() @ v  # (H, T, 16); a word that sees nothing gets nothing
        if head is not None:
            heads = heads * (torch.arange(4) == head)[:, None, None]
        x = x + heads.transpose(0, 1).flatten(1) @ layer.w_o
        normed = rms_norm(x, (64,), layer.g_feed_forward, 1e-6)
        x = x + (silu(normed @ layer.w_gate) * (normed @ layer.w_1)) @ layer.w_2
    shares = (rms_norm(x, (64,), model.g_last, 1e-6) @ model.words.T).log_softmax(-1)
    return -shares[:-1].gather(1, ids[1:, None])[:, 0]


@pytest.mark.parametrize("part", ["whole", "mask", "diagonal", "scale", "positions"])
def test_a_model_without_a_part_is_what_a_loop_makes_of_it(part):
    model, numbers = load_model("en_asked_decoder", torch.float32), word_numbers("en")
    texts = held_out_texts("en", "held", "report", SOME)
    found = torch.cat([surprise_by_hand(model, torch.tensor([numbers[w] for w in text.words]), part) for text in texts])
    figures = measure_some()
    assert getattr(figures, part) == pytest.approx(found.mean().item(), abs=5e-3)
    assert figures.words == len(found)


def test_one_head_a_layer_is_what_a_loop_makes_of_it():
    model, numbers = load_model("en_asked_decoder", torch.float32), word_numbers("en")
    texts = held_out_texts("en", "held", "report", SOME)
    figures = measure_some()
    for head, told in enumerate(figures.heads):
        rows = [surprise_by_hand(model, torch.tensor([numbers[w] for w in text.words]), head=head) for text in texts]
        assert told == pytest.approx(torch.cat(rows).mean().item(), abs=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", REMOVED)
def test_the_figures_are_measured_again(name):
    again, kept = measure_removed_parts(name), REMOVED_FIGURES.rows[name]
    assert again.words == kept.words and again.heads == pytest.approx(kept.heads, abs=0.01)
    for part in ("whole", "mask", "diagonal", "scale", "positions"):
        assert getattr(again, part) == pytest.approx(getattr(kept, part), abs=0.01)


@pytest.mark.parametrize("name", REMOVED)
def test_what_the_lessons_say(name):
    figures = REMOVED_FIGURES.rows[name]
    assert figures.whole < figures.scale < figures.whole + 0.25  # little
    assert min(figures.mask, figures.positions) > figures.whole + 0.5 and min(figures.heads) > figures.mask


def test_as_many_words_alike_have_the_same_surprise():
    assert count_words_alike(math.log(57)) == 57
