"""Dropout on a run's weights: the golden file's numbers, the mean over draws, and a seed that means the same."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.analysis.dropout import with_dropout
from tests.faces import assert_five_faces
from tests.golden import loader


def layer(generator, **given):
    q, k, v = (torch.randn(2, 3, n, 11, generator=generator, dtype=torch.float64) for n in (5, 7, 7))
    return attend_qkv(q, k, v, **given)


def test_the_golden_rows_that_no_longer_sum_to_1():
    """Seed 001's keep mask: the same weights kept give the rows' sums that the file states."""
    file = next(loader.read(path) for path in loader.golden_files() if path.stem.startswith("s10"))
    case = loader.load(file)
    plain = case.run(config=AttentionConfig(heads=2), keep=None)
    keep = loader.tensor(file["inputs"]["keep"]).bool()
    trace = with_dropout(plain, file["inputs"]["dropout_p"])
    dropped = trace.reapply("dropped_weights", keep=keep)
    expected = loader.tensor(file["expected"]["dropped_row_sums"])
    torch.testing.assert_close(trace.reapply("row_sums", dropped_weights=dropped), expected, rtol=0, atol=1e-10)


def test_what_is_kept_grows_and_the_draw_is_the_configs_own(generator):
    plain = layer(generator)
    trace = with_dropout(plain, 0.25, seed=3)
    other = attend_qkv(*(plain[name] for name in "qkv"), config=AttentionConfig(dropout=0.25, dropout_seed=3))
    assert torch.equal(trace["dropped_weights"], other["dropped_weights"])
    kept = trace["keep"]
    torch.testing.assert_close(trace["dropped_weights"][kept], plain["weights"][kept] / 0.75, rtol=1e-12, atol=0)
    assert (trace["dropped_weights"][~kept] == 0).all()
    assert 0 < (~kept).double().mean() < 0.5
    assert not torch.equal(trace["keep"], with_dropout(plain, 0.25, seed=4)["keep"])


def test_on_average_a_row_sums_to_1():
    """The mean of 2,000 draws of one row lies within 5 of its standard errors; one draw does not."""
    q = torch.zeros(1, 2000, 1, 3, dtype=torch.float64)  # 2,000 heads that are alike
    k = torch.zeros(1, 2000, 7, 3, dtype=torch.float64)
    sums = with_dropout(attend_qkv(q, k, k), 0.5)["row_sums"].flatten()
    assert abs(sums.mean().item() - 1) < 5 * (1 / 7 / 2000) ** 0.5  # seven terms of 0 or 2/7: variance 1/7
    assert sums.std() > 0.3


def test_five_faces(generator):
    assert_five_faces(with_dropout(layer(generator), 0.5, seed=2), "dropped_weights", "row_sums")


def test_nothing_dropped_leaves_the_weights(generator):
    trace = with_dropout(layer(generator), 0.0)
    assert torch.equal(trace["dropped_weights"], trace["weights"])


def test_not_every_weight_can_be_dropped(generator):
    with pytest.raises(AttentionError):
        with_dropout(layer(generator), 1.0)
