"""Draws the panel of all heads of a language model.

For each head it shows the attention map, measures on this sentence and on held-out texts, and the length of the vector
that the head adds. It also shows the attention rollout.
"""

from collections.abc import Collection, Iterator, Mapping

import torch

from attention_core.analysis.across_layers import roll_out
from attention_core.analysis.head_measures import MEASURES, measure_head_maps
from attention_core.comparison.measures import mean_moved_weight
from attention_core.explanation.head_habits import head_habit, list_row_facts
from attention_core.learned.language.head_figures import HEAD_FIGURES, LINKS
from attention_core.learned.language.read_model import find_model, remembered
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.simple_rule import find_antecedents, measure_antecedents
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import Stack
from pages import components
from pages.panels.flow_words import say_habit
from pages.panels.head_grid import HeadGrid, make_grid_data, measures_of_head, pack_numbers
from pages.panels.model import OWN, Panel, ShownRuns, Table, make_table
from pages.panels.model_look import SUM
from pages.panels.model_rail import name_model_head, open_head, words_of_model
from pages.panels.second_sentence import label_words, second_words_of, show_second_sentence
from pages.panels.setup_controls import show_refusal
from pages.runs.model_runs import ModelTexts, model_of, model_sentences_of, model_stack, model_weights
from pages.session import setup_state
from pages.session.fragments import redraw, select_and_redraw
from pages.session.view import ScreenState
from pages.setup.codec import check_link_values
from pages.setup.model_fields import BY_LAYER, BY_MOVED
from pages.setup.resolve import resolve_run
from pages.site.words import get_text_template, say

HEAD_ORDER = "head_order"  # name under which the error of a refused order is stored


def draw_heads(screen: ScreenState) -> None:
    """Draws the attention map of every head, and the text input for a second sentence, if the model can read one."""
    model = model_of(screen.setup.run)
    if model.reads_all:
        show_second_sentence(screen)
    components.model_heads(
        data=components.pack_bytes(make_heads_data(screen)),
        key="model_heads",  # the key "heads" belongs to the small maps in a comparison
        given={"layers": len(model.heads), "heads": model.heads[0]},
        on_head=lambda place: open_head(screen.selection.query, *place),
        on_order=lambda order: take_order(screen, order),
    )
    show_refusal(HEAD_ORDER)


# ---- order -----------------------------------------------------------------------------------------------------------
def take_order(screen: ScreenState, order: Mapping) -> None:
    """Stores the order and the filter of the heads that the visitor chose; refuses values that no control offers."""
    changes = {
        "heads_by": None if order["by"] == first_order(screen) else order["by"],
        "heads_least": order["least"] or None,
        "heads_from": order["from"],
        "heads_to": order["to"],
    }
    try:
        check_link_values(changes)
    except AttentionError as error:
        setup_state.workbench().refuse(HEAD_ORDER, error)
        redraw()
    else:
        setup_state.workbench().forget_refusals(HEAD_ORDER)
        if changes["heads_least"] is not None:
            # converts a whole number from the browser, so that it equals the same number in a link
            changes["heads_least"] = float(changes["heads_least"])
        select_and_redraw(**changes)


def first_order(screen: ScreenState) -> str:
    """Returns the default order of heads: by the change of weights if a second sentence has the same length, else by
    layer.
    """
    return BY_MOVED if len(second_words_of(screen.setup)) == len(words_of_model(screen)) else BY_LAYER


def describe_order(screen: ScreenState, measures: Collection[str]) -> dict:
    """Returns the order and the filter of the heads, without values from the link that do not fit this sentence."""
    setup = screen.setup
    places = range(len(words_of_model(screen)))
    return {
        "by": setup.view.heads_by if setup.view.heads_by in (BY_LAYER, *measures) else first_order(screen),
        "least": setup.view.heads_least or 0.0,
        "from": setup.view.heads_from if setup.view.heads_from in places else None,
        "to": setup.view.heads_to if setup.view.heads_to in places else None,
    }


