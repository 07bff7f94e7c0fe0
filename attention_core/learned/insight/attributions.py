"""Three witnesses of what a classifier decided by: attention's weights, gradient x input, and leaving a symbol out."""

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
    """The run with `gradient_x_input` (B, S) of the logit of a class, and `left_out` (B, S): how far the
    log-odds of the class fall where the symbol is left out and the text closes up behind it.

    trace: of the network's attention for the text. target: the class, by its number."""
    run = gradient_times_input(trace, Ref("output", (0, 0, target)))
    return Trace(
        {**run.steps, "left_out": Step("left_out", leave_one_out_drops(network, text, target), ("B", "S"))}, run.labels
    )


def leave_one_out_drops(network: Network, text: str, target: int) -> Tensor:
    r"""How far the log-odds of a class, $\ln p / (1 - p)$, fall without each symbol, (1, S); of a single symbol nothing
    can be left out: 0."""
    model, whole = network.exact_model, symbol_numbers(network, text)
    with torch.no_grad():
        before = log_odds(model.trace(whole)["output"][0, 0], target)
        places = range(whole.shape[1] if whole.shape[1] > 1 else 0)
        without = [log_odds(model.trace(without_symbol(whole, at))["output"][0, 0], target) for at in places]
    return torch.stack([before - after for after in without] or [torch.zeros_like(before)])[None]


def log_odds(logits: Float[Tensor, " C"], target: int) -> Tensor:
    """The logit of a class against all others together.

    >>> log_odds(torch.tensor([0.8, 0.2]).log(), 0)  # ln 4
    tensor(1.3863)
    """
    others = torch.cat((logits[:target], logits[target + 1 :]))
    return logits[target] - others.logsumexp(-1)


def without_symbol(symbols: Tensor, at: int) -> Tensor:
    """A text (1, S) without one of its symbols, (1, S - 1)."""
    return torch.cat((symbols[:, :at], symbols[:, at + 1 :]), -1)


def classifier_accuracy_without(model: Classifier, texts: Tensor, classes: Tensor, off: tuple[int, ...]) -> float:
    """The share of texts that get their class although the heads in `off` bring nothing."""
    kept = torch.ones(model.heads)
    kept[list(off)] = 0.0
    with torch.no_grad():
        return (model.trace(texts, kept=kept)["output"][:, 0].argmax(-1) == classes).double().mean().item()
