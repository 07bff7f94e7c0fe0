"""What words hand over through each head for one number of the output."""

import pytest
import torch

from attention_core.analysis.carried_numbers import find_carried
from pages.runs.cache import trace_for
from pages.setup.setup import Setup


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("example", ["en_colour", "zh_colour", "en_it"])
def test_times_the_weights_and_added_up_it_is_the_column_of_the_output(example, heads):
    trace = trace_for(Setup(example=example, heads=heads))
    for column in range(trace.sizes()["D_out"]):
        carried = find_carried(trace, column)  # (B, H, S)
        summed = torch.einsum("bhts,bhs->bt", trace["weights"], carried)
        assert torch.allclose(summed, trace["output"][..., column], atol=1e-12)
