"""A Transformer layer, which keeps every step, against torch's own nn.TransformerEncoderLayer, which keeps none."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from attention_core.transformer.stack import StackConfig, StackWeights, run_stack
from tests.benchmarks.attend import timed
from tests.benchmarks.figures import Figure, against, alternately, report
from tests.transformer.parts import layer_of

LEAST_RUNS, WARM_UP = 50, 10
KEPT_NUMBERS = 8_000_000  # 32 MB: once a block of it is freed, the allocator of Linux keeps what a run gives back
SIZES = {  # tokens, width, heads, width of the feed-forward layer, most times torch's
    "T 256, d 512": (256, 512, 8, 2048, 1.3),
    "T 14, d 64": (14, 64, 8, 256, 3.0),
}


def both(tokens: int, width: int, heads: int, hidden: int) -> tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    """The same layer twice: same numbers, norms before, causal, float32; torch's with its fast path off."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, tokens, width, generator=generator)
    theirs = torch.nn.TransformerEncoderLayer(width, heads, hidden, dropout=0.0, batch_first=True, norm_first=True)
    theirs.eval()
    weights, config = layer_of(theirs, "relu", ["causal"])
    of_stack, choices = StackWeights([weights]), StackConfig([config])
    blocked = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)  # True = may not, in torch's words

    def our_run() -> Tensor:
        return run_stack(x, of_stack, choices).end

    def their_run() -> Tensor:
        return theirs(x, src_mask=blocked)

    return our_run, their_run


def on(name: str, threads: int, runs: int) -> Figure:
    """Both with so many threads, alternately."""
    *sizes, most = SIZES[name]
    ours, theirs = both(*sizes)
    free_a_large_block()
    before = torch.get_num_threads()
    fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    torch.set_num_threads(threads)
    try:
        with torch.inference_mode():
            torch.testing.assert_close(ours(), theirs(), rtol=1e-4, atol=1e-5)
            taken, floor = alternately(runs, lambda: timed(ours, "cpu"), lambda: timed(theirs, "cpu"), warm_up=WARM_UP)
    finally:
        torch.set_num_threads(before)
        torch.backends.mha.set_fastpath_enabled(fast_path)
    what = f"a layer against nn.TransformerEncoderLayer, {name}, float32, causal (CPU, {threads} threads)"
    return against(what, taken, floor, most)


def free_a_large_block() -> None:
    """So that no run asks the system for memory again, as in a process that has run for a while: else the 20 MB of
    steps that our layer keeps are new pages each time, which takes a third as long again and says nothing of the layer.
    """
    torch.ones(KEPT_NUMBERS)


def measure(runs: int) -> Iterator[Figure]:
    """Large and small, with one thread and with two."""
    for name in SIZES:
        for threads in (1, 2):
            yield on(name, threads, max(runs, LEAST_RUNS))


if __name__ == "__main__":
    report([measure])
