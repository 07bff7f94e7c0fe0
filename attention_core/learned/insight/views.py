"""Collects the inputs of one attention layer of a trained network for a text: the vectors and matrices that `attend`
takes.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.learned.models.classifier import Classifier
from attention_core.learned.models.copier import COPIER_CONFIG, Copier
from attention_core.learned.models.seq2seq import Seq2Seq
from attention_core.learned.symbols import Alphabet
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.snapshots import Network
from attention_core.record.errors import AttentionError

MAX_READ_SYMBOLS = 64  # most symbols of an input text
MAX_WRITTEN_SYMBOLS = 2 * MAX_READ_SYMBOLS  # most symbols that an encoder-decoder generates
VISIBLE_BLANK = "␣"  # how a blank is shown
QUERY_LABEL = "?"  # label of a learned query, which belongs to no symbol


@dataclass(frozen=True, eq=False)
class AttentionView:
    """The inputs of one attention layer.

    queries, keys: the labels of the axes. x, context: the vectors of the queries and of the keys. For self-attention
    keys and context are None. weights: the layer's matrices by name, as in Weights. heads, score, masks, positions: as
    in AttentionConfig, with names but without parameters.
    """

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
        """Return a tensor by its name, such as "x" or "w_q"; None if the view has no such tensor."""
        if name == "x":
            return self.x
        if name == "context":
            return self.context
        return self.weights.get(name)

    def width(self, name: str) -> int:
        """Return the width of the vectors of the queries ("x") or of the keys ("context")."""
        vectors = self.x
        if name != "x" and self.context is not None:
            vectors = self.context
        return vectors.shape[-1]

    def matrices(self) -> dict[str, np.ndarray]:
        """Return the weights by name as NumPy matrices; a vector becomes a matrix of one row."""
        return {name: np.atleast_2d(tensor.numpy()) for name, tensor in self.weights.items()}


# ---- texts -----------------------------------------------------------------------------------------------------------
def symbols_of(text: str, alphabet: Alphabet) -> tuple[str, ...]:
    """Return the symbols of a text; blanks are removed if the alphabet has no blank.

    Raises AttentionError: learned_empty, learned_too_long, never_seen.

    >>> symbols_of("b > 3", Alphabet(tuple("b>3"))), symbols_of(" 5 May ", Alphabet(tuple("5 May")))
    (('b', '>', '3'), ('5', ' ', 'M', 'a', 'y'))
    """
    text = text.replace(VISIBLE_BLANK, " ").strip()
    if " " not in alphabet.of:
        text = "".join(text.split())
    symbols = tuple(text)
    if not symbols:
        raise AttentionError("learned_empty")
    if len(symbols) > MAX_READ_SYMBOLS:
        raise AttentionError("learned_too_long", limit=MAX_READ_SYMBOLS, given=len(symbols))
    alphabet.numbers(symbols)
    return symbols


def symbol_labels(symbols: tuple[str, ...]) -> tuple[str, ...]:
    """Return symbols as the labels of an axis, with VISIBLE_BLANK for a blank."""
    return tuple(VISIBLE_BLANK if symbol == " " else symbol for symbol in symbols)


def source_alphabet(network: Network) -> Alphabet:
    """Return the alphabet of a network's input."""
    return COURSES[network.course].alphabets[0]


def target_alphabet(network: Network) -> Alphabet:
    """Return the alphabet of an encoder-decoder's output."""
    return COURSES[network.course].alphabets[1]


def read_symbols(network: Network, text: str) -> tuple[str, ...]:
    """Return the symbols of a network's input text.

    Raises AttentionError: learned_empty, learned_too_long, never_seen.
    """
    return symbols_of(text, source_alphabet(network))


def symbol_numbers(network: Network, text: str) -> Tensor:
    """Return the indices of a text's symbols in the alphabet, (1, S)."""
    symbols = read_symbols(network, text)
    numbers = source_alphabet(network).numbers(symbols)
    return torch.tensor([numbers])


# ---- views -----------------------------------------------------------------------------------------------------------
def attention_view(network: Network, text: str, written: str | None = None, layer: int = -1) -> AttentionView:
    """Return the inputs of an attention layer of a network.

    text: the input. written: the output of an encoder-decoder; None to let the network generate it. layer: the index of
    a Copier's layer.

    Raises AttentionError: learned_empty, learned_too_long, never_seen, for the text; no_attention, for an
    encoder-decoder with one context vector; at_most, for a layer that a Copier does not have.
    """
    model = network.exact_model
    with torch.inference_mode():
        if isinstance(model, Copier):
            return copier_view(network, model, text, layer)
        if isinstance(model, Classifier):
            return classifier_view(network, model, text)
        return decoder_view(network, model, text, written)


