"""Draws the accordions of the lesson on cross-attention, and provides functions that the lesson's page uses too."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.image_patches import patch_picture
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.facts import accident, row_fact, weight_sums
from attention_core.inputs.handmade_heads import build_gates
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_values import REMOVED
from attention_core.learned.language.network_folder import ShippedFigures
from attention_core.learned.translation.reading import aligning_head
from attention_core.learned.translation.recipes import TRANSLATORS
from attention_core.record.number_text import format_fixed, format_percent, format_row
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.opened_cell import get_opened_ref
from pages.lessons.pictures import (
    SMALL_MAP_CELL_PX,
    make_weights_map,
    show_picture,
    show_side_by_side,
    show_step_picture,
    show_weights_map,
)
from pages.lessons.sentences import format_gap, join_with_commas, list_place_names, quote_token, show_sentence
from pages.lessons.word_threads import Way, show_threads
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box, slide, switch
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import sentences_of, spell_tokens
from pages.session.labels import Selection, current_palette, picture_texts_for, place_name, place_names, selection_of
from pages.setup.setup import Setup, make_setup
from pages.site.words import escape_markdown, say

# ---- Setups of two sequences, one as queries and one as keys ---------------------------------------------------------
LECTURE_NOTES_WIDTH = 64  # width of the vectors in lecture notes 001, whose example has 5 queries, 6 keys, 8 heads


def swap_sequences(setup: Setup) -> Setup:
    """Returns the Setup with its two sequences swapped: the sequence of the keys becomes that of the queries and vice
    versa.
    """
    inputs = inputs_of(setup)
    text = spell_tokens(inputs.keys, setup.run)
    context_text = spell_tokens(inputs.queries, setup.run)
    return setup.with_fields(text=text, context_text=context_text)


def ask_itself(setup: Setup) -> Setup:
    """Returns the Setup of self-attention on the first of two sentences, the one with the queries."""
    return setup.with_fields(cross=False, context_text=None)


def make_random_sequences(queries: int, keys: int) -> Setup:
    """Returns the Setup of cross-attention on random vectors of width LECTURE_NOTES_WIDTH, with eight heads."""
    x = random_matrix("x", (queries, LECTURE_NOTES_WIDTH))
    context = random_matrix("context", (keys, LECTURE_NOTES_WIDTH))
    return make_setup(
        example="eight_heads",
        x=pack_matrix(x),
        context=pack_matrix(context),
        cross=True,
    )


# ---- sums of weights in a sentence -----------------------------------------------------------------------------------
def join_named_sums(sums: Sequence[float], names: Sequence[str]) -> str:
    """Returns a text of words, each followed by its sum, separated by commas."""
    texts = []
    for name, each in zip(names, sums, strict=True):
        word = escape_markdown(name)
        texts.append(say("lessons.cross.sum", word=word, sum=format_fixed(each)))
    return join_with_commas(texts)


# ---- drawer "lengths": what if the lengths differ? -------------------------------------------------------------------
RANDOM_LENGTHS = range(1, 13)
STEPS_WITH_SHAPES = ("q", "k", "v", "weights", "output")


def show_lengths(asked: Setup) -> None:
    """Shows the shapes and the sums of the weights for the chosen sequences: two sentences, one, or random vectors.

    asked: the Setup of the visitor's two sentences, the choice "two".
    """
    setup = choose_sequences(asked)
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    say_shapes(trace)
    rows = join_sums_over(trace, "S", "T", selection.head)
    columns = join_sums_over(trace, "T", "S", selection.head)
    key = "sums" if trace.sizes()["S"] > 1 else "sums_of_one_key"
    show_sentence(f"lessons.cross.{key}", rows=rows, columns=columns)
    head = place_name(trace, "H", selection.head)
    title = say("lessons.cross.head", head=head)
    show_weights_map("lengths", trace, selection, title, PAGE_WIDTH_PX)
    link_to_workbench(setup, "lengths")


def choose_sequences(asked: Setup) -> Setup:
    """Shows the choice of the sequences and, for random ones, of their lengths; returns the Setup of the sequences.

    asked: the Setup of the visitor's two sentences.
    """
    kind = choose_option("sequences", ("two", "one", "random"))
    if kind == "two":
        return asked
    if kind == "one":
        return ask_itself(asked)
    left, right = st.columns(2)
    with left:
        queries = slide("queries", RANDOM_LENGTHS, 5)
    with right:
        keys = slide("keys", RANDOM_LENGTHS, 6)
    return make_random_sequences(queries, keys)


def say_shapes(trace: Trace) -> None:
    """Shows the numbers of queries and keys, and the shapes of the steps q, k, v, weights and output."""
    sizes = trace.sizes()
    by = say("lessons.cross.by")
    shapes = {}
    for step in STEPS_WITH_SHAPES:
        numbers = trace.step(step).shape[1:]  # the shape of the step without the batch axis
        shapes[step] = by.join(map(str, numbers))
    show_sentence("lessons.cross.shapes", T=sizes["T"], S=sizes["S"], H=sizes["H"], **shapes)


def join_sums_over(trace: Trace, axis: str, names_of: str, head: int) -> str:
    """Formats the sums of a head's weights over an axis, each after its word on the other axis.

    If the vectors are random, the sums are returned without words, about which they then say nothing. axis: the axis
    that is summed over. names_of: the other axis, whose words name the sums.
    """
    sums = weight_sums(trace, axis, head)
    if trace.chance:
        return join_with_commas(map(format_fixed, sums))
    return join_named_sums(sums, list_place_names(trace, names_of))


# ---- drawer "decoder", tab of a trained decoder: does a network learn to align words? --------------------------------
EXAMPLE = "translator"
MAX_WORDS = 30  # most words of a sentence, because a line connects each with every word of the other sentence


def show_translator(_: Setup) -> None:
    """Translates the sentence that the visitor types, and shows to which of its words each generated word attends."""
    name = EXAMPLES[EXAMPLE].translator
    figures = TRANSLATORS.figures()[name]
    setup = sentence_box(make_setup(example=EXAMPLE), "english", "context_text", MAX_WORDS)
    setup = setup.with_fields(head=aligning_head(name), token=0)
    trace = trace_for(setup)
    kind = sentences_of(setup.run)
    st.markdown(f"#### {escape_markdown(kind.spell(kind.own_words()))}")
    _, *written = trace.labels["T"]
    # Each row computes the next word, and is labelled with the word that it generates.
    labelled = trace.labelled(T=(*written, say("lessons.cross.translator_end")))
    title = say("lessons.cross.translator_title", head=figures.figures["head"])
    st.markdown(f"**{title}**")
    lines = (say("lessons.cross.control.text"), say("lessons.cross.control.context"))
    show_threads("translator", [Way("", labelled, 1, selection_of(trace, setup))], 0, lines)
    show_sentence("lessons.cross.translator", **measured_percents(figures))
    link_to_workbench(setup, "translator")


def measured_percents(figures: ShippedFigures) -> dict[str, str]:
    """Returns the translator's measured accuracies as percentages, by placeholder in the page's sentence."""
    names = ("held_exact", "held_aligned", "held_nouns", "frames_exact")
    percents = {name: format_percent(figures.figures[name]) for name in names}
    return {"texts": f"{figures.texts:,}", **percents}


# ---- drawer "decoder": how does a decoder use cross-attention? -------------------------------------------------------
def show_built_decoder(asked: Setup) -> None:
    """Shows a hand-built decoder: self-attention of the words generated so far, then cross-attention.

    The queries of the cross-attention are the outputs of the self-attention.

    asked: the Setup of the visitor's two sentences.
    """
    left, right = st.columns(2)
    with left:
        so_far = choose_words_so_far(asked)
    with right:
        causal = switch("causal", True)
    text = spell_tokens(so_far, asked.run)
    stage_1, stage_2 = make_decoder_stages(asked.with_fields(text=text), causal)
    own = trace_for(stage_1)
    crossed = with_chance_of_words(trace_for(stage_2), own)
    last = len(so_far) - 1
    selection = replace(selection_of(crossed, stage_2), query=last)
    st.markdown(f"**{fact_sentence(crossed, selection)}**")
    show_stage_maps(own, crossed, selection)
    say_what_later_words_change(asked, causal, own)
    link_to_workbench(stage_2, "decoder")


def choose_words_so_far(asked: Setup) -> tuple[str, ...]:
    """Shows the choice of the last word generated so far; returns the words up to it.

    The default is the last word but one. asked: the Setup of the visitor's two sentences.
    """
    words = inputs_of(asked).queries
    names = place_names(trace_for(asked), "T", len(words))
    last_but_one = max(0, len(words) - 2)
    last = pick_place("written", names, last_but_one)
    return tuple(word for place, word in enumerate(words) if place <= last)


def make_decoder_stages(setup: Setup, causal: bool) -> tuple[Setup, Setup]:
    """Returns the Setups of self-attention with a residual, and of cross-attention with the residual sums as x."""
    masks = ("causal",) if causal else ()
    own = ask_itself(setup).with_fields(masks=masks, wiring=("residual",))
    sums = trace_for(own)["residual"][0]  # (T, D)
    crossed = setup.with_fields(x=pack_matrix(sums.numpy(), "x"))
    return own, crossed


def with_chance_of_words(crossed: Trace, own: Trace) -> Trace:
    """Returns the cross-attention's run, in which a query is marked as random if its word has a random vector in the
    self-attention.
    """
    tokens = dict(crossed.chance.tokens)
    tokens["T"] = own.chance.tokens["T"]
    chance = replace(crossed.chance, tokens=tokens)
    return replace(crossed, chance=chance)


def show_stage_maps(own: Trace, crossed: Trace, selection: Selection) -> None:
    """Shows the attention maps of the self-attention and of the cross-attention side by side."""
    pictures = []
    for name, trace in (("stage_1", own), ("stage_2", crossed)):
        title = say(f"lessons.cross.{name}")
        pictures.append(make_weights_map(name, trace, selection, title, PAGE_WIDTH_PX, SMALL_MAP_CELL_PX))
    show_side_by_side(*pictures)


def say_what_later_words_change(asked: Setup, causal: bool, own: Trace) -> None:
    """Shows how far the vectors from which cross-attention computes its queries would change if the whole sentence were
    already generated.

    own: the self-attention run on the words so far. causal: whether that self-attention is masked.
    """
    count = own.sizes()["T"]
    if count == len(inputs_of(asked).queries):
        show_sentence("lessons.cross.decoded_whole")
        return
    whole, _ = make_decoder_stages(asked, causal)
    asking_in_whole = trace_for(whole)["residual"][:, :count]  # (B, T, D)
    moved = abs_difference(asking_in_whole, own["residual"]).max().item()
    key = "decoded_causal" if causal else "decoded_free"
    show_sentence(f"lessons.cross.{key}", moved=format_gap(moved))


# ---- drawer "context_vector": a context vector at every step? --------------------------------------------------------
def show_context_vector(forward: Setup) -> None:
    """Shows a context vector for each decoder step: c_t = sum of alpha_ti h_i, with the weights alpha_ti.

    The scores e_ti are the dot products s_t h_i or additive. forward: the Setup with English queries and Chinese keys.
    """
    score = choose_option("energy", ("dot", "additive"))
    setup = setup_with_score(forward, score)
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    if accident(trace, row_fact(trace, 0, selection.query)):
        st.markdown(fact_sentence(trace, selection))
    else:
        say_context_vector(trace, selection.query, score)
    show_step_picture("context_vector", trace, "head_outputs", selection)
    link_to_workbench(setup, "context_vector")


def setup_with_score(forward: Setup, score: str) -> Setup:
    """Returns the Setup with a score function and with the source vectors themselves as keys and values.

    score: "dot", or "additive", which gets matrices built by hand.
    """
    setup = forward.with_fields(score=score, w_k=REMOVED, w_v=REMOVED, w_o=REMOVED)
    if score == "dot":
        return setup
    width = inputs_of(forward).matrices["x"].shape[1]
    gates = build_gates(width)
    return setup.with_fields(**{name: pack_matrix(matrix, name) for name, matrix in gates.items()})


def say_context_vector(trace: Trace, query: int, score: str) -> None:
    """Shows the context vector of a query, and the score and weight of the source word with the largest weight."""
    energies = trace["scores"][0, 0, query]  # (S,)
    weights = trace["weights"][0, 0, query]  # (S,)
    context = trace["head_outputs"][0, 0, query]  # (d_v,)
    best = int(weights.argmax())
    show_sentence(
        f"lessons.cross.energy_{score}",
        query=quote_token(trace, "T", query),
        key=quote_token(trace, "S", best),
        energy=format_fixed(energies[best].item()),
        alpha=format_fixed(weights[best].item()),
        c=format_row(context.tolist()),
        d_s=trace.step("q").shape[-1],
        d_h=trace.step("k").shape[-1],
    )


# ---- drawer "patches": words and a picture? --------------------------------------------------------------------------
def show_patches(_: Setup) -> None:
    """Shows how words attend to the patches of a picture. The vector of a patch is the colour of the patch."""
    left, middle, right = st.columns((1, 2, 1))
    with left:
        setup = sentence_box(pick_example("picture", "zh_picture", zh="zh_picture", name="looks"), "asking")
    with middle:
        setup = sentence_box(setup, "picture", "context_text")
    trace = trace_for(setup)
    names = list_place_names(trace, "T")
    with right:
        query = pick_place("colour", names, selection_of(trace, setup).query)
    setup = setup.with_fields(token=query)
    selection = selection_of(trace, setup)
    st.markdown(f"**{fact_sentence(trace, selection)}**")
    titles = [say(f"lessons.cross.picture_{part}", word=names[query]) for part in ("keys", "weights", "output")]
    picture = patch_picture(
        trace,
        (selection.batch, selection.head, selection.query),
        picture_texts_for(trace),
        current_palette(),
        titles,
        get_opened_ref("patches", trace),
    )
    show_picture("patches", picture, {"": trace}, titles[1])
    show_sentence("lessons.cross.patches")
    link_to_workbench(setup, "patches")


LESSON = Lesson(
    "cross",
    drawers={
        "lengths": show_lengths,
        "decoder": Tabs("decoding", {"built": show_built_decoder, "trained": show_translator}),
        "context_vector": show_context_vector,
        "patches": show_patches,
    },
    code=("q", "k", "scores", "scaled_scores", "weights", "head_outputs", "output"),
)
