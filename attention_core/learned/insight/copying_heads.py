"""What heads of a Copier do: look one back, or look behind the last time that this symbol stood there."""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.learned.insight.views import symbol_numbers
from attention_core.learned.models.copier import COPIER_HEADS, Copier
from attention_core.learned.tasks import repeats
from attention_core.learned.training.snapshots import Network
from attention_core.record.trace import Step, Trace

HEAD_PLACES = {
    f"L{layer + 1}H{head + 1}": (layer, head) for layer in range(2) for head in range(COPIER_HEADS)
}  # of heads, by name


def head_scores(model: Copier) -> dict[str, Float[Tensor, "layers 2"]]:
    """How much weight each head gives, in the mean over repeated sequences that were never trained, to the symbol
    before (previous), and from the second half to the symbol that came next the first time (induction).

    Source: Olsson et al. 2022, In-context Learning and Induction Heads, where the latter is called prefix matching.
    """
    sequences, half = repeats.held_out(), repeats.MEASURED_HALF
    weights = [run["weights"] for run in model.traces(sequences)]  # layers times (B, 2, T, T)
    previous = [each.diagonal(-1, -2, -1).mean((0, -1)) for each in weights]  # (B, 2, T - 1) -> (2,)
    behind = [each.diagonal(1 - half, -2, -1)[..., 1:].mean((0, -1)) for each in weights]  # query t, key t - half + 1
    return {"previous": torch.stack(previous), "induction": torch.stack(behind)}


def next_probabilities(network: Network, text: str, off: tuple[str, ...] = ()) -> Float[Tensor, "T symbols"]:
    """How probable each symbol is held to come next, after each symbol of a text, without some heads."""
    model = network.exact_model
    with torch.inference_mode():
        return model.logits(symbol_numbers(network, text), head_switches(off, len(model.layers)))[0].softmax(-1)


def with_next_probabilities(trace: Trace, network: Network, text: str, off: tuple[str, ...] = ()) -> Trace:
    """A run with `foretold` (B, T - 1): how probable each symbol that came next was held, after the one before it.
    off: heads that are switched off."""
    probable, symbols = (
        next_probabilities(network, text, off)[:-1],
        symbol_numbers(network, text)[0, 1:],
    )  # (T - 1, symbols), (T - 1,)
    came = probable.gather(-1, symbols[:, None])[:, 0][None]  # (1, T - 1)
    return Trace({**trace.steps, "foretold": Step("foretold", came, ("B", "next"))}, trace.labels)


def expected_next(network: Network, text: str, off: tuple[str, ...] = ()) -> tuple[str, float]:
    """The symbol that is held most probable after a text, and how probable, without some heads."""
    share, number = next_probabilities(network, text, off)[-1].max(-1)
    return repeats.SYMBOLS.of[int(number)], float(share)


def head_switches(off: tuple[str, ...], layers: int) -> Float[Tensor, "layers 2"]:
    """1 for heads that are on, 0 for those that are off, by name: "L1H2" is the second head of the first layer.

    >>> head_switches(("L1H2",), 2)
    tensor([[1., 0.],
            [1., 1.]])
    """
    kept = torch.ones(layers, COPIER_HEADS)
    for name in off:
        kept[HEAD_PLACES[name]] = 0.0
    return kept


def accuracy_without_heads(model: Copier, off: tuple[str, ...]) -> tuple[float, ...]:
    """The share of symbols that are foretold, by position, without some of the heads."""
    return tuple(repeats.accuracy(model, head_switches(off, len(model.layers))).tolist())


def first_share(figures: tuple[float, ...]) -> float:
    """The mean of what nobody can know: all positions before those."""
    unknown = figures[: repeats.MEASURED_HALF]
    return sum(unknown) / len(unknown)


def repeated_share(figures: tuple[float, ...]) -> float:
    """The mean of what can be known: positions of the second half, from its second symbol on."""
    known = figures[repeats.MEASURED_HALF :]
    return sum(known) / len(known)
