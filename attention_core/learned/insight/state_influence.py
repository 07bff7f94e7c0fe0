"""The influence of each symbol on each state of an encoder: a state depends on its own symbol and on its neighbours."""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.learned.insight.views import read_symbols, symbol_labels, symbol_numbers
from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.training.snapshots import Network
from attention_core.record.trace import Step, Trace


def influence_of_symbols(network: Network, text: str) -> Trace:
    r"""Compute `heard` (T, S): the share of the influence on the state at t that the symbol at s has.

    It is $\lVert \partial h_t / \partial x_s \rVert_F / \sum_{s'} \lVert \partial h_t / \partial x_{s'} \rVert_F$,
    where x are the symbols' vectors. If each state depends on its own symbol alone, the diagonal is 1.

    Source: Pascanu, Mikolov, Bengio 2013, On the Difficulty of Training Recurrent Neural Networks, equation 5.
    """
    model: Seq2Seq = network.exact_model
    source = symbol_numbers(network, text)  # (1, S)
    slopes = state_slopes(model, source)  # (S, 64, S, E)
    squares = slopes.square().sum((1, 3))  # (S, 64, S, E) -> (S, S)
    norms = squares.sqrt()
    totals = norms.sum(-1, keepdim=True)  # (S, 1)
    heard = Step("heard", norms / totals, ("T", "S"))
    symbols = read_symbols(network, text)
    words = symbol_labels(symbols)
    return Trace({"heard": heard}, {"T": words, "S": words})


def state_slopes(model: Seq2Seq, source: Tensor) -> Float[Tensor, "S 64 S E"]:
    """Compute the derivative of each number of the encoder's states with respect to each of the symbols' vectors.

    The text is read 64 times in one batch, and only number n of copy n is differentiated: one backward pass then gives
    the derivatives of all 64 numbers of a state.
    """
    width = 2 * model.onward.hidden_size  # the 64 numbers of a state
    with torch.inference_mode(False), torch.enable_grad():
        symbols = source.clone()  # the source may be an inference tensor
        x = model.read(symbols).detach()  # (1, S, E)
        copies = x.repeat(width, 1, 1).requires_grad_()  # (64, S, E)
        onward, backward = model.passes(copies, symbols.expand(width, -1))  # each (64, S, 32)
        states = torch.cat((onward, backward), -1)  # (64, S, 64)
        state_numbers = states.diagonal(dim1=0, dim2=2)  # (S, 64)
        slopes = [torch.autograd.grad(state.sum(), copies, retain_graph=True)[0] for state in state_numbers]
    return torch.stack(slopes)  # (S, 64, S, E)


def mean_own_share(trace: Trace) -> float:
    """Compute the mean share of a state that comes from its own symbol."""
    return trace["heard"].diagonal().mean().item()
