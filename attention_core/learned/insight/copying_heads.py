"""Measures what the heads of a Copier do: attend to the previous symbol, or to the symbol that followed an earlier
equal symbol.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.analysis.head_circuits import head_circuit
from attention_core.analysis.head_composition import composition_scores
from attention_core.learned.insight.views import read_symbols, source_alphabet, symbol_numbers
from attention_core.learned.models.copier import COPIER_CONFIG, COPIER_HEADS, Copier
from attention_core.learned.tasks import repeats
from attention_core.learned.training.snapshots import Network
from attention_core.record.trace import Step, Trace

HEAD_PLACES = {"L1H1": (0, 0), "L1H2": (0, 1), "L2H1": (1, 0), "L2H2": (1, 1)}  # head -> (layer, index), both from 0


def head_scores(model: Copier) -> dict[str, Float[Tensor, "layers 2"]]:
    """Compute two measures of each head on held-out texts that repeat their first half: weight on the previous symbol,
    and induction.

    previous: the weight on the symbol before. induction: in the second half, the weight on the symbol that followed the
    same symbol in the first half.

    Source: Olsson et al. 2022, In-context Learning and Induction Heads, where "induction" is called prefix matching.
    """
    half = repeats.MEASURED_HALF
    previous = []
    induction = []
    for run in model.traces(repeats.held_out()):
        weights = run["weights"]  # (B, 2, T, T)
        to_previous = weights.diagonal(-1, -2, -1)  # (B, 2, T - 1): query t, key t - 1
        mean = to_previous.mean((0, -1))  # (2,)
        previous.append(mean)
        behind_copy = weights.diagonal(1 - half, -2, -1)  # (B, 2, T - half + 1): query t, key after t's first copy
        in_second_half = behind_copy[..., 1:]
        mean = in_second_half.mean((0, -1))  # (2,)
        induction.append(mean)
    return {"previous": torch.stack(previous), "induction": torch.stack(induction)}


def layer_traces(network: Network, text: str, off: tuple[str, ...] = ()) -> list[Trace]:
    """Run each layer of a Copier on a text, with the heads in `off` ablated.

    network: a network whose model is a Copier. text: T symbols. off: the names of the heads to ablate.

    Raises AttentionError: learned_empty, learned_too_long, never_seen.

    >>> from attention_core.learned.training.shipped_networks import load_network
    >>> first, second = layer_traces(load_network("copy_two", 500), "abcab")
    >>> second["weights"].shape, f"{second['weights'][0, :, 4, 2].max():.1f}"
    (torch.Size([1, 2, 5, 5]), '1.0')
    """
    model = network.exact_model
    symbols = read_symbols(network, text)
    with torch.inference_mode():
        runs = model.traces(symbol_numbers(network, text), head_switches(off, len(model.layers)))
    return [run.labelled(T=symbols, S=symbols) for run in runs]


# ---- probabilities of the next symbol --------------------------------------------------------------------------------
def next_probabilities(network: Network, text: str, off: tuple[str, ...] = ()) -> Float[Tensor, "T symbols"]:
    """Compute, after each symbol of a text, the probability of each symbol to be the next one.

    off: the names of the heads to ablate.
    """
    model = network.exact_model
    with torch.inference_mode():
        switches = head_switches(off, len(model.layers))
        logits = model.logits(symbol_numbers(network, text), switches)  # (1, T, symbols)
        return logits[0].softmax(-1)


def with_next_probabilities(trace: Trace, network: Network, text: str, off: tuple[str, ...] = ()) -> Trace:
    """Add the step `foretold` (B, T - 1) to a run: the probability that the model gave to each symbol that came next.

    off: the names of the heads to ablate.
    """
    probabilities = next_probabilities(network, text, off)  # (T, symbols)
    symbols = symbol_numbers(network, text)  # (1, T)
    next_symbols = symbols[0, 1:, None]  # (T - 1, 1)
    foretold = probabilities[:-1].gather(-1, next_symbols)  # (T - 1, 1)
    step = Step("foretold", foretold.T, ("B", "next"))
    steps = {**trace.steps, "foretold": step}
    return Trace(steps, trace.labels)


def expected_next(network: Network, text: str, off: tuple[str, ...] = ()) -> tuple[str, float]:
    """Return the most probable symbol after a text, and its probability.

    off: the names of the heads to ablate.
    """
    probabilities = next_probabilities(network, text, off)  # (T, symbols)
    probability, number = probabilities[-1].max(-1)
    symbol = repeats.SYMBOLS.of[number]
    return symbol, probability.item()


# ---- ablated heads ---------------------------------------------------------------------------------------------------
def head_switches(off: tuple[str, ...], layers: int) -> Float[Tensor, "layers 2"]:
    """Return a factor per head: 0 for the heads in `off`, else 1.

    A name such as "L1H2" means the second head of the first layer.

    >>> head_switches(("L1H2",), 2)
    tensor([[1., 0.],
            [1., 1.]])
    """
    switches = torch.ones(layers, COPIER_HEADS)
    for name in off:
        switches[HEAD_PLACES[name]] = 0.0
    return switches


def accuracy_without_heads(model: Copier, off: tuple[str, ...]) -> tuple[float, ...]:
    """Measure the share of right predictions at each position, with some heads ablated."""
    switches = head_switches(off, len(model.layers))
    return tuple(repeats.accuracy(model, switches).tolist())


def first_share(figures: tuple[float, ...]) -> float:
    """Compute the mean accuracy where prediction is impossible: in the first half, and at the first symbol of the
    second half.
    """
    unknown = figures[: repeats.MEASURED_HALF]
    return sum(unknown) / len(unknown)


def repeated_share(figures: tuple[float, ...]) -> float:
    """Compute the mean accuracy where prediction is possible: in the second half, from its second symbol on."""
    known = figures[repeats.MEASURED_HALF :]
    return sum(known) / len(known)


# ---- two composed heads, from the matrices alone: the keys of the second read the output of the first ----------------
ITSELF = "itself"  # in place of a first-layer head: keys are computed from the symbols themselves
MAX_COMPOSED_SYMBOLS = 12  # most symbols (rows and columns) in the matrix of compose_heads


def compose_heads(network: Network, text: str, first: str) -> Trace:
    r"""Run the last layer on symbols alone, with keys computed from a first-layer head's output for each symbol.

    $E W_q (E W_v W_{o,h} W_k)^\top / \sqrt{d_k}$, the step `scaled_scores` (B, H, T, S), without positions. Its rows
    are queries, the symbols themselves; its columns are keys, symbols as the first head writes them to a position that
    attends to them. If the first head attends to the previous symbol, that position is the one after the symbol.

    network: a Copier of two layers. text: its first 12 different symbols are used. first: the first head, such as
    "L1H2", or "itself" for keys projected from the symbols. Raises AttentionError as symbols_of does. Source: Elhage et
    al. 2021, "K-composition" and "How induction heads work".
    """
    symbols = tuple(dict.fromkeys(read_symbols(network, text)))[:MAX_COMPOSED_SYMBOLS]
    numbers = source_alphabet(network).numbers(symbols)
    return run_composed(network.exact_model, torch.tensor(numbers), first).labelled(T=symbols, S=symbols)


def run_composed(model: Copier, symbols: Tensor, first: str) -> Trace:
    """Run the last layer on symbols (given as indices) with keys from the first head's output, as a Trace."""
    with torch.inference_mode():
        x = model.read(symbols)  # (T, D)
        key = None
        if first != ITSELF:
            _, head = HEAD_PLACES[first]
            key = head_circuit(x, model.layers[0].weights(), COPIER_CONFIG)["written"][0, head]  # (T, D)
        return head_circuit(x, model.layers[-1].weights(), COPIER_CONFIG, key=key)


