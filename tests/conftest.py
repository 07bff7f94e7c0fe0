"""What all tests share: one torch thread a worker, the same random examples in every run, seeded tensors."""

import pytest
import torch
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)  # xdist has one worker a core already

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "many", max_examples=100_000, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")  # the other one by --hypothesis-profile=many


@pytest.fixture
def generator() -> torch.Generator:
    """Seeded randomness, the test's own."""
    return torch.Generator().manual_seed(0)
