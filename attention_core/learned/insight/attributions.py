"""Two attributions of a classifier's decision besides its attention weights: gradient x input, and leave-one-out."""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.gradient_times_input import gradient_times_input
from attention_core.learned.insight.views import symbol_numbers
from attention_core.learned.models.classifier import Classifier
from attention_core.learned.training.snapshots import Network
from attention_core.record.expressions import Ref
from attention_core.record.trace import Step, Trace


def with_attributions(trace: Trace, network: Network, text: str, target: int) -> Trace:
    """Add two steps to a run: `gradient_x_input` and `left_out`, both (B, S).

    gradient_x_input: for the logit of the class. left_out: by how much the log-odds of the class fall if the symbol is
    removed from the text.

    trace: the network's attention for the text. target: the number of the class.
    """
    logit = Ref("output", (0, 0, target))
    run = gradient_times_input(trace, logit)
    drops = leave_one_out_drops(network, text, target)
    left_out = Step("left_out", drops, ("B", "S"))
    steps = {**run.steps, "left_out": left_out}
    return Trace(steps, run.labels)


def leave_one_out_drops(network: Network, text: str, target: int) -> Tensor:
    r"""Compute by how much the log-odds of a class, $\ln p / (1 - p)$, fall without each symbol, (1, S).

    The drop is 0 for a text of one symbol, which cannot be left out.
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
