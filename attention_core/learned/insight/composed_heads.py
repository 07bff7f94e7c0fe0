"""Two composed heads of a Copier, from the matrices alone: the keys of the second read the output of the first."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.analysis.head_circuits import composition_scores, head_circuit
from attention_core.learned.insight.copying_heads import HEAD_PLACES
from attention_core.learned.insight.views import read_symbols, source_alphabet
from attention_core.learned.models.copier import COPIER_CONFIG, COPIER_HEADS, Copier
from attention_core.learned.training.snapshots import Network
from attention_core.record.trace import Step, Trace

ITSELF = "itself"  # choice instead of a first head: keys are projected from the symbols themselves
MAX_COMPOSED_SYMBOLS = 12  # symbols in the shown matrix, each with a row and a column


def compose_heads(network: Network, text: str, first: str) -> Trace:
    r"""Run the last layer on symbols alone, with keys from the output of a first-layer head for each symbol.

    $E W_q (E W_v W_{o,h} W_k)^\top / \sqrt{d_k}$, the step `scaled_scores` (B, H, T, S), without positions: how well
    each symbol as a query matches a place to which the first head has added each other symbol. If the first head
    attends to the previous symbol, this place is the one after that symbol.

    network: a Copier of two layers. text: its first 12 different symbols are used. first: the first head, "L1H2", or
    "itself" for keys projected from the symbols. Raises AttentionError as symbols_of does.
    Source: Elhage et al. 2021, "K-composition" and "How induction heads work".
    """
    symbols = tuple(dict.fromkeys(read_symbols(network, text)))[:MAX_COMPOSED_SYMBOLS]
    numbers = source_alphabet(network).numbers(symbols)
    return run_composed(network.exact_model, torch.tensor(numbers), first).labelled(T=symbols, S=symbols)


def run_composed(model: Copier, symbols: Tensor, first: str) -> Trace:
    """The run that compose_heads returns, for the numbers of symbols."""
    with torch.inference_mode():
        x = model.read(symbols)  # (T, D)
        key = None
        if first != ITSELF:
            _, head = HEAD_PLACES[first]
            key = head_circuit(x, model.layers[0].weights(), COPIER_CONFIG)["written"][0, head]  # (T, D)
        return head_circuit(x, model.layers[-1].weights(), COPIER_CONFIG, key=key)


def finds_itself(network: Network, first: str, second: str) -> Bool[Tensor, " symbols"]:
    """Mark each symbol of the alphabet whose query matches the first head's output for this same symbol best.

    first: as for compose_heads. second: the name of a head of the last layer.
    """
    _, head = HEAD_PLACES[second]
    symbols = torch.arange(len(source_alphabet(network).of))
    scores = run_composed(network.exact_model, symbols, first)["scaled_scores"][0, head]  # (symbols, symbols)
    return scores.argmax(-1) == symbols


def composition_trace(network: Network) -> Trace:
    """Measure how much each head of the last layer reads the output of each head of the first layer: the steps
    `q_composition`, `k_composition`, `v_composition`, each (later, earlier); see composition_scores."""
    first, *_, last = network.exact_model.layers
    with torch.inference_mode():
        scores: dict[str, Float[Tensor, "2 2"]] = composition_scores(first.weights(), last.weights(), COPIER_HEADS)
    steps = {f"{name}_composition": value for name, value in scores.items()}
    names = tuple(HEAD_PLACES)
    return Trace(
        {name: Step(name, value, ("later", "earlier")) for name, value in steps.items()},
        {"later": names[COPIER_HEADS:], "earlier": names[:COPIER_HEADS]},
    )
