"""Draws the panel of ablation and activation patching: predictions before and after changes of heads and layers."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch

from attention_core.analysis.interventions import KINDS, MASKED, OFF, OTHER, Intervention
from attention_core.analysis.residual_sum import place_of_word
from attention_core.comparison.differences import WeightMove
from attention_core.drawing.cells import darkest_share
from attention_core.drawing.raster import colour_table
from attention_core.learned.language.read_model import find_model
from attention_core.learned.language.reading import run_linked
from attention_core.learned.language.what_if import (
    Changes,
    Outcome,
    PathRow,
    find_path,
    list_outcomes,
    list_switches,
    move_with_each_off,
    moved_weights,
    path_rows,
    run_changed,
    share_with_each_off,
    shares_before_and_after,
    vector_moves,
)
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_signed, format_whole_percent
from attention_core.transformer.stack import UNEMBEDDING, Stack
from pages.components import make_component, pack_bytes
from pages.components.messages import PART_CELL, AnyOf, Flag, OneOf, Place, Text, Whole
from pages.panels.model import OWN, Panel, ShownRuns, Table, make_table, predicts_words
from pages.panels.model_look import LOGITS, BlockView, make_view, open_sent, show_open_number
from pages.panels.model_rail import name_model_head, name_reading, open_head, words_of_model
from pages.panels.model_rows import name_part
from pages.panels.second_sentence import label_words, second_words_of, show_second_sentence
from pages.runs.model_runs import model_sentences_of, model_vocabulary
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.labels import current_palette
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.what_if import read_changes, with_change, with_pair
from pages.site.words import get_text_template, say, say_refusal

MOST_OUTCOMES = 3  # most predictions shown: those for pronouns, and the one for the selected word
MOST_ALONE = 48  # most heads and layers ablated one at a time; of a larger model, only those of the shown layer are
MOST_WORDS = 8  # most words listed with their probabilities before and after
MOST_MOVED = 3  # most words named in the sentence about changes
MOST_MOVED_WEIGHTS = 5
LEAST_SHOWN = LEAST_MOVED = 0.005  # least probability or change to show, half a percentage point
TEXTS = ("before", "after", "own", "again", "norms", "norms_why", "draw", "draw_touch", "path_sum", "part", "open")
TEMPLATES = ("pair", "turn_off", "cell", "open_head")
what_if_component = make_component(
    "model/what_if",
    '<div class="what-if"></div>',
    is_fetched=True,
    sends={
        "opened": PART_CELL,
        "head": (Whole(), Whole()),
        "kind": {"part": Text(200), "head": AnyOf((None, Whole())), "kind": AnyOf((None, OneOf("kinds")))},
        "pair": {"part": Text(200), "head": Whole(), "pair": (Place("words"), Place("words"))},
        "norms": Flag(),
        "again": Flag(),
    },
)


@dataclass(frozen=True)
class WhatIf:
    """A language model with interventions, run on a sentence.

    words: the words on the screen. tokens: the input of the model. at: the position of the selected word. outcomes: the
    predictions compared before and after the interventions; the last one predicts the selected or the next word; () if
    the model computes no logits from its vectors. view: the run with interventions from which the last prediction
    comes. target: the word of the vocabulary that was likeliest before the interventions; None without outcomes.
    """

    name: str
    words: tuple[str, ...]
    tokens: tuple[str, ...]
    at: int
    changes: Changes
    outcomes: tuple[Outcome, ...]
    view: BlockView
    target: int | None

    @property
    def whole(self) -> Stack:
        """Returns the run of the model on the sentence without interventions."""
        return run_linked(self.name, self.tokens)


def draw_what_if(screen: ScreenState) -> None:
    """Draws the controls that ablate or patch heads and feed-forward layers, and the predictions before and after."""
    shown = take_changes(screen)
    st.markdown(f"#### {say('what_if.title')}")
    st.caption(say("what_if.about"))
    what_if_component(
        data=pack_what_if(screen, shown),
        key="what_if",
        given={"kinds": tuple(KINDS), "words": len(shown.tokens)},
        on_kind=lambda sent: take_kind(take_changes(screen), **sent),
        on_pair=lambda sent: take_pair(take_changes(screen), **sent),
        on_norms=lambda is_held: ask(held="norms" if is_held else None),
        on_again=lambda _: ask(changes=()),
        on_opened=lambda cell: open_sent(take_changes(screen).view, cell),
        on_head=lambda place: open_head(take_changes(screen).at, *place),
    )
    if any(change.kind == OTHER for change in read_changes(screen.setup.view.changes)):
        show_other_sentence(screen, shown)
    show_open_number(shown.view, lambda: take_changes(screen).view)


def show_other_sentence(screen: ScreenState, shown: WhatIf) -> None:
    """Draws the text input for the second sentence, and a message if the sentence is missing or has another length."""
    show_second_sentence(screen)
    given, needed = second_words_of(screen.setup), len(shown.tokens)
    if not given:
        st.caption(say("what_if.other_missing", count=needed - 1))
    elif len(given) != needed:
        error = AttentionError("other_length", expected=needed - 1, given=len(given) - 1)
        st.error(say_refusal(error), icon=":material/error:")


# ---- the changes -----------------------------------------------------------------------------------------------------
def take_changes(screen: ScreenState) -> WhatIf:
    """Returns the model with the visitor's interventions (ablated or patched heads and layers) on the sentence.

    Interventions in a link that do not exist for this model or this sentence are left out.
    """
    kind, words = model_sentences_of(screen.setup.run), words_of_model(screen)
    tokens = kind.read(words)
    at = min(screen.selection.query, len(words) - 1)
    switches = {(each.part, each.head) for each in list_switches(run_linked(kind.model, tokens))}
    own = [each for each in read_changes(screen.setup.view.changes) if (each.part, each.head) in switches]
    fitting = tuple(inside(each, len(tokens)) for each in own)
    second = second_words_of(screen.setup)
    other = kind.read(second) if len(second) == len(tokens) else None
    if other is None:
        fitting = tuple(each for each in fitting if each.kind != OTHER)
    return look_into(kind.model, words, tokens, at, Changes(fitting, other, screen.setup.view.held == "norms"))


def inside(change: Intervention, length: int) -> Intervention:
    """Returns an intervention in which no blocked (query, key) pair lies beyond the end of the sentence; such pairs are
    left out.
    """
    blocked = tuple(pair for pair in change.blocked if max(pair) < length)
    return Intervention(change.part, change.head, change.kind, blocked)


# ---- event handlers --------------------------------------------------------------------------------------------------
def ask(**changes: object) -> None:
    """Stores new values of Setup fields on which the panel depends, and redraws the page."""
    setup_state.choose_view(**changes)
    redraw()


def has_switch(shown: WhatIf, part: str, head: int | None) -> bool:
    """Returns whether the model has the head or feed-forward layer that a message from the browser names."""
    return any((each.part, each.head) == (part, head) for each in list_switches(shown.whole))


def take_kind(shown: WhatIf, part: str, head: int | None, kind: str | None) -> None:
    """Sets or removes the intervention in a head or a feed-forward layer, as the visitor chose.

    head: None for a feed-forward layer. kind: None removes the intervention.
    """
    if has_switch(shown, part, head) and (head is not None or kind in (None, "off")):
        changes = read_changes(setup_state.current_setup().view.changes)
        ask(changes=with_change(changes, part, head, kind))


def take_pair(shown: WhatIf, part: str, head: int, pair: tuple[int, int]) -> None:
    """Blocks a pair (query, key) that the visitor clicked in the attention map of a head, or allows the pair again if
    it is blocked.
    """
    if has_switch(shown, part, head):
        changes = read_changes(setup_state.current_setup().view.changes)
        ask(changes=with_pair(changes, part, head, pair))


def look_into(name: str, words: tuple[str, ...], tokens: tuple[str, ...], at: int, changes: Changes) -> WhatIf:
    """Runs a language model with interventions on a sentence; returns the result as a WhatIf, with predictions and
    likeliest word.
    """
    if not predicts_words(find_model(name)):
        view = make_view(name, tokens, run_changed(name, tokens, changes).labelled(words), at)
        return WhatIf(name, words, tokens, at, changes, (), view, None)
    outcomes = list_outcomes(name, tokens, at)[-MOST_OUTCOMES:]
    last = outcomes[-1]
    read = last.read(name, tokens)
    target = int(last.shares(name, run_linked(name, read)).argmax())
    stack = find_path(name, read, changes, target)
    labels = tuple(word if own == token else own for word, token, own in zip(words, tokens, read, strict=True))
    view = make_view(name, read, stack.labelled(labels, vocabulary=model_vocabulary(name)), last.at)
    return WhatIf(name, words, tokens, at, changes, outcomes, view, target)


def pack_what_if(screen: ScreenState, shown: WhatIf) -> bytes:
    """Returns the data of the browser component as bytes: words, tiles, predictions, changed weights, contributions."""
    palette = current_palette()
    changed = run_changed(shown.name, shown.tokens, shown.changes)
    switches = list_switches(shown.whole)
    data = {
        "words": shown.words,
        "tiles": [make_tile(screen, shown, each) for each in switches],
        "kinds": {kind: say(f"what_if.kind.{kind}") for kind in KINDS},
        "norms": shown.changes.hold_norms,
        "upright": find_model(shown.name).language == "zh",
        "outcomes": [make_outcome(screen, shown, each) for each in shown.outcomes] or [make_moves(screen, shown)],
        "moved": make_moved(screen, shown) if shown.changes.interventions else None,
        "path": make_path(screen, shown) if shown.outcomes else None,
        "reach": darkest_share(len(shown.words), times=False),
        "fills": colour_table(False, palette)[0],
        "palette": vars(palette),
        "text": {
            **{name: say(f"what_if.{name}") for name in TEXTS},
            **{name: get_text_template(f"what_if.{name}") for name in TEMPLATES},
            "layers": {str(layer): say("model.layer", layer=layer) for layer in map(layer_number, switches)},
        },
    }
    return pack_bytes({**data, **pack_maps(changed, [each for each in switches if each.head is not None])})


def pack_maps(stack: Stack, heads: list[Intervention]) -> dict[str, bytes]:
    """Returns the attention weights (float32) and the allowed pairs (uint8, 0 or 1) of heads.

    Both are bytes of an array (heads, T, T) in row-major order.
    """
    weights = np.stack([stack[each.part]["weights"][0, each.head].numpy() for each in heads])  # (heads, T, T)
    allowed = np.stack([allowed_of(stack, each) for each in heads])
    return {"weights": weights.astype(np.float32).tobytes(), "allowed": allowed.astype(np.uint8).tobytes()}


def allowed_of(stack: Stack, switch: Intervention) -> np.ndarray:
    """Returns a boolean matrix (T, S) of the keys to which each query of a head may attend."""
    trace = stack[switch.part]
    T = trace["weights"].shape[-1]
    if "allowed" not in trace:
        return np.ones((T, T), dtype=bool)
    return trace["allowed"].expand_as(trace["weights"])[0, switch.head].numpy()


# ---- the switches ----------------------------------------------------------------------------------------------------
def make_tile(screen: ScreenState, shown: WhatIf, switch: Intervention) -> dict:
    """Returns the data of the tile of a head or feed-forward layer for the browser: layer, name and intervention.

    switch: the head or layer, as an Intervention.
    """
    kinds = {(each.part, each.head): each for each in shown.changes.interventions}
    change = kinds.get((switch.part, switch.head))
    return {
        "part": switch.part,
        "layer": layer_number(switch),
        "head": switch.head,
        "name": name_switch(screen, switch),
        "short": name_alone(screen, switch),
        "kind": change.kind if change else None,
        "blocked": change.blocked if change and change.kind == MASKED else [],
        "kinds": [OFF] if switch.head is None else list_kinds(shown.name),
    }


def list_kinds(name: str) -> list[str]:
    """Returns the kinds of changes of a head of a model: the weights of another sentence only if it can read one."""
    return [kind for kind in KINDS if kind != OTHER or find_model(name).reads_all]


def layer_number(switch: Intervention) -> int:
    """Returns the position of the layer of a head or feed-forward layer in the model, counted from 1."""
    return int(switch.part.partition(".")[0])


def name_alone(screen: ScreenState, switch: Intervention) -> str:
    """Returns the name of a head or feed-forward layer, without the name of its model layer.

    switch: the head or layer, as an Intervention.
    """
    if switch.head is None:
        return say("block.part.feed_forward")
    own = name_model_head(screen.setup, layer_number(switch), switch.head)
    return say("block.part.head", head=own) if own.isdigit() else own


def name_switch(screen: ScreenState, switch: Intervention) -> str:
    """Returns the name of a head or feed-forward layer, with the name of its model layer.

    switch: the head or layer, as an Intervention.
    """
    layer = layer_number(switch)
    if switch.head is None:
        return say("all_heads.named", layer=layer, head=say("block.part.feed_forward"))
    own = name_model_head(screen.setup, layer, switch.head)
    return say("all_heads.name" if own.isdigit() else "all_heads.named", layer=layer, head=own)


# ---- before and after ------------------------------------------------------------------------------------------------
def make_outcome(screen: ScreenState, shown: WhatIf, outcome: Outcome) -> dict:
    """Returns the component's data of a prediction before and after the interventions.

    The data are the likeliest words, a sentence on the words that changed most, and, for every head and layer, the
    first word's probability if only this head or layer is ablated.
    """
    before, after = shares_before_and_after(shown.name, shown.tokens, outcome, shown.changes)
    first, layer = int(before.argmax()), find_layer_alone(screen, shown)
    alone = share_with_each_off(shown.name, shown.tokens, outcome, first, shown.changes.hold_norms, layer)
    words = model_vocabulary(shown.name)
    return {
        "title": title_of(shown, outcome),
        "rows": [
            {
                "word": words[number],
                "before": float(before[number]),
                "after": float(after[number]),
                "cell": cell_of(outcome, number),
            }
            for number in likeliest_of_both(before, after)
        ],
        "told": tell_moved(words, before, after) if shown.changes.interventions else say("what_if.unchanged"),
        "word": words[first],
        "share": float(before[first]),
        "alone": list_alone(screen, alone),
        "alone_title": title_of_alone(words[first], layer),
    }


def make_moves(screen: ScreenState, shown: WhatIf) -> dict:
    """Returns the component's data of how far the last vectors move, for a model that computes no logits from them.

    The data are the words whose vectors move farthest (each distance relative to the vector's length), a sentence, and,
    for every head and layer, how far the selected word's vector moves if only this head or layer is ablated.
    """
    moves, layer = vector_moves(shown.name, shown.tokens, shown.changes), find_layer_alone(screen, shown)
    names = label_words(model_sentences_of(screen.setup.run), shown.words)
    places = moves.topk(min(MOST_WORDS, len(moves))).indices.tolist() if shown.changes.interventions else [shown.at]
    alone = move_with_each_off(shown.name, shown.tokens, shown.at, shown.changes.hold_norms, layer)
    told = say("what_if.vectors_told", mean=format_whole_percent(float(moves.mean())))
    return {
        "title": say("what_if.vectors"),
        "rows": [{"word": names[n], "before": 0.0, "after": float(moves[n]), "cell": None} for n in places],
        "told": told if shown.changes.interventions else say("what_if.unchanged"),
        "word": names[shown.at],
        "share": 0.0,
        "alone": list_alone(screen, alone),
        "alone_title": say("what_if.vectors_alone", word=names[shown.at]),
    }


def find_layer_alone(screen: ScreenState, shown: WhatIf) -> int | None:
    """Returns the layer whose parts are ablated one at a time: in a large model the shown layer; None
    for all layers.
    """
    is_large = len(list_switches(shown.whole)) > MOST_ALONE
    return resolve_run(screen.setup.run).layer if is_large else None


def list_alone(screen: ScreenState, alone: tuple[tuple[Intervention, float], ...]) -> list[dict]:
    """Returns the data of heads and layers that are ablated one at a time, each with the resulting number, such as a
    probability.
    """
    return [
        {"part": switch.part, "head": switch.head, "name": name_switch(screen, switch), "share": share}
        for switch, share in alone
    ]


def title_of_alone(word: str, layer: int | None) -> str:
    """Returns the title of the list of parts that are ablated one at a time: those of a layer; with None, all parts."""
    if layer is None:
        return say("what_if.alone_title", word=word)
    return say("what_if.alone_layer", word=word, layer=layer)


def title_of(shown: WhatIf, outcome: Outcome) -> str:
    """Returns the title of a prediction: what a pronoun refers to, or which word is predicted."""
    if outcome.pronoun is not None:
        return say("what_if.means", word=shown.words[outcome.pronoun])
    model = find_model(shown.name)
    form = name_reading(model)
    return say(f"words.title.{form}", word=shown.words[outcome.at])


def cell_of(outcome: Outcome, number: int) -> dict | None:
    """Returns the cell that contains a word's probability in the run with interventions.

    Returns None for an answer to a question, which is computed outside the run. number: the index of the word.
    """
    if outcome.question is not None:
        return None
    return {"part": UNEMBEDDING, "step": "probabilities", "index": [0, outcome.at, number]}


def likeliest_of_both(before: torch.Tensor, after: torch.Tensor) -> list[int]:
    """Returns the indices of the words that are likely before or after the interventions, the likeliest first."""
    either = torch.maximum(before, after)
    first, *others = either.topk(MOST_WORDS).indices.tolist()
    return [first, *(number for number in others if either[number] >= LEAST_SHOWN)]


def tell_moved(words: tuple[str, ...], before: torch.Tensor, after: torch.Tensor) -> str:
    """Returns the sentence about the words whose probabilities changed most."""
    moved = (after - before).abs()
    numbers = [number for number in moved.topk(MOST_MOVED).indices.tolist() if moved[number] >= LEAST_MOVED]
    if not numbers:
        return say("what_if.unmoved")
    each = [
        say(
            "what_if.moved_word",
            word=words[number],
            before=format_whole_percent(float(before[number])),
            after=format_whole_percent(float(after[number])),
        )
        for number in numbers
    ]
    return say("what_if.moved", words=say("fact.comma").join(each))


# ---- weights that moved ----------------------------------------------------------------------------------------------
def make_moved(screen: ScreenState, shown: WhatIf) -> dict:
    """Returns the data of the attention weights that changed most for the browser; a sentence says so if none
    changed.
    """
    moves = moved_weights(shown.name, shown.tokens, shown.changes, MOST_MOVED_WEIGHTS)
    rows = [make_moved_row(screen, shown, move) for move in moves if move.size >= LEAST_MOVED]
    told = "what_if.weights_about" if rows else "what_if.weights_unmoved"
    return {"title": say("what_if.weights_title"), "told": say(told), "rows": rows}


def make_moved_row(screen: ScreenState, shown: WhatIf, move: WeightMove) -> dict:
    """Returns the data of a changed weight for the browser: its head, query and key, and its value before and after."""
    _, head, query, key = move.index
    switch = Intervention(move.part, head)
    words = label_words(model_sentences_of(screen.setup.run), shown.words)
    return {
        "name": name_switch(screen, switch),
        "pair": say("all_heads.pair", **{"from": words[query], "to": words[key]}),
        "before": move.before,
        "after": move.now,
        "opens": [layer_number(switch), head],
    }


# ---- the path --------------------------------------------------------------------------------------------------------
def make_path(screen: ScreenState, shown: WhatIf) -> dict:
    """Returns, for the browser, what each head and layer adds to the target word's logit; for heads also per key.

    A sentence says which head contributed most.
    """
    outcome = shown.outcomes[-1]
    word = shown.target
    rows, place = path_rows(shown.view.stack, outcome.at, word), place_of_word(shown.view.stack, word)
    return {
        "title": say("what_if.path", word=model_vocabulary(shown.name)[word]),
        "about": say("what_if.path_about"),
        "words": list(shown.view.stack[UNEMBEDDING].labels["T"]),
        "rows": [make_path_row(screen, row, n, outcome.at, place) for n, row in enumerate(rows)],
        "sum": sum(row.push for row in rows),
        "told": tell_carriers(screen, shown, rows),
    }


def tell_carriers(screen: ScreenState, shown: WhatIf, rows: tuple[PathRow, ...]) -> str:
    """Returns the sentence that says which head contributed most, and from which key; "" if the contributions are not
    known.
    """
    words = shown.view.stack[UNEMBEDDING].labels["T"]
    carried = [(push, row.part, s) for row in rows for s, push in enumerate(row.by_word or ())]
    if not carried:
        return ""
    push, part, s = max(carried, key=lambda each: abs(each[0]))
    named = name_part(screen, part)
    return say(
        "what_if.carried",
        name=say("all_heads.named", layer=named["layer"], head=named["name"]),
        word=words[s],
        push=format_signed(push),
        target=model_vocabulary(shown.name)[shown.target],
    )


def make_path_row(screen: ScreenState, row: PathRow, n: int, at: int, place: int) -> dict:
    """Returns the row of a head or layer with its contribution to the logit; for a head also the contribution of each
    key.

    n: the index of the row. at: the position whose prediction is shown. place: the place of the target word among those
    whose logits are split.
    """
    named = name_part(screen, row.part)
    cell = {"part": LOGITS, "step": "pushes", "index": [n, 0, at, place]}
    if row.by_word is None:
        return {**named, "push": row.push, "cell": cell, "by_word": None}
    layer, head = named["opens"]
    by_word = {"part": "word_pushes", "step": f"attention_{layer}_pushes", "index": [0, head, at]}
    return {**named, "push": row.push, "cell": cell, "by_word": row.by_word, "by_word_cell": by_word}


# ---- proof, files and record -----------------------------------------------------------------------------------------
def list_runs(screen: ScreenState) -> ShownRuns:
    """Returns the runs to prove: with interventions, and for an encoder also the run of the sentence with a masked
    word.
    """
    shown = take_changes(screen)

    def find() -> dict[str, Stack]:
        shown = take_changes(screen)
        own = {OWN: shown.view.stack}
        if shown.view.tokens == shown.tokens:
            return own
        return own | {"whole": run_changed(shown.name, shown.tokens, shown.changes).labelled(shown.words)}

    return ShownRuns((shown.changes, shown.at), find)


def list_changed_words(screen: ScreenState) -> Iterator[Table]:
    """Yields the table to export, if there are interventions: each word's probability without and with them."""
    if not screen.setup.view.changes:
        return
    shown = take_changes(screen)
    if not shown.outcomes:
        yield make_table("moves", vector_moves(shown.name, shown.tokens, shown.changes), T=shown.words)
        return
    both = [shares_before_and_after(shown.name, shown.tokens, each, shown.changes) for each in shown.outcomes]
    shares = torch.stack([torch.stack(pair, -1) for pair in both])  # (outcome, V, 2): without and with interventions
    outcomes = tuple(title_of(shown, each) for each in shown.outcomes)
    runs = (say("what_if.before"), say("what_if.after"))
    yield make_table("what_if", shares, outcome=outcomes, V=model_vocabulary(shown.name), run=runs)


PANEL = Panel(
    place=4,
    depends_on=("changes", "held", "other_text"),
    draw=draw_what_if,
    runs=list_runs,
    checked_as="changed",
)
