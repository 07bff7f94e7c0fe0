"""Computes attributions to the symbols of a text: of a classifier's decision, and of the states of an encoder.

For a decision: gradient times input, and leave-one-out. For a state: how strongly it depends on its own symbol and on
each other symbol.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.gradient_times_input import gradient_times_input
from attention_core.learned.insight.views import read_symbols, symbol_labels, symbol_numbers
from attention_core.learned.models.classifier import Classifier
from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.training.snapshots import Network
from attention_core.record.expressions import Ref
from attention_core.record.trace import Step, Trace


# ---- a classifier's decision -----------------------------------------------------------------------------------------
def with_attributions(trace: Trace, network: Network, text: str, target: int) -> Trace:
    """Add two steps to a run: `gradient_x_input` and `left_out`, both (B, S).

    gradient_x_input is computed for the logit of the class. left_out is the decrease of the log-odds of the class when
    the symbol is removed from the text.

    trace: the network's attention for the text. target: the index of the class.
    """
    logit = Ref("output", (0, 0, target))
    run = gradient_times_input(trace, logit)
    drops = leave_one_out_drops(network, text, target)
    left_out = Step("left_out", drops, ("B", "S"))
    steps = {**run.steps, "left_out": left_out}
    return Trace(steps, run.labels)


def leave_one_out_drops(network: Network, text: str, target: int) -> Tensor:
    r"""Compute how much the log-odds of a class, $\ln p / (1 - p)$, decrease when each symbol is removed: (1, S).

    For a text of one symbol, the decrease is 0, because the symbol cannot be removed.
    """
    model = network.exact_model
    symbols = symbol_numbers(network, text)  # (1, S)
    length = symbols.shape[1]
    with torch.no_grad():
        whole = class_log_odds(model, symbols, target)
        if length == 1:
            return torch.zeros_like(whole).view(1, 1)
        drops = []
        for place in range(length):
            shorter = torch.cat((symbols[:, :place], symbols[:, place + 1 :]), -1)  # (1, S) -> (1, S - 1)
            log_odds_without = class_log_odds(model, shorter, target)
            drops.append(whole - log_odds_without)
    return torch.stack(drops)[None]


def class_log_odds(model: Classifier, symbols: Tensor, target: int) -> Tensor:
    """Compute the log-odds of a class for one text (1, S)."""
    logits = model.trace(symbols)["output"]  # (1, 1, classes)
    return log_odds(logits[0, 0], target)


def log_odds(logits: Float[Tensor, " C"], target: int) -> Tensor:
    """Compute the log-odds of a class: its logit minus the logsumexp of all other logits.

    >>> log_odds(torch.tensor([0.8, 0.2]).log(), 0)  # ln 4
    tensor(1.3863)
    """
    others = torch.cat((logits[:target], logits[target + 1 :]))
    return logits[target] - others.logsumexp(-1)


def classifier_accuracy_without(model: Classifier, texts: Tensor, classes: Tensor, off: tuple[int, ...]) -> float:
    """Measure the share of texts that are classified correctly with the heads in `off` ablated."""
    switches = torch.ones(model.heads)
    switches[list(off)] = 0.0
    with torch.no_grad():
        predicted = model.classify(texts, switches)
    is_right = predicted == classes  # (B,)
    return is_right.double().mean().item()


# ---- the states of an encoder ----------------------------------------------------------------------------------------
def influence_of_symbols(network: Network, text: str) -> Trace:
    r"""Compute the step `heard` (T, S): the share that symbol s has in the total influence on the state at t.

    The share is $\lVert \partial h_t / \partial x_s \rVert_F / \sum_{s'} \lVert \partial h_t / \partial x_{s'}
    \rVert_F$, in which x are the symbols' vectors. If each state depended on its own symbol alone, the diagonal would
    be 1.

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
    """Compute the derivative of each component of the encoder's states with respect to each symbol's vector.

    The batch has 64 copies of the text, and copy n is differentiated for component n alone: one backward pass gives the
    derivatives of all 64 components of a state.
    """
    width = 2 * model.onward.hidden_size  # number of components of a state: 32 per direction
    with torch.inference_mode(False), torch.enable_grad():
        symbols = source.clone()  # cloned: an inference tensor has no gradient
        x = model.read(symbols).detach()  # (1, S, E)
        copies = x.repeat(width, 1, 1).requires_grad_()  # (64, S, E)
        onward, backward = model.passes(copies, symbols.expand(width, -1))  # each (64, S, 32)
        states = torch.cat((onward, backward), -1)  # (64, S, 64)
        state_numbers = states.diagonal(dim1=0, dim2=2)  # (S, 64): component n of every state, computed from copy n
        slopes = [torch.autograd.grad(state.sum(), copies, retain_graph=True)[0] for state in state_numbers]
    return torch.stack(slopes)  # (S, 64, S, E)


def mean_own_share(trace: Trace) -> float:
    """Compute which share of the influence on a state comes from its own symbol, averaged over the states."""
    return trace["heard"].diagonal().mean().item()
