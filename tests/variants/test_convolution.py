"""Weights that no word decides: against torch's conv1d, a naive loop, and other words."""

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend, prove
from attention_core.record.cell_functions import evaluate
from attention_core.variants.convolution import attend_by_position, kernel_band, read_taps, with_convolution
from tests.golden import loader


def normal(generator, *shape):
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("window", [1, 2, 3, 5, 23])
def test_a_band_in_the_place_of_the_weights_is_a_convolution(window, generator):
    x, kernel = normal(generator, 11, 7), normal(generator, window)
    trace = attend(x, replacement=kernel_band(kernel, 11))
    each = kernel.expand(7, 1, window)  # the same kernel for every column
    expected = torch.nn.functional.conv1d(x.T[None], each, padding="same", groups=7)[0].T
    assert torch.allclose(trace["output"][0], expected, atol=1e-10, rtol=0)
    for i in range(11):
        for j in range(11):
            place = j - i + (window - 1) // 2
            assert trace["weights"][0, 0, i, j] == (kernel[place] if 0 <= place < window else 0)


def attend_places(x, taps):
    """One head a place of the window, which looks at that place only (Cordonnier, Loukas, Jaggi 2020, theorem 1).

    Its values are x W_m, taps (window, D, D_out) from the earliest place on, and W_o adds the heads.
    """
    window, D, D_out = taps.shape
    looks = torch.stack(
        [kernel_band(place, x.shape[-2]) for place in torch.eye(window, dtype=x.dtype)]
    )  # (window, T, T)
    silent = x.new_zeros(D, window)  # q and k, one number a head, that ask and offer nothing
    weights = Weights(
        w_q=silent,
        w_k=silent,
        w_v=taps.transpose(0, 1).reshape(D, window * D_out),  # (D, window, D_out) -> (D, H d_v)
        w_o=torch.eye(D_out, dtype=x.dtype).repeat(window, 1),  # (H d_v, D_out): the sum over the heads
    )
    return attend(x, weights=weights, config=AttentionConfig(heads=window), replacement=looks[None])


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("window", [1, 2, 3, 5])
def test_a_head_for_each_place_of_the_window_is_conv1d(window, generator):
    x, taps = normal(generator, 2, 11, 7), normal(generator, window, 7, 13)
    trace = attend_places(x, taps)
    expected = torch.nn.functional.conv1d(x.transpose(1, 2), taps.permute(2, 1, 0), padding="same").transpose(1, 2)
    assert torch.allclose(trace["output"], expected, atol=1e-10, rtol=0)
    assert trace.sizes()["H"] == window
    assert trace["weights"].unique().tolist() == [0, 1]
    assert prove(trace).passed


def test_a_convolution_keeps_its_weights_and_attention_does_not(generator):
    taps, one, other = normal(generator, 3, 7, 5), normal(generator, 11, 7), normal(generator, 11, 7)
    assert torch.equal(attend_places(one, taps)["weights"], attend_places(other, taps)["weights"])
    assert not torch.allclose(attend(one)["weights"], attend(other)["weights"])


def test_scores_by_offset_ignore_the_words(generator):
    scores, one, other = normal(generator, 5), normal(generator, 11, 7), normal(generator, 11, 7)
    trace, after = attend_by_position(one, scores), attend_by_position(other, scores)
    for step in ("q", "k", "scores", "weights"):
        assert torch.equal(trace[step], after[step]), step
    assert not torch.allclose(trace["output"], after["output"])
    naive = torch.zeros(11, 11, dtype=torch.float64)
    for i in range(11):
        for j in range(11):
            if abs(j - i) <= 2:
                naive[i, j] = scores[j - i + 2]
    assert torch.allclose(trace["scaled_scores"][0, 0], naive, atol=1e-10, rtol=0)
    assert torch.allclose(trace["output"][0], naive.softmax(-1) @ one, atol=1e-10, rtol=0)
    assert prove(trace).passed


def test_a_strong_score_at_one_offset_takes_the_word_there(generator):
    words = normal(generator, 7, 3)
    output = attend_by_position(words, torch.tensor([60.0, 0, 0], dtype=torch.float64))["output"][0]
    assert torch.allclose(output[1:], words[:-1], atol=1e-10, rtol=0)  # the word before


@pytest.mark.parametrize(
    "call, code",
    [
        (lambda: kernel_band(torch.ones(2, 3), 5), "rank"),
        (lambda: kernel_band(torch.ones(3), 0), "positive_integer"),
        (lambda: attend_by_position(torch.ones(2, 5, 3), torch.ones(3)), "rank"),
    ],
)
def test_refused(call, code):
    with pytest.raises(AttentionError) as refused:
        call()
    assert refused.value.code == code


# ---- the same by torch's convolution, as a step of a run -------------------------------------------------------------
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("window", [1, 2, 3, 5, 15])
def test_the_convolution_of_a_run_is_conv1d_and_the_band_of_weights(window, generator):
    x, kernel = normal(generator, 2, 11, 7), normal(generator, window)
    trace = with_convolution(attend(x, replacement=kernel_band(kernel, 11)), kernel)
    each = kernel.expand(7, 1, window)
    expected = torch.nn.functional.conv1d(x.transpose(1, 2), each, padding="same", groups=7).transpose(1, 2)
    assert torch.allclose(trace["convolved"], expected, atol=1e-10, rtol=0)
    assert torch.allclose(trace["convolved"], trace["output"], atol=1e-10, rtol=0)
    assert prove(trace).passed
    for index in np.ndindex(*trace["convolved"].shape):
        cell = trace.step("convolved").operation.cell(index, trace.shapes())
        number = evaluate(cell, lambda ref: trace[ref.step][ref.index].item())
        assert number == pytest.approx(trace["convolved"][index].item(), abs=1e-12)


def test_the_golden_kernel(generator):
    """The file's own numbers: a band of .2 .5 .3, whose first and last row sum to .8 and .7."""
    file = loader.read(loader.FOLDER / "s49_cnn_as_fixed_attention.json")
    v, kernel = loader.tensor(file["inputs"]["v"]), loader.tensor(file["inputs"]["kernel"])
    trace = with_convolution(attend(v, replacement=kernel_band(kernel, len(v))), kernel)
    for step, name in (("weights", "weights"), ("output", "output"), ("convolved", "output")):
        assert torch.allclose(trace[step].squeeze(), loader.tensor(file["expected"][name]), atol=1e-10, rtol=0)
    assert trace["weights"].sum(-1).flatten().tolist() == pytest.approx(file["expected"]["row_sums"], abs=1e-10)


def test_a_kernel_is_read_from_a_text():
    assert read_taps("1/2 −3 0.25").tolist() == [0.5, -3.0, 0.25]
    for text, code in (("1, two", "not_a_number"), ("1 " * 16, "too_many_logits"), ("", "matrix_empty")):
        with pytest.raises(AttentionError) as refused:
            read_taps(text)
        assert refused.value.code == code
    with pytest.raises(AttentionError) as refused:
        with_convolution(attend(torch.ones(3, 2)), torch.ones(1, 3))
    assert refused.value.code == "rank"
