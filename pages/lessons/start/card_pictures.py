"""Draws the small pictures on the lessons' cards, from the numbers that each lesson shows at first."""

from collections.abc import Callable

import numpy as np

from attention_core.analysis.logit_attribution import whole_parts
from attention_core.drawing.small_pictures import (
    Shape,
    arc_shapes,
    bar_shapes,
    compared_shapes,
    curve_shapes,
    growth_shapes,
    map_shapes,
    shape,
    strip_shapes,
    thread_shapes,
)
from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.given_scores import as_scores, draw_query_and_keys, read_logits
from attention_core.learned.language.batches import MASK, START, word_numbers
from attention_core.learned.language.checkpoints import read_pair, steps_of
from attention_core.learned.language.readout import sum_model
from attention_core.learned.pieces.byte_pairs import cut_pieces
from attention_core.learned.pieces.shipped import SPACES, load_pieces
from attention_core.learned.translation.reading import aligning_head, run_translator
from attention_core.variants.cost import attention_cost, split_by_growth
from attention_core.variants.encoders import Encoder
from attention_core.variants.influence import default_position, distances_heard
from pages.lessons.encoders import COMPARED_ENCODER_WIDTH, cached_influence
from pages.lessons.learned.learning import load_shipped_training
from pages.lessons.learned.writers import WRITING_TASKS
from pages.runs.cache import cache_measurement, trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup, make_setup

LEFT_HALF, RIGHT_HALF = (8.0, 10.0, 66.0, 70.0), (86.0, 10.0, 66.0, 70.0)
UPPER_HALF, LOWER_HALF = (8.0, 8.0, 144.0, 33.0), (8.0, 49.0, 144.0, 33.0)
SOFTMAX_NUMBERS = "2, 1, 0, -1"
SCALE_WIDTHS, SCALE_KEYS, SCALE_SEED = (4, 16, 64), 8, 1268
PRINTED_CELL = 13.0
CARD_MERGES, PIECE_LETTER, PIECE_COLOURS = (0, 100, 600), 5.0, ("q", "k", "v")
HIDDEN_WORDS = {"en": 3, "zh": 4}  # language -> index of the hidden word in the example sentence of the encoder
MEANING_PAIR = 47  # index of the pair of held-out sentences that the card shows
COST_LENGTHS, COST_WIDTH = (64, 128, 256, 512, 1024), 64
COMPARED_ENCODERS = {
    "x": Encoder("rnn", width=COMPARED_ENCODER_WIDTH, gain=0.9),
    "k": Encoder("lstm", width=COMPARED_ENCODER_WIDTH, keep=2),
    "v": Encoder("cnn", width=COMPARED_ENCODER_WIDTH, layers=4, window=3),
    "share": Encoder("attention", width=COMPARED_ENCODER_WIDTH),
}


@cache_measurement
def draw_card(slug: str, language: str) -> list[Shape]:
    """Returns the shapes of a lesson's card picture in a language.

    A lesson without an entry in CARD_PICTURES gets the picture of draw_weights.
    """
    return CARD_PICTURES.get(slug, draw_weights)(language)


def who_is_it(language: str) -> Setup:
    """Returns the Setup of the example sentence with a pronoun, in a language."""
    return make_setup(example="zh_ta" if language == "zh" else "en_it")


def coloured_animals(language: str) -> Setup:
    """Returns the Setup of the example sentence with coloured animals, in a language."""
    return make_setup(example="zh_colour" if language == "zh" else "en_colour")


def draw_weights(language: str) -> list[Shape]:
    """Draws the weights of the sentence with a pronoun, the default for a lesson without an entry in CARD_PICTURES."""
    setup = who_is_it(language)
    trace = trace_for(setup)
    return map_shapes(trace["weights"][0, selection_of(trace, setup).head].numpy())


def draw_projections(language: str) -> list[Shape]:
    """Draws one word's x, and its projections q, k and v."""
    setup = who_is_it(language)
    trace = trace_for(setup)
    chosen = selection_of(trace, setup)
    heads = {"q": chosen.head, "k": chosen.kv, "v": chosen.kv}
    shapes = []
    for row, (name, head) in enumerate(heads.items()):
        top = 11.0 + 25 * row
        line_to_strip = (80, 45, 104, top + 9, 2)
        vector = trace[name][0, head, chosen.query].numpy()  # (d_k,) or (d_v,)
        shapes.append(shape("line", name, 1.0, line_to_strip))
        shapes += strip_shapes(vector, name, (106, top, 46, 20))
    x = trace["x"][0, chosen.query].numpy()  # (D,)
    return shapes + strip_shapes(x, "x", (8, 36, 76, 20))


