"""Draws the panel of the QK and OV circuits of a head, computed for single words without the context of a sentence.

The panel shows to which words a head would attend, which words it would promote, and how much of what earlier heads
write it reads.
"""

from collections.abc import Iterator

import streamlit as st
import torch

from attention_core import Trace
from attention_core.analysis.head_composition import COMPOSITIONS, EARLIER
from attention_core.learned.language.circuits import (
    CIRCUIT,
    COMPOSITION,
    choose_words,
    copying_scores,
    favourite_words,
    head_compositions,
    list_earlier_heads,
    missing_pushes,
    read_added_words,
    word_circuit,
    word_pushes,
)
from attention_core.learned.language.read_model import find_model
from attention_core.learned.language.reading import run_model
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_fixed, format_percent
from pages.components import make_component
from pages.components.messages import PART_CELL, Place
from pages.panels.model import OWN, Panel, ShownRuns, Table, make_table
from pages.panels.model_look import BlockView, changed_layer, make_view, open_sent, show_open_number
from pages.panels.model_rail import name_model_head, words_of_model
from pages.panels.setup_controls import field_control, try_made_change
from pages.runs.model_runs import model_sentences_of, model_vocabulary
from pages.session.fragments import select_and_redraw
from pages.session.labels import current_palette
from pages.session.view import ScreenState
from pages.setup.link_values import MAX_SHORT_TEXT_CHARS
from pages.setup.resolve import resolve_run
from pages.site.words import escape_markdown, get_text_template, say, say_refusal

MAPS = ("scaled_scores", "writes", "answers")  # steps of the circuits that are drawn as heat maps
COPIES = 0.5  # minimum copying score at which a head counts as copying
MOST_EARLIER = 12  # most earlier heads in the table; of more, those with the largest scores
MOST_PUSHED = 3  # number of words listed whose logits rise or fall most
circuits_component = make_component(
    "model/circuits",
    '<div class="circuits"></div>',
    is_fetched=True,
    sends={"opened": PART_CELL, "word": Place("words")},
)


def draw_circuits(screen: ScreenState) -> None:
    """Draws the circuits of the selected head as heat maps of words, and the text input for further words."""
    layer, head = resolve_run(screen.setup.run).layer, screen.selection.head
    name = model_sentences_of(screen.setup.run).model
    view = view_circuit(screen)
    called = name_model_head(screen.setup, layer, head)
    called = say("block.part.head", head=called) if called.isdigit() else called
    st.markdown(f"#### {say('circuits.title', layer=layer, head=called)}")
    told = "first" if layer == 1 else "later"
    of = "" if find_model(name).reads_all else "recorded_"
    about = say(f"circuits.about.{of}{told}", layer=layer)
    if "value" in view.stack[f"{layer}.{CIRCUIT}"]:
        about += f" {say('circuits.about.values')}"
    st.caption(about)
    if changed_layer(screen) is not None:
        st.caption(say("block.changed", layer=layer))
    lines = [*tell_circuit(screen, view, layer, head), *list_missing(name, layer)]
    lines += tell_composition(view, layer, head)
    st.markdown("\n".join(f"- {line}" for line in lines))
    circuits_component(
        data=make_circuit_data(screen, view, f"{layer}.{CIRCUIT}", head),
        key="circuits",
        given={"words": len(words_of_model(screen))},
        on_opened=lambda cell: open_sent(view_circuit(screen), cell),
        on_word=lambda place: select_and_redraw(token=place),
    )
    show_open_number(view, lambda: view_circuit(screen))
    if find_model(name).reads_all:
        show_added_words(screen, name)


def view_circuit(screen: ScreenState) -> BlockView:
    """Returns the circuits of the layer's heads on the shown words, as a BlockView (run, selection) at one word."""
    kind = model_sentences_of(screen.setup.run)
    tokens = kind.read(words_of_model(screen))
    at = min(screen.selection.query, len(tokens) - 1)
    words = choose_words(tokens, at, added_words(screen, kind.model))
    layer = resolve_run(screen.setup.run).layer
    stack = word_circuit(kind.model, words, layer)
    for part, trace in find_compositions(screen, kind.model, layer).items():
        stack = stack.then(part, trace, {})
    return make_view(kind.model, words, stack, words.index(tokens[at]))


def find_compositions(screen: ScreenState, name: str, layer: int) -> dict[str, Trace]:
    """Returns the composition scores of the selected head, by part; {} without earlier heads, or without W_o."""
    try:
        parts = head_compositions(name, layer, screen.selection.head).parts
    except AttentionError:
        return {}
    earlier = list_earlier_heads(name, layer)
    names = tuple(say("all_heads.name", layer=number, head=head) for number, head in earlier)
    return {part: trace.labelled(earlier=names) for part, trace in parts.items()}


