"""Computes the influences by distance and the costs of several encoders of the same words, from a cache."""

import re
from dataclasses import replace

from torch import Tensor

from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_values import REMOVED
from attention_core.record.trace import Trace
from attention_core.variants.encoder_cost import CostComparison, compare_costs
from attention_core.variants.encoders import Encoder, draw_layers, random_words
from attention_core.variants.influence import InfluenceByDistance, influence_by_distance
from attention_core.variants.recurrence import with_states
from pages.runs.cache import cache_by_setup, trace_for
from pages.session.labels import place_names
from pages.setup.setup import Setup, make_setup

COMPARED_ENCODER_WIDTH = 32  # the width of every encoder and of the vectors of random words
MAX_LINKED_WORDS = 32  # most random words whose vectors fit into a link
PLAIN_LAYER = {"w_o": REMOVED, "heads": 1, "built": ()}

SUBSCRIPT_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")  # digits -> subscripts, as in x₁

NUMBER_AT_END = re.compile(r"_(\d+)$")

EncoderWords = Setup | int  # words to encode: the Setup of a sentence, or the number of random words


def name_state(step: str) -> str:
    """Returns the name of a state or gate with its number set low.

    >>> name_state("h_12"), name_state("forget_gate_3")
    ('h₁₂', 'forget_gate₃')
    """
    return NUMBER_AT_END.sub(lambda number: number[1].translate(SUBSCRIPT_DIGITS), step)


def get_word_vectors(words: EncoderWords) -> Tensor:
    """Returns the vectors of the words of a sentence, or of random words, (T, D)."""
    if isinstance(words, Setup):
        return trace_for(words)["x"][0]
    of_compared_width = Encoder("rnn", width=COMPARED_ENCODER_WIDTH, gain=1.0)
    return random_words(of_compared_width, words, COMPARED_ENCODER_WIDTH)


def get_word_names(words: EncoderWords) -> list[str]:
    """Returns the names of the words; random words are named x₁, x₂, ..."""
    if isinstance(words, Setup):
        trace = trace_for(words)
        return place_names(trace, "T", trace.sizes()["T"])
    numbers = range(1, words + 1)
    return [f"x{number}".translate(SUBSCRIPT_DIGITS) for number in numbers]


@cache_by_setup
def cached_influence(
    encoder: Encoder, words: EncoderWords, position: int, measure: str, draws: int
) -> InfluenceByDistance:
    """Returns the influence of each word on a position by its distance, from a cache.

    measure: a name in INFLUENCE_MEASURES. draws: the number of weight samples.
    """
    x = get_word_vectors(words)
    return influence_by_distance(encoder, x, position, measure, draws)


@cache_by_setup
def cached_encoder_cost(encoder: Encoder, length: int, inputs: int, distance: int) -> CostComparison:
    """Returns the costs of an encoder on `length` words, by formula and counted, from a cache.

    inputs: the width of the words' vectors. distance: the distance of the two words whose path is counted.
    """
    return compare_costs(encoder, length, inputs, distance)


@cache_by_setup
def setup_for_attention_encoder(encoder: Encoder, words: EncoderWords, position: int) -> Setup | None:
    """Returns the Setup that opens the run of an attention encoder with its first sampled weights.

    Returns None for more than MAX_LINKED_WORDS random words, because these do not fit into a link.
    """
    if not isinstance(words, Setup) and words > MAX_LINKED_WORDS:
        return None
    x = get_word_vectors(words)
    (weights,) = draw_layers(encoder, x.shape[-1])
    matrices = {name: pack_matrix(tensor.numpy()) for name, tensor in weights.given().items()}
    layer = {
        **PLAIN_LAYER,
        **matrices,
        "masks": () if encoder.both else ("causal",),
        "token": position,
    }
    if isinstance(words, Setup):
        return words.with_fields(**layer)
    return make_setup(x=pack_matrix(x.numpy()), **layer)


def run_with_states(sentence: Setup, attention: Encoder, rnn: Encoder, last: int = 0) -> Trace:
    """Returns the run of an attention encoder on a sentence, with the states of a recurrence of the same width.

    last: the index of the last word whose state is in the step `states`.
    """
    setup = setup_for_attention_encoder(attention, sentence, 0)
    trace = trace_for(setup)
    as_wide = replace(rnn, width=trace.sizes()["D"])
    return with_states(trace, as_wide, last + 1)
