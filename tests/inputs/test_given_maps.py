"""Maps that were given: what a Trace of them tells, what is measured of them, and the file that is read back."""

import math

import pytest
import torch

from attention_core.explanation.facts import allowed_pairs, row_fact
from attention_core.explanation.head_habits import HeadHabit, head_habit, list_row_facts
from attention_core.inputs.files.attention_maps import MAX_MAP_SIDE, read_attention_maps
from attention_core.inputs.given_maps import AttentionMaps, measure_maps, pack_maps
from attention_core.record.errors import AttentionError

WORDS = ("the", "cat", "saw", "the", "dog")
L, H, T, S = 2, 3, 5, 7


def drawn(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).softmax(-1)


def previous_word():
    """Two heads under a causal mask: each word at the one before, and all alike."""
    before = torch.zeros(T, T)
    before[0, 0] = 1
    before[range(1, T), range(T - 1)] = 1
    even = torch.ones(T, T).tril() / torch.arange(1, T + 1)[:, None]
    return AttentionMaps(torch.stack([before, even])[None].double(), WORDS, WORDS)


def habit_of(maps, layer, head):
    trace = maps.head_trace(layer, head)
    return head_habit(trace, list_row_facts(trace, 0))


def test_what_a_head_does_is_read_off_its_map_alone():
    maps = previous_word()
    assert habit_of(maps, 0, 0) == HeadHabit("offset", offset=-1)
    assert habit_of(maps, 0, 1) == HeadHabit("even")


def test_places_are_counted_only_where_the_keys_are_the_queries_own_words():
    maps = previous_word()
    other = AttentionMaps(maps.maps, WORDS, ("那", "猫", "看见", "了", "狗"))
    assert habit_of(other, 0, 0).kind != "offset"


def test_a_pair_that_no_head_sees_counts_as_blocked():
    maps = previous_word()
    trace = maps.head_trace(0, 0)
    assert allowed_pairs(trace)[0, 0].tolist() == torch.ones(T, T).tril().bool().tolist()
    assert row_fact(trace, 0, 0).kind == "only"


def test_a_row_of_zeros_looks_at_nothing():
    numbers = drawn(1, 2, T, T)
    numbers[0, 0, 3] = 0
    trace = AttentionMaps(numbers, WORDS, WORDS).head_trace(0, 0)
    assert row_fact(trace, 0, 3).kind == "nothing"


def test_measures_beside_naive_loops():
    numbers = drawn(L, H, T, T)
    measures = measure_maps(AttentionMaps(numbers, WORDS, WORDS))
    for layer in range(L):
        for head in range(H):
            one = numbers[layer, head]
            assert measures["previous"][layer, head] == pytest.approx(sum(one[t, t - 1] for t in range(1, T)) / (T - 1))
            assert measures["earlier"][layer, head] == pytest.approx(float(one[3, 0]))  # the second "the"
            bits = [-sum(float(w) * math.log2(w) for w in row) for row in one]
            assert measures["entropy"][layer, head] == pytest.approx(sum(bits) / T)


@pytest.mark.parametrize("keys", ["abcde", "abcdefg"])
def test_of_other_words_as_keys_only_the_spread_is_measured(keys):
    measures = measure_maps(AttentionMaps(drawn(L, H, T, len(keys)), WORDS, tuple(keys)))
    assert set(measures) == {"evenness", "entropy"} and measures["entropy"].shape == (L, H)


@pytest.mark.parametrize("keys", [WORDS, tuple("abcdefg")])
def test_a_packed_file_is_read_back_to_the_last_digit(keys):
    maps = AttentionMaps(drawn(L, H, T, len(keys)), WORDS, keys)
    read = read_attention_maps("maps.npz", pack_maps(maps))
    assert torch.equal(read.maps, maps.maps)
    assert (read.queries, read.keys) == (WORDS, keys)
    assert read.is_self_attention == (keys == WORDS)


def test_the_whole_trace_is_a_table_of_every_number():
    table = AttentionMaps(drawn(L, H, T, S), WORDS, tuple("abcdefg")).trace().frame("weights")
    assert len(table) == L * H * T * S
    assert list(table.columns) == ["L", "H", "T", "S", "T_label", "S_label", "value"]


@pytest.mark.parametrize(
    "numbers, code",
    [
        (torch.full((1, 1, 2, 2), 1e30, dtype=torch.float64), "map_magnitude"),
        (torch.ones(1, 1, MAX_MAP_SIDE + 1, 1), "map_side"),
        (torch.ones(1, 1, 1, MAX_MAP_SIDE + 1), "map_side"),
    ],
)
def test_what_no_page_can_draw_is_refused(numbers, code):
    names = [tuple(map(str, range(size))) for size in numbers.shape[-2:]]
    with pytest.raises(AttentionError) as refused:
        read_attention_maps("maps.npz", pack_maps(AttentionMaps(numbers, *names)))
    assert refused.value.code == code


def test_maps_whose_columns_sum_to_1_are_transposed(generator):
    weights = torch.rand(L, H, T, T, generator=generator, dtype=torch.float64).tril().add(torch.eye(T)).softmax(-1)
    given = AttentionMaps(weights.mT, WORDS, WORDS)
    assert given.is_transposed and given.is_uneven.any()
    assert not AttentionMaps(weights, WORDS, WORDS).is_transposed
    assert not AttentionMaps(torch.eye(T)[None, None], WORDS, WORDS).is_transposed


def test_zeros_alone_are_no_weights_and_zeros_of_some_queries_are_counted():
    zeros = AttentionMaps(torch.zeros(L, H, T, T), WORDS, WORDS)
    assert zeros.fault == "zeros" and measure_maps(zeros) == {}
    padded = torch.eye(T).repeat(L, H, 1, 1)
    padded[..., -2:, :] = 0
    assert AttentionMaps(padded, WORDS, WORDS).count_blank() == 2
    assert AttentionMaps(padded, WORDS, WORDS).fault == ""