def draw_softmax(_language: str) -> list[Shape]:
    """Draws numbers and their softmax as bars."""
    numbers = read_logits(SOFTMAX_NUMBERS, 16)
    trace = trace_for(make_setup(example="one_query", score="dot", **as_scores(numbers)))
    shares = trace["weights"][0, 0, 0].numpy()
    return bar_shapes(numbers, "plus", LEFT_HALF) + bar_shapes(shares, "share", RIGHT_HALF, 1.0)


def draw_division(_language: str) -> list[Shape]:
    """Draws the weights of one sample at growing d_k, for scores that are not divided by √d_k."""
    shapes = []
    for left, width in zip((8.0, 58.0, 108.0), SCALE_WIDTHS, strict=True):
        parts = draw_query_and_keys(width, SCALE_KEYS, SCALE_SEED)["dot"]
        shares = trace_for(make_setup(example="one_query", **parts))["weights"][0, 0, 0].numpy()
        shapes += bar_shapes(shares, "share", (left, 10.0, 44.0, 70.0), 1.0)
    return shapes


def draw_scored_pair(language: str) -> list[Shape]:
    """Draws a query and its keys as arrows."""
    setup = who_is_it(language)
    trace = trace_for(setup)
    chosen = selection_of(trace, setup)
    keys = trace["k"][0, chosen.kv].numpy()  # (S, d_k)
    return compared_shapes(trace["q"][0, chosen.head, chosen.query].numpy(), keys)


def draw_mask(language: str) -> list[Shape]:
    """Draws the weights that a causal mask leaves."""
    trace = trace_for(who_is_it(language).with_fields(masks=("causal",)))
    chosen = selection_of(trace, who_is_it(language))
    allowed = np.isfinite(trace["masked_scores"][0, chosen.head].numpy())
    return map_shapes(trace["weights"][0, chosen.head].numpy(), allowed)


def draw_heads(language: str) -> list[Shape]:
    """Draws the weights of two heads as attention maps."""
    one, two = trace_for(coloured_animals(language))["weights"][0, :2].numpy()
    return map_shapes(one, box=LEFT_HALF) + map_shapes(two, box=RIGHT_HALF)


def draw_positions(language: str) -> list[Shape]:
    """Draws the weights of head 1, in which each word attends to the word before, as arcs."""
    return arc_shapes(trace_for(coloured_animals(language))["weights"][0, 0].numpy())


def draw_two_sentences(_language: str) -> list[Shape]:
    """Draws the weights of cross-attention between two sentences, as lines between their words."""
    return thread_shapes(trace_for(make_setup(example="cross_en_zh"))["weights"][0, 0].numpy())


def draw_distances(language: str) -> list[Shape]:
    """Draws the influence of a word against the distance, for four encoders."""
    example = who_is_it(language).run.example
    words = make_setup(example=example, text=EXAMPLES[example].far)
    length = trace_for(words).sizes()["T"]
    at = default_position(False, length)
    distances = distances_heard(False, length, at)
    curves = []
    for colour, encoder in COMPARED_ENCODERS.items():
        heard = cached_influence(encoder, words, at, "share", 8)
        curves.append((colour, distances, [heard.at(distance) for distance in distances]))
    return curve_shapes(curves)


def draw_cache(language: str) -> list[Shape]:
    """Draws a KV cache with a row per step; each row has the keys of the row before, and one newly computed key."""
    trace = trace_for(who_is_it(language).with_fields(masks=("causal",)))
    count = trace.sizes()["T"]
    side = 74.0 / count
    shapes = []
    for step in range(count):
        for key in range(step + 1):
            cell = (43 + key * side, 8 + step * side, side - 2, side - 2)
            shapes.append(shape("rect", "k", 1.0 if key == step else 0.22, cell))
    return shapes


def draw_cost(_language: str) -> list[Shape]:
    """Draws how the multiply-adds for pairs and those for tokens grow when the length doubles."""
    costs = [split_by_growth(attention_cost(T=length, D=COST_WIDTH)) for length in COST_LENGTHS]
    pairs, tokens = zip(*costs, strict=True)
    return growth_shapes({"share": pairs, "x": tokens})


def draw_printed_product(_language: str) -> list[Shape]:
    """Draws the matrices of the printed example: x, W_q, and q."""
    trace = trace_for(make_setup(example="source_004"))
    shapes = []
    for left, name, colour in ((6.0, "x", "x"), (64.0, "w_q", "q"), (114.0, "q_projected", "q")):
        matrix = trace[name].numpy()
        matrix = matrix.reshape(-1, matrix.shape[-1])  # (1, T, D) or (D, d) -> rows and columns
        top = 45 - PRINTED_CELL * len(matrix) / 2
        for row, numbers in enumerate(matrix):
            shapes += strip_shapes(numbers, colour, (left, top + row * PRINTED_CELL, 60.0, PRINTED_CELL))
    return shapes