def added_words(screen: ScreenState, name: str) -> tuple[str, ...]:
    """Returns the words that the visitor added; () if the link has words outside the vocabulary. The result is () for a
    recorded model, too, which has vectors only for the words of its text.
    """
    if not find_model(name).reads_all:
        return ()
    try:
        return read_added_words(name, screen.setup.view.circuit_words or "")
    except AttentionError:
        return ()


# ---- findings --------------------------------------------------------------------------------------------------------
def tell_circuit(screen: ScreenState, view: BlockView, layer: int, head: int) -> list[str]:
    """Returns sentences about the head's circuits for the selected word.

    They say to which word the head would attend, whether the head does so in this sentence, and which words' logits the
    head would change.
    """
    trace, word = view.stack[f"{layer}.{CIRCUIT}"], view.tokens[view.at]
    scores = trace["scaled_scores"][0, head, view.at]
    most = int(scores.argmax())
    asks = say(
        "circuits.asks",
        word=escape_markdown(word),
        most=escape_markdown(view.tokens[most]),
        score=format_fixed(float(scores[most])),
    )
    lines = [f"{asks} {tell_sentence(screen, view.name, layer, head)}"]
    for step, pushes in word_pushes(view.name, word, layer).items():
        told = say(
            f"circuits.pushes.{step}",
            word=escape_markdown(word),
            up=name_pushed(view.name, pushes[head]),
            down=name_pushed(view.name, -pushes[head]),
        )
        copying = copying_scores(view.name, layer)
        if copying:
            score = float(copying[step][head])
            told += f" {say(f'circuits.copying.{judge_copying(score)}', score=format_fixed(score))}"
        lines.append(told)
    return lines


def list_missing(name: str, layer: int) -> list[str]:
    """Returns sentences that say what of the circuits is not shown for a recorded model, and why."""
    why = missing_pushes(name, layer)
    if why is None and find_model(name).reads_all:
        return []
    return [say(f"circuits.missing.{why or 'copying'}")]


def tell_composition(view: BlockView, layer: int, head: int) -> list[str]:
    """Returns sentences that say which earlier head reaches the queries, keys and values of the head most.

    They say what is left out, or why there are no scores. head: from 0.
    """
    model = find_model(view.name)
    if layer == 1:
        return [say("circuits.composition.first_layer")]
    try:
        head_compositions(view.name, layer, head)
    except AttentionError as error:
        return [say("circuits.composition.refused", reason=say_refusal(error))]
    most = []
    for read, trace in list_compositions(view, layer):
        scores = trace[COMPOSITION]
        found = int(scores.argmax())
        named = {"head": trace.labels["earlier"][found], "score": format_fixed(float(scores[found]))}
        most.append(say(f"circuits.composition.most.{read}", **named))
    width = len(model.heads_of(layer).weights.w_q)
    told = [say("circuits.composition.told", most=say("fact.comma").join(most), random=format_fixed(width**-0.5))]
    positions = [position for position, _ in model.heads_of(layer).config.positions]
    told += [say("circuits.composition.rope")] if "rope" in positions else []
    told += [say("circuits.composition.values")] if model.heads_of(layer).values_of_words else []
    return [" ".join(told)]


def list_compositions(view: BlockView, layer: int) -> list[tuple[str, Trace]]:
    """Returns (input of the head, run with the scores of the earlier heads with it) for q, k and v, if they exist."""
    parts = [(read, f"{layer}.{COMPOSITION}_{read}") for read in COMPOSITIONS]
    return [(read, view.stack[part]) for read, part in parts if part in view.stack.parts]


def tell_sentence(screen: ScreenState, name: str, layer: int, head: int) -> str:
    """Returns a text that says whether, in this run, the head attends to the key that its QK circuit predicts.

    The text says so for the selected query, and says for how many of all queries the run and the circuit agree.
    """
    tokens = model_sentences_of(screen.setup.run).read(words_of_model(screen))
    alone, run = ([tokens[place] for place in places[head]] for places in favourite_words(name, tokens, layer))
    at = min(screen.selection.query, len(tokens) - 1)
    share = run_model(name, tokens)[f"{layer}.attention"]["weights"][0, head, at].max()
    differs = "differs_first" if layer == 1 else "differs_later"
    # START, the first word, is not compared
    same = [one == other for one, other in zip(alone[1:], run[1:], strict=True)]
    told = say(
        f"circuits.sentence.{'agrees' if alone[at] == run[at] else differs}",
        alone=escape_markdown(alone[at]),
        run=escape_markdown(run[at]),
        percent=format_percent(float(share)),
    )
    return f"{told} {say('circuits.sentence.all', same=sum(same), count=len(same))}"


def name_pushed(name: str, pushes) -> str:
    """Returns the words whose logits rise most, as a list in a sentence.

    pushes: what a head adds to each word's logit.
    """
    words = model_vocabulary(name)
    quoted = [say("circuits.quoted", word=escape_markdown(words[n])) for n in pushes.topk(MOST_PUSHED).indices.tolist()]
    return say("fact.comma").join(quoted)


