"""The examples of code: each listing runs as a script of its own and gives the numbers of a run; what is said of it."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attention_core import attend_qkv
from attention_core.examples.code_examples import LISTINGS, draw_tensors, largest_listing_difference
from attention_core.examples.examples import EXAMPLES
from attention_core.variants.textbook_code import heads_by_eighth

NAMES = {example.code: name for name, example in EXAMPLES.items() if example.code}
SIZES = {  # B, H, T, S, d_k, width of the output
    "scaled_dot_class": (2, 1, 5, 5, 64, 128),
    "multi_head_class": (2, 8, 10, 10, 64, 512),
    "numpy_function": (2, 1, 3, 4, 8, 8),
    "torch_function": (2, 2, 3, 4, 16, 32),
    "cross_heads_class": (2, 8, 5, 6, 8, 64),
    "eighth_class": (2, 8, 5, 5, 16, 128),
}
GOLDEN = Path(__file__).parents[1] / "golden"


def script_of(listing):
    """What a listing defines, run as a script of its own."""
    names = {"__name__": "__main__"}
    exec(compile(LISTINGS[listing].source, listing, "exec"), names)
    return names


def test_there_is_an_example_of_each_listing():
    assert set(NAMES) == set(LISTINGS) == set(SIZES)


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_listing_run_as_a_script_gives_the_numbers_of_a_run(listing, capsys):
    script = script_of(listing)
    trace = EXAMPLES[NAMES[listing]].run()
    sizes = trace.sizes()
    width = trace.step("output").shape[-1]
    assert (*(sizes[dim] for dim in ("B", "H", "T", "S", "d_k")), width) == SIZES[listing]
    output, weights = map(np.asarray, script["run"]())
    printed = capsys.readouterr().out
    assert str(tuple(output.shape)) in printed.replace("torch.Size([", "(").replace("])", ")")
    mixing = "dropped_weights" if "dropped_weights" in trace else "weights"
    np.testing.assert_allclose(weights.reshape(trace[mixing].shape), trace[mixing].numpy(), rtol=0, atol=1e-10)
    heads = trace["head_outputs"] if listing == "torch_function" else trace["output"]
    np.testing.assert_allclose(output, heads.numpy(), rtol=0, atol=1e-10)
    assert trace.step("weights").dtype == torch.float64


@pytest.mark.parametrize("listing", LISTINGS)
def test_what_a_listing_draws_is_known_without_a_draw_and_is_the_same_at_every_draw(listing):
    drawn = LISTINGS[listing].read()
    assert tuple(drawn) == LISTINGS[listing].names
    for name, tensor in draw_tensors(listing).items():
        assert torch.equal(tensor, drawn[name])


def test_numpy_numbers_are_those_of_seed_0():
    golden = json.loads((GOLDEN / "s03_seed001_numpy_seed0.json").read_text(encoding="utf-8"))["expected"]
    trace = EXAMPLES["code_numpy_function"].run()
    for step in ("q", "k", "v"):
        np.testing.assert_array_equal(trace[step][:, 0].numpy(), golden[step])
    np.testing.assert_allclose(trace["weights"][0, 0].numpy(), golden["weights"][0], rtol=0, atol=1e-10)
    assert trace["weights"][1, 0, :, 3].tolist() == [0, 0, 0]  # the filling


def test_a_lower_triangle_read_as_what_is_ignored_leaves_the_last_query_one_key():
    """What is told under the listing, in which True means ignored."""
    q, k, v = (EXAMPLES["code_numpy_function"].run()[step] for step in ("q", "k", "v"))
    may_attend = torch.ones(3, 4, dtype=torch.bool).tril()
    weights = attend_qkv(q, k, v, allowed=~may_attend)["weights"]
    assert weights[:, :, 2].tolist() == [[[0, 0, 0, 1]]] * 2
    assert (weights[:, :, :, 0] == 0).all()


SEEDED = """
import json, torch
torch.manual_seed(0)
wanted = [torch.randn(2, 5, size).double().tolist() for size in (64, 64, 128)]
torch.manual_seed(0)
print(json.dumps([wanted, torch.randn(2, 2, 3, 16).double().tolist()]))
"""


def test_torch_numbers_are_those_of_manual_seed_0():
    """Drawn in a process of its own: here other threads may draw from torch's one generator meanwhile."""
    told = subprocess.run([sys.executable, "-c", SEEDED], capture_output=True, check=True, text=True).stdout
    wanted, first = json.loads(told)
    drawn = draw_tensors("scaled_dot_class")
    for name, numbers in zip("qkv", wanted, strict=True):
        assert torch.equal(drawn[name][:, 0], torch.tensor(numbers, dtype=torch.float64))
    assert torch.equal(draw_tensors("torch_function")["q"], torch.tensor(first, dtype=torch.float64))


def test_a_run_that_was_changed_lies_apart():
    undivided = replace(EXAMPLES["code_torch_function"], score="dot").run()
    q, k, v, ignored = LISTINGS["torch_function"].module.draw()
    (output, weights), eye = LISTINGS["torch_function"].module.run(), torch.eye(4).double().expand(2, 2, 4, 4)
    other = F.scaled_dot_product_attention(q, k, v, attn_mask=~ignored, scale=1)
    other_weights = F.scaled_dot_product_attention(q, k, eye, attn_mask=~ignored, scale=1)
    apart = max((output - other).abs().max(), (weights - other_weights).abs().max()).item()
    assert largest_listing_difference("torch_function", undivided) == pytest.approx(apart, rel=1e-9)
    assert largest_listing_difference("torch_function", EXAMPLES["code_numpy_function"].run()) is None