def copier_view(network: Network, model: Copier, text: str, layer: int) -> AttentionView:
    """Return the inputs of a self-attention layer of a Copier.

    Raises AttentionError: at_most.
    """
    if layer >= len(model.layers):
        raise AttentionError("at_most", name="layer", limit=len(model.layers), given=layer + 1)
    run = model.traces(symbol_numbers(network, text))[layer]
    return AttentionView(
        queries=read_symbols(network, text),
        x=run["x"][0],  # (1, T, 32) -> (T, 32)
        weights=model.layers[layer].weights().given(),
        heads=COPIER_CONFIG.heads,
        masks=tuple(name for name, _ in COPIER_CONFIG.masks),
        positions=tuple(name for name, _ in COPIER_CONFIG.positions),
    )


def classifier_view(network: Network, model: Classifier, text: str) -> AttentionView:
    """Return the inputs of a classifier's attention layer: one learned query, and the symbols of the text as keys."""
    vectors = model.vectors(symbol_numbers(network, text))  # (1, S, 16)
    return AttentionView(
        queries=(QUERY_LABEL,),
        x=model.query,
        weights=model.weights().given(),
        keys=symbol_labels(read_symbols(network, text)),
        context=vectors[0],
        heads=model.heads,
    )


def decoder_view(network: Network, model: Seq2Seq, text: str, written: str | None) -> AttentionView:
    """Return the inputs of an encoder-decoder's attention: the decoder's states as queries, the encoder's states as
    keys.

    written: the output; None to let the network generate it.
    """
    if model.context == "one":
        raise AttentionError("no_attention")
    target = find_target(network, text, written)
    encoded = model.encode(symbol_numbers(network, text))
    numbers = target_alphabet(network).numbers(target[:-1])
    given = torch.tensor([[model.end, *numbers]])  # (1, T): the start symbol, then all output symbols but the last
    states = model.states(encoded, given)  # (1, T, 64)
    return AttentionView(
        queries=target,
        x=states[0],
        weights=model.weights().given(),
        keys=symbol_labels(read_symbols(network, text)),
        context=encoded.states[0],  # (1, S, 64) -> (S, 64)
        score=model.context,
    )


def context_vector(network: Network, text: str) -> Float[Tensor, " D"]:
    """Return an encoder-decoder's vector of a whole text, which is the first state of the decoder.

    In a network with one context vector, the decoder receives nothing else of the text. network: an encoder-decoder.
    text: the input of the network.

    Raises AttentionError as symbols_of does. Source: Cho et al. 2014, section 2.

    >>> from attention_core.learned.training.shipped_networks import load_network
    >>> context_vector(load_network("reversal_one", 3000), "abc").shape
    torch.Size([64])
    """
    with torch.inference_mode():
        encoded = network.exact_model.encode(symbol_numbers(network, text))
    return encoded.whole[0]  # (1, 64) -> (64,)


def find_target(network: Network, text: str, written: str | None) -> tuple[str, ...]:
    """Return the symbols of `written`; if `written` is None, return the symbols that the network generates.

    Raises AttentionError: learned_empty, learned_too_long, never_seen; also if an untrained network generates no
    symbols.
    """
    if written is not None:
        return symbols_of(written, target_alphabet(network))
    target = write_text(network, text)
    if not target:
        raise AttentionError("learned_empty")
    return target


# ---- answers ---------------------------------------------------------------------------------------------------------
def write_text(network: Network, text: str) -> tuple[str, ...]:
    """Return the symbols that an encoder-decoder generates for an input text."""
    source = symbol_numbers(network, text)
    with torch.inference_mode():
        output = network.exact_model.write(source, MAX_WRITTEN_SYMBOLS)  # (1, T)
    numbers = output[0].tolist()
    return target_alphabet(network).symbols(numbers)


def classify_text(network: Network, text: str) -> list[float]:
    """Return the probability of each class that a Classifier gives to a text."""
    source = symbol_numbers(network, text)
    with torch.inference_mode():
        trace = network.exact_model.trace(source)
        logits = trace["output"]  # (1, 1, classes)
        probabilities = logits[0, 0].softmax(-1)
    return probabilities.tolist()
