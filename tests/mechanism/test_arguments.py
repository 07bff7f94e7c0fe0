"""What the axes of a run are called."""

import torch

from attention_core import AttentionConfig, Weights, attend


def run(query: int, key: int, value: int):
    """Cross-attention from inputs of these widths."""
    widths = {"query": query, "key": key, "value": value}
    inputs = [torch.ones(2, width, dtype=torch.float64) for width in widths.values()]
    matrices = {
        f"w_{role}": torch.ones(width, 5, dtype=torch.float64)
        for role, width in zip("qkv", widths.values(), strict=True)
    }
    return attend(*inputs, weights=Weights(**matrices), config=AttentionConfig())


def test_only_an_input_of_another_width_has_an_axis_of_its_own():
    trace = run(query=3, key=7, value=3)
    assert [trace.step(name).dims for name in ("query", "key", "value")] == [
        ("B", "T", "D"),
        ("B", "S", "D_key"),
        ("B", "S", "D"),
    ]


def test_a_narrower_input_has_one_as_well():
    trace = run(query=7, key=3, value=2)
    assert [trace.step(name).dims[-1] for name in ("query", "key", "value")] == ["D", "D_key", "D_value"]
