"""All heads of a language model at one sight: their maps, what each does here and on other texts; the rollout of the
layers beside what the heads write."""

from functools import lru_cache

import numpy as np
import streamlit as st
import torch

from attention_core.analysis.head_measures import MEASURES, measure_head_maps
from attention_core.analysis.rollout import roll_out
from attention_core.drawing.cells import darkest_share
from attention_core.drawing.raster import colour_table
from attention_core.explanation.head_habits import head_habit, list_row_facts
from attention_core.learned.language.head_figures import LINKS, read_head_figures
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_recipe
from attention_core.transformer.stack import Stack
from pages import components
from pages.panels.flow_words import say_habit
from pages.panels.model_look import SUM
from pages.panels.model_panels import open_panel
from pages.panels.model_rail import name_model_head, open_layer, words_of_model
from pages.panels.thumbnails import select_head
from pages.runs.model_runs import model_sentences_of, model_stack
from pages.session.cell_clicks import is_valid_index
from pages.session.fragments import page_part
from pages.session.labels import current_palette, label_token
from pages.session.view import ScreenState
from pages.setup.setup import layer_of, without_view
from pages.site.words import get_text_template, say

TEXTS = (
    "sort",
    "layers",
    "least",
    "from",
    "to",
    "any",
    "here",
    "held",
    "compare",
    "drop",
    "difference",
    "choose_two",
    "written",
    "rollout",
)
TEMPLATES = ("open", "pair", "order", "hidden", "cell")


def heads_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The run, and the head and the word that are looked at."""
    if open_panel(screen) != "heads":
        return ()
    look = screen.selection
    return (without_view(screen.setup), look.batch, look.query, look.head, current_palette().ground)


@page_part(heads_dependencies)
def show_all_heads(screen: ScreenState) -> None:
    """The maps of all heads; nothing where another panel is open, or none."""
    if open_panel(screen) == "heads":
        draw_heads(screen)


def draw_heads(screen: ScreenState) -> None:
    """The same, of a screen that a language model reads."""
    components.model_heads(
        data=components.pack_bytes(make_heads_data(screen)),
        key="heads",
        on_head_change=lambda: take_head(screen, st.session_state["heads"].head),
    )


def take_head(screen: ScreenState, sent: object) -> None:
    """Opens the head whose map was clicked, in the picture above."""
    shape = load_recipe(model_sentences_of(screen.setup).model).shape()
    match sent:
        case [layer, head] if is_valid_index(layer, shape.layers + 1) and is_valid_index(head, shape.heads):
            if layer == layer_of(screen.setup):
                select_head(head)
            elif layer > 0:
                open_layer(layer, screen.selection.query, head)


# ---- the data --------------------------------------------------------------------------------------------------------
def make_heads_data(screen: ScreenState) -> dict:
    """All that the component draws: plain names and numbers; the weights of every head, one map behind the other."""
    kind = model_sentences_of(screen.setup)
    words = words_of_model(screen)
    tokens = kind.read(words)
    stack = model_stack(screen.setup, words)
    weights = stack_weights(kind.model, tokens)
    at = min(screen.selection.query, len(words) - 1)
    palette = current_palette()
    labelled = stack["1.attention"]
    names = [label_token(labelled, "T", place) for place in range(len(words))]
    return {
        "heads": list_model_heads(screen, stack, tokens, at),
        "words": names,
        "at": at,
        "measures": {name: say(f"all_heads.measure.{name}") for name in (*MEASURES, *LINKS)},
        "now": [layer_of(screen.setup), screen.selection.head],
        "reach": darkest_share(len(words), times=False),
        "fills": {"share": colour_table(True, palette)[0], "signed": colour_table(False, palette)[0]},
        "palette": vars(palette),
        "text": {
            **{name: say(f"all_heads.{name}") for name in TEXTS},
            **{name: get_text_template(f"all_heads.{name}") for name in TEMPLATES},
            "about": say("all_heads.about", texts=read_head_figures()[kind.model].texts),
            "written_title": say("all_heads.written_title", word=names[at]),
            "why": say("all_heads.why"),
        },
        "weights": weights.numpy().astype(np.float32).tobytes(),
        "allowed": labelled["allowed"][0, 0].numpy().astype(np.uint8).tobytes() if "allowed" in labelled else b"",
        "rolled": roll_out(weights)[-1].numpy().astype(np.float32).tobytes(),
    }


@lru_cache(maxsize=16)
def stack_weights(name: str, tokens: tuple[str, ...]) -> torch.Tensor:
    """The weights of every head, (L, H, T, T)."""
    parts = run_model(name, tokens).parts
    return torch.stack([trace["weights"][0] for part, trace in parts.items() if part.endswith(".attention")])


def list_model_heads(screen: ScreenState, stack: Stack, tokens: tuple[str, ...], at: int) -> list[dict]:
    """Of each head its place, its name, what it does in words, its measures here and held out, and the length of what
    it adds to the vector of a word."""
    name = model_sentences_of(screen.setup).model
    here = measure_here(name, tokens)
    held = read_head_figures()[name].measures
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
                    "here": {measure: rows[layer - 1][head] for measure, rows in here.items()},
                    "held": {measure: rows[layer - 1][head] for measure, rows in held.items()},
                    "written": length,
                }
            )
    return heads


@lru_cache(maxsize=16)
def measure_here(name: str, tokens: tuple[str, ...]) -> dict[str, list[list[float]]]:
    """The measures of every head on this sentence; one that is no number is left out."""
    measures = measure_head_maps(stack_weights(name, tokens), [tokens.index(each) for each in tokens])
    return {measure: rows.tolist() for measure, rows in measures.items() if not rows.isnan().any()}


def measure_written(stack: Stack, at: int) -> list[list[float]]:
    """How long the vector is that each head adds at a word, a row a layer."""
    parts = stack[SUM]
    rows: dict[str, list[float]] = {}
    for place, label in enumerate(parts.labels["part"]):
        layer, _, part = label.partition(".")
        if part.startswith("attention.head_"):
            rows.setdefault(layer, []).append(float(parts["parts"][place, 0, at].norm()))
    return list(rows.values())
