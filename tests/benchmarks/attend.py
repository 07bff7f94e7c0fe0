"""attend, which keeps every step, against torch's own nn.MultiheadAttention, which gives the weights of all heads."""

from collections.abc import Callable, Iterator
from time import perf_counter

import torch
from torch import Tensor

from attention_core import AttentionConfig, Weights, attend
from tests.benchmarks.figures import Figure, against, alternately, report

HEADS, TOKENS, WIDTH = 8, 256, 64  # width of a head
LEAST_RUNS, WARM_UP = 50, 10
MOST = 1.0  # times torch's


def both(device: str) -> tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    """The same layer twice: same numbers, same causal mask, float32."""
    generator = torch.Generator().manual_seed(0)
    width = HEADS * WIDTH
    x = torch.randn(1, TOKENS, width, generator=generator).to(device)
    theirs = torch.nn.MultiheadAttention(width, HEADS, batch_first=True, device=device).eval()
    w_q, w_k, w_v = (w.T for w in theirs.in_proj_weight.detach().chunk(3))  # (3 D, D) -> three of (D, D)
    b_q, b_k, b_v = theirs.in_proj_bias.detach().chunk(3)
    w_o, b_o = theirs.out_proj.weight.detach().T, theirs.out_proj.bias.detach()
    weights = Weights(w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o, b_q=b_q, b_k=b_k, b_v=b_v, b_o=b_o)
    config = AttentionConfig(heads=HEADS, masks=["causal"])
    blocked = torch.ones(TOKENS, TOKENS, dtype=torch.bool, device=device).triu(1)  # True = may not, in torch's words

    def our_run() -> Tensor:
        return attend(x, weights=weights, config=config)["output"]

    def their_run() -> Tensor:
        output, _ = theirs(x, x, x, attn_mask=blocked, need_weights=True, average_attn_weights=False)
        return output

    return our_run, their_run


def timed(run: Callable[[], Tensor], device: str) -> float:
    """Seconds of one run, until the device has finished."""
    start = perf_counter()
    run()
    if device == "cuda":
        torch.cuda.synchronize()
    return perf_counter() - start


def on(device: str, runs: int) -> Figure:
    """Both on one device, alternately."""
    ours, theirs = both(device)
    with torch.inference_mode():
        torch.testing.assert_close(ours(), theirs(), rtol=1e-4, atol=1e-5)
        taken, floor = alternately(runs, lambda: timed(ours, device), lambda: timed(theirs, device), warm_up=WARM_UP)
    where = torch.cuda.get_device_name() if device == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    what = f"attend against nn.MultiheadAttention, B 1, H {HEADS}, T {TOKENS}, d {WIDTH}, float32, causal ({where})"
    return against(what, taken, floor, MOST)


def measure(runs: int) -> Iterator[Figure]:
    """On the CPU, and on a CUDA device where there is one."""
    for device in ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]:
        yield on(device, max(runs, LEAST_RUNS))


if __name__ == "__main__":
    report([measure])