# ---- the data --------------------------------------------------------------------------------------------------------
def make_heads_data(screen: ScreenState) -> dict:
    """Returns the data of the browser component that shows all heads: weights, names, measures and texts."""
    kind = model_sentences_of(screen.setup.run)
    words = words_of_model(screen)
    tokens = kind.read(words)
    stack = model_stack(screen.setup.run, words)
    weights = model_weights(kind.model, tokens)
    at = min(screen.selection.query, len(words) - 1)
    names = label_words(kind, words)
    allowed = stack["1.attention"]["allowed"][0, 0] if "allowed" in stack["1.attention"] else None
    grid = HeadGrid(
        maps=weights,
        queries=names,
        keys=names,
        heads=list_model_heads(screen, stack, tokens, at),
        measures={name: say(f"all_heads.measure.{name}") for name in list_measures(kind.model)},
        now=(resolve_run(screen.setup.run).layer, screen.selection.head),
        allowed=allowed,
        rolled=roll_out(weights)[-1],
    )
    data = make_grid_data(
        grid,
        open=get_text_template("all_heads.open"),
        about=tell_measures(kind, words),
        written=say("all_heads.written"),
        written_title=say("all_heads.written_title", word=names[at]),
    )
    second = second_words_of(screen.setup)
    if second:
        data = put_beside(data, kind, weights, words, second)
    return {**data, "order": describe_order(screen, data["measures"])}


def list_measures(name: str) -> tuple[str, ...]:
    """Returns the names of the measures of a model's heads; links of words are measured if the model has a grammar."""
    return MEASURES if find_model(name).language is None else (*MEASURES, *LINKS)


def tell_measures(kind: ModelTexts, words: tuple[str, ...]) -> str:
    """Returns the text that says on which texts the heads are measured."""
    if find_model(kind.model).language is None:
        return say("all_heads.about_recorded")
    return say("all_heads.about", texts=HEAD_FIGURES.rows[kind.model].texts, links=tell_links(kind, words))


def put_beside(
    data: dict, kind: ModelTexts, weights: torch.Tensor, words: tuple[str, ...], second: tuple[str, ...]
) -> dict:
    """Returns the data of the panel with each head's measures on a second sentence added.

    If both sentences have the same length, the heads' weights on the second sentence are added, too.
    """
    tokens = kind.read(second)
    measures = measure_here(kind.model, tokens)
    beside = [{**head, "there": measures_of_head(measures, head["layer"] - 1, head["head"])} for head in data["heads"]]
    text = {**data["text"], "there": say("second.there")}
    links = tell_links(kind, words, second)
    here, there = (len(each[1:]) for each in (words, second))  # numbers of words, without START
    about = say("second.about_measures", here=here, there=there, links=links)
    if len(second) != len(data["queries"]):
        return {**data, "heads": beside, "text": {**text, "about": about}}
    other = model_weights(kind.model, tokens)
    moved = {BY_MOVED: mean_moved_weight(weights, other)}
    for head in beside:
        head["here"] = head["here"] | measures_of_head(moved, head["layer"] - 1, head["head"])
    text |= {name: say(f"second.{name}", links=links) for name in ("about", "compare", "less")}
    return {
        **data,
        "heads": beside,
        "text": text,
        "measures": {BY_MOVED: say("second.moved"), **data["measures"]},
        "other": pack_numbers(other),
        "other_words": label_words(kind, second),
        "other_keys": label_words(kind, second),
    }