def draw_writers(_language: str) -> list[Shape]:
    """Draws the share of texts that networks generate exactly, by length of the text, with and without attention."""
    step = WRITING_TASKS["dates"].telling
    curves = []
    for colour, course in {"x": "dates_one", "share": "dates_additive"}.items():
        record = load_shipped_training(course)
        curves.append((colour, record.places, record.figures_at(step)))
    return curve_shapes(curves)


def draw_copying(_language: str) -> list[Shape]:
    """Draws as arcs the weights of a head that attends to what followed an earlier occurrence of the same symbol."""
    trace = trace_for(make_setup(example="learned_copy"))
    heads = trace["weights"][0].numpy()  # (H, T, T)
    copying = max(heads, key=lambda weights: weights[-5:].max())
    return arc_shapes(copying)


def draw_evidence(_language: str) -> list[Shape]:
    """Draws the weights of two classifiers over the symbols of their texts."""
    shapes = []
    for box, example in ((UPPER_HALF, "learned_lookup"), (LOWER_HALF, "learned_vote")):
        shares = trace_for(make_setup(example=example))["weights"][0, 0, 0].numpy()
        shapes += bar_shapes(shares, "share", box)
    return shapes


def draw_meanings(language: str) -> list[Shape]:
    """Draws the weights of a head from the same pronoun, in two networks that learned different tasks."""
    shapes = []
    for box, kind in ((UPPER_HALF, "named"), (LOWER_HALF, "asked")):
        name = f"{language}_{kind}_encoder"
        one, _ = read_pair(name, max(steps_of(name)), MEANING_PAIR)
        shares = one.trace["weights"][0, one.head, one.place.at].numpy()
        shapes += bar_shapes(shares, "share", box)
    return shapes


def draw_block(language: str) -> list[Shape]:
    """Draws direct logit attribution: what each part of an encoder adds to the logit of the masked word."""
    example = EXAMPLES[f"model_{language}"]
    place = HIDDEN_WORDS[language]
    word = example.tokens[place]
    tokens = (*example.tokens[:place], MASK, *example.tokens[place + 1 :])
    number = word_numbers(language)[word]
    parts = whole_parts(sum_model(example.model, tokens), place, number)
    return bar_shapes(np.array([part.push for part in parts]), "share")


def draw_decoder(_language: str) -> list[Shape]:
    """Draws the weights of a translator's decoder on the words before, and on the source sentence."""
    example = EXAMPLES["translator"]
    stack = run_translator(example.translator, example.context_tokens, example.tokens)
    head = aligning_head(example.translator)
    shapes = []
    for box, part in ((LEFT_HALF, "attention"), (RIGHT_HALF, "cross")):
        trace = stack[f"2.{part}"]
        allowed = np.isfinite(trace["masked_scores"][0, head].numpy())
        shapes += map_shapes(trace["weights"][0, head].numpy(), allowed, box)
    return shapes


def draw_windows(_language: str) -> list[Shape]:
    """Draws the weights of a layer under a causal mask, and under a mask with a window, as in newer models."""
    shapes = []
    for box, mask in ((LEFT_HALF, "causal"), (RIGHT_HALF, "sliding:4")):
        trace = trace_for(make_setup(example="model_layer", masks=(mask,)))
        allowed = np.isfinite(trace["masked_scores"][0, 0].numpy())
        shapes += map_shapes(trace["weights"][0, 0].numpy(), allowed, box, random=True)
    return shapes


def draw_pieces(language: str) -> list[Shape]:
    """Draws a sentence as subword tokens after each of CARD_MERGES merges.

    A token is as wide as its number of letters.
    """
    table = load_pieces(language)
    tokens = [token for token in EXAMPLES[f"model_{language}"].tokens if token != START]
    text = SPACES[language].join(tokens)
    shapes = []
    for row, merges in enumerate(CARD_MERGES):
        left = 8.0
        for piece in cut_pieces(text, table.merges[:merges], table.characters):
            width = PIECE_LETTER * len(piece)
            if left + width < 152:
                colour = PIECE_COLOURS[len(shapes) % 3]
                shapes.append(shape("rect", colour, 0.75, (left, 12 + 25 * row, width - 2, 18)))
            left += width
    return shapes


CARD_PICTURES: dict[str, Callable[[str], list[Shape]]] = {
    "tokens": draw_pieces,
    "qkv": draw_projections,
    "softmax": draw_softmax,
    "scale": draw_division,
    "scores": draw_scored_pair,
    "masks": draw_mask,
    "heads": draw_heads,
    "positions": draw_positions,
    "cross": draw_two_sentences,
    "distance": draw_distances,
    "decoding": draw_cache,
    "cost": draw_cost,
    "printed": draw_printed_product,
    "bottleneck": draw_writers,
    "induction": draw_copying,
    "explanation": draw_evidence,
    "meaning": draw_meanings,
    "encoder": draw_block,
    "decoder": draw_decoder,
    "models": draw_windows,
}
