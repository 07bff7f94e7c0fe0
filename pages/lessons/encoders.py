"""The same words through several encoders: how far a position hears, and what each costs, computed once and kept."""

from dataclasses import replace

from torch import Tensor

from attention_core.inputs.matrix_text import to_text
from attention_core.record.trace import Trace
from attention_core.variants.encoder_cost import CostComparison, compare_costs
from attention_core.variants.encoders import Encoder, draw_layers, random_words
from attention_core.variants.influence import InfluenceByDistance, influence_by_distance
from attention_core.variants.recurrence import with_states
from pages.runs.cache import cache_by_setup, trace_for
from pages.session.labels import place_labels, place_names
from pages.setup.setup import Setup

COMPARED_ENCODER_WIDTH = 32  # of every encoder, and of random words
MAX_LINKED_WORDS = 32  # random words whose numbers a link can say
PLAIN_LAYER = {"w_o": "none", "heads": 1, "built": ()}

SUBSCRIPT_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")  # of a vector: x₁

EncoderWords = Setup | int  # those of a Setup, or so many random ones


def get_word_vectors(words: EncoderWords) -> Tensor:
    """The words' vectors (T, D)."""
    if isinstance(words, Setup):
        return trace_for(words)["x"][0]
    of_compared_width = Encoder("rnn", width=COMPARED_ENCODER_WIDTH, gain=1.0)
    return random_words(of_compared_width, words, COMPARED_ENCODER_WIDTH)


def get_word_names(words: EncoderWords, in_picture: bool = False) -> list[str]:
    """What the words are called, in a text or in a picture; random ones by their number."""
    if isinstance(words, Setup):
        trace = trace_for(words)
        list_names = place_labels if in_picture else place_names
        return list_names(trace, "T", trace.sizes()["T"])
    numbers = range(1, words + 1)
    return [f"x{number}".translate(SUBSCRIPT_DIGITS) for number in numbers]


@cache_by_setup
def cached_influence(
    encoder: Encoder, words: EncoderWords, position: int, measure: str, draws: int
) -> InfluenceByDistance:
    """How far a position hears, see `influence_by_distance`."""
    x = get_word_vectors(words)
    return influence_by_distance(encoder, x, position, measure, draws)


@cache_by_setup
def cached_encoder_cost(encoder: Encoder, length: int, inputs: int, distance: int) -> CostComparison:
    """What an encoder costs, by formula and counted, see `compare_costs`."""
    return compare_costs(encoder, length, inputs, distance)


@cache_by_setup
def setup_for_attention_encoder(encoder: Encoder, words: EncoderWords, position: int) -> Setup | None:
    """The first draw of an attention encoder as a run that a link can say; None for more random words than it can."""
    if not isinstance(words, Setup) and words > MAX_LINKED_WORDS:
        return None
    x = get_word_vectors(words)
    (weights,) = draw_layers(encoder, x.shape[-1])
    matrices = {name: to_text(tensor.numpy()) for name, tensor in weights.given().items()}
    layer = {
        **PLAIN_LAYER,
        **matrices,
        "masks": () if encoder.both else ("causal",),
        "token": position,
    }
    if isinstance(words, Setup):
        return replace(words, **layer)
    return Setup(x=to_text(x.numpy()), **layer)


def run_with_states(sentence: Setup, attention: Encoder, rnn: Encoder, last: int = 0) -> Trace:
    """A sentence through attention, and behind it through a recurrence as wide as its words; last: the word up to which
    its states stand beside each other."""
    setup = setup_for_attention_encoder(attention, sentence, 0)
    trace = trace_for(setup)
    as_wide = replace(rnn, width=trace.sizes()["D"])
    return with_states(trace, as_wide, last + 1)
