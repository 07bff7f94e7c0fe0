"""Heads built by hand do what their names say: scores by the definitions, one pair at a time."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core import AttentionConfig, AttentionError, Weights, attend
from attention_core.inputs.handmade_heads import HEAD_KINDS, build_heads, build_token_vectors

WORDS = st.lists(st.sampled_from(["the", "dog", "cat", "saw", "it"]), min_size=1, max_size=7)


def score_by_definition(kind, offset, tokens, i, j):
    """What stands in the docstring, for one pair; the offset head's less what is the same for all keys."""
    same, first, again = tokens[i] == tokens[j], j == 0, tokens.count(tokens[i]) > 1
    if kind == "offset":
        return -4.0 * (i + offset - j) ** 2
    return {"same_word": 6.0 * same, "first": 6.0 * first, "even": 0.0, "sink": 6.0 * (same and again) + 4.0 * first}[
        kind
    ]


def run(tokens, kinds, others=()):
    heads = build_heads(tokens, kinds, others)
    weights = {name: torch.from_numpy(getattr(heads, name)) for name in ("w_q", "w_k", "w_v")}
    config = AttentionConfig("dot", heads=len(kinds))
    return heads, attend(torch.from_numpy(heads.x), weights=Weights(**weights), config=config)


@settings(max_examples=60)
@given(WORDS, st.lists(st.tuples(st.sampled_from(HEAD_KINDS), st.integers(-5, 5)), min_size=1, max_size=5))
def test_every_weight_follows_from_the_definition(tokens, kinds):
    _, trace = run(tokens, kinds)
    for h, (kind, offset) in enumerate(kinds):
        for i in range(len(tokens)):
            scores = [score_by_definition(kind, offset, tokens, i, j) for j in range(len(tokens))]
            powers = [math.exp(score - max(scores)) for score in scores]
            wanted = [power / sum(powers) for power in powers]
            assert trace["weights"][0, h, i].tolist() == pytest.approx(wanted, abs=1e-12)


def test_what_can_be_read_off():
    tokens = ("Anna", "saw", "the", "dog", "and", "the", "cat")
    _, trace = run(tokens, [("same_word", 0), ("offset", -1), ("first", 0), ("even", 0), ("sink", 0)])
    weights = trace["weights"][0]
    assert weights[0, 5, 2] == pytest.approx(math.e**6 / (2 * math.e**6 + 5))  # the -> the
    assert weights[1, 3].argmax() == 2
    assert weights[1, 3, 2] == pytest.approx(1 / (1 + 2 * math.e**-4), abs=1e-6)  # one step off: e^-4
    assert weights[2, 4, 0] == pytest.approx(math.e**6 / (math.e**6 + 6))
    assert weights[3].unique().tolist() == pytest.approx([1 / 7])
    assert weights[4, 6, 0] == pytest.approx(math.e**4 / (math.e**4 + 6))  # cat, which comes once, rests
    assert weights[4, 5, 0] < 0.07 < 0.46 < weights[4, 5, 2]  # the, which comes twice, does not


def test_every_head_delivers_the_words():
    heads, trace = run(("a", "b", "a"), [("first", 0), ("even", 0)])
    assert heads.words == ("a", "b")
    assert trace["v"][0, 1].tolist() == [[1, 0], [0, 1], [1, 0]]
    assert trace["head_outputs"][0, 1, 0].tolist() == pytest.approx([2 / 3, 1 / 3])


def test_other_sentences_share_the_columns():
    heads, _ = run(("a", "b"), [("same_word", 0)], others=[("c", "b", "c")])
    assert heads.words == ("a", "b", "c")
    assert build_token_vectors(("c", "b"), heads.words).tolist() == [[0, 0, 1, 1, 0, 0, 1], [0, 1, 0, 1, 1, 1, 0]]


@pytest.mark.parametrize(
    ("tokens", "kinds", "code"),
    [
        (("a",), [("nothing", 0)], "unknown_choice"),
        (("a",), [("offset", 0.5)], "whole_number"),
        (("a",), [("offset", 65)], "at_most"),
        ([f"w{n}" for n in range(128)], [("even", 0)] * 4, "too_many_columns"),
    ],
)
def test_refusals(tokens, kinds, code):
    with pytest.raises(AttentionError) as caught:
        build_heads(tokens, kinds)
    assert caught.value.code == code
