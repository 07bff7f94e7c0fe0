"""The same words through several encoders: how far a position hears, and what each costs, computed once and kept."""

from dataclasses import replace

from torch import Tensor

from attention_core.inputs.matrix_text import to_text
from attention_core.record.trace import Trace
from attention_core.variants.cost import CostTwice, cost_twice
from attention_core.variants.encoders import Encoder, draw_layers, random_words
from attention_core.variants.influence import Heard, heard
from attention_core.variants.recurrence import with_states
from pages.runs.cache import kept, trace_of
from pages.session.labels import LOW, place_names
from pages.setup.setup import Setup

WIDTH = 32  # of every encoder, and of random words
MOST_CARRIED = 32  # random words whose numbers a link can say
PLAIN = {"w_o": "none", "heads": 1, "built": ()}

Words = Setup | int  # those of a Setup, or so many random ones


def vectors_of(words: Words) -> Tensor:
    """The words' vectors (T, D)."""
    if isinstance(words, Setup):
        return trace_of(words)["x"][0]
    return random_words(Encoder("rnn", width=WIDTH, gain=1.0), words, WIDTH)


def names_of(words: Words) -> list[str]:
    """What the words are called; random ones by their number."""
    if isinstance(words, Setup):
        return place_names(trace_of(words), "T", trace_of(words).sizes()["T"])
    return [f"x{number}".translate(LOW) for number in range(1, words + 1)]


@kept
def hearing(encoder: Encoder, words: Words, at: int, measure: str, draws: int) -> Heard:
    """How far a position hears, see `heard`."""
    return heard(encoder, vectors_of(words), at, measure, draws)


@kept
def costs(encoder: Encoder, length: int, inputs: int, distance: int) -> CostTwice:
    """What an encoder costs, by formula and counted, see `cost_twice`."""
    return cost_twice(encoder, length, inputs, distance)


@kept
def attention_setup(encoder: Encoder, words: Words, at: int) -> Setup | None:
    """The first draw of an attention encoder as a run that a link can say; None for more random words than it can."""
    x = vectors_of(words)
    (weights,) = draw_layers(encoder, x.shape[-1])
    drawn = {name: to_text(tensor.numpy()) for name, tensor in weights.given().items()}
    chosen = {**PLAIN, **drawn, "masks": () if encoder.both else ("causal",), "token": at}
    if isinstance(words, Setup):
        return replace(words, **chosen)
    return Setup(x=to_text(x.numpy()), **chosen) if words <= MOST_CARRIED else None


def run_with_states(sentence: Setup, attention: Encoder, rnn: Encoder, last: int = 0) -> Trace:
    """A sentence through attention, and behind it through a recurrence as wide as its words; last: the word up to which
    its states stand beside each other."""
    trace = trace_of(attention_setup(attention, sentence, 0))
    return with_states(trace, replace(rnn, width=trace.sizes()["D"]), last + 1)