# ---- what is said of them --------------------------------------------------------------------------------------------
def test_a_blocked_row_of_minus_a_billion_is_even():
    script = script_of("scaled_dot_class")
    q, k, v, mask = script["draw"]()
    mask[:, 2] = 0
    output, weights = script["ScaledDotProductAttention"]()(q, k, v, mask)
    torch.testing.assert_close(weights[:, 2], torch.full((2, 5), 0.2).double())
    torch.testing.assert_close(output[:, 2], v.mean(1))


def test_a_mask_of_two_axes_gives_each_head_a_row_of_its_own():
    script = script_of("multi_head_class")
    layer, *inputs = script["draw"]()
    inputs = [tensor[:, :8] for tensor in inputs]
    mask = torch.ones(8, 8).tril()
    _, weights = layer(*inputs, mask)
    for head in range(8):
        of_row = mask[head].expand(2, 8, 8)  # one row for every query
        torch.testing.assert_close(weights[:, head], layer(*inputs, of_row)[1][:, head])
    assert not torch.equal(inputs[0], inputs[1])


def test_a_mask_that_means_the_opposite():
    script = script_of("numpy_function")
    q, k, v, _ = script["draw"]()
    _, weights = script["scaled_dot_product_attention"](q, k[:, :3], v[:, :3], np.tri(3, dtype=bool))
    np.testing.assert_allclose(weights[:, 2], 1 / 3)
    assert not weights[:, 0, 0].any() and not weights[:, 1, :2].any() and (weights[:, 1, 2] == 1).all()
    q, k, v, ignored = script_of("torch_function")["draw"]()
    ours = F.scaled_dot_product_attention(q, k, v, attn_mask=~ignored)
    torch.testing.assert_close(script_of("torch_function")["run"]()[0], ours)


def test_a_row_that_is_all_ignored_has_no_numbers():
    script = script_of("torch_function")
    q, k, v, ignored = script["draw"]()
    ignored[:, :, 1] = True
    _, weights = script["scaled_dot_product_attention"](q, k, v, ignored)
    assert weights[:, :, 1].isnan().all() and not weights[:, :, 0].isnan().any()


def test_rows_after_dropout():
    script = script_of("cross_heads_class")
    _, weights = script["run"]()
    sums = weights.sum(-1)
    assert (round(sums.min().item(), 2), round(sums.max().item(), 2)) == (0.62, 1.11)
    layer, query, memory, mask = script["draw"]()
    _, kept = layer.eval()(query, memory, memory, mask)
    torch.testing.assert_close(kept.sum(-1), torch.ones(2, 8, 5).double())
    torch.testing.assert_close(kept, EXAMPLES["code_cross_heads_class"].run()["weights"])


def test_an_eighth_of_the_width():
    attention = script_of("eighth_class")["SelfAttention"]
    for width in (128, 20):
        _, heads, _, _ = attention(width)(torch.zeros(1, 2, width))[1].shape
        assert (heads, width // 8) == heads_by_eighth(width) == {128: (8, 16), 20: (10, 2)}[width]
    for width in (4, 7, 17, 100):
        with pytest.raises(RuntimeError):
            attention(width)(torch.zeros(1, 2, width))


def test_a_scale_that_stays_in_single_precision():
    attention = script_of("eighth_class")["SelfAttention"]
    errors = []
    for width in (64, 128):
        generator = torch.Generator().manual_seed(0)
        layer = attention(width).double()
        for parameter in layer.parameters():
            torch.nn.init.uniform_(parameter, -(width**-0.5), width**-0.5, generator=generator)
        x = torch.randn(2, 5, width, generator=generator).double()
        single, _ = layer(x)
        assert layer.scale.dtype == torch.float32
        layer.scale = torch.tensor(layer.d_k).double().sqrt()
        errors.append((single - layer(x)[0]).abs().max().item())
    assert f"{errors[0]:.0e}" == "8e-09" and errors[1] == 0


# ---- no W ------------------------------------------------------------------------------------------------------------
def test_without_w_the_dot_product_prefers_the_longer_vector_and_the_cosine_only_the_direction():
    dot, cosine = (EXAMPLES[name].run() for name in ("plain_dot", "plain_cosine"))
    powers = np.exp([5.0, 10, 0, 0])  # kitten (1, 2) with itself, with cat (2, 4), with what stands at right angles
    np.testing.assert_allclose(dot["weights"][0, 0, 0].numpy(), powers / powers.sum(), rtol=1e-12)
    e = np.e
    np.testing.assert_allclose(cosine["weights"][0, 0, 0].numpy(), np.array([e, e, 1, 1]) / (2 * e + 2), rtol=1e-12)
    x = np.array([[1.0, 2], [2, 4], [2, -1], [4, -2]])
    for trace in (dot, cosine):
        assert set(trace.inputs()) == {"x"}
        np.testing.assert_allclose(trace["output"][0].numpy(), trace["weights"][0, 0].numpy() @ x, rtol=1e-12)
    assert torch.equal(EXAMPLES["zh_plain_dot"].run()["output"], dot["output"])
    assert torch.equal(EXAMPLES["zh_plain_cosine"].run()["output"], cosine["output"])
