"""Words in another order: the golden file's numbers, and the shuffles themselves."""

import pytest
import torch

from attention_core import AttentionError
from attention_core.analysis.position_effects import distance_after_reordering, shuffle_order
from tests.golden import loader

FILE = next(loader.read(path) for path in loader.golden_files() if path.stem.startswith("s39"))
ORDER = tuple(FILE["inputs"]["permutation"])


def moved(**changes) -> torch.Tensor:
    case = loader.load(FILE)
    return distance_after_reordering(
        case.run(tensors=(case.tensors[0][list(ORDER)],), **changes), case.run(**changes), ORDER
    )


def test_without_positions_every_word_takes_its_output_with_it():
    assert moved().max() < 1e-12


@pytest.mark.parametrize(
    "choices, stated",
    [({"positions": ["sinusoidal"]}, "with_pe_max_abs_diff"), ({"masks": ["causal"]}, "with_causal_max_abs_diff")],
)
def test_sinusoids_and_a_causal_mask_tell_the_order(choices, stated):
    case = loader.load(FILE)
    assert moved(config=case.configured(**choices)).max().item() == pytest.approx(FILE[stated], abs=1e-10)


def test_each_word_has_its_own_place():
    """The word that moved most, by looking for it in both outputs."""
    case = loader.load(FILE)
    choices = {"config": case.configured(masks=["causal"])}
    plain, permuted = case.run(**choices), case.run(tensors=(case.tensors[0][list(ORDER)],), **choices)
    for word, size in enumerate(moved(**choices).tolist()):
        there = ORDER.index(word)
        gap = (permuted["output"][0, there] - plain["output"][0, word]).abs().max().item()
        assert size == pytest.approx(gap, abs=1e-15)


def test_a_shuffle_is_every_word_once_and_never_the_order_that_was():
    for count in range(2, 8):
        for seed in range(30):
            order = shuffle_order(count, seed)
            assert sorted(order) == [*range(count)]
            assert order != tuple(range(count))
            assert order == shuffle_order(count, seed)
    assert shuffle_order(1, 0) == (0,)
    assert len({shuffle_order(6, seed) for seed in range(20)}) > 15


@pytest.mark.parametrize("count, seed", [(0, 1), (3, -1), (2.5, 1), (3, True)])
def test_what_is_no_number_of_words(count, seed):
    with pytest.raises(AttentionError):
        shuffle_order(count, seed)
