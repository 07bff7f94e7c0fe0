"""Whom an encoder's states have heard of: a state stands for a symbol, and knows of its neighbours too."""

import torch

from attention_core.learned.insight.views import read_symbols, symbol_labels, symbol_numbers
from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.training.snapshots import Network
from attention_core.record.trace import Step, Trace


def influence_of_symbols(network: Network, text: str) -> Trace:
    r"""`heard` (T, S): of all that reaches the state at t, the share that comes from the symbol at s:
    $\lVert \partial h_t / \partial x_s \rVert_F / \sum_{s'} \lVert \partial h_t / \partial x_{s'} \rVert_F$, where x
    are the symbols' vectors. In a state that knew its own symbol alone the diagonal would be 1.

    Source: Pascanu, Mikolov, Bengio 2013, On the Difficulty of Training Recurrent Neural Networks, equation 5.
    """
    model: Seq2Seq = network.exact_model
    source, symbols = symbol_numbers(network, text), symbol_labels(read_symbols(network, text))
    with torch.inference_mode(False), torch.enable_grad():
        x = model.read(source.clone()).detach()  # (1, S, E)
        states = lambda given: torch.cat(model.passes(given, source), -1)[0]  # noqa: E731 - (1, S, E) -> (S, 64)
        slopes = torch.autograd.functional.jacobian(states, x)[:, :, 0]  # (S, 64, 1, S, E) -> (S, 64, S, E)
    norms = slopes.square().sum((1, 3)).sqrt()  # (S, S)
    return Trace(
        {"heard": Step("heard", norms / norms.sum(-1, keepdim=True), ("T", "S"))}, {"T": symbols, "S": symbols}
    )


def mean_own_share(trace: Trace) -> float:
    """How much of a state is its own symbol's, in the mean."""
    return trace["heard"].diagonal().mean().item()
