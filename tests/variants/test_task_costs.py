"""What a task takes: the closed forms against what runs, counted at small lengths."""

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend, attend_qkv
from attention_core.variants.cost import ProductCounter, attention_cost, count_cost
from attention_core.variants.kv_cache import decode
from attention_core.variants.linear_recurrence import attend_linear
from attention_core.variants.sparse import attend_sparse
from attention_core.variants.task_costs import (
    HEAD_WIDTH,
    LATENT_WIDTH,
    LOCAL_PATTERN,
    PATCHES,
    SHARED_HEADS,
    TASK_COSTS,
    TASK_HEADS,
    TASK_WIDTH,
    TOKEN_STEPS,
    growth_when_doubled,
    task_cost,
)

LENGTHS = (64, 256, 1024, 4096, 16_384)  # of the slider in the lesson


def zeros(*shape):
    return torch.zeros(shape)


def counted(trace):
    """The multiply-adds of a run without what is computed of each token alone."""
    return sum(count for step, count in count_cost(trace).multiply_adds.items() if step not in TOKEN_STEPS)


@pytest.mark.parametrize(("task", "S"), [("translate", 7), ("image", PATCHES), ("understand", 7), ("set", 7)])
def test_all_pairs_are_counted_on_what_runs(task, S):
    q, k = zeros(1, TASK_HEADS, 7, HEAD_WIDTH), zeros(1, TASK_HEADS, S, HEAD_WIDTH)
    assert task_cost(task, 7).multiply_adds == counted(attend_qkv(q, k, k))


def test_the_additive_score_is_counted_on_what_runs():
    square = zeros(TASK_WIDTH, TASK_WIDTH)
    weights = Weights(w_aq=square, w_ak=square, v_a=zeros(TASK_WIDTH))
    q = zeros(1, 1, 5, TASK_WIDTH)
    trace = attend_qkv(q, q, q, weights=weights, config=AttentionConfig("additive"))
    assert task_cost("align", 5).multiply_adds == counted(trace)


@pytest.mark.parametrize(("task", "kv_heads"), [("write", TASK_HEADS), ("serve", SHARED_HEADS)])
def test_writing_with_a_cache_is_counted_on_every_step(task, kv_heads):
    side = kv_heads * HEAD_WIDTH
    weights = Weights(w_q=zeros(TASK_WIDTH, TASK_WIDTH), w_k=zeros(TASK_WIDTH, side), w_v=zeros(TASK_WIDTH, side))
    config = AttentionConfig(heads=TASK_HEADS, kv_heads=kv_heads, masks=["causal"])
    steps = list(decode(zeros(6, TASK_WIDTH), weights=weights, config=config))
    cost = task_cost(task, 6)
    assert cost.waits == len(steps) == 6
    assert cost.multiply_adds == sum(map(counted, steps))
    assert cost.kept == steps[-1]["k"].numel() + steps[-1]["v"].numel()


def test_a_latent_is_counted_on_queries_that_meet_it_in_the_place_of_keys_and_values():
    latents = zeros(1, 1, 6, LATENT_WIDTH)
    q = zeros(1, TASK_HEADS, 1, LATENT_WIDTH)
    seen = [latents[:, :, : step + 1] for step in range(6)]
    config = AttentionConfig(heads=TASK_HEADS, kv_heads=1)
    assert task_cost("latent", 6).multiply_adds == sum(counted(attend_qkv(q, c, c, config=config)) for c in seen)
    assert 4 * task_cost("write", 6).multiply_adds == task_cost("latent", 6).multiply_adds


def test_matrices_multiplied_into_the_queries_and_the_output_make_keys_and_values_needless():
    """What the lessons say of DeepSeek-V2, section 2.1.2, by products of matrices."""
    generator = torch.Generator().manual_seed(0)
    q, latents, up_k, up_v, w_o = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in ((5, 3), (7, 2), (2, 3), (2, 11), (11, 13))
    )
    scale = 3**-0.5
    computed = torch.softmax(q @ (latents @ up_k).mT * scale, -1) @ (latents @ up_v) @ w_o
    absorbed = torch.softmax((q @ up_k.mT) @ latents.mT * scale, -1) @ latents @ (up_v @ w_o)
    torch.testing.assert_close(absorbed, computed)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_work_of_local_attention_grows_with_the_length_beyond_what_is_nearby(length):
    """At the shortest length of the slider all tokens are nearby, as the lesson says."""
    nearby = 2 * LOCAL_PATTERN.window + 1
    assert (growth_when_doubled("long", length) < 2.2) == (length > nearby)
    assert (task_cost("long", length).multiply_adds < task_cost("understand", length).multiply_adds) == (
        length > nearby
    )


def test_local_attention_is_counted_on_what_runs():
    q = zeros(1, TASK_HEADS, 200, HEAD_WIDTH)
    with ProductCounter() as products:
        attend_sparse(q, q, q, LOCAL_PATTERN)
    assert task_cost("long", 200).multiply_adds == products.count


def test_a_state_is_counted_by_a_naive_loop_that_gives_the_same_numbers():
    q, k, v = torch.randn(3, 3, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    phi_q, phi_k = (torch.nn.functional.elu(x) + 1 for x in (q, k))
    products, memory, total, found = 0, [[0.0] * 2, [0.0] * 2], [0.0] * 2, []
    for t in range(3):
        for m in range(2):
            total[m] += phi_k[t, m].item()
            for n in range(2):
                memory[m][n] += phi_k[t, m].item() * v[t, n].item()
                products += 1
        read = [sum(phi_q[t, m].item() * memory[m][n] for m in range(2)) for n in range(2)]
        whole = sum(phi_q[t, m].item() * total[m] for m in range(2))
        products += 2 * 2 + 2
        found.append([number / whole for number in read])
    outputs = torch.stack([state.output[0, 0] for state in attend_linear(q, k, v)])
    torch.testing.assert_close(outputs, torch.tensor(found, dtype=torch.float64))
    assert products == 3 * (2 * 2 * 2 + 2)  # T (2 d_k d_v + d_k)
    cost = task_cost("stream", 3)
    assert cost.multiply_adds == TASK_HEADS * 3 * (2 * HEAD_WIDTH**2 + HEAD_WIDTH)
    state = next(attend_linear(*[zeros(1, TASK_HEADS, 1, HEAD_WIDTH)] * 3))
    assert cost.kept == state.memory.numel() + state.total.numel() == task_cost("stream", 9000).kept


def test_the_sentences_hold():
    def doubled(task):
        return task_cost(task, 8192).multiply_adds / task_cost(task, 4096).multiply_adds

    linear = {task for task in TASK_COSTS if doubled(task) < 2.05}
    assert linear == {"image", "long", "stream"}
    assert all(round(doubled(task), 1) == 4.0 for task in {*TASK_COSTS} - linear)
    assert task_cost("serve", 64).multiply_adds == task_cost("write", 64).multiply_adds
    assert 4 * task_cost("serve", 64).kept == task_cost("write", 64).kept
    assert task_cost("latent", 64).kept == task_cost("serve", 64).kept
    by_heads = {attention_cost(T=64, D=TASK_WIDTH, H=heads).totals()["multiply_adds"] for heads in (1, 2, 8)}
    assert len(by_heads) == 1
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(attend(x[order])["output"][0], attend(x)["output"][0][order])