def judge_copying(score: float) -> str:
    """Returns how a head behaves according to its copying score: "copies", "holds_back" or "neither"."""
    if abs(score) < COPIES:
        return "neither"
    return "copies" if score > 0 else "holds_back"


# ---- the maps --------------------------------------------------------------------------------------------------------
def make_circuit_data(screen: ScreenState, view: BlockView, part: str, head: int) -> dict:
    """Returns the data of the browser component: a heat map for each circuit, with a row and a column for each word."""
    trace = view.stack[part]
    tokens = model_sentences_of(screen.setup.run).read(words_of_model(screen))
    shown = [step for step in MAPS if step in trace]
    layer = resolve_run(screen.setup.run).layer
    return {
        "words": view.tokens,
        "places": [tokens.index(word) if word in tokens else None for word in view.tokens],
        "at": view.at,
        "maps": [
            {
                "title": say(f"circuits.map.{step}.title"),
                "rows": say(f"circuits.map.{step}.rows"),
                "columns": say(f"circuits.map.{step}.columns"),
                "part": part,
                "step": step,
                "head": head,
                "numbers": trace[step][0, head].tolist(),
            }
            for step in shown
        ]
        + list_composition_maps(view, layer, head),
        "palette": vars(current_palette()),
        "text": {name: get_text_template(f"circuits.{name}") for name in ("keys", "keys_touch", "largest", "look")},
    }


def stack_scores(found: list[tuple[str, Trace]]) -> tuple[torch.Tensor, tuple[str, ...]]:
    """Returns the scores of all runs of list_compositions, (input, earlier head), and the names of the
    earlier heads.
    """
    return torch.stack([trace[COMPOSITION] for _, trace in found]), found[0][1].labels[EARLIER]


def list_composition_maps(view: BlockView, layer: int, head: int) -> list[dict]:
    """Returns the table of the composition scores for the browser, in a list; [] without scores.

    It has a row for each input of the head, and a column for each earlier head; of more than MOST_EARLIER those with
    the largest scores.
    """
    found = list_compositions(view, layer)
    if not found:
        return []
    scores, names = stack_scores(found)
    largest = scores.nan_to_num().amax(0).topk(min(MOST_EARLIER, scores.shape[1])).indices
    shown = sorted(largest.tolist())
    short_names = head_compositions(view.name, layer, head)[f"{layer}.{COMPOSITION}_q"].labels["earlier"]
    few = "" if len(shown) == len(names) else say("circuits.composition.few", count=len(shown), all=len(names))
    return [
        {
            "title": say("circuits.composition.title"),
            "rows": say("circuits.composition.rows"),
            "columns": say("circuits.composition.columns", few=few),
            "step": COMPOSITION,
            "numbers": scores[:, shown].tolist(),
            "lines": [say(f"circuits.composition.{read}") for read, _ in found],
            "heads": [short_names[place] for place in shown],
            "parts": [f"{layer}.{COMPOSITION}_{read}" for read, _ in found],
            "cells": shown,
        }
    ]


# ---- the controls ----------------------------------------------------------------------------------------------------
def show_added_words(screen: ScreenState, name: str) -> None:
    """Draws the text input for further words.

    name: the name of the model.
    """

    def take_words(typed: str) -> None:
        try_made_change("circuit_words", lambda: {"circuit_words": " ".join(read_added_words(name, typed)) or None})

    control = field_control("circuit_words", screen.setup.view.circuit_words or "", take_words)
    about = say("help.circuit_words", count=len(model_vocabulary(name)))
    control.show(st.text_input, max_chars=MAX_SHORT_TEXT_CHARS, help=about)


# ---- proof, files and record -----------------------------------------------------------------------------------------
def list_runs(screen: ScreenState) -> ShownRuns:
    """Returns the runs whose numbers can be proved: the circuits of the layer's heads."""
    added = added_words(screen, model_sentences_of(screen.setup.run).model)
    key = (resolve_run(screen.setup.run).layer, screen.selection.query, screen.selection.head, added)
    return ShownRuns(key, lambda: {OWN: view_circuit(screen).stack})


def list_tables(screen: ScreenState) -> Iterator[Table]:
    """Yields the tables to export: the steps of MAPS for the layer's heads on single words, and composition scores."""
    view, layer = view_circuit(screen), resolve_run(screen.setup.run).layer
    trace = view.stack[f"{layer}.{CIRCUIT}"]
    for step in MAPS:
        if step in trace:
            yield trace, step
    found = list_compositions(view, layer)
    if found:
        scores, names = stack_scores(found)
        yield make_table(COMPOSITION, scores, read=tuple(read for read, _ in found), earlier=names)


PANEL = Panel(
    place=5,
    depends_on=("head", "circuit_words"),
    draw=draw_circuits,
    runs=list_runs,
    checked_as="alone",
    tables=list_tables,
)
