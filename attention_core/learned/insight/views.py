"""What one attention of a network is given for a text: vectors and matrices, ready for attend."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.learned.models.classifier import Classifier
from attention_core.learned.models.copier import COPIER_CONFIG, Copier
from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.symbols.alphabet import Alphabet
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.snapshots import Network
from attention_core.record.errors import AttentionError

MAX_READ_SYMBOLS = 64  # symbols of a text
VISIBLE_BLANK = "␣"  # a blank where it must be seen
QUERY_LABEL = "?"  # the label of a query that is no symbol


@dataclass(frozen=True, eq=False)
class AttentionView:
    """queries, keys: what the axes are labelled with. x, context: the vectors that ask and those that are asked; None
    where a text asks itself. weights: the attention's matrices by name, as in Weights. heads, score, masks, positions:
    as in AttentionConfig, names alone."""

    queries: tuple[str, ...]
    x: Float[Tensor, "T D"]
    weights: dict[str, Tensor]
    keys: tuple[str, ...] | None = None
    context: Float[Tensor, "S D"] | None = None
    heads: int = 1
    score: str = "scaled_dot"
    masks: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()

    def tensor(self, name: str) -> Tensor | None:
        """One of its tensors by name, such as "x" or "w_q"."""
        return self.weights.get(name, {"x": self.x, "context": self.context}.get(name))

    def width(self, name: str) -> int:
        """How many numbers a vector has that asks ("x"), or that is asked ("context")."""
        return (self.x if self.context is None or name == "x" else self.context).shape[-1]

    def matrices(self) -> dict[str, np.ndarray]:
        """Its weights as matrices, a vector as one of one row."""
        return {name: np.atleast_2d(tensor.numpy()) for name, tensor in self.weights.items()}


# ---- texts -----------------------------------------------------------------------------------------------------------
def symbols_of(text: str, alphabet: Alphabet) -> tuple[str, ...]:
    """The symbols of a text, blanks only where the alphabet has one. Raises AttentionError: learned_empty,
    learned_too_long, never_seen.

    >>> symbols_of("b > 3", Alphabet(tuple("b>3"))), symbols_of(" 5 May ", Alphabet(tuple("5 May")))
    (('b', '>', '3'), ('5', ' ', 'M', 'a', 'y'))
    """
    text = text.replace(VISIBLE_BLANK, " ").strip()
    symbols = tuple(text if " " in alphabet.of else "".join(text.split()))
    if not symbols:
        raise AttentionError("learned_empty")
    if len(symbols) > MAX_READ_SYMBOLS:
        raise AttentionError("learned_too_long", limit=MAX_READ_SYMBOLS, given=len(symbols))
    alphabet.numbers(symbols)
    return symbols


def symbol_labels(symbols: tuple[str, ...]) -> tuple[str, ...]:
    """Symbols as an axis is labelled."""
    return tuple(VISIBLE_BLANK if symbol == " " else symbol for symbol in symbols)


def read_symbols(network: Network, text: str) -> tuple[str, ...]:
    """The symbols of a text that the network is asked about. Raises AttentionError as symbols_of does."""
    return symbols_of(text, COURSES[network.course].alphabets[0])


def symbol_numbers(network: Network, text: str) -> Tensor:
    """The same as the network is told it, (1, S)."""
    return torch.tensor([COURSES[network.course].alphabets[0].numbers(read_symbols(network, text))])


# ---- views -----------------------------------------------------------------------------------------------------------
def attention_view(network: Network, text: str, written: str | None = None, layer: int = -1) -> AttentionView:
    """What an attention of a network is given. text: what is read. written: what an encoder-decoder wrote, or is to
    write; None: what it does write. layer: of a Copier.

    Raises AttentionError as symbols_of does, and no_attention for an encoder-decoder with one context vector."""
    model = network.exact_model
    with torch.inference_mode():
        if isinstance(model, Copier):
            return copier_view(network, model, text, layer)
        if isinstance(model, Classifier):
            return classifier_view(network, model, text)
        return decoder_view(network, model, text, written)


def copier_view(network: Network, model: Copier, text: str, layer: int) -> AttentionView:
    """A text whose symbols attend to each other, in a layer."""
    x = model.traces(symbol_numbers(network, text))[layer]["x"][0]  # (T, 32)
    weights = model.layers[layer].weights().given()
    masks, positions = (tuple(name for name, _ in chosen) for chosen in (COPIER_CONFIG.masks, COPIER_CONFIG.positions))
    return AttentionView(
        read_symbols(network, text), x, weights, heads=COPIER_CONFIG.heads, masks=masks, positions=positions
    )


def classifier_view(network: Network, model: Classifier, text: str) -> AttentionView:
    """A learned query that asks a text."""
    vectors = model.vectors(symbol_numbers(network, text))[0]  # (S, 16)
    weights = model.weights().given()
    return AttentionView(
        (QUERY_LABEL,), model.query, weights, symbol_labels(read_symbols(network, text)), vectors, heads=model.heads
    )


def decoder_view(network: Network, model: Seq2Seq, text: str, written: str | None) -> AttentionView:
    """The decoder's states, one for each symbol that is written, and the encoder's, one for each that is read."""
    if model.context == "one":
        raise AttentionError("no_attention")
    target = write_text(network, text) if written is None else symbols_of(written, COURSES[network.course].alphabets[1])
    if not target:  # it ends at once, as some do that have learned nothing
        raise AttentionError("learned_empty")
    encoded = model.encode(symbol_numbers(network, text))
    states = model.states(encoded, previous_symbols(network, model, target))[0]  # (T, 64)
    keys = symbol_labels(read_symbols(network, text))
    return AttentionView(target, states, model.weights().given(), keys, encoded.states[0], score=model.context)


def previous_symbols(network: Network, model: Seq2Seq, target: tuple[str, ...]) -> Tensor:
    """What was written before each of these symbols, (1, T): the start, and all but the last."""
    return torch.tensor([[model.end, *COURSES[network.course].alphabets[1].numbers(target[:-1])]])


def write_text(network: Network, text: str) -> tuple[str, ...]:
    """What an encoder-decoder writes of a text, symbol by symbol; at most twice as many as the longest text has."""
    model = network.exact_model
    with torch.inference_mode():
        (row,) = model.write(symbol_numbers(network, text), 2 * MAX_READ_SYMBOLS).tolist()
    return COURSES[network.course].alphabets[1].symbols(row)


def classify_text(network: Network, text: str) -> list[float]:
    """How probable a Classifier holds each class of a text."""
    with torch.inference_mode():
        return network.exact_model.trace(symbol_numbers(network, text))["output"][0, 0].softmax(-1).tolist()
