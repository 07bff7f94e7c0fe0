"""The stand-in itself: it refuses what a GPU refuses, and counts what waits for one."""

import pytest
import torch

from tests.device.stand_in import AWAY, Away, WrongDevice, fetch, reads_noted, send


@pytest.fixture
def host(generator):
    return torch.randn(3, 5, generator=generator)


@pytest.fixture
def there(host):
    return send(host)


MIXED = {
    "a sum": lambda there, host: there + host,
    "the same from the left": lambda there, host: host * there,
    "a product": lambda there, host: there @ host.mT,
    "a choice": lambda there, host: torch.where(there > 0, there, host),
    "side by side": lambda there, host: torch.cat([there, host]),
    "made on the host": lambda there, host: there + torch.arange(5),
    "in place": lambda there, host: there.add_(host),
}


@pytest.mark.parametrize("is_inference", [True, False], ids=["inference", ""])
@pytest.mark.parametrize("name", MIXED)
def test_a_tensor_of_the_host_beside_its_own_is_refused(name, is_inference, there, host):
    with torch.inference_mode(is_inference), reads_noted(), pytest.raises(WrongDevice):
        MIXED[name](there, host)


ALLOWED = {
    "a number": lambda x: x + 2.0,
    "a single number of the host": lambda x: x * torch.tensor(2.0, device="cpu"),
    "a choice of a number": lambda x: torch.where(x > 0, x, 0.0),
    "made beside it": lambda x: x + torch.arange(5, device=x.device),
    "made like it": lambda x: torch.zeros_like(x) + x.new_ones(3, 1),
    "a list": lambda x: x + torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0], device=x.device),
    "sent": lambda x: x + torch.ones(3, 5).to(x.device),
    "another dtype": lambda x: x.double().softmax(-1).to(x.dtype),
    "a view": lambda x: x.T[1:, None].expand(4, 2, 3).reshape(8, 3),
    "in place": lambda x: torch.ones_like(x).add_(x),
    "an identity": lambda x: x @ torch.eye(5, dtype=x.dtype, device=x.device),
    "in order": lambda x: torch.arange(5, device=x.device),
    "filled": lambda x: torch.full((3, 5), 2.0, device=x.device),
    "zeros": lambda x: torch.zeros(5, device=x.device),
}


@pytest.mark.parametrize("is_inference", [True, False], ids=["inference", ""])
@pytest.mark.parametrize("name", ALLOWED)
def test_what_a_gpu_can_do_gives_the_cpus_numbers_and_reads_nothing(name, is_inference, there, host):
    with torch.inference_mode(is_inference), reads_noted() as reads:
        found = ALLOWED[name](there)
    assert reads == []
    assert found.device == AWAY and found.shape == fetch(found).shape
    assert torch.equal(fetch(found), ALLOWED[name](host))


READING = {
    "item": lambda x: x[0, 0].item(),
    "a question": lambda x: bool((x > 0).all()),
    "a float": lambda x: float(x.sum()),
    "to the host": lambda x: x.cpu(),
    "by its name": lambda x: x.to("cpu", torch.float64),
    "copied into a tensor of the host": lambda x: torch.zeros(3, 5).copy_(x),
    "a list": lambda x: x.tolist(),
    "whether both are equal": lambda x: torch.equal(x, x),
    "where it is not 0": lambda x: x.nonzero(),
    "those that are above 0": lambda x: x[x > 0],
    "different ones": lambda x: x.unique(),
}


@pytest.mark.parametrize("is_inference", [True, False], ids=["inference", ""])
@pytest.mark.parametrize("name", READING)
def test_what_waits_for_a_gpu_is_one_read_and_says_where(name, is_inference, there, host):
    with torch.inference_mode(is_inference), reads_noted() as reads:
        found = READING[name](there)
    assert len(reads) == 1
    assert "test_stand_in.py" in reads[0]
    expected = READING[name](host)
    if isinstance(found, torch.Tensor):
        found, expected = (fetch(found) if isinstance(found, Away) else found).tolist(), expected.tolist()
    assert found == expected


def test_it_is_no_array(there):
    with pytest.raises((TypeError, RuntimeError)):
        there.numpy()