def finds_itself(network: Network, first: str, second: str) -> Bool[Tensor, " symbols"]:
    """Return, for each symbol of the alphabet, whether its query has its highest score with the first head's output for
    that symbol.

    first: the first head, such as "L1H2", or "itself" for keys projected from the symbols. second: the name of a head
    of the last layer.
    """
    _, head = HEAD_PLACES[second]
    symbols = torch.arange(len(source_alphabet(network).of))
    scores = run_composed(network.exact_model, symbols, first)["scaled_scores"][0, head]  # (symbols, symbols)
    return scores.argmax(-1) == symbols


def composition_trace(network: Network) -> Trace:
    """Measure how strongly each head of the last layer reads the output of each head of the first layer.

    The Trace has the steps `q_composition`, `k_composition` and `v_composition`, each (later, earlier); see
    composition_scores.
    """
    first, *_, last = network.exact_model.layers
    with torch.inference_mode():
        scores: dict[str, Float[Tensor, "2 2"]] = composition_scores(first.weights(), last.weights(), COPIER_HEADS)
    steps = {f"{name}_composition": value for name, value in scores.items()}
    names = tuple(HEAD_PLACES)
    return Trace(
        {name: Step(name, value, ("later", "earlier")) for name, value in steps.items()},
        {"later": names[COPIER_HEADS:], "earlier": names[:COPIER_HEADS]},
    )