def list_model_heads(screen: ScreenState, stack: Stack, tokens: tuple[str, ...], at: int) -> list[dict]:
    """Returns the data of each head.

    These are the head's layer and index, name, behaviour in words, measures on this sentence and on held-out texts, and
    the length of the vector that the head adds to the word at position `at`.
    """
    name = model_sentences_of(screen.setup.run).model
    here = measure_here(name, tokens)
    held = {} if find_model(name).language is None else HEAD_FIGURES.rows[name].measures
    lengths = measure_written(stack, at)
    heads = []
    for layer, row in enumerate(lengths, 1):
        trace = stack[f"{layer}.attention"]
        for head, length in enumerate(row):
            own = name_model_head(screen.setup, layer, head)
            heads.append(
                {
                    "layer": layer,
                    "head": head,
                    "name": say("all_heads.name" if own.isdigit() else "all_heads.named", layer=layer, head=own),
                    "habit": say_habit(trace, head_habit(trace, list_row_facts(trace, head))),
                    "here": measures_of_head(here, layer - 1, head),
                    "held": {measure: rows[layer - 1][head] for measure, rows in held.items()},
                    "written": length,
                }
            )
    return heads


@remembered
def measure_here(name: str, tokens: tuple[str, ...]) -> dict[str, torch.Tensor]:
    """Returns the measures of every head on a sentence, as {measure: (L, H)}.

    The measure "antecedent" is included only if a pronoun of the sentence has an antecedent.
    """
    weights = model_weights(name, tokens)
    measures = measure_head_maps(weights, [tokens.index(each) for each in tokens])
    language = find_model(name).language
    antecedent = None if language is None else measure_antecedents(weights, language, tokens)
    return measures if antecedent is None else {**measures, "antecedent": antecedent}


def tell_links(kind: ModelTexts, *sentences: tuple[str, ...]) -> str:
    """Returns the text that says to which noun each pronoun refers, and why there is no measure of subjects."""
    language = find_model(kind.model).language
    pairs = []
    for words in sentences:
        names = label_words(kind, words)
        for pronoun, noun in find_antecedents(language, kind.read(words)):
            pairs.append(say("all_heads.pair", **{"from": names[pronoun], "to": names[noun]}))
    told = say("all_heads.antecedent", pairs=say("fact.comma").join(pairs)) if pairs else say("all_heads.no_antecedent")
    return say("all_heads.links", antecedent=told)


def measure_written(stack: Stack, at: int) -> list[list[float]]:
    """Returns, for each head, the length (norm) of the vector that it adds to a word; one list per layer.

    at: the position of the word.
    """
    parts = stack[SUM]
    rows: dict[str, list[float]] = {}
    for place, label in enumerate(parts.labels["part"]):
        layer, _, part = label.partition(".")
        if part.startswith("attention.head_"):
            rows.setdefault(layer, []).append(float(parts["parts"][place, 0, at].norm()))
    return list(rows.values())


# ---- proof, files and record -----------------------------------------------------------------------------------------
def list_runs(screen: ScreenState) -> ShownRuns:
    """Returns the runs to prove: the run of the model on the sentence, and on the second sentence if there is one."""
    kind, second = model_sentences_of(screen.setup.run), second_words_of(screen.setup)

    def find() -> dict[str, Stack]:
        own = {OWN: model_stack(screen.setup.run, words_of_model(screen))}
        return own | {"second": run_model(kind.model, kind.read(second)).labelled(second)} if second else own

    return ShownRuns((second,), find)


def list_tables(screen: ScreenState) -> Iterator[Table]:
    """Yields the table to export: attention rollout after each layer."""
    kind, words = model_sentences_of(screen.setup.run), words_of_model(screen)
    weights = model_weights(kind.model, kind.read(words))  # (L, H, T, T)
    rolled = roll_out(weights)
    layers = tuple(str(layer) for layer, _ in enumerate(rolled, start=1))
    yield make_table("rollout", rolled, layer=layers, T=words, S=words)


PANEL = Panel(
    place=2,
    depends_on=("head", "other_text", "heads_by", "heads_least", "heads_from", "heads_to"),
    draw=draw_heads,
    runs=list_runs,
    tables=list_tables,
)
