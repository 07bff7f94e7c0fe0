"""`pytest --device`: the operations of the core's tests run on that device, with the numbers of the CPU there."""

import pytest
import torch

from attention_core import AttentionConfig, attend
from tests.device.stand_in import NAME, WrongDevice, send
from tests.operations_on import OperationsOn

RUNS = {
    "a product": lambda x: x @ x.mT,
    "of numbers beside truths": lambda x: torch.where(x > 0, x, 0.0),
    "several results": lambda x: torch.stack(x.max(-1)[:1]),
    "in place": lambda x: torch.zeros_like(x).add_(x),
    "in place, of an expanded tensor": lambda x: torch.zeros_like(x).add_(x[:1].expand(5, 7)),
    "into a view": lambda x: torch.zeros(3, *x.shape)[1].copy_(x),
    "of a list": lambda x: torch.cat([x, x]),
    "attention": lambda x: attend(x, config=AttentionConfig(masks=["causal"]))["output"],
}


@pytest.mark.parametrize("is_inference", [True, False], ids=["inference", ""])
@pytest.mark.parametrize("name", RUNS)
def test_operations_run_there_and_give_their_numbers_back(name, is_inference, generator):
    x = torch.randn(5, 7, generator=generator)
    with torch.inference_mode(is_inference):
        here = RUNS[name](x.clone())
        with OperationsOn(NAME) as operations:
            there = RUNS[name](x)
    assert operations.count > 0
    assert there.device.type == "cpu" and type(there) is torch.Tensor and torch.equal(there, here)


def test_gradients_run_there(generator):
    x = torch.randn(5, 7, generator=generator, requires_grad=True)
    (here,) = torch.autograd.grad((x.softmax(-1) ** 2).sum(), x)
    with OperationsOn(NAME) as operations:
        (there,) = torch.autograd.grad((x.softmax(-1) ** 2).sum(), x)
    assert operations.count > 3 and torch.equal(there, here)


def test_a_list_written_in_place_and_two_results_written_stay_on_the_cpu(generator):
    """Optimizers write into lists of tensors, which no result names."""
    x = torch.randn(5, 7, generator=generator)
    numbers, places = torch.zeros(5), torch.zeros(5, dtype=torch.long)
    with OperationsOn(NAME) as operations:
        torch._foreach_add_([x], 1.0)
        torch.max(x, 1, out=(numbers, places))
    assert operations.count == 0 and torch.equal(numbers, x.max(1).values)


def test_a_view_stays_a_view_of_what_it_was_taken_from(generator):
    x = torch.randn(5, 7, generator=generator)
    expected = x.clone()
    expected[2] *= 2.0
    expected[:, 3] += 1.0
    with OperationsOn(NAME) as operations:
        x[2].mul_(2.0)
        x.T[3].add_(1.0)
        view = x[:, 1:]
    assert operations.count == 2 and torch.equal(x, expected)
    assert view.data_ptr() == x[:, 1:].data_ptr()


def test_random_numbers_stay_those_of_the_seed():
    drawn = torch.randn(3, generator=torch.Generator().manual_seed(0))
    with OperationsOn(NAME):
        assert torch.equal(torch.randn(3, generator=torch.Generator().manual_seed(0)), drawn)


def test_what_lies_on_a_device_already_is_left_there(generator):
    """A program that mixes two devices must fail as it does without the mode."""
    x = torch.randn(5, 7, generator=generator)
    with OperationsOn(NAME), pytest.raises(WrongDevice):
        send(x) + x
