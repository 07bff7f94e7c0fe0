"""Computes, once per run, the data of the flow picture that do not depend on the selection."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core import Trace
from attention_core.drawing.flow import (
    FlowGraph,
    FlowPart,
    flow_parts,
    flow_stops,
    largest_numbers,
    part_family,
    part_sign,
)
from attention_core.explanation.facts import RowFact
from attention_core.explanation.formula_tree import formula_tree
from attention_core.explanation.head_habits import list_row_facts
from pages.panels.flow_formulas import list_formulas
from pages.panels.flow_numbers import (
    Products,
    describe_product,
    find_product,
    is_too_large,
    list_unsent_matrices,
    pack_steps,
)
from pages.runs.cache import cache_by_setup
from pages.session.labels import inline_step_name
from pages.session.view import ScreenState
from pages.setup.setup import RunSetup
from pages.site.words import current_language, has, say

# most rows of all heads together for which every row is described, not only those of the selected head
MAX_READ_ROWS = 2048


@dataclass(frozen=True)
class FlowRun:
    """The data of the flow picture that depend on the run, and not on the selection.

    parts: the drawn steps. described: these parts as data for the browser, with names in the page's language. largest:
    {part: its largest absolute number, which is drawn with the full bar or colour}. steps, numbers: the whole run, if
    it is sent as a whole, else {} and b""; at most MAX_WHOLE_NUMBERS of 8 bytes, no more than the Trace that is cached
    too.
    """

    parts: tuple[FlowPart, ...]
    described: list[dict]
    stops: list[dict]
    largest: dict[str, float]
    steps: dict[str, dict]
    numbers: bytes


def flow_run_for(screen: ScreenState) -> FlowRun:
    """Returns the FlowRun of the screen, as a copy of the cached one, so that the caller may change it."""
    return cached_flow_run(screen.setup.run, current_language(), screen.trace)


def list_motions(screen: ScreenState) -> tuple[str, ...]:
    """Returns the names of the animation's motions in order, each name once."""
    return tuple(dict.fromkeys(stop["motion"] for stop in flow_run_for(screen).stops))


@cache_by_setup
def cached_flow_run(run: RunSetup, language: str, _trace: Trace) -> FlowRun:
    graph = FlowGraph(_trace)
    parts = flow_parts(graph)
    is_whole = not is_too_large(_trace)
    unsent = list_unsent_matrices(_trace)
    products = {name: describe_product(_trace, name, unsent) for name in _trace.steps}
    steps, numbers = pack_steps(graph, products) if is_whole else ({}, b"")
    return FlowRun(
        parts=parts,
        described=describe_parts(graph, parts, products),
        stops=[vars(stop) for stop in flow_stops(parts)],
        largest=largest_numbers(_trace, parts),
        steps=steps,
        numbers=numbers,
    )


def describe_parts(graph: FlowGraph, parts: Sequence[FlowPart], products: Products) -> list[dict]:
    """Returns the data of each part (drawn step) for the browser: colour, symbol, label, formula, and the step that a
    click opens.
    """
    formulas = list_formulas(graph, parts)
    described = []
    for part in parts:
        looks = {
            "family": part_family(part),
            "sign": part_sign(graph.trace, part),
            "label": name_column(part.name),
            "short": name_shortly(graph.trace, part),
            "opens": find_product(graph, products, part.name),
            "formula": formula_tree(formulas[part.name]) if part.name in formulas else None,
        }
        described.append(vars(part) | looks)
    return described


def name_column(step: str) -> str:
    """Returns the label of a step's column in the picture: a word if there is one, else the step's short name."""
    key = f"flow.column.{step}"
    return say(key) if has(key) else inline_step_name(step)


def name_shortly(trace: Trace, part: FlowPart) -> str:
    """Returns a shorter label of a step's column, for a narrow picture: a shorter word if there is one, else its
    symbol.
    """
    key = f"flow.short.{part.name}"
    return say(key) if has(key) else part_sign(trace, part)


# ---- rows ------------------------------------------------------------------------------------------------------------
def row_facts_for(screen: ScreenState) -> dict[int, list[RowFact]]:
    """Returns how each query distributes its weight, as {head: facts about its rows}; with many rows, only for the
    selected head.
    """
    sizes, selection = screen.trace.sizes(), screen.selection
    are_few = sizes["H"] * sizes["T"] <= MAX_READ_ROWS
    heads = tuple(range(sizes["H"])) if are_few else (selection.head,)
    return cached_row_facts(screen.setup.run, selection.batch, heads, screen.trace)


@cache_by_setup
def cached_row_facts(run: RunSetup, batch: int, heads: tuple[int, ...], _trace: Trace) -> dict[int, list[RowFact]]:
    return {head: list_row_facts(_trace, head, batch) for head in heads}
